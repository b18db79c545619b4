"""What save takes, refuses, and leaves behind."""

import contextlib
import json
import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest
from support import same

import ndfile


def header(path):
    with open(path, "rb") as f:
        return json.loads(f.read().split(b"\n")[1])


def objects(*values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


BASE = np.arange(24, dtype="f4").reshape(2, 3, 4)


@pytest.mark.parametrize(
    "array",
    [
        BASE,
        BASE[::-1, ::2, ::-3],
        BASE.T,
        np.asfortranarray(BASE),
        np.broadcast_to(np.float64(1.5), (3, 2)),
        BASE[:0],
        np.arange(100_000),
        np.frombuffer(b"abcd", "u2"),  # read-only
        BASE > 3,
        np.zeros((), "u8"),
        np.ma.masked_less(BASE, 5)[:, ::-1],
        BASE.astype(">f8"),
        np.array([1 + 1e-9, np.nan, -0.0, np.inf]),
    ],
    ids=str,
)
def test_arrays(array):
    ndfile.save("x.ds", {"x": array})
    found = ndfile.read("x.ds", "x")
    same(found, array.astype(array.dtype.newbyteorder("=")))
    if not isinstance(found, np.ma.MaskedArray):
        found[...] = 0  # writable
    # by the general path too
    ndfile.save("y.ds", {"x": array}, format="ds")
    assert Path("x.ds").read_bytes() == Path("y.ds").read_bytes()


def test_byte_order_stays():
    ndfile.save("x.ds", {"big": BASE.astype(">f4"), "little": BASE.astype("<f4")})
    assert {k: v[".endian"] for k, v in header("x.ds").items() if k != "."} == {"big": "b", "little": "l"}
    with ndfile.open("x.ds") as f:
        assert f["big"].dtype_name == ">f4"
        assert f["big"].dtype == f["big"][...].dtype == np.dtype("f4")


@pytest.mark.parametrize(
    ("value", "want"),
    [
        (3, np.array(3)),
        (2.5, np.array(2.5)),
        (True, np.array(True)),
        (np.int8(-4), np.array(-4, "i1")),
        ([1, 2, 3], np.array([1, 2, 3])),
        ([[1.5], [2.5]], np.array([[1.5], [2.5]])),
        ("text\0", objects("text\0").reshape(())),
        (b"\0\0", objects(b"\0\0").reshape(())),
        (["a\0", "bc"], objects("a\0", "bc")),
        ([b"a\0", b""], objects(b"a\0", b"")),
        (np.array(["ab", "ř"]), objects("ab", "ř")),
        (np.array([b"ab", b"c"]), objects(b"ab", b"c")),
        (np.array([["ab", "c"], ["", "d"]], object).T, np.array([["ab", ""], ["c", "d"]], object)),
        (objects(np.str_("a"), "b"), objects("a", "b")),
        (np.ma.masked_equal([1, 2], 3), np.array([1, 2])),
        (range(3), np.arange(3)),
    ],
    ids=repr,
)
def test_values(value, want):
    ndfile.save("x.ds", {"x": value})
    same(ndfile.read("x.ds", "x"), want)


def test_masked_texts():
    texts = np.ma.MaskedArray(objects("a", None, "c"), mask=[False, True, False])
    ndfile.save("x.ds", {"x": texts})
    found = ndfile.read("x.ds", "x")
    assert found.tolist() == ["a", None, "c"]
    assert found.data[1] == ""


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (objects("a", None), TypeError, r"array 'x': element \(1,\) is NoneType, expected str or bytes"),
        (objects("a", b"b"), TypeError, r"element \(1,\) is bytes, those before are str"),
        (objects(b"a", 3), TypeError, r"element \(1,\) is int"),
        (None, TypeError, r"element \(\) is NoneType"),
        (objects("a", "\udc80"), ValueError, r"element \(1,\)"),
        (np.zeros(2, "M8[s]"), TypeError, "M8"),
        (np.zeros(2, "c16"), TypeError, "c16"),
        (np.zeros(2, "f2"), TypeError, "f2"),
        (np.zeros(2, "i4,f8"), TypeError, "x"),
        ([[1, 2], [3]], (ValueError, TypeError), "inhomogeneous|list"),  # NumPy 2 and 1
        ({1, 2}, TypeError, "set"),
    ],
    ids=repr,
)
def test_refused(value, error, text):
    Path("x.ds").write_text("old")
    with pytest.raises(error, match=text) as e:
        ndfile.save("x.ds", {"x": value})
    assert isinstance(e.value, ndfile.NdfileError)
    assert "x.ds" in str(e.value)
    assert os.listdir() == ["x.ds"]
    assert Path("x.ds").read_text() == "old"


