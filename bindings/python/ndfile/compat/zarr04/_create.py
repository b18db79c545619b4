"""Making and opening arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _array

_LIKE = ("shape", "chunks", "dtype", "cname", "clevel", "shuffle")


def _class(persistent: bool, synchronized: bool, lazy: bool) -> Any:
    name = ("Synchronized" if synchronized else "") + ("Lazy" if lazy else "")
    return getattr(_array, name + ("PersistentArray" if persistent else "Array"))


def full(
    shape: Any,
    chunks: Any,
    fill_value: Any,
    dtype: Any = None,
    cname: Any = None,
    clevel: Any = None,
    shuffle: Any = None,
    synchronized: bool = True,
    lazy: bool = False,
) -> Any:
    """Make an array in memory of one value."""
    return _class(False, synchronized, lazy)(shape, chunks, dtype, cname, clevel, shuffle, fill_value)


def empty(shape: Any, chunks: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Make an array in memory whose elements are not defined; options as for `full`."""
    return full(shape, chunks, None, dtype, **kwargs)


def zeros(shape: Any, chunks: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Make an array in memory of zeros; options as for `full`."""
    return full(shape, chunks, 0, dtype, **kwargs)


def ones(shape: Any, chunks: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Make an array in memory of ones; options as for `full`."""
    return full(shape, chunks, 1, dtype, **kwargs)


def array(data: Any, chunks: Any = None, dtype: Any = None, fill_value: Any = None, **kwargs: Any) -> Any:
    """Make an array in memory of what is given; chunks are taken from it where it has such."""
    if not hasattr(data, "shape") or not hasattr(data, "dtype"):
        data = np.asanyarray(data)
    if chunks is None:
        if hasattr(data, "chunklen"):
            chunks = (data.chunklen, *data.shape[1:])
        elif getattr(data, "chunks", None) and len(data.chunks) == len(data.shape):
            chunks = data.chunks
        else:
            raise ValueError("chunks must be specified")
    new = full(data.shape, chunks, fill_value, data.dtype if dtype is None else dtype, **kwargs)
    new[...] = data[:]
    return new


def open(
    path: Any,
    mode: str = "a",
    shape: Any = None,
    chunks: Any = None,
    dtype: Any = None,
    cname: Any = None,
    clevel: Any = None,
    shuffle: Any = None,
    fill_value: Any = 0,
    synchronized: bool = True,
    lazy: bool = False,
) -> Any:
    """Open or make an array in a folder; see `PersistentArray`."""
    make = _class(True, synchronized, lazy)
    return make(path, mode, shape, chunks, dtype, cname, clevel, shuffle, fill_value)


def _like(z: Any, given: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in given.items() if value is not None}
    found = {name: getattr(z, name) for name in _LIKE}
    return {**found, "synchronized": z.is_synchronized, "lazy": z.is_lazy, **given}


def empty_like(z: Any, **kwargs: Any) -> Any:
    """Make an array in memory like another, but for what is given; see `empty`."""
    return empty(**_like(z, kwargs))


def zeros_like(z: Any, **kwargs: Any) -> Any:
    """Make an array in memory of zeros like another, but for what is given."""
    return zeros(**_like(z, kwargs))


def ones_like(z: Any, **kwargs: Any) -> Any:
    """Make an array in memory of ones like another, but for what is given."""
    return ones(**_like(z, kwargs))


def full_like(z: Any, fill_value: Any = None, **kwargs: Any) -> Any:
    """Make an array in memory of one value like another, but for what is given."""
    return full(fill_value=z.fill_value if fill_value is None else fill_value, **_like(z, kwargs))


def open_like(z: Any, path: Any, mode: str = "a", fill_value: Any = None, **kwargs: Any) -> Any:
    """Open or make an array in a folder like another, but for what is given."""
    fill_value = z.fill_value if fill_value is None else fill_value
    return open(path, mode, fill_value=fill_value, **_like(z, kwargs))
