"""One element of an array at a time."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _capi
from ._elements import address
from ._errors import failure
from ._lib import lib

if TYPE_CHECKING:
    from ._array import Array

# Called with prepared pointers only: converting integers by argtypes costs more than reading an element.
_ndf_array_read = lib["ndf_array_read"]


class Element:
    """Memory for reading an element, with pointers to it that are made once; for one thread at a time."""

    __slots__ = ("args", "err", "handle", "keep", "start", "value")

    def __init__(self, dtype: np.dtype, ndim: int) -> None:
        self.value = np.empty(1, dtype)
        self.handle = ctypes.c_uint64()
        self.start = (ctypes.c_int64 * ndim)()
        self.err = _capi.ndf_error()
        ones = (ctypes.c_int64 * ndim)(*[1] * ndim)
        self.keep = ones
        self.args = (
            self.handle,
            ctypes.c_int32(ndim),
            ctypes.byref(self.start),
            ctypes.byref(ones),
            None,
            None,
            ctypes.c_void_p(address(self.value)),
            None,
            None,
            ctypes.byref(self.err),
        )

    def read(self, array: Array, key: tuple[Any, ...]) -> Any:
        """Read an element; None when the key is something else, or wrong."""
        start = self.start
        for axis, (i, n) in enumerate(zip(key, array.shape)):
            if i.__class__ is not int or not -n <= i < n:
                return None
            start[axis] = i if i >= 0 else i + n
        self.handle.value = array._open()
        status = _ndf_array_read(*self.args)
        if status:
            raise failure(status, self.err, array._file.path)
        return self.value[0]
