"""Expected values of the fixtures, and exact comparison."""

import base64
import json
import math
import struct
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
TESTDATA = ROOT / "pkg" / "ds" / "testdata"


def fixtures(*kinds):
    """Pairs of a ds file and what its JSON says."""
    found = [
        (p.with_suffix(""), json.loads(p.read_text(encoding="utf-8")))
        for kind in kinds
        for p in sorted((TESTDATA / kind).glob("*.ds.json"))
    ]
    assert found, f"no fixtures in {TESTDATA}"
    return found


def untag(v):
    """Attribute values are tagged with their type."""
    tag, value = v[0], v[1] if len(v) > 1 else None
    if tag == "int":
        return int(value)
    if tag == "float":
        return struct.unpack(">d", bytes.fromhex(value[2:].zfill(16)))[0]
    if tag == "list":
        return [untag(x) for x in value]
    if tag == "object":
        return {k: untag(x) for k, x in value}
    if tag == "string-utf16be-base64":
        return base64.b64decode(value).decode("utf-16-be", "surrogatepass")
    return value  # string, bool, null


def attrs(pairs):
    return {k: untag(v) for k, v in pairs}


DTYPES = {"str": object, "unicode": object, "bool": np.bool_}


def expected(var):
    """The array of a variable; None where it has no data."""
    if var["shape"] is None:
        return None
    kind, encoding = var["type"], var["encoding"]
    values = var["values"]
    if encoding == "base64":
        data = [b"" if v is None else base64.b64decode(v) for v in values]
    elif encoding == "utf8":
        data = ["" if v is None else v for v in values]
    elif encoding == "float-bits":
        data = [0 if v is None else int(v, 16) for v in values]
    else:
        data = [0 if v is None else int(v) for v in values]
    if encoding == "float-bits":
        # bits, so that NaN payloads and -0 count
        array = np.array(data, {"float32": "u4", "float64": "u8"}[kind]).view(kind)
    elif kind in ("str", "unicode"):
        array = np.empty(len(data), object)
        array[:] = data
    else:
        array = np.array(data, DTYPES.get(kind, kind))
    array = array.reshape(var["shape"])
    if var["mask"] is not None:
        array = np.ma.MaskedArray(array, mask=np.array(var["mask"], bool).reshape(var["shape"]))
    return array


def same(found, want):
    """Equal in dtype, shape, mask and every bit of what is not masked."""
    if want is None:
        assert found is None
        return
    assert isinstance(found, np.ma.MaskedArray) == isinstance(want, np.ma.MaskedArray)
    assert found.dtype == want.dtype, (found.dtype, want.dtype)
    assert found.shape == want.shape
    if isinstance(want, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(want)
        assert np.array_equal(np.ma.getmaskarray(found), mask)
        found, want = found.data[~mask], want.data[~mask]
    if want.dtype == object:
        assert found.tolist() == want.tolist()
        assert list(map(type, found.ravel())) == list(map(type, want.ravel()))
    else:
        assert found.tobytes() == want.tobytes()


def same_bits(found, want):
    """Equal in shape and every bit, want in any byte order and found in the native one."""
    native = want.astype(want.dtype.newbyteorder("="))
    assert found.dtype == native.dtype
    assert found.shape == want.shape
    assert np.ascontiguousarray(found).tobytes() == native.tobytes()


def record_dtype(described):
    """The dtype of a typestring, or of a JSON list of fields."""
    if isinstance(described, str):
        return np.dtype(described)
    return np.dtype([(name, record_dtype(d), *map(tuple, shape)) for name, d, *shape in described])


def plain(value):
    """NaN equals NaN."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value
