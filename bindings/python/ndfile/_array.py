"""Array: one array of an open file, read and written piece by piece."""

from __future__ import annotations

import ctypes
import math
import os
import sys
import threading
import weakref
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from . import _arrow, _capi, _dtypes, _elements, _html
from ._assign import Points, assign, is_mask
from ._attrs import Attrs, from_json
from ._attrs import of as attrs_of
from ._chunks import Chunked
from ._element import Element
from ._errors import (
    ArgumentError,
    BoundsError,
    DTypeError,
    HandleError,
    LimitError,
    MaskedError,
    NoDataError,
    NoMemoryError,
    NotSupportedError,
    ReadOnlyError,
    ShapeError,
    failure,
)
from ._index import Selection, select
from ._lib import call, content, decode, lib, text
from ._orthogonal import Orthogonal, is_array, positions
from ._progress import LONG, interruptible
from ._reduce import StoredReducible
from ._spec import INT64S, lengths
from ._tree import Description, in_memory, own

if TYPE_CHECKING:
    from ._file import File

_MUCH = 1 << 24  # bytes
_BLOCK = 1 << 22  # bytes
_NEAR = 1 << 15  # bytes
_NOTHING_NEAR = (0, 0, None)
_FAR = -(1 << 62)

# Called with prepared pointers only: converting integers by argtypes costs more than appending some elements.
_ndf_array_append = lib["ndf_array_append"]
_ndf_array_info_get = lib["ndf_array_get_info"]


class _Handle:
    """An array handle of the library, closed with its last reference.

    It is an object of its own because an object that dies can still be had from a weak reference while its
    `__del__` runs.
    """

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value

    def close(self) -> None:
        value, self.value = self.value, 0
        if value:
            lib.ndf_array_close(value, None)

    def __del__(self, _finalizing: Any = sys.is_finalizing) -> None:
        if not _finalizing():  # then the library may be gone, and nothing has to be given back
            self.close()


class _Mapping:
    """Mapped memory, given back with its last reference. NumPy takes it by its interface, as read-only."""

    __slots__ = ("__array_interface__", "_handle", "_process")

    def __init__(self, handle: int, address: int | None, size: int) -> None:
        self._handle = handle
        self._process = os.getpid()
        self.__array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, True),
            "version": 3,
        }

    def __del__(self, _finalizing: Any = sys.is_finalizing) -> None:
        if (
            not _finalizing() and self._process == os.getpid()
        ):  # a forked child has the memory, but not the handle
            lib.ndf_map_close(self._handle, None)


#: Of arrays that are not open in the library yet.
_UNOPENED = _Handle(0)


