"""NetCDF beside netCDF4-python: five data models, unlimited dimensions, what ds keeps of them, pip's library."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import ndfile

netCDF4 = pytest.importorskip("netCDF4")

MODELS = ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4_CLASSIC", "NETCDF4")


def write(path: str, model: str) -> None:
    """Make a file of everything that the model has."""
    wide, hdf5 = model in ("NETCDF3_64BIT_DATA", "NETCDF4"), model.startswith("NETCDF4")
    with netCDF4.Dataset(path, "w", format=model) as d:
        for name, length in (("time", None), ("lat", 3), ("unused", 7), ("strlen", 5), ("lon", 4)):
            d.createDimension(name, length)
        d.setncatts({"title": "x", "count": np.int16(5), "list": np.array([1.5, 2.5], "f4"), "empty": ""})
        stored = {"zlib": True, "complevel": 3, "shuffle": True, "chunksizes": (1, 3, 4)} if hdf5 else {}
        z = d.createVariable("z", "f4", ("time", "lat", "lon"), **stored)
        z[0:5] = np.arange(60).reshape(5, 3, 4) / 7
        z.setncatts({"units": "K", "valid_range": np.array([0, 100], "f4"), "level": np.int16(2)})
        d.createVariable("time", "f8", ("time",))[:] = np.arange(5)
        d.createVariable("scalar", "i4", ())[...] = 5
        d.createVariable("odd", "i2", ("time",))[:] = np.arange(5)
        b = d.createVariable("bytes", "i1", ("time", "lat"), fill_value=-1)
        b[:] = np.ma.masked_equal(np.arange(15).reshape(5, 3) % 4 - 1, -1)
        d.createVariable("aaa", "i4", ("lat",))[:] = [1, 2, 3]
        if wide:
            d.createVariable("u", "u8", ("lat",))[:] = np.array([1, 2, 2**63], "u8")
        if model == "NETCDF4":
            d.createDimension("other", None)
            v = d.createVariable("txt", str, ("other",))
            v[0], v[1] = "a", "bé"


def dump(path: str) -> list[Any]:
    """List all that ncdump shows, in its order."""

    def attrs(of: Any) -> list[Any]:
        values = [(name, of.getncattr(name)) for name in of.ncattrs()]
        return [
            (n, v if isinstance(v, str) else (np.asarray(v).dtype.str, np.asarray(v).tolist()))
            for n, v in values
        ]

    with netCDF4.Dataset(path) as d:
        out = [d.data_model, [(n, len(x), x.isunlimited()) for n, x in d.dimensions.items()], attrs(d)]
        for name, v in d.variables.items():
            v.set_auto_maskandscale(False)
            stored = (v.filters(), v.chunking()) if d.data_model.startswith("NETCDF4") else None
            out.append([name, str(v.dtype), v.dimensions, attrs(v), stored, np.asarray(v[...]).tolist()])
        return out


@pytest.mark.parametrize("model", MODELS)
def test_models_are_kept(model: str, tmp_path: Any) -> None:
    a, b, ds, c = (str(tmp_path / name) for name in ("a.nc", "b.nc", "c.ds", "d.nc"))
    write(a, model)
    want = dump(a)
    assert ndfile.convert(a, b) == []
    assert dump(b) == want
    assert ndfile.convert(a, ds) == [] == ndfile.convert(ds, c)
    assert dump(c) == want
    losses = {loss.what for loss in ndfile.convert(a, str(tmp_path / "e.npz"), allow_loss=True)}
    assert "unlimited dimensions" in losses
    assert ("data model" in losses) == (model != "NETCDF4")


def test_classic_needs_no_library(tmp_path: Any) -> None:
    """In a process without any libnetcdf classic files are read and written; NetCDF-4 says what to do in two lines."""
    a, hdf5 = str(tmp_path / "a.nc"), str(tmp_path / "h.nc")
    write(a, "NETCDF3_CLASSIC")
    write(hdf5, "NETCDF4")
    program = f"""
import numpy as np, ndfile
print(ndfile.read({a!r}, "odd").tolist())
ndfile.save({str(tmp_path / "b.nc")!r}, {{"t": np.arange(3.0)}}, dims={{"t": ("time",)}},
            extra={{"t": {{"model": "NETCDF3_CLASSIC", "unlimited": ["time"]}}}})
print(ndfile.open({str(tmp_path / "b.nc")!r})["t"].extra)
try:
    ndfile.read({hdf5!r})
except ndfile.NotSupportedError as e:
    print(len(str(e).splitlines()), "pip install netCDF4" in str(e))
"""
    env = {**os.environ, "NDFILE_LIBNETCDF": "/nothing/libnetcdf.so"}
    out = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=120
    )
    assert out.stdout.splitlines() == [
        "[0, 1, 2, 3, 4]",
        "{'model': 'NETCDF3_CLASSIC', 'unlimited': ['time']}",
        "2 True",
    ], out.stderr
    with netCDF4.Dataset(str(tmp_path / "b.nc")) as d:
        assert d.data_model == "NETCDF3_CLASSIC" and d.dimensions["time"].isunlimited()
        assert d["t"][:].tolist() == [0, 1, 2]


def test_library_of_the_wheel(tmp_path: Any) -> None:
    """Pip's netCDF4 is enough, imported or not."""
    path = str(tmp_path / "a.nc")
    write(path, "NETCDF4")
    program = f"import ndfile; print(ndfile.read({path!r}, 'aaa').tolist())"
    env = {k: v for k, v in os.environ.items() if k not in ("NDFILE_LIBNETCDF", "LD_LIBRARY_PATH")}
    out = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=120
    )
    assert out.stdout.strip() == "[1, 2, 3]", out.stderr
