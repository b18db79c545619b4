"""Files that are never closed: what becomes of them, and who is told."""

import os
import subprocess
import sys

import numpy as np
import pytest

import ndfile

HEAD = """
import sys, os, numpy as np, ndfile
path, format = sys.argv[1:]
name = "v" if format == "ds" else ""
def new(path=path):
    f = ndfile.open(path, "x", format=format)
    f.add(name, np.arange(4))
    return f
"""
CASES = {
    "the end": ("f = new()", 0),
    "collected": ("(lambda: new())()", 0),
    "in a list": ("import builtins; builtins.kept = [new()]", 0),
    "in a cycle": ("f = new(); me = [f]; me.append(me); import gc; gc.disable(); del f, me", 0),
    "sys.exit": ("f = new(); sys.exit(3)", 3),
    "an exception": ("f = new(); 1 / 0", 1),
    "an exception that is caught": (
        "def g():\n    f = new()\n    1 / 0\ntry:\n    g()\nexcept ZeroDivisionError:\n    pass",
        0,
    ),
    "in a thread": ("import threading; t = threading.Thread(target=new); t.start(); t.join()", 0),
    "in a child": (
        "pid = os.fork()\nif not pid:\n    f = new()\n    del f\n    os._exit(0)\nos.waitpid(pid, 0)",
        0,
    ),
}


def run(code, *arguments):
    command = [sys.executable, "-c", HEAD + code, *arguments]
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(ndfile.__file__))}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)


@pytest.mark.parametrize("case", CASES)
def test_new(case):
    code, status = CASES[case]
    for format in ("ds", "zarr3") if case == "the end" else ("ds",):
        path = os.path.abspath(f"new.{format}")
        r = run(code, path, format)
        assert r.returncode == status, r.stderr
        assert r.stderr.count(f"ndfile: {path!r} was never closed: nothing is written") == 1, r.stderr
        assert "Exception ignored" not in r.stderr
        assert os.listdir() == []


def test_the_older_file_stays():
    ndfile.save("old.ds", {"v": 1})
    r = run("f = ndfile.open(path, 'w'); f['v'] = 2", "old.ds", "ds")
    assert "never closed" in r.stderr and ndfile.read("old.ds", "v") == 1 and os.listdir() == ["old.ds"]


@pytest.mark.parametrize("how", ["global kept; kept = f", "del f"])
def test_changes_are_written(how):
    ndfile.save("t.bcolz", np.arange(4))
    code = f"f = ndfile.open(path, 'r+')\nf.array.append([4, 5])\nf.array.attrs['note'] = 'x'\n{how}"
    r = run(code.replace("global kept; ", ""), "t.bcolz", "bcolz")
    assert "'t.bcolz' was never closed: what was in memory is written now" in r.stderr
    with ndfile.open("t.bcolz") as f:
        assert f.array[:].tolist() == [0, 1, 2, 3, 4, 5] and f.array.attrs["note"] == "x"


def test_nothing_is_said():
    code = """
with ndfile.open("with.ds", "w") as f:
    f["v"] = 1
try:
    with ndfile.open("raised.ds", "w") as g:
        g["v"] = 1
        1 / 0
except ZeroDivisionError:
    pass
new().close()
new("aborted.ds").abort()
import builtins
builtins.kept = ndfile.open("with.ds"), ndfile.open("m.npy").array.map()
builtins.kept[0]["v"][...]
f = ndfile.open(path)
"""
    ndfile.save("m.npy", np.arange(4))
    r = run(code, "closed.ds", "ds")
    assert (r.returncode, r.stdout, r.stderr) == (0, "", "")
    assert sorted(os.listdir()) == ["closed.ds", "m.npy", "with.ds"]


def test_many_are_counted():
    r = run("kept = [new(f'{i}.ds') for i in range(30)]", "x", "ds")
    assert r.stderr.count("never closed") == 20 and "ndfile: and 10 more" in r.stderr
