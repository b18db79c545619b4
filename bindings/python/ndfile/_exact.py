"""Conversion of arrays by value: to another dtype where every element fits exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import DTypeError, ValueNotRepresentableError

_NUMBERS = "biufc"


def exactly(array: np.ndarray, dtype: np.dtype, where: str) -> np.ndarray:
    """Give an array as dtype, or as one that the library widens to it, if no value changes.

    Integers of any size, floats that are whole, floats that need not be rounded, times in another unit, texts
    of another width. NaN and NaT stay what they are.

    Raises
    ------
    ValueNotRepresentableError
        A value does not fit: the message names the first (a ValueError).
    DTypeError
        No value of the one dtype is one of the other (a TypeError).
    """
    kinds = array.dtype.kind + dtype.kind
    if array.dtype.names or dtype.names or "V" in kinds or "O" in kinds or "T" in kinds:
        return array  # for the library to decide
    if np.can_cast(array.dtype, dtype, "equiv") or not array.size:
        return array if array.size else array.astype(dtype)
    if not _alike(array.dtype, dtype):
        raise DTypeError(f"{where}: elements of {array.dtype} cannot be stored as {dtype}")
    if kinds in ("SS", "UU"):
        if array.dtype.itemsize <= dtype.itemsize:
            return array.astype(dtype)
    elif array.dtype.kind in _NUMBERS and _widens(array.dtype, dtype):
        return array  # which the library widens
    try:
        with np.errstate(all="ignore"):
            converted = array.astype(dtype)
            back = converted.astype(array.dtype)
    except UnicodeEncodeError:
        converted, back = _encoded(array, dtype)
    except (TypeError, ValueError, OverflowError) as e:
        raise DTypeError(f"{where}: elements of {array.dtype} cannot be stored as {dtype}: {e}") from e
    same = back == array
    if kinds in ("iu", "ui"):  # a sign that came back by wrapping twice
        same &= (converted < 0) == (array < 0)
    if array.dtype.kind in "fc":
        same |= np.isnan(array) & (dtype.kind in "fc")
        if dtype.kind in "iu":  # what is out of range can come back by rounding
            same &= (array >= float(np.iinfo(dtype).min)) & (array < float(np.iinfo(dtype).max) + 1)
    elif array.dtype.kind in "mM":
        same |= np.isnat(array)
    if array.dtype.kind in "iu" and dtype.kind in "fc" and array.dtype.itemsize == 8:
        same &= np.abs(converted) < 2.0**63  # the greatest integer comes back by saturation
    if not same.all():
        at = np.unravel_index(int(np.argmin(same)), array.shape)
        place = "row " + str(int(at[0])) if array.ndim == 1 else f"element {tuple(map(int, at))}"
        raise ValueNotRepresentableError(
            f"{where}: {place}: {array[at].item() if array.dtype.kind not in 'mM' else array[at]!s} "
            f"cannot be stored as {dtype}"
        )
    return converted


def _widens(a: np.dtype, b: np.dtype) -> bool:
    """Whether every number of a is one of b; NumPy also calls safe to cast what is rounded."""
    return np.can_cast(a, b, "safe") and not (a.kind in "iu" and a.itemsize == 8 and b.kind in "fc")


def _alike(a: np.dtype, b: np.dtype) -> bool:
    kinds = a.kind + b.kind
    if a.kind in _NUMBERS and b.kind in _NUMBERS:
        return b.kind != "b" and not (a.kind == "c" and b.kind != "c")
    if kinds in ("MM", "mm"):
        return "generic" not in (np.datetime_data(a)[0], np.datetime_data(b)[0])
    return kinds in ("SS", "UU", "US", "SU")


def _encoded(array: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, Any]:
    """Find the texts that are not ASCII: they are not equal to what comes back."""
    flat = array.ravel().tolist()
    plain = [x if x.isascii() else "" for x in flat]
    converted = np.array(plain, dtype).reshape(array.shape)
    good = np.array([x.isascii() for x in flat]).reshape(array.shape)
    back = np.where(good, converted.astype(array.dtype), array[...])
    back[~good] = "\x01"
    return converted, back
