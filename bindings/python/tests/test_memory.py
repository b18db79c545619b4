"""How much memory reading, verify and convert take: 64 MiB and four times the file, beside the caller's own."""

import bz2
import json
import lzma
import os
import pathlib
import random
import shutil
import subprocess
import sys
import zlib

import numpy as np
import pytest

import ndfile

TESTS = pathlib.Path(__file__).resolve().parents[3]
TORTURE = bool(os.environ.get("NDFILE_TORTURE"))
pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/clear_refs"), reason="memory is counted as on Linux"
)

# Goes through the paths on stdin, and tells for each call the most memory that it took beside what there was, and how
# much of that is the caller's.
CHILD = """
import os, shutil, sys, tempfile, numpy as np, ndfile

def of(key):
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith(key))

def size(path):
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(path) for n in names)

def strided(path):
    with ndfile.open(path) as f:
        for name in f:
            a = f[name]
            if a.shape:
                a[:: max(7, a.shape[0] // 1000)]
    return 0

def whole(path):
    total = 0
    with ndfile.open(path) as f:
        for name in f:
            a = f[name]
            n = int(np.prod(a.shape, dtype=object)) * max(a.dtype.itemsize, 1)
            if n < 1 << 28 and a.dtype.kind != "O":
                total = max(total, np.asarray(a[...]).nbytes * (2 if a.masked else 1))
    return total

def converted(path):
    with ndfile.open(path) as f:
        if any(int(np.prod(f[name].shape, dtype=object)) > 1 << 30 for name in f if f[name].shape):
            return 0  # every element is copied: it ends, but when?
    with tempfile.TemporaryDirectory() as tmp:
        ndfile.convert(path, os.path.join(tmp, "c"), "zarr3", allow_loss=True, check=False)
    return 0

CALLS = {"verify": lambda p: len(ndfile.verify(p)) * 2000, "strided": strided, "whole": whole, "convert": converted}
for line in sys.stdin:
    path = line.rstrip("\\n")
    for what, call in CALLS.items():
        before = of("VmRSS")
        open("/proc/self/clear_refs", "w").write("5")
        own, said = 0, ""
        try:
            own = call(path)
        except (ndfile.NdfileError, ValueError, TypeError, MemoryError, RecursionError) as e:
            said = type(e).__name__
        took = of("VmHWM") - before - own
        print(what, took >> 20, int(took > (64 << 20) + 4 * size(path)), said or "-", path, flush=True)
"""


def most(paths):
    """Run the child, and give the lines of what took too much."""
    text = "".join(f"{p}\n" for p in paths)
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=text,
        capture_output=True,
        text=True,
        timeout=7200 if TORTURE else 600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line.split(" ", 4) for line in done.stdout.splitlines()]
    assert len(lines) == 4 * len(paths)
    if os.environ.get("NDFILE_SHOW"):
        print(done.stdout)
    return [f"{what} of {path}: {mib} MiB, {said}" for what, mib, over, said, path in lines if over == "1"]


N = 96 << 20  # bytes of the chunk


def bomb(path, compressor, data, dtype="|u1", shape=(N,), filters=None):
    path.mkdir()
    meta = {
        "zarr_format": 2,
        "shape": shape,
        "chunks": shape,
        "dtype": dtype,
        "fill_value": "" if dtype == "|O" else 0,
    }
    meta.update(compressor=compressor, filters=filters, order="C")
    (path / ".zarray").write_text(json.dumps(meta))
    (path / ".".join("0" for _ in shape)).write_bytes(data)
    return path


