"""Operations on datasets: merge, split, group, apply, rename and remove."""

from __future__ import annotations

import copy as _copy
import itertools
from typing import Any, Callable

import numpy as np

from ._data import _DTYPES, Dataset, attr, attrs, checked, dim, dims, escape, meta, require, texts, var, vars
from ._data import size as size_of
from ._data import type as type_of
from ._times import to_julian


def merge(dd: Any, dim: str, new: str | None = None, variables: Any = None, jd: bool = True) -> Dataset:
    """Join datasets along a dimension, which is made where none of them has it.

    Variables without it are taken from the first dataset, or, with `new`, joined along the new dimension of
    that name. Times of different units become Julian dates, unless `jd` is false.
    """
    checked(dd, "dd", list, tuple)
    checked(dim, "dim", str)
    checked(new, "new", str, None)
    texts(variables, "variables", none=True)
    names = sorted({name for d in dd for name in vars(d)})
    fresh = dim not in {n for d in dd for n in dims(d)}
    made: Dataset = {".": {".": {}}}
    for name in names:
        own = next(dims(d, name) for d in dd if name in vars(d))
        wanted = variables is None or name in variables
        if (fresh and wanted) or dim in own:
            data, about = _merged(dd, name, dim, jd)
        elif new is not None and wanted:
            data, about = _merged(dd, name, new, jd)
        else:
            data, about = var(dd[0], name), meta(dd[0], name)
        var(made, name, data)
        meta(made, name, about)
    for d in dd:
        made["."]["."].update(meta(d, ""))
    return made


def _merged(dd: Any, name: str, along: str, jd: bool) -> tuple[Any, dict[str, Any]]:
    """Join one variable."""
    first = next(d for d in dd if name in vars(d))
    names, shape = dims(first, name), size_of(first, name) or []
    axis = names.index(along) if along in names else None
    if jd and len({attrs(d, name).get("units") for d in dd}) > 1:
        dd = [_with_julian(d, name) for d in dd]
    lengths = [1 if axis is None else dim(d, along) for d in dd]
    total = sum(lengths)
    full = [total, *shape] if axis is None else [total if i == axis else n for i, n in enumerate(shape)]
    masked_all: Any = np.ma.masked_all
    out = masked_all(full, _DTYPES[type_of(first, name) or "float64"])
    if out.dtype != object:
        out.data[...] = 0
    about: dict[str, Any] = {}
    at = 0
    for d, length in zip(dd, lengths):
        if name in vars(d):
            own = size_of(d, name) or []
            if dims(d, name) != names:
                raise ValueError(f'merge: incompatible dimensions in variable "{name}"')
            if len(own) != len(shape) or any(
                i != axis and n != m for i, (n, m) in enumerate(zip(own, shape))
            ):
                raise ValueError(f'merge: incompatible size in variable "{name}"')
            place: tuple[Any, ...] = (
                (at,) if axis is None else (slice(None),) * axis + (slice(at, at + length),)
            )
            data = var(d, name)
            out[place] = np.ma.masked if data is None else data
            about.update(meta(d, name))
        at += length
    about[".dims"] = [along, *names] if axis is None else names
    return out, about


def _with_julian(d: Dataset, name: str) -> Dataset:
    made = dict(d)
    if name in vars(d):
        made["."] = {**meta(d), escape(name): dict(meta(d, name))}
        to_julian(made, name)
    return made


def split(d: Dataset, dims: Any) -> list[Dataset]:
    """Cut a dataset along one or several dimensions: one dataset for each index."""
    checked(d, "d", dict)
    if isinstance(dims, str):
        dims = [dims]
    texts(dims, "dims")
    places = list(itertools.product(*(range(max(1, dim(d, name))) for name in dims)))
    parts: list[Dataset] = [{} for _ in places]
    for name in vars(d):
        data, own = var(d, name), _dims(d, name)
        about = _copy.deepcopy(meta(d, name, create=True))
        for part, place in zip(parts, places):
            key = tuple(place[dims.index(n)] if n in dims else slice(None) for n in own)
            piece = _copy.copy(data[key])
            var(part, name, piece)
            if any(n in dims for n in own):
                about = {**about, ".dims": [n for n in own if n not in dims], ".size": list(np.shape(piece))}
            meta(part, name, _copy.deepcopy(about))
    for part in parts:
        meta(part, "", _copy.deepcopy(meta(d, "", create=True)))
    return parts


_dims = dims


def group_by(d: Dataset, dim: str, group: Any, func: Callable[..., Any]) -> None:
    """Replace what belongs to equal values of `group` along a dimension by ``func(data, axis=...)`` of it."""
    checked(d, "d", dict)
    checked(dim, "dim", str)
    checked(group, "group", np.ndarray, list, tuple)
    if not callable(func):
        raise TypeError("func must be callable")
    keys = np.asarray(group)
    groups = sorted(set(keys.tolist()))
    for name in vars(d):
        names, data = dims(d, name), var(d, name)
        if dim not in names or data is None:
            continue
        axis = names.index(dim)
        made = np.empty([len(groups) if i == axis else n for i, n in enumerate(data.shape)], data.dtype)
        for i, key in enumerate(groups):
            place = (slice(None),) * axis
            made[(*place, i)] = func(data[(*place, keys == key)], axis=axis)
        var(d, name, made)


