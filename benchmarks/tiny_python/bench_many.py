"""Many tiny ds files from Python: read_many and save_many against loops of read and save.

Wall time, since what read_many does is to work in parallel. Files lie in memory (/dev/shm). Each round runs
both sides, first the one, then the other, the next round the other way; saving has fresh folders, which are
deleted at the very end. The figure is the median over rounds of loop / many (above 1: many is faster), with a
95 % bootstrap interval. The results of both sides are compared once.

usage: bench_many.py [--rounds N] [--files N] [--json FILE] [--limit RATIO]
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
from typing import Any, Callable

import ndfile
import numpy as np
from bench_tiny import interval

Arrays = list[dict[str, np.ndarray]]


def read_loop(paths: list[str]) -> list[Any]:
    """Read one file after the other."""
    return [ndfile.read(path) for path in paths]


def save_loop(paths: list[str], arrays: Arrays) -> None:
    """Write one file after the other."""
    for path, value in zip(paths, arrays):
        ndfile.save(path, value)


def wall(function: Callable, *args: object) -> float:
    """Give the wall time of a call in nanoseconds; garbage is collected before."""
    gc.collect()
    start = time.perf_counter_ns()
    function(*args)
    return time.perf_counter_ns() - start


def compare(paths: list[str], arrays: Arrays) -> None:
    """See that both sides give what was saved."""
    for many, one, want in zip(ndfile.read_many(paths), read_loop(paths), arrays):
        for name, array in want.items():
            for found in (many, one):
                if list(found) != sorted(want) or found[name].tobytes() != array.tobytes():
                    raise AssertionError(f"{found} was read where {want} had been saved")


def measure(arrays: Arrays, top: str, rounds: int) -> dict[str, list]:
    """Run the rounds; give pairs of nanoseconds a file, (loop, many)."""

    def fresh() -> list[str]:
        folder = tempfile.mkdtemp(dir=top)
        return [os.path.join(folder, f"{i:06}.ds") for i in range(len(arrays))]

    result: dict[str, list] = {"read": [], "save": []}
    paths = fresh()
    ndfile.save_many(paths, arrays)
    compare(paths, arrays)
    for turn in range(rounds + 1):
        sides = {
            "read": ((read_loop, paths), (ndfile.read_many, paths)),
            "save": (
                (save_loop, fresh(), arrays),
                (ndfile.save_many, fresh(), arrays),
            ),
        }
        for what, (loop, many) in sides.items():
            if turn % 2:
                y, x = wall(*many), wall(*loop)
            else:
                x, y = wall(*loop), wall(*many)
            if turn:  # the first is for warming up
                result[what].append((x / len(arrays), y / len(arrays)))
    return result


def main() -> int:
    """Run the benchmark and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    parser.add_argument("--limit", type=float, help="exit 1 when the median of reading is below")
    args = parser.parse_args()
    arrays = [{"x": np.array([float(i)])} for i in range(args.files)]
    rng = random.Random(0)
    figures = {}
    base = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=base, prefix="ndfile-bench-") as top:
        for what, pairs in measure(arrays, top, args.rounds).items():
            ratios = [x / y for x, y in pairs]
            figures[what] = {
                "loop_ns": statistics.median(x for x, _ in pairs),
                "many_ns": statistics.median(y for _, y in pairs),
                "ratio": statistics.median(ratios),
                "interval": list(interval(ratios, rng)),
            }
    print(
        f"ndfile {ndfile.__version__}, Python {sys.version.split()[0]}, NumPy {np.__version__}, "
        f"{os.cpu_count()} processors; {args.files} files; wall ns a file"
    )
    print(f"{'':8}{'loop':>8}{'many':>8}{'ratio':>7}   95 % interval")
    for what, f in figures.items():
        low, high = f["interval"]
        print(f"{what:8}{f['loop_ns']:8.0f}{f['many_ns']:8.0f}{f['ratio']:7.2f}   {low:.2f} - {high:.2f}")
    if args.json:
        with open(args.json, "w") as out:
            json.dump(figures, out, indent=1)
            out.write("\n")
    return 1 if args.limit and figures["read"]["ratio"] < args.limit else 0


if __name__ == "__main__":
    sys.exit(main())
