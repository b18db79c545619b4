"""Selection along dimensions: by indexes, ranges, and values of variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._data import Dataset, checked, dim, dims, escape, meta, var, vars
from ._times import julian, time_data

Selector = dict[str, Any]


def select(d: Dataset, sel: Any = None, range_: Any = None, at: Any = None, between: Any = None) -> None:
    """Keep of all variables what the selectors select together."""
    checked(d, "d", dict)
    for value, name in ((sel, "sel"), (range_, "range_"), (at, "at"), (between, "between")):
        checked(value, name, dict, None)
    chosen = combined(d, sel, range_, at, between)
    for name in vars(d):
        _take(d, name, chosen)


def combined(d: Dataset | None, sel: Any, range_: Any, at: Any, between: Any) -> Selector:
    """Give the intersection of selectors as indexes by dimension."""
    result: Selector = {}
    parts = [sel, _of_range(d, range_), _of_at(d, at), _of_between(d, between)]
    for part in parts:
        for name, indexes in (part or {}).items():
            result[name] = np.intersect1d(result[name], indexes) if name in result else indexes
    return result


def _of_range(d: Any, range_: Any) -> Selector:
    chosen = {}
    for name, (start, stop) in (range_ or {}).items():
        length = dim(d, name, full=True)
        first = 0 if start is None else start if start >= 0 else length + start
        last = length if stop is None else stop if stop >= 0 else length + stop
        chosen[name] = np.arange(first, last, dtype=int)
    return chosen


def _comparable(d: Any, name: str, value: Any) -> tuple[Any, Any]:
    """Give the data of a variable and a value to compare them with; a text is a time."""
    if not isinstance(value, str):
        return var(d, name), value
    return time_data(var(d, name), meta(d, name)), julian(value)


def _of_at(d: Any, at: Any) -> Selector:
    chosen: Selector = {}
    for name, values in (at or {}).items():
        own: Selector = {}
        for value in values if isinstance(values, (list, tuple, np.ndarray)) else [values]:
            data, wanted = _comparable(d, name, value)
            place = np.unravel_index(np.argmin(np.abs(data - wanted)), np.shape(data))
            for dimension, i in zip(dims(d, name), place):
                own[dimension] = np.union1d(own[dimension], i) if dimension in own else i
        for dimension, indexes in own.items():
            chosen[dimension] = np.intersect1d(chosen[dimension], indexes) if dimension in chosen else indexes
    return chosen


def _of_between(d: Any, between: Any) -> Selector:
    chosen: Selector = {}
    for name, (low, high) in (between or {}).items():
        data = var(d, name)
        keep = np.ones(np.shape(data), bool)
        if low is not None:
            data, wanted = _comparable(d, name, low)
            keep &= np.ma.filled(data >= wanted, False)
        if high is not None:
            data, wanted = _comparable(d, name, high)
            keep &= np.ma.filled(data < wanted, False)
        (dimension,) = dims(d, name)
        indexes = np.nonzero(keep)[0]
        chosen[dimension] = np.intersect1d(chosen[dimension], indexes) if dimension in chosen else indexes
    return chosen


def _take(d: Dataset, name: str, chosen: Selector) -> None:
    """Select of one variable, and drop the dimensions of which one index is left."""
    names = dims(d, name)
    meta(d, create=True).setdefault(escape(name), {})[".dims"] = names
    for dimension, indexes in chosen.items():
        if isinstance(indexes, Mapping):  # points along several dimensions, which become one
            _take_points(d, name, dimension, indexes)
            continue
        if dimension not in names:
            continue
        axis, places = names.index(dimension), _places(indexes)
        if (data := var(d, name)) is not None:
            var(d, name, np.ma.take(data, places, axis) if np.ma.isMA(data) else np.take(data, places, axis))
        if not isinstance(places, np.ndarray):
            names.remove(dimension)


def _take_points(d: Dataset, name: str, new: str, points: Mapping[str, Any]) -> None:
    names = dims(d, name)
    key = tuple(np.asarray(points[n]) if n in points else slice(None) for n in names)
    if (data := var(d, name)) is not None:
        var(d, name, data[key])
    for dimension in points:
        if dimension in names:
            names.remove(dimension)
    names.append(new)


def _places(indexes: Any) -> Any:
    """Give a list of indexes or a mask as an array of indexes, and one index as it is."""
    if isinstance(indexes, (list, tuple)):
        indexes = np.array(indexes)
    return np.nonzero(indexes)[0] if isinstance(indexes, np.ndarray) and indexes.dtype == bool else indexes


def cut(data: Any, names: list[str], chosen: Selector) -> tuple[Any, list[str]]:
    """Select of data on their way from a file; give them and the dimensions that are left."""
    for axis in reversed(range(len(names))):
        if names[axis] not in chosen:
            continue
        places = _places(chosen[names[axis]])
        data = data[(slice(None),) * axis + (places,)]
        if not isinstance(places, np.ndarray):
            names = names[:axis] + names[axis + 1 :]
    return data, names
