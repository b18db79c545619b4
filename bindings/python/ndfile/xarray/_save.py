"""Saving: from a Dataset to a file, a group, a region of one."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from .._copies import copy_groups
from .._elements import as_array
from .._errors import ArgumentError, FormatError, NotSupportedError
from .._file import File
from .._info import formats
from .._open import open as open_file
from ._backend import _absolute
from ._encode import Encoded, Target, encode, target_named
from ._update import compute, slabs, update

_SINGLE = ("rawarray", "npy", "zarr0")


def save(
    dataset: xr.Dataset | xr.DataTree,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    mode: str = "w",
    group: str | None = None,
    encoding: Mapping[Any, Mapping[Any, Any]] | None = None,
    region: Mapping[str, Any] | str | None = None,
    append_dim: str | None = None,
    commit: str = "atomic",
    sync: bool = False,
) -> None:
    """Write a Dataset, or a DataTree of groups; ``ds.ndfile.save(path)`` does the same.

    Attributes, names of axes, coordinates and CF encodings are stored as `xarray.Dataset.to_netcdf` stores
    them, dates as numbers with units. Opened again by the engine "ndfile" it is the same Dataset.

    Parameters
    ----------
    dataset : xarray.Dataset or xarray.DataTree
        Dask arrays are computed block by block. Coordinates that a node has from others of the tree that is
        saved are not stored again.
    path : str or os.PathLike
        Where to.
    format : str, optional
        Name of the format, see `ndfile.formats`. Default: by the extension; ``.zarr`` is zarr3. Formats of
        one array (rawarray, npy, zarr0) take a Dataset of one variable.
    mode : {"w", "x", "a"}, default "w"
        In place of an older file; where nothing exists; or beside the other variables of an existing file
        (which is then written anew, where the format cannot change in place).
    group : str, optional
        The group to write into, such as ``"a/b"``; it is made where it is missing. With mode "w" the file is
        written anew nevertheless. For formats with groups (``"groups"`` in `ndfile.formats`).
    encoding : mapping of name to mapping, optional
        Over the variables' own encoding: CF's keys (``dtype``, ``_FillValue``, ``scale_factor``, ``units``,
        ...), ``masked``, and ``chunks``, ``shards``, ``compression``, ``codecs``, ``fill_value`` as for
        `ndfile.File.create`. Of a tree: such a mapping for the path of each node (``"/a/b"``).
    region : mapping of dimension to slice, or "auto", optional
        Write into this part of the variables that are there; all must have one of the dimensions. "auto", as
        the region or for a dimension, looks for the values of its coordinate in the file.
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
    place = (group or "").strip("/")
    if region is not None or append_dim is not None:
        if isinstance(dataset, xr.DataTree):
            raise ArgumentError("region and append_dim: expected a Dataset, found a DataTree; give group=")
        update(dataset, path, format, place, region, append_dim, sync)
        return
    nodes = nodes_of(dataset, place, encoding)
    if mode == "a" and os.path.exists(path):
        _add(nodes, path, format, commit, sync)
        return
    target = target_of(path, format)
    _check_groups(nodes, target, path)
    encoded = [(node.path, *encode(node.dataset, target, node.encoding)) for node in nodes]
    attrs = next((own for at, _, own in encoded if not at), None)
    with open_file(
        path, "x" if mode == "x" else "w", target.format, attrs=attrs or None, commit=commit, sync=sync
    ) as file:
        for at, variables, own in encoded:
            if at:
                file.create_group(at, own)
            _write_all(file, at, variables, target)


class Node(NamedTuple):
    """A Dataset and its place in a file."""

    path: str  # "" is the root
    dataset: xr.Dataset
    encoding: Mapping[Hashable, Mapping[str, Any]] | None


def nodes_of(dataset: xr.Dataset | xr.DataTree, place: str, encoding: Any) -> list[Node]:
    """Give what is to be written, groups behind those above them."""
    if isinstance(dataset, xr.Dataset):
        return [Node(place, dataset, encoding)]
    subtree = {"" if key == "." else key: node for key, node in dataset.subtree_with_keys}
    given = {str(key).strip("/"): value for key, value in (encoding or {}).items()}
    unknown = set(given) - set(subtree)
    if unknown:
        raise ValueError(f"unexpected encoding group: {sorted(unknown)}; the tree has {sorted(subtree)}")
    return [
        # What is saved without the nodes above it has their coordinates itself.
        Node("/".join(filter(None, (place, key))), node.to_dataset(inherit=not key), given.get(key))
        for key, node in subtree.items()
    ]


