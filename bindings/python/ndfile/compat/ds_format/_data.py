"""Access to the parts of a dataset: variables, their metadata, attributes and dimensions."""

from __future__ import annotations

import contextlib
import copy as _copy
import fnmatch
import sys
import warnings
from collections.abc import Iterator
from typing import Any, overload

import numpy as np

Dataset = dict[str, Any]

_NUMBERS = (
    "float32",
    "float64",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    "bool",
)
_DTYPES = {
    **{name: np.dtype(name) for name in _NUMBERS},
    "str": np.dtype(object),
    "unicode": np.dtype(object),
}


def _package() -> Any:
    return sys.modules[__package__ or ""]


@contextlib.contextmanager
def with_mode(mode: str) -> Iterator[None]:
    """Set `mode` for a block."""
    ds = _package()
    before, ds.mode = ds.mode, mode
    try:
        yield
    finally:
        ds.mode = before


def checked(value: Any, name: str, *kinds: Any) -> None:
    """Refuse an argument of another type with a ValueError; None among the kinds allows it."""
    if not (value is None and None in kinds) and not isinstance(
        value, tuple(k for k in kinds if k is not None)
    ):
        raise ValueError(f"{name}: invalid type")


def texts(value: Any, name: str, none: bool = False) -> None:
    """Refuse what is no list or tuple of texts."""
    checked(value, name, list, tuple, *((None,) if none else ()))
    if value is not None and not all(isinstance(item, str) for item in value):
        raise ValueError(f"{name}: invalid type")


@overload
def escape(name: str) -> str: ...
@overload
def escape(name: str | None) -> str | None: ...
def escape(name: str | None) -> str | None:
    """Give a name as it stands in a dataset: after a backslash if it begins with a dot or a backslash."""
    checked(name, "name", str, None)
    return "\\" + name if name is not None and name[:1] in (".", "\\") and name else name


def unescape(name: str | None) -> str | None:
    """Undo `escape`."""
    checked(name, "name", str, None)
    return name[1:] if name is not None and name[:2] in ("\\.", "\\\\") else name


def require(d: Dataset, what: str, name: str, var: str | None = None, full: bool = False) -> bool:
    """Tell whether a "var", "dim" or "attr" is there; if not, warn or raise as `mode` says."""
    checked(d, "d", dict)
    checked(what, "what", str)
    checked(name, "name", str)
    if what == "var":
        there, label = name in vars(d, full=full), "variable"
    elif what == "dim":
        there, label = name in dims(d, var, full=full), "dimension"
    elif what == "attr":
        there, label = name in attrs(d, var), "attribute"
    else:
        raise ValueError(f'invalid value of the what argument "{what}"')
    if not there:
        message = f"{name}: {label} not found"
        if _package().mode == "strict":
            raise NameError(message)
        if _package().mode == "moderate":
            warnings.warn(message, stacklevel=2)
    return there


def meta(d: Dataset, var: str | None = None, *value: Any, create: bool = False) -> Any:
    """Get or set metadata: all of them, of the dataset (`var` is ""), or of a variable."""
    checked(d, "d", dict)
    checked(var, "var", str, None)
    if len(value) > 1:
        raise TypeError("only one value argument is expected")
    key = "." if var == "" else escape(var)
    if value:
        checked(value[0], "value", dict, None)
        holder = d if key is None else meta(d, create=True)
        key = "." if key is None else key
        if value[0] is None:
            holder.pop(key, None)
        else:
            holder[key] = value[0]
        return None
    holder = d if var is None else meta(d, create=create)
    key = "." if key is None else key
    if key not in holder:
        if create:
            holder[key] = {}
        elif var:
            require(d, "var", var, full=True)
    return holder.get(key, {})


def vars(d: Dataset, full: bool = False) -> list[str]:
    """List the names of all variables, sorted; with `full` also those with metadata only."""
    checked(d, "d", dict)
    names = set(d) | (set(meta(d)) if full else set())
    return sorted(unescape(name) or "" for name in names if not name.startswith("."))


