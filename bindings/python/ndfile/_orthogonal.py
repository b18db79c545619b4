"""Orthogonal indexing: an index for each axis, independent of the others."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _dtypes
from ._errors import BoundsError

if TYPE_CHECKING:
    from ._parts import Part

#: Bytes of the file that are rather read in vain than skipped by another call.
_GAP = 1 << 16
#: Elements are read one by one where runs have so many times as many,
_SPARSE = 4
#: or are so many.
_CALLS = 64
#: Positions that go to the library at once.
_POINTS = 1 << 20


class _Run(NamedTuple):
    """A part of an axis that is read at once."""

    part: slice  # of the axis of the file
    target: Any  # index of the result along the axis
    source: Any  # index of what was read that gives the target's elements in order


class Orthogonal:
    """Orthogonal indexing of an `Array`, as ``v.oindex``.

    Each axis takes an integer, a slice, a one-dimensional array or list of integers (of any order, also with
    repetitions and negative ones), or one of booleans as long as the axis; one Ellipsis stands for the axes
    that are left. Each selects along its own axis: ``v.oindex[[1, 5], :, [0, 2]]`` is
    ``v[...][np.ix_([1, 5], range(v.shape[1]), [0, 2])]``. Integers drop their axis. Masks, dtypes and scalars
    come as from ``v[...]``.

    Only what lies near the selected elements is read, in runs of neighbours or, where they are few, one by
    one.

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> ndfile.save("oindex.ds", {"t": np.arange(12).reshape(3, 4)})
    >>> with ndfile.open("oindex.ds") as f:
    ...     f["t"].oindex[[2, 0], [True, False, False, True]]
    array([[ 8, 11],
           [ 0,  3]])
    """

    __slots__ = ("_array",)

    def __init__(self, array: Part) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        array = self._array
        extents, where = array._extents(), array._where
        key = expand(key, len(extents), where)
        if not any(map(is_array, key)):
            return array[key]
        lists: dict[int, np.ndarray] = {}
        shape: list[int] = []
        gaps: list[int] = []
        wanted = spans = calls = 1
        row = array.nbytes
        for axis, (item, extent) in enumerate(zip(key, extents)):
            row = row // extent if extent else 0  # bytes of one step along this axis
            gaps.append(_GAP // row if row else extent)
            if is_array(item):
                index = lists[axis] = positions(item, axis, extent, where)
                shape.append(len(index))
                span, runs = _cost(index, gaps[-1])
                spans, calls, wanted = spans * span, calls * runs, wanted * len(index)
            elif isinstance(item, slice):
                shape.append(len(range(*item.indices(extent))))
        sparse = spans > _SPARSE * wanted or calls > _CALLS
        if sparse and array.dtype_name not in _dtypes.VARIABLE:
            return self._pick(key, lists, tuple(shape))
        sizes = iter(shape)
        axes: list[list[_Run]] = []
        for axis, item in enumerate(key):
            if axis in lists:
                axes.append(_runs(lists[axis], gaps[axis]))
                next(sizes)
            elif isinstance(item, slice):
                axes.append([_Run(item, slice(0, next(sizes)), slice(None))])
            else:
                axes.append([_Run(item, None, None)])
        return self._gather(axes, tuple(shape))

    def _pick(self, key: tuple[Any, ...], lists: dict[int, np.ndarray], shape: tuple[int, ...]) -> Any:
        """Read by positions along all axes up to the last that is not taken whole, some rows at a time."""
        array = self._array
        extents = array._extents()
        axes = max(
            axis for axis, item in enumerate(key) if not isinstance(item, slice) or item != slice(None)
        )
        axes += 1
        index: list[np.ndarray] = []
        for axis, item in enumerate(key[:axes]):
            if axis in lists:
                index.append(lists[axis])
            elif isinstance(item, slice):
                index.append(np.arange(*item.indices(extents[axis])))
            else:
                index.append(positions([item], axis, extents[axis], array._where))
        counts = [len(i) for i in index]
        flat = np.zeros((1,) * axes, np.int64)
        stride = 1
        for axis in range(axes - 1, 0, -1):
            ones = [1] * axes
            ones[axis] = counts[axis]
            flat = flat + (index[axis] * stride).reshape(ones)
            stride *= extents[axis]
        step = max(1, _POINTS // max(1, flat.size))
        whole = *counts, *extents[axes:]
        data = np.empty(whole, array.dtype)  # memory that is not touched costs nothing
        mask = np.empty(whole, bool) if array.masked else None
        for first in range(0, counts[0], step):
            rows = index[0][first : first + step] * stride
            points = np.ascontiguousarray(flat + rows.reshape((len(rows),) + (1,) * (axes - 1))).ravel()
            part = array._read_points(axes, points).reshape(len(rows), *whole[1:])
            if len(rows) == counts[0]:
                return part.reshape(shape)
            data[first : first + step] = np.asarray(part)
            if mask is not None:
                mask[first : first + step] = part.mask
        data = data.reshape(shape)
        return data if mask is None else np.ma.MaskedArray(data, mask=mask.reshape(shape))

    def __setitem__(self, key: Any, value: Any) -> None:
        array = self._array
        key = expand(key, len(array._extents()), array._where)
        lists = [i for i, item in enumerate(key) if is_array(item)]
        if len(lists) < 2:
            array[key] = value
            return
        ranges = [range(n)[item] if isinstance(item, slice) else item for item, n in zip(key, array.shape)]
        kept = [i for i, item in enumerate(ranges) if not isinstance(item, int)]
        mesh = np.ix_(
            *(positions(r, i, array.shape[i], array._where) for i, r in enumerate(ranges) if i in kept)
        )
        index = iter(mesh)
        array.vindex[tuple(next(index) if i in kept else item for i, item in enumerate(ranges))] = value

    def _gather(self, axes: list[list[_Run]], shape: tuple[int, ...]) -> np.ndarray:
        array = self._array
        data = np.empty(shape, array.dtype)
        mask = np.empty(shape, bool) if array.masked else None
        if not math.prod(shape):
            axes = []
        for runs in itertools.product(*axes) if axes else ():
            box = array.read(tuple(run.part for run in runs))
            kept = [run for run in runs if run.target is not None]
            target = _cross([run.target for run in kept], shape)
            source = _cross([run.source for run in kept], box.shape)
            data[target] = np.asarray(box)[source]
            if mask is not None:
                mask[target] = box.mask[source]  # type: ignore[attr-defined]
        return data if mask is None else np.ma.MaskedArray(data, mask=mask)


def is_array(item: Any) -> bool:
    """Whether an index stands for several positions."""
    return isinstance(item, (list, range)) or (isinstance(item, np.ndarray) and item.ndim > 0)


def expand(key: Any, ndim: int, where: str) -> tuple[Any, ...]:
    """Give a key with an item for each axis."""
    items = list(key) if isinstance(key, tuple) else [key]
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise BoundsError(f"{where}: an index can only have a single ellipsis ('...')")
    if any(item is None for item in items):
        raise BoundsError(f"{where}: oindex has no new axes (None)")
    missing = ndim - (len(items) - len(dots))
    if missing < 0:
        raise BoundsError(
            f"{where}: too many indices: array is {ndim}-dimensional, but {ndim - missing} were indexed"
        )
    at = dots[0] if dots else len(items)
    items[at : at + len(dots)] = [slice(None)] * missing
    return tuple(items)


def positions(item: Any, axis: int, extent: int, where: str) -> np.ndarray:
    """Check the indices of an axis; make them positions from 0."""
    index = np.asarray(item)
    if index.ndim != 1:
        raise BoundsError(f"{where}: axis {axis}: expected indices of one axis, found {index.ndim}")
    if index.dtype == bool:
        if len(index) != extent:
            raise BoundsError(f"{where}: axis {axis}: expected {extent} booleans, found {len(index)}")
        return np.flatnonzero(index)
    if not len(index):
        return np.empty(0, np.intp)
    if index.dtype.kind not in "iu":
        raise BoundsError(f"{where}: axis {axis}: expected integers or booleans, found {index.dtype}")
    low, high = int(index.min()), int(index.max())
    if low < -extent or high >= extent:
        i = low if low < -extent else high
        raise BoundsError(f"{where}: index {i} is out of bounds for axis {axis} with size {extent}")
    index = np.ascontiguousarray(index, np.intp)  # the library reads its memory
    return index if low >= 0 else np.where(index < 0, index + extent, index)


def _cost(index: np.ndarray, gap: int) -> tuple[int, int]:
    """Give the steps along an axis that reading by runs takes, and the number of runs."""
    if len(index) < 2:
        return len(index), len(index)
    steps = np.diff(index)
    if steps[0] > 1 and (steps == steps[0]).all():
        return len(index), 1
    if steps.min() < 0:
        steps = np.diff(np.sort(index))
    between = steps[steps > max(gap, 1)]
    return int(steps.sum() - between.sum()) + 1 + len(between), 1 + len(between)


def _runs(index: np.ndarray, gap: int) -> list[_Run]:
    """Split positions where more than gap steps lie between two neighbours; an even step is one run."""
    if len(index) > 1:
        steps = np.diff(index)
        step = int(steps[0])
        if step > 1 and (steps == step).all():
            return [_Run(slice(int(index[0]), int(index[-1]) + 1, step), slice(0, len(index)), slice(None))]
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    cuts = np.flatnonzero(np.diff(ordered) > max(gap, 1)) + 1
    runs = []
    for target, positions in zip(np.split(order, cuts), np.split(ordered, cuts)):
        if len(positions):
            first = int(positions[0])
            runs.append(_Run(slice(first, int(positions[-1]) + 1), target, positions - first))
    return runs


def _cross(indices: list[Any], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Give the open mesh of slices and positions, one for each axis of an array of the shape."""
    return np.ix_(*(np.arange(n)[i] if isinstance(i, slice) else i for i, n in zip(indices, shape)))
