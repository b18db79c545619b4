"""The API of zarr release 0.4, for programs that were written for it.

``import ndfile.compat.zarr04 as zarr``. On disk the arrays are folders of format ``zarr0``, as `ndfile.open`
reads and writes them; in memory they are compressed chunks. What differs from zarr 0.4:

- Every change of a folder is complete, and the folder open to others, when the call returns. ``synchronized``
  arrays take the lock files that zarr 0.4 takes, for the time of a change.
- A folder has no ``fill_value`` of None: elements that were never written are zero.
- ``lazy`` has no effect: chunks are made when they are written.
"""

from __future__ import annotations

import os
import types

from ... import blosc as _blosc
from ._array import (
    Array,
    LazyArray,
    LazyPersistentArray,
    PersistentArray,
    SynchronizedArray,
    SynchronizedLazyArray,
    SynchronizedLazyPersistentArray,
    SynchronizedPersistentArray,
)
from ._chunk import (
    Chunk,
    PersistentChunk,
    SynchronizedChunk,
    SynchronizedPersistentChunk,
    defaults,
    normalize_cparams,
)
from ._create import (
    array,
    empty,
    empty_like,
    full,
    full_like,
    ones,
    ones_like,
    open,
    open_like,
    zeros,
    zeros_like,
)

__version__ = "0.4.0+ndfile"
ncores = os.cpu_count() or 1

__all__ = [
    "array",
    "blosc_version",
    "constants",
    "defaults",
    "empty",
    "empty_like",
    "ext",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "open",
    "open_like",
    "set_blosc_options",
    "zeros",
    "zeros_like",
]

#: ``zarr.constants``: the filters.
constants = types.SimpleNamespace(NOSHUFFLE=0, BYTESHUFFLE=1, BITSHUFFLE=2)

#: ``zarr.ext``: the classes.
ext = types.SimpleNamespace(
    Array=Array,
    Chunk=Chunk,
    LazyArray=LazyArray,
    LazyPersistentArray=LazyPersistentArray,
    PersistentArray=PersistentArray,
    PersistentChunk=PersistentChunk,
    SynchronizedArray=SynchronizedArray,
    SynchronizedChunk=SynchronizedChunk,
    SynchronizedLazyArray=SynchronizedLazyArray,
    SynchronizedLazyPersistentArray=SynchronizedLazyPersistentArray,
    SynchronizedPersistentArray=SynchronizedPersistentArray,
    SynchronizedPersistentChunk=SynchronizedPersistentChunk,
    _normalize_cparams=normalize_cparams,
)


def blosc_version() -> tuple[str, str]:
    """Give the release of c-blosc whose chunks are written, and its date."""
    return _blosc.VERSION_STRING, _blosc.VERSION_DATE


def set_blosc_options(use_context: bool = False, nthreads: int | None = None) -> None:
    """Set the most threads that Blosc uses; ``use_context`` is taken and has no effect."""
    if nthreads is not None:
        _blosc.set_nthreads(nthreads)
