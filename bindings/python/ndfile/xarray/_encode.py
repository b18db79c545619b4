"""Encoding: from variables of xarray to what a format stores: numbers, texts, masks and attributes."""

from __future__ import annotations

import base64
import struct
import warnings
from collections.abc import Hashable, Mapping
from typing import Any, Callable, NamedTuple

import numpy as np
import xarray as xr
from xarray import conventions
from xarray.coding.strings import CharacterArrayCoder, EncodedStringCoder

try:
    from xarray.backends.common import ensure_dtype_not_object
except ImportError:  # before xarray 2024
    from xarray.conventions import ensure_dtype_not_object  # type: ignore[attr-defined, no-redef]

from .._attrs import plain
from .._coding import to_julian
from .._dtypes import VARIABLE, to_numpy
from .._errors import MaskedError, ValueNotRepresentableError
from .._info import formats

_NONE = "__values__"  # xarray's name of a variable without one
_CF = (
    "dtype _FillValue missing_value scale_factor add_offset units calendar coordinates grid_mapping bounds "
    "climatology geometry node_coordinates node_count part_node_count interior_ring cell_measures "
    "formula_terms _Unsigned _Encoding char_dim_name"
).split()
_STORAGE = ("chunks", "shards", "codecs", "compression", "fill_value")
#: What of an encoding is for `ndfile.File.create`, and the rest that is looked at here.
KNOWN = frozenset((*_CF, *_STORAGE, "masked"))


class Encoded(NamedTuple):
    """A variable as it is stored. Data and missing are of NumPy or of Dask, of one shape and one chunking."""

    dims: tuple[str, ...]
    data: Any
    missing: Any  # bools, or None
    attrs: dict[str, Any]
    storage: dict[str, Any]  # for File.create


class Target(NamedTuple):
    """The format that is written."""

    format: str
    caps: tuple[str, ...]

    def can(self, word: str) -> bool:
        """Tell whether the format has an ability, see `ndfile.formats`."""
        return word in self.caps


def target_named(name: str) -> Target:
    """Give the format of a name."""
    return Target(name, next((f["caps"] for f in formats() if f["name"] == name), ()))


def check_encoding(dataset: xr.Dataset, encoding: Mapping[Hashable, Any] | None) -> None:
    """Refuse an argument `encoding` with names or keys that there are not."""
    for name, own in (encoding or {}).items():
        if name not in dataset.variables:
            raise KeyError(f"encoding: no variable {name!r}")
        if not isinstance(own, Mapping):
            raise ValueError(f"encoding of {name!r}: must be castable to dict, found {type(own).__name__}")
        unknown = set(own) - KNOWN
        if unknown:
            raise ValueError(f"unexpected encoding of {name!r}: {sorted(unknown)}; known: {sorted(KNOWN)}")


def check_names(dataset: xr.Dataset) -> None:
    """Refuse names that are no texts."""
    for name in (*dataset.variables, *dataset.dims):
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name {name!r}: expected a string or None")
        if name == "":
            raise ValueError(f"name {name!r}: the string must be length 1 or longer")


def encode(
    dataset: xr.Dataset, target: Target, encoding: Mapping[Hashable, Any] | None
) -> tuple[dict[str, Encoded], dict[str, Any]]:
    """Give the variables of a Dataset by name as they are stored, and its attributes."""
    check_names(dataset)
    check_encoding(dataset, encoding)
    dataset = dataset.copy(deep=False)
    for name, own in (encoding or {}).items():
        merged = {**dataset[name].encoding, **own}
        if "dtype" in own and "ndfile" in merged:
            merged["ndfile"] = {**merged["ndfile"], "dtype": ""}
        dataset[name].encoding = merged
    variables, attrs = conventions.encode_dataset_coordinates(dataset)
    plans = {name: _Plan(variable, target) for name, variable in variables.items()}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*floating point data as an integer dtype.*")
        encoded, attrs = conventions.cf_encoder({n: p.source for n, p in plans.items()}, attrs)
    result = {
        _NONE if name is None else str(name): plans[name].finish(str(name), variable)
        for name, variable in encoded.items()
    }
    return result, {str(key): plain(value, f"attribute {key!r}") for key, value in attrs.items()}


