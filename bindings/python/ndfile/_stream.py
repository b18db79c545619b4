"""Files that come as streams: pipes, sockets, objects in memory.

What a stream holds is copied into a file in memory, where the system has such, or a temporary one, and the
library reads that.
"""

from __future__ import annotations

import contextlib
import os
import struct
import tempfile
from collections.abc import Iterator
from typing import Any

from ._errors import ArgumentError, CorruptError, NdfileError

_PIECE = 1 << 20
_MAX_NDIM = 64


def is_stream(path: Any) -> bool:
    """Tell whether what a caller gives as a path is an object to be read from."""
    return hasattr(path, "read") and not isinstance(path, (str, bytes)) and not hasattr(path, "__fspath__")


@contextlib.contextmanager
def as_path(stream: Any, format: str | None) -> Iterator[str]:
    """Give a path to what a stream holds, for as long as the context lasts.

    A RawArray file is taken from the stream exactly, so that what follows it can be read afterwards; of other
    formats, and where its numbers run to the end (LEB128), everything to the end is.
    """
    with contextlib.closing(Copy(stream, format)) as copy:
        try:
            yield copy.path
        except NdfileError as e:
            raise copy.renamed(e) from None


class Copy:
    """What a stream holds, at a path for as long as this object lives."""

    def __init__(self, stream: Any, format: str | None) -> None:
        self._room = _room()
        name = getattr(stream, "name", None)
        self.name = name if isinstance(name, str) else f"<{type(stream).__name__}>"
        _copy(stream, self._room, format)
        self._room.flush()
        room = self._room
        self.path = f"/proc/self/fd/{room.fileno()}" if isinstance(room.name, int) else str(room.name)

    def close(self) -> None:
        """Give the copy up."""
        self._room.close()

    def renamed(self, e: NdfileError) -> NdfileError:
        """Give an error with the name of the stream in place of the path."""
        message = e.message.replace(self.path, self.name)
        return type(e)(message, path=None, offset=e.offset, errno=e.errno)


def _room() -> Any:
    """Make a file that a path leads to."""
    if hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd"):
        return open(os.memfd_create("ndfile"), "w+b")
    return tempfile.NamedTemporaryFile()


def _copy(stream: Any, room: Any, format: str | None) -> None:
    head = _take(stream, room, 48)
    if not head.startswith(b"rawarray") or format not in (None, "rawarray") or len(head) < 48:
        if len(head) == 48:
            _take(stream, room, None)
        return
    flags, eltype, elbyte, size, ndims = struct.unpack("<5Q", head[8:])
    if ndims > _MAX_NDIM:  # the library says so
        return
    dims = struct.unpack(f"<{ndims}Q", _take(stream, room, 8 * ndims).ljust(8 * ndims, b"\0"))
    count = 1
    for n in dims:
        count *= n
    numbers = flags & 6 == 2 and size == count * elbyte and eltype in (1, 2, 5)
    _take(stream, room, None if numbers else size)


def _take(stream: Any, room: Any, n: int | None) -> bytes:
    """Copy n bytes of a stream, or all that are left, and give the first of them."""
    first = b""
    while n is None or n > 0:
        piece = stream.read(_PIECE if n is None else min(n, _PIECE))
        if piece is None:
            raise CorruptError("the stream has no data at present: expected one that waits for it")
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            raise ArgumentError(
                f"expected a stream of bytes, found {type(piece).__name__}: open it in mode 'rb'"
            )
        if not len(piece):
            break
        room.write(piece)
        if len(first) < 8 * _MAX_NDIM:
            first += bytes(piece[: 8 * _MAX_NDIM])
        if n is not None:
            n -= len(piece)
    return first
