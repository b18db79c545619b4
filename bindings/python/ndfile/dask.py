"""Dask: stores that many workers migrate, and many small files that they read.

Arrays of open files need nothing of this module: ``dask.array.from_array(v)`` reads them lazily, in any
worker, and those of a file open in mode ``"r+"`` are targets of ``dask.array.store(x, v, lock=False)``:
blocks that share chunks lose nothing, since each write locks the chunks that it touches.

`convert` and `map_files` take a `distributed.Client`; without one they work in this process. Workers see
files by their paths, so these have to lie where all of them can reach them.
"""

from __future__ import annotations

import itertools
import math
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Callable, NamedTuple

import numpy as np

from ._array import Array
from ._copies import carried, storage
from ._errors import ArgumentError, CorruptError, ExistsError, NotSupportedError
from ._info import formats
from ._lib import Path
from ._many import read_many
from ._open import open as open_file
from ._progress import Progress, Watch

__all__ = ["Migration", "convert", "map_files"]

_TASK = 1 << 26  # bytes of elements that a task copies
_WAVE = 4096  # tasks that the scheduler is given at once
_RAW = 1 << 20  # bytes of elements of a chunk that is rather copied as stored than decoded
_FILES = 500  # files of a task

Piece = tuple[str, tuple[slice, ...]]


class Migration(NamedTuple):
    """What `convert` has done.

    Attributes
    ----------
    path : str
        The new store.
    arrays, elements, nbytes : int
        How much there is, in memory.
    pieces : int
        Tasks of copying.
    written : int
        Pieces that were written; the others were there from an earlier run.
    seconds : float
        Time of this run.
    """

    path: str
    arrays: int
    elements: int
    nbytes: int
    pieces: int
    written: int
    seconds: float


def convert(
    src: Path,
    dst: Path,
    client: Any = None,
    *,
    format: str = "zarr3",
    chunks: Any = None,
    shards: Any = None,
    compression: Any = None,
    codecs: Any = None,
    task_bytes: int = _TASK,
    progress: Progress = None,
) -> Migration:
    """Copy a store into a new one of another format, with many workers.

    The new store grows beside its place, as `dst` + ``.partial``, and gets its name when all its elements
    have been compared with those of `src`. A run that was interrupted goes on where it was: pieces that are
    there are compared and not written again. Workers that die are no interruption; Dask gives their tasks to
    others.

    Parameters
    ----------
    src : path
        A file or store of any format with arrays of fixed-size elements, not changed meanwhile.
    dst : path
        The new store; nothing may be there.
    client : distributed.Client, optional
        Whose workers do it. Default: threads of this process.
    format : str, default "zarr3"
        A format of chunks whose arrays are written region by region: zarr0, zarr2, zarr3, bcolz.
    chunks, shards, compression, codecs : optional
        How every array is stored, as for `ndfile.File.create`. Default of chunks and compression: as in
        `src`.
    task_bytes : int, default 64 MiB
        Bytes of elements that a task copies, at least a chunk or a shard. A worker needs memory for three
        times as much.
    progress : bool or callable, optional
        As for `ndfile.convert`; a step is a piece copied or compared.

    Returns
    -------
    Migration

    Raises
    ------
    ExistsError
        Something is at `dst` (a FileExistsError).
    ArgumentError
        The store that an earlier run has begun is another one (a ValueError).
    CorruptError
        Elements differ after they were copied: a disk that does not hold what it was given, or a store that
        was changed meanwhile (a ValueError).
    NotSupportedError
        Arrays of variable-length elements or with masks, formats that cannot be written by regions.

    Examples
    --------
    >>> import ndfile, ndfile.dask, numpy as np
    >>> ndfile.save("old.zarr", np.arange(20000).reshape(100, 200), format="zarr0")
    >>> done = ndfile.dask.convert("old.zarr", "new.zarr", chunks=(10, 50), shards=(50, 100))
    >>> done.elements, ndfile.detect("new.zarr"), int(ndfile.read("new.zarr")[-1, -1])
    (20000, 'zarr3', 19999)
    """
    begin = time.monotonic()
    source, target = _place(src), _place(dst)
    partial_path = target + ".partial"
    if os.path.lexists(target):
        raise ExistsError(f"{target}: expected nothing there, found a file or folder", path=target)
    how = {"chunks": chunks, "shards": shards, "compression": compression, "codecs": codecs}
    fresh = not os.path.lexists(partial_path)
    if fresh:
        _create(source, partial_path, format, {k: v for k, v in how.items() if v is not None})
    elements, nbytes, pieces = _plan(source, partial_path, task_bytes)
    with Watch(progress, 2 * len(pieces)) as watch:
        copy = partial(_copy, source, partial_path, not fresh)
        written = sum(_each(client, copy, pieces, watch))
        same = _each(client, partial(_same, source, partial_path), pieces, watch)
        wrong = [piece for piece, alike in zip(pieces, same) if not alike]
        watch.check()
    if wrong:
        raise CorruptError(
            f"{partial_path}: {len(wrong)} of {len(pieces)} pieces differ from {source}, first {wrong[0]}"
        )
    os.rename(partial_path, target)
    names = {name for name, _ in pieces}
    return Migration(target, len(names), elements, nbytes, len(pieces), written, time.monotonic() - begin)


