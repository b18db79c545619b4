"""Every fixture of Zarr 2 and 3 written again by ndfile, and read by zarr-python, zarrs and tensorstore.

A fixth of them; all with NDFILE_TORTURE. What a program reads of the fixture it reads of our array too, with the same
elements, and the document is byte for byte what zarr-python makes of it.
"""

import os
import re
import warnings
import zipfile

import numpy as np
import pytest
import tensorstore
import zarr
from test_zarr23_fixtures import ARCHIVE, VALID, bits
from zarr.core.buffer import default_buffer_prototype

import ndfile

EVERY = 1 if os.environ.get("NDFILE_TORTURE") else 5
CASES = [c for c in VALID if c["expected"] and not c["store"].endswith(".zip")][::EVERY]


def by_zarr(path):
    return zarr.open_array(str(path), mode="r")[...]


def by_zarrs(path):
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
        return by_zarr(path)


def by_tensorstore(path):
    driver = "zarr3" if (path / "zarr.json").exists() else "zarr"
    store = {"driver": driver, "kvstore": {"driver": "file", "path": f"{path}/"}}
    return tensorstore.open(store, read=True).result().read().result()


READERS = {"zarr-python": by_zarr, "zarrs": by_zarrs, "tensorstore": by_tensorstore}


def given(reader, path):
    """Give the elements as a reader has them, or why it has none."""
    try:
        x = np.asarray(reader(path))
        return x.astype(object) if x.dtype.kind == "T" else x
    except BaseException as e:  # zarrs panics, which is no Exception
        if isinstance(e, KeyboardInterrupt):
            raise
        return f"{type(e).__name__}: {e}"


def same(x, want):
    if isinstance(x, str) or x.shape != want.shape:
        return False
    if x.dtype.kind in "Vfb" and want.dtype.kind in "iu" and x.dtype.itemsize == want.dtype.itemsize:
        x = x.view(want.dtype)
    return bits(x) == bits(want)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("zarr23")
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(path)
    return path


def rewritten(source, path):
    """Write an array again with the same codecs; None where we do not write such arrays."""
    fmt, a = source.file.format, source
    how = {"chunks": a.chunks, "codecs": a.codecs, "shards": a.shards, "fill_value": a.fill_value}
    if a.chunks is None:
        return None
    how = {k: v for k, v in how.items() if v is not None}
    with ndfile.open(path, "w", format=fmt) as f:
        b = f.create(
            "", a.shape, a.dtype_name, dims=a.dims, attrs=dict(a.attrs), extra=a.extra or None, **how
        )
        if a.size:
            b[...] = a[...]
    return a[...]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['name']}-{c['array']}")
def test_written(case, folder, tmp_path):
    warnings.simplefilter("ignore")
    path = tmp_path / "again.zarr"
    try:
        with ndfile.open(folder / case["store"]) as f:
            want = rewritten(f[case["array"]] if case["array"] else f.array, path)
    except (ndfile.NotSupportedError, ndfile.DTypeError) as e:
        pytest.skip(str(e).split(": ", 1)[-1])
    if want is None:
        pytest.skip("a rectilinear grid is only read")
    assert same(ndfile.read(path), np.asarray(want))
    original = folder / case["store"] / case["array"]
    for name, reader in READERS.items():
        if same(given(reader, original), np.asarray(want)):
            found = given(reader, path)
            assert same(found, np.asarray(want)), (
                f"{name} reads other elements of what was written again: {found}"
            )
    have, want = documents(case, path, original)
    assert have == want


def documents(case, path, original):
    """Give our document and that of zarr-python: of version 2 what it wrote, of version 3 what it makes of ours."""
    by = case["written_by"]
    if by.startswith("zarr 3"):
        made = zarr.open_array(str(path), mode="r").metadata.to_buffer_dict(default_buffer_prototype())
        return (path / "zarr.json").read_bytes(), made["zarr.json"].to_bytes()
    if not by.startswith("zarr 2") or not (original / ".zarray").exists():
        return None, None
    have, want = (path / ".zarray").read_text(), (original / ".zarray").read_text()
    # Our keys have dots, and a fill value always; zarr 2 cuts NULs at the end of one.
    want = want.replace('    "dimension_separator": "/",\n', "")
    if '"fill_value": null' in want or case["name"] == "v2-fill-S":
        have, want = (re.sub(r'"fill_value": .*', "", text) for text in (have, want))
    return have, want
