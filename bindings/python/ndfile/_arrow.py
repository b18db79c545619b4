"""The Arrow C stream of a table in a capsule, as the Arrow PyCapsule interface wants it.

The capsules have no destructor. One made by ctypes is Python code, which must not run while the interpreter
unwinds an exception: that is lost then. So a capsule is kept here until nobody else has it.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from ._lib import call, lib

_NAME = ctypes.create_string_buffer(b"arrow_array_stream")  # capsules point to it
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


class _Stream(ctypes.Structure):
    """struct ArrowArrayStream."""

    _fields_ = [
        (name, ctypes.c_void_p)
        for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")
    ]


class _Kept(NamedTuple):
    stream: _Stream
    capsule: Any
    process: int


_lock = threading.Lock()
_kept: list[_Kept] = []


def _references(kept: _Kept) -> int:
    return sys.getrefcount(kept.capsule)


_ALONE = _references(_Kept(_Stream(), object(), 0))  # those of a capsule that is only kept


def of_table(path: Any, file: int, columns: Sequence[str] | None = None) -> Any:
    """Give the rows of a table, an open handle, as a stream in a capsule."""
    names = None if columns is None else json.dumps(list(columns)).encode("ascii")
    return _capsule(path, lib.ndf_table_arrow, file, names)


def of_array(path: Any, array: int) -> Any:
    """Give the elements of an array, an open handle, as a stream in a capsule."""
    return _capsule(path, lib.ndf_array_arrow, array)


def _capsule(path: Any, function: Any, *what: Any) -> Any:
    sweep()
    stream = _Stream()
    at = ctypes.addressof(stream)
    call(path, function, *what, 0, at)
    made = _new(at, ctypes.addressof(_NAME), None)
    with _lock:
        _kept.append(_Kept(stream, made, os.getpid()))
    return made


def sweep() -> None:
    """Let go of the capsules that nobody has any more; release streams that no consumer has moved out."""
    done = []
    with _lock:
        for i in reversed(range(len(_kept))):
            if _references(_kept[i]) <= _ALONE:
                done.append(_kept.pop(i))
    for kept in done:
        if kept.stream.release and kept.process == os.getpid():
            _Release(kept.stream.release)(ctypes.addressof(kept.stream))
