"""A bar for progress=True: of tqdm or rich where one of them is installed, else a line of text."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any


def in_notebook() -> bool:
    """Whether output goes to a notebook."""
    shell = sys.modules.get("IPython")
    get = getattr(shell, "get_ipython", None)
    return get is not None and type(get()).__name__ == "ZMQInteractiveShell"


def _shown() -> bool:
    try:
        return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())
    except ValueError:  # it is closed
        return False


class Bar:
    """What is done, of how much, how fast, how long it will take; on stderr, if a terminal or notebook."""

    def __init__(self, unit: str) -> None:
        """Take what is counted: ``"files"`` or ``"B"``."""
        self._unit = unit
        self._make = (_tqdm, _rich, _text) if _shown() else (_nothing,)
        self._shown: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self._shown is None:
            for make in self._make:
                with contextlib.suppress(ImportError):
                    self._shown = make(self._unit, total)
                    break
        if self._shown is not None:
            self._shown.set(done, total)

    def close(self) -> None:
        """Leave the bar as it is, and end its line."""
        if self._shown is not None:
            self._shown.close()
            self._shown = None


class _nothing:
    def __init__(self, unit: str, total: int) -> None: ...
    def set(self, done: int, total: int) -> None: ...
    def close(self) -> None: ...


class _tqdm:
    def __init__(self, unit: str, total: int) -> None:
        from tqdm.auto import tqdm

        scale = 1024 if unit == "B" else 1000
        self.bar: Any = tqdm(total=total, unit=unit if unit == "B" else " " + unit, unit_scale=unit == "B")
        self.bar.unit_divisor = scale

    def set(self, done: int, total: int) -> None:
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        self.bar.close()


class _rich:
    def __init__(self, unit: str, total: int) -> None:
        from rich import progress
        from rich.console import Console

        count = progress.DownloadColumn() if unit == "B" else progress.MofNCompleteColumn()
        columns: tuple[Any, ...] = (progress.BarColumn(), progress.TaskProgressColumn(show_speed=True), count)
        self.bar: Any = progress.Progress(
            *columns, progress.TimeRemainingColumn(), console=Console(stderr=True)
        )
        self.task = self.bar.add_task("", total=total)
        self.bar.start()

    def set(self, done: int, total: int) -> None:
        self.bar.update(self.task, completed=done, total=total)

    def close(self) -> None:
        self.bar.stop()


class _text:
    def __init__(self, unit: str, total: int) -> None:
        self.unit = unit
        self.begin, self.last, self.long = time.monotonic(), -1.0, 0

    def set(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.last < 0.1 and done < total:
            return
        self.last = now
        line = line_of(done, total, now - self.begin, self.unit)
        self.long = max(self.long, len(line))
        print("\r" + line.ljust(self.long), end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.long:
            print(file=sys.stderr, flush=True)


def line_of(done: int, total: int, seconds: float, unit: str) -> str:
    """Say how far a task has come: ``993 of 20000 files, 5 %, 1986 files/s, 0:10 left``."""
    rate = done / seconds if seconds > 0 else 0.0
    share = f"{100 * done // total} %" if total > 0 else "100 %"
    line = f"{_amount(done, unit)} of {_amount(total, unit)}, {share}"
    if rate:
        left = int((total - done) / rate)
        minutes = f"{left // 60}" if left < 3600 else f"{left // 3600}:{left % 3600 // 60:02}"
        line += f", {_amount(round(rate), unit)}/s, {minutes}:{left % 60:02} left"
    return line


def _amount(n: int, unit: str) -> str:
    if unit != "B":
        return f"{n} {unit}"
    size, prefix = float(n), ""
    for prefix in ("", "Ki", "Mi", "Gi", "Ti"):
        if size < 1024 or prefix == "Ti":
            break
        size /= 1024
    return f"{size:.0f} {prefix}B" if prefix == "" else f"{size:.1f} {prefix}B"
