"""Changing what is there: regions of variables, and appending to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from .._errors import NotFoundError
from .._open import open as open_file
from .._table import Table
from ._backend import NdfileBackend
from ._encode import Encoded, encode, target_named

_BLOCK = 1 << 26  # bytes of a lazy array that are in memory at once


def slabs(data: Any) -> Iterator[Any]:
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


def update(
    dataset: xr.Dataset,
    path: str,
    format: str | None,
    place: str,
    region: Mapping[str, Any] | str | None,
    append_dim: str | None,
    sync: bool,
) -> None:
    """Write a region, or append: with the encoding that the variables of the file have."""
    with NdfileBackend().open_dataset(path, format=format, group=place or None) as there:
        if region is not None:
            region = _found(dataset, there, region)
        dims = {append_dim} if region is None else set(region)
        chosen = _chosen(dataset, path, dims, region is not None)
        for name in chosen.variables:
            if name not in there.variables:
                raise NotFoundError(f"{path}: no variable {name!r} to write into", path=path)
            chosen[name].encoding = dict(there[name].encoding)
    with open_file(path, "r+", format, sync=sync) as file:
        variables, _ = encode(chosen, target_named(file.format), None)
        if isinstance(file, Table) and region is None:
            file.append({name: compute(variable, ...) for name, variable in variables.items()})
            return
        for name, given in variables.items():
            array = file[f"{place}/{name}" if place else name]
            variable = _ordered(given, array.dims)
            if region is None:
                array.append(compute(variable, ...), variable.dims.index(str(append_dim)))
                continue
            key = tuple(region.get(d, slice(None)) for d in variable.dims)
            for rows in slabs(variable.data) if not isinstance(variable.data, np.ndarray) else (...,):
                array[_within(key, rows)] = compute(variable, rows)


def _chosen(dataset: xr.Dataset, path: str, dims: set[Any], region: bool) -> xr.Dataset:
    """Give the variables that have one of the dimensions; others are left as they are in the file."""
    chosen = dataset[[n for n in dataset.variables if dims & set(dataset[n].dims)]].drop_vars(
        [n for n in dataset.coords if not dims & set(dataset[n].dims)], errors="ignore"
    )
    if not chosen.variables:
        raise ValueError(f"{path}: no variable has a dimension of {sorted(map(str, dims))}")
    if region and len(chosen.data_vars) != len(dataset.data_vars):
        left = sorted(str(n) for n in dataset.data_vars if n not in chosen.data_vars)
        raise ValueError(f"{path}: variables without a dimension of the region: {left}; drop them first")
    return chosen


def _found(dataset: xr.Dataset, there: xr.Dataset, region: Mapping[str, Any] | str) -> dict[str, slice]:
    """Replace "auto" by where the values of the coordinate are in the file."""
    if isinstance(region, str):
        region = dict.fromkeys(map(str, dataset.dims), region)
    found = {}
    for dim, part in region.items():
        if isinstance(part, slice):
            found[dim] = part
            continue
        if part != "auto":
            raise ValueError(f"region: expected a slice or 'auto' for {dim!r}, found {part!r}")
        if dim not in there.variables or dim not in dataset.variables:
            raise KeyError(f"region 'auto': {dim!r} has no coordinate, in the file or in the Dataset")
        wanted = dataset[dim].to_index()
        at = there[dim].to_index().get_indexer(wanted)
        if (at < 0).any():
            value = wanted[int(np.argmax(at < 0))]
            raise KeyError(f"region 'auto': the file has no {dim!r} of {value!r}")
        if (np.diff(at) != 1).any():
            raise ValueError(f"region 'auto': the values of {dim!r} are not consecutive in the file")
        found[dim] = slice(int(at[0]), int(at[-1]) + 1) if len(at) else slice(0, 0)
    return found


def _ordered(variable: Encoded, dims: tuple[str, ...] | None) -> Encoded:
    """Give a variable with its axes as the array in the file has them."""
    if dims is None or dims == variable.dims or set(dims) != set(variable.dims):
        return variable
    axes = [variable.dims.index(d) for d in dims]
    missing = None if variable.missing is None else variable.missing.transpose(axes)
    return variable._replace(dims=tuple(dims), data=variable.data.transpose(axes), missing=missing)


def _within(key: tuple[Any, ...], rows: Any) -> tuple[Any, ...]:
    """Give the part of a region for some of its rows."""
    if rows is Ellipsis:
        return key
    start = key[0].start or 0
    return (slice(start + rows.start, start + rows.stop), *key[1:])
