"""Changing: the side of a File that gets arrays and groups, and loses them."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from . import _capi, _dtypes, _elements
from ._array import Array
from ._attrs import to_json
from ._copies import carried
from ._copies import storage as stored_as
from ._errors import NdfileError, NotSupportedError
from ._group import Group
from ._index import select
from ._lib import call, encode_name, lib
from ._lifetime import Opened
from ._opening import KINDS
from ._progress import Watch
from ._spec import spec


class Changing(Opened):
    """The side of a `File` that is changed."""

    __slots__ = ()

    def create(
        self,
        name: str,
        shape: Any,
        dtype: Any,
        dims: Sequence[str] | None = None,
        attrs: Mapping[str, Any] | None = None,
        masked: bool = False,
        *,
        chunks: Any = None,
        compression: Any = None,
        fill_value: Any = None,
        expected_rows: int | None = None,
        extra: Mapping[str, Any] | None = None,
        codecs: Any = None,
        shards: Any = None,
    ) -> Array:
        """Declare a new array, to be written afterwards.

        Parameters
        ----------
        name : str
            Any text; ``""`` in single-array formats.
        shape : int or sequence of int
            Row-major; ``()`` for a scalar.
        dtype
            What `numpy.dtype` takes (the byte order is the one on disk), or ``"str"``, ``"bytes"`` and the
            types `str` and `bytes` for elements of variable length, or ``"bfloat16"`` and the like.
        dims : sequence of str, optional
            Names of the axes.
        attrs : mapping, optional
            Attributes, see `Attrs`.
        masked : bool, default False
            Elements may be missing. An array in which nothing is missing in the end is stored plain.
        chunks : int or sequence of int, optional
            Shape of a chunk; axes that are left out are not cut. bcolz cuts the first axis only. This and
            what follows is for formats that store arrays in chunks; the default is the format's own choice.
        compression : str, tuple, mapping or Compression, optional
            How chunks are compressed, see `Compression`: ``"lz4"``, ``("zstd", 3, "bitshuffle")``.
        fill_value : optional
            Value of elements that are not written; it must fit exactly.
        expected_rows : int, optional
            What the first axis is expected to grow to, for the choice of chunks.
        extra : mapping, optional
            What `Array.extra` of an array of the same format gives, in the format's own terms.

        codecs : list, optional
            What makes the bytes of a chunk of its elements, the first one first: names, and mappings of a
            name and its configuration, as ``["shuffle", {"name": "zstd", "level": 3}]``. ``[]`` stores
            elements as they are. Which there are depends on the format: zarr2 and zarr3 have many, others
            Blosc only. `compression` is the short form for Blosc.
        shards : int or sequence of int, optional
            Shape of a shard, the chunks that lie in one file; a multiple of `chunks` along each axis. For
            zarr3.

        Returns
        -------
        Array
            To be written with ``v[...] = x``: ds files take it once, whole or as consecutive blocks of rows
            along the first axis.

        Raises
        ------
        NameExistsError, DTypeError, ShapeError
        ReadOnlyError
            The file is open for reading.
        NotSupportedError
            `chunks` or what follows it, where the format has no chunks.
        """
        where = f"{self.path}: array {name!r}"
        storage = chunks, compression, fill_value, expected_rows
        s = spec(where, shape, _dtypes.declared(dtype), dims, attrs, masked, *storage, extra, codecs, shards)
        given = any(x is not None for x in (*storage, codecs, shards))
        if given and not self._info().caps & _capi.NDF_CAP_CHUNKED:
            raise NotSupportedError(f"{where}: {self.format} does not store arrays in chunks", path=self.path)
        handle = ctypes.c_uint64()
        at = ctypes.addressof(s), ctypes.addressof(handle)
        with self._lock:
            call(self.path, lib.ndf_file_add, self._open(), encode_name(name), *at)
            self._names = self._groups = None
            array = self._made(name, handle.value)
            self.kind = KINDS.get(self._info().kind, "unknown")
        return array

    def add(
        self,
        name: str,
        data: Any,
        dims: Sequence[str] | None = None,
        attrs: Mapping[str, Any] | None = None,
        **storage: Any,
    ) -> Array:
        """Declare a new array and write all of it; ``f[name] = data`` does the same.

        An `Array` of an open file brings its attributes, names of axes, mask, fill value and chunks along,
        its codecs and shards where the format has them; what else it has no place for is a `LossError`.
        Else `data` is what `save` takes: arrays of any strides and byte order, masked arrays, scalars, lists,
        object arrays of `str` or of `bytes`; texts become elements of one width where the format has no
        others. All else is as for `create`: `storage` are its ``chunks``, ``compression``, ``fill_value``,
        ``expected_rows``, ``extra``, ``codecs`` and ``shards``.
        """
        where = f"{self.path}: array {name!r}"
        if isinstance(data, Array):
            caps = self._info().caps
            dims, attrs = carried(data, caps, where, dims, attrs)
            *ways, storage = stored_as(data, self.format, caps, storage)
            if data.has_data and (caps & _capi.NDF_CAP_STRINGS or data.dtype_name not in _dtypes.VARIABLE):
                masked = data.masked and bool(caps & _capi.NDF_CAP_MASKED)
                array = None
                for way in ways:
                    with suppress(NdfileError):  # what the format has no codecs for is stored by others
                        array = self.create(name, data.shape, data.dtype_name, dims, attrs, masked, **way)
                        break
                if array is None:
                    array = self.create(name, data.shape, data.dtype_name, dims, attrs, masked, **storage)
                with Watch(None) as watch:
                    options = _capi.ndf_convert_options()
                    options.struct_size, options.progress = ctypes.sizeof(options), watch.callback
                    handles = array._open(), data._open()
                    call(self.path, lib.ndf_array_copy, *handles, ctypes.addressof(options))
                return array
            data = data[...]
        item = _elements.prepare(data, where)
        dtype = item.dtype
        if isinstance(item.data, _elements.Texts) and not self._info().caps & _capi.NDF_CAP_STRINGS:
            dtype = _elements.fixed(item.data)
        array = self.create(name, item.shape, dtype, dims, attrs, item.mask is not None, **storage)
        array._write(select(Ellipsis, item.shape, where), item.data, item.mask)
        return array

    def __delitem__(self, name: str) -> None:
        """Delete an array and its data, or a group and all that is in it, at once.

        Where the format can: ``"remove"`` in `formats`.
        """
        with self._lock:
            call(self.path, lib.ndf_file_remove, self._open(), encode_name(name))
            self._moved(name)

    def _moved(self, name: str) -> None:
        """Forget what is not at a path any more."""
        self._names = self._groups = None
        for other in [n for n in self._arrays if n == name or n.startswith(name + "/")]:
            self._arrays.pop(other, None)

    def create_group(self, name: str, attrs: Mapping[str, Any] | None = None) -> Group:
        """Make a group, and those above it that are missing.

        Parameters
        ----------
        name : str
            Its path from the root, such as ``"a/b"``.
        attrs : mapping, optional
            Attributes, see `Attrs`.

        Raises
        ------
        NameExistsError, ReadOnlyError
        NotSupportedError
            The format has no groups (``"groups"`` in `formats`).
        """
        with self._lock:
            call(self.path, lib.ndf_file_add_group, self._open(), encode_name(name), to_json(attrs))
            self._groups = None
            self.kind = KINDS.get(self._info().kind, "unknown")
        return self._group(name)

    def rename(self, old: str, new: str) -> None:
        """Give an array or a group, with all that is in it, another path, at once.

        Groups above the new path that are missing are made. The format must have groups.

        Raises
        ------
        NameNotFoundError, NameExistsError, ReadOnlyError, NotSupportedError
        """
        with self._lock:
            call(self.path, lib.ndf_file_rename, self._open(), encode_name(old), encode_name(new))
            self._moved(old)

    def consolidate(self, on: bool = True) -> None:
        """Have copies of all metadata written to the root, by which readers open the file with one request.

        They are written at `flush` and `close`, and kept true by every later change of this library; with
        False they are removed. For zarr2 and zarr3.
        """
        call(self.path, lib.ndf_file_consolidate, self._open(), 1 if on else 0)

    def flush(self, sync: bool = False) -> None:
        """Write what is still in memory of a file open for changes, so that others find it.

        Parameters
        ----------
        sync
            Wait until all that was changed since the file was opened is on the disk and survives a power
            cut, also in a file opened without ``sync``: data first, then metadata, then folders. A file
            that is being created is a `NotSupportedError`: give ``sync`` when it is opened.
        """
        call(self.path, lib.ndf_file_flush, self._open(), 1 if sync else 0)
