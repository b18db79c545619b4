"""Blosc1 chunks, for people used to the package ``blosc``: the same names with the same defaults.

`compress` makes chunks that c-blosc reads; `decompress` reads what c-blosc 1 writes. All functions may be
called by several threads at once; the GIL is released while the library works. `set_nthreads` and
`set_blocksize` set what every later call takes that does not say otherwise.

Differences to python-blosc: a damaged chunk is a `CorruptError` (a ValueError), also for `get_cbuffer_sizes`
and an empty one; arrays of Python objects are refused, as their bytes are addresses; `unpack_array` builds
NumPy arrays only, unless it is allowed to run what a pickle asks for.
"""

from __future__ import annotations

import ctypes
import io
import os
import pickle
import platform
import struct
import sys
from typing import Any, NamedTuple

import numpy as np

from . import _capi
from ._errors import ArgumentError, CorruptError, LimitError, NotSupportedError, failure
from ._lib import lib

__all__ = [
    "BITSHUFFLE",
    "BLOSC_MAX_BUFFERSIZE",
    "BLOSC_MAX_THREADS",
    "BLOSC_MAX_TYPESIZE",
    "BLOSC_VERSION_DATE",
    "BLOSC_VERSION_STRING",
    "MAX_BUFFERSIZE",
    "MAX_THREADS",
    "MAX_TYPESIZE",
    "NOSHUFFLE",
    "SHUFFLE",
    "VERSION_DATE",
    "VERSION_STRING",
    "ChunkInfo",
    "blosclib_version",
    "cbuffer_validate",
    "clib_info",
    "clib_versions",
    "cname2clib",
    "cnames",
    "code_to_name",
    "compress",
    "compress_ptr",
    "compressor_list",
    "decompress",
    "decompress_ptr",
    "destroy",
    "detect_number_of_cores",
    "filters",
    "free_resources",
    "get_blocksize",
    "get_cbuffer_sizes",
    "get_clib",
    "info",
    "init",
    "name_to_code",
    "ncores",
    "nthreads",
    "pack_array",
    "print_versions",
    "set_blocksize",
    "set_nthreads",
    "set_releasegil",
    "unpack_array",
]

NOSHUFFLE = _capi.NDF_BLOSC_NOSHUFFLE
SHUFFLE = _capi.NDF_BLOSC_SHUFFLE
BITSHUFFLE = _capi.NDF_BLOSC_BITSHUFFLE
#: The most bytes that one chunk holds.
MAX_BUFFERSIZE = 2**31 - 17
#: The largest element, in bytes, that a chunk can name.
MAX_TYPESIZE = 255
#: The most threads of one call.
MAX_THREADS = 256
#: The release of c-blosc whose chunks these are.
VERSION_STRING, VERSION_DATE = "1.21.6", "2024-06-24"
blosclib_version = f"{VERSION_STRING} ({VERSION_DATE})"
BLOSC_MAX_BUFFERSIZE, BLOSC_MAX_THREADS, BLOSC_MAX_TYPESIZE = MAX_BUFFERSIZE, MAX_THREADS, MAX_TYPESIZE
BLOSC_VERSION_STRING, BLOSC_VERSION_DATE = VERSION_STRING, VERSION_DATE
#: Names of the filters.
filters = {NOSHUFFLE: "noshuffle", SHUFFLE: "shuffle", BITSHUFFLE: "bitshuffle"}

_NAMES = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
# The format of a codec's streams, and the release of it that the library follows.
_CLIBS = {
    "blosclz": ("BloscLZ", "2.5.1"),
    "lz4": ("LZ4", "1.10.0"),
    "lz4hc": ("LZ4", "1.10.0"),
    "snappy": ("Snappy", "1.2.1"),
    "zlib": ("Zlib", "1.3.1"),
    "zstd": ("Zstd", "1.5.7"),
}
#: Names of the codecs, of the formats of their streams, and their versions.
cnames = list(_NAMES)
cname2clib = {name: clib for name, (clib, _) in _CLIBS.items()}
clib_versions = dict(_CLIBS.values())
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


