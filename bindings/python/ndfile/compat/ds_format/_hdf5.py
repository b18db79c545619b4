"""HDF5, by h5py: variables of groups are called ``group/name``, and so are attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._data import _DTYPES, Dataset, attr, attrs, dims, escape, meta, time, type_name, var, vars
from ._data import type as type_of
from ._select import cut
from ._times import CALENDAR, UNITS, from_julian


def read(path: str, wanted: Any, sel: Any, full: bool) -> Dataset:
    """Read a file; the driver of `read`."""
    import h5py

    d: Dataset = {}
    with h5py.File(path, "r") as f:
        _group(h5py, d, f, "", wanted, sel, full)
    return d


def _group(h5py: Any, d: Dataset, group: Any, prefix: str, wanted: Any, sel: Any, full: bool) -> None:
    for name, value in group.attrs.items():
        attr(d, prefix + name, value)
    for key, item in group.items():
        name = prefix + key
        if isinstance(item, h5py.Group):
            _group(h5py, d, item, name + "/", wanted, sel, full)
        elif wanted is None or name in wanted:
            data = None if item.shape is None else item[()]
            about = _about(item, name, data)
            if sel and data is not None:
                data, about[".dims"] = cut(data, about[".dims"], sel)
            var(d, name, data)
            meta(d, name, about)
        elif full:
            meta(d, name, _about(item, name, None))


def _about(item: Any, name: str, data: Any) -> dict[str, Any]:
    labels = (
        [] if item.shape is None else [axis.label or f"{name}_{i + 1}" for i, axis in enumerate(item.dims)]
    )
    kind = type_name(item.dtype, data) or "str"
    return {
        **{escape(str(k)): v for k, v in item.attrs.items()},
        ".dims": labels,
        ".size": item.shape,
        ".type": kind,
    }


def write(path: str, d: Dataset, time_units: str | None = None, calendar: str | None = None) -> None:
    """Write a file; the driver of `write`."""
    import h5py

    with h5py.File(path, "w") as f:
        for name in vars(d):
            data, own = var(d, name), dict(attrs(d, name))
            if time(d, name) and data is not None:
                own["units"], own["calendar"] = time_units or UNITS, calendar or CALENDAR
                data = from_julian(data, own["units"], own["calendar"])
            if data is None:
                f[name] = h5py.Empty(_DTYPES.get(type_of(d, name) or "", np.dtype("f8")))
            elif data.dtype.kind in "UO":
                flat = [x.encode() if isinstance(x, str) else x for x in np.ravel(data)]
                f[name] = np.array(flat).reshape(np.shape(data))
            else:
                f[name] = data
            made: Any = f[name]
            for axis, label in enumerate(dims(d, name)):
                made.dims[axis].label = label
            for key, value in own.items():
                f[name].attrs[key] = value
        for key, value in attrs(d).items():
            group, _, last = key.rpartition("/")
            (f[group] if group else f).attrs[last] = value
