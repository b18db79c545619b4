"""Decoding: from stored elements and their attributes to values, masks and dates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _times
from ._array import Array
from ._coding import fill, from_julian, is_julian, narrow


class Coding(NamedTuple):
    """How the elements of an array become values, and the attributes that are left."""

    dtype: np.dtype
    masked: bool
    attrs: dict[str, Any]
    stored: np.dtype | None = None  #: None: elements are values as they are
    missing: tuple[Any, ...] = ()  #: elements that stand for missing ones
    low: Any = None
    high: Any = None
    scale: Any = None
    offset: Any = None
    julian: bool = False
    times: _times.Times | None = None

    def values(self, found: Any, where: str) -> Any:
        """Decode what was read."""
        if self.stored is None or found is np.ma.masked:
            return found
        data = np.asarray(np.ma.getdata(found))
        if data.dtype != self.stored:
            data = data.view(self.stored)
        mask = self._mask(data, found) if self.masked else None
        result = self._unpack(data, mask, where)
        if not isinstance(found, np.ndarray):
            return np.ma.masked if mask is not None and mask[()] else result[()]
        if mask is None:
            return result
        if self.dtype.kind != "M":
            result = np.where(mask, self.dtype.type(0), result)
        return np.ma.MaskedArray(result, mask=mask)

    def _mask(self, data: np.ndarray, found: Any) -> np.ndarray:
        mask: np.ndarray = np.ma.getmaskarray(found).copy()
        for element in self.missing:
            mask |= np.isnan(data) if np.isnan(element) else data == element
        if self.low is not None:
            mask |= data < self.low
        if self.high is not None:
            mask |= data > self.high
        return mask

    def _unpack(self, data: np.ndarray, mask: np.ndarray | None, where: str) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):  # of elements that stand for missing ones
            if self.scale is not None:
                data = data * self.scale
            if self.offset is not None:
                data = data + self.offset
        if self.julian:
            return from_julian(data, mask).view("M8[us]")
        if self.times is not None:
            return _times.decode(data, self.times, mask, where)
        return data


def coding(array: Array, format: str) -> Coding:
    """Find out how an array is to be decoded, by its attributes."""
    attrs = dict(array.attrs)
    # bfloat16 comes as bits.
    if not array.has_data or array.dtype.kind not in "iuf" or array.dtype_name.endswith("bfloat16"):
        dtype = array.dtype if array.has_data else np.dtype("V")
        return Coding(dtype, array.masked, attrs)
    left = dict(attrs)
    julian = is_julian(array, attrs, format)
    stored = array.dtype
    if stored.kind == "i" and str(attrs.get("_Unsigned")).lower() == "true":
        stored = np.dtype(f"u{stored.itemsize}")
        left.pop("_Unsigned")
    missing, low, high = _missing(array, stored, attrs, left, format)
    narrow(attrs)
    scale, offset = (_factor(attrs, left, name) for name in ("scale_factor", "add_offset"))
    times = _times.parse(attrs.get("units"), attrs.get("calendar"))
    if times is not None:
        left.pop("units")
        left.pop("calendar", None)
    dtype = np.result_type(stored, *(f.dtype for f in (scale, offset) if f is not None))
    if times is not None or julian:
        dtype = np.dtype(f"M8[{times.unit if times else 'us'}]")
    masked = array.masked or bool(missing) or low is not None or high is not None
    return Coding(dtype, masked, left, stored, missing, low, high, scale, offset, julian, times)


def _missing(
    array: Array, stored: np.dtype, attrs: dict[str, Any], left: dict[str, Any], format: str
) -> tuple[tuple[Any, ...], Any, Any]:
    """Give the elements that stand for missing ones, the least valid one and the greatest."""
    found: list[Any] = []
    given = fill(array, attrs, format)
    if given is not None:
        found.append(given)
        left.pop("_FillValue", None)
    elif "_FillValue" in attrs and (value := _element(attrs["_FillValue"], array.dtype, stored)) is not None:
        found.append(value)
        left.pop("_FillValue")
    several = attrs.get("missing_value")
    several = several if isinstance(several, list) else [several]
    values = [_element(value, array.dtype, stored) for value in several]
    if None not in values:
        found += values
        left.pop("missing_value")
    low, high = (_element(attrs.get(name), array.dtype, stored) for name in ("valid_min", "valid_max"))
    both = attrs.get("valid_range")
    if isinstance(both, list) and len(both) == 2:
        ends = [_element(value, array.dtype, stored) for value in both]
        if None not in ends:
            low, high = ends
            left.pop("valid_range")
    for name, value in (("valid_min", low), ("valid_max", high)):
        if value is not None:
            left.pop(name, None)
    elements = [np.asarray(v, v.dtype).view(stored)[()] if v.dtype != stored else v for v in found]
    return tuple(elements), low, high


def _element(value: Any, dtype: np.dtype, stored: np.dtype) -> Any:
    """Give an attribute as an element as it is compared; None where it means something else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if dtype.kind == "f":
        return np.asarray(value).astype(dtype)[()]
    if not -(1 << 64) < value < 1 << 64 or int(value) != value:
        return None
    for kind in (dtype, stored):
        limits = np.iinfo(kind)
        if limits.min <= value <= limits.max:
            return np.array(int(value), kind).view(stored)[()]
    return None


def _factor(attrs: dict[str, Any], left: dict[str, Any], name: str) -> Any:
    """Give scale_factor or add_offset as a scalar of float32 or float64."""
    value = attrs.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return None
    left.pop(name)
    return value if isinstance(value, np.floating) else np.float64(value)
