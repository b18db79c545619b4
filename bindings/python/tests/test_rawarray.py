"""RawArray files: those of the reference implementations, and the user's own structs."""

import hashlib
import io
import json
import os
import socket
from pathlib import Path

import numpy as np
import pytest

import ndfile

DATA = Path(__file__).resolve().parents[3] / "pkg" / "rawarray" / "testdata"
VALID = sorted((DATA / "valid").glob("*.json"))
MALFORMED = json.loads((DATA / "malformed" / "expected.json").read_text())

# The user-defined structure of the RawArray specification.
FOO = np.dtype([("info", "S12"), ("index", "<u4"), ("v", "<f8", (8,))])


def test_fixtures_are_there():
    assert len(VALID) >= 30 and len(MALFORMED) >= 15


@pytest.mark.parametrize("path", VALID, ids=lambda p: p.stem)
def test_valid(path):
    want = json.loads(path.read_text())
    file = path.with_name(want["file"])
    whole = ndfile.read(file)
    shape = tuple(reversed(want["header"]["dims"]))
    assert whole.shape == shape
    stored = whole.astype(whole.dtype.newbyteorder(">")) if want["byte_order"] == "big" else whole
    assert hashlib.sha256(stored.tobytes()).hexdigest() == want["decoded_data_sha256"]
    with ndfile.open(file) as f:
        assert (f.format, f.kind) == ("rawarray", "array")
        lazy = f.array
        assert lazy.shape == shape
        assert lazy[...].tobytes() == whole.tobytes()
        if shape and shape[0] > 1:
            assert lazy[1:].tobytes() == whole[1:].tobytes()


@pytest.mark.parametrize("entry", MALFORMED, ids=lambda e: e["file"])
def test_malformed(entry):
    file = DATA / "malformed" / entry["file"]
    if entry["expect"] == "error":
        with pytest.raises(ndfile.NdfileError, match="at byte") as e:
            ndfile.read(file)
        assert entry["file"] in str(e.value)


def test_rewritten_byte_for_byte():
    """The example of the specification."""
    ndfile.save("again.ra", ndfile.read(DATA / "valid" / "test.ra"))
    assert hashlib.md5(Path("again.ra").read_bytes()).hexdigest() == "1dd9f98a0d57ec3c4d8ad50343bd20cd"


def test_structs():
    foos = np.zeros(3, FOO)
    foos["info"] = [b"first", b"second", b"third"]
    foos["index"] = [1, 2, 3]
    foos["v"][1] = np.arange(8)
    ndfile.save("foo.ra", foos)
    assert ndfile.read("foo.ra").dtype == np.dtype("V80")
    again = ndfile.read("foo.ra", dtype=FOO)
    assert again.dtype == FOO and again.tobytes() == foos.tobytes()
    with pytest.raises(TypeError):
        ndfile.read("foo.ra", dtype="f8")


@pytest.mark.parametrize(
    "dtype", ["b1", "i1", "<i2", ">i4", "i8", "u1", "<u8", "f2", ">f4", "f8", "c8", ">c16", "V5"]
)
@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (2, 3), (4, 1, 1)])
def test_round_trip(dtype, shape):
    rng = np.random.default_rng(1)
    raw = rng.integers(0, 2 if dtype == "b1" else 100, (*shape, np.dtype(dtype).itemsize), np.uint8)
    array = np.ascontiguousarray(raw).view(dtype).reshape(shape)
    ndfile.save("x.ra", array)
    again = ndfile.read("x.ra")
    assert again.shape == shape
    if dtype == "b1":
        assert again.dtype == np.uint8
    assert again.tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes()


def test_trailing():
    ndfile.save("x.ra", np.arange(3), trailing=b"a note")
    with ndfile.open("x.ra") as f:
        assert f.trailing == b"a note"
        assert f.array[...].tolist() == [0, 1, 2]
    ndfile.save("x.ra", np.arange(3))
    with ndfile.open("x.ra") as f:
        assert f.trailing == b""
    with pytest.raises(NotImplementedError):
        ndfile.save("x.ds", {"x": 1}, trailing=b"a note")


