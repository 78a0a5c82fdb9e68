"""The best k of many scores, exactly, equal ones in reading order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Slots = NDArray[np.intp]
Positions = Callable[[Slots], NDArray[np.int64]]
"""Slots -> their places in reading order."""

Exact = Callable[[Slots], NDArray[np.float32]]
"""Slots -> their scores, the same for equal rows wherever they stand."""

SLACK = 1e-5
"""More than float32 dot products of unit vectors are off, at any dimension in use."""
_WIDTH = 64
"""Scores per group when looking for a threshold; any value is exact, this one was fastest at 10^5 scores."""


def top_k(
    scores: NDArray[np.float32],
    k: int,
    positions: Positions,
    *,
    above: float = -np.inf,
    exact: Exact | None = None,
) -> tuple[Slots, NDArray[np.float32]]:
    """Indices and values of the k largest scores above ``above``, best first, ties by position.

    Args:
        exact: works out the scores of the few that come into question once more, where ``scores`` are
            rounded differently from row to row; they must be right to within ``SLACK``.

    >>> slots, values = top_k(np.array([1, 3, 3, 0], dtype=np.float32), 2, lambda slots: -slots)
    >>> slots.tolist(), values.tolist()
    ([2, 1], [3.0, 3.0])
    """
    if k < 1 or not len(scores):
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32)
    slack = SLACK if exact is not None else 0.0
    threshold = _threshold(scores, k) - slack
    found = np.flatnonzero(
        (scores >= threshold) & (scores > above) if threshold <= above else scores >= threshold
    )
    values = scores[found]
    if len(found) > k:
        kept = values >= np.partition(values, len(values) - k)[len(values) - k] - slack
        found, values = found[kept], values[kept]
    if exact is not None:
        values = exact(found)
    order = np.lexsort((positions(found), -values))[:k]
    return found[order], values[order]


def _threshold(scores: NDArray[np.float32], k: int) -> float:
    """A lower bound of the k-th largest score: the k-th largest of the groups' maxima."""
    groups = len(scores) // _WIDTH
    if groups <= k:
        return -np.inf
    maxima = scores[: groups * _WIDTH].reshape(groups, _WIDTH).max(axis=1)
    return float(np.partition(maxima, groups - k)[groups - k])
