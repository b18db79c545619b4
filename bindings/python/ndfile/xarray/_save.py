"""Saving: from a Dataset to a file, a group, a region of one."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from .._elements import as_array
from .._errors import ArgumentError, FormatError, NotFoundError
from .._file import File
from .._info import formats
from .._open import open as open_file
from .._table import Table
from ._backend import NdfileBackend, _absolute
from ._encode import Encoded, Target, encode, target_named

_BLOCK = 1 << 26  # bytes of a lazy array that are in memory at once
_SINGLE = ("rawarray", "npy", "zarr0")


def save(
    dataset: xr.Dataset,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    mode: str = "w",
    encoding: Mapping[Hashable, Mapping[str, Any]] | None = None,
    region: Mapping[str, slice] | None = None,
    append_dim: str | None = None,
    commit: str = "atomic",
    sync: bool = False,
) -> None:
    """Write a Dataset; ``ds.ndfile.save(path)`` does the same.

    Attributes, names of axes, coordinates and CF encodings are stored as `xarray.Dataset.to_netcdf` stores
    them, dates as numbers with units. Opened again by the engine "ndfile" it is the same Dataset.

    Parameters
    ----------
    dataset : xarray.Dataset
        Dask arrays are computed block by block.
    path : str or os.PathLike
        Where to.
    format : str, optional
        Name of the format, see `ndfile.formats`. Default: by the extension; ``.zarr`` is zarr3. Formats of
        one array (rawarray, npy, zarr0) take a Dataset of one variable.
    mode : {"w", "x", "a"}, default "w"
        In place of an older file; where nothing exists; or beside the other variables of an existing file
        (which is then written anew, where the format cannot change in place).
    encoding : mapping of name to mapping, optional
        Over the variables' own encoding: CF's keys (``dtype``, ``_FillValue``, ``scale_factor``, ``units``,
        ...), ``masked``, and ``chunks``, ``shards``, ``compression``, ``codecs``, ``fill_value`` as for
        `ndfile.File.create`.
    region : mapping of dimension to slice, optional
        Write into this part of the variables that are there; all must have one of the dimensions.
    append_dim : str, optional
        Write behind what is there, along this dimension; variables without it are left as they are.
    commit, sync
        As for `ndfile.open`.

    Raises
    ------
    MaskedError
        NaN in a variable that is stored as integers, in a format without masks: give ``_FillValue``.
    ValueNotRepresentableError
        A number does not fit the integers that it is to be stored as (a ValueError).
    LossError, NotSupportedError, DTypeError
        The format has no place for something.

    Notes
    -----
    NaN among integers (by ``encoding["dtype"]``, or where they were read from a masked array) becomes a mask
    in formats that have masks; so does what equals ``_FillValue``. NaN among floats stays NaN, unless
    ``encoding["masked"]`` is true, as it is of what was read from a masked array.
    """
    if mode not in ("w", "x", "a"):
        raise ArgumentError(f"mode: expected 'w', 'x' or 'a', found {mode!r}")
    if region is not None and append_dim is not None:
        raise ArgumentError("region and append_dim: only one of them can be given")
    path = _absolute(path)
    if region is not None or append_dim is not None:
        _update(dataset, path, format, region, append_dim, sync)
        return
    if mode == "a" and os.path.exists(path):
        _add(dataset, path, format, encoding, commit, sync)
        return
    target = target_of(path, format)
    variables, attrs = encode(dataset, target, encoding)
    with open_file(
        path, "x" if mode == "x" else "w", target.format, attrs=attrs or None, commit=commit, sync=sync
    ) as file:
        _write_all(file, variables, target)


def target_of(path: str, format: str | None) -> Target:
    """Find the format to write by its name or by the extension."""
    name = format
    if name is None:
        extension = os.path.splitext(path.rstrip("/"))[1]
        names = [f["name"] for f in formats() if extension and extension in f["extensions"]]
        if not names:
            raise FormatError(f"{path}: the extension does not tell the format; give format=", path=path)
        name = "zarr3" if "zarr3" in names else str(names[0])
    return target_named(name)


def _write_all(file: File, variables: Mapping[str, Encoded], target: Target) -> None:
    if target.format in _SINGLE:
        if len(variables) != 1:
            raise ArgumentError(
                f"{file.path}: {target.format} holds one array, found the variables {list(variables)}"
            )
        variables = {"": next(iter(variables.values()))}
    for name, variable in variables.items():
        write(file, name, variable, target)


def write(file: File, name: str, variable: Encoded, target: Target) -> None:
    """Add a variable to a file."""
    dims = list(variable.dims) if target.can("dims") else None
    if isinstance(variable.data, np.ndarray):
        data = variable.data
        if variable.missing is not None and np.any(variable.missing):
            data = np.ma.MaskedArray(as_array(data, name), mask=variable.missing)
        elif data.dtype.kind == "O" and not data.size:
            array = file.create(name, data.shape, str, dims, variable.attrs, **variable.storage)
            array[...] = data
            return
        file.add(name, data, dims, variable.attrs, **variable.storage)
        return
    data, dtype = variable.data, variable.data.dtype
    masked = variable.missing is not None
    array = file.create(
        name,
        data.shape,
        str if dtype.kind == "O" else dtype,
        dims,
        variable.attrs,
        masked,
        **variable.storage,
    )
    for rows in _slabs(data):
        array[rows] = compute(variable, rows)


def _slabs(data: Any) -> Iterator[Any]:
    """Cut the first axis of a Dask array at its chunks, some of them at a time."""
    if not data.ndim:
        yield ...
        return
    row = max(1, data.nbytes // max(1, data.shape[0]))
    first = end = 0
    for n in data.chunks[0]:
        if end > first and (end + n - first) * row > _BLOCK:
            yield slice(first, end)
            first = end
        end += n
    if end > first:
        yield slice(first, end)


def compute(variable: Encoded, key: Any) -> Any:
    """Give a part of a variable in memory."""
    data, missing = variable.data[key], None if variable.missing is None else variable.missing[key]
    if not isinstance(data, (np.ndarray, np.generic)):
        from dask.base import compute as of_dask

        data, missing = of_dask(data, missing)
    return data if missing is None or not np.any(missing) else np.ma.MaskedArray(data, mask=missing)


def _add(dataset: xr.Dataset, path: str, format: str | None, encoding: Any, commit: str, sync: bool) -> None:
    """Add variables to a file, or put them in place of its own."""
    with open_file(path, format=format) as old:
        target = target_named(old.format)
        variables, attrs = encode(dataset, target, encoding)
        sizes: dict[str, int] = {}
        for array in old.values():
            sizes.update(zip(array.dims or (), array.shape or ()))
        for name, variable in variables.items():
            for dim, n in zip(variable.dims, variable.data.shape):
                if sizes.get(dim, n) != n:
                    raise ValueError(
                        f"{path}: Unable to update size for existing dimension {dim!r}: {sizes[dim]} in the "
                        f"file, {n} in the variable {name!r}"
                    )
        if not target.can("update"):
            own = {**old.attrs, **attrs}
            with open_file(path, "w", target.format, attrs=own, commit=commit, sync=sync) as new:
                for name, array in old.items():
                    if name not in variables:
                        new.add(name, array)
                _write_all(new, variables, target)
            return
    with open_file(path, "r+", target.format, sync=sync) as file:
        if attrs:
            file.attrs.update(attrs)
        for name, variable in variables.items():
            if name in file:
                file[name].attrs.update(variable.attrs)
                file[name][...] = compute(variable, ...)
            else:
                write(file, name, variable, target)


def _update(
    dataset: xr.Dataset,
    path: str,
    format: str | None,
    region: Mapping[str, slice] | None,
    append_dim: str | None,
    sync: bool,
) -> None:
    """Write a region, or append: with the encoding that the variables of the file have."""
    there = NdfileBackend().open_dataset(path, format=format)
    named = set(there.variables)
    dims = {append_dim} if region is None else set(region)
    chosen = dataset[[n for n in dataset.variables if dims & set(dataset[n].dims)]].drop_vars(
        [n for n in dataset.coords if not dims & set(dataset[n].dims)], errors="ignore"
    )
    if not chosen.variables:
        raise ValueError(f"{path}: no variable has a dimension of {sorted(map(str, dims))}")
    if region is not None and len(chosen.data_vars) != len(dataset.data_vars):
        left = sorted(str(n) for n in dataset.data_vars if n not in chosen.data_vars)
        raise ValueError(f"{path}: variables without a dimension of the region: {left}; drop them first")
    for name in chosen.variables:
        if name not in named:
            raise NotFoundError(f"{path}: no variable {name!r} to write into", path=path)
        chosen[name].encoding = dict(there[name].encoding)
    there.close()
    with open_file(path, "r+", format, sync=sync) as file:
        target = target_named(file.format)
        variables, _ = encode(chosen, target, None)
        if isinstance(file, Table) and region is None:
            file.append({name: compute(variable, ...) for name, variable in variables.items()})
            return
        for name, variable in variables.items():
            array = file[name]
            if region is not None:
                key = tuple(region.get(d, slice(None)) for d in variable.dims)
                for rows in _slabs(variable.data) if not isinstance(variable.data, np.ndarray) else (...,):
                    array[_within(key, rows)] = compute(variable, rows)
                continue
            axis = variable.dims.index(str(append_dim))
            array.append(compute(variable, ...), axis)


def _within(key: tuple[Any, ...], rows: Any) -> tuple[Any, ...]:
    """Give the part of a region for some of its rows."""
    if rows is Ellipsis:
        return key
    start = key[0].start or 0
    return (slice(start + rows.start, start + rows.stop), *key[1:])


@xr.register_dataset_accessor("ndfile")
class DatasetAccessor:
    """``ds.ndfile``: what a Dataset can do with files of this library; there after `import ndfile.xarray`."""

    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    def save(self, path: str | os.PathLike[str], format: str | None = None, **options: Any) -> None:
        """Write the Dataset, see `ndfile.xarray.save`."""
        save(self._dataset, path, format, **options)
