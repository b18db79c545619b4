"""Decoded, DecodedFile: values, masks and dates of an open file instead of elements as they are stored."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from ._array import Array
from ._decode import coding
from ._errors import ArgumentError, MaskedError
from ._file import File
from ._reduce import Reducible

if TYPE_CHECKING:
    from typing_extensions import Self


class Decoded(Reducible):
    """An array whose elements are decoded as they are read, for reading only. Made by a `DecodedFile`.

    ``v[...]``, ``v.oindex[...]``, ``v.vindex[...]``, `take` and `read` select as those of `Array` do, and
    read and decode only that. Reductions (`sum`, `mean`, `min`, ...; `numpy.mean(v)`) are those of values:
    block by block, without what is missing. Of the whole they have NumPy's dtypes too, and are
    `numpy.ma.masked` where every element is missing.

    Attributes
    ----------
    raw : Array
        The array as it is stored.
    name, shape, dims, ndim, size, chunks, has_data
        As of `raw`.
    dtype : numpy.dtype
        Of what indexing returns, see `DecodedFile`.
    masked : bool
        Results are `numpy.ma.MaskedArray`: the file has a mask, or attributes tell what is missing.
    attrs : dict
        The attributes that were not applied.
    """

    __slots__ = ("_coding", "dtype", "dtype_name", "masked", "raw")

    def __init__(self, raw: Array, format: str) -> None:
        self.raw = raw
        self._coding = coding(raw, format)
        self.dtype = self._coding.dtype if raw.has_data else raw.dtype
        self.masked = self._coding.masked
        self.dtype_name = raw.dtype_name if self._coding.stored is None else self.dtype.str

    @property
    def name(self) -> str:
        """Name in the file."""
        return self.raw.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the axes."""
        return self.raw.shape

    @property
    def dims(self) -> tuple[str, ...] | None:
        """Names of the axes, or None where the file gives none."""
        return self.raw.dims

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.raw.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def has_data(self) -> bool:
        """There are elements, or could be."""
        return self.raw.has_data

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes that were not applied."""
        return dict(self._coding.attrs)

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """Extents of the chunks, or None, as of `raw`."""
        return self.raw.chunks

    @property
    def _where(self) -> str:
        return self.raw._where

    @property
    def _path(self) -> Any:
        return self.raw._path

    def _extents(self) -> tuple[int, ...]:
        return self.shape

    def _values(self, found: Any) -> Any:
        return self._coding.values(found, self.raw._where)

    def __getitem__(self, key: Any) -> Any:
        return self._values(self.raw[key])

    def __len__(self) -> int:
        return len(self.raw)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def read(self, key: Any = Ellipsis) -> np.ndarray:
        """Read a selection; of one element an array without axes."""
        result: np.ndarray = self._values(self.raw.read(key))
        return result

    def take(self, rows: Any) -> np.ndarray:
        """Read some rows, in any order, as `Array.take`."""
        result: np.ndarray = self._values(self.raw.take(rows))
        return result

    @property
    def oindex(self) -> _Indexer:
        """Orthogonal indexing, as `Array.oindex`."""
        return _Indexer(self, self.raw.oindex.__getitem__)

    @property
    def vindex(self) -> _Indexer:
        """Elements by their positions, as `Array.vindex`."""
        return _Indexer(self, self.raw.vindex.__getitem__)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Read everything for NumPy; floats have NaN and dates NaT where elements are missing.

        Raises
        ------
        MaskedError
            Elements are missing, and the dtype has no such value: use ``v[...]``.
        """
        if copy is False:
            raise ValueError(f"{self.raw._where}: reading a file always makes a copy")
        result = self.read()
        if isinstance(result, np.ma.MaskedArray):
            if result.mask.any() and result.dtype.kind not in "fM":
                raise MaskedError(f"{self.raw._where}: elements are missing; use v[...], a masked array")
            data, mask = result.data, np.ma.getmaskarray(result)
            if mask.any():
                data[mask] = np.array("NaT" if data.dtype.kind == "M" else np.nan, data.dtype)
            result = data
        return result if dtype is None else result.astype(dtype, copy=False)

    def __repr__(self) -> str:
        shape = self.shape if self.has_data else None
        masked = ", masked" if self.masked else ""
        return f"<ndfile.Decoded {self.name!r}: shape {shape}, dtype {self.dtype}{masked}>"


