"""The score step: how well each candidate of the pool answers the question.

Reciprocal ranks say only that a leg liked a node, not how much; on its own a fusion by rank is often
worse than its best leg. So fusion pools the candidates, and this step orders them by a weighted mean of
BM25 over the whole section, the cosine of its best child, and the share of the question that its heading
path answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COSINE_WEIGHT = 0.6
"""Weight of the best child's cosine beside 1 for normalised BM25."""
HEADING_WEIGHT = 0.15
"""Weight of the share of the question's words (by idf) that stand in the heading path."""

K1, B = 1.5, 0.75  # Robertson and Zaragoza 2009; the values of bm25s


@dataclass(frozen=True, slots=True)
class Features:
    """Per candidate, arrays of one length."""

    bm25: NDArray[np.float64]
    """0..1, relative to the best candidate."""
    cosine: NDArray[np.float64]
    """0..1, best child; 0 without vectors."""
    heading: NDArray[np.float64]
    """0..1, share of the question's idf in the heading path."""


def section_bm25(
    frequencies: NDArray[np.int32],
    lengths: NDArray[np.int32],
    starts: Sequence[int],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """BM25 (lucene form) of whole sections from the postings of their children.

    Args:
        frequencies: shape (children, tokens), the children of a section beside each other.
        lengths: shape (children,), tokens per child.
        starts: index of each section's first child.
        weights: shape (tokens,), query weight times idf.

    The average length is that of the candidates, so scores compare within one question only.
    """
    if not len(starts):
        return np.zeros(0)
    tf = np.add.reduceat(frequencies, starts, axis=0).astype(np.float64)
    length = np.add.reduceat(lengths, starts).astype(np.float64)
    norm = K1 * (1 - B + B * length / max(length.mean(), 1.0))
    scores: NDArray[np.float64] = (tf / (tf + norm[:, None])) @ weights
    return scores


def mean_score(features: Features, *, with_vectors: bool) -> NDArray[np.float64]:
    """Weighted mean of the features, 0..1."""
    cosine = COSINE_WEIGHT if with_vectors else 0.0
    total = 1.0 + cosine + HEADING_WEIGHT
    mean: NDArray[np.float64] = (
        features.bm25 + cosine * features.cosine + HEADING_WEIGHT * features.heading
    ) / total
    return mean


def relative(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores divided by the best one; zeros stay zeros."""
    top = scores.max(initial=0.0)
    return scores / top if top > 0 else np.zeros_like(scores)
