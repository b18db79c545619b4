"""A codec pipeline for zarr-python 3: arrays in local stores are read and written by libndfile.

``zarr.config.set({"codec_pipeline.path": "ndfile.zarr.Pipeline"})`` has zarr-python use it.
Everything else stays as it is there (3.1). It works in forked children, and several threads and processes may
write parts of the same chunks and shards: none is lost.

zarr-python's own pipeline does, without a word, what this one does not:

- stores other than `zarr.storage.LocalStore`;
- elements of variable length, records and raw bytes; codecs, data types and grids that the library lacks;
- selections by lists, masks and coordinates;
- whole chunks of nothing but the fill value, where `write_empty_chunks` is False: it removes them. (A chunk
  that becomes that by and by stays.)
- memory that is not the processor's.

What the library refuses to read or to write is tried again by zarr-python, whose error is the one to see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from zarr.abc.codec import Codec, CodecPipeline
from zarr.codecs._v2 import V2Codec
from zarr.core.buffer import cpu
from zarr.core.chunk_key_encodings import DefaultChunkKeyEncoding, V2ChunkKeyEncoding
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.core.metadata import ArrayV3Metadata
from zarr.registry import register_pipeline
from zarr.storage import LocalStore, StorePath

from ._errors import NdfileError
from ._open import open

__all__ = ["Pipeline"]

_KINDS = "biufcmMSU"
# Less than this is read or written by the thread of the event loop: to ask another one would take longer.
_SMALL = 1 << 18


@dataclass(frozen=True)
class _Grid:
    """Where the chunks of an array lie."""

    chunks: tuple[int, ...]
    separator: str
    prefix: str  # of the indices: "c", or nothing
    format: str

    @classmethod
    def of(cls, metadata: Any) -> _Grid | None:
        """Describe an array; None: not one that the library is asked to read."""
        dtype = metadata.dtype.to_native_dtype()
        if isinstance(metadata, ArrayV3Metadata):
            chunks = getattr(metadata.chunk_grid, "chunk_shape", None)  # of shards, where there are
        else:
            chunks = metadata.chunks
        if dtype.kind not in _KINDS or not dtype.itemsize or chunks is None:
            return None
        if metadata.fill_value is None and dtype.kind in "mM":
            return None  # zarr-python takes NaT then, the library 0
        if not isinstance(metadata, ArrayV3Metadata):
            return cls(tuple(chunks), metadata.dimension_separator, "", "zarr2")
        keys = metadata.chunk_key_encoding
        if isinstance(keys, DefaultChunkKeyEncoding | V2ChunkKeyEncoding):
            return cls(
                tuple(chunks),
                keys.separator,
                "c" if isinstance(keys, DefaultChunkKeyEncoding) else "",
                "zarr3",
            )
        return None

    def place(self, key: str) -> tuple[str, list[int]]:
        """Divide the key of a chunk into the path of the array and the index of the chunk."""
        folder, indices = "", key.split("/")
        n = len(self.chunks)
        if self.separator == "/" and n:
            count = n + bool(self.prefix)
            folder, indices = "/".join(indices[:-count]), indices[-count:]
        else:
            folder, indices = "/".join(indices[:-1]), indices[-1].split(self.separator)
        if self.prefix:
            indices = indices[1:]
        return folder, [int(i) for i in indices] if n else []


@dataclass(frozen=True)
class _Box:
    """A part of an array, and of the memory that it goes to or comes from."""

    folder: str
    format: str
    key: tuple[slice | int, ...]
    shape: tuple[int, ...]

    @classmethod
    def of(cls, grid: _Grid, pieces: list[Any]) -> _Box | None:
        """Join pieces of chunks to what they are pieces of; None where that is no box."""
        folder, axes, items = None, None, 0
        for getter, _, part, outside, *_ in pieces:
            where, index = grid.place(getter.path)
            inside = part if isinstance(part, tuple) else (part,)
            places = iter(outside if isinstance(outside, tuple) else (outside,))
            if len(inside) != len(index) or folder not in (None, where):
                return None
            here: list[tuple[int, int | None, int]] = []
            count = 1
            for chunk, i, at in zip(grid.chunks, index, inside):
                if not isinstance(at, slice):
                    if not isinstance(at, int | np.integer):
                        return None
                    here.append((i * chunk + int(at), None, 0))
                    continue
                to, step = next(places, None), at.step or 1
                if (
                    not isinstance(to, slice)
                    or to.step not in (None, 1)
                    or step < 1
                    or at.start is None
                    or to.start is None
                ):
                    return None
                here.append((i * chunk + at.start - to.start * step, step, to.stop))
                count *= to.stop - to.start
            if next(places, None) is not None:
                return None
            items += count
            folder = where
            if axes is None:
                axes = here
            elif any(a[:2] != b[:2] for a, b in zip(axes, here)):
                return None
            else:
                axes = [(a[0], a[1], max(a[2], b[2])) for a, b in zip(axes, here)]
        if folder is None or axes is None:
            return None
        shape = tuple(n for _, step, n in axes if step)
        if items != int(np.prod(shape, dtype=object)):
            return None
        key = tuple(slice(at, at + (n - 1) * step + 1, step) if step else at for at, step, n in axes)
        return cls(folder, grid.format, key, shape)


@dataclass(frozen=True)
class Pipeline(CodecPipeline):
    """Reads and writes chunks of local stores by libndfile, and all others by zarr-python's own pipeline.

    The module says how it is set, and what is left to zarr-python.
    """

    python: BatchedCodecPipeline
    grid: _Grid | None = None
    refused: list[NdfileError] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec]) -> Any:
        """Give zarr-python's own pipeline: what is not an array in a store has no use for this one."""
        return BatchedCodecPipeline.from_codecs(codecs)

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: Any, store: Any) -> Pipeline:
        """Make the pipeline of an array."""
        if isinstance(array_metadata, ArrayV3Metadata):
            codecs: Any = array_metadata.codecs
        else:
            codecs = [V2Codec(filters=array_metadata.filters, compressor=array_metadata.compressor)]
        grid = _Grid.of(array_metadata) if type(store) is LocalStore else None
        return cls(BatchedCodecPipeline.from_codecs(codecs), grid)

    def evolve_from_array_spec(self, array_spec: Any) -> Pipeline:
        """Fill in what codecs take from the array."""
        return replace(self, python=self.python.evolve_from_array_spec(array_spec))

    def __iter__(self) -> Iterator[Codec]:
        return iter(self.python)

    @property
    def supports_partial_decode(self) -> bool:
        """Tell whether zarr-python's pipeline does."""
        return self.python.supports_partial_decode

    @property
    def supports_partial_encode(self) -> bool:
        """Tell whether zarr-python's pipeline does."""
        return self.python.supports_partial_encode

    def validate(self, **given: Any) -> None:
        """Check the codecs against the array."""
        self.python.validate(**given)

    def compute_encoded_size(self, byte_length: int, array_spec: Any) -> int:
        """Give the bytes of an encoded chunk, where that can be told."""
        return self.python.compute_encoded_size(byte_length, array_spec)

    async def decode(self, chunk_bytes_and_specs: Any) -> Any:
        """Decode chunks in memory."""
        return await self.python.decode(chunk_bytes_and_specs)

    async def encode(self, chunk_arrays_and_specs: Any) -> Any:
        """Encode chunks in memory."""
        return await self.python.encode(chunk_arrays_and_specs)

    async def read(self, batch_info: Any, out: Any, drop_axes: tuple[int, ...] = ()) -> Any:
        """Read parts of chunks into memory."""
        pieces = list(batch_info)
        box = self._box(pieces, out, drop_axes)
        if box is not None and box.shape == out.shape:
            try:
                return await _run(
                    out, _read, self._path(pieces, box), box.format, box.key, out.as_numpy_array()
                )
            except NdfileError as e:
                self._note(e)
        return await self.python.read(pieces, out, drop_axes)

    async def write(self, batch_info: Any, value: Any, drop_axes: tuple[int, ...] = ()) -> None:
        """Write parts of chunks, each under its lock."""
        pieces = list(batch_info)
        empty: list[Any] = []
        full: list[Any] = []
        for piece in pieces:
            (empty if _is_empty(piece, value) else full).append(piece)
        # One box where all pieces are written, else one for each.
        parts = [[p] for p in full] if empty else [full]
        boxes = [self._box(part, value, drop_axes) for part in parts]
        found = [b for b in boxes if b is not None]
        data: Any = value.as_numpy_array() if found else None
        if (
            not full
            or full[0][0].store.read_only
            or len(found) < len(boxes)
            or (not empty and value.shape not in ((), found[0].shape))
        ):
            await self.python.write(pieces, value, drop_axes)
            return
        whole = not empty or not data.shape
        jobs = [(b.key, data if whole else data[p[0][3]]) for b, p in zip(found, parts)]
        try:
            await _run(value, _write, self._path(full, found[0]), found[0].format, jobs)
        except NdfileError as e:
            self._note(e)
            empty = pieces
        if empty:
            await self.python.write(empty, value, drop_axes)

    def _box(self, pieces: list[Any], memory: Any, drop_axes: tuple[int, ...]) -> _Box | None:
        if self.grid is None or self.refused or drop_axes or not isinstance(memory, cpu.NDBuffer):
            return None
        if not all(type(p[0]) is StorePath and type(p[0].store) is LocalStore for p in pieces):
            return None  # a subclass may keep its values elsewhere
        return _Box.of(self.grid, pieces)

    def _path(self, pieces: list[Any], box: _Box) -> Any:
        return pieces[0][0].store.root / box.folder

    def _note(self, e: NdfileError) -> None:
        """Remember what holds for the array, not for its present content."""
        if isinstance(e, NotImplementedError):
            self.refused.append(e)


