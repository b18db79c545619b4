"""Making and opening carrays and ctables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from ..._errors import NdfileError
from ..._open import open as open_file
from ._carray import carray
from ._ctable import ctable


def open(rootdir: Any, mode: str = "a") -> carray | ctable:
    """Open the carray or ctable of a folder.

    Raises
    ------
    OSError
        Nothing is there.
    """
    with open_file(rootdir, format="bcolz") as file:
        kind = file.kind
    return (ctable if kind == "table" else carray)(rootdir=rootdir, mode=mode)


def fromiter(iterable: Iterable[Any], dtype: Any, count: int = -1, **kwargs: Any) -> carray | ctable:
    """Make a carray, or a ctable for a dtype with fields, of what an iterable gives."""
    dtype, items = np.dtype(dtype), iter(iterable)
    kwargs.setdefault("expectedlen", max(count, 0) or getattr(iterable, "__length_hint__", lambda: 0)())
    make: Any = ctable if dtype.kind == "V" else carray
    new: carray | ctable = make(np.empty(0, dtype), **kwargs)
    n = max(1, (1 << 20) // dtype.itemsize)
    while True:
        part = np.fromiter(islice(items, n), dtype)
        if not len(part):
            break
        new.append(part)
    new.flush()
    return new


def fill(shape: Any, dflt: Any = None, dtype: Any = float, **kwargs: Any) -> carray | ctable:
    """Make a carray, or a ctable for a dtype with fields, of one value: ``dflt``, or zero."""
    dtype = np.dtype(dtype)
    shape = (int(shape),) if isinstance(shape, (int, float, np.number)) else tuple(shape)
    kwargs.setdefault("expectedlen", shape[0])
    dtype = np.dtype((dtype.base, shape[1:] + dtype.shape))
    if dtype.names:
        return ctable(np.zeros(shape[0], dtype), **kwargs)
    new = carray(np.empty(0, dtype), dflt=dflt, **kwargs)
    new.resize(shape[0])
    new.flush()
    return new


def zeros(shape: Any, dtype: Any = float, **kwargs: Any) -> carray | ctable:
    """Make a carray of zeros; see `fill`."""
    return fill(shape, np.zeros((), np.dtype(dtype).base)[()], dtype, **kwargs)


def ones(shape: Any, dtype: Any = float, **kwargs: Any) -> carray | ctable:
    """Make a carray of ones; see `fill`."""
    return fill(shape, np.ones((), np.dtype(dtype).base)[()], dtype, **kwargs)


def arange(start: Any = None, stop: Any = None, step: Any = None, dtype: Any = None, **kwargs: Any) -> carray:
    """Make a carray of equidistant numbers, as `numpy.arange` does."""
    if start is None and stop is None:
        raise ValueError("You must pass a `stop` value at least.")
    if stop is None:
        start, stop = 0, start
    elif start is None:
        start = 0
    step = 1 if step is None else step
    dtype = np.dtype(
        dtype if dtype is not None else np.int_ if isinstance(stop, (int, np.integer)) else float
    )
    if dtype.kind == "V":
        raise ValueError("arange does not support ctables yet.")
    stop = int(stop)
    kwargs.setdefault("expectedlen", stop)
    new = carray(np.empty(0, dtype), **kwargs)
    n = max(1, (1 << 20) // dtype.itemsize)
    count = max(0, int(np.ceil((stop - start) / step)))
    for i in range(0, count, n):
        new.append((start + step * np.arange(i, min(i + n, count))).astype(dtype))
    new.flush()
    return new


def iterblocks(
    cobj: Any, blen: int | None = None, start: int = 0, stop: int | None = None
) -> Iterator[np.ndarray]:
    """Give rows in blocks, of the chunks' length by default; single ones of a carray without their axis."""
    stop = len(cobj) if stop is None else min(stop, len(cobj))
    n: int
    if blen is not None:
        n = blen
    elif isinstance(cobj, ctable):
        n = min(cobj[name].chunklen for name in cobj.names)
    else:
        n = cobj.chunklen
    for i in range(start, stop, n):
        block = cobj[i : min(i + n, stop)]
        yield block[0] if n == 1 and isinstance(cobj, carray) else block


def walk(dir: Any, classname: str | None = None, mode: str = "a") -> Iterator[carray | ctable]:
    """Open the carrays and ctables, or those of a class only, in a folder and the folders in it."""
    deeper = []
    for name in sorted(os.listdir(dir)):
        path = os.path.join(dir, name)
        if not os.path.isdir(path):
            continue
        try:
            found = open(path, mode)
        except NdfileError:
            deeper.append(path)
            continue
        if classname is None or type(found).__name__ == classname:
            yield found
    for path in deeper:
        yield from walk(path, classname, mode)
