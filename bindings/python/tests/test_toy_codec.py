"""A codec of one Go file works from Python without another line: the toy of the library that the C tests build."""

import os
import pathlib
import subprocess
import sys

import pytest

LIBRARY = pathlib.Path(__file__).parents[3] / "build/cmake/panic/libndfile.so"


@pytest.mark.skipif(not LIBRARY.exists(), reason="make test-c builds the library with the toy codec")
@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_invert(tmp_path, format):
    code = f"""
import ndfile, numpy as np
x = np.arange(100, dtype="u1").reshape(10, 10)
with ndfile.open("a.zarr", "w", format="{format}") as f:
    f.create("", x.shape, x.dtype, chunks=(10, 5), codecs=["invert"])[:] = x
with ndfile.open("a.zarr") as f:
    a = f[""]
    assert (a[:] == x).all() and (a[2:5, ::3] == x[2:5, ::3]).all()
    assert a.read_chunk((0, 1)) == (~x[:, 5:]).tobytes() and "invert" in str(a.codecs)
"""
    env = os.environ | {"NDFILE_LIB": str(LIBRARY), "PYTHONPATH": str(pathlib.Path(__file__).parents[1])}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, check=True, timeout=60)