def apply(
    d: Dataset,
    func: Callable[..., Any],
    dims: Any = None,
    newdims: Any = None,
    vars: Any = None,
    with_sel: bool = False,
) -> None:
    """Replace variables by what a function makes of them, along dimensions or as a whole.

    With dimensions, the function gets a subset for each index of the other ones, and with `with_sel` also
    those indexes as a dict.
    """
    checked(d, "d", dict)
    if not callable(func):
        raise TypeError("func must be callable")
    dims = [dims] if isinstance(dims, str) else dims
    newdims = [newdims] if isinstance(newdims, str) else newdims
    for name in _vars(d) if vars is None else vars:
        if require(d, "var", name):
            _apply(d, name, func, dims, newdims, with_sel)


_vars = vars


def _apply(d: Dataset, name: str, func: Callable[..., Any], along: Any, newdims: Any, with_sel: bool) -> None:
    names, data = dims(d, name), var(d, name)
    if along is None:
        made = func(data)
        var(d, name, made)
        if newdims is not None:
            dims(d, name, newdims)
        elif np.ndim(made) != len(names):
            dims(d, name, names[: np.ndim(made)])
        return
    if any(n not in names for n in along):
        return
    inside = [names.index(n) for n in along]
    outside = [i for i in range(data.ndim) if i not in inside]
    parts = {}
    for at in np.ndindex(*(data.shape[i] for i in outside)):
        key = tuple(slice(None) if i in inside else at[outside.index(i)] for i in range(data.ndim))
        sel = dict(zip((names[i] for i in outside), at))
        parts[at] = np.asanyarray(func(data[key], sel) if with_sel else func(data[key]))
    rank = next(iter(parts.values())).ndim
    fresh = list(along if newdims is None else newdims)[:rank]
    # New axes take the places of the old ones, those beyond them follow the last.
    order: list[Any] = []
    for i in range(data.ndim):
        if i in outside:
            order.append(outside.index(i))
        elif (k := sorted(inside).index(i)) < rank:
            order.append(("new", k))
        if i == max(inside):
            order.extend(("new", k) for k in range(len(inside), rank))
    first = next(iter(parts.values()))
    lead = [data.shape[i] for i in outside]
    stacked = np.ma.empty if any(np.ma.is_masked(p) for p in parts.values()) else np.empty
    made = stacked([*lead, *first.shape], data.dtype)
    for at, part in parts.items():
        made[at] = part
    axes = [len(outside) + o[1] if isinstance(o, tuple) else o for o in order]
    var(d, name, np.transpose(made, axes))
    dims(d, name, [fresh[o[1]] if isinstance(o, tuple) else names[outside[o]] for o in order])


def rm(d: Dataset, var: str) -> None:
    """Remove a variable with its metadata."""
    checked(d, "d", dict)
    checked(var, "var", str)
    d.pop(escape(var), None)
    meta(d).pop(escape(var), None)


def rm_attr(d: Dataset, attr: str, var: str | None = None) -> None:
    """Remove an attribute of the dataset, or of a variable."""
    checked(d, "d", dict)
    checked(attr, "attr", str)
    checked(var, "var", str, None)
    if require(d, "attr", attr, var):
        del meta(d, var or "")[escape(attr)]


def rename(d: Dataset, old: str, new: str | None) -> None:
    """Rename a variable, and a dimension of the same name; None removes it."""
    rename_m(d, {old: new})


def rename_m(d: Dataset, mapping: Any) -> None:
    """Rename variables, and dimensions of the same names; names may be swapped."""
    checked(d, "d", dict)
    checked(mapping, "mapping", dict)
    kept = {}
    for old in mapping:
        if require(d, "var", old):
            kept[old] = (var(d, old), meta(d, old))
            rm(d, old)
    for old, (data, about) in kept.items():
        if mapping[old] is not None:
            var(d, mapping[old], data)
            meta(d, mapping[old], about)
    rename_dim_m(d, {old: new for old, new in mapping.items() if new is not None})


def rename_attr(d: Dataset, old: str, new: str | None, var: str | None = None) -> None:
    """Rename an attribute; None removes it."""
    rename_attr_m(d, {old: new}, var)


def rename_attr_m(d: Dataset, mapping: Any, var: str | None = None) -> None:
    """Rename attributes; names may be swapped."""
    checked(d, "d", dict)
    checked(mapping, "mapping", dict)
    checked(var, "var", str, None)
    kept = {}
    for old in mapping:
        if require(d, "attr", old, var):
            kept[old] = attr(d, old, var=var)
            rm_attr(d, old, var)
    for old, value in kept.items():
        if mapping[old] is not None:
            attr(d, mapping[old], value, var=var)


def rename_dim(d: Dataset, old: str, new: str) -> None:
    """Rename a dimension."""
    rename_dim_m(d, {old: new})


def rename_dim_m(d: Dataset, mapping: Any) -> None:
    """Rename dimensions; names may be swapped."""
    checked(d, "d", dict)
    checked(mapping, "mapping", dict)
    for name in vars(d, full=True):
        names = dims(d, name)
        if any(n in mapping for n in names):
            dims(d, name, [mapping.get(n, n) for n in names])
