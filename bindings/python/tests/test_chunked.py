"""Arrays in chunks: created, changed in place, grown; rows taken; reductions; chunks as they are stored."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import bcolz
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support import ROOT, same

import ndfile

FORMATS = ["bcolz", "zarr0"]


def create(path, format, shape, dtype, **storage):
    """A new file of one array, of zeros or the fill value."""
    with ndfile.open(path, "w", format) as f:
        f.create("", shape, dtype, **storage)


@pytest.fixture(params=FORMATS)
def format(request):
    return request.param


# What an array is


def test_description(format):
    create(
        "x", format, (7, 3), ">i4", chunks=(3, 3), compression=("zstd" if format == "bcolz" else "zlib", 3, 2)
    )
    with ndfile.open("x") as f:
        v = f.array
        assert (v.chunks, v.nchunks, v.chunk_encoding) == ((3, 3), 3, "blosc1")
        assert v.compression == ndfile.Compression("zstd" if format == "bcolz" else "zlib", 3, 2)
        assert list(v.iter_chunks()) == [
            (slice(0, 3), slice(0, 3)),
            (slice(3, 6), slice(0, 3)),
            (slice(6, 7), slice(0, 3)),
        ]
        assert (v.fill_value, v.dtype_name) == (0, ">i4")
        assert type(v.fill_value) is np.int32
        html = v._repr_html_()
        assert "(3, 3)" in html
        assert f"{v.compression.cname}, level 3" in html
        info = ndfile.info("x")
        assert info["nrows"] is None
        assert info["arrays"][""]["chunks"] == (3, 3)
        assert info["arrays"][""]["compression"] == v.compression
    caps = {f["name"]: f["caps"] for f in ndfile.formats()}
    assert {"create", "update", "chunked", "resize", "verify"} <= set(caps[format])


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ("lz4hc", ("lz4hc", 5, 1)),
        (("zlib", 9), ("zlib", 9, 1)),
        (["blosclz", 0, "noshuffle"], ("blosclz", 0, 0)),
        (("lz4", np.int64(1), "bitshuffle"), ("lz4", 1, 2)),
        ({"cname": "zlib", "shuffle": 0}, ("zlib", 5, 0)),
        ({"clevel": 7}, ("lz4", 7, 1)),
        (ndfile.Compression("lz4", 2, ndfile.blosc.NOSHUFFLE), ("lz4", 2, 0)),
    ],
)
def test_compression(format, given, want):
    data = np.arange(1000)
    ndfile.save("x", data, format=format, compression=given, chunks=100)
    with ndfile.open("x") as f:
        assert f.array.compression == want
        same(f.array[...], data)


@pytest.mark.parametrize(
    "given",
    [
        "nope",
        ("lz4", 10),
        ("lz4", -1),
        ("lz4", 5, 3),
        ("lz4", 5, "bits"),
        ("lz4", 5, 1, 0),
        ("lz4", 1.5),
        {"name": "lz4"},
        5,
    ],
)
def test_compression_refused(format, given):
    with pytest.raises((ValueError, NotImplementedError), match=r"nope|compression|level|shuffle"):
        ndfile.save("x", [1, 2], format=format, compression=given)
    assert os.listdir() == []


def test_snappy():
    """zarr 0.4 knew it; the bcolz that there is now does not."""
    ndfile.save("x", np.arange(9), format="zarr0", compression="snappy")
    assert ndfile.read("x").tolist() == list(range(9))
    with pytest.raises(ndfile.NotSupportedError, match="snappy"):
        ndfile.save("y", np.arange(9), format="bcolz", compression="snappy")


def test_chunks(format):
    for chunks, want in ((2, (2, 3)), ((2,), (2, 3)), ((2, 3), (2, 3)), (100, (100, 3))):
        ndfile.save("x", np.ones((5, 3)), format=format, chunks=chunks)
        with ndfile.open("x") as f:
            assert f.array.chunks == want
    create("x", format, (0, 3), "i4", chunks=4)
    with ndfile.open("x") as f:
        assert (f.array.chunks, f.array.nchunks, list(f.array.iter_chunks())) == ((4, 3), 0, [])
    for wrong in (0, -1, (2, 3, 1), 1 << 62):
        with pytest.raises(ValueError, match="x"):
            ndfile.save("y", np.ones((5, 3)), format=format, chunks=wrong)
    assert os.listdir() == ["x"]


def test_expected_rows():
    """bcolz chooses chunks by what a table is going to hold."""
    chunks = []
    for rows in (None, 1 << 30):
        ndfile.save("x.bcolz", np.arange(10), expected_rows=rows, fill_value=0)
        with ndfile.open("x.bcolz") as f:
            chunks.append(f.array.chunks[0])
    assert chunks[0] < chunks[1]


FILLS = [
    ("i4", -5, -5),
    (">i2", np.int64(7), 7),
    ("u8", 2**64 - 1, 2**64 - 1),
    ("f4", 1.5, 1.5),
    ("f8", float("-inf"), -np.inf),
    ("?", True, True),
    ("S4", "ab", b"ab"),
    ("U3", "é", "é"),
    ("M8[ns]", np.datetime64("2020-01-01"), np.datetime64("2020-01-01", "ns")),
]


@pytest.mark.parametrize(("dtype", "given", "want"), FILLS, ids=[f[0] for f in FILLS])
def test_fill(format, dtype, given, want):
    create("x", format, 5, dtype, chunks=2, fill_value=given)
    with ndfile.open("x", "r+") as f:
        v = f.array
        assert v.fill_value == want
        assert type(v.fill_value) is v.dtype.type
        v[1] = np.zeros((), v.dtype)
        v.resize(7)
        array = np.full(7, want, v.dtype)
        array[1] = np.zeros((), v.dtype)
        same(v[...], array)
    same(ndfile.read("x"), array)


def test_fill_nan(format):
    create("x", format, 3, "f4", fill_value=np.nan)
    assert np.isnan(ndfile.read("x")).all()
    with ndfile.open("x") as f:
        assert np.isnan(f.array.fill_value)


@pytest.mark.parametrize(
    ("dtype", "value"), [("i1", 300), ("i4", 1.5), ("S2", "abc"), ("?", 2), ("f8", "x"), ("i4", [1, 2])]
)
def test_fill_refused(format, dtype, value):
    with pytest.raises((ValueError, TypeError), match="fill_value"):
        create("x", format, 3, dtype, fill_value=value)
    assert os.listdir() == []


# Changing it


@st.composite
def operations(draw, ndim):
    side = st.integers(1, 7)
    shape = draw(st.tuples(*[side] * ndim))
    steps = []
    for _ in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["set", "append", "resize", "flush", "reopen"]))
        steps.append((kind, draw(st.randoms(use_true_random=False))))
    chunks = draw(st.tuples(*[st.integers(1, 5)] * ndim))
    return shape, chunks, steps


@pytest.mark.parametrize("format", FORMATS)
@given(plan=st.integers(1, 3).flatmap(operations), dtype=st.sampled_from(["<i4", ">f8", "u1", "S3", "?"]))
def test_random_operations(format, plan, dtype):
    """Writing, growing and shrinking in any order: a NumPy array in memory goes through the same."""
    shape, chunks, steps = plan
    if format == "bcolz":
        chunks = chunks[:1] + shape[1:]
    fill = {"S": b"ab", "b": True}.get(np.dtype(dtype).kind, 3)
    create("x", format, shape, dtype, chunks=chunks, fill_value=fill, compression=("lz4", 1))
    model = np.full(shape, fill, dtype)
    f = ndfile.open("x", "r+")
    for kind, random in steps:
        v = f.array
        values = np.random.default_rng(random.randrange(1 << 30))
        if kind == "set" and model.size:
            key = tuple(
                slice(*sorted(random.choices(range(n + 1), k=2)), random.randint(1, 3)) for n in model.shape
            )
            data = values.integers(0, 2, model[key].shape).astype(dtype)
            v[key] = data
            model[key] = data
        elif kind == "append":
            axis = 0 if format == "bcolz" else random.randrange(model.ndim)
            count = list(model.shape)
            count[axis] = random.randint(0, 9)
            data = values.integers(0, 2, count).astype(dtype)
            v.append(data, axis)
            model = np.concatenate([model, data], axis).astype(dtype)
        elif kind == "resize":
            new = [random.randint(0, n + 4) for n in model.shape]
            if format == "bcolz":
                new[1:] = model.shape[1:]
            grown = np.full(new, fill, dtype)
            common = tuple(slice(min(a, b)) for a, b in zip(new, model.shape))
            grown[common] = model[common]
            v.resize(new)
            model = grown
        elif kind == "flush":
            f.flush()
            same(ndfile.read("x"), model.astype(v.dtype))
            if format == "bcolz":
                assert bcolz.open("x", "r")[:].tobytes() == model.tobytes()
        elif kind == "reopen":
            f.close()
            f = ndfile.open("x", "r+")
            v = f.array
        assert (v.shape, v.size) == (model.shape, model.size)
        same(v[...], model.astype(v.dtype))
    f.close()
    same(ndfile.read("x"), model.astype(model.dtype.newbyteorder("=")))
    assert ndfile.verify("x") == []


def test_append_forms():
    ndfile.save("x.bcolz", np.arange(3.0))
    with ndfile.open("x.bcolz", "r+") as f:
        v = f.array
        v.append([3, 4])
        v.append(5)
        v.append(np.arange(6, 8, dtype="i4"))
        v.append(np.arange(20.0)[8:12:2][::-1])
        v.append([])
        v.append(v)
        for wrong, error in (
            ([[1, 2]], ValueError),
            ("a", ValueError),
            ([1j], ValueError),
            (np.array(["a"]), TypeError),
            (np.ma.masked_equal([1.0, 2.0], 2), ndfile.MaskedError),
        ):
            with pytest.raises(error, match=r"x\.bcolz"):
                v.append(wrong)
        with pytest.raises(IndexError, match="axis"):
            v.append([1], axis=1)
        with pytest.raises(ndfile.NdfileError):
            v.resize(-1)
        with pytest.raises(ndfile.ShapeError):
            v.resize((2, 2))
    assert ndfile.read("x.bcolz").tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 10, 8] * 2
    ndfile.save("nd", np.zeros((2, 3)), format="zarr0")
    with ndfile.open("nd", "r+") as f:
        f.array.append(np.ones(3))
        f.array.append([2, 2, 2], axis=-1)
        with pytest.raises(ndfile.ShapeError):
            f.array.append(np.ones(3))
    assert ndfile.read("nd").tolist() == [[0, 0, 0, 2], [0, 0, 0, 2], [1, 1, 1, 2]]


def test_texts_are_not_cut(format):
    create("x", format, 2, "S3")
    with ndfile.open("x", "r+") as f:
        v = f.array
        v[...] = ["ab", b"abc"]
        for value, error in (
            (["abcd"], ValueError),
            ([b"a\0"], ValueError),
            ([1], TypeError),
            (["é"], ValueError),
        ):
            with pytest.raises(error, match="x"):
                v[:1] = value
        v[1] = np.array(b"c", "S1")
        with pytest.raises(ValueError, match="cccc"):
            v[1] = np.array(b"cccc")
    assert ndfile.read("x").tolist() == [b"ab", b"c"]


# Modes, and what an exception leaves


def test_exception_keeps_what_was_appended(format):
    ndfile.save("x", np.arange(3), format=format)
    with pytest.raises(ZeroDivisionError), ndfile.open("x", "r+") as f:
        f.array.append([3])
        f.attrs["a"] = 1
        1 / 0  # noqa: B018
    assert ndfile.read("x").tolist() == [0, 1, 2, 3]
    assert ndfile.info("x")["attrs"] == {"a": 1}
    f = ndfile.open("x", "r+")
    f.array.append([4])
    del f
    assert ndfile.read("x").tolist() == [0, 1, 2, 3, 4]


def test_abort_drops_what_was_not_flushed():
    ndfile.save("x.bcolz", np.arange(3))
    f = ndfile.open("x.bcolz", "r+")
    f.array.append([3])
    f.flush()
    f.array.append([4])
    f.abort()
    assert ndfile.read("x.bcolz").tolist() == [0, 1, 2, 3]


def test_created_and_left(format):
    with pytest.raises(ZeroDivisionError), ndfile.open("x", "w", format) as f:
        f[""] = np.arange(1000)
        1 / 0  # noqa: B018
    assert os.listdir() == []
    ndfile.save("x", [1], format=format)
    with pytest.raises(ZeroDivisionError), ndfile.open("x", "w", format) as f:
        f[""] = np.arange(1000)
        1 / 0  # noqa: B018
    assert os.listdir() == ["x"]
    assert ndfile.read("x").tolist() == [1]


def test_mode_a(format):
    for i in range(3):
        with ndfile.open("x", "a", format) as f:
            assert f.mode == ("r+" if i else "x")
            v = f.array if i else f.create("", 0, "i8")
            v.append([i])
    assert ndfile.read("x").tolist() == [0, 1, 2]


def test_read_only(format):
    ndfile.save("x", np.arange(3), format=format)
    with ndfile.open("x") as f:
        v = f.array
        for change in (
            lambda: v.append([1]),
            lambda: v.resize(1),
            lambda: v.__setitem__(0, 1),
            lambda: v.write_chunk(0, v.read_chunk(0)),
        ):
            with pytest.raises(ndfile.ReadOnlyError):
                change()


def test_replaces_only_its_own(format):
    """Mode w never removes a folder that is something else."""
    os.mkdir("x")
    Path("x", "precious").write_text("data")
    with pytest.raises((OSError, ValueError)), ndfile.open("x", "w", format) as f:
        f[""] = [1]
    assert os.listdir("x") == ["precious"]


def test_symlinks(format):
    ndfile.save("x", np.arange(9), format=format, chunks=3)
    chunks = [p for p in Path("x").rglob("*") if p.suffix in (".blp", ".blosc")]
    os.mkdir("elsewhere")
    target = Path("elsewhere", "chunk").resolve()
    chunks[0].rename(target)
    chunks[0].symlink_to(target)
    with pytest.raises(ndfile.NdfileError, match=chunks[0].name):
        ndfile.read("x")
    with ndfile.open("x", follow_symlinks=True) as f:
        assert f.array[...].tolist() == list(range(9))
    os.symlink("x", "link")
    with pytest.raises(ndfile.NdfileError, match=chunks[0].name):
        ndfile.read("link")


def test_shared(format):
    ndfile.save("x", np.zeros(8, "i8"), format=format, chunks=2)
    with ndfile.open("x", "r+", shared=True) as f, ndfile.open("x", "r+", shared=True) as g:
        f.array[:5] = 1
        g.array[5:] = 1
        with pytest.raises(ndfile.BusyError, match=str(os.getpid())):
            ndfile.open("x", "r+", timeout=0)
        if format != "zarr0":
            with pytest.raises(ndfile.NotSupportedError):
                f.array.append([1])
    assert ndfile.read("x").tolist() == [1] * 8
    assert not os.path.exists("x/.ndf-lock")


def test_two_processes():
    """With locks, writers in two processes lose nothing of the chunks that they share."""
    create("x", "zarr0", 400, "i8", chunks=100)
    code = """
