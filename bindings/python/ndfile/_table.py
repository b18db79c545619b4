"""Table: an open file of named columns of one length."""

from __future__ import annotations

import ctypes
import datetime
import json
import operator
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import TYPE_CHECKING, Any, Callable, Union, overload

import numpy as np
import numpy.typing as npt

from . import _arrow, _capi, _elements
from ._array import Array
from ._attrs import plain
from ._elements import Texts
from ._errors import (
    ArgumentError,
    BoundsError,
    MaskedError,
    NameNotFoundError,
    ShapeError,
    ValueNotRepresentableError,
)
from ._file import File
from ._frames import Frame, Nulls, frame_of, measured, of_columns, whole, without_nulls
from ._index import select
from ._items import make_items
from ._lib import call, encode_name, lib
from ._names import unknown as _names_error
from ._orthogonal import is_array, positions
from ._progress import interruptible

if TYPE_CHECKING:
    from types import EllipsisType

    import pandas
    import polars
    import pyarrow
    from typing_extensions import TypeAlias

#: What selects several rows, or columns.
Rows: TypeAlias = "slice | list[Any] | range | npt.NDArray[Any] | EllipsisType"

_BLOCK = 1 << 22  # bytes
_ROOM = 1 << 22  # row numbers a call

_OPS = {
    "==": _capi.NDF_OP_EQ,
    "!=": _capi.NDF_OP_NE,
    "<": _capi.NDF_OP_LT,
    "<=": _capi.NDF_OP_LE,
    ">": _capi.NDF_OP_GT,
    ">=": _capi.NDF_OP_GE,
}

#: A condition on a column: its name, ``"=="``, ``"!="``, ``"<"``, ``"<="``, ``">"`` or ``">="``, a constant.
Term = tuple[str, str, Any]

#: Characters of the texts of new columns: of all, or by name.
Widths = Union[int, Mapping[str, int], None]


