"""ndfile.compat.bcolz in the place of bcolz: the same calls give the same, whichever of the two wrote."""

import os
import subprocess
import sys

import bcolz as original
import numpy as np
import pytest

import ndfile
import ndfile.compat.bcolz as ours

BOTH = [ours, original]
DAY = np.arange(64, dtype="u4") * 86400


def rows(table):
    """The rows as tuples of Python's numbers."""
    return [tuple(getattr(v, "item", lambda v=v: v)() for v in row) for row in table]


@pytest.mark.parametrize("reader", BOTH, ids=["read by us", "read by bcolz"])
@pytest.mark.parametrize("writer", BOTH, ids=["written by us", "written by bcolz"])
def test_as_zipline_does(tmp_path, writer, reader):
    root = str(tmp_path / "daily.bcolz")
    close, day = (writer.carray(np.array([], dtype=np.uint32)) for _ in range(2))
    for k in range(4):
        close.append((DAY // 7 + k).astype("u4"))
        day.append(DAY)
    t = writer.ctable(columns=[close, day], names=["close", "day"], rootdir=root, mode="w")
    t.attrs["first_row"], t.attrs["calendar_name"] = {"1": 0, "9": 64}, "XLON"
    t.flush()
    minute = str(tmp_path / "minute.bcolz")
    m = writer.ctable(
        rootdir=minute,
        columns=[np.empty(0, np.uint32)] * 2,
        names=["open", "volume"],
        expectedlen=100_000,
        mode="w",
    )
    m.append([np.arange(700, dtype="u4"), np.full(700, 5, "u4")])
    m = writer.ctable(rootdir=minute, mode="a")
    m.append([np.zeros(50, "u4")] * 2)
    m.resize(720)
    m.trim(20)
    m.flush()

    t, m = reader.ctable(rootdir=root, mode="r"), reader.open(minute, mode="r")
    assert (list(t.names), len(t), t.len, t.size) == (["close", "day"], 256, 256, 256)
    assert t.attrs["first_row"] == {"1": 0, "9": 64}
    assert "x" not in t.attrs
    assert np.array_equal(t["close"][64:128], DAY // 7 + 1)
    assert (t["day"][65], t["day"].dtype) == (86400, np.uint32)
    assert len(m) == 700
    assert np.array_equal(m["open"][:], np.arange(700))
    assert (m["volume"][690:] == 5).all()
    c = reader.carray(rootdir=os.path.join(root, "close"), mode="r")
    assert (len(c), c[3], c.chunklen) == (256, DAY[3] // 7, t["close"].chunklen)
    with pytest.raises(OSError, match="mode"):
        c.append([1])


@pytest.mark.parametrize("disk", [False, True])
def test_same_calls(tmp_path, disk):
    """What both give for the calls of the documentation."""
    results = []
    for bz in BOTH:
        root = lambda name, bz=bz: {"rootdir": str(tmp_path / f"{bz.__name__}.{name}")} if disk else {}  # noqa: E731
        c = bz.carray(
            np.arange(1000.0), dflt=7, expectedlen=10**6, cparams=bz.cparams(9, 2, "zstd"), **root("c")
        )
        c.append([1.5, 2.5])
        c.resize(1005)
        c[3:9:2], c[[5, 1]], c[-1] = -1, [10, 20], 99
        c[c[:] > 990] = 0
        t = bz.fromiter(((i, i * 2.5) for i in range(200)), "i4,f8", 200, **root("t"))
        t.append((np.array([7, 8]), [1.0, 2.0]))
        t.addcol([str(i) for i in range(202)], name="text")
        t["f0"][5] = -3
        n = bz.zeros((3, 4), "i2", **root("n"))
        n.append(np.ones((2, 4)))
        frame = t.todataframe(columns=["f0", "text"])
        results.append(
            [
                c[:].tolist(),
                (
                    len(c),
                    c.shape,
                    c.dtype,
                    c.nbytes,
                    c.ndim,
                    c.size,
                    c.chunklen,
                    c.dflt[()],
                    c.cparams.clevel,
                ),
                (c.sum(), list(c.iter(3, 20, 4)), list(c.where(c[:] > 980, limit=3, skip=2))),
                [b.tolist() for b in bz.iterblocks(c, 400, 3, 900)],
                list(bz.eval("c > 970", user_dict={"c": c}).wheretrue()),
                bz.eval("c * 2", user_dict={"c": c})[5:8].tolist(),
                rows(t.where("(f0 > 30) & (f1 < 100)", outcols=["nrow__", "f1"])),
                rows(t.where("f0 > 150", limit=4, skip=1)),
                [rows(b) for b in t.whereblocks("f0 < 5", blen=2)],
                t.fetchwhere("f0 == 9", out_flavor="numpy").tolist(),
                t[[3, -1]].tolist(),
                t[5:20:7].tolist(),
                t[3].tolist(),
                t["f0 < 0"].tolist(),
                (list(t.names), t.dtype, len(t), t.shape),
                frame.values.tolist(),
                t.eval("f0 + f1", out_flavor="numpy")[:4].tolist(),
                (n[:].tolist(), n.shape, n[1:, 2].tolist(), n[4].tolist()),
                [r._fields for r in t.iter(0, 3, outcols=["f1"])],
                bz.arange(3, 20, 4)[:].tolist(),
                rows(bz.ctable.fromdataframe(frame)[:3]),
            ]
        )
        t.delcol("text")
        t.trim(100)
        copied = t.copy(**root("copied"))
        results[-1] += [(len(copied), copied.names), copied["f1"][-3:].tolist()]
    for mine, theirs in zip(*results):
        assert mine == theirs


@pytest.mark.parametrize(
    "mistake",
    [
        lambda bz, root: bz.carray(),
        lambda bz, root: bz.carray([1], mode="x"),
        lambda bz, root: bz.carray(rootdir=root + "nowhere"),
        lambda bz, root: bz.ctable(rootdir=root + "nowhere", mode="r"),
        lambda bz, root: bz.ctable(),
        lambda bz, root: bz.ctable([[1, 2], [3]]),
        lambda bz, root: bz.ctable([[1], [3]], names=["a"]),
        lambda bz, root: bz.ctable([[1], [3]], names=["a", "2b"]),
        lambda bz, root: bz.cparams(clevel=-1),
        lambda bz, root: bz.cparams(cname="zip"),
        lambda bz, root: bz.carray([1, 2])[5],
        lambda bz, root: bz.carray([1, 2])[::-1],
        lambda bz, root: bz.carray([1, 2])[np.array([1.5])],
        lambda bz, root: bz.carray([1, 2]).where([True, False]),
        lambda bz, root: bz.carray([1, 2]).append([[1, 2]]),
        lambda bz, root: bz.carray([1, 2]).trim(3),
        lambda bz, root: bz.carray([1, 2], rootdir=root, mode="w") and bz.carray([1], rootdir=root, mode="a"),
        lambda bz, root: bz.ctable([[1], [3]])["f0 + 1"],
        lambda bz, root: bz.ctable([[1], [3]]).addcol([1], name="f0"),
        lambda bz, root: bz.ctable([[1], [3]]).delcol("x"),
        lambda bz, root: bz.ctable([[1], [3]]).where("f0 > 1", outcols=["x"]),
    ],
)
def test_mistakes(tmp_path, mistake):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        mistake(original, str(tmp_path / "theirs"))
    with pytest.raises(theirs.type):
        mistake(ours, str(tmp_path / "ours"))


def test_expressions_are_expressions():
    c = ours.carray([1, 2])
    for text in ("c.dtype", "__import__('os')", "open('x')", "(lambda: c)()", "[x for x in c]", "np.load(c)"):
        with pytest.raises((NameError, NotImplementedError, ValueError)):
            ours.eval(text, user_dict={"c": c})
    assert ours.eval("np.sqrt(c * c) + where(c > 1, 10, 0)", user_dict={"c": c})[:].tolist() == [1, 12]


def test_variables_of_the_caller(tmp_path):
    least, f1 = 37, None  # noqa: F841
    t = ours.ctable([np.arange(40), np.arange(40.0)], rootdir=str(tmp_path / "t"))
    assert [r.f0 for r in t.where("f0 > least")] == [38, 39]
    assert [r.f0 for r in t.where("f0 > more", user_dict={"more": 38})] == [39]
    assert [tuple(r) for r in t.where("f0 in (3, 5)", outcols=["f0"])] == [(3,), (5,)]
    with pytest.raises(NameError, match="nothing"):
        t.where("f0 > nothing")


def test_several_objects_of_one_store(tmp_path):
    root = str(tmp_path / "t")
    a = ours.ctable([np.arange(5)], ["x"], rootdir=root)
    b = ours.open(root)
    a.append([np.arange(3)])
    b.append([np.arange(2)])
    assert len(ours.open(root, mode="r")) == 10
    with ndfile.open(root, "r+") as t:
        t.append({"x": [1]})
    assert len(ours.ctable(rootdir=root)) == 11
    assert ndfile.verify(root) == []


def test_installed(tmp_path):
    """A program that says import bcolz, in a process of its own."""
    program = (
        "import ndfile.compat.bcolz; ndfile.compat.bcolz.install()\n"
        "import bcolz, numpy as np\nfrom bcolz import carray, ctable\nimport bcolz.attrs\n"
        f"t = ctable([np.arange(3)], ['x'], rootdir={str(tmp_path / 't')!r})\n"
        f"print(bcolz.__version__[:6], len(t), bcolz.attrs.attrs({str(tmp_path / 't')!r}, 'r').attrs)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(ndfile.__file__)))}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1.13.0", "3", "{}"]


def test_columns_before_variables(tmp_path):
    """In `where` a variable of the caller does not stand for the column of its name."""
    a = np.array([10, 20, 30, 40])
    for bz in BOTH:
        t = bz.ctable([[1, 2, 3, 4], a], names=["a", "b"], rootdir=str(tmp_path / bz.__name__), mode="w")
        assert [row.b for row in t.where("a >= 2")] == [20, 30, 40]
        assert t.eval("a + 1")[:].tolist() == [11, 21, 31, 41]  # here it does


def test_quantize(tmp_path):
    values = np.cumsum(np.random.default_rng(1).random(1000) - 0.5)
    found = [
        bz.carray(
            values,
            cparams=bz.cparams(quantize=3),
            chunklen=500,
            rootdir=str(tmp_path / bz.__name__),
            mode="w",
        )[:]
        for bz in BOTH
    ]
    assert np.array_equal(*found)
    assert not np.array_equal(found[0], values)


def test_deleted_column_kept(tmp_path):
    t = ours.ctable([np.arange(5), np.arange(5.0)], names=["a", "b"], rootdir=str(tmp_path / "t"), mode="w")
    t.delcol("b", keep=True)
    assert t.names == ["a"]
    for bz in BOTH:
        assert bz.carray(rootdir=str(tmp_path / "t" / "b"))[:].tolist() == [0, 1, 2, 3, 4]
        assert len(bz.open(str(tmp_path / "t"), mode="r")) == 5
