"""Assignment through lists, masks and positions, and reading by positions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _dtypes
from ._errors import NotSupportedError, ShapeError
from ._orthogonal import expand, is_array, positions

if TYPE_CHECKING:
    from ._parts import Part

_BLOCK = 1 << 24  # bytes that are read, changed and written at once


def is_mask(key: Any, array: Part) -> bool:
    """Whether an index is a mask of several axes, as large as the array."""
    return (
        isinstance(key, np.ndarray) and key.dtype == bool and key.ndim > 1 and key.shape == array._extents()
    )


def assign(array: Part, key: Any, value: Any) -> None:
    """Do ``array[key] = value`` for lists, arrays of positions and masks, as NumPy means it.

    Runs of neighbours are read, changed and written, some MiB at a time; of positions that come twice the
    last value counts.
    """
    extents, where = array._extents(), array._where
    if is_mask(key, array):
        _at_points(array, np.nonzero(key), value)
        return
    items = expand(key, len(extents), where)
    lists = [i for i, item in enumerate(items) if is_array(item)]
    index = [positions(items[i], i, extents[i], where) for i in lists]
    if len(lists) > 1:
        if len(lists) < len(items):
            raise NotSupportedError(f"{where}: several lists among slices; assign in a loop")
        _at_points(array, np.broadcast_arrays(*index), value)
        return
    axis, at = lists[0], index[0]
    others: list[Any] = [
        np.arange(n)[item] if isinstance(item, slice) else None for item, n in zip(items, extents)
    ]
    shape = [len(at) if i == axis else len(o) for i, o in enumerate(others) if i == axis or o is not None]
    given: Any = value if isinstance(value, np.ma.MaskedArray) else array._given(value)
    try:
        given = np.broadcast_to(given, shape, subok=True)
    except ValueError:
        raise ShapeError(f"{where}: could not broadcast {np.shape(value)} into {tuple(shape)}") from None
    kept = sum(1 for i in range(axis) if others[i] is not None)  # axes of the result before this one
    order: np.ndarray = np.argsort(at, kind="stable")
    ordered = at[order]
    last = np.append(ordered[1:] != ordered[:-1], True)[: len(ordered)]
    order, ordered = order[last], ordered[last]
    row = max(1, array.nbytes // max(1, extents[axis]))
    longest = max(1, _BLOCK // row)
    first = 0
    while first < len(ordered):
        end = int(np.searchsorted(ordered, ordered[first] + longest))
        gaps = np.flatnonzero(np.diff(ordered[first:end]) > max(1, (1 << 16) // row))
        if len(gaps):
            end = first + int(gaps[0]) + 1
        part = slice(int(ordered[first]), int(ordered[end - 1]) + 1)
        place = tuple(part if i == axis else item for i, item in enumerate(items))
        inner = (slice(None),) * kept
        new = given[(*inner, order[first:end])]
        if part.stop - part.start == end - first:
            array[place] = new
        else:
            block = array.read(place)
            block[(*inner, ordered[first:end] - part.start)] = array._fitted(new)
            array[place] = block
        first = end


def _at_points(array: Part, index: Any, value: Any) -> None:
    """Assign elements by their positions along all axes."""
    shape = index[0].shape if len(index) else ()
    given = np.broadcast_to(array._given(value), shape, subok=True).ravel()
    extents = array._extents()
    points = [np.ravel(i) for i in index]
    row = max(1, array.nbytes // max(1, extents[0]))
    rows = max(1, _BLOCK // row)
    for number in np.unique(points[0] // rows).tolist() if points else []:
        these = points[0] // rows == number
        first = int(points[0][these].min())
        block = array.read((slice(first, int(points[0][these].max()) + 1),))
        block[(points[0][these] - first, *(p[these] for p in points[1:]))] = array._fitted(given[these])
        array[first : first + len(block)] = block


class Points:
    """Elements of an `Array` by their positions, as ``v.vindex``.

    Each axis takes a list or array of integers, or an integer; together they are broadcast, as in NumPy:
    ``v.vindex[[0, 5], [2, 2]]`` is ``v[...][[0, 5], [2, 2]]``. Assignment works alike. Of an array in chunks
    each chunk is decoded once; else the elements are copied one by one.
    """

    __slots__ = ("_array",)

    def __init__(self, array: Part) -> None:
        self._array = array

    def _index(self, key: Any) -> list[np.ndarray]:
        array = self._array
        extents = array._extents()
        items = key if isinstance(key, tuple) else (key,)
        if len(items) != len(extents):
            raise ShapeError(
                f"{array._where}: vindex: expected positions along {len(extents)} axes, found {len(items)}"
            )
        index = []
        for axis, (item, extent) in enumerate(zip(items, extents)):
            given = np.asarray(item)
            flat = positions(given.ravel(), axis, extent, array._where)
            index.append(flat.reshape(given.shape if given.dtype != bool else flat.shape))
        return list(np.broadcast_arrays(*index))

    def _flat(self, key: Any) -> np.ndarray:
        """Give positions along all axes, row-major."""
        extents = self._array._extents()
        given = [np.asarray(item) for item in key] if isinstance(key, tuple) else []
        if len(given) == len(extents) and all(item.dtype.kind in "iu" for item in given):
            try:
                return np.asarray(np.ravel_multi_index(tuple(given), extents))
            except (TypeError, ValueError):  # negative ones, or a mistake
                pass
        return np.asarray(np.ravel_multi_index(tuple(self._index(key)), extents))

    def __getitem__(self, key: Any) -> Any:
        array = self._array
        if array.dtype_name not in _dtypes.VARIABLE and array._extents():
            flat = self._flat(key)
            return array._read_points(len(array._extents()), flat.ravel()).reshape(flat.shape)
        index = self._index(key)
        shape = index[0].shape
        points = [i.ravel() for i in index]
        data = np.empty(math.prod(shape), array.dtype)
        result: Any = np.ma.MaskedArray(data, np.zeros(len(data), bool)) if array.masked else data
        extents = array._extents()
        rows = max(1, _BLOCK // max(1, array.nbytes // max(1, extents[0])))
        for number in np.unique(points[0] // rows).tolist():
            these = points[0] // rows == number
            first = int(points[0][these].min())
            block = array.read((slice(first, int(points[0][these].max()) + 1),))
            result[these] = block[(points[0][these] - first, *(p[these] for p in points[1:]))]
        return result.reshape(shape)

    def __setitem__(self, key: Any, value: Any) -> None:
        _at_points(self._array, self._index(key), value)
