"""The API of bcolz 1.x and bcolz-zipline, for programs that were written for it.

``import ndfile.compat.bcolz as bcolz``, or, for a program that says ``import bcolz`` itself, `install`
before it does.
On disk the objects are bcolz stores, as `ndfile.open` reads and writes them. What differs from bcolz:

- Objects without ``rootdir`` lie in NumPy memory, not compressed: their ``cbytes`` is ``nbytes``.
- A store is open for changes from the first change to the next `flush` only, so that several objects in mode
  ``"a"`` of one store do not lock each other out. An append, trim or resize of a table on disk changes all
  columns at once.
- Expressions are evaluated by NumPy, block by block (``vm`` is taken and has no effect), and are expressions
  only: no attributes, no calls but those of NumPy's mathematical functions.
- Arrays of objects are kept in memory only.

Objects may be used by one thread at a time.
"""

from __future__ import annotations

import sys
import types

from ... import __version__ as _version
from ... import blosc as _blosc
from . import _attrs
from ._carray import carray
from ._ctable import ctable
from ._eval import eval
from ._make import arange, fill, fromiter, iterblocks, ones, open, walk, zeros
from ._params import BITSHUFFLE, NOSHUFFLE, SHUFFLE, cparams, defaults, defaults_ctx, filters

__version__ = f"1.13.0+ndfile.{_version}"

__all__ = [
    "BITSHUFFLE",
    "NOSHUFFLE",
    "SHUFFLE",
    "arange",
    "attrs",
    "blosc_compressor_list",
    "blosc_set_nthreads",
    "blosc_version",
    "carray",
    "cparams",
    "ctable",
    "defaults",
    "defaults_ctx",
    "detect_number_of_cores",
    "eval",
    "fill",
    "filters",
    "fromiter",
    "install",
    "iterblocks",
    "ones",
    "open",
    "print_versions",
    "set_nthreads",
    "walk",
    "zeros",
]

detect_number_of_cores = _blosc.detect_number_of_cores
ncores = _blosc.ncores
min_numexpr_version, min_dask_version = "2.5.2", "0.9.0"
numexpr_here = dask_here = tables_here = False
try:
    import pandas  # noqa: F401

    pandas_here = True
except ImportError:
    pandas_here = False

#: ``bcolz.attrs``, with the class `attrs`.
attrs = types.ModuleType("bcolz.attrs", _attrs.__doc__)
attrs.attrs = _attrs.attrs  # type: ignore[attr-defined]


def blosc_compressor_list() -> list[str]:
    """Give the names of the codecs of stores: those that bcolz-zipline reads too."""
    return [name for name in _blosc.compressor_list() if name != "snappy"]


def blosc_version() -> tuple[str, str]:
    """Give the release of c-blosc whose chunks are written, and its date."""
    return _blosc.VERSION_STRING, _blosc.VERSION_DATE


def set_nthreads(nthreads: int) -> int:
    """Set the most threads that the library uses, and give what it was before."""
    from ... import set_threads

    old = _blosc.set_nthreads(nthreads)
    set_threads(nthreads)
    return old


blosc_set_nthreads = set_nthreads


def print_versions() -> None:
    """Print what there is."""
    print(f"bcolz version:     {__version__}")
    _blosc.print_versions()


def install() -> types.ModuleType:
    """Make ``import bcolz`` give this module, in this process; to be called before the program imports it."""
    me = sys.modules[__name__]
    sys.modules["bcolz"], sys.modules["bcolz.attrs"] = me, attrs
    return me
