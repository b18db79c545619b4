"""Boxes: boxes, rows and points of an array, read into memory."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from . import _capi, _dtypes, _elements
from ._element import Element
from ._errors import (
    ArgumentError,
    DTypeError,
    LimitError,
    NoMemoryError,
    ReadOnlyError,
    ShapeError,
    failure,
)
from ._index import Selection
from ._lib import call, lib
from ._parts import Part
from ._progress import LONG, interruptible
from ._spec import INT64S

_MUCH = 1 << 24  # bytes


class Boxes(Part):
    """The side of an `Array` that reads boxes."""

    __slots__ = ()

    def _read(
        self,
        selection: Selection,
        out: np.ndarray | None = None,
        rows: np.ndarray | None = None,
        load: Any = lib.ndf_array_read,
    ) -> Any:
        """Read a selection of the array; or rows, of which it is all that there are."""
        if out is not None:
            self._check_out(selection.shape, out)
        if self.dtype_name in _dtypes.VARIABLE:
            return self._read_texts(selection, out)
        masked = self.masked if out is None else isinstance(out, np.ma.MaskedArray)
        if out is None:
            self._check_file(selection)
            try:
                data = np.empty(selection.shape, self.dtype)
            except ValueError as e:  # NumPy bears no such extents, also without elements
                raise LimitError(f"an array of shape {selection.shape}: {e}", path=self._file.path) from None
            except MemoryError:
                size = math.prod(selection.shape) * self.dtype.itemsize
                raise NoMemoryError(
                    f"{self._where}: no memory for elements of shape {selection.shape}, {size} bytes; "
                    "read it in parts, if the shape is right",
                    path=self._file.path,
                ) from None
        else:
            data = np.asarray(out)
        box = data[selection.view]
        if self._single and out is None and rows is None and box.flags.c_contiguous and data.nbytes < LONG:
            one, self._one = self._one or Element(self.dtype, len(self.shape)), None
            one.read_box(self, selection, data)
            self._one = one
            return data
        # The library writes the mask without gaps, in the order of the box.
        mask = np.empty(selection.counts, np.uint8) if masked and self.masked else None
        if rows is None:
            self._load(load, self._box(selection), box, mask)
        else:
            self._load(lib.ndf_array_take, (_elements.address(rows), len(rows)), box, mask)
        if not masked:
            return data if out is None else out
        return self._with_mask(selection, data, mask, out)

    def _read_points(self, axes: int, points: np.ndarray) -> Any:
        """Read what stands at positions along the first axes."""
        shape = len(points), *self._extents()[axes:]
        data = np.empty(shape, self.dtype)
        mask = np.empty(shape, np.uint8) if self.masked else None
        place = axes, _elements.address(points), len(points)
        self._load(lib.ndf_array_read_points, place, data, mask)
        return data if mask is None else np.ma.MaskedArray(data, mask=mask.view(bool))

    def _load(self, function: Any, place: tuple[Any, ...], box: np.ndarray, mask: np.ndarray | None) -> None:
        name = None if box.dtype == self.dtype else _dtypes.from_numpy(box.dtype).encode()
        strides = None if box.flags.c_contiguous else INT64S[box.ndim](*box.strides)
        where = None if mask is None else _elements.address(mask)
        data = _elements.address(box)
        with interruptible(box.nbytes):
            call(self._file.path, function, self._open(), *place, name, data, strides, where)

    def _read_texts(self, selection: Selection, out: np.ndarray | None) -> np.ndarray:
        masked = self.masked and (out is None or isinstance(out, np.ma.MaskedArray))
        if out is None:
            self._check_file(selection)
        mask = np.empty(selection.counts, np.uint8) if masked else None
        texts = self._load_texts(self._box(selection), math.prod(selection.counts), mask)
        data = np.empty(selection.shape, object) if out is None else np.asarray(out)
        data[selection.view] = _elements.unpack(
            texts.dtype, texts.offsets, bytes(texts.data), selection.counts
        )
        if masked or isinstance(out, np.ma.MaskedArray):
            return self._with_mask(selection, data, mask, out)
        return data if out is None else out

    def _load_texts(self, place: tuple[Any, ...], n: int, mask: np.ndarray | None) -> _elements.Texts:
        offsets = np.empty(n + 1, np.int64)
        at = _elements.address(offsets)
        where = None if mask is None else _elements.address(mask)
        err, need = _capi.ndf_error(), ctypes.c_int64()
        room = max(1, min(64 * n, 1 << 20))
        while True:
            raw, need.value = bytearray(room), room
            data = ctypes.addressof(ctypes.c_char.from_buffer(raw))
            rest = ctypes.addressof(need), where, ctypes.addressof(err)
            with interruptible(32 * n):
                status = lib.ndf_array_read_strings(self._open(), *place, at, data, *rest)
            if not status:
                return _elements.Texts(self.dtype_name, offsets, bytes(raw[: need.value]))
            if status != _capi.NDF_ERR_BUFFER or need.value <= room:
                raise failure(status, err, self._file.path)
            room = need.value

    def _check_file(self, selection: Selection) -> None:
        """Before much memory is allocated: reading one element finds out whether the file is long enough."""
        if math.prod(selection.counts) * 8 < _MUCH:
            return
        ones = (1,) * len(selection.counts)
        place, mask = self._box(selection._replace(counts=ones, steps=ones)), np.empty(ones, np.uint8)
        if self.dtype_name in _dtypes.VARIABLE:
            self._load_texts(place, 1, mask)
        else:
            self._load(lib.ndf_array_read, place, np.empty(ones, self.dtype), mask)

    @staticmethod
    def _with_mask(selection: Selection, data: np.ndarray, mask: np.ndarray | None, out: Any) -> np.ndarray:
        """Give data its mask, which is in the order of the box; None is a mask of nothing."""
        full = np.zeros(selection.shape, bool)
        if mask is not None:
            full[selection.view] = mask.view(bool)
        if out is None:
            return np.ma.MaskedArray(data, mask=full)
        masked: np.ma.MaskedArray = out
        masked.mask = full
        return masked

    def _check_out(self, shape: tuple[int, ...], out: Any) -> None:
        if not isinstance(out, np.ndarray):
            raise ArgumentError(f"out: expected a numpy.ndarray, found {type(out).__name__}")
        if out.shape != shape:
            raise ShapeError(f"{self._where}: out: expected shape {shape}, found {out.shape}")
        if self.dtype_name in _dtypes.VARIABLE and out.dtype.kind != "O":
            raise DTypeError(f"{self._where}: out: expected dtype object, found {out.dtype}")
        if not out.flags.writeable:
            raise ReadOnlyError("out: the array is read-only")

    @staticmethod
    def _box(selection: Selection) -> tuple[Any, ...]:
        ndim = len(selection.counts)
        pack = INT64S[ndim]
        return ndim, pack(*selection.starts), pack(*selection.counts), pack(*selection.steps)
