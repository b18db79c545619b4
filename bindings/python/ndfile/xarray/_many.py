"""Thousands of small files as one Dataset."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends.common import AbstractDataStore

from .._capi import NDF_LOAD_META
from .._errors import ArgumentError, NameNotFoundError, ShapeError
from .._file import File
from .._load import _pool, take
from .._many import read_many
from .._open import open as open_file
from .._progress import Progress
from ._backend import Store, _absolute
from ._lazy import LazyArray, Manager, Opened, dtype_of, finish

#: The attributes that say what the elements mean.
_DECODE = (
    "units calendar scale_factor add_offset _FillValue missing_value _Unsigned dtype valid_range".split()
)
_KEPT = ("dtype", "ndfile")


def load_many(
    paths: Iterable[str | os.PathLike[str]],
    concat_dim: str,
    *,
    compat: str = "equals",
    mask_and_scale: bool = True,
    decode_times: Any = True,
    decode_timedelta: Any = None,
    progress: Progress = None,
) -> xr.Dataset:
    """Read many small files as one Dataset in memory.

    It is what ``xr.open_mfdataset(paths, engine="ndfile", combine="nested", concat_dim=concat_dim,
    data_vars="minimal", coords="minimal")`` gives after ``load()``, many times faster: elements are read by
    `ndfile.read_many` and decoded once.

    Parameters
    ----------
    paths : iterable of path
        The files, in the order in which they are joined. All have the same variables and dimensions.
    concat_dim : str
        The dimension to join along. Variables with it are joined; where none has it all data variables
        are stacked along it, as a new first dimension.
    compat : {"equals", "override"}, default "equals"
        What becomes of variables without the dimension: they must be equal in all files, or the first
        file's are taken unseen.
    mask_and_scale, decode_times, decode_timedelta
        As for `xarray.open_dataset`.
    progress
        As for `ndfile.read_many`.

    Returns
    -------
    xarray.Dataset
        In memory, with the attributes of the first file.

    Raises
    ------
    ShapeError
        Files do not fit together (a ValueError).
    NameNotFoundError
        A file has not the variables of the first one (a KeyError).

    Notes
    -----
    Files may measure times from dates of their own, or have other scales: then each of them is decoded by
    itself, which takes longer.

    Examples
    --------
    >>> import ndfile, ndfile.xarray
    >>> units = {"time": {"units": "hours since 2000-01-01"}}
    >>> for i in range(3):
    ...     day = {"time": [24.0 * i, 24.0 * i + 12], "t": [1.0 * i, 2.0 * i]}
    ...     dims = {"time": ["time"], "t": ["time"]}
    ...     ndfile.save(f"day{i}.ds", day, dims=dims, var_attrs=units)
    >>> ds = ndfile.xarray.load_many([f"day{i}.ds" for i in range(3)], "time")
    >>> ds.sizes["time"], float(ds.t.sel(time="2000-01-03T12"))
    (6, 4.0)
    """
    if compat not in ("equals", "override"):
        raise ArgumentError(f"compat: expected 'equals' or 'override', found {compat!r}")
    listed = [_absolute(path) for path in paths]
    if not listed:
        raise ArgumentError("paths: expected one or more files")
    decode = {
        "mask_and_scale": mask_and_scale,
        "decode_times": decode_times,
        "decode_timedelta": decode_timedelta,
    }
    contents = [c if isinstance(c, dict) else {"": c} for c in read_many(listed, progress=progress)]
    manager = Manager(Opened, listed[0], None, False)
    try:
        with manager.acquire_context() as opened:
            plan = _Plan(
                opened.file, Store(manager, "", bool(mask_and_scale), bool(decode_times)), concat_dim
            )
            parts = []
            for start, end in plan.runs(listed, contents):
                store = _Memory(plan.join(listed, contents, start, end, compat), plan.attrs)
                parts.append(xr.decode_cf(store, **decode))
                if start:
                    plan.check_equal(listed, contents, 0, start, compat)
    finally:
        manager.close()
    return _joined(parts, concat_dim)


def _joined(parts: list[xr.Dataset], dim: str) -> xr.Dataset:
    """Join what has been decoded by itself."""
    first = parts[0]
    if len(parts) == 1:
        return first
    for name, variable in first.variables.items():
        for part in parts[1:]:
            if (part.variables[name].dtype.kind in "mM") != (variable.dtype.kind in "mM"):
                raise ShapeError(f"variable {name!r}: dates in some files, numbers in others; see its units")
    variables = {
        name: xr.Variable.concat([p.variables[name] for p in parts], dim) if dim in v.dims else v
        for name, v in first.variables.items()
    }
    coords = {name: variables.pop(name) for name in first.coords}
    return xr.Dataset(variables, coords, first.attrs)


class _Memory(AbstractDataStore):
    """Variables in memory that are not decoded yet."""

    def __init__(self, variables: dict[str, xr.Variable], attrs: dict[str, Any]) -> None:
        self._variables, self._attrs = variables, attrs

    def get_variables(self) -> dict[str, xr.Variable]:
        """Give the variables."""
        return self._variables

    def get_attrs(self) -> dict[str, Any]:
        """Give the attributes of the first file."""
        return self._attrs

    def close(self) -> None:
        """Nothing is open."""


class _Plan:
    """What is joined, and how, by the first file."""

    def __init__(self, file: File, store: Store, dim: str) -> None:
        self.file, self.dim, self.attrs = file, dim, store.get_attrs()
        self.variables = {name: v for name, v in store.get_variables().items() if _lazy(v).missing != "mask"}
        self.lazy: dict[str, LazyArray] = {name: _lazy(v) for name, v in self.variables.items()}
        self.joined = {name for name, v in self.variables.items() if dim in v.dims}
        self.new = not self.joined
        if self.new:
            self.joined = {name for name, v in self.variables.items() if v.dims != (name,)}

    def runs(self, paths: Sequence[str], contents: Sequence[dict[str, Any]]) -> list[tuple[int, int]]:
        """Cut the files where the meaning of elements changes: units, scales."""
        known: dict[Any, tuple[str, ...]] = {}
        starts, before = [], None
        for i, path in enumerate(paths):
            described = _described(path)
            key = (described, *contents[i])
            meaning = known.get(key)
            if meaning is None:
                meaning = self._meaning_of(path)
                if described is not None:
                    known[key] = meaning
            if meaning != before:
                starts.append(i)
                before = meaning
        return list(zip(starts, [*starts[1:], len(paths)]))

    def _meaning_of(self, path: str) -> tuple[str, ...]:
        """Give what the attributes of a file say of the elements that are joined."""
        with open_file(path, format=self.file.format) as file:
            return tuple(_meaning(dict(file[self.lazy[name].name].attrs)) for name in self.joined)

    def join(
        self, paths: Sequence[str], contents: Sequence[dict[str, Any]], start: int, end: int, compat: str
    ) -> dict[str, xr.Variable]:
        """Make one variable of those of files in a row."""
        self.check_equal(paths, contents, start, end, compat)
        own = self._attributes(paths[start]) if start else {}
        result = {}
        for name, variable in self.variables.items():
            lazy, attrs, dims = self.lazy[name], own.get(name, variable.attrs), variable.dims
            array = self.file[lazy.name]
            if name not in self.joined:
                value = contents[0][lazy.name]
            else:
                axis = 0 if self.new else dims.index(self.dim)
                values = [
                    self._value(c, lazy.name, paths[start + i]) for i, c in enumerate(contents[start:end])
                ]
                self._check_shapes(name, values, paths, start, axis)
                masked = any(isinstance(v, np.ma.MaskedArray) for v in values)
                concat = np.ma.concatenate if masked else np.concatenate
                value = concat([v[None] for v in values] if self.new else values, axis)
                dims = (self.dim, *dims) if self.new else dims
            masked = isinstance(value, np.ma.MaskedArray)
            dtype = dtype_of(array, masked, lazy.missing, lazy.julian)
            data = finish(value, lazy.missing, dtype, lazy.julian, f"{paths[start]}: {name}")
            result[name] = xr.Variable(
                dims, data, attrs, {k: v for k, v in variable.encoding.items() if k in _KEPT}
            )
        return result

    def _attributes(self, path: str) -> dict[str, dict[str, Any]]:
        """Give the attributes that the variables have in another file than the first."""
        manager = Manager(Opened, path, self.file.format, False)
        try:
            store = Store(manager, "", True, True)
            return {name: dict(v.attrs) for name, v in store.get_variables().items()}
        finally:
            manager.close()

    def check_equal(
        self, paths: Sequence[str], contents: Sequence[dict[str, Any]], start: int, end: int, compat: str
    ) -> None:
        """Refuse files whose variables that are not joined differ from those of the first."""
        for name in self.variables if compat == "equals" else ():
            if name in self.joined:
                continue
            key = self.lazy[name].name
            first = contents[0][key]
            for i in range(start, end):
                value = self._value(contents[i], key, paths[i])
                if value is not first and not _equal(first, value):
                    raise ShapeError(
                        f"{paths[i]}: variable {name!r} is not that of {paths[0]}, and has no dimension "
                        f"{self.dim!r}; compat='override' takes the first file's"
                    )

    @staticmethod
    def _value(content: dict[str, Any], name: str, path: str) -> Any:
        value = content.get(name)
        if value is None:
            raise NameNotFoundError(f"{path}: no variable {name!r}, which the first file has", path=path)
        return value

    def _check_shapes(
        self, name: str, values: list[Any], paths: Sequence[str], start: int, axis: int
    ) -> None:
        shapes = [v.shape if self.new else v.shape[:axis] + v.shape[axis + 1 :] for v in values]
        first = self.lazy[name].shape
        expected = first if self.new else first[:axis] + first[axis + 1 :]
        for i, shape in enumerate(shapes):
            if shape != expected or values[i].ndim != len(first):
                raise ShapeError(
                    f"{paths[start + i]}: variable {name!r} has shape {values[i].shape}, in {paths[0]} it is "
                    f"{first}: they cannot be joined along {self.dim!r}",
                    path=paths[start + i],
                )


def _described(path: str) -> str | None:
    """Give what a file says of its arrays as a text, to be compared; None of larger files."""
    scratch = take()
    try:
        return None if scratch.load(os.fsencode(path), None, NDF_LOAD_META) else scratch.text()
    finally:
        _pool.append(scratch)


def _lazy(variable: Any) -> LazyArray:
    """Give the lazy array of a variable that `Store` has made."""
    return variable._data.array


def _meaning(attrs: dict[str, Any]) -> str:
    return repr([(key, attrs[key]) for key in _DECODE if key in attrs])


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if isinstance(a, np.ma.MaskedArray) or isinstance(b, np.ma.MaskedArray):
        if (np.ma.getmaskarray(a) != np.ma.getmaskarray(b)).any():
            return False
        a, b = np.ma.filled(a, 0), np.ma.filled(b, 0)
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