import sys, ndfile
k = int(sys.argv[1])
with ndfile.open("x", "r+", shared=True) as f:
    v = f.array
    for i in range(k, 400, 2):
        v[i] = i
"""
    env = dict(os.environ, PYTHONPATH=str(ROOT / "bindings" / "python"))
    writers = [subprocess.Popen([sys.executable, "-c", code, str(k)], env=env) for k in range(2)]
    assert [w.wait() for w in writers] == [0, 0]
    assert ndfile.read("x").tolist() == list(range(400))


def test_threads(format):
    """Writers of elements of the same chunks lose nothing."""
    create("x", format, 400, "i8", chunks=50)
    with ndfile.open("x", "r+") as f:
        v = f.array

        def work(k):
            for i in range(k, 400, 4):
                v[i] = i

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert v[...].tolist() == list(range(400))


# Rows, blocks, reductions


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """The same in both formats, in chunks that rows lie scattered over."""
    folder = tmp_path_factory.mktemp("chunked")
    data = np.random.default_rng(3).integers(-100, 100, (997, 3)).astype("i2")
    files = {}
    for format in FORMATS:
        ndfile.save(folder / format, data, format=format, chunks=(64, 3) if format == "bcolz" else (64, 2))
        files[format] = ndfile.open(folder / format)
    yield {name: f.array for name, f in files.items()}, data
    for f in files.values():
        f.close()


@given(rows=hnp.arrays(np.int64, st.integers(0, 200), elements=st.integers(-997, 996)), data=st.data())
def test_take(big, rows, data):
    arrays, want = big
    part = data.draw(hnp.basic_indices((997, 3), allow_ellipsis=True))
    for v in arrays.values():
        same(v[rows], want[rows])
        same(v[rows % 2 == 0] if len(rows) == 997 else v[rows.tolist()], want[rows])
        out = np.empty((len(rows), 3, 2), "f8")[..., 1]
        v.take(rows, out=out)
        assert np.array_equal(out, want[rows])
        assert np.array_equal(v[part], want[part])


def test_mask(big):
    arrays, want = big
    mask = want[:, 0] > 50
    for v in arrays.values():
        same(v[mask], want[mask])
        same(v[mask, 1:], want[mask, 1:])
        same(v[mask.tolist()], want[mask])


def test_iterblocks(big):
    arrays, want = big
    for v in arrays.values():
        for n, lengths in ((None, 64), (100, 100), (5000, 997)):
            blocks = list(v.iterblocks(n))
            assert [len(b) for b in blocks[:-1]] == [lengths] * (len(blocks) - 1)
            same(np.concatenate(blocks), want)


def test_iter_chunks(big):
    arrays, want = big
    for v in arrays.values():
        seen = np.zeros(want.shape, int)
        for place in v.iter_chunks():
            same(v[place], want[place])
            seen[place] += 1
        assert (seen == 1).all()


@pytest.mark.parametrize(
    "dtype", ["?", "i1", ">i2", "i4", "i8", "u1", "u8", "f2", ">f4", "f8", "c8", "m8[s]", "M8[D]"]
)
def test_reductions(format, dtype):
    rng = np.random.default_rng(1)
    kind = np.dtype(dtype).kind
    if kind in "fc":
        data = (rng.integers(-1000, 1000, (90, 4)) / 8).astype(dtype)
    else:
        data = rng.integers(0, 2 if kind == "b" else 120, (90, 4)).astype(dtype)
    ndfile.save("x", data, format=format, chunks=7)
    native = data.astype(data.dtype.newbyteorder("="))
    exact = native.astype({"f": "f8", "c": "c16"}.get(kind, native.dtype))
    with ndfile.open("x") as f:
        v = f.array
        for key in (..., slice(3, 77, 5), (slice(None, None, -1), 2), (5, 1, ...), np.s_[:0]):
            part = exact[key]
            assert v.count(key) == np.size(part)
            if kind != "M":
                found, want = v.sum(key), part.sum()
                assert (type(found), found) == (type(want), want)
            else:
                with pytest.raises(TypeError):
                    v.sum(key)
            if kind in "biufc" and np.size(part):
                found, want = v.mean(key), part.mean()
                assert type(found) is type(want)
                assert np.isclose(found, want, rtol=1e-12)
            for name in ("min", "max"):
                if kind == "c":
                    with pytest.raises(TypeError):
                        getattr(v, name)(key)
                elif np.size(part):
                    found, want = getattr(v, name)(key), getattr(native[key], name)()
                    assert (type(found), found) == (type(want), want)
                else:
                    with pytest.raises(ValueError, match="x"):
                        getattr(v, name)(key)


def test_reductions_as_numpy_calls_them(big):
    arrays, want = big
    for v in arrays.values():
        assert np.sum(v) == want.sum()
        assert np.min(v) == want.min()
        assert np.max(v, axis=0).tolist() == want.max(axis=0).tolist()
        assert np.mean(v) == pytest.approx(want.mean())
        same(v.sum(slice(0, 10), axis=1), want[:10].sum(axis=1))
        assert v.sum(dtype="f8") == want.sum()
        assert np.asarray(v).std() == want.std()
        assert np.take(v, [3, 1], axis=0).tolist() == want[[3, 1]].tolist()


def test_sums_do_not_wrap(format):
    ndfile.save("x", np.full(3, 2**62), format=format)
    with ndfile.open("x") as f:
        with pytest.raises(ndfile.ValueNotRepresentableError):
            f.array.sum()
        assert f.array.mean() == 2.0**62
        assert f.array.sum(slice(0, 1)) == 2**62
    ndfile.save("x", np.full(1000, 255, "u1"), format=format)
    with ndfile.open("x") as f:
        assert f.array.sum() == 255000


def test_reductions_leave_out_what_is_missing():
    ndfile.save("x.ds", {"x": np.ma.masked_equal([1.5, -9, 3], -9), "none": np.ma.masked_all(2), "t": ["a"]})
    with ndfile.open("x.ds") as f:
        v = f["x"]
        assert (v.count(), v.sum(), v.min(), v.max(), v.mean()) == (2, 4.5, 1.5, 3, 2.25)
        assert (f["none"].count(), f["none"].sum()) == (0, 0)
        assert f["t"].count() == 1
        with pytest.raises(TypeError):
            f["t"].sum()


# Chunks as they are


def test_chunks_as_they_are(format):
    data = np.arange(20, dtype="i4").reshape(10, 2)
    ndfile.save("x", data, format=format, chunks=(4, 2), compression=("lz4", 5, 1))
    create("y", format, (10, 2), "i4", chunks=(4, 2))
    with ndfile.open("x") as f, ndfile.open("y", "r+") as g:
        a, b = f.array, g.array
        for i in range(a.nchunks):
            raw = a.read_chunk((i, 0))
            whole = np.frombuffer(ndfile.blosc.decompress(raw), "i4").reshape(-1, 2)
            same(whole[: len(data[4 * i : 4 * i + 4])], data[4 * i : 4 * i + 4])
            if len(whole) == 4:
                b.write_chunk([i, 0], raw)
        same(b[:8], data[:8])
        b.write_chunk((0, 0), ndfile.blosc.compress(np.full((4, 2), 7, "i4"), typesize=4, cname="zlib"))
        assert (b[:4] == 7).all()
        for index, error in (
            ((3, 0), IndexError),
            ((-1, 0), IndexError),
            (0, ValueError),
            ((0, 0, 0), ValueError),
        ):
            with pytest.raises(error):
                a.read_chunk(index)
            with pytest.raises(error):
                b.write_chunk(index, raw)
        for wrong in (b"", b"nothing like it" * 9, ndfile.blosc.compress(bytes(8), typesize=4)):
            with pytest.raises(ndfile.NdfileError):
                b.write_chunk((0, 0), wrong)
        with pytest.raises(TypeError):
            b.write_chunk((0, 0), "text")
    same(ndfile.read("y")[:4], np.full((4, 2), 7, "i4"))


def test_chunks_never_written():
    create("x", "zarr0", 10, "i4", chunks=4, fill_value=1)
    with ndfile.open("x", "r+") as f:
        v = f.array
        assert [v.read_chunk(i) for i in range(3)] == [None] * 3
        v[5] = 0
        assert [v.read_chunk(i) is None for i in range(3)] == [True, False, True]


def test_large_chunk(format):
    """One that the first guess has no room for."""
    data = np.random.default_rng(0).integers(0, 256, 1 << 18, dtype="u1")
    ndfile.save("x", data, format=format, chunks=1 << 18)
    with ndfile.open("x") as f:
        assert ndfile.blosc.decompress(f.array.read_chunk(0)) == data.tobytes()


def test_zarr_metadata_is_as_zarr_writes_it():
    ndfile.save(
        "x",
        np.zeros((20, 10), ">i4"),
        format="zarr0",
        chunks=(5, 5),
        compression=("lz4", 5, 1),
        fill_value=42,
    )
    described = {
        "chunks": [5, 5],
        "clevel": 5,
        "cname": "lz4",
        "dtype": ">i4",
        "fill_value": 42,
        "shape": [20, 10],
        "shuffle": 1,
    }
    text = Path("x", "__zmeta__").read_text(encoding="ascii")
    assert text == json.dumps(described, indent=4, sort_keys=True)
