"""napari: images of files as layers. napari finds this by the manifest ``napari.yaml``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from ._array import Array
from ._errors import NdfileError
from ._info import detect
from ._open import open as open_file

__all__ = ["get_reader", "read"]

Layer = tuple[Any, dict[str, Any], str]


def get_reader(path: str | Sequence[str]) -> Callable[[str | Sequence[str]], list[Layer]] | None:
    """Give what reads a path, or several, as layers; None where it is no file of this library."""
    try:
        for one in [path] if isinstance(path, str) else path:
            detect(one)
    except (NdfileError, OSError):
        return None
    return read


def read(path: str | Sequence[str]) -> list[Layer]:
    """Give each array of two axes and more as a layer: elements, options, and ``"image"``.

    Elements are read when they are looked at. Complex arrays are read at once and become two layers, absolute
    value and phase; missing elements become NaN.
    """
    layers: list[Layer] = []
    for one in [path] if isinstance(path, str) else path:
        file = open_file(one)
        for name, array in file.items():
            kind = "" if array.dtype is None else array.dtype.kind
            if kind and kind in "biufc" and array.ndim >= 2:
                title = name or os.path.basename(os.path.normpath(os.fsdecode(one)))
                layers += _layers(title, array)
    return layers


def _layers(title: str, array: Array) -> list[Layer]:
    options = {"name": title, "metadata": dict(array.attrs)}
    if array.dtype is not None and array.dtype.kind == "c":
        data = array[...]
        phase = {**options, "name": f"{title} (phase)", "colormap": "hsv", "contrast_limits": (-np.pi, np.pi)}
        return [(np.abs(data), options, "image"), (np.angle(data), phase, "image")]
    if array.masked:
        return [(np.ma.filled(array[...].astype(float), np.nan), options, "image")]
    return [(array, options, "image")]
