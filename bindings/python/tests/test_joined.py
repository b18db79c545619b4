"""Many files as one lazy dataset; patterns and folders."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import ndfile


@pytest.fixture
def days():
    rng = np.random.default_rng(3)
    parts, paths = [], []
    for i in range(12):
        n = (3, 1, 0, 4)[i % 4]
        t = np.ma.masked_less(rng.random((2, n, 5)), 0.2 if i == 7 else -1)
        parts.append((t, np.arange(n) + 10 * i))
        paths.append(f"d{i:02}.ds")
        ndfile.save(
            paths[-1],
            {"t": t, "time": parts[-1][1], "depth": np.arange(5.0), "who": np.array(["x"] * n, object)},
            dims={
                "t": ("station", "time", "depth"),
                "time": ("time",),
                "depth": ("depth",),
                "who": ("time",),
            },
            var_attrs={"t": {"units": "K"}},
            attrs={"day": i},
        )
    return paths, np.ma.concatenate([t for t, _ in parts], axis=1), np.concatenate([d for _, d in parts])


KEYS = [
    np.s_[...],
    np.s_[:, 5],
    np.s_[:, -1, 2],
    np.s_[1, 3:17, ::2],
    np.s_[:, ::-1],
    np.s_[0, 20:2:-3],
    np.s_[:, 7:7],
    np.s_[:, 2:9, 4],
    np.s_[0, [20, 3, 3, -1]],
    np.s_[:, np.arange(24) % 5 == 0],
    np.s_[1],
    np.s_[..., 0],
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_as_numpy(days, key):
    paths, t, _ = days
    with ndfile.open_many(paths, "time") as many:
        v = many["t"]
        assert (v.shape, v.dtype, v.dims, v.masked) == (t.shape, t.dtype, ("station", "time", "depth"), True)
        got, want = v[key], t[key]
        np.testing.assert_array_equal(
            np.ma.getdata(got)[~np.ma.getmaskarray(want)], want.compressed().reshape(-1)
        )
        np.testing.assert_array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(want))


def test_the_rest(days):
    paths, _, times = days
    with ndfile.open_many("d*.ds", "time") as many:
        assert list(many) == ["depth", "t", "time", "who"]
        assert many.paths == paths
        assert many["time"][...].tolist() == times.tolist()
        assert many["time"][4] == times[4]
        assert many["depth"][1:3].tolist() == [1, 2]
        assert many["who"][2:5].tolist() == ["x"] * 3
        assert many.attrs["day"] == 0
        assert many["t"].attrs == {"units": "K"}
        with pytest.raises(ndfile.ReadOnlyError):
            many["t"].attrs["units"] = "C"
        with pytest.raises(ndfile.BoundsError):
            many["time"][24]
        with pytest.raises(ndfile.NameNotFoundError, match="did you mean 'time'"):
            many["tim"]
    with pytest.raises(ndfile.ArgumentError, match="closed"):
        many["depth"][0]


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        ({"dims": {"x": ("time", "z")}}, ndfile.ShapeError, "b.ds: array 'x': names of axes"),
        ({"arrays": {"x": np.ones((2, 4))}}, ndfile.ShapeError, "shape besides"),
        ({"arrays": {"x": np.ones((2, 3), "f4")}}, ndfile.DTypeError, "found <f4, expected <f8"),
        (
            {"var_attrs": {"x": {"units": "C"}}},
            ndfile.ArgumentError,
            "attribute 'units': found 'C', expected 'K'",
        ),
        ({"arrays": {"y": np.ones((2, 3))}, "dims": {}, "var_attrs": {}}, ndfile.NameNotFoundError, "'x'"),
    ],
)
def test_what_is_not_alike(change, kind, said):
    usual = {
        "arrays": {"x": np.ones((2, 3))},
        "dims": {"x": ("time", "y")},
        "var_attrs": {"x": {"units": "K"}},
    }
    ndfile.save("a.ds", **usual)
    ndfile.save("b.ds", **{**usual, **change})
    with pytest.raises(kind, match=said):
        ndfile.open_many(["a.ds", "b.ds"], "time")
    if kind is ndfile.ArgumentError:
        with ndfile.open_many(["a.ds", "b.ds"], "time", check=False) as many:
            assert many["x"].shape == (4, 3)


def test_axes_without_names():
    for i in range(3):
        ndfile.save(f"{i}.npy", np.full((2, i + 1), i))
    with ndfile.open_many([f"{i}.npy" for i in range(3)], 1) as many:
        assert many[""][0].tolist() == [0, 1, 1, 2, 2, 2]
    with pytest.raises(ndfile.ArgumentError, match="concat=0"):
        ndfile.open_many(["0.npy"], "time")
    with pytest.raises(ndfile.ShapeError):
        ndfile.open_many(["0.npy", "1.npy"], 0)


MANY = """
import sys, resource, numpy as np, ndfile
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
n = int(sys.argv[1])
ndfile.save_many([f"{i:05}.ds" for i in range(n)], [{"x": np.arange(4) + i} for i in range(n)], dims={"x": ("time",)})
seen = []
many = ndfile.open_many("*.ds", "time", progress=lambda done, all: seen.append((done, all)))
assert seen[-1] == (n, n), seen[-1]
x = many["x"]
assert x.shape == (4 * n,)
assert (x[...].reshape(n, 4) == np.arange(4) + np.arange(n)[:, None]).all()
assert x[::7].sum() == x[...][::7].sum()
import os
print(len(os.listdir("/proc/self/fd")))
"""


def test_few_descriptors():
    n = 2000 if os.environ.get("NDFILE_TORTURE") else 400
    r = subprocess.run([sys.executable, "-c", MANY, str(n)], capture_output=True, text=True, timeout=120)
    assert r.returncode == 0, r.stderr
    assert int(r.stdout) < 60


def test_threads(days):
    paths, t, _ = days
    wrong = []
    with ndfile.open_many(paths, "time") as many:

        def read(k):
            for i in range(60):
                at = (i * 7 + k) % t.shape[1]
                if not np.ma.allequal(many["t"][:, at], t[:, at]):
                    wrong.append(at)

        threads = [threading.Thread(target=read, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert not wrong


def test_patterns_and_folders():
    os.makedirs("in/deep")
    for name in ("in/b.ds", "in/a.ds", "in/deep/c.ds"):
        ndfile.save(name, {"x": [ord(name[-4])], "y": [1.5]})
    open("in/notes.txt", "w").close()
    assert [x.item() for x in ndfile.read_many("in/*.ds", "x")] == [97, 98]
    assert [x.item() for x in ndfile.read_many("in/**/*.ds", "x")] == [97, 98, 99]
    assert [x.item() for x in ndfile.read_many("in", "x")] == [97, 98]
    assert ndfile.read_many("in/a.ds", ["y", "x"]) == [{"y": [1.5], "x": [97]}]
    assert ndfile.read_many(["in/a.ds", "no"], ["y", "x"], errors="return")[1].name == "NDF_ERR_NOT_FOUND"
    ndfile.save("[1].ds", {"x": [3]})
    assert ndfile.read_many("[1].ds", "x")[0].item() == 3
    for nothing in ("in/*.npy", "in/deep/none*"):
        with pytest.raises(ndfile.NotFoundError, match="nothing matches"):
            ndfile.read_many(nothing)
    os.mkdir("empty")
    with pytest.raises(ndfile.NotFoundError, match="no file of a known extension"):
        ndfile.read_many("empty")


def test_reductions(days):
    paths, whole, numbers = days
    with ndfile.open_many(paths, "time") as many:
        v = many["t"]
        assert v.chunks == (2, 4, 5)
        for name in ("sum", "mean", "min", "max", "std", "count"):
            for axis in (None, 0, 1, (1, 2)):
                found, want = getattr(v, name)(axis=axis), getattr(whole, name)(axis=axis)
                np.testing.assert_allclose(found, want, rtol=1e-12)
        assert np.mean(many["time"]) == numbers.mean()
        assert many["time"].sum(np.s_[::3]) == numbers[::3].sum()
        assert many["who"].count() == len(numbers)
        with pytest.raises(ndfile.DTypeError, match="who"):
            many["who"].sum()
