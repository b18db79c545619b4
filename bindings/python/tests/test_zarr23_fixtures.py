"""Every fixture of Zarr 2 and 3: what zarr-python and tensorstore wrote, by hand from the specifications, and broken."""

import base64
import json
import resource
import zipfile

import numpy as np
import pytest
from support import ROOT

import ndfile

ARCHIVE = ROOT / "pkg" / "zarr" / "testdata" / "zarr23.zip"

with zipfile.ZipFile(ARCHIVE) as archive:
    CASES = json.loads(archive.read("manifest.json"))["cases"]

VALID = [c for c in CASES if not c.get("outcome")]
MALFORMED = [c for c in CASES if c.get("outcome")]

#: What is refused, with the reason that the error gives.
REFUSED = {
    "v2-obj-vlen-array": "vlen-array",  # elements that are arrays have no dtype here
}

CLASSES = {
    "corrupt": ndfile.CorruptError,
    "not-supported": ndfile.NotSupportedError,
    "limit": ndfile.LimitError,
    "format": ndfile.FormatError,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("zarr23")
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(path)
    return path


def expected(path):
    if path.suffix == ".npy":
        return np.load(path)
    found = json.loads(path.read_text(encoding="utf-8"))
    values = np.empty(len(found["values"]), object)
    values[:] = [base64.b64decode(v) if found["kind"] == "bytes" else v for v in found["values"]]
    return values.reshape(found["shape"])


def bits(x):
    """Elements whatever their byte order; NaN payloads and signs of zero count."""
    if x.dtype.names:
        return b"".join(bits(np.ascontiguousarray(x[n])) for n in x.dtype.names)
    return x.tolist() if x.dtype == object else x.astype(x.dtype.newbyteorder("=")).tobytes()


@pytest.mark.parametrize("case", VALID, ids=lambda c: f"{c['name']}-{c['array']}")
def test_valid(case, folder):
    path = folder / case["store"]
    if case["name"] in REFUSED:
        with pytest.raises(ndfile.NdfileError, match=REFUSED[case["name"]]):
            ndfile.open(path)
        return
    with ndfile.open(path) as f:
        if case.get("tree"):
            assert set(f) == {k for k, kind in case["tree"].items() if kind == "array"}
            assert dict(f.attrs) == case["attrs"]
            for name, dims in (case.get("dims") or {}).items():
                assert list(f[name].dims or ()) == dims, name
        if case["expected"]:
            want = expected(folder / "expected" / case["expected"])
            got = np.asarray((f[case["array"]] if case["array"] else f.array)[...])
            if got.dtype.kind in "Vf" and want.dtype.kind in "iu":  # types that NumPy lacks
                got = got.view(want.dtype)
            assert got.shape == want.shape and bits(got) == bits(want)


@pytest.mark.parametrize("case", MALFORMED, ids=lambda c: c["name"])
def test_malformed(case, folder):
    outcomes = case["outcome"] if isinstance(case["outcome"], list) else [case["outcome"]]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = None
    try:
        with ndfile.open(folder / case["store"]) as f:
            for a in [f.array] if f.kind == "array" else f.values():
                a[...]
    except ndfile.NdfileError as e:
        found = e
    allowed = tuple(CLASSES[o] for o in outcomes if o in CLASSES)
    assert isinstance(found, allowed) if found else "accepted" in outcomes, f"{type(found).__name__}: {found}"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before <= 64 << 10
