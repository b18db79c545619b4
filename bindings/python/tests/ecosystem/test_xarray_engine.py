"""The engine of xarray: what it opens, and what the accessor saves."""

import doctest
import gc
import importlib
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr
import zarr

import ndfile
import ndfile.xarray

pytestmark = pytest.mark.filterwarnings("error::xarray.SerializationWarning")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def weather():
    return xr.Dataset(
        {
            "wind": (("time", "station"), np.array([[3.5, np.nan, 4.0], [1.0, 2.0, 3.0]]), {"units": "m/s"}),
            "n": ("station", np.array([1, 2, 3], "i2")),
            "gone": ("station", np.array([1.0, np.nan, 3.0]), {}, {"dtype": "i4"}),
            "calm": ("station", np.array([True, False, True])),
        },
        {
            "time": np.array(["2000-01-01T06", "2000-01-02T06"], "M8[ns]"),
            "station": np.array(["Praha", "Brno", "Ústí"], object),
            "height": ("station", [202.0, 237, 145]),
        },
        {"title": "three stations", "levels": [1, 2]},
    )


@pytest.mark.parametrize("format", ["ds", "netcdf"])
def test_roundtrip(format):
    original = weather()
    original.ndfile.save("a.x", format)
    with xr.open_dataset("a.x", engine="ndfile") as again:
        xr.testing.assert_identical(again.load(), original)
    again.ndfile.save("b.x", format)
    xr.testing.assert_identical(xr.open_dataset("b.x", engine="ndfile").load(), original)


def test_guesses_by_content():
    weather().ndfile.save("no-extension", "ds")
    assert xr.open_dataset("no-extension").sizes == {"time": 2, "station": 3}
    ndfile.save("a.ra", np.eye(3))
    ndfile.save("a.npy", np.eye(4))
    ndfile.save("a.bcolz", {"a": np.arange(9), "b": np.arange(9) / 2})
    ndfile.save("a.zarr", np.arange(6).reshape(2, 3), format="zarr0")
    for path, shape in {"a.ra": (3, 3), "a.npy": (4, 4), "a.zarr": (2, 3)}.items():
        assert xr.open_dataset(path).data.shape == shape
    table = xr.open_dataset("a.bcolz")
    assert table.b.dims == ("row",)
    np.testing.assert_array_equal(table.b.values, np.arange(9) / 2)
    backend = ndfile.xarray.NdfileBackend()
    zarr.save_group("other.zarr", x=np.arange(3))
    assert not backend.guess_can_open("other.zarr")  # the engine zarr is installed
    assert not backend.guess_can_open("missing.ds")
    (open("text.txt", "w")).close()
    assert not backend.guess_can_open("text.txt")


def test_masks_are_read():
    ndfile.save(
        "m.ds",
        {
            "i2": np.ma.masked_equal(np.array([1, 2, 3], "i2"), 2),
            "i8": np.ma.masked_equal(np.array([1, 2, 1 << 53]), 2),
            "big": np.ma.masked_equal(np.array([1, 2, (1 << 53) + 1]), 2),
            "text": np.ma.MaskedArray(np.array(["a", "b", "c"], object), [0, 1, 0]),
            "time": np.ma.masked_equal(np.array([0, 1, (1 << 53) + 1]), 1),
            "filled": np.ma.masked_equal(np.array([1, 2, 3], "i2"), 2),
        },
        dims={name: ["x"] for name in ("i2", "i8", "big", "text", "time", "filled")},
        var_attrs={"time": {"units": "nanoseconds since 1970-01-01"}, "filled": {"_FillValue": -9}},
    )
    ds = xr.open_dataset("m.ds")
    assert ds.i2.dtype == "f4"
    np.testing.assert_array_equal(ds.i2, [1, np.nan, 3])
    np.testing.assert_array_equal(ds.i8, [1, np.nan, 1 << 53])
    assert ds.text.isnull().values.tolist() == [False, True, False]
    assert ds.text.values[2] == "c"
    assert ds.time.values.view("i8").tolist() == [0, np.iinfo("i8").min, (1 << 53) + 1]
    assert ds.filled.encoding["_FillValue"] == -9
    with pytest.raises(ndfile.ValueNotRepresentableError, match="9007199254740993"):
        ds.big.load()
    raw = xr.open_dataset("m.ds", mask_and_scale=False, decode_times=False)
    assert raw.big.dtype == "i8"
    assert raw.big.values[2] == (1 << 53) + 1
    assert raw.big_missing.values.tolist() == [False, True, False]
    ds.drop_vars("big").ndfile.save("again.ds")
    for name in ("i2", "i8", "text", "time", "filled"):
        a, b = ndfile.read("m.ds", name), ndfile.read("again.ds", name)
        np.testing.assert_array_equal(a.mask, b.mask)
        assert a.dtype == b.dtype
        assert a.compressed().tolist() == b.compressed().tolist()


