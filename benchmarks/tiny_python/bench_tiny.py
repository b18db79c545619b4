"""Tiny ds files from Python: ndfile.read and ndfile.save against the bare system calls.

The peer does the same work as os.open, os.pread, os.close and os.open, os.write, os.close: no header, no
arrays. Files lie in memory (/dev/shm), so that what is measured is CPU time of this process. Each round has
a fresh folder and runs both sides, first the one, then the other, the next round the other way; folders are
deleted at the very end. The figure is the median over rounds of ndfile / system calls, with a 95 %
bootstrap interval.

usage: bench_tiny.py [--rounds N] [--files N] [--json FILE] [--limit RATIO]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import sys
import tempfile
import time
from typing import Callable

import ndfile
import numpy as np

READ = os.O_RDONLY | os.O_CLOEXEC
WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC


def raw_read(paths: list[str]) -> None:
    """Read files by system calls."""
    for path in paths:
        fd = os.open(path, READ)
        os.pread(fd, 4096, 0)
        os.close(fd)


def ndfile_read(paths: list[str]) -> None:
    """Read files by ndfile."""
    for path in paths:
        ndfile.read(path)


def raw_write(paths: list[str], content: bytes) -> None:
    """Write files by system calls."""
    for path in paths:
        fd = os.open(path, WRITE, 0o666)
        os.write(fd, content)
        os.close(fd)


def ndfile_save(paths: list[str], arrays: dict[str, np.ndarray]) -> None:
    """Write files by ndfile."""
    for path in paths:
        ndfile.save(path, arrays, commit="direct")


def cpu(function: Callable, *args: object) -> float:
    """Give the CPU time of a call in nanoseconds, all threads of the process."""
    start = time.process_time_ns()
    function(*args)
    return time.process_time_ns() - start


def interval(values: list[float], rng: random.Random) -> tuple[float, float]:
    """Give a 95 % bootstrap interval of the median."""
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[-51]


def measure(arrays: dict[str, np.ndarray], top: str, rounds: int, files: int) -> dict[str, list]:
    """Run the rounds; give pairs of nanoseconds a file, (ndfile, system calls)."""
    sample = os.path.join(tempfile.mkdtemp(dir=top), "sample.ds")
    ndfile.save(sample, arrays)
    with open(sample, "rb") as f:
        content = f.read()
    result: dict[str, list] = {"read": [], "save": []}
    for turn in range(rounds + 2):
        folder = tempfile.mkdtemp(dir=top)
        ours = [os.path.join(folder, f"n{i:04}.ds") for i in range(files)]
        bare = [os.path.join(folder, f"r{i:04}.ds") for i in range(files)]
        sides = {
            "save": ((ndfile_save, ours, arrays), (raw_write, bare, content)),
            "read": ((ndfile_read, ours), (raw_read, bare)),
        }
        for what, (a, b) in sides.items():
            if turn % 2:
                y, x = cpu(*b), cpu(*a)
            else:
                x, y = cpu(*a), cpu(*b)
            if turn >= 2:  # the first are for warming up
                result[what].append((x / files, y / files))
        with open(ours[0], "rb") as f:
            if f.read() != content:
                raise AssertionError("what was written differs from what the system calls wrote")
    return result


def main() -> int:
    """Run the benchmark and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--files", type=int, default=400, help="files a round")
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    parser.add_argument("--limit", type=float, help="exit 1 when a median of the first case is above")
    args = parser.parse_args()
    cases = {
        "1 variable, 1 float64": {"x": np.array([1.5])},
        "1 variable, 10 float64": {"x": np.arange(10.0)},
        "3 variables": {
            "t": np.arange(4.0),
            "n": np.arange(6, dtype="i4").reshape(2, 3),
            "k": np.array(7),
        },
    }
    rng = random.Random(0)
    figures = {}
    base = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=base, prefix="ndfile-bench-") as top:
        gc.disable()
        for case, arrays in cases.items():
            for what, pairs in measure(arrays, top, args.rounds, args.files).items():
                ratios = [x / y for x, y in pairs]
                low, high = interval(ratios, rng)
                figures[f"{what}, {case}"] = {
                    "ndfile_ns": statistics.median(x for x, _ in pairs),
                    "syscalls_ns": statistics.median(y for _, y in pairs),
                    "ratio": statistics.median(ratios),
                    "interval": [low, high],
                }
    print(
        f"ndfile {ndfile.__version__}, Python {sys.version.split()[0]}, NumPy {np.__version__}; CPU ns a file"
    )
    print(f"{'':32}{'ndfile':>8}{'syscalls':>10}{'ratio':>7}   95 % interval")
    for name, f in figures.items():
        low, high = f["interval"]
        times = f"{f['ndfile_ns']:8.0f}{f['syscalls_ns']:10.0f}{f['ratio']:7.2f}"
        print(f"{name:32}{times}   {low:.2f} - {high:.2f}")
    if args.json:
        with open(args.json, "w") as out:
            json.dump(figures, out, indent=1)
            out.write("\n")
    first = next(iter(cases))
    worst = max(f["ratio"] for name, f in figures.items() if first in name)
    return 1 if args.limit and worst > args.limit else 0


if __name__ == "__main__":
    sys.exit(main())
