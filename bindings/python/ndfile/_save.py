"""save: a whole file in one call of the library.

Like `read` it is made for many small files: small plain arrays are packed, with what describes them, into
memory that is used again; the function is called without ``argtypes``, with prepared pointers only.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _capi
from ._array import Array
from ._attrs import to_json
from ._copies import copy_groups, file_attrs
from ._errors import failure
from ._file import File
from ._frames import Frame, Nulls, frame_of, whole
from ._growing import Widths
from ._items import by_name, make_items
from ._lib import Path, encode_name, encode_path, lib
from ._open import open as open_file
from ._opening import patient, write_options
from ._pack import Scratch
from ._table import Table

_ndf_save = lib["ndf_save_prepared"]
_ndarray = np.ndarray
_pool: list[Scratch] = []

# The options that there can be, to begin with: they do not wait for anybody.
_options = {
    (commit, sync, exclusive): write_options(commit, sync, exclusive, timeout_ms=-1)
    for commit in ("atomic", "direct")
    for sync in (False, True)
    for exclusive in (False, True)
}


def save(
    path: Path,
    arrays: Any,
    *,
    format: str | None = None,
    attrs: Mapping[str, Any] | None = None,
    dims: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
    var_attrs: Mapping[str, Mapping[str, Any]] | None = None,
    commit: str = "atomic",
    sync: bool = False,
    exclusive: bool = False,
    timeout: float = 5.0,
    trailing: bytes = b"",
    chunks: Any = None,
    compression: Any = None,
    fill_value: Any = None,
    expected_rows: int | None = None,
    extra: Mapping[str, Any] | None = None,
    nulls: Nulls = "raise",
    widths: Widths = None,
) -> None:
    """Write a file, new or in place of an older one.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        Where to. The folder must exist.
    arrays : dict of str to array_like, array_like, frame, or list of rows
        The arrays of a dataset by name; for a format of single arrays the array. Taken as they are, of any
        strides and byte order: numbers and bool, object arrays of `str` or of `bytes`, masked arrays,
        scalars, lists, an `Array` of an open file. Where nothing is missing a masked array is stored plain.
        An open `File`, and an `Array`, come with attributes, names of axes, masks, fill value and chunks
        where the format has them, else it is a `LossError`. A frame (a `pandas.DataFrame`, or whatever has
        ``__arrow_c_stream__``) becomes a table where the format has tables, batch by batch, and a dataset
        else; so does a list of dicts or of named tuples. Of a `pandas.DataFrame` an index that has a name or
        is not of integers becomes columns.
    format : str, optional
        Name of the format, see `formats`. Default: by the extension.
    attrs : mapping, optional
        Attributes of the file, see `Attrs`.
    dims : mapping of str to sequence of str, optional
        Names of the axes by array; for a single array the sequence.
    var_attrs : mapping of str to mapping, optional
        Attributes by array.
    commit : {"atomic", "direct"}, default "atomic"
        Written beside its path and renamed: whoever opens the path finds the old file or the new one,
        whatever happens. Or written in place: quicker, but a crash can leave a torn file.
    sync : bool, default False
        Flush the file and its folder to the disk before this returns.
    exclusive : bool, default False
        Refuse to replace anything.
    timeout : float, default 5.0
        How many seconds to wait for others who have the store that is replaced open for changes; 0 does not
        wait.
    trailing : bytes-like, optional
        Bytes to follow the data, in formats that allow it (rawarray), else a `NotSupportedError`.
    chunks, compression, fill_value, expected_rows : optional
        How every array is stored, as for `File.create`.
    extra : mapping, optional
        What `Array.extra` gives, by array; for a single array the mapping itself. ``{"encoding": "lz4"}``
        compresses a RawArray file.
    nulls, widths
        Of frames, as for `Table.append`; with nulls ``"mask"``, masked arrays where the format has masks.

    Raises
    ------
    ExistsError
        With `exclusive`: the path exists (a FileExistsError).
    BusyError
        Others have the store that is to be replaced open for changes (a BlockingIOError).
    FormatError
        The extension does not tell the format (a ValueError).
    DTypeError
        The format cannot store the dtype; an object array holds something else than `str` or `bytes`, or
        both (a TypeError).
    ValueNotRepresentableError
        A value that the format cannot hold (a ValueError).
    NameNotFoundError
        `dims` or `var_attrs` name no array (a KeyError).
    IoError
        The disk is full, for example (an OSError). With commit "atomic" an older file is as it was.

    Notes
    -----
    May be called by several threads at once; the GIL is released while the library works. The arrays must
    not be changed meanwhile.

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> t = np.ma.masked_equal([[1.5, -1], [2.5, 3]], -1)
    >>> names = np.array(["Praha", "Oslo"], dtype=object)
    >>> ndfile.save(
    ...     "save.ds",
    ...     {"t": t, "station": names},
    ...     attrs={"title": "two stations"},
    ...     dims={"t": ("station", "time")},
    ...     var_attrs={"t": {"units": "K"}},
    ... )
    >>> ndfile.read("save.ds", "t")
    masked_array(
      data=[[1.5, --],
            [2.5, 3.0]],
      mask=[[False,  True],
            [False, False]],
      fill_value=1e+20)
    """
    if arrays.__class__ is not _ndarray and (
        isinstance(arrays, (File, Array))
        or (isinstance(arrays, Mapping) and any(isinstance(value, Array) for value in arrays.values()))
    ):
        mode = "x" if exclusive else "w"
        storage = {
            "chunks": chunks,
            "compression": compression,
            "fill_value": fill_value,
            "expected_rows": expected_rows,
        }
        new = open_file(
            path, mode, format, attrs=attrs, commit=commit, sync=sync, trailing=trailing, timeout=timeout
        )
        _save_copy(new, arrays, attrs is None, by_name(arrays, dims, var_attrs, extra), storage)
        return
    if arrays.__class__ is not dict and arrays.__class__ is not _ndarray:
        frame = frame_of(arrays)
        if frame is not None:
            storage = {
                "chunks": chunks,
                "compression": compression,
                "fill_value": fill_value,
                "expected_rows": expected_rows,
            }
            mode = "x" if exclusive else "w"
            new = open_file(
                path, mode, format, attrs=attrs, commit=commit, sync=sync, trailing=trailing, timeout=timeout
            )
            _save_frame(new, frame, dims, var_attrs, nulls, widths, storage)
            return
    try:
        options = _options[commit, sync, exclusive]
    except (KeyError, TypeError):
        options = write_options(commit, sync, exclusive, timeout_ms=-1)
    if trailing.__class__ is not bytes or trailing:
        options = write_options(commit, sync, exclusive, trailing, -1)
    if not (chunks is None and compression is None and fill_value is None and expected_rows is None):
        storage = {
            "chunks": chunks,
            "compression": compression,
            "fill_value": fill_value,
            "expected_rows": expected_rows,
        }
        mode = "x" if exclusive else "w"
        new = open_file(
            path, mode, format, attrs=attrs, commit=commit, sync=sync, trailing=trailing, timeout=timeout
        )
        with new as file:
            for name, value, names, own, more in by_name(arrays, dims, var_attrs, extra):
                file.add(name, value, names, own, extra=more, **storage)
        return
    if isinstance(path, str) and path.isascii() and "\0" not in path:
        raw_path = path.encode()
    else:
        raw_path = encode_path(path)
    try:
        s = _pool.pop()
    except IndexError:
        s = Scratch()
    named = {"": arrays} if arrays.__class__ is _ndarray else arrays  # as `by_name` does
    if arrays is not named:
        dims = None if dims is None else {"": dims}  # type: ignore[dict-item]
    keep = None  # what items point to
    plain = attrs is None and dims is None and var_attrs is None and s.repack(named)
    if extra is None and (plain or s.pack_all(named, attrs, dims, var_attrs)):
        if options is not s.options:
            s.options, s.args.options = options, ctypes.addressof(options)
        if format is not s.format:
            s.args.format = None if format is None else encode_name(format)
            s.format = format
        args = s.args
    else:
        items, keep = make_items(path, arrays, dims, var_attrs, extra)
        args = _capi.ndf_save_args(
            ctypes.sizeof(_capi.ndf_save_args),
            0,
            None if format is None else encode_name(format),
            ctypes.addressof(items),
            len(items),
            to_json(attrs),
            ctypes.addressof(options),
        )
    status = _ndf_save(raw_path, s.p_args if args is s.args else ctypes.byref(args), s.p_err)
    error = failure(status, s.err, path) if status else None
    if status == _capi.NDF_ERR_BUSY and timeout > 0:
        options = write_options(commit, sync, exclusive, trailing)
        args.options = ctypes.addressof(options)
        s.options = None
        patient(path, options, timeout, lib.ndf_save_prepared, raw_path, ctypes.addressof(args))
        error = None
    del keep
    _pool.append(s)
    if error is not None:
        raise error


def _save_copy(new: File, source: Any, with_attrs: bool, items: Any, storage: dict[str, Any]) -> None:
    """Write what open files hold, with what belongs to it, to a file that is being created."""
    with new as file:
        if isinstance(source, File) and with_attrs:
            file.attrs.update(file_attrs(source.attrs, file._info().caps, file.path))
        if isinstance(source, File):
            copy_groups(source, file)
        for name, value, names, own, more in items:
            file.add(name, value, names, own, extra=more, **storage)


def _save_frame(
    new: File, frame: Frame, dims: Any, var_attrs: Any, nulls: Nulls, widths: Widths, storage: dict[str, Any]
) -> None:
    """Write a frame to a file that is being created."""
    with new as file:
        if isinstance(file, Table):
            given = {name: value for name, value in storage.items() if value is not None}
            file._append_frame(file._create_columns(frame, widths, given), False, nulls, widths)
            for name, own in (var_attrs or {}).items():
                file[name].attrs.update(own)
            return
        for name, value, names, own, _ in by_name(whole(frame, nulls, file.path), dims, var_attrs):
            file.add(name, value, names, own, **storage)
