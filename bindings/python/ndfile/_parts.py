"""Part: what an `Array` holds, and what its sides, classes of their own, need of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes
    from typing import Any

    import numpy as np

    from ._assign import Points
    from ._element import Element
    from ._file import File
    from ._handles import Handle
    from ._index import Selection
    from ._writing import Appending


class Part:
    """What the sides of an `Array` have in common."""

    __slots__ = (
        "__weakref__",
        "_appending",
        "_file",
        "_handle",
        "_meta",
        "_one",
        "_position",
        "_single",
        "dtype",
        "dtype_name",
        "masked",
        "name",
        "shape",
    )

    if TYPE_CHECKING:
        _appending: Appending | None
        _file: File
        _handle: Handle
        _one: Element | None
        _position: int
        _single: bool
        dtype: np.dtype
        dtype_name: str
        masked: bool
        name: str
        shape: tuple[int, ...]

        @property
        def _where(self) -> str: ...
        @property
        def ndim(self) -> int: ...
        @property
        def size(self) -> int: ...
        @property
        def nbytes(self) -> int: ...
        @property
        def chunks(self) -> tuple[int, ...] | None: ...
        @property
        def vindex(self) -> Points: ...
        def _info(self, handle: int) -> ctypes.Structure: ...
        def _open(self) -> int: ...
        def _refresh(self) -> None: ...
        def _extents(self) -> tuple[int, ...]: ...
        @staticmethod
        def _box(selection: Selection) -> tuple[Any, ...]: ...
        def _read(
            self,
            selection: Selection,
            out: np.ndarray | None = None,
            rows: np.ndarray | None = None,
            load: Any = None,
        ) -> Any: ...
        def _read_points(self, axes: int, points: np.ndarray) -> Any: ...
        def _given(self, value: Any) -> Any: ...
        def _fitted(self, value: np.ndarray) -> Any: ...
        def read(
            self, key: Any = ..., *, out: np.ndarray | None = None, narrow: bool = False
        ) -> np.ndarray: ...
        def __len__(self) -> int: ...
        def __getitem__(self, key: Any) -> Any: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...
