"""Attributes: ordered mappings of JSON-able values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ._errors import DTypeError, LimitError


def plain(value: Any, where: str) -> Any:
    """Give a copy of an attribute value in Python's own types.

    What JSON lacks is a DTypeError (a TypeError).

    NumPy scalars become Python numbers, arrays and tuples become lists. float32 values keep their value,
    so 0.1 becomes 0.10000000149011612. Keys of mappings must be str.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ma.MaskedArray):
        raise DTypeError(f"{where}: a masked array cannot be stored as JSON")
    if isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "biufUO":
        # item and tolist keep NumPy's type only where Python has none (a long double)
        item = value.tolist()
        if not isinstance(item, np.generic):
            return item if value.dtype.kind in "biu" else plain(item, where)
    elif isinstance(value, (list, tuple)):
        return [plain(v, f"{where}[{i}]") for i, v in enumerate(value)]
    elif isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise DTypeError(f"{where}: expected keys as str, found {key!r}")
        return {key: plain(v, f"{where}[{key!r}]") for key, v in value.items()}
    raise DTypeError(f"{where}: {type(value).__name__} cannot be stored as JSON")


def to_json(attrs: Mapping[str, Any] | None, what: str = "attribute") -> bytes | None:
    """Give attributes as ASCII JSON; None for None.

    NaN and the infinities are written as such, integers of any size exactly, lone surrogates escaped.
    """
    if attrs is None:
        return None
    if not isinstance(attrs, Mapping):
        raise DTypeError(f"{what}s: expected a mapping, found {type(attrs).__name__}")
    for key in attrs:
        if not isinstance(key, str):
            raise DTypeError(f"{what}s: expected keys as str, found {key!r}")
    return json.dumps({key: plain(v, f"{what} {key!r}") for key, v in attrs.items()}).encode("ascii")


def from_json(text: str, path: Any) -> Any:
    """Parse JSON of the library."""
    try:
        return json.loads(text)
    except ValueError as e:  # an integer of more digits than sys.get_int_max_str_digits()
        raise LimitError(f"{path}: attributes: {e}", path=path) from e


class Owner(Protocol):
    """What has attributes."""

    def _load_attrs(self) -> dict[str, Any]: ...
    def _store_attrs(self, raw: bytes) -> None: ...


def of(owner: Owner) -> Attrs:
    """Give the attributes of a file or an array."""
    attrs = Attrs(owner._load_attrs())
    attrs._owner = owner
    return attrs


class Attrs(dict[str, Any]):
    """The attributes of a file or an array, in file order: a dict of what they were when they were asked for.

    Values are what JSON has: None, bool, int (of any size), float (NaN and infinities too), str, list and
    dict. NumPy scalars and arrays are stored as numbers and lists; bytes, complex numbers and dates are
    `DTypeError` (a `TypeError`). Setting and deleting work on files that can be changed, take effect in the
    file when it is closed, and are `ReadOnlyError` else. A list or dict taken out and changed in place is
    not stored until it is assigned again. A copy, also a pickled one, is a dict of its own.

    Examples
    --------
    >>> import ndfile
    >>> with ndfile.open("attrs.ds", "w") as f:
    ...     f.attrs["title"] = "example"
    ...     f.attrs.update(levels=(1, 2), missing=float("nan"))
    >>> with ndfile.open("attrs.ds") as f:
    ...     print(f.attrs)
    {'title': 'example', 'levels': [1, 2], 'missing': nan}
    """

    __slots__ = ("_owner",)
    _owner: Owner  # set by `of`: without an __init__ in Python it is made in half the time

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def _set(self, values: Mapping[str, Any]) -> None:
        self._owner._store_attrs(to_json(values) or b"{}")
        found = self._owner._load_attrs()  # what was stored decides
        super().clear()
        super().update(found)

    def __setitem__(self, key: str, value: Any) -> None:
        self._set({**self, key: value})

    def __delitem__(self, key: str) -> None:
        values = dict(self)
        del values[key]
        self._set(values)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several attributes at once."""
        self._set({**self, **dict(*args, **kwargs)})

    def __ior__(self, other: Any) -> Attrs:  # type: ignore[override,misc]
        self.update(other)
        return self

    def clear(self) -> None:
        """Delete all attributes."""
        self._set({})

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Give a value; the default, which is stored, where there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str, *default: Any) -> Any:
        """Delete an attribute and give its value, or the default where there is none."""
        values = dict(self)
        value = values.pop(key, *default)
        if len(values) < len(self):
            self._set(values)
        return value

    def popitem(self) -> tuple[str, Any]:
        """Delete the last attribute and give its name and value."""
        values = dict(self)
        item = values.popitem()
        self._set(values)
        return item
