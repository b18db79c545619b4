"""Queried: the side of a Table that is asked for rows by conditions."""

from __future__ import annotations

import ctypes
import datetime
import json
import operator
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _capi, _elements
from ._attrs import plain
from ._errors import ArgumentError
from ._file import File
from ._lib import call, encode_name, lib
from ._progress import interruptible

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


class Queried(File):
    """The side of a `Table` that is asked."""

    __slots__ = ()

    @property
    def nrows(self) -> int:
        """Number of rows. Of columns that a crash has left uneven, those of the shortest."""
        nrows: int = self._info().nrows
        if nrows < 0:  # a new file whose first array decided otherwise
            raise ArgumentError(f"{self.path}: one array, not a table", path=self.path)
        return nrows

    if TYPE_CHECKING:

        def read(self, rows: Any = ..., columns: Sequence[str] | None = None) -> Any: ...

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
