"""The engine: from a path to a Dataset, or a DataTree of groups."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendEntrypoint
from xarray.backends.common import AbstractDataStore
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing

from .._array import Array
from .._coding import fill, is_julian, narrow
from .._dtypes import VARIABLE
from .._errors import NameNotFoundError, NdfileError
from .._file import File
from .._info import detect
from .._table import Table
from ._lazy import LazyArray, Manager, Opened, promoted

#: Formats that other engines read, with the modules one of which such an engine needs.
_OTHERS = {"netcdf": ("netCDF4", "h5netcdf"), "zarr2": ("zarr",), "zarr3": ("zarr",)}
_GROUPED = ("netcdf", "zarr2", "zarr3")
_DIMS = "_ARRAY_DIMENSIONS"
_MICROS = {"units": "microseconds since 1970-01-01", "calendar": "proleptic_gregorian"}
_JULIAN = {"units": "days since -4713-11-24 12:00:00", "calendar": "proleptic_gregorian"}


class Store(AbstractDataStore):
    """What xarray asks of a file, or of one group of it."""

    def __init__(self, manager: Manager, group: str, missing: bool, times: bool) -> None:
        self._manager, self._group = manager, group
        self._missing, self._times = missing, times
        with manager.acquire_context() as opened:
            self.is_group = not group or group in opened.file.groups
            self._variables, self._attrs = self._describe(opened.file)

    def close(self) -> None:
        """Let go of the file."""
        self._manager.close()

    def get_attrs(self) -> dict[str, Any]:
        """Give the attributes of the group."""
        return self._attrs

    def get_variables(self) -> dict[str, xr.Variable]:
        """Give the variables of the group, lazy."""
        return self._variables

    def get_encoding(self) -> dict[str, Any]:
        """Tell where the Dataset comes from."""
        return {}

    def _describe(self, file: File) -> tuple[dict[str, xr.Variable], dict[str, Any]]:
        prefix = f"{self._group}/" if self._group else ""
        grouped = file.format in _GROUPED
        variables: dict[str, xr.Variable] = {}
        for name in file:
            own = name[len(prefix) :]
            if not name.startswith(prefix) or (grouped and "/" in own):
                continue
            array = file[name]
            if array.shape is not None and array.dtype is not None:
                self._add(variables, own or "data", array, file)
        if self._group in file.groups:
            return variables, dict(file[self._group].attrs)
        attrs = dict(file.attrs)
        if grouped:  # NetCDF has the attributes of groups among those of the file
            attrs = {k[len(prefix) :]: v for k, v in attrs.items() if k.startswith(prefix)}
            attrs = {k: v for k, v in attrs.items() if "/" not in k}
        return variables, attrs

    def _add(self, variables: dict[str, xr.Variable], name: str, array: Array, file: File) -> None:
        """Add the variable of an array; without decoding, also one that tells where it has no elements."""
        attrs = dict(array.attrs)
        dims = _dims(name, array, attrs, file)
        marked = is_julian(array, attrs, file.format)
        julian = self._times and marked
        if marked:
            attrs.update(_MICROS if julian else _JULIAN)
        narrow(attrs)
        value = fill(array, attrs, file.format)
        missing: Any = "raw" if array.masked and not self._missing else "nan"
        if array.masked and value is not None:
            missing = value
        elif array.masked and self._missing and self._times and _is_time(array, attrs):
            missing = np.iinfo(np.int64).min  # xarray's own sign of NaT
        encoding = _encoding(dims, array, missing, file, julian)
        data = LazyArray(self._manager, array, missing, julian)
        variables[name] = xr.Variable(dims, indexing.LazilyIndexedArray(data), attrs, encoding)
        if isinstance(missing, str) and missing == "raw":
            mask = LazyArray(self._manager, array, "mask", False)
            variables[f"{name}_missing"] = xr.Variable(dims, indexing.LazilyIndexedArray(mask))


def _dims(name: str, array: Array, attrs: dict[str, Any], file: File) -> tuple[str, ...]:
    """Give names of the axes; the file's, or some that no other variable has."""
    stored = attrs.pop(_DIMS, None)
    dims = array.dims or stored
    if (
        not isinstance(dims, (list, tuple))
        or len(dims) != array.ndim
        or not all(isinstance(d, str) for d in dims)
    ):
        dims = tuple(f"{name}_{i}" for i in range(array.ndim))
        if isinstance(file, Table):
            dims = ("row", *dims[1:])
        elif file.kind == "array":
            dims = tuple(f"dim_{i}" for i in range(array.ndim))
    # xarray cannot work with a name that comes twice, as in a matrix of ("station", "station").
    return tuple(f"{d}_{i}" if d in dims[:i] else d for i, d in enumerate(dims))


def _is_time(array: Array, attrs: dict[str, Any]) -> bool:
    """Whether xarray will make dates of these integers."""
    units = attrs.get("units")
    return array.dtype == np.int64 and isinstance(units, str) and " since " in units


