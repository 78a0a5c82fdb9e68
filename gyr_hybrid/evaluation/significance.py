"""Whether a difference between two rankings is more than luck of the questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
"""Resamples of the questions; p cannot fall below 2 / (RESAMPLES + 1)."""
_BLOCK = 500


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean difference of two systems over the same questions."""

    mean: float
    low: float
    """Lower end of the 95 % interval."""
    high: float
    p: float
    """Two-sided, 0..1."""


def paired_bootstrap(ours: NDArray[np.float64], theirs: NDArray[np.float64], *, seed: int = 0) -> Difference:
    """Percentile bootstrap over questions (Efron and Tibshirani 1993, chapters 13 and 16).

    Args:
        ours: one figure per question.
        theirs: the other system's figures for the same questions.
        seed: the same seed gives the same result.
    """
    gap = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    if not gap.size:
        return Difference(0.0, 0.0, 0.0, 1.0)
    random = np.random.default_rng(seed)
    means = np.concatenate(
        [
            gap[random.integers(0, gap.size, (min(_BLOCK, RESAMPLES - done), gap.size))].mean(axis=1)
            for done in range(0, RESAMPLES, _BLOCK)
        ]
    )
    tiny = 1e-12  # sums of equal figures in another order
    not_above = int((means <= tiny).sum())
    not_below = int((means >= -tiny).sum())
    p = min(1.0, 2.0 * (min(not_above, not_below) + 1) / (RESAMPLES + 1))
    low, high = np.percentile(means, [2.5, 97.5])
    return Difference(float(gap.mean()), float(low), float(high), p)
