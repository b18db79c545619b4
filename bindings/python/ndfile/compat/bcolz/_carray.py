"""carray: a growing array in memory or in a store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from ..._open import open as open_file
from ._attrs import attrs
from ._backing import Memory, Stored
from ._params import cparams as _cparams
from ._params import rounded, sizes, storage
from ._store import Store, replaceable


def to_array(value: Any, dtype: np.dtype | None, length: int | None = None) -> np.ndarray:
    """Give values as an array of a dtype, with rows, repeated for a length."""
    if isinstance(value, carray):
        value = value[:]
    if dtype is None or not isinstance(value, np.ndarray) or value.dtype != dtype.base:
        try:
            value = np.array(value, None if dtype is None else dtype.base)
        except (ValueError, TypeError) as e:
            raise ValueError(f"cannot convert to an ndarray object: {e}") from e
    if not value.ndim:
        value = value.reshape(1)
    if length is not None and len(value) != length:
        whole = np.empty(length, dtype)
        whole[:] = value
        value = whole
    result: np.ndarray = value
    return result


class carray:
    """An array whose first axis grows: compressed in a store on disk, or in memory without ``rootdir``.

    Parameters
    ----------
    array : array_like, optional
        The elements to begin with. Default: what is at ``rootdir``.
    cparams : cparams, optional
        How the chunks of a new store are compressed.
    dtype : optional
        What `numpy.dtype` takes. Default: that of ``array``.
    dflt : scalar, optional
        Value of the elements that `resize` adds. Default: zero.
    expectedlen : int, optional
        The length that is expected, for the choice of chunks.
    chunklen : int, optional
        Rows of a chunk.
    rootdir : str or os.PathLike, optional
        The folder of the store.
    safe : bool
        Taken and not used: everything is checked.
    mode : {"a", "r", "w"}
        Reading and changing, reading, or beginning anew. A new store with "a" needs a place where nothing is.

    Raises
    ------
    OSError
        The store does not exist, or exists and would be overwritten; changes in mode "r".
    ValueError, TypeError
        Arguments that do not fit.
    """

    def __init__(
        self,
        array: Any = None,
        cparams: _cparams | None = None,
        dtype: Any = None,
        dflt: Any = None,
        expectedlen: int | None = None,
        chunklen: int | None = None,
        rootdir: Any = None,
        safe: bool = True,
        mode: str = "a",
        *,
        _backing: Any = None,
    ) -> None:
        self.safe, self._mode, self._quantize = safe, mode, 0
        self._going: Iterator[Any] | None = None
        self._at: Memory | Stored
        if _backing is not None:
            self._at = _backing
        elif array is not None:
            self._create(array, cparams, dtype, dflt, expectedlen, chunklen, rootdir, mode)
        elif rootdir is not None:
            self._at = Stored(Store(rootdir, mode))
            file = self._at.store.reading()
            if file.kind != "array":
                raise OSError(f"{os.fspath(rootdir)}: a ctable, not a carray")
            if mode == "w":
                self.resize(0)
                self.flush()
        else:
            raise ValueError("You need at least to pass an array or/and a rootdir")
        if isinstance(self._at, Memory):
            self._cparams = cparams or _cparams()
            self.attrs = attrs()
        else:
            self.attrs = attrs(_store=self._at.store, _column=self._at.column)

    def _create(
        self,
        array: Any,
        cparams: Any,
        dtype: Any,
        dflt: Any,
        expectedlen: Any,
        chunklen: Any,
        rootdir: Any,
        mode: str,
    ) -> None:
        if mode not in ("r", "w", "a"):
            raise ValueError("mode should be 'r', 'w' or 'a'")
        given = storage(cparams, expectedlen, chunklen)
        self._quantize = (cparams or _cparams()).quantize
        rows = rounded(to_array(array, None if dtype is None else np.dtype(dtype)), self._quantize)
        if dtype is not None and np.dtype(dtype).shape and not len(rows):
            rows = np.empty(0, dtype)
        if not rows.dtype.itemsize or 0 in rows.shape[1:]:
            raise TypeError("atomic size cannot be zero")
        if rows.dtype.hasobject and rows.dtype != np.object_:
            raise TypeError(f"{rows.dtype!r} is not a supported dtype")
        value = np.zeros((), rows.dtype)
        if dflt is not None:
            value[()] = dflt
        if rootdir is None:
            if rows is array or rows.base is not None:
                rows = rows.copy()
            self._at = Memory(rows, value, expectedlen, chunklen)
            return
        if rows.dtype.hasobject:
            raise TypeError("arrays of objects are not stored: give a dtype, such as 'U10'")
        replaceable(rootdir, mode)
        given.setdefault("expected_rows", len(rows))
        with open_file(rootdir, "w", "bcolz") as file:
            file.add("", rows, fill_value=value[()], **given)
        self._at = Stored(Store(rootdir, mode))

    # What it is

    rootdir = property(lambda self: self._folder())
    mode = property(lambda self: self._mode)
    dtype = property(lambda self: self._at.dtype)
    shape = property(lambda self: self._at.shape)
    dflt = property(lambda self: self._at.dflt)
    chunklen = property(lambda self: self._at.chunklen)
    cbytes = property(lambda self: self._at.cbytes)
    cparams = property(lambda self: self._cparams if isinstance(self._at, Memory) else self._at.cparams)
    ndim = property(lambda self: len(self.shape))
    len = property(lambda self: self.shape[0])
    size = property(lambda self: int(np.prod(self.shape)))
    itemsize = property(lambda self: self.dtype.itemsize)
    atomsize = property(lambda self: self.itemsize * int(np.prod(self.shape[1:])))
    nbytes = property(lambda self: self.size * self.itemsize)
    nchunks = property(lambda self: self.len // self.chunklen)
    nleftover = leftover_elements = property(lambda self: self.len % self.chunklen)
    leftover_bytes = property(lambda self: self.nleftover * self.atomsize)
    leftover_array = property(lambda self: self[self.len - self.nleftover :])

    @property
    def partitions(self) -> list[tuple[int, int]]:
        """First row and the row behind the last, of each chunk."""
        return [(i, min(i + self.chunklen, self.len)) for i in range(0, self.len, self.chunklen)]

    @property
    def chunks(self) -> Iterator[np.ndarray]:
        """The elements of each whole chunk."""
        return self.iterblocks(stop=self.len - self.nleftover)

    def _folder(self) -> Any:
        if isinstance(self._at, Memory):
            return None
        store, column = self._at.store, self._at.column
        return store.path if column is None else os.path.join(store.path, column)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __sizeof__(self) -> int:
        return int(self.cbytes)

    # Reading

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            row = self._at.read(self._row(key))
            return row.item() if isinstance(row, np.generic) and row.dtype.kind != "V" else row
        if isinstance(key, slice):
            return self._at.read(self._slice(key))
        if isinstance(key, tuple):
            return self._along(key)
        rows = self._rows(key)
        if rows is None:
            raise NotImplementedError(f"key not supported: {key!r}")
        found = self._at.read(rows)
        return found if found.base is None else found.copy()

    def _row(self, key: Any) -> int:
        n = self.len
        if not -n <= key < n:
            raise IndexError("index out of range")
        return int(key % n)

    @staticmethod
    def _slice(key: slice) -> slice:
        if key.step is not None and key.step <= 0:
            raise NotImplementedError("step in slice can only be positive")
        return key

    def _along(self, key: tuple[Any, ...]) -> np.ndarray:
        if not key:
            raise ValueError("empty tuple not supported")
        rows: np.ndarray = self[key[0]]
        if len(key) == 1:
            return rows
        part = rows[(slice(None), *key[1:])] if isinstance(key[0], slice) else rows[key[1:]]
        return np.ascontiguousarray(part) if isinstance(part, np.ndarray) and part.ndim else part

    def _rows(self, key: Any) -> np.ndarray | None:
        """Give the numbers of rows that a list, an array or a condition means; None for others."""
        if isinstance(key, str):
            from ._eval import caller, evaluate

            key = evaluate(key, caller(2), "numpy")
            if key.dtype != bool:
                raise IndexError("only boolean expressions supported")
        elif isinstance(key, list):
            try:
                key = (
                    np.array(key, np.int_)
                    if not key or not isinstance(key[0], (bool, np.bool_))
                    else np.array(key)
                )
            except (TypeError, ValueError):
                raise IndexError("key cannot be converted to an array of indices") from None
        elif not hasattr(key, "dtype"):
            return None
        if key.dtype == bool:
            if len(key) != self.len:
                raise IndexError("boolean array length must match len(self)")
            return np.flatnonzero(key[:])
        if key.dtype.kind not in "iu":
            raise IndexError("arrays used as indices must be integer (or boolean)")
        rows, n = np.asarray(key[:], np.int64), self.len
        if len(rows) and not (-n <= rows.min() and rows.max() < n):
            raise IndexError("index out of range")
        found: np.ndarray = rows % max(n, 1)
        return found

    def iterblocks(
        self, blen: int | None = None, start: int = 0, stop: int | None = None
    ) -> Iterator[np.ndarray]:
        """Give the rows from start to stop in blocks."""
        n = blen or self.chunklen
        end = self.len if stop is None else min(stop, self.len)
        for i in range(start, end, n):
            yield self[i : min(i + n, end)]

    def __iter__(self) -> Iterator[Any]:
        return self.iter()

    def __next__(self) -> Any:
        """Give the next element of a walk of its own, which begins again at the end."""
        if self._going is None:
            self._going = self.iter()
        try:
            return next(self._going)
        except StopIteration:
            self._going = None
            raise

    def iter(
        self, start: int = 0, stop: int | None = None, step: int = 1, limit: int | None = None, skip: int = 0
    ) -> Iterator[Any]:
        """Go over the elements, as Python's numbers and texts where there are such."""
        if step <= 0:
            raise NotImplementedError("step param can only be positive")
        start, stop, step = slice(start, stop, step).indices(self.len)
        return islice(self._items(start, stop, step), skip, None if limit is None else skip + limit)

    def _items(self, start: int, stop: int, step: int) -> Iterator[Any]:
        blen = self.chunklen * step
        for i in range(start, stop, blen):
            yield from _items(self[i : min(i + blen, stop) : step])

    def where(self, boolarr: Any, limit: int | None = None, skip: int = 0) -> Iterator[Any]:
        """Go over the elements where a boolean array is true."""
        if self.ndim > 1:
            raise NotImplementedError("`self` is not unidimensional")
        if not hasattr(boolarr, "dtype"):
            raise ValueError("`boolarr` is not an array")
        if boolarr.dtype != bool:
            raise ValueError("`boolarr` is not an array of booleans")
        if len(boolarr) != self.len:
            raise ValueError("`boolarr` must be of the same length than ``self``")
        return islice(self._where(boolarr), skip, None if limit is None else skip + limit)

    def _where(self, boolarr: Any) -> Iterator[Any]:
        for i in range(0, self.len, self.chunklen):
            chosen = boolarr[i : i + self.chunklen]
            if chosen.any():
                yield from _items(self[i : i + self.chunklen][chosen])

    def wheretrue(self, limit: int | None = None, skip: int = 0) -> Iterator[int]:
        """Go over the numbers of the elements that are true."""
        if self.dtype != bool:
            raise ValueError("`self` is not an array of booleans")
        if self.ndim > 1:
            raise NotImplementedError("`self` is not unidimensional")
        numbers = (
            n
            for i in range(0, self.len, self.chunklen)
            for n in (np.flatnonzero(self[i : i + self.chunklen]) + i).tolist()
        )
        return islice(numbers, skip, None if limit is None else skip + limit)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype)

    def sum(self, dtype: Any = None) -> Any:
        """Add up all elements, in a wide integer type where they are small ones."""
        if self.dtype.kind in "SU":
            raise TypeError("cannot perform reduce with flexible type")
        if dtype is None and self.dtype.kind in "fcu":
            dtype = self.dtype
        parts = [block.sum(dtype=dtype) for block in self.iterblocks()]
        return sum(parts[1:], parts[0]) if parts else np.zeros(0, self.dtype).sum(dtype=dtype)

    # Changing

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_mode()
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            row = self._row(key)
            key = slice(row, row + 1)
        if isinstance(key, tuple):
            if len(key) < 2:
                self[self._only(key)] = value
                return
            rows = self[key[0]]
            rows[(slice(None), *key[1:]) if isinstance(key[0], slice) else key[1:]] = value
            self[key[0]] = rows
            return
        dtype = np.dtype((self.dtype, self.shape[1:]))
        if isinstance(key, slice):
            count = len(range(*self._slice(key).indices(self.len)))
            if count:
                self._at.write(key, rounded(to_array(value, dtype, count), self._quantize))
            return
        if getattr(key, "dtype", np.dtype(int)).kind == "b" and np.size(key) != self.len:
            raise ValueError("boolean array length must match len(self)")
        rows = self._rows(key)
        if rows is None:
            raise NotImplementedError(f"key not supported: {key!r}")
        if len(rows):
            self._put(rows, rounded(to_array(value, dtype, len(rows)), self._quantize))

    @staticmethod
    def _only(key: tuple[Any, ...]) -> Any:
        if not key:
            raise ValueError("empty tuple not supported")
        return key[0]

    def _put(self, rows: np.ndarray, values: np.ndarray) -> None:
        """Write rows by number, chunk by chunk; of a row that occurs twice the last value counts."""
        order = np.argsort(rows, kind="stable")
        rows, values = rows[order], values[order]
        bounds = np.flatnonzero(np.diff(rows // self.chunklen)) + 1
        for part, new in zip(np.split(rows, bounds), np.split(values, bounds)):
            first, last = int(part[0]), int(part[-1]) + 1
            block = self._at.read(slice(first, last))
            block[part - first] = new
            self._at.write(slice(first, last), block)

    def append(self, array: Any) -> None:
        """Add rows, or one row."""
        self._check_mode()
        dtype, inner = self.dtype, self.shape[1:]
        rows = to_array(array, dtype)
        if inner and rows.shape == inner:
            rows = rows[np.newaxis]
        if rows.shape[1:] != inner:
            raise ValueError("array trailing dimensions do not match with self")
        if len(rows):
            self._at.append(rounded(rows, self._quantize))

    def resize(self, nitems: int) -> None:
        """Set the length; new elements are `dflt`."""
        self._check_mode()
        if nitems < 0:
            raise ValueError("`nitems` cannot be negative")
        self._at.resize(int(nitems))

    def trim(self, nitems: int) -> None:
        """Remove the last elements."""
        if nitems > self.len:
            raise ValueError("`nitems` must be less than total length")
        self.resize(self.len - nitems)

    def reshape(self, newshape: Any) -> carray:
        """Give a carray of another shape; of one on disk the store is replaced."""
        newshape = (newshape,) if isinstance(newshape, (int, np.integer)) else tuple(newshape)
        rows = self[:].reshape(newshape)
        options = {"cparams": self.cparams, "dflt": self.dflt[()], "expectedlen": len(rows)}
        if isinstance(self._at, Memory):
            return carray(rows, **options)
        if self._at.column is not None:
            raise NotImplementedError("a column of a ctable cannot be reshaped")
        kept = self.attrs.attrs
        self._at.store.close()
        new = carray(rows, rootdir=self.rootdir, mode="w", **options)
        new.attrs.update(kept)
        return new

    def copy(self, **kwargs: Any) -> carray:
        """Give a copy; options as for the constructor."""
        kwargs.setdefault("expectedlen", self.len)
        rootdir = kwargs.get("rootdir")
        if (
            rootdir is not None
            and self.rootdir is not None
            and os.path.abspath(rootdir) == os.path.abspath(self.rootdir)
        ):
            raise OSError("rootdir cannot be the same during copies")
        new = carray(np.empty((0, *self.shape[1:]), self.dtype), **kwargs)
        for block in self.iterblocks():
            new.append(block)
        new.flush()
        return new

    def view(self) -> carray:
        """Give another object for the same elements; in memory, its length is its own."""
        return carray(_backing=self._at.view(), mode=self._mode)

    def flush(self) -> None:
        """Write what is in memory of a store."""
        self._at.flush()

    def free_cachemem(self) -> None:
        """Do nothing: the library bounds its caches."""

    def purge(self) -> None:
        """Delete the store."""
        if isinstance(self._at, Stored):
            self._at.store.close()
            shutil.rmtree(self.rootdir)

    def _check_mode(self) -> None:
        if self._mode == "r" and not isinstance(self._at, Memory):
            raise OSError("cannot modify data because mode is 'r'")

    def __enter__(self) -> carray:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._mode != "r":
            self.flush()

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self._at, Memory):
            return carray, (self[:], self.cparams, None, self.dflt[()])
        if self._at.column is not None:
            return _column, (self._at.store.path, self._at.column)
        return _opened, (self.rootdir,)

    def __str__(self) -> str:
        return np.array2string(self[:] if self.len <= 1000 else np.concatenate([self[:3], self[-3:]]))

    def __repr__(self) -> str:
        head = f"carray({self.shape}, {self.dtype})\n  {sizes(self.nbytes, self.cbytes)}\n"
        head += f"  cparams := {self.cparams!r}\n"
        head += f"  chunklen := {self.chunklen}; chunksize: {self.chunklen * self.atomsize}\n"
        if self.rootdir is not None:
            head += f"  rootdir := '{self.rootdir}'\n  mode    := '{self._mode}'\n"
        return head + str(self)


def _items(rows: np.ndarray) -> Iterable[Any]:
    return rows.tolist() if rows.ndim == 1 and rows.dtype.kind not in "MV" else iter(rows)


def _opened(rootdir: Any) -> carray:
    return carray(rootdir=rootdir)


def _column(rootdir: Any, name: str) -> carray:
    from ._ctable import ctable

    column: carray = ctable(rootdir=rootdir, mode="r")[name]
    return column