def _encoding(dims: tuple[str, ...], array: Array, missing: Any, file: File, julian: bool) -> dict[str, Any]:
    """Tell how an array is stored, in the terms of xarray, and in ours under "ndfile"."""
    dtype = array.dtype
    ours = {"format": file.format, "dtype": array.dtype_name, "masked": array.masked}
    encoding: dict[str, Any] = {"source": file.path, "original_shape": array.shape, "ndfile": ours}
    # Integers that are floats here would be written by other engines as integers, with anything for NaN.
    # Of texts xarray would make arrays of one width, at once, if it was told that they are some.
    if (
        array.dtype_name not in VARIABLE
        and not julian
        and (
            not array.masked
            or not isinstance(missing, str)
            or missing == "raw"
            or promoted(dtype, {}) == dtype  # type: ignore[arg-type]
        )
    ):
        encoding["dtype"] = dtype
    if julian:
        ours["julian"] = True
    chunks = array.chunks
    if chunks is not None:
        shards = array.shards
        encoding["chunks"] = chunks
        encoding["preferred_chunks"] = dict(zip(dims, shards or chunks))
        if shards:
            encoding["shards"] = shards
        ours["codecs"] = array.codecs
    return encoding


class NdfileBackend(BackendEntrypoint):
    """The engine "ndfile" of `xarray.open_dataset`, `open_mfdataset`, `open_datatree`.

    Besides the options of every engine it takes ``group`` (of NetCDF and zarr 2 and 3), ``format`` (see
    `ndfile.formats`), and ``follow_symlinks`` as `ndfile.open`.

    Missing elements of masked arrays become NaN, NaT or NaN among texts; integers become floats that hold
    them exactly, of 64 bits a `ValueNotRepresentableError` where there is no such float. With
    ``mask_and_scale=False`` elements stay as they are stored, and a variable of bools, its name followed by
    ``_missing``, tells which are missing. ds variables with ``.time`` become dates, rounded to 100 us.
    """

    description = "ds, bcolz, early zarr, RawArray, npy, npz, NetCDF, zarr 2 and 3 (ndfile)"
    supports_groups = True
    open_dataset_parameters = (
        "filename_or_obj",
        "mask_and_scale",
        "decode_times",
        "concat_characters",
        "decode_coords",
        "drop_variables",
        "use_cftime",
        "decode_timedelta",
        "group",
        "format",
        "follow_symlinks",
    )

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Look at the content; formats that another installed engine reads are left to that."""
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        try:
            format = detect(_absolute(filename_or_obj))
        except (NdfileError, ValueError):
            return False
        return not any(importlib.util.find_spec(module) for module in _OTHERS.get(format, ()))

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: bool = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        format: str | None = None,
        follow_symlinks: bool = False,
    ) -> xr.Dataset:
        """Open a file, or a group of it, as a Dataset; see `xarray.open_dataset`."""
        path, inside = _locate(_absolute(filename_or_obj), group)
        manager = Manager(Opened, path, format, bool(follow_symlinks))
        try:
            store = Store(manager, inside, mask_and_scale is not False, decode_times is not False)
            if inside and not store.get_variables() and not store.is_group:
                raise NameNotFoundError(f"{path}: no group {inside!r}", path=path)
            dataset = StoreBackendEntrypoint().open_dataset(
                store,
                mask_and_scale=mask_and_scale,
                decode_times=decode_times,
                concat_characters=concat_characters,
                decode_coords=decode_coords,
                drop_variables=drop_variables,
                use_cftime=use_cftime,
                decode_timedelta=decode_timedelta,
            )
        except BaseException:
            manager.close()
            raise
        return dataset

    def open_groups_as_dict(
        self, filename_or_obj: Any, *, group: str | None = None, **options: Any
    ) -> dict[str, xr.Dataset]:
        """Open all groups that hold arrays, or lie above such; see `xarray.open_groups`."""
        path, inside = _locate(_absolute(filename_or_obj), group)
        format = options.get("format")
        with Manager(Opened, path, format, bool(options.get("follow_symlinks"))).acquire_context() as opened:
            names = [f"{name}/" for name in opened.file.groups]
            names += list(opened.file) if opened.file.format in _GROUPED else []
        prefix = f"{inside}/" if inside else ""
        groups = {""}
        for name in names:
            parts = name[len(prefix) :].split("/")[:-1] if name.startswith(prefix) else []
            groups.update("/".join(parts[:n]) for n in range(len(parts) + 1))
        above = "" if group is None else group.strip("/")
        result = {}
        for place in sorted(groups):
            within = "/".join(part for part in (above, place) if part)
            result["/" + place] = self._open_group(filename_or_obj, within, options)
        return result

    def _open_group(self, path: Any, group: str, options: dict[str, Any]) -> xr.Dataset:
        try:
            return self.open_dataset(path, group=group or None, **options)
        except NameNotFoundError:  # it has only groups
            return xr.Dataset()

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xr.DataTree:
        """Open all groups as a tree; see `xarray.open_datatree`."""
        groups = self.open_groups_as_dict(filename_or_obj, **options)
        tree = xr.DataTree.from_dict(groups)
        for place, dataset in groups.items():
            tree[place].set_close(dataset._close)
        return tree


def _absolute(path: Any) -> str:
    """Give a path that other processes, in other folders, can open."""
    path = os.fsdecode(path)
    return path if "://" in path else os.path.abspath(os.path.expanduser(path))


def _locate(path: str, group: str | None) -> tuple[str, str]:
    """Give the path of a group that is a folder, else the file and the name of the group within."""
    group = (group or "").strip("/")
    if group and os.path.isdir(path):
        return os.path.join(path, *group.split("/")), ""
    return path, group
