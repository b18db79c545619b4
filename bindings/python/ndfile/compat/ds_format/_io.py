"""Files: which driver reads and writes which, and folders of them."""

from __future__ import annotations

import csv
import glob
import json
import os
import traceback
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

import ndfile

from . import _hdf5, _netcdf
from ._data import Dataset, checked, copy, dims, escape, meta, texts, validate, var, vars
from ._data import size as size_of
from ._data import type as type_of
from ._ops import merge as merge_all
from ._select import combined, cut, select
from ._times import to_julian


def read(
    filename: Any,
    variables: Any = None,
    sel: Any = None,
    range_: Any = None,
    at: Any = None,
    between: Any = None,
    full: bool = False,
    jd: bool = False,
) -> Dataset:
    """Read a dataset: all variables or those named, and what the selectors select of them (see `select`).

    With `full` also the metadata of the others; with `jd` times become Julian dates.
    """
    checked(filename, "filename", str, bytes, os.PathLike)
    if not isinstance(variables, str):
        texts(variables, "variables", none=True)
    for value, name in ((sel, "sel"), (range_, "range_"), (at, "at"), (between, "between")):
        checked(value, name, dict, None)
    path = os.fsdecode(filename)
    if not os.path.exists(path):
        raise OSError(f"{path}: File does not exist")
    driver = _driver(path, _READERS)
    if driver is None:
        raise OSError(f"{path}: Unknown file format")
    if any(s is not None for s in (range_, at, between)):
        needed = [name for s in (at, between) for name in s or ()]
        # JSON has no sizes of variables that are not read.
        sel = combined(
            read(path, None if driver is _read_json else needed, full=True), sel, range_, at, between
        )
    wanted = [variables] if isinstance(variables, str) else variables
    d: Dataset = driver(path, None if wanted is None else set(wanted), sel, full)
    if jd:
        for name in vars(d):
            to_julian(d, name)
    return d


def write(filename: Any, d: Dataset, **options: Any) -> None:
    """Write a dataset; the extension tells the format. `time_units` and `calendar`: NetCDF and HDF5."""
    checked(filename, "filename", str, bytes, os.PathLike)
    checked(d, "d", dict)
    path = os.fsdecode(filename)
    driver = _driver(path, _WRITERS)
    if driver is None:
        raise ValueError(f"{path}: Unknown file extension")
    validate(d)
    driver(path, d, **options)


def _driver(path: str, drivers: dict[tuple[str, ...], Any]) -> Any:
    return next((driver for endings, driver in drivers.items() if path.endswith(endings)), None)


def readdir(
    dirname: Any,
    variables: Any = None,
    merge: str | None = None,
    warnings: Any = None,
    recursive: bool = False,
    parallel: bool = False,
    executor: Any = None,
    njobs: int | None = None,
    **options: Any,
) -> Any:
    """Read all datasets of a folder in alphabetical order, each with the variable ``filename``.

    With `merge` they are joined along that dimension, with ``n`` (the file) and ``i`` (the index in it). What
    cannot be read is told in the list `warnings`.
    """
    checked(dirname, "dirname", str, bytes, os.PathLike)
    checked(merge, "merge", str, None)
    warnings = [] if warnings is None else warnings
    pattern = os.path.join(glob.escape(os.fsdecode(dirname)), "**" if recursive else "*")
    jobs = [(p, variables, options) for p in sorted(glob.glob(pattern, recursive=recursive))]
    if parallel:
        with executor or ProcessPoolExecutor(njobs or os.cpu_count()) as pool:
            results = list(pool.map(_read_one, jobs))
    else:
        results = list(map(_read_one, jobs))
    for _, said in results:
        warnings += said
    dd = [d for d, _ in results if d is not None]
    if merge is None:
        return dd
    for n, d in enumerate(dd):
        length = dims(d, size=True)[merge]
        for name, values in (("n", np.full(length, n)), ("i", np.arange(length))):
            var(d, name, values)
            dims(d, name, [merge])
    return merge_all(dd, merge, new="n")


def _read_one(job: tuple[str, Any, dict[str, Any]]) -> tuple[Dataset | None, list[tuple[str, str]]]:
    path, variables, options = job
    if not os.path.isfile(path) or _driver(path, _READERS) is None:
        return None, []
    try:
        d = read(path, variables=variables, **options)
    except Exception as e:  # told, not raised: the others are read nevertheless
        return None, [(f"{path}: {e}", traceback.format_exc())]
    var(d, "filename", path)
    dims(d, "filename", [])
    return d, []


def index(dirname: Any, variables: Any = None, warnings: Any = None, **options: Any) -> list[Dataset]:
    """Read everything in a folder, as `readdir` does, and tell of all that is no dataset."""
    warnings = [] if warnings is None else warnings
    dd = []
    for name in sorted(os.listdir(dirname)):
        path = os.path.join(dirname, name)
        try:
            d = read(path, variables=variables, **options)
        except Exception as e:  # told, not raised
            warnings.append((f"{path}: {e}", traceback.format_exc()))
            continue
        var(d, "filename", path)
        dims(d, "filename", [])
        dd.append(d)
    return dd