_decompress, _compress, _info_get = lib.ndf_blosc_decompress, lib.ndf_blosc_compress, lib.ndf_blosc_get_info


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
    if isinstance(data, np.ndarray):
        return _array_at(data)
    try:
        view = memoryview(data)
    except TypeError:
        if hasattr(data, "__len__") and len(data) > MAX_BUFFERSIZE:
            raise LimitError(f"a chunk holds at most {MAX_BUFFERSIZE} bytes, found {len(data)}") from None
        raise
    if not view.nbytes:
        return None, 0, view
    if not view.readonly:
        held = ctypes.c_char.from_buffer(view)
        return ctypes.addressof(held), view.nbytes, held
    alive = np.frombuffer(view.cast("B"), np.uint8)
    return alive.__array_interface__["data"][0], view.nbytes, alive


def _array_at(array: np.ndarray) -> tuple[Any, int, Any]:
    """Do what `_at` does for an array, also of dates and texts, which have no buffer in Python's sense."""
    if array.dtype.hasobject:
        raise TypeError(
            f"an array of dtype {array.dtype} holds addresses of objects, which mean nothing in a chunk"
        )
    if not array.flags.c_contiguous:
        raise ValueError("ndarray is not C-contiguous")
    return array.ctypes.data if array.nbytes else None, array.nbytes, array


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
    nthreads: int | None = None,
    blocksize: int | None = None,
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
    nthreads : int, optional
        The most threads to use. Default: `set_nthreads`.
    blocksize : int, optional
        Bytes of a block; 0 chooses as c-blosc does. Default: `set_blocksize`.

    Raises
    ------
    TypeError
        Not bytes-like, or an array of objects.
    ValueError
        A parameter is out of its range (`ArgumentError`), or the data are too long (`LimitError`).

    Examples
    --------
    >>> import ndfile
    >>> chunk = ndfile.blosc.compress(bytes(1000), typesize=4, cname="lz4")
    >>> len(chunk) < 100, ndfile.blosc.decompress(chunk) == bytes(1000)
    (True, True)
    """
    codec = _codecs.get(cname)
    if codec is None:
        raise ArgumentError(f"cname can only be one of: {cnames}, not {cname!r}")
    at, n, _alive = _at(bytesobj)
    return _compress_at(at, n, typesize, clevel, shuffle, codec, nthreads, blocksize)


def _compress_at(
    at: Any,
    n: int,
    typesize: int,
    clevel: int,
    shuffle: int,
    codec: Any,
    threads: int | None,
    blocksize: int | None,
) -> bytes:
    if not 1 <= typesize <= MAX_TYPESIZE:
        raise ArgumentError(f"typesize is {typesize}, expected 1 to {MAX_TYPESIZE}")
    memory = _memory()
    params = memory.params
    params.codec, params.level, params.shuffle = ctypes.addressof(codec), clevel, shuffle
    params.typesize, params.threads = typesize, _Settings.nthreads if threads is None else threads
    params.blocksize = _Settings.blocksize if blocksize is None else blocksize
    room = n + _HEADER
    result: bytes = _new_bytes(None, room)
    memory.size.value = room
    status = _compress(at, n, memory.p_params, result, memory.p_size, memory.p_err)
    if status:
        raise failure(status, memory.err, None)
    size = memory.size.value
    _pool.append(memory)
    return result[:size]


def decompress(
    bytesobj: Any, as_bytearray: bool = False, *, nthreads: int | None = None
) -> bytes | bytearray:
    """Decode a chunk.

    Parameters
    ----------
    bytesobj : bytes-like
        The chunk, whole.
    as_bytearray : bool
        Give a bytearray, made without a copy.
    nthreads : int, optional
        The most threads to use. Default: `set_nthreads`.

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
        result: bytes | bytearray = _new_bytearray(None, room)
        into = ctypes.addressof(ctypes.c_char.from_buffer(result)) if room else None
    else:
        result = into = _new_bytes(None, room)
    if nthreads is None:
        nthreads = _Settings.nthreads
    memory = _memory()
    memory.size.value = room
    status = _decompress(at, n, nthreads, into, memory.p_size, memory.p_err)
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


