"""How much of a question stands in a section."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.retrieval.run import Run


def coverage(run: Run, units: Sequence[str]) -> NDArray[np.float64]:
    """0..1 per section: share, by idf, of the question's content words that it has; synonyms count as the word."""
    view = run.view
    words = {word: view.idf(word) for word in run.analyzer.content_words(run.plain)}
    total = sum(words.values())
    if not units or total <= 0.0:
        return np.zeros(len(units))
    columns = [(word, *run.expansion.equivalents.get(word, ())) for word in words]
    tokens = list(dict.fromkeys(token for column in columns for token in column))
    place = {token: i for i, token in enumerate(tokens)}
    children = view.children(units)
    members = [children.get(unit) or [unit] for unit in units]
    starts = np.cumsum([0, *map(len, members)])[:-1].tolist()
    found = view.frequencies(tokens, [child for ids in members for child in ids]) > 0
    in_unit = np.logical_or.reduceat(found, starts, axis=0)
    has = np.stack([in_unit[:, [place[token] for token in column]].any(axis=1) for column in columns], axis=1)
    shares: NDArray[np.float64] = has @ np.array(list(words.values())) / total
    return shares
