"""What a file open for reading holds, from few calls of the library, and small arrays read ahead.

A description is a tuple, because 100,000 variables have as many; the metadata in it are a place in a text,
which is decoded when it is asked for.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _capi, _dtypes
from ._errors import LimitError, failure
from ._load import (
    _INFO,
    _INFOS,
    _SHAPE,
    _SPECIAL,
    _head,
    _name,
    _plain,
    _pool,
    _Scratch,
    _shapes,
    take,
    unpack,
)

_META = _capi.NDF_LOAD_META | _capi.NDF_LOAD_BARE | _capi.NDF_LOAD_SOME
_NAMES = _capi.NDF_LOAD_NAMES | _capi.NDF_LOAD_SOME
_NO_DATA, _MASKED, _STRINGS = _capi.NDF_ARRAY_NO_DATA, _capi.NDF_ARRAY_MASKED, _capi.NDF_ARRAY_STRINGS
_info = _capi.ndf_load_info
# ndim, flags, count, name_offset, name_len, stored_len and the first four bytes of dtype
_all = struct.Struct(f"=4xiI4xq8xqq{_info.stored_len.offset - _info.data_offset.offset}xqI").unpack_from
_NEAR = 1 << 12  # bytes of an array that is read with its neighbours
_scan: Any = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_ndarray = np.ndarray

#: dtype as stored, dtype in memory, shape, masked, and the metadata of the arrays that came with it.
Description = tuple[str, "np.dtype | None", "tuple[int, ...] | None", bool, "Metadata | None"]

_dtypes_of: dict[str, np.dtype | None] = {}


def in_memory(name: str) -> np.dtype | None:
    """Give the dtype in memory of elements stored as a dtype; None: there is none."""
    try:
        return _dtypes_of[name]
    except KeyError:
        stored = _dtypes.to_numpy(name)
        native = None if stored is None else stored.newbyteorder("=")
        if len(_dtypes_of) < 1000:
            _dtypes_of[name] = native
        return native


_plain_names = {code: (d.str, d) for code, d in _plain.items()}


class Metadata:
    """Metadata of some arrays of a file, and of the file: a JSON text, decoded when it is first looked at."""

    __slots__ = ("_path", "_text", "first", "items")

    def __init__(self, text: str, first: int, path: Any) -> None:
        self._text, self.first, self._path = text, first, path
        self.items: list[Any] | None = None  # decoded: of the file, and of each array

    def decode(self) -> list[Any]:
        """Decode them all."""
        try:
            items: list[Any] = _scan(self._text, 0)[0]
        except ValueError as e:  # an integer of more digits than sys.get_int_max_str_digits()
            raise LimitError(f"{self._path}: attributes: {e}", path=self._path) from e
        self.items = items
        return items


def own(attrs: dict[str, Any]) -> dict[str, Any]:
    """Give attributes of which the values are the caller's."""
    for value in attrs.values():
        if value.__class__ is list or value.__class__ is dict:
            found: dict[str, Any] = _copied(attrs)
            return found
    return attrs


def _copied(value: Any) -> Any:
    if value.__class__ is list:
        return [_copied(v) for v in value]
    if value.__class__ is dict:
        return {key: _copied(v) for key, v in value.items()}
    return value


class Part:
    """Some arrays of an open file, from one on: what one call has given."""

    __slots__ = ("buf", "first", "infos", "meta", "n", "whole")

    def __init__(self, s: _Scratch, first: int) -> None:
        self.first = first
        args = s.args
        self.n = n = args.ninfos
        self.infos = s.infos[: n * _INFO]
        at = args.meta_offset
        self.meta = str(s.buf[at : at + args.meta_len], "ascii")
        self.buf = s.buf[: args.need]
        self.whole = n > 0 and _head(self.infos, 0)[5] >= 0  # with elements

    def names(self) -> list[str]:
        """Give the names of the arrays."""
        raw, infos = self.buf, self.infos
        names = []
        for pos in range(0, self.n * _INFO, _INFO):
            _, _, _, at, length, _, _ = _head(infos, pos)
            names.append(_name(raw[at : at + length]))
        return names

    def descriptions(self, meta: Metadata | None) -> tuple[list[str], list[Description]]:
        """Give the names of the arrays and what describes them."""
        raw, infos = self.buf, self.infos
        names: list[str] = []
        found: list[Description] = []
        for pos in range(0, self.n * _INFO, _INFO):
            ndim, flags, count, name_at, length, stored_len, code = _all(infos, pos)
            name = raw[name_at : name_at + length]
            try:
                names.append(str(name, "utf-8"))
            except UnicodeDecodeError:
                names.append(_name(name))
            shape = (count,) if ndim == 1 else _shapes[ndim](infos, pos + _SHAPE)
            plain: tuple[str, np.dtype | None] | None = None if stored_len else _plain_names.get(code)
            if plain is None:
                stored = self._dtype(pos, stored_len)
                plain = stored, in_memory(stored)
            found.append(
                (plain[0], plain[1], None if flags & _NO_DATA else shape, flags & _MASKED != 0, meta)
            )
        return names, found

    def _dtype(self, pos: int, stored_len: int) -> str:
        info = _info.from_buffer(self.infos, pos)
        raw = self.buf
        if stored_len:
            quoted = b'"%b"' % bytes(raw[info.stored_offset : info.stored_offset + stored_len])
            return str(json.loads(quoted))
        return info.dtype.decode() or str(
            raw[info.dtype_offset : info.dtype_offset + info.dtype_len], "utf-8"
        )

    def value(self, i: int) -> Any:
        """Make array i of the file, in memory of its own; None when it is not here."""
        pos = (i - self.first) * _INFO
        ndim, flags, count, _, _, data, code = _head(self.infos, pos)
        if flags & _NO_DATA:
            return None
        if flags & _SPECIAL or code not in _plain:
            array = unpack(self.buf, self.infos, pos)
            return array if flags & _STRINGS and not flags & _MASKED else array.copy()
        shape = count if ndim == 1 else _shapes[ndim](self.infos, pos + _SHAPE)
        return _ndarray(shape, _plain[code], self.buf, data).copy()


