"""ctable: columns of one length, in memory or in a store."""

from __future__ import annotations

import importlib
import os
import shutil
import tempfile
from collections import namedtuple
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..._errors import ArgumentError, NotFoundError, NotSupportedError
from ..._open import open as open_file
from ._attrs import attrs
from ._backing import Stored
from ._carray import carray, to_array
from ._eval import caller, evaluate, parse
from ._params import cparams as _cparams
from ._params import defaults, rounded, sizes, storage
from ._store import Store, replaceable

_NUMBER = "nrow__"


def _valid(names: Any, what: str = "names") -> list[str]:
    names = [n.decode() if isinstance(n, bytes) else n for n in names]
    if not all(isinstance(n, str) and n.isidentifier() for n in names):
        raise ValueError(f"column names in `{what}` must be valid identifiers, found {names!r}")
    valid: list[str] = names
    return valid


class cols(Mapping[str, Any]):
    """The columns of a ctable by name."""

    def __init__(self) -> None:
        self._cols: dict[str, carray] = {}

    names = property(lambda self: list(self._cols))

    def __getitem__(self, name: str) -> carray:
        return self._cols[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cols)

    def __len__(self) -> int:
        return len(self._cols)

    def __repr__(self) -> str:
        return "".join(f"{name} : {column!r}\n" for name, column in self.items())


