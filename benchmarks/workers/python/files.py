"""Files of arrays, whole: what is written, read, or mapped in one go.

One class a contender, written as its own documentation shows. `OPERATIONS` tells what they do.
"""

from __future__ import annotations

import math
import os
import tempfile
from functools import partial
from typing import Any

import ds_format as ds
import h5py
import ndfile
import netCDF4
import numpy as np
import safetensors.numpy
from case import Case, Prepare, Skip, Work
from values import check_ends, check_sum, plain

Arrays = dict[str, np.ndarray]


class Files:
    """A contender; a new object for every request.

    Its methods `write`, `read`, `read_into` and `map` are one file's, each where the contender has it.
    """

    extension: str
    single = False  # one array a file, without a name

    def __init__(self, case: Case) -> None:
        if case.chunk is not None:
            raise Skip("files are not chunked")
        if self.single and case.variables > 1:
            raise Skip("one array a file")
        self.case = case
        self.dims = {f"x{axis}": size for axis, size in enumerate(case.shape)}

    def content(self, folder: str) -> Any:
        """Make what `write` takes. Not timed."""
        arrays = plain(self.case)
        return arrays["x"] if self.single else arrays

    def buffer(self, path: str) -> Any:
        """Make what `read_into` reads files like that at path into; its memory has been touched. Not timed."""
        return np.full(self.case.shape, 77, self.case.dtype)

    def filled(self, out: Any) -> np.ndarray:
        """Give the array that `read_into` has filled."""
        return out

    def pick(self, result: Any, name: str) -> np.ndarray:
        """Give the array of that name out of what `read` gave."""
        return result if self.single else result[name]

    def write_all(self, paths: list[str], content: Any) -> None:
        write = self.write
        for path in paths:
            write(path, content)

    def read_all(self, paths: list[str]) -> Any:
        """Read all files; only what is read last is kept, for the check."""
        read = self.read
        for path in paths[:-1]:
            read(path)
        return read(paths[-1])


READ = os.O_RDONLY | os.O_CLOEXEC
CREATE = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
ROOM = 64 << 10  # bytes that one read of a small file asks for
SMALL = 32 << 10  # the most bytes of its arrays; before them is a header


class Syscalls(Files):
    """The bare calls, for the bytes of the same ds file. Nothing is looked up in it: the arrays are at its end."""

    extension = ".ds"

    def __init__(self, case: Case) -> None:
        super().__init__(case)
        self.size = math.prod(case.shape) * case.dtype.itemsize * case.variables
        self.large = self.size > SMALL

    def content(self, folder: str) -> memoryview:
        with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as beside:
            sample = os.path.join(beside, "sample.ds")
            ndfile.save(sample, super().content(folder))
            with open(sample, "rb") as f:
                return memoryview(f.read())

    def buffer(self, path: str) -> np.ndarray:
        return np.full(self.size if self.large else os.path.getsize(path), 77, np.uint8)

    def filled(self, out: np.ndarray) -> np.ndarray:
        return self.pick(out, "x")

    def pick(self, result: Any, name: str) -> np.ndarray:
        arrays = np.frombuffer(result, self.case.dtype, offset=len(result) - self.size)
        return arrays.reshape(self.case.variables, *self.case.shape)[self.case.names.index(name)]

    def write(self, path: str, content: memoryview) -> None:
        fd = os.open(path, CREATE | os.O_TRUNC, 0o666)
        write_out(fd, content)
        os.close(fd)

    def read(self, path: str) -> Any:
        fd = os.open(path, READ)
        if self.large:
            result = read_end(fd, np.empty(self.size, np.uint8))
        else:
            result = os.pread(fd, ROOM, 0)
        os.close(fd)
        return result

    def read_into(self, path: str, out: np.ndarray) -> None:
        fd = os.open(path, READ)
        if self.large:
            read_end(fd, out)
        else:
            os.preadv(fd, [out], 0)
        os.close(fd)


