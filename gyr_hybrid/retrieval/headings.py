"""What the headings above a section say about a question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import fsum

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.retrieval.run import Run


def heading_share(run: Run, units: Sequence[str]) -> NDArray[np.float64]:
    """Share of the question, by idf, that stands in each unit's heading path; synonyms count."""
    view, analyzer, equivalents = run.view, run.analyzer, run.expansion.equivalents
    words = {word: view.idf(word) for word in (*analyzer.content_words(run.plain), *equivalents)}
    # the synonym of a mere question word ("怎么办" -> "解决办法") has no content word of its own
    widened = {token: weight * view.idf(token) for token, weight in run.expansion.weights.items()}
    total = sum(words.values()) or max(widened.values(), default=0.0)
    if total <= 0.0:
        return np.zeros(len(units))
    paths = view.header_paths(units)
    asked = [(frozenset((word, *equivalents.get(word, ()))), idf) for word, idf in words.items()]
    shares = {}
    for path in set(paths):
        terms = heading_terms(analyzer, path)
        found = sum(idf for forms, idf in asked if not forms.isdisjoint(terms))
        found += max((idf for token, idf in widened.items() if token in terms), default=0.0)
        shares[path] = min(1.0, found / total)
    return np.array([shares[path] for path in paths])


@lru_cache(maxsize=1 << 14)
def heading_terms(analyzer: Analyzer, path: tuple[str, ...]) -> frozenset[str]:
    """Terms of all headings of a path."""
    return frozenset().union(*(_terms(analyzer, heading) for heading in path))


def named(run: Run, units: Sequence[str]) -> NDArray[np.float64]:
    """Share of the question, by idf, taken up by the weightiest heading of the path that it says in full.

    A question that names a thing is about that thing's page before any page that speaks of it.
    """
    view, analyzer = run.view, run.analyzer
    idf = {token: view.idf(token) for token in analyzer.tokens(run.query.query_str)}
    total = fsum(idf.values())
    if total <= 0.0:
        return np.zeros(len(units))
    paths = view.header_paths(units)
    weights = {
        heading: fsum(idf[term] for term in terms)
        if (terms := _terms(analyzer, heading)) <= idf.keys()
        else 0.0
        for heading in {heading for path in paths for heading in path}
    }
    return np.array([min(1.0, max((weights[h] for h in path), default=0.0) / total) for path in paths])


@lru_cache(maxsize=1 << 14)
def _terms(analyzer: Analyzer, heading: str) -> frozenset[str]:
    """Headings come up again with every question about their documents."""
    return frozenset(analyzer.terms(heading))