class ctable:
    """A table of columns, each a `carray`: a store on disk, or in memory without ``rootdir``.

    Parameters
    ----------
    columns : sequence of arrays, or structured array, optional
        The columns to begin with. Carrays are taken as they are in memory, and copied to disk. Default: what
        is at ``rootdir``.
    names : sequence of str, optional
        Identifiers. Default: those of a structured array, else f0, f1, ...
    cparams, expectedlen, chunklen, dflt, safe : optional
        As for `carray`, of all columns.
    rootdir : str or os.PathLike, optional
        The folder of the store.
    mode : {"a", "r", "w"}, optional
        Default: "a" where ``rootdir`` exists, else "w".
    auto_flush : bool, default True
        Write to disk after each `append`, `addcol` and `delcol`.
    """

    def __init__(self, columns: Any = None, names: Any = None, **kwargs: Any) -> None:
        rootdir = kwargs.pop("rootdir", None)
        self.rootdir = None if rootdir is None else os.fspath(rootdir)
        self.auto_flush = kwargs.pop("auto_flush", True) and rootdir is not None
        self._cparams = kwargs.get("cparams") or _cparams()
        mode = kwargs.pop("mode", None)
        if rootdir is None and columns is None:
            raise ValueError("You should pass either a `columns` or a `rootdir` param at very least")
        there = rootdir is not None and os.path.exists(rootdir)
        self.mode = mode or ("a" if there else "w")
        if there and columns is not None and self.mode == "a":
            raise ValueError(
                "You cannot pass a `columns` param in 'a'ppend mode: the directory exists already"
            )
        self.cols = cols()
        self._store = None if rootdir is None else Store(rootdir, self.mode)
        if rootdir is None or (columns is not None and self.mode == "w"):
            self._create(columns, names, kwargs)
        elif self.mode not in ("r", "a"):
            raise ValueError("You cannot open a ctable in 'w'rite mode without a `columns` param")
        else:
            self._connect()
        self.attrs = attrs(_store=self._store)

    def _connect(self) -> None:
        """Find the columns of the store."""
        assert self._store is not None
        try:
            file = self._store.reading()
        except NotFoundError as e:
            raise KeyError(
                f"Disk-based ctable opened with `r`ead mode yet `rootdir={self.rootdir!r}` does not exist"
            ) from e
        if file.kind != "table":
            raise OSError(f"{self.rootdir}: a carray, not a ctable")
        self.cols._cols = {
            name: carray(_backing=Stored(self._store, name), mode=self.mode) for name in file.columns
        }

    def _create(self, columns: Any, names: Any, options: dict[str, Any]) -> None:
        if isinstance(columns, np.ndarray):
            if columns.dtype.names is None or columns.ndim != 1:
                raise ValueError("only unidimensional structured arrays are supported as `columns`")
            names = list(columns.dtype.names) if names is None else names
            columns = [columns[name] for name in columns.dtype.names]
        elif not isinstance(columns, (list, tuple)):
            raise ValueError("`columns` input is not supported")
        if names is None:
            names = [f"f{i}" for i in range(len(columns))]
        if not isinstance(names, (list, tuple)):
            raise ValueError("`names` can only be a list or tuple")
        if len(names) != len(columns):
            raise ValueError("`columns` and `names` must have the same length")
        names = _valid(names)
        for column in columns:
            if isinstance(column, np.ndarray) and column.dtype == np.void:
                raise ValueError("`columns` elements cannot be of type void")
        if self.rootdir is None:
            made = [c if isinstance(c, carray) else carray(c, **options) for c in columns]
            self._check_lengths(made)
            self.cols._cols = dict(zip(names, made))
            return
        columns = [c if isinstance(c, carray) else to_array(c, None) for c in columns]
        self._check_lengths(columns)
        replaceable(self.rootdir, self.mode)
        with open_file(self.rootdir, "w", "bcolz") as file:
            for name, column in zip(names, columns):
                self._add(file, name, column, options)
        self._connect()
        if self.auto_flush:
            self.flush()

    def _add(self, file: Any, name: str, column: Any, options: dict[str, Any]) -> None:
        params = options.get("cparams") or self._cparams
        given = storage(params, options.get("expectedlen"), options.get("chunklen"))
        given.setdefault("expected_rows", len(column))
        dflt = options.get("dflt", column.dflt[()] if isinstance(column, carray) else None)
        if column.dtype.hasobject:
            raise TypeError(f"column {name!r}: arrays of objects are not stored: give a dtype, such as 'U10'")
        array = file.create(name, column.shape, column.dtype, fill_value=dflt, **given)
        step = array.chunks[0]
        for i in range(0, len(column), step):
            array[i : i + step] = rounded(column[i : i + step], params.quantize)

    @staticmethod
    def _check_lengths(columns: list[Any]) -> int:
        lengths = {len(c) for c in columns}
        if len(lengths) > 1:
            raise ValueError("all `columns` must have the same length")
        return lengths.pop() if lengths else 0

    # What it is

    names = property(lambda self: self.cols.names)
    cparams = property(lambda self: self._cparams)
    ndim = property(lambda self: 1)
    len = property(lambda self: self._length())
    shape = property(lambda self: (self.len,))
    size = property(lambda self: self.len)
    nbytes = property(lambda self: sum(c.nbytes for c in self.cols.values()))
    cbytes = property(lambda self: sum(c.cbytes for c in self.cols.values()))

    @property
    def dtype(self) -> np.dtype:
        """A structured dtype with a field for each column."""
        return np.dtype(
            [(n, c.dtype, c.shape[1:]) if c.ndim > 1 else (n, c.dtype) for n, c in self.cols.items()]
        )

    def _length(self) -> int:
        if self._store is not None:
            return int(self._store.reading().nrows)
        return len(next(iter(self.cols.values()))) if self.cols else 0

    def __len__(self) -> int:
        return self._length()

    def __sizeof__(self) -> int:
        return int(self.cbytes)

    # Growing

    def append(self, cols: Any) -> None:
        """Add rows: columns or single values, a structured array or one row of it, or a ctable."""
        if isinstance(cols, (ctable, np.void)) or (isinstance(cols, np.ndarray) and cols.dtype.names):
            cols = [cols[name] for name in self.names]
        elif not isinstance(cols, (list, tuple)):
            raise ValueError("`cols` input is not supported")
        if len(cols) < len(self.names):
            raise ValueError(f"expected {len(self.names)} columns, found {len(cols)}")
        rows = {}
        for (name, column), values in zip(self.cols.items(), cols):
            if isinstance(values, np.ndarray) and values.dtype == np.void:
                raise ValueError("`cols` elements cannot be of type void")
            new = to_array(values, column.dtype)
            rows[name] = new[np.newaxis] if column.ndim > 1 and new.shape == column.shape[1:] else new
        if self._check_lengths(list(rows.values())):
            if self._store is not None:
                self._store.writing().append(rows)
            else:
                for name, new in rows.items():
                    self.cols[name].append(new)
        if self.auto_flush:
            self.flush()

    def resize(self, nitems: int) -> None:
        """Set the number of rows; new ones have the columns' ``dflt``."""
        if self._store is not None:
            self._store.writing().resize(int(nitems))
            self._store.settle()
            return
        for column in self.cols.values():
            column.resize(nitems)

    def trim(self, nitems: int) -> None:
        """Remove the last rows."""
        if nitems > self.len:
            raise ValueError(f"`nitems` must be at most {self.len}, found {nitems}")
        self.resize(self.len - nitems)

    def flush(self) -> None:
        """Write what is in memory of a store."""
        if self._store is not None:
            self._store.settle()
        for column in self.cols.values():
            column.flush()

    def free_cachemem(self) -> None:
        """Do nothing: the library bounds its caches."""

    # Columns

    def addcol(
        self, newcol: Any, name: Any = None, pos: int | None = None, move: bool = False, **kwargs: Any
    ) -> None:
        """Add a column, at the end or at a position; ``move`` deletes the store of a carray that is taken."""
        n = len(self.names)
        pos = n if pos is None else pos
        if not isinstance(pos, int) or not 0 <= pos <= n:
            raise ValueError("`pos` must be an int >= 0 and <= len(self.cols)")
        name = f"f{pos}" if name is None else name
        if not isinstance(name, (str, bytes)):
            raise ValueError("`name` must be a string")
        (name,) = _valid([name])
        if name in self.names:
            raise ValueError(f"'{name}' column already exists")
        if not isinstance(newcol, (carray, np.ndarray, list, tuple)):
            raise ValueError("`newcol` type not supported")
        if n and len(newcol) != self.len:
            raise ValueError("`newcol` must have the same length than ctable")
        kwargs.setdefault("cparams", self.cparams)
        if self._store is None:
            self._insert(name, pos, newcol if isinstance(newcol, carray) else carray(newcol, **kwargs))
            return
        column = newcol if isinstance(newcol, carray) else to_array(newcol, kwargs.get("dtype"))
        if pos == n:
            self._add(self._store.writing(), name, column, kwargs)
            self._store.settle()
            self._connect()
            if self.auto_flush:
                self.flush()
        else:
            self._rewrite([*self.names[:pos], name, *self.names[pos:]], {name: (column, kwargs)})
        if move and isinstance(newcol, carray):
            newcol.purge()

    def _insert(self, name: str, pos: int, column: carray) -> None:
        items = list(self.cols.items())
        items.insert(pos, (name, column))
        self.cols._cols = dict(items)

    def _rewrite(self, names: list[str], new: dict[str, tuple[Any, dict[str, Any]]]) -> None:
        """Make the store anew with columns in another order: there is no other way to insert one."""
        assert self._store is not None
        self._store.settle()
        kept, own = self.attrs.attrs, {name: c.attrs.attrs for name, c in self.cols.items()}
        with open_file(self._store.path, "w", "bcolz", attrs=kept) as file:
            for name in names:
                if name in new:
                    self._add(file, name, *new[name])
                    continue
                column = self.cols[name]
                given = {"cparams": column.cparams, "chunklen": column.chunklen, "dflt": column.dflt[()]}
                self._add(file, name, column, given)
                file[name].attrs.update(own[name])
        self._store.close()
        self._connect()

    def delcol(self, name: Any = None, pos: int | None = None, keep: bool = False) -> None:
        """Remove a column by name or position; ``keep`` leaves its folder, which is a carray, on disk."""
        if (name is None) == (pos is None):
            raise ValueError("specify either a `name` or a `pos`")
        if name is None:
            if not isinstance(pos, int) or not 0 <= pos < len(self.names):
                raise ValueError("`pos` must be an int >= 0 and < len(self.cols)")
            name = self.names[pos]
        elif not isinstance(name, (str, bytes)):
            raise ValueError("`name` must be a string")
        (name,) = _valid([name])
        if name not in self.names:
            raise ValueError("`name` not found in columns")
        if self._store is None:
            del self.cols._cols[name]
            return
        if keep:
            self._store.settle()
            folder = os.path.join(self._store.path, name)
            with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(self._store.path))) as aside:
                kept = shutil.copytree(folder, os.path.join(aside, name))
                del self._store.writing()[name]
                self._store.settle()
                os.rename(kept, folder)
        else:
            del self._store.writing()[name]
            self._store.settle()
        self._connect()
        if self.auto_flush:
            self.flush()

    def copy(self, **kwargs: Any) -> ctable:
        """Give a copy; options as for the constructor."""
        rootdir = kwargs.get("rootdir")
        if (
            rootdir is not None
            and self.rootdir is not None
            and os.path.abspath(rootdir) == os.path.abspath(self.rootdir)
        ):
            raise OSError("rootdir cannot be the same during copies")
        names = kwargs.pop("names", self.names)
        if rootdir is not None:
            return ctable(list(self.cols.values()), names, **kwargs)
        return ctable([c.copy(**kwargs) for c in self.cols.values()], names, cparams=kwargs.get("cparams"))

    # Reading

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, bytes):
            key = key.decode()
        if isinstance(key, str):
            if key in self.cols:
                return self.cols[key]
            try:
                return self.fetch(self._rows(key, caller(1), None))
            except ValueError as e:
                raise IndexError(f"`key` {key!r}: {e}") from e
        if not self.cols:
            raise KeyError("cannot retrieve data from a ctable with no columns")
        if isinstance(key, tuple):
            if len(key) != 1:
                raise IndexError("multidimensional keys are not supported")
            return self[key[0]]
        if isinstance(key, list) and key and all(isinstance(n, str) for n in key):
            return ctable([self.cols[name] for name in key], key)
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            n = self.len
            if not -n <= key < n:
                raise IndexError("index out of range")
            return self.fetch(slice(int(key) % n, int(key) % n + 1))[0]
        if isinstance(key, slice):
            return self.fetch(carray._slice(key))
        if isinstance(key, list):
            key = (
                np.array(key, np.int_)
                if not key or not isinstance(key[0], (bool, np.bool_))
                else np.array(key)
            )
        if not hasattr(key, "dtype"):
            raise NotImplementedError(f"key not supported: {key!r}")
        return self.fetch(key)

    def fetch(self, rows: Any, columns: list[str] | None = None) -> np.ndarray:
        """Give rows, by a slice, numbers or booleans, as a structured array."""
        parts = {name: self.cols[name][rows] for name in columns or self.names}
        out = np.empty(len(next(iter(parts.values()))), [(n, p.dtype, p.shape[1:]) for n, p in parts.items()])
        for name, part in parts.items():
            out[name] = part
        return out

    def _rows(
        self, expression: Any, variables: dict[str, Any], given: Any, limit: Any = None, skip: int = 0
    ) -> Any:
        """Give the numbers of the rows where an expression holds."""
        stop = None if limit is None else skip + limit
        if isinstance(expression, (str, bytes)):
            expression = expression.decode() if isinstance(expression, bytes) else expression
            names = {**variables, **(given or {}), **self.cols}
            used = parse(expression)[1]
            if self._store is not None and all(names.get(n) is self.cols.get(n) is not None for n in used):
                try:  # only columns of the store: the library's own conditions
                    return self._store.reading().where_rows(expression, skip=skip, limit=limit)
                except (ArgumentError, NotSupportedError):
                    pass
            expression = evaluate(expression, names, "numpy")
        if getattr(expression, "dtype", np.dtype(int)).kind != "b":
            raise ValueError("only boolean expressions or arrays are supported")
        if len(expression) != self.len:
            raise ValueError("`boolarr` must be of the same length than ``self``")
        return np.flatnonzero(expression[:])[skip:stop]

    def _outcols(self, outcols: Any) -> list[str]:
        if outcols is None:
            return list(self.names)
        if not isinstance(outcols, (list, tuple, str, bytes)):
            raise ValueError("only list/str is supported for outcols")
        if isinstance(outcols, (str, bytes)):
            text = outcols.decode() if isinstance(outcols, bytes) else outcols
            outcols = text.replace(",", " ").split()
        valid = _valid(outcols, "outcols")
        if set(valid) - {*self.names, _NUMBER}:
            raise ValueError("outcols doesn't match names")
        return valid

    def _blocks(self, rows: Any, outcols: list[str], blen: int) -> Iterator[np.ndarray]:
        """Give some columns of rows, which are numbers, in blocks."""
        dtype = [(n, np.int_) if n == _NUMBER else (n, self[n].dtype, self[n].shape[1:]) for n in outcols]
        for i in range(0, len(rows), blen):
            part = rows[i : i + blen]
            out = np.empty(len(part), dtype)
            for name in outcols:
                out[name] = part if name == _NUMBER else self.cols[name][np.asarray(part)]
            yield out

    def _flavored(self, blocks: Iterator[np.ndarray], outcols: list[str], flavor: Any) -> Iterator[Any]:
        make: Any = namedtuple
        row: Any = make("row", outcols)._make if flavor in (namedtuple, "namedtuple") else tuple
        for block in blocks:
            if flavor in (np.ndarray, "ndarray"):
                yield from (block[i : i + 1].copy() for i in range(len(block)))
                continue
            columns = [block[n].tolist() if block[n].ndim == 1 else list(block[n]) for n in outcols]
            yield from map(row, zip(*columns))

    def where(
        self,
        expression: Any,
        outcols: Any = None,
        limit: int | None = None,
        skip: int = 0,
        out_flavor: Any = namedtuple,
        user_dict: dict[str, Any] | None = None,
        vm: str | None = None,
    ) -> Iterator[Any]:
        """Go over the rows where an expression or a boolean array is true.

        Parameters
        ----------
        expression : str or array of bool
            As for `eval`, with the columns as variables.
        outcols : list of str or str, optional
            The columns to give; ``nrow__`` is the number of the row.
        limit, skip : int, optional
            Leave out the first ``skip`` rows, and give at most ``limit``.
        out_flavor : namedtuple, tuple or numpy.ndarray
            What rows come as.
        user_dict : dict, optional
            More variables.
        vm : optional
            Taken and not used.
        """
        outcols = self._outcols(outcols)
        rows = self._rows(expression, caller(1), user_dict, limit, skip)
        return self._flavored(self._blocks(rows, outcols, self._blen()), outcols, out_flavor)

    def _blen(self) -> int:
        return min((c.chunklen for c in self.cols.values()), default=1)

    def whereblocks(
        self,
        expression: Any,
        blen: int | None = None,
        outcols: Any = None,
        limit: int | None = None,
        skip: int = 0,
        user_dict: dict[str, Any] | None = None,
        vm: str | None = None,
    ) -> Iterator[np.ndarray]:
        """Do what `where` does, in blocks of rows as structured arrays."""
        outcols = self._outcols(outcols)
        rows = self._rows(expression, caller(1), user_dict, limit, skip)
        return self._blocks(rows, outcols, blen or self._blen())

    def fetchwhere(
        self,
        expression: Any,
        outcols: Any = None,
        limit: int | None = None,
        skip: int = 0,
        out_flavor: str | None = None,
        user_dict: dict[str, Any] | None = None,
        vm: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Give the rows that `where` finds as a ctable, or as a structured array (``"numpy"``)."""
        flavor = defaults.out_flavor if out_flavor is None else out_flavor
        if flavor not in ("numpy", "bcolz", "carray"):
            raise ValueError("`out_flavor` can only take 'bcolz' or 'numpy values")
        outcols = self._outcols(outcols)
        rows = self._rows(expression, caller(1), user_dict, limit, skip)
        found = next(self._blocks(rows, outcols, max(1, len(rows))), None)
        if found is None:
            found = np.empty(
                0, [(n, self[n].dtype, self[n].shape[1:]) if n != _NUMBER else (n, np.int_) for n in outcols]
            )
        return found if flavor == "numpy" else ctable(found, **kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self.iter()

    def iter(
        self,
        start: int = 0,
        stop: int | None = None,
        step: int = 1,
        outcols: Any = None,
        limit: int | None = None,
        skip: int = 0,
        out_flavor: Any = namedtuple,
    ) -> Iterator[Any]:
        """Go over rows; see `where`."""
        if step <= 0:
            raise NotImplementedError("step param can only be positive")
        outcols = self._outcols(outcols)
        rows = range(*slice(start, stop, step).indices(self.len))
        rows = rows[skip : None if limit is None else skip + limit]
        return self._flavored(self._blocks(rows, outcols, self._blen()), outcols, out_flavor)

    def eval(self, expression: str, **kwargs: Any) -> Any:
        """Evaluate an expression with the caller's variables and the columns; see `bcolz.eval`."""
        names = {**(kwargs.pop("user_dict", None) or {}), **self.cols, **caller(1)}
        kwargs.pop("vm", None)
        return evaluate(expression, names, kwargs.pop("out_flavor", None), **kwargs)

    # Changing

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self.cols:
            raise KeyError("cannot assign to ctable with no columns")
        if isinstance(key, bytes):
            key = key.decode()
        if isinstance(key, str):
            if key in self.cols:
                self.cols[key][:] = value
                return
            key = self._rows(key, caller(1), None)
        value = to_array(value, self.dtype)
        for name, column in self.cols.items():
            column[key] = value[name]
        if self.auto_flush:
            self.flush()

    # Frames and files

    @staticmethod
    def fromdataframe(df: Any, **kwargs: Any) -> ctable:
        """Make a ctable of a pandas.DataFrame; columns of texts become fixed-width ones."""
        names = kwargs.pop("names", None) or list(df.columns)
        columns = []
        for name in names:
            values = df[name].to_numpy()
            if values.dtype == object:
                values = (
                    np.array(values.tolist()) if all(isinstance(v, (str, bytes)) for v in values) else values
                )
            columns.append(values)
        return ctable(columns, [str(n) for n in names], **kwargs)

    def todataframe(self, columns: Any = None, orient: str = "columns") -> Any:
        """Give a pandas.DataFrame, of some columns."""
        import pandas

        names = self.names if columns is None or orient == "index" else columns
        data = {name: self.cols[name][:] for name in names}
        make: Any = pandas.DataFrame.from_dict
        return make(data, orient=orient, columns=columns if orient == "index" else None)

    @staticmethod
    def fromhdf5(filepath: Any, nodepath: str = "/ctable", **kwargs: Any) -> ctable:
        """Make a ctable of a compound dataset of an HDF5 file; needs h5py."""
        h5py: Any = importlib.import_module("h5py")

        with h5py.File(filepath, "r") as f:
            node = f[nodepath]
            names = kwargs.pop("names", None) or list(node.dtype.names)
            kwargs.setdefault("expectedlen", len(node))
            table = ctable(np.empty(0, node.dtype)[names], **kwargs)
            step = max(1, (1 << 22) // node.dtype.itemsize)
            for i in range(0, len(node), step):
                table.append(node[i : i + step][names])
            for key, value in node.attrs.items():
                table.attrs[key] = value.item() if isinstance(value, np.generic) else value
        return table

    def tohdf5(
        self,
        filepath: Any,
        nodepath: str = "/ctable",
        mode: str = "w",
        cparams: Any = None,
        cname: Any = None,
    ) -> None:
        """Write a compound dataset into an HDF5 file, deflated; needs h5py."""
        h5py: Any = importlib.import_module("h5py")

        if os.path.exists(filepath):
            raise OSError(f"path '{filepath}' already exists")
        with h5py.File(filepath, mode) as f:
            node = f.create_dataset(
                nodepath, (self.len,), self.dtype, maxshape=(None,), chunks=True, compression="gzip"
            )
            step = self._blen()
            for i in range(0, self.len, step):
                node[i : i + step] = self[i : i + step]
            for key, value in self.attrs:
                node.attrs[key] = value

    def purge(self) -> None:
        """Delete the store."""
        if self._store is not None:
            self._store.close()
            shutil.rmtree(self._store.path)

    def __enter__(self) -> ctable:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.mode != "r":
            self.flush()

    def __str__(self) -> str:
        if not self.cols:
            return ""
        n = self.len
        return str(self[:]) if n <= 1000 else f"{self[:3]} ... {self[n - 3 :]}"

    def __repr__(self) -> str:
        head = f"ctable({self.shape}, {self.dtype})\n  {sizes(self.nbytes, self.cbytes)}\n"
        head += f"  cparams := {self.cparams!r}\n"
        if self.rootdir is not None:
            head += f"  rootdir := '{self.rootdir}'\n"
        return head + str(self)
