"""Attributes of carrays and ctables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._store import Store


class attrs:
    """Attributes: a mapping, but iteration gives pairs. Changes of those of a store are on disk at once."""

    def __init__(
        self,
        rootdir: Any = None,
        mode: str = "a",
        _new: bool = False,
        _store: Store | None = None,
        _column: str | None = None,
    ) -> None:
        self._store = Store(rootdir, mode) if rootdir is not None else _store
        self._column = _column
        self._own: dict[str, Any] = {}

    def _found(self, file: Any) -> Any:
        return file.attrs if self._column is None else file[self._column].attrs

    @property
    def attrs(self) -> dict[str, Any]:
        """All of them as a dict; changing it changes nothing else."""
        return dict(self._own if self._store is None else self._found(self._store.reading()))

    def getall(self) -> dict[str, Any]:
        """Give all of them as a dict."""
        return self.attrs

    def __getitem__(self, name: str) -> Any:
        return self.attrs[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if self._store is None:
            self._own[name] = value
            return
        self._found(self._store.writing())[name] = value
        self._store.settle()

    def __delitem__(self, name: str) -> None:
        if self._store is None:
            del self._own[name]
            return
        del self._found(self._store.writing())[name]
        self._store.settle()

    def update(self, *args: Any, **values: Any) -> None:
        """Set several."""
        for name, value in dict(*args, **values).items():
            self[name] = value

    def get(self, name: str, default: Any = None) -> Any:
        """Give one, or a default."""
        return self.attrs.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self.attrs

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self.attrs.items())

    def __len__(self) -> int:
        return len(self.attrs)

    def __str__(self) -> str:
        return repr(self) if len(self) else "*no attrs*"

    def __repr__(self) -> str:
        return "".join(f"{k} : {v!r}\n" for k, v in self) or "*no attrs*"