def write_out(fd: int, content: memoryview) -> None:
    """Write all of it."""
    done = os.write(fd, content)
    while done < len(content):
        done += os.write(fd, content[done:])


def read_end(fd: int, out: np.ndarray) -> np.ndarray:
    """Read the last bytes of a file."""
    start = os.fstat(fd).st_size - len(out)
    done = os.preadv(fd, [out], start)
    while done < len(out):
        done += os.preadv(fd, [out[done:]], start + done)
    return out


class SyscallsAtomic(Syscalls):
    """The same, written beside the path and renamed."""

    def write(self, path: str, content: memoryview) -> None:
        beside = path + ".tmp"
        fd = os.open(beside, CREATE | os.O_EXCL, 0o666)
        write_out(fd, content)
        os.close(fd)
        os.rename(beside, path)


class NdfileDs(Files):
    """ndfile, ds."""

    extension = ".ds"

    def write(self, path: str, content: Arrays) -> None:
        ndfile.save(path, content)

    def read(self, path: str) -> Arrays:
        return ndfile.read(path)

    def read_into(self, path: str, out: np.ndarray) -> None:
        ndfile.read(path, "x", out=out)

    def map(self, path: str) -> np.ndarray:
        with ndfile.open(path) as f:
            return f["x"].map()


class NdfileDsMany(Files):
    """ndfile, ds, many files in one call."""

    extension = ".ds"

    def write_all(self, paths: list[str], content: Arrays) -> None:
        ndfile.save_many(paths, [content] * len(paths))

    def read_all(self, paths: list[str]) -> Arrays:
        return ndfile.read_many(paths)[-1]


class NdfileRa(Files):
    """ndfile, RawArray."""

    extension = ".ra"
    single = True

    def write(self, path: str, content: np.ndarray) -> None:
        ndfile.save(path, content)

    def read(self, path: str) -> np.ndarray:
        return ndfile.read(path)

    def read_into(self, path: str, out: np.ndarray) -> None:
        ndfile.read(path, out=out)

    def map(self, path: str) -> np.ndarray:
        with ndfile.open(path) as f:
            return f.array.map()


class NdfileNpy(NdfileRa):
    """ndfile, NumPy's format."""

    extension = ".npy"


class Direct(Files):
    """ndfile without the temporary file and the rename: put before the class of a format."""

    def write(self, path: str, content: Any) -> None:
        ndfile.save(path, content, commit="direct")


class NdfileDsDirect(Direct, NdfileDs):
    pass


class NdfileRaDirect(Direct, NdfileRa):
    pass


class NdfileNpyDirect(Direct, NdfileNpy):
    pass


class NetCDF4(Files):
    """netCDF4-python, NetCDF-4. What it reads are masked arrays, its default."""

    extension = ".nc"
    format = "NETCDF4"

    def write(self, path: str, content: Arrays) -> None:
        with netCDF4.Dataset(path, "w", format=self.format) as f:
            for name, size in self.dims.items():
                f.createDimension(name, size)
            for name, a in content.items():
                f.createVariable(name, a.dtype, tuple(self.dims))[:] = a

    def read(self, path: str) -> Arrays:
        with netCDF4.Dataset(path) as f:
            return {name: v[:] for name, v in f.variables.items()}


class CDF5(NetCDF4):
    """netCDF4-python, CDF-5."""

    format = "NETCDF3_64BIT_DATA"


class DsFormat(Files):
    """ds-format, ds. Without names of dimensions it would make some for every variable, which takes longer."""

    extension = ".ds"

    def content(self, folder: str) -> dict[str, Any]:
        arrays = plain(self.case)
        return {**arrays, ".": {name: {".dims": list(self.dims)} for name in arrays}}

    def write(self, path: str, content: dict[str, Any]) -> None:
        ds.write(path, content)

    def read(self, path: str) -> Arrays:
        return ds.read(path)


class DsFormatNetCDF(DsFormat):
    """ds-format, NetCDF-4."""

    extension = ".nc"


