"""What a request asks for: a case, and the work that a contender makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_PATTERN = re.compile(r"(\w+):(\d+(?:x\d+)*)(?:\*(\d+))?(?:/(\d+))?")


class Skip(Exception):
    """The contender does not do this operation or case; the text tells why."""


class Work(NamedTuple):
    """A piece of work that is ready: `run` is timed, `check` raises where its result is wrong."""

    run: Callable[[], Any]
    check: Callable[[Any], None] = lambda result: None


class Case(NamedTuple):
    """Arrays: DTYPE:SHAPE[*VARIABLES][/CHUNK]."""

    text: str
    dtype: np.dtype
    shape: tuple[int, ...]
    variables: int
    chunk: int | None

    @classmethod
    def parse(cls, text: str) -> Case:
        """Read the text of a request."""
        match = _PATTERN.fullmatch(text)
        if match is None:
            raise ValueError(f"case {text!r}: expected DTYPE:SHAPE[*VARIABLES][/CHUNK]")
        dtype, shape, variables, chunk = match.groups()
        sizes = tuple(int(n) for n in shape.split("x"))
        return cls(text, np.dtype(dtype), sizes, int(variables or 1), chunk and int(chunk))

    @property
    def names(self) -> list[str]:
        """Names of the variables."""
        return ["x"] if self.variables == 1 else [f"v{i:05}" for i in range(self.variables)]

    @property
    def file_name(self) -> str:
        """A name for a store of this case."""
        return self.text.replace("/", "_")


#: A contender's operation: from a case, the folder and the number of equal pieces to what is to be run.
Prepare = Callable[[Case, str, int], Work]
