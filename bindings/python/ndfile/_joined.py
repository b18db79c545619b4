"""open_many: thousands of files that are alike as one lazy dataset."""

from __future__ import annotations

import math
import operator
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._attrs import Attrs
from ._attrs import of as attrs_of
from ._errors import ArgumentError, BoundsError, DTypeError, NameNotFoundError, ReadOnlyError, ShapeError
from ._file import File
from ._lib import Path
from ._many import read_many
from ._names import unknown
from ._open import open as open_file
from ._orthogonal import expand, is_array, positions
from ._paths import listed
from ._progress import Progress, Watch
from ._reduce import Reducible
from ._tree import in_memory

_OPEN = 16  # files that are kept open
_FEW = 4  # whole files that are read one by one
_AT_ONCE = 1 << 23  # bytes


class _Kind(NamedTuple):
    """What all files have to agree in, of an array."""

    dtype: str
    rest: tuple[int, ...]  # extents along the other axes
    dims: tuple[str, ...] | None
    attrs: dict[str, Any]
    axis: int | None  # along which it is joined; None: it is the first file's


class JoinedArray(Reducible):
    """An array of many files, one after the other along an axis. Nothing is read before it is indexed.

    Integers, slices, one Ellipsis, and lists, arrays of positions or masks along single axes, each
    independent of the others as for `Orthogonal`, give what `Array` would. Reductions (`sum`, `mean`, `min`,
    ...; `numpy.mean(v)`) read block by block, as those of `Array`; of the whole they have NumPy's dtypes too.

    Attributes
    ----------
    name, shape, dtype, dtype_name, dims, masked
        As of `Array`; `masked` where any file has a mask.
    """

    def __init__(self, owner: Joined, name: str, kind: _Kind, lengths: list[int], masked: bool) -> None:
        self._owner, self._kind = owner, kind
        self.name, self.dims, self.masked = name, kind.dims, masked
        self.dtype_name = kind.dtype
        first = owner._file(0)[name]
        dtype = in_memory(kind.dtype)
        self.dtype: np.dtype = first.dtype if dtype is None else dtype
        self.shape: tuple[int, ...] = first.shape
        self._ends = np.cumsum([0, *lengths])
        if kind.axis is not None:
            self.shape = (*kind.rest[: kind.axis], int(self._ends[-1]), *kind.rest[kind.axis :])

    @property
    def attrs(self) -> Attrs:
        """Attributes, those of the first file."""
        return attrs_of(_ReadOnly(self._kind.attrs))

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """Extents of what is best read at once: the array of the longest file, None where that is large."""
        axis = self._kind.axis
        longest = int(np.diff(self._ends).max(initial=0))
        if axis is None or not 0 < self.nbytes * longest <= _AT_ONCE * self.shape[axis]:
            return None
        return (*self.shape[:axis], longest, *self.shape[axis + 1 :])

    @property
    def _where(self) -> str:
        return repr(self)

    @property
    def _path(self) -> Path:
        return self._owner.paths[0]

    def _extents(self) -> tuple[int, ...]:
        return self.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes that the elements take in memory."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<ndfile.JoinedArray {self.name!r}: shape {self.shape}, dtype {self._kind.dtype}>"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError(f"{self.name}: reading files always makes a copy")
        result = self[...]
        if isinstance(result, np.ma.MaskedArray) and result.mask.any():
            raise ArgumentError(f"{self.name}: elements are missing; use v[...]")
        return np.asarray(result, dtype)

    def __getitem__(self, key: Any) -> Any:
        axis = self._kind.axis
        if axis is None:
            return self._owner._file(0)[self.name].oindex[key]
        items = list(expand(key, self.ndim, repr(self)))
        n = self.shape[axis]
        item = items[axis]
        index: Any
        if is_array(item):
            index = positions(item, axis, n, repr(self))
        elif isinstance(item, slice):
            index = np.arange(n)[item] if item.step not in (None, 1) else range(*item.indices(n))
        else:
            at = operator.index(item)
            if not -n <= at < n:
                raise BoundsError(f"{self!r}: index {at} is out of bounds for axis {axis} with size {n}")
            file = int(np.searchsorted(self._ends, at % n, "right")) - 1
            items[axis] = at % n - int(self._ends[file])
            return self._owner._file(file)[self.name].oindex[tuple(items)]
        return self._gather(items, index)

    def _gather(self, items: list[Any], index: Any) -> npt.NDArray[Any]:
        axis = self._kind.axis or 0
        shape = [
            len(positions(item, i, n, repr(self))) if is_array(item) else len(range(n)[item])
            for i, (item, n) in enumerate(zip(items, self.shape))
            if i != axis and (is_array(item) or isinstance(item, slice))
        ]
        before = sum(1 for item in items[:axis] if is_array(item) or isinstance(item, slice))
        shape.insert(before, len(index))
        data = np.empty(shape, self.dtype)
        mask = np.zeros(shape, bool) if self.masked else None
        everything = all(
            isinstance(item, slice) and item == slice(None) for item in items[:axis] + items[axis + 1 :]
        )
        for target, part in self._read(items, index, everything):
            place = (slice(None),) * before + (target,)
            data[place] = np.asarray(part) if not isinstance(part, np.ma.MaskedArray) else part.data
            if mask is not None:
                mask[place] = np.ma.getmaskarray(part)
        return data if mask is None else np.ma.MaskedArray(data, mask)

    def _read(self, items: list[Any], index: Any, everything: bool) -> Iterator[tuple[Any, np.ndarray]]:
        """Give the parts of single files, and where they belong along the axis."""
        axis, ends = self._kind.axis or 0, self._ends
        whole: list[tuple[int, Any]] = []
        for file, target, local in _split(index, ends):
            if (
                everything
                and isinstance(local, slice)
                and local == slice(0, int(ends[file + 1] - ends[file]))
            ):
                whole.append((file, target))
                continue
            here = [*items[:axis], local, *items[axis + 1 :]]
            yield target, self._owner._file(file)[self.name].oindex[tuple(here)]
        if len(whole) <= _FEW:
            for file, target in whole:
                yield target, self._owner._file(file)[self.name].read()
            return
        paths = self._owner.paths
        for i in range(0, len(whole), 256):
            some = whole[i : i + 256]
            for (_, target), part in zip(
                some, read_many([paths[file] for file, _ in some], self.name or None)
            ):
                yield target, part


