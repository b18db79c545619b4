"""Exceptions: the classes, what they carry, and what an import without the library says."""

import builtins
import errno
import os
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ndfile
from ndfile import _capi

PACKAGE = Path(ndfile.__file__).parent


@pytest.mark.parametrize("row", _capi.ERRORS, ids=lambda row: row[2])
def test_classes(row):
    code, name, python, base, text = row
    cls = getattr(ndfile, python)
    assert python in ndfile.__all__
    assert issubclass(cls, ndfile.NdfileError)
    assert not base or issubclass(cls, getattr(builtins, base))
    assert (cls.code, cls.name) == (code, name)
    assert text[1:] in cls.__doc__
    error = cls("the message", path="p", offset=7)
    assert str(error) == error.message == "the message"
    assert (error.path, error.offset) == ("p", 7)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is cls
    assert (str(copy), copy.path, copy.offset, copy.errno) == ("the message", "p", 7, error.errno)


def test_stub():
    """What type checkers are told is the table."""
    stub = (PACKAGE / "_errors.pyi").read_text()
    found = re.findall(r"^class (\w+)\(NdfileError(?:, (\w+))?\): \.\.\.$", stub, re.M)
    assert found == [(python, base) for _, _, python, base, _ in _capi.ERRORS]


def test_not_found():
    for use in (lambda: ndfile.read("no.ds"), lambda: ndfile.open("no.ds"), lambda: ndfile.detect("no.ds")):
        with pytest.raises(FileNotFoundError, match=r"no\.ds") as e:
            use()
        assert type(e.value) is ndfile.NotFoundError
        assert (e.value.errno, e.value.filename) == (errno.ENOENT, "no.ds")
        assert e.value.strerror == os.strerror(errno.ENOENT)
    with pytest.raises(FileNotFoundError):
        ndfile.save("no/x.ds", {"x": 1})


def test_folder():
    os.mkdir("x.ds")
    with pytest.raises((OSError, ValueError)) as e:
        ndfile.read("x.ds")
    assert isinstance(e.value, ndfile.NdfileError)
    with pytest.raises((OSError, ValueError)):
        ndfile.save("x.ds", {"x": 1})
    assert os.path.isdir("x.ds")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permission():
    ndfile.save("x.ds", {"x": 1})
    os.chmod("x.ds", 0)
    with pytest.raises(PermissionError, match=r"x\.ds"):
        ndfile.read("x.ds")


def test_format():
    Path("x.ds").write_text("something else")
    for use in (ndfile.read, ndfile.open, ndfile.detect, ndfile.info):
        with pytest.raises(ndfile.FormatError, match=r"x\.ds"):
            use("x.ds")


def test_corrupt_names_the_place():
    ndfile.save("x.ds", {"good": 1, "late": [1.0, 2.0]})
    data = Path("x.ds").read_bytes()
    Path("x.ds").write_bytes(data[:-3])
    for use in (
        lambda: ndfile.read("x.ds"),
        lambda: ndfile.read("x.ds", "late"),
        lambda: ndfile.open("x.ds")["late"][...],
    ):
        with pytest.raises(ndfile.CorruptError, match=r'x\.ds.*"late"') as e:
            use()
        assert isinstance(e.value, ValueError)
    assert ndfile.read("x.ds", "good") == 1


def test_no_such_name():
    ndfile.save("x.ds", {"x": 1})
    with pytest.raises(KeyError) as e:
        ndfile.read("x.ds", "y")
    assert type(e.value) is ndfile.NameNotFoundError
    assert str(e.value).startswith("x.ds: ")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_disk_full():
    os.symlink("/dev/full", "x.ds")
    with pytest.raises(OSError, match=r"x\.ds|/dev/full") as e:
        ndfile.save("x.ds", {"x": 1}, commit="direct")
    assert isinstance(e.value, ndfile.IoError)
    assert e.value.errno == errno.ENOSPC


