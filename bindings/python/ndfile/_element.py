"""An element or a box of an array at a time, through memory that is kept."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _capi
from ._elements import address
from ._errors import failure
from ._lib import lib

if TYPE_CHECKING:
    from ._index import Selection
    from ._parts import Part

# Called with prepared pointers only: converting integers by argtypes costs more than reading an element.
_ndf_array_read = lib["ndf_array_read"]


class Element:
    """Memory for reading an element or a box, and pointers to it, made once; for one thread at a time."""

    __slots__ = ("box", "count", "data", "element", "err", "handle", "keep", "start", "step", "value")

    def __init__(self, dtype: np.dtype, ndim: int) -> None:
        self.value = np.empty(1, dtype)
        self.handle = ctypes.c_uint64()
        extents: Any = ctypes.c_int64 * ndim  # slices of it take tuples too, which its stub does not know
        self.start, self.count, self.step = extents(), extents(), extents()
        self.data = ctypes.c_void_p()
        self.err = _capi.ndf_error()
        ones = extents(*[1] * ndim)
        self.keep = ones
        start, err = ctypes.byref(self.start), ctypes.byref(self.err)
        rank = ctypes.c_int32(ndim)
        value = ctypes.c_void_p(address(self.value))
        self.element = (self.handle, rank, start, ctypes.byref(ones), None, None, value, None, None, err)
        count, step = ctypes.byref(self.count), ctypes.byref(self.step)
        self.box = (self.handle, rank, start, count, step, None, self.data, None, None, err)

    def read(self, array: Part, key: tuple[Any, ...]) -> Any:
        """Read an element; None when the key is something else, or wrong."""
        start = self.start
        for axis, (i, n) in enumerate(zip(key, array.shape)):
            if i.__class__ is not int or not -n <= i < n:
                return None
            start[axis] = i if i >= 0 else i + n
        self.handle.value = array._open()
        status = _ndf_array_read(*self.element)
        if status:
            raise failure(status, self.err, array._file.path)
        return self.value[0]

    def read_box(self, array: Part, selection: Selection, data: np.ndarray) -> None:
        """Read a box into memory of the array's dtype without gaps."""
        self.start[:] = selection.starts
        self.count[:] = selection.counts
        self.step[:] = selection.steps
        self.data.value = address(data)
        self.handle.value = array._open()
        status = _ndf_array_read(*self.box)
        if status:
            raise failure(status, self.err, array._file.path)
