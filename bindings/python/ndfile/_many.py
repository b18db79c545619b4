"""read_many and save_many: many small files in a few calls of the library, which works in parallel.

Files go to the library in batches, so that memory and messages stay small whatever their number is. Python
prepares the next batch, or takes the last one over, while the library works.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from . import _alike, _capi
from ._attrs import to_json
from ._elements import address
from ._errors import ArgumentError, NdfileError, failure
from ._items import make_items
from ._lib import Path, encode_name, encode_path, lib
from ._load import gather
from ._opening import write_options
from ._pack import Scratch, pack
from ._paths import listed as list_paths
from ._progress import Progress, Watch
from ._read import result, with_names

_BATCH = 4096  # files a call
_ROOM = 1 << 21  # bytes of the buffer of the first call
_MOST_ROOM = 1 << 26  # of one that is not known to be needed
_INFOS = 2 * _BATCH  # arrays that it has room for
_ERROR = ctypes.sizeof(_capi.ndf_error)


def read_many(
    paths: Path | Iterable[Path],
    name: str | list[str] | None = None,
    *,
    errors: str = "raise",
    progress: Progress = None,
) -> list[Any]:
    """Read many files.

    The result is that of ``[read(path, name) for path in paths]``, but it comes faster: the files are read in
    parallel, in a few calls of the library.

    Parameters
    ----------
    paths : iterable of path, or path
        The files or folders. The same one may come several times. One path: a pattern, as ``"2024/*.ds"``,
        or a folder that is no store itself and stands for its files of known extensions, by name.
    name : str, or list of str, optional
        Name of the one array to read of each, or of several. Default: all.
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
        of a few MiB at most where files are small: copy one to keep it without the rest.

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
    if isinstance(name, (list, tuple)):
        return _read_several(list_paths(paths), name, errors, progress)
    listed = list_paths(paths)
    texts = _Texts(listed)
    values: list[Any] = []
    loader = _Loader(name, errors == "raise")
    with Watch(progress, len(listed)) as watch:
        for start in range(0, len(listed), _BATCH):
            batch = slice(start, start + _BATCH)
            watch.done = start
            parts = loader.load(texts.pointers[batch], watch)
            # The arrays are made while the next batch is read.
            watch.meanwhile = partial(loader.unpack, listed[batch], parts, values)
        watch.check()
    return values


def _read_several(paths: list[Path], names: Sequence[str], errors: str, progress: Progress) -> list[Any]:
    """Read some arrays of each file: a dict, or its first error."""
    columns = [read_many(paths, name, errors=errors, progress=progress) for name in names]
    return [
        next((x for x in row if isinstance(x, NdfileError)), None) or dict(zip(names, row))
        for row in zip(*columns)
    ]


class _Part:
    """What a call of ndf_load_many tells: of which paths, and memory for the results."""

    def __init__(self, infos: int) -> None:
        self.which = np.empty(0, np.intp)
        self.block = memoryview(b"")
        self.results = np.empty(_BATCH, _alike.RESULT)
        self.errors = np.empty(_BATCH * _ERROR, np.uint8)
        self.infos = np.empty(infos, _alike.INFO)


