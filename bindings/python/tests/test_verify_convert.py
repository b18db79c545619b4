"""verify, repair, convert, split, concat, limits; migrated stores as the real zarr packages read them."""

import json
import os
import shutil
import signal
import threading
import time
import warnings
from pathlib import Path

import bcolz
import numcodecs.blosc
import numpy as np
import pytest
import tensorstore
import zarr
import zarrs
from support import ROOT, plain, record_dtype, same_bits

import ndfile

ZARR = ROOT / "pkg" / "zarr" / "testdata" / "zarr0" / "valid"
CASES = json.loads((ZARR / "manifest.json").read_text(encoding="utf-8"))["cases"]


def expected(case):
    raw = (ZARR / case["expected"]).read_bytes()
    return np.frombuffer(raw, record_dtype(case["dtype"])).reshape(case["shape"])


def chunk_files(path):
    return sorted(p for p in Path(path).rglob("*") if p.suffix in (".blp", ".blosc"))


# verify


@pytest.fixture(params=["bcolz", "zarr0"])
def store(request):
    """A store of five chunks, and its format."""
    ndfile.save("x", np.arange(50, dtype="i4"), format=request.param, chunks=10)
    return request.param


def test_nothing_wrong(store):
    seen = []
    assert ndfile.verify("x") == ndfile.verify("x", store, repair=True) == []
    assert ndfile.verify("x", progress=lambda done, total: seen.append((done, total))) == []
    assert seen[-1] == (5, 5)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_broken_chunk(store):
    victim = chunk_files("x")[2]
    raw = victim.read_bytes()
    victim.write_bytes(raw[:-3])
    (problem,) = ndfile.verify("x")
    assert isinstance(problem, ndfile.Problem)
    assert problem.error is ndfile.CorruptError
    assert problem.path == str(victim)
    assert problem.message
    assert problem.array in (None, "")
    assert not problem.repaired
    with pytest.raises(ndfile.CorruptError, match=victim.name):
        ndfile.read("x")
    with ndfile.open("x") as f:
        assert f.array[:20].tolist() == list(range(20))


def test_repair():
    """Columns of unequal length, as a crash leaves them, and what lies about."""
    ndfile.save("t.bcolz", {"a": np.arange(30), "b": np.arange(30.0)}, chunks=10)
    b = bcolz.carray(rootdir="t.bcolz/b", mode="a")
    b.append(np.arange(30, 45.0))
    b.flush()
    Path("t.bcolz/a/data/__0.blp.ndf-tmp-1").write_bytes(b"half")
    found = ndfile.verify("t.bcolz")
    assert ndfile.LossError in {p.error for p in found}
    assert {p.array for p in found if p.error is ndfile.LossError} == {"b"}
    assert not any(p.repaired for p in found)
    assert ndfile.read("t.bcolz")["b"].tolist() == list(range(30))
    repaired = ndfile.verify("t.bcolz", repair=True)
    assert [p.repaired for p in repaired] == [p.repair is not None for p in repaired]
    assert any(p.repaired for p in repaired)
    assert [p for p in ndfile.verify("t.bcolz") if p.error is ndfile.LossError] == []
    assert len(bcolz.open("t.bcolz", "r")) == len(bcolz.carray(rootdir="t.bcolz/b", mode="r")) == 30


def test_verify_without_a_store():
    with pytest.raises(FileNotFoundError):
        ndfile.verify("nothing")
    ndfile.save("x.ds", {"x": [1, 2]})
    assert ndfile.verify("x.ds") == []
    data = Path("x.ds").read_bytes()
    Path("x.ds").write_bytes(data[:-1])
    assert [p.error for p in ndfile.verify("x.ds")] == [ndfile.CorruptError]
    with pytest.raises(ndfile.FormatError, match="nope"):
        ndfile.verify("x.ds", "nope")


def test_progress_raises(store):
    def enough(done, total):
        raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        ndfile.verify("x", progress=enough)
    with pytest.raises(StopIteration, match="enough"):
        ndfile.convert("x", "x.ds", progress=enough)
    assert os.listdir() == ["x"]


@pytest.mark.parametrize("what", ["verify", "convert"])
def test_interrupt(what):
    """Ctrl-C ends a long call, and leaves nothing half done."""
    data = np.random.default_rng(0).integers(0, 1 << 60, 1 << 21)
    ndfile.save("x", data, format="zarr0", chunks=1 << 10, compression=("lz4", 1))
    began = threading.Event()

    def kill():
        began.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=kill)
    thread.start()
    end = time.monotonic() + 60
    with pytest.raises(KeyboardInterrupt):
        while time.monotonic() < end:  # however fast it is
            if what == "verify":
                ndfile.verify("x", progress=lambda done, total: began.set())
            else:
                ndfile.convert("x", "x.ds", overwrite=True, progress=lambda done, total: began.set())
            time.sleep(0.01)
    thread.join()
    assert set(os.listdir()) <= {"x", "x.ds"}


# convert


