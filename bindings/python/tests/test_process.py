"""A good guest: forked children, pickles, signals of others, a second copy of the library."""

import copy
import ctypes
import os
import pickle
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from support import ROOT

import ndfile

needs_fork = pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="no fork here")


def run(script, timeout=60, **env):
    """Run a script in a process of its own; one that hangs fails."""
    script = "import os, sys, signal, threading, numpy as np, ndfile\n" + textwrap.dedent(script)
    env = dict(os.environ, PYTHONPATH=str(ROOT / "bindings" / "python"), **env)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "ignore::DeprecationWarning", "-c", script],
        timeout=timeout,
        capture_output=True,
        text=True,
        env=env,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# A forked child that does something and tells by its status whether it went well.
IN_CHILD = """
def in_child(work):
    pid = os.fork()
    if pid:
        assert os.waitpid(pid, 0)[1] == 0
        return
    try:
        signal.alarm(30)
        work()
    except BaseException:
        import traceback
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
"""


@needs_fork
def test_tables():
    """A table in a child is opened again; a stream of the parent does no harm there."""
    run(
        IN_CHILD
        + textwrap.dedent("""
        ndfile.save("t.bcolz", {"a": np.arange(1000), "b": np.ones((1000, 2))}, chunks=100)
        t = ndfile.open("t.bcolz")
        capsule = t.__arrow_c_stream__()
        changing = ndfile.open("t.bcolz", "r+")

        def work():
            global capsule, t
            assert (t.nrows, t[-1]["a"]) == (1000, 999)
            assert t.where_rows([("a", ">", 990)]).tolist() == list(range(991, 1000))
            try:
                changing.append({"a": [1], "b": [[1, 1]]})
            except ndfile.ForkedError:
                pass
            else:
                raise AssertionError
            capsule = None
            t.close()

        in_child(work)
        changing.append({"a": [1], "b": [[1, 1]]})
        changing.close()
        assert ndfile.info("t.bcolz")["nrows"] == 1001
        """)
    )


@needs_fork
def test_pools():
    """Files of 4 MiB in twenty pools of four processes, after use in the parent."""
    out = run("""
        import concurrent.futures, multiprocessing
        want = np.arange(1 << 19, dtype="i8").reshape(1024, 512)
        for k in range(4):
            ndfile.save(f"{k}.ds", {"x": want + k})
        files = [ndfile.open(f"{k}.ds") for k in range(4)]
        opened = [f["x"] for f in files]
        assert opened[3][-1, -1] == (1 << 19) + 2

        def right(k):
            return all(
                np.array_equal(x, want + k)
                for x in (ndfile.read(f"{k}.ds", "x"), opened[k][...], files[k]["x"][...])
            )

        fork = multiprocessing.get_context("fork")
        for i in range(20):
            if i % 2:
                with fork.Pool(4) as pool:
                    assert all(pool.map(right, range(4)))
            else:
                with concurrent.futures.ProcessPoolExecutor(4, mp_context=fork) as pool:
                    assert all(pool.map(right, range(4)))
        assert all(map(right, range(4)))
        print("done")
    """)
    assert out == "done\n"


@needs_fork
def test_file_in_child():
    """A child opens the parent's files again, wherever it has gone; writers it refuses."""
    run(
        IN_CHILD
        + """
ndfile.save("x.ds", {"x": np.arange(5), "t": ["a", "bc"]}, attrs={"a": 1})
ndfile.save("y.ds", {"y": 7})
f = ndfile.open("x.ds")
v, attrs = f["x"], f.attrs
closed = ndfile.open("x.ds")
closed.close()
w = ndfile.open("w.ds", "w")
q = w.create("q", 3, "i4")
q[0:1] = 1
home = os.getcwd()

def refused(error, function):
    try:
        function()
    except error as e:
        assert "ds" in str(e)
    else:
        raise AssertionError(function)

def work():
    os.chdir("/")
    first = ndfile.open(home + "/y.ds")  # takes the first handle of this process
    assert v[2:].tolist() == [2, 3, 4] and f["x"] is v and f["t"][1] == "bc"
    assert attrs["a"] == 1 and v.shape == (5,) and list(f) == ["t", "x"]
    assert first["y"][()] == 7
    refused(ndfile.HandleError, lambda: closed["x"])
    refused(ndfile.ForkedError, lambda: q.__setitem__(slice(1, 3), 2))
    refused(ndfile.ForkedError, lambda: w.attrs.update(a=1))
    refused(ndfile.ForkedError, w.close)
    w.abort()
    f.close()
    refused(ndfile.HandleError, lambda: v[0])
    os.chdir(home)

def nested(parent, depth):
    assert parent[1] == 1
    ndfile.save(f"n{depth}.ds", {"x": np.full(9, depth)})
    assert ndfile.read(f"n{depth}.ds", "x")[8] == depth
    own = ndfile.open("x.ds")["x"]
    assert own[2] == 2
    if depth:
        in_child(lambda: nested(own, depth - 1))

in_child(work)
in_child(lambda: nested(v, 5))
q[1:] = 2
w.close()
assert ndfile.read("w.ds", "q").tolist() == [1, 2, 2]
assert v[4] == 4
"""
    )


