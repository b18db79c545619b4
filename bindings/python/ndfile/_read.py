"""read: a whole file in one call of the library.

It is made for many small files. What the call needs in C memory lies in a `_Scratch`, which is made once
and used again, because ctypes objects are slow to make. The function is called without ``argtypes``, with
prepared pointers only, because converting integers costs more than a system call. A scratch is out of the
pool for the time of a call, so that threads and signal handlers never share one.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _capi, _dtypes, _elements
from ._errors import ArgumentError, DTypeError, NoDataError, failure
from ._lib import Path, encode_name, encode_path, lib
from ._open import open as open_file

_BUFFER = 1 << 16  # bytes of a scratch in the pool
_INFOS = 64  # arrays that it has room for

_ndf_load = lib["ndf_load"]
_info = _capi.ndf_load_info
_INFO = ctypes.sizeof(_info)
_SHAPE = _info.shape.offset
# ndim, flags, count, name_offset, name_len, data_offset and the first four bytes of dtype
_head = struct.Struct("=4xiI4xq8xqqq40xI").unpack_from
_shapes = [struct.Struct(f"={n}q").unpack_from for n in range(_capi.NDF_MAX_NDIM + 1)]

_PLAIN = [np.dtype(name) for name in "b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8".split()]
# Numeric dtypes by those four bytes, which hold the whole name and its NUL.
_plain = {int.from_bytes(d.str.encode() + b"\0", sys.byteorder): d for d in _PLAIN}

# What two infos must have in common to be alike, for arrays of up to four axes; and what is never in an info.
_AXES = 4
_NDIM = _info.ndim.offset
_ALIKE = slice(_NDIM, _SHAPE + 8 * _AXES)
_NEVER = b"\xff"
_places = tuple(range(0, _INFOS * _INFO, _INFO))
_ndarray = np.ndarray
_SINGLE = _capi.NDF_ARRAY_SINGLE
_SPECIAL = _capi.NDF_ARRAY_MASKED | _capi.NDF_ARRAY_STRINGS | _capi.NDF_ARRAY_NO_DATA


class _Scratch:
    """C memory of one call, and pointers to it."""

    __slots__ = (
        "buf",
        "cap",
        "err",
        "infos",
        "last",
        "need",
        "ninfos",
        "p_buf",
        "p_err",
        "p_infos",
        "p_need",
        "p_ninfos",
    )

    def __init__(self, buf: bytearray | memoryview, infos: int) -> None:
        self.buf = buf
        self.p_buf = ctypes.byref(ctypes.c_char.from_buffer(buf))
        self.cap = ctypes.c_int64(len(buf))
        self.need = ctypes.c_int64()
        self.p_need = ctypes.byref(self.need)
        self.infos = bytearray(infos * _INFO)
        first = _info.from_buffer(self.infos)
        first.struct_size = _INFO
        self.p_infos = ctypes.byref(first)
        self.ninfos = ctypes.c_int64(infos)
        self.p_ninfos = ctypes.byref(self.ninfos)
        self.err = _capi.ndf_error()
        self.p_err = ctypes.byref(self.err)
        # Of a file with one plain variable: its info, and what follows. The next file of a series is alike.
        self.last: tuple = (_NEVER, b"", 0, "", (), None, 0)


_pool: list[_Scratch] = []


def read(path: Path, name: str | None = None, *, out: np.ndarray | None = None, dtype: Any = None) -> Any:
    """Read a file, or one array of it.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        The file or folder. Its format is found by itself.
    name : str, optional
        Name of the one array to read. Default: all.
    out : numpy.ndarray, optional
        Memory for the one array (by name, or of a single-array file), as in `Array.read`. Using touched
        memory again is faster than fresh memory for large arrays.
    dtype : optional
        What `numpy.dtype` takes, for one array of bytes without a meaning (``V12``): what they stand for, a
        structured dtype for example. It must have their size.

    Returns
    -------
    numpy.ndarray or dict of str to numpy.ndarray
        With `name`, and for single-array files, the array (`out`, where given); else a dict in file order.
        Arrays are writable, row-major and in native byte order; those stored with a mask are
        `numpy.ma.MaskedArray`, with zero or an empty text under the mask. Texts are object arrays of `str`,
        byte strings of `bytes`. Scalars are arrays without axes. A variable without data is None in the
        dict, as in ds-format.

        The arrays of one dict share one block of memory of their own; copy one to keep it without the rest.

    Raises
    ------
    NotFoundError
        No such file (a FileNotFoundError).
    FormatError, CorruptError
        The file is of no known format, or damaged (ValueErrors).
    NameNotFoundError
        No array of that name (a KeyError).
    NoDataError
        The array `name` has no data (a ValueError).

    Notes
    -----
    May be called by several threads at once; the GIL is released while the library works.

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> ndfile.save("read.ds", {"t": np.arange(3.0), "n": np.int16(7)})
    >>> ndfile.read("read.ds")
    {'n': array(7, dtype=int16), 't': array([0., 1., 2.])}
    >>> ndfile.read("read.ds", "t")
    array([0., 1., 2.])
    """
    if out is not None or dtype is not None:
        return _read_as(path, name, out, dtype)
    if path.__class__ is str and path.isascii() and "\0" not in path:  # type: ignore[union-attr]
        raw_path = path.encode()  # type: ignore[union-attr]
    else:
        raw_path = encode_path(path)
    raw_name = None if name is None else encode_name(name)
    try:
        s = _pool.pop()
    except IndexError:
        s = _Scratch(bytearray(_BUFFER), _INFOS)
    if _ndf_load(raw_path, raw_name, s.p_buf, s.cap, s.p_need, s.p_infos, s.p_ninfos, s.p_err):
        s = _load_large(path, raw_path, raw_name, s)
        raw = s.buf
        places: Iterable[int] = range(0, s.ninfos.value * _INFO, _INFO)
    else:
        # A block of memory for these arrays only, which they keep alive.
        raw = s.buf[: s.need.value]
        n = s.ninfos.value
        if n == 1 and raw_name is None:
            info, text, at, known, shape, kind, data = s.last
            if s.infos.startswith(info, _NDIM) and raw.startswith(text, at):
                arrays = {known: _ndarray(shape, kind, raw, data)}
            else:
                arrays = only(raw, s.infos, 0)
                if arrays is not None:
                    s.last = _remember(raw, s.infos, arrays)
            if arrays is not None:
                s.ninfos.value = _INFOS
                _pool.append(s)
                return arrays
        places = _places[:n]
    arrays, flags = gather(raw, s.infos, places)
    if raw is not s.buf:
        s.ninfos.value = _INFOS
        _pool.append(s)
    return result(path, name, arrays, flags)


def only(raw: Any, infos: Any, pos: int) -> dict[str, Any] | None:
    """Do what `gather` does for by far the most common file, one plain variable; None for others."""
    ndim, flags, count, at, length, data, code = _head(infos, pos)
    dtype = _plain.get(code)
    if flags or dtype is None:
        return None
    array = _ndarray(count if ndim == 1 else _shapes[ndim](infos, pos + _SHAPE), dtype, raw, data)
    return {_name(raw[at : at + length]): array}


def _remember(raw: Any, infos: Any, arrays: dict[str, np.ndarray]) -> tuple:
    """Give what a scratch keeps of the only array of a file; with more axes, what is never alike."""
    ndim, _, _, at, length, data, code = _head(infos, 0)
    info = bytes(infos[_ALIKE]) if ndim <= _AXES else _NEVER
    name = bytes(raw[at : at + length]) + b"\0"
    return info, name, at, next(iter(arrays)), _shapes[ndim](infos, _SHAPE), _plain[code], data


def gather(raw: Any, infos: Any, places: Iterable[int]) -> tuple[dict[str, Any], int]:
    """Make the arrays of a file from a buffer and the infos at places; give the flags of the last too."""
    arrays: dict[str, Any] = {}
    flags = 0
    for pos in places:
        ndim, flags, count, at, length, data, code = _head(infos, pos)
        if code not in _plain or flags & _SPECIAL:
            array = _unpack(raw, _info.from_buffer(infos, pos))
        elif ndim == 1:
            array = _ndarray(count, _plain[code], raw, data)
        else:
            array = _ndarray(_shapes[ndim](infos, pos + _SHAPE), _plain[code], raw, data)
        arrays[_name(raw[at : at + length])] = array
    return arrays, flags


def result(path: Path, name: str | None, arrays: dict[str, Any], flags: int) -> Any:
    """Give what reading a path results in: the dict, or the one array."""
    if name is None and not flags & _SINGLE:
        return arrays
    (array,) = arrays.values()
    if array is None:
        raise NoDataError(f"{path!s}: array {name!r}: the array has metadata but no data", path=path)
    return array


def _name(raw: Any) -> str:
    """Give the text of a name; lone surrogates, which JSON allows, come as three bytes each."""
    try:
        return str(raw, "utf-8")
    except UnicodeDecodeError:
        return str(raw, "utf-8", "surrogatepass")


def _load_large(path: Path, raw_path: bytes, raw_name: bytes | None, s: _Scratch) -> _Scratch:
    """Go on after a call that failed: with a scratch of the size that it wants, or its error."""
    pooled = s
    status = s.err.code
    try:
        while status == _capi.NDF_ERR_BUFFER:  # again where the file has grown meanwhile
            s = _Scratch(memoryview(np.empty(max(s.need.value, 1), np.uint8)), s.ninfos.value)
            status = _ndf_load(raw_path, raw_name, s.p_buf, s.cap, s.p_need, s.p_infos, s.p_ninfos, s.p_err)
        if status:
            raise failure(status, s.err, path)
    finally:
        pooled.ninfos.value = _INFOS
        _pool.append(pooled)
    return s


def _unpack(raw: Any, info: Any) -> Any:
    """Make an array that has a mask, texts, no data, or a dtype that is not plain."""
    flags, count = info.flags, info.count
    if flags & _capi.NDF_ARRAY_NO_DATA:
        return None
    shape = tuple(info.shape[: info.ndim])
    name = info.dtype.decode() or str(raw[info.dtype_offset : info.dtype_offset + info.dtype_len], "utf-8")
    if flags & _capi.NDF_ARRAY_STRINGS:
        offsets = np.frombuffer(raw, np.int64, count + 1, info.offsets_offset)
        data = bytes(raw[info.data_offset : info.data_offset + info.data_len])
        array = _elements.unpack(name, offsets, data, shape)
    else:
        array = np.ndarray(shape, _dtypes.to_numpy(name), raw, info.data_offset)
    if flags & _capi.NDF_ARRAY_MASKED:
        mask = np.ndarray(shape, np.bool_, raw, info.mask_offset)
        return np.ma.MaskedArray(array, mask=mask)
    return array


def _read_as(path: Path, name: str | None, out: np.ndarray | None, dtype: Any) -> np.ndarray:
    """Read one array into memory of the caller, or as a dtype of the caller's."""
    if out is not None and dtype is not None:
        raise ArgumentError("out and dtype: only one of them can be given")
    with open_file(path) as file:
        if name is None and file.kind != "array":
            raise ArgumentError(f"{path!s}: a {file.kind} needs the name of one array", path=path)
        array = file.array if name is None else file[name]
        if out is not None:
            return array.read(out=out)
        found, wanted = array.dtype, np.dtype(dtype)
        if found == wanted:
            return array.read()
        if found is None or found.kind != "V" or found.names or found.itemsize != wanted.itemsize:
            raise DTypeError(f"{array._where}: cannot take {array.dtype_name} for {wanted}", path=path)
        return array.read().view(wanted)
