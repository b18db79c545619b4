"""bcolz stores: ndfile against bcolz-zipline, both with their defaults (lz4, level 5, byte shuffle).

ndfile writes atomically (a temporary folder and a rename), which bcolz does not have. Both read what ndfile wrote.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import ndfile
import numpy as np
from case import Case, Prepare, Work
from values import check_all, walk

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import bcolz

ROWS = 400  # of a column, in one read
BATCH = 100  # items of one append


class Ndfile:
    """ndfile."""

    @staticmethod
    def write(path: str, a: np.ndarray) -> None:
        ndfile.save(path, a)

    @staticmethod
    def read(path: str) -> np.ndarray:
        with ndfile.open(path) as f:
            return f.array[...]

    @staticmethod
    def read_column(path: str, name: str) -> np.ndarray:
        with ndfile.open(path) as f:
            return f[name][:]

    @staticmethod
    def array(path: str) -> ndfile.Array:
        return ndfile.open(path).array

    @staticmethod
    def columns(path: str) -> ndfile.File:
        return ndfile.open(path)

    @staticmethod
    def append(path: str, batch: np.ndarray, times: int) -> None:
        with ndfile.open(path, "w") as f:
            array = f.create("", 0, batch.dtype, expected_rows=times * len(batch))
            for _ in range(times):
                array.append(batch)

    @staticmethod
    def open(path: str) -> None:
        ndfile.open(path).close()

    @staticmethod
    def open_item(path: str) -> Any:
        with ndfile.open(path) as f:
            return f.array[7]


class Bcolz:
    """bcolz-zipline."""

    @staticmethod
    def write(path: str, a: np.ndarray) -> None:
        bcolz.carray(a, rootdir=path, mode="w").flush()

    @staticmethod
    def read(path: str) -> np.ndarray:
        return bcolz.open(path, mode="r")[:]

    @staticmethod
    def read_column(path: str, name: str) -> np.ndarray:
        return bcolz.open(path, mode="r")[name][:]

    @staticmethod
    def array(path: str) -> bcolz.carray:
        return bcolz.open(path, mode="r")

    @staticmethod
    def columns(path: str) -> bcolz.ctable:
        return bcolz.open(path, mode="r")

    @staticmethod
    def append(path: str, batch: np.ndarray, times: int) -> None:
        array = bcolz.zeros(0, dtype=batch.dtype, expectedlen=times * len(batch), rootdir=path, mode="w")
        for _ in range(times):
            array.append(batch)
        array.flush()

    @staticmethod
    def open(path: str) -> None:
        bcolz.open(path, mode="r")

    @staticmethod
    def open_item(path: str) -> Any:
        return bcolz.open(path, mode="r")[7]


CONTENDERS = {"ndfile": Ndfile, "bcolz-zipline": Bcolz}
Contender = type[Ndfile] | type[Bcolz]


def stored(case: Case, folder: str, content: Any, suffix: str = "") -> str:
    """Give the path of a store of this case, which is written where it is not there yet."""
    path = f"{folder}/{case.file_name}{suffix}.bcolz"
    if not os.path.exists(path):
        ndfile.save(path, content)
    return path


def write(contender: Contender, case: Case, folder: str, count: int) -> Work:
    a = walk(case)
    paths = [f"{folder}/{i:06}.bcolz" for i in range(count)]

    def run() -> None:
        for path in paths:
            contender.write(path, a)

    return Work(run)


def read(contender: Contender, case: Case, folder: str, count: int) -> Work:
    a = walk(case)
    path = stored(case, folder, a)

    def run() -> np.ndarray:
        for _ in range(count - 1):
            contender.read(path)
        return contender.read(path)

    return Work(run, lambda last: check_all([last], [a]))


def check_items(found: list, wanted: np.ndarray) -> None:
    """Compare single items, which bcolz gives as int."""
    check_all([np.array(found, wanted.dtype)], [wanted])


def items(where: Callable, contender: Contender, case: Case, folder: str, count: int) -> Work:
    a = walk(case)
    array = contender.array(stored(case, folder, a))
    places = where(np.random.default_rng(2), len(a), count).tolist()
    return Work(lambda: [array[i] for i in places], lambda found: check_items(found, a[places]))


def anywhere(rng: np.random.Generator, length: int, count: int) -> np.ndarray:
    return rng.integers(0, length, count)


def near(rng: np.random.Generator, length: int, count: int) -> np.ndarray:
    """Give places of which each is at most 20 from the last."""
    return (length // 2 + np.cumsum(rng.integers(-20, 21, count))).clip(0, length - 1)


def append(contender: Contender, case: Case, folder: str, count: int) -> Work:
    """Append small batches of the case's dtype to an empty store."""
    batch = np.arange(BATCH, dtype=case.dtype)
    path = f"{folder}/appended.bcolz"

    def check(_: None) -> None:
        check_all([ndfile.read(path)], [np.tile(batch, count)])

    return Work(lambda: contender.append(path, batch, count), check)


def table(case: Case, folder: str) -> tuple[str, dict[str, np.ndarray]]:
    """Give the path of a table and its columns."""
    content = {name: walk(case, seed) for seed, name in enumerate(case.names)}
    return stored(case, folder, content), content


def table_rows(contender: Contender, case: Case, folder: str, count: int) -> Work:
    path, content = table(case, folder)
    opened = contender.columns(path)
    columns = {name: opened[name] for name in content}
    rng = np.random.default_rng(2)
    names = rng.choice(case.names, count).tolist()
    starts = rng.integers(0, case.shape[0] - ROWS, count).tolist()
    places = list(zip(names, starts))
    return Work(
        lambda: [columns[name][at : at + ROWS] for name, at in places],
        lambda found: check_all(found, [content[name][at : at + ROWS] for name, at in places]),
    )


def table_column(contender: Contender, case: Case, folder: str, count: int) -> Work:
    path, content = table(case, folder)
    name = case.names[case.variables // 2]

    def run() -> np.ndarray:
        for _ in range(count - 1):
            contender.read_column(path, name)
        return contender.read_column(path, name)

    return Work(run, lambda last: check_all([last], [content[name]]))


def small_stores(case: Case, folder: str, count: int) -> list[str]:
    a = walk(case)
    return [stored(case, folder, a, f"-{i:06}") for i in range(count)]


def open_small(contender: Contender, case: Case, folder: str, count: int) -> Work:
    paths = small_stores(case, folder, count)

    def run() -> None:
        for path in paths:
            contender.open(path)

    return Work(run)


def open_item(contender: Contender, case: Case, folder: str, count: int) -> Work:
    paths = small_stores(case, folder, count)
    wanted = walk(case)[np.full(count, 7)]
    return Work(
        lambda: [contender.open_item(path) for path in paths], lambda found: check_items(found, wanted)
    )


OPERATIONS: dict[tuple[str, str], Prepare] = {
    (name, f"bcolz-{operation}"): partial(prepare, contender)
    for name, contender in CONTENDERS.items()
    for operation, prepare in {
        "write": write,
        "read": read,
        "item-anywhere": partial(items, anywhere),
        "item-near": partial(items, near),
        "append": append,
        "table-rows": table_rows,
        "table-column": table_column,
        "open": open_small,
        "open-item": open_item,
    }.items()
}