@needs_fork
def test_fork_beside_threads():
    """Locks that other threads hold when the process forks are free in the child."""
    run(
        IN_CHILD
        + """
ndfile.save("x.ds", {c: np.arange(50) for c in "abcdefgh"})
f = ndfile.open("x.ds")
stop = threading.Event()
def hammer():
    while not stop.is_set():
        for c in "abcdefgh":
            assert f[c][7] == 7
            assert ndfile.read("x.ds", c)[8] == 8
threads = [threading.Thread(target=hammer) for _ in range(3)]
for t in threads:
    t.start()
def work():
    assert [f[c][9] for c in "abcdefgh"] == [9] * 8
    assert ndfile.read("x.ds")["h"][1] == 1
for _ in range(30):
    in_child(work)
stop.set()
for t in threads:
    t.join()
"""
    )


@needs_fork
def test_fork_without_python():
    """A fork that Python does not hear of: the library refuses the parent's handles."""
    run("""
        import ctypes
        ndfile.save("x.ds", {"x": [1, 2]})
        f = ndfile.open("x.ds")
        v = f["x"]
        pid = ctypes.PyDLL(None).fork()
        if not pid:
            status = 1
            try:
                other = ndfile.open("x.ds")["x"]
                try:
                    v[0]
                except ndfile.ForkedError:
                    status = 0 if other[1] == 2 else 2
            finally:
                os._exit(status)
        assert os.waitpid(pid, 0)[1] == 0
        assert v[1] == 2
    """)


@needs_fork
def test_changed_before_child_reads():
    run(
        IN_CHILD
        + """
ndfile.save("x.ds", {"x": [1, 2]})
v = ndfile.open("x.ds")["x"]
ndfile.save("x.ds", {"x": [1.5, 2, 3]})
assert v[...].tolist() == [1, 2]
def work():
    try:
        v[0]
    except ndfile.HandleError as e:
        assert "the file has changed" in str(e) and "(3,)" in str(e)
    else:
        raise AssertionError
in_child(work)
"""
    )


def test_pickle(monkeypatch):
    ndfile.save("x.ds", {"x": np.arange(5), "m": np.ma.masked_equal([1, 2], 2), "t": ["a"]})
    with ndfile.open("x.ds") as f:
        raw = pickle.dumps((f, f["x"], f["m"]))
        other = copy.deepcopy(f["t"])
    monkeypatch.chdir("/")
    g, x, m = pickle.loads(raw)
    assert (x.name, x.shape, x.dtype, m.masked) == ("x", (5,), np.dtype(int), True)
    assert g["x"] is x
    assert x[1:].tolist() == [1, 2, 3, 4]
    assert m[1] is np.ma.masked
    assert other[0] == "a"
    g.close()
    with pytest.raises(ndfile.HandleError, match="closed"):
        x[0]
    with pytest.raises(ndfile.HandleError, match="closed"):
        pickle.dumps(x)


def test_pickle_is_lazy():
    ndfile.save("x.ds", {"x": [1, 2]})
    with ndfile.open("x.ds") as f:
        raw = pickle.dumps(f["x"])
    os.rename("x.ds", "y.ds")
    v = pickle.loads(raw)
    assert v.shape == (2,)
    with pytest.raises(FileNotFoundError, match=r"x\.ds"):
        v[0]
    os.rename("y.ds", "x.ds")
    assert v[0] == 1
    ndfile.save("x.ds", {"x": [1.5, 2]})
    with pytest.raises(ndfile.HandleError, match="changed"):
        pickle.loads(raw)[0]
    ndfile.save("x.ds", {"y": [1, 2]})
    with pytest.raises(KeyError):
        pickle.loads(raw)[0]


