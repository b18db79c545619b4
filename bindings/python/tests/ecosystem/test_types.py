"""The package and a program of a user under mypy --strict and pyright."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[3]
PROGRAM = HERE / "typed_user.py"

WRONG = """
import ndfile
with ndfile.open("x.ds") as f:
    f.array.shape.append(3)
ndfile.read("x.ds", "a") + "text" + ndfile.no_such_name
try:
    ndfile.open_table("t")
except ndfile.NoSuchError:
    pass
"""


def run(*command):
    return subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, cwd=ROOT, timeout=300
    )


def mypy(*what):
    options = "--config-file", "bindings/python/mypy.ini", "--cache-dir", "build/mypy_cache"
    return run("-m", "mypy", *options, *what)


def pyright(*what):
    return run("-m", "pyright", "--pythonpath", sys.executable, *what)


@pytest.mark.parametrize("check", [mypy, pyright])
def test_no_errors(check):
    r = check("bindings/python/ndfile", PROGRAM)
    assert r.returncode == 0, r.stdout


@pytest.mark.parametrize("check", [mypy, pyright])
def test_mistakes_are_found(check, tmp_path):
    (tmp_path / "wrong.py").write_text(WRONG)
    r = check(tmp_path / "wrong.py")
    assert r.returncode == 1
    for word in ("append", "no_such_name", "NoSuchError"):
        assert word in r.stdout


def test_program_runs(tmp_path):
    r = run(PROGRAM, tmp_path)
    assert r.returncode == 0, r.stderr
    lines = r.stdout.splitlines()
    assert lines[:2] == ["rawarray 4000 whole", "250"]
    assert lines[-2] == "2.0 {'a': (3,), 'b': (3,)} [2. 2. 2.] (3, 3)"
