"""Small arrays and what belongs to them, packed as the library takes them into memory that is used again.

What is packed is what most files hold: arrays of plain dtypes, with masks or without, texts, names of axes
and attributes. All else, and what is wrong, is left to `make_items`, which knows what to say.
"""

from __future__ import annotations

import ctypes
import struct
from itertools import accumulate
from typing import Any

import numpy as np

from . import _capi
from ._attrs import dumps, to_json
from ._errors import NdfileError
from ._lib import encode_name
from ._spec import INT64S

_BUFFER = 1 << 16  # bytes of a scratch
_ITEMS = 256  # arrays that it has room for
LARGE = 1 << 14  # bytes of an array that is better not copied

_ITEM = ctypes.sizeof(_capi.ndf_item)
# struct_size, ndim, name, dtype, shape, strides, data, mask, offsets, dims_json, attrs_json, extra_json
_item = struct.Struct("=Ii10Q").pack_into
_ndarray, _masked, _object = np.ndarray, np.ma.MaskedArray, np.dtype(object)
_tobytes = np.ndarray.tobytes  # the elements, of a masked array too

_STR = frozenset({str})

#: Name, dtype, shape of an array, and where its elements are packed.
Place = tuple[str, np.dtype, "tuple[int, ...]", np.ndarray]


class Scratch:
    """C memory of one call, and pointers to it."""

    __slots__ = ("address", "args", "buf", "err", "format", "items", "options", "p_args", "p_err", "series")

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
        self.format: str | None = None  # of args
        # Name, dtype and shape of each array that is packed, and the packed one: the next file's arrays, when
        # they are of the same kind, only need their elements to be copied there.
        self.series: list[Place] | None = None

    def repack(self, arrays: Any) -> bool:
        """Pack the arrays of a file like those of the one before; False for others."""
        series = self.series
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

    def pack_all(self, arrays: Any, attrs: Any, dims: Any, var_attrs: Any) -> bool:
        """Pack a whole file; False when there is no way."""
        series: list[Place] | None = [] if dims is var_attrs is None else None
        self.series = None
        place = pack(self, arrays, 0, 0, dims, var_attrs, series)
        if place is None:
            return False
        at = 0
        if attrs is not None:
            try:
                raw = to_json(attrs)
            except NdfileError:
                return False
            if raw is None or place[0] + len(raw) >= len(self.buf):
                return False
            at = self.address + place[0]
            self.buf[place[0] : place[0] + len(raw) + 1] = raw + b"\0"
        args = self.args
        args.nitems = len(arrays)
        args.attrs_json = at
        if series is not None and attrs is None and len(series) == len(arrays):
            self.series = series
        return True


# Names of the plain dtypes as C text, and their addresses by dtype.
_names = {
    d: ctypes.create_string_buffer(d.str.encode())
    for c in "?bBhHiIlLqQefdFD"
    for d in (np.dtype(c), np.dtype(c).newbyteorder("S"))
}
name_at = {d: ctypes.addressof(text) for d, text in _names.items()}
_text_names = {kind: ctypes.create_string_buffer(name) for kind, name in ((str, b"str"), (bytes, b"bytes"))}
_text_at = {kind: ctypes.addressof(text) for kind, text in _text_names.items()}


def pack(
    s: Scratch,
    arrays: Any,
    pos: int,
    item: int,
    dims: Any = None,
    var_attrs: Any = None,
    series: list[Place] | None = None,
) -> tuple[int, int] | None:
    """Pack arrays into a scratch, from byte pos and item `item` (in bytes) on.

    Gives where the next ones may begin; None when they are not small and usual, or there is no room. What
    `Scratch.series` has for each is added to series, where it is nothing but an array.
    """
    buf, address, items = s.buf, s.address, s.items
    if arrays.__class__ is not dict or item + len(arrays) * _ITEM > len(items):
        return None
    if not (dims is None or (dims.__class__ is dict and dims.keys() <= arrays.keys())):
        return None
    if not (var_attrs is None or (var_attrs.__class__ is dict and var_attrs.keys() <= arrays.keys())):
        return None
    room = len(buf)
    for name, array in arrays.items():
        if name.__class__ is not str or not isinstance(array, _ndarray) or array.nbytes > LARGE:
            return None
        shape = array.shape
        ndim = len(shape)
        dtype_at = name_at.get(array.dtype, 0)
        offsets = mask = b""
        if dtype_at and array.__class__ is _ndarray:
            data = _tobytes(array)
        else:
            parts = _unusual(array)
            if parts is None:
                return None
            dtype_at, offsets, data, mask = parts
        texts = _texts(name, dims and dims.get(name), var_attrs and var_attrs.get(name))
        if texts is None:
            return None
        raw_name, raw_dims, raw_attrs = texts
        offsets_at = pos + 8 * ndim
        data_at = offsets_at + len(offsets)
        mask_at = data_at + len(data)
        at = mask_at + len(mask)
        end = at + len(raw_name) + len(raw_dims) + len(raw_attrs)
        if end > room:
            return None
        buf[pos:end] = b"".join((INT64S[ndim](*shape), offsets, data, mask, raw_name, raw_dims, raw_attrs))
        dims_at = at + len(raw_name)
        _item(
            items,
            item,
            _ITEM,
            ndim,
            address + at,
            dtype_at,
            address + pos,
            0,
            address + data_at,
            (mask and address + mask_at) or 0,
            (offsets and address + offsets_at) or 0,
            (raw_dims and address + dims_at) or 0,
            (raw_attrs and address + dims_at + len(raw_dims)) or 0,
            0,
        )
        if series is not None and not (offsets or mask):
            dtype = array.dtype
            series.append((name, dtype, shape, _ndarray(shape, dtype, buf, data_at)))
        pos = (end + 7) & ~7
        item += _ITEM
    return pos, item


def _unusual(array: np.ndarray) -> tuple[int, bytes, bytes, bytes] | None:
    """Give the dtype's name, offsets, elements and mask of a masked array or of texts; None for others."""
    mask = b""
    if array.__class__ is _masked:
        given = np.ma.getmask(array)
        if given is not np.ma.nomask:
            mask = given.tobytes()
            if b"\1" not in mask:
                mask = b""
    elif array.__class__ is not _ndarray:
        return None
    dtype_at = name_at.get(array.dtype, 0)
    if dtype_at:
        return dtype_at, b"", _tobytes(array), mask
    if array.dtype is not _object or mask or not array.size:
        return None
    values = array.ravel().tolist()
    kinds = set(map(type, values))
    if kinds == {str}:
        try:
            values = [v.encode() for v in values]
        except UnicodeEncodeError:
            return None
    elif kinds != {bytes}:
        return None
    data = b"".join(values)
    if len(data) > LARGE:
        return None
    offsets = struct.pack(f"={len(values) + 1}q", 0, *accumulate(map(len, values)))
    return _text_at[str if kinds == {str} else bytes], offsets, data, mask


def _texts(name: str, dims: Any, attrs: Any) -> tuple[bytes, bytes, bytes] | None:
    """Give the name, the names of axes and the attributes as C texts, the latter empty for none."""
    raw_dims = raw_attrs = b""
    if dims is not None:
        if dims.__class__ not in (tuple, list) or not _STR.issuperset(map(type, dims)):
            return None
        raw_dims = dumps(dims) + b"\0"
    try:
        if attrs is not None:
            raw_attrs = (to_json(attrs) or b"{}") + b"\0"
        return encode_name(name) + b"\0", raw_dims, raw_attrs
    except NdfileError:
        return None
