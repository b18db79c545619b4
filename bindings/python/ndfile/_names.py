"""What to say of a name that is not there."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_MOST = 20  # names that are listed


def unknown(name: object, names: Iterable[str], what: str = "array") -> str:
    """Say that there is no such name, which one may be meant, and which there are."""
    there = [repr(n) for n in names]
    said = f"no {what} of the name {name!r}"
    close = difflib.get_close_matches(repr(name).lower(), [n.lower() for n in there[:1000]], 1, 0.6)
    if close:
        meant = next(n for n in there if n.lower() == close[0])
        said += f"; did you mean {meant}?"
    if not there:
        return f"{said}; there are none"
    listed = ", ".join(there[:_MOST]) + (f" and {len(there) - _MOST} more" if len(there) > _MOST else "")
    return f"{said}{'' if close else ';'} there {'is' if len(there) == 1 else 'are'} {listed}"
