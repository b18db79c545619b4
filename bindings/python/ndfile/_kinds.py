"""open_table, open_array, open_dataset: open for whoever knows what a file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._array import Array
from ._errors import ArgumentError
from ._file import File
from ._lib import Path
from ._open import open as open_file
from ._table import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._open import Options


def open_table(path: Path, mode: str = "r", format: str | None = None, **options: Unpack[Options]) -> Table:
    """Open or create a table, as `open`; the type says that it is one.

    Raises
    ------
    ArgumentError
        The file holds something else, or the format of a new one has no tables (a ValueError).

    Examples
    --------
    >>> import ndfile
    >>> with ndfile.open_table("kinds.bcolz", "w") as t:
    ...     t.append({"x": [1, 2]})
    >>> with ndfile.open_table("kinds.bcolz") as t:
    ...     print(t.nrows)
    2
    """
    file = open_file(path, mode, format, **options)
    if isinstance(file, Table):
        return file
    raise _other(file, "a table")


def open_dataset(path: Path, mode: str = "r", format: str | None = None, **options: Unpack[Options]) -> File:
    """Open or create a dataset, as `open`: a file of arrays by name.

    Raises
    ------
    ArgumentError
        The file holds something else, or the format of a new one has no datasets (a ValueError).
    """
    file = open_file(path, mode, format, **options)
    if file.kind == "dataset":
        return file
    raise _other(file, "a dataset")


def open_array(
    path: Path,
    mode: str = "r",
    format: str | None = None,
    *,
    shape: Any = None,
    dtype: Any = None,
    **options: Any,
) -> Array:
    """Open the array of a file that holds one, or create such a file.

    Parameters
    ----------
    path, mode, format
        As for `open`.
    shape, dtype
        Of a new array.
    **options
        What `open` takes besides; for a new array also what `File.create` takes: ``chunks``, ``compression``,
        ``fill_value``, ...

    Returns
    -------
    Array
        In a ``with`` statement it closes its file at the end; else ``v.file.close()`` does.

    Raises
    ------
    ArgumentError
        The file holds several arrays; or `shape` and `dtype` are missing, or not wanted (a ValueError).

    Examples
    --------
    >>> import ndfile
    >>> with ndfile.open_array("kinds.npy", "w", shape=(2, 3), dtype="f4") as v:
    ...     v[...] = 1
    >>> with ndfile.open_array("kinds.npy") as v:
    ...     print(v.shape, v.sum())
    (2, 3) 6.0
    """
    known = {name: options.pop(name) for name in list(options) if name in _OF_OPEN}
    file = open_file(path, mode, format, **known)
    try:
        if file.mode in ("w", "x"):
            if shape is None or dtype is None:
                raise ArgumentError(f"{file.path}: a new array needs shape and dtype")
            return file.create("", shape, dtype, **options)
        if mode != "a" and (options or shape is not None or dtype is not None):
            raise ArgumentError(f"{file.path}: shape, dtype and how to store are for new arrays")
        return file.array
    except BaseException:
        _give_up(file)
        raise


_OF_OPEN = frozenset(
    (
        "attrs",
        "commit",
        "sync",
        "trailing",
        "follow_symlinks",
        "default_fill",
        "shared",
        "timeout",
        "require_lock",
    )
)


def _other(file: File, wanted: str) -> ArgumentError:
    """Close a file that is none of the kind that is wanted; give the error."""
    _give_up(file)
    return ArgumentError(
        f"{file.path}: expected {wanted}, found: {file.kind} ({file.format})", path=file.path
    )


def _give_up(file: File) -> None:
    if file.mode in ("w", "x"):
        file.abort()
    else:
        file.close()