def test_convert():
    data = np.arange(60.0).reshape(20, 3)
    ndfile.save("x.ra", data)
    assert ndfile.convert("x.ra", "x.bcolz") == []
    assert ndfile.convert("x.bcolz", "y", "zarr0") == []
    assert ndfile.convert("y", "y.ds", check=False) == []
    assert ndfile.convert("y.ds", "z", "bcolz", from_format="ds", name="data", sync=True) == []
    assert bcolz.open("x.bcolz", "r")[:].tolist() == data.tolist()
    for path in ("x.bcolz", "y"):
        assert np.array_equal(ndfile.read(path), data)
    assert np.array_equal(ndfile.read("y.ds")["data"], data)
    ndfile.save("t.ds", {"a": [1, 2], "b": np.ones((2, 2))}, attrs={"k": 1})
    ndfile.convert("t.ds", "t.bcolz")
    with ndfile.open("t.bcolz") as t:
        assert (t.kind, t.nrows, dict(t.attrs)) == ("table", 2, {"k": 1})


def test_loss():
    masked = np.ma.masked_equal([1.0, 2.0, 3.0], 2)
    ndfile.save("x.ds", {"m": masked, "n": [1, 2, 3]}, attrs={"k": 1}, dims={"n": ("t",)})
    with pytest.raises(ndfile.LossError, match="m"):
        ndfile.convert("x.ds", "x.bcolz")
    assert os.listdir() == ["x.ds"]
    losses = ndfile.convert("x.ds", "x.bcolz", allow_loss=True)
    assert ("m", "mask") in [(loss.array, loss.what) for loss in losses]
    assert all(isinstance(loss, ndfile.Loss) and loss.why for loss in losses)
    assert ndfile.read("x.bcolz")["n"].tolist() == [1, 2, 3]


def test_many_losses():
    """More of them than there is room for at first."""
    ndfile.save("x.ds", {f"v{i}": [1] for i in range(400)}, dims={f"v{i}": ("t",) for i in range(400)})
    losses = ndfile.convert("x.ds", "x.bcolz", allow_loss=True)
    assert {loss.array for loss in losses} == {f"v{i}" for i in range(400)}


def test_convert_refused():
    ndfile.save("x.ds", {"a": [1, 2], "b": [3]})
    ndfile.save("y.ds", {"a": 1})
    with pytest.raises(FileNotFoundError):
        ndfile.convert("nothing", "z.ds")
    with pytest.raises(FileExistsError):
        ndfile.convert("x.ds", "y.ds")
    with pytest.raises(ValueError, match="extension"):
        ndfile.convert("x.ds", "z")
    with pytest.raises(ValueError, match=r"x\.ds"):
        ndfile.convert("x.ds", "z.ra")
    with pytest.raises(KeyError):
        ndfile.convert("x.ds", "z.ra", name="nothing")
    assert ndfile.convert("x.ds", "z.ra", name="b") == []
    assert ndfile.read("z.ra").tolist() == [3]
    ndfile.convert("x.ds", "y.ds", overwrite=True)
    assert list(ndfile.read("y.ds")) == ["a", "b"]


# Migration of early zarr


def named(case):
    return case["name"]


# What the packages do not read, whoever writes it: numcodecs has no snappy, zarr 3 no nested records; the types of
# Zarr v3 that tensorstore and zarrs share are numbers.
NUMBERS = [
    case for case in CASES if isinstance(case["dtype"], str) and np.dtype(case["dtype"]).kind in "biufc"
]


def has_snappy(path):
    return any(
        ndfile.blosc.info(p.read_bytes()).cname == "snappy"
        for p in Path(path).rglob("*")
        if p.is_file() and p.name[0].isdigit()
    )


def migrated(case, format):
    """A copy of a fixture, converted in place."""
    path = Path("migrated").resolve()
    shutil.copytree(ZARR / case["name"], path)
    ndfile.convert(path, path, format)
    assert ndfile.detect(path) == format
    assert not (path / "__zmeta__").exists()
    same_bits(ndfile.read(path), expected(case))
    with ndfile.open(path) as f:
        if "attrs" in case:
            assert plain(dict(f.attrs)) == plain(case["attrs"])
    return path


def close_enough(found, want):
    """Every bit, but the sign of NaN: readers fill in their own."""
    found = np.ascontiguousarray(np.asarray(found)).astype(want.dtype)
    assert found.shape == want.shape
    if want.dtype.kind in "fc":
        assert np.array_equal(found, want, equal_nan=True)
    else:
        assert found.tobytes() == want.tobytes()


@pytest.mark.parametrize("case", CASES, ids=named)
def test_migrated_to_v2(case):
    path = migrated(case, "zarr2")
    if not has_snappy(path) and case["name"] != "struct_nested":
        close_enough(zarr.open_array(path, mode="r", zarr_format=2)[...], expected(case))


@pytest.mark.parametrize("case", NUMBERS, ids=named)
def test_migrated_to_v3(case):
    path = migrated(case, "zarr3")
    want = expected(case)
    if not has_snappy(path):
        close_enough(zarr.open_array(path, mode="r", zarr_format=3)[...], want)
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert zarrs.__version__
        close_enough(zarr.open_array(path, mode="r", zarr_format=3)[...], want)
    if case["name"] != "attrs_nonfinite":  # a bare NaN is no JSON to tensorstore
        store = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)}}
        close_enough(tensorstore.open(store).result().read().result(), want)


