"""decode=True beside netCDF4-python, and beside values by hand."""

from __future__ import annotations

import io
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

import ndfile

netCDF4 = pytest.importorskip("netCDF4")

PACKED: dict[str, tuple[str, dict[str, Any]]] = {
    "plain": ("f4", {"units": "K"}),
    "both8": ("i2", {"scale_factor": 0.01, "add_offset": 273.15, "_FillValue": np.int16(-32768)}),
    "both4": ("i2", {"scale_factor": np.float32(0.1), "add_offset": np.float32(20.7)}),
    "wide4": ("i4", {"scale_factor": np.float32(0.1)}),
    "float": ("f4", {"scale_factor": np.float32(0.3), "_FillValue": np.float32(9.9e36)}),
    "offset": ("u1", {"add_offset": 7.5, "_FillValue": np.uint8(255)}),
    "several": ("i2", {"missing_value": np.array([3, 5], "i2")}),
    "range": ("i2", {"valid_range": np.array([-2, 6], "i2"), "scale_factor": 2.0}),
    "least": ("f8", {"valid_min": -1.5}),
    "most": ("f4", {"valid_max": np.float32(4.1)}),
    "nan": ("f8", {"_FillValue": np.nan}),
    "unsigned": ("i1", {"_Unsigned": "true", "scale_factor": 0.5, "_FillValue": np.int8(-1)}),
}


def elements(dtype: str, attrs: dict[str, Any]) -> np.ndarray:
    """Make elements, two of them missing where there is a fill value."""
    a = (np.arange(24) - (0 if dtype == "u1" else 5)).astype(dtype).reshape(4, 6)
    if "_FillValue" in attrs:
        a[1, 2] = a[3, 5] = attrs["_FillValue"]
    return a


@pytest.fixture(scope="module", params=["NETCDF3_CLASSIC", "NETCDF4", "ds"])
def path(request, tmp_path_factory):
    """Make a file of each packing; the ds file is a conversion."""
    model = "NETCDF4" if request.param == "ds" else request.param
    place = str(tmp_path_factory.mktemp("decode") / "p.nc")
    with netCDF4.Dataset(place, "w", format=model) as d:
        d.createDimension("y", 4)
        d.createDimension("x", 6)
        for name, (dtype, attrs) in PACKED.items():
            if model == "NETCDF3_CLASSIC" and dtype == "u1":
                continue
            attrs = dict(attrs)
            v = d.createVariable(name, dtype, ("y", "x"), fill_value=attrs.pop("_FillValue", None))
            v.setncatts(attrs)
            v.set_auto_maskandscale(False)
            v[...] = elements(dtype, PACKED[name][1])
    if request.param == "ds":
        ndfile.convert(place, place + ".ds", allow_loss=True)
        return place + ".ds", place
    return place, place


def alike(found: Any, expected: Any) -> None:
    """Compare dtype, mask and what is not masked."""
    assert found.dtype == expected.dtype
    mask = np.ma.getmaskarray(expected)
    np.testing.assert_array_equal(np.ma.getmaskarray(found), mask)
    np.testing.assert_array_equal(np.ma.getdata(found)[~mask], np.ma.getdata(expected)[~mask])


def test_as_netcdf4_python_decodes(path):
    place, reference = path
    whole = ndfile.read(place, decode=True)
    with netCDF4.Dataset(reference) as d, ndfile.open(place, decode=True) as f:
        assert set(whole) == set(f) == set(d.variables)
        for name, v in d.variables.items():
            expected, w = v[...], f[name]
            alike(whole[name], expected)
            alike(w[...], expected)
            alike(w[1:3, ::2], expected[1:3, ::2])
            alike(w[[3, 1]], expected[[3, 1]])
            alike(w.oindex[[0, 3], [5, 1]], expected[[0, 3]][:, [5, 1]])
            alike(w.vindex[[0, 3], [5, 5]], expected[[0, 3], [5, 5]])
            assert w.dtype == expected.dtype and w.shape == (4, 6) and w.dims == ("y", "x")
            one = w[1, 2]
            assert one is np.ma.masked if np.ma.getmaskarray(expected)[1, 2] else one == expected[1, 2]
            assert isinstance(w[...], np.ma.MaskedArray) == w.masked
            assert not set(w.attrs) & set(PACKED[name][1]) - {"units"}
            raw = elements(*PACKED[name])
            np.testing.assert_array_equal(ndfile.read(place, name), raw)  # raw is the default
            np.testing.assert_array_equal(w.raw[...], raw)


