"""Columns of Arrow streams, as the Arrow C data interface hands them over: without the package pyarrow."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ._elements import Texts
from ._errors import DTypeError, IoError

_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Schema(ctypes.Structure):
    """struct ArrowSchema."""


class _Array(ctypes.Structure):
    """struct ArrowArray."""


class _Stream(ctypes.Structure):
    """struct ArrowArrayStream."""


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]

_PRIMITIVE = {
    "c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8",
    "e": "f2", "f": "f4", "g": "f8", "tdD": "<i4", "tdm": "M8[ms]",
}  # fmt: skip
_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}


class Part(NamedTuple):
    """Elements of a column: values, and where they are missing, a bool each, or None."""

    values: np.ndarray | Texts
    missing: np.ndarray | None


class Field(NamedTuple):
    """A column of a stream."""

    name: str
    dtype: np.dtype | str  # "str" or "bytes" for texts of variable length
    shape: tuple[int, ...]  # of a row


class Stream:
    """The batches of an Arrow stream, which may be read once.

    `table` tells whether it has columns, by name, or is one itself. Numbers and texts are seen where the
    producer has them, whose memory lives as long as any part of it.
    """

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule  # which releases the stream
        self._stream = _Stream.from_address(_get_pointer(capsule, b"arrow_array_stream"))
        schema = _Schema()
        self._check(self._stream.get_schema(self._stream, schema))
        self._schema = schema
        self.table = schema.format == b"+s"
        columns = [schema.children[i][0] for i in range(schema.n_children)] if self.table else [schema]
        self.fields = [_field(column) for column in columns]
        self._columns = columns

    def _check(self, status: int) -> None:
        if status:
            reason = self._stream.get_last_error(self._stream)
            said = reason.decode("utf-8", "replace") if reason else "no reason given"
            raise IoError(f"the Arrow stream failed: {said}", errno=status)

    def batches(self) -> Iterator[tuple[int, list[Part]]]:
        """Give the number of rows and the columns of each batch."""
        while True:
            array = _Array()
            self._check(self._stream.get_next(self._stream, array))
            if not array.release:
                return
            owner = _Batch(array)
            arrays = [array.children[i][0] for i in range(array.n_children)] if self.table else [array]
            at, n = (array.offset, array.length) if self.table else (0, array.length)
            yield n, [_part(c, a, at, n, owner) for c, a in zip(self._columns, arrays)]

    def __del__(self) -> None:
        schema = getattr(self, "_schema", None)
        if schema is not None and schema.release:
            schema.release(schema)


class _Batch:
    """What a producer has handed over. It is given back when nobody has a view of its memory any more."""

    def __init__(self, array: _Array) -> None:
        self._array = array

    def __del__(self) -> None:
        if self._array.release:
            self._array.release(self._array)


def _field(schema: Any) -> Field:
    name = (schema.name or b"").decode("utf-8", "surrogatepass")
    if schema.dictionary:
        return _field(schema.dictionary[0])._replace(name=name)
    format = schema.format.decode()
    shape = []
    while format.startswith("+w:"):
        shape.append(int(format[3:]))
        schema = schema.children[0][0]
        format = schema.format.decode()
    if format in ("u", "U", "vu"):
        return Field(name, "str", tuple(shape))
    if format in ("z", "Z", "vz"):
        return Field(name, "bytes", tuple(shape))
    return Field(name, _dtype(format, name), tuple(shape))


def _dtype(format: str, name: str) -> np.dtype:
    if format in _PRIMITIVE:
        return np.dtype("M8[D]" if format == "tdD" else _PRIMITIVE[format])
    if format == "b":
        return np.dtype(bool)
    if format.startswith("w:"):
        return np.dtype(f"V{format[2:]}")
    if format.startswith("ts") and (format == f"{format[:3]}:" or is_utc(format[4:])):
        return np.dtype(f"M8[{_UNITS[format[2]]}]")
    if format.startswith("tD"):
        return np.dtype(f"m8[{_UNITS[format[2]]}]")
    what = {"n": "nulls only", "d": "decimals", "t": "times of day", "+": "lists or records"}.get(
        format[:1], format
    )
    if format.startswith("ts"):
        raise zoned(name, format[4:])
    raise DTypeError(f"column {name!r}: a table cannot hold {what}")


def is_utc(zone: Any) -> bool:
    """Tell whether times of a zone are what tables have: those of UTC, without a zone."""
    return str(zone) in ("UTC", "Etc/UTC", "+00:00")


def zoned(name: str, zone: Any) -> DTypeError:
    """Give the error for times of another zone, which would not come back in it."""
    return DTypeError(
        f"column {name!r}: a table cannot hold times in the zone {zone}; convert them to UTC, or "
        "drop the zone"
    )


def _memory(array: Any, i: int, nbytes: int, owner: _Batch) -> np.ndarray:
    address = array.buffers[i]
    if not address or nbytes == 0:
        return np.zeros(nbytes, np.uint8)
    memory: Any = (ctypes.c_char * nbytes).from_address(address)
    memory.owner = owner
    return np.frombuffer(memory, np.uint8)


def _bits(array: Any, i: int, at: int, n: int, owner: _Batch) -> np.ndarray:
    raw = _memory(array, i, (at + n + 7) // 8, owner)
    return np.unpackbits(raw, count=at + n, bitorder="little")[at:].view(bool)


def _missing(array: Any, at: int, n: int, owner: _Batch) -> np.ndarray | None:
    if array.null_count == 0 or not array.n_buffers or not array.buffers[0]:
        return None
    missing = ~_bits(array, 0, at, n, owner)
    return missing if missing.any() else None


def _part(schema: Any, array: Any, at: int, n: int, owner: _Batch) -> Part:
    """Give n rows from at on."""
    at += array.offset
    missing = _missing(array, at, n, owner)
    if schema.dictionary:
        kind = _PRIMITIVE[schema.format.decode()]
        size = np.dtype(kind).itemsize
        codes = _memory(array, 1, (at + n) * size, owner).view(kind)[at:].astype(np.intp)
        if missing is not None:
            codes[missing] = 0
        words = array.dictionary[0]
        values, gone = _part(schema.dictionary[0], words, 0, words.length, owner)
        if gone is not None:
            lost = gone[codes] if len(gone) else np.zeros(n, bool)
            missing = lost if missing is None else missing | lost
        if isinstance(values, Texts):
            return Part(take_texts(values, codes) if words.length else _no_texts(values, n), missing)
        return Part(values[codes] if words.length else np.zeros(n, values.dtype), missing)
    format = schema.format.decode()
    if format.startswith("+w:"):
        inner = int(format[3:])
        values, gone = _part(schema.children[0][0], array.children[0][0], at * inner, n * inner, owner)
        if isinstance(values, Texts) or gone is not None:
            raise DTypeError(
                f"column {(schema.name or b'').decode()!r}: lists of texts, or with nulls in them"
            )
        return Part(values.reshape(n, inner, *values.shape[1:]), missing)
    if format in ("u", "U", "z", "Z"):
        wide = np.dtype(np.int32 if format in "uz" else np.int64)
        offsets = _memory(array, 1, (at + n + 1) * wide.itemsize, owner).view(wide)[at:]
        offsets = np.require(offsets, np.int64, "A")
        texts = Texts(
            "str" if format in "uU" else "bytes", offsets, _memory(array, 2, int(offsets[-1]), owner)
        )
        return Part(texts if missing is None else blank(texts, missing), missing)
    if format in ("vu", "vz"):
        return Part(_views(array, at, n, "str" if format == "vu" else "bytes", missing, owner), missing)
    if format == "b":
        return Part(_bits(array, 1, at, n, owner), missing)
    dtype = _dtype(format, "")
    stored = np.dtype(np.int32) if format == "tdD" else dtype
    values = _memory(array, 1, (at + n) * stored.itemsize, owner).view(stored)[at:]
    if format == "tdD":
        values = values.astype(np.int64).view(dtype)
    if missing is not None and dtype.kind in "mM":  # which have a value for it
        values, missing = np.where(missing, np.array("NaT", dtype), values), None
    return Part(values, missing)


def _no_texts(texts: Texts, n: int) -> Texts:
    return texts._replace(offsets=np.zeros(n + 1, np.int64), data=np.empty(0, np.uint8))


def take_texts(texts: Texts, index: np.ndarray) -> Texts:
    """Give the texts at some positions."""
    lengths = np.diff(texts.offsets)[index]
    return texts._replace(
        **_gathered(np.frombuffer(texts.data, np.uint8), texts.offsets[:-1][index], lengths)
    )


def blank(texts: Texts, missing: np.ndarray) -> Texts:
    """Make the texts that are missing empty."""
    lengths = np.diff(texts.offsets)
    if not lengths[missing].any():
        return texts
    lengths[missing] = 0
    return texts._replace(**_gathered(np.frombuffer(texts.data, np.uint8), texts.offsets[:-1], lengths))


def _gathered(data: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> dict[str, Any]:
    """Put pieces of data one after the other."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    shift = np.repeat(starts - offsets[:-1], lengths)
    shift += np.arange(offsets[-1])
    return {"offsets": offsets, "data": data[shift]}


def _views(array: Any, at: int, n: int, dtype: str, missing: np.ndarray | None, owner: _Batch) -> Texts:
    """Read texts of which the short ones lie in their views, the others in one of several buffers."""
    raw = _memory(array, 1, (at + n) * 16, owner)[at * 16 :]
    words = raw.view(np.int32).reshape(n, 4)
    lengths = words[:, 0].astype(np.int64)
    if missing is not None:
        lengths[missing] = 0
    starts = np.arange(n, dtype=np.int64) * 16 + 4
    long = lengths > 12
    buffers = [raw]
    if long.any():
        variadic = array.n_buffers - 3
        sizes = _memory(array, array.n_buffers - 1, 8 * variadic, owner).view(np.int64)
        bases = np.zeros(variadic, np.int64)
        total = raw.size
        for i in range(variadic):
            bases[i] = total
            buffers.append(_memory(array, 2 + i, int(sizes[i]), owner))
            total += int(sizes[i])
        starts[long] = bases[words[long, 2]] + words[long, 3]
    return Texts(dtype, **_gathered(np.concatenate(buffers) if len(buffers) > 1 else raw, starts, lengths))
