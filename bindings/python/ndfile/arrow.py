"""Arrow: tables as `pyarrow.dataset.Dataset`, which DuckDB and Polars scan with conditions of theirs.

An open table already is an Arrow stream (``pyarrow.table(t)``, ``polars.DataFrame(t)``), of all rows and
columns. A dataset is for a part of a large table: what scans it says which columns and which rows it wants,
and others are not decoded::

    trades = ndfile.arrow.dataset("trades.bcolz")
    duckdb.sql("select id, max(high) from trades where price > 10 group by id")
    polars.scan_pyarrow_dataset(trades).filter(polars.col("price") > 10).collect()
    trades.to_table(columns=["id"], filter=pyarrow.compute.field("price") > 10)

Needs pyarrow.
"""

from __future__ import annotations

import ast
import functools
import itertools
import operator
import os
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads

from . import _arrow
from ._errors import ArgumentError
from ._open import open as open_file
from ._table import Table

__all__ = ["TableDataset", "dataset"]

_BLOCK = 1 << 17  # rows that are searched at a time
_TRIES = 64  # combinations of types that constants can have
_COMPARISONS: dict[type, tuple[str, Any]] = {
    ast.Eq: ("==", operator.eq),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}

Term = tuple[str, str, Any]


def dataset(path: str | os.PathLike[str]) -> TableDataset:
    """Give a table as a dataset of Arrow.

    Parameters
    ----------
    path : path
        A table of any format that has them (bcolz). It is opened anew by each scan, as it then is.

    Returns
    -------
    TableDataset
        A `pyarrow.dataset.Dataset`; it can be pickled.

    Raises
    ------
    ArgumentError
        The file is no table (a ValueError).
    DTypeError
        A column that Arrow has no type for: complex numbers, records (a TypeError).

    Examples
    --------
    >>> import ndfile, ndfile.arrow, numpy as np
    >>> ndfile.save("t.bcolz", {"id": np.arange(1000), "x": np.arange(1000) / 4})
    >>> found = ndfile.arrow.dataset("t.bcolz")
    >>> import pyarrow.compute as pc
    >>> found.to_table(columns=["id"], filter=(pc.field("x") >= 1) & (pc.field("x") < 1.5)).to_pylist()
    [{'id': 4}, {'id': 5}]
    """
    return TableDataset(path)


class TableDataset(pads.Dataset):  # type: ignore[misc]  # a class of Cython
    """A table as a dataset; made by `dataset`.

    Comparisons of columns with constants that must all hold are looked for in the table, block by block, and
    the other columns read at these rows only. Conditions of other kinds are checked by Arrow.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.path.abspath(os.fsdecode(path))
        with _opened(self._path) as table:
            capsule = _arrow.of_table(table.path, table._open())
            self._schema = pa.RecordBatchReader._import_from_c_capsule(capsule).schema

    def __reduce__(self) -> Any:
        return TableDataset, (self._path,)

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._schema

    def scanner(
        self, columns: Any = None, filter: pc.Expression | None = None, **options: Any
    ) -> pads.Scanner:
        """Give what reads some columns, and the rows that fulfil a condition; see `pyarrow.dataset.Dataset`.

        Other options than ``columns`` and ``filter``, such as sizes of batches, are hints that are not taken.
        """
        names = self._needed(columns, filter)
        schema = pa.schema([self._schema.field(name) for name in names])
        terms = [] if filter is None else conditions(filter, self._schema)
        found = self._found(schema, terms) if terms and all(map(_plain, schema.types)) else self._all(names)
        reader = pa.RecordBatchReader.from_batches(schema, found)
        return pads.Scanner.from_batches(reader, columns=columns, filter=filter)

    def _needed(self, columns: Any, filter: pc.Expression | None) -> list[str]:
        """Give the columns that a scan reads."""
        every: list[str] = self._schema.names
        if columns is None:
            return every
        text = str(filter) if filter is not None else ""
        if isinstance(columns, dict):
            text += " ".join(map(str, columns.values()))
        else:
            missing = [name for name in columns if name not in every]
            if missing:
                raise ArgumentError(f"{self._path}: no columns {missing}, there are {every}")
        # A name that is part of another text is read in vain, no more.
        return [name for name in every if name in columns or name in text] or every[:1]

    def _all(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with _opened(self._path) as table:
            capsule = _arrow.of_table(table.path, table._open(), names)
            yield from pa.RecordBatchReader._import_from_c_capsule(capsule)

    def _found(self, schema: pa.Schema, terms: list[Term]) -> Iterator[pa.RecordBatch]:
        with _opened(self._path) as table:
            for start in range(0, table.nrows, _BLOCK):
                rows = table.where_rows(terms, start=start, stop=start + _BLOCK)
                if len(rows):
                    read = table.read(rows, schema.names)
                    values = [pa.array(np.ascontiguousarray(read[f.name]), f.type) for f in schema]
                    yield pa.RecordBatch.from_arrays(values, schema=schema)


def _opened(path: str) -> Table:
    file = open_file(path)
    if not isinstance(file, Table):
        file.close()
        raise ArgumentError(f"{path}: expected a table, found a file of {file.format}", path=path)
    return file


def _plain(type: pa.DataType) -> bool:
    """Whether NumPy's elements become this type by themselves."""
    return bool(pa.types.is_primitive(type) or pa.types.is_string(type) or pa.types.is_large_string(type))