def map_files(
    function: Callable[[Any], Any],
    paths: Iterable[Path],
    name: str | None = None,
    client: Any = None,
    *,
    batch: int = _FILES,
    progress: Progress = None,
) -> list[Any]:
    """Call a function with the content of each of many small files, in the workers that read them.

    Parameters
    ----------
    function : callable
        Takes what `ndfile.read(path, name)` gives; what it returns should be small, it goes over the network.
    paths : iterable of path
        The files.
    name : str, optional
        Name of the one array to read of each. Default: all.
    client : distributed.Client, optional
        Whose workers do it. Default: this process.
    batch : int, default 500
        Files of a task, which reads them by `ndfile.read_many`.
    progress : bool or callable, optional
        A step is a batch.

    Returns
    -------
    list
        What the function returned, in the order of `paths`.

    Raises
    ------
    NdfileError
        Of the first file that cannot be read.

    Examples
    --------
    >>> import ndfile, ndfile.dask, numpy as np
    >>> paths = [f"f{i}.ds" for i in range(4)]
    >>> ndfile.save_many(paths, [{"t": np.full(3, i)} for i in range(4)])
    >>> sums = ndfile.dask.map_files(np.sum, paths, "t")
    >>> int(sum(sums))
    18
    """
    listed = [_place(path) for path in paths]
    if batch < 1:
        raise ArgumentError(f"batch: expected 1 or more files, found {batch}")
    batches = [listed[i : i + batch] for i in range(0, len(listed), batch)]
    with Watch(progress, len(batches)) as watch:
        result = list(
            itertools.chain.from_iterable(_each(client, partial(_map, function, name), batches, watch))
        )
        watch.check()
    return result


def _map(function: Callable[[Any], Any], name: str | None, paths: list[str]) -> list[Any]:
    return [function(content) for content in read_many(paths, name)]


def _each(client: Any, function: Callable[[Any], Any], items: list[Any], watch: Watch) -> Iterator[Any]:
    """Give what a function returns for each item, in order, computed by workers or by threads."""
    for start in range(0, len(items), _WAVE):
        wave = items[start : start + _WAVE]
        if client is None:
            with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
                results = pool.map(function, wave)
                yield from _counted(results, watch)
        else:
            futures = client.map(function, wave, pure=False)
            try:
                yield from _counted((future.result() for future in futures), watch)
            finally:
                client.cancel(futures)


def _counted(results: Iterable[Any], watch: Watch) -> Iterator[Any]:
    for result in results:
        watch.done += 1
        watch.check()
        yield result


def _place(path: Path) -> str:
    return os.path.abspath(os.fsdecode(path))


def _create(source: str, target: str, format: str, how: dict[str, Any]) -> None:
    """Make the new store, with everything but elements."""
    caps = next((f["caps"] for f in formats() if f["name"] == format), ())
    if "chunked" not in caps or "update" not in caps:
        raise NotSupportedError(f"{format} is not written by regions; ndfile.convert writes all formats")
    with open_file(source) as old:
        for array in old.values():
            _check(array)
        building = f"{target}.{os.getpid()}"
        shutil.rmtree(building, ignore_errors=True)
        with open_file(building, "w", format, attrs=dict(old.attrs) or None) as new:
            known = new._info().caps
            for name, array in old.items():
                dims, attrs = carried(array, known, array._where, None, None)
                options = {**storage(array, new.format, known, {})[-1], **how}
                if "codecs" in how or "compression" in how:
                    for other in {"codecs", "compression"} - set(how):
                        options.pop(other, None)
                if "chunks" in how and array.ndim:
                    options["chunks"] = how["chunks"]
                new.create(name, array.shape, array.dtype_name, dims, attrs, **options)
        os.rename(building, target)  # a run that goes on finds all arrays


