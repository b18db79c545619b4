"""Every fixture of early zarr, exactly: stores of zarr 0.4.0, and broken ones."""

import json
import resource

import numpy as np
import pytest
from support import ROOT, plain, record_dtype, same_bits

import ndfile

TESTDATA = ROOT / "pkg" / "zarr" / "testdata" / "zarr0"


def cases(kind):
    found = json.loads((TESTDATA / kind / "manifest.json").read_text(encoding="utf-8"))["cases"]
    assert found
    return found


VALID = cases("valid")
MALFORMED = cases("malformed")
BROKEN = [case for case in MALFORMED if case["expect"].startswith("error")]


def named(case):
    return case["name"]


@pytest.mark.parametrize("case", VALID, ids=named)
def test_valid(case):
    path = TESTDATA / "valid" / case["name"]
    dtype = record_dtype(case["dtype"])
    raw = (TESTDATA / "valid" / case["expected"]).read_bytes()
    want = np.frombuffer(raw, dtype).reshape(case["shape"])
    assert ndfile.detect(path) == "zarr0"
    same_bits(ndfile.read(path), want)
    with ndfile.open(path) as f:
        v = f.array
        assert (f.format, f.kind, v.shape, v.dtype) == ("zarr0", "array", want.shape, dtype.newbyteorder("="))
        assert v.chunks == tuple(case["chunks"])
        assert v.compression == (case["cname"], case["clevel"], case["shuffle"])
        assert v.nchunks == np.prod(case["grid"])
        assert len(list(v.iter_chunks())) == v.nchunks
        if "attrs" in case:
            assert plain(dict(f.attrs)) == plain(case["attrs"])
        fill = json.loads(case["fill_value_json"])
        if fill is None:
            assert v.fill_value is None
        elif dtype.kind in "biufc":
            assert np.array_equal(v.fill_value, np.array(fill, dtype), equal_nan=dtype.kind in "fc")
        for key in ((slice(None, None, -1),), (slice(1, None, 3),), (slice(2, 5), ..., slice(None, None, 2))):
            if len(key) <= want.ndim + 1:
                same_bits(v[key], want[key] if want.ndim > 1 else want[key[:1]])
        if len(want):
            same_bits(v[-1:], want[-1:])
            same_bits(v.take([0, -1, 0]), want[[0, -1, 0]])
        written = [p for p in v.iter_chunks() if v.read_chunk([s.start // c for s, c in zip(p, v.chunks)])]
        assert len(written) <= len(case["chunk_files"])


def test_attrs_nonfinite():
    with ndfile.open(TESTDATA / "valid" / "attrs_nonfinite") as f:
        assert {"nan", "inf", "-inf"} <= set(map(str, f.attrs.values()))


@pytest.mark.parametrize("case", BROKEN, ids=named)
def test_broken(case):
    path = TESTDATA / "malformed" / case["name"]
    late = "read" in case["expect"]
    with pytest.raises(ndfile.NdfileError, match=case["name"]) as e:
        v = ndfile.open(path).array
        assert late, "opened"
        v[...]
    assert not isinstance(e.value, ndfile.InternalError)
    if case["name"] == "pickle_meta":
        assert "0.3" in str(e.value)


@pytest.mark.parametrize("name", ["chunk_nbytes", "chunk_truncated", "chunk_codec_unknown"])
def test_broken_chunk(name):
    """Only what lies in the broken chunk cannot be read."""
    with ndfile.open(TESTDATA / "malformed" / name) as f:
        v = f.array
        n = v.chunks[0]
        assert v[:n].shape == (n,)
        with pytest.raises((ndfile.CorruptError, ndfile.NotSupportedError), match=r"1\.blosc"):
            v[n]


def test_names_outside():
    path = TESTDATA / "malformed" / "names_outside"
    assert ndfile.read(path).tolist() == list(range(20))
    with ndfile.open(path) as f:
        assert f.array.nchunks == 3


def test_huge():
    """2**40 rows that nobody wrote take no memory until they are read."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with ndfile.open(TESTDATA / "malformed" / "huge_lazy") as f:
        v = f.array
        assert v.shape == (1 << 40, 1000)
        assert v[5:8, 0:2].tolist() == [[1.25, 1.25]] * 3
        assert v[-1, -1] == 1.25
        with pytest.raises((MemoryError, ValueError)):
            v[...]
        assert repr(v)
    with pytest.raises((MemoryError, ValueError)):
        ndfile.read(TESTDATA / "malformed" / "huge_lazy")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10
