"""Array.map: what it gives, what it refuses, and how long it lives."""

import ctypes
import gc
import os

import numpy as np
import pytest

import ndfile
from ndfile._lib import lib


def handles():
    count = ctypes.c_int64()
    assert lib.ndf_handle_count(ctypes.addressof(count), None) == 0
    return count.value


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "c16", "V12"])
@pytest.mark.parametrize("shape", [(), (5,), (3, 0, 2), (2, 3, 4)])
def test_like_read(dtype, shape):
    array = np.frombuffer(os.urandom(24 * 16), dtype)[: np.prod(shape, dtype=int)].reshape(shape)
    ndfile.save("x.ra", array)
    with ndfile.open("x.ra") as f:
        a = f.array.map()
        assert a.shape == shape
        assert a.dtype == f.array.dtype
        assert a.tobytes() == array.tobytes()
        assert a.flags.aligned
        assert not a.flags.writeable


def test_outlives_its_file():
    want = np.arange(1 << 18, dtype="f8")
    ndfile.save("x.ra", want)
    before = handles()
    f = ndfile.open("x.ra")
    a = f.array.map()
    f.close()
    del f
    os.unlink("x.ra")
    gc.collect()
    part = a[::-1][5:10]
    del a
    gc.collect()
    assert handles() == before + 1
    assert part.tolist() == want[::-1][5:10].tolist()
    del part
    gc.collect()
    assert handles() == before


def test_read_only():
    ndfile.save("x.ra", np.arange(5))
    with ndfile.open("x.ra") as f:
        a = f.array.map()
    for write in (lambda: a.__setitem__(0, 1), lambda: a.setflags(write=True), lambda: a[1:].fill(0)):
        with pytest.raises(ValueError, match=r"read-only|WRITEABLE|writeable"):
            write()
    with pytest.raises(ValueError, match="closed"):
        f.array.map()


def test_refused():
    ndfile.save("big.ra", np.arange(5, dtype=">f8"))
    ndfile.save("x.ds", {"m": np.ma.masked_equal([1, 2], 2), "t": ["a", "b"], "b": np.arange(3, dtype=">i4")})
    with ndfile.open("big.ra") as f, pytest.raises(NotImplementedError, match=r"big\.ra.*byte order"):
        f.array.map()
    with ndfile.open("x.ds") as f:
        for name in f:
            with pytest.raises(NotImplementedError, match=rf'x\.ds: .*"{name}"'):
                f[name].map()
    with ndfile.open("w.ra", "w") as f:
        v = f.create("", 3, "i4")
        with pytest.raises(NotImplementedError):
            v.map()
        v[...] = 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_in_a_forked_child():
    ndfile.save("x.ra", np.arange(5))
    f = ndfile.open("x.ra")
    v = f.array
    a = v.map()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            b = v.map()
            if a.tolist() == b.tolist() == [0, 1, 2, 3, 4]:
                del a
                gc.collect()
                status = 0 if b[3] == 3 and handles() == 3 else 2
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    assert a[4] == 4
    f.close()