def _read_ds(path: str, wanted: Any, sel: Any, full: bool) -> Dataset:
    d: Dataset = {".": {}}
    with ndfile.open(path, format="ds") as f:
        about = {escape(name): dict(f[name].extra) for name in f}
        d["."] = {**about, ".": {escape(k): v for k, v in f.attrs.items()}}
        for name in f:
            if wanted is not None and name not in wanted:
                continue
            own, data = about[escape(name)], None
            if own.get(".size") is not None and f[name].size:
                data = f[name].read()
                if sel:
                    data, own[".dims"] = cut(data, dims(d, name), sel)
            d[escape(name)] = data[()] if isinstance(data, np.ndarray) and data.ndim == 0 else data
    return d


def _write_ds(path: str, d: Dataset) -> None:
    arrays, names, extra = {}, {}, {}
    for name in vars(d):
        data = var(d, name)
        about = dict(meta(d, name))
        names[name] = list(dims(d, name)) if ".dims" in about else None
        if data is None:  # no elements, which read back as none
            data = np.zeros([0] * max(1, len(names[name] or [])))
        about.pop(".size", None)
        arrays[name] = _texts(np.ma.asanyarray(data))
        extra[name] = json.loads(json.dumps(about, default=_plain))
    attrs = json.loads(json.dumps(meta(d, ""), default=_plain))
    ndfile.save(path, arrays, format="ds", attrs=attrs, extra=extra)


def _texts(data: Any) -> Any:
    """Make texts of fixed width objects, without a mask where nothing is missing."""
    if data.dtype.kind in "US":
        data = data.astype(object)
    return data if np.ma.is_masked(data) else np.asarray(data)


def _plain(x: Any) -> Any:
    """Give what JSON can hold."""
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, np.ndarray):
        return x.tolist()
    raise TypeError(f"{type(x).__name__} cannot be stored")


def _read_json(path: str, wanted: Any, sel: Any, full: bool) -> Dataset:
    with open(path) as f:
        d: Dataset = json.load(f)
    for name in vars(d):
        if wanted is not None and name not in wanted:
            del d[escape(name)]
        elif isinstance(data := var(d, name), list):
            var(d, name, np.array(data))
    if sel:
        select(d, sel)
    return d


def _write_json(path: str, d: Dataset) -> None:
    made = copy(d)
    for name in vars(made):
        if isinstance(data := var(made, name), (np.ndarray, np.generic)):
            made[escape(name)] = data.tolist()
    with open(path, "w") as f:
        json.dump(made, f, default=_plain)


def _cell(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or None


def _separator(path: str) -> str:
    return "\t" if path.endswith((".tsv", ".tab")) else ","


def _read_csv(path: str, wanted: Any, sel: Any, full: bool) -> Dataset:
    with open(path, newline="") as f:
        rows = list(csv.reader(f, delimiter=_separator(path)))
    d: Dataset = {}
    for i, name in enumerate(rows[0] if rows else []):
        var(d, name, [_cell(row[i]) if i < len(row) else None for row in rows[1:]])
        about = {".dims": ["i"], ".type": type_of(d, name), ".size": size_of(d, name)}
        if wanted is not None and name not in wanted:
            del d[escape(name)]
            if not full:
                continue
        meta(d, name, about)
    validate(d)
    if sel:
        select(d, sel)
    return d


def _write_csv(path: str, d: Dataset) -> None:
    columns = {name: var(d, name) for name in vars(d)}
    for name, data in columns.items():
        if data is not None and data.ndim > 1:
            raise ValueError(f"{name}: variable has more than one dimension (not supported in CSV)")
    if len({len(c) for c in columns.values()}) > 1:
        raise ValueError("variables have different size (not supported in CSV)")
    with open(path, "w", newline="") as f:
        out = csv.writer(f, delimiter=_separator(path))
        if columns:
            out.writerow(columns)
        for row in zip(*columns.values()):
            out.writerow(["" if x is np.ma.masked else x for x in row])


_TABLES = (".csv", ".tsv", ".tab")
_HDF5 = (".h5", ".hdf5", ".he5", ".hdf")
_READERS = {
    _TABLES: _read_csv,
    (".ds",): _read_ds,
    _HDF5: _hdf5.read,
    (".json",): _read_json,
    (".nc", ".nc4", ".nc3", ".netcdf"): _netcdf.read,
}
_WRITERS = {
    _TABLES: _write_csv,
    (".ds",): _write_ds,
    _HDF5: _hdf5.write,
    (".json",): _write_json,
    (".nc", ".nc4", ".netcdf"): _netcdf.write,
}