def test_integers_are_never_bent():
    ds = xr.Dataset({"x": ("i", [1.0, np.nan, 300.0], {}, {"dtype": "i1"})})
    with pytest.raises(ndfile.ValueNotRepresentableError, match="300"):
        ds.ndfile.save("a.ds")
    ds.x[2] = 3
    ds.ndfile.save("a.ds")
    found = ndfile.read("a.ds", "x")
    assert found.dtype == "i1"
    assert found.tolist() == [1, None, 3]
    again = xr.open_dataset("a.ds").load()
    again.x[0] = 1.5  # its encoding says nothing that to_netcdf would round it by, and save tells
    with pytest.raises(ndfile.ValueNotRepresentableError, match=r"1\.5"):
        again.ndfile.save("b.ds")
    with pytest.raises(ndfile.MaskedError, match="_FillValue"):
        xr.Dataset({"x": ("row", [1.0, np.nan], {}, {"dtype": "i4"})}).ndfile.save("b.bcolz")


def test_julian_dates():
    days = 2451544.5 + np.arange(48) / 24
    with ndfile.open("j.ds", "w") as f:
        f.add("time", days, ["time"], extra={".time": True})
    ds = xr.open_dataset("j.ds")
    expected = np.datetime64("2000-01-01") + np.arange(48).astype("m8[h]")
    assert (ds.time.values == expected).all()
    assert ds.sel(time="2000-01-01T07").time == expected[7]
    ds.ndfile.save("k.ds")
    with ndfile.open("k.ds") as f:
        assert f["time"].extra[".time"] is True
        np.testing.assert_array_equal(f["time"][...], days)


def test_lazy_indexing():
    with ndfile.open("z.zarr", "w", format="zarr0") as f:
        v = f.create("", (1000, 1000), "i4", chunks=(100, 100))
        v[...] = np.arange(1_000_000).reshape(1000, 1000)
    a = xr.open_dataset("z.zarr").data
    rows, columns = np.array([900, 3, 77]), np.array([5, 999, 0])
    points = a.isel(dim_0=("p", rows), dim_1=("p", columns))
    assert not a._in_memory
    np.testing.assert_array_equal(points, rows * 1000 + columns)
    np.testing.assert_array_equal(a[rows, columns][::-1, 1:], (rows[:, None] * 1000 + columns)[::-1, 1:])
    lazy = xr.open_dataset("z.zarr", chunks={}).data
    assert lazy.chunks == ((100,) * 10, (100,) * 10)
    assert int(lazy.sum()) == 499_999_500_000
    assert pickle.loads(pickle.dumps(a))[3, 4] == 3004
    blob = pickle.dumps(a)
    del a, lazy
    gc.collect()
    os.rename("z.zarr", "y.zarr")
    ndfile.save("z.zarr", np.zeros((2, 2)), format="zarr0")
    with pytest.raises(ndfile.HandleError, match="changed"):
        pickle.loads(blob).load()


@pytest.mark.parametrize("version", [2, 3])
def test_groups_of_zarr(version):
    root = xr.Dataset({"a": ("x", [1.0, np.nan])}, {"x": [1, 2]}, {"t": "root"})
    child = xr.Dataset(
        {"b": (("x", "y"), np.arange(6, dtype="i2").reshape(2, 3), {"units": "K"})}, {"x": [1, 2]}
    )
    tree = xr.DataTree.from_dict({"/": root, "/child": child})
    tree.to_zarr("t.zarr", zarr_format=version)
    again = xr.open_datatree("t.zarr", engine="ndfile")
    xr.testing.assert_identical(again.load(), xr.open_datatree("t.zarr", engine="zarr").load())
    with xr.open_dataset("t.zarr", engine="ndfile", group="child") as ds:
        assert ds.b.attrs == {"units": "K"}
    with pytest.raises((ndfile.NdfileError, OSError)):
        xr.open_dataset("t.zarr", engine="ndfile", group="none")


def test_netcdf_as_others_read_it():
    ds = weather().drop_vars(["station", "gone"])
    ds["packed"] = (
        "time",
        [1.5, np.nan],
        {},
        {"dtype": "i2", "scale_factor": np.float32(0.1), "_FillValue": -1},
    )
    ds.to_netcdf("a.nc", engine="netcdf4")
    xr.testing.assert_identical(
        xr.open_dataset("a.nc", engine="ndfile").load(), xr.open_dataset("a.nc", engine="netcdf4").load()
    )
    ds.ndfile.save("b.nc")
    xr.testing.assert_allclose(xr.open_dataset("b.nc", engine="netcdf4").load(), ds)


