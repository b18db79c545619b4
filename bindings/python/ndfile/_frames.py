"""Frames and lists of rows as columns: what `save` and `Table.append` take besides arrays.

Whatever has ``__arrow_c_stream__`` (tables of pyarrow and polars, relations of duckdb, readers of batches)
is taken batch by batch; a `pandas.DataFrame` column by column; rows, dicts or named tuples, become columns.
"""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from . import _elements
from ._arrow_in import Field, Part, Stream, blank, is_utc, zoned
from ._elements import Texts
from ._errors import ArgumentError, DTypeError, MaskedError, NameNotFoundError

_ROWS = 1 << 17  # of a batch that is cut here

#: What becomes of nulls: "raise", "mask", or the value that stands for them, also by column.
Nulls = Any


class Frame(NamedTuple):
    """Columns of one length, batch by batch."""

    fields: list[Field]
    batches: Callable[[], Iterator[tuple[int, list[Part]]]]
    rows: int | None  # None: not known beforehand
    again: bool  # batches can be had more than once


def frame_of(value: Any) -> Frame | None:
    """See a frame or a list of rows as columns; None for anything else."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, pandas.DataFrame):
        return of_columns(_pandas_columns(value, pandas))
    if hasattr(value, "__arrow_c_stream__") and not isinstance(value, np.ndarray):
        return _of_stream(value)
    if hasattr(value, "__dataframe__"):
        try:
            import pyarrow.interchange
        except ImportError as e:
            raise ImportError(f"a {type(value).__name__} needs the package pyarrow to be read") from e
        return _of_stream(pyarrow.interchange.from_dataframe(value))
    if isinstance(value, list) and value and (isinstance(value[0], dict) or hasattr(value[0], "_fields")):
        return of_columns(columns_of_rows(value))
    return None


def columns_of_rows(rows: Sequence[Any]) -> dict[str, Any]:
    """Turn rows, dicts or named tuples, into columns."""
    first = rows[0]
    names = list(first) if isinstance(first, Mapping) else list(getattr(first, "_fields", ()))
    if not names:
        raise ArgumentError("rows: tuples without names; give dicts, named tuples or a structured array")
    for i, row in enumerate(rows):
        if (set(row) != set(names)) if isinstance(row, Mapping) else (len(row) != len(names)):
            raise NameNotFoundError(f"rows: row {i} has other columns than row 0, which has {names}")
    if isinstance(first, Mapping):
        return {name: [row[name] for row in rows] for name in names}
    return dict(zip(names, map(list, zip(*rows))))


def _of_stream(value: Any) -> Frame | None:
    held = [Stream(value.__arrow_c_stream__())]
    if not held[0].table:  # a series
        return None
    again = not hasattr(value, "__next__")
    rows = getattr(value, "num_rows", getattr(value, "height", None))

    def batches() -> Iterator[tuple[int, list[Part]]]:
        return (held.pop() if held else Stream(value.__arrow_c_stream__())).batches()

    return Frame(held[0].fields, batches, rows if isinstance(rows, int) else None, again)


def of_columns(columns: Mapping[str, Any]) -> Frame:
    """Make a frame of whole columns: arrays, lists, or parts."""
    fields, parts = [], []
    for name, column in columns.items():
        part = column if isinstance(column, Part) else _part_of(column, f"column {name!r}")
        if isinstance(part.values, Texts):
            fields.append(Field(name, part.values.dtype, ()))
        else:
            fields.append(Field(name, part.values.dtype, part.values.shape[1:]))
        parts.append(part)
    lengths = {len(p.values.offsets) - 1 if isinstance(p.values, Texts) else len(p.values) for p in parts}
    if len(lengths) > 1:
        raise ArgumentError(f"columns of different lengths: {sorted(lengths)}")
    rows = lengths.pop() if lengths else 0

    def batches() -> Iterator[tuple[int, list[Part]]]:
        for i in range(0, rows, _ROWS):
            end = min(rows, i + _ROWS)
            yield end - i, [_cut(part, i, end) for part in parts]

    return Frame(fields, batches, rows, True)


def _cut(part: Part, first: int, end: int) -> Part:
    missing = None if part.missing is None else part.missing[first:end]
    values = part.values
    if isinstance(values, Texts):
        return Part(values._replace(offsets=values.offsets[first : end + 1]), missing)
    return Part(values[first:end], missing)


def _part_of(column: Any, where: str) -> Part:
    """Take a column of anything array-like; None among objects is a null."""
    array = _elements.as_array(column, where)
    if array.dtype == object:
        objects = array.ravel().tolist()
        kinds = set(map(type, objects))
        missing = np.zeros(len(objects), bool)
        if kinds not in ({str}, {bytes}):
            missing[:] = [_is_null(v) for v in objects]
            kinds = {type(v) for v in array[~missing].tolist()} if array.ndim == 1 else {str}
        if array.ndim == 1 and kinds and not kinds <= {str} and not kinds <= {bytes}:
            filled = _plain_values(array[~missing].tolist(), kinds, where)
            values = np.zeros(len(array), filled.dtype)
            values[~missing] = filled
            if missing.any() and filled.dtype.kind in "mM":  # which have a value for it
                values[missing] = np.array("NaT", filled.dtype)
                missing[:] = False
            return Part(values, missing if missing.any() else None)
        if missing.any():
            array = np.ma.MaskedArray(array, missing.reshape(array.shape))
    data, mask = _elements.split_mask(array)
    gone = None if mask is None else mask.view(bool)
    if data.dtype.kind in "OT" and data.ndim == 1:
        return Part(_elements.pack(data.astype(object), mask, where), gone)
    return Part(data, gone)


def _plain_values(objects: list[Any], kinds: Set[type], where: str) -> np.ndarray:
    """Make an array of numbers or of dates of objects; times of a zone are refused."""
    try:
        if all(issubclass(kind, datetime.date) for kind in kinds):
            zoned = any(getattr(v, "tzinfo", None) is not None for v in objects)
            found = np.asarray(objects, None if zoned else "M8")
        else:
            found = np.asarray(objects)
    except ValueError:  # lists of different lengths
        found = np.asarray(None)
    if found.ndim != 1 or found.dtype.kind in "OSU":
        raise DTypeError(
            f"{where}: objects of {', '.join(sorted(k.__name__ for k in kinds))}; convert them to numbers, "
            "texts or datetime64"
        )
    return found


def _is_null(v: Any) -> bool:
    """Whether an object among texts or numbers stands for nothing: None, NaN, pandas.NA, pandas.NaT."""
    if isinstance(v, float):
        return math.isnan(v)
    return v is None or v is np.ma.masked or type(v).__name__ in ("NAType", "NaTType")


def _pandas_columns(frame: Any, pandas: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    levels = frame.index.nlevels
    for level in range(levels):
        name = frame.index.names[level]
        values = frame.index.get_level_values(level)
        if name is not None or levels > 1 or values.dtype.kind not in "iu":
            # else it is the number of the row; other names are those of DataFrame.reset_index
            name = name if name is not None else f"level_{level}" if levels > 1 else "index"
            columns[_text(name)] = _pandas_column(values.to_series(), pandas, _text(name))
    for i, name in enumerate(frame.columns):
        text = _text(name)
        if text in columns:
            raise ArgumentError(f"the frame has two columns of the name {name!r}, or an index and a column")
        columns[text] = _pandas_column(frame.iloc[:, i], pandas, text)
    return columns


def _text(name: Any) -> str:
    """Give the name of a column as text; those of several levels are joined."""
    if isinstance(name, tuple):
        return "_".join(str(part) for part in name if part != "")
    if _is_null(name) or name == "":
        raise ArgumentError(f"the frame has a column without a name ({name!r}): give it one")
    return str(name)


def _pandas_column(series: Any, pandas: Any, name: str) -> Part:
    dtype, where = series.dtype, f"column {name!r}"
    if isinstance(dtype, np.dtype):
        return _part_of(series.to_numpy(), where)
    if isinstance(dtype, pandas.DatetimeTZDtype):
        if not is_utc(dtype.tz):
            raise zoned(name, dtype.tz)
        return Part(series.dt.tz_localize(None).to_numpy(), None)
    if isinstance(dtype, pandas.StringDtype) and hasattr(series, "__arrow_c_stream__"):
        try:
            return _joined(Stream(series.__arrow_c_stream__()))
        except ImportError:  # without pyarrow
            pass
    if isinstance(dtype, pandas.CategoricalDtype):
        codes, words = (
            np.asarray(series.cat.codes),
            _pandas_column(series.cat.categories.to_series(), pandas, name),
        )
        missing = codes < 0
        index = np.where(missing, 0, codes).astype(np.intp)
        if not len(series.cat.categories):
            return Part(np.zeros(len(series)), missing)
        from ._arrow_in import take_texts

        gone = missing if missing.any() else None
        if not isinstance(words.values, Texts):
            return Part(words.values[index], gone)
        texts = take_texts(words.values, index)
        return Part(texts if gone is None else blank(texts, gone), gone)
    missing = np.asarray(series.isna())
    wanted = getattr(dtype, "numpy_dtype", None)
    if missing.any() and wanted is not None and wanted.kind in "biuf":
        return Part(series.to_numpy(dtype=wanted, na_value=wanted.type(0)), missing)
    if wanted is not None and wanted.kind in "biufmM":
        return _part_of(series.to_numpy(dtype=wanted), where)
    return _part_of(series.to_numpy(), where)


def _joined(stream: Stream) -> Part:
    """Read one column of texts as a whole."""
    parts = [part for _, (part,) in stream.batches()]
    if len(parts) == 1:
        return parts[0]
    offsets, data, end = [np.zeros(1, np.int64)], [np.empty(0, np.uint8)], 0
    gone = [np.empty(0, bool)]
    for texts, missing in parts:
        if not isinstance(texts, Texts):
            raise DTypeError("expected texts")
        first, last = int(texts.offsets[0]), int(texts.offsets[-1])
        offsets.append(texts.offsets[1:] + (end - first))
        data.append(np.frombuffer(texts.data, np.uint8)[first:last])
        gone.append(np.zeros(len(texts.offsets) - 1, bool) if missing is None else missing)
        end += last - first
    all_gone = np.concatenate(gone)
    texts = Texts(str(stream.fields[0].dtype), np.concatenate(offsets), np.concatenate(data))
    return Part(texts, all_gone if all_gone.any() else None)


def without_nulls(part: Part, name: str, nulls: Nulls, first: int, where: str) -> Part:
    """Do with nulls what the caller wants; `first` is the number of the first row."""
    if part.missing is None or (isinstance(nulls, str) and nulls == "mask"):
        return part
    wanted = nulls.get(name, "raise") if isinstance(nulls, Mapping) else nulls
    if isinstance(wanted, str) and wanted == "raise":
        row = first + int(np.argmax(part.missing))
        raise MaskedError(
            f"{where}: column {name!r}, row {row} is null; give nulls=VALUE, nulls={{column: VALUE}}, "
            "or nulls='mask' where the format has masks"
        )
    if isinstance(part.values, Texts):
        values = _elements.objects(part.values)
        values[part.missing] = wanted
        return Part(_elements.pack(values, None, where), None)
    filling = _elements.element(wanted, part.values.dtype, f"{where}: column {name!r}: nulls")
    return Part(np.where(part.missing, filling, part.values), None)


def measured(frame: Frame, columns: Sequence[int]) -> tuple[Frame, dict[int, int]]:
    """Find the width of the texts of columns in a first pass; what comes only once is kept for the second."""
    widths = dict.fromkeys(columns, 0)
    kept: list[tuple[int, list[Part]]] = []
    for n, parts in frame.batches():
        for i in columns:
            widths[i] = max(widths[i], _elements.width(parts[i].values))  # type: ignore[arg-type]
        if not frame.again:
            kept.append((n, parts))
    return (frame if frame.again else frame._replace(batches=lambda: iter(kept), again=True)), widths


def whole(frame: Frame, nulls: Nulls, where: str) -> dict[str, Any]:
    """Read a frame into columns as `save` takes them."""
    found: dict[str, list[Any]] = {field.name: [] for field in frame.fields}
    masks = {field.name: False for field in frame.fields}
    first = 0
    for n, parts in frame.batches():
        for field, part in zip(frame.fields, parts):
            values, missing = without_nulls(part, field.name, nulls, first, where)
            if isinstance(values, Texts):
                values = _elements.objects(values)
            masks[field.name] |= missing is not None
            found[field.name].append(
                np.ma.MaskedArray(values, False if missing is None else missing, copy=True)
            )
        first += n
    columns = {}
    for field in frame.fields:
        name = field.name
        empty = np.empty((0, *field.shape), object if isinstance(field.dtype, str) else field.dtype)
        concatenate: Any = np.ma.concatenate
        joined = concatenate(found[name]) if found[name] else np.ma.MaskedArray(empty)
        columns[name] = joined if masks[name] else joined.data
    return columns