def conditions(filter: pc.Expression, schema: pa.Schema) -> list[Term]:
    """Give comparisons of columns with constants that together mean what an expression says; [] for others.

    An expression of Arrow can be read only as the text that it shows. What was understood of that is put
    together again, and has to be the same expression.
    """
    try:
        tree = ast.parse(str(filter), mode="eval").body
    except (SyntaxError, ValueError):
        return []
    terms: list[Term] = []
    if not _collect(tree, terms) or not all(name in schema.names for name, _, _ in terms):
        return []
    kinds = [(None, schema.field(name).type) for name, _, _ in terms]
    for types in itertools.islice(itertools.product(*kinds), _TRIES):
        try:
            constants = iter([pa.scalar(term[2], type) for term, type in zip(terms, types)])
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            continue
        if _rebuilt(tree, constants).equals(filter):
            return terms
    return []


def _collect(node: ast.expr, terms: list[Term]) -> bool:
    """Note the comparisons of a syntax tree; False where it has something else."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return all(_collect(part, terms) for part in node.values)
    if _valid(node) is not None:
        return True  # nothing is missing in a table
    if not (isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.left, ast.Name)):
        return False
    word, value = _COMPARISONS.get(type(node.ops[0])), _constant(node.comparators[0])
    if word is None or value is None:
        return False
    terms.append((node.left.id, word[0], value))
    return True


def _valid(node: ast.expr) -> str | None:
    """Give the column of is_valid(column)."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "is_valid"):
        return None
    column = node.args[0] if len(node.args) == 1 else None
    return column.id if isinstance(column, ast.Name) else None


def _rebuilt(node: ast.expr, constants: Iterator[pa.Scalar]) -> pc.Expression:
    """Make the expression of a syntax tree that `_collect` has understood, with these constants."""
    if isinstance(node, ast.BoolOp):
        return functools.reduce(operator.and_, [_rebuilt(part, constants) for part in node.values])
    column = _valid(node)
    if column is not None:
        return pc.field(column).is_valid()
    compare = cast("ast.Compare", node)
    function = _COMPARISONS[type(compare.ops[0])][1]
    return function(pc.field(cast("ast.Name", compare.left).id), pc.scalar(next(constants)))


def _constant(node: ast.expr) -> Any:
    """Give the number, text or bool that a node stands for, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _constant(node.operand)
        return -value if isinstance(value, (int, float)) else None
    if isinstance(node, ast.Name):
        return {"true": True, "false": False}.get(node.id)
    value = getattr(node, "value", None)
    return value if isinstance(value, (int, float, str)) else None
