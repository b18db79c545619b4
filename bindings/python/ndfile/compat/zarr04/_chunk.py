"""One chunk, in memory or in a file."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import types
from typing import Any

import numpy as np

from ... import blosc

#: ``zarr.defaults``.
defaults = types.SimpleNamespace(
    cname=b"blosclz",
    clevel=5,
    shuffle=1,
    attrpath="__zattr__",
    metapath="__zmeta__",
    datapath="__zdata__",
    datasuffix=".blosc",
)


def normalize_cparams(cname: Any = None, clevel: Any = None, shuffle: Any = None) -> tuple[bytes, int, int]:
    """Give codec, level and filter, the defaults for None; ValueError for what there is not."""
    cname = defaults.cname if cname is None else cname
    name = cname.decode("ascii") if isinstance(cname, bytes) else cname
    if name not in blosc.cnames:
        raise ValueError(f"compressor not available: {name}")
    clevel = int(defaults.clevel if clevel is None else clevel)
    if not 0 <= clevel <= blosc_max_level:
        raise ValueError(f"invalid compression level: {clevel}")
    shuffle = int(defaults.shuffle if shuffle is None else shuffle)
    if shuffle not in (0, 1, 2):
        raise ValueError(f"invalid shuffle: {shuffle}")
    return name.encode("ascii"), clevel, shuffle


blosc_max_level = 9


def normalize_shape(shape: Any) -> tuple[int, ...]:
    """Give a shape as a tuple; an integer stands for one axis."""
    return tuple(int(n) for n in shape) if np.iterable(shape) else (int(shape),)


class Chunk:
    """Compressed elements in memory; without any it is all ``fill_value``."""

    is_synchronized = False

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = None,
        cname: Any = None,
        clevel: Any = None,
        shuffle: Any = None,
        fill_value: Any = None,
        path: Any = None,
    ) -> None:
        self.shape, self.dtype = normalize_shape(shape), np.dtype(dtype)
        self.cname, self.clevel, self.shuffle = normalize_cparams(cname, clevel, shuffle)
        self.fill_value, self.path = fill_value, path
        self._data: bytes | None = None
        self._lock: Any = threading.RLock() if self.is_synchronized else contextlib.nullcontext()

    size = property(lambda self: int(np.prod(self.shape)))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    is_initialized = property(lambda self: self._read() is not None)

    @property
    def cbytes(self) -> int:
        """Bytes of the compressed elements."""
        return len(self._read() or b"")

    def _read(self) -> bytes | None:
        return self._data

    def _write(self, data: bytes) -> None:
        self._data = data

    def read(self) -> np.ndarray:
        """Give all elements."""
        data = self._read()
        if data is not None:
            return np.frombuffer(blosc.decompress(data, as_bytearray=True), self.dtype).reshape(self.shape)
        rows = np.empty(self.shape, self.dtype)
        if self.fill_value is not None:
            rows.fill(self.fill_value)
        return rows

    def __getitem__(self, key: Any) -> np.ndarray:
        part: np.ndarray = self.read()[key]
        return part

    def __setitem__(self, key: Any, value: Any) -> None:
        with self._lock:
            rows = self.read()
            rows[key] = value
            typesize = self.itemsize if self.itemsize <= blosc.MAX_TYPESIZE else 1
            raw = np.ascontiguousarray(rows)
            self._write(blosc.compress(raw, typesize, self.clevel, self.shuffle, self.cname.decode()))


class SynchronizedChunk(Chunk):
    """A chunk that several threads may write."""

    is_synchronized = True


class PersistentChunk(Chunk):
    """Compressed elements in a file of their own, which is replaced as a whole."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        data = self._read()
        if data is not None and blosc.info(data).nbytes != self.nbytes:
            raise ValueError(f"{self.path}: expected nbytes {self.nbytes}, found {blosc.info(data).nbytes}")

    def _read(self) -> bytes | None:
        try:
            with open(self.path, "rb") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def _write(self, data: bytes) -> None:
        folder, name = os.path.split(os.path.abspath(self.path))
        with tempfile.NamedTemporaryFile(
            "wb", delete=False, dir=folder, prefix=f"{name}.", suffix=".partial"
        ) as f:
            f.write(data)
        os.replace(f.name, self.path)


class SynchronizedPersistentChunk(PersistentChunk):
    """A chunk in a file that several threads may write."""

    is_synchronized = True