def _is_empty(piece: Any, value: Any) -> bool:
    """Tell whether a piece is a whole chunk, to be written as one that is not there."""
    _, spec, _, outside, whole = piece
    if spec.config.write_empty_chunks or not whole:
        return False
    fill = spec.dtype.default_scalar() if spec.fill_value is None else spec.fill_value
    part = value[outside] if value.shape else value
    first = part.as_numpy_array()[(0,) * len(part.shape)] if 0 not in part.shape else fill
    is_fill = first == fill or (part.dtype.kind in "fcmM" and np.isnan(first))
    return bool(is_fill and part.all_equal(fill))


async def _run(memory: Any, work: Any, *given: Any) -> None:
    """Do work in another thread if it is much."""
    if memory.shape and np.prod(memory.shape) * memory.dtype.itemsize > _SMALL:
        await asyncio.to_thread(work, *given)
    else:
        work(*given)


def _read(path: Any, format: str, key: Any, out: np.ndarray) -> None:
    with open(path, "r", format) as f:
        f.array.read(key, out=out)


def _write(path: Any, format: str, jobs: list[tuple[Any, np.ndarray]]) -> None:
    with open(path, "r+", format, shared=True, timeout=60.0) as f:
        for key, data in jobs:
            f.array[key] = data


register_pipeline(Pipeline)
