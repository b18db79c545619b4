"""Little memory, few addresses: errors, and never a dead process."""

import json
import os
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from support import ROOT

import ndfile

linux = pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is counted as on Linux")


def child(script, **options):
    env = dict(os.environ, PYTHONPATH=str(ROOT / "bindings" / "python"), OPENBLAS_NUM_THREADS="1")
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env=env, **options
    )


LIMITED = """if True:
    import numpy as np, os, resource, sys
    with open("/proc/self/statm") as f:
        used = int(f.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (%d << 20),) * 2)
    try:
        import ndfile
    except ImportError as e:
        print(e)
        sys.exit(3)
    a = np.arange(50_000).reshape(500, 100)
    ndfile.save("%s", {"a": a}, format="ds")
    ndfile.save("%s", {"a": a[:, 0]}, format="bcolz")
    assert (ndfile.read("%s")["a"] == a).all() and not ndfile.verify("%s")
    print("works")
"""


@linux
@pytest.mark.parametrize("left", [200, 600, 900, 1500, 5000])
def test_few_addresses(left):
    """The library works with what NumPy is content with."""
    done = child(LIMITED % (left, "x.ds", "x.bcolz", "x.ds", "x.bcolz"))
    assert (done.stdout, done.returncode) == ("works\n", 0), done.stderr


@linux
@pytest.mark.parametrize("left", [20, 60, 120])
def test_too_few_addresses(left):
    """An error that names the limit, before anything is loaded."""
    done = child(LIMITED % (left, "x", "x", "x", "x"))
    assert done.returncode == 3 and "RLIMIT_AS" in done.stdout and "KiB are left" in done.stdout, done


@linux
def test_too_few_addresses_in_a_child():
    """A forked child that cannot load its copy of the library gets an error, and lives on."""
    done = child("""if True:
        import os, resource, ndfile
        ndfile.save("x.ds", {"x": 1})
        with open("/proc/self/statm") as f:
            used = int(f.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (60 << 20),) * 2)
        if os.fork() == 0:
            try:
                ndfile.read("x.ds")
            except ndfile.ForkedError as e:
                os._exit(0 if "RLIMIT_AS" in str(e) else 1)
            os._exit(2)
        print(os.waitstatus_to_exitcode(os.wait()[1]))
    """)
    assert done.stdout == "0\n", done


@linux
def test_loaded_by_hand():
    """A program that does not look before ends with a line that tells why."""
    script = (
        LIMITED.split("try:", maxsplit=1)[0] + "import ctypes\n    ctypes.CDLL(os.environ['NDFILE_LIB'])\n"
    )
    done = child(script % 70)
    assert done.returncode == 2 and done.stderr.startswith(
        "libndfile: too little address space: RLIMIT_AS"
    ), done
    assert done.stderr.count("\n") == 1


def hollow(name, shape):
    """Write a file of some bytes that declares an array of int16 without elements."""
    if name == "x.npy":
        head = f"{{'descr': '<i2', 'fortran_order': False, 'shape': {shape!r}, }}".encode()
        head += b" " * (-(len(head) + 11) % 64) + b"\n"
        raw = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head
    elif name == "x.ra":
        raw = b"rawarray" + struct.pack(f"<{5 + len(shape)}Q", 0, 1, 2, 0, len(shape), *shape[::-1])
    elif name == "x.ds":
        x = {".size": shape, ".offset": 0, ".type": "int16", ".len": 0, ".missing": False, ".endian": "l"}
        raw = b"ds-1.0\n" + json.dumps({"x": x, ".": {}}).encode() + b"\n"
    else:
        chunks = [min(max(n, 1), 100) for n in shape]
        meta = {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<i2", "fill_value": 1}
        meta |= {"order": "C", "compressor": None, "filters": None}
        os.mkdir(name)
        name, raw = name + "/.zarray", json.dumps(meta).encode()
    with open(name, "wb") as f:
        f.write(raw)


@pytest.mark.parametrize("name", ["x.npy", "x.ra", "x.ds", "x.zarr"])
@pytest.mark.parametrize("shape", [(0, 2**61), (2**61, 0), (2**40, 0, 2**20), (1,) * 30 + (0,)])
def test_hollow(name, shape):
    """Work goes by the elements that there are, not by the extents that a header declares."""
    hollow(name, shape)
    assert ndfile.verify(name) == []
    with ndfile.open(name) as f:
        v = f[next(iter(f))]
        blocks = list(v.iterblocks())
        assert sum(len(b) for b in blocks) == shape[0] and len(blocks) <= 1
        assert v.count() == 0 and v.sum() == 0
        assert list(map(len, v.iterblocks(1))) == list(map(len, blocks))
    for to in ("y.ds", "y.npy", "y.ra"):
        ndfile.convert(name, to)
        with ndfile.open(to) as f:
            assert f[next(iter(f))].shape == shape
    command = os.environ.get("NDFILE_COMMAND", str(ROOT / "build" / "ndfile"))
    if os.path.exists(command):
        for words in (["stats", name], ["diff", name, "y.ds", "--json"], ["verify", name], ["cat", name]):
            done = subprocess.run([command, *words], capture_output=True, text=True, timeout=20)
            assert done.returncode in (0, 1), done


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a shell's background is needed")
def test_in_the_background():
    """Ctrl-C works where a shell has SIGINT ignored and the program sets its handler."""
    np.save("x.npy", np.arange(3))
    script = """if True:
        import os, signal, sys, ndfile
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        signal.signal(signal.SIGINT, signal.default_int_handler)
        def hurry(done, total):
            os.kill(os.getpid(), signal.SIGINT)
        try:
            ndfile.verify("x.npy", progress=hurry)
        except KeyboardInterrupt:
            print("interrupted")
    """
    env = dict(os.environ, PYTHONPATH=str(ROOT / "bindings" / "python"))
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1" & wait $!', sys.executable, script],
        capture_output=True, text=True, timeout=60, env=env,
    )  # fmt: skip
    assert done.stdout == "interrupted\n", done


