"""Reductions along axes, against NumPy."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import ndfile

DTYPES = ["?", "i1", ">i2", "i4", "i8", "u1", "u4", "u8", "f2", ">f4", "f8", "c8", "c16", "m8[s]", "M8[ms]"]
NAMES = ["sum", "mean", "min", "max", "std", "var", "any", "all"]
REFUSED = {"M": {"sum", "mean", "std", "var", "any", "all"}, "m": {"std", "var", "any", "all"}}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def some(rng, dtype, shape):
    kind = np.dtype(dtype).kind
    if kind in "fc":
        data = (rng.integers(-300, 300, shape) / 8).astype(dtype)
        return data + data[::-1] * data.dtype.type(1j) if kind == "c" else data
    return rng.integers(0, 2 if kind == "b" else 100, shape).astype(dtype)


def wide(a):
    return a.astype({"f": "f8", "c": "c16"}.get(a.dtype.kind, a.dtype.newbyteorder("=")))


def alike(found, want, dtype=None):
    assert type(found) is type(want) or np.ndim(want) == 0
    assert found.shape == want.shape
    assert found.dtype == (dtype or want.dtype)
    mask = np.ma.getmaskarray(want)
    assert (np.ma.getmaskarray(found) == mask).all()
    found, want = np.ma.filled(found, 0), np.ma.filled(want, 0)
    if found.dtype.kind in "fc":
        np.testing.assert_allclose(found, want, rtol=2e-3 if found.dtype.itemsize == 2 else 2e-6, atol=1e-9)
    else:
        np.testing.assert_array_equal(found, want)


def axes_of():
    yield from (None, 0, 1, -1, ())
    yield from ((0, 1), (-1, 0), (2, 1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_axes(dtype, monkeypatch):
    monkeypatch.setattr("ndfile._blocks._ROOM", 100)
    rng = np.random.default_rng(3)
    data = some(rng, dtype, (7, 5, 6))
    native = data.astype(data.dtype.newbyteorder("="))
    path = "x.npy" if dtype in DTYPES[::4] else "x.zarr"
    ndfile.save(path, data, **({} if path == "x.npy" else {"format": "zarr3", "chunks": (3, 4, 2)}))
    with ndfile.open(path) as f:
        v = f.array
        for name in NAMES:
            for axis in axes_of():
                for keepdims in (False, True):
                    if name in REFUSED.get(data.dtype.kind, ()):
                        with pytest.raises(TypeError, match=name):
                            getattr(v, name)(axis=axis, keepdims=keepdims)
                        continue
                    if axis is None and not keepdims:
                        continue
                    found = getattr(v, name)(axis=axis, keepdims=keepdims)
                    want = getattr(wide(data), name)(axis=axis, keepdims=keepdims)
                    alike(found, want, getattr(native[:1, :1, :1], name)(axis=axis, keepdims=keepdims).dtype)
        counts = v.count(axis=(0, -1))
        assert counts.tolist() == [42] * 5


@pytest.mark.parametrize("seed", range(12))
def test_random_selections(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 9, rng.integers(1, 5)))
    data = some(rng, rng.choice(["i2", "f4", "f8", "u8"]), shape)
    ndfile.save("x.zarr", data, format="zarr2", chunks=tuple(int(n) for n in rng.integers(1, 6, len(shape))))
    with ndfile.open("x.zarr") as f:
        for room in (1, 64, 1 << 23):
            monkeypatch.setattr("ndfile._blocks._ROOM", room)
            for _ in range(8):
                key = []
                for n in shape:
                    start, step = int(rng.integers(0, n)), int(rng.choice([-3, -1, 1, 2]))
                    key.append([slice(start, None, step), slice(None), start][int(rng.integers(0, 3))])
                key = (None, *key) if rng.random() < 0.5 else (*key, Ellipsis)
                part = wide(data[key])
                axis = int(rng.integers(-part.ndim, part.ndim)) if part.ndim else None
                for name in NAMES[:6]:
                    found = getattr(f.array, name)(key, axis=axis, keepdims=True)
                    kind = getattr(data[key], name)(axis=axis, keepdims=True).dtype
                    alike(found, getattr(part, name)(axis=axis, keepdims=True), kind)


def of_cells(data, name, axis):
    """The reduction of each cell's elements that are not missing."""
    moved = np.moveaxis(data, axis, -1)
    cells = np.empty(moved.shape[:-1], object)
    for i in np.ndindex(cells.shape):
        cells[i] = moved[i].compressed()
    missing = np.array([c.size == 0 for c in cells.flat]).reshape(cells.shape)
    kind = getattr(np.ones(1, data.dtype), name)().dtype
    values = np.array([getattr(c, name)() if c.size else 0 for c in cells.flat], kind)
    return np.ma.MaskedArray(values.reshape(cells.shape), mask=missing)


