"""A program of a user who checks types: mypy --strict and pyright find nothing in it. It also runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

import ndfile

Matrix = npt.NDArray[np.float32]


def blocks(path: Path) -> Iterator[Matrix]:
    with ndfile.open(path) as f:
        array = f.array
        rows, columns = array.shape
        print(f.format, rows * columns * array.dtype.itemsize, array.chunks or "whole")
        yield from array.iterblocks(100)


def first(paths: list[Path], name: str) -> Matrix | None:
    for path in paths:
        try:
            with ndfile.open(path) as f:
                return f[name][0:10]
        except ndfile.NameNotFoundError:
            continue
        except (ndfile.NotFoundError, ndfile.AccessError) as e:
            print(e.path, e.errno, e.message)
        except ndfile.NdfileError as e:
            raise SystemExit(f"{e.name}: {e}") from e
    return None


def create(path: Path) -> None:
    with ndfile.open(path, "w", "bcolz") as t:
        t.append({"price": np.array([9.5, 10.5, 11.0]), "n": [1, 2, 3]})


def add_rows(path: Path, rows: dict[str, npt.NDArray[np.float64]]) -> int:
    with ndfile.open_table(path, "r+") as t:
        t.append(rows)
        t.attrs["rows"] = t.nrows
        row: np.void = t[-1]
        part: npt.NDArray[np.void] = t[1:3]
        print(row["n"], part.shape, t["price"].shape[0], [c.dtype.kind for c in t.values()])
        return int(t.where([("price", ">=", 10.5)])["price"].size)


def change(path: Path) -> float:
    with ndfile.open_array(path, "r+") as v:
        v[0, :] = 2
        return float(v[0, 1])


def names(path: Path) -> dict[str, tuple[int, ...]]:
    with ndfile.open_dataset(path) as f:
        return {name: v.shape for name, v in f.items()}


def values(path: Path) -> tuple[int, ...]:
    with ndfile.open(path, decode=True) as f:
        total: Matrix = f["a"][...] + ndfile.read(path, "a", decode=True)
        return f["a"].shape + total.shape


def some(path: Path) -> Matrix:
    both = ndfile.read(path, ["a", "b"])
    total: Matrix = both["a"] + both["b"]
    return ndfile.read(path, "a") * total


def report(path: Path) -> list[str]:
    info = ndfile.info(path)
    bad = [f"{p.path}: {p.message}" for p in ndfile.verify(path) if p.error is not ndfile.CorruptError]
    lost = ndfile.convert(path, path.with_suffix(".ra"), name="a", allow_loss=True)
    return [str(info["format"]), *bad, *(loss.why for loss in lost)]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    ndfile.save(folder / "one.ra", np.ones((250, 4), np.float32))
    ndfile.save(folder / "two.ds", {"a": np.ones(3, np.float32), "b": np.ones(3, np.float32)})
    create(folder / "t.bcolz")
    print(sum(len(block) for block in blocks(folder / "one.ra")))
    print(first([folder / "two.ds", folder / "none.ds"], "x"))
    print(add_rows(folder / "t.bcolz", {"price": np.array([12.0]), "n": np.array([4.0])}))
    ndfile.convert(folder / "one.ra", folder / "one.bcolz")
    print(
        change(folder / "one.bcolz"),
        names(folder / "two.ds"),
        some(folder / "two.ds"),
        values(folder / "two.ds"),
    )
    print(report(folder / "two.ds"))
