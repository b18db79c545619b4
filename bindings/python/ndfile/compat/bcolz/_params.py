"""How chunks are compressed, and the defaults of it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import blosc

NOSHUFFLE, SHUFFLE, BITSHUFFLE, filters = blosc.NOSHUFFLE, blosc.SHUFFLE, blosc.BITSHUFFLE, blosc.filters

_ENTRIES = ("clevel", "shuffle", "cname", "quantize")


def _check(clevel: Any, shuffle: Any, cname: Any, quantize: Any) -> dict[str, Any]:
    if clevel is not None and (not isinstance(clevel, int) or clevel < 0):
        raise ValueError(f"`clevel` must be 0 or a positive integer, found {clevel!r}")
    if shuffle is not None and (not isinstance(shuffle, int) or shuffle not in filters):
        raise ValueError(f"`shuffle` must be one of {list(filters)}, found {shuffle!r}")
    if cname is not None and cname not in blosc.cnames:
        raise ValueError(f"Compressor {cname!r} is not available; there are {blosc.cnames}")
    if quantize is not None and (not isinstance(quantize, int) or quantize < 0):
        raise ValueError(f"`quantize` must be 0 or a positive integer, found {quantize!r}")
    return dict(zip(_ENTRIES, (clevel, shuffle, cname, quantize)))


class cparams:
    """How the chunks of a carray are compressed: codec, level and filter, as in `ndfile.Compression`."""

    def __init__(
        self,
        clevel: int | None = None,
        shuffle: int | None = None,
        cname: str | None = None,
        quantize: int | None = None,
    ) -> None:
        given = _check(clevel, shuffle, cname, quantize)
        for name, value in given.items():
            setattr(self, f"_{name}", defaults.cparams[name] if value is None else value)

    clevel = property(lambda self: self._clevel)
    shuffle = property(lambda self: self._shuffle)
    cname = property(lambda self: self._cname)
    quantize = property(lambda self: self._quantize)

    @staticmethod
    def setdefaults(
        clevel: int | None = None,
        shuffle: int | None = None,
        cname: str | None = None,
        quantize: int | None = None,
    ) -> None:
        """Change the defaults; those that are not given stay."""
        given = _check(clevel, shuffle, cname, quantize)
        defaults.cparams.update({k: v for k, v in given.items() if v is not None})

    def __repr__(self) -> str:
        return (
            f"cparams(clevel={self.clevel}, shuffle={self.shuffle}, cname={self.cname!r}, "
            f"quantize={self.quantize})"
        )

    def compression(self) -> dict[str, Any]:
        """Give what ndfile takes as ``compression``."""
        return {"cname": self.cname, "clevel": min(self.clevel, 9), "shuffle": int(self.shuffle)}


class Defaults:
    """What is taken where a call does not say."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {"vm": "python", "out_flavor": "bcolz"}
        self._cparams = {"clevel": 5, "shuffle": int(SHUFFLE), "cname": "lz4", "quantize": 0}

    @property
    def cparams(self) -> dict[str, Any]:
        return self._cparams

    @cparams.setter
    def cparams(self, value: Any) -> None:
        if isinstance(value, cparams):
            value = {name: getattr(value, name) for name in _ENTRIES}
        if not isinstance(value, dict) or any(name not in value for name in _ENTRIES):
            raise ValueError(f"expected cparams or a dict of {list(_ENTRIES)}, found {value!r}")
        self._cparams = _check(**value)

    def _choice(name: str, choices: tuple[str, ...]) -> property:  # type: ignore[misc]
        def check(self: Defaults, value: str) -> None:
            if value not in choices:
                raise ValueError(f"{value!r} is incorrect value for {name!r} default")
            self._values[name] = value

        return property(lambda self: self._values[name], check)

    vm = eval_vm = _choice("vm", ("numexpr", "python", "dask"))
    out_flavor = eval_out_flavor = _choice("out_flavor", ("bcolz", "carray", "numpy"))


defaults = Defaults()


@contextlib.contextmanager
def defaults_ctx(cparams: Any = None, vm: str | None = None, out_flavor: str | None = None) -> Iterator[None]:
    """Change defaults for the time of a ``with``."""
    old = dict(defaults.cparams), defaults.vm, defaults.out_flavor
    try:
        if cparams:
            defaults.cparams = cparams
        if vm:
            defaults.vm = vm
        if out_flavor:
            defaults.out_flavor = out_flavor
        yield
    finally:
        defaults.cparams, defaults.vm, defaults.out_flavor = old


def chunklen_for(expectedlen: int, atomsize: int) -> int:
    """Give the rows of a chunk that bcolz chooses: of 4 KiB, twice as much for each tenfold size."""
    mib = min(max(expectedlen * atomsize / 2**20, 1e-4), 1e4)
    return max(1, (4096 << (int(math.log10(mib)) + 6)) // atomsize)


def rounded(values: np.ndarray, digits: int) -> np.ndarray:
    """Round floats to so many significant digits, as ``quantize`` does; 0 leaves them."""
    if not digits:
        return values
    if values.dtype.kind != "f":
        raise TypeError(f"quantize is for floats only, found {values.dtype}")
    scale = 2.0 ** math.ceil(math.log2(10.0**digits))
    result: np.ndarray = (np.around(scale * values) / scale).astype(values.dtype, copy=False)
    return result


def sizes(nbytes: int, cbytes: int) -> str:
    """Say how much memory elements take, and how much as they are stored."""
    ratio = nbytes / cbytes if cbytes else math.nan
    return f"nbytes := {_readable(nbytes)}; cbytes := {_readable(cbytes)}; ratio: {ratio:.2f}"


def _readable(size: float) -> str:
    for unit in ("", " KB", " MB", " GB"):
        if size < 1024 or unit == " GB":
            break
        size /= 1024
    return f"{size:.2f}{unit}" if unit else str(size)


def storage(params: cparams | None, expectedlen: int | None, chunklen: int | None) -> dict[str, Any]:
    """Give what `File.create` takes."""
    if params is not None and not isinstance(params, cparams):
        raise ValueError("`cparams` param must be an instance of `cparams` class")
    if chunklen is not None and (not isinstance(chunklen, int) or chunklen < 1):
        raise ValueError("chunklen must be a positive integer")
    given: dict[str, Any] = {"compression": (params or cparams()).compression()}
    if expectedlen is not None:
        given["expected_rows"] = int(expectedlen)
    if chunklen is not None:
        given["chunks"] = chunklen
    return given
