"""Arrays that grow at the end and never change before it, so that old pictures stay right."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class GrowingArray:
    """A numpy array with room to grow. Slices taken earlier keep their values when it moves."""

    def __init__(self, dtype: Any) -> None:
        self._data: NDArray[Any] = np.empty(16, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[Any]:
        """What was appended so far."""
        return self._data[: self._size]

    def extend(self, values: ArrayLike) -> None:
        """Append values at the end."""
        added = np.asarray(values, dtype=self._data.dtype)
        size = self._size + len(added)
        if size > len(self._data):
            # a quarter more: memory is worth more here than copies
            moved = np.empty(max(size, len(self._data) + len(self._data) // 4), dtype=self._data.dtype)
            moved[: self._size] = self._data[: self._size]
            self._data = moved
        self._data[self._size : size] = added
        self._size = size
