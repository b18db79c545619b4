"""Table: an open file of named columns of one length."""

from __future__ import annotations

import operator
from collections.abc import ItemsView, Iterator, KeysView, Sequence, ValuesView
from typing import TYPE_CHECKING, Any, Callable, overload

import numpy as np
import numpy.typing as npt

from . import _arrow
from ._array import Array
from ._errors import ArgumentError, BoundsError
from ._growing import Growing
from ._index import select
from ._orthogonal import is_array, positions

if TYPE_CHECKING:
    from types import EllipsisType

    import pandas
    import polars
    import pyarrow
    from typing_extensions import TypeAlias

#: What selects several rows, or columns.
Rows: TypeAlias = "slice | list[Any] | range | npt.NDArray[Any] | EllipsisType"

_BLOCK = 1 << 22  # bytes


class Table(Growing):
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
