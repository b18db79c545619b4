"""The Python worker of the benchmarks: does what the driver asks for, one line a request.

Request: CONTENDER OPERATION CASE FOLDER COUNT. Reply: ok WALL_NS CPU_NS, skip REASON, or error MESSAGE.
The request "list" is answered by ok and every CONTENDER:OPERATION there is.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from platform import python_version
from typing import Any

import bcolz_stores
import blosc
import blosc_chunks
import files
import h5py
import ndfile
import netCDF4
import parts
import realistic
import zarr_stores
from case import Case, Skip

OPERATIONS = {
    **files.OPERATIONS,
    **bcolz_stores.OPERATIONS,
    **zarr_stores.OPERATIONS,
    **blosc_chunks.OPERATIONS,
    **realistic.OPERATIONS,
    **parts.OPERATIONS,
}

PACKAGES = "numpy ds-format netCDF4 h5py safetensors bcolz-zipline zarr zarrs tensorstore blosc".split()


def versions() -> dict[str, str]:
    """Give the versions of all that is compared."""
    return {
        "ndfile": ndfile.__version__,
        "python": python_version(),
        **{name: version(name) for name in PACKAGES},
        "netcdf-c": netCDF4.__netcdf4libversion__,
        "hdf5-of-netCDF4": netCDF4.__hdf5libversion__,
        "hdf5-of-h5py": h5py.version.hdf5_version,
        "c-blosc": blosc.blosclib_version.split()[0],
    }


def timed(run: Callable[[], Any]) -> tuple[int, int, Any]:
    """Give the wall and the CPU time of a call in nanoseconds, and its result."""
    gc.collect()
    gc.disable()
    try:
        wall, cpu = time.monotonic_ns(), time.process_time_ns()
        result = run()
        cpu, wall = time.process_time_ns() - cpu, time.monotonic_ns() - wall
    finally:
        gc.enable()
    return wall, cpu, result


def answer(request: str) -> str:
    """Do what a request asks for."""
    if request == "list":
        return " ".join(["ok", *(f"{contender}:{operation}" for contender, operation in OPERATIONS)])
    contender, operation, case, folder, count = request.split(" ")
    prepare = OPERATIONS.get((contender, operation))
    if prepare is None:
        if not any(contender in key for key in OPERATIONS) or not any(operation in key for key in OPERATIONS):
            raise ValueError(f"unknown: {contender} {operation}")
        raise Skip(f"the API of {contender} has no {operation}")
    work = prepare(Case.parse(case), folder, int(count))
    wall, cpu, result = timed(work.run)
    work.check(result)
    return f"ok {wall} {cpu}"


def main() -> None:
    """Answer requests until there are no more."""
    gc.freeze()  # what has been imported; else each request would take time to look through it
    print("ready", *(f"{name}={version}" for name, version in versions().items()), flush=True)
    for line in sys.stdin:
        try:
            reply = answer(line.rstrip("\n"))
        except (Skip, ndfile.NotSupportedError) as e:
            reply = f"skip {e}"
        except Exception as e:
            reply = f"error {type(e).__name__}: {e}"
        print(" ".join(reply.split()), flush=True)


if __name__ == "__main__":
    main()
