"""Random arrays of zarr2 and zarr3, with every chain and shards, against NumPy and zarr-python in both directions.

100 of them; 2,000 with NDFILE_TORTURE. Processes that share the shards of an array.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr

import ndfile

DTYPES = ["i1", "<i2", ">i4", "<u8", "<f4", ">f8", "<c8", "?", "S3", "<U2", "<M8[s]"]
CODECS = [
    [],
    ["zstd"],
    ["gzip"],
    [{"name": "blosc", "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}],
    ["crc32c"],
    ["transpose", "zstd"],
    ["transpose", "gzip", "crc32c"],
]
CODECS2 = [[], ["zlib"], ["zstd"], ["lz4"], ["delta", "zlib"], ["shuffle", "gzip"], ["bz2"], ["crc32"]]


def elements(rng, dtype, shape):
    """Give random elements of a dtype, many of them zero."""
    dtype = np.dtype(dtype)
    n = rng.integers(0, 100, shape) * (rng.random(shape) < 0.7)
    if dtype.kind == "b":
        return n > 50
    if dtype.kind in "SU":
        return n.astype("U3").astype(dtype)
    return (
        n.astype("i8").astype(dtype) if dtype.kind == "M" else (n - 30 * (dtype.kind in "if")).astype(dtype)
    )


def selection(rng, shape):
    """Give a random selection of slices with steps, and integers."""
    index = []
    for n in shape:
        if rng.random() < 0.2 and n > 0:
            index.append(int(rng.integers(n)))
        else:
            start, stop = sorted(rng.integers(0, n + 1, 2).tolist())
            index.append(slice(start, stop, int(rng.integers(1, 4))))
    return tuple(index)


def one(rng, path):
    """Write an array with one program, read and change it with the other, and back."""
    version = 3 if rng.random() < 0.7 else 2
    shape = tuple(rng.integers(1, 14, int(rng.integers(1, 4))).tolist())
    chunks = tuple(rng.integers(1, 6, len(shape)).tolist())
    dtype = np.dtype(DTYPES[rng.integers(len(DTYPES))])
    codecs = CODECS[rng.integers(len(CODECS))] if version == 3 else CODECS2[rng.integers(len(CODECS2))]
    how = {"codecs": codecs}
    if version == 2 and dtype.kind in "SUMb?c":
        how = {"codecs": ["zstd"]}
    if version == 3 and rng.random() < 0.6 and "transpose" not in codecs:
        how["shards"] = tuple(c * int(k) for c, k in zip(chunks, rng.integers(1, 4, len(shape))))
    case = f"zarr{version} {shape} {chunks} {dtype} {how}"
    model = elements(rng, dtype, shape)
    with ndfile.open(path, "w", format=f"zarr{version}") as f:
        f.create("", shape, dtype, chunks=chunks, **how)[...] = model
    z = zarr.open_array(path, mode="r+")
    assert np.array_equal(z[...], model), case
    assert getattr(z, "shards", None) == how.get("shards"), case
    for _ in range(3):
        at = selection(rng, shape)
        part = elements(rng, dtype, model[at].shape)
        model[at] = part
        if rng.random() < 0.5:
            z[at] = part
        else:
            with ndfile.open(path, "r+") as f:
                f.array[at] = part
        with ndfile.open(path) as f:
            got = selection(rng, shape)
            assert np.array_equal(f.array[got], model[got]), (case, at, got)
        assert np.array_equal(zarr.open_array(path, mode="r")[...], model), (case, at)
    assert ndfile.verify(path) == [], case


def test_random(tmp_path):
    rounds = 2000 if os.environ.get("NDFILE_TORTURE") else 100
    for seed in range(rounds):
        one(np.random.default_rng(seed), tmp_path / f"{seed}.zarr")


WRITER = """
import sys, numpy as np, ndfile
path, k, shared = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "True"
with ndfile.open(path, "r+", shared=shared, timeout=100) as f:
    a = f.array
    for at in range(25 * k, 10_000, 100):
        a[at : at + 25] = np.arange(at + 1, at + 26)
"""


@pytest.fixture
def shards(tmp_path):
    path = tmp_path / "shared.zarr"
    with ndfile.open(path, "w", format="zarr3") as f:
        f.create("", (10_000,), "i4", chunks=(100,), shards=(2_500,), codecs=["zstd"])
    return path


def nothing_is_lost(path):
    for read in (ndfile.read(path), zarr.open_array(path, mode="r")[...]):
        assert np.count_nonzero(read != np.arange(1, 10_001)) == 0
    assert ndfile.verify(path) == []


@pytest.mark.parametrize("shared", [True, False])
def test_processes_share_shards(shards, shared):
    """Without shared=True they wait for each other."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(ndfile.__file__)))
    env = {**os.environ, "PYTHONPATH": package}
    commands = [[sys.executable, "-c", WRITER, str(shards), str(k), str(shared)] for k in range(4)]
    writers = [subprocess.Popen(command, env=env) for command in commands]
    assert [w.wait(120) for w in writers] == [0] * 4
    nothing_is_lost(shards)


@pytest.mark.parametrize("shared", [True, False])
def test_threads_share_shards(shards, shared):
    """Each of 8 threads writes every eighth run of 25 elements, through two handles where they can be."""
    with (
        ndfile.open(shards, "r+", shared=shared) as f,
        ndfile.open(shards, "r+" if shared else "r", shared=shared) as g,
    ):
        arrays = [f.array, g.array if shared else f.array]

        def write(k):
            for at in range(25 * k, 10_000, 200):
                arrays[k % 2][at : at + 25] = np.arange(at + 1, at + 26)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(8)))
    nothing_is_lost(shards)