TIMES = [
    ("days since 2000-01-01", "standard", np.array([0, 1, -1, 9000], "i4")),
    ("days since 1-1-1 00:00:00", "standard", np.array([735000, 736000.25], "f8")),
    ("days since 1-1-1", "proleptic_gregorian", np.array([1, 736000], "i8")),
    ("hours since 1900-01-01 00:00:0.0", "gregorian", np.array([0.5, 1e6 + 0.25], "f8")),
    ("seconds since 1970-01-01T00:00:00Z", "standard", np.array([1.7e9, -3.25], "f8")),
    ("Minutes since 1999-12-31 22:30 -02:30", "proleptic_gregorian", np.array([5, 100000], "u4")),
    ("milliseconds since 1600-02-29 12:00", "standard", np.array([7, 1 << 40], "i8")),
]


@pytest.mark.parametrize(("units", "calendar", "numbers"), TIMES)
def test_times_as_cftime_has_them(tmp_path, units, calendar, numbers):
    attrs = {"t": {"units": units, "calendar": calendar, "axis": "T"}}
    ndfile.save(tmp_path / "t.ds", {"t": numbers}, var_attrs=attrs)
    with ndfile.open(tmp_path / "t.ds", decode=True) as f:
        found, left = f["t"][...], f["t"].attrs
        assert f["t"].dtype == found.dtype == "M8[us]" and f["t"][1] == found[1]
    assert left == {"axis": "T"}
    wanted = netCDF4.num2date(numbers, units, calendar, only_use_cftime_datetimes=True)
    expected = np.array([w.isoformat() for w in wanted], "M8[us]")
    assert (np.abs(found - expected) <= np.timedelta64(1, "us")).all()


@pytest.mark.parametrize(
    "date", ["1992-10-8 15:15:42.5 -6:00", "1992-10-08T21:15:42.5Z", "1992-10-8 21:15:42.5 UTC"]
)
def test_zones_of_the_conventions(tmp_path, date):
    units = {"t": {"units": f"seconds since {date}"}}
    ndfile.save(tmp_path / "t.ds", {"t": np.array([1])}, var_attrs=units)
    assert ndfile.read(tmp_path / "t.ds", "t", decode=True)[0] == np.datetime64("1992-10-08T21:15:43.5")


def test_times_of_masks_nanoseconds_and_scales(tmp_path):
    since = "since 2000-01-01"
    arrays = {
        "fill": np.array([1, -9, 3], "i2"),
        "nan": np.array([1.5, np.nan]),
        "ns": np.array([5, 7], "i8"),
        "scaled": np.array([2, 4], "i4"),
        "mask": np.ma.MaskedArray([1, 2], mask=[False, True]),
    }
    attrs = {
        "fill": {"units": f"days {since}", "_FillValue": -9},
        "nan": {"units": f"days {since}"},
        "ns": {"units": f"nanoseconds {since}"},
        "scaled": {"units": f"hours {since}", "scale_factor": 0.25},
        "mask": {"units": f"d {since}"},
    }
    ndfile.save(tmp_path / "t.ds", arrays, var_attrs=attrs)
    found = ndfile.read(tmp_path / "t.ds", decode=True)
    assert found["fill"].mask.tolist() == [False, True, False]
    assert found["fill"][2] == np.datetime64("2000-01-04")
    assert np.isnat(found["fill"].data[1])
    assert found["nan"][0] == np.datetime64("2000-01-02T12") and np.isnat(found["nan"][1])
    assert found["ns"].dtype == "M8[ns]" and found["ns"][1] == np.datetime64("2000-01-01T00:00:00.000000007")
    assert found["scaled"].tolist() == np.array(["2000-01-01T00:30", "2000-01-01T01"], "M8[us]").tolist()
    assert found["mask"].mask.tolist() == [False, True] and found["mask"][0] == np.datetime64("2000-01-02")
    with ndfile.open(tmp_path / "t.ds", decode=True) as f:
        assert np.isnat(np.asarray(f["fill"])[1])


