"""read_many and save_many do what loops of read and save do; progress, Ctrl-C and errors on the way."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support import ROOT, same

import ndfile


def objects(*values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


KINDS = [
    {"x": np.arange(3)},
    {"x": np.arange(6, dtype=">f4").reshape(2, 3)[::-1], "ř": np.array(1.5)},
    {"x": objects("a", "", "ccc"), "y": objects(b"\0")},
    {"x": np.ma.masked_equal([1, 2, 3], 2)},
    {"x": np.ma.MaskedArray(objects("a", ""), mask=[False, True])},
    {"x": np.zeros((2, 0, 3), "u1")},
    {},
    {f"v{k}": np.full(k, k) for k in range(40)},
    {"x": np.arange(20_000)},
    {"x": [1, 2]},
]


def equal(found, want):
    if isinstance(want, dict):
        assert list(found) == list(want)
        for name in want:
            equal(found[name], want[name])
    else:
        same(found, want)


@pytest.fixture
def small(monkeypatch):
    """Small batches and little room, so that little data goes all ways."""
    monkeypatch.setattr(ndfile._many, "_BATCH", 16)
    monkeypatch.setattr(ndfile._many, "_ROOM", 1000)
    monkeypatch.setattr(ndfile._many, "_INFOS", 20)


@pytest.mark.parametrize("sizes", ["normal", "small"])
def test_like_loops(sizes, request):
    if sizes == "small":
        request.getfixturevalue("small")
    arrays = [KINDS[i % len(KINDS)] for i in range(100)]
    paths = [f"m{i}.ds" for i in range(100)]
    ndfile.save_many(paths, arrays, attrs={"a": 1})
    for i in range(100):
        ndfile.save(f"s{i}.ds", arrays[i], attrs={"a": 1})
        assert Path(f"s{i}.ds").read_bytes() == Path(paths[i]).read_bytes()
    want = [ndfile.read(p) for p in paths]
    equal(dict(enumerate(ndfile.read_many(iter(paths)))), dict(enumerate(want)))
    named = [p for p in paths if "x" in ndfile.info(p)["arrays"]]
    for found, path in zip(ndfile.read_many(map(Path, named), "x"), named):
        equal(found, ndfile.read(path, "x"))


def test_single_arrays():
    arrays = [np.arange(i, dtype="f4") for i in range(5)]
    paths = [f"{i}.ra" for i in range(5)]
    ndfile.save_many(paths, arrays)
    for found, want in zip(ndfile.read_many(paths), arrays):
        same(found, want)
    ndfile.save_many([b"\xff", "b"], [{"x": 1}, {"y": 2}], format="ds", dims={}, exclusive=True)
    assert [list(d) for d in ndfile.read_many([b"\xff", "b"])] == [["x"], ["y"]]


def test_nothing_and_repeated():
    assert ndfile.read_many([]) == []
    assert ndfile.save_many([], []) is None
    assert ndfile.save_many([], [], errors="return") == []
    ndfile.save("x.ds", {"x": 1})
    a, b = ndfile.read_many(["x.ds"] * 2, "x")
    a[...] = 5
    assert b == 1


def equal_outcome(value, path, name):
    """The same as read gives, or the same error."""
    if isinstance(value, Exception):
        with pytest.raises(type(value)) as raised:
            ndfile.read(path, name)
        e = raised.value
        assert (str(value), value.path, value.offset, value.errno) == (str(e), path, e.offset, e.errno)
    else:
        equal(value, ndfile.read(path, name))


@pytest.mark.usefixtures("small")
def test_read_errors():
    """One error for each path, in its place, the same that read gives."""
    paths = []
    for i in range(50):
        ndfile.save(f"{i}.ds", {"x": np.arange(i * 10)})
        paths += [f"{i}.ds", f"none{i}.ds"][: 1 + i % 3]
    Path("bad.ds").write_text("ds-1.0\n{")
    Path("empty.ds").write_text('ds-1.0\n{"x": {"a": 1}}\n')
    paths += ["bad.ds", "empty.ds", "7.ds"]
    for name in (None, "x", "y"):
        found = ndfile.read_many(paths, name, errors="return")
        for path, value in zip(paths, found):
            equal_outcome(value, path, name)
        assert sum(isinstance(value, ndfile.NdfileError) for value in found) >= 17
        with pytest.raises(ndfile.NdfileError) as e:
            ndfile.read_many(paths, name)
        assert e.value.path == next(v for v in found if isinstance(v, Exception)).path


@pytest.mark.parametrize("sizes", ["normal", "small"])
def test_all_fixtures(sizes, request):
    """Good and bad files of all formats, from both ends."""
    if sizes == "small":
        request.getfixturevalue("small")
    paths = sorted(p for p in (ROOT / "pkg").glob("*/testdata/**/*") if p.suffix in (".ds", ".ra"))
    assert len(paths) > 100
    paths += paths[::-1]
    for path, value in zip(paths, ndfile.read_many(paths, errors="return")):
        equal_outcome(value, path, None)


def test_save_errors():
    paths = ["a.ds", "no/such/folder.ds", "b.ds", "c.ds", "d.nope"]
    arrays = [{"x": 1}, {"x": 2}, {"x": objects(1, "a")}, {"x": [3]}, {"x": 4}]
    outcomes = ndfile.save_many(paths, arrays, errors="return")
    assert [type(e) for e in outcomes] == [
        type(None),
        ndfile.NotFoundError,
        ndfile.DTypeError,
        type(None),
        ndfile.FormatError,
    ]
    assert outcomes[1].path == "no/such/folder.ds"
    assert "b.ds" in str(outcomes[2])
    assert ndfile.read_many(["a.ds", "c.ds"], "x") == [1, [3]]
    assert sorted(os.listdir()) == ["a.ds", "c.ds"]
    with pytest.raises(FileNotFoundError, match="folder"):
        ndfile.save_many(paths, arrays)
    outcomes = ndfile.save_many(["a.ds", "e.ds"], [{"x": 5}] * 2, exclusive=True, errors="return")
    assert isinstance(outcomes[0], FileExistsError)
    assert ndfile.read_many(["a.ds", "e.ds"], "x") == [1, 5]


def test_arguments():
    with pytest.raises(ValueError, match="errors"):
        ndfile.read_many([], errors="ignore")
    with pytest.raises(ValueError, match="2 paths, but arrays for 1"):
        ndfile.save_many(["a.ds", "b.ds"], [{}])
    with pytest.raises(ValueError, match="NUL"):
        ndfile.read_many(["a\0b"])
    with pytest.raises(TypeError):
        ndfile.read_many([3])
    with pytest.raises(ValueError, match="commit"):
        ndfile.save_many([], [], commit="later")


def test_threads_setting():
    ndfile.save_many([f"{i}.ds" for i in range(300)], [{"x": i} for i in range(300)])
    try:
        for n in (1, 7, 0):
            ndfile.set_threads(n)
            assert ndfile.read_many([f"{i}.ds" for i in range(300)], "x") == list(range(300))
    finally:
        ndfile.set_threads(0)
    for n in (-1, 1 << 31, 1 << 32):
        with pytest.raises(ValueError, match="threads"):
            ndfile.set_threads(n)


@pytest.mark.usefixtures("small")
def test_progress(capsys):
    seen = []
    paths = [f"{i}.ds" for i in range(100)]
    ndfile.save_many(paths, [{"x": np.arange(9)}] * 100, progress=lambda *at: seen.append(at))
    for calls in (seen, []):
        if not calls:
            ndfile.read_many(paths, progress=lambda *at: calls.append(at))  # noqa: B023
        assert calls[-1] == (100, 100)
        assert len(calls) >= 100 // 16
        assert calls == sorted(set(calls))
    ndfile.read_many(paths, progress=True)  # not a terminal
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("small")
def test_exception_in_progress():
    paths = [f"{i}.ds" for i in range(100)]

    def progress(done, total):
        if done >= 40:
            raise LookupError(done)

    with pytest.raises(LookupError, match="4"):
        ndfile.save_many(paths, [{"x": 1}] * 100, progress=progress)
    assert 16 <= len(os.listdir()) < 100
    ndfile.save_many(paths, [{"x": 1}] * 100)
    with pytest.raises(LookupError):
        ndfile.read_many(paths, progress=progress)
    assert ndfile.read_many(paths, "x") == [1] * 100


def test_other_threads():
    """Calls from threads at the same time; SIGINT is the main thread's."""
    paths = [f"{i}.ds" for i in range(300)]
    ndfile.save_many(paths, [{"x": np.full(5, i)} for i in range(300)])
    results = []

    def work():
        results.append([int(a.sum()) for a in ndfile.read_many(paths, "x", progress=lambda *_: None)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    work()
    for t in threads:
        t.join()
    assert results == [[5 * i for i in range(300)]] * 5


def test_handler_that_does_not_raise():
    """A program's own handler runs, and does not end the call."""
    ndfile.save("x.ds", {"x": 1})
    seen = []
    old = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:

        def progress(done, total):
            if not seen:
                os.kill(os.getpid(), signal.SIGINT)

        assert len(ndfile.read_many(["x.ds"] * 3000, progress=progress)) == 3000
        assert seen
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, old)


@pytest.mark.parametrize("call", ["read_many(paths, progress=p)", "save_many(paths, arrays, progress=p)"])
def test_ctrl_c(call):
    """SIGINT from outside ends a call of a million files soon, and the library works afterwards."""
    script = f"""if True:
        import signal, numpy as np, ndfile
        n = 1_000_000
        ndfile.save("x.ds", {{"x": np.arange(3)}})
        paths, arrays = ["x.ds"] * n, [{{"x": np.arange(3)}}] * n
        last = 0
        def p(done, total):
            global last
            if not last and done:
                print("begun", flush=True)
            last = done
        try:
            ndfile.{call}
        except KeyboardInterrupt:
            assert 0 < last < n, last
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            assert len(ndfile.read_many(paths[:5000])) == 5000
            print("interrupted")
    """
    env = dict(os.environ, PYTHONPATH=str(ROOT / "bindings" / "python"))
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=env
    ) as child:
        watchdog = threading.Timer(60, child.kill)
        watchdog.start()
        assert child.stdout.readline() == "begun\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        watchdog.cancel()
    assert child.returncode == 0