class H5py(Files):
    """h5py."""

    extension = ".h5"

    def write(self, path: str, content: Arrays) -> None:
        with h5py.File(path, "w") as f:
            for name, a in content.items():
                f[name] = a

    def read(self, path: str) -> Arrays:
        with h5py.File(path, "r") as f:
            return {name: v[...] for name, v in f.items()}

    def read_into(self, path: str, out: np.ndarray) -> None:
        with h5py.File(path, "r") as f:
            f["x"].read_direct(out)


class NumPy(Files):
    """NumPy itself."""

    extension = ".npy"
    single = True

    def write(self, path: str, content: np.ndarray) -> None:
        np.save(path, content)

    def read(self, path: str) -> np.ndarray:
        return np.load(path)

    def map(self, path: str) -> np.ndarray:
        return np.load(path, mmap_mode="r")


class Safetensors(Files):
    """safetensors. It maps the file, but gives copies."""

    extension = ".safetensors"

    def write(self, path: str, content: Arrays) -> None:
        safetensors.numpy.save_file(content, path)

    def read(self, path: str) -> Arrays:
        return safetensors.numpy.load_file(path)


CONTENDERS: dict[str, type[Files]] = {
    "syscalls": Syscalls,
    "syscalls-atomic": SyscallsAtomic,
    "ds-direct": NdfileDsDirect,
    "ds": NdfileDs,
    "ds-many": NdfileDsMany,
    "ra-direct": NdfileRaDirect,
    "ra": NdfileRa,
    "npy-direct": NdfileNpyDirect,
    "npy": NdfileNpy,
    "netcdf4": NetCDF4,
    "cdf5": CDF5,
    "ds-format": DsFormat,
    "ds-format-netcdf": DsFormatNetCDF,
    "h5py": H5py,
    "numpy": NumPy,
    "safetensors": Safetensors,
}


def write(contender: Files, folder: str, paths: list[str]) -> Work:
    content = contender.content(folder)
    return Work(lambda: contender.write_all(paths, content))


def read(contender: Files, folder: str, paths: list[str]) -> Work:
    def check(last: Any) -> None:
        for name, wanted in plain(contender.case).items():
            check_ends(contender.pick(last, name), wanted)

    return Work(lambda: contender.read_all(paths), check)


def read_reused(contender: Files, folder: str, paths: list[str]) -> Work:
    out = contender.buffer(paths[0])

    def run() -> None:
        read_into = contender.read_into
        for path in paths:
            read_into(path, out)

    return Work(run, lambda _: check_ends(contender.filled(out), plain(contender.case)["x"]))


def read_sum(contender: Files, folder: str, paths: list[str]) -> Work:
    def run() -> Any:
        for path in paths:
            total = contender.pick(contender.read(path), "x").sum()
        return total

    return Work(run, lambda total: check_sum(total, plain(contender.case)["x"]))


def map_sum(contender: Files, folder: str, paths: list[str]) -> Work:
    def run() -> Any:
        for path in paths:
            total = contender.map(path).sum()
        return total

    return Work(run, lambda total: check_sum(total, plain(contender.case)["x"]))


# The operation, the method that it needs, and whether files may have several variables.
_OPERATIONS = {
    "write": (write, "write_all", True),
    "read": (read, "read_all", True),
    "read-reused": (read_reused, "read_into", False),
    "read-sum": (read_sum, "read", False),
    "map-sum": (map_sum, "map", False),
}


def prepare(kind: type[Files], operation: str, case: Case, folder: str, count: int) -> Work:
    """Make an operation of a contender ready."""
    ready, _, several = _OPERATIONS[operation]
    if case.variables > 1 and not several:
        raise Skip("files of one variable only")
    contender = kind(case)
    return ready(contender, folder, [f"{folder}/{i:06}{contender.extension}" for i in range(count)])


OPERATIONS: dict[tuple[str, str], Prepare] = {
    (name, operation): partial(prepare, kind, operation)
    for name, kind in CONTENDERS.items()
    for operation, (_, method, _) in _OPERATIONS.items()
    if hasattr(kind, method)
}