@pytest.mark.parametrize(
    ("units", "calendar"),
    [
        ("days since 2000-01-01", "noleap"),
        ("days since 2000-01-01", "360_day"),
        ("months since 2000-01-01", "standard"),
        ("days since 2000-02-30", "standard"),
        ("days since 1582-10-10", "standard"),
        ("days since launch", "standard"),
    ],
)
def test_other_calendars_stay_numbers(tmp_path, units, calendar):
    attrs = {"units": units, "calendar": calendar}
    ndfile.save(tmp_path / "t.ds", {"t": np.arange(3)}, var_attrs={"t": attrs})
    with ndfile.open(tmp_path / "t.ds", decode=True) as f:
        assert f["t"][...].tolist() == [0, 1, 2] and f["t"].attrs == attrs


def test_times_that_numpy_lacks_are_refused_by_name(tmp_path):
    attrs = {"old": {"units": "days since 1500-01-01"}, "far": {"units": "days since 2000-01-01"}}
    ndfile.save(tmp_path / "t.ds", {"old": np.array([40000, 5]), "far": np.array([1e300])}, var_attrs=attrs)
    with ndfile.open(tmp_path / "t.ds", decode=True) as f:
        with pytest.raises(ndfile.ValueNotRepresentableError, match=r'"old".*1582'):
            f["old"][...]
        wanted = netCDF4.num2date(40000, attrs["old"]["units"], only_use_cftime_datetimes=True)
        assert f["old"][0] == np.datetime64(wanted.isoformat())  # only what is read is decoded
        with pytest.raises(ndfile.ValueNotRepresentableError, match='"far"'):
            f["far"][...]


def test_julian_dates_of_ds_format(tmp_path):
    ds = pytest.importorskip("ds_format")
    place = str(tmp_path / "j.ds")
    d = {"time": np.array([2451544.5, 2459580.75]), ".": {"time": {".dims": ["time"], ".time": True}}}
    ds.write(place, d)
    with ndfile.open(place) as f:
        if not f["time"].extra.get(".time"):
            pytest.skip("this ds-format does not mark times")
    found = ndfile.read(place, "time", decode=True)
    assert found.dtype == "M8[us]"
    assert found.tolist() == np.array(["2000-01-01", "2022-01-01T06"], "M8[us]").tolist()


def test_what_cannot_be_decoded_stays(tmp_path):
    arrays = {"s": np.array(["a", "b"], object), "c": np.array([1j, 2]), "i": np.array([1, 2, 3])}
    attrs = {"s": {"_FillValue": "b"}, "c": {"scale_factor": 2.0}, "i": {"_FillValue": "x", "valid_min": 1.5}}
    ndfile.save(tmp_path / "o.zarr", arrays, format="zarr3", var_attrs=attrs)
    found, rest = ndfile.read(tmp_path / "o.zarr", decode=True, metadata=True)
    assert found["s"].tolist() == ["a", "b"] and found["c"].tolist() == [1j, 2]
    assert found["i"].tolist() == [1, 2, 3] and rest["var_attrs"] == attrs