class _Loader:
    """Calls ndf_load_many for one batch after the other."""

    def __init__(self, name: str | None, strict: bool) -> None:
        self._name, self._strict = name, strict
        self._raw_name = None if name is None else encode_name(name)
        self._room, self._infos = _ROOM, _INFOS
        self._need, self._ninfos = ctypes.c_int64(), ctypes.c_int64()
        self._spare: list[_Part] = []

    def load(self, pointers: np.ndarray, watch: Watch) -> list[_Part]:
        """Load a batch; the paths that the memory is too small for are in a part of their own."""
        parts: list[_Part] = []
        todo, room = np.arange(len(pointers)), self._room
        while len(todo):
            part = self._call(todo, pointers[todo], room, watch)
            if not parts:  # the next files may be like these
                self._room = min(max(room, self._need.value + self._need.value // 4), _MOST_ROOM)
            parts.append(part)
            todo, room = todo[part.results["status"][: len(todo)] == _capi.NDF_ERR_BUFFER], self._need.value
        return parts

    def _call(self, which: np.ndarray, pointers: np.ndarray, room: int, watch: Watch) -> _Part:
        part = self._spare.pop() if self._spare else _Part(self._infos)
        if len(part.infos) < self._infos:
            part = _Part(self._infos)
        part.which = which
        part.infos["struct_size"][:1] = _alike.INFO.itemsize
        part.results["struct_size"][:1] = _alike.RESULT.itemsize
        self._need.value, self._ninfos.value = room, len(part.infos)
        options, err = _many_options(watch), _capi.ndf_error()
        block = np.empty(room, np.uint8)
        status = lib.ndf_load_many(
            address(pointers),
            len(pointers),
            self._raw_name,
            address(block),
            ctypes.addressof(self._need),
            address(part.infos),
            ctypes.addressof(self._ninfos),
            address(part.results),
            address(part.errors),
            ctypes.addressof(options),
            ctypes.addressof(err),
        )
        watch.check()
        if self._need.value < 0:
            raise failure(status, err)
        self._infos = max(self._infos, self._ninfos.value)
        part.block = block.data
        return part

    def unpack(self, paths: list[Path], parts: list[_Part], values: list[Any]) -> None:
        """Append to values what was read of each path, or its error; strict: raise the first error."""
        first = len(values)
        values += [None] * len(paths)
        errors: dict[int, NdfileError] = {}
        for part in parts:
            results = part.results[: len(part.which)]
            status = results["status"]
            good = status == 0
            alike = _alike.unpack(part.block, part.infos, results[good], self._name)
            if alike is not None:
                for k, value in zip(part.which[good].tolist(), alike):
                    values[first + k] = value
            else:
                infos, size = part.infos.view(np.uint8).data, part.infos.itemsize
                for k, (*_, at, n) in zip(part.which[good].tolist(), results[good].tolist()):
                    places = range(at * size, (at + n) * size, size)
                    try:
                        values[first + k] = result(paths[k], self._name, *gather(part.block, infos, places))
                    except NdfileError as e:
                        errors[k] = e
            for i in np.flatnonzero(~good & (status != _capi.NDF_ERR_BUFFER)).tolist():
                k = int(part.which[i])
                reason = _capi.ndf_error.from_buffer(part.errors.data, i * _ERROR)
                error = failure(int(status[i]), reason, paths[k])
                errors[k] = with_names(error, paths[k], self._raw_name)
            part.block = memoryview(b"")
            self._spare.append(part)
        if errors and self._strict:
            raise errors[min(errors)]
        for k, error in errors.items():
            values[first + k] = error


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
    saver = _Saver(listed, values, format, attrs, write_options(commit, sync, exclusive), dims, var_attrs)
    with Watch(progress, len(listed)) as watch:
        saver.save(watch)
    if errors == "return":
        return saver.outcomes
    for error in saver.outcomes:
        if error is not None:
            raise error
    return None


class _Saver:
    """Calls ndf_save_many for one batch after the other, and keeps what became of the files."""

    def __init__(
        self,
        paths: list[Path],
        values: list[Any],
        format: str | None,
        attrs: Mapping[str, Any] | None,
        options: ctypes.Structure,
        dims: Any,
        var_attrs: Any,
    ) -> None:
        raw_format = None if format is None else encode_name(format)
        self._paths, self._texts, self._values = paths, _Texts(paths), values
        shared: Any = (ctypes.c_char_p * 2)(raw_format, to_json(attrs))
        self._shared = np.frombuffer(shared, np.uintp)
        self._options = options
        self._dims, self._var_attrs = dims, var_attrs
        self._plain = dims is None and var_attrs is None
        self._packed: tuple[Any, ...] | None = None  # the next batch, if its files are alike
        self._scratch: Scratch | None = None
        self._errors = np.empty(_BATCH * _ERROR, np.uint8)
        self.outcomes: list[NdfileError | None] = [None] * len(paths)

    def save(self, watch: Watch) -> None:
        """Write all files."""
        self._pack(0)
        for start in range(0, len(self._values), _BATCH):
            watch.done = start
            packed = self._packed or self._pack_each(start)
            # The next batch is packed while this one is written.
            watch.meanwhile = partial(self._pack, start + _BATCH)
            self._call(packed, watch)
            watch.check()

    def _pack(self, start: int) -> None:
        """Pack the batch from start on, if its files are alike."""
        batch = self._values[start : start + _BATCH]
        packed = _alike.pack(batch) if batch and self._plain else None
        self._packed = packed and (range(start, start + len(batch)), *packed)

    def _pack_each(self, start: int) -> tuple[list[int], list[int], list[int], list[Any]]:
        """Pack the files from start on one by one: which, addresses and numbers of items, what they need."""
        scratch = self._scratch = self._scratch or Scratch(_ROOM, _INFOS)
        first_item = ctypes.addressof(ctypes.c_char.from_buffer(scratch.items))
        which, items, counts = [], [], []
        keep: list[Any] = []
        place = 0, 0
        for i, value in enumerate(self._values[start : start + _BATCH], start):
            packed = pack(scratch, value, *place, self._dims, self._var_attrs)
            if packed is not None:
                items.append(first_item + place[1])
                counts.append(len(value))
                place = packed
            else:
                try:
                    made, kept = make_items(self._paths[i], value, self._dims, self._var_attrs)
                except NdfileError as e:
                    self.outcomes[i] = e
                    continue
                items.append(ctypes.addressof(made))
                counts.append(len(made))
                keep += made, kept
            which.append(i)
        return which, items, counts, keep

    def _call(self, packed: tuple[Any, ...], watch: Watch) -> None:
        which, items, counts, _keep = packed
        n = len(which)
        if not n:
            return
        files = np.zeros(n, _alike.FILE)
        files["struct_size"] = _alike.FILE.itemsize
        files["path"] = self._texts.pointers[which]
        files["format"], files["attrs_json"] = self._shared
        files["items"], files["nitems"] = items, counts
        statuses = np.ones(n, np.int32)  # those stay when the call has not begun
        many, err = _many_options(watch), _capi.ndf_error()
        status = lib.ndf_save_many(
            address(files),
            n,
            ctypes.addressof(self._options),
            address(statuses),
            address(self._errors),
            ctypes.addressof(many),
            ctypes.addressof(err),
        )
        watch.check()
        if statuses[0] > 0:
            raise failure(status, err)
        for i in np.flatnonzero(statuses).tolist():
            reason = _capi.ndf_error.from_buffer(self._errors.data, i * _ERROR)
            self.outcomes[which[i]] = failure(int(statuses[i]), reason, self._paths[which[i]])


class _Texts:
    """Paths as C texts one after the other, and their addresses."""

    def __init__(self, paths: list[Path]) -> None:
        text = ""
        try:
            text = "\0".join(paths)  # type: ignore[arg-type]
            plain = text.isascii() and text.count("\0") == len(paths) - 1
        except TypeError:
            plain = False
        raw = (text.encode() if plain else b"\0".join(map(encode_path, paths))) + b"\0"
        self._raw = np.frombuffer(raw, np.uint8)
        ends = np.flatnonzero(self._raw == 0)
        self.pointers = address(self._raw) + np.concatenate([[0], ends[:-1] + 1])[: len(paths)]


def _many_options(watch: Watch) -> ctypes.Structure:
    options = _capi.ndf_many_options()
    options.struct_size = ctypes.sizeof(options)
    options.progress = watch.callback
    return options


def _list_paths(paths: Iterable[Path]) -> list[Path]:
    if isinstance(paths, (str, bytes, os.PathLike)):
        raise ArgumentError(f"paths: expected an iterable of paths, found one path, {paths!r}")
    return list(paths)


def _check_errors(errors: str) -> None:
    if errors not in ("raise", "return"):
        raise ArgumentError(f"errors: expected 'raise' or 'return', found {errors!r}")
