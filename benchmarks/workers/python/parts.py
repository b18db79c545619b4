"""Parts of arrays and what is done element by element: ndfile against NumPy on a mapping, h5py, b2nd, and columns put together.

The names of contenders tell how: numpy is `np.memmap` or columns in memory; syscalls is a bare read and write.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import h5py
import ndfile
import numpy as np
from case import Case, Prepare, Skip, Work
from values import check_all, walk

try:
    import blosc2
except ImportError:  # it is not among what the tests need
    blosc2 = None

Calls = dict[str, Callable[[], Any]]


def flat(case: Case, folder: str) -> Calls:
    """Parts of one array of two axes in a ds file."""
    a = np.random.default_rng(9).standard_normal(case.shape).astype(case.dtype)
    base = f"{folder}/{case.file_name}"
    if not os.path.exists(base + ".ds"):
        ndfile.save(base + ".ds", {"a": a})
        a.tofile(base + ".raw")
        with h5py.File(base + ".h5", "w") as f:
            f["a"] = a
    m = np.memmap(base + ".raw", case.dtype, "r", shape=case.shape)
    y, h = ndfile.open(base + ".ds")["a"], h5py.File(base + ".h5")["a"]
    i, j = np.arange(0, case.shape[0], 9), np.arange(3, case.shape[1], 17)
    k = case.shape[1] // 2
    big = np.empty(case.shape, "f8")
    wide = np.empty((case.shape[0], 2 * case.shape[1]), case.dtype)[:, ::2]
    return {
        "ndfile part-column": lambda: y[:, k],
        "numpy part-column": lambda: np.array(m[:, k]),
        "ndfile part-stride": lambda: y[::3, ::5],
        "numpy part-stride": lambda: np.array(m[::3, ::5]),
        "ndfile part-lists": lambda: y.oindex[i, j],
        "numpy part-lists": lambda: np.array(m[np.ix_(i, j)]),
        "ndfile part-element": lambda: y[7, 8],
        "h5py part-element": lambda: h[7, 8],
        "ndfile part-widen": lambda: y.read(out=big),
        "numpy part-widen": lambda: np.copyto(big, m),
        "ndfile part-strided-out": lambda: y.read(out=wide),
        "numpy part-strided-out": lambda: np.copyto(wide, m),
    }


def chunked(case: Case, folder: str) -> Calls:
    """Ten elements anywhere in chunks of lz4."""
    a = walk(case)
    path = f"{folder}/{case.file_name}.zarr"
    if not os.path.exists(path):
        with ndfile.open(path, "w", format="zarr0") as f:
            f.create("", a.shape, a.dtype, compression="lz4")[...] = a
    x = ndfile.open(path).array
    at = np.random.default_rng(3).integers(0, len(a) - 10, 1 << 16).tolist()

    def ten(y: Any) -> Callable[[], Any]:
        places = iter(at * 100)

        def one() -> Any:
            k = next(places)
            return y[k : k + 10]

        return one

    calls = {"ndfile part-ten": ten(x)}
    if blosc2 is not None:
        blosc2.set_nthreads(1)
        other = f"{folder}/{case.file_name}.b2nd"
        if not os.path.exists(other):
            filters = [blosc2.Filter.SHUFFLE]
            how = dict(codec=blosc2.Codec.LZ4, clevel=5, typesize=a.itemsize, filters=filters, nthreads=1)
            blosc2.asarray(a, urlpath=other, mode="w", cparams=how)
        calls["b2nd part-ten"] = ten(blosc2.open(other, mode="r", mmap_mode="r"))
    return calls


def table(case: Case, folder: str) -> Calls:
    """Conditions and rows of a table of 20 columns; NumPy has the columns as ndfile reads them."""
    n = case.shape[0]
    r = np.random.default_rng(4)
    path = f"{folder}/{case.file_name}.bcolz"
    names = [f"c{i:02}" for i in range(20)]
    if not os.path.exists(path):
        ndfile.save(path, {name: np.cumsum(r.integers(-3, 4, n)).astype(case.dtype) for name in names})
    t = ndfile.open(path)
    bounds = {name: int(np.median(t[name][:])) for name in names}
    terms = [(name, ">", bounds[name]) for name in names]
    a, b, rows = n // 4, n // 2, np.sort(r.choice(n, n // 50, replace=False))
    record = np.dtype([(name, case.dtype) for name in names])

    def where(some: list[tuple[str, str, int]]) -> Any:
        mask = np.ones(n, bool)
        for name, _, bound in some:
            mask &= t[name][:] > bound
        return np.flatnonzero(mask)

    def together() -> np.ndarray:
        out = np.empty(b - a, record)
        for name in names:
            out[name] = t[name][a:b]
        return out

    return {
        "ndfile part-where-1": lambda: t.where_rows(terms[:1]),
        "numpy part-where-1": lambda: where(terms[:1]),
        "ndfile part-where-20": lambda: t.where_rows(terms),
        "numpy part-where-20": lambda: where(terms),
        "ndfile part-rows": lambda: t[a:b],
        "numpy part-rows": together,
        "ndfile part-sorted-rows": lambda: t[names[0]].take(rows),
        "numpy part-sorted-rows": lambda: t[names[0]][:][rows],
    }


def converted(case: Case, folder: str) -> Calls:
    """A whole file into another format, and its bytes into another file."""
    a = np.cumsum(np.random.default_rng(1).standard_normal(case.shape[0])).astype(case.dtype)
    base = f"{folder}/{case.file_name}"
    if not os.path.exists(base + ".ra"):
        ndfile.save(base + ".ds", {"x": a})
        ndfile.save(base + ".ra", a)
    buffer = memoryview(bytearray(1 << 20))

    def convert(source: str, to: str) -> Callable[[], Any]:
        return lambda: ndfile.convert(base + source, base + "-new" + to, overwrite=True)

    def bare() -> None:
        with open(base + ".ra", "rb", 0) as i, open(base + "-new.raw", "wb", 0) as o:
            while n := i.readinto(buffer):
                o.write(buffer[:n])
        os.replace(base + "-new.raw", base + "-old.raw")

    calls: Calls = {}
    for what, source, to in (("ds-ds", ".ds", ".ds"), ("ra-ds", ".ra", ".ds"), ("ra-npy", ".ra", ".npy")):
        calls[f"ndfile convert-{what}"] = convert(source, to)
        calls[f"syscalls convert-{what}"] = bare
    return calls


def prepare(make: Callable[[Case, str], Calls], name: str, case: Case, folder: str, count: int) -> Work:
    """Repeat one call; its last result is compared with that of the other contenders."""
    calls = make(case, folder)
    if name not in calls:
        raise Skip("blosc2 is not installed")
    one, operation = calls[name], name.split()[1]
    one()

    def run() -> Any:
        for _ in range(count - 1):
            one()
        return one()

    def check(found: Any) -> None:
        if operation in ("part-element", "part-column", "part-stride", "part-lists") or "rows" in operation:
            others = [call() for key, call in calls.items() if key.endswith(" " + operation)]
            check_all([np.asarray(found)] * len(others), [np.asarray(o) for o in others])

    return Work(run, check)


def operations(
    make: Callable[[Case, str], Calls], contenders: list[str], what: list[str]
) -> dict[tuple[str, str], Prepare]:
    return {(c, w): partial(prepare, make, f"{c} {w}") for c in contenders for w in what}


OPERATIONS: dict[tuple[str, str], Prepare] = {
    **operations(
        flat,
        ["ndfile", "numpy"],
        ["part-column", "part-stride", "part-lists", "part-widen", "part-strided-out"],
    ),
    **operations(flat, ["ndfile", "h5py"], ["part-element"]),
    **operations(chunked, ["ndfile", "b2nd"], ["part-ten"]),
    **operations(
        table, ["ndfile", "numpy"], ["part-where-1", "part-where-20", "part-rows", "part-sorted-rows"]
    ),
    **operations(converted, ["ndfile", "syscalls"], ["convert-ds-ds", "convert-ra-ds", "convert-ra-npy"]),
}