def test_single_arrays_tables_streams_and_pickles(tmp_path):
    half = {"scale_factor": 0.5}
    with ndfile.open(tmp_path / "a.zarr", "w", "zarr2") as f:
        f.create("", 3, "i2", attrs=half, fill_value=-1)[:2] = [2, 3]
    one = ndfile.read(tmp_path / "a.zarr", decode=True)
    assert one.tolist() == [1.0, 1.5, None] and one.dtype == "f8"
    ndfile.save(tmp_path / "t.bcolz", {"a": np.arange(4, dtype="i4")}, var_attrs={"a": half})
    with ndfile.open(tmp_path / "t.bcolz", decode=True) as f:
        assert f.kind == "table" and list(f) == ["a"] and f["a"][1:3].tolist() == [0.5, 1.0]
        again = pickle.loads(pickle.dumps(f))
        assert again["a"][3] == 1.5 and len(again) == 1 and "a" in again
        again.close()
    ndfile.save(tmp_path / "x.ds", {"x": np.arange(3), "y": np.arange(2)}, var_attrs={"x": half})
    stream = io.BytesIO((tmp_path / "x.ds").read_bytes())
    both = ndfile.read(stream, ["x", "y"], decode=True)
    assert both["x"].tolist() == [0, 0.5, 1] and both["y"].dtype == np.int64


def test_decoded_files_are_read_only(tmp_path):
    place = tmp_path / "r.ds"
    ndfile.save(place, {"x": np.array([1, 2])}, var_attrs={"x": {"_FillValue": 2}})
    for mode in ("r+", "w", "x", "a"):
        with pytest.raises(ndfile.ArgumentError, match="read-only"):
            ndfile.open(place, mode, decode=True)
    with pytest.raises(ndfile.ArgumentError, match="decode"):
        ndfile.read(place, "x", out=np.empty(2), decode=True)
    with ndfile.open(place, decode=True) as f:
        with pytest.raises(TypeError):
            f["x"][0] = 3
        with pytest.raises(ndfile.MaskedError, match="missing"):
            np.asarray(f["x"])
        with pytest.raises(ndfile.NameNotFoundError):
            f["nope"]
    with pytest.raises(ndfile.HandleError):
        f["x"]


REDUCTIONS = ("sum", "mean", "min", "max", "var", "std", "count", "any", "all")


@pytest.mark.parametrize("chunks", [None, (2, 3)])
def test_reductions_are_of_values(tmp_path, chunks):
    rng = np.random.default_rng(5)
    stored = rng.integers(-1, 9, (7, 8)).astype("i2")
    stored[:, 3] = -1
    attrs = {"scale_factor": 0.25, "add_offset": 10.0, "_FillValue": -1}
    place = tmp_path / "r.zarr"
    with ndfile.open(place, "w", "zarr2") as f:
        f.create("v", stored.shape, "i2", attrs=attrs, chunks=chunks)[...] = stored
        times = {"units": "days since 2026-11-22"}
        f.create("t", 3, "i4", attrs=times)[...] = [4, 2, 3]
    with ndfile.open(place, decode=True) as f:
        v, values = f["v"], f["v"][...]
        for name in REDUCTIONS:
            for axis in (None, 0, -1, (0, 1)):
                found, want = getattr(v, name)(axis=axis), getattr(values, name)(axis=axis)
                np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(want))
                np.testing.assert_allclose(np.ma.filled(found, 0), np.ma.filled(want, 0), rtol=1e-12)
        assert np.mean(v) == pytest.approx(values.mean())
        part = np.s_[1:6:2, ::-1]
        np.testing.assert_allclose(v.mean(part, axis=1, keepdims=True), values[part].mean(1, keepdims=True))
        assert v.mean(np.s_[:, 3]) is np.ma.masked and v.count(np.s_[:, 3]) == 0
        assert f["t"].max() == np.datetime64("2026-11-26") and f["t"].min(axis=0).dtype == "M8[us]"
        with pytest.raises(ndfile.DTypeError, match="mean"):
            f["t"].mean()


def test_reductions_read_block_by_block(tmp_path):
    n = 3_000_000
    with ndfile.open(tmp_path / "large.zarr", "w", "zarr2") as f:
        f.create("v", (n // 100, 100), "i2", attrs={"scale_factor": 0.5}, chunks=(1000, 100), fill_value=3)
    with ndfile.open(tmp_path / "large.zarr", decode=True) as f:
        tracemalloc.start()
        try:
            assert f["v"].count() == 0 and f["v"].sum(axis=0).mask.all()
            assert tracemalloc.get_traced_memory()[1] < 3 * n * 8 // 2
        finally:
            tracemalloc.stop()
