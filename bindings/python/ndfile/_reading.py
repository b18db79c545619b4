"""Readable: the side of an Array that is read."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from . import _arrow, _dtypes
from ._assign import Points, is_mask
from ._boxes import Boxes
from ._element import Element
from ._errors import ArgumentError, BoundsError, NotSupportedError
from ._handles import Mapped
from ._index import select
from ._lib import call, lib
from ._orthogonal import Orthogonal, is_array, positions

_BLOCK = 1 << 22  # bytes
_MOST = 1 << 26  # bytes


class Readable(Boxes):
    """The side of an `Array` that is read."""

    __slots__ = ()

    @overload
    def __getitem__(self, key: SupportsIndex | tuple[SupportsIndex, ...]) -> Any: ...
    @overload
    def __getitem__(self, key: Any) -> npt.NDArray[Any]: ...
    def __getitem__(self, key: Any) -> Any:
        if key is Ellipsis:
            whole: np.ndarray = self._whole()
            return whole
        if self._single:
            index = (key,) if key.__class__ is int else key
            if index.__class__ is tuple and len(index) == len(self.shape):
                one, self._one = self._one or Element(self.dtype, len(index)), None
                value = one.read(self, index)
                self._one = one
                if value is not None:
                    return value
        if is_array(key):
            return self._take_masked(key) if is_mask(key, self) else self.take(key)
        if key.__class__ is tuple and any(map(is_array, key)):
            return self._take_along(key)
        selection = select(key, self._extents(), self._where)
        result = self._read(selection)
        if not selection.scalar:
            return result
        if self.masked and result.mask[()]:
            return np.ma.masked
        return np.asarray(result)[()]

    def _whole(self) -> Any:
        """Read everything."""
        i = self._position
        if i >= 0:
            file = self._file
            handle, tree = file._handle or file._open(), file._tree or file._described()
            part = tree.ahead
            if part is not None and 0 <= i - part.first < part.n:
                value = part.value(i)
            else:
                value = tree.value(handle, i)
            if value is not None:
                return value
        return self._read(select(Ellipsis, self._extents(), self._where))

    def read(self, key: Any = Ellipsis, *, out: np.ndarray | None = None, narrow: bool = False) -> np.ndarray:
        """Read a selection, into memory of yours if you like.

        Parameters
        ----------
        key : index, optional
            What would stand between the brackets of ``v[...]``. Default: everything.
        out : numpy.ndarray, optional
            Writable array of the selection's shape, of any strides, of this dtype or one that it widens
            into exactly (int16 into float64, either byte order). A `numpy.ma.MaskedArray` receives the mask
            too; with another array missing elements are a `MaskedError`. Texts need dtype object. It is
            faster than fresh memory when it is used again.
        narrow : bool, optional
            `out` may be of a smaller type that holds the values which are there: float64 into float32
            (rounded), int32 into int16, whole floats into integers.

        Returns
        -------
        numpy.ndarray or numpy.ma.MaskedArray
            `out`, or a new array (of no axes where NumPy would give a scalar).

        Raises
        ------
        ShapeError, DTypeError
            `out` does not fit.
        MaskedError
            Elements are missing and `out` has no mask.
        ValueNotRepresentableError
            With `narrow`, an element does not fit; the message has its index.

        Examples
        --------
        >>> import ndfile, numpy as np
        >>> ndfile.save("out.ds", {"n": np.arange(4, dtype="i2")})
        >>> buf = np.empty((2, 2))
        >>> with ndfile.open("out.ds") as f:
        ...     _ = f["n"].read(slice(2), out=buf[:, 1])
        >>> buf[:, 1]
        array([0., 1.])
        """
        if key is Ellipsis and out is None:
            whole: np.ndarray = self._whole()
            return whole
        load = lib.ndf_array_read_narrow if narrow else lib.ndf_array_read
        result: np.ndarray = self._read(select(key, self._extents(), self._where), out, load=load)
        return result

    def _take_along(self, key: tuple[Any, ...]) -> Any:
        """Index by one array among slices and integers, where NumPy means the same as `oindex`."""
        ranges = [isinstance(item, slice) or item is Ellipsis for item in key]
        arrays = [i for i, item in enumerate(key) if is_array(item)]
        integers = len(key) - sum(ranges) - len(arrays)
        if len(arrays) > 1 or (integers and any(ranges[: arrays[0]])):
            raise NotSupportedError(
                f"{self._where}: v[...] takes one array or list, and integers only where it comes first; use "
                "v.oindex or index v[...] in memory",
                path=self._file.path,
            )
        return self.oindex[key]

    def _take_masked(self, mask: Any) -> np.ndarray:
        """Read the elements for which a mask of several axes is true, in their order."""
        result: np.ndarray = self.vindex[np.nonzero(np.asarray(mask))]
        return result

    @property
    def vindex(self) -> Points:
        """Elements by their positions: ``v.vindex[[0, 5], [2, 2]]`` gives elements (0, 2) and (5, 2)."""
        return Points(self)

    def take(self, rows: Any, *, out: np.ndarray | None = None) -> np.ndarray:
        """Read some rows, in any order; ``v[rows]`` does the same.

        Each chunk is decoded once, however many of its rows are taken.

        Parameters
        ----------
        rows : array_like
            Positions along the first axis: integers of any order, also with repetitions and negative ones,
            or as many booleans as there are rows.
        out : numpy.ndarray, optional
            Memory for them, as for `read`.

        Returns
        -------
        numpy.ndarray or numpy.ma.MaskedArray
            `out`, or a new array.

        Raises
        ------
        BoundsError
            A position is out of bounds, or the array has no axes (an IndexError).

        Examples
        --------
        >>> import ndfile, numpy as np
        >>> ndfile.save("take.ds", {"x": np.arange(10) * 10})
        >>> with ndfile.open("take.ds") as f:
        ...     f["x"].take([7, 0, -1])
        array([70,  0, 90])
        """
        extents = self._extents()
        if not extents:
            raise BoundsError(f"{self._where}: a scalar has no rows", path=self._file.path)
        index = positions(rows, 0, extents[0], self._where)
        if self.dtype_name in _dtypes.VARIABLE:
            result: np.ndarray = self.oindex[index]
            if out is None:
                return result
            self._check_out(result.shape, out)
            out[...] = result
            return out
        whole = select(Ellipsis, (len(index), *extents[1:]), self._where)
        taken: np.ndarray = self._read(whole, out, index)
        return taken

    @property
    def oindex(self) -> Orthogonal:
        """Orthogonal indexing: ``v.oindex[[1, 5], :, mask]``, see `Orthogonal`."""
        return Orthogonal(self)

    def iterblocks(self, n: int | None = None) -> Iterator[np.ndarray]:
        """Read the array in blocks of rows, one after the other.

        Parameters
        ----------
        n : int, optional
            Rows of a block; the last one has what is left. Default: those of a chunk, or some MiB. An array
            without elements is one block, if it has rows.

        Examples
        --------
        >>> import ndfile, numpy as np
        >>> ndfile.save("blocks.ds", {"x": np.arange(5)})
        >>> with ndfile.open("blocks.ds") as f:
        ...     print(*f["x"].iterblocks(2))
        [0 1] [2 3] [4]
        """
        rows = len(self)
        if n is not None and n < 1:
            raise ArgumentError(f"n: expected rows of a block, found {n}")
        if self.size == 0:
            n = max(1, rows)
        elif n is None:
            n = self.chunks[0] if self.chunks else max(1, _BLOCK // max(1, self.nbytes // rows))
        return (self[i : i + n] for i in range(0, rows, n))

    def __iter__(self) -> Iterator[Any]:
        most = max(1, _MOST // max(1, self.nbytes // max(1, len(self))))  # rows of chunks can be any length
        n = min(most, self.chunks[0]) if self.chunks else None
        return (row for block in self.iterblocks(n) for row in block)

    def map(self) -> np.ndarray:
        """Map the elements into memory, without reading or copying them.

        Pages come from the file when they are touched. The memory stays mapped as long as the array, or a
        view of it, lives, also after the file is closed.

        Returns
        -------
        numpy.ndarray
            Read-only, row-major.

        Raises
        ------
        NotSupportedError
            The elements do not lie in the file as they are in memory: for example they are in the other byte
            order, not aligned, masked or of variable length. The message tells which.

        Notes
        -----
        When another program makes the file shorter, touching the pages that are gone ends the process.

        Examples
        --------
        >>> import ndfile, numpy as np
        >>> ndfile.save("map.ra", np.arange(6.0))
        >>> with ndfile.open("map.ra") as f:
        ...     a = f.array.map()
        >>> a[1:3]
        array([1., 2.])
        """
        data, size, mapping = ctypes.c_void_p(), ctypes.c_int64(), ctypes.c_uint64()
        places = map(ctypes.addressof, (data, size, mapping))
        call(self._file.path, lib.ndf_array_map, self._open(), *places)
        memory = Mapped(mapping.value, data.value, size.value)
        raw = np.asarray(memory) if size.value else np.ndarray(0, np.uint8, b"")  # without an address
        return raw.view(self.dtype).reshape(self._extents())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Read everything for NumPy. Missing elements are a `MaskedError`; use ``v[...]``."""
        if copy is False:
            raise ValueError(f"{self._where}: reading a file always makes a copy")
        if self.masked:
            raw = np.empty(self._extents(), self.dtype)
            result = self.read(out=raw)
        else:
            result = self.read()
        return result if dtype is None else result.astype(dtype, copy=False)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Give the elements along the first axis as an Arrow stream, for ``polars.Series(v)`` and its like.

        Types and errors are as for `Table.__arrow_c_stream__`.
        """
        return _arrow.of_array(self._file.path, self._open())

    def tolist(self) -> Any:
        """Read everything as Python lists."""
        return self.read().tolist()

    def copy(self) -> np.ndarray:
        """Read everything into an array in memory."""
        return self.read()

    def astype(self, dtype: Any, **options: Any) -> np.ndarray:
        """Read everything as another dtype, as NumPy's method converts."""
        return self.read().astype(dtype, **options)

    @property
    def T(self) -> np.ndarray:
        """All elements in memory, with the axes in reverse order."""
        return self.read().T
