"""Writable: the side of an Array that is written."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import numpy as np

from . import _capi, _dtypes, _elements
from ._assign import assign, is_mask
from ._boxes import Boxes
from ._errors import BoundsError, MaskedError, NotSupportedError, ShapeError, failure
from ._index import Selection, select
from ._lib import call, lib
from ._orthogonal import is_array
from ._parts import Part
from ._spec import INT64S, lengths

_FEW = 1 << 15  # bytes

# Called with prepared pointers only: converting integers by argtypes costs more than appending some elements.
_ndf_array_append = lib["ndf_array_append"]
_ndf_array_info_get = lib["ndf_array_get_info"]


class Writable(Boxes):
    """The side of an `Array` that is written."""

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_mask(key, self) or is_array(key) or (key.__class__ is tuple and any(map(is_array, key))):
            assign(self, key, value)
            return
        selection = select(key, self._extents(), self._where)
        dtype: Any = self.dtype  # there is one where there are extents
        if value is np.ma.masked:
            value = _missing(dtype)
        elif isinstance(value, Part):
            value = value[...]
        texts = self.dtype_name in _dtypes.VARIABLE
        if texts:
            data, mask = _elements.split_mask(_elements.as_array(value, self._where))
        else:
            data, mask = _elements.split_mask(_elements.convert(value, dtype, self._where))
        data = self._fit(data, selection)
        if mask is not None:
            mask = np.ascontiguousarray(self._fit(mask, selection))
        if texts:
            self._write(
                selection, _elements.pack(data.astype(object), mask, self._where, self.dtype_name), mask
            )
        else:
            self._write(selection, data, mask)

    def append(self, data: Any, axis: int = 0) -> None:
        """Grow the array along an axis and store data behind what was there.

        For formats whose arrays can change their length (``"resize"`` in `formats`). The columns of a table
        grow together: `Table.append`.

        Parameters
        ----------
        data : array_like
            As many elements along the other axes as the array has; or with one axis less, one step along
            `axis`. Values are taken as by ``v[...] = data``.
        axis : int, default 0
            Axis to grow along.

        Notes
        -----
        What does not fill a chunk may wait in memory until `File.flush` or `File.close`. All readers of
        this file see it at once.

        Examples
        --------
        >>> import ndfile
        >>> with ndfile.open("append.bcolz", "w") as f:
        ...     v = f.create("", 0, "f8")
        ...     v.append([1, 2])
        ...     v.append(3)
        >>> ndfile.read("append.bcolz")
        array([1., 2., 3.])
        """
        extents = self._extents()
        ndim = len(extents)
        if ndim == 1 and axis == 0 and data.__class__ is np.ndarray and data.dtype == self.dtype:
            place = self._appending
            if place is None:
                place = self._appending = Appending(self.dtype)
            if place.append(self, data):
                return
        if not -ndim <= axis < ndim:
            raise BoundsError(f"{self._where}: axis {axis} is out of bounds for {ndim} axes")
        values = self._values(data)
        if values.ndim == ndim - 1:
            values = np.expand_dims(values, axis)
        if values.ndim != ndim:
            raise ShapeError(f"{self._where}: expected data of {ndim} axes, found shape {values.shape}")
        name = None if values.dtype == self.dtype else _dtypes.from_numpy(values.dtype).encode()
        strides = None if values.flags.c_contiguous else INT64S[ndim](*values.strides)
        what = INT64S[ndim](*values.shape), name, _elements.address(values), strides
        call(self._file.path, lib.ndf_array_append, self._open(), axis % ndim, ndim, *what)
        self._refresh()

    def _given(self, value: Any) -> Any:
        """Take what is to be assigned as an array; texts as objects."""
        if value is np.ma.masked:
            return _missing(self.dtype)
        return _elements.as_array(value[...] if isinstance(value, Part) else value, self._where)

    def _fitted(self, value: np.ndarray) -> Any:
        """Give elements as this array has them in memory; refuse what does not fit exactly."""
        if self.dtype_name in _dtypes.VARIABLE:
            return value
        return _elements.convert(value, self.dtype, self._where)

    def _rows(self, data: Any) -> np.ndarray | _elements.Texts:
        """Make rows of this column of anything; texts may stay of any length."""
        if isinstance(data, _elements.Texts):
            return data
        if self.dtype.kind in "SU" and self.ndim == 1:
            texts = _elements.as_array(data[...] if isinstance(data, Part) else data, self._where)
            if texts.dtype.kind in "OT" and texts.ndim == 1 and not isinstance(texts, np.ma.MaskedArray):
                return _elements.pack(texts.astype(object), None, self._where)
        return self._values(data)

    def _values(self, data: Any) -> np.ndarray:
        """Make elements of this array of anything; none may be missing."""
        if self.dtype_name in _dtypes.VARIABLE:
            raise NotSupportedError(f"{self._where}: elements of variable length cannot be appended")
        value = data[...] if isinstance(data, Part) else data
        values, mask = _elements.split_mask(_elements.convert(value, self.dtype, self._where))
        if mask is not None:
            raise MaskedError(f"{self._where}: missing elements cannot be appended")
        return values

    def resize(self, shape: Any) -> None:
        """Change the shape in place; an integer is the length of the first axis.

        Elements that come into being have the fill value. What falls outside is gone for good, at once.
        """
        extents = lengths(shape, "shape", self._where)
        if not np.iterable(shape):
            extents += self._extents()[1:]
        ndim = len(extents)
        call(self._file.path, lib.ndf_array_resize, self._open(), ndim, INT64S[ndim](*extents))
        self._refresh()

    def _fit(self, value: np.ndarray, selection: Selection) -> np.ndarray:
        """Broadcast a value to the selection and give it the form of the box."""
        while value.ndim > len(selection.shape) and value.shape[0] == 1:
            value = value[0]
        try:
            box: np.ndarray = np.broadcast_to(value, selection.shape)[selection.view]
        except ValueError:
            raise ShapeError(
                f"{self._where}: could not broadcast input array from shape {value.shape} "
                f"into shape {selection.shape}"
            ) from None
        return box

    def _write(
        self, selection: Selection, data: np.ndarray | _elements.Texts, mask: np.ndarray | None
    ) -> None:
        """Write a box; data has its shape, the mask too, without gaps."""
        args: tuple[Any, ...]
        if isinstance(data, _elements.Texts):
            function = lib.ndf_array_write_strings
            args = _elements.address(data.offsets), data.data
        else:
            function = lib.ndf_array_write
            name = None if data.dtype == self.dtype else _dtypes.from_numpy(data.dtype).encode()
            strides = None if data.flags.c_contiguous else INT64S[data.ndim](*data.strides)
            args = name, _elements.address(data), strides
        missing = None if mask is None else _elements.address(mask)
        call(self._file.path, function, self._open(), *self._box(selection), *args, missing)


def _missing(dtype: np.dtype) -> np.ndarray:
    """Make an element that is missing."""
    return np.ma.MaskedArray(np.zeros((), dtype), mask=True)


class Appending:
    """Memory for appending few elements at a time, with pointers to it that are made once."""

    __slots__ = ("append_args", "count", "err", "handle", "info_args", "length", "lock", "values")

    def __init__(self, dtype: np.dtype) -> None:
        self.values = np.empty(max(1, _FEW // dtype.itemsize), dtype)
        self.handle = ctypes.c_uint64()
        self.count = ctypes.c_int64()
        self.err = _capi.ndf_error()
        self.lock = threading.Lock()
        info = _capi.ndf_array_info()
        info.struct_size = ctypes.sizeof(info)
        self.length = ctypes.c_int64.from_buffer(info, _capi.ndf_array_info.shape.offset)
        err = ctypes.byref(self.err)
        axis, ndim, dtype_as_stored, dense = ctypes.c_int32(0), ctypes.c_int32(1), None, None
        data = ctypes.c_void_p(_elements.address(self.values))
        self.append_args = (
            self.handle,
            axis,
            ndim,
            ctypes.byref(self.count),
            dtype_as_stored,
            data,
            dense,
            err,
        )
        self.info_args = (self.handle, ctypes.byref(info), err)

    def append(self, array: Writable, data: np.ndarray) -> bool:
        """Append to an array of one axis; False when there is too much of it, or another thread is at it."""
        n = len(data) if data.ndim == 1 else -1
        if not 0 <= n <= len(self.values) or not self.lock.acquire(blocking=False):
            return False
        try:
            self.values[:n] = data
            self.count.value = n
            self.handle.value = array._open()
            with array._file._lock:  # the last one sees the last shape
                status = _ndf_array_append(*self.append_args) or _ndf_array_info_get(*self.info_args)
                if status:
                    raise failure(status, self.err, array._file.path)
                array.shape = (self.length.value,)
        finally:
            self.lock.release()
        return True
