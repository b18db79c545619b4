"""Times of the CF conventions: numbers with units such as "days since 2000-01-01"."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from ._coding import NAT
from ._errors import ValueNotRepresentableError

#: Nanoseconds of a unit. Months and years have no fixed length.
_NANOSECONDS = {
    name: length
    for names, length in (
        ("day days d", 86_400_000_000_000),
        ("hour hours hr hrs h", 3_600_000_000_000),
        ("minute minutes min mins", 60_000_000_000),
        ("second seconds sec secs s", 1_000_000_000),
        ("millisecond milliseconds millisec millisecs msec msecs ms", 1_000_000),
        ("microsecond microseconds microsec microsecs us", 1_000),
        ("nanosecond nanoseconds nanosec nanosecs ns", 1),
    )
    for name in names.split()
}
_SINCE = re.compile(r"\s*([A-Za-z]+)\s+since\s+(.*?)\s*", re.IGNORECASE)
_DATE = re.compile(
    r"(\d{1,4})-(\d{1,2})-(\d{1,2})(?:(?:\s+|T)(\d{1,2})(?::(\d{1,2})(?::(\d{1,2}(?:\.\d*)?))?)?)?"
    r"\s*(?:Z|UTC|GMT|([+-])(\d{1,2})(?::?(\d{2}))?)?"
)
_SWITCH = -141427  # 1582-10-15, the first day of the Gregorian calendar, in days since 1970
_MIXED = ("standard", "gregorian")  # Julian before that day


class Times(NamedTuple):
    """What numbers of a variable of times mean."""

    unit: str  #: of the result: "us", or "ns" of nanoseconds
    step: int  #: length of the units, in that unit
    epoch: int  #: the date that they count from, in that unit since 1970
    first: int | None  #: the first time for which the calendar is that of NumPy


def parse(units: Any, calendar: Any) -> Times | None:
    """Give the meaning of units in a calendar; None where NumPy has no such dates, or they are no times."""
    calendar = "standard" if calendar is None else calendar
    found = _SINCE.fullmatch(units) if isinstance(units, str) else None
    if found is None or not isinstance(calendar, str):
        return None
    calendar, length = calendar.lower(), _NANOSECONDS.get(found[1].lower())
    date = _DATE.fullmatch(found[2])
    if length is None or date is None or calendar not in (*_MIXED, "proleptic_gregorian"):
        return None
    day = _day(int(date[1]), int(date[2]), int(date[3]), calendar in _MIXED)
    hour, minute, second = int(date[4] or 0), int(date[5] or 0), float(date[6] or 0)
    if day is None or hour > 24 or minute > 59 or second >= 61:
        return None
    east = (int(date[8]) * 60 + int(date[9] or 0)) * (-1 if date[7] == "-" else 1) if date[7] else 0
    epoch = ((day * 24 + hour) * 60 + minute - east) * 60_000_000_000 + round(second * 1e9)
    nanoseconds = 1 if length == 1 else 1000
    first = _SWITCH * 86_400_000_000_000 // nanoseconds if calendar in _MIXED else None
    return Times("ns" if length == 1 else "us", length // nanoseconds, epoch // nanoseconds, first)


def _day(year: int, month: int, day: int, mixed: bool) -> int | None:
    """Give the days from 1970 to a date; None where there is no such date."""
    try:
        days = int(np.datetime64(f"{year:04d}-{month:02d}-{day:02d}", "D").astype(np.int64))
    except ValueError:
        days = None
    if not mixed or (year, month, day) >= (1582, 10, 15):
        return days
    leap = month == 2 and day == 29 and year % 4 == 0  # also in 1500
    if year == 0 or (days is None and not leap) or (year, month, day) > (1582, 10, 4):
        return None
    late = (14 - month) // 12
    years, months = year + 4800 - late, month + 12 * late - 3
    return day + (153 * months + 2) // 5 + 365 * years + years // 4 - 32083 - 2440588


def decode(numbers: np.ndarray, times: Times, mask: np.ndarray | None, where: str) -> np.ndarray:
    """Make datetime64 of numbers: NaT of those that are not finite, or under the mask."""
    nothing = np.zeros(numbers.shape, bool) if mask is None else mask
    if numbers.dtype.kind == "f":
        numbers = numbers.astype(np.float64)
        nothing = nothing | ~np.isfinite(numbers)
    numbers = np.where(nothing, numbers.dtype.type(0), numbers)
    whole = np.floor(numbers) if numbers.dtype.kind == "f" else numbers
    if whole.size:
        for end in (int(whole.min()), int(whole.max())):
            if max(abs(end), abs(end * times.step + times.epoch)) >= 1 << 63:
                raise ValueNotRepresentableError(
                    f"{where}: {end} is no datetime64[{times.unit}]; read it without decode=True"
                )
    result = whole.astype(np.int64) * times.step + times.epoch
    if whole is not numbers:
        result += np.rint((numbers - whole) * times.step).astype(np.int64)
    if times.first is not None and not nothing.all() and result[~nothing].min() < times.first:
        raise ValueNotRepresentableError(
            f"{where}: a time before 1582-10-15 in the mixed calendar (standard, gregorian), for which "
            "datetime64 has no dates; read it without decode=True"
        )
    return np.where(nothing, NAT, result).view(f"M8[{times.unit}]")