class Table(File):
    """An open table: a `File` whose arrays are columns of one length. Made by `open`.

    ``len(t)`` and `nrows` are the number of rows. As in pandas, iteration goes over the names of the columns,
    as do `keys`, `values` and `items`, and ``t["price"]`` is a column, an `Array`. What is no name selects
    rows, which come as NumPy structured arrays with a field for each column, of the axes that its rows have:

    ======================  ========================================================================
    ``t[5]``                one row, a `numpy.void`
    ``t[10:20]``            rows of a slice, of any step; ``t[...]`` is all
    ``t[[7, 3]]``           rows by number, or by a boolean for each
    ``t[["sym", "price"]]`` all rows of some columns
    ======================  ========================================================================

    In files open for changes or being created ``t["new"] = data`` adds a column of as many rows (`insert` at
    a place), ``del t["old"]`` deletes one, `rename` gives one another name. ``t[5] = (7, 0.5)``,
    ``t[2:4] = rows`` and ``t[mask] = rows`` assign rows: a tuple, a structured array or a mapping, column by
    column. `append` and `resize` change all columns at once: after a crash the table has its old rows or the
    new ones.

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> with ndfile.open("trades.bcolz", "w") as t:
    ...     t["sym"] = np.array([b"A", b"B", b"A"])
    ...     t["price"] = np.array([9.5, 20.0, 10.5])
    >>> with ndfile.open("trades.bcolz", "r+") as t:
    ...     t.append({"sym": ["B"], "price": [21.0]})
    ...     print(t.nrows, t[-1]["price"], t.where([("sym", "==", "A"), ("price", ">", 10)]))
    4 21.0 [(b'A', 10.5)]
    """

    __slots__ = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in their order."""
        return self._list()

    @property
    def dtypes(self) -> dict[str, np.dtype]:
        """The dtype of each column, that of a row where it has more axes."""
        return {name: np.dtype((c.dtype, c.shape[1:])) for name, c in self._select(None).items()}

    def head(self, n: int = 5) -> np.ndarray:
        """Read the first rows; ``t.to_pandas().head()`` reads all."""
        rows: np.ndarray = self.read(slice(0, operator.index(n)))
        return rows

    @property
    def nrows(self) -> int:
        """Number of rows. Of columns that a crash has left uneven, those of the shortest."""
        nrows: int = self._info().nrows
        if nrows < 0:  # a new file whose first array decided otherwise
            raise ArgumentError(f"{self.path}: one array, not a table", path=self.path)
        return nrows

    def __len__(self) -> int:
        return self.nrows

    def keys(self) -> KeysView[str]:
        """Give the names of the columns."""
        return dict.fromkeys(self._list()).keys()

    def values(self) -> ValuesView[Array]:
        """Give the columns."""
        return self._select(None).values()

    def items(self) -> ItemsView[str, Array]:
        """Give names and columns."""
        return self._select(None).items()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(
            f"{self.path}: a table is not one array; t[...] gives its rows as a structured array, "
            "t.to_pandas() a frame, t['name'] a column"
        )

    # Reading

    @overload
    def __getitem__(self, key: str) -> Array: ...
    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> np.void: ...
    @overload
    def __getitem__(self, key: Rows) -> npt.NDArray[Any]: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return super().__getitem__(key)
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return self.read(columns=key)
        return self.read(key)

    def read(self, rows: Any = Ellipsis, columns: Sequence[str] | None = None) -> Any:
        """Read rows as a structured array.

        Parameters
        ----------
        rows : optional
            An integer, a slice, or numbers of rows as for `Array.take`. Default: all.
        columns : sequence of str, optional
            Names of the columns to read, in the order of the fields. Default: all.

        Returns
        -------
        numpy.ndarray, or numpy.void where `rows` is an integer

        Raises
        ------
        BoundsError
            A row is out of bounds (an IndexError).
        NameNotFoundError
            No column of that name (a KeyError).
        """
        nrows = self.nrows
        if is_array(rows):
            index = positions(rows, 0, nrows, self.path)
            return self._read(len(index), columns, lambda column, out: column.take(index, out=out))
        if rows is Ellipsis:
            rows = slice(None)
        if isinstance(rows, slice):
            return self._read_slice(range(nrows)[rows], columns)
        try:
            i = operator.index(rows)
        except TypeError:
            raise BoundsError(
                f"{self.path}: only names, integers, slices and lists of them are valid indices of a table, "
                f"found {type(rows).__name__}",
                path=self.path,
            ) from None
        if not -nrows <= i < nrows:
            raise BoundsError(f"{self.path}: row {i} is out of bounds for a table of {nrows}", path=self.path)
        i %= nrows
        return self._read_slice(range(i, i + 1), columns)[0]

    def _read_slice(self, rows: range, columns: Sequence[str] | None) -> np.ndarray:
        part = slice(rows.start, rows.stop if rows.stop >= 0 else None, rows.step)
        return self._read(len(rows), columns, lambda column, out: column.read(part, out=out))

    def _read(
        self, n: int, names: Sequence[str] | None, read: Callable[[Array, np.ndarray], Any]
    ) -> np.ndarray:
        columns = self._select(names)
        dtype = np.dtype([(name, column.dtype, column.shape[1:]) for name, column in columns.items()])
        for column in columns.values():
            column._check_file(select(slice(n), column.shape, column._where))
        result = np.empty(n, dtype)
        for name, column in columns.items():
            read(column, result[name])
        return result

    def _select(self, names: Sequence[str] | None) -> dict[str, Array]:
        return {name: self[name] for name in (self._list() if names is None else names)}

    def iterblocks(self, n: int | None = None, columns: Sequence[str] | None = None) -> Iterator[np.ndarray]:
        """Read the table in blocks of rows, one after the other.

        Parameters
        ----------
        n : int, optional
            Rows of a block; the last one has what is left. Default: some MiB.
        columns : sequence of str, optional
            As for `read`.
        """
        nrows = self.nrows
        if n is None:
            n = max(1, _BLOCK // max(1, self.read(slice(0), columns).itemsize))
        elif n < 1:
            raise ArgumentError(f"n: expected rows of a block, found {n}")
        return (self.read(slice(i, i + n), columns) for i in range(0, nrows, n))

    # Queries

    def where(
        self,
        terms: str | Iterable[Term],
        columns: Sequence[str] | None = None,
        *,
        start: int = 0,
        stop: int | None = None,
        skip: int = 0,
        limit: int | None = None,
    ) -> np.ndarray:
        """Read the rows that fulfil conditions.

        Parameters
        ----------
        terms : str, or iterable of (column, comparison, constant)
            A condition in words: ``"(price > 10) & (sym in ('A', 'B'))"``, with ``&``, ``|``, ``~`` (or
            ``and``, ``or``, ``not``, which bind alike), comparisons, ``in``, arithmetic, texts in quotes,
            times as ISO 8601 texts, and names that are no words in backquotes. Or conditions that must all
            hold: ``[("price", ">", 10), ("sym", "==", "A")]``. Comparisons with constants are exact.
            Constants are numbers and bools; texts for columns of texts; datetimes as NumPy, `datetime` or
            ISO 8601 have them. With NaN and NaT only ``!=`` holds. Arithmetic is that of int64, or of float64
            where a float or a ``/`` takes part.
        columns : sequence of str, optional
            Columns to read, as for `read`.
        start, stop : int, optional
            Rows to look at, as in a slice.
        skip : int, default 0
            Rows that fulfil the conditions to leave out first.
        limit : int, optional
            Give at most so many rows.

        Returns
        -------
        numpy.ndarray
            Structured, in the order of the rows.

        Raises
        ------
        NameNotFoundError
            No column of that name (a KeyError).
        ArgumentError
            A condition that cannot be read, or a constant that the column cannot be compared with (a
            ValueError).
        NotSupportedError
            A column of several axes, or of records (a NotImplementedError).
        """
        rows = self.where_rows(terms, start=start, stop=stop, skip=skip, limit=limit)
        found: np.ndarray = self.read(rows, columns)
        return found

    def where_rows(
        self,
        terms: str | Iterable[Term],
        *,
        start: int = 0,
        stop: int | None = None,
        skip: int = 0,
        limit: int | None = None,
    ) -> np.ndarray:
        """Find the rows that fulfil conditions, as `where`; give their numbers as int64."""
        condition = encode_name(terms) if isinstance(terms, str) else None
        compiled, keep = self._terms(() if isinstance(terms, str) else terms)
        start, stop, _ = slice(start, stop).indices(self.nrows)
        options = _capi.ndf_where_options()
        options.struct_size = ctypes.sizeof(options)
        options.stop, options.skip, options.condition = stop, operator.index(skip), condition
        left = stop if limit is None else operator.index(limit)
        if left < 0:
            raise ArgumentError(f"limit: expected 0 or more, found {left}")
        found, following = ctypes.c_int64(), ctypes.c_int64()
        parts = [np.empty(0, np.int64)]
        while 0 <= start < stop and left:
            room = min(left, stop - start, _ROOM)
            rows, found.value = np.empty(room, np.int64), room
            options.start, options.limit = start, left
            with interruptible(8 * (stop - start)):
                call(
                    self.path,
                    lib.ndf_table_where,
                    self._open(),
                    ctypes.addressof(compiled),
                    len(compiled),
                    ctypes.addressof(options),
                    _elements.address(rows),
                    ctypes.addressof(found),
                    ctypes.addressof(following),
                )
            parts.append(rows[: found.value])
            left -= found.value
            start, options.skip = following.value, 0
        del keep
        if len(parts) != 2:
            return np.concatenate(parts)
        rows = parts[1]
        return rows if rows.nbytes > rows.base.nbytes // 2 else rows.copy()  # type: ignore[union-attr]

    def _terms(self, terms: Iterable[Term]) -> tuple[ctypes.Array[_capi.ndf_term], list[Any]]:
        """Make the conditions, and the list of what they point to."""
        listed = list(terms)
        compiled = (_capi.ndf_term * len(listed))()
        keep: list[Any] = []
        for term, given in zip(compiled, listed):
            try:
                name, op, value = given
                term.op = _OPS[op]
            except (TypeError, ValueError, KeyError):
                raise ArgumentError(
                    f"terms: expected (column, comparison, constant), found {given!r}; the comparisons are "
                    + " ".join(_OPS)
                ) from None
            term.struct_size = ctypes.sizeof(term)
            term.column = encode_name(name)
            term.value_json = _constant(value, self[name].dtype, f"{self.path}: column {name!r}")
            keep += term.column, term.value_json
        return compiled, keep

    def iter(
        self,
        start: int = 0,
        stop: int | None = None,
        step: int = 1,
        limit: int | None = None,
        skip: int = 0,
        columns: Sequence[str] | None = None,
    ) -> Iterator[np.void]:
        """Go over rows, read block by block: those of a slice without the first `skip`, at most `limit`."""
        rows = range(self.nrows)[start:stop:step][skip:][: None if limit is None else operator.index(limit)]
        n = max(1, _BLOCK // max(1, self.read(slice(0), columns).itemsize))
        for i in range(0, len(rows), n):
            yield from self._read_slice(rows[i : i + n], columns)

    # Changing rows and columns

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

    # Growing and shrinking

    def append(self, rows: Any, *, nulls: Nulls = "raise", widths: Widths = None) -> None:
        """Add rows to all columns at once.

        Parameters
        ----------
        rows : mapping of str to array_like, structured array, numpy.void, Table, frame, or list of rows
            Something for each column, by name in any order, equally many rows of each; one row where what is
            given for a column has one axis less than it. Frames are a `pandas.DataFrame` and whatever has
            ``__arrow_c_stream__``: they are taken batch by batch. Rows of a list are dicts or named tuples.
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
        frame = frame_of(rows) if not isinstance(rows, Table) else None
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

    # For others

    def to_pandas(self, columns: Sequence[str] | None = None) -> pandas.DataFrame:
        """Read the table into a `pandas.DataFrame`; rows of columns of several axes become arrays.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError as e:
            raise ImportError("Table.to_pandas needs the package pandas") from e
        found = {name: _series(column, pandas) for name, column in self._select(columns).items()}
        return pandas.DataFrame(found, index=pandas.RangeIndex(self.nrows), copy=False)

    def to_arrow(self, columns: Sequence[str] | None = None) -> pyarrow.Table:
        """Read the table into a `pyarrow.Table`.

        Raises
        ------
        ImportError
            pyarrow is not installed.
        DTypeError
            A column that Arrow has no type for: complex numbers, records (a TypeError).
        """
        try:
            import pyarrow
        except ImportError as e:
            raise ImportError("Table.to_arrow needs the package pyarrow") from e
        capsule = _arrow.of_table(self.path, self._open(), columns)
        return pyarrow.RecordBatchReader._import_from_c_capsule(capsule).read_all()

    def to_polars(self, columns: Sequence[str] | None = None) -> polars.DataFrame:
        """Read the table into a `polars.DataFrame`; errors are as for `to_arrow`."""
        try:
            import polars
        except ImportError as e:
            raise ImportError("Table.to_polars needs the package polars") from e
        return polars.DataFrame(
            {name: polars.Series(name, column) for name, column in self._select(columns).items()}
        )

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Give the table as an Arrow stream of record batches, for ``pyarrow.table(t)`` and its like.

        It is read batch by batch while the stream is consumed. Texts become binary and utf8, datetimes
        timestamps or dates, several axes fixed-size lists. The requested schema is not looked at, as the
        interface allows.

        Raises
        ------
        DTypeError
            A column that Arrow has no type for: complex numbers, records (a TypeError).
        """
        return _arrow.of_table(self.path, self._open())

    def _end(self, function: Any) -> None:
        try:
            super()._end(function)
        finally:
            _arrow.sweep()


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


