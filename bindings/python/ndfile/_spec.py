"""What an array is to be: shape, dtype, chunks, compression, fill value, as the library takes it."""

from __future__ import annotations

import ctypes
import json
import operator
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from . import _capi, _dtypes, _elements
from ._attrs import to_json
from ._errors import ArgumentError, ShapeError
from ._lib import encode_name

#: Extents, coordinates and strides as C wants them, by number of axes.
INT64S = [struct.Struct(f"={n}q").pack for n in range(_capi.NDF_MAX_NDIM + 1)]


class Compression(NamedTuple):
    """How the chunks of an array are compressed: by Blosc, with the meaning that `ndfile.blosc` gives these.

    Where a function takes ``compression`` it also takes the name of a codec, a tuple, or a mapping of these
    names: ``"lz4"``, ``("zstd", 3)``, ``("lz4", 5, "bitshuffle")``, ``{"cname": "lz4", "clevel": 9}``.

    Attributes
    ----------
    cname : str
        ``"blosclz"``, ``"lz4"``, ``"lz4hc"``, ``"snappy"``, ``"zlib"`` or ``"zstd"``.
    clevel : int
        The effort, 0 (copy only) to 9.
    shuffle : int
        The filter: ``blosc.NOSHUFFLE``, ``blosc.SHUFFLE`` or ``blosc.BITSHUFFLE``, which are 0, 1 and 2.
    """

    cname: str = "lz4"
    clevel: int = 5
    shuffle: int = _capi.NDF_BLOSC_SHUFFLE


_SHUFFLES = {
    "noshuffle": _capi.NDF_BLOSC_NOSHUFFLE,
    "shuffle": _capi.NDF_BLOSC_SHUFFLE,
    "bitshuffle": _capi.NDF_BLOSC_BITSHUFFLE,
}


def compression_of(value: Any) -> Compression:
    """Give what a caller's ``compression`` means; ranges are left to the library."""
    try:
        if isinstance(value, str):
            value = Compression(value)
        elif isinstance(value, Mapping):
            value = Compression(**value)
        cname, clevel, shuffle = Compression(*value)
        if isinstance(shuffle, str):
            shuffle = _SHUFFLES[shuffle]
        return Compression(cname, operator.index(clevel), operator.index(shuffle))
    except (TypeError, KeyError):
        raise ArgumentError(
            "compression: expected a codec, (codec, level, shuffle) or a mapping of cname, clevel and "
            f"shuffle, found {value!r}"
        ) from None


def lengths(value: Any, what: str, where: str) -> tuple[int, ...]:
    """Give extents as a tuple; an integer stands for one axis."""
    extents = tuple(map(operator.index, value if np.iterable(value) else (value,)))
    if len(extents) > _capi.NDF_MAX_NDIM:
        raise ShapeError(f"{where}: {what}: {len(extents)} axes; at most {_capi.NDF_MAX_NDIM} are supported")
    return extents


def spec(
    where: str,
    shape: Any,
    dtype: str,
    dims: Any = None,
    attrs: Any = None,
    masked: bool = False,
    chunks: Any = None,
    compression: Any = None,
    fill_value: Any = None,
    expected_rows: int | None = None,
    extra: Mapping[str, Any] | None = None,
    codecs: Any = None,
    shards: Any = None,
) -> ctypes.Structure:
    """Make an ndf_array_spec; where is for messages."""
    s = _capi.ndf_array_spec()
    s.struct_size = ctypes.sizeof(s)
    shape = lengths(shape, "shape", where)
    s.ndim = len(shape)
    s.flags = _capi.NDF_ARRAY_MASKED if masked else 0
    s.dtype = dtype.encode()
    # What the struct points to lives as long as it does.
    kept: list[Any] = [(ctypes.c_int64 * len(shape))(*shape)]
    s.kept = kept
    s.shape = ctypes.addressof(kept[0])
    s.dims_json = dims_json(dims, where)
    s.attrs_json = to_json(attrs)
    s.extra_json = to_json(extra, f"{where}: extra")
    if chunks is not None:
        extents = _complete(chunks, shape, where)
        kept.append((ctypes.c_int64 * len(extents))(*extents))
        s.chunks = ctypes.addressof(kept[-1])
    if compression is not None:
        given = compression_of(compression)
        params = _capi.ndf_blosc_params()
        params.struct_size = ctypes.sizeof(params)
        codec = ctypes.create_string_buffer(encode_name(given.cname))
        params.codec = ctypes.addressof(codec)
        params.level, params.shuffle = given.clevel, given.shuffle
        kept += params, codec
        s.compression = ctypes.addressof(params)
    if codecs is not None:
        s.codecs_json = codecs_json(codecs, where)
    if shards is not None:
        extents = _complete(shards, shape, where)
        kept.append((ctypes.c_int64 * len(extents))(*extents))
        s.shards = ctypes.addressof(kept[-1])
    if fill_value is not None and dtype in ("str", "bytes"):
        text = fill_value.encode() if isinstance(fill_value, str) else bytes(fill_value)
        kept.append(ctypes.create_string_buffer(text))
        s.fill, s.fill_len = ctypes.addressof(kept[-1]), len(text)
    elif fill_value is not None:
        stored = _dtypes.to_numpy(dtype)
        fill = _elements.element(fill_value, stored.newbyteorder("="), f"{where}: fill_value")  # type: ignore[union-attr]
        kept.append(fill)
        s.fill = _elements.address(fill)
    if expected_rows is not None:
        s.expected_rows = operator.index(expected_rows)
    return s


def codecs_json(codecs: Any, where: str) -> bytes:
    """Give a list of codecs as JSON; a name or a mapping stands for one."""
    given = [codecs] if isinstance(codecs, (str, Mapping)) else list(codecs)
    for codec in given:
        if not isinstance(codec, (str, Mapping)):
            raise ArgumentError(f"{where}: codecs: expected names and mappings with a name, found {codec!r}")
    return json.dumps([c if isinstance(c, str) else dict(c) for c in given]).encode("ascii")


def _complete(chunks: Any, shape: tuple[int, ...], where: str) -> tuple[int, ...]:
    """Give the shape of a chunk one extent an axis: those that are not given are those of the array."""
    given = lengths(chunks, "chunks", where)
    if len(given) > len(shape):
        raise ShapeError(f"{where}: chunks {given} have more axes than shape {shape}")
    return given + tuple(max(n, 1) for n in shape[len(given) :])


def dims_json(dims: Any, where: str) -> bytes | None:
    """Give names of axes as JSON; a str stands for one axis."""
    if dims is None:
        return None
    names = [dims] if isinstance(dims, str) else list(dims)
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(f"{where}: dims: expected names as str, found {name!r}")
    return json.dumps(names).encode("ascii")
