"""File: an open file or folder, a mapping of its arrays."""

from __future__ import annotations

import ctypes
import os
import threading
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from . import _capi, _dtypes, _elements
from ._array import Array, spec
from ._attrs import Attrs, from_json, to_json
from ._errors import ArgumentError, HandleError, NameNotFoundError
from ._index import select
from ._lib import Path, call, encode_name, encode_path, lib, text

_KINDS = {
    _capi.NDF_KIND_ARRAY: "array",
    _capi.NDF_KIND_DATASET: "dataset",
    _capi.NDF_KIND_TABLE: "table",
}
_COMMITS = {"atomic": _capi.NDF_COMMIT_ATOMIC, "direct": _capi.NDF_COMMIT_DIRECT}


def write_options(commit: str = "atomic", sync: bool = False, exclusive: bool = False) -> ctypes.Structure:
    """Make the C options of writing."""
    if commit not in _COMMITS:
        raise ArgumentError(f"commit: expected 'atomic' or 'direct', found {commit!r}")
    options = _capi.ndf_write_options()
    options.struct_size = ctypes.sizeof(options)
    options.commit = _COMMITS[commit]
    options.sync = bool(sync)
    options.exclusive = bool(exclusive)
    return options


class File(Mapping):
    """An open file or folder: a mapping of names to `Array`, in file order. Made by `open`.

    Use it in a ``with`` statement. A file being created appears at its path when it is closed, whole; left
    by an exception, or collected as garbage unclosed (with a `ResourceWarning`), it leaves nothing, and an
    older file at the path as it was.

    Files may be used by several threads at once. After `close` everything but `close`, `abort` and the
    attributes below is a `HandleError` (a `ValueError`).

    Attributes
    ----------
    path : str
        As given to `open`.
    mode : str
        ``"r"``, ``"r+"``, ``"w"`` or ``"x"``.
    format : str
        Name of the format, such as ``"ds"``.
    kind : str
        ``"array"`` (one array), ``"dataset"`` (named arrays) or ``"table"`` (columns of one length).

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> with ndfile.open("file.ds", "w") as f:
    ...     f["x"] = np.arange(3)
    ...     rows = f.create("rows", (4, 2), "f4", dims=("time", "band"))
    ...     for i in range(0, 4, 2):
    ...         rows[i : i + 2] = np.full((2, 2), i, "f4")
    ...     f.attrs["title"] = "example"
    >>> with ndfile.open("file.ds") as f:
    ...     print(f.format, f.kind, list(f), f["rows"].dims, f["rows"][3])
    ds dataset ['rows', 'x'] ('time', 'band') [2. 2.]
    """

    __slots__ = ("__weakref__", "_arrays", "_handle", "_lock", "_names", "format", "kind", "mode", "path")

    def __init__(self, path: Path, mode: str, handle: int) -> None:
        self.path = os.fsdecode(path)
        self.mode = mode
        self._handle = handle
        self._lock = threading.RLock()  # of what follows and the handle
        self._names: tuple[str, ...] | None = None
        # The arrays in use: the same object for the same name, and to be closed with the file.
        self._arrays: weakref.WeakValueDictionary[str, Array] = weakref.WeakValueDictionary()
        self.format = self.kind = ""
        info = self._info()
        self.format = info.format.decode()
        self.kind = _KINDS.get(info.kind, "unknown")

    def _open(self) -> int:
        handle = self._handle
        if not handle:
            raise HandleError(f"{self.path}: the file is closed", path=self.path)
        return handle

    def _info(self) -> ctypes.Structure:
        info = _capi.ndf_file_info()
        info.struct_size = ctypes.sizeof(info)
        call(self.path, lib.ndf_file_info_get, self._open(), ctypes.addressof(info))
        return info

    # The mapping

    def _list(self) -> tuple[str, ...]:
        handle = self._open()
        names = self._names
        if names is None:
            n = self._info().narrays
            names = tuple(text(self.path, lib.ndf_file_name, handle, i) for i in range(n))
            self._names = names
        return names

    def __iter__(self) -> Iterator[str]:
        return iter(self._list())

    def __len__(self) -> int:
        return len(self._list())

    def __contains__(self, name: object) -> bool:
        return name in self._list()

    def __getitem__(self, name: str) -> Array:
        with self._lock:
            opened = self._open()
            array = self._arrays.get(name)
            if array is None:
                names = self._list()
                if name not in names:
                    raise NameNotFoundError(f"{self.path}: no array of the name {name!r}", path=self.path)
                handle = ctypes.c_uint64()
                at = ctypes.addressof(handle)
                call(self.path, lib.ndf_file_array_at, opened, names.index(name), at)
                array = self._arrays[name] = Array(self, name, handle.value)
            return array

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def array(self) -> Array:
        """The array of a file of kind ``"array"``; ArgumentError (a ValueError) for other files."""
        if self.kind != "array":
            raise ArgumentError(
                f"{self.path}: a {self.kind} of {len(self)} arrays, not one array; index by name",
                path=self.path,
            )
        return self[self._list()[0]]

    @property
    def attrs(self) -> Attrs:
        """Attributes of the file, see `Attrs`."""
        return Attrs(self._load_attrs, self._store_attrs)

    def _load_attrs(self) -> dict:
        return from_json(text(self.path, lib.ndf_file_attrs, self._open()), self.path)

    def _store_attrs(self, raw: bytes) -> None:
        call(self.path, lib.ndf_file_set_attrs, self._open(), raw)

    # Writing

    def create(
        self,
        name: str,
        shape: Any,
        dtype: Any,
        dims: Sequence[str] | None = None,
        attrs: Mapping[str, Any] | None = None,
        masked: bool = False,
    ) -> Array:
        """Declare a new array, to be written afterwards.

        Parameters
        ----------
        name : str
            Any text; ``""`` in single-array formats.
        shape : int or sequence of int
            Row-major; ``()`` for a scalar.
        dtype
            What `numpy.dtype` takes (the byte order is the one on disk), or ``"str"``, ``"bytes"`` and the
            types `str` and `bytes` for elements of variable length, or ``"bfloat16"`` and the like.
        dims : sequence of str, optional
            Names of the axes.
        attrs : mapping, optional
            Attributes, see `Attrs`.
        masked : bool, default False
            Elements may be missing. An array in which nothing is missing in the end is stored plain.

        Returns
        -------
        Array
            To be written with ``v[...] = x``: ds files take it once, whole or as consecutive blocks of rows
            along the first axis.

        Raises
        ------
        NameExistsError, DTypeError, ShapeError
        ReadOnlyError
            The file is open for reading.
        """
        where = f"{self.path}: array {name!r}"
        s = spec(shape, _dtypes.declared(dtype), dims, attrs, masked, where)
        handle = ctypes.c_uint64()
        at = ctypes.addressof(s), ctypes.addressof(handle)
        with self._lock:
            call(self.path, lib.ndf_file_add, self._open(), encode_name(name), *at)
            self._names = None
            array = self._arrays[name] = Array(self, name, handle.value)
        return array

    def add(
        self,
        name: str,
        data: Any,
        dims: Sequence[str] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> Array:
        """Declare a new array and write all of it; ``f[name] = data`` does the same.

        `data` is what `save` takes: arrays of any strides and byte order, masked arrays, scalars, lists,
        object arrays of `str` or of `bytes`.
        """
        where = f"{self.path}: array {name!r}"
        item = _elements.prepare(data[...] if isinstance(data, Array) else data, where)
        array = self.create(name, item.shape, item.dtype, dims, attrs, item.mask is not None)
        array._write(select(Ellipsis, item.shape, where), item.data, item.mask)
        return array

    def __setitem__(self, name: str, data: Any) -> None:
        self.add(name, data)

    # The end

    def close(self) -> None:
        """Close the file and its arrays; a file being created appears at its path. Twice is fine.

        Raises
        ------
        NdfileError
            What was written cannot be committed. Nothing of a created file is left then, an older file is
            as it was, and this object is closed.
        """
        self._end(lib.ndf_file_close)

    def abort(self) -> None:
        """Close the file without committing: nothing of a created file is left. Twice is fine."""
        self._end(lib.ndf_file_abort)

    def _end(self, function: Any) -> None:
        with self._lock:
            handle, self._handle = self._handle, 0
            arrays = list(self._arrays.values())
        if not handle:
            return
        try:
            call(self.path, function, handle)
        finally:
            for array in arrays:
                array._handle.close()

    def __enter__(self) -> File:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        if kind is not None and self.mode in ("w", "x"):
            self.abort()
        else:
            self.close()

    def __del__(self) -> None:
        if not getattr(self, "_handle", 0):
            return
        if self.mode in ("w", "x"):
            warnings.warn(f"{self!r} was never closed: nothing is written", ResourceWarning, 2, source=self)
            self.abort()
        else:
            self.close()

    def __repr__(self) -> str:
        state = f"mode {self.mode!r}" if self._handle else "closed"
        return f"<ndfile.File {self.path!r}: {self.format} {self.kind}, {state}>"


def open(
    path: Path,
    mode: str = "r",
    format: str | None = None,
    *,
    attrs: Mapping[str, Any] | None = None,
    commit: str = "atomic",
    sync: bool = False,
) -> File:
    """Open or create a file.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        The file or folder.
    mode : {"r", "r+", "w", "x"}, default "r"
        Reading; reading and changing (ds does not allow it: use `save`); creating, in place of an older
        file; creating, where nothing exists yet.
    format : str, optional
        Name of the format, see `formats`. Default: by content when reading, by extension when creating.
    attrs : mapping, optional
        Attributes of a new file.
    commit : {"atomic", "direct"}, default "atomic"
        A new file is written beside its path and renamed when it is closed, or written in place: quicker,
        but a crash can leave a torn file.
    sync : bool, default False
        Flush a new file and its folder to the disk before `close` returns.

    Returns
    -------
    File

    Raises
    ------
    NotFoundError
        Nothing is there (a FileNotFoundError).
    ExistsError
        With mode "x": something is (a FileExistsError).
    FormatError
        No format recognises the file, or the extension does not tell which to create (a ValueError).
    CorruptError
        The file is damaged (a ValueError).
    NotSupportedError
        The format does not allow the mode (a NotImplementedError).

    Examples
    --------
    >>> import ndfile
    >>> with ndfile.open("open.ds", "w") as f:
    ...     f["x"] = [1, 2, 3]
    >>> with ndfile.open("open.ds") as f:
    ...     f["x"][1:]
    array([2, 3])
    """
    raw = encode_path(path)
    name = None if format is None else encode_name(format)
    handle = ctypes.c_uint64()
    out = ctypes.addressof(handle)
    if mode in ("w", "x"):
        options = write_options(commit, sync, mode == "x")
        call(path, lib.ndf_file_create, raw, name, to_json(attrs), ctypes.addressof(options), out)
    elif mode in ("r", "r+"):
        if attrs is not None:
            raise ArgumentError("attrs: only for new files; use File.attrs")
        given = _capi.ndf_open_options()
        given.struct_size = ctypes.sizeof(given)
        given.mode = _capi.NDF_MODE_UPDATE if mode == "r+" else _capi.NDF_MODE_READ
        given.format = name
        call(path, lib.ndf_file_open, raw, ctypes.addressof(given), out)
    else:
        raise ArgumentError(f"mode: expected 'r', 'r+', 'w' or 'x', found {mode!r}")
    return File(path, mode, handle.value)