def _series(column: Array, pandas: Any) -> Any:
    """Give a column as pandas has it: texts as its texts, rows of several axes as arrays."""
    kind = column.dtype.kind
    if kind == "U" and column.ndim == 1:
        try:
            import pyarrow
        except ImportError:
            return pandas.array(column[:].astype(object), dtype="str")
        texts = pyarrow.chunked_array(column)
        return pandas.array(texts.cast(pyarrow.large_string()), dtype=pandas.StringDtype(na_value=np.nan))
    values = column[: len(column)]
    return values if column.ndim == 1 and kind != "V" else list(values)


def _constant(value: Any, dtype: np.dtype, where: str) -> bytes:
    """Give a constant of a condition as JSON."""
    if isinstance(value, bytes):  # bytes that are no UTF-8 as single ones
        value = value.decode("utf-8", "surrogateescape")
    elif hasattr(value, "to_numpy"):  # a pandas.Timestamp or Timedelta
        value = value.to_numpy()
    elif isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    if isinstance(value, datetime.date):
        value = np.datetime64(value)
    elif isinstance(value, datetime.timedelta):
        value = np.timedelta64(value)
    if isinstance(value, np.datetime64):
        value = str(value)
    elif isinstance(value, np.timedelta64):
        value = _count(value, dtype, where)
    return json.dumps(plain(value, where)).encode("ascii")


def _count(value: np.timedelta64, dtype: np.dtype, where: str) -> int | float:
    """Give a timedelta in the unit of a column."""
    if dtype.kind != "m":
        raise ArgumentError(f"{where}: elements of {dtype} cannot be compared with {value!r}")
    try:
        whole = value.astype(dtype)
        if whole == value or np.isnat(value):
            return int(whole.astype(np.int64))
    except TypeError as e:  # months in seconds
        raise ArgumentError(f"{where}: {e}") from e
    return float(value / np.ones((), dtype)[()])