def test_metadata():
    ndfile.save(
        "x.ds",
        {"a": [[1, 2]], "b": 3},
        attrs={"title": "t", "f": np.float32(0.1), "v": np.arange(2), "n": {"k": (None, True)}},
        dims={"a": ("x", "y")},
        var_attrs={"b": {"units": "K"}},
    )
    info = ndfile.info("x.ds")
    assert info["attrs"] == {"title": "t", "f": float(np.float32(0.1)), "v": [0, 1], "n": {"k": [None, True]}}
    assert info["arrays"]["a"]["dims"] == ("x", "y")
    assert info["arrays"]["b"] == {
        "dtype": "<i8",
        "shape": (),
        "dims": None,
        "chunks": None,
        "compression": None,
        "masked": False,
        "attrs": {"units": "K"},
    }


@pytest.mark.parametrize("options", [{"dims": {"y": ("t",)}}, {"var_attrs": {"y": {}}}])
def test_metadata_of_nothing(options):
    with pytest.raises(KeyError, match="no array of the name 'y'"):
        ndfile.save("x.ds", {"x": 1}, **options)


@pytest.mark.parametrize("value", [b"bytes", 1j, object(), np.datetime64("2020-01-01"), np.ma.masked, {1: 2}])
def test_attributes_refused(value):
    with pytest.raises(TypeError, match="attribute 'a'"):
        ndfile.save("x.ds", {"x": 1}, attrs={"a": value})
    with pytest.raises(TypeError, match="attribute 'a'"):
        ndfile.save("x.ds", {"x": 1}, var_attrs={"x": {"a": [value]}})
    assert not os.path.exists("x.ds")


def test_wrong_dims():
    with pytest.raises(ValueError, match="x"):
        ndfile.save("x.ds", {"x": [1, 2]}, dims={"x": ("a", "b")})
    with pytest.raises(ValueError, match="names as str"):
        ndfile.save("x.ds", {"x": [1, 2]}, dims={"x": (1,)})


@pytest.mark.parametrize("name", ["", "a b", "ř", ".dot", "\\back", "/", "\n", "\udc80", "x" * 300])
def test_names(name):
    ndfile.save("x.ds", {name: [1, 2]})
    assert list(ndfile.read("x.ds")) == [name]
    assert ndfile.read("x.ds", name).tolist() == [1, 2]
    with ndfile.open("x.ds") as f:
        assert f[name][1] == 2


def test_names_refused():
    with pytest.raises(ValueError, match="NUL"):
        ndfile.save("x.ds", {"a\0b": 1})
    with pytest.raises(ValueError, match="as str"):
        ndfile.save("x.ds", {1: 1})


def closed_up(root):
    """Takes from others what they may do with a file or folder, and returns how everything in it is then."""
    paths = [root] + [os.path.join(d, x) for d, ds, fs in os.walk(root) for x in ds + fs]
    for p in paths:
        if os.getuid() == 0:
            os.chown(p, 1234, 1235)
        os.chmod(p, 0o750 if os.path.isdir(p) else 0o640)
        with contextlib.suppress(OSError):
            os.setxattr(p, "user.note", b"kept")
    return {p: access(p) for p in paths}


def access(p):
    st = os.stat(p)
    return oct(st.st_mode), st.st_uid, st.st_gid, [(x, os.getxattr(p, x)) for x in os.listxattr(p)]


@pytest.mark.parametrize("format", ["ds", "npy", "rawarray", "bcolz", "zarr0", "zarr2", "zarr3"])
def test_access_is_kept(format):
    value = {"a": np.arange(50)} if format == "ds" else np.arange(50)
    longer = {"a": np.arange(70)} if format == "ds" else np.arange(70)
    old = os.umask(0o022)
    try:
        for name, again in {
            "save": lambda p: ndfile.save(p, longer, format=format),
            "prepared": lambda p: [ndfile.save(p, longer, format=format, attrs=None) for _ in range(3)],
            "direct": lambda p: ndfile.save(p, longer, format=format, commit="direct"),
            "many": lambda p: ndfile.save_many([p], [longer], format=format),
            "open": lambda p: written(p, longer, format),
            "convert": lambda p: ndfile.convert(
                "from.ds", p, format, name="a", allow_loss=True, overwrite=True
            ),
        }.items():
            ndfile.save("from.ds", {"a": np.arange(60)})
            p = f"{name}.{format}"
            ndfile.save(p, value, format=format)
            before = closed_up(p)
            again(p)
            assert {q: access(q) for q in before} == before, name
    finally:
        os.umask(old)


def written(p, value, format):
    with ndfile.open(p, "w", format=format) as f:
        for k, v in value.items() if isinstance(value, dict) else [("", value)]:
            f.add(k, v)


