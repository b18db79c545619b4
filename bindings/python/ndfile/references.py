"""References: files as Zarr for programs that know Zarr and nothing of this library, without a copy.

`references` makes what kerchunk makes: where in a file the elements of each array lie. fsspec shows a file in
this way under the name ``ndfile`` (known to it where the package is installed)::

    refs = ndfile.references.references("weather.ds")
    xarray.open_dataset(refs, engine="kerchunk")  # needs kerchunk
    fsspec.filesystem("ndfile", fo="weather.ds").cat("wind/.zarray")

`ReferenceFileSystem` needs fsspec.
"""

from __future__ import annotations

import base64
import json
import math
import os
from typing import Any

import numpy as np

from ._array import Array
from ._dtypes import VARIABLE
from ._errors import NotSupportedError
from ._lib import Path
from ._open import open as open_file

__all__ = ["references"]

_CHUNK = 1 << 26  # bytes of rows that one reference is for
_INLINE = 1 << 20  # bytes of an array whose elements stand in the references themselves


def references(path: Path, inline: int = _INLINE) -> dict[str, Any]:
    """Describe a file as a group of Zarr 2, its elements as ranges of the file.

    Parameters
    ----------
    path : path
        A file whose elements lie in it as they are in memory: ds, RawArray, npy.
    inline : int, default 1 MiB
        Most bytes of other arrays (texts, chunks, other byte orders), which are read now and stand in the
        result.

    Returns
    -------
    dict
        References in kerchunk's form (version 1), to be given to fsspec's ``reference`` file system or to be
        stored as JSON. They hold as long as the file does not change.

    Raises
    ------
    NotSupportedError
        Elements that are missing, for which Zarr has no place; a larger array than `inline` that does not
        lie in the file as it is in memory (a NotImplementedError).

    Examples
    --------
    >>> import ndfile, ndfile.references, numpy as np
    >>> ndfile.save("a.ra", np.arange(6.0).reshape(2, 3))
    >>> refs = ndfile.references.references("a.ra")["refs"]
    >>> refs["data/0.0"][1:], refs["data/.zattrs"]
    ([64, 48], '{"_ARRAY_DIMENSIONS": ["dim_0", "dim_1"]}')
    """
    refs: dict[str, Any] = {".zgroup": '{"zarr_format": 2}'}
    with open_file(path) as file:
        refs[".zattrs"] = json.dumps(dict(file.attrs) if file.kind != "array" else {})
        for name, array in file.items():
            if array.shape is None:
                continue
            dims = array.dims or [f"{'dim' if file.kind == 'array' else name}_{i}" for i in range(array.ndim)]
            _add(refs, name or "data", array, list(dims), inline)
    return {"version": 1, "refs": refs}


def _add(refs: dict[str, Any], name: str, array: Array, dims: list[str], inline: int) -> None:
    """Add the references of an array."""
    if array.masked and array.count() < array.size:
        raise NotSupportedError(f"{array._where}: elements are missing, and Zarr has no place for that")
    shape, place = list(array._extents()), _place(array)
    chunks = [max(1, n) for n in shape]
    if place is None:
        data = _read(array, inline)
        dtype = data.dtype
        refs[f"{name}/{_key(shape)}"] = "base64:" + base64.b64encode(data.tobytes()).decode("ascii")
    else:
        dtype = np.dtype(array.dtype)
        path, start = place
        row = dtype.itemsize * math.prod(shape[1:])
        if shape:
            chunks[0] = _rows(shape[0], _CHUNK // row)
        size = row * (chunks[0] if shape else 1)
        for i in range(shape[0] // chunks[0] if shape else 1):
            refs[f"{name}/{_key(shape, i)}"] = [path, start + i * size, size]
    refs[f"{name}/.zarray"] = json.dumps(
        {
            "zarr_format": 2,
            "shape": shape,
            "chunks": chunks,
            "dtype": dtype.str,
            "compressor": None,
            "filters": None,
            "fill_value": None,
            "order": "C",
        }
    )
    attrs = {} if array.file.kind == "array" and not array.attrs else dict(array.attrs)
    refs[f"{name}/.zattrs"] = json.dumps({**attrs, "_ARRAY_DIMENSIONS": dims})


def _key(shape: list[int], row: int = 0) -> str:
    return ".".join([str(row), *["0"] * (len(shape) - 1)])


def _rows(n: int, most: int) -> int:
    """Give how many rows are a chunk: a divisor of all, since what lies in the file has no padding."""
    for parts in range(max(1, -(-n // max(1, most))), min(n, 1 << 16) + 1):
        if n % parts == 0:
            return n // parts
    return n


def _place(array: Array) -> tuple[str, int] | None:
    """Give the file that the elements lie in as they are in memory, and the byte at which they begin.

    The kernel tells where in a file the memory of a map is.
    """
    if not array.size:
        return None
    try:
        view = array.map()
    except NotSupportedError:
        return None
    at = int(view.__array_interface__["data"][0])
    path = os.path.abspath(os.fsdecode(array.file.path))
    with open("/proc/self/maps") as maps:
        for line in maps:
            span, _, offset, _, inode, *_ = line.split(None, 5)
            first, end = (int(word, 16) for word in span.split("-"))
            if first <= at < end:
                same = int(inode) == os.stat(path).st_ino
                return (path, int(offset, 16) + at - first) if same else None
    return None


def _read(array: Array, inline: int) -> np.ndarray:
    """Read an array that stands in the references; texts become elements of one width."""
    if array.nbytes > inline:
        raise NotSupportedError(
            f"{array._where}: {array.nbytes} bytes do not lie in the file as they are in memory; copy to "
            "Zarr (ndfile.convert), or give inline="
        )
    data = np.asarray(array[...])
    if array.dtype_name in VARIABLE:
        data = data.astype("S" if array.dtype_name == "bytes" else "U")
    return np.ascontiguousarray(data)


try:
    from fsspec.implementations.reference import (  # type: ignore[import-untyped]
        ReferenceFileSystem as _Base,
    )
except ImportError:
    pass
else:

    class ReferenceFileSystem(_Base):  # type: ignore[misc]  # fsspec has no types
        """A file as a Zarr store, read only: ``fsspec.filesystem("ndfile", fo=path)``.

        Other options are those of fsspec's file system ``reference``.
        """

        protocol = "ndfile"

        def __init__(self, fo: Path, **options: Any) -> None:
            super().__init__(references(fo), **options)
