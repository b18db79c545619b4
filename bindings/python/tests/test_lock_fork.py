"""The lock of a writer beside forked children: it ends with the writer, and only with the writer."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from support import ROOT
from test_process import needs_fork

import ndfile

STORES = ["bcolz", "zarr0", "zarr2", "zarr3"]

HOLDER = """
import os, signal, sys, time, ndfile
f = ndfile.open(sys.argv[1], "r+")
child = os.fork()
if child == 0:
    signal.alarm(60)
    if sys.argv[2] == "exits":
        sys.exit(0)  # runs what is registered for the end of the interpreter, and the destructors
    time.sleep(50)
    os._exit(0)
if sys.argv[2] == "exits":
    assert os.waitpid(child, 0)[1] == 0
print(child, flush=True)
time.sleep(50)
"""


def hold(path, child):
    """A process that has the store open for changes and has forked a child. Gives both."""
    env = dict(os.environ, PYTHONPATH=str(ROOT / "bindings" / "python"))
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(HOLDER), str(path), child]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
    return holder, int(holder.stdout.readline())


def end(holder):
    holder.kill()
    holder.wait()
    holder.stdout.close()


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    path = tmp_path / "store"
    ndfile.save(path, np.arange(10.0), format=request.param)
    return path


@needs_fork
def test_killed_holder_with_a_sleeping_child(store):
    holder, child = hold(store, "sleeps")
    try:
        with pytest.raises(ndfile.BusyError):
            ndfile.open(store, "r+", timeout=0)
        end(holder)
        os.kill(child, 0)  # it is there still
        begin = time.monotonic()
        ndfile.open(store, "r+", timeout=1).close()
        assert time.monotonic() - begin < 1
    finally:
        end(holder)
        os.kill(child, signal.SIGKILL)


@needs_fork
def test_exiting_child_releases_nothing(store):
    holder, _ = hold(store, "exits")
    try:
        with pytest.raises(ndfile.BusyError):
            ndfile.open(store, "r+", timeout=0)
    finally:
        end(holder)
    ndfile.open(store, "r+", timeout=1).close()
