"""The examples in the docstrings run, and every public object has a docstring with annotations."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import ndfile

# xarray is in the environment of tests/ecosystem, where these examples run.
MODULES = [
    "ndfile",
    *(f"ndfile.{m.name}" for m in pkgutil.iter_modules(ndfile.__path__) if m.name != "xarray"),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_examples_are_found():
    """Objects are shown as of the package, but doctest goes by the module that holds the code."""
    finder = doctest.DocTestFinder()
    some = ndfile.read, ndfile.save, ndfile.open, ndfile.File, ndfile.Array, ndfile.Attrs, ndfile.info
    for obj in (*some, ndfile.Table, ndfile.convert, ndfile.split, ndfile.verify):
        (test, *_) = finder.find(obj, obj.__name__, module=False, globs={})
        assert test.examples, obj
        runner = doctest.DocTestRunner()
        assert runner.run(test).failed == 0


@pytest.mark.parametrize("name", [n for n in ndfile.__all__ if n[0] != "_"])
def test_documented(name):
    obj = getattr(ndfile, name)
    assert inspect.getdoc(obj)
    members = (
        [obj] if inspect.isfunction(obj) else [m for _, m in inspect.getmembers(obj, inspect.isfunction)]
    )
    for f in members:
        if f.__module__.startswith("ndfile"):
            for p in inspect.signature(f).parameters.values():
                assert p.name == "self" or p.annotation is not p.empty, (f, p)
            assert inspect.signature(f).return_annotation is not inspect.Signature.empty, f
