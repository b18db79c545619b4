"""Arrays out of memory that the library has filled: of files that are read whole, and of parts of open ones.

What a call needs in C memory lies in a `_Scratch`, which is made once and used again, because ctypes objects
are slow to make. The functions are called without ``argtypes``, with prepared pointers only, because
converting integers costs more than a system call. A scratch is out of the pool for the time of a call, so
that threads and signal handlers never share one.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import _capi, _dtypes, _elements
from ._lib import lib

_BUFFER = 1 << 16  # bytes of a scratch in the pool
_INFOS = 64  # arrays that it has room for

_ndf_load = lib["ndf_load_prepared"]
_ndf_file_load = lib["ndf_file_load"]
_ndf_file_open_load = lib["ndf_file_open_load"]
_META = _capi.NDF_LOAD_META
_info = _capi.ndf_load_info
_INFO = ctypes.sizeof(_info)
_SHAPE, _DATA, _DTYPE = _info.shape.offset, _info.data_offset.offset, _info.dtype.offset
# ndim, flags, count, name_offset, name_len, data_offset and the first four bytes of dtype
_head = struct.Struct(f"=4xiI4xq8xqqq{_info.dtype.offset - _info.data_len.offset}xI").unpack_from
_shapes = [struct.Struct(f"={n}q").unpack_from for n in range(_capi.NDF_MAX_NDIM + 1)]

_PLAIN = [np.dtype(name) for name in "b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8".split()]
# Numeric dtypes by those four bytes, which hold the whole name and its NUL.
_plain = {int.from_bytes(d.str.encode() + b"\0", sys.byteorder): d for d in _PLAIN}

_STR = int.from_bytes(b"str\0", sys.byteorder)
_int64 = np.dtype(np.int64)

_places = tuple(range(0, _INFOS * _INFO, _INFO))
_ndarray = np.ndarray
_SINGLE = _capi.NDF_ARRAY_SINGLE
_SPECIAL = _capi.NDF_ARRAY_MASKED | _capi.NDF_ARRAY_STRINGS | _capi.NDF_ARRAY_NO_DATA


class _Scratch:
    """C memory of one call, and pointers to it."""

    __slots__ = (
        "about",
        "args",
        "buf",
        "copies",
        "err",
        "flags",
        "handle",
        "infos",
        "name",
        "p_about",
        "p_args",
        "p_err",
        "p_handle",
        "seen",
        "series",
    )

    def __init__(self, buf: bytearray | memoryview, infos: int) -> None:
        self.buf = buf
        self.infos = bytearray(infos * _INFO)
        first = _info.from_buffer(self.infos)
        first.struct_size = _INFO
        self.args = _capi.ndf_load_args()
        self.args.struct_size = ctypes.sizeof(self.args)
        self.args.buf = ctypes.addressof(ctypes.c_char.from_buffer(buf))
        self.args.cap = len(buf)
        self.args.infos = ctypes.addressof(first)
        self.args.max_infos = infos
        self.p_args = ctypes.byref(self.args)
        self.name: bytes | None = None  # in args
        self.flags = 0  # in args
        self.handle = ctypes.c_uint64()
        self.p_handle = ctypes.byref(self.handle)
        self.about = bytearray(ctypes.sizeof(_capi.ndf_file_info))
        about = _capi.ndf_file_info.from_buffer(self.about)
        about.struct_size = len(self.about)
        self.p_about = ctypes.byref(about)
        self.err = _capi.ndf_error()
        self.p_err = ctypes.byref(self.err)
        # The series of the file before, and the series that copies are for, which give a copy of each array.
        # In the library 0 is none, here -1.
        self.seen = self.series = -1
        self.copies: list[tuple[str, Callable[[], np.ndarray]]] = []

    def load(self, path: bytes, name: bytes | None, flags: int) -> int:
        """Load a file; give the status."""
        args = self.args
        if name is not self.name:
            self.name = args.name = name
        if flags != self.flags:
            self.flags = args.flags = flags
        status: int = _ndf_load(path, self.p_args, self.p_err)
        return status

    def open_load(self, path: bytes, p_options: Any, flags: int = _META) -> int:
        """Open a file for reading, with what is at hand of it; give the status."""
        if self.flags != flags:
            self.flags = self.args.flags = flags
        status: int = _ndf_file_open_load(
            path, p_options, self.p_args, self.p_about, self.p_handle, self.p_err
        )
        return status

    def end(self, function: Any, handle: int) -> int:
        """Close or abort an open file; give the status."""
        self.handle.value = handle
        status: int = function(self.handle, self.p_err)
        return status

    def load_open(self, handle: int, flags: int, first: int, most: int) -> int:
        """Load at most so many arrays of an open file, from one on; give the status."""
        args = self.args
        if self.name is not None:
            self.name = args.name = None
        args.flags, args.first, room = flags, first, args.max_infos
        args.max_infos = most
        self.handle.value = handle
        try:
            status: int = _ndf_file_load(self.handle, self.p_args, self.p_err)
            return status
        finally:
            args.flags, args.first, args.max_infos = self.flags, 0, room

    def text(self) -> str:
        """Give the metadata that were loaded."""
        at = self.args.meta_offset
        return str(self.buf[at : at + self.args.meta_len], "ascii")

    def learn(self) -> None:
        """Prepare for files like the one that was read, if it is the second of its kind."""
        series = self.args.series
        if series and series == self.seen:
            places = _places[: self.args.ninfos]
            if not any(_head(self.infos, pos)[1] for pos in places):  # flags, of what is more than an array
                arrays, _ = gather(self.buf, self.infos, places)
                self.copies = [(name, array.copy) for name, array in arrays.items()]
                self.series = series
        self.seen = series


_pool: list[_Scratch] = []


def take() -> _Scratch:
    """Take a scratch out of the pool, or make one."""
    try:
        return _pool.pop()
    except IndexError:
        return _Scratch(bytearray(_BUFFER), _INFOS)


def gather(raw: Any, infos: Any, places: Iterable[int]) -> tuple[dict[str, Any], int]:
    """Make the arrays of a file from a buffer and the infos at places; give the flags of the last too."""
    arrays: dict[str, Any] = {}
    flags = 0
    for pos in places:
        ndim, flags, count, at, length, data, code = _head(infos, pos)
        if code not in _plain or flags & _SPECIAL:
            array = unpack(raw, infos, pos)
        elif ndim == 1:
            array = _ndarray(count, _plain[code], raw, data)
        else:
            array = _ndarray(_shapes[ndim](infos, pos + _SHAPE), _plain[code], raw, data)
        arrays[_name(raw[at : at + length])] = array
    return arrays, flags


def _name(raw: Any) -> str:
    """Give the text of a name; lone surrogates, which JSON allows, come as three bytes each."""
    try:
        return str(raw, "utf-8")
    except UnicodeDecodeError:
        return str(raw, "utf-8", "surrogatepass")


# data_offset, data_len, mask_offset, offsets_offset, dtype_offset, dtype_len
_parts = struct.Struct("=6q").unpack_from


def unpack(raw: Any, infos: Any, pos: int) -> Any:
    """Make an array that has a mask, texts, no data, or a dtype that is not plain."""
    ndim, flags, count, _, _, _, code = _head(infos, pos)
    if flags & _capi.NDF_ARRAY_NO_DATA:
        return None
    data_at, length, mask_at, offsets_at, dtype_at, dtype_len = _parts(infos, pos + _DATA)
    shape = (count,) if ndim == 1 else _shapes[ndim](infos, pos + _SHAPE)
    array: np.ndarray
    if flags & _capi.NDF_ARRAY_STRINGS:
        offsets = _ndarray(count + 1, _int64, raw, offsets_at)
        texts = _elements.texts(code == _STR, offsets, bytes(raw[data_at : data_at + length]))
        array = np.empty(count, object)
        array[:] = texts
        if ndim != 1:
            array = array.reshape(shape)
    else:
        at, n = (dtype_at, dtype_len) if dtype_len else (pos + _DTYPE, 64)
        name = str((raw if dtype_len else infos)[at : at + n], "utf-8").split("\0", 1)[0]
        array = _ndarray(shape, _dtypes.to_numpy(name), raw, data_at)
    if flags & _capi.NDF_ARRAY_MASKED:
        return np.ma.MaskedArray(array, mask=_ndarray(shape, np.bool_, raw, mask_at))
    return array
