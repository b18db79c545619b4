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


def unwritten(path: str, model: str) -> None:
    """Make a file with variables of all types of numbers in which elements were never written."""
    with netCDF4.Dataset(path, "w", format=model) as d:
        d.createDimension("x", 6)
        kinds = ["i1", "i2", "i4", "f4", "f8"]
        if model in ("NETCDF4", "NETCDF3_64BIT_DATA"):
            kinds += ["u1", "u2", "u4", "u8", "i8"]
        for kind in kinds:
            d.createVariable(kind, kind, ("x",))[2:4] = [5, 6]
        d.createVariable("named", "f8", ("x",), fill_value=-1.0)[2:] = 1
        v = d.createVariable("both", "i4", ("x",))
        v.missing_value = np.int32(-9)
        v[3:] = [-9, 1, 2]
        d.createVariable("full", "i4", ("x",))[:] = 1
        if model == "NETCDF4":  # not filled, so that the value is data
            d.createVariable("unfilled", "i1", ("x",), fill_value=False)[:] = -127


@pytest.mark.parametrize("model", MODELS)
def test_default_fill(model: str, tmp_path: Any) -> None:
    """default_fill=True masks what netCDF4-python masks; without, such values are data, and named by convert."""
    a, ds, b, c = (str(tmp_path / name) for name in ("a.nc", "b.ds", "c.nc", "d.nc"))
    unwritten(a, model)
    with netCDF4.Dataset(a) as d:
        want = {name: np.ma.getmaskarray(v[...]).tolist() for name, v in d.variables.items()}

    def masks(path: str, **options: Any) -> dict[str, Any]:
        return {n: np.ma.getmaskarray(v).tolist() for n, v in ndfile.read(path, **options).items()}

    assert masks(a, default_fill=True) == want
    with ndfile.open(a, default_fill=True) as f:
        assert f["i2"].masked and f["i2"][1:4].tolist() == [None, 5, 6]
        assert f["i2"].extra["default_fill"] is True and not f["named"].extra.get("default_fill")
    plain = masks(a)
    assert {n for n in plain if plain[n] != want[n]} == {n for n in want if any(want[n])} - {"named"}

    filled = {n for n in want if any(want[n])} - {"named"}
    with pytest.raises(ndfile.LossError, match="never written"):
        ndfile.convert(a, ds)
    losses = ndfile.convert(a, ds, allow_loss=True)
    assert {loss.array for loss in losses if loss.what == "default fill"} == filled
    assert ndfile.convert(a, c) == [] and dump(c) == dump(a)  # a copy is filled, too
    assert masks(c, default_fill=True) == want

    assert ndfile.convert(a, ds, default_fill=True, overwrite=True) == []
    assert masks(ds) == want
    assert ndfile.convert(ds, b) == []
    with netCDF4.Dataset(b) as d:
        assert {name: np.ma.getmaskarray(v[...]).tolist() for name, v in d.variables.items()} == want
        assert "_FillValue" not in d["i2"].ncattrs()


def test_default_fill_is_for_reading(tmp_path: Any) -> None:
    path = str(tmp_path / "a.ds")
    ndfile.save(path, {"x": [1.5]})
    assert ndfile.read(path, "x", default_fill=True).tolist() == [1.5]
    with pytest.raises(ndfile.ArgumentError, match="default_fill"):
        ndfile.open(path, "w", default_fill=True)


def test_groups_are_nodes(tmp_path: Any) -> None:
    a, ds, b = (str(tmp_path / name) for name in ("a.nc", "b.ds", "c.nc"))
    with netCDF4.Dataset(a, "w") as d:
        d.title = "t"
        d.createDimension("x", 3)
        g = d.createGroup("a/b")
        g.n = np.int16(3)
        g.createDimension("y", 2)
        g.createVariable("v", "f4", ("x", "y"))[:] = 1.5
        d.createGroup("empty").text = "none"
    with ndfile.open(a) as f:
        assert f.groups == ("a", "a/b", "empty") and dict(f.attrs) == {"title": "t"}
        assert dict(f["a/b"].attrs) == {"n": 3} and f["a"]["b/v"][0].tolist() == [1.5, 1.5]
    assert ndfile.convert(a, ds) == [] == ndfile.convert(ds, b)
    with netCDF4.Dataset(b) as d:
        assert d["a/b"].n == 3 and d["a/b"].n.dtype == "i2" and d["empty"].text == "none"
        assert d["a/b/v"].dimensions == ("x", "y") and list(d.groups) == ["a", "empty"]
    with ndfile.open(str(tmp_path / "d.nc"), "w") as f:
        f.create_group("ocean", attrs={"depth": 5})["salt"] = [35, 36]
    with netCDF4.Dataset(str(tmp_path / "d.nc")) as d:
        assert d["ocean"].depth == 5 and d["ocean/salt"][:].tolist() == [35, 36]


OBS = np.dtype([("a", "i1"), ("b", "f8"), ("s", "S5"), ("v", "i2", (2, 2))])


