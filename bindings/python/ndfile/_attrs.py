"""Attributes: ordered mappings of JSON-able values."""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterator, KeysView, Mapping, MutableMapping, ValuesView
from typing import Any, Callable

import numpy as np

from ._errors import DTypeError, LimitError, NdfileError


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


class Attrs(MutableMapping[str, Any]):
    """The attributes of a file or an array, in file order.

    Values are what JSON has: None, bool, int (of any size), float (NaN and infinities too), str, list and
    dict. NumPy scalars and arrays are stored as numbers and lists; bytes, complex numbers and dates are
    `DTypeError` (a `TypeError`). Setting and deleting work on files that can be changed, take effect in the
    file when it is closed, and are `ReadOnlyError` else. A list or dict taken out and changed in place is
    not stored until it is assigned again.

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

    __slots__ = ("_load", "_store", "_values")

    def __init__(self, load: Callable[[], dict[str, Any]], store: Callable[[bytes], None]) -> None:
        self._load = load
        self._store = store
        self._values: dict[str, Any] | None = None

    def _get(self) -> dict[str, Any]:
        if self._values is None:
            self._values = self._load()
        return self._values

    def _set(self, values: dict[str, Any]) -> None:
        self._store(to_json(values) or b"{}")
        self._values = None  # what was stored decides

    def __getitem__(self, key: str) -> Any:
        return self._get()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._get())

    def __len__(self) -> int:
        return len(self._get())

    def __contains__(self, key: object) -> bool:
        return key in self._get()

    def keys(self) -> KeysView[str]:
        """Give the names."""
        return self._get().keys()

    def values(self) -> ValuesView[Any]:
        """Give the values."""
        return self._get().values()

    def items(self) -> ItemsView[str, Any]:
        """Give names and values."""
        return self._get().items()

    def __setitem__(self, key: str, value: Any) -> None:
        self._set({**self._get(), key: value})

    def __delitem__(self, key: str) -> None:
        values = dict(self._get())
        del values[key]
        self._set(values)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several attributes at once."""
        self._set({**self._get(), **dict(*args, **kwargs)})

    def clear(self) -> None:
        """Delete all attributes."""
        self._set({})

    def __repr__(self) -> str:
        try:
            return repr(self._get())
        except NdfileError as e:
            return f"<Attrs: {e}>"