def make_bombs(folder):
    zeros = bytes(N)
    gz = zlib.compressobj(1, zlib.DEFLATED, 31)
    gz = gz.compress(zeros) + gz.flush()
    yield bomb(folder / "big endian", {"id": "gzip", "level": 1}, gz, ">f8", (N // 8,))
    yield bomb(folder / "by columns", {"id": "gzip", "level": 1}, gz, "<f8", (1 << 10, N >> 13))
    yield bomb(
        folder / "delta", {"id": "gzip", "level": 1}, gz, "<i4", (N // 4,), [{"id": "delta", "dtype": "<i4"}]
    )
    count = N // 2048
    text = (2044).to_bytes(4, "little") + bytes(2044)
    texts = zlib.compress(count.to_bytes(4, "little") + count * text, 1)
    yield bomb(folder / "texts", {"id": "zlib", "level": 1}, texts, "|O", (count,), [{"id": "vlen-utf8"}])
    if TORTURE:  # seconds each
        yield bomb(folder / "zlib", {"id": "zlib", "level": 1}, zlib.compress(zeros, 1))
        yield bomb(folder / "gzip", {"id": "gzip", "level": 1}, gz)
        yield bomb(folder / "bz2", {"id": "bz2", "level": 1}, bz2.compress(zeros, 9))
        yield bomb(folder / "lzma", {"id": "lzma", "format": 1}, lzma.compress(zeros, preset=0))
    for codecs in (["zstd"], [{"name": "numcodecs.lz4"}], ["blosc", "crc32c"]):
        path = folder / "-".join(str(c) for c in codecs).replace("{'name': 'numcodecs.", "").replace("'}", "")
        with ndfile.open(path, "w", format="zarr3") as f:
            f.create("", (N,), "|u1", chunks=(N,), codecs=codecs)[...] = np.zeros(N, "u1")
        yield path
    with ndfile.open(folder / "bcolz", "w", format="bcolz") as f:
        f.create("", (N,), "|u1", chunks=(N,))[...] = np.zeros(N, "u1")
    yield folder / "bcolz"


def test_bombs(tmp_path):
    assert most(list(make_bombs(tmp_path))) == []


def stores(folder):
    """Give what may be a file of one of the formats, also damaged ones."""
    for at, folders, names in os.walk(folder):
        inside = [
            n for n in names if n in (".zarray", "zarr.json", "__zmeta__", "__rootdirs__", ".zgroup")
        ] or "meta" in folders
        if inside:
            yield at
            folders.clear()
            continue
        yield from (os.path.join(at, n) for n in names)


def some(most):
    """Give the fixtures, or in a quick run about as many of them."""
    found = [p for d in sorted(TESTS.glob("pkg/*/testdata")) for p in sorted(stores(d)) if "\n" not in p]
    assert len(found) > 200
    return found if TORTURE else found[:: max(1, len(found) // most)]


def test_fixtures(tmp_path):
    shutil.rmtree(tmp_path)
    assert most(some(120)) == []


def mutants(folder, paths, each):
    """Copies in which a few bytes of one file are other ones."""
    rng = random.Random(20261122)
    for i, path in enumerate(each * paths):
        copy = folder / str(i) / os.path.basename(path)
        copy.parent.mkdir()
        (shutil.copytree if os.path.isdir(path) else shutil.copyfile)(path, copy)
        files = [copy] if copy.is_file() else sorted(p for p in copy.rglob("*") if p.is_file())
        files = [p for p in files if p.stat().st_size > 0]
        if not files:
            continue
        chosen = rng.choice(files)
        data = bytearray(chosen.read_bytes())
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(min(len(data), rng.choice([16, 256, 1 << 20])))] = rng.randrange(256)
        chosen.chmod(0o644)
        chosen.write_bytes(data)
        yield copy


def test_mutants(tmp_path):
    assert most(list(mutants(tmp_path, some(60), 5 if TORTURE else 1))) == []


CHANGE = """
import resource, sys, ndfile
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
with ndfile.open(sys.argv[1], "r+") as f:
    before = peak()
    f.array[5] = 1.5
print(peak() - before)
"""


@pytest.mark.parametrize("format", ["zarr0", "zarr2", "zarr3", "bcolz"])
def test_a_change_takes_two_and_a_half_chunks_at_most(tmp_path, format):
    path, n = tmp_path / "x", 4 << 20
    with ndfile.open(path, "w", format=format) as f:
        f.create("", [n], "f8", chunks=[n])[:] = np.random.default_rng(0).standard_normal(n).round(2)
    done = subprocess.run([sys.executable, "-c", CHANGE, path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= 2.5 * n * 8
    with ndfile.open(path) as f:
        assert f.array[5] == 1.5
