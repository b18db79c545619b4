"""Settings of the library, for this process and those that it forks."""

from __future__ import annotations

import operator
from ctypes import byref, c_int64
from typing import NamedTuple

from ._errors import ArgumentError
from ._lib import call, lib


def set_threads(n: int) -> None:
    """Set how many threads a call of the library uses at most.

    It is for the calls that work in parallel, such as `read_many`. It lasts in forked children.

    Parameters
    ----------
    n : int
        1: no parallel work. 0, the default: as many as this process has processors.

    Examples
    --------
    >>> import ndfile
    >>> ndfile.set_threads(1)
    >>> ndfile.set_threads(0)
    """
    n = operator.index(n)
    if not 0 <= n < 1 << 31:
        raise ArgumentError(f"threads: expected 0 or more, found {n}")
    call(None, lib.ndf_set_threads, n)


def set_limits(*, max_header: int = 0, max_chunk: int = 0) -> None:
    """Set what a file from a stranger can make the library allocate.

    It lasts in forked children.

    Parameters
    ----------
    max_header : int
        The longest header or metadata text, in bytes; a longer one is a `LimitError`. 0: the default, 64 MiB.
    max_chunk : int
        The largest chunk that is changed, in bytes of its elements: it is held in memory as a
        whole. A larger one is a `LimitError`. Reading works piece by piece, but for chunks whose
        codecs cannot (those other than Blosc), which count too, and for single Blosc blocks of more
        than 16 MiB and larger than the file: these are read only where this was set and allows
        them. 0: the default, 512 MiB.

    Both are set; what is not given gets its default.

    Examples
    --------
    >>> import ndfile
    >>> ndfile.set_limits(max_header=1 << 20, max_chunk=1 << 30)
    >>> ndfile.set_limits()
    """
    call(None, lib.ndf_set_limits, operator.index(max_header), operator.index(max_chunk))


class CacheInfo(NamedTuple):
    """What is kept of decoded chunks, as `cache_info` tells it."""

    hits: int
    """Reads of parts of chunks that were served from what is kept, in this process."""
    misses: int
    """Reads of parts of chunks that were not."""
    limit: int
    """Bytes that are kept at most."""
    used: int
    """Bytes that are kept now."""


def cache_info() -> CacheInfo:
    """Tell what the process keeps of decoded chunks, for all open arrays together.

    Returns
    -------
    CacheInfo
        hits, misses, limit and used (bytes).

    Examples
    --------
    >>> import ndfile
    >>> ndfile.cache_info().limit
    67108864
    """
    limit, used, hits, misses = c_int64(), c_int64(), c_int64(), c_int64()
    call(None, lib.ndf_get_cache, byref(limit), byref(used), byref(hits), byref(misses))
    return CacheInfo(hits.value, misses.value, limit.value, used.value)


def set_cache_limit(nbytes: int | None) -> None:
    """Set how much the process keeps of decoded chunks, for all open arrays together.

    Reads of parts of a chunk are served from it. What is beyond the limit goes at once, what was used least
    recently first. What is kept of an array goes when its file is closed, or when it is changed through this
    file; changes by others are not noticed: open the file again. It lasts in forked children.

    Parameters
    ----------
    nbytes : int or None
        Bytes of elements. 0: nothing is kept. None: the default, 64 MiB.

    Examples
    --------
    >>> import ndfile
    >>> ndfile.set_cache_limit(256 << 20)
    >>> ndfile.set_cache_limit(None)
    """
    n = -1 if nbytes is None else operator.index(nbytes)
    if nbytes is not None and not 0 <= n < (1 << 63) - 1:
        raise ArgumentError(f"nbytes: expected 0 or more, found {n}")
    call(None, lib.ndf_set_cache_limit, n)
