"""Exceptions: one class for each row of the library's error table."""

from __future__ import annotations

import builtins
import errno as _errno
import os
import re
from typing import Any

from . import _capi


class NdfileError(Exception):
    """Base of every error of this package.

    Each row of the library's error table has a subclass that also inherits the builtin one would
    catch: `NotFoundError` is a `FileNotFoundError`, `BoundsError` an `IndexError`, `CorruptError` a
    `ValueError`. The text names the path, the array, the byte position, what was expected and what was
    found, as far as they are known. Instances can be pickled.

    Attributes
    ----------
    code : int
        Number of the status in the C API, negative. Frozen.
    name : str
        Name of the status in the C API, such as ``"NDF_ERR_MASKED"``.
    message : str
        The text.
    offset : int or None
        Byte position in the file.
    errno : int or None
        Error number of the operating system.
    path : str, bytes or None
        The file or folder, as the caller gave it.

    Examples
    --------
    >>> import ndfile
    >>> try:
    ...     ndfile.read("no-such-file.ds")
    ... except FileNotFoundError as e:
    ...     print(type(e).__name__, e.name, e.errno == 2, e.filename)
    NotFoundError NDF_ERR_NOT_FOUND True no-such-file.ds
    """

    code: int = 0
    name: str = "NDF_ERR_UNKNOWN"

    def __init__(
        self,
        message: str,
        *,
        path: Any = None,
        offset: int | None = None,
        errno: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.offset = offset
        self.errno = errno or _USUAL_ERRNO.get(self.name)
        if isinstance(self, OSError):
            self.filename = path
            self.strerror = os.strerror(self.errno) if self.errno else message

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.path, self.offset, self.errno)


def _rebuild(cls: type, message: str, path: Any, offset: int | None, errno: int | None) -> NdfileError:
    return cls(message, path=path, offset=offset, errno=errno)


# What the builtin classes imply when the library, not the system, finds out.
_USUAL_ERRNO = {
    "NDF_ERR_NOT_FOUND": _errno.ENOENT,
    "NDF_ERR_EXISTS": _errno.EEXIST,
    "NDF_ERR_PERMISSION": _errno.EACCES,
    "NDF_ERR_BUSY": _errno.EBUSY,
}


def _make(code: int, name: str, python: str, base: str, text: str) -> type[NdfileError]:
    bases = (NdfileError, getattr(builtins, base)) if base else (NdfileError,)
    doc = f"{text[0].upper()}{text[1:]} (``{name}``, {code})."
    return type(python, bases, {"__doc__": doc, "__module__": "ndfile", "code": code, "name": name})


#: Exception classes by status.
BY_CODE: dict[int, type[NdfileError]] = {row[0]: _make(*row) for row in _capi.ERRORS}

globals().update({cls.__name__: cls for cls in BY_CODE.values()})
NdfileError.__module__ = "ndfile"

_names = ["NdfileError", *sorted(cls.__name__ for cls in BY_CODE.values())]
globals()["__all__"] = _names


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_NO_URLS = "addresses on the net cannot be opened; read a copy, or a file object: fsspec.open(url).open()"


def failure(status: int, err: Any, path: Any = None) -> NdfileError:
    """Make the exception for a status that is not 0.

    Parameters
    ----------
    status : int
        What the C function returned.
    err : ndf_error
        The struct it filled.
    path : optional
        The file, for the attribute `path`.
    """
    cls = BY_CODE.get(status, NdfileError)
    message = err.message.decode("utf-8", "replace")
    if status == _capi.NDF_ERR_NOT_FOUND and isinstance(path, str) and _URL.match(path):
        cls, message = BY_CODE[_capi.NDF_ERR_NOT_SUPPORTED], f"{path}: {_NO_URLS}"
    offset = err.offset if err.offset >= 0 else None
    return cls(message, path=path, offset=offset, errno=err.os_error)
