"""NetCDF, read with the habits of netCDF4-python: masks, scaled values, single characters."""

from __future__ import annotations

from typing import Any

import numpy as np

import ndfile

from ._data import Dataset, attrs, dims, escape, meta, time, type_name, var, vars
from ._select import cut
from ._times import CALENDAR, UNITS, from_julian, to_julian

# What libnetcdf fills elements with that were never written; those of one byte are data.
_FILLS = {
    "i2": -32767, "i4": -2147483647, "i8": -9223372036854775806, "u2": 65535, "u4": 4294967295,
    "u8": 18446744073709551614, "f4": 9.969209968386869e36, "f8": 9.969209968386869e36,
}  # fmt: skip


_TYPES = {
    "byte": "i1", "ubyte": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "int64": "i8",
    "uint64": "u8", "float": "f4", "double": "f8",
}  # fmt: skip


def read(path: str, wanted: Any, sel: Any, full: bool) -> Dataset:
    """Read a file; the driver of `read`."""
    d: Dataset = {}
    with ndfile.open(path, format="netcdf") as f:
        attrs(d, None, {k: _number(v, "") for k, v in f.attrs.items() if "/" not in k})
        for name in f:
            if "/" in name or (wanted is not None and name not in wanted and not full):
                continue
            a = f[name]
            about, names = _about(a, name)
            meta(d, name, about)
            if wanted is not None and name not in wanted:
                continue
            data = _values(a, about)
            if sel:
                data, about[".dims"] = cut(data, names, sel)
            if data is not None and np.ndim(data) == 0:
                data = None if data is np.ma.masked or np.ma.is_masked(data) else data[()]
            d[escape(name)] = data
    return d


def _about(a: Any, name: str) -> tuple[dict[str, Any], list[str]]:
    """Give the metadata of a variable, and its dimensions; characters have one of their own."""
    shape, kind = list(a.shape), type_name(a.dtype)
    names = list(a.dims or [f"_unnamed_{n}" for n in shape])
    if a.dtype.kind == "S" and a.extra.get("text") != "":
        shape.append(a.dtype.itemsize)
        names.append(a.extra.get("text", f"string{a.dtype.itemsize}"))
    elif a.dtype.kind == "O":
        kind = "unicode"
    types = a.extra.get("types", {})
    own = {escape(str(k)): _number(v, types.get(k, "")) for k, v in a.attrs.items()}
    return {**own, ".dims": names, ".size": shape, ".type": kind}, names


def _number(value: Any, kind: str) -> Any:
    """Give the numbers of an attribute as NumPy's, as netCDF4-python does; kind is ncdump's type."""
    one = value[0] if isinstance(value, list) and value else value
    if isinstance(one, bool) or not isinstance(one, (int, float)):
        return value
    default = "int64" if isinstance(one, int) else "double"
    made = np.array(value, _TYPES[kind or default])
    return made if isinstance(value, list) else made[()]


def _values(a: Any, about: dict[str, Any]) -> Any:
    """Read the elements as netCDF4-python gives them."""
    data = a.read()
    if data.dtype.kind == "S" and len(about[".size"]) > data.ndim:
        return (
            data.reshape((*data.shape, 1)).view("S1")
            if data.dtype.itemsize > 1
            else data.reshape((*data.shape, 1))
        )
    if data.dtype.kind not in "iuf":
        return data
    code = f"{data.dtype.kind}{data.dtype.itemsize}"
    missing = np.ma.getmaskarray(data).copy()
    if "_FillValue" not in about and code in _FILLS:
        missing |= np.ma.getdata(data) == np.dtype(code).type(_FILLS[code])
    low, high = _valid(about)
    if low is not None:
        missing |= np.ma.getdata(data) < low
    if high is not None:
        missing |= np.ma.getdata(data) > high
    if "scale_factor" in about or "add_offset" in about:
        data = data * about.get("scale_factor", 1.0) + about.get("add_offset", 0.0)
    return np.ma.array(np.ma.getdata(data), mask=missing if missing.any() else False)


def _valid(about: dict[str, Any]) -> tuple[Any, Any]:
    if isinstance(about.get("valid_range"), list) and len(about["valid_range"]) == 2:
        low, high = about["valid_range"]
        return low, high
    return about.get("valid_min"), about.get("valid_max")


def write(path: str, d: Dataset, time_units: str | None = None, calendar: str | None = None) -> None:
    """Write a file; the driver of `write`."""
    made, names, extra_attrs = {}, {}, {}
    for name in vars(d):
        data, own = var(d, name), dict(attrs(d, name))
        if time(d, name) and data is not None:
            own["units"], own["calendar"] = time_units or UNITS, calendar or CALENDAR
            data = from_julian(data, own["units"], own["calendar"])
        data = np.array([]) if data is None else np.ma.asanyarray(data)
        if data.dtype.kind == "O":
            filled = np.ma.filled(data, "")
            data = np.array(["" if x is None else x for x in filled.flat], object).reshape(data.shape)
        elif data.dtype.kind in "SU":
            data = np.ma.filled(data, "").astype(object if data.dtype.kind == "U" else data.dtype)
        elif not np.ma.is_masked(data):
            data = np.asarray(data)
        made[name], names[name] = data, tuple(dims(d, name))
        extra_attrs[name] = {k: _plain(v) for k, v in own.items()}
    ndfile.save(
        path,
        made,
        format="netcdf",
        attrs={k: _plain(v) for k, v in attrs(d).items()},
        dims=names,
        var_attrs=extra_attrs,
    )


def _plain(x: Any) -> Any:
    return x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x


def from_netcdf(
    filename: Any, variables: Any = None, sel: Any = None, full: bool = False, jd: bool = False
) -> Dataset:
    """Read a NetCDF file, whatever its name."""
    d = read(str(filename), None if variables is None else set(variables), sel, full)
    if jd:
        for name in vars(d):
            to_julian(d, name)
    return d


def to_netcdf(filename: Any, d: Dataset, time_units: str = UNITS, calendar: str = CALENDAR) -> None:
    """Write a NetCDF file, whatever its name."""
    write(str(filename), d, time_units, calendar)