def run(code, **env):
    env = {"PATH": os.environ["PATH"], **{k: v for k, v in env.items() if v is not None}}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def bare(tmp_path):
    """The package without a library beside it."""
    ignore = shutil.ignore_patterns("*.so*", "__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "site" / "ndfile", ignore=ignore)
    return tmp_path / "site"


def test_library_is_looked_up(bare, tmp_path):
    library = os.path.realpath(os.environ["NDFILE_LIB"])
    code = "import ndfile; print(ndfile.__version__, ndfile._lib.lib._name)"
    beside = str(bare / "ndfile" / "libndfile.so")

    named = run(code, PYTHONPATH=str(bare), NDFILE_LIB=library)
    assert named.stdout.split() == [_capi.VERSION, library]

    # nowhere: everything that was tried is listed
    other = tmp_path / "other"
    missing = run(code, PYTHONPATH=f"{bare}:{other}")
    assert missing.returncode == 1
    assert "ImportError: the library libndfile was not found. Set NDFILE_LIB to its path." in missing.stderr
    for path in (
        f"{beside}: no such file",
        f"{other}/ndfile/libndfile.so: no such file",
        "  libndfile.so.1: ",
    ):
        assert path in missing.stderr

    # a library that is named is the only one
    wrong = run(code, PYTHONPATH=str(bare), NDFILE_LIB=str(tmp_path / "no.so"))
    assert f"{tmp_path}/no.so: no such file" in wrong.stderr
    assert "libndfile.so.1" not in wrong.stderr
    Path("text.so").write_text("no library")
    assert "text.so" in run(code, PYTHONPATH=str(bare), NDFILE_LIB=os.path.abspath("text.so")).stderr
    foreign = run(code, PYTHONPATH=str(bare), NDFILE_LIB="libc.so.6")
    assert "libc.so.6: " in foreign.stderr

    # in another folder of sys.path, then beside the package
    (other / "ndfile").mkdir(parents=True)
    shutil.copy(library, other / "ndfile" / "libndfile.so")
    found = run(code, PYTHONPATH=f"{bare}:{other}")
    assert found.stdout.split()[-1] == f"{other}/ndfile/libndfile.so"
    shutil.copy(library, beside)
    found = run(code, PYTHONPATH=f"{bare}:{other}")
    assert found.stdout.split()[-1] == beside

    # by the loader
    os.remove(beside)
    shutil.rmtree(other)
    os.makedirs("lib")
    shutil.copy(library, "lib/libndfile.so.1")
    found = run(code, PYTHONPATH=str(bare), LD_LIBRARY_PATH=os.path.abspath("lib"))
    assert found.stdout.split()[-1] == "libndfile.so.1"


def test_narrow_reads(tmp_path):
    path = tmp_path / "n.ds"
    i = np.array([[1, 2, 3], [4, 70000, 6]], "i4")
    ndfile.save(
        path, {"i": i, "x": np.array([1.5, 1e300]), "m": np.ma.MaskedArray([1.5, 1e300], mask=[False, True])}
    )
    with ndfile.open(path) as f:
        out = np.empty((3, 1), "i2").T
        assert f["i"].read(slice(0, 1), out=out, narrow=True) is out and out.tolist() == [[1, 2, 3]]
        with pytest.raises(ndfile.DTypeError):
            f["i"].read(slice(0, 1), out=out)
        with pytest.raises(
            ndfile.ValueNotRepresentableError, match=r"element \[1, 1\]: .*70000 does not fit into <i2"
        ):
            f["i"].read(out=np.empty((2, 3), "i2"), narrow=True)
        with pytest.raises(ndfile.ValueNotRepresentableError, match=r"element \[1\]"):
            f["x"].read(out=np.empty(2, "f4"), narrow=True)
        masked = np.ma.empty(2, "f4")
        assert f["m"].read(out=masked, narrow=True).tolist() == [1.5, None]
        with pytest.raises(ndfile.DTypeError):
            f["x"].read(out=np.empty(2, "S4"), narrow=True)
