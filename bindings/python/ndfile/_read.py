"""read: a whole file in one call of the library.

It is made for many small files. Files of a series are alike. The library gives each series a number: the
arrays of a known one are copied from their places in the scratch, without a look at the infos.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import IO, Any, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from . import _capi
from ._attrs import from_json
from ._decoded import DecodedFile
from ._errors import (
    ArgumentError,
    DTypeError,
    NameNotFoundError,
    NdfileError,
    NoDataError,
    NoMemoryError,
    failure,
)
from ._lib import Path, decode, encode_name, encode_path
from ._load import _INFO, _SINGLE, _places, _pool, _Scratch, gather, take
from ._names import unknown
from ._open import open as open_file
from ._progress import interruptible
from ._stream import as_path, is_stream

_META = _capi.NDF_LOAD_META


_Out = TypeVar("_Out", bound="np.ndarray[Any, Any]")


@overload
def read(
    path: Path | IO[bytes],
    name: str,
    *,
    out: None = None,
    dtype: npt.DTypeLike | None = None,
    format: str | None = None,
    metadata: Literal[False] = False,
    decode: bool = False,
    default_fill: bool = False,
) -> npt.NDArray[Any]: ...
@overload
def read(
    path: Path | IO[bytes],
    name: str | None = None,
    *,
    out: _Out,
    dtype: None = None,
    format: str | None = None,
    metadata: Literal[False] = False,
    decode: Literal[False] = False,
    default_fill: bool = False,
) -> _Out: ...
@overload
def read(
    path: Path | IO[bytes],
    name: list[str] | tuple[str, ...],
    *,
    out: None = None,
    dtype: None = None,
    format: str | None = None,
    metadata: Literal[False] = False,
    decode: bool = False,
    default_fill: bool = False,
) -> dict[str, npt.NDArray[Any]]: ...
@overload
def read(
    path: Path | IO[bytes],
    name: None = None,
    *,
    out: None = None,
    dtype: npt.DTypeLike | None = None,
    format: str | None = None,
    metadata: Literal[False] = False,
    decode: bool = False,
    default_fill: bool = False,
) -> Any: ...
@overload
def read(
    path: Path | IO[bytes],
    name: str | list[str] | tuple[str, ...] | None = None,
    *,
    out: np.ndarray | None = None,
    dtype: npt.DTypeLike | None = None,
    format: str | None = None,
    metadata: Literal[True],
    decode: bool = False,
    default_fill: bool = False,
) -> tuple[Any, dict[str, Any]]: ...
def read(
    path: Any,
    name: Any = None,
    *,
    out: np.ndarray | None = None,
    dtype: Any = None,
    format: str | None = None,
    metadata: bool = False,
    decode: bool = False,
    default_fill: bool = False,
) -> Any:
    """Read a file, or one array of it.

    Parameters
    ----------
    path : str, bytes, os.PathLike or a stream
        The file or folder, or an object with a method ``read``: a pipe, a socket's ``makefile("rb")``, an
        `io.BytesIO`. Of a stream one RawArray file is taken exactly, or everything to the end.
    name : str, or list of str, optional
        Name of the one array to read, or of several. Default: all.
    out : numpy.ndarray, optional
        Memory for the one array (by name, or of a single-array file), as in `Array.read`. Using touched
        memory again is faster than fresh memory for large arrays.
    dtype : optional
        What `numpy.dtype` takes, for one array of bytes without a meaning (``V12``): what they stand for, a
        structured dtype for example. It must have their size.
    format : str, optional
        Name of the format, see `formats`. Default: found by the content.
    metadata : bool, default False
        Give the metadata too, as a second result: a dict with the names and in the form that `save` takes:
        ``attrs`` of the file, ``dims`` and ``var_attrs`` by array; of a single-array file ``dims`` is the
        tuple itself, or None. What has no names of axes, or no attributes, is left out.
    decode : bool, default False
        Give values, masks and dates as the attributes say, see `DecodedFile`, instead of elements as they are
        stored; with `metadata` the attributes that are left. Not with `out` or `dtype`.
    default_fill : bool, default False
        Take what NetCDF fills elements with that were never written for missing, as for `open`.

    Returns
    -------
    numpy.ndarray or dict of str to numpy.ndarray, with `metadata` a pair
        With one `name`, and for single-array files, the array (`out`, where given); else a dict in file
        order, with several names in their order.
        Arrays are writable, row-major and in native byte order; those stored with a mask are
        `numpy.ma.MaskedArray`, with zero or an empty text under the mask. Texts are object arrays of `str`,
        byte strings of `bytes`. Scalars are arrays without axes. A variable without data is None in the
        dict, as in ds-format.

        The arrays of one dict may share one block of memory of their own; copy one to keep it without the
        rest.

    Raises
    ------
    NotFoundError
        No such file (a FileNotFoundError).
    FormatError, CorruptError
        The file is of no known format, or damaged (ValueErrors).
    NameNotFoundError
        No array of that name (a KeyError).
    NoDataError
        The array `name` has no data (a ValueError).

    Notes
    -----
    May be called by several threads at once; the GIL is released while the library works.

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> ndfile.save("read.ds", {"t": np.arange(3.0), "n": np.int16(7)})
    >>> ndfile.read("read.ds")
    {'n': array(7, dtype=int16), 't': array([0., 1., 2.])}
    >>> ndfile.read("read.ds", "t")
    array([0., 1., 2.])
    >>> values, rest = ndfile.read("read.ds", metadata=True)
    >>> ndfile.save("copy.ds", values, **rest)
    """
    if (
        decode
        or out is not None
        or dtype is not None
        or format is not None
        or default_fill
        or name.__class__ in (list, tuple)
    ):
        return _read_as(path, name, out, dtype, format, metadata, decode, default_fill)
    if path.__class__ is str and path.isascii() and "\0" not in path:
        raw_path = path.encode()
    elif is_stream(path):
        return _read_as(path, name, out, dtype, format, metadata, decode, default_fill)
    else:
        raw_path = encode_path(path)
    raw_name = None if name is None else encode_name(name)
    s = take()
    text = ""
    if s.load(raw_path, raw_name, _META if metadata else 0):
        large = _load_large(path, raw_path, s)
        arrays, flags = gather(large.buf, large.infos, range(0, large.args.ninfos * _INFO, _INFO))
        if metadata:
            text = large.text()
    else:
        if metadata:
            text = s.text()
        if s.args.series == s.series:
            arrays, flags = {key: copy() for key, copy in s.copies}, 0
        else:
            # A block of memory for these arrays only, which they keep alive.
            arrays, flags = gather(s.buf[: s.args.need], s.infos, _places[: s.args.ninfos])
            s.learn()
        _pool.append(s)
    if metadata:
        return result(path, name, arrays, flags), described(path, text, arrays, flags)
    return result(path, name, arrays, flags)


def described(path: Path, text: str, names: Iterable[str], flags: int = 0) -> dict[str, Any]:
    """Decode the metadata of arrays into what `save` takes."""
    attrs, *each = from_json(text, path)
    dims: Any = {}
    var_attrs = {}
    for name, meta in zip(names, each):
        if "dims" in meta:
            dims[name] = tuple(meta["dims"])
        if meta["attrs"]:
            var_attrs[name] = meta["attrs"]
    if flags & _SINGLE:
        dims = dims.get("")
    return {"attrs": attrs, "dims": dims, "var_attrs": var_attrs}


def result(path: Path, name: str | None, arrays: dict[str, Any], flags: int) -> Any:
    """Give what reading a path results in: the dict, or the one array."""
    if name is None and not flags & _SINGLE:
        return arrays
    (array,) = arrays.values()
    if array is None:
        raise NoDataError(f"{path!s}: array {name!r}: the array has metadata but no data", path=path)
    return array


def _load_large(path: Path, raw_path: bytes, s: _Scratch) -> _Scratch:
    """Go on after a call that failed: with a scratch of the size that it wants, or its error."""
    pooled = s
    status = s.err.code
    try:
        while status == _capi.NDF_ERR_BUFFER:  # again where the file has grown meanwhile
            try:
                room = np.empty(max(s.args.need, 1), np.uint8)
            except MemoryError:
                raise _too_large(path, pooled.name, s.args.need) from None
            s = _Scratch(room.data, s.args.ninfos)
            with interruptible(room.nbytes):
                status = s.load(raw_path, pooled.name, pooled.flags)
        if status:
            raise with_names(failure(status, s.err, path), path, pooled.name)
    finally:
        _pool.append(pooled)
    return s


def _too_large(path: Path, name: bytes | None, need: int) -> NoMemoryError:
    """Make the error of a file that is too large for memory: it names the largest array."""
    message = f"{os.fsdecode(path)}: "
    with open_file(path) as file:
        names = list(file) if name is None else [decode(name)]
        sizes = {n: math.prod(file[n].shape) * file[n].dtype.itemsize for n in names if file[n].shape}
        if sizes:
            largest = max(sizes, key=sizes.__getitem__)
            where = f"array {largest!r}: " if largest else ""
            message += f"{where}elements of shape {file[largest].shape}, {sizes[largest]} bytes: "
    message += f"no memory for {need} bytes, all that is asked for; open the file and read it in parts, "
    return NoMemoryError(message + "if the shapes are right", path=path)


def with_names(error: NdfileError, path: Path, name: bytes | None) -> NdfileError:
    """Add to the error of an unknown name which names there are."""
    if isinstance(error, NameNotFoundError) and name is not None:
        with open_file(path) as file:
            message = f"{os.fsdecode(path)}: {unknown(decode(name), list(file.keys()))}"
        return NameNotFoundError(message, path=path)
    return error


def _read_as(
    path: Any,
    name: Any,
    out: np.ndarray | None,
    dtype: Any,
    format: str | None,
    metadata: bool,
    decode: bool,
    default_fill: bool,
) -> Any:
    """Read a stream, a format by its name, decoded, or one array into memory or as a dtype given."""
    if decode and (out is not None or dtype is not None):
        raise ArgumentError("decode: not with out or dtype")
    if out is not None and dtype is not None:
        raise ArgumentError("out and dtype: only one of them can be given")
    if is_stream(path):
        with as_path(path, format) as place:
            again: Any = read
            options = {"metadata": metadata, "decode": decode, "default_fill": default_fill}
            return again(place, name, out=out, dtype=dtype, format=format, **options)
    with open_file(path, format=format, default_fill=default_fill) as opened:
        file = DecodedFile(opened) if decode else opened
        values = _read_from(file, path, name, out, dtype)
        if not metadata:
            return values
        names = file if name is None else [name] if isinstance(name, str) else name
        dims: Any = {key: d for key in names if (d := file[key].dims) is not None}
        return values, {
            "attrs": dict(file.attrs),
            "dims": dims.get("") if file.kind == "array" else dims,
            "var_attrs": {key: dict(a) for key in names if (a := file[key].attrs)},
        }


def _read_from(file: Any, path: Any, name: Any, out: np.ndarray | None, dtype: Any) -> Any:
    """Read an open file for `_read_as`."""
    if isinstance(name, (list, tuple)):
        if out is not None or dtype is not None:
            raise ArgumentError("out and dtype: only for one array")
        return {key: file[key].read() for key in name}
    if out is None and dtype is None:
        if file.kind == "array" or name is not None:
            return (file.array if name is None else file[name]).read()
        return {key: v.read() if v.has_data else None for key, v in file.items()}
    if name is None and file.kind != "array":
        raise ArgumentError(f"{path!s}: a {file.kind} needs the name of one array", path=path)
    array = file.array if name is None else file[name]
    if out is not None:
        return array.read(out=out)
    found, wanted = array.dtype, np.dtype(dtype)
    if found == wanted:
        return array.read()
    if found.kind != "V" or found.names or found.itemsize != wanted.itemsize:
        raise DTypeError(f"{array._where}: cannot take {array.dtype_name} for {wanted}", path=path)
    return array.read().view(wanted)