@pytest.mark.parametrize("encoding", ["lz4", "leb128", "bits"])
def test_encoded(encoding):
    a = np.arange(300).reshape(30, 10)[:, ::-1] % 7
    a = a < 2 if encoding == "bits" else a.astype(">i4")
    for save in (
        lambda: ndfile.save("z.ra", a, extra={"encoding": encoding}),
        lambda: ndfile.save("z.ra", a, extra={"encoding": encoding}, format="rawarray", trailing=b"note"),
    ):
        save()
        assert os.path.getsize("z.ra") < a.nbytes
        again = ndfile.read("z.ra")
        assert again.dtype == a.dtype.newbyteorder("=")
        assert np.array_equal(again, a)
    with ndfile.open("z.ra") as f:
        assert f.array.extra["encoding"] == encoding
        assert f.trailing == b"note"
        assert np.array_equal(f.array[3:20:2, 1], a[3:20:2, 1])
        with pytest.raises(ndfile.NotSupportedError, match="compressed"):
            f.array.map()
        with ndfile.open("y.ra", "w") as g:
            g.add("", f.array, extra=f.array.extra)
    assert np.array_equal(ndfile.read("y.ra"), a)
    assert os.path.getsize("y.ra") < a.nbytes
    with pytest.raises(ndfile.DTypeError):
        ndfile.save("f.ra", [1.5], extra={"encoding": "leb128"})
    with pytest.raises(ndfile.ArgumentError, match="encoding"):
        ndfile.save("f.ra", [1.5], extra={"encoding": "zip"})
    with pytest.raises(ndfile.NameNotFoundError, match="extra"):
        ndfile.save("f.ds", {"a": [1]}, extra={"b": {}})


def test_streams():
    """One after the other from a pipe, of which nothing is read that is not asked for; from memory; from a socket."""
    arrays = [
        np.arange(7.0),
        np.arange(12, dtype="i2").reshape(3, 4),
        np.arange(5) > 2,
        np.zeros((0, 3), "c8"),
    ]
    extras = [None, {"encoding": "lz4"}, {"encoding": "bits"}, None]
    text = b""
    for a, extra in zip(arrays, extras):
        ndfile.save("s.ra", a, extra=extra)
        text += Path("s.ra").read_bytes()
    stream = io.BytesIO(text + b"rest")
    for a in arrays:
        again = ndfile.read(stream, format="rawarray")
        assert again.dtype == a.dtype
        assert np.array_equal(again, a)
    assert stream.read() == b"rest"
    with pytest.raises(ndfile.FormatError, match="<BytesIO>"):
        ndfile.read(stream, format="rawarray")

    got, into = os.pipe()
    with open(got, "rb", 0) as pipe, open(into, "wb", 0) as other:
        other.write(text)  # and it stays open
        assert np.array_equal(ndfile.read(pipe), arrays[0])
        assert np.array_equal(ndfile.read(pipe, out=np.empty((3, 4), "i4")), arrays[1])
    here, there = socket.socketpair()
    with here, there, here.makefile("rb") as incoming:
        there.sendall(text)
        assert np.array_equal(ndfile.read(incoming), arrays[0])

    ndfile.save("n.ra", [5, -300], extra={"encoding": "leb128"})
    assert ndfile.read(io.BytesIO(Path("n.ra").read_bytes())).tolist() == [5, -300]
    ndfile.save("d.ds", {"a": [1, 2], "t": "x"})
    with open("d.ds", "rb") as f:
        assert ndfile.read(f, "a").tolist() == [1, 2]
        f.seek(0)
        assert list(ndfile.read(f)) == ["a", "t"]
    with open("d.ds") as f, pytest.raises(ndfile.ArgumentError, match="rb"):
        ndfile.read(f)
    cut = io.BytesIO(text[:100])
    with pytest.raises(ndfile.CorruptError, match="<BytesIO>: at byte 100"):
        ndfile.read(cut)
    assert ndfile.read("d.ds", format="ds")["a"].tolist() == [1, 2]
    assert ndfile.read("n.ra", format="rawarray").tolist() == [5, -300]
    with pytest.raises(ndfile.FormatError):
        ndfile.read("d.ds", format="rawarray")
