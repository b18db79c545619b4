"""What attributes say about the elements of an array.

`open(decode=True)` and the engine of xarray share it: Julian dates of ds-format, values that stand for
missing ones, the types of scales.
"""

from __future__ import annotations

import base64
import struct
from typing import Any

import numpy as np

from ._array import Array
from ._dtypes import VARIABLE

#: The Julian date of 1970-01-01, and the ticks of a day (100 us) to which Julian dates are rounded: a float64
#: of today's dates has steps of 40 us.
EPOCH, _TICKS = 2440587.5, 864_000_000
NAT = np.iinfo(np.int64).min


def is_julian(array: Array, attrs: dict[str, Any], format: str) -> bool:
    """Whether elements are Julian dates: ds-format marks them by ``.time``."""
    return (
        format == "ds"
        and "units" not in attrs
        and array.dtype.kind in "iuf"
        and bool(array.extra.get(".time"))
    )


def from_julian(days: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    """Make microseconds since 1970 of Julian dates."""
    ticks = np.rint((days.astype(np.float64) - EPOCH) * _TICKS)
    nothing = np.isnan(ticks) if mask is None else np.isnan(ticks) | mask
    return np.where(nothing, NAT, np.where(nothing, 0, ticks).astype(np.int64) * 100)


def to_julian(micros: np.ndarray) -> np.ndarray:
    """Make Julian dates of microseconds since 1970, the opposite of how they are read."""
    days = micros.astype(np.float64) / (_TICKS * 100) + EPOCH
    return np.where(micros == NAT, np.nan, days)


def fill(array: Array, attrs: dict[str, Any], format: str) -> Any:
    """Give the value that stands for missing elements, where there is one, and see that attrs tell it."""
    dtype = array.dtype
    value = attrs.get("_FillValue")
    if value is None and format == "zarr2":
        value = array.fill_value if dtype.kind in "iufc" else None
    if value is None or dtype is None:
        return None
    try:
        value = decode_fill(value, array.dtype_name, dtype, format)
    except (TypeError, ValueError, OverflowError, struct.error):
        return None  # an attribute that means something else
    attrs["_FillValue"] = value
    return value


def decode_fill(value: Any, name: str, dtype: np.dtype, format: str) -> Any:
    """Give the attribute _FillValue as an element; xarray writes it into Zarr 3 in base64."""
    if format == "zarr3" and isinstance(value, str) and dtype.kind in "fS":
        raw = base64.standard_b64decode(value)
        value = raw if dtype.kind == "S" else struct.unpack("<d", raw)[0]
    if dtype.kind == "O":
        return value.encode("latin-1") if VARIABLE.get(name) is bytes else value
    if dtype.kind == "S" and isinstance(value, str):
        value = value.encode("latin-1")
    return np.array(value).astype(dtype)[()] if dtype.kind == "f" else dtype.type(value)


def narrow(attrs: dict[str, Any]) -> None:
    """Make scale_factor and add_offset float32 again where they were: values are decoded to their type.

    Attributes tell no types, but 0.10000000149011612 is the float32 0.1.
    """
    given = {k: attrs[k] for k in ("scale_factor", "add_offset") if isinstance(attrs.get(k), float)}
    with np.errstate(over="ignore"):
        small = {k: np.float32(v) for k, v in given.items()}
    if all(float(small[k]) == v for k, v in given.items()) and any(
        len(str(small[k])) < len(repr(v)) - 4 for k, v in given.items()
    ):
        attrs.update(small)
