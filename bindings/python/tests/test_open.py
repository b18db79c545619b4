"""Open files: modes, writing piece by piece, and what remains when something goes wrong."""

import contextlib
import copy
import ctypes
import gc
import os
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import ndfile
from ndfile._lib import lib


def handles():
    count = ctypes.c_int64()
    assert lib.ndf_handle_count(ctypes.addressof(count), None) == 0
    return count.value


def open_files():
    """What this process has open, deleted files too."""
    links = []
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of listdir itself
            links.append(os.readlink(f"/proc/self/fd/{fd}"))
    return links


@pytest.fixture
def _no_leak(tmp_path):
    gc.collect()
    before = handles()
    yield
    gc.collect()
    assert handles() == before
    assert not [link for link in open_files() if link.startswith(str(tmp_path))]


pytestmark = pytest.mark.usefixtures("_no_leak")


def test_mapping():
    ndfile.save("x.ds", {"b": [1, 2], "a": 1.5}, attrs={"k": 1})
    with ndfile.open("x.ds") as f:
        assert (f.format, f.kind, f.mode, f.path) == ("ds", "dataset", "r", "x.ds")
        assert (list(f), len(f), "a" in f, "c" in f, 3 in f) == (["a", "b"], 2, True, False, False)
        assert list(f.keys()) == ["a", "b"]
        assert [v.shape for v in f.values()] == [(), (2,)]
        assert {k: v[...].tolist() for k, v in f.items()} == {"a": 1.5, "b": [1, 2]}
        assert f["a"] is f["a"]
        assert f.get("c") is None
        with pytest.raises(KeyError, match=r"x\.ds: no array of the name 'c'"):
            f["c"]
        with pytest.raises(ValueError, match="dataset of 2 arrays"):
            f.array  # noqa: B018
        assert f == f
        assert len({f, f}) == 1
        assert "x.ds" in repr(f)
        assert "'b'" in repr(f["b"])
        assert f["b"].name == "b"
        assert f["b"].fill_value is None
        assert f["b"].extra[".type"] == "int64"


def test_closed():
    ndfile.save("x.ds", {"x": [1, 2]})
    f = ndfile.open("x.ds")
    v = f["x"]
    f.close()
    f.close()
    f.abort()
    for use in (
        lambda: v[0],
        lambda: v.attrs["a"],
        lambda: v.dims,
        lambda: f["x"],
        lambda: list(f),
        lambda: f.attrs["a"],
        lambda: f.__enter__(),
    ):
        with pytest.raises(ndfile.HandleError, match=r"x\.ds: .*closed") as e:
            use()
        assert isinstance(e.value, ValueError)
    assert "closed" in repr(f)
    assert "closed" in repr(v)
    assert v.shape == (2,)


def test_array_keeps_its_file():
    ndfile.save("x.ds", {"x": [1, 2]})
    v = ndfile.open("x.ds")["x"]
    gc.collect()
    assert v[1] == 2


def test_write():
    with ndfile.open("x.ds", "w", attrs={"first": 1}) as f:
        f["list"] = [1, 2, 3]
        f["masked"] = np.ma.masked_equal([1.0, 2.0], 2)
        f["text"] = ["a", "b"]
        v = f.create("rows", (4, 2), ">i2", dims=("t", "k"), attrs={"units": "m"})
        assert (v.shape, v.dtype, v.dtype_name, v.dims) == ((4, 2), np.dtype("i2"), ">i2", ("t", "k"))
        v[0:1] = [[1, 2]]
        v[1:3] = np.array([[3, 4], [5, 6]], "i1")
        v[3] = 7
        s = f.create("names", 3, str, masked=True)
        s[0] = "first"
        s[1] = np.ma.masked
        s[2:] = ["last"]
        m = f.create("holes", (2, 2), "f4", masked=True)
        m[0] = np.ma.MaskedArray([1, 2], mask=[True, False], dtype="f4")
        m[1] = 5
        f.create("scalar", (), bool)[()] = True
        v.attrs["long_name"] = "rows"
        f.attrs["second"] = [2]
        assert list(f.attrs) == ["first", "second"]
        assert "rows" in f
        assert not os.path.exists("x.ds")
    d = ndfile.read("x.ds")
    assert d["list"].tolist() == [1, 2, 3]
    assert d["masked"].tolist() == [1.0, None]
    assert d["text"].tolist() == ["a", "b"]
    assert d["rows"].tolist() == [[1, 2], [3, 4], [5, 6], [7, 7]]
    assert d["names"].tolist() == ["first", None, "last"]
    assert d["holes"].tolist() == [[None, 2.0], [5.0, 5.0]]
    assert d["scalar"][()] is np.True_
    info = ndfile.info("x.ds")
    assert info["attrs"] == {"first": 1, "second": [2]}
    assert info["arrays"]["rows"]["attrs"] == {"units": "m", "long_name": "rows"}
    assert info["arrays"]["rows"]["dtype"] == ">i2"
    assert os.listdir() == ["x.ds"]


