"""Arrays of chunks, in memory or in a folder."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np

from ..._dtypes import to_numpy
from ..._errors import FormatError, NotFoundError
from ..._open import open as open_file
from ._chunk import Chunk, PersistentChunk, SynchronizedChunk, defaults, normalize_cparams, normalize_shape


def _normalize_chunks(chunks: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    chunks = tuple(chunks) if np.iterable(chunks) else (chunks,)
    chunks += shape[len(chunks) :]
    if len(chunks) != len(shape):
        raise ValueError(f"chunks and shape not compatible: {chunks!r}, {shape!r}")
    return tuple(n if c is None else int(c) for n, c in zip(shape, chunks))


def _bounds(item: Any, n: int) -> tuple[int, int]:
    """Give the first and the last position of an index along an axis."""
    if isinstance(item, (int, np.integer)):
        if not -n <= item < n:
            raise IndexError(f"index out of bounds: {item}")
        return int(item) % n, int(item) % n + 1
    if not isinstance(item, slice):
        raise ValueError(f"expected integer or slice, found: {item!r}")
    if item.step not in (None, 1):
        raise NotImplementedError("slice with step not supported")
    start, stop = 0 if item.start is None else item.start, n if item.stop is None else item.stop
    start, stop = start + n * (start < 0), stop + n * (stop < 0)
    if start < 0 or stop < 0:
        raise IndexError(f"index out of bounds: {start}, {stop}")
    return start, min(stop, n)


class BaseArray:
    """What all arrays have: shape, chunks, dtype, compression, and elements by integers and slices."""

    is_synchronized = is_lazy = is_persistent = False
    _shape: tuple[int, ...]
    _chunks: tuple[int, ...]
    _dtype: np.dtype

    shape = property(lambda self: self._shape)
    chunks = property(lambda self: self._chunks)
    dtype = property(lambda self: self._dtype)
    cname = property(lambda self: self._cparams[0])
    clevel = property(lambda self: self._cparams[1])
    shuffle = property(lambda self: self._cparams[2])
    fill_value = property(lambda self: self._fill_value)
    attrs = property(lambda self: self._attrs)
    cdata_shape = property(lambda self: tuple(-(-n // c) for n, c in zip(self.shape, self.chunks)))
    size = property(lambda self: int(np.prod(self.shape)))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    chunk_size = property(lambda self: int(np.prod(self.chunks)))
    chunk_nbytes = property(lambda self: self.chunk_size * self.itemsize)
    cbytes = property(lambda self: sum(c.cbytes for c in self.iter_chunks()))

    @property
    def is_initialized(self) -> np.ndarray:
        """For each chunk, whether it was written."""
        found = np.zeros(self.cdata_shape, bool)
        for index, chunk in self.enumerate_chunks():
            found[index] = chunk.is_initialized
        return found

    def _selection(self, key: Any) -> tuple[tuple[int, int], ...]:
        items = key if isinstance(key, tuple) else (slice(None),) if key is Ellipsis else (key,)
        if len(items) > len(self.shape):
            raise ValueError(f"expected at most {len(self.shape)} indices, found {len(items)}")
        items += (slice(None),) * (len(self.shape) - len(items))
        return tuple(_bounds(item, n) for item, n in zip(items, self.shape))

    def __getitem__(self, key: Any) -> np.ndarray:
        """Give elements; an integer leaves its axis with one element."""
        bounds = self._selection(key)
        return self._read(bounds)

    def __setitem__(self, key: Any, value: Any) -> None:
        bounds = self._selection(key)
        shape = tuple(stop - start for start, stop in bounds)
        if not np.isscalar(value):
            value = np.asanyarray(value[:] if isinstance(value, BaseArray) else value)
            if value.ndim and value.shape != shape:
                raise ValueError(f"expected values of shape {shape}, found {value.shape}")
        self._write(bounds, value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[...], dtype)

    def __len__(self) -> int:
        return int(self.shape[0])

    def append(self, data: Any, axis: int = 0) -> None:
        """Add elements along an axis."""
        data = np.asanyarray(data[...] if isinstance(data, BaseArray) else data)
        other = list(data.shape)
        if data.ndim == len(self.shape):
            other[axis] = self.shape[axis]
        if tuple(other) != self.shape:
            raise ValueError(f"shape {data.shape} of the data does not go on {self.shape} along axis {axis}")
        old = self.shape[axis]
        self.resize((*self.shape[:axis], old + data.shape[axis], *self.shape[axis + 1 :]))
        self[(slice(None),) * axis + (slice(old, None),)] = data

    def _new_shape(self, args: tuple[Any, ...]) -> tuple[int, ...]:
        shape = args[0] if len(args) == 1 else args
        shape = tuple(shape) if np.iterable(shape) else (shape,)
        if len(shape) != len(self.shape):
            raise ValueError("new shape must have same number of dimensions")
        return tuple(n if m is None else int(m) for n, m in zip(self.shape, shape))

    def iter_chunks(self) -> Iterator[Chunk]:
        """Go over the chunks."""
        return (chunk for _, chunk in self.enumerate_chunks())

    def __repr__(self) -> str:
        return (
            f"zarr.ext.{type(self).__name__}({self.shape}, {self.dtype}, chunks={self.chunks})\n"
            f"  cname: {self.cname.decode()}; clevel: {self.clevel}; shuffle: {self.shuffle}\n"
            f"  nbytes: {self.nbytes}; cbytes: {self.cbytes}"
        )

    # What the kinds of arrays do.

    def _read(self, bounds: tuple[Any, ...]) -> np.ndarray:
        raise NotImplementedError

    def _write(self, bounds: tuple[Any, ...], value: Any) -> None:
        raise NotImplementedError

    def resize(self, *args: Any) -> None:
        """Set the shape."""
        raise NotImplementedError

    def enumerate_chunks(self) -> Iterator[tuple[tuple[int, ...], Any]]:
        """Go over the chunks and their places."""
        raise NotImplementedError


class Array(BaseArray):
    """An array of compressed chunks in memory."""

    def __init__(
        self,
        shape: Any = None,
        chunks: Any = None,
        dtype: Any = None,
        cname: Any = None,
        clevel: Any = None,
        shuffle: Any = None,
        fill_value: Any = None,
    ) -> None:
        self._shape = normalize_shape(shape)
        self._chunks = _normalize_chunks(chunks, self._shape)
        self._dtype, self._fill_value = np.dtype(dtype), fill_value
        self._cparams = normalize_cparams(cname, clevel, shuffle)
        self._attrs: dict[str, Any] = {}
        self._cdata: dict[tuple[int, ...], Chunk] = {}
        self._lock: Any = threading.RLock() if self.is_synchronized else contextlib.nullcontext()

    def _chunk(self, index: tuple[int, ...]) -> Chunk:
        with self._lock:
            if index not in self._cdata:
                make = SynchronizedChunk if self.is_synchronized else Chunk
                self._cdata[index] = make(self.chunks, self.dtype, *self._cparams, self._fill_value)
            return self._cdata[index]

    def enumerate_chunks(self) -> Iterator[tuple[tuple[int, ...], Chunk]]:
        """Go over the chunks and their places."""
        return ((index, self._chunk(index)) for index in itertools.product(*map(range, self.cdata_shape)))

    def _parts(self, bounds: tuple[Any, ...]) -> Iterator[tuple[Any, Any, Any]]:
        """Go over the chunks of a box: number, part of the chunk, part of the box."""
        numbers = [range(a // c, -(-b // c)) if b > a else range(0) for (a, b), c in zip(bounds, self.chunks)]
        for index in itertools.product(*numbers):
            inner, outer = [], []
            for k, c, (a, b) in zip(index, self.chunks, bounds):
                first, last = max(a, k * c), min(b, k * c + c)
                inner.append(slice(first - k * c, last - k * c))
                outer.append(slice(first - a, last - a))
            yield index, tuple(inner), tuple(outer)

    def _read(self, bounds: tuple[Any, ...]) -> np.ndarray:
        out = np.empty([max(0, b - a) for a, b in bounds], self.dtype)
        for index, inner, outer in self._parts(bounds):
            out[outer] = self._chunk(index)[inner]
        return out

    def _write(self, bounds: tuple[Any, ...], value: Any) -> None:
        whole = np.shape(value) == tuple(b - a for a, b in bounds) and bool(bounds)
        for index, inner, outer in self._parts(bounds):
            self._chunk(index)[inner] = value[outer] if whole else value

    def resize(self, *args: Any) -> None:
        """Set the shape; elements that are added have the fill value, those that fall off are lost."""
        self._shape = self._new_shape(args)
        grid = self.cdata_shape
        self._cdata = {i: c for i, c in self._cdata.items() if all(k < n for k, n in zip(i, grid))}


class SynchronizedArray(Array):
    """An array in memory that several threads may write."""

    is_synchronized = True


class LazyArray(Array):
    """The same as `Array`."""

    is_lazy = True


class SynchronizedLazyArray(LazyArray):
    """The same as `SynchronizedArray`."""

    is_synchronized = True


class PersistentAttributes(MutableMapping[str, Any]):
    """Attributes of a folder; each change is written at once."""

    def __init__(self, array: PersistentArray) -> None:
        self._array = array

    def asdict(self) -> dict[str, Any]:
        """Give all as a dict."""
        with self._array._file("r") as file:
            return dict(file.attrs)

    def __getitem__(self, name: str) -> Any:
        return self.asdict()[name]

    def __setitem__(self, name: str, value: Any) -> None:
        with self._array._file("r+") as file:
            file.attrs[name] = value

    def __delitem__(self, name: str) -> None:
        with self._array._file("r+") as file:
            del file.attrs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.asdict())

    def __len__(self) -> int:
        return len(self.asdict())


class PersistentArray(BaseArray):
    """An array in a folder.

    Parameters
    ----------
    path : str or os.PathLike
        The folder.
    mode : {"a", "r", "r+", "w", "w-", "x"}
        As in h5py: "a" opens what is there, and makes it otherwise.
    shape, chunks, dtype, cname, clevel, shuffle, fill_value : optional
        Of a new array. Shape, chunks and dtype must agree with those of an existing one.
    """

    is_persistent = True

    def __init__(
        self,
        path: Any = None,
        mode: str = "a",
        shape: Any = None,
        chunks: Any = None,
        dtype: Any = None,
        cname: Any = None,
        clevel: Any = None,
        shuffle: Any = None,
        fill_value: Any = None,
    ) -> None:
        if mode not in ("r", "r+", "a", "w", "w-", "x"):
            raise ValueError(f"bad mode: {mode!r}")
        self._path, self._mode = os.fspath(path), mode
        there = os.path.exists(os.path.join(self._path, defaults.metapath))
        if mode in ("w-", "x") and there:
            raise ValueError(f"array exists: {self._path}")
        if mode == "w" or not (there or mode in ("r", "r+")):
            shape = normalize_shape(shape)
            chunks = _normalize_chunks(chunks, shape)
            name, level, filter_ = normalize_cparams(cname, clevel, shuffle)
            compression = {"cname": name.decode(), "clevel": level, "shuffle": filter_}
            with open_file(self._path, "w", "zarr0") as file:
                options = {"chunks": chunks, "compression": compression, "fill_value": fill_value}
                file.create("", shape, np.dtype(dtype), **options)
            shape = chunks = dtype = None
        self._load()
        for what, given, found in (
            ("shape", None if shape is None else normalize_shape(shape), self._shape),
            ("chunks", None if chunks is None else _normalize_chunks(chunks, self._shape), self._chunks),
            ("dtype", None if dtype is None else np.dtype(dtype), self._dtype),
        ):
            if given is not None and given != found:
                raise ValueError(f"{what} {given!r} not consistent with existing {found!r}")
        self._attrs = PersistentAttributes(self)

    path = property(lambda self: self._path)
    mode = property(lambda self: self._mode)

    def _load(self) -> None:
        with self._file("r") as file:
            array = file.array
            self._shape, self._chunks = array.shape, array.chunks
            self._dtype, self._fill_value = np.dtype(to_numpy(array.dtype_name)), array.fill_value
            found = array.compression
            self._cparams = found.cname.encode(), found.clevel, found.shuffle

    @contextlib.contextmanager
    def _file(self, mode: str) -> Iterator[Any]:
        """Open the folder for the time of a call."""
        if mode == "r+" and self._mode == "r":
            raise ValueError("array is read-only")
        try:
            opened = open_file(self._path, mode, "zarr0", shared=self.is_synchronized and mode == "r+")
        except (NotFoundError, FormatError) as e:
            raise ValueError(f"array does not exist: {e}") from e
        with opened as file:
            yield file

    def _read(self, bounds: tuple[Any, ...]) -> np.ndarray:
        with self._file("r") as file:
            rows: np.ndarray = file.array[tuple(slice(*b) for b in bounds)]
        return rows.astype(self._dtype, copy=False)

    def _write(self, bounds: tuple[Any, ...], value: Any) -> None:
        with self._file("r+") as file:
            file.array[tuple(slice(*b) for b in bounds)] = np.asarray(value).astype(self._dtype)

    def resize(self, *args: Any) -> None:
        """Set the shape; elements that are added have the fill value, those that fall off are lost."""
        shape = self._new_shape(args)
        with self._file("r+") as file:
            file.array.resize(shape)
        self._shape = shape

    def enumerate_chunks(self) -> Iterator[tuple[tuple[int, ...], Chunk]]:
        """Go over the chunks and their places."""
        for index in itertools.product(*map(range, self.cdata_shape)):
            name = ".".join(map(str, index)) + defaults.datasuffix
            path = os.path.join(self._path, defaults.datapath, name)
            options = dict(zip(("cname", "clevel", "shuffle"), self._cparams))
            yield (
                index,
                PersistentChunk(
                    path=path, shape=self.chunks, dtype=self.dtype, fill_value=self._fill_value, **options
                ),
            )

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n  mode: {self._mode}; path: {self._path}"


class SynchronizedPersistentArray(PersistentArray):
    """An array in a folder that several threads and processes may write."""

    is_synchronized = True


class LazyPersistentArray(PersistentArray):
    """The same as `PersistentArray`."""

    is_lazy = True


class SynchronizedLazyPersistentArray(LazyPersistentArray):
    """The same as `SynchronizedPersistentArray`."""

    is_synchronized = True
