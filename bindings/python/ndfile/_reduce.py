"""Reducible: reductions of an Array, computed in the library piece by piece."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _capi
from ._index import select
from ._lib import call, lib
from ._parts import Part

_REDUCTIONS = {
    "sum": _capi.NDF_REDUCE_SUM,
    "min": _capi.NDF_REDUCE_MIN,
    "max": _capi.NDF_REDUCE_MAX,
    "mean": _capi.NDF_REDUCE_MEAN,
}


class Reducible(Part):
    """The reductions of an `Array`."""

    __slots__ = ()

    def count(self, key: Any = Ellipsis) -> int:
        """Count the elements of a selection that are not missing."""
        return int(self._summary(_capi.NDF_REDUCE_COUNT, key).count)

    def sum(self, key: Any = Ellipsis, **options: Any) -> Any:
        """Add up a selection, piece by piece: the array need not fit into memory.

        Parameters
        ----------
        key : index, optional
            What would stand between the brackets of ``v[...]``, of slices and integers. Default: everything.
        **options
            ``axis``, ``dtype``, ``out`` and what else NumPy's method takes; where one is given the selection
            is read as a whole.

        Returns
        -------
        numpy scalar
            int64 for integers and bool, uint64 for unsigned integers, float64, complex128, or a timedelta.
            Sums of integers are exact.

        Raises
        ------
        ValueNotRepresentableError
            The result does not fit, or there is none: the least of no elements (a ValueError).
        DTypeError
            The elements are no numbers (a TypeError).

        Examples
        --------
        >>> import ndfile, numpy as np
        >>> ndfile.save("reduce.ds", {"x": np.arange(100, dtype="u1")})
        >>> with ndfile.open("reduce.ds") as f:
        ...     v = f["x"]
        ...     print(v.sum(), v.min(), v.max(np.s_[:10]), v.mean(), v.count(np.s_[::2]))
        4950 0 9 49.5 50
        """
        return self._reduce("sum", key, options)

    def min(self, key: Any = Ellipsis, **options: Any) -> Any:
        """Find the least element of a selection, see `sum`; NaN or NaT where there is one."""
        return self._reduce("min", key, options)

    def max(self, key: Any = Ellipsis, **options: Any) -> Any:
        """Find the greatest element of a selection, see `sum`; NaN or NaT where there is one."""
        return self._reduce("max", key, options)

    def mean(self, key: Any = Ellipsis, **options: Any) -> Any:
        """Give the mean of a selection, see `sum`: float64 or complex128."""
        return self._reduce("mean", key, options)

    def _reduce(self, name: str, key: Any, options: dict[str, Any]) -> Any:
        if any(value is not None for value in options.values()):
            return getattr(self[key], name)(**options)
        result = getattr(self._summary(_REDUCTIONS[name], key), name)
        value = np.frombuffer(bytes(result.bytes), result.dtype.decode(), 1)[0]
        if name in ("min", "max") and self.dtype == np.float16:  # which the library gives as float32
            return np.float16(value)
        return value

    def _summary(self, bit: int, key: Any) -> ctypes.Structure:
        selection = select(key, self._extents(), self._where)
        summary = _capi.ndf_summary()
        summary.struct_size = ctypes.sizeof(summary)
        place, at = self._box(selection), ctypes.addressof(summary)
        call(self._file.path, lib.ndf_array_reduce, self._open(), *place, bit, at)
        return summary
