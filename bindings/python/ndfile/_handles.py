"""Handles of arrays and of mapped memory: given back with their last reference."""

from __future__ import annotations

import os
import sys
from typing import Any

from ._lib import lib


class Handle:
    """An array handle of the library, closed with its last reference.

    It is an object of its own because an object that dies can still be had from a weak reference while its
    `__del__` runs.
    """

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value

    def close(self) -> None:
        value, self.value = self.value, 0
        if value:
            lib.ndf_array_close(value, None)

    def __del__(self, _finalizing: Any = sys.is_finalizing) -> None:
        if not _finalizing():  # then the library may be gone, and nothing has to be given back
            self.close()


class Mapped:
    """Mapped memory, given back with its last reference. NumPy takes it by its interface, as read-only."""

    __slots__ = ("__array_interface__", "_handle", "_process")

    def __init__(self, handle: int, address: int | None, size: int) -> None:
        self._handle = handle
        self._process = os.getpid()
        self.__array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, True),
            "version": 3,
        }

    def __del__(self, _finalizing: Any = sys.is_finalizing) -> None:
        if (
            not _finalizing() and self._process == os.getpid()
        ):  # a forked child has the memory, but not the handle
            lib.ndf_map_close(self._handle, None)