class _Plan:
    """What is to be done with a variable before and after xarray's own encoding."""

    def __init__(self, variable: xr.Variable, target: Target) -> None:
        self.target = target
        encoding = dict(variable.encoding)
        ours = encoding.pop("ndfile", {})
        same = ours.get("format") == target.format
        self.storage = {key: encoding.pop(key) for key in _STORAGE if key in encoding}
        if "codecs" in ours and same and not {"compression", "codecs"} & set(self.storage):
            self.storage["codecs"] = ours["codecs"]
        self.masked = bool(encoding.pop("masked", ours.get("masked", False)))
        self.julian = bool(ours.get("julian")) and target.format == "ds" and variable.dtype.kind == "M"
        self.filled = encoding.get("_FillValue") is not None
        self.integer: np.dtype | None = None
        self.exact = False
        self.missing: Any = None
        # ds has no characters, only texts.
        self.chars = target.format != "ds" and _is_chars(encoding.get("dtype"))
        encoding = {key: encoding[key] for key in _CF if key in encoding}
        encoding = self._choose(variable, encoding, ours)
        source = variable.copy(deep=False)
        source.encoding = encoding
        self.source = self._fill(source)

    def _choose(
        self, variable: xr.Variable, encoding: dict[str, Any], ours: dict[str, Any]
    ) -> dict[str, Any]:
        """Decide which integers are made here, and drop what the encoding of xarray need not know."""
        stored = encoding.get("dtype")
        # xarray notes the dtype of the floats that integers with a mask have become.
        if ours.get("masked") and variable.dtype.kind == "f" and stored in (None, variable.dtype):
            known = to_numpy(ours["dtype"])
            if known is not None and known.kind in "iu":
                stored, self.exact = known, True
        if stored in (str, bytes, object) or stored is None:
            dtype = None
        else:
            dtype = np.dtype(stored).newbyteorder("=")
        fills = {"_FillValue", "missing_value"} & ({*encoding, *variable.attrs})
        if dtype is None or dtype.kind in "SUO" or variable.dtype.kind in "SUOT":
            if not self.chars:
                encoding.pop("dtype", None)
        elif variable.dtype.kind == "f" and dtype.kind in "iu" and not fills and "_Unsigned" not in encoding:
            self.integer = dtype
            encoding.pop("dtype", None)
            encoding["_FillValue"] = None
        if self.julian:
            encoding = {"units": "microseconds since 1970-01-01", "dtype": np.dtype("int64")}
        return encoding

    def _fill(self, source: xr.Variable) -> xr.Variable:
        """Find missing elements that become a mask, and put something in their place."""
        masks = self.target.can("masked")
        texts = source.dtype.kind == "O" and not self.chars and not self.filled
        if source.dtype.kind == "T":
            values = np.asarray(source.values, object)
            return source.copy(data=np.where(source.isnull(), "", values).astype(object))
        if not (self.integer is not None or (masks and (texts or self.masked)) or self.julian):
            return source
        if source.dtype.kind not in "fcmMO":
            return source
        missing = source.isnull()
        if texts and not _is_lazy(source.data) and not bool(missing.any()):
            return source
        if self.julian:
            return source
        self.missing = missing.data
        if source.dtype.kind in "mM" or texts:
            return source
        place = source.encoding.get("add_offset", source.attrs.get("add_offset", 0))
        return source.copy(data=xr.where(missing, source.dtype.type(place), source).data)

    def finish(self, name: str, variable: xr.Variable) -> Encoded:
        """Make what is stored of what xarray has made."""
        if self.chars:
            for coder in (EncodedStringCoder(allows_unicode=False), CharacterArrayCoder()):
                variable = coder.encode(variable, name=name)
        variable = ensure_dtype_not_object(variable, name=name)
        data: Any = variable.data
        attrs = dict(variable.attrs)
        if not _is_lazy(data):
            data = np.asarray(data)
        if data.dtype.kind not in "OSU" and self.source.dtype.kind == "O":
            self.missing = None  # they were numbers
        if attrs.get("dtype") == "bool":
            data = data.astype(bool)
            del attrs["dtype"]
        if self.integer is not None:
            data = _map(_Integers(name, self.integer, self.exact), data, self.integer)
        missing = self.missing
        if self.julian:
            data, attrs = (
                _map(to_julian, data, np.dtype("f8")),
                {k: v for k, v in attrs.items() if k not in ("units", "calendar", "_FillValue")},
            )
            self.storage["extra"] = {".time": True}
        missing = self._fill_value(data, attrs, missing)
        if missing is not None and not self.target.can("masked"):
            data, missing = _map2(_Refuse(name, self.target.format), data, missing), None
        dims = tuple(map(str, variable.dims))
        if dims and not self.target.can("dims") and self.target.can("array-attrs"):
            attrs["_ARRAY_DIMENSIONS"] = list(dims)
        self._check_storage(variable.shape)
        clean = {str(k): plain(_text(v), f"{name}: attribute {k!r}") for k, v in attrs.items()}
        return Encoded(dims, data, missing, clean, self.storage)

    def _fill_value(self, data: Any, attrs: dict[str, Any], missing: Any) -> Any:
        """Store _FillValue as the format has it; give the mask that it stands for, where there are masks."""
        fill = attrs.get("_FillValue")
        if fill is None:
            attrs.pop("_FillValue", None)
            self._without_fill()
            return missing
        nan = isinstance(fill, (float, np.floating)) and np.isnan(fill)
        if nan and not self.filled:
            del attrs["_FillValue"]  # NaN says so itself
            self._without_fill()
            return missing
        if self.target.format == "zarr2":
            self.storage.setdefault("fill_value", fill)
            del attrs["_FillValue"]
        elif self.target.format == "zarr3" and data.dtype.kind in "fS":
            raw: Any = fill if data.dtype.kind == "S" else struct.pack("<d", float(fill))
            attrs["_FillValue"] = base64.standard_b64encode(raw).decode()
        if missing is None and not nan and not self.chars and self.target.can("masked"):
            return data == fill
        return missing

    def _without_fill(self) -> None:
        """Say that no value means a missing element: in Zarr 2 the fill value would, and it is 0."""
        if self.target.format == "zarr2" and "fill_value" not in self.storage:
            self.storage["extra"] = {"fill_value": None}

    def _check_storage(self, shape: tuple[int, ...]) -> None:
        """Drop chunks that came along with the data and do not fit any more, or have no place here."""
        chunked = self.target.can("chunked")
        chunks = self.storage.get("chunks")
        if not chunked:
            self.storage = {k: v for k, v in self.storage.items() if k == "extra"}
        elif chunks is not None and isinstance(chunks, (tuple, list)) and len(chunks) != len(shape):
            for key in ("chunks", "shards"):
                self.storage.pop(key, None)
        if self.target.format != "zarr3":
            self.storage.pop("shards", None)


