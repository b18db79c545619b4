"""Reducible: reductions of lazy arrays, computed piece by piece.

What is stored in one file and reduced to one value is computed in the library where it knows how. All else,
along axes, of decoded values, of joined files, goes through `_folds`, block by block.
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _capi, _dtypes
from ._blocks import blocks
from ._errors import (
    ArgumentError,
    BoundsError,
    DTypeError,
    MaskedError,
    ShapeError,
    ValueNotRepresentableError,
)
from ._folds import KINDS, Fold, Sum, fold
from ._index import Selection, select
from ._lib import call, lib
from ._parts import Part
from ._progress import interruptible

_REDUCTIONS = {
    "sum": _capi.NDF_REDUCE_SUM,
    "min": _capi.NDF_REDUCE_MIN,
    "max": _capi.NDF_REDUCE_MAX,
    "mean": _capi.NDF_REDUCE_MEAN,
    "count": _capi.NDF_REDUCE_COUNT,
}


class Reducible:
    """The reductions of a lazy array."""

    __slots__ = ()

    if TYPE_CHECKING:
        dtype: np.dtype
        dtype_name: str
        masked: bool

        @property
        def chunks(self) -> tuple[int, ...] | None: ...
        @property
        def _where(self) -> str: ...
        @property
        def _path(self) -> Any: ...
        def _extents(self) -> tuple[int, ...]: ...
        def __getitem__(self, key: Any) -> Any: ...

    def count(self, key: Any = Ellipsis, *, axis: Any = None, keepdims: bool = False) -> Any:
        """Count the elements of a selection that are not missing, of any dtype, see `sum`."""
        return self._reduce("count", key, axis, keepdims=keepdims)

    def sum(
        self,
        key: Any = Ellipsis,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: np.ndarray | None = None,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        """Add up a selection, piece by piece: the array need not fit into memory.

        `numpy.sum(v, axis=0)` and its like come here too.

        Parameters
        ----------
        key : index, optional
            What would stand between the brackets of ``v[...]``, of slices and integers. Default: everything.
            Integers alone are refused: NumPy has the axis there.
        axis : int or tuple of int, optional
            Axes of the selection to reduce; negative ones count from the last. Default: all, to one value.
        dtype : dtype, optional
            Of the result; sums are added in it, floating-point ones in float64 or wider.
        out : numpy.ndarray, optional
            Memory for the result, of its shape; a `numpy.ma.MaskedArray` where a cell has no value.
        keepdims : bool, default False
            Keep reduced axes, of length 1.
        **options
            ``where``, ``initial`` and what else NumPy's method takes; where one is given the selection is
            read as a whole.

        Returns
        -------
        numpy scalar, numpy.ndarray or numpy.ma.MaskedArray
            The whole: int64 for integers and bool, uint64 for unsigned integers, float64, complex128, or a
            timedelta. Along axes, and with `dtype`, `out` or `keepdims`: NumPy's dtypes (float32 gives
            float32); of an array that is `masked` a masked array, in which cells without any element are
            masked. Sums of integers are exact.

        Raises
        ------
        ValueNotRepresentableError
            A sum of integers does not fit, or there is no result: the least of no elements (a ValueError).
        DTypeError
            There is no such reduction for the dtype, as the sum of texts (a TypeError).
        BoundsError
            There is no such axis (an IndexError).
        ArgumentError
            An axis is given twice, or the key is integers alone (a ValueError).

        Notes
        -----
        Along axes memory is needed for the result, up to four times in 8-byte elements, and for some copies
        of a block: 8 MiB of elements, or a chunk where that is larger.

        Examples
        --------
        >>> import ndfile, numpy as np
        >>> ndfile.save("reduce.ds", {"x": np.arange(100, dtype="u1"), "t": np.arange(6.0).reshape(2, 3)})
        >>> with ndfile.open("reduce.ds") as f:
        ...     v = f["x"]
        ...     print(v.sum(), v.min(), v.max(np.s_[:10]), v.mean(), v.count(np.s_[::2]))
        ...     print(f["t"].mean(axis=0), f["t"].sum(axis=-1, keepdims=True).tolist())
        4950 0 9 49.5 50
        [1.5 2.5 3.5] [[3.0], [12.0]]
        """
        return self._reduce("sum", key, axis, dtype, out, keepdims, **options)

    def min(
        self,
        key: Any = Ellipsis,
        *,
        axis: Any = None,
        out: np.ndarray | None = None,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        """Find the least element of a selection, see `sum`; NaN or NaT where there is one."""
        return self._reduce("min", key, axis, None, out, keepdims, **options)

    def max(
        self,
        key: Any = Ellipsis,
        *,
        axis: Any = None,
        out: np.ndarray | None = None,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        """Find the greatest element of a selection, see `sum`; NaN or NaT where there is one."""
        return self._reduce("max", key, axis, None, out, keepdims, **options)

    def mean(
        self,
        key: Any = Ellipsis,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: np.ndarray | None = None,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        """Give the mean of a selection, see `sum`: computed in float64, complex128 or wider.

        The mean of the whole has that dtype; along axes it is NumPy's: that of the elements, float64 for
        integers and bool.
        """
        return self._reduce("mean", key, axis, dtype, out, keepdims, **options)

    def var(
        self,
        key: Any = Ellipsis,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: np.ndarray | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        """Give the variance of a selection, see `sum`: computed in float64 or wider, in one pass.

        `ddof` is subtracted from the number of elements that the squares are divided by. The dtype is
        NumPy's: that of the elements, float64 for integers and bool, the real one for complex numbers.
        """
        return self._reduce("var", key, axis, dtype, out, keepdims, ddof, **options)

    def std(
        self,
        key: Any = Ellipsis,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: np.ndarray | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        """Give the standard deviation of a selection, the square root of `var`."""
        return self._reduce("std", key, axis, dtype, out, keepdims, ddof, **options)

    def any(
        self,
        key: Any = Ellipsis,
        *,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        """Tell whether any element of a selection is true, that is not zero, see `sum`."""
        return self._reduce("any", key, axis, None, out, keepdims, **options)

    def all(
        self,
        key: Any = Ellipsis,
        *,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        """Tell whether every element of a selection is true, that is not zero, see `sum`."""
        return self._reduce("all", key, axis, None, out, keepdims, **options)

    def _reduce(
        self,
        name: str,
        key: Any,
        axis: Any,
        dtype: Any = None,
        out: np.ndarray | None = None,
        keepdims: bool = False,
        ddof: float = 0,
        **options: Any,
    ) -> Any:
        selection = select(key, self._extents(), self._where)
        items = key if isinstance(key, tuple) else (key,)
        if items and not any(i is None or i is Ellipsis or isinstance(i, slice) for i in items):
            raise ArgumentError(
                f"{self._where}: {name}({key!r}): an axis is axis={key!r}, a part v[{key!r}].{name}()",
                path=self._path,
            )
        if any(value is not None for value in options.values()):
            given = {"axis": axis, "dtype": dtype, "out": out}
            options.update((k, v) for k, v in given.items() if v is not None)
            if name in ("std", "var"):
                options["ddof"] = ddof
            return getattr(self[key], name)(keepdims=keepdims, **options)
        if axis is None and dtype is None and out is None and not keepdims and self._in_library(name):
            return self._reduce_whole(name, selection)
        result = self._reduce_axes(name, selection, axis, dtype, keepdims, ddof)
        if out is None:
            return result if result.ndim else result[()]
        if out.shape != result.shape:
            raise ShapeError(f"{self._where}: out: expected shape {result.shape}, found {out.shape}")
        if np.ma.is_masked(result) and not isinstance(out, np.ma.MaskedArray):
            raise MaskedError(f"{self._where}: out: cells have no value, and it has no mask")
        out[...] = result
        return out

    def _in_library(self, name: str) -> bool:
        """Tell whether the library reduces all elements to one value."""
        return False

    def _reduce_whole(self, name: str, selection: Selection) -> Any:
        raise NotImplementedError

    def _reader(self) -> Callable[[Selection], Any]:
        """Give a function that reads a block, into memory that is used again where that is possible."""

        def read(part: Selection) -> Any:
            box = zip(part.starts, part.counts, part.steps)
            return np.asanyarray(self[tuple(slice(a, a + (n - 1) * by + 1, by) for a, n, by in box)])

        return read

    def _reduce_axes(
        self, name: str, selection: Selection, axis: Any, dtype: Any, keepdims: bool, ddof: float
    ) -> Any:
        if name != "count" and (self.dtype_name in _dtypes.VARIABLE or self.dtype.kind not in KINDS[name]):
            raise DTypeError(
                f"{self._where}: elements of dtype {self.dtype_name} have no {name}", path=self._path
            )
        ndim = len(selection.shape)
        reduced = self._axes(axis, ndim)
        # The axes of the box, each with that of the result; integers have dropped some, None has added some.
        of_box, at = [], 0
        for item in selection.view[:-1]:
            if item != 0:
                of_box.append(None if item is None else at)
            at += item is not None
        along = tuple(i for i, of in enumerate(of_box) if of in reduced)
        given = None if dtype is None else np.dtype(dtype)
        cells = fold(name, selection.counts, along, self.masked, self.dtype, given, ddof)
        if name in ("min", "max") and not cells.full and not self.masked and 0 not in cells.shape:
            raise ValueNotRepresentableError(f"{self._where}: no elements have no {name}", path=self._path)
        if name != "count" or self.masked:
            self._fold(selection, cells, along)
        if isinstance(cells, Sum) and name == "sum" and cells.wrapped():
            raise ValueNotRepresentableError(
                f"{self._where}: a sum does not fit into {cells.dtype}", path=self._path
            )
        result = cells.result()
        if self.masked and name != "count":
            missing = cells.missing()
            result[missing] = np.zeros((), result.dtype)
            result = np.ma.MaskedArray(result, mask=missing)
        index = tuple(0 if i is None else None if isinstance(i, int) else i for i in selection.view[:-1])
        result = result[(*index, Ellipsis)]
        return result if keepdims else np.squeeze(result, tuple(reduced))

    def _axes(self, axis: Any, ndim: int) -> set[int]:
        if axis is None:
            return set(range(ndim))
        given = [operator.index(i) for i in (axis if isinstance(axis, tuple) else (axis,))]
        for i in given:
            if not -ndim <= i < ndim:
                raise BoundsError(f"{self._where}: axis {i} is out of bounds for {ndim} axes")
        axes = {i % ndim for i in given}
        if len(axes) < len(given):
            raise ArgumentError(f"{self._where}: axis {axis}: an axis is given twice")
        return axes

    def _fold(self, selection: Selection, cells: Fold, along: tuple[int, ...]) -> None:
        """Read block after block and fold it."""
        read = self._reader()
        for place, part in blocks(selection, self.chunks, self.dtype.itemsize):
            values = read(part)
            cell = tuple(slice(0, 1) if i in along else p for i, p in enumerate(place))
            missing = np.ma.getmaskarray(values) if self.masked else None
            cells.take(cell, np.ma.getdata(values), missing)


class StoredReducible(Part, Reducible):
    """The reductions of an `Array`."""

    __slots__ = ()

    @property
    def _path(self) -> Any:
        return self._file.path

    def _in_library(self, name: str) -> bool:
        return name in _REDUCTIONS and (name == "count" or self.dtype.char not in "gG")

    def _reduce_whole(self, name: str, selection: Selection) -> Any:
        summary = _capi.ndf_summary()
        summary.struct_size = ctypes.sizeof(summary)
        place, at = self._box(selection), ctypes.addressof(summary)
        with interruptible(math.prod(selection.counts) * max(self.dtype.itemsize, 1)):
            call(self._file.path, lib.ndf_array_reduce, self._open(), *place, _REDUCTIONS[name], at)
        if name == "count":
            return int(summary.count)
        result = getattr(summary, name)
        value = np.frombuffer(bytes(result.bytes), result.dtype.decode(), 1)[0]
        if name in ("min", "max") and self.dtype == np.float16:  # which the library gives as float32
            return np.float16(value)
        return value

    def _reader(self) -> Callable[[Selection], Any]:
        memory = np.empty(0, self.dtype)
        texts = self.dtype_name in _dtypes.VARIABLE

        def read(part: Selection) -> Any:
            nonlocal memory
            if texts:
                return self._read(part)
            size: int = math.prod(part.counts)
            if memory.size < size:
                memory = np.empty(size, self.dtype)
            values: Any = memory[:size].reshape(part.counts)
            if self.masked:
                return self._read(part, np.ma.MaskedArray(values, mask=False))
            self._read(part, values)
            return values

        return read