def test_cache(tmp_path):
    x = np.arange(1 << 20, dtype="i4").reshape(1024, 1024)
    for k in range(2):
        with ndfile.open(tmp_path / f"{k}", "w", format="zarr3") as f:
            f.create("", x.shape, x.dtype, chunks=(256, 1024), codecs=["gzip"])[...] = x
    try:
        ndfile.set_cache_limit(0)  # what other tests have left goes
        ndfile.set_cache_limit(3 << 20)
        with ndfile.open(tmp_path / "0") as f, ndfile.open(tmp_path / "1") as g:
            begin = ndfile.cache_info()
            assert begin.limit == 3 << 20
            for _ in range(2):
                assert np.array_equal(f.array[5:9, 7:900], x[5:9, 7:900])
            info = ndfile.cache_info()
            assert info.hits == begin.hits + 1 and info.misses == begin.misses + 1
            assert info.used - begin.used >= 1 << 20
            for array in f.array, g.array:
                for i in range(0, 1024, 256):
                    assert np.array_equal(array[i : i + 4], x[i : i + 4])
            assert 2 << 20 <= ndfile.cache_info().used <= 3 << 20
            ndfile.set_cache_limit(0)
            assert ndfile.cache_info().used == 0 and f.array[700, 3] == x[700, 3]
            ndfile.set_cache_limit(None)
            assert g.array[700, 3] == x[700, 3]
            assert ndfile.cache_info().limit == 64 << 20 and ndfile.cache_info().used >= 1 << 20
        assert ndfile.cache_info().used == begin.used
        ndfile.set_cache_limit(12345)
        pid = os.fork()
        if pid == 0:
            os._exit(ndfile.cache_info().limit != 12345)
        assert os.waitpid(pid, 0)[1] == 0
        for bad in -1, -2:
            with pytest.raises(ndfile.ArgumentError, match=str(bad)):
                ndfile.set_cache_limit(bad)
    finally:
        ndfile.set_cache_limit(None)


def test_verify_beyond_a_limit(tmp_path):
    """What takes more memory than is allowed is not called damaged."""
    n = 24 << 20
    meta = {"zarr_format": 2, "shape": [n], "chunks": [n], "dtype": "|u1", "fill_value": 0, "order": "C"}
    meta.update(compressor={"id": "zlib", "level": 1}, filters=[{"id": "shuffle", "elementsize": 4}])
    (tmp_path / ".zarray").write_text(json.dumps(meta))
    (tmp_path / "0").write_bytes(zlib.compress(bytes(n), 1))
    with pytest.raises(ndfile.LimitError, match="max_chunk"):
        ndfile.verify(tmp_path)
    ndfile.set_limits(max_chunk=64 << 20)
    try:
        assert ndfile.verify(tmp_path) == []
    finally:
        ndfile.set_limits()
