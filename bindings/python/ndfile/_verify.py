"""verify: check a file more thoroughly than by reading it. seal: write down what it is now."""

from __future__ import annotations

import ctypes
import os
from typing import NamedTuple

from . import _capi
from ._errors import BY_CODE, NdfileError
from ._lib import Path, call, decode, encode_name, encode_path, lib
from ._progress import Progress, Watch

_Report = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


class Problem(NamedTuple):
    """Something that `verify` has found.

    Attributes
    ----------
    error : type
        What it is: `CorruptError`, data cannot be read; `LossError`, something was lost already, such as rows
        of a torn append; `ValueNotRepresentableError`, what is stale or foreign.
    path : str
        The file that it lies in.
    array : str or None
        Name of the array.
    offset : int or None
        Byte position in the file.
    message : str
        What was expected and what was found.
    repair : str or None
        What a repair does about it; None: nothing certain can be done.
    repaired : bool
        It has been done.
    class_ : str
        ``"damage"``: data cannot be read, were lost, or are not counted where they should be; ``"stale"``:
        harmless leftovers of a writer that was stopped; ``"foreign"``: something that is no part of the
        format.
    """

    error: type[NdfileError]
    path: str
    array: str | None
    offset: int | None
    message: str
    repair: str | None
    repaired: bool
    class_: str = "damage"


_CLASSES = ("damage", "stale", "foreign")


def verify(
    path: Path,
    format: str | None = None,
    *,
    repair: bool = False,
    undo: bool = False,
    sealed: bool = False,
    follow_symlinks: bool = False,
    progress: Progress = None,
) -> list[Problem]:
    """Check a file: every chunk, and what the metadata say against what there is.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        The file or folder.
    format : str, optional
        Name of the format, see `formats`. Default: by content.
    repair : bool, default False
        Do what is certain about the problems that are found. Nobody else should have the file open. Nothing
        is deleted: what is taken away or written anew is kept in a new folder beside the store,
        PATH.ndf-removed-N.
    undo : bool, default False
        Give back what the last repair took away, and verify nothing. The problems that are returned are the
        files that are as they were before.
    sealed : bool, default False
        Compare all files with what `seal` has written, and nothing else: what was changed, is missing or was
        added since. Elements are not decoded.
    follow_symlinks : bool, default False
        As for `open`.
    progress : bool or callable, optional
        As for `read_many`, with the numbers of chunks or blocks.

    Returns
    -------
    list of Problem
        Empty: nothing is wrong.

    Raises
    ------
    NdfileError
        Checking could not go on, since the metadata cannot be read for example. `NotFoundError`, if there is
        no repair to undo, or no seal; `ExistsError`, if something was changed since the repair: nothing is
        undone.
    KeyboardInterrupt
        Ctrl-C ends the call promptly.

    Examples
    --------
    >>> import ndfile
    >>> ndfile.save("verify.ds", {"x": [1, 2, 3]})
    >>> ndfile.verify("verify.ds")
    []
    """
    found: list[Problem] = []

    def report(_user: int, at: int) -> int:
        found.append(_problem(_capi.ndf_problem.from_address(at)))
        return watch.canceled

    name = None if format is None else encode_name(format)
    callback = _Report(report)
    with Watch(progress) as watch:
        options = _capi.ndf_verify_options()
        options.struct_size = ctypes.sizeof(options)
        options.repair, options.undo, options.sealed = bool(repair), bool(undo), bool(sealed)
        options.follow_symlinks = bool(follow_symlinks)
        options.format, options.progress = name, watch.callback
        n = ctypes.c_int64()
        places = ctypes.addressof(options), ctypes.cast(callback, ctypes.c_void_p), None, ctypes.addressof(n)
        call(path, lib.ndf_verify, encode_path(path), *places)
    return found


def seal(path: Path, *, follow_symlinks: bool = False, progress: Progress = None) -> int:
    """Write the SHA-256 of every file of a store, or of one file, to PATH.ndf-seal beside it.

    ``verify(path, sealed=True)`` compares: it finds what nothing else can, values that changed silently. The
    seal is a text that ``sha256sum -c`` understands. A change of the store does not change its seal: seal it
    again.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        The file or folder, of any format or none. Nobody should write to it meanwhile.
    follow_symlinks : bool, default False
        Seal what symbolic links in a folder lead to. Otherwise they are refused.
    progress : bool or callable, optional
        As for `read_many`, with the number of bytes.

    Returns
    -------
    int
        The number of files. Those with temporary names are left out.

    Raises
    ------
    NdfileError
        A file cannot be read, or the seal not be written: the old one stays.
    KeyboardInterrupt
        Ctrl-C ends the call promptly.

    Examples
    --------
    >>> import ndfile
    >>> ndfile.save("seal.ds", {"x": [1, 2, 3]})
    >>> ndfile.seal("seal.ds")
    1
    >>> ndfile.verify("seal.ds", sealed=True)
    []
    """
    with Watch(progress) as watch:
        options = _capi.ndf_verify_options()
        options.struct_size = ctypes.sizeof(options)
        options.follow_symlinks, options.progress = bool(follow_symlinks), watch.callback
        n = ctypes.c_int64()
        call(path, lib.ndf_seal, encode_path(path), ctypes.addressof(options), ctypes.addressof(n))
    return n.value


def _problem(p: ctypes.Structure) -> Problem:
    return Problem(
        BY_CODE.get(p.code, NdfileError),
        os.fsdecode(p.path),
        None if p.array is None else decode(p.array),
        p.offset if p.offset >= 0 else None,
        p.message.decode("utf-8", "replace"),
        None if p.repair is None else p.repair.decode("utf-8", "replace"),
        bool(p.repaired),
        _CLASSES[p.problem_class],
    )