@pytest.mark.parametrize("dtype", ["i2", "u8", "f4", "f8", "?"])
def test_missing(dtype, monkeypatch):
    monkeypatch.setattr("ndfile._blocks._ROOM", 64)
    rng = np.random.default_rng(5)
    data = np.ma.MaskedArray(some(rng, dtype, (9, 6)), mask=rng.random((9, 6)) < 0.5)
    data[4] = np.ma.masked
    data[:, 1] = np.ma.masked
    ndfile.save("x.ds", {"x": data})
    with ndfile.open("x.ds") as f:
        v = f["x"]
        for axis in (0, 1, -1):
            assert (v.count(axis=axis) == data.count(axis=axis)).all()
            for name in NAMES:
                alike(getattr(v, name)(axis=axis), of_cells(data, name, axis))
        assert v.min(np.s_[4:5], axis=None, keepdims=True).mask.all()
        alike(v.std(), np.asarray(wide(data.compressed()).std()), v.std().dtype)
        assert v.std(np.s_[4:5]) is np.ma.masked
        assert (v.var(axis=0, ddof=3).mask == (data.count(axis=0) <= 3)).all()
        with pytest.raises(ndfile.MaskedError, match="out"):
            v.sum(axis=1, out=np.empty(9))
        out = np.ma.zeros(9)
        assert v.sum(axis=1, out=out) is out
        assert out.mask.tolist() == [i == 4 for i in range(9)]


def test_nan():
    data = np.arange(12.0).reshape(3, 4)
    data[1, 2], data[0, 0] = np.nan, np.inf
    dates = np.array([["2020-01-01", "NaT"], ["2021-01-01", "2022-01-01"]], "M8[D]")
    ndfile.save("x.ds", {"x": data})
    ndfile.save("d.npy", dates)
    with ndfile.open("x.ds") as f, ndfile.open("d.npy") as g, np.errstate(invalid="ignore"):
        for axis in (0, 1):
            for name in NAMES:
                alike(getattr(f["x"], name)(axis=axis), getattr(data, name)(axis=axis))
        np.testing.assert_array_equal(g.array.max(axis=0), dates.max(axis=0))


def test_as_numpy_calls_them():
    data = np.arange(24, dtype="i2").reshape(2, 3, 4)
    ndfile.save("x.npy", data)
    with ndfile.open("x.npy") as f:
        v = f.array
        for name in NAMES:
            alike(getattr(np, name)(v, axis=(0, 2)), getattr(data, name)(axis=(0, 2)))
        alike(np.std(v, axis=1, ddof=1, keepdims=True), data.std(axis=1, ddof=1, keepdims=True))
        alike(np.mean(v, axis=0, dtype="f4"), data.mean(axis=0, dtype="f4"))
        alike(np.sum(v, axis=0, initial=5), data.sum(axis=0, initial=5))
        alike(np.max(v, axis=0, where=data > 3, initial=0), data.max(axis=0, where=data > 3, initial=0))
        out = np.empty((3, 4))
        assert np.mean(v, axis=0, out=out) is out
        assert (out == data.mean(axis=0)).all()
        assert np.std(v) == pytest.approx(data.std())
        assert (v.any(), v.all()) == (True, False)
        with pytest.raises(ndfile.ShapeError, match="out"):
            v.sum(axis=0, out=out[0])