def _normal(data: Any) -> Any:
    """Give an array, a masked array, or a scalar; refuse types that ds does not have."""
    if isinstance(data, (list, tuple)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = np.asarray(data) if not _any_none(data) else _masked(data)
    if isinstance(data, (bool, int, float, str, bytes)):
        data = np.array(data)[()]
    if data is None or data is np.ma.masked:
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        name = data.dtype.name
        if (
            name in _NUMBERS
            or data.dtype.kind in "SU"
            or (
                data.dtype.kind == "O"
                and all(
                    x is None or x is np.ma.masked or isinstance(x, (str, bytes))
                    for x in np.asarray(data).flat
                )
            )
        ):
            return data[()] if isinstance(data, np.ndarray) and data.ndim == 0 else data
    raise ValueError("invalid data type")


def _any_none(data: Any) -> bool:
    return any(x is None or (isinstance(x, (list, tuple)) and _any_none(x)) for x in data)


def _masked(data: Any) -> np.ma.MaskedArray:
    objects = np.array(data, object)
    mask = np.vectorize(lambda x: x is None, otypes=[bool])(objects)
    objects[mask] = 0
    return np.ma.array(np.array(objects.tolist()), mask=mask)


def var(d: Dataset, var: str, *value: Any) -> Any:
    """Get or set the data of a variable."""
    checked(d, "d", dict)
    checked(var, "var", str)
    if len(value) > 1:
        raise TypeError("only one value argument is expected")
    if value:
        d[escape(var)] = _normal(value[0])
        return None
    return _normal(d[escape(var)]) if require(d, "var", var) else None


def attrs(d: Dataset, var: str | None = None, *value: Any) -> Any:
    """Get or set the attributes of the dataset, or of a variable."""
    checked(d, "d", dict)
    checked(var, "var", str, None)
    if len(value) > 1:
        raise TypeError("only one value argument is expected")
    if value:
        checked(value[0], "value", dict)
        for name, v in value[0].items():
            attr(d, name, v, var=var)
        return None
    return {unescape(k): v for k, v in meta(d, var or "").items() if not k.startswith(".")}


def attr(d: Dataset, attr: str, *value: Any, var: str | None = None) -> Any:
    """Get or set one attribute."""
    checked(d, "d", dict)
    checked(attr, "attr", str)
    checked(var, "var", str, None)
    if len(value) > 1:
        raise TypeError("only one value argument is expected")
    if value:
        meta(d, var or "", create=True)[escape(attr)] = value[0]
        return None
    return attrs(d, var)[attr] if require(d, "attr", attr, var) else None


def dims(d: Dataset, var: str | None = None, *value: Any, full: bool = False, size: bool = False) -> Any:
    """Get the dimensions of the dataset or a variable, with `size` as a dict; or set those of a variable."""
    checked(d, "d", dict)
    checked(var, "var", str, None)
    if value:
        return _set_dims(d, var, *value)
    if var is None:
        found: dict[str, Any] = {}
        for name in vars(d, full):
            found.update(dims(d, name, size=True))
        return found if size else sorted(found)
    own = meta(d, var)
    names = own.get(".dims")
    if names is None:
        n = _package().size(d, var)
        names = [] if n is None else [f"{var}_{i + 1}" for i in range(len(n))]
    elif isinstance(names, tuple):
        names = list(names)
    elif not isinstance(names, list):
        names = [names]
    if not size:
        return names
    with with_mode("soft"):
        data = _package().var(d, var)
    shape = own.get(".size") if data is None else data.shape
    return {name: None if shape is None else shape[i] for i, name in enumerate(names)}


def _set_dims(d: Dataset, var: str | None, value: Any, *more: Any) -> None:
    if more:
        raise TypeError("only one value argument is expected")
    if var is None:
        raise TypeError("var must be defined")
    own = meta(d, var, create=True)
    if value is None:
        own.pop(".dims", None)
    else:
        texts(value, "value")
        own[".dims"] = value


def dim(d: Dataset, dim: str, full: bool = False) -> int:
    """Give the length of a dimension, 0 if there is none."""
    checked(d, "d", dict)
    checked(dim, "dim", str)
    return dims(d, full=full, size=True)[dim] if require(d, "dim", dim, full=full) else 0


def size(d: Dataset, var: str) -> list[int] | None:
    """Give the shape of a variable, from its metadata if it has no data here."""
    checked(d, "d", dict)
    checked(var, "var", str)
    if not require(d, "var", var, full=True):
        return None
    if var in vars(d):
        data = _package().var(d, var)
        return [] if data is None else list(data.shape)
    shape = meta(d, var).get(".size")
    return None if shape is None else list(shape)


def type_name(dtype: Any, data: Any = None) -> str | None:
    """Give the name that ds has for a dtype."""
    if dtype is bytes:
        return "str"
    if dtype is str:
        return "unicode"
    if dtype.kind == "O":
        items = [data] if isinstance(data, bytes) else [] if data is None else list(np.asarray(data).flat)
        if data is None:
            return None
        return "str" if all(isinstance(x, bytes) for x in items) else "unicode"
    if dtype.kind in "SU":
        return "str" if dtype.kind == "S" else "unicode"
    return dtype.name if dtype.name in _NUMBERS else None


def type(d: Dataset, var: str, *value: str) -> str | None:
    """Get or set the type of a variable."""
    checked(d, "d", dict)
    checked(var, "var", str)
    if len(value) > 1:
        raise TypeError("only one value argument is expected")
    if not value:
        if not require(d, "var", var, full=True):
            return None
        with with_mode("soft"):
            data = _package().var(d, var)
        return meta(d, var).get(".type") if data is None else type_name(data.dtype, data)
    checked(value[0], "value", str)
    if value[0] not in _DTYPES:
        raise ValueError("invalid type")
    meta(d, var, create=True)[".type"] = value[0]
    data = _package().var(d, var)
    if data is not None:
        if value[0] in ("str", "unicode"):
            made = np.empty(np.shape(data), object)
            for at, x in np.ndenumerate(data):
                made[at] = str(x).encode() if value[0] == "str" else str(x)
            data = made
        else:
            data = data.astype(_DTYPES[value[0]])
        _package().var(d, var, data)
    return None


def time(d: Dataset, var: str, *value: bool) -> bool | None:
    """Tell, or set, whether a variable is a time."""
    checked(d, "d", dict)
    checked(var, "var", str)
    if not value:
        return meta(d, var).get(".time") is True
    checked(value[0], "value", bool)
    own = meta(d, var, create=True)
    if value[0]:
        own[".time"] = True
    else:
        own.pop(".time", None)
    return None


def findall(d: Dataset, what: str, name: str, var: str | None = None) -> list[str]:
    """List the names that match a glob pattern, or the pattern itself if none does."""
    checked(d, "d", dict)
    checked(name, "name", str)
    if what == "var":
        names = vars(d, full=True)
    elif what == "attr":
        names = attrs(d, var)
    elif what == "dim":
        names = dims(d, var, full=True)
    else:
        raise ValueError(f'invalid value of the what argument "{what}"')
    return fnmatch.filter(names, name) or [name]


def find(d: Dataset, what: str, name: str, var: str | None = None) -> str:
    """Give the one name that matches a glob pattern, or the pattern itself; several are a ValueError."""
    names = findall(d, what, name, var)
    if len(names) > 1:
        kind = {"var": "variable", "attr": "attribute", "dim": "dimension"}[what]
        raise ValueError(f'more than one {kind} is matching the pattern "{name}"')
    return names[0]


def copy(d: Dataset) -> Dataset:
    """Copy a dataset: metadata deeply, data not."""
    made: Dataset = {}
    for name in vars(d):
        _package().var(made, name, _package().var(d, name))
    meta(made, None, _copy.deepcopy(meta(d)))
    return made


def validate(d: Dataset) -> None:
    """Refuse, with a ValueError, what is no consistent dataset."""
    if not isinstance(d, dict):
        raise ValueError("dataset must be an instance of dict")
    if not isinstance(d.get(".", {}), dict):
        raise ValueError('dataset metadata "." must be an instance of dict')
    if not isinstance(d.get(".", {}).get(".", {}), dict):
        raise ValueError('dataset attributes "./." must be an instance of dict')
    lengths: dict[str, int] = {}
    for name in vars(d):
        names, data = dims(d, name), _package().var(d, name)
        if data is None:
            continue
        if len(names) != data.ndim:
            raise ValueError(
                f'dataset variable "{name}" has inconsistent number of dimensions: {len(names)} dimensions '
                f'defined ("{names}") but data has {data.ndim} dimensions'
            )
        for dimension, length in zip(names, data.shape):
            if lengths.setdefault(dimension, length) != length:
                raise ValueError(f'dimension "{dimension}" has inconsistent size between variables')


def get_dims(d: Dataset, var: str | None = None, full: bool = False, size: bool = False) -> Any:
    """Do what `dims` does, with sizes for those of the dataset."""
    return dims(d, var, full=full, size=size or var is None)


get_attrs, get_meta, get_vars = attrs, meta, vars
