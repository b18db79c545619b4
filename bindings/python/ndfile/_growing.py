"""Growing: the side of a Table that gets columns and rows, and loses them."""

from __future__ import annotations

import ctypes
import json
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from ._array import Array
from ._elements import Texts
from ._errors import (
    ArgumentError,
    BoundsError,
    MaskedError,
    NameNotFoundError,
    ShapeError,
    ValueNotRepresentableError,
)
from ._frames import Frame, Nulls, frame_of, measured, of_columns, whole, without_nulls
from ._items import make_items
from ._lib import call, lib
from ._names import unknown as _names_error
from ._query import Queried

#: Characters of the texts of new columns: of all, or by name.
Widths = Union[int, Mapping[str, int], None]


class Growing(Queried):
    """The side of a `Table` whose columns and rows change."""

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            super().__setitem__(key, value)
            return
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            names, rows = key, Ellipsis
        else:
            names, rows = list(self._list()), key
        columns = {name: self[name] for name in names}
        for name, part in _by_column(value, names, self.path).items():
            columns[name][rows] = part

    def rename(self, old: str, new: str) -> None:
        """Give a column another name; it stays where it is. Its elements are copied.

        A crash leaves the column under its old name, or under both.
        """
        column, names = self[old], list(self._list())
        at = names.index(old)
        self._copy_column(column, new)
        names[at : at + 1] = [new, old]
        self._order(names)
        del self[old]

    def insert(self, position: int, name: str, data: Any, **storage: Any) -> Array:
        """Add a column before the one at a position; all else is as for `add`."""
        names = list(self._list())
        array = self.add(name, data, **storage)
        names.insert(operator.index(position), name)
        self._order(names)
        return array

    def drop(self, *names: str) -> None:
        """Delete columns and their data, for good."""
        for name in names:
            del self[name]

    def _copy_column(self, column: Array, name: str) -> Array:
        new = self.create(
            name,
            column.shape,
            column.dtype_name,
            attrs=dict(column.attrs),
            chunks=column.chunks,
            compression=column.compression,
            fill_value=column.fill_value,
        )
        at = 0
        for block in column.iterblocks():
            new[at : at + len(block)] = block
            at += len(block)
        return new

    def _order(self, names: Sequence[str]) -> None:
        with self._lock:
            call(self.path, lib.ndf_table_order, self._open(), json.dumps(list(names)).encode("ascii"))
            self._names = None

    def append(self, rows: Any, *, nulls: Nulls = "raise", widths: Widths = None) -> None:
        """Add rows to all columns at once.

        Parameters
        ----------
        rows : mapping of str to array_like, structured array, numpy.void, Table, frame, or list of rows
            Something for each column, by name in any order, equally many rows of each; one row where what is
            given for a column has one axis less than it. Frames are a `pandas.DataFrame` and whatever has
            ``__arrow_c_stream__``: they are taken batch by batch. Rows of a list are dicts or named tuples.
            Times of UTC become times without a zone; those of another zone are refused.
            Values become the column's dtype where every one fits exactly: times in another unit, integers of
            another size, texts of another width.
        nulls : default "raise"
            What becomes of nulls of frames: an error, or the value that stands for them, of all columns or
            by column, ``{"price": -1}``. NaN and NaT are values.
        widths : int or mapping of str to int, optional
            Of a new table without columns: characters of texts, else those of the longest in `rows`.

        Raises
        ------
        NameNotFoundError
            A column is missing, or there is none of that name (a KeyError).
        ShapeError
            Rows of another shape, or not equally many in all columns (a ValueError).
        ValueNotRepresentableError
            A value does not fit: the message names column, row and value (a ValueError). Of a frame that is
            taken in several batches, those before are appended.
        MaskedError
            There is a null (a ValueError).

        Notes
        -----
        A new table that has no columns yet gets those of `rows`. Rows that do not fill a chunk may wait in
        memory until `flush` or `close`. All readers of this file see them at once.
        """
        frame = frame_of(rows) if not isinstance(rows, Growing) else None
        new = self.mode in ("w", "x") and not self._list()
        if frame is None and new and isinstance(rows, Mapping):
            frame = of_columns(rows)
        elif frame is None and new:
            frame = of_columns({name: rows[name] for name in _names(rows)})
        if frame is not None:
            self._append_frame(frame, new, nulls, widths)
            return
        names = _names(rows)
        self._check_names(names)
        data: dict[str, Any] = {}
        for name in names:
            column = self[name]
            values = column._rows(rows[name])
            if isinstance(values, Texts):
                data[name] = values
            else:
                data[name] = values[np.newaxis] if values.ndim == column.ndim - 1 else values
        self._append_columns(data)

    def _check_names(self, names: Iterable[str]) -> None:
        """Say at once all that is wrong with the names of columns."""
        mine, theirs = self._list(), list(names)
        missing = [name for name in mine if name not in theirs]
        unknown = [name for name in theirs if name not in mine]
        if missing or unknown:
            said = [f"no rows for column {name!r}" for name in missing]
            said += [_names_error(name, mine) for name in unknown]
            raise NameNotFoundError(f"{self.path}: " + "; ".join(said), path=self.path)

    def _append_columns(self, data: Mapping[str, Any]) -> None:
        items, keep = make_items(self.path, data)
        call(self.path, lib.ndf_table_append, self._open(), ctypes.addressof(items), len(items))
        del keep
        self._refresh()

    def _append_frame(self, frame: Frame, new: bool, nulls: Nulls, widths: Widths) -> None:
        if new:
            frame = self._create_columns(frame, widths, {})
        else:
            self._check_names(field.name for field in frame.fields)
        columns = [(field.name, self[field.name]) for field in frame.fields]
        first = self.nrows
        for n, parts in frame.batches():
            data: dict[str, Any] = {}
            for (name, column), part in zip(columns, parts):
                values, missing = without_nulls(part, name, nulls, first, self.path)
                if missing is not None:
                    raise MaskedError(f"{column._where}: a table of the format {self.format} has no masks")
                data[name] = values if isinstance(values, Texts) else column._rows(values)
            try:
                self._append_columns(data)
            except ValueNotRepresentableError as e:
                e.add_note(f"rows are counted from the first of this batch, row {first} of the table")
                raise
            first += n

    def _create_columns(self, frame: Frame, widths: Widths, storage: Mapping[str, Any]) -> Frame:
        """Make the columns for a frame; give the frame, which may have been read meanwhile."""
        given = widths if isinstance(widths, Mapping) else {f.name: widths for f in frame.fields if widths}
        open_ = [i for i, f in enumerate(frame.fields) if isinstance(f.dtype, str) and f.name not in given]
        found = dict.fromkeys(open_, 0)
        if open_:
            frame, found = measured(frame, open_)
        expected = {} if frame.rows is None or storage.get("expected_rows") else {"expected_rows": frame.rows}
        for i, field in enumerate(frame.fields):
            dtype: Any = field.dtype
            if isinstance(dtype, str):
                width = operator.index(given[field.name]) if i not in found else found[i]
                dtype = f"{'S' if dtype == 'bytes' else 'U'}{max(width, 1)}"
            self.create(field.name, (0, *field.shape), dtype, **{**expected, **storage})
        return frame

    def resize(self, nrows: int) -> None:
        """Set the number of rows. New ones have the fill values; those that fall off are gone for good."""
        call(self.path, lib.ndf_table_resize, self._open(), operator.index(nrows))
        self._refresh()

    def trim(self, n: int) -> None:
        """Remove the last n rows for good."""
        nrows = self.nrows
        if not 0 <= operator.index(n) <= nrows:
            raise BoundsError(f"{self.path}: cannot remove {n} of {nrows} rows", path=self.path)
        self.resize(nrows - n)

    def _refresh(self) -> None:
        with self._lock:
            for column in self._in_use():
                column._refresh()


