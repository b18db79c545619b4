"""Folds: what is kept of the blocks of an array while it is reduced along axes.

A fold has arrays of the result's shape with 1 along each reduced axis. `take` is given one block after the
other, as often as there are blocks, in memory that it may change; `result` is asked for once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: Kinds of dtypes that a reduction is for; `count` is for all.
KINDS = {
    "sum": "biufcm",
    "mean": "biufcm",
    "min": "biufcmM",
    "max": "biufcmM",
    "std": "biufc",
    "var": "biufc",
    "any": "biufc",
    "all": "biufc",
}

Place = tuple[slice, ...]
Shape = tuple[int, ...]


class Fold:
    """Counts of the elements that are not missing, for each cell of the result."""

    def __init__(self, counts: Shape, axes: tuple[int, ...], masked: bool) -> None:
        self.axes = axes
        self.shape = tuple(1 if i in axes else n for i, n in enumerate(counts))
        #: Elements for each cell where none is missing.
        self.full = math.prod(counts[i] for i in axes)
        self.counts: Any = np.zeros(self.shape, np.int64) if masked else self.full

    def take(self, place: Place, values: np.ndarray, missing: np.ndarray | None) -> None:
        """Take a block; place is that of its cells, missing has its shape."""
        if missing is not None:
            self.counts[place] += np.add.reduce(~missing, axis=self.axes, dtype=np.int64, keepdims=True)

    def result(self) -> np.ndarray:
        """Give the result, with an axis of length 1 for each that was reduced."""
        return np.broadcast_to(np.asarray(self.counts, np.intp), self.shape).copy()

    def missing(self) -> np.ndarray:
        """Tell which cells have no value."""
        return np.broadcast_to(np.asarray(self.counts) == 0, self.shape)


class Sum(Fold):
    """Sums. Those of integers are right modulo 2^n; a sum in float64 beside tells whether they wrapped."""

    def __init__(
        self, counts: Shape, axes: tuple[int, ...], masked: bool, source: np.dtype, dtype: np.dtype
    ) -> None:
        super().__init__(counts, axes, masked)
        self.dtype = dtype
        wide = np.result_type(dtype, np.float64) if dtype.kind in "fc" else dtype
        self.total = np.zeros(self.shape, wide)
        self.beside: np.ndarray | None = None
        self.bits = 8 * dtype.itemsize
        if dtype.kind in "iu" and 8 * source.itemsize + self.full.bit_length() >= self.bits:
            self.beside = np.zeros(self.shape)

    def take(self, place: Place, values: np.ndarray, missing: np.ndarray | None) -> None:
        super().take(place, values, missing)
        if missing is not None:
            values[missing] = 0
        wide = None if self.dtype.kind == "m" else self.total.dtype
        self.total[place] += np.add.reduce(values, axis=self.axes, dtype=wide, keepdims=True)
        if self.beside is not None:
            self.beside[place] += np.add.reduce(values, axis=self.axes, dtype=np.float64, keepdims=True)

    def wrapped(self) -> bool:
        """Tell whether a sum does not fit."""
        if self.beside is None:
            return False
        return bool((np.abs(self.beside - self.total) >= 2.0 ** (self.bits - 1)).any())

    def result(self) -> np.ndarray:
        return self.total.astype(self.dtype, copy=False)


class Mean(Sum):
    """Sums in float64 or wider, divided by the counts."""

    def result(self) -> np.ndarray:
        counts = self.counts if isinstance(self.counts, int) else np.maximum(self.counts, 1)
        mean = np.asarray(np.true_divide(self.total, counts))
        return mean.astype(self.dtype, copy=False)


class Extreme(Fold):
    """Least or greatest elements; NaN and NaT win, as in NumPy."""

    def __init__(
        self, counts: Shape, axes: tuple[int, ...], masked: bool, dtype: np.dtype, greatest: bool
    ) -> None:
        super().__init__(counts, axes, masked)
        self.ufunc = np.maximum if greatest else np.minimum
        self.neutral = _end(dtype, not greatest)
        self.total = np.full(self.shape, self.neutral, dtype)

    def take(self, place: Place, values: np.ndarray, missing: np.ndarray | None) -> None:
        super().take(place, values, missing)
        if missing is not None:
            values[missing] = self.neutral
        part = self.ufunc.reduce(values, axis=self.axes, keepdims=True)
        self.total[place] = self.ufunc(self.total[place], part)

    def result(self) -> np.ndarray:
        return self.total


class Truth(Fold):
    """Whether any element, or every one, is true."""

    def __init__(self, counts: Shape, axes: tuple[int, ...], masked: bool, every: bool) -> None:
        super().__init__(counts, axes, masked)
        self.ufunc = np.logical_and if every else np.logical_or
        self.total = np.full(self.shape, every)

    def take(self, place: Place, values: np.ndarray, missing: np.ndarray | None) -> None:
        super().take(place, values, missing)
        if missing is not None:
            values[missing] = self.ufunc is np.logical_and
        part = self.ufunc.reduce(values, axis=self.axes, keepdims=True)
        self.total[place] = self.ufunc(self.total[place], part)

    def result(self) -> np.ndarray:
        return self.total


class Spread(Fold):
    """Variances: mean and sum of squared distances of each block, joined by the formula of Chan et al."""

    def __init__(
        self,
        counts: Shape,
        axes: tuple[int, ...],
        masked: bool,
        dtype: np.dtype,
        ddof: float,
        root: bool,
    ) -> None:
        super().__init__(counts, axes, True)
        self.ddof, self.root, self.masked = ddof, root, masked
        wide = np.result_type(dtype, np.float64)
        self.mean = np.zeros(self.shape, wide)
        self.squares = np.zeros(self.shape, np.real(self.mean).dtype)
        self.dtype = np.real(np.empty(0, dtype)).dtype

    def take(self, place: Place, values: np.ndarray, missing: np.ndarray | None) -> None:
        before = self.counts[place].copy()
        if missing is None:
            self.counts[place] += math.prod(values.shape[i] for i in self.axes)
        super().take(place, values, missing)
        now = self.counts[place]
        new = now - before
        wide = values.astype(self.mean.dtype)
        if missing is not None:
            wide[missing] = 0
        mean = np.add.reduce(wide, axis=self.axes, keepdims=True) / np.maximum(new, 1)
        wide -= mean
        if missing is not None:
            wide[missing] = 0
        squares = np.add.reduce(_square(wide), axis=self.axes, keepdims=True)
        apart = mean - self.mean[place]
        share = new / np.maximum(now, 1)
        self.mean[place] += apart * share
        self.squares[place] += squares + _square(apart) * (before * share)

    def result(self) -> np.ndarray:
        # Cells without a value get the mask, or what NumPy makes of a division by 0.
        least = np.where(self.missing(), 1, 0) if self.masked else 0
        variance = np.asarray(self.squares / np.maximum(self.counts - self.ddof, least))
        if self.root:
            np.sqrt(variance, out=variance)
        return variance.astype(self.dtype, copy=False)

    def missing(self) -> np.ndarray:
        return np.asarray(self.counts <= self.ddof)


def _square(values: np.ndarray) -> np.ndarray:
    """Squares of the absolute values; values are overwritten where they are real."""
    if values.dtype.kind == "c":
        return np.asarray(np.real(values) ** 2 + np.imag(values) ** 2)
    values *= values
    return values


def _end(dtype: np.dtype, greatest: bool) -> Any:
    """Give the greatest or the least value of a dtype."""
    if dtype.kind in "mM":
        last = np.iinfo(np.int64).max
        return np.array(last if greatest else -last, np.int64).view(dtype)[()]
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.max if greatest else limits.min
    if dtype.kind == "b":
        return greatest
    end = math.inf if greatest else -math.inf
    return complex(end, end) if dtype.kind == "c" else end


def fold(
    name: str,
    counts: Shape,
    axes: tuple[int, ...],
    masked: bool,
    source: np.dtype,
    dtype: np.dtype | None,
    ddof: float,
) -> Fold:
    """Make the fold of a reduction, with NumPy's dtype where none is given."""
    if name == "count":
        return Fold(counts, axes, masked)
    if name in ("min", "max"):
        return Extreme(counts, axes, masked, source, name == "max")
    if name in ("any", "all"):
        return Truth(counts, axes, masked, name == "all")
    given = dtype or source
    if name == "sum":
        grown = {"b": np.int64, "i": np.int64, "u": np.uint64}.get(source.kind, source)
        return Sum(counts, axes, masked, source, dtype or np.dtype(grown))
    real = given if given.kind in "fcm" else np.dtype(np.float64)
    if name == "mean":
        return Mean(counts, axes, masked, source, real)
    return Spread(counts, axes, masked, real, ddof, name == "std")
