"""Files that are alike, one after the other: what was prepared for the one before must not show."""

import random
import threading

import numpy as np
import pytest
from support import same
from test_process import IN_CHILD, needs_fork, run

import ndfile


def kinds():
    """Give makers of files, by number; many have the same size and differ in little else."""
    r = np.random.default_rng(1)

    def number(dtype, *shape):
        return r.integers(0, 100, shape).astype(dtype)

    return [
        lambda: {"x": number("i8", 1)},
        lambda: {"y": number("i8", 1)},
        lambda: {"x": number("f8", 1)},
        lambda: {"x": number("i8")},
        lambda: {"x": number("i4", 2)},
        lambda: {"x": number("i4", 1, 2)},
        lambda: {"x": number("i4", 2, 1)},
        lambda: {"x": number("i2", 2, 3, 2, 1, 2)},
        lambda: {"x": number("i8", 1000)},
        lambda: {"x": number("i8", 1000)[::-1]},
        lambda: {"x": number("i8", 1), "y": number("i8", 1)},
        lambda: {"x": number("i8", 1), "z": number("u2", 4)},
        lambda: {"x": number("i8", 0), "ý": number("f4", 2, 2).T},
        lambda: {"x": number(">i8", 1)},
        lambda: {"x": number("i8", 1) > 50},
        lambda: {"x": np.ma.masked_less(number("i8", 1), 50)},
        lambda: {"x": np.array(["text", "more"], object)},
        lambda: {"x": [1], "y": number("i8", 1)},
        lambda: {f"v{i:03}": number("i8", 1) for i in range(100)},
        dict,
        lambda: {"x": number("i8", 5000)},
        lambda: {"x": number("i8", 20_000)},
    ]


def check(path, arrays, **options):
    """Save and read, all and one, and compare; spoil what was given and what was read."""
    ndfile.save(path, arrays, **options)
    for _ in range(3):
        found = ndfile.read(path)
        assert list(found) == sorted(arrays)
        for name, array in arrays.items():
            array = np.ma.asanyarray(array) if np.ma.isMA(array) else np.asarray(array)
            want = array.astype(array.dtype.newbyteorder("="))
            if np.ma.isMA(want) and not np.ma.is_masked(want):
                want = want.data
            same(found[name], want)
            same(ndfile.read(path, name), want)
            if not want.dtype.hasobject:
                found[name][...] = 0
                same(ndfile.read(path)[name], want)


@pytest.mark.parametrize("options", [{}, {"commit": "direct"}, {"attrs": {"a": 1}}], ids=str)
def test_random_order(options):
    r = random.Random(1)
    makers = kinds()
    for _ in range(150):
        make = r.choice(makers)
        for _ in range(r.randrange(1, 4)):
            check("x.ds", make(), **options)


def test_known_series():
    """What this is about does happen: arrays of a known series are copied, others share a block."""
    ndfile.save("x.ds", {"x": [1], "y": [2, 3]})
    found = [ndfile.read("x.ds")["y"] for _ in range(100)]
    assert any(array.base is None for array in found)
    assert all(array.tolist() == [2, 3] for array in found)


def test_errors_between():
    ndfile.save("x.ds", {"x": [1.5]})
    for _ in range(3):
        assert ndfile.read("x.ds")["x"] == 1.5
        assert ndfile.read("x.ds", "x") == 1.5
        with pytest.raises(ndfile.NotFoundError, match="missing"):
            ndfile.read("missing.ds")
        with pytest.raises(ndfile.NameNotFoundError, match="no"):
            ndfile.read("x.ds", "no")
        with pytest.raises(ndfile.NotFoundError, match="missing"):
            ndfile.save("missing/x.ds", {"x": np.array([2.5])})
        with pytest.raises(ndfile.ExistsError):
            ndfile.save("x.ds", {"x": np.array([3.5])}, exclusive=True)
        with pytest.raises(ndfile.ArgumentError, match="commit"):
            ndfile.save("x.ds", {"x": np.array([3.5])}, commit="other")


def test_torn_file():
    """A file with the header of the one before, but not its elements, is damaged as ever."""
    ndfile.save("x.ds", {"x": np.arange(5)})
    for _ in range(3):
        ndfile.read("x.ds")
    with open("x.ds", "r+b") as f:
        f.truncate(f.seek(0, 2) - 1)
    with pytest.raises(ndfile.CorruptError):
        ndfile.read("x.ds")


def test_threads():
    """Each thread has a scratch of its own, whatever the others read and save."""
    wrong = []

    def work(k):
        for i in range(200):
            arrays = {f"x{k}": np.array([k, i]), "y": np.full(k + 1, i)}
            ndfile.save(f"{k}.ds", arrays, commit="direct")
            found = ndfile.read(f"{k}.ds")
            if list(found) != list(arrays) or any(found[n].tolist() != arrays[n].tolist() for n in arrays):
                wrong.append((k, i, found))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@needs_fork
def test_child():
    """A forked child has the scratches of its parent, but another copy of the library."""
    run(
        IN_CHILD
        + """
for name in "abc":
    ndfile.save(f"{name}.ds", {name: np.arange(3)})
for _ in range(5):
    ndfile.read("a.ds")

def work():
    for name in "bca":
        for _ in range(5):
            assert list(ndfile.read(f"{name}.ds")) == [name], name
            ndfile.save(f"{name}.ds", {name: np.arange(3)})

in_child(work)
assert list(ndfile.read("a.ds")) == ["a"]
"""
    )
