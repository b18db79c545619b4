"""Array: one array of an open file, read and written piece by piece."""

from __future__ import annotations

import ctypes
import math
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _capi, _dtypes, _html
from ._attrs import Attrs, from_json
from ._attrs import of as attrs_of
from ._chunks import Chunked
from ._element import Element
from ._errors import HandleError, NoDataError
from ._handles import Handle
from ._lib import call, content, decode, lib, text
from ._reading import Readable
from ._reduce import StoredReducible
from ._tree import Description, in_memory, own
from ._writing import Appending, Writable

if TYPE_CHECKING:
    from ._file import File

#: Of arrays that are not open in the library yet.
_UNOPENED = Handle(0)


class Array(Readable, Writable, Chunked, StoredReducible):
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

    __slots__ = ()

    def __init__(
        self, file: File, name: str, handle: int, description: Description | None = None, position: int = -1
    ) -> None:
        self._file = file
        self._handle = Handle(handle) if handle else _UNOPENED
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
        self._appending: Appending | None = None

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
                handle = Handle(file._open_array(self.name))
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

    @property
    def _changeable(self) -> bool:
        return self._file.mode != "r"

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


def _unpickle(file: File, name: str, dtype_name: str, shape: tuple[int, ...] | None, masked: bool) -> Array:
    """Make an Array that is opened when it is used; the same object for the same name."""
    with file._lock:
        array = file._array_in_use(name)
        if array is None:
            array = Array(file, name, 0, (dtype_name, in_memory(dtype_name), shape, masked, None))
            file._arrays[name] = weakref.ref(array)
        return array
