"""Groups of zarr2 and zarr3: made, listed, renamed, removed, converted; consolidated metadata; read by zarr-python."""

import numpy as np
import pytest
import zarr

import ndfile

FORMATS = ["zarr2", "zarr3"]
SALT = np.arange(24, dtype="f4").reshape(4, 6)


@pytest.fixture(params=FORMATS)
def store(request, tmp_path):
    path = tmp_path / "store.zarr"
    with ndfile.open(path, "w", format=request.param, attrs={"title": "all"}) as f:
        f.create("ocean/deep/salt", SALT.shape, "f4", dims=("z", "x"), attrs={"units": "1"}, chunks=(3, 4))[
            ...
        ] = SALT
        f.create_group("air/high", attrs={"below": 1})["temp"] = np.arange(3)
        f["ocean"].attrs["wet"] = True
        f["time"] = [1.5, 2.5]
    return path


def test_written_for_zarr(store):
    z = zarr.open_group(store, mode="r")
    assert sorted(dict(z.members(max_depth=None))) == [
        "air",
        "air/high",
        "air/high/temp",
        "ocean",
        "ocean/deep",
        "ocean/deep/salt",
        "time",
    ]
    assert dict(z.attrs) == {"title": "all"}
    assert dict(z["ocean"].attrs) == {"wet": True}
    assert dict(z["air/high"].attrs) == {"below": 1}
    assert np.array_equal(z["ocean/deep/salt"][...], SALT)


def test_reading(store):
    with ndfile.open(store) as f:
        assert f.kind == "dataset"
        assert list(f) == ["air/high/temp", "ocean/deep/salt", "time"]
        assert f.groups == ("air", "air/high", "ocean", "ocean/deep")
        ocean = f["ocean"]
        assert isinstance(ocean, ndfile.Group)
        assert list(ocean) == ["deep/salt"]
        assert ocean.groups == ("deep",)
        assert ocean["deep"]["salt"] is f["ocean/deep/salt"]
        assert f["ocean/deep/salt"].dims == ("z", "x")
        assert "ocean" in f
        assert "deep" in ocean
        assert "salt" not in ocean
        with pytest.raises(KeyError, match="ocean/none"):
            ocean["none"]
        with pytest.raises(ndfile.ReadOnlyError):
            f.create_group("more")
    with ndfile.open(store / "ocean") as f:  # a group alone
        assert list(f) == ["deep/salt"]
        assert f.attrs == {"wet": True}


@pytest.mark.parametrize("consolidated", [False, True])
def test_changing(store, consolidated):
    with ndfile.open(store, "r+") as f:
        f.consolidate(consolidated)
    with ndfile.open(store, "a") as f:
        salt = f["ocean/deep/salt"]
        f.rename("ocean/deep", "sea/low")
        salt[0, 0] = -1  # it is still the same array
        f["sea"].attrs["k"] = [1, 2]
        del f["air"]
        f["sea"]["more"] = np.arange(5, dtype="i2")
        assert "air" not in f
        assert f.groups == ("ocean", "sea", "sea/low")
        for name in ("sea", "time/x", "../x", "a//b", "__a", "zarr.json", ""):
            with pytest.raises((ndfile.NameExistsError, ndfile.ArgumentError)):
                f.create_group(name)
    z = zarr.open_group(store, mode="r", use_consolidated=consolidated)
    names = ["ocean", "sea", "sea/low", "sea/low/salt", "sea/more", "time"]
    assert sorted(dict(z.members(max_depth=None))) == names
    assert z["sea/low/salt"][0, 0] == -1
    assert dict(z["sea"].attrs) == {"k": [1, 2]}
    assert ndfile.verify(store) == []
    with ndfile.open(store / "time", "r+") as f:  # an array alone
        f.array.append([3.5])
    assert zarr.open_group(store, mode="r", use_consolidated=consolidated)["time"].shape == (3,)
    assert ndfile.verify(store) == []


def test_stale_copies_are_named(store):
    with ndfile.open(store, "r+") as f:
        f.consolidate()
    zarr.open_array(store / "time", mode="r+").resize((5,))
    (problem,) = ndfile.verify(store)
    assert "consolidated" in problem.message
    assert "time" in problem.message
    ndfile.verify(store, repair=True)
    assert ndfile.verify(store) == []
    assert zarr.open_consolidated(store, mode="r")["time"].shape == (5,)


@pytest.mark.parametrize("to", FORMATS)
def test_converted(store, to, tmp_path):
    ndfile.convert(store, tmp_path / "copy.zarr", to)
    with ndfile.open(tmp_path / "copy.zarr") as f, ndfile.open(store) as g:
        assert f.groups == g.groups
        assert f["air/high"].attrs == {"below": 1}
        assert np.array_equal(f["ocean/deep/salt"], SALT)
    with pytest.raises(ndfile.LossError, match="groups"):
        ndfile.convert(store, tmp_path / "copy.ds")
    ndfile.convert(store, tmp_path / "copy.ds", allow_loss=True)
    ndfile.convert(tmp_path / "copy.ds", tmp_path / "back.zarr", to)
    with ndfile.open(tmp_path / "back.zarr") as f:
        assert f.groups == ("air", "air/high", "ocean", "ocean/deep")
        assert np.array_equal(f["ocean/deep/salt"], SALT)


def test_saved(tmp_path):
    data = {"a/x": np.arange(3), "b": np.ones((2, 2))}
    ndfile.save(tmp_path / "s.zarr", data, format="zarr3")
    assert {k: v.tolist() for k, v in ndfile.read(tmp_path / "s.zarr").items()} == {
        k: v.tolist() for k, v in data.items()
    }
    ndfile.save(tmp_path / "s.zarr", np.arange(4), format="zarr3")  # an array takes the place of the group
    assert ndfile.read(tmp_path / "s.zarr").tolist() == [0, 1, 2, 3]
    (tmp_path / "s.zarr" / "notes").write_text("of somebody")
    with pytest.raises(ndfile.ExistsError, match="notes"):
        ndfile.save(tmp_path / "s.zarr", data, format="zarr3")
