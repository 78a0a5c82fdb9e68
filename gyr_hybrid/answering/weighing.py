"""What the words of a question weigh, and which terms a section has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from llama_index.core.schema import BaseNode

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.answering.context.packing import plain_text
from gyr_hybrid.retrieval.resolved_code import ResolvedCode
from gyr_hybrid.retrieval.result import Retrieval


def section_terms(node: BaseNode, analyzer: Analyzer) -> set[str]:
    """Terms of a section's text and heading path."""
    path = node.metadata.get("header_path") or []
    parts = [path] if isinstance(path, str) else list(map(str, path))
    return analyzer.terms("\n".join([*parts, plain_text(node)]))


def word_weights(question: str, retrieval: Retrieval, analyzer: Analyzer) -> dict[str, float]:
    """Content word, codes left out -> idf; what no document has weighs most; all alike without an idf."""
    if retrieval.run is None:
        return _without_codes(dict.fromkeys(analyzer.content_words(question), 1.0), retrieval.codes)
    children = retrieval.run.view.n_children
    heaviest = math.log(1 + (children + 0.5) / 0.5)
    weights = {word: weight or heaviest for word, weight in retrieval.word_weights.items()}
    return _without_codes(weights, retrieval.codes)


def _without_codes(weights: Mapping[str, float], codes: Sequence[ResolvedCode]) -> dict[str, float]:
    """The words that are neither a code nor the word beside it that says what it is."""
    taken = {form.casefold() for code in codes for form in (code.text, code.canonical)}
    classes = [code.class_word.casefold() for code in codes if code.class_word]
    return {
        word: weight
        for word, weight in weights.items()
        if word.casefold() not in taken and not any(word.casefold() in name for name in classes)
    }
