"""Many small files at once that are alike: plain arrays of the same names, dtypes and numbers of axes.

What Python does for one file after the other would take as long as the library does. Here NumPy makes and
reads what describes the arrays of all files. All functions give None for files that are not alike.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from . import _capi
from ._elements import address
from ._errors import NdfileError
from ._lib import encode_name
from ._load import _SINGLE, _SPECIAL, _name, _plain
from ._pack import LARGE as _LARGE
from ._pack import name_at as _name_at

_MOST = 1 << 26  # bytes of arrays that are copied
_LONGEST = 255  # bytes of a name


def _layout(struct: Any, **formats: str) -> np.dtype:
    """Give the dtype of a C struct, with those of its fields that are named."""
    return np.dtype(
        {
            "names": list(formats),
            "formats": list(formats.values()),
            "offsets": [getattr(struct, name).offset for name in formats],
            "itemsize": ctypes.sizeof(struct),
        }
    )


RESULT = _layout(_capi.ndf_load_result, struct_size="u4", status="i4", first_info="i8", ninfos="i8")
INFO = _layout(
    _capi.ndf_load_info,
    struct_size="u4",
    ndim="i4",
    flags="u4",
    count="i8",
    name_offset="i8",
    name_len="i8",
    data_offset="i8",
    dtype="u4",  # its first four bytes
    shape=f"{_capi.NDF_MAX_NDIM}i8",
)
FILE = _layout(
    _capi.ndf_save_file, struct_size="u4", path="u8", format="u8", items="u8", nitems="i8", attrs_json="u8"
)
_ITEM = _layout(_capi.ndf_item, struct_size="u4", ndim="i4", name="u8", dtype="u8", shape="u8", data="u8")

_ndarray = np.ndarray
_dtype, _shape = attrgetter("dtype"), attrgetter("shape")


def unpack(block: memoryview, infos: np.ndarray, results: np.ndarray, name: str | None) -> list[Any] | None:
    """Give for each file its arrays, as `read` does: a dict, or the one array."""
    counts, first = results["ninfos"], results["first_info"]
    if (counts != counts[:1]).any():
        return None
    values: list[Any] = [{} for _ in first]
    for k in range(max(counts[:1], default=0)):
        column = _column(block, infos, first + k)
        if column is None:
            return None
        found, arrays, single = column
        if single or name is not None:
            return arrays
        for value, array in zip(values, arrays):
            value[found] = array
    return values


def _column(
    block: memoryview, infos: np.ndarray, places: np.ndarray
) -> tuple[str, list[np.ndarray], bool] | None:
    """Give name, arrays and kind of one variable of all files."""
    fields = [infos[field][places] for field in ("ndim", "flags", "name_len", "dtype")]
    ndim, flags, length, code = (int(field[0]) for field in fields)
    dtype = _plain.get(code)
    if any((field != field[0]).any() for field in fields):
        return None
    if dtype is None or flags & _SPECIAL or length > _LONGEST:
        return None
    names = np.frombuffer(block, np.uint8)[infos["name_offset"][places][:, None] + np.arange(length)]
    if (names != names[0]).any():
        return None
    shapes: Iterable[Any] = infos["count"][places].tolist()
    if ndim != 1:
        shapes = map(tuple, infos["shape"][places, :ndim].tolist())
    offsets = infos["data_offset"][places].tolist()
    arrays = [_ndarray(shape, dtype, block, at) for shape, at in zip(shapes, offsets)]
    return _name(names[0].tobytes()), arrays, bool(flags & _SINGLE)


def pack(values: list[Any]) -> tuple[np.ndarray, int, list[Any]] | None:
    """Give the address of each file's items, their number, and the list of what they point to."""
    columns = {"": values}
    if values[0].__class__ is dict:
        if set(map(type, values)) != {dict} or len(set(map(tuple, values))) != 1:
            return None
        columns = {name: [value[name] for value in values] for name in values[0]}
    items = np.zeros((len(values), len(columns)), _ITEM)
    items["struct_size"] = _ITEM.itemsize
    keep: list[Any] = [items]
    room = _MOST
    for item, (name, column) in zip(items.T, columns.items()):
        if set(map(type, column)) != {_ndarray}:
            return None
        dtypes, shapes = set(map(_dtype, column)), list(map(_shape, column))
        ndims = set(map(len, shapes))
        if len(dtypes) != 1 or len(ndims) != 1:
            return None
        (dtype,), (ndim,) = dtypes, ndims
        extents = np.fromiter(chain.from_iterable(shapes), np.int64).reshape(len(column), ndim)
        sizes = extents.prod(axis=1) * dtype.itemsize
        room -= sizes.sum()
        if dtype not in _name_at or sizes.max() > _LARGE or room < 0:
            return None
        try:
            text = np.frombuffer(encode_name(name) + b"\0", np.uint8)
        except NdfileError:
            return None
        data = np.frombuffer(b"".join(map(_ndarray.tobytes, column)), np.uint8)
        item["ndim"], item["name"], item["dtype"] = ndim, address(text), _name_at[dtype]
        item["shape"] = address(extents) + np.arange(len(column)) * extents.strides[0]
        item["data"] = address(data) + np.cumsum(sizes) - sizes
        keep += text, data, extents
    return address(items) + np.arange(len(values)) * items.strides[0], len(columns), keep