def test_refusals():
    ndfile.save("x.ds", {"x": np.ones((2, 3)), "t": [["a", "b"]], "s": np.zeros((2, 2), "S3")})
    with ndfile.open("x.ds") as f:
        for name, bad in itertools.product("ts", NAMES):
            with pytest.raises(ndfile.DTypeError, match=f'"{name}".* {bad}'):
                getattr(f[name], bad)(axis=0)
        assert f["t"].count(axis=0).tolist() == [1, 1]
        v = f["x"]
        for axis in (2, -3, (0, 5)):
            with pytest.raises(IndexError, match="axis"):
                v.sum(axis=axis)
        with pytest.raises(ValueError, match="twice"):
            v.sum(axis=(0, -2))
        for key in (0, (1, 2), -1):
            with pytest.raises(ndfile.ArgumentError, match="axis="):
                v.sum(key)


def test_no_elements():
    ndfile.save("x.ds", {"x": np.ones((0, 3))})
    with ndfile.open("x.ds") as f, np.errstate(invalid="ignore"):
        v = f["x"]
        assert v.sum(axis=0).tolist() == [0, 0, 0]
        assert np.isnan(v.mean(axis=0)).all()
        assert np.isnan(v.std(axis=0)).all()
        assert v.min(axis=1).shape == (0,)
        with pytest.raises(ValueError, match="min"):
            v.min(axis=0)


def test_scalars():
    ndfile.save("x.ds", {"x": 2.5, "m": np.ma.masked_all(()), "n": np.ma.MaskedArray(3, mask=False)})
    with ndfile.open("x.ds") as f:
        for name in NAMES:
            for axis in (None, ()):
                assert getattr(f["x"], name)(axis=axis) == getattr(np.float64(2.5), name)()
                assert getattr(f["n"], name)(axis=axis) == getattr(np.int64(3), name)()
                assert getattr(f["m"], name)(axis=(), keepdims=True) is np.ma.masked


def test_sums_that_do_not_fit():
    big = np.array([[2**62, 1, -(2**62)], [2**62, 2, -(2**62)]])
    ndfile.save("x.ds", {"x": big, "u": np.array([[2**63, 5], [2**63, 5]], "u8")})
    with ndfile.open("x.ds") as f:
        assert f["x"].sum(np.s_[:, 1:], axis=0).tolist() == [3, -(2**63)]
        for name in "xu":
            with pytest.raises(ndfile.ValueNotRepresentableError, match="fit"):
                f[name].sum(axis=0)
        assert f["u"].sum(axis=1).tolist() == [2**63 + 5] * 2
        with pytest.raises(ndfile.ValueNotRepresentableError):
            f["x"].sum(np.s_[:, 2:], axis=0, dtype="i4")


def test_float32_means_are_added_in_float64():
    data = np.full((1 << 19, 2), 0.1, "f4")
    ndfile.save("x.npy", data)
    with ndfile.open("x.npy") as f:
        assert f.array.mean(axis=0).tolist() == [np.float32(0.1)] * 2
        assert f.array.std(axis=0).max() < 1e-9


MEMORY = """
import sys, numpy as np, ndfile
def of(key): return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith(key))
with ndfile.open("x.zarr", "w", format="zarr2") as f:
    v = f.create("", (2000, 50000), "f4", chunks=(500, 2500), fill_value=2)
    v[0, 0] = 2002
with ndfile.open("x.zarr") as f:
    v = f.array
    v[0, 0]
    before = of("VmRSS")
    for axis in (0, 1):
        assert v.mean(axis=axis)[0] == (3 if axis == 0 else np.float32(2 + 2000 / 50000))
        assert v.std(axis=axis)[1] == 0
    print((of("VmHWM") - before) >> 10)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_memory_is_bounded():
    r = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=120, env=dict(os.environ)
    )
    assert r.returncode == 0, r.stderr
    assert int(r.stdout) < 190, "MiB, of an array of 381"