class _Integers:
    """Makes integers of floats that stand for them; what does not fit is an error."""

    def __init__(self, name: str, dtype: np.dtype, exact: bool) -> None:
        self.name, self.dtype, self.exact = name, dtype, exact

    def __call__(self, block: np.ndarray) -> np.ndarray:
        whole = np.rint(block)
        limits = np.iinfo(self.dtype)
        with np.errstate(invalid="ignore"):
            result = whole.astype(self.dtype)
        wrong = ~((whole >= limits.min) & (whole <= limits.max))
        if self.dtype.itemsize == 8:
            wrong |= whole >= float(limits.max)  # which is one more
        if self.exact:
            wrong |= whole != block
        if wrong.any():
            raise ValueNotRepresentableError(
                f"{self.name}: {block[wrong].ravel()[0]} is no {self.dtype}, as which it was read; give "
                f"encoding={{{self.name!r}: {{'dtype': ...}}}}"
            )
        return result


class _Refuse:
    """Refuses missing elements that have no place in a format."""

    def __init__(self, name: str, format: str) -> None:
        self.name, self.format = name, format

    def __call__(self, block: np.ndarray, missing: np.ndarray) -> np.ndarray:
        if missing.any():
            raise MaskedError(
                f"{self.name}: elements are missing, and {self.format} has no masks; give "
                f"encoding={{{self.name!r}: {{'_FillValue': ...}}}}"
            )
        return block


def _is_chars(stored: Any) -> bool:
    return stored is not None and stored not in VARIABLE.values() and np.dtype(stored) == np.dtype("S1")


def _is_lazy(data: Any) -> bool:
    return not isinstance(data, (np.ndarray, np.generic)) and hasattr(data, "dask")


def _map(function: Callable[..., Any], data: Any, dtype: np.dtype) -> Any:
    return data.map_blocks(function, dtype=dtype) if _is_lazy(data) else function(data)


def _map2(function: Callable[..., Any], data: Any, other: Any) -> Any:
    if not _is_lazy(data):
        return function(data, np.asarray(other))
    import dask.array as da

    return da.map_blocks(function, data, other, dtype=data.dtype)


def _text(value: Any) -> Any:
    """Give an attribute of bytes, which JSON lacks, as text."""
    return value.decode("latin-1") if isinstance(value, bytes) else value
