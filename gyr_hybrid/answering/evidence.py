"""How far the sections found can answer the question: one number on which refusal is decided.

No single score does it: BM25 tells off-topic questions but not near-topic ones, coverage the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

EVIDENCE_MIN = 0.5
"""Below it the engine refuses with ``no_evidence``."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known about one retrieval; every part 0..1, None where it does not apply."""

    coverage: float
    """Share, by idf, of the question's content words that the best section contains."""
    bm25: float | None = None
    """Best BM25 score over the score it could reach."""
    agreement: float | None = None
    """Whether words and vectors name the same section first (1), both name it (0.5), or not (0)."""
    cosine: float | None = None
    bears_code: bool = False
    """Whether the coverage is that of sections bearing a code of the question."""


def coverage(
    weights: Mapping[str, float], sections: Sequence[Collection[str]], synonyms: Mapping[str, Collection[str]]
) -> float:
    """Best share of ``weights`` that one section's terms contain.

    Args:
        weights: content word -> idf.
        sections: terms of each section.
        synonyms: content word -> terms that also count as it.

    >>> coverage({"微信": 3.0, "支付": 1.0}, [{"支付", "宝"}, {"退款"}], {})
    0.25
    """
    total = sum(weights.values())
    if not sections:
        return 0.0
    if total <= 0:
        return 1.0
    return max(covered(weights, terms, synonyms) for terms in sections) / total


def covered(
    weights: Mapping[str, float], terms: Collection[str], synonyms: Mapping[str, Collection[str]]
) -> float:
    """Sum of the weights of the words that the terms contain."""
    return sum(
        weight
        for word, weight in weights.items()
        if word in terms or any(other in terms for other in synonyms.get(word, ()))
    )


def evidence(signals: Signals) -> float:
    """Combine the signals into one value, 0..1; 0.5 is the border of refusal."""
    score = 6.0 * (signals.coverage - (0.2 if signals.bears_code else 0.45))
    if signals.bm25 is not None:
        score += 1.0 * (signals.bm25 - 0.3)
    return 1.0 / (1.0 + math.exp(-score))


def terms_of(text: str, path: Sequence[str], terms: Callable[[str], set[str]]) -> set[str]:
    """Terms of a section and its heading path."""
    return terms("\n".join([*path, text]))
