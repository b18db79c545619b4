"""dtype names of the library and their NumPy counterparts.

The library's names are NumPy typestrings; records are the JSON list of `numpy.dtype.descr`. NumPy has
no counterpart for some:

========================  ==============================================================
name                      in Python
========================  ==============================================================
``bytes``, ``str``        object arrays of `bytes`, of `str` (elements of variable length)
``bfloat16``              uint16, the bits
``<c4``                   a record of float16 ``re`` and ``im``
``<i16``, ``<u16``        ``V16``, the bytes
========================  ==============================================================
"""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np

from ._errors import DTypeError

#: Names of the dtypes whose elements have a length of their own, with the Python type of an element.
VARIABLE = {"bytes": bytes, "str": str}

_SPECIAL: dict[str, Any] = {
    "bfloat16": "<u2",
    ">bfloat16": ">u2",
    "<c4": [("re", "<f2"), ("im", "<f2")],
    ">c4": [("re", ">f2"), ("im", ">f2")],
    "<i16": "V16",
    ">i16": "V16",
    "<u16": "V16",
    ">u16": "V16",
}


@functools.lru_cache(maxsize=256)
def to_numpy(name: str) -> np.dtype | None:
    """Give the NumPy dtype of a name; None for the dtype of an array without data and without type."""
    if name in VARIABLE:
        return np.dtype(object)
    if name.startswith("["):
        record: np.dtype = np.dtype([_field(*f) for f in json.loads(name)])
        return record
    if name in ("", "invalid"):
        return None
    try:
        plain: np.dtype = np.dtype(_SPECIAL.get(name, name))
        return plain
    except TypeError:  # a long double that this machine does not have
        return np.dtype(f"V{name.lstrip('<>=|fc')}")


def _field(name: str, dtype: Any, shape: Any = ()) -> tuple[Any, ...]:
    if isinstance(dtype, list):
        dtype = json.dumps(dtype)
    return name, to_numpy(dtype), tuple(shape) if isinstance(shape, list) else shape


def from_numpy(dtype: np.dtype) -> str:
    """Give the name of a NumPy dtype of fixed-size elements; DTypeError where the library has none."""
    if dtype.names is not None:
        return json.dumps(_describe(dtype))
    if dtype.kind not in "biufcSUMmV" or dtype.subdtype is not None:
        raise DTypeError(f"dtype {dtype} has no counterpart in a file")
    return dtype.str


def _describe(dtype: np.dtype) -> list[Any]:
    """List the fields of a packed record; padding and overlaps are refused."""
    fields: list[Any] = []
    end = 0
    for name in dtype.names or ():
        field, offset = dtype.fields[name][:2]  # type: ignore[index]
        if offset != end:
            raise DTypeError(
                f"dtype {dtype}: field {name!r} lies at byte {offset}, expected {end} (no padding)"
            )
        end += field.itemsize
        base, shape = field.subdtype or (field, None)
        described = _describe(base) if base.names is not None else from_numpy(base)
        fields.append([name, described] if shape is None else [name, described, list(shape)])
    if end != dtype.itemsize:
        raise DTypeError(f"dtype {dtype} has {dtype.itemsize} bytes, its fields {end} (no padding)")
    return fields


def declared(dtype: Any) -> str:
    """Give the name of a dtype that a user declares: a name of the library, or what `numpy.dtype` takes.

    The Python types `bytes` and `str` and their names mean elements of variable length.
    """
    if dtype in (bytes, str):
        return str(dtype.__name__)
    if isinstance(dtype, str) and (dtype in VARIABLE or dtype in _SPECIAL or dtype.startswith("[")):
        return dtype
    try:
        dtype = np.dtype(dtype)
    except TypeError as e:
        raise DTypeError(f"dtype {dtype!r}: {e}") from e
    if dtype.kind == "O":
        raise DTypeError("dtype object: say 'str' or 'bytes'")
    return from_numpy(dtype)
