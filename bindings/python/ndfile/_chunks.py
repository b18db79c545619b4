"""Chunked: the side of an Array that is its chunks."""

from __future__ import annotations

import ctypes
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _capi, _elements
from ._errors import NotSupportedError, failure
from ._lib import call, lib, text
from ._parts import Part
from ._spec import INT64S, Compression, lengths


class Chunked(Part):
    """What an `Array` has to say about its chunks."""

    __slots__ = ()

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """Shape of the chunks in which the elements are stored; None: in one block, or in several shapes."""
        info = self._info(self._open())
        return tuple(info.chunks[: info.ndim]) if info.flags & _capi.NDF_ARRAY_CHUNKED else None

    @property
    def compression(self) -> Compression | None:
        """How new chunks are compressed where that is Blosc, see `Compression`; else None: see `codecs`."""
        info = self._info(self._open())
        return Compression(info.codec.decode(), info.level, info.shuffle) if info.codec else None

    @property
    def codecs(self) -> list[str | dict[str, Any]] | None:
        """The codecs that make the bytes of a chunk, the first one first; None: the array is not chunked.

        Each is a name, or a dict of its ``"name"`` and its configuration.
        """
        codecs: list[str | dict[str, Any]] | None = json.loads(
            text(self._file.path, lib.ndf_array_get_codecs, self._open())
        )
        return codecs

    @property
    def shards(self) -> tuple[int, ...] | None:
        """Shape of a shard, the chunks that lie in one file; None: each chunk has its own."""
        info = self._info(self._open())
        extents = tuple(info.shards[: info.ndim])
        return extents if any(extents) else None

    @property
    def nchunks(self) -> int | None:
        """Number of chunks, written or not; None: the array is not chunked."""
        chunks = self.chunks
        return None if chunks is None else math.prod(self._grid(chunks))

    def _grid(self, chunks: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(-(-n // c) for n, c in zip(self._extents(), chunks))

    def iter_chunks(self) -> Iterator[tuple[slice, ...]]:
        """Give the place of each chunk as slices, to be used as an index: ``v[place]``.

        Raises
        ------
        NotSupportedError
            The array is not chunked.
        """
        chunks = self.chunks
        if chunks is None:
            raise NotSupportedError(f"{self._where}: the array is not stored in chunks", path=self._file.path)
        extents, grid = self._extents(), self._grid(chunks)
        for i in range(math.prod(grid)):
            index = map(int, np.unravel_index(i, grid))
            yield tuple(slice(k * c, min(k * c + c, n)) for k, c, n in zip(index, chunks, extents))

    @property
    def chunk_encoding(self) -> str | None:
        """How the stored bytes of a chunk are made (``"blosc1"``); None: the array is not chunked.

        Arrays of the same encoding, dtype and chunks can exchange them by `read_chunk` and `write_chunk`.
        """
        if self.chunks is None:
            return None
        return text(self._file.path, lib.ndf_array_get_chunk_encoding, self._open())

    def read_chunk(self, index: Any) -> bytes | None:
        """Read the stored bytes of a chunk, as they are; None: it was never written.

        Parameters
        ----------
        index : int or sequence of int
            Number of the chunk along each axis.
        """
        index = lengths(index, "index", self._where)
        place = self._open(), len(index), INT64S[len(index)](*index)
        err, need, size = _capi.ndf_error(), ctypes.c_int64(), ctypes.c_int64()
        room = 1 << 16
        while True:
            raw, need.value = np.empty(room, np.uint8), room
            rest = map(ctypes.addressof, (need, size, err))
            status = lib.ndf_array_read_chunk(*place, _elements.address(raw), *rest)
            if not status:
                return raw[: need.value].tobytes() if need.value else None
            if status != _capi.NDF_ERR_BUFFER or need.value <= room:
                raise failure(status, err, self._file.path)
            room = need.value

    def write_chunk(self, index: Any, data: bytes) -> None:
        """Store the bytes of a whole chunk as they are.

        Raises
        ------
        NotSupportedError
            They decode to another size than a chunk has, or other programs could not read them.
        """
        index = lengths(index, "index", self._where)
        raw = _elements.as_bytes(data, "data")
        place = self._open(), len(index), INT64S[len(index)](*index)
        call(self._file.path, lib.ndf_array_write_chunk, *place, _elements.address(raw), raw.size)
