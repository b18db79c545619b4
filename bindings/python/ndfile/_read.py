"""read: a whole file in one call of the library.

It is made for many small files. What the call needs in C memory lies in a `_Scratch`, which is made once
and used again, because ctypes objects are slow to make. The function is called without ``argtypes``, with
prepared pointers only, because converting integers costs more than a system call. A scratch is out of the
pool for the time of a call, so that threads and signal handlers never share one.

Files of a series are alike. The library gives each series a number: the arrays of a known one are copied
from their places in the scratch, without a look at the infos.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Callable, Iterable
from typing import IO, Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from . import _capi, _dtypes, _elements
from ._errors import ArgumentError, DTypeError, NameNotFoundError, NdfileError, NoDataError, failure
from ._lib import Path, decode, encode_name, encode_path, lib
from ._names import unknown
from ._open import open as open_file
from ._stream import as_path, is_stream

_BUFFER = 1 << 16  # bytes of a scratch in the pool
_INFOS = 64  # arrays that it has room for

_ndf_load = lib["ndf_load_prepared"]
_info = _capi.ndf_load_info
_INFO = ctypes.sizeof(_info)
_SHAPE = _info.shape.offset
# ndim, flags, count, name_offset, name_len, data_offset and the first four bytes of dtype
_head = struct.Struct("=4xiI4xq8xqqq40xI").unpack_from
_shapes = [struct.Struct(f"={n}q").unpack_from for n in range(_capi.NDF_MAX_NDIM + 1)]

_PLAIN = [np.dtype(name) for name in "b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8".split()]
# Numeric dtypes by those four bytes, which hold the whole name and its NUL.
_plain = {int.from_bytes(d.str.encode() + b"\0", sys.byteorder): d for d in _PLAIN}

_places = tuple(range(0, _INFOS * _INFO, _INFO))
_ndarray = np.ndarray
_SINGLE = _capi.NDF_ARRAY_SINGLE
_SPECIAL = _capi.NDF_ARRAY_MASKED | _capi.NDF_ARRAY_STRINGS | _capi.NDF_ARRAY_NO_DATA


class _Scratch:
    """C memory of one call, and pointers to it."""

    __slots__ = ("args", "buf", "copies", "err", "infos", "name", "p_args", "p_err", "seen", "series")

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
        self.err = _capi.ndf_error()
        self.p_err = ctypes.byref(self.err)
        # The series of the file before, and the one that copies are for, which give a copy of each array.
        # In the library 0 is none, here -1.
        self.seen = self.series = -1
        self.copies: list[tuple[str, Callable[[], np.ndarray]]] = []

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


_Out = TypeVar("_Out", bound="np.ndarray[Any, Any]")


@overload
def read(
    path: Path | IO[bytes],
    name: str,
    *,
    out: None = None,
    dtype: npt.DTypeLike | None = None,
    format: str | None = None,
) -> npt.NDArray[Any]: ...
@overload
def read(
    path: Path | IO[bytes],
    name: str | None = None,
    *,
    out: _Out,
    dtype: None = None,
    format: str | None = None,
) -> _Out: ...
@overload
def read(
    path: Path | IO[bytes],
    name: list[str] | tuple[str, ...],
    *,
    out: None = None,
    dtype: None = None,
    format: str | None = None,
) -> dict[str, npt.NDArray[Any]]: ...
@overload
def read(
    path: Path | IO[bytes],
    name: None = None,
    *,
    out: None = None,
    dtype: npt.DTypeLike | None = None,
    format: str | None = None,
) -> Any: ...
def read(
    path: Any,
    name: Any = None,
    *,
    out: np.ndarray | None = None,
    dtype: Any = None,
    format: str | None = None,
) -> Any:
    """Read a file, or one array of it.

    Parameters
    ----------
    path : str, bytes, os.PathLike or a stream
        The file or folder, or an object with a method ``read``: a pipe, a socket's ``makefile("rb")``, an
        `io.BytesIO`. Of a stream one RawArray file is taken exactly, or everything to the end.
    name : str, or list of str, optional
        Name of the one array to read, or of several. Default: all.
    out : numpy.ndarray, optional
        Memory for the one array (by name, or of a single-array file), as in `Array.read`. Using touched
        memory again is faster than fresh memory for large arrays.
    dtype : optional
        What `numpy.dtype` takes, for one array of bytes without a meaning (``V12``): what they stand for, a
        structured dtype for example. It must have their size.
    format : str, optional
        Name of the format, see `formats`. Default: found by the content.

    Returns
    -------
    numpy.ndarray or dict of str to numpy.ndarray
        With one `name`, and for single-array files, the array (`out`, where given); else a dict in file
        order, with several names in their order.
        Arrays are writable, row-major and in native byte order; those stored with a mask are
        `numpy.ma.MaskedArray`, with zero or an empty text under the mask. Texts are object arrays of `str`,
        byte strings of `bytes`. Scalars are arrays without axes. A variable without data is None in the
        dict, as in ds-format.

        The arrays of one dict may share one block of memory of their own; copy one to keep it without the
        rest.

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
    if out is not None or dtype is not None or format is not None or name.__class__ in (list, tuple):
        return _read_as(path, name, out, dtype, format)
    if path.__class__ is str and path.isascii() and "\0" not in path:
        raw_path = path.encode()
    elif is_stream(path):
        return _read_as(path, name, out, dtype, format)
    else:
        raw_path = encode_path(path)
    raw_name = None if name is None else encode_name(name)
    try:
        s = _pool.pop()
    except IndexError:
        s = _Scratch(bytearray(_BUFFER), _INFOS)
    if raw_name is not s.name:
        s.name = s.args.name = raw_name
    if _ndf_load(raw_path, s.p_args, s.p_err):
        large = _load_large(path, raw_path, s)
        places = range(0, large.args.ninfos * _INFO, _INFO)
        return result(path, name, *gather(large.buf, large.infos, places))
    if s.args.series == s.series:
        arrays = {}
        for key, copy in s.copies:
            arrays[key] = copy()
        _pool.append(s)
        return arrays if name is None else arrays[name]
    # A block of memory for these arrays only, which they keep alive.
    raw = s.buf[: s.args.need]
    arrays, flags = gather(raw, s.infos, _places[: s.args.ninfos])
    s.learn()
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


