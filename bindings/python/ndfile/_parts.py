"""What the parts of an `Array` need of it, for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes
    from typing import Any

    import numpy as np

    from ._file import File
    from ._index import Selection


class Part:
    """A side of an `Array` that is a class of its own."""

    __slots__ = ()

    if TYPE_CHECKING:
        _file: File
        dtype: np.dtype
        dtype_name: str
        masked: bool
        shape: tuple[int, ...]

        @property
        def _where(self) -> str: ...
        def _info(self, handle: int) -> ctypes.Structure: ...
        def _open(self) -> int: ...
        def _extents(self) -> tuple[int, ...]: ...
        @staticmethod
        def _box(selection: Selection) -> tuple[Any, ...]: ...
        def _read(self, selection: Selection, out: np.ndarray | None = None) -> Any: ...
        @property
        def chunks(self) -> tuple[int, ...] | None: ...
        def __getitem__(self, key: Any) -> Any: ...