def _check(array: Array) -> None:
    if array.masked or array.dtype_name in ("str", "bytes") or array.shape is None:
        kind = f"{array.dtype_name}{' with a mask' if array.masked else ''}"
        raise NotSupportedError(f"{array._where}: {kind} is not copied by regions; use ndfile.convert")


def _plan(source: str, target: str, most: int) -> tuple[int, int, list[Piece]]:
    """Cut the arrays into boxes of whole chunks or shards of the new store."""
    pieces: list[Piece] = []
    elements = nbytes = 0
    with open_file(source) as old, open_file(target) as new:
        if list(old) != list(new) and sorted(old) != sorted(new):
            raise ArgumentError(
                f"{target}: holds {list(new)}, and {source} {list(old)}: remove what an earlier run began"
            )
        for name, array in old.items():
            there = new[name]
            if (there.shape, there.dtype) != (array.shape, array.dtype):
                raise ArgumentError(
                    f"{there._where}: {there.dtype_name} of shape {there.shape}, in {source} it is "
                    f"{array.dtype_name} of shape {array.shape}: remove what an earlier run began"
                )
            elements += array.size
            nbytes += array.nbytes
            pieces += [(name, box) for box in _boxes(there, most)]
    return elements, nbytes, pieces


def _boxes(array: Array, most: int) -> Iterator[tuple[slice, ...]]:
    """Give boxes of whole shards, or chunks, that cover an array."""
    shape = array._extents()
    if not array.size:
        return
    box = list(array.shards or array.chunks or shape)
    for axis in reversed(range(len(shape))):
        room = max(1, most // max(1, math.prod(box) * array.dtype.itemsize))  # type: ignore[union-attr]
        box[axis] *= min(room, -(-shape[axis] // box[axis]))
        if box[axis] < shape[axis]:
            break
    for corner in itertools.product(*(range(0, n, b) for n, b in zip(shape, box))):
        yield tuple(slice(i, min(i + b, n)) for i, b, n in zip(corner, box, shape))


def _copy(source: str, target: str, again: bool, piece: Piece) -> bool:
    """Copy a piece, unless an earlier run did; tell whether it was written."""
    name, box = piece
    with open_file(source) as old, open_file(target, "r+", shared=True) as new:
        array, there = old[name], new[name]
        if again and _alike(array, there, box):
            return False
        if _raw(array, there):
            for index in _indices(there, box):
                stored = array.read_chunk(index)
                if stored is not None:
                    there.write_chunk(index, stored)
        else:
            there[box] = array[box]
        return True


def _raw(old: Array, new: Array) -> bool:
    """Whether stored chunks can be exchanged as they are."""
    return (
        new.chunks is not None
        and old.chunks == new.chunks
        and old.dtype_name == new.dtype_name
        and old.shards is None
        and new.shards is None
        and old.chunk_encoding == new.chunk_encoding
        and old.fill_value == new.fill_value
        and math.prod(old.chunks) * old.dtype.itemsize >= _RAW  # type: ignore[union-attr]
    )


def _indices(array: Array, box: tuple[slice, ...]) -> Iterator[tuple[int, ...]]:
    chunks = array.chunks or ()
    return itertools.product(*(range(s.start // c, -(-s.stop // c)) for s, c in zip(box, chunks)))


def _same(source: str, target: str, piece: Piece) -> bool:
    """Whether the elements of a piece are the same in both stores."""
    name, box = piece
    with open_file(source) as old, open_file(target) as new:
        return _alike(old[name], new[name], box)


def _alike(old: Array, new: Array, box: tuple[slice, ...]) -> bool:
    """Compare bytes, so that NaN is NaN and -0.0 is not 0.0."""
    a, b = np.ascontiguousarray(old[box]), np.ascontiguousarray(new[box])
    return a.tobytes() == b.tobytes() if a.dtype.hasobject else bool((_bytes(a) == _bytes(b)).all())


def _bytes(a: np.ndarray) -> np.ndarray:
    return a.reshape(-1).view(np.uint8)
