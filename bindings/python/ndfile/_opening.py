"""Opening files in the library, and what it says of open ones."""

from __future__ import annotations

import ctypes
import os
import struct
import time
import warnings
from typing import Any, NamedTuple

from . import _capi, _elements
from ._errors import ArgumentError, BusyError, CanceledError, failure
from ._lib import Path, call, encode_path, lib
from ._load import _pool as _scratches
from ._load import take
from ._progress import Watch
from ._tree import Part

KINDS = {
    _capi.NDF_KIND_ARRAY: "array",
    _capi.NDF_KIND_DATASET: "dataset",
    _capi.NDF_KIND_TABLE: "table",
}


class About(NamedTuple):
    """What an open file is."""

    format: str
    kind: str
    caps: int
    narrays: int
    nrows: int | None  # of a table
    unlocked: bool


# Called with prepared pointers only.
ndf_file_close, ndf_file_abort = lib["ndf_file_close"], lib["ndf_file_abort"]
_COMMITS = {"atomic": _capi.NDF_COMMIT_ATOMIC, "direct": _capi.NDF_COMMIT_DIRECT}


def write_options(
    commit: str = "atomic",
    sync: bool = False,
    exclusive: bool = False,
    trailing: bytes = b"",
    timeout_ms: int = 0,
) -> ctypes.Structure:
    """Make the C options of writing."""
    if commit not in _COMMITS:
        raise ArgumentError(f"commit: expected 'atomic' or 'direct', found {commit!r}")
    options = _capi.ndf_write_options()
    options.struct_size = ctypes.sizeof(options)
    options.commit = _COMMITS[commit]
    options.sync = bool(sync)
    options.exclusive = bool(exclusive)
    options.timeout_ms = timeout_ms
    if len(trailing):
        options.kept = _elements.as_bytes(trailing, "trailing")  # lives as long as the struct
        options.trailing = _elements.address(options.kept)
        options.trailing_len = options.kept.size
    return options


def patient(path: Path, options: ctypes.Structure, timeout: float, function: Any, *arguments: Any) -> None:
    """Call what waits for other writers as its options say; Ctrl-C ends the waiting."""
    options.timeout_ms = -1
    begin = time.monotonic()
    try:
        call(path, function, *arguments)
    except BusyError:
        left = timeout - (time.monotonic() - begin)
        if left <= 0:
            raise
        options.timeout_ms = max(1, int(1000 * min(left, 1e12)))
        with Watch(None) as watch:
            options.progress = watch.callback
            try:
                call(path, function, *arguments)
            except CanceledError:
                watch.check()
                raise


class Reading(NamedTuple):
    """How an existing file is opened, again too."""

    follow_symlinks: bool = False
    default_fill: bool = False
    shared: bool = False
    timeout: float = 5.0
    sync: bool = False
    require_lock: bool = False


def _read_options(format: bytes | None, reading: Reading) -> ctypes.Structure:
    """Make the C options of opening for reading."""
    options = _capi.ndf_open_options()
    options.struct_size = ctypes.sizeof(options)
    options.mode = _capi.NDF_MODE_READ
    options.format = format
    options.follow_symlinks, options.default_fill = reading.follow_symlinks, reading.default_fill
    return options


_plain_reading = _read_options(None, Reading())


def open_handle(path: Path, mode: str, format: bytes | None, reading: Reading) -> int:
    """Open an existing file in the library."""
    options = _read_options(format, reading)
    handle = ctypes.c_uint64()
    arguments = encode_path(path), ctypes.addressof(options), ctypes.addressof(handle)
    if mode == "r+":
        options.mode = _capi.NDF_MODE_UPDATE
        options.shared, options.sync, options.require_lock = (
            reading.shared,
            reading.sync,
            reading.require_lock,
        )
        patient(path, options, reading.timeout, lib.ndf_file_open, *arguments)
        return handle.value
    call(path, lib.ndf_file_open, *arguments)
    return handle.value


_unlocked_told: list[Path] = []


def warn_unlocked(path: Path) -> None:
    """Say once that nothing keeps other writers out."""
    if not _unlocked_told:
        _unlocked_told.append(path)
        warnings.warn(
            f"{os.fsdecode(path)}: the file system cannot lock, so nothing keeps other writers out "
            "(said once; require_lock=True refuses such stores)",
            RuntimeWarning,
            stacklevel=4,
        )


def open_reading(
    path: Path, format: bytes | None, reading: Reading, flags: int = _capi.NDF_LOAD_META
) -> tuple[int, About, Part]:
    """Open an existing file for reading, with what is at hand of it."""
    options = _plain_reading
    if format is not None or reading.follow_symlinks or reading.default_fill:
        options = _read_options(format, reading)
    s = take()
    try:
        status = s.open_load(encode_path(path), ctypes.byref(options), flags)
        if status:
            raise failure(status, s.err, path)
        return s.handle.value, about(s.about), Part(s, 0)
    finally:
        _scratches.append(s)


def close_handle(path: Path, handle: int, function: Any = ndf_file_close) -> None:
    """Close a file in the library, or abort it."""
    s = take()
    status = s.end(function, handle)
    error = failure(status, s.err, path) if status else None
    _scratches.append(s)
    if error is not None:
        raise error


def describe(path: Path, handle: int) -> ctypes.Structure:
    """Ask the library what an open file is."""
    info = _capi.ndf_file_info()
    info.struct_size = ctypes.sizeof(info)
    call(path, lib.ndf_file_get_info, handle, ctypes.addressof(info))
    return info


# kind, narrays, caps, format, nrows, flags
_says = struct.Struct("=4xIqI4x32sqI").unpack_from
_UNLOCKED = _capi.NDF_FILE_UNLOCKED
_formats: dict[bytes, str] = {}  # names as they stand in the struct, and as texts


def about(info: Any) -> About:
    """Take what the library says of a file."""
    kind, narrays, caps, raw, nrows, flags = _says(info)
    name = _formats.get(raw)
    if name is None:
        name = _formats[raw] = raw.split(b"\0", 1)[0].decode()
    unlocked = flags & _UNLOCKED != 0
    return About(name, KINDS.get(kind, "unknown"), caps, narrays, None if nrows < 0 else nrows, unlocked)