def _by_column(value: Any, names: Sequence[str], where: str) -> dict[str, Any]:
    """Give what is assigned to rows column by column."""
    frame = frame_of(value)
    if frame is not None:
        value = whole(frame, "raise", where)
    if isinstance(value, (Mapping, np.ndarray, np.void)) and (
        isinstance(value, Mapping) or value.dtype.names
    ):
        given = _names(value)
        for name in given:
            if name not in names:
                raise NameNotFoundError(f"{where}: {_names_error(name, names)}", path=where)
        if len(given) != len(names) and not isinstance(value, Mapping):
            raise ShapeError(f"{where}: expected {len(names)} fields, found {len(given)}", path=where)
        return {name: value[name] for name in given}
    if isinstance(value, tuple) and len(value) == len(names):
        return dict(zip(names, value))
    rows = isinstance(value, list) and all(isinstance(v, (tuple, np.void)) for v in value)
    if rows and {len(v) for v in value} == {len(names)}:
        return {name: [v[i] for v in value] for i, name in enumerate(names)}
    if np.ndim(value) == 0 and not isinstance(value, tuple):
        return dict.fromkeys(names, value)
    raise ShapeError(
        f"{where}: expected a tuple of {len(names)} values, a structured array or a mapping for the columns "
        f"{', '.join(names)}; found {type(value).__name__}",
        path=where,
    )


def _names(rows: Any) -> Sequence[str]:
    """List the columns of what is to be appended."""
    if isinstance(rows, Mapping):
        return list(rows)
    if isinstance(rows, (np.ndarray, np.void)) and rows.dtype.names is not None:
        return rows.dtype.names
    columns: Any = getattr(rows, "columns", None)
    if columns is not None:
        return list(columns)
    raise ArgumentError(
        f"rows: expected a mapping of columns, a structured array or a frame, found {type(rows).__name__}"
    )
