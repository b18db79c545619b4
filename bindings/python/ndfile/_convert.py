"""convert, split, concat: whole stores to other stores, without taking them through Python."""

from __future__ import annotations

import ctypes
import json
import operator
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from . import _capi
from ._errors import failure
from ._lib import Path, call, encode_name, encode_path, lib
from ._opening import write_options
from ._progress import Progress, Watch


class Loss(NamedTuple):
    """Something that `convert` could not carry over.

    Attributes
    ----------
    array : str
        Name of the array; ``""`` for what belongs to the file, and in single-array files.
    what : str
        ``"data"`` (the whole array), ``"dtype"`` (values stay, in another type), ``"mask"``, ``"dims"``,
        ``"attributes"``, ``"file attributes"`` or ``"trailing bytes"``; ``"default fill"`` are elements
        that were never written and become data.
    why : str
        Why, in one line.
    """

    array: str
    what: str
    why: str


def convert(
    src: Path,
    dst: Path,
    format: str | None = None,
    *,
    from_format: str | None = None,
    name: str | None = None,
    allow_loss: bool = False,
    check: bool = True,
    overwrite: bool = False,
    follow_symlinks: bool = False,
    default_fill: bool = False,
    commit: str = "atomic",
    sync: bool = False,
    shard_size: int | None = None,
    progress: Progress = None,
) -> list[Loss]:
    """Write what a file holds in another format.

    What memory it takes does not depend on the size of the file. Compressed chunks are copied as they are
    where both formats allow it, also into shards and out of them. A single array becomes ``data`` in a format
    of named arrays.

    Parameters
    ----------
    src : str, bytes or os.PathLike
        The file or folder to convert.
    dst : str, bytes or os.PathLike
        The new one; `src` itself migrates a zarr0 or zarr2 store in place.
    format : str, optional
        Name of the format of `dst`, see `formats`. Default: by its extension.
    from_format : str, optional
        Name of the format of `src`. Default: by content.
    name : str, optional
        The only array to convert; needed where a format of single arrays shall take one of several.
    allow_loss : bool, default False
        Convert also when something cannot be carried over, such as attributes.
    check : bool, default True
        Read the result back and compare it.
    overwrite : bool, default False
        Replace what stands at `dst`.
    follow_symlinks, default_fill : bool, default False
        As for `open`, of `src`.
    commit, sync
        As for `save`.
    shard_size : int, optional
        As many chunks make a shard of zarr3 as take about so many bytes decoded; 0: no shards. Default: as in
        `src`.
    progress : bool or callable, optional
        As for `read_many`, with bytes of elements.

    Returns
    -------
    list of Loss
        What has not been carried over; empty without `allow_loss`.

    Raises
    ------
    LossError
        Something would be lost (a ValueError). Nothing is written.
    ExistsError
        `dst` exists (a FileExistsError).
    KeyboardInterrupt
        Ctrl-C ends the call promptly, and leaves nothing of `dst`.

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> ndfile.save("convert.ra", np.arange(3.0))
    >>> ndfile.convert("convert.ra", "convert.ds")
    []
    >>> ndfile.read("convert.ds")
    {'data': array([0., 1., 2.])}
    """
    options = _capi.ndf_convert_options()
    options.struct_size = ctypes.sizeof(options)
    options.no_check, options.overwrite = not check, bool(overwrite)
    options.follow_symlinks, options.default_fill = bool(follow_symlinks), bool(default_fill)
    if shard_size is not None:
        options.shard_size = operator.index(shard_size) or -1
    how = write_options(commit, sync)
    options.commit, options.sync = how.commit, how.sync
    for field, given in (("from", from_format), ("to", format), ("name", name)):
        setattr(options, field, None if given is None else encode_name(given))
    err, room = _capi.ndf_error(), ctypes.c_int64(1 << 14)
    with Watch(progress) as watch:
        options.progress = watch.callback
        while True:
            losses = ctypes.create_string_buffer(room.value)
            places = map(ctypes.addressof, (options, losses, room, err))
            status = lib.ndf_convert(encode_path(src), encode_path(dst), *places)
            if status != _capi.NDF_ERR_LOSS or not allow_loss or options.allow_loss:
                break
            options.allow_loss = True  # nothing is written yet, and now there is room for all losses
            room.value += 1
    if status:
        raise failure(status, err, src)
    return [Loss(**loss) for loss in json.loads(losses.value)]