def _check_groups(nodes: list[Node], target: Target, path: str) -> None:
    """Refuse groups where there are none."""
    if not target.can("groups") and any(node.path for node in nodes):
        names = [node.path for node in nodes if node.path]
        raise NotSupportedError(f"{path}: {target.format} has no groups, found {names}", path=path)


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


def _write_all(file: File, place: str, variables: Mapping[str, Encoded], target: Target) -> None:
    if target.format in _SINGLE:
        if len(variables) != 1:
            raise ArgumentError(
                f"{file.path}: {target.format} holds one array, found the variables {list(variables)}"
            )
        variables = {"": next(iter(variables.values()))}
    for name, variable in variables.items():
        write(file, f"{place}/{name}" if place else name, variable, target)


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
    for rows in slabs(data):
        array[rows] = compute(variable, rows)


def _add(nodes: list[Node], path: str, format: str | None, commit: str, sync: bool) -> None:
    """Add variables and groups to a file, or put them in place of its own."""
    with open_file(path, format=format) as old:
        target = target_named(old.format)
        _check_groups(nodes, target, path)
        encoded = [(node.path, *encode(node.dataset, target, node.encoding)) for node in nodes]
        for place, variables, _ in encoded:
            _check_sizes(old, place, variables)
        if not target.can("update"):
            _rewrite(old, encoded, target, commit, sync)
            return
    with open_file(path, "r+", target.format, sync=sync) as file:
        for place, variables, attrs in encoded:
            if place and place not in file.groups:
                file.create_group(place, attrs)
            elif attrs:
                (file[place] if place else file).attrs.update(attrs)
            for name, variable in variables.items():
                inside = f"{place}/{name}" if place else name
                if inside in file:
                    file[inside].attrs.update(variable.attrs)
                    file[inside][...] = compute(variable, ...)
                else:
                    write(file, inside, variable, target)


def _check_sizes(file: File, place: str, variables: Mapping[str, Encoded]) -> None:
    """Refuse variables whose dimensions have other lengths in the group of the file."""
    sizes: dict[str, int] = {}
    for name, array in file.items():
        if name.rpartition("/")[0] == place:
            sizes.update(zip(array.dims or (), array.shape or ()))
    for name, variable in variables.items():
        for dim, n in zip(variable.dims, variable.data.shape):
            if sizes.get(dim, n) != n:
                raise ValueError(
                    f"{file.path}: Unable to update size for existing dimension {dim!r}: {sizes[dim]} in the "
                    f"file, {n} in the variable {name!r}"
                )


def _rewrite(old: File, encoded: Any, target: Target, commit: str, sync: bool) -> None:
    """Write a file anew, with the variables that it has besides."""
    replaced = {f"{place}/{name}" if place else name for place, variables, _ in encoded for name in variables}
    own = {place: attrs for place, _, attrs in encoded}
    attrs = {**old.attrs, **own.get("", {})}
    with open_file(old.path, "w", target.format, attrs=attrs, commit=commit, sync=sync) as new:
        copy_groups(old, new)
        for name, array in old.items():
            if name not in replaced:
                new.add(name, array)
        for place, variables, attrs in encoded:
            if place and place not in new.groups:
                new.create_group(place, attrs)
            elif place and attrs:
                new[place].attrs.update(attrs)
            _write_all(new, place, variables, target)


@xr.register_datatree_accessor("ndfile")
@xr.register_dataset_accessor("ndfile")
class DatasetAccessor:
    """``ds.ndfile``: what a Dataset, or a DataTree, can do with files of this library.

    It is there after `import ndfile.xarray`.
    """

    def __init__(self, dataset: xr.Dataset | xr.DataTree) -> None:
        self._dataset = dataset

    def save(self, path: str | os.PathLike[str], format: str | None = None, **options: Any) -> None:
        """Write the Dataset or the tree, see `ndfile.xarray.save`."""
        save(self._dataset, path, format, **options)
