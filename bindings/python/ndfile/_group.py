"""Group: the arrays of a file below a path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from . import _html
from ._attrs import Attrs, from_json
from ._attrs import of as attrs_of
from ._lib import call, encode_name, lib, text

if TYPE_CHECKING:
    from ._array import Array
    from ._file import File


class Group(Mapping[str, Any]):
    """A group of an open file: a mapping of the names below it to arrays, sorted. Made by ``f["a/b"]``.

    Names are relative to the group. It lists the arrays at all depths, as the file does (``"b/t"``);
    `groups` are the names of the groups among them. Indexing takes both. It is a view: it changes with the
    file, and works as long as that is open.

    Attributes
    ----------
    file : File
        The file.
    name : str
        The path from the root of the file, such as ``"a/b"``.

    Examples
    --------
    >>> import ndfile
    >>> with ndfile.open("ocean.zarr", "w", format="zarr3") as f:
    ...     deep = f.create_group("ocean/deep", attrs={"below": 1000})
    ...     deep["salt"] = [35, 36]
    >>> with ndfile.open("ocean.zarr") as f:
    ...     print(list(f), f.groups, f["ocean"]["deep"].attrs, f["ocean/deep/salt"][0])
    ['ocean/deep/salt'] ('ocean', 'ocean/deep') {'below': 1000} 35
    """

    __slots__ = ("__weakref__", "file", "name")

    def __init__(self, file: File, name: str) -> None:
        self.file = file
        self.name = name

    def _path(self, name: str) -> str:
        return f"{self.name}/{name}"

    def _below(self, names: Any) -> tuple[str, ...]:
        start = self.name + "/"
        return tuple(n[len(start) :] for n in names if n.startswith(start))

    def __iter__(self) -> Iterator[str]:
        return iter(self._below(self.file))

    def __len__(self) -> int:
        return len(self._below(self.file))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._path(name) in self.file

    def __getitem__(self, name: str) -> Any:
        return self.file[self._path(name)]

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups below this one, sorted."""
        return self._below(self.file.groups)

    @property
    def attrs(self) -> Attrs:
        """Attributes of the group, see `Attrs`."""
        return attrs_of(self)

    @property
    def _changeable(self) -> bool:
        return self.file.mode != "r"

    def _load_attrs(self) -> dict[str, Any]:
        file = self.file
        raw = text(file.path, lib.ndf_group_get_attrs, file._open(), encode_name(self.name))
        found: dict[str, Any] = from_json(raw, file.path)
        return found

    def _store_attrs(self, raw: bytes) -> None:
        file = self.file
        call(file.path, lib.ndf_group_set_attrs, file._open(), encode_name(self.name), raw)

    def create(self, name: str, *args: Any, **kwargs: Any) -> Array:
        """Declare a new array in the group, as `File.create` does."""
        return self.file.create(self._path(name), *args, **kwargs)

    def add(self, name: str, data: Any, *args: Any, **kwargs: Any) -> Array:
        """Declare a new array in the group and write all of it, as `File.add` does."""
        return self.file.add(self._path(name), data, *args, **kwargs)

    def create_group(self, name: str, attrs: Mapping[str, Any] | None = None) -> Group:
        """Make a group in this one, as `File.create_group` does."""
        return self.file.create_group(self._path(name), attrs)

    def __setitem__(self, name: str, data: Any) -> None:
        self.add(name, data)

    def __delitem__(self, name: str) -> None:
        """Delete an array and its data, or a group and all that is in it, at once."""
        del self.file[self._path(name)]

    def _ipython_key_completions_(self) -> list[str]:
        return [*self.groups, *self]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __repr__(self) -> str:
        return f"<ndfile.Group {self.name!r} of {self.file.path!r}>"

    def _repr_html_(self) -> str:
        return _html.of_group(self, repr(self)[1:-1])
