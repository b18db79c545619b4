"""ndfile.compat.zarr04, and ndfile.compat.ra, against files of the originals and NumPy."""

import json
import multiprocessing
from pathlib import Path

import numpy as np
import pytest

import ndfile
import ndfile.compat.ra as ra
import ndfile.compat.zarr04 as zarr

PKG = Path(__file__).resolve().parents[3] / "pkg"
CLASSES = [getattr(zarr.ext, name) for name in vars(zarr.ext) if name.endswith("Array")]


@pytest.fixture(params=CLASSES, ids=lambda c: c.__name__)
def make(request, tmp_path):
    """Makes an array of a class, in a folder where it is persistent."""

    def make(**options):
        if "Persistent" in request.param.__name__:
            options["path"] = str(tmp_path / "a.zarr")
        return request.param(**options)

    return make


def test_elements(make):
    a = np.arange(60 * 40, dtype=">i4").reshape(60, 40)
    z = make(shape=a.shape, chunks=(17, None), dtype=a.dtype, fill_value=-7, cname="lz4", clevel=1, shuffle=2)
    assert (z.shape, z.chunks, z.dtype, z.cdata_shape) == (a.shape, (17, 40), a.dtype, (4, 1))
    assert (z.cname, z.clevel, z.shuffle, z.fill_value) == (b"lz4", 1, 2, -7)
    assert (z[:] == -7).all()
    assert (z.cbytes, int(z.is_initialized.sum())) == (0, 0)
    z[10:20, 5:] = a[10:20, 5:]
    assert z.is_initialized.ravel().tolist() == [True, True, False, False]
    z[...] = a
    assert np.array_equal(z[...], a)
    assert z[:].dtype == a.dtype
    assert np.array_equal(z[-5:, 3], a[-5:, 3:4])
    assert 0 < z.cbytes == sum(c.cbytes for c in z.iter_chunks()) < z.nbytes
    z[3] = 5
    z.append(a[:7])
    assert z.shape == (67, 40)
    assert np.array_equal(z[60:], a[:7])
    z.append(np.ones((67, 2)), axis=1)
    assert (z[:, 40:] == 1).all()
    z.resize(80, 42)
    assert (z[67:] == -7).all()
    z.resize((5, None))
    assert z.shape == (5, 42)
    assert (z[3, :40] == 5).all()
    z.attrs["units"] = "K"
    assert dict(z.attrs) == {"units": "K"}
    for key in (99, slice(-99, 1), (0, 0, 0)):
        with pytest.raises((IndexError, ValueError)):
            z[key]
    with pytest.raises(NotImplementedError):
        z[::2]
    with pytest.raises(ValueError, match="shape"):
        z[:2] = np.zeros((3, 42))


def test_folders_of_the_original(tmp_path):
    folders = sorted(p.parent for p in (PKG / "zarr" / "testdata").rglob("__zmeta__"))
    assert len(folders) > 5
    for folder in folders[:40]:
        try:
            if np.prod(json.loads((folder / "__zmeta__").read_text())["shape"], dtype=float) > 1e6:
                continue
        except (ValueError, KeyError, TypeError):  # damaged on purpose
            pass
        try:
            want = ndfile.read(folder)
        except ndfile.NdfileError:
            with pytest.raises((ndfile.NdfileError, ValueError)):
                zarr.open(str(folder), "r")[...]
            continue
        meta = json.loads((folder / "__zmeta__").read_text())
        z = zarr.open(str(folder), "r")
        assert list(z.shape) == meta["shape"]
        assert z.cname.decode() == meta["cname"]
        if want.ndim:
            assert z[...].tobytes() == want.astype(z.dtype).tobytes()
        with pytest.raises(ValueError, match="read-only"):
            z.attrs["x"] = 1


def test_modes(tmp_path):
    path = str(tmp_path / "z")
    for mode in ("r", "r+"):
        with pytest.raises(ValueError, match="exist"):
            zarr.open(path, mode)
    z = zarr.open(path, "x", shape=10, chunks=3, dtype="f8")
    z[:] = 2
    with pytest.raises(ValueError, match="exists"):
        zarr.open(path, "w-", shape=10, chunks=3)
    with pytest.raises(ValueError, match="consistent"):
        zarr.open(path, "a", shape=11)
    assert zarr.open(path)[:].tolist() == [2] * 10
    assert ndfile.detect(path) == "zarr0"
    like = zarr.full_like(z, fill_value=3)
    assert (like.chunks, like.dtype, like[0].tolist()) == ((3,), z.dtype, [3])
    assert zarr.array(range(5), chunks=2)[:].tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="chunks"):
        zarr.array([1, 2])
    with pytest.raises(ValueError, match="compressor"):
        zarr.zeros(5, 2, cname="gzip")


def _fill(path, k):
    z = zarr.open(path, "r+")
    for i in range(k, 90, 3):
        z[i] = i


def test_writers_share_chunks(tmp_path):
    path = str(tmp_path / "z")
    zarr.open(path, "w", shape=90, chunks=10, dtype="i4")
    workers = [multiprocessing.get_context("spawn").Process(target=_fill, args=(path, k)) for k in range(3)]
    for w in workers:
        w.start()
    for w in workers:
        w.join(60)
        assert w.exitcode == 0
    assert zarr.open(path, "r")[:].tolist() == list(range(90))


@pytest.mark.parametrize(
    "name", ["test", "c8_2d_4x5", "i4_3d_2x3x4", "f8_0d", "f4_zero_dim_3x0x2", "be_f8_2x2x2"]
)
def test_ra(name):
    """What ra.py wrote, in its own order of axes; written again it is the same file."""
    path = PKG / "rawarray" / "testdata" / "valid" / f"{name}.ra"
    want = json.loads(path.with_suffix(".json").read_text())["header"]
    a = ra.read(path)
    assert list(a.shape) == want["dims"]
    assert a.flags.f_contiguous
    assert np.array_equal(a, ndfile.read(path).T, equal_nan=True)
    ra.write(a.astype(a.dtype.newbyteorder(">")) if want["flags"] else a, "again.ra")
    assert Path("again.ra").read_bytes() == path.read_bytes()


def test_ra_user_types():
    ra.write(np.array([True, False]), "b.ra")
    assert ra.read("b.ra") == b"\x01\x00"
    assert "type: user8" in ra.query("b.ra")
    ra.write(np.array([(1, 2.5)], [("a", "i2"), ("b", "f8")]), "s.ra")
    assert len(ra.read("s.ra")) == 10
    assert ra.query(PKG / "rawarray" / "testdata" / "valid" / "i4_3d_2x3x4.ra").splitlines()[2:] == [
        "endian: little",
        "type: int32",
        "size: 96",
        "dimension: 3",
        "shape:",
        "  - 2",
        "  - 3",
        "  - 4",
        "...",
    ]
    with pytest.raises(TypeError):
        ra.write(np.array([None]), "o.ra")