def get_clib(bytesobj: bytes) -> str:
    """Give the format of the streams in a chunk, such as ``"LZ4"``: see `cname2clib`."""
    if not isinstance(bytesobj, bytes):
        raise TypeError(f"expected the chunk as bytes, found {type(bytesobj).__name__}")
    return cname2clib[info(bytesobj).cname]


def cbuffer_validate(bytesobj: Any) -> bool:
    """Tell whether the header of a chunk fits its length. That does not mean that the data are sound."""
    try:
        return info(bytesobj).cbytes == _at(bytesobj)[1]
    except (CorruptError, NotSupportedError):
        return False


# Addresses


def compress_ptr(
    address: int,
    items: int,
    typesize: int = 8,
    clevel: int = 9,
    shuffle: int = SHUFFLE,
    cname: str = "blosclz",
) -> bytes:
    """Compress ``items * typesize`` bytes at an address, as `compress` does.

    The caller vouches for the memory: a wrong address crashes the process.
    """
    _check_address(address)
    if items < 0:
        raise ArgumentError(f"items is {items}: cannot be negative")
    codec = _codecs.get(cname)
    if codec is None:
        raise ArgumentError(f"cname can only be one of: {cnames}, not {cname!r}")
    if items * typesize > MAX_BUFFERSIZE:
        raise LimitError(f"a chunk holds at most {MAX_BUFFERSIZE} bytes, found {items * typesize}")
    return _compress_at(address or None, items * typesize, typesize, clevel, shuffle, codec, None, None)


def decompress_ptr(bytesobj: Any, address: int) -> int:
    """Decode a chunk to an address, and give the number of bytes written.

    The caller vouches for the memory: a wrong address, or too little room, crashes the process.
    """
    at, n, _alive = _at(bytesobj)
    _check_address(address)
    room = info(bytesobj).nbytes
    memory = _memory()
    memory.size.value = room
    status = _decompress(at, n, _Settings.nthreads, address or None, memory.p_size, memory.p_err)
    if status:
        raise failure(status, memory.err, None)
    _pool.append(memory)
    return room


def _check_address(address: Any) -> None:
    if not isinstance(address, int):
        raise TypeError(f"expected an address as int, found {type(address).__name__}")


# NumPy arrays


def pack_array(array: Any, clevel: int = 9, shuffle: int = SHUFFLE, cname: str = "blosclz") -> bytes:
    """Compress a NumPy array with its dtype and shape: its pickle in a chunk, as python-blosc does.

    Raises
    ------
    TypeError
        Not an array, or one of objects.
    ValueError
        As `compress`.

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> packed = ndfile.blosc.pack_array(np.arange(6.0).reshape(2, 3))
    >>> ndfile.blosc.unpack_array(packed)
    array([[0., 1., 2.],
           [3., 4., 5.]])
    """
    if not (hasattr(array, "dtype") and hasattr(array, "shape")):
        raise TypeError(f"expected a NumPy array, found {type(array).__name__}")
    if array.dtype.hasobject:
        raise TypeError("an array of objects is not packed: only a pickle of each could hold them")
    if array.size * array.itemsize > MAX_BUFFERSIZE:
        raise LimitError(f"a chunk holds at most {MAX_BUFFERSIZE} bytes, found {array.size * array.itemsize}")
    pickled = pickle.dumps(np.asarray(array), pickle.HIGHEST_PROTOCOL)
    return compress(pickled, array.itemsize, clevel, shuffle, cname)


# What pickles of arrays call.
_MAKERS = {
    (module, name)
    for numpy in ("numpy.core", "numpy._core")
    for module, name in (
        (f"{numpy}.multiarray", "_reconstruct"),
        (f"{numpy}.multiarray", "scalar"),
        (f"{numpy}.numeric", "_frombuffer"),
    )
} | {("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode")}


