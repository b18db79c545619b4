"""zarr-python with the codec pipeline of this package."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import zarr

import ndfile
import ndfile.zarr

BOTH = pytest.mark.parametrize("version", [2, 3])


@pytest.fixture(autouse=True)
def calls(monkeypatch):
    """Have zarr use the pipeline, and list what it had the library do."""
    done = []
    for name in "_read", "_write":
        work = getattr(ndfile.zarr, name)
        monkeypatch.setattr(
            ndfile.zarr, name, lambda *given, work=work, name=name: (done.append(name), work(*given))[1]
        )
    with zarr.config.set({"codec_pipeline.path": "ndfile.zarr.Pipeline"}):
        yield done


def same(x, y):
    return np.array_equal(x, y, equal_nan=y.dtype.kind == "M")


@BOTH
@pytest.mark.parametrize("dtype", ["i4", ">f8", "U3", "S5", "M8[s]", "c8", "?", "f2"])
@pytest.mark.parametrize("shards", [None, (20, 30)])
@pytest.mark.filterwarnings("ignore")
def test_random(tmp_path, calls, version, dtype, shards):
    if version == 2 and shards:
        pytest.skip("no shards")
    rng = np.random.default_rng(len(dtype))
    z = zarr.open_group(tmp_path, mode="w", zarr_format=version).create_array(
        "a/b", shape=(53, 47), chunks=(10, 15), shards=shards, dtype=dtype
    )
    model = np.full((53, 47), "NaT" if "M8" in dtype else np.zeros((), dtype), dtype)
    for _ in range(15):
        (a, b), (c, d) = np.sort(rng.integers(0, 54, 2)), np.sort(rng.integers(0, 48, 2))
        part = rng.integers(0, 2, (b - a, d - c)).astype(dtype)
        z[a:b, c:d] = model[a:b, c:d] = part
        z[a:b, 5] = model[a:b, 5] = model.flat[7]
        step = int(rng.integers(1, 4))
        assert same(z[a:b:step, c:d], model[a:b:step, c:d])
        if a < b:
            assert same(z[a, c:d], model[a, c:d])
        assert same(z.oindex[[1, 50], :], model[[1, 50]])
    assert {"_read", "_write"} == set(calls)
    with ndfile.open(tmp_path / "a" / "b") as f:
        assert same(f.array[...], model)
    with zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.BatchedCodecPipeline"}):
        assert same(zarr.open_array(tmp_path / "a" / "b", mode="r")[...], model)
    assert same(pickle.loads(pickle.dumps(z))[...], model)


@BOTH
def test_missing(tmp_path, calls, version):
    z = zarr.create_array(
        tmp_path / "z", shape=(40,), chunks=(10,), dtype="i4", fill_value=7, zarr_format=version
    )
    z[:] = 7
    assert not calls  # there is nothing to write
    z[:] = np.arange(40)
    z[10:30] = 7
    assert z.nchunks_initialized == 2
    assert z[8:12].tolist() == [8, 9, 7, 7] and z[()][-1] == 39


def test_others(tmp_path, calls):
    """What the library is not asked for is done all the same."""
    z = zarr.create_array(zarr.storage.MemoryStore(), shape=(40,), chunks=(10,), dtype="i4")
    z[:] = np.arange(40)
    assert z[5:8].tolist() == [5, 6, 7]
    z = zarr.create_array(tmp_path / "text", shape=(4,), chunks=(2,), dtype=str)
    z[:] = ["a", "bc", "", "ß"]
    assert z[1:].tolist() == ["bc", "", "ß"]
    assert not calls
    z = zarr.create_array(tmp_path / "z", shape=(40,), chunks=(10,), dtype="i4", compressors=None)
    z[:] = np.arange(1, 41)
    (tmp_path / "z" / "c" / "2").write_bytes(b"torn")
    with pytest.raises(ValueError, match="reshape"):
        z[:]
    assert z[5:8].tolist() == [6, 7, 8]
    before = len(calls)
    with pytest.raises(ValueError, match="read-only"):
        zarr.open_array(tmp_path / "z", mode="r")[:] = 3
    assert z[5:8].tolist() == [6, 7, 8] and "_write" not in calls[before:]


WRITER = """if True:
    import sys, zarr, ndfile.zarr
    zarr.config.set({"codec_pipeline.path": "ndfile.zarr.Pipeline"})
    z = zarr.open_array(sys.argv[1], mode="r+")
    for i in range(int(sys.argv[2]), 2000, 4):
        z[i] = i + 1
"""


@pytest.mark.filterwarnings("ignore")
def test_processes(tmp_path):
    """Four processes write elements of the same shards, and a forked child reads them."""
    z = zarr.create_array(tmp_path, shape=(2000,), chunks=(50,), shards=(500,), dtype="i4")
    z[:] = -1
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(ndfile.__file__))}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(k)], env=env) for k in range(4)
    ]
    assert [w.wait(120) for w in writers] == [0] * 4
    assert np.array_equal(z[:], np.arange(1, 2001))
    pid = os.fork()
    if pid == 0:
        os._exit(not np.array_equal(z[:], np.arange(1, 2001)))
    assert os.waitpid(pid, 0)[1] == 0