def _split(index: Any, ends: np.ndarray) -> Iterator[tuple[int, Any, Any]]:
    """Divide positions among files: number of the file, place in the result, positions in the file."""
    if isinstance(index, range):  # of step 1
        if not len(index):
            return
        first = int(np.searchsorted(ends, index.start, "right")) - 1
        last = int(np.searchsorted(ends, index.stop, "left"))
        for file in range(first, last):
            a, b = max(index.start, int(ends[file])), min(index.stop, int(ends[file + 1]))
            if a < b:
                local = slice(a - int(ends[file]), b - int(ends[file]))
                yield file, slice(a - index.start, b - index.start), local
        return
    files = np.searchsorted(ends, index, "right") - 1
    for file in np.unique(files).tolist():
        target = np.flatnonzero(files == file)
        yield file, target, index[target] - ends[file]


class Joined(Mapping[str, JoinedArray]):
    """Many files as one lazy dataset, a mapping of names to `JoinedArray`. Made by `open_many`.

    At most 16 files are open at a time.

    Attributes
    ----------
    paths : list of path
        The files, in order.
    concat : str or int
        The dimension, or axis, along which they are joined.
    """

    def __init__(self, paths: list[Path], concat: str | int, format: str | None) -> None:
        self.paths, self.concat = paths, concat
        self._format = format
        self._lock = threading.Lock()
        self._opened: OrderedDict[int, File] = OrderedDict()
        self._arrays: dict[str, JoinedArray] = {}
        self._closed = False

    def _file(self, i: int) -> File:
        with self._lock:
            if self._closed:
                raise ArgumentError("the files are closed")
            file = self._opened.pop(i, None) or open_file(self.paths[i], "r", self._format)
            self._opened[i] = file
            if len(self._opened) > _OPEN:
                self._opened.popitem(last=False)  # closed with its last reference
            return file

    def _examine(self, check: bool, watch: Watch) -> None:
        """Look at all files: do they agree, and how long is each."""
        kinds: dict[str, _Kind] = {}
        lengths: dict[str, list[int]] = {}
        masked: dict[str, bool] = {}
        for i, path in enumerate(self.paths):
            with open_file(path, "r", self._format) as file:
                found = {name: self._kind_of(file, name) for name in list(file.keys())}
                if i == 0:
                    kinds = {name: kind for name, (kind, _, _) in found.items()}
                    lengths, masked = {name: [] for name in kinds}, dict.fromkeys(kinds, False)
                for name in kinds:
                    if name not in found:
                        raise NameNotFoundError(f"{file.path}: {unknown(name, list(found))}", path=path)
                    kind, n, hidden = found[name]
                    if not n and kind.axis is not None:  # no elements have no dtype: texts
                        kind = kind._replace(dtype=kinds[name].dtype)
                    elif not any(lengths[name]):
                        kinds[name] = kinds[name]._replace(dtype=kind.dtype)
                    if i:
                        _compare(kinds[name], kind, f"{file.path}: array {name!r}", self.paths[0], check)
                    lengths[name].append(n)
                    masked[name] |= hidden
                more = [name for name in found if name not in kinds]
                if more and check:
                    raise NameNotFoundError(
                        f"{self.paths[0]!s}: no array of the name {more[0]!r}, which {file.path} has; "
                        "check=False leaves it out",
                        path=path,
                    )
            watch.report(i + 1)
        if kinds and all(kind.axis is None for kind in kinds.values()):
            there = sorted({d for kind in kinds.values() for d in kind.dims or ()})
            raise ArgumentError(
                f"concat: no array has the dimension {self.concat!r}; there are {there}; "
                "where arrays have no names of axes give the number of an axis, as concat=0"
            )
        for name, kind in kinds.items():
            self._arrays[name] = JoinedArray(self, name, kind, lengths[name], masked[name])

    def _kind_of(self, file: File, name: str) -> tuple[_Kind, int, bool]:
        v = file[name]
        shape, dims, axis = v.shape, v.dims, None
        if isinstance(self.concat, int):
            axis = self.concat if self.concat < len(shape) else None
        elif dims is not None and self.concat in dims:
            axis = dims.index(self.concat)
        rest = shape if axis is None else (*shape[:axis], *shape[axis + 1 :])
        length = 0 if axis is None else shape[axis]
        return _Kind(v.dtype_name, rest, dims, dict(v.attrs), axis), length, v.masked

    @property
    def attrs(self) -> Attrs:
        """Attributes, those of the first file."""
        return attrs_of(_ReadOnly(self._file(0).attrs))

    def __getitem__(self, name: str) -> JoinedArray:
        try:
            return self._arrays[name]
        except KeyError:
            raise NameNotFoundError(unknown(name, self._arrays)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"<ndfile.Joined: {len(self.paths)} files along {self.concat!r}, arrays {list(self)}>"

    def close(self) -> None:
        """Close what is open; twice is fine."""
        with self._lock:
            self._closed = True
            while self._opened:
                self._opened.popitem()[1].close()

    def __enter__(self) -> Joined:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _compare(first: _Kind, this: _Kind, where: str, path: Path, check: bool) -> None:
    for what, a, b, kind in (
        ("dtype", first.dtype, this.dtype, DTypeError),
        ("names of axes", first.dims, this.dims, ShapeError),
        ("shape besides the joined axis", first.rest, this.rest, ShapeError),
    ):
        if a != b:
            raise kind(f"{where}: {what}: found {b}, expected {a} as in {path!s}")
    if not check or first.attrs == this.attrs:
        return
    name = next(n for n in (*first.attrs, *this.attrs) if first.attrs.get(n) != this.attrs.get(n))
    a, b = first.attrs.get(name), this.attrs.get(name)
    raise ArgumentError(
        f"{where}: attribute {name!r}: found {b!r}, expected {a!r} as in {path!s}; "
        "check=False takes those of the first file"
    )


class _ReadOnly:
    """Has the attributes of files that are joined."""

    def __init__(self, attrs: dict[str, Any]) -> None:
        self._attrs = attrs

    _changeable = False

    def _load_attrs(self) -> dict[str, Any]:
        return self._attrs

    def _store_attrs(self, raw: bytes) -> None:
        raise ReadOnlyError("files that are joined are open for reading")


def open_many(
    paths: Path | Iterable[Path],
    concat: str | int,
    *,
    format: str | None = None,
    check: bool = True,
    progress: Progress = None,
) -> Joined:
    """Open many files that are alike as one lazy dataset, joined along a dimension.

    Each file is looked at once, no elements are read. At most 16 files are open at a time, however many there
    are.

    Parameters
    ----------
    paths : path, or iterable of path
        The files, in the order in which they are joined; or a pattern or a folder, as for `read_many`.
    concat : str or int
        Name of the dimension; arrays without it are those of the first file. For formats without names of
        axes the number of the axis of all arrays that have it.
    format : str, optional
        As for `open`.
    check : bool, default True
        The files must have the same arrays with the same attributes. False: those of the first file, with
        its attributes. Dtypes, names of axes and the other extents must always be the same.
    progress : bool or callable, optional
        As for `read_many`.

    Returns
    -------
    Joined

    Raises
    ------
    ShapeError, DTypeError, ArgumentError
        Files are not alike; the message names file, array and what differs (a ValueError, a TypeError).
    NameNotFoundError
        A file lacks an array, or has one more (a KeyError).

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> days = [f"joined{i}.ds" for i in range(3)]
    >>> ndfile.save_many(days, [{"t": np.full((2, 3), i)} for i in range(3)], dims={"t": ("time", "x")})
    >>> with ndfile.open_many("joined*.ds", "time") as many:
    ...     print(many["t"].shape, many["t"][1:5, 0])
    (6, 3) [0 1 1 2]
    """
    found = listed(paths)
    if isinstance(concat, int) and concat < 0:
        raise ArgumentError(f"concat: expected a name or an axis from 0 on, found {concat}")
    if not found:
        raise ArgumentError("paths: there is no file")
    joined = Joined(found, concat, format)
    with Watch(progress, len(found)) as watch:
        joined._examine(check, watch)
        watch.check()
    return joined
