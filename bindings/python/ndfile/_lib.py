"""Finding and loading libndfile, and calling it.

The library is searched for, in this order, and loaded when the package is imported:

1. the path in the environment variable ``NDFILE_LIB``; when it is set nothing else is tried
2. the folder of this package
3. ``DIR/ndfile`` for each absolute folder DIR of `sys.path`
4. the system's loader, by its soname
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any, Callable, Union

from . import _capi
from ._errors import ArgumentError, failure

#: What functions of this package take as a path.
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

_MAJOR = 1
if sys.platform == "darwin":
    _FILES, _SONAME = ("libndfile.dylib", f"libndfile.{_MAJOR}.dylib"), f"libndfile.{_MAJOR}.dylib"
elif sys.platform == "win32":
    _FILES, _SONAME = ("ndfile.dll",), "ndfile.dll"
else:
    _FILES, _SONAME = ("libndfile.so", f"libndfile.so.{_MAJOR}"), f"libndfile.so.{_MAJOR}"


def _candidates() -> list[str]:
    explicit = os.environ.get("NDFILE_LIB")
    if explicit:
        return [explicit]
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [here, *(os.path.join(p, "ndfile") for p in sys.path if os.path.isabs(p))]
    paths = [os.path.join(folder, file) for folder in dict.fromkeys(folders) for file in _FILES]
    return [*paths, _SONAME]


def _check_addresses() -> None:
    """Refuse to load what would end the process: the Go runtime does when it gets too few addresses."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return
        with open("/proc/self/statm") as f:
            left = limit - int(f.read().split()[0]) * resource.getpagesize()
    except (ImportError, AttributeError, OSError, ValueError):  # another system, where nothing is known
        return
    needed = _capi.NDF_ADDRESS_MIB << 20
    if left < needed:
        raise ImportError(
            f"too little address space for the library libndfile: RLIMIT_AS (ulimit -v) is {limit >> 10} "
            f"KiB, of which {max(0, left) >> 10} KiB are left; {needed >> 10} KiB are needed to load it"
        )


def _load() -> tuple[ctypes.CDLL, str]:
    tried = []
    for path in _candidates():
        if os.path.isabs(path) and not os.path.exists(path):
            tried.append(f"{path}: no such file")
            continue
        try:
            lib = ctypes.CDLL(path)
            _capi.bind(lib)
        except (OSError, AttributeError) as e:
            # an AttributeError is a function that a library of another version lacks
            tried.append(f"{path}: {e}")
            continue
        version = lib.ndf_version().decode()
        if version.split(".")[0] == str(_MAJOR):
            return lib, version
        tried.append(f"{path}: version {version}, expected {_MAJOR}.x")
    raise ImportError(
        "the library libndfile was not found. Set NDFILE_LIB to its path. Tried:\n  " + "\n  ".join(tried)
    )


_check_addresses()
lib, version = _load()


def encode_path(path: Path) -> bytes:
    """Give the bytes of a path as the operating system takes them; refuse a NUL in it."""
    raw = os.fsencode(path)
    if 0 in raw:
        raise ArgumentError(f"{path!r}: a path cannot contain a NUL character", path=path)
    return raw


def encode_name(name: str) -> bytes:
    """Give the UTF-8 of a name or other text that goes to C; refuse a NUL in it.

    Lone surrogates, which JSON allows and UTF-8 does not, are passed as three bytes each.
    """
    if not isinstance(name, str):
        raise ArgumentError(f"expected a name as str, found {type(name).__name__}")
    raw = name.encode("utf-8", "surrogatepass")
    if 0 in raw:
        raise ArgumentError(f"{name!r}: a name with a NUL character cannot be passed to the library")
    return raw


def decode(raw: bytes) -> str:
    """Undo `encode_name`."""
    return raw.decode("utf-8", "surrogatepass")


def call(path: Any, function: Callable[..., Any], *args: Any) -> None:
    """Call a C function whose last parameter is the error; raise what it reports.

    The GIL is released during the call.
    """
    err = _capi.ndf_error()
    status = function(*args, ctypes.addressof(err))
    if status:
        raise failure(status, err, path)


def content(path: Any, function: Callable[..., Any], *args: Any) -> bytes:
    """Call a C function that gives bytes in a buffer of the caller, with its length, before the error."""
    err = _capi.ndf_error()
    room = 512
    while True:
        buf = ctypes.create_string_buffer(room)
        length = ctypes.c_int64(room)
        status = function(*args, ctypes.addressof(buf), ctypes.addressof(length), ctypes.addressof(err))
        if not status:
            return ctypes.string_at(buf, length.value)
        if status != _capi.NDF_ERR_BUFFER or length.value <= room:
            raise failure(status, err, path)
        room = length.value


def text(path: Any, function: Callable[..., Any], *args: Any) -> str:
    """Call a C function that gives text as `content` does."""
    return decode(content(path, function, *args))
