"""What notebooks show of files and arrays: facts, attributes that fold, the grid of chunks as SVG."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._array import Array
    from ._file import File
    from ._group import Group

_MOST_FILES = 20_000  # that are looked at for the size of a store
_MOST_LINES = 40  # of a grid of chunks along an axis
_MOST_ARRAYS = 200  # that are listed
_LONGEST = 400  # characters of an attribute

_STYLE = """<style>
.ndfile{font-size:13px;line-height:1.4}
.ndfile table{border-collapse:collapse;margin:4px 0}
.ndfile th,.ndfile td{text-align:left;padding:2px 8px;border:none;vertical-align:top}
.ndfile thead th{border-bottom:1px solid #8888}
.ndfile tbody th{font-weight:600;opacity:.75}
.ndfile summary{cursor:pointer;opacity:.75}
.ndfile .flex{display:flex;gap:24px;align-items:flex-start;flex-wrap:wrap}
</style>"""


def of_array(array: Array) -> str:
    """Show an array: its facts, attributes, and how it is cut into chunks."""
    shape = array._description[1]
    rows: list[tuple[str, Any]] = [
        ("file", array._file.path),
        ("shape", _shape(shape, None)),
        ("dtype", array.dtype_name + (", masked" if array.masked else "")),
        ("size", None if shape is None else size(array.nbytes)),
    ]
    if array._file.closed:
        return page(f"ndfile.Array {array.name!r}, closed", _facts(rows))
    chunks = array.chunks
    rows[1] = ("shape", _shape(shape, array.dims))
    if chunks is not None and shape is not None:
        one = math.prod(chunks) * array.dtype.itemsize
        rows.append(("chunks", f"{chunks}, {array.nchunks:,} of {size(one)}"))
        rows.append(("shards", array.shards))
        given = array.compression
        how = f"{given.cname}, level {given.clevel}" if given else ", ".join(map(_codec, array.codecs or ()))
        rows.append(("compression", how))
    if array._file.kind == "array":
        rows += _stored(array._file.path, array.nbytes)
    picture = "" if shape is None else grid(shape, chunks)
    body = f"<div class='flex'><div>{_facts(rows)}{_attrs(array.attrs)}</div><div>{picture}</div></div>"
    return page(f"ndfile.Array {array.name!r}", body)


def of_file(file: File, title: str) -> str:
    """Show a file: its arrays, each with its attributes, and the file's own."""
    rows: list[tuple[str, Any]] = [("rows", f"{len(file):,}")] if file.kind == "table" else []
    arrays = list(Mapping.items(file))
    rows += _stored(file.path, sum(v.nbytes for _, v in arrays))
    return page(title, _facts(rows) + _listed(arrays) + _attrs(file.attrs))


def of_group(group: Group, title: str) -> str:
    """Show a group of a file: its arrays, and its attributes."""
    return page(title, _listed(list(group.items())) + _attrs(group.attrs))


def _listed(arrays: Sequence[tuple[str, Array]]) -> str:
    lines: list[tuple[Any, ...]] = []
    for name, v in arrays[:_MOST_ARRAYS]:
        shape = v._description[1]
        cells = (name, _shape(shape, v.dims), v.dtype_name + (", masked" if v.masked else ""), v.chunks)
        more = _attrs(v.attrs)
        picture = grid(shape, v.chunks) if shape and v.chunks else ""
        if picture:
            more += f"<details><summary>chunks</summary>{picture}</details>"
        lines.append((*cells, size(v.nbytes), _Raw(more)))
    if len(arrays) > _MOST_ARRAYS:
        lines.append((f"and {len(arrays) - _MOST_ARRAYS} more", None, None, None, None, None))
    return table(("name", "shape", "dtype", "chunks", "size", ""), lines)


class _Raw(str):
    """Text that is HTML."""

    __slots__ = ()


def page(title: str, body: str = "") -> str:
    """Make the whole of a title and what follows it."""
    return f"<div class='ndfile'>{_STYLE}<strong>{escape(title)}</strong>{body}</div>"


def _facts(rows: Iterable[tuple[str, Any]]) -> str:
    body = "".join(f"<tr><th>{escape(k)}</th>{_cell(v)}</tr>" for k, v in rows if v not in (None, ""))
    return f"<table><tbody>{body}</tbody></table>"


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Make an HTML table of anything; None is an empty cell."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, _Raw):
        return f"<td>{value}</td>"
    return f"<td>{'' if value is None else escape(str(value))}</td>"


def _attrs(attrs: Mapping[str, Any]) -> str:
    found = {name: repr(value) for name, value in attrs.items()}
    if not found:
        return ""
    rows = [(k, v if len(v) <= _LONGEST else v[:_LONGEST] + " ...") for k, v in found.items()]
    noun = "attribute" if len(rows) == 1 else "attributes"
    return f"<details><summary>{len(rows)} {noun}</summary>{_facts(rows)}</details>"


def _shape(shape: tuple[int, ...] | None, dims: Sequence[str] | None) -> str:
    if shape is None:
        return "no data"
    if dims is None or len(dims) != len(shape):
        return str(shape)
    return "(" + ", ".join(f"{name}: {n}" for name, n in zip(dims, shape)) + ")"


def _codec(codec: Any) -> str:
    return codec if isinstance(codec, str) else str(codec.get("name", codec))


def size(n: float) -> str:
    """Give a number of bytes for people."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if n < 1024 or unit == "TiB":
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.2f} {unit}"
        n /= 1024
    return ""


def _stored(path: str, nbytes: int) -> list[tuple[str, Any]]:
    """Tell how many bytes a file or folder has, and the ratio; nothing where that would take long."""
    found, files = 0, 0
    try:
        if not os.path.isdir(path):
            found = os.stat(path).st_size
        else:
            for folder, _, names in os.walk(path):
                files += len(names)
                if files > _MOST_FILES:
                    return []
                found += sum(os.stat(os.path.join(folder, name)).st_size for name in names)
    except OSError:
        return []
    ratio = f", ratio {nbytes / found:.1f}" if found and nbytes else ""
    return [("stored", size(found) + ratio)]


def grid(shape: tuple[int, ...], chunks: tuple[int, ...] | None) -> str:
    """Draw the last three axes of an array and how they are cut, as SVG."""
    if not shape or not all(shape):
        return ""
    extents, cuts = [*shape[-3:]], [*(chunks or shape)[-3:]]
    if len(extents) == 1:
        extents, cuts = [1, *extents], [1, *cuts]
    longest = max(extents)
    sides = [max(14.0, 120.0 * (n / longest) ** 0.5) for n in extents]  # so that thin ones can be seen
    depth = sides[-3] * 0.5 if len(extents) == 3 else 0.0
    width, height = sides[-1], sides[-2]
    parts = []
    corners = [(0, 0), (width, 0), (width, height), (0, height)]
    if depth:
        top = [(0, 0), (width, 0), (width + depth, -depth), (depth, -depth)]
        side = [(width, 0), (width, height), (width + depth, height - depth), (width + depth, -depth)]
        parts += [_polygon(top), _polygon(side)]
        for k in _cuts(extents[0], cuts[0], depth):
            parts.append(_line(k, -k, width + k, -k))
            parts.append(_line(width + k, -k, width + k, height - k))
    parts.append(_polygon(corners))
    for k in _cuts(extents[-2], cuts[-2], height):
        parts.append(_line(0, k, width, k))
        if depth:
            parts.append(_line(width, k, width + depth, k - depth))
    for k in _cuts(extents[-1], cuts[-1], width):
        parts.append(_line(k, 0, k, height))
        if depth:
            parts.append(_line(k, 0, k + depth, -depth))
    parts.append(f"<text x='{width / 2:.0f}' y='{height + 14:.0f}'>{extents[-1]}</text>")
    if len(shape) > 1:
        x, y = width + depth + 8, (height - depth) / 2
        parts.append(f"<text x='{x:.0f}' y='{y:.0f}' text-anchor='start'>{extents[-2]}</text>")
    if depth:
        x, y = depth / 2 - 6, -depth / 2 - 2
        parts.append(f"<text x='{x:.0f}' y='{y:.0f}' text-anchor='end'>{extents[0]}</text>")
    if len(shape) > 3:
        more = " x ".join(map(str, shape[:-3]))
        parts.append(f"<text x='{width / 2:.0f}' y='{height + 28:.0f}'>{more} of these</text>")
    left, above = 60, depth + 6
    wide, high = left + width + depth + 70, above + height + 34
    box = f"{-left} {-above:.0f} {wide:.0f} {high:.0f}"
    style = "font-size='11' fill='currentColor' text-anchor='middle'"
    size_ = f"width='{wide:.0f}' height='{high:.0f}' viewBox='{box}'"
    return f"<svg {size_}><g {style}>{''.join(parts)}</g></svg>"


def _cuts(extent: int, chunk: int, length: float) -> list[float]:
    """Give where lines are drawn: between chunks, or some of those where there are many."""
    n = -(-extent // max(1, chunk))
    step = -(-n // _MOST_LINES)
    return [length * i * chunk / extent for i in range(step, n, step)]


def _polygon(points: Iterable[tuple[float, float]]) -> str:
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f"<polygon points='{text}' fill='#ecb172' fill-opacity='0.4' stroke='currentColor'/>"


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    at = f"x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}'"
    return f"<line {at} stroke='currentColor' stroke-opacity='0.45'/>"
