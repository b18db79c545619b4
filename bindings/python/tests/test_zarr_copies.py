"""Codecs and filters of Zarr 2 in Zarr 3 and back: by convert and by copies in Python."""

import warnings

import numcodecs
import numpy as np
import pytest
import zarr

import ndfile

X = np.arange(120, dtype="i4").reshape(10, 12)
CHAINS = {
    "delta-blosc": ([numcodecs.Delta("<i4")], numcodecs.Blosc(cname="lz4", shuffle=1)),
    "shuffle-zlib": ([numcodecs.Shuffle(4)], numcodecs.Zlib(1)),
    "delta": ([numcodecs.Delta("<i4")], None),
    "lzma": (None, numcodecs.LZMA()),
    "order-F": (None, numcodecs.Blosc()),
}


def names(path):
    with ndfile.open(path) as f:
        codecs = (c if isinstance(c, str) else c["name"] for c in f.array.codecs)
        return [c.removeprefix("numcodecs.") for c in codecs if c != "bytes"]


@pytest.mark.parametrize("name", CHAINS)
def test_codecs_come_along(name, tmp_path):
    warnings.simplefilter("ignore")  # that numcodecs are no part of Zarr 3
    filters, compressor = CHAINS[name]
    old = tmp_path / "2.zarr"
    order = "F" if name == "order-F" else "C"
    z = zarr.create_array(
        str(old),
        shape=X.shape,
        chunks=(5, 6),
        dtype="i4",
        zarr_format=2,
        filters=filters,
        compressors=compressor,
        order=order,
    )
    z[...] = X
    ndfile.convert(old, tmp_path / "3.zarr", "zarr3")
    with ndfile.open(old) as f, ndfile.open(tmp_path / "copy.zarr", "w", format="zarr3") as g:
        g[""] = f.array
    for new in (tmp_path / "3.zarr", tmp_path / "copy.zarr"):
        assert names(new) == names(old)
        assert np.array_equal(zarr.open_array(str(new), mode="r")[...], X)
    with ndfile.open(tmp_path / "3.zarr") as f, ndfile.open(tmp_path / "back.zarr", "w", format="zarr2") as g:
        g[""] = f.array
    assert set(names(tmp_path / "back.zarr")) >= set(names(old)) - {"transpose"}
    assert np.array_equal(zarr.open_array(str(tmp_path / "back.zarr"), mode="r")[...], X)


@pytest.mark.parametrize("codecs", [[], ["blosc"]])
def test_order_is_no_encoding(codecs, tmp_path):
    """Chunks whose axes lie in another order are not copied as they are."""
    with ndfile.open(tmp_path / "f.zarr", "w", format="zarr3") as f:
        f.create("", X.shape, "i4", chunks=(5, 6), codecs=["transpose", *codecs])[...] = X
    for format in ("zarr0", "bcolz"):
        ndfile.convert(tmp_path / "f.zarr", tmp_path / format, format)
        assert np.array_equal(ndfile.read(tmp_path / format), X)


def test_shards_where_there_are_none(tmp_path):
    """A format without shards keeps the codecs, one without the codecs the elements."""
    with ndfile.open(tmp_path / "s.zarr", "w", format="zarr3") as f:
        f.create("", X.shape, "i4", chunks=(5, 6), shards=(10, 12), codecs=["gzip"])[...] = X
        for format in ("zarr2", "zarr0"):
            with ndfile.open(tmp_path / format, "w", format=format) as g:
                g[""] = f.array
            assert np.array_equal(ndfile.read(tmp_path / format), X)
    assert names(tmp_path / "zarr2") == ["gzip"]
