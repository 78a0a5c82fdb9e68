"""A claim beside the passage that it rests on, word by word."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from gyr_hybrid.answering.verification.claims import Claim, content_words
from gyr_hybrid.answering.verification.crediting import stands, target_of
from gyr_hybrid.answering.verification.passages import Passage
from gyr_hybrid.answering.verification.words import Word
from gyr_hybrid.figures import Figure, find_figures, standing

Place = Literal["own", "carried", "following", "heading", "elsewhere", "none"]
FIGURE_WEIGHT = 4
"""A figure weighs as much as this many characters of words."""


@dataclass(frozen=True, slots=True)
class Found:
    word: Word
    place: Place
    credit: float
    """0..1: 1 for the word itself, less for a synonym or scattered characters."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A claim beside the passage that says most of it."""

    claim: Claim
    section: int
    """Index into the sections that were compared."""
    passage: Passage
    later: tuple[Passage, ...]
    """Clauses after it that a claim of several clauses may rest on too."""
    found: tuple[Found, ...]
    score: float
    gained: float
    total: float
    """Weight of the claim's words and figures, and how much of it stands in the passage or what it inherits."""
    lacking: int = 0
    """Figures of the claim that stand neither there nor in the heading."""

    @property
    def support(self) -> float:
        """0..1: closeness of the claim to its passage."""
        return self.gained / self.total if self.total else 0.0

    def support_with(self, explained: Collection[Figure]) -> float:
        """The same, figures that were worked out from quoted ones counting as quoted."""
        worked_out = sum(f in explained for f in self.claim.figures)
        return min(1.0, (self.gained + FIGURE_WEIGHT * worked_out) / self.total) if self.total else 0.0

    @property
    def missing(self) -> tuple[Word, ...]:
        """Words that stand nowhere the passage could take them from."""
        return tuple(f.word for f in self.found if f.place in ("none", "elsewhere"))

    @property
    def source(self) -> str:
        """The passage and those of its neighbours that lend the claim a word; one clause a line."""
        lent = [(f.word, f.place) for f in self.found if f.place in ("carried", "following")]
        before = [
            line
            for line in self.passage.carried.split("\n")
            if any(p == "carried" and stands(w, target_of(line)) for w, p in lent)
        ]
        after = [
            p.text
            for p in self.later
            if any(x == "following" and stands(w, target_of(p.text)) for w, x in lent)
        ]
        return "\n".join([*before, self.passage.own, *after])

    @property
    def figured(self) -> str:
        """``source`` with the earlier clauses that lend the claim a figure, and the later ones."""
        mine = [f for f in self.claim.figures if not f.weak]
        lending = [
            line
            for line in self.passage.carried.split("\n")
            if mine and any(standing(f, find_figures(line)) == "same" for f in mine)
        ]
        return "\n".join([self.source, *lending, *(p.text for p in self.later)])


def places_of(word: Word, text: str) -> list[int]:
    """Offsets of a word in a folded text."""
    if word.han:
        return [m.start() for m in re.finditer(re.escape(word.text), text)]
    return [w.start for w in content_words(text) if w.key == word.key]
