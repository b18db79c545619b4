"""File: an open file or folder, a mapping of its arrays."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import struct
import sys
import threading
import time
import uuid
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from . import _capi, _dtypes, _elements, _html
from ._array import Array
from ._attrs import Attrs, from_json, to_json
from ._attrs import of as attrs_of
from ._copies import carried
from ._copies import storage as stored_as
from ._errors import (
    ArgumentError,
    BusyError,
    CanceledError,
    ForkedError,
    HandleError,
    NameNotFoundError,
    NotSupportedError,
    failure,
)
from ._group import Group
from ._index import select
from ._lib import Path, call, content, encode_name, encode_path, lib, text
from ._load import _pool as _scratches
from ._load import take
from ._names import unknown
from ._progress import Watch
from ._spec import spec
from ._stream import Copy
from ._tree import Part, Tree, all_names

if TYPE_CHECKING:
    from typing_extensions import Self

_KINDS = {
    _capi.NDF_KIND_ARRAY: "array",
    _capi.NDF_KIND_DATASET: "dataset",
    _capi.NDF_KIND_TABLE: "table",
}


class About(NamedTuple):
    """What an open file is."""

    format: str
    kind: str
    caps: int
    narrays: int
    nrows: int | None  # of a table
    unlocked: bool


# Called with prepared pointers only.
_ndf_file_close, _ndf_file_abort = lib["ndf_file_close"], lib["ndf_file_abort"]
_COMMITS = {"atomic": _capi.NDF_COMMIT_ATOMIC, "direct": _capi.NDF_COMMIT_DIRECT}


def write_options(
    commit: str = "atomic",
    sync: bool = False,
    exclusive: bool = False,
    trailing: bytes = b"",
    timeout_ms: int = 0,
) -> ctypes.Structure:
    """Make the C options of writing."""
    if commit not in _COMMITS:
        raise ArgumentError(f"commit: expected 'atomic' or 'direct', found {commit!r}")
    options = _capi.ndf_write_options()
    options.struct_size = ctypes.sizeof(options)
    options.commit = _COMMITS[commit]
    options.sync = bool(sync)
    options.exclusive = bool(exclusive)
    options.timeout_ms = timeout_ms
    if len(trailing):
        options.kept = _elements.as_bytes(trailing, "trailing")  # lives as long as the struct
        options.trailing = _elements.address(options.kept)
        options.trailing_len = options.kept.size
    return options


def patient(path: Path, options: ctypes.Structure, timeout: float, function: Any, *arguments: Any) -> None:
    """Call what waits for other writers as its options say; Ctrl-C ends the waiting."""
    options.timeout_ms = -1
    begin = time.monotonic()
    try:
        call(path, function, *arguments)
    except BusyError:
        left = timeout - (time.monotonic() - begin)
        if left <= 0:
            raise
        options.timeout_ms = max(1, int(1000 * min(left, 1e12)))
        with Watch(None) as watch:
            options.progress = watch.callback
            try:
                call(path, function, *arguments)
            except CanceledError:
                watch.check()
                raise


class Reading(NamedTuple):
    """How an existing file is opened, again too."""

    follow_symlinks: bool = False
    shared: bool = False
    timeout: float = 5.0
    sync: bool = False
    require_lock: bool = False


class File(Mapping[str, Array]):
    """An open file or folder: a mapping of names to `Array`, in file order. Made by `open`.

    Use it in a ``with`` statement. A file being created appears at its path when it is closed, whole; left
    by an exception, or never closed, it leaves nothing, and an older file at the path as it was. Of a file
    open for writing that nobody closes a `ResourceWarning` tells when it is collected as garbage, and a line
    on stderr when the interpreter ends, or at once in a forked child. After `os._exit` or a signal nobody
    can tell: a new file is not there, but a temporary one (``*.ndf-tmp-*``) may be.

    Where the format allows it (`formats` tells: ``"update"``), mode ``"r+"`` changes a file in place. Regions
    that are written are in the file at once; appended rows when a chunk is full, at `flush` and at `close`;
    attributes at `flush` and `close`. Nothing is taken back: a ``with`` block that an exception leaves, and
    an object that is collected as garbage, write what is still in memory.

    Files may be used by several threads at once. After `close` everything but `close`, `abort` and the
    attributes below is a `HandleError` (a `ValueError`).

    A file open for reading can be pickled, and used in a forked child: there it is opened again, by its path,
    when it is used. A file open for writing belongs to its process: using it in a forked child is a
    `ForkedError`. One that is being created cannot be pickled (a `TypeError`). One of mode ``"r+"`` can, so
    that others write regions too: what is in memory is written, and from then on the file, here and there,
    is open as with ``shared=True``: each write locks the chunks that it touches.

    Attributes
    ----------
    path : str
        As given to `open`.
    mode : str
        ``"r"``, ``"r+"``, ``"w"`` or ``"x"``; what ``"a"`` came to.
    format : str
        Name of the format, such as ``"ds"``.
    kind : str
        ``"array"`` (one array), ``"dataset"`` (named arrays) or ``"table"`` (columns of one length, see
        `Table`). In a new bcolz, zarr2 or zarr3 file the first array decides: ``""`` makes it an array, other
        names a table or dataset.

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

    __slots__ = (
        "__weakref__",
        "_again",
        "_arrays",
        "_copy",
        "_elsewhere",
        "_first",
        "_groups",
        "_handle",
        "_location",
        "_lock",
        "_names",
        "_reading",
        "_token",
        "_tree",
        "format",
        "kind",
        "mode",
        "path",
    )

    def __init__(
        self, path: Path, mode: str, handle: int, about: About, reading: Reading, first: Part | None = None
    ) -> None:
        self.path = os.fsdecode(path)
        self.mode = mode
        self.format, self.kind = about.format, about.kind
        self._reading = reading
        self._copy: Copy | None = None  # of the stream that it came from
        self._handle = handle
        self._elsewhere = False  # open in the process that this one comes from, and not yet in this one
        self._again = False  # a file open for changes that has been pickled, or comes from one
        self._prepare()
        self._first: tuple[About, Part] | None = None if first is None else (about, first)
        self._location = self.path if self.path[:1] == "/" else _absolute(self.path)
        self._token = _token(self._location) if mode == "r" else None

    def _prepare(self) -> None:
        self._lock = threading.RLock()  # of what follows, the handle and _elsewhere
        self._names: tuple[str, ...] | None = None
        self._groups: tuple[str, ...] | None = None
        # The arrays in use: the same object for the same name, and to be closed with the file.
        self._arrays: dict[str, weakref.ref[Array]] = {}
        self._tree: Tree | None = None  # in mode r, once it is looked at
        self._first = None  # what came when it was opened, until then
        _files[id(self)] = weakref.ref(self)

    def _open(self) -> int:
        return self._handle or self._reopen()

    def _reopen(self) -> int:
        """Open the file where this object has come to, a forked child or another process."""
        with self._lock:
            if self._closed:
                raise HandleError(f"{self.path}: the file is closed", path=self.path)
            if self._elsewhere:
                if self.mode != "r" and not self._again:
                    raise self._of_the_parent()
                format = encode_name(self.format)
                self._handle = open_handle(self._location, self.mode, format, self._reading)
                self._elsewhere = False
            return self._handle

    def _after_fork(self) -> None:
        """Let go of what belongs to the parent: its handles, and locks that its threads may hold."""
        arrays = self._in_use()
        self._prepare()
        for array in arrays:
            array._handle.value = 0
            array._position = -1  # the file can be another one when it is opened again
            self._arrays[array.name] = weakref.ref(array)
        if self._handle:
            self._handle, self._elsewhere = 0, True

    def _of_the_parent(self) -> ForkedError:
        return ForkedError(
            f"{self.path}: open for writing (mode {self.mode!r}) in the parent of this process; "
            "a forked child cannot go on with it",
            path=self.path,
        )

    @property
    def _closed(self) -> bool:
        return not (self._handle or self._elsewhere)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._closed:
            raise HandleError(f"{self.path}: the file is closed", path=self.path)
        if self.mode not in ("r", "r+"):
            raise TypeError(f"cannot pickle {self!r}: it is being created")
        if self._copy is not None:
            raise TypeError(f"cannot pickle {self!r}: it came as a stream")
        if self.mode == "r+":
            self._share()
        description = self._location, self.mode, self.format, self.kind
        return _unpickle, (type(self), *description, self._token, self._reading)

    def _share(self) -> None:
        """Let other processes write too: what is in memory is written, and the next use opens it shared."""
        with self._lock:
            if self._again:
                return
            if not self._handle:
                raise self._of_the_parent()
            self._end(_ndf_file_close)
            self._reading = self._reading._replace(shared=True)
            self._again = self._elsewhere = True

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Identify the content: place, size and times of the file as it was opened."""
        return "ndfile.File", self._location, self._token or uuid.uuid4().hex

    def _info(self) -> ctypes.Structure:
        return describe(self.path, self._open())

    def _about(self) -> About:
        return about(self._info())

    # The mapping

    def _described(self) -> Tree:
        """Give what describes a file open for reading."""
        tree = self._tree
        if tree is None:
            with self._lock:
                handle = self._open()
                about, part = self._first or (self._about(), None)
                self._first = None
                tree = self._tree = self._tree or Tree(handle, self.path, about.caps, about.narrays, part)
        return tree

    def _list(self) -> tuple[str, ...]:
        if self.mode == "r":
            self._open()  # or it is closed
            return self._described().names
        handle = self._open()
        names = self._names
        if names is None:
            names = self._names = all_names(handle, self.path, self._info().narrays)
        return names

    def _array_in_use(self, name: str) -> Array | None:
        reference = self._arrays.get(name)
        return None if reference is None else reference()

    def _in_use(self) -> list[Array]:
        return [
            array for array in [reference() for reference in list(self._arrays.values())] if array is not None
        ]

    def __iter__(self) -> Iterator[str]:
        return iter(self._list())

    def __len__(self) -> int:
        return len(self._list())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Give the array of a single-array file to NumPy; a file of several is a TypeError."""
        if self.kind != "array":
            raise TypeError(
                f"{self.path}: a {self.kind} of {len(self)} arrays, not one array; index it by name"
            )
        return self.array.__array__(dtype, copy)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of a single-array file; ArgumentError (a ValueError) for other files."""
        return self.array._extents()

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array of a single-array file; ArgumentError (a ValueError) for other files."""
        return self.array.dtype

    def __contains__(self, name: object) -> bool:
        if self.mode == "r":
            self._open()
            return name in self._described().index or name in self.groups
        return name in self._list() or name in self.groups

    @overload
    def __getitem__(self, name: str) -> Array: ...
    @overload
    def __getitem__(self, name: Any) -> Any: ...
    def __getitem__(self, name: Any) -> Any:
        if not isinstance(name, str):
            if self.kind == "array":  # behaves as its array
                return self.array[name]
            raise ArgumentError(
                f"{self.path}: a {self.kind} is indexed by the names of its arrays, found {name!r}",
                path=self.path,
            )
        try:
            return self._array(name)
        except NameNotFoundError:
            if name in self.groups:
                return Group(self, name)
            raise

    def _array(self, name: str) -> Array:
        reference = self._arrays.get(name)
        if reference is not None and self._handle:
            array = reference()
            if array is not None:
                return array
        with self._lock:
            handle = self._handle or self._reopen()
            array = self._array_in_use(name)
            if array is not None:
                return array
            if self.mode == "r":  # the library opens it when more is asked for
                tree = self._tree or self._described()
                i = tree.index.get(name)
                if i is None:
                    raise NameNotFoundError(f"{self.path}: {unknown(name, tree.names)}", path=self.path)
                array = Array(self, name, 0, tree.known.get(i) or tree.describe(handle, i), i)
            else:
                array = Array(self, name, self._open_array(name))
            self._arrays[name] = weakref.ref(array)
            return array

    def _open_array(self, name: str) -> int:
        """Give a new handle of an array."""
        with self._lock:
            opened, names = self._open(), self._list()
            if name not in names:
                raise NameNotFoundError(f"{self.path}: {unknown(name, names)}", path=self.path)
            i = self._described().index[name] if self.mode == "r" else names.index(name)
            handle = ctypes.c_uint64()
            call(self.path, lib.ndf_file_array_at, opened, i, ctypes.addressof(handle))
            return handle.value

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._list())

    @property
    def closed(self) -> bool:
        """The file is closed."""
        return self._closed

    @property
    def filename(self) -> str:
        """The path, as `path`."""
        return self.path

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    @property
    def array(self) -> Array:
        """The array of a file of kind ``"array"``; ArgumentError (a ValueError) for other files."""
        if self.kind != "array":
            raise ArgumentError(
                f"{self.path}: a {self.kind} of {len(self)} arrays, not one array; index by name",
                path=self.path,
            )
        return self._array(self._list()[0])

    @property
    def attrs(self) -> Attrs:
        """Attributes of the file, see `Attrs`."""
        return attrs_of(self)

    def _load_attrs(self) -> dict[str, Any]:
        if self.mode == "r":
            return self._described().file_attrs(self._open())
        found: dict[str, Any] = from_json(text(self.path, lib.ndf_file_get_attrs, self._open()), self.path)
        return found

    def _store_attrs(self, raw: bytes) -> None:
        call(self.path, lib.ndf_file_set_attrs, self._open(), raw)

    @property
    def groups(self) -> tuple[str, ...]:
        """The paths of all groups below the root, sorted; none where the format has no groups.

        ``f["a/b"]`` is the `Group` of such a path.
        """
        with self._lock:
            handle = self._open()
            if self._groups is None:
                n = self._info().ngroups
                self._groups = tuple(
                    text(self.path, lib.ndf_file_get_group_name, handle, i) for i in range(n)
                )
            return self._groups

    @property
    def trailing(self) -> bytes:
        """The bytes after the data, which mean nothing to the format; `NotSupportedError` without such."""
        return content(self.path, lib.ndf_file_get_trailing, self._open())

    # Writing

    def create(
        self,
        name: str,
        shape: Any,
        dtype: Any,
        dims: Sequence[str] | None = None,
        attrs: Mapping[str, Any] | None = None,
        masked: bool = False,
        *,
        chunks: Any = None,
        compression: Any = None,
        fill_value: Any = None,
        expected_rows: int | None = None,
        extra: Mapping[str, Any] | None = None,
        codecs: Any = None,
        shards: Any = None,
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
        chunks : int or sequence of int, optional
            Shape of a chunk; axes that are left out are not cut. bcolz cuts the first axis only. This and
            what follows is for formats that store arrays in chunks; the default is the format's own choice.
        compression : str, tuple, mapping or Compression, optional
            How chunks are compressed, see `Compression`: ``"lz4"``, ``("zstd", 3, "bitshuffle")``.
        fill_value : optional
            Value of elements that are not written; it must fit exactly.
        expected_rows : int, optional
            What the first axis is expected to grow to, for the choice of chunks.
        extra : mapping, optional
            What `Array.extra` of an array of the same format gives, in the format's own terms.

        codecs : list, optional
            What makes the bytes of a chunk of its elements, the first one first: names, and mappings of a
            name and its configuration, as ``["shuffle", {"name": "zstd", "level": 3}]``. ``[]`` stores
            elements as they are. Which there are depends on the format: zarr2 and zarr3 have many, others
            Blosc only. `compression` is the short form for Blosc.
        shards : int or sequence of int, optional
            Shape of a shard, the chunks that lie in one file; a multiple of `chunks` along each axis. For
            zarr3.

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
        NotSupportedError
            `chunks` or what follows it, where the format has no chunks.
        """
        where = f"{self.path}: array {name!r}"
        storage = chunks, compression, fill_value, expected_rows
        s = spec(where, shape, _dtypes.declared(dtype), dims, attrs, masked, *storage, extra, codecs, shards)
        given = any(x is not None for x in (*storage, codecs, shards))
        if given and not self._info().caps & _capi.NDF_CAP_CHUNKED:
            raise NotSupportedError(f"{where}: {self.format} does not store arrays in chunks", path=self.path)
        handle = ctypes.c_uint64()
        at = ctypes.addressof(s), ctypes.addressof(handle)
        with self._lock:
            call(self.path, lib.ndf_file_add, self._open(), encode_name(name), *at)
            self._names = self._groups = None
            array = Array(self, name, handle.value)
            self._arrays[name] = weakref.ref(array)
            self.kind = _KINDS.get(self._info().kind, "unknown")
        return array

    def add(
        self,
        name: str,
        data: Any,
        dims: Sequence[str] | None = None,
        attrs: Mapping[str, Any] | None = None,
        **storage: Any,
    ) -> Array:
        """Declare a new array and write all of it; ``f[name] = data`` does the same.

        An `Array` of an open file brings its attributes, names of axes, mask, fill value and chunks along;
        what the format has no place for is a `LossError`. Else `data` is what `save` takes: arrays of any
        strides and byte order, masked arrays, scalars, lists, object arrays of `str` or of `bytes`; texts
        become elements of one width where the format has no others. All else is as for `create`: `storage`
        are its ``chunks``, ``compression``, ``fill_value``, ``expected_rows``, ``extra``, ``codecs`` and
        ``shards``.
        """
        where = f"{self.path}: array {name!r}"
        if isinstance(data, Array):
            caps = self._info().caps
            dims, attrs = carried(data, caps, where, dims, attrs)
            storage = stored_as(data, self, caps, storage)
            if data.has_data and (caps & _capi.NDF_CAP_STRINGS or data.dtype_name not in _dtypes.VARIABLE):
                masked = data.masked and bool(caps & _capi.NDF_CAP_MASKED)
                array = self.create(name, data.shape, data.dtype_name, dims, attrs, masked, **storage)
                with Watch(None) as watch:
                    options = _capi.ndf_convert_options()
                    options.struct_size, options.progress = ctypes.sizeof(options), watch.callback
                    handles = array._open(), data._open()
                    call(self.path, lib.ndf_array_copy, *handles, ctypes.addressof(options))
                return array
            data = data[...]
        item = _elements.prepare(data, where)
        dtype = item.dtype
        if isinstance(item.data, _elements.Texts) and not self._info().caps & _capi.NDF_CAP_STRINGS:
            dtype = _elements.fixed(item.data)
        array = self.create(name, item.shape, dtype, dims, attrs, item.mask is not None, **storage)
        array._write(select(Ellipsis, item.shape, where), item.data, item.mask)
        return array

    def __setitem__(self, name: Any, data: Any) -> None:
        if isinstance(name, str):
            self.add(name, data)
        elif self.kind == "array" and len(self):
            self.array[name] = data
        else:
            raise ArgumentError(f"{self.path}: expected the name of an array, found {name!r}", path=self.path)

    def __delitem__(self, name: str) -> None:
        """Delete an array and its data, or a group and all that is in it, at once.

        Where the format can: ``"remove"`` in `formats`.
        """
        with self._lock:
            call(self.path, lib.ndf_file_remove, self._open(), encode_name(name))
            self._moved(name)

    def _moved(self, name: str) -> None:
        """Forget what is not at a path any more."""
        self._names = self._groups = None
        for other in [n for n in self._arrays if n == name or n.startswith(name + "/")]:
            self._arrays.pop(other, None)

    def create_group(self, name: str, attrs: Mapping[str, Any] | None = None) -> Group:
        """Make a group, and those above it that are missing.

        Parameters
        ----------
        name : str
            Its path from the root, such as ``"a/b"``.
        attrs : mapping, optional
            Attributes, see `Attrs`.

        Raises
        ------
        NameExistsError, ReadOnlyError
        NotSupportedError
            The format has no groups (``"groups"`` in `formats`).
        """
        with self._lock:
            call(self.path, lib.ndf_file_add_group, self._open(), encode_name(name), to_json(attrs))
            self._groups = None
            self.kind = _KINDS.get(self._info().kind, "unknown")
        return Group(self, name)

    def rename(self, old: str, new: str) -> None:
        """Give an array or a group, with all that is in it, another path, at once.

        Groups above the new path that are missing are made. The format must have groups.

        Raises
        ------
        NameNotFoundError, NameExistsError, ReadOnlyError, NotSupportedError
        """
        with self._lock:
            call(self.path, lib.ndf_file_rename, self._open(), encode_name(old), encode_name(new))
            self._moved(old)

    def consolidate(self, on: bool = True) -> None:
        """Have copies of all metadata written to the root, by which readers open the file with one request.

        They are written at `flush` and `close`, and kept true by every later change of this library; with
        False they are removed. For zarr2 and zarr3.
        """
        call(self.path, lib.ndf_file_consolidate, self._open(), 1 if on else 0)

    def flush(self, sync: bool = False) -> None:
        """Write what is still in memory of a file open for changes, so that others find it.

        Parameters
        ----------
        sync
            Wait until all that was changed since the file was opened is on the disk and survives a power
            cut, also in a file opened without ``sync``: data first, then metadata, then folders. A file
            that is being created is a `NotSupportedError`: give ``sync`` when it is opened.
        """
        call(self.path, lib.ndf_file_flush, self._open(), 1 if sync else 0)

    # The end

    def close(self) -> None:
        """Close the file and its arrays; a file being created appears at its path. Twice is fine.

        Raises
        ------
        NdfileError
            What was written cannot be committed. Nothing of a created file is left then, an older file is
            as it was, and this object is closed.
        """
        self._end(_ndf_file_close)

    def abort(self) -> None:
        """Close the file without committing: nothing of a created file is left. Twice is fine."""
        self._end(_ndf_file_abort)

    def _end(self, function: Any) -> None:
        with self._lock:
            handle, self._handle = self._handle, 0
            elsewhere, self._elsewhere = self._elsewhere, False
            arrays = self._in_use()
        if elsewhere and self.mode != "r" and not self._again and function is _ndf_file_close:
            raise self._of_the_parent()
        if not handle:
            return
        try:
            close_handle(self.path, handle, function)
        finally:
            for array in arrays:
                array._handle.close()

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        if kind is not None and self.mode in ("w", "x"):
            self.abort()
        else:
            self.close()

    def __del__(self, _finalizing: Any = sys.is_finalizing) -> None:
        _files.pop(id(self), None)
        if not getattr(self, "_handle", 0) or _finalizing():
            return  # with the interpreter: a reader needs nothing, and of a writer _at_exit has taken care
        if self.mode == "r" or self._again:  # nothing is in memory
            self.close()
        else:
            _forgotten.tell(self.path, self.mode)
            warnings.warn(f"{self!r} was never closed: {_ends(self.mode)}", ResourceWarning, 2, source=self)
            self._give_up()

    def _give_up(self) -> None:
        """End a file open for writing that nobody has closed."""
        self._end(_ndf_file_close if self.mode == "r+" else _ndf_file_abort)

    def __repr__(self) -> str:
        return f"<ndfile.{type(self).__name__} {self.path!r}: {self.format} {self.kind}, {self._state}>"

    @property
    def _state(self) -> str:
        return "closed" if self._closed else f"mode {self.mode!r}"

    def _repr_html_(self) -> str:
        title = f"{self.path}: {self.format} {self.kind}, {self._state}"
        if self._closed or (self._elsewhere and self.mode != "r"):
            return _html.page(title)
        return _html.of_file(self, title)


#: All files by their ids, for what has to be done in a forked child and at the end.
_files: dict[int, weakref.ref[File]] = {}


def _living() -> list[File]:
    return [file for file in [reference() for reference in list(_files.values())] if file is not None]


def _ends(mode: str) -> str:
    """Say what becomes of a file in that mode that is not closed."""
    return "what was in memory is written now" if mode == "r+" else "nothing is written"


class _Forgotten:
    """Tells on stderr of files that were not closed, since Python does not show a ResourceWarning by default.

    It does so at the end; in a forked child, which often ends without one, at once.
    """

    def __init__(self) -> None:
        self.at_once = False
        self.forget()

    def forget(self) -> None:
        self.lines: dict[str, None] = {}  # each once, in order
        self.more = 0

    def tell(self, path: str, mode: str) -> None:
        line = f"ndfile: {path!r} was never closed: {_ends(mode)}"
        if line not in self.lines and len(self.lines) == 20:
            self.more += 1
        else:
            self.lines[line] = None
        if self.at_once:
            self.show()

    def show(self) -> None:
        lines, more = list(self.lines), self.more
        self.lines, self.more = {}, 0
        if more:
            lines.append(f"ndfile: and {more} more")
        if lines and sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):  # it is closed
                print(*lines, sep="\n", file=sys.stderr, flush=True)


_forgotten = _Forgotten()


@atexit.register
def _at_exit() -> None:
    for file in _living():
        if file._handle and file.mode != "r" and not file._again:
            _forgotten.tell(file.path, file.mode)
            try:
                file._give_up()
            except Exception as e:
                _forgotten.lines[f"ndfile: {e}"] = None
    _forgotten.show()


def _after_fork() -> None:
    files = _living()
    _files.clear()
    _forgotten.forget()
    _forgotten.at_once = True
    for file in files:
        file._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _unpickle(
    cls: type[File], location: str, mode: str, format: str, kind: str, token: Any, reading: Reading
) -> File:
    """Make a File that is opened when it is used."""
    file = cls.__new__(cls)
    file.path = file._location = location
    file.mode, file.format, file.kind = mode, format, kind
    file._token, file._reading = token, reading
    file._handle, file._elsewhere, file._again = 0, True, mode == "r+"
    file._copy = None
    file._prepare()
    return file


def _absolute(path: str) -> str:
    """Give a path that stays right when the working folder changes; links and ".." stay as they are."""
    if os.path.isabs(path):
        return path
    try:
        return os.path.join(os.getcwd(), path)
    except FileNotFoundError:  # the working folder has been removed
        return path


def _token(path: str) -> tuple[Any, ...] | None:
    """Tell one content of a path from another; None when it cannot be told."""
    try:
        s = os.stat(path)
    except OSError:
        return None
    return s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns


def _read_options(format: bytes | None, follow_symlinks: bool) -> ctypes.Structure:
    """Make the C options of opening for reading."""
    options = _capi.ndf_open_options()
    options.struct_size = ctypes.sizeof(options)
    options.mode = _capi.NDF_MODE_READ
    options.format = format
    options.follow_symlinks = follow_symlinks
    return options


_plain_reading = _read_options(None, False)


def open_handle(path: Path, mode: str, format: bytes | None, reading: Reading) -> int:
    """Open an existing file in the library."""
    options = _read_options(format, reading.follow_symlinks)
    handle = ctypes.c_uint64()
    arguments = encode_path(path), ctypes.addressof(options), ctypes.addressof(handle)
    if mode == "r+":
        options.mode = _capi.NDF_MODE_UPDATE
        options.shared, options.sync, options.require_lock = (
            reading.shared,
            reading.sync,
            reading.require_lock,
        )
        patient(path, options, reading.timeout, lib.ndf_file_open, *arguments)
        return handle.value
    call(path, lib.ndf_file_open, *arguments)
    return handle.value


_unlocked_told: list[Path] = []


def warn_unlocked(path: Path) -> None:
    """Say once that nothing keeps other writers out."""
    if not _unlocked_told:
        _unlocked_told.append(path)
        warnings.warn(
            f"{os.fsdecode(path)}: the file system cannot lock, so nothing keeps other writers out "
            "(said once; require_lock=True refuses such stores)",
            RuntimeWarning,
            stacklevel=4,
        )


def open_reading(path: Path, format: bytes | None, reading: Reading) -> tuple[int, About, Part]:
    """Open an existing file for reading, with what is at hand of it."""
    options = _plain_reading
    if format is not None or reading.follow_symlinks:
        options = _read_options(format, reading.follow_symlinks)
    s = take()
    try:
        status = s.open_load(encode_path(path), ctypes.byref(options))
        if status:
            raise failure(status, s.err, path)
        return s.handle.value, about(s.about), Part(s, 0)
    finally:
        _scratches.append(s)


def close_handle(path: Path, handle: int, function: Any = _ndf_file_close) -> None:
    """Close a file in the library, or abort it."""
    s = take()
    status = s.end(function, handle)
    error = failure(status, s.err, path) if status else None
    _scratches.append(s)
    if error is not None:
        raise error


def describe(path: Path, handle: int) -> ctypes.Structure:
    """Ask the library what an open file is."""
    info = _capi.ndf_file_info()
    info.struct_size = ctypes.sizeof(info)
    call(path, lib.ndf_file_get_info, handle, ctypes.addressof(info))
    return info


# kind, narrays, caps, format, nrows, flags
_says = struct.Struct("=4xIqI4x32sqI").unpack_from
_UNLOCKED = _capi.NDF_FILE_UNLOCKED
_formats: dict[bytes, str] = {}  # names as they stand in the struct, and as texts


def about(info: Any) -> About:
    """Take what the library says of a file."""
    kind, narrays, caps, raw, nrows, flags = _says(info)
    name = _formats.get(raw)
    if name is None:
        name = _formats[raw] = raw.split(b"\0", 1)[0].decode()
    unlocked = flags & _UNLOCKED != 0
    return About(name, _KINDS.get(kind, "unknown"), caps, narrays, None if nrows < 0 else nrows, unlocked)
