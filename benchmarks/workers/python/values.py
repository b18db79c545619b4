"""The values of arrays, and whether they came back."""

from __future__ import annotations

import math

import numpy as np
from case import Case


def plain(case: Case) -> dict[str, np.ndarray]:
    """Give the arrays of files: integers count up, floats are ones."""
    size = math.prod(case.shape)
    a = np.arange(size, dtype=case.dtype) if case.dtype.kind in "iu" else np.ones(size, case.dtype)
    return {name: a.reshape(case.shape) for name in case.names}


def walk(case: Case, seed: int = 1) -> np.ndarray:
    """Give the array of a chunked store, which is compressed: a random walk of small whole steps."""
    steps = np.random.default_rng(seed).integers(-3, 4, case.shape)
    return ((1 << 20) + np.cumsum(steps)).astype(case.dtype)


def field(case: Case) -> np.ndarray:
    """Give a smooth field with noise in the low digits, as a model or an instrument makes it."""
    size = math.prod(case.shape)
    side = math.isqrt(size) + 1
    y, x = np.mgrid[0:side, 0:side] / side * 6.0
    noise = np.random.default_rng(1).normal(0, 0.02, x.shape)
    f = 280 + 15 * np.sin(x + 0.3 * np.cos(2 * y)) * np.cos(0.7 * y) + noise
    return np.round(f.ravel()[:size], 3).astype(case.dtype).reshape(case.shape)


def check_ends(found: np.ndarray, wanted: np.ndarray) -> None:
    """Compare dtype, shape, the first and the last value."""
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        raise ValueError(
            f"read {found.dtype} {found.shape} where {wanted.dtype} {wanted.shape} had been written"
        )
    for i in (0, -1):
        if found.flat[i] != wanted.flat[i]:
            raise ValueError(f"value {i} is {found.flat[i]}, expected {wanted.flat[i]}")


def check_sum(found: np.number, wanted: np.ndarray) -> None:
    """Compare a sum with that of the array."""
    if found != wanted.sum():
        raise ValueError(f"the sum is {found}, expected {wanted.sum()}")


def check_all(found: list[np.ndarray], wanted: list[np.ndarray]) -> None:
    """Compare every value of every array that was read, and the dtypes."""
    if len(found) != len(wanted):
        raise ValueError(f"{len(found)} results, expected {len(wanted)}")
    for i, (a, b) in enumerate(zip(found, wanted)):
        if a.dtype != b.dtype or not np.array_equal(a, b):
            raise ValueError(f"result {i} of {len(wanted)} is not what had been written")
