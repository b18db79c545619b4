"""Groups that the accessor writes, parts of variables in them, and what zarr's own engine reads of it."""

import numpy as np
import pytest
import xarray as xr
from xarray.tests.test_backends import TestZarrRegionAuto as _Regions

import ndfile
import ndfile.xarray


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def child():
    b = np.arange(6, dtype="i2").reshape(2, 3)
    return xr.Dataset({"b": (("x", "y"), b, {"units": "K"})}, {"x": [1, 2]}, {"u": 1})


def tree():
    return xr.DataTree.from_dict(
        {
            "/": xr.Dataset({"a": ("w", [1.0, np.nan, 0.0])}, {"w": [0, 1, 2]}, {"title": "root"}),
            "/child": child(),
            "/child/deep": xr.Dataset({"s": ("z", np.array(["a", "bc"], object))}),
            "/empty": xr.Dataset(attrs={"k": "v"}),
        }
    )


def opened(path, engine, **options):
    if engine == "zarr":
        options["consolidated"] = False
    return xr.open_dataset(path, engine=engine, **options).load()


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
@pytest.mark.parametrize("engine", ["ndfile", "zarr"])
def test_trees(format, engine):
    tree().ndfile.save("t.zarr", format, encoding={"/child": {"b": {"chunks": (1, 3)}}})
    own = {"consolidated": False} if engine == "zarr" else {}
    xr.testing.assert_identical(xr.open_datatree("t.zarr", engine=engine, **own).load(), tree())
    with ndfile.open("t.zarr") as f:
        assert f["child/b"].chunks == (1, 3)
        assert f.groups == ("child", "child/deep", "empty")
    part = xr.open_datatree("t.zarr", engine="ndfile", group="child").load()
    assert list(part.children) == ["deep"]
    tree()["child"].ndfile.save("u.zarr", format)
    assert opened("u.zarr", engine).drop_vars("w").identical(child())
    above = xr.DataTree.from_dict(
        {"/": xr.Dataset(coords={"x": [1, 2]}), "/b": xr.Dataset({"v": ("x", [5, 6])})}
    )
    above.ndfile.save("above.zarr", format)
    assert opened("above.zarr", engine, group="b").variables.keys() == {"v"}
    above["b"].ndfile.save("b.zarr", format)  # without what is above it has the coordinate itself
    assert opened("b.zarr", engine).x.values.tolist() == [1, 2]


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_groups(format):
    child().ndfile.save("t.zarr", format, group="a/b")
    child().ndfile.save("t.zarr", group="c", mode="a")
    for name in ("a/b", "c"):
        for engine in ("ndfile", "zarr"):
            xr.testing.assert_identical(opened("t.zarr", engine, group=name), child())
    more = xr.Dataset({"b": (("y", "x"), np.full((3, 2), 7, "i2"))}, {"x": [3, 4]})
    more.ndfile.save("t.zarr", group="c", append_dim="x")
    other = child().isel(x=[1])
    (other + 100).ndfile.save("t.zarr", group="c", region={"x": "auto"})
    found = opened("t.zarr", "zarr", group="c")
    assert found.x.values.tolist() == [1, 2, 3, 4]
    assert found.b.values.tolist() == [[0, 1, 2], [103, 104, 105], [7, 7, 7], [7, 7, 7]]
    assert found.attrs == {"u": 1}
    xr.testing.assert_identical(opened("t.zarr", "ndfile", group="a/b"), child())
    changed = child().assign_attrs(u=2)
    changed["b"] = changed.b * 2
    changed.ndfile.save("t.zarr", group="a/b", mode="a")
    xr.testing.assert_identical(opened("t.zarr", "zarr", group="a/b"), changed)


def test_refused():
    with pytest.raises(ndfile.NotSupportedError, match="no groups"):
        tree().ndfile.save("t.ds")
    with pytest.raises(ndfile.NotSupportedError, match="no groups"):
        child().ndfile.save("t.ds", group="a")
    tree()["empty"].ndfile.save("one.ds")  # a tree of one node is a Dataset
    with pytest.raises(ValueError, match="unexpected encoding group"):
        tree().ndfile.save("t.zarr", encoding={"/none": {}})
    child().ndfile.save("t.zarr")
    with pytest.raises(KeyError, match=r"no 'x' of (np\.int64\()?3"):
        child().assign_coords(x=[2, 3]).ndfile.save("t.zarr", region={"x": "auto"})
    with pytest.raises(ValueError, match="'never'"):
        child().ndfile.save("t.zarr", region={"x": "never"})
    xr.testing.assert_identical(opened("t.zarr", "ndfile"), child())


class TestRegions:
    """xarray's own tests of regions that are found by coordinates; zarr's engine reads what was written."""

    create, create_zarr_target = _Regions.create, _Regions.create_zarr_target
    test_auto, test_not_in_a_row = (
        _Regions.test_zarr_region_auto,
        _Regions.test_zarr_region_auto_noncontiguous,
    )

    def save(self, target, ds, **options):
        ds.ndfile.save(target, **options)


del _Regions
