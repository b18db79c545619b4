"""n-dimensional arrays in files: a thin layer over the library libndfile.

`read` and `save` take whole files, `read_many` and `save_many` many of them, `open` gives a mapping of lazy
arrays that are read and written piece by piece, or a `Table` of columns, `info`, `detect` and `formats` tell
what there is, `verify` what is wrong with it; `convert`, `split` and `concat` make new stores of old ones.
Errors are `NdfileError` and also the builtin that one would catch. All functions and objects may be used by
several threads at once; the GIL is released while the library works.

Examples
--------
>>> import ndfile, numpy as np
>>> ndfile.save("weather.ds", {"t": np.array([271.5, 272.0, 273.5])}, var_attrs={"t": {"units": "K"}})
>>> ndfile.read("weather.ds", "t")
array([271.5, 272. , 273.5])
>>> with ndfile.open("weather.ds") as f:
...     print(f["t"].attrs["units"], f["t"][-2:])
K [272.  273.5]
"""

from . import _errors, blosc
from ._array import Array
from ._attrs import Attrs
from ._convert import Loss, concat, convert, split
from ._decoded import Decoded, DecodedFile
from ._errors import *  # noqa: F403
from ._file import File
from ._group import Group
from ._info import detect, formats, info
from ._joined import Joined, JoinedArray, open_many
from ._kinds import open_array, open_dataset, open_table
from ._lib import version as __version__
from ._many import read_many, save_many
from ._open import open
from ._orthogonal import Orthogonal
from ._read import read
from ._save import save
from ._settings import CacheInfo, cache_info, set_cache_limit, set_limits, set_threads
from ._spec import Compression
from ._table import Table
from ._verify import Problem, seal, verify

__all__ = [
    "Array",
    "Attrs",
    "CacheInfo",
    "Compression",
    "Decoded",
    "DecodedFile",
    "File",
    "Group",
    "Joined",
    "JoinedArray",
    "Loss",
    "Orthogonal",
    "Problem",
    "Table",
    "__version__",
    "blosc",
    "cache_info",
    "concat",
    "convert",
    "detect",
    "formats",
    "info",
    "open",
    "open_array",
    "open_dataset",
    "open_many",
    "open_table",
    "read",
    "read_many",
    "save",
    "save_many",
    "seal",
    "set_cache_limit",
    "set_limits",
    "set_threads",
    "split",
    "verify",
]
__all__ += _errors.__all__

for _object in map(globals().get, __all__):
    if callable(_object):
        _object.__module__ = __name__
