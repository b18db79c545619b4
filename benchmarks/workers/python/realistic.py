"""Small files as people have them: five variables with names of axes, attributes and a text. All of it is read, described, written."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import ds_format
import h5py
import ndfile
import netCDF4
import numpy as np
from case import Case, Prepare, Skip, Work
from values import check_all

try:
    import xarray
except ImportError:  # it is not among what the tests need
    xarray = None

_RANDOM = np.random.default_rng(5)
VALUES: dict[str, np.ndarray] = {
    "depth": np.linspace(0, 500, 12, dtype="f4"),
    "day": np.arange(30, dtype="i4"),
    "salt": _RANDOM.random((30, 12)).astype("f4"),
    "flag": _RANDOM.integers(0, 9, 30).astype("i2"),
    "ship": np.array(["Meteor", "Polarstern", "Sonne"], dtype=object),
}
DIMS = {
    "depth": ("depth",),
    "day": ("day",),
    "salt": ("day", "depth"),
    "flag": ("day",),
    "ship": ("ship",),
}
OF_VARIABLES: dict[str, dict[str, Any]] = {
    "depth": {"units": "m", "positive": "down"},
    "day": {"units": "days since 2010-05-01"},
    "salt": {"units": "g kg-1", "long_name": "absolute salinity", "valid_min": 0.0},
}
OF_FILE = {"title": "three ships", "version": 2}

Everything = tuple[dict[str, Any], dict[str, tuple[str, ...]], dict[str, Any], dict[str, Any]]


class Ndfile:
    """ndfile, one call for everything."""

    suffix = ".ds"

    @staticmethod
    def write(path: str) -> None:
        ndfile.save(path, VALUES, dims=DIMS, var_attrs=OF_VARIABLES, attrs=OF_FILE)

    @staticmethod
    def read(path: str) -> Everything:
        values, meta = ndfile.read(path, metadata=True)
        return values, meta["dims"], meta["var_attrs"], meta["attrs"]

    @staticmethod
    def info(path: str) -> Any:
        return ndfile.info(path)


class Opened(Ndfile):
    """ndfile, an open file and its variables one by one."""

    @staticmethod
    def read(path: str) -> Everything:
        with ndfile.open(path) as f:
            values = {name: v[...] for name, v in f.items()}
            dims = {name: v.dims for name, v in f.items()}
            return values, dims, {name: dict(v.attrs) for name, v in f.items()}, dict(f.attrs)


class DsFormat(Ndfile):
    """ds-format, its own format."""

    @staticmethod
    def write(path: str) -> None:
        of_variables = {name: {".dims": list(d), **OF_VARIABLES.get(name, {})} for name, d in DIMS.items()}
        ds_format.write(path, {**VALUES, ".": {**of_variables, ".": OF_FILE}})

    @staticmethod
    def read(path: str) -> Everything:
        d = ds_format.read(path)
        meta = d.pop(".")
        dims = {name: tuple(meta[name][".dims"]) for name in d}
        own = {name: {k: v for k, v in meta[name].items() if k[0] != "."} for name in d}
        return d, dims, own, meta["."]

    @staticmethod
    def info(path: str) -> Any:
        return ds_format.read(path, [], full=True)


class NetCDF(Ndfile):
    """netCDF4-python, NetCDF-4; its texts of variable length are one string each."""

    suffix = ".nc"
    kind = "NETCDF4"

    @classmethod
    def write(cls, path: str) -> None:
        with netCDF4.Dataset(path, "w", format=cls.kind) as f:
            for name, size in (("depth", 12), ("day", 30), ("ship", 3), ("letters", 10)):
                f.createDimension(name, size)
            for name, a in VALUES.items():
                if a.dtype.kind != "O":
                    v = f.createVariable(name, a.dtype, DIMS[name])
                    v[...] = a
                elif cls.kind == "NETCDF4":
                    v = f.createVariable(name, str, DIMS[name])
                    v[...] = a
                else:  # the classic format has characters only
                    v = f.createVariable(name, "S1", (*DIMS[name], "letters"))
                    v[...] = netCDF4.stringtochar(a.astype("S10"))
                v.setncatts(OF_VARIABLES.get(name, {}))
            f.setncatts(OF_FILE)

    @staticmethod
    def read(path: str) -> Everything:
        with netCDF4.Dataset(path) as f:
            f.set_auto_maskandscale(False)
            values = {name: v[...] for name, v in f.variables.items()}
            if values["ship"].ndim == 2:
                values["ship"] = netCDF4.chartostring(values["ship"]).astype(object)
            dims = {name: v.dimensions for name, v in f.variables.items()}
            own = {name: {k: v.getncattr(k) for k in v.ncattrs()} for name, v in f.variables.items()}
            return values, dims, own, {k: f.getncattr(k) for k in f.ncattrs()}

    @staticmethod
    def info(path: str) -> Any:
        with netCDF4.Dataset(path) as f:
            return {
                name: (v.dtype, v.shape, v.dimensions, {k: v.getncattr(k) for k in v.ncattrs()})
                for name, v in f.variables.items()
            }


class Classic(NetCDF):
    """netCDF4-python, NetCDF's classic format with 64-bit data."""

    kind = "NETCDF3_64BIT_DATA"


