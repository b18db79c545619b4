"""The API of ds-format 5 on ndfile: ``import ndfile.compat.ds_format as ds``.

A dataset is a dict of arrays by name, with metadata under ``"."``: for each variable its attributes and
``.dims``, ``.size``, ``.type``, and under ``"."`` in it those of the dataset. Names that begin with a dot or
a backslash are escaped by a backslash.

Files are ``.ds`` and NetCDF (by ndfile; classic ones need no other package), HDF5 (by h5py), JSON, CSV and
TSV. Conversion of times to Julian dates (`jd`, `time_units`) needs cftime. What differs from the original is
listed in docs/compat.md.

`mode` is what happens to names that are not there: ``"soft"`` (nothing), ``"moderate"`` (a warning),
``"strict"`` (a NameError).
"""

from __future__ import annotations

import os as _os

#: What happens to names that are not there; the environment variable DS_MODE sets it.
mode = _os.environ.get("DS_MODE", "soft")
#: Version of ds-format that this stands for.
__version__ = "5.0.2"

from ._data import (  # noqa: E402
    attr,
    attrs,
    copy,
    dim,
    dims,
    escape,
    find,
    findall,
    get_attrs,
    get_dims,
    get_meta,
    get_vars,
    meta,
    require,
    size,
    time,
    type,
    unescape,
    validate,
    var,
    vars,
    with_mode,
)
from ._io import index, read, readdir, write  # noqa: E402
from ._netcdf import from_netcdf, to_netcdf  # noqa: E402
from ._ops import (  # noqa: E402
    apply,
    group_by,
    merge,
    rename,
    rename_attr,
    rename_attr_m,
    rename_dim,
    rename_dim_m,
    rename_m,
    rm,
    rm_attr,
    split,
)
from ._select import select  # noqa: E402
from ._times import time_dt  # noqa: E402

__all__ = [
    "apply",
    "attr",
    "attrs",
    "copy",
    "dim",
    "dims",
    "escape",
    "find",
    "findall",
    "from_netcdf",
    "get_attrs",
    "get_dims",
    "get_meta",
    "get_vars",
    "group_by",
    "index",
    "merge",
    "meta",
    "mode",
    "read",
    "readdir",
    "rename",
    "rename_attr",
    "rename_attr_m",
    "rename_dim",
    "rename_dim_m",
    "rename_m",
    "require",
    "rm",
    "rm_attr",
    "select",
    "size",
    "split",
    "time",
    "time_dt",
    "to_netcdf",
    "type",
    "unescape",
    "validate",
    "var",
    "vars",
    "with_mode",
    "write",
]
