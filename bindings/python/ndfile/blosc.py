"""Blosc1 chunks, for people used to the package ``blosc``: the same functions with the same defaults.

`compress` makes chunks that c-blosc reads; `decompress` reads what c-blosc 1 writes. All functions may be
called by several threads at once; the GIL is released while the library works.
"""

from __future__ import annotations

import ctypes
import struct
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

_NAMES = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
_HEADER = 16
_LARGE = 1 << 20  # bytes of data from which on a header is checked before there is memory for them
_nbytes = struct.Struct("<4xI8x").unpack_from


class ChunkInfo(NamedTuple):
    """What the header of a chunk says; sizes are in bytes."""

    nbytes: int
    cbytes: int
    blocksize: int
    typesize: int
    shuffle: int
    cname: str
    memcpyed: bool


_decompress, _compress, _info_get = lib.ndf_blosc_decompress, lib.ndf_blosc_compress, lib.ndf_blosc_info_get


class _Memory:
    """C memory of one call, and pointers to it: to make them takes longer than to decode a small chunk."""

    __slots__ = ("err", "p_err", "p_params", "p_size", "params", "size")

    def __init__(self) -> None:
        self.err, self.size, self.params = _capi.ndf_error(), ctypes.c_int64(), _capi.ndf_blosc_params()
        self.params.struct_size = ctypes.sizeof(self.params)
        self.p_err, self.p_size = ctypes.addressof(self.err), ctypes.addressof(self.size)
        self.p_params = ctypes.addressof(self.params)


# A memory is out of the pool for the time of a call, so that threads and signal handlers never share one.
_pool: list[_Memory] = []


def _memory() -> _Memory:
    try:
        return _pool.pop()
    except IndexError:
        return _Memory()


def _at(data: Any) -> tuple[Any, int, Any]:
    """Give what ctypes takes for the address of bytes, their number, and what keeps them alive."""
    if type(data) is bytes:
        return data, len(data), data
    view = memoryview(data)
    if not view.nbytes:
        return None, 0, view
    if not view.readonly:
        alive = ctypes.c_char.from_buffer(view)
        return ctypes.addressof(alive), view.nbytes, alive
    alive = np.frombuffer(view.cast("B"), np.uint8)
    return alive.__array_interface__["data"][0], view.nbytes, alive


_codecs = {name: ctypes.create_string_buffer(name.encode()) for name in _NAMES}
_new_bytes = ctypes.pythonapi.PyBytes_FromStringAndSize
_new_bytearray = ctypes.pythonapi.PyByteArray_FromStringAndSize
for _new in (_new_bytes, _new_bytearray):
    _new.argtypes, _new.restype = [ctypes.c_void_p, ctypes.c_ssize_t], ctypes.py_object


def compressor_list() -> list[str]:
    """Names of the codecs.

    Examples
    --------
    >>> import ndfile
    >>> ndfile.blosc.compressor_list()
    ['blosclz', 'lz4', 'lz4hc', 'snappy', 'zlib', 'zstd']
    """
    return list(_NAMES)


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
    codec = _codecs.get(cname) or ctypes.create_string_buffer(cname.encode())
    at, n, _alive = _at(bytesobj)
    memory = _memory()
    params = memory.params
    params.codec, params.level, params.shuffle = ctypes.addressof(codec), clevel, shuffle
    params.typesize, params.threads, params.blocksize = typesize, nthreads, blocksize
    room = n + _HEADER
    result = _new_bytes(None, room)
    status = _compress(at, n, memory.p_params, result, room, memory.p_size, memory.p_err)
    if status:
        raise failure(status, memory.err, None)
    size = memory.size.value
    _pool.append(memory)
    return result[:size]


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
    at, n, _alive = _at(bytesobj)
    # The library checks the size again; no header of a short chunk may ask for much memory before.
    room = _nbytes(bytesobj)[0] if n >= _HEADER else _LARGE
    if room >= _LARGE:
        room = info(bytesobj).nbytes
    # Without zeroes and without a copy: Python's C API lets the maker of a bytes object fill it.
    if as_bytearray:
        result = _new_bytearray(None, room)
        into = ctypes.addressof(ctypes.c_char.from_buffer(result)) if room else None
    else:
        result = into = _new_bytes(None, room)
    memory = _memory()
    status = _decompress(at, n, nthreads, into, room, memory.p_size, memory.p_err)
    if status:
        raise failure(status, memory.err, None)
    _pool.append(memory)
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
    at, n, _alive = _at(bytesobj)
    out = _capi.ndf_blosc_info()
    out.struct_size = ctypes.sizeof(out)
    memory = _memory()
    status = _info_get(at, n, ctypes.addressof(out), memory.p_err)
    if status:
        raise failure(status, memory.err, None)
    _pool.append(memory)
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
