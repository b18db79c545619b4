"""Blosc1 chunks, for people used to the package ``blosc``: the same functions with the same defaults.

`compress` makes chunks that c-blosc reads; `decompress` reads what c-blosc 1 writes. All functions may be
called by several threads at once; the GIL is released while the library works.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from . import _capi
from ._errors import failure
from ._lib import lib

__all__ = [
    "BITSHUFFLE",
    "MAX_BUFFERSIZE",
    "MAX_TYPESIZE",
    "NOSHUFFLE",
    "SHUFFLE",
    "ChunkInfo",
    "compress",
    "compressor_list",
    "decompress",
    "get_cbuffer_sizes",
    "info",
]

NOSHUFFLE = _capi.NDF_BLOSC_NOSHUFFLE
SHUFFLE = _capi.NDF_BLOSC_SHUFFLE
BITSHUFFLE = _capi.NDF_BLOSC_BITSHUFFLE
#: The most bytes that one chunk holds.
MAX_BUFFERSIZE = 2**31 - 17
#: The largest element, in bytes, that a chunk can name.
MAX_TYPESIZE = 255

_HEADER = 16


class ChunkInfo(NamedTuple):
    """What the header of a chunk says; sizes are in bytes."""

    nbytes: int
    cbytes: int
    blocksize: int
    typesize: int
    shuffle: int
    cname: str
    memcpyed: bool


def _bytes_of(data: Any) -> np.ndarray:
    """Give the memory of a bytes-like object without copying it."""
    return np.frombuffer(memoryview(data).cast("B"), np.uint8) if memoryview(data) else np.empty(0, np.uint8)


_new_bytes = ctypes.pythonapi.PyBytes_FromStringAndSize
_new_bytearray = ctypes.pythonapi.PyByteArray_FromStringAndSize
for _new in (_new_bytes, _new_bytearray):
    _new.argtypes, _new.restype = [ctypes.c_void_p, ctypes.c_ssize_t], ctypes.py_object
_bytes_at, _bytearray_at = ctypes.pythonapi.PyBytes_AsString, ctypes.pythonapi.PyByteArray_AsString
for _at in (_bytes_at, _bytearray_at):
    _at.argtypes, _at.restype = [ctypes.py_object], ctypes.c_void_p


def _call(function: Any, *args: Any) -> None:
    err = _capi.ndf_error()
    status = function(*args, ctypes.addressof(err))
    if status:
        raise failure(status, err, None)


def compressor_list() -> list[str]:
    """Names of the codecs.

    Examples
    --------
    >>> import ndfile
    >>> ndfile.blosc.compressor_list()
    ['blosclz', 'lz4', 'lz4hc', 'snappy', 'zlib', 'zstd']
    """
    return ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"]


def compress(
    bytesobj: Any,
    typesize: int = 8,
    clevel: int = 9,
    shuffle: int = SHUFFLE,
    cname: str = "blosclz",
    *,
    nthreads: int = 1,
    blocksize: int = 0,
) -> bytes:
    """Compress a bytes-like object into one chunk.

    Parameters
    ----------
    bytesobj : bytes-like
        The data, contiguous, at most `MAX_BUFFERSIZE` bytes.
    typesize : int
        Bytes of an element as the filter sees it, 1 to `MAX_TYPESIZE`.
    clevel : int
        0 (copy only) to 9.
    shuffle : int
        `NOSHUFFLE`, `SHUFFLE` or `BITSHUFFLE`.
    cname : str
        One of `compressor_list`.
    nthreads : int
        The most threads to use.
    blocksize : int
        Bytes of a block; 0 chooses as c-blosc does.

    Raises
    ------
    ValueError
        A parameter is out of its range (`ArgumentError`), or the data are too long (`LimitError`).

    Examples
    --------
    >>> import ndfile
    >>> chunk = ndfile.blosc.compress(bytes(1000), typesize=4, cname="lz4")
    >>> len(chunk) < 100, ndfile.blosc.decompress(chunk) == bytes(1000)
    (True, True)
    """
    if not 1 <= typesize <= MAX_TYPESIZE:
        raise ValueError(f"typesize is {typesize}, expected 1 to {MAX_TYPESIZE}")
    src = _bytes_of(bytesobj)
    params = _capi.ndf_blosc_params()
    params.struct_size = ctypes.sizeof(params)
    params.level, params.shuffle, params.typesize = clevel, shuffle, typesize
    params.threads, params.blocksize = nthreads, blocksize
    codec = ctypes.create_string_buffer(cname.encode())
    params.codec = ctypes.addressof(codec)
    dst = np.empty(src.size + _HEADER, np.uint8)
    size = ctypes.c_int64()
    _call(
        lib.ndf_blosc_compress,
        src.ctypes.data,
        src.size,
        ctypes.addressof(params),
        dst.ctypes.data,
        dst.size,
        ctypes.addressof(size),
    )
    return dst[: size.value].tobytes()


def decompress(bytesobj: Any, as_bytearray: bool = False, *, nthreads: int = 1) -> bytes | bytearray:
    """Decode a chunk.

    Parameters
    ----------
    bytesobj : bytes-like
        The chunk, whole.
    as_bytearray : bool
        Give a bytearray, made without a copy.
    nthreads : int
        The most threads to use.

    Raises
    ------
    CorruptError
        Not a chunk, or a damaged one (a ValueError).
    NotSupportedError
        A chunk of Blosc2 (a NotImplementedError).
    """
    chunk = _bytes_of(bytesobj)
    room = info(bytesobj).nbytes
    # Without zeroes and without a copy: Python's C API lets the maker of a bytes object fill it.
    result = _new_bytearray(None, room) if as_bytearray else _new_bytes(None, room)
    size = ctypes.c_int64()
    _call(
        lib.ndf_blosc_decompress,
        chunk.ctypes.data,
        chunk.size,
        nthreads,
        (_bytearray_at if as_bytearray else _bytes_at)(result),
        room,
        ctypes.addressof(size),
    )
    return result


def info(bytesobj: Any) -> ChunkInfo:
    """Tell what the header of a chunk says. The first 16 bytes are enough.

    Raises
    ------
    CorruptError, NotSupportedError
        As `decompress`.

    Examples
    --------
    >>> import ndfile
    >>> ndfile.blosc.info(ndfile.blosc.compress(bytes(1000), typesize=4, cname="zstd"))[3:6]
    (4, 1, 'zstd')
    """
    chunk = _bytes_of(bytesobj)
    out = _capi.ndf_blosc_info()
    out.struct_size = ctypes.sizeof(out)
    _call(lib.ndf_blosc_info_get, chunk.ctypes.data, chunk.size, ctypes.addressof(out))
    return ChunkInfo(
        out.nbytes,
        out.cbytes,
        out.blocksize,
        out.typesize,
        out.shuffle,
        out.codec.decode(),
        bool(out.memcpyed),
    )


def get_cbuffer_sizes(bytesobj: Any) -> tuple[int, int, int]:
    """Give the bytes of the data, of the chunk and of a block, as the package ``blosc`` does."""
    return info(bytesobj)[:3]
