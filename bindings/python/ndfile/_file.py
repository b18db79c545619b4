"""File: an open file or folder, a mapping of its arrays."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator, Mapping
from typing import Any, overload

import numpy as np

from . import _html
from ._array import Array
from ._attrs import Attrs, from_json
from ._attrs import of as attrs_of
from ._changing import Changing
from ._errors import ArgumentError, NameNotFoundError, NdfileError
from ._group import Group
from ._lib import call, content, encode_name, lib, text
from ._names import unknown
from ._tree import Tree, all_names


class File(Changing, Mapping[str, Array]):
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

    __slots__ = ()

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
                return self._group(name)
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
                    raise self._not_there(name, tree.names)
                array = self._made(name, 0, tree.known.get(i) or tree.describe(handle, i), i)
            else:
                array = self._made(name, self._open_array(name))
            return array

    def _made(self, name: str, *what: Any) -> Array:
        array = Array(self, name, *what)
        self._arrays[name] = weakref.ref(array)
        return array

    def _group(self, name: str) -> Group:
        return Group(self, name)

    def _not_there(self, name: str, names: tuple[str, ...]) -> NdfileError:
        """Give the error of a name that is not listed; the library knows why it refuses an array."""
        handle = ctypes.c_uint64()
        try:
            call(self.path, lib.ndf_file_array, self._open(), encode_name(name), ctypes.addressof(handle))
        except (NameNotFoundError, ArgumentError):
            pass
        except NdfileError as error:
            return error
        return NameNotFoundError(f"{self.path}: {unknown(name, names)}", path=self.path)

    def _open_array(self, name: str) -> int:
        """Give a new handle of an array."""
        with self._lock:
            opened, names = self._open(), self._list()
            if name not in names:
                raise self._not_there(name, names)
            i = self._described().index[name] if self.mode == "r" else names.index(name)
            handle = ctypes.c_uint64()
            call(self.path, lib.ndf_file_array_at, opened, i, ctypes.addressof(handle))
            return handle.value

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._list())

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

    @property
    def _changeable(self) -> bool:
        return self.mode != "r"

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

    def __setitem__(self, name: Any, data: Any) -> None:
        if isinstance(name, str):
            self.add(name, data)
        elif self.kind == "array" and len(self):
            self.array[name] = data
        else:
            raise ArgumentError(f"{self.path}: expected the name of an array, found {name!r}", path=self.path)

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
