"""Words that a section sets against one another: heads of a list, rows and columns of a table, parallel clauses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, groupby

from gyr_hybrid.answering.verification.claims import content_words
from gyr_hybrid.answering.verification.passages import Passage
from gyr_hybrid.answering.verification.word_lists import LIGHT_WORDS
from gyr_hybrid.figures import even_fold, find_figures

MOST_HEADS = 40
"""Longest list or table whose heads are compared pairwise."""

Pair = tuple[str, str]
"""Two word keys of which only one can be meant."""


def contrasting_pairs(heads: Sequence[str]) -> set[Pair]:
    """Pairs of words in which the heads of one enumeration differ, one word against one.

    >>> sorted(contrasting_pairs(["红灯闪烁", "黄灯闪烁"]))
    [('红灯', '黄灯')]
    """
    words = [frozenset(w.key for w in content_words(even_fold(h))) for h in heads[:MOST_HEADS]]
    pairs: set[Pair] = set()
    for ours, theirs in combinations(words, 2):
        mine, other = ours - theirs, theirs - ours
        if len(mine) == len(other) == 1 and not (mine | other) & LIGHT_WORDS:
            first, second = sorted((*mine, *other))
            pairs.add((first, second))
    return pairs


def parallel_pairs(passages: Iterable[Passage]) -> set[Pair]:
    """Pairs of words that parallel clauses of one sentence give different figures to."""
    pairs: set[Pair] = set()
    for _, group in groupby(passages, key=lambda p: p.sentence):
        leads: list[tuple[str, str]] = []
        for passage in group:
            first = next((f for f in find_figures(passage.text) if not f.weak and f.kind != "code"), None)
            if first and first.start:
                leads.append((first.kind, passage.text[: first.start]))
        for kind in {k for k, _ in leads}:
            pairs |= contrasting_pairs([lead for k, lead in leads if k == kind])
    return pairs
