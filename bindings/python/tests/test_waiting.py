"""Replacing a store that others have open for changes waits for them, as long as it was told."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import ndfile

VALUES = np.arange(5)

WAYS = {
    "save": lambda path, **how: ndfile.save(path, VALUES, format="zarr3", **how),
    "save with chunks": lambda path, **how: ndfile.save(path, VALUES, format="zarr3", chunks=2, **how),
    "save with attributes": lambda path, **how: ndfile.save(
        path, VALUES, format="zarr3", attrs={"a": 1}, **how
    ),
    "open": lambda path, **how: ndfile.open(path, "w", format="zarr3", **how).abort(),
}


@pytest.fixture
def held(tmp_path):
    path = tmp_path / "s.zarr"
    ndfile.save(path, VALUES[:2], format="zarr3")
    holder = ndfile.open(path, "r+")
    yield path, holder
    holder.close()


@pytest.mark.parametrize("way", WAYS)
def test_timeout(held, way):
    path, holder = held
    begin = time.monotonic()
    with pytest.raises(ndfile.BusyError, match=str(os.getpid())):
        WAYS[way](path, timeout=0)
    assert time.monotonic() - begin < 3
    with pytest.raises(ndfile.BusyError):
        WAYS[way](path, timeout=0.15)
    assert time.monotonic() - begin >= 0.15
    later = threading.Timer(0.1, holder.close)
    later.start()
    WAYS[way](path, timeout=60)
    later.join()
    if way != "open":
        assert (ndfile.read(path) == VALUES).all()
    WAYS[way](path, timeout=0)  # the next call begins anew


@pytest.mark.parametrize("way", ["save", "open"])
def test_interrupted(held, way):
    path, _ = held
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    later = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    try:
        later.start()
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            WAYS[way](path, timeout=60)
        assert time.monotonic() - begin < 30
    finally:
        later.join()
        signal.signal(signal.SIGINT, before)
    assert (ndfile.read(path) == VALUES[:2]).all()
