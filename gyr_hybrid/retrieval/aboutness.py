"""What the score step adds for a question with codes: how much each section is about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.retrieval.asked import asked_besides, light
from gyr_hybrid.retrieval.headings import heading_terms
from gyr_hybrid.retrieval.places import Places
from gyr_hybrid.retrieval.references import name_before, name_shares, newest_first
from gyr_hybrid.retrieval.run import Run

ABOUT = 2.0
"""Weight of the place of the codes when the question says more than the codes."""
ABOUT_ALONE = 6.0
"""Its weight when it does not: then the place decides, and words only between equal places."""
NAMED = 2.0
"""How much the name before a numbered place (``劳动合同法第三十三条``) weighs beside the place itself."""


class Aboutness:
    """The sections of a run's first tier, when they bear codes of the question, and how much they are about them.

    Args:
        run: with its tiers.
        units: the sections of the pool.
    """

    def __init__(self, run: Run, units: Sequence[str]) -> None:
        first = max(run.levels.values(), default=(0, 0))
        self.run = run
        self.units = units
        self.leading = [unit for unit in units if run.levels[unit] == first] if first[0] else []
        self.defined = first[1] > 0

    @cached_property
    def asked(self) -> dict[str, float]:
        """Word -> idf of what is asked besides the codes."""
        run = self.run
        words = {word: run.view.idf(word) for word in run.analyzer.content_words(run.plain)}
        return asked_besides(
            run.query.query_str, words, analyzer=run.analyzer, codes=run.codes, defined=self.defined
        )

    def weighted(self, children: Mapping[str, Sequence[str]]) -> NDArray[np.float64] | None:
        """Per unit, what its score gains; 0 outside the first tier; None when that bears no code.

        Args:
            children: unit -> its children.
        """
        if not self.leading:
            return None
        run = self.run
        grades = Places(run.holders, run.analyzer, run.view).grades(self.leading, children)
        if name := name_before(run.query.query_str, run.codes):
            shares = name_shares(name, run.view.header_paths(self.leading))
            grades = [grade + NAMED * share for grade, share in zip(grades, shares, strict=True)]
        alone = sum(self.asked.values()) < light(run.view.n_children)
        gains = dict(zip(self.leading, grades, strict=True))
        return np.array([(ABOUT_ALONE if alone else ABOUT) * gains.get(unit, 0.0) for unit in self.units])

    def order_editions(self, scores: dict[str, float]) -> None:
        """Put editions of one document in order of time, unless words besides their headings tell between them."""
        run = self.run
        paths = {}
        for unit, path in zip(self.leading, run.view.header_paths(self.leading), strict=True):
            terms = heading_terms(run.analyzer, path)
            if sum(idf for word, idf in self.asked.items() if word not in terms) < light(run.view.n_children):
                paths[unit] = path
        newest_first(scores, paths, run.view)
