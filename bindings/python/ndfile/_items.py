"""Whole arrays as the library takes them: ndf_item."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _capi, _elements
from ._array import Array
from ._attrs import to_json
from ._errors import ArgumentError, NameNotFoundError
from ._lib import Path, encode_name
from ._spec import dims_json

_ITEM = ctypes.sizeof(_capi.ndf_item)


def by_name(
    arrays: Any, dims: Any, var_attrs: Any, extra: Any = None
) -> list[tuple[str, Any, Any, Any, Any]]:
    """List name, value, names of axes, attributes and extra of each array that a caller gives."""
    if not isinstance(arrays, Mapping):
        arrays = {"": arrays}
        dims = None if dims is None else {"": dims}
        extra = None if extra is None else {"": extra}
    dims, var_attrs, extra = dims or {}, var_attrs or {}, extra or {}
    for option, given in (("dims", dims), ("var_attrs", var_attrs), ("extra", extra)):
        if not isinstance(given, Mapping):
            raise ArgumentError(f"{option}: expected a mapping of array names, found {type(given).__name__}")
        for name in given:
            if name not in arrays:
                raise NameNotFoundError(f"{option}: no array of the name {name!r}")
    return [
        (name, value, dims.get(name), var_attrs.get(name), extra.get(name)) for name, value in arrays.items()
    ]


def make_items(
    path: Path, arrays: Any, dims: Any = None, var_attrs: Any = None, extra: Any = None
) -> tuple[ctypes.Array[_capi.ndf_item], list[Any]]:
    """Make the items for arrays of any kind, and the list of what they point to."""
    named = by_name(arrays, dims, var_attrs, extra)
    items = (_capi.ndf_item * len(named))()
    keep: list[Any] = []
    for item, (name, value, names, attrs, more) in zip(items, named):
        where = f"{path!s}: array {name!r}"
        data = _elements.prepare(value[...] if isinstance(value, Array) else value, where)
        item.struct_size = _ITEM
        item.ndim = len(data.shape)
        item.name = encode_name(name)
        item.dtype = data.dtype.encode()
        shape = (ctypes.c_int64 * item.ndim)(*data.shape)
        item.shape = ctypes.addressof(shape)
        if isinstance(data.data, _elements.Texts):
            text = np.frombuffer(data.data.data, np.uint8)
            item.data = _elements.address(text)
            item.offsets = _elements.address(data.data.offsets)
            keep += text, data.data.offsets
        else:
            item.data = _elements.address(data.data)
            if not data.data.flags.c_contiguous:
                strides = (ctypes.c_int64 * item.ndim)(*data.data.strides)
                item.strides = ctypes.addressof(strides)
                keep.append(strides)
        if data.mask is not None:
            item.mask = _elements.address(data.mask)
        item.dims_json = dims_json(names, where)
        item.attrs_json = to_json(attrs, f"{where}: attribute")
        item.extra_json = to_json(more, f"{where}: extra")
        keep += shape, data.data, data.mask
    return items, keep
