"""Arrays of open files as sources of copies: what comes along besides the elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _capi
from ._errors import LossError

if TYPE_CHECKING:
    from ._array import Array
    from ._file import File


def carried(array: Array, caps: int, where: str, dims: Any, attrs: Any) -> tuple[Any, Any]:
    """Give the names of axes and the attributes of a copy: those given, else those of the source.

    Raises
    ------
    LossError
        The source has some that a format of these abilities has no place for.
    """
    if dims is None and array.dims is not None:
        dims = array.dims
        _fits(caps & _capi.NDF_CAP_DIMS, where, "names of axes", dims)
    if attrs is None and len(array.attrs):
        attrs = dict(array.attrs)
        _fits(caps & _capi.NDF_CAP_ARRAY_ATTRS, where, "attributes", list(attrs))
    if array.masked and not caps & _capi.NDF_CAP_MASKED and array.count() < array.size:
        _fits(0, where, "missing elements", array.size - array.count())
    return dims, attrs


def storage(array: Array, format: str, caps: int, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give how a copy can be stored, best first: as the source if both have chunks and nothing was said."""
    found = {name: value for name, value in given.items() if value is not None}
    if found or not caps & _capi.NDF_CAP_CHUNKED or array.chunks is None:
        return [found]
    like = {"chunks": array.chunks, "fill_value": array.fill_value}
    ways: list[dict[str, Any]] = [{"codecs": array.codecs, "shards": array.shards}]
    if array.file.format != format:
        ways += [{"codecs": array.codecs}, {"compression": array.compression}]
    return [{name: value for name, value in (like | how).items() if value is not None} for how in ways]


def file_attrs(attrs: Mapping[str, Any], caps: int, where: str) -> dict[str, Any]:
    """Give the attributes of a copied file."""
    if attrs:
        _fits(caps & _capi.NDF_CAP_FILE_ATTRS, where, "file attributes", list(attrs))
    return dict(attrs)


def copy_groups(source: File, target: File) -> None:
    """Make the groups of a copied file, with their attributes."""
    caps = target._info().caps
    for name in source.groups:
        attrs = dict(source[name].attrs)
        if caps & _capi.NDF_CAP_GROUPS:
            target.create_group(name, attrs)
        elif attrs:
            _fits(0, target.path, f"attributes of the group {name!r}", list(attrs))
        elif not any(array.startswith(name + "/") for array in source):
            _fits(0, target.path, "groups without arrays", name)


def _fits(able: int, where: str, what: str, found: Any) -> None:
    if not able:
        raise LossError(
            f"{where}: the format has no place for {what} of the source ({found}); copy v[...] to leave them "
            "out, or use ndfile.convert(..., allow_loss=True)"
        )