@pytest.mark.parametrize("mode", ["w", "x"])
def test_exception_leaves_nothing(mode):
    with pytest.raises(ZeroDivisionError), ndfile.open("x.ds", mode) as f:
        f["x"] = np.arange(1000)
        1 / 0  # noqa: B018
    assert os.listdir() == []
    ndfile.save("x.ds", {"x": 1})
    with pytest.raises(ZeroDivisionError), ndfile.open("x.ds", "w") as f:
        f["x"] = np.arange(1000)
        1 / 0  # noqa: B018
    assert os.listdir() == ["x.ds"]
    assert ndfile.read("x.ds", "x") == 1


def test_garbage_leaves_nothing():
    f = ndfile.open("x.ds", "w")
    v = f.create("x", 3, "i4")
    v[...] = 1
    del v
    with pytest.warns(ResourceWarning, match=r"x\.ds.*never closed"):
        del f
        gc.collect()
    assert os.listdir() == []
    ndfile.save("x.ds", {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f = ndfile.open("x.ds")
        del f
        gc.collect()


def test_abort():
    f = ndfile.open("x.ds", "w")
    f["x"] = 1
    f.abort()
    f.close()
    assert os.listdir() == []


def test_modes():
    with pytest.raises(FileNotFoundError):
        ndfile.open("x.ds")
    with ndfile.open("x.ds", "x") as f:
        f["x"] = 1
    with pytest.raises(FileExistsError), ndfile.open("x.ds", "x") as f:
        f["x"] = 2
    assert ndfile.read("x.ds", "x") == 1
    with ndfile.open("x.ds", "w", commit="direct", sync=True) as f:
        f["x"] = 3
    with ndfile.open("x.ds", format="ds") as f:
        assert f["x"][()] == 3
    for mode in ("r+", "a"):
        with pytest.raises(NotImplementedError, match="save"):
            ndfile.open("x.ds", mode)
    for mode in ("rb", "", None):
        with pytest.raises(ValueError, match="mode"):
            ndfile.open("x.ds", mode)
    with pytest.raises(ValueError, match="attrs"):
        ndfile.open("x.ds", attrs={})
    with pytest.raises(ValueError, match="trailing"):
        ndfile.open("x.ds", trailing=b"x")
    for option in ("follow_symlinks", "shared"):
        with pytest.raises(ValueError, match=option):
            ndfile.open("y.ds", "w", **{option: True})
    with pytest.raises(ValueError, match="nope"):
        ndfile.open("x.ds", format="nope")
    with pytest.raises(ValueError, match="extension"):
        ndfile.open("x", "w")
    with ndfile.open("x", "w", format="ds") as f:
        f["y"] = 1
    assert ndfile.detect("x") == "ds"
    with ndfile.open("new.ds", "a", attrs={"a": 1}) as f:
        assert f.mode == "x"
    assert ndfile.info("new.ds")["attrs"] == {"a": 1}
    with ndfile.open("x.ra", "w", trailing=b"more") as f:
        f[""] = [1, 2]
    with ndfile.open("x.ra") as f:
        assert f.trailing == b"more"


def test_write_once():
    """What ds cannot: chunks, growing, deleting."""
    with ndfile.open("x.ds", "w") as f:
        for storage in ({"chunks": 2}, {"compression": "lz4"}, {"fill_value": 1}, {"expected_rows": 9}):
            with pytest.raises(ndfile.NotSupportedError, match="chunks"):
                f.create("x", 4, "i4", **storage)
        v = f.create("x", 4, "i4")
        v[...] = 1
        for change in (lambda: v.append([1]), lambda: v.resize(3), lambda: f.__delitem__("x"), f.flush):
            with pytest.raises(ndfile.NotSupportedError):
                change()
    with ndfile.open("x.ds") as f:
        v = f["x"]
        assert (v.chunks, v.compression, v.fill_value, v.nchunks, v.chunk_encoding) == (None,) * 5
        with pytest.raises(ndfile.NotSupportedError, match="chunks"):
            next(v.iter_chunks())
        with pytest.raises(ndfile.NotSupportedError):
            v.read_chunk(0)


def test_read_only():
    ndfile.save("x.ds", {"x": [1, 2]}, attrs={"a": 1})
    before = Path("x.ds").read_bytes()
    with ndfile.open("x.ds") as f:
        for change in (
            lambda: f.__setitem__("y", 1),
            lambda: f["x"].__setitem__(0, 1),
            lambda: f.attrs.update(b=2),
            lambda: f.attrs.pop("a"),
            lambda: f["x"].attrs.setdefault("c", 1),
        ):
            with pytest.raises(ndfile.ReadOnlyError, match=r"x\.ds"):
                change()
        assert dict(f.attrs) == {"a": 1}
    assert Path("x.ds").read_bytes() == before


def test_write_refused():
    with pytest.raises(ndfile.NameExistsError), ndfile.open("x.ds", "w") as f:
        f["x"] = 1
        f["x"] = 2
    with ndfile.open("x.ds", "w") as f:
        m = f.create("m", (4, 2), "i2", masked=True)
        with pytest.raises(ndfile.WriteOrderError):
            m[2:4] = 1
        m[0:2] = 1
        with pytest.raises(ndfile.WriteOrderError):
            m[0:2] = 1
        m[2:4] = np.ma.masked
        v = f.create("v", (4, 2), "i2")
        for value in (1.5, 40000, [[1, 2, 3]], "a", b"a", None, [1, 2.5], 2**70):
            with pytest.raises((ValueError, TypeError)):
                v[0:1] = value
        for value in (np.full(2, 40000), np.full(2, 0.5), np.full(2, 65535, ">u2")):
            with pytest.raises(ndfile.ValueNotRepresentableError, match="cannot be stored as int16"):
                v[0] = value
        with pytest.raises(ndfile.DTypeError):
            v[0] = np.array(["1", "2"])
        v[...] = 1
        s = f.create("s", 2, "str")
        for value in ([1, 2], [b"a", b"b"], [None, "a"], 3.5):
            with pytest.raises(TypeError):
                s[...] = value
        with pytest.raises(ValueError, match="surrogate"):
            s[...] = "\udc80"
        with pytest.raises(ndfile.ShapeError, match="broadcast"):
            s[...] = ["a", "b", "c"]
        s[...] = "a"
        for shape, dtype in (
            (-1, "i4"),
            ((1 << 62, 1 << 62), "i4"),
            ((1,) * 65, "i4"),
            (2, "O"),
            (2, "i4,i4"),
            (2, "nope"),
        ):
            with pytest.raises((ValueError, TypeError)):
                f.create("bad", shape, dtype)
    assert ndfile.read("x.ds")["s"].tolist() == ["a", "a"]


def test_unfinished_is_not_committed():
    """An array of which rows are missing makes close fail and leaves the old file."""
    ndfile.save("x.ds", {"x": 1})
    f = ndfile.open("x.ds", "w")
    f.create("v", (4, 2), "i2")[0:1] = 3
    with pytest.raises(ndfile.NdfileError, match="v"):
        f.close()
    assert ndfile.read("x.ds", "x") == 1
    assert os.listdir() == ["x.ds"]


def test_numbers_fit_or_are_refused():
    with ndfile.open("x.ds", "w") as f:
        a = f.create("a", 3, "i1")
        with pytest.raises(
            ndfile.ValueNotRepresentableError, match=r"element \(1,\): 300 cannot be stored as int8"
        ):
            a[...] = [1, 300, 2]
        a[...] = [1, -128, True]
        b = f.create("b", 3, "f4")
        b[...] = [0.1, 2, np.nan]
        c = f.create("c", 2, "u8")
        with pytest.raises(ndfile.ValueNotRepresentableError):
            c[...] = [2**64, 0]
        c[...] = [2**64 - 1, 0.0]
        d = f.create("d", 1, "f8")
        for value in (2**53 + 1, 2**2000, 1j):
            with pytest.raises(ndfile.ValueNotRepresentableError):
                d[...] = value
        d[...] = 2**53
    d = ndfile.read("x.ds")
    assert d["a"].tolist() == [1, -128, 1]
    assert d["b"][0] == np.float32(0.1)
    assert d["c"][0] == 2**64 - 1


def test_broadcast_and_flipped():
    with ndfile.open("x.ds", "w") as f:
        v = f.create("v", (3, 4), "f8")
        v[0] = np.arange(4.0)[::-1]
        v[1, ::-1] = np.arange(4.0)
        v[2:3] = np.broadcast_to(2.0, (1, 1, 4))
    assert ndfile.read("x.ds", "v").tolist() == [[3, 2, 1, 0], [3, 2, 1, 0], [2, 2, 2, 2]]


def test_attrs():
    attrs = {
        "nan": float("nan"),
        "inf": [float("inf"), -float("inf")],
        "big": 2**100,
        "text": "ř\udcff\n\0",
        "none": None,
        "nested": {"a": [1, {"b": True}]},
        "": 0.1,
    }
    ndfile.save("x.ds", {"x": 1}, attrs=attrs)
    with ndfile.open("x.ds") as f:
        assert repr(dict(f.attrs)) == repr(attrs)
        assert repr(f.attrs) == repr(attrs)
        assert len(f.attrs) == 7
        assert f.attrs.get("nothing", 3) == 3
        with pytest.raises(KeyError):
            f.attrs["nothing"]
        assert "big" in f.attrs
    with ndfile.open("x.ds", "w") as f:
        f.attrs["a"] = 1
        f.attrs["b"] = np.float32(0.5)
        f.attrs["a"] = [1, 2]
        del f.attrs["b"]
        with pytest.raises(KeyError):
            del f.attrs["b"]
        with pytest.raises(TypeError):
            f.attrs["c"] = b"x"
        with pytest.raises(TypeError):
            f.attrs[1] = 1
        f.attrs.clear()
        f.attrs.update({"z": 1}, y=2)
    assert ndfile.info("x.ds")["attrs"] == {"z": 1, "y": 2}


def test_huge_integer():
    """Python limits the digits of integers that it parses."""
    Path("x.ds").write_bytes(b'ds-1.0\n{".": {"n": ' + b"9" * 1000 + b"}}\n")
    limit = sys.get_int_max_str_digits()
    with ndfile.open("x.ds") as f:
        assert f.attrs["n"] == 10**1000 - 1
    sys.set_int_max_str_digits(640)
    try:
        with ndfile.open("x.ds") as f, pytest.raises(ndfile.LimitError, match=r"x\.ds.*digits"):
            f.attrs["n"]
        with pytest.raises(ndfile.LimitError, match=r"x\.ds.*digits"):
            ndfile.info("x.ds")
    finally:
        sys.set_int_max_str_digits(limit)


def test_close_while_reading():
    """Closing waits for calls that run, and what comes after is a HandleError."""
    ndfile.save("x.ds", {"x": np.arange(1 << 18)})
    for _ in range(20):
        f = ndfile.open("x.ds")
        v = f["x"]
        seen = []

        def work(v=v, seen=seen):
            try:
                while True:
                    assert v[-1] == (1 << 18) - 1
                    v[...]
            except ndfile.HandleError as e:
                seen.append(e)

        t = threading.Thread(target=work)
        t.start()
        f.close()
        t.join()
        assert len(seen) == 1


def test_formats():
    found = {f["name"]: f for f in ndfile.formats()}
    assert found["ds"]["extensions"] == (".ds",)
    assert {"create", "masked", "strings", "file-attrs"} <= set(found["ds"]["caps"])


def test_changes_inside_of_attributes(tmp_path):
    path = tmp_path / "a.bcolz"
    with ndfile.open(path, "w") as f:
        f.create("", 0, "f8")
        f.attrs["tree"] = {"a": {"b": [1, 2]}, "c": []}
    with ndfile.open(path, "r+") as f:
        held, other = f.attrs["tree"], f.attrs
        f.attrs["tree"]["a"]["b"].append(3)
        other["plain"] = 1  # of attributes that were asked for before
        held["c"] += [{"d": 4}]
        held["c"][0]["e"] = {"deep": 5}
        held["c"][0]["e"]["deep"] = 6
        f.attrs["twin"] = []
        f.attrs["twin"].append(held["c"])  # a copy
        f.attrs["twin"][0].clear()
        with pytest.raises(ndfile.DTypeError):
            held["a"]["no"] = b"bytes"
        assert held == {"a": {"b": [1, 2]}, "c": [{"d": 4, "e": {"deep": 6}}]}
        assert type(copy.deepcopy(held)["c"]) is list
        f.attrs["gone"] = 1
        assert "plain" in f.attrs
    with pytest.raises(ndfile.HandleError):
        held["late"] = 1
    assert "late" not in held
    with ndfile.open(path) as f:
        assert f.attrs == {
            "tree": {"a": {"b": [1, 2]}, "c": [{"d": 4, "e": {"deep": 6}}]},
            "plain": 1,
            "twin": [[]],
            "gone": 1,
        }
        f.attrs["tree"]["a"] = 7  # a dict of its own
        assert f.attrs["tree"]["a"] == {"b": [1, 2]}


def test_changes_of_attributes_asked_for_before(tmp_path):
    with ndfile.open(tmp_path / "a.ds", "w") as f:
        first, second = f.attrs, f.attrs
        first["a"] = 1
        second["b"] = 2
        assert f.attrs == {"a": 1, "b": 2}
        assert second == {"a": 1, "b": 2}