class H5py(Ndfile):
    """h5py: names of axes are an attribute."""

    suffix = ".h5"

    @staticmethod
    def write(path: str) -> None:
        with h5py.File(path, "w") as f:
            for name, a in VALUES.items():
                f[name] = a
                f[name].attrs.update({"dims": DIMS[name], **OF_VARIABLES.get(name, {})})
            f.attrs.update(OF_FILE)

    @staticmethod
    def read(path: str) -> Everything:
        with h5py.File(path) as f:
            values = {name: (v.asstr()[...] if v.dtype.kind == "O" else v[...]) for name, v in f.items()}
            own = {name: dict(v.attrs) for name, v in f.items()}
            return values, {name: tuple(a.pop("dims")) for name, a in own.items()}, own, dict(f.attrs)

    @staticmethod
    def info(path: str) -> Any:
        with h5py.File(path) as f:
            return {name: (v.dtype, v.shape, dict(v.attrs)) for name, v in f.items()}


class Xarray(NetCDF):
    """xarray, with its netCDF4 backend."""

    @staticmethod
    def read(path: str) -> Everything:
        with xarray.open_dataset(path, decode_cf=False, engine="netcdf4") as d:
            d.load()
            return (
                {n: v.values for n, v in d.variables.items()},
                *({n: getattr(v, what) for n, v in d.variables.items()} for what in ("dims", "attrs")),
                d.attrs,
            )


class Floor(Ndfile):
    """The system calls alone."""

    content = b""

    @classmethod
    def write(cls, path: str) -> None:
        if not cls.content:
            Ndfile.write(path)
            with open(path, "rb") as f:
                cls.content = f.read()
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.write(fd, cls.content)
        os.close(fd)

    @staticmethod
    def read(path: str) -> Any:
        fd = os.open(path, os.O_RDONLY)
        os.read(fd, 1 << 16)
        os.close(fd)


CONTENDERS: dict[str, type[Ndfile]] = {
    "ds": Ndfile,
    "ds-open": Opened,
    "ds-format": DsFormat,
    "netcdf4": NetCDF,
    "cdf5": Classic,
    "h5py": H5py,
    "xarray": Xarray,
    "syscalls": Floor,
}


def check(found: Everything | None) -> None:
    """Compare all that was read: values, names of axes, attributes."""
    if found is None:
        return
    values, dims, own, top = found
    numbers = [n for n, a in VALUES.items() if a.dtype.kind != "O"]
    check_all([np.asarray(values[n]) for n in numbers], [VALUES[n] for n in numbers])
    if [str(s) for s in values["ship"]] != VALUES["ship"].tolist():
        raise ValueError(f"texts are {values['ship']}")
    if {n: tuple(d)[: len(DIMS[n])] for n, d in dims.items()} != DIMS:
        raise ValueError(f"names of axes are {dims}")
    for name, wanted in [(n, OF_VARIABLES.get(n, {})) for n in VALUES]:
        if {k: v for k, v in own.get(name, {}).items() if k != "_Encoding"} != wanted:
            raise ValueError(f"attributes of {name} are {own.get(name)}")
    if dict(top) != OF_FILE:
        raise ValueError(f"attributes are {top}")


def paths(contender: type[Ndfile], folder: str, count: int) -> list[str]:
    """Give places of files."""
    if contender is Xarray and xarray is None:
        raise Skip("xarray is not installed")
    return [f"{folder}/{i:06}{contender.suffix}" for i in range(count)]


def write(contender: type[Ndfile], case: Case, folder: str, count: int) -> Work:
    contender.write(f"{folder}/warm{contender.suffix}")
    places = paths(contender, folder, count)

    def run() -> None:
        for path in places:
            contender.write(path)

    def verify(_: None) -> None:
        reader = Ndfile if contender is Floor else contender
        check(reader.read(places[-1]))

    return Work(run, verify)


def each(what: str, contender: type[Ndfile], case: Case, folder: str, count: int) -> Work:
    """Read or describe files that are there."""
    places = paths(contender, folder, count)
    for path in places:
        contender.write(path)
    one: Callable[[str], Any] = getattr(contender, what)
    one(places[0])

    def run() -> Any:
        for path in places[1:]:
            one(path)
        return one(places[0])

    return Work(run, check if what == "read" else lambda found: None)


OPERATIONS: dict[tuple[str, str], Prepare] = {
    (name, f"realistic-{operation}"): partial(prepare, contender)
    for name, contender in CONTENDERS.items()
    for operation, prepare in {
        "write": write,
        "read": partial(each, "read"),
        "info": partial(each, "info"),
    }.items()
    if (name, operation) not in {("ds-open", "write"), ("ds-open", "info"), ("syscalls", "info")}
}