def _load_large(path: Path, raw_path: bytes, s: _Scratch) -> _Scratch:
    """Go on after a call that failed: with a scratch of the size that it wants, or its error."""
    pooled = s
    status = s.err.code
    try:
        while status == _capi.NDF_ERR_BUFFER:  # again where the file has grown meanwhile
            s = _Scratch(np.empty(max(s.args.need, 1), np.uint8).data, s.args.ninfos)
            s.args.name = pooled.name
            status = _ndf_load(raw_path, s.p_args, s.p_err)
        if status:
            raise _with_names(failure(status, s.err, path), path, pooled.name)
    finally:
        _pool.append(pooled)
    return s


def _with_names(error: NdfileError, path: Path, name: bytes | None) -> NdfileError:
    """Add to the error of an unknown name which names there are."""
    if isinstance(error, NameNotFoundError) and name is not None:
        with open_file(path) as file:
            message = f"{os.fsdecode(path)}: {unknown(decode(name), list(file.keys()))}"
        return NameNotFoundError(message, path=path)
    return error


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


def _read_as(path: Any, name: Any, out: np.ndarray | None, dtype: Any, format: str | None) -> Any:
    """Read a stream, a format by its name, or one array into memory or as a dtype of the caller's."""
    if out is not None and dtype is not None:
        raise ArgumentError("out and dtype: only one of them can be given")
    if is_stream(path):
        with as_path(path, format) as place:
            return read(place, name, out=out, dtype=dtype, format=format)
    with open_file(path, format=format) as file:
        if isinstance(name, (list, tuple)):
            if out is not None or dtype is not None:
                raise ArgumentError("out and dtype: only for one array")
            return {key: file[key].read() for key in name}
        if out is None and dtype is None:
            if file.kind == "array" or name is not None:
                return (file.array if name is None else file[name]).read()
            return {key: v.read() if v.has_data else None for key, v in file.items()}
        if name is None and file.kind != "array":
            raise ArgumentError(f"{path!s}: a {file.kind} needs the name of one array", path=path)
        array = file.array if name is None else file[name]
        if out is not None:
            return array.read(out=out)
        found, wanted = array.dtype, np.dtype(dtype)
        if found == wanted:
            return array.read()
        if found.kind != "V" or found.names or found.itemsize != wanted.itemsize:
            raise DTypeError(f"{array._where}: cannot take {array.dtype_name} for {wanted}", path=path)
        return array.read().view(wanted)
