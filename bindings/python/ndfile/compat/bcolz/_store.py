"""A store on disk: open for reading, and for changes only while there are some."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import Any

from ..._file import File
from ..._open import open as open_file


class Store:
    """The folder of a carray or a ctable, and the mode that it was asked for in."""

    def __init__(self, path: Any, mode: str) -> None:
        if mode not in ("r", "w", "a"):
            raise ValueError("mode should be 'r', 'w' or 'a'")
        self.path, self.mode = os.fspath(path), mode
        self._file: File | None = None
        _stores.add(self)

    def reading(self) -> Any:
        """Give the open file."""
        if self._file is None or self._file._closed:
            self._file = open_file(self.path, "r", "bcolz")
        return self._file

    def writing(self) -> Any:
        """Give the file open for changes."""
        if self.mode == "r":
            raise OSError(f"{self.path}: cannot modify data because mode is 'r'")
        if self._file is None or self._file._closed or self._file.mode == "r":
            self._file, old = open_file(self.path, "r+", "bcolz"), self._file
            if old is not None:
                old.close()
        return self._file

    def settle(self) -> None:
        """Write what is in memory, and let others change the store."""
        if self._file is not None and self._file.mode != "r":
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        if self._file is not None:
            self._file.close()
            self._file = None


#: All stores: what was not flushed is when the program ends.
_stores: weakref.WeakSet[Store] = weakref.WeakSet()


@atexit.register
def _settle_all() -> None:
    for store in list(_stores):
        store.settle()


def replaceable(path: Any, mode: str) -> None:
    """Refuse to write over what is there, unless in mode "w"."""
    if mode != "w" and os.path.lexists(path):
        raise OSError(f"specified rootdir path '{path}' already exists and creation mode is '{mode}'")
