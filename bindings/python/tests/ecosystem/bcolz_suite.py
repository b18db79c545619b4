"""Runs bcolz's own tests of what lies on disk with `ndfile.compat.bcolz` in bcolz's place; prints outcomes as JSON."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import sys
import unittest
from pathlib import Path

import bcolz
import bcolz.carray_ext
import bcolz.py2help_tests
import bcolz.tests.common
import bcolz.utils

HELPERS = "tests", "py2help", "py2help_tests", "carray_ext", "utils"


def cases(name: str) -> unittest.TestSuite:
    """Load the cases of a module of bcolz's tests whose objects are on disk."""
    spec = importlib.util.spec_from_file_location(name, Path(bcolz.tests.__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kinds = [k for k in vars(module).values() if isinstance(k, type) and issubclass(k, unittest.TestCase)]
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    return unittest.TestSuite(load(kind) for kind in kinds if getattr(kind, "disk", False))


class Outcomes(unittest.TestResult):
    """The cases that ran, and the reasons of those that failed."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[str] = []
        self.failed: dict[str, str] = {}

    @staticmethod
    def name(test: unittest.TestCase) -> str:
        return ".".join(test.id().split(".")[-3:])

    def addSuccess(self, test):
        self.held.append(self.name(test))

    def addError(self, test, err):
        self.failed[self.name(test)] = f"{err[0].__name__}: {err[1]}"[:300]

    addFailure = addError


def main() -> None:
    original = bcolz
    if sys.argv[1:] != ["original"]:
        import ndfile.compat.bcolz

        ours = ndfile.compat.bcolz.install()
        for name in HELPERS:
            setattr(ours, name, getattr(original, name))
        ours.__path__ = original.__path__
    outcomes = Outcomes()
    with contextlib.redirect_stdout(io.StringIO()):
        for name in ("test_carray", "test_ctable"):
            cases(name).run(outcomes)
    print(json.dumps({"held": outcomes.held, "failed": outcomes.failed}))


if __name__ == "__main__":
    main()
