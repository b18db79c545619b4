"""read_many and save_many: many small files in a few calls of the library, which works in parallel.

Files go to the library in batches, so that memory and messages stay small whatever their number is.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _capi
from ._attrs import to_json
from ._elements import address
from ._errors import ArgumentError, NdfileError, failure
from ._file import write_options
from ._items import make_items
from ._lib import Path, encode_name, encode_path, lib
from ._progress import Progress, Watch
from ._read import gather, only, result
from ._save import Scratch, pack

_BATCH = 1024  # files a call
_ROOM = 1 << 20  # bytes of the buffer of the first call
_MOST_ROOM = 1 << 26  # of one that is not known to be needed
_INFOS = 4 * _BATCH  # arrays that it has room for

_INFO = ctypes.sizeof(_capi.ndf_load_info)
_RESULT = struct.Struct("=4xiqq")  # status, first_info, ninfos of an ndf_load_result
_FILE = struct.Struct("=I4xQQQqQ")  # ndf_save_file


def read_many(
    paths: Iterable[Path], name: str | None = None, *, errors: str = "raise", progress: Progress = None
) -> list[Any]:
    """Read many files.

    The result is that of ``[read(path, name) for path in paths]``, but it comes faster: the files are read in
    parallel, in a few calls of the library.

    Parameters
    ----------
    paths : iterable of path
        The files or folders. The same one may come several times.
    name : str, optional
        Name of the one array to read of each. Default: all.
    errors : {"raise", "return"}, default "raise"
        What becomes of files that cannot be read: the error of the first one is raised (its `path` tells
        which), or the exceptions stand in the list in place of arrays.
    progress : bool or callable, optional
        Called now and then with the numbers of files that are done and of all; what it raises ends the
        call. True: shown on standard error, where that is a terminal.

    Returns
    -------
    list
        What `read` gives, in the order of `paths`. The arrays of neighbouring files share blocks of memory,
        of about a MiB where files are small: copy one to keep it without the rest.

    Raises
    ------
    NdfileError
        As `read`.
    KeyboardInterrupt
        Ctrl-C ends the call promptly.

    Examples
    --------
    >>> import ndfile
    >>> ndfile.save_many(["one.ds", "two.ds"], [{"x": [1]}, {"x": [2, 2]}])
    >>> ndfile.read_many(["one.ds", "two.ds"], "x")
    [array([1]), array([2, 2])]
    >>> ndfile.read_many(["one.ds", "three.ds"], "x", errors="return")[1].name
    'NDF_ERR_NOT_FOUND'
    """
    _check_errors(errors)
    listed = _list_paths(paths)
    raw_paths = _encode_paths(listed)
    values: list[Any] = []
    loader = _Loader(name)
    with Watch(progress, len(listed)) as watch:
        for start in range(0, len(listed), _BATCH):
            batch = listed[start : start + _BATCH]
            values += loader.load(batch, raw_paths[start : start + _BATCH], watch)
            if errors == "raise":
                for value in values[start:]:
                    if isinstance(value, NdfileError):
                        raise value
            watch.done = len(values)
    return values


class _Loader:
    """Calls ndf_load_many for one batch after the other, with memory for what describes the results."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._raw_name = None if name is None else encode_name(name)
        self._room = _ROOM
        self._results = np.empty(_BATCH * _RESULT.size, np.uint8)
        self._errors = np.empty(_BATCH * ctypes.sizeof(_capi.ndf_error), np.uint8)
        self._infos = np.empty(_INFOS * _INFO, np.uint8)
        self._need, self._ninfos = ctypes.c_int64(), ctypes.c_int64()

    def load(self, paths: list[Path], raw_paths: list[bytes], watch: Watch) -> list[Any]:
        """Load a batch; give for each path its arrays or its error."""
        name = self._name
        values: list[Any] = [None] * len(paths)
        todo = list(range(len(paths)))
        buf = self._call(raw_paths, self._room, watch)
        # The next files may be like these.
        self._room = min(max(self._room, self._need.value + self._need.value // 4), _MOST_ROOM)
        while todo:  # again for those that do not fit
            rest = []
            infos = memoryview(self._infos)
            for i, (k, (status, first, n)) in enumerate(zip(todo, _RESULT.iter_unpack(self._results))):
                if not status:
                    if n == 1 and name is None:
                        values[k] = only(buf, infos, first * _INFO)
                        if values[k] is not None:
                            continue
                    places = range(first * _INFO, (first + n) * _INFO, _INFO)
                    try:
                        values[k] = result(paths[k], name, *gather(buf, infos, places))
                    except NdfileError as e:
                        values[k] = e
                elif status == _capi.NDF_ERR_BUFFER:
                    rest.append(k)
                else:
                    at = i * ctypes.sizeof(_capi.ndf_error)
                    values[k] = failure(status, _capi.ndf_error.from_buffer(self._errors, at), paths[k])
            todo = rest
            if todo:
                buf = self._call([raw_paths[k] for k in todo], self._need.value, watch)
        return values

    def _call(self, paths: list[bytes], room: int, watch: Watch) -> memoryview:
        """Load paths into memory of their own, and what describes it into that of this object."""
        n = len(paths)
        pointers = (ctypes.c_char_p * n)(*paths)
        if self._ninfos.value * _INFO > len(self._infos):
            self._infos = np.empty(self._ninfos.value * _INFO, np.uint8)
        self._ninfos.value = len(self._infos) // _INFO
        self._infos[:4].view(np.uint32)[0] = _INFO
        self._results[:4].view(np.uint32)[0] = _RESULT.size
        self._need.value = -1
        options, err = _many_options(watch), _capi.ndf_error()
        block = np.empty(room, np.uint8)
        status = lib.ndf_load_many(
            ctypes.addressof(pointers),
            n,
            self._raw_name,
            address(block),
            room,
            ctypes.addressof(self._need),
            address(self._infos),
            ctypes.addressof(self._ninfos),
            address(self._results),
            address(self._errors),
            ctypes.addressof(options),
            ctypes.addressof(err),
        )
        watch.check()
        if self._need.value < 0:
            raise failure(status, err)
        return memoryview(block)


def save_many(
    paths: Iterable[Path],
    arrays: Iterable[Any],
    *,
    format: str | None = None,
    attrs: Mapping[str, Any] | None = None,
    dims: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
    var_attrs: Mapping[str, Mapping[str, Any]] | None = None,
    commit: str = "atomic",
    sync: bool = False,
    exclusive: bool = False,
    errors: str = "raise",
    progress: Progress = None,
) -> list[NdfileError | None] | None:
    """Write many files.

    It does what `save` does for each of them, but faster: in parallel, in a few calls of the library.

    Parameters
    ----------
    paths : iterable of path
        Where to. A path that comes twice holds one or the other afterwards.
    arrays : iterable
        For each path what `save` takes: a dict of arrays by name, or one array.
    format, attrs, dims, var_attrs, commit, sync, exclusive
        As for `save`, the same for all files.
    errors : {"raise", "return"}, default "raise"
        A file that fails does not stop the others. In the end the error of the first one is raised (its
        `path` tells which), or a list is returned.
    progress : bool or callable, optional
        As for `read_many`. Files that are done when it or Ctrl-C ends the call stay.

    Returns
    -------
    list of NdfileError or None, or None
        With ``errors="return"``: for each path its error, or None.

    Raises
    ------
    NdfileError
        As `save`.
    KeyboardInterrupt
        Ctrl-C ends the call promptly.

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> ndfile.save_many([f"day{i}.ds" for i in range(3)], [{"t": np.full(2, i)} for i in range(3)])
    >>> ndfile.read("day2.ds", "t")
    array([2, 2])
    """
    _check_errors(errors)
    listed, values = _list_paths(paths), list(arrays)
    if len(listed) != len(values):
        raise ArgumentError(f"{len(listed)} paths, but arrays for {len(values)} files")
    raw_paths = _encode_paths(listed)
    raw_format = None if format is None else encode_name(format)
    shared = raw_format, to_json(attrs), write_options(commit, sync, exclusive)
    outcomes: list[NdfileError | None] = [None] * len(listed)
    scratch = Scratch(_ROOM, _INFOS)
    first_item = ctypes.addressof(ctypes.c_char.from_buffer(scratch.items))
    plain = dims is None and var_attrs is None
    with Watch(progress, len(listed)) as watch:
        for start in range(0, len(listed), _BATCH):
            items = {}
            place = 0, 0
            for i in range(start, min(start + _BATCH, len(listed))):
                packed = pack(scratch, values[i], *place) if plain else None
                if packed is not None:
                    items[i] = first_item + place[1], len(values[i]), None
                    place = packed
                    continue
                try:
                    made, keep = make_items(listed[i], values[i], dims, var_attrs)
                    items[i] = ctypes.addressof(made), len(made), (made, keep)
                except NdfileError as e:
                    outcomes[i] = e
            _save_batch(listed, raw_paths, items, shared, outcomes, watch)
            watch.done = start + _BATCH
    if errors == "return":
        return outcomes
    for error in outcomes:
        if error is not None:
            raise error
    return None


def _save_batch(
    paths: list[Path],
    raw_paths: list[bytes],
    items: dict[int, Any],
    shared: tuple,
    outcomes: list,
    watch: Watch,
) -> None:
    n = len(items)
    if not n:
        return
    format, attrs, options = shared
    texts = (ctypes.c_char_p * (n + 2))(*(raw_paths[i] for i in items), format, attrs)
    *path_at, format_at, attrs_at = struct.unpack(f"={n + 2}Q", texts)
    files = b"".join(
        _FILE.pack(_FILE.size, at, format_at, first, count, attrs_at)
        for at, (first, count, _) in zip(path_at, items.values())
    )
    statuses = (ctypes.c_int32 * n)()
    statuses[0] = 1  # stays when the call has not begun
    reasons = (_capi.ndf_error * n)()
    many, err = _many_options(watch), _capi.ndf_error()
    status = lib.ndf_save_many(
        files,
        n,
        ctypes.addressof(options),
        ctypes.addressof(statuses),
        ctypes.addressof(reasons),
        ctypes.addressof(many),
        ctypes.addressof(err),
    )
    watch.check()
    if statuses[0] > 0:
        raise failure(status, err)
    for i, code, reason in zip(items, statuses, reasons):
        if code:
            outcomes[i] = failure(code, reason, paths[i])


def _many_options(watch: Watch) -> ctypes.Structure:
    options = _capi.ndf_many_options()
    options.struct_size = ctypes.sizeof(options)
    options.progress = watch.callback
    return options


def _list_paths(paths: Iterable[Path]) -> list[Path]:
    if isinstance(paths, (str, bytes, os.PathLike)):
        raise ArgumentError(f"paths: expected an iterable of paths, found one path, {paths!r}")
    return list(paths)


def _encode_paths(paths: list[Path]) -> list[bytes]:
    return [
        p.encode() if p.__class__ is str and p.isascii() and "\0" not in p else encode_path(p)  # type: ignore[union-attr, operator]
        for p in paths
    ]


def _check_errors(errors: str) -> None:
    if errors not in ("raise", "return"):
        raise ArgumentError(f"errors: expected 'raise' or 'return', found {errors!r}")
