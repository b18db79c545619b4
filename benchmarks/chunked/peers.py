"""What the benchmarks of chunked formats share: rounds of contenders in turns, ratios, tables."""

from __future__ import annotations

import gc
import json
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tiny_python"))
from bench_tiny import interval  # noqa: E402

OURS = "ndfile"

#: A contender makes its work ready (untimed) and gives what is timed.
Contender = Callable[[], Callable[[], Any]]


def wall(work: Callable[[], Any]) -> float:
    """Give the wall time of a call in seconds; garbage is collected before."""
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(contenders: dict[str, Contender], rounds: int) -> dict[str, list[float]]:
    """Time the contenders in turns, each round beginning with another one; the first round does not count."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for turn in range(rounds + 1):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            seconds = wall(contenders[name]())
            if turn:
                times[name].append(seconds)
    return times


class Report:
    """Rows of one run."""

    def __init__(self, title: str, rounds: int) -> None:
        self.title, self.rounds, self.rows = title, rounds, []

    def row(self, what: str, aim: float, contenders: dict[str, Contender], per: int = 1) -> None:
        """Measure one row: times are those of one of `per` equal pieces of work."""
        times = compare(contenders, self.rounds)
        ours = times.pop(OURS)
        for peer, theirs in times.items():
            ratios = [b / a for a, b in zip(ours, theirs)]
            low, high = interval(ratios, random.Random(1))
            entry = {
                "row": what,
                "peer": peer,
                "ours_us": statistics.median(ours) / per * 1e6,
                "theirs_us": statistics.median(theirs) / per * 1e6,
                "ratio": statistics.median(ratios),
                "low": low,
                "high": high,
                "aim": aim,
            }
            self.rows.append(entry)
            print(line(entry), flush=True)

    def write(self, stem: str, versions: dict[str, str]) -> None:
        """Write STEM.json and STEM.md."""
        machine = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"
        result = {
            "title": self.title,
            "machine": machine,
            "rounds": self.rounds,
            "versions": versions,
            "rows": self.rows,
        }
        Path(stem + ".json").write_text(json.dumps(result, indent=1) + "\n")
        text = [
            f"# {self.title}",
            "",
            f"{machine}; {', '.join(f'{k} {v}' for k, v in versions.items())}.",
            "",
        ]
        text += [
            "Median of their time / ours over the rounds (above 1: ndfile is faster), with a 95 % interval.",
            "",
            HEAD,
        ]
        text += [line(entry) for entry in self.rows]
        Path(stem + ".md").write_text("\n".join(text) + "\n")


HEAD = "| row | peer | ndfile, µs | peer, µs | ratio | interval | aim |\n|---|---|---|---|---|---|---|"


def line(e: dict[str, Any]) -> str:
    """Give a row of the table."""
    met = "" if e["ratio"] >= e["aim"] else " **missed**"
    return (
        f"| {e['row']} | {e['peer']} | {e['ours_us']:.2f} | {e['theirs_us']:.2f} | {e['ratio']:.2f}{met} "
        f"| {e['low']:.2f} to {e['high']:.2f} | {e['aim']:g} |"
    )


@contextmanager
def workspace(folder: str | None) -> Iterator[Callable[[str], str]]:
    """Give a maker of fresh paths; everything is deleted at the very end."""
    top = tempfile.mkdtemp(dir=folder)
    count = iter(range(10**9))
    try:
        yield lambda name: os.path.join(top, f"{next(count)}-{name}")
    finally:
        shutil.rmtree(top)