def test_region_and_append():
    with ndfile.open("t.bcolz", "w") as t:
        t["a"] = np.arange(5)
        t["b"] = np.arange(5) / 2
    more = xr.Dataset({"a": ("row", [9, 8]), "b": ("row", [0.5, 0.25])})
    more.ndfile.save("t.bcolz", append_dim="row")
    more.ndfile.save("t.bcolz", region={"row": slice(1, 3)})
    assert ndfile.read("t.bcolz", "a").tolist() == [0, 9, 8, 3, 4, 9, 8]
    assert ndfile.read("t.bcolz", "b").tolist() == [0, 0.5, 0.25, 1.5, 2, 0.5, 0.25]
    with pytest.raises(ValueError, match="no variable"):
        more.ndfile.save("t.bcolz", append_dim="column")


def test_dask_arrays_are_saved_block_by_block():
    values = np.arange(20_000.0).reshape(200, 100)
    ds = xr.Dataset({"x": (("a", "b"), values), "gone": ("a", np.where(np.arange(200) % 3, 1.0, np.nan))})
    ds.gone.encoding = {"dtype": "i2"}
    ds.chunk({"a": 7, "b": 30}).ndfile.save("d.ds")
    np.testing.assert_array_equal(ndfile.read("d.ds", "x"), values)
    assert ndfile.read("d.ds", "gone").mask.tolist() == (np.arange(200) % 3 == 0).tolist()


FEW = """
import resource, sys
import numpy as np, xarray as xr, ndfile, ndfile.xarray
n, most = int(sys.argv[1]), int(sys.argv[2])
paths = [f"{i:05d}.ds" for i in range(n)]
ndfile.save_many(paths, [{"v": np.array([float(i)])} for i in range(n)])
resource.setrlimit(resource.RLIMIT_NOFILE, (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
ds = xr.open_mfdataset(paths, engine=ndfile.xarray.NdfileBackend, combine="nested", concat_dim="v_0")
assert float(ds.v.sum()) == n * (n - 1) / 2
"""


def test_few_descriptors():
    n, most = (2000, 256) if os.environ.get("NDFILE_TORTURE") else (150, 64)
    subprocess.run([sys.executable, "-c", FEW, str(n), str(most)], check=True, timeout=120)


def many(units, n=20):
    paths = []
    for i in range(n):
        paths.append(f"m{i:03d}.ds")
        values = np.ma.masked_equal(np.array([i, i + 1, 5], "i2"), 5 if i % 2 else -1)
        ndfile.save(
            paths[-1],
            {"time": np.arange(3.0) + (3 * i if units is None else 0), "x": values, "level": [1.0, 2.0]},
            dims={"time": ["time"], "x": ["time"], "level": ["level"]},
            var_attrs={"time": {"units": units(i) if units else "hours since 2000-01-01"}},
            attrs={"title": "many"},
        )
    return paths


@pytest.mark.parametrize("units", [None, lambda i: f"hours since 2000-01-{i + 1:02d}"])
def test_load_many(units):
    paths = many(units)
    expected = xr.open_mfdataset(
        paths,
        engine="ndfile",
        combine="nested",
        concat_dim="time",
        data_vars="minimal",
        coords="minimal",
        compat="override",
    ).load()
    found = ndfile.xarray.load_many(paths, "time")
    xr.testing.assert_identical(found, expected)
    assert found.x.dtype == expected.x.dtype
    stacked = ndfile.xarray.load_many(paths[:4], "run", compat="override")
    assert stacked.x.dims == ("run", "time")
    assert stacked.sizes["run"] == 4


def test_load_many_refuses():
    paths = many(None, 3)
    own = {"var_attrs": {"time": {"units": "hours since 2000-01-01"}}}
    ndfile.save(paths[2], {"time": [1.0], "x": np.array([1], "i2"), "level": [7.0, 2.0]}, **own)
    with pytest.raises(ndfile.ShapeError, match="level"):
        ndfile.xarray.load_many(paths, "time")
    ndfile.xarray.load_many(paths, "time", compat="override")
    ndfile.save(paths[1], {"time": [1.0], "level": [1.0, 2.0]})
    with pytest.raises(ndfile.NameNotFoundError, match="m001"):
        ndfile.xarray.load_many(paths, "time")
    ndfile.save(paths[1], {"time": np.zeros((2, 2)), "x": np.array([1], "i2"), "level": [1.0, 2.0]}, **own)
    with pytest.raises(ndfile.ShapeError, match="m001"):
        ndfile.xarray.load_many(paths, "time", compat="override")


@pytest.mark.parametrize("name", ["_many"])
def test_examples(name):
    found = doctest.testmod(importlib.import_module(f"ndfile.xarray.{name}"))
    assert found.attempted
    assert not found.failed


@pytest.mark.skipif("NDFILE_TORTURE" not in os.environ, reason="measures: for a quiet machine")
def test_costs():
    script = os.path.join(os.path.dirname(__file__), "xarray_costs.py")
    subprocess.run([sys.executable, script], check=True, timeout=300)
