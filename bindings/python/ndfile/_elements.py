"""Elements on their way between Python and the library: masks, texts, conversion by value."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _dtypes
from ._errors import DTypeError, ShapeError, ValueNotRepresentableError
from ._exact import exactly
from ._lib import call, lib


def address(array: np.ndarray) -> int:
    """Give the address of element 0, also of read-only memory."""
    return int(array.__array_interface__["data"][0])


def as_bytes(value: Any, what: str) -> np.ndarray:
    """View anything bytes-like as an array of bytes."""
    try:
        return np.frombuffer(value, np.uint8)
    except (TypeError, ValueError) as e:  # not contiguous
        raise DTypeError(f"{what}: expected bytes, found {type(value).__name__}: {e}") from e


def as_array(value: Any, where: str) -> np.ndarray:
    """Make an array of anything: texts as objects, so that they keep trailing NULs; masks are kept."""
    if isinstance(value, np.ndarray):
        return value
    try:
        array: np.ndarray = np.asanyarray(value)
        if array.dtype.kind in "SU" and not isinstance(value, np.generic):
            array = np.asarray(value, dtype=object)
    except (ValueError, OverflowError) as e:  # ragged lists
        raise ShapeError(f"{where}: {e}") from e
    return array


def split_mask(array: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Separate the mask: the data, and one byte an element, row-major, 1 = missing; None when nothing is."""
    if not isinstance(array, np.ma.MaskedArray):
        return np.asarray(array), None
    if array.dtype.names is not None:
        if np.ma.is_masked(array):
            raise DTypeError(f"records with a mask for each field cannot be stored (dtype {array.dtype})")
        return array.data, None
    mask = np.ma.getmaskarray(array)
    return array.data, np.ascontiguousarray(mask).view(np.uint8) if mask.any() else None


class Texts(NamedTuple):
    """Elements of variable length as the library takes them."""

    dtype: str  # "bytes" or "str"
    offsets: np.ndarray  # int64, one more than elements, rising from 0 or more
    data: bytes | np.ndarray


class Elements(NamedTuple):
    """A whole array as the library takes it."""

    dtype: str  # name of the dtype
    shape: tuple[int, ...]
    data: np.ndarray | Texts
    mask: np.ndarray | None  # one byte an element, row-major, 1 = missing


def prepare(value: Any, where: str) -> Elements:
    """Make anything array-like ready to be stored: any strides, byte order, masks, scalars, lists."""
    if isinstance(value, Texts):
        return Elements(value.dtype, (len(value.offsets) - 1,), value, None)
    data, mask = split_mask(as_array(value, where))
    if data.dtype.kind in _TEXTS:
        texts = pack(data.astype(object), mask, where)
        return Elements(texts.dtype, data.shape, texts, mask)
    try:
        return Elements(_dtypes.from_numpy(data.dtype), data.shape, data, mask)
    except DTypeError as e:
        raise DTypeError(f"{where}: {e}") from e


# Kinds of dtypes stored as elements of variable length: objects, and NumPy 2's StringDType.
_TEXTS = "OT"


def pack(array: np.ndarray, mask: np.ndarray | None, where: str, dtype: str = "") -> Texts:
    """Pack an object array of bytes or of str in row-major order; masked elements become empty.

    The elements decide the dtype, or have to agree with the one that is given. Where there is no element it
    is "bytes", where all are masked "str", as in ds-format.

    Raises
    ------
    DTypeError
        An element is something else, None for example, or both kinds occur. It is a TypeError.
    ValueNotRepresentableError
        A text has a lone surrogate, which UTF-8 cannot hold. It is a ValueError.
    """
    values = array.ravel().tolist()
    missing = []
    if mask is not None:
        missing = mask.ravel().tolist()
        present = [v for v, m in zip(values, missing) if not m]
    else:
        present = values
    kinds = set(map(type, present))
    text = kinds == {str} or (mask is not None and not kinds)
    if not text and not kinds <= {bytes}:
        text = _check(values, mask, array.shape, where)
    if text:
        try:
            present = [v.encode() for v in present]
        except UnicodeEncodeError as e:
            i = next(i for i, v in enumerate(values) if v is e.object)
            raise ValueNotRepresentableError(f"{where}: element {_at(i, array.shape)}: {e}") from e
    found = "str" if text else "bytes"
    if dtype not in ("", found) and present:
        raise DTypeError(f"{where}: expected elements of {dtype}, found {found}")
    if mask is not None:
        it = iter(present)
        present = [b"" if m else next(it) for m in missing]
    offsets = np.zeros(len(present) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, present), np.int64, len(present)), out=offsets[1:])
    return Texts(dtype or found, offsets, b"".join(present))


def _check(values: Sequence[Any], mask: np.ndarray | None, shape: tuple[int, ...], where: str) -> bool:
    """Look at each element; subclasses of str and bytes are fine. Give whether they are texts."""
    kind: type | None = None
    for i, v in enumerate(values):
        if mask is not None and mask.flat[i]:
            continue
        if not isinstance(v, (str, bytes)):
            raise DTypeError(
                f"{where}: element {_at(i, shape)} is {type(v).__name__}, expected str or bytes "
                "(use a masked array for missing elements)"
            )
        this = str if isinstance(v, str) else bytes
        if kind not in (None, this):
            raise DTypeError(
                f"{where}: element {_at(i, shape)} is {this.__name__}, those before are {kind.__name__}"
            )
        kind = this
    return kind is str


def _at(i: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(k) for k in np.unravel_index(i, shape)) if shape else ()


