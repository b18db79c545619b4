"""Opened: the life of an open file: its handle, forks and other processes, the end."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import uuid
import warnings
import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ._array import Array
from ._errors import ForkedError, HandleError
from ._lib import Path, encode_name
from ._opening import (
    About,
    Reading,
    about,
    close_handle,
    describe,
    ndf_file_abort,
    ndf_file_close,
    open_handle,
)
from ._stream import Copy
from ._tree import Part, Tree

if TYPE_CHECKING:
    import ctypes

    from typing_extensions import Self

    from ._group import Group


class Opened:
    """The side of a `File` that is opened and closed, with what all its sides hold."""

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

    if TYPE_CHECKING:

        def _list(self) -> tuple[str, ...]: ...
        def _made(self, name: str, *what: Any) -> Array: ...
        def _group(self, name: str) -> Group: ...

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
            self._end(ndf_file_close)
            self._reading = self._reading._replace(shared=True)
            self._again = self._elsewhere = True

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Identify the content: place, size and times of the file as it was opened."""
        return "ndfile.File", self._location, self._token or uuid.uuid4().hex

    def _info(self) -> ctypes.Structure:
        return describe(self.path, self._open())

    def _about(self) -> About:
        return about(self._info())

    def _array_in_use(self, name: str) -> Array | None:
        reference = self._arrays.get(name)
        return None if reference is None else reference()

    def _in_use(self) -> list[Array]:
        return [
            array for array in [reference() for reference in list(self._arrays.values())] if array is not None
        ]

    @property
    def closed(self) -> bool:
        """The file is closed."""
        return self._closed

    # The end

    def close(self) -> None:
        """Close the file and its arrays; a file being created appears at its path. Twice is fine.

        Raises
        ------
        NdfileError
            What was written cannot be committed. Nothing of a created file is left then, an older file is
            as it was, and this object is closed.
        """
        self._end(ndf_file_close)

    def abort(self) -> None:
        """Close the file without committing: nothing of a created file is left. Twice is fine."""
        self._end(ndf_file_abort)

    def _end(self, function: Any) -> None:
        with self._lock:
            handle, self._handle = self._handle, 0
            elsewhere, self._elsewhere = self._elsewhere, False
            arrays = self._in_use()
        if elsewhere and self.mode != "r" and not self._again and function is ndf_file_close:
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
        self._end(ndf_file_close if self.mode == "r+" else ndf_file_abort)


#: All files by their ids, for what has to be done in a forked child and at the end.
_files: dict[int, weakref.ref[Opened]] = {}


def _living() -> list[Opened]:
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
    cls: type[Opened], location: str, mode: str, format: str, kind: str, token: Any, reading: Reading
) -> Opened:
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
