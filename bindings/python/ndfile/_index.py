"""NumPy basic indexing as boxes."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from ._errors import BoundsError, NotSupportedError


class Selection(NamedTuple):
    """What an index selects: a box of the array, and how the result relates to it."""

    starts: tuple[int, ...]  # of the box, one for each axis of the array
    counts: tuple[int, ...]
    steps: tuple[int, ...]  # 1 or more
    shape: tuple[int, ...]  # of the result: without integer axes, with new ones
    view: tuple[Any, ...]  # index that turns an array of the result's shape into the box
    scalar: bool  # the result is an element, not an array


_ALL = slice(None)
_BACKWARDS = slice(None, None, -1)


def select(key: Any, shape: tuple[int, ...], where: str) -> Selection:
    """Translate an index expression for an array of a shape.

    Integers, slices of any step, one Ellipsis and None (a new axis) work as in NumPy. Arrays and lists are
    NotSupportedError.

    Parameters
    ----------
    key
        What stood between the brackets.
    shape
        Shape of the array.
    where
        Path and name, for messages.

    Raises
    ------
    BoundsError
        An index is out of bounds, or there are too many. It is an IndexError.
    """
    items = key if isinstance(key, tuple) else (key,)
    used = dots = 0
    for item in items:
        if item is Ellipsis:
            dots += 1
        elif item is not None:
            used += 1
    if dots > 1:
        raise BoundsError(f"{where}: an index can only have a single ellipsis ('...')")
    if used > len(shape):
        raise BoundsError(
            f"{where}: too many indices: array is {len(shape)}-dimensional, but {used} were indexed"
        )
    start: list[int] = []
    count: list[int] = []
    step: list[int] = []
    result: list[int] = []
    view: list[Any] = []
    for item in items if dots else (*items, Ellipsis):
        axis = len(start)
        if item is None:
            result.append(1)
            view.append(0)
        elif item is Ellipsis:
            rest = shape[axis : len(shape) - (used - axis)]
            start += [0] * len(rest)
            count += rest
            step += [1] * len(rest)
            result += rest
            view += [_ALL] * len(rest)
        elif isinstance(item, slice):
            first, n, by = _slice(item, shape[axis])
            start.append(first)
            count.append(n)
            step.append(abs(by))
            result.append(n)
            view.append(_BACKWARDS if by < 0 else _ALL)
        else:
            start.append(_integer(item, axis, shape[axis], where))
            count.append(1)
            step.append(1)
            view.append(None)
    view.append(Ellipsis)  # an array also where there is one element
    scalar = not dots and not result
    return Selection(tuple(start), tuple(count), tuple(step), tuple(result), tuple(view), scalar)


def _slice(item: slice, extent: int) -> tuple[int, int, int]:
    """Give the lowest index, the number of elements and the step."""
    if item.start is None and item.stop is None and item.step is None:
        return 0, extent, 1
    first, stop, by = item.indices(extent)
    n = len(range(first, stop, by))
    if n == 0:
        return 0, 0, 1
    if n == 1:
        return first, 1, 1
    return (first if by > 0 else first + (n - 1) * by), n, by


def _integer(item: Any, axis: int, extent: int, where: str) -> int:
    if isinstance(item, (bool, np.bool_, list, np.ndarray)) and not (
        isinstance(item, np.ndarray) and item.ndim == 0 and item.dtype.kind in "iu"
    ):
        raise NotSupportedError(
            f"{where}: truth values and arrays are no indices here; use v.oindex, or index v[...] in memory"
        )
    try:
        i = operator.index(item)
    except TypeError:
        raise BoundsError(
            f"{where}: only integers, slices (`:`), ellipsis (`...`) and None are valid indices, "
            f"found {type(item).__name__}"
        ) from None
    if not -extent <= i < extent:
        raise BoundsError(f"{where}: index {i} is out of bounds for axis {axis} with size {extent}")
    return i + extent if i < 0 else i