def test_writers_are_not_pickled():
    with ndfile.open("x.ds", "w") as f:
        v = f.create("v", (), "i4")
        for obj in (f, v):
            with pytest.raises(TypeError, match=r"x\.ds.*being created"):
                pickle.dumps(obj)
        v[...] = 1


def test_files_open_for_changes_are_pickled():
    with ndfile.open("x.zarr", "w", format="zarr0") as f:
        f.create("", (10,), "i4", chunks=(4,))
    f = ndfile.open("x.zarr", "r+")
    v = f.array
    v[:2] = 1
    other = pickle.loads(pickle.dumps(v))  # which would wait for f if that had not let go
    other[2:5] = 2
    v[5] = 3
    with ndfile.open("x.zarr", "r+", shared=True) as third:
        third.array[9] = 4
    assert other[...].tolist() == v[...].tolist() == [1, 1, 2, 2, 2, 3, 0, 0, 0, 4]
    del other
    f.close()
    f.close()
    with pytest.raises(ndfile.HandleError, match="closed"):
        v[0]
    with ndfile.open("x.zarr", "r+") as alone:
        alone.array[0] = 7
    table = ndfile.open("t.bcolz", "w")
    table["a"] = np.arange(3)
    table.close()
    with ndfile.open("t.bcolz", "r+") as t:
        t.append({"a": [3]})
        pickle.loads(pickle.dumps(t["a"]))[0] = 9  # and the row in memory is there
        assert t["a"][...].tolist() == [9, 1, 2, 3]


def test_faulthandler():
    """Whether faulthandler is enabled before or after the library is loaded, it stays at its work."""
    for before in ("", "import faulthandler; faulthandler.enable()"):
        script = f"""{before}
import ctypes, faulthandler, os, resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.path.insert(0, {str(ROOT / "bindings" / "python")!r})
import numpy as np
import ndfile
faulthandler.enable()
ndfile.save("x.ds", {{"x": np.arange(1 << 20)}})
assert ndfile.read("x.ds", "x")[-1] == (1 << 20) - 1
assert ndfile.open("x.ds")["x"][5] == 5
print("fine", flush=True)
ctypes.string_at(0)
"""
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.stdout == "fine\n"
        assert done.returncode < 0
        assert "Fatal Python error: Segmentation fault" in done.stderr
        assert "string_at" in done.stderr


def test_two_copies_of_the_library():
    """A second copy in the process works beside the first."""
    shutil.copy(os.environ["NDFILE_LIB"], "copy.so")
    run("""
        import ctypes
        from ndfile import _capi
        other = ctypes.CDLL("./copy.so")
        _capi.bind(other)
        assert ctypes.cast(other.ndf_load, ctypes.c_void_p).value != ctypes.cast(
            ndfile._lib.lib.ndf_load, ctypes.c_void_p
        ).value
        ndfile.save("x.ds", {"x": np.arange(100_000)})
        def use_other():
            handle = ctypes.c_uint64()
            err = _capi.ndf_error()
            for _ in range(200):
                status = other.ndf_file_open(b"x.ds", None, ctypes.addressof(handle), ctypes.addressof(err))
                assert status == 0, err.message
                assert other.ndf_file_close(handle.value, None) == 0
        threads = [threading.Thread(target=use_other) for _ in range(2)]
        for t in threads:
            t.start()
        for _ in range(50):
            assert ndfile.read("x.ds", "x")[-1] == 99_999
        for t in threads:
            t.join()
        f = ndfile.open("x.ds")
        assert other.ndf_file_close(f._handle + 5, None) == _capi.NDF_ERR_HANDLE
        assert f["x"][3] == 3
    """)


def test_handle_count_after_use():
    """Objects that came by pickle close what they opened."""
    ndfile.save("x.ds", {"x": [1, 2]})
    count = ctypes.c_int64()
    lib = sys.modules["ndfile._lib"].lib
    lib.ndf_handle_count(ctypes.addressof(count), None)
    before = count.value
    with ndfile.open("x.ds") as f:
        v = pickle.loads(pickle.dumps(f["x"]))
    assert v[0] == 1
    del v, f
    lib.ndf_handle_count(ctypes.addressof(count), None)
    assert count.value == before
    assert Path("x.ds").exists()