def split(
    src: Path,
    parts: Mapping[Path, int] | Iterable[tuple[Path, int]],
    format: str | None = None,
    *,
    follow_symlinks: bool = False,
    commit: str = "atomic",
    sync: bool = False,
    exclusive: bool = False,
) -> None:
    """Cut a store along the first axis into several; files of chunks are copied as they are.

    For formats with ``"split"`` in `formats`. Attributes go into every part.

    Parameters
    ----------
    src : str, bytes or os.PathLike
        The store.
    parts : mapping of path to int, or iterable of (path, int)
        The new stores and how many rows go there, in order: all of them. Every part but the last ends between
        chunks, of all columns of a table.
    format : str, optional
        Name of the format, see `formats`. Default: by content.
    follow_symlinks : bool, default False
        As for `open`.
    commit, sync, exclusive
        As for `save`.

    Raises
    ------
    ShapeError
        The parts do not hold all rows, or one does not end between chunks: the message names the nearest rows
        that do (a ValueError).

    Examples
    --------
    >>> import ndfile, numpy as np
    >>> ndfile.save("year.bcolz", np.arange(10), chunks=4)
    >>> ndfile.split("year.bcolz", {"first.bcolz": 8, "last.bcolz": 2})
    >>> ndfile.read("last.bcolz")
    array([8, 9])
    >>> ndfile.concat(["first.bcolz", "last.bcolz"], "again.bcolz")
    >>> len(ndfile.read("again.bcolz"))
    10
    """
    given: Any = parts.items() if isinstance(parts, Mapping) else parts
    listed: list[tuple[Path, int]] = list(given)
    cut = (_capi.ndf_part * len(listed))()
    for part, (path, rows) in zip(cut, listed):
        part.struct_size = ctypes.sizeof(part)
        part.path, part.nrows = encode_path(path), operator.index(rows)
    options = _split_options(format, follow_symlinks, commit, sync, exclusive)
    places = ctypes.addressof(cut), len(cut), ctypes.addressof(options)
    call(src, lib.ndf_split, encode_path(src), *places)


def concat(
    srcs: Iterable[Path],
    dst: Path,
    format: str | None = None,
    *,
    follow_symlinks: bool = False,
    commit: str = "atomic",
    sync: bool = False,
    exclusive: bool = False,
) -> None:
    """Join stores to one, along the first axis; files of chunks are copied as they are.

    Names, dtypes, chunks and the shape of rows must be the same; every store but the last must end between
    chunks, as `split` makes them. Attributes are those of the first.

    Parameters
    ----------
    srcs : iterable of path
        The stores, in order.
    dst : str, bytes or os.PathLike
        The new one.
    format, follow_symlinks, commit, sync, exclusive
        As for `split`.

    Raises
    ------
    ShapeError, DTypeError
        The stores do not fit together (a ValueError, a TypeError).
    """
    listed = [encode_path(path) for path in srcs]
    paths = (ctypes.c_char_p * len(listed))(*listed)
    options = _split_options(format, follow_symlinks, commit, sync, exclusive)
    places = ctypes.addressof(paths), len(paths), encode_path(dst), ctypes.addressof(options)
    call(dst, lib.ndf_concat, *places)


def _split_options(
    format: str | None, follow_symlinks: bool, commit: str, sync: bool, exclusive: bool
) -> ctypes.Structure:
    options = _capi.ndf_split_options()
    options.struct_size = ctypes.sizeof(options)
    options.format = None if format is None else encode_name(format)
    options.follow_symlinks = bool(follow_symlinks)
    how = write_options(commit, sync, exclusive)
    options.commit, options.sync, options.exclusive = how.commit, how.sync, how.exclusive
    return options
