"""What there is: formats, and what a file holds, without reading data."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from . import _capi
from ._lib import Path, call, encode_path, lib, text
from ._opening import About, Reading, close_handle, open_reading
from ._spec import Compression
from ._tree import Description, Metadata, Tree

_READING = Reading()
_AT_ONCE = _capi.NDF_LOAD_META | _capi.NDF_LOAD_BARE | _capi.NDF_LOAD_ONCE

_CAPS = {
    value: name[len("NDF_CAP_") :].lower().replace("_", "-")
    for name, value in vars(_capi).items()
    if name.startswith("NDF_CAP_")
}


def formats() -> list[dict[str, Any]]:
    """List the formats of the library.

    Returns
    -------
    list of dict
        ``name`` (what ``format=`` takes), ``extensions`` (tuple, the usual one first) and ``caps``: a tuple
        of words for what the format can do (``"create"``, ``"update"``, ``"masked"``, ``"strings"``, ...).

    Examples
    --------
    >>> import ndfile
    >>> [f["extensions"] for f in ndfile.formats() if f["name"] == "ds"]
    [('.ds',)]
    """
    count = ctypes.c_int32()
    call(None, lib.ndf_format_count, ctypes.addressof(count))
    result = []
    for i in range(count.value):
        info = _capi.ndf_format_info()
        info.struct_size = ctypes.sizeof(info)
        call(None, lib.ndf_format_get_info, i, ctypes.addressof(info))
        caps = tuple(word for bit, word in sorted(_CAPS.items()) if info.caps & bit)
        extensions = tuple(info.extensions.decode().split())
        result.append({"name": info.name.decode(), "extensions": extensions, "caps": caps})
    return result


def detect(path: Path) -> str:
    """Find the format of a file or folder by its content.

    Returns
    -------
    str
        The name of the format.

    Raises
    ------
    FormatError
        No format recognises it (a ValueError).
    NotFoundError
        Nothing is there (a FileNotFoundError).

    Examples
    --------
    >>> import ndfile
    >>> ndfile.save("detect.ds", {"x": 1})
    >>> ndfile.detect("detect.ds")
    'ds'
    """
    return text(path, lib.ndf_detect, encode_path(path))


def info(path: Path) -> dict[str, Any]:
    """Describe a file without reading data.

    Returns
    -------
    dict
        ``format``, ``kind``, ``nrows`` (of a table, else None), ``attrs`` (dict) and ``arrays``: by name, in
        file order, dicts of ``dtype`` (name of the dtype as stored), ``shape`` (tuple; None: no data),
        ``dims``, ``chunks`` and ``compression`` (tuples or None), ``masked`` and ``attrs``.

    Raises
    ------
    NotFoundError, FormatError, CorruptError
        As `open`.

    Examples
    --------
    >>> import ndfile
    >>> ndfile.save("info.ds", {"x": [1.5, 2.5]}, dims={"x": ["time"]}, var_attrs={"x": {"units": "m"}})
    >>> x = ndfile.info("info.ds")["arrays"]["x"]
    >>> x["dtype"], x["shape"], x["dims"], x["attrs"]
    ('<f8', (2,), ('time',), {'units': 'm'})
    """
    handle, about, part = open_reading(path, None, _READING, _AT_ONCE)
    if not handle:
        attrs, *metadata = Metadata(part.meta, 0, path).decode()
        named: Any = zip(*part.descriptions(None), metadata)
        return _described(about, attrs, {name: _array(*found) for name, *found in named})
    try:
        tree = Tree(handle, os.fsdecode(path), about.caps, about.narrays, part)
        arrays = {name: _array(*found) for name, found in tree.all(handle)}
        return _described(about, tree.file_attrs(handle), arrays)
    finally:
        close_handle(path, handle)


def _described(about: About, attrs: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """Give what `info` gives."""
    return {
        "format": about.format,
        "kind": about.kind,
        "nrows": about.nrows,
        "attrs": attrs,
        "arrays": arrays,
    }


def _array(description: Description, meta: dict[str, Any]) -> dict[str, Any]:
    """Describe one array."""
    get = meta.get
    dims, chunks, compression = get("dims"), get("chunks"), get("compression")
    return {
        "dtype": description[0],
        "shape": description[2],
        "dims": None if dims is None else tuple(dims),
        "chunks": None if chunks is None else tuple(chunks),
        "compression": None if compression is None else Compression(*compression),
        "masked": description[3],
        "attrs": meta["attrs"],
    }
