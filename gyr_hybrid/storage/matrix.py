"""Exact search over float32 unit vectors, one row per slot."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

BLOCK_ROWS = 8192
"""Rows that room is made for at once when documents are added."""
_EXACT_AT_ONCE = 1024
"""Rows in double precision at a time."""


class Matrix:
    """Rows that are written once. Growing adds a block and moves nothing, so readers are not disturbed."""

    def __init__(self, dimension: int, rows: int = 0) -> None:
        self.dimension = dimension
        self._blocks: list[tuple[int, NDArray[np.float32]]] = []
        self._room = 0
        if rows:
            self._add_block(rows)

    def write(self, slots: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Set rows; slots beyond the end make room."""
        if not len(slots):
            return
        while int(slots.max()) >= self._room:
            self._add_block(BLOCK_ROWS)
        first, last = int(slots[0]), int(slots[-1])
        for start, block in self._blocks:
            if (
                len(slots) == last - first + 1
                and start <= first
                and last < start + len(block)
                and _ascends(slots)
            ):
                block[first - start : last + 1 - start] = vectors
                return
            inside = (slots >= start) & (slots < start + len(block))
            if inside.any():
                block[slots[inside] - start] = vectors[inside]

    def products(self, vector: NDArray[np.float32], n: int) -> NDArray[np.float32]:
        """Dot products of the first n rows."""
        scores = np.zeros(n, dtype=np.float32)
        for start, block in self._blocks:
            end = min(start + len(block), n)
            if start < end:
                np.dot(block[: end - start], vector, out=scores[start:end])
        return scores

    def products_of(self, vector: NDArray[np.float32], slots: NDArray[np.intp]) -> NDArray[np.float32]:
        """Dot products of some rows, given in ascending order."""
        scores = np.zeros(len(slots), dtype=np.float32)
        for first, last, rows in self._parts(slots):
            np.dot(rows, vector, out=scores[first:last])
        return scores

    def exact_products_of(self, vector: NDArray[np.float32], slots: NDArray[np.intp]) -> NDArray[np.float32]:
        """The same in double precision: equal rows give equal products, wherever they stand.

        A matrix product adds up in an order that depends on a row's place, and so rounds equal rows apart.
        """
        scores = np.zeros(len(slots), dtype=np.float32)
        wide = vector.astype(np.float64)
        order = np.argsort(slots, kind="stable")
        for first, last, rows in self._parts(slots[order]):
            for at in range(first, last, _EXACT_AT_ONCE):
                end = min(at + _EXACT_AT_ONCE, last)
                scores[order[at:end]] = (rows[at - first : end - first] * wide).sum(axis=1)
        return scores

    def _parts(self, slots: NDArray[np.intp]) -> Iterator[tuple[int, int, NDArray[np.float32]]]:
        """Copies of rows, block by block: which of the ascending slots, and their rows."""
        for start, block in self._blocks:
            first, last = np.searchsorted(slots, (start, start + len(block))).tolist()
            if first < last:
                yield first, last, block[slots[first:last] - start]

    def _add_block(self, rows: int) -> None:
        # room for rows that get no vector must read as zero
        self._blocks.append((self._room, np.zeros((rows, self.dimension), dtype=np.float32)))
        self._room += rows


def _ascends(slots: NDArray[np.int64]) -> bool:
    return bool((slots[1:] > slots[:-1]).all())