class Array(Chunked, StoredReducible):
    """One array of an open file. Nothing is read before it is indexed.

    Get one from an `ndfile.File`; it keeps its file open. It works until the file is closed; then every
    access to data or attributes is a `HandleError` (a `ValueError`).

    ``v[...]``, ``v[3]``, ``v[10:20, ::-2]`` read as NumPy's basic indexing does (integers, slices of any
    step, Ellipsis, None) and give what NumPy gives: an array in memory of its own, in native byte order, or
    a scalar. ``v[[7, 3]]`` and ``v[mask]`` take rows, see `take`; among slices one list or array is taken
    along its axis, for more see `oindex`. Where `masked` is true the result is a `numpy.ma.MaskedArray` (an
    element: the scalar or `numpy.ma.masked`), also when nothing happens to be missing in the selection; data
    under the mask is zero or empty. Elements of dtype ``str`` and ``bytes`` come as object arrays of `str`
    and `bytes`. Only what the selection needs is read from the file.

    ``v[...] = x`` writes, in files open for writing; x is broadcast. An array x must have a dtype that
    widens exactly into this one, Python numbers must fit exactly: nothing is truncated or rounded silently.
    ds files take each array once, whole or as consecutive blocks of rows. Of formats with chunks, chunks
    that a region does not touch stay as they are, and each that it touches holds its old elements or the new
    ones, whatever happens.

    Arrays may be used by several threads at once. Those of files open for reading can be pickled and used in
    forked children as their `File` can, those of mode ``"r+"`` too, as targets of `dask.array.store`; where
    the file has another shape or dtype by then it is a
    `HandleError`.

    Attributes
    ----------
    name : str
        Name in the file; ``""`` in single-array files.
    shape : tuple of int
        Row-major (the last axis varies fastest). `append` and `resize` change it. It is a `NoDataError` where
        `has_data` is false.
    dtype : numpy.dtype
        Of what indexing returns, in native byte order. It is a `NoDataError` of an array without a type.
    dtype_name : str
        Name of the dtype as stored: a NumPy typestring with the byte order on disk (``">f8"``), or one of
        the dtypes that NumPy lacks (``"bytes"``, ``"str"``, ``"bfloat16"``, ...).
    masked : bool
        Elements can be missing.

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> ndfile.save("array.ds", {"t": np.arange(6.0).reshape(2, 3)})
    >>> with ndfile.open("array.ds") as f:
    ...     v = f["t"]
    ...     print(v.shape, v.dtype, v[0], v[-1, ::-1], v[1, 2])
    (2, 3) float64 [0. 1. 2.] [5. 4. 3.] 5.0
    """

    __slots__ = (
        "__weakref__",
        "_appending",
        "_file",
        "_handle",
        "_last",
        "_meta",
        "_near",
        "_one",
        "_position",
        "_single",
        "dtype",
        "dtype_name",
        "masked",
        "name",
        "shape",
    )

    def __init__(
        self, file: File, name: str, handle: int, description: Description | None = None, position: int = -1
    ) -> None:
        self._file = file
        self._handle = _Handle(handle) if handle else _UNOPENED
        self.name = name
        if description is None:
            description = self._describe(handle)
        self.dtype_name, dtype, shape, self.masked, _ = description
        # What an array without data does not have is not set: see __getattr__.
        self.dtype: np.dtype
        self.shape: tuple[int, ...]
        if dtype is not None:
            self.dtype = dtype
        if shape is not None:
            self.shape = shape
        self._meta: dict[str, Any] | None = None  # of an array with a position
        # In a file that does not change: where it stands among the arrays; else -1.
        self._position = position
        # Elements and boxes are read through memory that is kept.
        self._single = not self.masked and dtype is not None and shape is not None and dtype.kind in "biufcmM"
        self._one: Element | None = None
        # Of an array that does not change: the elements around the last one, as first, end, values.
        self._near: tuple[int, int, Any] = _NOTHING_NEAR
        self._last = _FAR
        self._appending: _Appending | None = None

    def _info(self, handle: int) -> ctypes.Structure:
        info = _capi.ndf_array_info()
        info.struct_size = ctypes.sizeof(info)
        call(self._file.path, lib.ndf_array_get_info, handle, ctypes.addressof(info))
        return info

    def _describe(self, handle: int) -> Description:
        path = self._file.path
        info = self._info(handle)
        flags = info.flags
        name = info.dtype.decode() or text(path, lib.ndf_array_get_dtype, handle)
        return (
            name,
            in_memory(name),
            None if flags & _capi.NDF_ARRAY_NO_DATA else tuple(info.shape[: info.ndim]),
            bool(flags & _capi.NDF_ARRAY_MASKED),
            None,
        )

    @property
    def _description(self) -> tuple[str, tuple[int, ...] | None, bool]:
        return self.dtype_name, self.shape if self.has_data else None, self.masked

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in ("shape", "dtype"):
                raise NoDataError(f"{self._where}: the array has metadata but no data", path=self._file.path)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def _where(self) -> str:
        return f'{self._file.path}: array "{self.name}"' if self.name else self._file.path

    def _open(self) -> int:
        return self._handle.value or self._reopen()

    def _reopen(self) -> int:
        """Open the array where it has come to, as `File._reopen`."""
        file = self._file
        with file._lock:
            if file._closed:
                raise HandleError(f"{self._where}: the file is closed", path=file.path)
            if not self._handle.value:
                handle = _Handle(file._open_array(self.name))
                if self._position >= 0:
                    self._handle = handle
                    return handle.value
                name, _, shape, masked, _ = self._describe(handle.value)
                found = name, shape, masked
                if found != self._description:
                    raise HandleError(
                        f"{self._where}: the file has changed: expected {self._description}, found {found}",
                        path=file.path,
                    )
                self._handle = handle
            return self._handle.value

    def _refresh(self) -> None:
        """Take over the shape that the array has come to."""
        with self._file._lock:  # the last one sees the last shape
            shape = self._describe(self._open())[2]
            if shape is not None:
                self.shape = shape

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._file, self.name, *self._description)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Identify the content, see `File.__dask_tokenize__`."""
        return "ndfile.Array", self._file.__dask_tokenize__(), self.name

    def _extents(self) -> tuple[int, ...]:
        return self.shape

    # Description

    @property
    def has_data(self) -> bool:
        """There are elements, or could be; ds files can have metadata of arrays without any."""
        try:
            return self.shape is not None
        except NoDataError:
            return False

    @property
    def ndim(self) -> int:
        """Number of axes; 0 for scalars and arrays without data."""
        return len(self.shape) if self.has_data else 0

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape) if self.has_data else 0

    @property
    def nbytes(self) -> int:
        """Bytes that the elements take in memory; for object arrays those of the references only."""
        return self.size and self.size * self.dtype.itemsize

    @property
    def file(self) -> File:
        """The file that it is in."""
        return self._file

    def __enter__(self) -> Array:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        """Close the file; it is meant for `open_array`."""
        self._file.__exit__(kind, error, tb)

    @property
    def dims(self) -> tuple[str, ...] | None:
        """Names of the axes, or None where the file gives none."""
        path = self._file.path
        if self._position >= 0:
            dims = self._metadata().get("dims")
        else:
            dims = from_json(text(path, lib.ndf_array_get_dims, self._open()), path)
        return None if dims is None else tuple(dims)

    @property
    def fill_value(self) -> Any:
        """Value of elements that were never written; None: there is no such thing.

        It is a NumPy scalar, or a `str` or `bytes` where elements are of variable length.
        """
        if not self._info(self._open()).flags & _capi.NDF_ARRAY_FILL:
            return None
        raw = content(self._file.path, lib.ndf_array_get_fill, self._open())
        if self.dtype_name in _dtypes.VARIABLE:
            return decode(raw) if self.dtype_name == "str" else raw
        return np.frombuffer(raw, self.dtype)[0]

    @property
    def attrs(self) -> Attrs:
        """Attributes of the array, see `Attrs`."""
        return attrs_of(self)

    def _metadata(self) -> dict[str, Any]:
        """Give the metadata of an array with a position, not to be changed."""
        file = self._file
        if not file._handle:
            file._open()  # or it is closed
        meta = self._meta
        if meta is None:
            meta = self._meta = (file._tree or file._described()).metadata(self._position)
        return meta

    def _load_attrs(self) -> dict[str, Any]:
        if self._position >= 0:
            return own(self._metadata()["attrs"])
        found = from_json(self._attrs_json(), self._file.path)
        return found if isinstance(found, dict) else {}

    def _attrs_json(self) -> str:
        return text(self._file.path, lib.ndf_array_get_attrs, self._open())

    def _store_attrs(self, raw: bytes) -> None:
        call(self._file.path, lib.ndf_array_set_attrs, self._open(), raw)

    @property
    def extra(self) -> dict[str, Any]:
        """The format's own metadata, for looking at (ds: the variable's header object)."""
        path = self._file.path
        found: dict[str, Any] = from_json(text(path, lib.ndf_array_get_extra, self._open()), path)
        return found

    def __len__(self) -> int:
        if not self._extents():
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def tolist(self) -> Any:
        """Read everything as Python lists."""
        return self.read().tolist()

    def copy(self) -> np.ndarray:
        """Read everything into an array in memory."""
        return self.read()

    def astype(self, dtype: Any, **options: Any) -> np.ndarray:
        """Read everything as another dtype, as NumPy's method converts."""
        return self.read().astype(dtype, **options)

    @property
    def T(self) -> np.ndarray:
        """All elements in memory, with the axes in reverse order."""
        return self.read().T

    def _in_memory(self, *_: Any) -> Any:
        raise TypeError(
            f"{self._where}: a lazy array does not calculate or compare; read it first: v[...], or a "
            "part, or use v.sum(), v.mean(axis=0) and their like"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _in_memory
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __abs__ = _in_memory
    __matmul__ = __rmatmul__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __invert__ = _in_memory
    __lt__ = __le__ = __gt__ = __ge__ = _in_memory

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, float, complex, str, bytes, list, np.ndarray, np.generic)):
            self._in_memory()  # would be False without a word
        return self is other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return (
            f"<ndfile.Array {self.name!r}: shape {self._description[1]}, dtype {self.dtype_name}"
            f"{', masked' if self.masked else ''}{', closed' if self._file._closed else ''}>"
        )

    def _repr_html_(self) -> str:
        return _html.of_array(self)

    # Reading

    @overload
    def __getitem__(self, key: SupportsIndex | tuple[SupportsIndex, ...]) -> Any: ...
    @overload
    def __getitem__(self, key: Any) -> npt.NDArray[Any]: ...
    def __getitem__(self, key: Any) -> Any:
        if key is Ellipsis:
            whole: np.ndarray = self._whole()
            return whole
        if key.__class__ is int:
            first, end, values = self._near
            if first <= key < end and self._handle.value:
                return values[key - first]
            if self._is_near(key):
                return self._read_near(key)
        elif key.__class__ is tuple and self._single and len(key) == len(self.shape):
            one, self._one = self._one or Element(self.dtype, len(key)), None
            value = one.read(self, key)
            self._one = one
            if value is not None:
                return value
        elif is_array(key):
            return self._take_masked(key) if is_mask(key, self) else self.take(key)
        if key.__class__ is tuple and any(map(is_array, key)):
            return self._take_along(key)
        selection = select(key, self._extents(), self._where)
        result = self._read(selection)
        if not selection.scalar:
            return result
        if self.masked and result.mask[()]:
            return np.ma.masked
        return np.asarray(result)[()]

    def _whole(self) -> Any:
        """Read everything."""
        i = self._position
        if i >= 0:
            file = self._file
            handle, tree = file._handle or file._open(), file._tree or file._described()
            part = tree.ahead
            if part is not None and 0 <= i - part.first < part.n:
                value = part.value(i)
            else:
                value = tree.value(handle, i)
            if value is not None:
                return value
        return self._read(select(Ellipsis, self._extents(), self._where))

    def _is_near(self, key: int) -> bool:
        """Tell whether elements are asked for one by one, each near the one before, and cannot change."""
        last, self._last = self._last, key
        return (
            -1024 < key - last < 1024
            and self._file.mode == "r"
            and not self.masked
            and self.dtype_name not in _dtypes.VARIABLE
            and self.ndim == 1
            and 0 <= key < self.shape[0]
            and self.dtype.itemsize <= _NEAR // 8
        )

    def _read_near(self, key: int) -> Any:
        """Read an element and those around it."""
        n = _NEAR // self.dtype.itemsize
        first = max(0, key - n // 2)
        end = min(first + n, self.shape[0])
        values = self._read(select(slice(first, end), self._extents(), self._where))
        self._near = first, end, values
        return values[key - first]

    def read(self, key: Any = Ellipsis, *, out: np.ndarray | None = None, narrow: bool = False) -> np.ndarray:
        """Read a selection, into memory of yours if you like.

        Parameters
        ----------
        key : index, optional
            What would stand between the brackets of ``v[...]``. Default: everything.
        out : numpy.ndarray, optional
            Writable array of the selection's shape, of any strides, of this dtype or one that it widens
            into exactly (int16 into float64, either byte order). A `numpy.ma.MaskedArray` receives the mask
            too; with another array missing elements are a `MaskedError`. Texts need dtype object. It is
            faster than fresh memory when it is used again.
        narrow : bool, optional
            `out` may be of a smaller type that holds the values which are there: float64 into float32
            (rounded), int32 into int16, whole floats into integers.

        Returns
        -------
        numpy.ndarray or numpy.ma.MaskedArray
            `out`, or a new array (of no axes where NumPy would give a scalar).

        Raises
        ------
        ShapeError, DTypeError
            `out` does not fit.
        MaskedError
            Elements are missing and `out` has no mask.
        ValueNotRepresentableError
            With `narrow`, an element does not fit; the message has its index.

        Examples
        --------
        >>> import ndfile, numpy as np
        >>> ndfile.save("out.ds", {"n": np.arange(4, dtype="i2")})
        >>> buf = np.empty((2, 2))
        >>> with ndfile.open("out.ds") as f:
        ...     _ = f["n"].read(slice(2), out=buf[:, 1])
        >>> buf[:, 1]
        array([0., 1.])
        """
        if key is Ellipsis and out is None:
            whole: np.ndarray = self._whole()
            return whole
        load = lib.ndf_array_read_narrow if narrow else lib.ndf_array_read
        result: np.ndarray = self._read(select(key, self._extents(), self._where), out, load=load)
        return result

    def _take_along(self, key: tuple[Any, ...]) -> Any:
        """Index by one array among slices and integers, where NumPy means the same as `oindex`."""
        ranges = [isinstance(item, slice) or item is Ellipsis for item in key]
        arrays = [i for i, item in enumerate(key) if is_array(item)]
        integers = len(key) - sum(ranges) - len(arrays)
        if len(arrays) > 1 or (integers and any(ranges[: arrays[0]])):
            raise NotSupportedError(
                f"{self._where}: v[...] takes one array or list, and integers only where it comes first; use "
                "v.oindex or index v[...] in memory",
                path=self._file.path,
            )
        return self.oindex[key]

    def _take_masked(self, mask: Any) -> np.ndarray:
        """Read the elements for which a mask of several axes is true, in their order."""
        result: np.ndarray = self.vindex[np.nonzero(np.asarray(mask))]
        return result

    @property
    def vindex(self) -> Points:
        """Elements by their positions: ``v.vindex[[0, 5], [2, 2]]`` gives elements (0, 2) and (5, 2)."""
        return Points(self)

    def take(self, rows: Any, *, out: np.ndarray | None = None) -> np.ndarray:
        """Read some rows, in any order; ``v[rows]`` does the same.

        Each chunk is decoded once, however many of its rows are taken.

        Parameters
        ----------
        rows : array_like
            Positions along the first axis: integers of any order, also with repetitions and negative ones,
            or as many booleans as there are rows.
        out : numpy.ndarray, optional
            Memory for them, as for `read`.

        Returns
        -------
        numpy.ndarray or numpy.ma.MaskedArray
            `out`, or a new array.

        Raises
        ------
        BoundsError
            A position is out of bounds, or the array has no axes (an IndexError).

        Examples
        --------
        >>> import ndfile, numpy as np
        >>> ndfile.save("take.ds", {"x": np.arange(10) * 10})
        >>> with ndfile.open("take.ds") as f:
        ...     f["x"].take([7, 0, -1])
        array([70,  0, 90])
        """
        extents = self._extents()
        if not extents:
            raise BoundsError(f"{self._where}: a scalar has no rows", path=self._file.path)
        index = positions(rows, 0, extents[0], self._where)
        if self.dtype_name in _dtypes.VARIABLE:
            result: np.ndarray = self.oindex[index]
            if out is None:
                return result
            self._check_out(result.shape, out)
            out[...] = result
            return out
        whole = select(Ellipsis, (len(index), *extents[1:]), self._where)
        taken: np.ndarray = self._read(whole, out, index)
        return taken

    @property
    def oindex(self) -> Orthogonal:
        """Orthogonal indexing: ``v.oindex[[1, 5], :, mask]``, see `Orthogonal`."""
        return Orthogonal(self)

    def iterblocks(self, n: int | None = None) -> Iterator[np.ndarray]:
        """Read the array in blocks of rows, one after the other.

        Parameters
        ----------
        n : int, optional
            Rows of a block; the last one has what is left. Default: those of a chunk, or some MiB. An array
            without elements is one block, if it has rows.

        Examples
        --------
        >>> import ndfile, numpy as np
        >>> ndfile.save("blocks.ds", {"x": np.arange(5)})
        >>> with ndfile.open("blocks.ds") as f:
        ...     print(*f["x"].iterblocks(2))
        [0 1] [2 3] [4]
        """
        rows = len(self)
        if n is not None and n < 1:
            raise ArgumentError(f"n: expected rows of a block, found {n}")
        if self.size == 0:
            n = max(1, rows)
        elif n is None:
            n = self.chunks[0] if self.chunks else max(1, _BLOCK // max(1, self.nbytes // rows))
        return (self[i : i + n] for i in range(0, rows, n))

    def map(self) -> np.ndarray:
        """Map the elements into memory, without reading or copying them.

        Pages come from the file when they are touched. The memory stays mapped as long as the array, or a
        view of it, lives, also after the file is closed.

        Returns
        -------
        numpy.ndarray
            Read-only, row-major.

        Raises
        ------
        NotSupportedError
            The elements do not lie in the file as they are in memory: for example they are in the other byte
            order, not aligned, masked or of variable length. The message tells which.

        Notes
        -----
        When another program makes the file shorter, touching the pages that are gone ends the process.

        Examples
        --------
        >>> import ndfile, numpy as np
        >>> ndfile.save("map.ra", np.arange(6.0))
        >>> with ndfile.open("map.ra") as f:
        ...     a = f.array.map()
        >>> a[1:3]
        array([1., 2.])
        """
        data, size, mapping = ctypes.c_void_p(), ctypes.c_int64(), ctypes.c_uint64()
        places = map(ctypes.addressof, (data, size, mapping))
        call(self._file.path, lib.ndf_array_map, self._open(), *places)
        memory = _Mapping(mapping.value, data.value, size.value)
        raw = np.asarray(memory) if size.value else np.ndarray(0, np.uint8, b"")  # without an address
        return raw.view(self.dtype).reshape(self._extents())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Read everything for NumPy. Missing elements are a `MaskedError`; use ``v[...]``."""
        if copy is False:
            raise ValueError(f"{self._where}: reading a file always makes a copy")
        if self.masked:
            raw = np.empty(self._extents(), self.dtype)
            result = self.read(out=raw)
        else:
            result = self.read()
        return result if dtype is None else result.astype(dtype, copy=False)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Give the elements along the first axis as an Arrow stream, for ``polars.Series(v)`` and its like.

        Types and errors are as for `Table.__arrow_c_stream__`.
        """
        return _arrow.of_array(self._file.path, self._open())

    def _read(
        self,
        selection: Selection,
        out: np.ndarray | None = None,
        rows: np.ndarray | None = None,
        load: Any = lib.ndf_array_read,
    ) -> Any:
        """Read a selection of the array; or rows, of which it is all that there are."""
        if out is not None:
            self._check_out(selection.shape, out)
        if self.dtype_name in _dtypes.VARIABLE:
            return self._read_texts(selection, out)
        masked = self.masked if out is None else isinstance(out, np.ma.MaskedArray)
        if out is None:
            self._check_file(selection)
            try:
                data = np.empty(selection.shape, self.dtype)
            except ValueError as e:  # NumPy bears no such extents, also without elements
                raise LimitError(f"an array of shape {selection.shape}: {e}", path=self._file.path) from None
            except MemoryError:
                size = math.prod(selection.shape) * self.dtype.itemsize
                raise NoMemoryError(
                    f"{self._where}: no memory for elements of shape {selection.shape}, {size} bytes; "
                    "read it in parts, if the shape is right",
                    path=self._file.path,
                ) from None
        else:
            data = np.asarray(out)
        box = data[selection.view]
        if self._single and out is None and rows is None and box.flags.c_contiguous and data.nbytes < LONG:
            one, self._one = self._one or Element(self.dtype, len(self.shape)), None
            one.read_box(self, selection, data)
            self._one = one
            return data
        # The library writes the mask without gaps, in the order of the box.
        mask = np.empty(selection.counts, np.uint8) if masked and self.masked else None
        if rows is None:
            self._load(load, self._box(selection), box, mask)
        else:
            self._load(lib.ndf_array_take, (_elements.address(rows), len(rows)), box, mask)
        if not masked:
            return data if out is None else out
        return self._with_mask(selection, data, mask, out)

    def _read_points(self, axes: int, points: np.ndarray) -> Any:
        """Read what stands at positions along the first axes."""
        shape = len(points), *self._extents()[axes:]
        data = np.empty(shape, self.dtype)
        mask = np.empty(shape, np.uint8) if self.masked else None
        place = axes, _elements.address(points), len(points)
        self._load(lib.ndf_array_read_points, place, data, mask)
        return data if mask is None else np.ma.MaskedArray(data, mask=mask.view(bool))

    def _load(self, function: Any, place: tuple[Any, ...], box: np.ndarray, mask: np.ndarray | None) -> None:
        name = None if box.dtype == self.dtype else _dtypes.from_numpy(box.dtype).encode()
        strides = None if box.flags.c_contiguous else INT64S[box.ndim](*box.strides)
        where = None if mask is None else _elements.address(mask)
        data = _elements.address(box)
        with interruptible(box.nbytes):
            call(self._file.path, function, self._open(), *place, name, data, strides, where)

    def _read_texts(self, selection: Selection, out: np.ndarray | None) -> np.ndarray:
        masked = self.masked and (out is None or isinstance(out, np.ma.MaskedArray))
        if out is None:
            self._check_file(selection)
        mask = np.empty(selection.counts, np.uint8) if masked else None
        texts = self._load_texts(self._box(selection), math.prod(selection.counts), mask)
        data = np.empty(selection.shape, object) if out is None else np.asarray(out)
        data[selection.view] = _elements.unpack(
            texts.dtype, texts.offsets, bytes(texts.data), selection.counts
        )
        if masked or isinstance(out, np.ma.MaskedArray):
            return self._with_mask(selection, data, mask, out)
        return data if out is None else out

    def _load_texts(self, place: tuple[Any, ...], n: int, mask: np.ndarray | None) -> _elements.Texts:
        offsets = np.empty(n + 1, np.int64)
        at = _elements.address(offsets)
        where = None if mask is None else _elements.address(mask)
        err, need = _capi.ndf_error(), ctypes.c_int64()
        room = max(1, min(64 * n, 1 << 20))
        while True:
            raw, need.value = bytearray(room), room
            data = ctypes.addressof(ctypes.c_char.from_buffer(raw))
            rest = ctypes.addressof(need), where, ctypes.addressof(err)
            with interruptible(32 * n):
                status = lib.ndf_array_read_strings(self._open(), *place, at, data, *rest)
            if not status:
                return _elements.Texts(self.dtype_name, offsets, bytes(raw[: need.value]))
            if status != _capi.NDF_ERR_BUFFER or need.value <= room:
                raise failure(status, err, self._file.path)
            room = need.value

    def _check_file(self, selection: Selection) -> None:
        """Before much memory is allocated: reading one element finds out whether the file is long enough."""
        if math.prod(selection.counts) * 8 < _MUCH:
            return
        ones = (1,) * len(selection.counts)
        place, mask = self._box(selection._replace(counts=ones, steps=ones)), np.empty(ones, np.uint8)
        if self.dtype_name in _dtypes.VARIABLE:
            self._load_texts(place, 1, mask)
        else:
            self._load(lib.ndf_array_read, place, np.empty(ones, self.dtype), mask)

    @staticmethod
    def _with_mask(selection: Selection, data: np.ndarray, mask: np.ndarray | None, out: Any) -> np.ndarray:
        """Give data its mask, which is in the order of the box; None is a mask of nothing."""
        full = np.zeros(selection.shape, bool)
        if mask is not None:
            full[selection.view] = mask.view(bool)
        if out is None:
            return np.ma.MaskedArray(data, mask=full)
        masked: np.ma.MaskedArray = out
        masked.mask = full
        return masked

    def _check_out(self, shape: tuple[int, ...], out: Any) -> None:
        if not isinstance(out, np.ndarray):
            raise ArgumentError(f"out: expected a numpy.ndarray, found {type(out).__name__}")
        if out.shape != shape:
            raise ShapeError(f"{self._where}: out: expected shape {shape}, found {out.shape}")
        if self.dtype_name in _dtypes.VARIABLE and out.dtype.kind != "O":
            raise DTypeError(f"{self._where}: out: expected dtype object, found {out.dtype}")
        if not out.flags.writeable:
            raise ReadOnlyError("out: the array is read-only")

    @staticmethod
    def _box(selection: Selection) -> tuple[Any, ...]:
        ndim = len(selection.counts)
        pack = INT64S[ndim]
        return ndim, pack(*selection.starts), pack(*selection.counts), pack(*selection.steps)

    # Writing

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_mask(key, self) or is_array(key) or (key.__class__ is tuple and any(map(is_array, key))):
            assign(self, key, value)
            return
        selection = select(key, self._extents(), self._where)
        dtype: Any = self.dtype  # there is one where there are extents
        if value is np.ma.masked:
            value = _missing(dtype)
        elif isinstance(value, Array):
            value = value[...]
        texts = self.dtype_name in _dtypes.VARIABLE
        if texts:
            data, mask = _elements.split_mask(_elements.as_array(value, self._where))
        else:
            data, mask = _elements.split_mask(_elements.convert(value, dtype, self._where))
        data = self._fit(data, selection)
        if mask is not None:
            mask = np.ascontiguousarray(self._fit(mask, selection))
        if texts:
            self._write(
                selection, _elements.pack(data.astype(object), mask, self._where, self.dtype_name), mask
            )
        else:
            self._write(selection, data, mask)

    def append(self, data: Any, axis: int = 0) -> None:
        """Grow the array along an axis and store data behind what was there.

        For formats whose arrays can change their length (``"resize"`` in `formats`). The columns of a table
        grow together: `Table.append`.

        Parameters
        ----------
        data : array_like
            As many elements along the other axes as the array has; or with one axis less, one step along
            `axis`. Values are taken as by ``v[...] = data``.
        axis : int, default 0
            Axis to grow along.

        Notes
        -----
        What does not fill a chunk may wait in memory until `File.flush` or `File.close`. All readers of
        this file see it at once.

        Examples
        --------
        >>> import ndfile
        >>> with ndfile.open("append.bcolz", "w") as f:
        ...     v = f.create("", 0, "f8")
        ...     v.append([1, 2])
        ...     v.append(3)
        >>> ndfile.read("append.bcolz")
        array([1., 2., 3.])
        """
        extents = self._extents()
        ndim = len(extents)
        if ndim == 1 and axis == 0 and data.__class__ is np.ndarray and data.dtype == self.dtype:
            place = self._appending
            if place is None:
                place = self._appending = _Appending(self.dtype)
            if place.append(self, data):
                return
        if not -ndim <= axis < ndim:
            raise BoundsError(f"{self._where}: axis {axis} is out of bounds for {ndim} axes")
        values = self._values(data)
        if values.ndim == ndim - 1:
            values = np.expand_dims(values, axis)
        if values.ndim != ndim:
            raise ShapeError(f"{self._where}: expected data of {ndim} axes, found shape {values.shape}")
        name = None if values.dtype == self.dtype else _dtypes.from_numpy(values.dtype).encode()
        strides = None if values.flags.c_contiguous else INT64S[ndim](*values.strides)
        what = INT64S[ndim](*values.shape), name, _elements.address(values), strides
        call(self._file.path, lib.ndf_array_append, self._open(), axis % ndim, ndim, *what)
        self._refresh()

    def _given(self, value: Any) -> Any:
        """Take what is to be assigned as an array; texts as objects."""
        if value is np.ma.masked:
            return _missing(self.dtype)
        return _elements.as_array(value[...] if isinstance(value, Array) else value, self._where)

    def _fitted(self, value: np.ndarray) -> Any:
        """Give elements as this array has them in memory; refuse what does not fit exactly."""
        if self.dtype_name in _dtypes.VARIABLE:
            return value
        return _elements.convert(value, self.dtype, self._where)

    def _rows(self, data: Any) -> np.ndarray | _elements.Texts:
        """Make rows of this column of anything; texts may stay of any length."""
        if isinstance(data, _elements.Texts):
            return data
        if self.dtype.kind in "SU" and self.ndim == 1:
            texts = _elements.as_array(data[...] if isinstance(data, Array) else data, self._where)
            if texts.dtype.kind in "OT" and texts.ndim == 1 and not isinstance(texts, np.ma.MaskedArray):
                return _elements.pack(texts.astype(object), None, self._where)
        return self._values(data)

    def _values(self, data: Any) -> np.ndarray:
        """Make elements of this array of anything; none may be missing."""
        if self.dtype_name in _dtypes.VARIABLE:
            raise NotSupportedError(f"{self._where}: elements of variable length cannot be appended")
        value = data[...] if isinstance(data, Array) else data
        values, mask = _elements.split_mask(_elements.convert(value, self.dtype, self._where))
        if mask is not None:
            raise MaskedError(f"{self._where}: missing elements cannot be appended")
        return values

    def resize(self, shape: Any) -> None:
        """Change the shape in place; an integer is the length of the first axis.

        Elements that come into being have the fill value. What falls outside is gone for good, at once.
        """
        extents = lengths(shape, "shape", self._where)
        if not np.iterable(shape):
            extents += self._extents()[1:]
        ndim = len(extents)
        call(self._file.path, lib.ndf_array_resize, self._open(), ndim, INT64S[ndim](*extents))
        self._refresh()

    def _fit(self, value: np.ndarray, selection: Selection) -> np.ndarray:
        """Broadcast a value to the selection and give it the form of the box."""
        while value.ndim > len(selection.shape) and value.shape[0] == 1:
            value = value[0]
        try:
            box: np.ndarray = np.broadcast_to(value, selection.shape)[selection.view]
        except ValueError:
            raise ShapeError(
                f"{self._where}: could not broadcast input array from shape {value.shape} "
                f"into shape {selection.shape}"
            ) from None
        return box

    def _write(
        self, selection: Selection, data: np.ndarray | _elements.Texts, mask: np.ndarray | None
    ) -> None:
        """Write a box; data has its shape, the mask too, without gaps."""
        args: tuple[Any, ...]
        if isinstance(data, _elements.Texts):
            function = lib.ndf_array_write_strings
            args = _elements.address(data.offsets), data.data
        else:
            function = lib.ndf_array_write
            name = None if data.dtype == self.dtype else _dtypes.from_numpy(data.dtype).encode()
            strides = None if data.flags.c_contiguous else INT64S[data.ndim](*data.strides)
            args = name, _elements.address(data), strides
        missing = None if mask is None else _elements.address(mask)
        call(self._file.path, function, self._open(), *self._box(selection), *args, missing)


def _missing(dtype: np.dtype) -> np.ndarray:
    """Make an element that is missing."""
    return np.ma.MaskedArray(np.zeros((), dtype), mask=True)


class _Appending:
    """Memory for appending few elements at a time, with pointers to it that are made once."""

    __slots__ = ("append_args", "count", "err", "handle", "info_args", "length", "lock", "values")

    def __init__(self, dtype: np.dtype) -> None:
        self.values = np.empty(max(1, _NEAR // dtype.itemsize), dtype)
        self.handle = ctypes.c_uint64()
        self.count = ctypes.c_int64()
        self.err = _capi.ndf_error()
        self.lock = threading.Lock()
        info = _capi.ndf_array_info()
        info.struct_size = ctypes.sizeof(info)
        self.length = ctypes.c_int64.from_buffer(info, _capi.ndf_array_info.shape.offset)
        err = ctypes.byref(self.err)
        axis, ndim, dtype_as_stored, dense = ctypes.c_int32(0), ctypes.c_int32(1), None, None
        data = ctypes.c_void_p(_elements.address(self.values))
        self.append_args = (
            self.handle,
            axis,
            ndim,
            ctypes.byref(self.count),
            dtype_as_stored,
            data,
            dense,
            err,
        )
        self.info_args = (self.handle, ctypes.byref(info), err)

    def append(self, array: Array, data: np.ndarray) -> bool:
        """Append to an array of one axis; False when there is too much of it, or another thread is at it."""
        n = len(data) if data.ndim == 1 else -1
        if not 0 <= n <= len(self.values) or not self.lock.acquire(blocking=False):
            return False
        try:
            self.values[:n] = data
            self.count.value = n
            self.handle.value = array._open()
            with array._file._lock:  # the last one sees the last shape
                status = _ndf_array_append(*self.append_args) or _ndf_array_info_get(*self.info_args)
                if status:
                    raise failure(status, self.err, array._file.path)
                array.shape = (self.length.value,)
        finally:
            self.lock.release()
        return True


def _unpickle(file: File, name: str, dtype_name: str, shape: tuple[int, ...] | None, masked: bool) -> Array:
    """Make an Array that is opened when it is used; the same object for the same name."""
    with file._lock:
        array = file._array_in_use(name)
        if array is None:
            array = Array(file, name, 0, (dtype_name, in_memory(dtype_name), shape, masked, None))
            file._arrays[name] = weakref.ref(array)
        return array
