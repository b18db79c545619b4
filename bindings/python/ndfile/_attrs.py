"""Attributes: ordered mappings of JSON-able values."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any, Callable, Protocol

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


def _dumped(value: Any, _: int) -> tuple[str]:
    return (json.dumps(value),)


_encoder: Any = json.encoder
_encode: Any = _dumped
try:
    # json.dumps makes such an object with each call, which takes longer than the call. It looks for no
    # cycles.
    _encode = _encoder.c_make_encoder(
        None, None, _encoder.encode_basestring_ascii, None, ": ", ", ", False, False, True
    )
    _encode([], 0)
except TypeError:  # another Python's
    _encode = _dumped


_SIMPLE, _STR = frozenset({str, int, float, bool, type(None)}), frozenset({str})


def dumps(value: Any) -> bytes:
    """Give a dict, list or tuple of simple values as ASCII JSON."""
    return "".join(_encode(value, 0)).encode("ascii")


def to_json(attrs: Mapping[str, Any] | None, what: str = "attribute") -> bytes | None:
    """Give attributes as ASCII JSON; None for None.

    NaN and the infinities are written as such, integers of any size exactly, lone surrogates escaped.
    """
    if attrs is None:
        return None
    simple = attrs.__class__ is dict and _SIMPLE.issuperset(map(type, attrs.values()))
    if simple and _STR.issuperset(map(type, attrs)):
        return dumps(attrs)
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

    @property
    def _changeable(self) -> bool: ...
    def _load_attrs(self) -> dict[str, Any]: ...
    def _store_attrs(self, raw: bytes) -> None: ...


def of(owner: Owner) -> Attrs:
    """Give the attributes of a file or an array."""
    attrs = Attrs(owner._load_attrs())
    attrs._owner = owner
    if owner._changeable:
        attrs._watch()
    return attrs


class _Inner:
    """A list or dict in an attribute of a file that can be changed: its changes are stored."""

    __slots__ = ()
    _top: tuple[Attrs, str, Any]  # the attributes, the name, and the whole value

    def _changed(self) -> None:
        _watch(self, self._top)
        attrs, name, value = self._top
        attrs._change_inner(name, value)

    def __reduce__(self) -> tuple[Any, ...]:  # copies and pickles are of their own
        kind: Any = dict if isinstance(self, dict) else list
        return kind, (kind(self),)


def _storing(base: type, names: str) -> dict[str, Any]:
    """Make the methods of a type that change it such that they store."""

    def make(name: str) -> Any:
        method = getattr(base, name)

        @functools.wraps(method)
        def changing(self: Any, *args: Any, **kwargs: Any) -> Any:
            before = base(self)
            try:
                result = method(self, *args, **kwargs)
                self._changed()
            except BaseException:  # it stays what is stored
                base.__init__(self, before) if base is list else (dict.clear(self), dict.update(self, before))
                raise
            return result

        return changing

    return {name: make(name) for name in names.split()}


_DICT = "__setitem__ __delitem__ __ior__ clear pop popitem setdefault update"
_LIST = "__setitem__ __delitem__ __iadd__ __imul__ append clear extend insert pop remove reverse sort"
_Dict: Any = type("dict", (_Inner, dict), {"__slots__": ("_top",), **_storing(dict, _DICT)})
_List: Any = type("list", (_Inner, list), {"__slots__": ("_top",), **_storing(list, _LIST)})


def _inner(value: Any, attrs: Attrs, name: str, whole: Any = None) -> Any:
    """Give a list or dict such that changes inside of it are stored."""
    if isinstance(value, _Inner) and value._top[2] is whole:
        return value
    inner: Any = (_Dict if isinstance(value, dict) else _List)(value)
    inner._top = attrs, name, inner if whole is None else whole
    _watch(inner, inner._top)
    return inner


def _watch(values: Any, top: tuple[Attrs, str, Any]) -> None:
    """Do what `_inner` does with what is in a list or dict."""
    base: Any = dict if isinstance(values, dict) else list
    for i, value in list(values.items() if base is dict else enumerate(values)):
        if isinstance(value, (dict, list)):
            base.__setitem__(values, i, _inner(value, *top))


class Attrs(dict[str, Any]):
    """The attributes of a file or an array, in file order: a dict of what they were when they were asked for.

    Values are what JSON has: None, bool, int (of any size), float (NaN and infinities too), str, list and
    dict. NumPy scalars and arrays are stored as numbers and lists; bytes, complex numbers and dates are
    `DTypeError` (a `TypeError`). Setting and deleting work on files that can be changed, take effect in the
    file when it is closed, and are `ReadOnlyError` else; so do changes inside of a list or dict,
    ``f.attrs["levels"].append(3)``. A copy, also a pickled one, is a dict of its own; so are the lists and
    dicts in attributes of a file open for reading.

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

    def _watch(self) -> None:
        for name, value in self.items():
            if isinstance(value, (dict, list)):
                super().__setitem__(name, _inner(value, self, name))

    def _change(self, change: Callable[[dict[str, Any]], Any]) -> Any:
        """Change what the file has by now, which may be more than when these were asked for."""
        values = dict(self._owner._load_attrs())
        result = change(values)
        self._owner._store_attrs(to_json(values) or b"{}")
        found = self._owner._load_attrs()  # what was stored decides
        super().clear()
        super().update(found)
        self._watch()
        return result

    def _change_inner(self, name: str, value: Any) -> None:
        """Store an attribute inside of which something has changed."""
        values = dict(self._owner._load_attrs())
        values[name] = value
        self._owner._store_attrs(to_json(values) or b"{}")
        super().__setitem__(name, value)

    def __setitem__(self, key: str, value: Any) -> None:
        self._change(lambda values: values.__setitem__(key, value))

    def __delitem__(self, key: str) -> None:
        self._change(lambda values: values.__delitem__(key))

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several attributes at once."""
        self._change(lambda values: values.update(*args, **kwargs))

    def __ior__(self, other: Any) -> Attrs:  # type: ignore[override,misc]
        self.update(other)
        return self

    def clear(self) -> None:
        """Delete all attributes."""
        self._change(dict.clear)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Give a value; the default, which is stored, where there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str, *default: Any) -> Any:
        """Delete an attribute and give its value, or the default where there is none."""
        if default and key not in self:
            return default[0]
        return self._change(lambda values: values.pop(key, *default))

    def popitem(self) -> tuple[str, Any]:
        """Delete the last attribute and give its name and value."""
        item: tuple[str, Any] = self._change(dict.popitem)
        return item
