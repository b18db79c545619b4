"""save: a whole file in one call of the library.

Like `read` it is made for many small files: small plain arrays are packed, with what describes them, into
memory that is used again; the function is called without ``argtypes``, with prepared pointers only.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _capi
from ._array import Array
from ._attrs import to_json
from ._copies import file_attrs
from ._errors import failure
from ._file import File, write_options
from ._frames import Frame, Nulls, frame_of, whole
from ._items import by_name, make_items
from ._lib import Path, encode_name, encode_path, lib
from ._open import open as open_file
from ._spec import INT64S
from ._table import Table, Widths

_BUFFER = 1 << 16  # bytes of a scratch
_ITEMS = 256  # arrays that it has room for
_LARGE = 1 << 14  # bytes of an array that is better not copied

_ndf_save = lib["ndf_save_prepared"]
_ITEM = ctypes.sizeof(_capi.ndf_item)
# struct_size, ndim, name, dtype, shape, data; all others 0
_item = struct.Struct("=IiQQQ8xQ40x").pack_into
_ndarray = np.ndarray


Place = tuple[str, np.dtype, "tuple[int, ...]", np.ndarray]


class Scratch:
    """C memory of one call, and pointers to it."""

    __slots__ = ("address", "args", "buf", "err", "items", "options", "p_args", "p_err", "series")

    def __init__(self, size: int = _BUFFER, items: int = _ITEMS) -> None:
        self.buf = bytearray(size)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.buf))
        self.items = bytearray(items * _ITEM)
        self.args = _capi.ndf_save_args()
        self.args.struct_size = ctypes.sizeof(self.args)
        self.args.items = ctypes.addressof(ctypes.c_char.from_buffer(self.items))
        self.p_args = ctypes.byref(self.args)
        self.err = _capi.ndf_error()
        self.p_err = ctypes.byref(self.err)
        self.options: ctypes.Structure | None = None  # of args
        # Name, dtype and shape of each array that is packed, and the packed one: the next file's arrays, when
        # they are of the same kind, only need their elements to be copied there.
        self.series: list[Place] | None = None


_pool: list[Scratch] = []

# Names of the plain dtypes as C text, and their addresses by dtype.
_names = {
    d: ctypes.create_string_buffer(d.str.encode())
    for c in "?bBhHiIlLqQefdFD"
    for d in (np.dtype(c), np.dtype(c).newbyteorder("S"))
}
_name_at = {d: ctypes.addressof(text) for d, text in _names.items()}

# The options that there can be.
_options = {
    (commit, sync, exclusive): write_options(commit, sync, exclusive)
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
        new = open_file(path, mode, format, attrs=attrs, commit=commit, sync=sync, trailing=trailing)
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
            new = open_file(path, mode, format, attrs=attrs, commit=commit, sync=sync, trailing=trailing)
            _save_frame(new, frame, dims, var_attrs, nulls, widths, storage)
            return
    try:
        options = _options[commit, sync, exclusive]
    except (KeyError, TypeError):
        options = write_options(commit, sync, exclusive)
    if trailing.__class__ is not bytes or trailing:
        options = write_options(commit, sync, exclusive, trailing)
    if not (chunks is None and compression is None and fill_value is None and expected_rows is None):
        storage = {
            "chunks": chunks,
            "compression": compression,
            "fill_value": fill_value,
            "expected_rows": expected_rows,
        }
        mode = "x" if exclusive else "w"
        new = open_file(path, mode, format, attrs=attrs, commit=commit, sync=sync, trailing=trailing)
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
    plain = format is None and attrs is None and dims is None and var_attrs is None and extra is None
    if plain and (repack(s, named) or pack_all(s, named)):
        if options is not s.options:
            s.options, s.args.options = options, ctypes.addressof(options)
        status = _ndf_save(raw_path, s.p_args, s.p_err)
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
        status = _ndf_save(raw_path, ctypes.byref(args), s.p_err)
        del keep
    error = failure(status, s.err, path) if status else None
    _pool.append(s)
    if error is not None:
        raise error


def _save_copy(new: File, source: Any, with_attrs: bool, items: Any, storage: dict[str, Any]) -> None:
    """Write what open files hold, with what belongs to it, to a file that is being created."""
    with new as file:
        if isinstance(source, File) and with_attrs:
            file.attrs.update(file_attrs(source.attrs, file._info().caps, file.path))
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


def repack(s: Scratch, arrays: Any) -> bool:
    """Pack the arrays of a file like those of the one before into a scratch; False for others."""
    series = s.series
    if series is None or arrays.__class__ is not dict or len(arrays) != len(series):
        return False
    for (name, array), (known, dtype, shape, packed) in zip(arrays.items(), series):
        if (
            array.__class__ is not _ndarray
            or name != known
            or array.dtype is not dtype
            or array.shape != shape
        ):
            return False
        packed[...] = array
    return True


def pack_all(s: Scratch, arrays: Any) -> bool:
    """Pack the arrays of a file into a scratch; False when there is no way."""
    series: list[Place] = []
    s.series = None
    if pack(s, arrays, 0, 0, series) is None:
        return False
    s.args.nitems = len(arrays)
    s.series = series
    return True


def pack(
    s: Scratch, arrays: Any, pos: int, item: int, series: list[Place] | None = None
) -> tuple[int, int] | None:
    """Pack arrays into a scratch, from byte pos and item `item` (in bytes) on: shape, data and name of each.

    Gives where the next ones may begin; None when the arrays are not small and plain, or there is no room.
    What `Scratch.series` has for each is added to series.
    """
    buf, address, items = s.buf, s.address, s.items
    if arrays.__class__ is not dict or item + len(arrays) * _ITEM > len(items):
        return None
    room = len(buf)
    for name, array in arrays.items():
        if array.__class__ is not _ndarray or name.__class__ is not str:
            return None
        dtype = array.dtype
        dtype_at = _name_at.get(dtype)
        size = array.nbytes
        if dtype_at is None or size > _LARGE or not name.isascii() or "\0" in name:
            return None
        shape = array.shape
        ndim = len(shape)
        data_at = pos + 8 * ndim
        name_at = data_at + size
        end = name_at + len(name) + 1
        if end > room:
            return None
        buf[pos:end] = INT64S[ndim](*shape) + array.tobytes() + name.encode() + b"\0"
        _item(items, item, _ITEM, ndim, address + name_at, dtype_at, address + pos, address + data_at)
        if series is not None:
            series.append((name, dtype, shape, _ndarray(shape, dtype, buf, data_at)))
        pos = (end + 7) & ~7
        item += _ITEM
    return pos, item
