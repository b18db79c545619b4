"""Every bcolz fixture, exactly: roots of the real bcolz, and broken ones."""

import json
import math

import numpy as np
import pytest
from support import ROOT, plain, record_dtype, same_bits

import ndfile

TESTDATA = ROOT / "pkg" / "bcolz" / "testdata"


def cases(name):
    found = json.loads((TESTDATA / name).read_text(encoding="utf-8"))["roots"]
    assert found
    return found


ROOTS = [case for case in cases("expected.json") if "expect" not in case]
REFUSED = [case for case in cases("expected.json") if "expect" in case]
ARRAYS = [case for case in ROOTS if case["kind"] == "carray"]
TABLES = [case for case in ROOTS if case["kind"] == "ctable"]
(UNEVEN,) = (case for case in cases("malformed.json") if "accept" in case.get("note", ""))
MALFORMED = [case for case in cases("malformed.json") if case != UNEVEN]


def items(case):
    dtype = record_dtype(case["dtype"])
    return np.frombuffer((TESTDATA / case["raw"]).read_bytes(), dtype).reshape(case["shape"])


LITERALS = {"NaN (literal)": "NaN", "Infinity (literal)": math.inf, "-Infinity (literal)": -math.inf}


def attrs_of(case):
    """NaN as `plain` gives it."""
    return {k: LITERALS.get(v, v) if isinstance(v, str) else v for k, v in case["attrs"].items()}


def named(case):
    return case["root"].split("/")[-1]


@pytest.mark.parametrize("case", ARRAYS, ids=named)
def test_carray(case):
    path, want = TESTDATA / case["root"], items(case)
    assert ndfile.detect(path) == "bcolz"
    same_bits(ndfile.read(path), want)
    with ndfile.open(path) as f:
        v = f.array
        assert (f.format, f.kind, v.shape) == ("bcolz", "array", want.shape)
        assert np.dtype(v.dtype_name if isinstance(case["dtype"], str) else v.dtype) == want.dtype
        assert plain(dict(f.attrs)) == attrs_of(case)
        assert v.chunks[1:] == want.shape[1:]
        for key in (slice(None, None, -1), slice(1, None, 3), slice(5, 6)):
            same_bits(v[key], want[key])
        for i in range(0, len(want), max(1, len(want) // 9)):
            assert np.asarray(v[i]).tobytes() == np.asarray(want.astype(v.dtype)[i]).tobytes()
        rows = np.arange(len(want))[::-2]
        same_bits(v[rows], want[rows])
        if "values" in case:
            assert v[...].ravel().astype(f"U{want.dtype.itemsize}").tolist() == case["values"]


@pytest.mark.parametrize("case", TABLES, ids=named)
def test_ctable(case):
    path = TESTDATA / case["root"]
    want = {name: items(column) for name, column in case["columns"].items()}
    read = ndfile.read(path)
    with ndfile.open(path) as t:
        assert isinstance(t, ndfile.Table)
        assert (t.format, t.kind, t.nrows) == ("bcolz", "table", case["length"])
        assert list(t) == list(t.columns) == list(read) == case["names"]
        assert plain(dict(t.attrs)) == attrs_of(case)
        rows = t[...]
        for name, array in want.items():
            same_bits(read[name], array)
            same_bits(t[name][...], array)
            same_bits(np.ascontiguousarray(rows[name]), array)
            assert plain(dict(t[name].attrs)) == attrs_of(case["columns"][name])
            same_bits(ndfile.read(path / name), array)
    assert ndfile.verify(path) == []


@pytest.mark.parametrize("case", REFUSED, ids=named)
def test_refused(case):
    with pytest.raises(ndfile.NotSupportedError):
        ndfile.read(TESTDATA / case["root"])


@pytest.mark.parametrize("case", MALFORMED, ids=named)
def test_malformed(case):
    path = TESTDATA / case["root"]
    with pytest.raises(ndfile.NdfileError, match=named(case)) as e, ndfile.open(path) as f:
        dict(f.attrs)
        for v in f.values():
            v[...]
            dict(v.attrs)
    assert not isinstance(e.value, ndfile.InternalError)


def test_uneven():
    """What a crash in the middle of an append leaves: the shortest column counts, verify reports it."""
    path = TESTDATA / UNEVEN["root"]
    with ndfile.open(path) as t:
        assert {len(v) for v in t.values()} == {t.nrows}
        assert t[...].shape == (t.nrows,)
    problems = ndfile.verify(path)
    assert problems
    assert {p.error for p in problems} == {ndfile.LossError}
