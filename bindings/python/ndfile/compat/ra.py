"""The API of ra.py, the Python module of RawArray: `read`, `write`, `query`.

As in ra.py an array has the shape that the file has, first axis fastest: `read` gives it in Fortran order.
That is the transpose of what `ndfile.read` gives.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .._open import open as open_file
from .._save import save as _save

__all__ = ["FLAG_BIG_ENDIAN", "FLAG_COMPRESSED", "MAGIC_NUMBER", "query", "read", "write"]

FLAG_BIG_ENDIAN, FLAG_COMPRESSED = 1, 2
MAGIC_NUMBER = 8746397786917265778

_NAMES = {"i": "int", "u": "uint", "f": "float", "c": "complex"}


def read(filename: Any) -> Any:
    """Read a file.

    Returns
    -------
    numpy.ndarray or bytes
        In native byte order and Fortran order, also of files that ra.py does not read: big endian,
        compressed, with bytes after the data. Elements of a user's own type come as their bytes.
    """
    with open_file(filename, format="rawarray") as file:
        array = file.array
        user = array.dtype.kind == "V" and array.dtype.names is None
        data = array.read()
    return data.tobytes() if user else data.transpose()


def write(data: Any, filename: Any) -> None:
    """Write an array; bool, texts, times and records as elements of a user's own type, as ra.py does."""
    data = np.asanyarray(data)
    if data.dtype.hasobject:
        raise TypeError(
            f"elements of dtype {data.dtype} are addresses of objects, which mean nothing in a file"
        )
    rows = data.transpose()
    extra: dict[str, int] = {}
    # Of C's long doubles, whose content depends on the machine, the bytes are written.
    long = data.dtype.kind in "fc" and data.dtype.itemsize >= (16 if data.dtype.kind == "f" else 32)
    if data.dtype.kind not in _NAMES or long:
        flags = {"flags": 1} if data.dtype.str[0] == ">" else {}
        extra = {**flags, "eltype": 3 if data.dtype.kind == "f" else 4} if long else flags
        rows = np.ascontiguousarray(rows).view(f"V{data.dtype.itemsize}").reshape(rows.shape)
    _save(filename, rows, format="rawarray", extra=extra or None)


def query(filename: Any) -> str:
    """Describe a file in YAML, as ra.py does."""
    with open_file(filename, format="rawarray") as file:
        array = file.array
        name = array.dtype_name
        kind = name.lstrip("<>|")[0]
        if name.endswith("bfloat16"):
            kind = "f"
        big = name.startswith(">") or array.extra.get("flags") == 1
        itemsize = array.nbytes // max(1, array.size)
        lines = [
            "---",
            f"name: {os.fspath(filename)}",
            f"endian: {'big' if big else 'little'}",
            f"type: {_NAMES.get(kind, 'user')}{8 * itemsize}",
            f"size: {array.nbytes}",
            f"dimension: {array.ndim}",
            "shape:",
            *(f"  - {n}" for n in reversed(array.shape)),
            "...",
        ]
    return "\n".join(lines)
