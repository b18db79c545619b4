"""Times: those of the CF conventions, Julian dates, and texts."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import numpy as np

from ..._coding import EPOCH
from ..._coding import to_julian as to_julian_date
from ._data import Dataset, attr, meta, time, var

#: Units and calendar of Julian dates.
UNITS, CALENDAR = "days since -4713-11-24 12:00 UTC", "proleptic_gregorian"

_FORMATS = ("%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ")


def time_dt(time: Any) -> list[dt.datetime | None]:
    """Give texts as datetimes, None for what is none."""

    def one(text: Any) -> dt.datetime | None:
        for form in _FORMATS:
            try:
                return dt.datetime.strptime(text, form)
            except (ValueError, TypeError):
                pass
        return None

    return [one(text) for text in time]


def julian(text: str) -> float:
    """Give the Julian date of an ISO 8601 text, which is UTC."""
    return float(to_julian_date(np.datetime64(text.rstrip("Z"), "us").astype("i8")))


def iso(dates: Any) -> Any:
    """Give Julian dates as ISO 8601 texts, to the second."""
    days = np.ma.asarray(dates, float) - EPOCH
    seconds = np.rint(np.ma.filled(days, 0) * 86400).astype("i8")
    texts = np.datetime_as_string(np.asarray(seconds).astype("M8[s]"))
    out = np.array([f"{t}Z" for t in np.ravel(texts)], object).reshape(np.shape(texts))
    return np.ma.array(out, mask=np.ma.getmaskarray(days)) if np.ma.is_masked(days) else out


def _converted(data: Any, own: dict[str, Any]) -> Any:
    """Give data as Julian dates if their units are a time, else None."""
    units, calendar = own.get("units"), own.get("calendar", "standard")
    if not isinstance(data, (np.ndarray, np.generic)) or data.size == 0 or not isinstance(units, str):
        return None
    import cftime

    if calendar in (None, "standard") and re.match(r"^days since -4712-01-01[T ]12:00(:00)?( UTC)?$", units):
        units, calendar = UNITS, CALENDAR
    flat = np.ma.ravel(data)
    there = ~np.ma.getmaskarray(flat)
    if flat.dtype.kind == "f":
        there &= np.isfinite(np.ma.filled(flat, np.nan))
    if not there.any():
        return None
    try:
        moments = cftime.num2date(
            np.asarray(flat[there]), units, calendar=calendar, only_use_cftime_datetimes=True
        )
    except Exception:  # no time, whatever cftime says
        return None
    out: Any = np.full(flat.shape, np.nan)
    if calendar in ("standard", "julian", "gregorian", "proleptic_gregorian"):
        out[there] = [float(m.toordinal(fractional=True)) for m in moments]
    else:  # as the text of the date says, whatever the calendar
        out[there] = [
            julian(
                f"{m.year:04d}-{m.month:02d}-{m.day:02d}T{m.hour:02d}:{m.minute:02d}:{m.second:02d}.{m.microsecond:06d}"
            )
            for m in moments
        ]
    out = out.reshape(np.shape(data))
    return np.ma.array(out, mask=np.ma.getmaskarray(data)) if np.ma.is_masked(data) else out


def time_data(data: Any, own: dict[str, Any]) -> Any:
    """Give data as Julian dates where they are times, else as they are."""
    made = _converted(data, own)
    return data if made is None else made


def to_julian(d: Dataset, name: str) -> None:
    """Make a variable of times one of Julian dates."""
    made = _converted(var(d, name), meta(d, name))
    if made is not None:
        var(d, name, made)
        attr(d, "units", UNITS, var=name)
        attr(d, "calendar", CALENDAR, var=name)
        time(d, name, True)


def from_julian(data: Any, units: str, calendar: str) -> Any:
    """Give Julian dates as numbers of other units."""
    if (units, calendar) == (UNITS, CALENDAR):
        return data
    import cftime

    flat = np.ma.ravel(data)
    there = ~np.ma.getmaskarray(flat)
    moments = cftime.num2date(np.asarray(flat[there]), UNITS, CALENDAR)
    out = np.ma.array(np.zeros(flat.shape), mask=~there)
    out[there] = cftime.date2num(moments, units, calendar)
    return (out if not there.all() else np.asarray(out)).reshape(np.shape(data))
