"""Lazy arrays: what xarray indexes, and the files below, of which a bounded number is open."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import numpy as np
from xarray import get_options
from xarray.backends import BackendArray, CachingFileManager
from xarray.backends.lru_cache import LRUCache
from xarray.coding.strings import create_vlen_dtype
from xarray.core import indexing

from .._array import Array
from .._coding import from_julian
from .._dtypes import VARIABLE
from .._errors import HandleError, ValueNotRepresentableError
from .._file import File
from .._open import open as open_file

_SMALL = 1 << 12  # bytes of an array that is read at once


class Opened:
    """An open file in xarray's cache of files.

    When the cache lets go of it the file is closed with its last reference, so that a thread which reads at
    that moment goes on.
    """

    __slots__ = ("file",)

    def __init__(self, path: str, format: str | None, follow_symlinks: bool, mode: str = "r") -> None:
        self.file: File = open_file(path, mode, format=format, follow_symlinks=follow_symlinks)

    def close(self) -> None:
        """Do nothing: the file goes with this object."""


_cache: LRUCache[Any, Any] = LRUCache(maxsize=1)


class Manager(CachingFileManager[Opened]):
    """Opens a file when it is used. It can be pickled.

    ``xr.set_options(file_cache_maxsize=...)`` bounds the number of files that stay open, and so does a
    quarter of what the process may open (``ulimit -n``).
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        most = get_options()["file_cache_maxsize"]
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if soft != resource.RLIM_INFINITY:
            most = max(1, min(most, soft // 4))
        if _cache.maxsize != most:
            _cache.maxsize = most
        super().__init__(*args, cache=_cache, **{**options, "mode": "r"})


def promoted(dtype: np.dtype, attrs: dict[str, Any]) -> np.dtype:
    """Give the dtype that has a missing value beside all values of a dtype; 64-bit integers are checked."""
    if dtype.kind in "iu":
        return np.dtype("f4" if dtype.itemsize <= 2 and "add_offset" not in attrs else "f8")
    if dtype.kind == "f":
        return np.dtype("f4") if dtype.itemsize == 2 else dtype
    return dtype if dtype.kind in "cmM" else np.dtype(object)


def times(dtype: np.dtype) -> np.dtype:
    """Give the dtype that xarray has for dates and time spans; others as they are."""
    if dtype.kind not in "mM":
        return dtype
    unit = np.datetime_data(dtype)[0]
    return dtype if unit in ("s", "ms", "us", "ns") else np.dtype(f"{dtype.kind}8[s]")


class LazyArray(BackendArray):
    """An array of a file for xarray: nothing is read before it is indexed. It can be pickled.

    `missing` tells what becomes of missing elements: ``"nan"`` (NaN, NaT, or None), ``"raw"`` (zero or
    empty), ``"mask"`` (the array is the mask), or the value that stands for them.
    """

    __slots__ = ("dtype", "julian", "manager", "missing", "name", "shape", "small")

    def __init__(self, manager: Manager, array: Array, missing: Any, julian: bool) -> None:
        self.manager, self.name, self.missing, self.julian = manager, array.name, missing, julian
        self.shape = array._extents()
        self.dtype = dtype_of(array, array.masked, missing, julian)
        # xarray reads coordinates several times, their first and last elements by themselves.
        self.small: Any = array.nbytes <= _SMALL or None  # then, when it has been read, the elements

    def __getitem__(self, key: indexing.ExplicitIndexer) -> np.ndarray:
        if self.small is not None:
            if self.small is True:
                self.small = self._get(...)
            return indexing.apply_indexer(indexing.NumpyIndexingAdapter(self.small), key).copy()
        if isinstance(key, indexing.VectorizedIndexer) and all(isinstance(k, np.ndarray) for k in key.tuple):
            return self._get(key.tuple, points=True)
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._get)

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> np.ndarray:
        """Index in another thread; the interpreter is free while the library reads."""
        return await asyncio.to_thread(self.__getitem__, key)

    def _get(self, key: Any, points: bool = False) -> np.ndarray:
        with self.manager.acquire_context() as opened:
            array = opened.file[self.name]
            if array.shape != self.shape:
                raise HandleError(
                    f"{array._where}: the file has changed: expected shape {self.shape}, found {array.shape}"
                )
            if points:
                return self._finish(array.vindex[key], array)
            if key is not ... and any(isinstance(k, np.ndarray) for k in key):
                return self._finish(array.oindex[key], array)
            return self._finish(array[key], array)

    def _finish(self, value: Any, array: Array) -> np.ndarray:
        """Make the elements that xarray gets of what was read."""
        if value is np.ma.masked:
            value = np.ma.masked_all((), array.dtype)  # type: ignore[arg-type, no-untyped-call]
        if isinstance(value, (str, bytes)):
            value = np.array(value, object)
        if array.masked:
            value = np.ma.asarray(value)
        return finish(value, self.missing, self.dtype, self.julian, array._where)


def dtype_of(array: Array, masked: bool, missing: Any, julian: bool) -> np.dtype:
    """Give the dtype that xarray sees."""
    dtype = array.dtype
    decoded = isinstance(missing, str) and missing == "nan"
    if isinstance(missing, str) and missing == "mask":
        return np.dtype(bool)
    if julian:
        return np.dtype(np.int64)
    if array.dtype_name in VARIABLE:
        # Of texts with a type xarray makes arrays of fixed width, in which NaN is the text "nan".
        return np.dtype(object) if masked and decoded else create_vlen_dtype(VARIABLE[array.dtype_name])
    return times(promoted(dtype, dict(array.attrs)) if masked and decoded else dtype)


def finish(value: Any, missing: Any, dtype: np.dtype, julian: bool, where: str) -> np.ndarray:
    """Give elements as xarray sees them; `value` is a masked array where elements can be missing."""
    mask = None
    if isinstance(value, np.ma.MaskedArray):
        value, mask = np.ma.getdata(value), np.ma.getmaskarray(value)
    if isinstance(missing, str) and missing == "mask":
        return np.zeros(np.shape(value), bool) if mask is None else mask
    if julian:
        return from_julian(np.asarray(value), mask)
    result = np.asarray(value).astype(dtype, copy=mask is not None)
    if mask is None or not mask.any() or (isinstance(missing, str) and missing == "raw"):
        return result
    if not isinstance(missing, str) or missing != "nan":
        result[mask] = missing
        return result
    kind = np.asarray(value).dtype
    if kind.kind in "iu" and kind.itemsize == 8:
        _check_exact(result[~mask], value[~mask], where)
    result[mask] = _nothing(dtype)
    return result


def _nothing(dtype: np.dtype) -> Any:
    return np.array("NaT", dtype) if dtype.kind in "mM" else np.nan


def _check_exact(floats: np.ndarray, integers: np.ndarray, where: str) -> None:
    """Refuse 64-bit integers that no float64 holds."""
    limit = 2.0 ** (63 if integers.dtype.kind == "i" else 64)
    wrong = floats >= limit
    wrong[~wrong] = floats[~wrong].astype(integers.dtype) != integers[~wrong]
    if wrong.any():
        raise ValueNotRepresentableError(
            f"{where}: the integer {integers[wrong][0]} beside missing elements is no float64; open "
            "with mask_and_scale=False, which keeps integers and gives the mask as a variable"
        )