class _Unpickler(pickle.Unpickler):
    """Reads pickles of NumPy arrays, and nothing that could run other code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _MAKERS:
            raise NotSupportedError(
                f"the pickle calls {module}.{name}, which is no part of an array: allow_pickle=True runs it"
            )
        return super().find_class(module, name)


def unpack_array(packed_array: bytes, *, allow_pickle: bool = False, **kwargs: Any) -> np.ndarray:
    """Undo `pack_array`, of this package or of python-blosc.

    Parameters
    ----------
    packed_array : bytes
        The chunk.
    allow_pickle : bool, default False
        Run whatever the pickle asks for, which can be anything: only for packs whose origin is known.
        Without, it may make NumPy arrays only.
    **kwargs
        ``fix_imports``, ``encoding``, ``errors`` of `pickle.loads`, for packs of Python 2. Arrays of bytes
        become texts with them, as in python-blosc.

    Raises
    ------
    TypeError
        Not bytes.
    NotSupportedError
        The pickle wants more than an array (a NotImplementedError).
    CorruptError
        Not a chunk, or a damaged one (a ValueError).
    """
    if not isinstance(packed_array, bytes):
        raise TypeError(f"expected the packed array as bytes, found {type(packed_array).__name__}")
    maker = pickle.Unpickler if allow_pickle else _Unpickler
    try:
        array: np.ndarray = maker(io.BytesIO(decompress(packed_array)), **kwargs).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, IndexError) as e:
        raise CorruptError(f"the chunk holds no pickle of an array: {e}") from e
    if kwargs and all(isinstance(x, bytes) for x in array.tolist()):
        array = np.array([x.decode("utf-8") for x in array.tolist()])
    return array


# Settings


def detect_number_of_cores() -> int:
    """Give the number of processors of the machine."""
    return os.cpu_count() or 1


#: Processors of the machine, and the most threads that a call uses unless it says otherwise.
ncores = detect_number_of_cores()
nthreads = min(ncores, 8)


class _Settings:
    nthreads = nthreads
    blocksize = 0
    releasegil = False


def set_nthreads(nthreads: int) -> int:
    """Set the most threads that later calls use, and give what it was.

    Raises
    ------
    ValueError
        Not 1 to `MAX_THREADS`.
    """
    if not 1 <= nthreads <= MAX_THREADS:
        raise ArgumentError(f"nthreads is {nthreads}, expected 1 to {MAX_THREADS}")
    old, _Settings.nthreads = _Settings.nthreads, nthreads.__index__()
    globals()["nthreads"] = _Settings.nthreads  # the parameter hides it
    return old


def set_blocksize(blocksize: int) -> None:
    """Set the bytes of a block of later chunks; 0 lets the library choose."""
    if blocksize < 0:
        raise ArgumentError(f"blocksize is {blocksize}: cannot be negative")
    _Settings.blocksize = blocksize.__index__()


def get_blocksize() -> int:
    """Give what `set_blocksize` set."""
    return _Settings.blocksize


def set_releasegil(gilstate: bool) -> bool:
    """Remember a choice, and give the one before. The GIL is always released while the library works."""
    old, _Settings.releasegil = _Settings.releasegil, bool(gilstate)
    return old


def code_to_name(code: int) -> str:
    """Give the name of a codec by its number in c-blosc."""
    if not 0 <= code < len(_NAMES):
        raise ArgumentError(f"no codec has the number {code}")
    return _NAMES[code]


def name_to_code(name: str) -> int:
    """Give the number of a codec in c-blosc."""
    if name not in _NAMES:
        raise ArgumentError(f"name can only be one of: {cnames}, not {name!r}")
    return _NAMES.index(name)


def clib_info(cname: str) -> tuple[str, str]:
    """Give the format of a codec's streams, and the version of it."""
    if cname not in _CLIBS:
        raise ArgumentError(f"cname can only be one of: {cnames}, not {cname!r}")
    return _CLIBS[cname]


def init() -> None:
    """Do nothing: the library needs no preparation."""


def destroy() -> None:
    """Do nothing: the library keeps no threads."""


def free_resources() -> None:
    """Let go of the memory that calls use again."""
    _pool.clear()


def print_versions() -> None:
    """Print what the module is made of."""
    print(f"Blosc version: {blosclib_version}")
    print(f"Compressors available: {cnames}")
    for clib, version in sorted(clib_versions.items()):
        print(f"  {clib}: {version}")
    print(f"Python version: {sys.version}")
    print(f"Platform: {platform.platform()}, {sys.byteorder} endian")
    print(f"Detected cores: {ncores}; threads used: {_Settings.nthreads}")
