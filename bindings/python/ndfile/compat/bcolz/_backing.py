"""Where the elements of a carray are: in NumPy memory, or in a store."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ._params import chunklen_for, cparams
from ._store import Store


class Memory:
    """Rows in an array that has room for more."""

    def __init__(
        self, rows: np.ndarray, dflt: np.ndarray, expectedlen: int | None, chunklen: int | None
    ) -> None:
        self.rows, self.n, self.dflt = rows, len(rows), dflt
        atomsize = max(1, rows.dtype.itemsize * int(np.prod(rows.shape[1:])))
        expected = len(rows) if expectedlen is None else expectedlen
        self.chunklen = chunklen or chunklen_for(expected, atomsize)

    dtype = property(lambda self: self.rows.dtype)
    shape = property(lambda self: (self.n, *self.rows.shape[1:]))
    cbytes = property(lambda self: self.rows[: self.n].nbytes)

    def read(self, rows: Any) -> np.ndarray:
        found: np.ndarray = self.rows[: self.n][rows].copy()
        return found

    def write(self, rows: Any, values: np.ndarray) -> None:
        self.rows[: self.n][rows] = values

    def append(self, values: np.ndarray) -> None:
        need = self.n + len(values)
        if need > len(self.rows):
            self._grow(max(need, 2 * len(self.rows)))
        self.rows[self.n : need] = values
        self.n = need

    def resize(self, n: int) -> None:
        if n > len(self.rows):
            self._grow(n)
        self.rows[self.n : n] = self.dflt
        self.n = n

    def _grow(self, room: int) -> None:
        rows = np.empty((room, *self.rows.shape[1:]), self.rows.dtype)
        rows[: self.n] = self.rows[: self.n]
        self.rows = rows

    def view(self) -> Memory:
        new = Memory.__new__(Memory)
        new.rows, new.n, new.dflt, new.chunklen = self.rows[: self.n], self.n, self.dflt, self.chunklen
        return new

    def flush(self) -> None:
        """Do nothing."""


class Stored:
    """An array of a store: the only one, or a column."""

    def __init__(self, store: Store, column: str | None = None) -> None:
        self.store, self.column = store, column

    def _of(self, file: Any) -> Any:
        return file.array if self.column is None else file[self.column]

    @property
    def array(self) -> Any:
        return self._of(self.store.reading())

    dtype = property(lambda self: self.array.dtype)
    shape = property(lambda self: self.array.shape)
    chunklen = property(lambda self: self.array.chunks[0])
    dflt = property(lambda self: np.array(self.array.fill_value, self.dtype))

    @property
    def cbytes(self) -> int:
        """Bytes of the compressed chunks, as the store says."""
        folder = self.store.path if self.column is None else os.path.join(self.store.path, self.column)
        with open(os.path.join(folder, "meta", "sizes"), encoding="ascii") as f:
            return int(json.load(f)["cbytes"])

    @property
    def cparams(self) -> cparams:
        found = self.array.compression
        return cparams(found.clevel, found.shuffle, found.cname)

    def read(self, rows: Any) -> np.ndarray:
        found: np.ndarray = self.array[rows]
        return found

    def write(self, rows: Any, values: np.ndarray) -> None:
        self._of(self.store.writing())[rows] = values

    def append(self, values: np.ndarray) -> None:
        self._of(self.store.writing()).append(values)

    def resize(self, n: int) -> None:
        array = self._of(self.store.writing())
        array.resize((n, *array.shape[1:]))

    def view(self) -> Stored:
        return self

    def flush(self) -> None:
        self.store.settle()
