"""Settings of the library, for this process and those that it forks."""

from __future__ import annotations

import operator

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
