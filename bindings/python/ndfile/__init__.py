"""n-dimensional arrays in files: a thin layer over the library libndfile.

`read` and `save` take whole files, `read_many` and `save_many` many of them, `open` gives a mapping of lazy
arrays that are read and written piece by piece, `info`, `detect` and `formats` tell what there is. Errors
are `NdfileError` and also the builtin that one would catch. All functions and objects may be used by several
threads at once; the GIL is released while the library works.

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
from ._errors import *  # noqa: F403
from ._file import File, open
from ._info import detect, formats, info
from ._lib import version as __version__
from ._many import read_many, save_many
from ._orthogonal import Orthogonal
from ._read import read
from ._save import save
from ._settings import set_threads

__all__ = [  # noqa: PLE0604
    "Array",
    "Attrs",
    "File",
    "Orthogonal",
    "__version__",
    "blosc",
    "detect",
    "formats",
    "info",
    "open",
    "read",
    "read_many",
    "save",
    "save_many",
    "set_threads",
    *_errors.__all__,
]

for _name in __all__:
    _object = globals()[_name]
    if callable(_object):
        _object.__module__ = __name__
del _name, _object
