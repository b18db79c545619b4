"""Blosc chunks: ndfile.blosc against the C-Blosc of the wheel blosc; level 5, byte shuffle, one thread.

Both decode the wheel's chunk. Integers are a random walk, floats a smooth field.
"""

from __future__ import annotations

from functools import partial
from types import ModuleType

import blosc
import ndfile
import numpy as np
from case import Case, Prepare, Work
from values import field, walk

CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]
CONTENDERS: dict[str, ModuleType] = {"ndfile": ndfile.blosc, "blosc": blosc}
LEVEL = 5

blosc.set_nthreads(1)


def data_of(case: Case) -> np.ndarray:
    return field(case) if case.dtype.kind == "f" else walk(case)


def check_bytes(found: bytes, wanted: np.ndarray) -> None:
    if found != wanted.tobytes():
        raise ValueError(f"the {len(found)} bytes decoded are not what had been encoded")


def encode(codec: str, contender: ModuleType, case: Case, folder: str, count: int) -> Work:
    a = data_of(case)
    data, typesize = a.tobytes(), case.dtype.itemsize

    def run() -> bytes:
        for _ in range(count):
            chunk = contender.compress(
                data, typesize=typesize, clevel=LEVEL, shuffle=contender.SHUFFLE, cname=codec
            )
        return chunk

    return Work(run, lambda chunk: check_bytes(blosc.decompress(chunk), a))


def decode(codec: str, contender: ModuleType, case: Case, folder: str, count: int) -> Work:
    a = data_of(case)
    chunk = blosc.compress(
        a.tobytes(), typesize=case.dtype.itemsize, clevel=LEVEL, shuffle=blosc.SHUFFLE, cname=codec
    )

    def run() -> bytes:
        for _ in range(count):
            data = contender.decompress(chunk)
        return data

    return Work(run, lambda data: check_bytes(data, a))


OPERATIONS: dict[tuple[str, str], Prepare] = {
    (name, f"blosc-{operation}-{codec}"): partial(prepare, codec, contender)
    for name, contender in CONTENDERS.items()
    for operation, prepare in {"encode": encode, "decode": decode}.items()
    for codec in CODECS
}
