"""Blocks: a selection of an array cut into parts that are read one after the other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from ._index import Selection

#: Bytes of the elements of a block, where a chunk is not larger.
_ROOM = 1 << 23


def blocks(
    selection: Selection, chunks: tuple[int, ...] | None, itemsize: int
) -> Iterator[tuple[tuple[slice, ...], Selection]]:
    """Give the blocks of a selection's box: the place in the box, and what is read.

    A block is one chunk, or as many neighbours as have room in 8 MiB, so that each chunk is decoded once;
    without chunks it is as much as has room.
    """
    starts, counts, steps = selection.starts, selection.counts, selection.steps
    if 0 in counts:
        return
    ends = [a + (n - 1) * by + 1 for a, n, by in zip(starts, counts, steps)]
    edges = _edges(ends, chunks or (1,) * len(ends), itemsize)
    axes = [_cut(*axis) for axis in zip(starts, counts, steps, edges)]
    for place in itertools.product(*axes):
        first = tuple(a + part.start * by for a, by, part in zip(starts, steps, place))
        size = tuple(part.stop - part.start for part in place)
        yield place, Selection(first, size, steps, size, (Ellipsis,), False)


def _edges(extents: list[int], chunks: tuple[int, ...], itemsize: int) -> list[int]:
    """Give the extents of a block, multiples of the chunks: it grows along the last axes first."""
    edges = list(chunks)
    for i in reversed(range(len(edges))):
        size = itemsize * math.prod(map(min, edges, extents))
        edges[i] *= max(1, min(_ROOM // max(1, size), -(-extents[i] // edges[i])))
    return edges


def _cut(start: int, count: int, step: int, edge: int) -> list[slice]:
    """Cut an axis of a box where the array has multiples of edge."""
    parts, low = [], 0
    while low < count:
        at = start + low * step
        high = min(count, low - ((at - (at // edge + 1) * edge) // step))
        parts.append(slice(low, high))
        low = high
    return parts
