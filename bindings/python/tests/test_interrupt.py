"""Ctrl-C ends long reads, sums, verify and convert."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import ndfile

CALLS = {
    "read": "ndfile.read('x')",
    "slice": "f.array[...]",
    "steps": "f.array[::3]",
    "sum": "f.array.sum()",
    "sum of rows": "f.array.sum(axis=1)",
    "take": "f.array[np.arange(0, f.array.shape[0], 2)[::-1]]",
    "verify": "ndfile.verify('x')",
    "convert": "ndfile.convert('x', 'y.ds')",
}
# The signal comes while the library works: the handler is the program's own, since background jobs of a shell
# ignore SIGINT.
CHILD = """
import signal, sys, time, numpy as np, ndfile
signal.signal(signal.SIGINT, signal.default_int_handler)
f = ndfile.open('x')
f.array[0]
print('ready', flush=True)
try:
    %s
    print('done')
except KeyboardInterrupt:
    print(time.monotonic())
signal.signal(signal.SIGINT, signal.SIG_IGN)
f.close()
ndfile.save('after.ds', {'a': [1, 2, 3]})
assert ndfile.read('after.ds', 'a').tolist() == [1, 2, 3]
"""


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """An array that takes 10 s of CPU to read: one chunk of bzip2, linked many times."""
    folder = tmp_path_factory.mktemp("slow")
    chunks, rows = 80, 500
    with ndfile.open(folder / "x", "w", format="zarr2") as f:
        v = f.create("", (chunks * rows, 1000), "<f8", chunks=(rows, 1000), codecs=["bz2"])
        v[:rows] = np.random.default_rng(1).integers(0, 99, (rows, 1000))
    for i in range(1, chunks):
        os.link(folder / "x" / "0.0", folder / "x" / f"{i}.0")
    return folder


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("what", CALLS)
def test_interrupt(slow, what):
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD % CALLS[what]], cwd=slow, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.4)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        out = child.communicate(timeout=60)[0]
    finally:
        child.kill()
        child.wait()
    assert child.returncode == 0  # and the library works on
    assert out != "done\n", "the call was over before the signal"
    assert float(out) - sent < 3  # 0.1 s on a machine that does nothing else
