"""Dask with worker processes: stores that they write together, migrations, small files."""

import doctest
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import ndfile
import ndfile.dask

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


STORES = {
    "zarr0": {"format": "zarr0", "chunks": (32, 30)},
    "zarr2": {"format": "zarr2", "chunks": (32, 30)},
    "zarr3": {"format": "zarr3", "chunks": (32, 30)},
    "sharded zarr3": {"format": "zarr3", "chunks": (8, 10), "shards": (32, 30)},
    "bcolz": {"format": "bcolz", "chunks": (24,)},
}


@pytest.mark.parametrize("kind", STORES)
def test_blocks_that_share_chunks(client, kind):
    how = dict(STORES[kind])
    format = how.pop("format")
    x = np.random.default_rng(6).integers(1, 1 << 30, (96, 90))
    for run in range(100 if os.environ.get("NDFILE_TORTURE") else 3):
        with ndfile.open(f"s{run}", "w", format=format) as f:
            f.create("", x.shape, x.dtype, **how)
        with ndfile.open(f"s{run}", "r+") as f:
            da.store(da.from_array(x, chunks=(19, 27)), f.array, lock=False)
            assert (f.array[...] == x).all()
        assert int((ndfile.read(f"s{run}") != x).sum()) == 0


def test_arrays_are_read_in_workers(client):
    ndfile.save("a.zarr", np.arange(6000.0).reshape(60, 100), format="zarr0", chunks=(20, 50))
    with ndfile.open("a.zarr") as f:
        x = da.from_array(f.array, f.array.chunks)
        assert x.chunks == ((20,) * 3, (50,) * 2)
        assert float(x.sum().compute()) == 17_997_000
        assert x.name == da.from_array(f.array, f.array.chunks).name


def early(path, shape=(120, 100)):
    x = np.random.default_rng(2).normal(size=shape)
    ndfile.save(path, x, format="zarr0", chunks=(17, 30))
    with ndfile.open(path, "r+") as f:
        f.attrs["station"] = "Praha"
    return x


def test_migration_to_shards(client):
    x = early("old.zarr")
    done = ndfile.dask.convert(
        "old.zarr", "new.zarr", client, chunks=(10, 10), shards=(40, 50), task_bytes=20_000
    )
    assert done.pieces == done.written > 4
    assert (done.arrays, done.elements, done.nbytes) == (1, x.size, x.nbytes)
    assert not os.path.exists("new.zarr.partial")
    assert ndfile.detect("new.zarr") == "zarr3"
    assert (ndfile.read("new.zarr") == x).all()
    assert ndfile.verify("new.zarr") == []
    with pytest.raises(ndfile.ExistsError):
        ndfile.dask.convert("old.zarr", "new.zarr", client)


def test_a_worker_is_killed(client):
    x = early("old.zarr", (2000, 100))
    pids, at = list(client.run(os.getpid).values()), []

    def kill():
        deadline = time.monotonic() + 60
        while not (n := _chunks("new.zarr.partial")) > 20 and time.monotonic() < deadline:
            time.sleep(0.002)
        os.kill(pids[0], signal.SIGKILL)
        at.extend([n, _chunks("new.zarr.partial")])

    killer = threading.Thread(target=kill)
    killer.start()
    done = ndfile.dask.convert("old.zarr", "new.zarr", client, chunks=(10, 50), shards=(20, 50), task_bytes=1)
    killer.join()
    assert at[0] > 20 and at[1] < 200  # in the middle of the copies
    assert done.pieces == 200
    assert (ndfile.read("new.zarr") == x).all()
    assert ndfile.verify("new.zarr") == []
    client.wait_for_workers(4, timeout=30)
    assert pids[0] not in client.run(os.getpid).values()


def test_everything_is_killed():
    x = early("old.zarr", (2000, 100))
    program = "import ndfile.dask; ndfile.dask.convert('old.zarr', 'new.zarr', chunks=(10, 50), shards=(20, 50), task_bytes=1)"
    with subprocess.Popen([sys.executable, "-c", program]) as p:
        deadline = time.monotonic() + 30
        while not _chunks("new.zarr.partial") > 20 and p.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        p.send_signal(signal.SIGKILL)
    assert not os.path.exists("new.zarr")
    done = ndfile.dask.convert("old.zarr", "new.zarr", chunks=(10, 50), shards=(20, 50), task_bytes=1)
    assert 0 < done.written < done.pieces
    assert (ndfile.read("new.zarr") == x).all()


def _chunks(path):
    return sum(len(files) for _, _, files in os.walk(path))


def test_migration_refuses():
    early("old.zarr")
    with pytest.raises(ndfile.NotSupportedError, match="regions"):
        ndfile.dask.convert("old.zarr", "new.ds", format="ds")
    ndfile.save("new.zarr.partial", np.zeros(3), format="zarr3")
    with pytest.raises(ndfile.ArgumentError, match="earlier run"):
        ndfile.dask.convert("old.zarr", "new.zarr")
    ndfile.save("m.ds", {"x": np.ma.masked_equal([1, 2], 2)})
    with pytest.raises(ndfile.NotSupportedError, match="mask"):
        ndfile.dask.convert("m.ds", "m.zarr", format="zarr3")


def test_mean_of_many_files(client):
    n = 20_000 if os.environ.get("NDFILE_TORTURE") else 1000
    paths = [f"{i:05d}.ds" for i in range(n)]
    ndfile.save_many(paths, [{"t": np.full(5, float(i)), "n": np.array(i)} for i in range(n)])
    parts = ndfile.dask.map_files(lambda t: (t.sum(), t.size), paths, "t", client, batch=100)
    total, count = np.sum(parts, axis=0)
    assert total / count == (n - 1) / 2
    assert ndfile.dask.map_files(lambda c: int(c["n"]), paths, client=client) == list(range(n))
    with pytest.raises(ndfile.NotFoundError, match="missing"):
        ndfile.dask.map_files(np.sum, [*paths[:3], "missing.ds"], "t", client)


def test_examples():
    found = doctest.testmod(ndfile.dask)
    assert found.attempted
    assert not found.failed
