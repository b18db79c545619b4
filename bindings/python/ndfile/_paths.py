"""Which files a caller means: lists of paths, patterns, folders."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable

from ._errors import FormatError, NotFoundError
from ._info import detect, formats
from ._lib import Path


def listed(paths: Path | Iterable[Path]) -> list[Path]:
    """List the files that are meant.

    An iterable of paths is taken as it is. A path with ``*``, ``?`` or ``[`` in it is a pattern (``**`` for
    folders of any depth), a folder that is no store stands for the files in it that have an extension of a
    format, both in the order of their names. Any other path is the one file.

    Raises
    ------
    NotFoundError
        Nothing matches the pattern, or the folder holds no such file.
    """
    if not isinstance(paths, (str, bytes, os.PathLike)):
        return list(paths)
    text = os.fsdecode(paths)
    if os.path.isdir(text):
        try:
            detect(text)
        except FormatError:
            return _in_folder(text)
        return [paths]
    if glob.has_magic(text) and not os.path.lexists(text):
        found = sorted(glob.glob(text, recursive=True))
        if not found:
            raise NotFoundError(f"{text}: nothing matches this pattern", path=paths)
        return list(found)
    return [paths]


def _in_folder(folder: str) -> list[Path]:
    endings = tuple(ending for format in formats() for ending in format["extensions"])
    found = sorted(name for name in os.listdir(folder) if name.endswith(endings) and name[0] != ".")
    if not found:
        raise NotFoundError(f"{folder}: the folder holds no file of a known extension", path=folder)
    return [os.path.join(folder, name) for name in found]