@pytest.mark.parametrize("commit", ["atomic", "direct"])
@pytest.mark.parametrize("sync", [False, True])
def test_options(commit, sync):
    old = os.umask(0o027)
    try:
        for value in (1, 2):
            ndfile.save("x.ds", {"x": value}, commit=commit, sync=sync)
            assert ndfile.read("x.ds", "x") == value
    finally:
        os.umask(old)
    assert os.listdir() == ["x.ds"]
    assert stat.S_IMODE(os.stat("x.ds").st_mode) == 0o640
    with pytest.raises(FileExistsError) as e:
        ndfile.save("x.ds", {"x": 3}, commit=commit, sync=sync, exclusive=True)
    assert e.value.filename == "x.ds"
    assert ndfile.read("x.ds", "x") == 2


def test_options_refused():
    with pytest.raises(ValueError, match="commit"):
        ndfile.save("x.ds", {}, commit="later")
    with pytest.raises(ValueError, match=r"\.abc"):
        ndfile.save("x.abc", {})
    with pytest.raises(ValueError, match="nope"):
        ndfile.save("x.ds", {}, format="nope")
    with pytest.raises(ValueError, match="dims"):
        ndfile.save("x.ds", {"x": 1}, dims=("a",))
    assert os.listdir() == []


@pytest.mark.parametrize("path", ["x.ds", b"x.ds", Path("x.ds"), "ř.ds", "\udcff.ds", b"\xff.ds"])
def test_paths(path):
    ndfile.save(path, {"x": 1})
    assert ndfile.read(path, "x") == 1
    assert ndfile.detect(path) == "ds"
    with ndfile.open(path) as f:
        assert f.path == os.fsdecode(path)
    with pytest.raises(ValueError, match="NUL"):
        ndfile.save("a\0b.ds", {"x": 1})
    with pytest.raises(TypeError):
        ndfile.read(3)


def test_many_and_large():
    """More arrays than a scratch has room for, and more bytes."""
    arrays = {f"v{i:04}": np.full(i % 7, i) for i in range(1000)}
    ndfile.save("x.ds", arrays)
    found = ndfile.read("x.ds")
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        same(found[name], array)
    big = {
        "a": np.arange(1 << 20),
        "t": objects(*["text" * 9] * 5000),
        "m": np.ma.masked_equal(np.arange(99_999) % 9, 0),
    }
    ndfile.save("x.ds", big)
    for name, array in ndfile.read("x.ds").items():
        same(array, big[name])
    assert ndfile.read("x.ds", "a")[-1] == (1 << 20) - 1


def test_results_are_their_own():
    """Results do not change when the memory of a call is used again."""
    ndfile.save("a.ds", {"x": [1, 2]})
    ndfile.save("b.ds", {"x": [3, 4]})
    a = ndfile.read("a.ds", "x")
    b = ndfile.read("b.ds", "x")
    b[0] = 9
    assert a.tolist() == [1, 2]
    assert ndfile.read("b.ds", "x").tolist() == [3, 4]


def test_copy_of_an_open_file():
    ndfile.save("x.ds", {"m": np.ma.masked_equal([1, 2, 3], 2), "t": ["a", "b"]})
    with ndfile.open("x.ds") as f:
        ndfile.save("y.ds", f)
    assert Path("x.ds").read_bytes() == Path("y.ds").read_bytes()


def test_threads():
    """Files of each thread's own, and one that all read."""
    ndfile.save("shared.ds", {"x": np.arange(1000), "t": ["a", "bc"]})
    errors = []
    barrier = threading.Barrier(8)

    def work(k):
        try:
            barrier.wait()
            with ndfile.open("shared.ds") as f:
                for i in range(60):
                    ndfile.save(
                        f"t{k}.ds", {"x": np.full(k + i, k), "y": np.full((2, i), i)}, commit="direct"
                    )
                    d = ndfile.read(f"t{k}.ds")
                    assert d["x"].tolist() == [k] * (k + i)
                    assert d["y"].tolist() == [[i] * i] * 2
                    assert f["x"][i] == i
                    assert opened["x"][i:].tolist() == list(range(i, 1000))
                    with pytest.raises(FileNotFoundError, match=f"none{k}"):
                        ndfile.read(f"none{k}.ds")
        except BaseException as e:
            errors.append(e)

    with ndfile.open("shared.ds") as opened:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert not errors


@pytest.mark.parametrize("one_shot", [True, False])
def test_texts_of_one_width_become_texts(tmp_path, one_shot):
    """NetCDF has texts of any length only."""
    path = str(tmp_path / "t.nc")
    x = np.array([list("abcdefghi"), ["ä", "", "bcd", *"efghi"[:4], "", "j"]])
    if one_shot:
        ndfile.save(path, {"x": x})
    else:
        with ndfile.open(path, "w") as f:
            f["x"] = x[:, ::-1][:, ::-1]
    assert ndfile.read(path, "x").tolist() == x.tolist()