def load_part(handle: int, path: Any, flags: int, first: int, most: int) -> Part:
    """Load some arrays of an open file, from one on."""
    s = take()
    large = s
    try:
        status = s.load_open(handle, flags, first, min(most, _INFOS))
        while status == _capi.NDF_ERR_BUFFER:  # not even one had room
            large = _Scratch(np.empty(max(large.args.need, 1), np.uint8).data, 1)
            status = large.load_open(handle, flags, first, 1)
        if status:
            raise failure(status, large.err, path)
        return Part(large, first)
    finally:
        _pool.append(s)


def all_names(handle: int, path: Any, narrays: int) -> tuple[str, ...]:
    """List the names of the arrays of an open file."""
    names: list[str] = []
    while len(names) < narrays:
        part = load_part(handle, path, _NAMES, len(names), _INFOS)
        if not part.n:
            break
        names += part.names()
    return tuple(names)


class Tree:
    """Names and descriptions of the arrays of a file open for reading.

    A file whose format keeps everything in one place is described as a whole when it is first looked at; of a
    folder of arrays the names come first, and each array when it is asked for.
    """

    __slots__ = ("_caps", "_decoded", "_next", "_path", "ahead", "index", "known", "meta", "names")

    def __init__(self, handle: int, path: Any, caps: int, narrays: int, part: Part | None) -> None:
        self._path, self._caps = path, caps
        self.known: dict[int, Description] = {}
        self.ahead: Part | None = None
        self._next = 0  # the array after the one that was asked for last
        self.meta: Metadata | None = None  # with those of the file
        self._decoded: Metadata | None = None
        names: list[str] = []
        if not self._fixed:
            names += all_names(handle, path, narrays)
        elif part is not None and part.meta:
            names += self._keep(part)
            if part.whole:
                self.ahead = part
        while len(names) < narrays:
            part = load_part(handle, path, _META, len(names), _INFOS)
            if not part.n:
                break
            names += self._keep(part)
        self.names = tuple(names)
        self.index = dict(zip(names, range(narrays)))

    @property
    def _fixed(self) -> bool:
        """What the file holds lies in one place and does not change."""
        return not self._caps & _capi.NDF_CAP_UPDATE

    def _keep(self, part: Part) -> list[str]:
        """Take over what a part tells; give the names of its arrays."""
        meta = Metadata(part.meta, part.first, self._path)
        if part.first == 0:
            self.meta = meta
        names, found = part.descriptions(meta)
        self.known.update(enumerate(found, part.first))
        return names

    def file_attrs(self, handle: int) -> dict[str, Any]:
        """Decode the attributes of the file."""
        meta = self.meta
        if meta is None:
            part = load_part(handle, self._path, _NAMES | _capi.NDF_LOAD_META, 0, 1)
            meta = self.meta = Metadata(part.meta, 0, self._path)
        return own((meta.items or meta.decode())[0])

    def metadata(self, i: int) -> dict[str, Any]:
        """Give the metadata of array i, which is described; they are not to be changed."""
        meta = self.known[i][4]
        if meta is not self._decoded:
            if self._decoded is not None:
                self._decoded.items = None  # those of one text at a time are kept
            self._decoded = meta
        assert meta is not None
        found: dict[str, Any] = (meta.items or meta.decode())[i - meta.first + 1]
        return found

    def all(self, handle: int) -> Iterator[tuple[str, tuple[Description, dict[str, Any]]]]:
        """Give name, description and decoded metadata of each array."""
        self._next = 0
        for i, name in enumerate(self.names):
            found = self.describe(handle, i)
            yield name, (found, self.metadata(i))

    def describe(self, handle: int, i: int) -> Description:
        """Describe array i."""
        found = self.known.get(i)
        if found is None:
            self._keep(load_part(handle, self._path, _META, i, _INFOS if i == self._next and i else 1))
            self._next = i + 1
            found = self.known[i]
        return found

    def value(self, handle: int, i: int) -> Any:
        """Give the elements of a small array of a file that does not change; None for others.

        Its neighbours are read with it where the file has few arrays, or where they are asked for in turn.
        """
        part = self.ahead
        if part is None or not 0 <= i - part.first < part.n:
            _, dtype, shape, _, _ = self.known[i]
            if not self._fixed or shape is None or dtype is None or math.prod(shape) * dtype.itemsize > _NEAR:
                return None
            near = len(self.names) <= _INFOS or i == (part.first + part.n if part else self._next)
            part = self.ahead = load_part(handle, self._path, _capi.NDF_LOAD_SOME, i, _INFOS if near else 1)
        return part.value(i)
