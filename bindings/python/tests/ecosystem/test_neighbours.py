"""References for programs that know Zarr, fsspec's name for them, and napari's layers."""

import doctest
import json
import os

import fsspec
import npe2
import numpy as np
import pytest
import xarray as xr
from npe2 import PluginManager

import ndfile
import ndfile.napari
import ndfile.references
from ndfile.references import references


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def weather():
    ndfile.save(
        "w.ds",
        {
            "wind": np.arange(600_000.0).reshape(60, 10_000),
            "name": np.array(["a", "bc", "ß"] * 20, object),
            "n": np.int32(4),
            "none": np.zeros((0, 3)),
        },
        dims={"wind": ["time", "x"], "name": ["time"], "n": [], "none": ["nothing", "three"]},
        attrs={"title": "T"},
        var_attrs={"wind": {"units": "m/s"}},
    )


def test_references(monkeypatch):
    monkeypatch.setattr(ndfile.references, "_CHUNK", 800_000)  # ten rows of wind
    weather()
    refs = references("w.ds")["refs"]
    with open("w.ds", "rb") as f:
        where, start, size = refs["wind/5.0"]
        assert os.path.samefile(where, "w.ds")
        f.seek(start)
        assert np.frombuffer(f.read(size)).tolist() == list(range(500_000, 600_000))
    assert "wind/6.0" not in refs
    with xr.open_dataset({"version": 1, "refs": refs}, engine="kerchunk") as ds:
        xr.testing.assert_identical(ds.load(), xr.open_dataset("w.ds", engine="ndfile").load())
    json.dumps(refs)


@pytest.mark.parametrize("shape", [(), (7,), (0,), (13, 2), (1, 3000), (2, 0, 3)])
@pytest.mark.parametrize("dtype", ["<f4", ">i2", "<c16", "|u1"])
def test_single_arrays(monkeypatch, shape, dtype):
    monkeypatch.setattr(ndfile.references, "_CHUNK", 40)
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    for name in ("a.npy", "a.ra"):
        if name == "a.ra" and dtype[0] == ">":
            continue
        ndfile.save(name, x)
        fs = fsspec.filesystem("ndfile", fo=name, skip_instance_cache=True)
        assert json.loads(fs.cat("data/.zarray"))["shape"] == list(shape)
        found = xr.open_dataset(references(name), engine="kerchunk", chunks=None)["data"].values
        np.testing.assert_array_equal(found, x)


def test_references_refused():
    ndfile.save("m.ds", {"x": np.ma.masked_equal([1, 2], 2)})
    with pytest.raises(ndfile.NotSupportedError, match="missing"):
        references("m.ds")
    ndfile.save("z.zarr", np.zeros(1000), format="zarr0")
    assert references("z.zarr")["refs"]["data/0"].startswith("base64:")
    with pytest.raises(ndfile.NotSupportedError, match=r"ndfile\.convert"):
        references("z.zarr", inline=100)


def test_layers():
    image = np.exp(1j * np.arange(12)).reshape(3, 4).astype("c8")
    ndfile.save("c.ra", image)
    (absolute, _, kind), (phase, options, _) = ndfile.napari.get_reader("c.ra")("c.ra")
    assert kind == "image"
    np.testing.assert_array_equal(absolute, np.abs(image))
    np.testing.assert_array_equal(phase, np.angle(image))
    assert options["name"] == "c.ra (phase)"
    ndfile.save("z.zarr", np.arange(60).reshape(3, 4, 5), format="zarr3")
    ndfile.save("m.ds", {"x": np.ma.masked_equal([[1, 2]], 2), "short": [1, 2]})
    (lazy, _, _), (masked, _, _) = ndfile.napari.read(["z.zarr", "m.ds"])
    assert lazy[1, :2].tolist() == [[20, 21, 22, 23, 24], [25, 26, 27, 28, 29]]
    assert np.isnan(masked).tolist() == [[False, True]]
    assert ndfile.napari.get_reader("missing.ra") is None
    (open("t.txt", "w")).close()
    assert ndfile.napari.get_reader(["c.ra", "t.txt"]) is None


def test_napari_finds_the_reader():
    """By its plugin engine, npe2, which is a package of its own."""
    PluginManager.instance().discover()
    ndfile.save("c.ra", np.full((3, 4), 1j, "c8"))
    layers = npe2.read(["c.ra"], stack=False)
    assert [(data.shape, options["name"], kind) for data, options, kind in layers] == [
        ((3, 4), "c.ra", "image"),
        ((3, 4), "c.ra (phase)", "image"),
    ]


def test_examples():
    found = doctest.testmod(ndfile.references)
    assert found.attempted
    assert not found.failed