def width(texts: Texts) -> int:
    """Give the length of the longest text, in characters; of bytes, in bytes."""
    if len(texts.offsets) < 2:
        return 0
    if texts.dtype == "bytes":
        return int(np.diff(texts.offsets).max())
    data, found = np.frombuffer(texts.data, np.uint8), ctypes.c_int64()
    n, offsets = len(texts.offsets) - 1, address(texts.offsets)
    call(None, lib.ndf_texts_width, n, offsets, address(data), ctypes.addressof(found))
    return found.value


def fixed(texts: Texts) -> str:
    """Give the dtype of texts as elements of one width."""
    return f"{'S' if texts.dtype == 'bytes' else 'U'}{max(width(texts), 1)}"


def unpack(dtype: str, offsets: np.ndarray, data: bytes, shape: tuple[int, ...]) -> np.ndarray:
    """Undo `pack`: an object array of bytes or str; missing elements are empty."""
    array = np.empty(len(offsets) - 1, object)
    array[:] = texts(dtype != "bytes", offsets, data)
    return array.reshape(shape)


def texts(text: bool, offsets: np.ndarray, data: bytes) -> list[Any]:
    """Cut texts, or byte strings, out of their bytes."""
    bounds = offsets.tolist()
    pairs = zip(bounds, bounds[1:])
    if not text:
        return [data[i:j] for i, j in pairs]
    if data.isascii():
        whole = data.decode("ascii")
        return [whole[i:j] for i, j in pairs]
    return [data[i:j].decode("utf-8") for i, j in pairs]


def objects(texts: Texts) -> np.ndarray:
    """Give texts as an object array of bytes or str."""
    first, last = int(texts.offsets[0]), int(texts.offsets[-1])
    return unpack(
        texts.dtype, texts.offsets - first, np.frombuffer(texts.data, np.uint8)[first:last].tobytes(), (-1,)
    )


def convert(value: Any, dtype: np.dtype, where: str) -> np.ndarray:
    """Make an array of a value that is to be stored as dtype.

    Arrays come back as they are: the library refuses what loses anything. Python numbers and texts, lists and
    object arrays of them have no dtype of their own: they become dtype when each value fits exactly; floats
    are rounded as literals are.
    """
    array = as_array(value, where)
    if array.dtype == dtype:
        return array
    if hasattr(value, "dtype") and array.dtype.kind not in _TEXTS:
        if isinstance(array, np.ma.MaskedArray):
            data = np.where(np.ma.getmaskarray(array), np.zeros((), array.dtype), array.data)
            return np.ma.MaskedArray(exactly(data, dtype, where), array.mask)
        return exactly(array, dtype, where)
    if array.dtype.kind in "biufcO" and dtype.kind in "biufc":
        array = np.asarray(value, object)  # NumPy makes floats of [2**63, 0]
        for i, x in np.ndenumerate(array):
            if not _fits(x, dtype):
                raise ValueNotRepresentableError(f"{where}: element {i}: {x!r} cannot be stored as {dtype}")
        return array.astype(dtype)
    try:
        converted = np.asarray(array if dtype.kind in "SU" else value, dtype)
    except UnicodeEncodeError as e:
        raise ValueNotRepresentableError(f"{where}: {e}") from e
    except (TypeError, ValueError, OverflowError) as e:
        raise DTypeError(f"{where}: {e}") from e
    if dtype.kind in "SU":
        _check_texts(array, converted, where)
    elif dtype.kind in "mM":
        _check_times(value, converted, where)
    return converted


def _check_texts(array: np.ndarray, converted: np.ndarray, where: str) -> None:
    """Refuse what became other texts: NumPy cuts long ones, drops trailing NULs, and prints numbers."""
    code = converted.dtype.kind
    for (i, x), y in zip(np.ndenumerate(array), converted.ravel().tolist()):
        if not isinstance(x, (str, bytes)) or (code == "U" and isinstance(x, bytes)):
            raise DTypeError(f"{where}: element {i} is {type(x).__name__}, expected a text")
        if y != (x.encode("ascii") if code == "S" and isinstance(x, str) else x):
            raise ValueNotRepresentableError(
                f"{where}: element {i}: {x!r} cannot be stored as {converted.dtype}"
            )


def _check_times(value: Any, converted: np.ndarray, where: str) -> None:
    """Refuse what lost a part of a unit."""
    try:
        exact = np.asarray(value, f"{converted.dtype.kind}8")
    except ValueError:  # integers, which count units
        return
    if not np.array_equal(converted.astype(exact.dtype), exact, equal_nan=True):
        raise ValueNotRepresentableError(f"{where}: {exact.dtype} cannot be stored as {converted.dtype}")


def element(value: Any, dtype: np.dtype, where: str) -> np.ndarray:
    """Make an array of one element and no axes; a value that does not fit exactly is refused."""
    array = convert([value[()] if isinstance(value, np.ndarray) else value], dtype, where)
    if array.shape != (1,):
        raise ShapeError(f"{where}: expected one element, found shape {array.shape[1:]}")
    return np.array(array[0], dtype)


def _fits(x: Any, dtype: np.dtype) -> bool:
    """Whether a Python number can become an element; floats are rounded to floats."""
    if dtype.kind == "b":
        return isinstance(x, (bool, np.bool_))
    if isinstance(x, (bool, np.bool_, int, np.integer)):
        if dtype.kind in "iu":
            return bool(np.iinfo(dtype).min <= x <= np.iinfo(dtype).max)
        with np.errstate(over="ignore"):  # Python compares floats and integers exactly
            return abs(int(x)) < 2**1023 and float(dtype.type(x).real) == int(x)
    if isinstance(x, (float, np.floating)):
        return dtype.kind in "fc" or (dtype.kind in "iu" and x.is_integer() and _fits(int(x), dtype))
    return isinstance(x, (complex, np.complexfloating)) and dtype.kind == "c"