def test_what_v3_lacks():
    """What has no place in the new format is refused before anything is changed."""
    refused = 0
    for case in CASES:
        if case in NUMBERS:
            continue
        path = Path(case["name"])
        shutil.copytree(ZARR / case["name"], path)
        try:
            ndfile.convert(path, path, "zarr3")
        except ndfile.NdfileError:
            refused += 1
            assert ndfile.detect(path) == "zarr0"
        same_bits(ndfile.read(path), expected(case))
    assert refused


@pytest.mark.parametrize("cname", ["blosclz", "lz4", "lz4hc", "zlib"])
def test_chunks_are_what_numcodecs_reads(cname):
    """Chunks of early zarr, and a migrated store beside the old one."""
    data = np.random.default_rng(2).integers(0, 50, (30, 20)).astype(">i4")
    for level in (0, 1, 5, 9):
        for shuffle in (0, 1, 2):
            shutil.rmtree("x", ignore_errors=True)
            ndfile.save("x", data, format="zarr0", chunks=(10, 20), compression=(cname, level, shuffle))
            for i in range(3):
                raw = numcodecs.blosc.decompress(Path("x/__zdata__", f"{i}.0.blosc").read_bytes())
                assert raw == data[10 * i : 10 * i + 10].tobytes()
    for format, version in (("zarr2", 2), ("zarr3", 3)):
        ndfile.convert("x", format, format)
        assert np.array_equal(zarr.open_array(format, mode="r", zarr_format=version)[...], data)
        assert np.array_equal(ndfile.read(format), data)
    assert np.array_equal(ndfile.read("x"), data)


def test_bcolz_to_zarr():
    data = np.arange(1000, dtype="f4")
    bcolz.carray(data, rootdir="x", chunklen=100, mode="w").flush()
    for format, version in (("zarr2", 2), ("zarr3", 3)):
        assert ndfile.convert("x", format, format) == []
        found = zarr.open_array(format, mode="r", zarr_format=version)
        assert found.chunks == (100,)
        assert np.array_equal(found[...], data)


# split and concat


def test_split_and_concat():
    columns = {
        "a": np.arange(95),
        "m": np.arange(190.0).reshape(95, 2),
        "s": np.array([b"x%d" % i for i in range(95)]),
    }
    ndfile.save("t.bcolz", columns, chunks=10, attrs={"k": 1})
    ndfile.split("t.bcolz", {"one.bcolz": 20, "two.bcolz": 70, Path("three.bcolz"): 5})
    start = 0
    for path, n in (("one.bcolz", 20), ("two.bcolz", 70), ("three.bcolz", 5)):
        part = ndfile.read(path)
        for name, want in columns.items():
            assert np.array_equal(part[name], want[start : start + n])
            assert np.array_equal(bcolz.open(path, "r")[name][:], want[start : start + n])
        start += n
        assert dict(ndfile.open(path).attrs) == {"k": 1}
    assert Path("two.bcolz/a/data/__0.blp").read_bytes() == Path("t.bcolz/a/data/__2.blp").read_bytes()
    ndfile.concat(["one.bcolz", "two.bcolz", "three.bcolz"], "all.bcolz")
    for name, want in columns.items():
        assert np.array_equal(ndfile.read("all.bcolz")[name], want)
    assert ndfile.verify("all.bcolz") == []


def test_split_of_an_array():
    ndfile.save("x.bcolz", np.arange(25), chunks=10)
    ndfile.split("x.bcolz", [("a", 10), ("b", 15)], exclusive=True)
    assert ndfile.read("b").tolist() == list(range(10, 25))
    with pytest.raises(FileExistsError):
        ndfile.split("x.bcolz", [("a", 10), ("c", 15)], exclusive=True)
    for parts in ({"c": 5, "d": 20}, {"c": 10, "d": 10}, {"c": 30}, {}):
        with pytest.raises(ValueError, match=r"x\.bcolz"):
            ndfile.split("x.bcolz", parts)
    with pytest.raises(TypeError):
        ndfile.split("x.bcolz", {"c": "all"})
    assert sorted(os.listdir()) == ["a", "b", "x.bcolz"]
    ndfile.save("y.bcolz", np.arange(25.0), chunks=10)
    with pytest.raises(TypeError):
        ndfile.concat(["a", "y.bcolz"], "z")
    with pytest.raises(ValueError, match="b"):
        ndfile.concat(["b", "a"], "z")
    ndfile.save("z.ds", {"x": 1})
    with pytest.raises(NotImplementedError):
        ndfile.split("z.ds", {"c": 1})


# limits


def test_limits(store):
    with ndfile.open("x", "r+") as f:
        f.attrs["long"] = "x" * 10000
    ndfile.set_limits(max_header=1000)
    try:
        with pytest.raises(ndfile.LimitError):
            ndfile.info("x")
    finally:
        ndfile.set_limits()
    assert len(ndfile.info("x")["attrs"]["long"]) == 10000
    with pytest.raises(ValueError, match="-1"):
        ndfile.set_limits(max_header=-1)