def test_types_of_the_file(tmp_path: Any) -> None:
    """Enumerations with their names, compounds as records and complex numbers, both ways; others are named."""
    a, b, ds, c = (str(tmp_path / name) for name in ("a.nc", "b.nc", "c.ds", "d.nc"))
    obs = np.zeros(3, OBS)
    obs["a"], obs["b"], obs["s"], obs["v"] = [1, 2, 3], 0.5, b"hello", np.arange(12).reshape(3, 2, 2)
    z = np.array([1 + 2j, 3, 4j])
    with netCDF4.Dataset(a, "w", auto_complex=True) as d:
        d.createDimension("x", 3)
        cloud = d.createEnumType(np.uint8, "cloud_t", {"Clear": 0, "Cumulus": 2, "Missing": 255})
        d.createVariable("cloud", cloud, ("x",), fill_value=255)[:] = [0, 2, 255]
        d.createVariable("z", np.complex128, ("x",))[:] = z
        aligned = d.createCompoundType(np.dtype(OBS.descr, align=True), "obs_t")
        d.createVariable("obs", aligned, ("x",))[:] = obs.astype(aligned.dtype_view)
        inner = d.createCompoundType(np.dtype([("p", "i2"), ("q", "f8")], align=True), "inner_t")
        outer = d.createCompoundType(np.dtype([("k", "i1"), ("in", inner.dtype)], align=True), "outer_t")
        nested = np.zeros(3, outer.dtype)
        nested["k"], nested["in"]["p"], nested["in"]["q"] = [1, 2, 3], [1, 2, 1], 2.5
        d.createVariable("nested", outer, ("x",))[:] = nested
        d.createVariable("ragged", d.createVLType(np.int32, "ragged_t"), ("x",))

    values = {"Clear": 0, "Cumulus": 2, "Missing": 255}

    def check(path: str) -> None:
        with ndfile.open(path) as f:
            assert f["cloud"][:].tolist() == [0, 2, None]
            assert f["cloud"].extra["enum"] == {"name": "cloud_t", "values": values}
            assert f["z"].dtype == "c16" and (f["z"][:] == z).all() and f["z"][1:2] == [3]
            assert (f["obs"][:] == obs).all() and f["obs"].extra["type"] == "obs_t"
            got = f["nested"][1:]
            assert got["k"].tolist() == [2, 3] and got["in"]["p"].tolist() == [2, 1]
            assert (got["in"]["q"] == 2.5).all()

    check(a)
    with ndfile.open(a) as f, pytest.raises(ndfile.DTypeError, match=r"variable-length type .ragged_t"):
        f["ragged"]
    with pytest.raises(ndfile.LossError, match="ragged_t"):
        ndfile.convert(a, b)
    assert [loss.array for loss in ndfile.convert(a, b, allow_loss=True)] == ["ragged"]
    check(b)
    with netCDF4.Dataset(b, auto_complex=True) as d:
        assert d.enumtypes["cloud_t"].enum_dict == values and d["cloud"][:].tolist() == [0, 2, None]
        assert (d["z"][:] == z).all() and (d["obs"][:]["v"] == obs["v"]).all()
    lost = {loss.array for loss in ndfile.convert(a, ds, allow_loss=True)}
    assert lost == {"ragged", "z", "obs", "nested"}
    ndfile.convert(ds, c)
    with netCDF4.Dataset(c) as d:
        assert d.enumtypes["cloud_t"].enum_dict == values


def test_complex_and_records(tmp_path: Any) -> None:
    path = str(tmp_path / "a.nc")
    single = np.array([[1 + 2j, 3j]], "c8")
    obs = np.array([(1, 2.5, b"ab", [[1, 2], [3, 4]])], OBS)
    nested = np.zeros(2, [("k", "i1"), ("in", [("p", "i2"), ("q", "f8")], (2,)), ("end", "u1")])
    nested["in"]["p"], nested["in"]["q"], nested["end"] = [[1, 2], [3, 4]], 2.5, 9
    ndfile.save(path, {"single": single, "double": single.astype("c16"), "obs": obs})
    ndfile.save(str(tmp_path / "n.nc"), {"nested": nested})  # which netCDF4-python cannot read
    again = ndfile.read(str(tmp_path / "n.nc"), "nested")
    assert again.dtype == nested.dtype and (again == nested).all()
    got = ndfile.read(path)
    assert got["single"].dtype == "c8" and (got["single"] == single).all() and (got["double"] == single).all()
    assert got["obs"].dtype == OBS and (got["obs"] == obs).all()
    with netCDF4.Dataset(path, auto_complex=True) as d:
        assert d["double"][:].tolist() == single.tolist() and d["obs"][:]["b"].tolist() == [2.5]
    for value in (np.ma.masked_equal(single, 3j), np.array([(1 + 2j,)], [("z", "c16")]), np.zeros(1, "f2")):
        with pytest.raises((ndfile.NotSupportedError, ndfile.DTypeError)):
            ndfile.save(path, {"x": value})
