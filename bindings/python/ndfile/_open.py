"""open: from a path to a `File` or a `Table`."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, Literal, overload

from ._attrs import to_json
from ._decoded import DecodedFile
from ._errors import ArgumentError, NdfileError, NotFoundError
from ._file import File
from ._lib import Path, encode_name, encode_path, lib
from ._opening import (
    About,
    Reading,
    about,
    describe,
    open_handle,
    open_reading,
    patient,
    warn_unlocked,
    write_options,
)
from ._stream import Copy, is_stream
from ._table import Table
from ._tree import Part

if TYPE_CHECKING:
    from typing_extensions import TypedDict, Unpack

    class Options(TypedDict, total=False):
        """What `open` takes besides path, mode and format."""

        attrs: Mapping[str, Any] | None
        commit: str
        sync: bool
        trailing: bytes
        follow_symlinks: bool
        default_fill: bool
        shared: bool
        timeout: float
        require_lock: bool


@overload
def open(
    path: Path | IO[bytes],
    mode: Literal["r"] = "r",
    format: str | None = None,
    *,
    decode: Literal[True],
    **options: Unpack[Options],
) -> DecodedFile: ...
@overload
def open(
    path: Path, mode: Literal["w", "x"], format: Literal["bcolz"], **options: Unpack[Options]
) -> Table: ...
@overload
def open(
    path: Path | IO[bytes], mode: str = "r", format: str | None = None, **options: Unpack[Options]
) -> File: ...
def open(
    path: Any,
    mode: str = "r",
    format: str | None = None,
    *,
    attrs: Mapping[str, Any] | None = None,
    commit: str = "atomic",
    sync: bool = False,
    trailing: bytes = b"",
    follow_symlinks: bool = False,
    default_fill: bool = False,
    shared: bool = False,
    timeout: float = 5.0,
    require_lock: bool = False,
    decode: bool = False,
) -> File | DecodedFile:
    """Open or create a file.

    Parameters
    ----------
    path : str, bytes, os.PathLike or a stream
        The file or folder. With mode "r" also an object with a method ``read``, as for `read`: what it holds
        is copied at once, and kept as long as the result lives.
    mode : {"r", "r+", "w", "x", "a"}, default "r"
        Reading; reading and changing (ds and rawarray do not allow it: use `save`); creating, in place of an
        older file; creating, where nothing exists yet; ``"r+"`` where something exists, else ``"x"``.
    format : str, optional
        Name of the format, see `formats`. Default: by content when reading, by extension when creating.
    attrs : mapping, optional
        Attributes of a new file.
    commit : {"atomic", "direct"}, default "atomic"
        A new file is written beside its path and renamed when it is closed, or written in place: quicker,
        but a crash can leave a torn file.
    sync : bool, default False
        Flush what is written to the disk: of a new file before `close` returns; of one that is changed with
        each write, data before the metadata that tell of it, then the folder.
    trailing : bytes-like, optional
        Bytes to follow the data of a new file, as for `save`.
    follow_symlinks : bool, default False
        Let the files and folders inside a store be symbolic links, which may lead anywhere. The path itself
        may always be one.
    default_fill : bool, default False
        Take the value that NetCDF fills elements with which were never written for missing, in variables of
        numbers that name no such value themselves (``_FillValue``), as netCDF4-python does. Otherwise these
        values are data. Without effect in other formats.
    shared : bool, default False
        With mode "r+": share the store with other writers of regions, who open it so too. Each write locks
        the chunks that it touches, one by one; changes of shape, arrays and attributes are a
        `NotSupportedError` (but not in zarr0). Otherwise one writer at a time has the store open. Readers
        are never kept out.
    timeout : float, default 5.0
        How many seconds to wait for others who have the store open for changes, with mode "r+" and where a
        store is replaced; 0 does not wait.
    require_lock : bool, default False
        With mode "r+": a `NotSupportedError` where the file system cannot lock; otherwise a `RuntimeWarning`,
        once, that nothing keeps other writers out. The lock is then one that other machines, which have the
        folder by network, see too.
    decode : bool, default False
        Give values, masks and dates as the attributes say, see `DecodedFile`, instead of elements as they are
        stored. Only with mode "r".

    Returns
    -------
    File
        A `Table` where the file holds one, or where the format of a new file has tables; with `decode` a
        `DecodedFile`.

    Raises
    ------
    NotFoundError
        Nothing is there (a FileNotFoundError).
    ExistsError
        With mode "x": something is (a FileExistsError).
    FormatError
        No format recognises the file, or the extension does not tell which to create (a ValueError).
    CorruptError
        The file is damaged (a ValueError).
    NotSupportedError
        The format does not allow the mode (a NotImplementedError).
    BusyError
        Another writer has the store; the message tells which (a BlockingIOError).

    Examples
    --------
    >>> import ndfile
    >>> with ndfile.open("open.ds", "w") as f:
    ...     f["x"] = [1, 2, 3]
    >>> with ndfile.open("open.ds") as f:
    ...     f["x"][1:]
    array([2, 3])
    """
    if decode:
        if mode != "r" or shared or require_lock:
            raise ArgumentError(f"decode: a decoded file is read-only, found mode {mode!r}")
        return DecodedFile(
            open(path, mode, format, follow_symlinks=follow_symlinks, default_fill=default_fill)
        )
    name = None if format is None else encode_name(format)
    reading = Reading(
        bool(follow_symlinks),
        bool(default_fill),
        bool(shared),
        float(timeout),
        bool(sync),
        bool(require_lock),
    )
    if not timeout >= 0:
        raise ArgumentError(f"timeout: expected 0 or more seconds, found {timeout}")
    if is_stream(path):
        return _of_stream(path, mode, format, reading)
    if mode == "a":
        try:
            return _made(path, "r+", open_handle(path, "r+", name, reading), reading)
        except NotFoundError:
            mode, reading = "x", Reading()
    if mode in ("r", "r+"):
        if attrs is not None:
            raise ArgumentError("attrs: only for new files; use File.attrs")
        if len(trailing):
            raise ArgumentError("trailing: only for new files")
        if mode == "r" and not (reading.shared or reading.require_lock):
            return _of_reading(path, *open_reading(path, name, reading), reading)
        return _made(path, mode, open_handle(path, mode, name, reading), reading)
    if mode not in ("w", "x"):
        raise ArgumentError(f"mode: expected 'r', 'r+', 'w', 'x' or 'a', found {mode!r}")
    if reading.follow_symlinks or default_fill or reading.shared or reading.require_lock:
        raise ArgumentError("follow_symlinks, default_fill, shared, require_lock: only for files that exist")
    folder = os.path.dirname(os.fsdecode(path))
    if folder and not os.path.isdir(folder) and "://" not in folder:  # not only when the file is closed
        raise NotFoundError(f"{os.fsdecode(path)}: there is no folder {folder}", path=path)
    options = write_options(commit, sync, mode == "x", trailing)
    handle = ctypes.c_uint64()
    places = ctypes.addressof(options), ctypes.addressof(handle)
    arguments = encode_path(path), name, to_json(attrs), *places
    patient(path, options, reading.timeout, lib.ndf_file_create, *arguments)
    return _made(path, mode, handle.value, reading)


def _of_stream(stream: Any, mode: str, format: str | None, reading: Reading) -> File:
    if mode != "r":
        raise ArgumentError(f"mode: a stream can be opened for reading only, found {mode!r}")
    copy = Copy(stream, format)
    name = None if format is None else encode_name(format)
    try:
        file = _of_reading(copy.path, *open_reading(copy.path, name, reading), reading)
    except NdfileError as e:
        raise copy.renamed(e) from None
    file._copy, file.path = copy, copy.name
    return file


def _of_reading(path: Path, handle: int, about: About, first: Part, reading: Reading) -> File:
    """Make the object for a file open for reading."""
    return (Table if about.kind == "table" else File)(path, "r", handle, about, reading, first)


def _made(path: Path, mode: str, handle: int, reading: Reading) -> File:
    """Make the object for an open handle."""
    found = about(describe(path, handle))
    if found.unlocked:
        warn_unlocked(path)
    return (Table if found.kind == "table" else File)(path, mode, handle, found, reading)
