"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Make an HTML table of anything; None is an empty cell."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"


def _cell(value: Any) -> str:
    return f"<td>{'' if value is None else escape(str(value))}</td>"
