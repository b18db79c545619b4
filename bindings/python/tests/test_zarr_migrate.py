"""Zarr 2 becomes Zarr 3 in place: what zarr-python 3 wrote and reads, with every chunk file as it was."""

import os

import numcodecs
import numpy as np
import pytest
import zarr

import ndfile

pytestmark = pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3")

ARRAYS = {
    "plain": {"dtype": "<i4", "compressors": None},
    "big": {"dtype": ">f8", "compressors": numcodecs.Zlib(1)},
    "delta": {"dtype": "<i4", "filters": [numcodecs.Delta("<i4")], "compressors": numcodecs.BZ2(1)},
    "shuffled": {"dtype": "<i8", "filters": [numcodecs.Shuffle(8)], "compressors": numcodecs.LZ4()},
    "rounded": {"dtype": "<f4", "filters": [numcodecs.BitRound(8)], "compressors": numcodecs.Zstd(3)},
    "scaled": {
        "dtype": "<f8",
        "filters": [numcodecs.FixedScaleOffset(0, 10, "<f8", "<i2")],
        "compressors": None,
    },
    "fortran": {"dtype": "<u2", "order": "F", "compressors": numcodecs.Blosc("zstd", 3, 2)},
    "checked": {"dtype": "|u1", "filters": [numcodecs.CRC32()], "compressors": numcodecs.GZip(2)},
    "bools": {"dtype": "|b1", "filters": [numcodecs.PackBits()], "compressors": None},
    "words": {"dtype": "<U3", "compressors": numcodecs.LZMA(preset=1)},
    "times": {"dtype": "<M8[s]", "compressors": None},
}


def content(path):
    group = zarr.open_group(path, mode="r")
    return {
        name: (a[...].tolist(), a.shape, a.chunks, dict(a.attrs), repr(a.fill_value))
        for name, a in group.arrays()
    }


def chunk_files(path):
    return {
        os.path.relpath(os.path.join(folder, name), path): open(os.path.join(folder, name), "rb").read()
        for folder, _, names in os.walk(path)
        for name in names
        if name[0].isdigit()
    }


@pytest.fixture
def store(tmp_path):
    path = str(tmp_path / "old.zarr")
    group = zarr.open_group(path, mode="w", zarr_format=2, attributes={"title": "old"})
    for i, (name, how) in enumerate(ARRAYS.items()):
        key = {"name": "v2", "separator": "./"[i % 2]}
        a = group.create_array(
            name, shape=(7, 5), chunks=(3, 2), chunk_key_encoding=key, attributes={"i": i}, **how
        )
        a[:5] = (np.arange(25).reshape(5, 5) % 2).astype(how["dtype"])
    return path


def test_stores_of_zarr_python(store):
    before, files = content(store), chunk_files(store)
    assert ndfile.info(store)["format"] == "zarr2"
    assert ndfile.convert(store, store, "zarr3") == []
    assert chunk_files(store) == files
    assert not [n for _, _, names in os.walk(store) for n in names if n.startswith(".z")]
    group = zarr.open_group(store, mode="r")
    assert group.metadata.zarr_format == 3
    assert dict(group.attrs) == {"title": "old"}
    assert content(store) == before
    assert ndfile.verify(store) == []
    with ndfile.open(store) as f:
        for name, (values, *_) in before.items():
            assert f[name][...].tolist() == values
    with pytest.raises(ndfile.ArgumentError, match="already"):
        ndfile.convert(store, store, "zarr3")


def test_axes_and_consolidated_metadata(tmp_path):
    path = str(tmp_path / "axes.zarr")
    group = zarr.open_group(path, mode="w", zarr_format=2)
    a = group.create_array(
        "t", shape=(4,), dtype="i4", attributes={"_ARRAY_DIMENSIONS": ["time"], "units": "K"}
    )
    a[:] = [1, 2, 3, 4]
    zarr.consolidate_metadata(path)
    assert ndfile.convert(path, path, "zarr3") == []
    t = zarr.open_consolidated(path)["t"]
    assert (t.metadata.dimension_names, dict(t.attrs), t[...].tolist()) == (
        ("time",),
        {"units": "K"},
        [1, 2, 3, 4],
    )


def test_what_cannot_stay_is_refused(tmp_path):
    path = str(tmp_path / "objects.zarr")
    with ndfile.open(path, "w", format="zarr2") as f:
        f.create("o", (3,), str, codecs=["json2"])[...] = np.array(["a", "b", "c"], object)
    with pytest.raises(ndfile.NotSupportedError, match="convert to a new folder"):
        ndfile.convert(path, path, "zarr3")
    assert ndfile.read(path, "o").tolist() == ["a", "b", "c"]
    assert ndfile.convert(path, str(tmp_path / "new.zarr"), "zarr3") == []
    assert zarr.open_group(str(tmp_path / "new.zarr"))["o"][...].tolist() == ["a", "b", "c"]
