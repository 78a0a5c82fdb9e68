"""What a question asks about a code that the documents know, besides naming it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.retrieval.dependence import other_words
from gyr_hybrid.retrieval.phrases import without_phrases
from gyr_hybrid.retrieval.resolved_code import ResolvedCode

LIGHT = 0.25
"""Share of the weight of a word that no document has; words that weigh less together say little: the name of the
product that all documents are about."""


def asked_besides(
    question: str,
    weights: Mapping[str, float],
    *,
    analyzer: Analyzer,
    codes: Sequence[ResolvedCode],
    defined: bool,
) -> dict[str, float]:
    """The words of ``weights`` that a section about the code has to contain to be an answer, with their weights.

    Codes, words for what they are, words that only ask and the place where the code was met say nothing that the
    section must repeat; nor do the aspects that every definition has, where the code is defined, nor words that
    compare several codes.

    Args:
        question: as it was asked.
        weights: content word -> idf.
        analyzer: the index's.
        codes: all codes of the question.
        defined: whether a section found defines them.
    """
    blanked = without_phrases(question, codes, aspects=defined)
    left = set(other_words(blanked, analyzer, codes))
    return {word: weight for word, weight in weights.items() if word in left}


def light(children: int) -> float:
    """The idf below which all that is asked beside a code weighs little, in an index of so many children."""
    return LIGHT * math.log(1 + 2 * children)