class _Indexer:
    """A way of indexing, decoded."""

    __slots__ = ("_array", "_get")

    def __init__(self, array: Decoded, get: Callable[[Any], Any]) -> None:
        self._array, self._get = array, get

    def __getitem__(self, key: Any) -> Any:
        return self._array._values(self._get(key))


class DecodedFile(Mapping[str, Decoded]):
    """An open file whose arrays are decoded: a read-only mapping of all names to `Decoded`, in file order.

    Made by ``ndfile.open(path, decode=True)``. Use it in a ``with`` statement. It is closed, pickled and used
    by several threads as its `File` is, which is `raw`.

    These attributes are applied to arrays of integers and floats, in the forms of the CF conventions; each is
    then gone from `Decoded.attrs`. Other dtypes, and attributes that are no numbers of a fitting kind, stay
    as they are.

    ``_Unsigned`` ("true")
        Signed integers are read as unsigned ones.
    ``_FillValue``, ``missing_value``, ``valid_range``, ``valid_min``, ``valid_max``
        Stored elements that equal the former, or lie outside the latter, are masked, beside those that the
        file's own mask tells. Of zarr2 also the fill value. Zero or NaT lies under the mask. NetCDF's default
        fill values, of variables without a ``_FillValue``, are not masked.
    ``scale_factor``, ``add_offset``
        Give ``stored * scale_factor + add_offset``, of the dtype that NumPy gives that: float32 where the
        factors are of float32 (which files without types for attributes tell by their digits) and elements of
        at most 16 bits or float32, else float64.
    ``units`` of times, ``calendar``
        ``"days since 2000-01-01 00:00"``, or hours, minutes, seconds and their parts, become datetime64[us],
        of nanoseconds datetime64[ns], in UTC. The calendar is standard (the default), gregorian or
        proleptic_gregorian. Numbers of all other calendars (noleap, 360_day, ...), of months and of years
        stay numbers, and keep both attributes; so do bounds of times without units of their own.
    ``.time`` of ds
        Julian dates become datetime64[us], rounded to 100 us; as in the engine of xarray.

    A time that is no datetime64, or before 1582-10-15 in the standard calendar, is a
    `ValueNotRepresentableError` when it is read.

    Attributes
    ----------
    raw : File
        The file as it is stored.
    path, format, kind, attrs, closed
        As of `raw`.

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> attrs = {"t": {"scale_factor": 0.5, "_FillValue": -1}, "time": {"units": "days since 2026-11-22"}}
    >>> ndfile.save("decode.ds", {"t": np.array([4, -1, 7], "i2"), "time": np.arange(3)}, var_attrs=attrs)
    >>> with ndfile.open("decode.ds", decode=True) as f:
    ...     print(f["t"][...], f["time"][1], f["t"].raw[2])
    [2.0 -- 3.5] 2026-11-23T00:00:00.000000 7
    """

    __slots__ = ("raw",)

    def __init__(self, raw: File) -> None:
        self.raw = raw

    @property
    def path(self) -> str:
        """The path, as given to `open`."""
        return self.raw.path

    @property
    def mode(self) -> str:
        """Always ``"r"``."""
        return self.raw.mode

    @property
    def format(self) -> str:
        """Name of the format."""
        name: str = self.raw.format
        return name

    @property
    def kind(self) -> str:
        """``"array"``, ``"dataset"`` or ``"table"``."""
        return self.raw.kind

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes of the file."""
        return dict(self.raw.attrs)

    @property
    def closed(self) -> bool:
        """The file is closed."""
        return self.raw.closed

    @property
    def array(self) -> Decoded:
        """The array of a file of kind ``"array"``; ArgumentError (a ValueError) for other files."""
        return Decoded(self.raw.array, self.raw.format)

    def __getitem__(self, name: str) -> Decoded:
        found: Any = self.raw[name] if isinstance(name, str) else None
        if not isinstance(found, Array):
            raise ArgumentError(
                f"{self.path}: decoded arrays are found by their whole names, such as 'a/b'; found {name!r}",
                path=self.path,
            )
        return Decoded(found, self.raw.format)

    def __iter__(self) -> Iterator[str]:
        return iter(self.raw)

    def __len__(self) -> int:
        return len(list(self.raw))

    def __contains__(self, name: object) -> bool:
        return name in list(self.raw)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def close(self) -> None:
        """Close the file; twice is fine."""
        self.raw.close()

    def __enter__(self) -> Self:
        self.raw.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.raw.__exit__(kind, error, tb)

    def __repr__(self) -> str:
        return f"<ndfile.DecodedFile {self.path!r}: {self.format} {self.kind}, {self.raw._state}>"
