"""zarr stores: ndfile against zarr-python, zarrs and tensorstore, all with lz4, level 5, byte shuffle.

Each reads, of its version of the format, what ndfile wrote: the chunks are the same bytes in all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import ndfile
import numpy as np
import tensorstore
import zarr
import zarrs  # noqa: F401 (registers its pipeline)
from case import Case, Prepare, Skip, Work
from values import check_all, walk

LENGTH = 10  # elements of a slice


class Ndfile:
    """ndfile, one version of the format."""

    def __init__(self, version: str) -> None:
        self.version = version

    def prepare(self) -> None:
        """Set what is for the whole process. Not timed."""

    def write(self, path: str, a: np.ndarray, chunk: int) -> None:
        compression = ("lz4", 5, "shuffle")
        ndfile.save(path, a, format=self.version, chunks=(chunk,), compression=compression)

    def open(self, path: str) -> ndfile.Array:
        return ndfile.open(path).array

    def read(self, array: ndfile.Array, key: slice) -> np.ndarray:
        return array[key]


class Zarr:
    """zarr-python, version 3, with its own pipeline of codecs or that of zarrs."""

    version = "zarr3"

    def __init__(self, pipeline: str) -> None:
        self.pipeline = pipeline

    def prepare(self) -> None:
        zarr.config.set({"codec_pipeline.path": self.pipeline})

    def write(self, path: str, a: np.ndarray, chunk: int) -> None:
        codec = zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")
        z = zarr.create_array(
            path, shape=a.shape, chunks=(chunk,), dtype=a.dtype, compressors=codec, zarr_format=3
        )
        z[:] = a

    def open(self, path: str) -> zarr.Array:
        return zarr.open_array(path, mode="r")

    def read(self, array: zarr.Array, key: slice) -> Any:
        return array[key]


class TensorStore:
    """tensorstore, version 2."""

    version = "zarr2"

    def prepare(self) -> None:
        pass

    def write(self, path: str, a: np.ndarray, chunk: int) -> None:
        blosc = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}
        metadata = {"shape": list(a.shape), "chunks": [chunk], "dtype": a.dtype.str, "compressor": blosc}
        kvstore = {"driver": "file", "path": path}
        spec = {"driver": "zarr", "kvstore": kvstore, "metadata": metadata}
        tensorstore.open(spec, create=True).result()[:] = a

    def open(self, path: str) -> tensorstore.TensorStore:
        kvstore = {"driver": "file", "path": path}
        return tensorstore.open({"driver": "zarr", "kvstore": kvstore}).result()

    def read(self, array: tensorstore.TensorStore, key: slice) -> np.ndarray:
        return array[key].read().result()


CONTENDERS = {
    "ndfile-zarr0": Ndfile("zarr0"),
    "ndfile-zarr2": Ndfile("zarr2"),
    "ndfile-zarr3": Ndfile("zarr3"),
    "zarr-python": Zarr("zarr.core.codec_pipeline.BatchedCodecPipeline"),
    "zarrs": Zarr("zarrs.ZarrsCodecPipeline"),
    "tensorstore": TensorStore(),
}
Contender = Ndfile | Zarr | TensorStore


def chunk_of(case: Case) -> int:
    if case.chunk is None:
        raise Skip("zarr stores need the length of a chunk")
    return case.chunk


def stored(contender: Contender, case: Case, folder: str, a: np.ndarray) -> str:
    """Give the path of a store of this case, which is written where it is not there yet."""
    path = f"{folder}/{case.file_name}.{contender.version}"
    if not os.path.exists(path):
        Ndfile(contender.version).write(path, a, chunk_of(case))
    return path


def write(contender: Contender, case: Case, folder: str, count: int) -> Work:
    a, chunk = walk(case), chunk_of(case)
    paths = [f"{folder}/{i:06}.zarr" for i in range(count)]
    contender.prepare()

    def run() -> None:
        for path in paths:
            contender.write(path, a, chunk)

    return Work(run)


def read(contender: Contender, case: Case, folder: str, count: int) -> Work:
    """Read all, each time through an array of its own, so that no cache helps."""
    a = walk(case)
    path = stored(contender, case, folder, a)
    contender.prepare()
    arrays = [contender.open(path) for _ in range(count)]

    def run() -> Any:
        for array in arrays[:-1]:
            contender.read(array, slice(None))
        return contender.read(arrays[-1], slice(None))

    return Work(run, lambda last: check_all([last], [a]))


def slices(starts: Callable, contender: Contender, case: Case, folder: str, count: int) -> Work:
    """Take a few elements, over and over, from one array."""
    a = walk(case)
    path = stored(contender, case, folder, a)
    keys = [slice(at, at + LENGTH) for at in starts(len(a) - LENGTH, count)]
    contender.prepare()
    array = contender.open(path)
    return Work(
        lambda: [contender.read(array, key) for key in keys],
        lambda found: check_all(found, [a[key] for key in keys]),
    )


def anywhere(end: int, count: int) -> list[int]:
    return np.random.default_rng(2).integers(0, end, count).tolist()


def same(end: int, count: int) -> list[int]:
    return anywhere(end, 1) * count


OPERATIONS: dict[tuple[str, str], Prepare] = {
    (name, f"zarr-{operation}"): partial(prepare, contender)
    for name, contender in CONTENDERS.items()
    for operation, prepare in {
        "write": write,
        "read": read,
        "slice-anywhere": partial(slices, anywhere),
        "slice-same": partial(slices, same),
    }.items()
}
