"""Which passage of the sources a claim rests on, and word by word how closely."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from gyr_hybrid.answering.claims import Claim, grammatical
from gyr_hybrid.answering.figure_matching import standing
from gyr_hybrid.answering.figures import find_figures
from gyr_hybrid.answering.lexicon import FUNCTION_WORDS, Lexicon
from gyr_hybrid.answering.passages import Passage, Section
from gyr_hybrid.answering.words import Word, stem, words_of

Place = Literal["own", "carried", "following", "heading", "none"]

OWN, CARRIED, HEADING = 1.0, 0.85, 0.85
"""Worth of a word by where it was found: in the passage, in what it inherits, in the section's heading."""
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
    support: float
    """0..1: share of the claim's words and figures that stand in the passage or what it inherits."""

    @property
    def missing(self) -> tuple[Word, ...]:
        """Words that stand nowhere the passage could take them from."""
        return tuple(f.word for f in self.found if f.place == "none")


class Target:
    """A stretch of source text, prepared for looking words up."""

    __slots__ = ("keys", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        latin = [w for w in words_of(text) if not w.han]
        names = [f.text for f in find_figures(text) if f.kind == "code"] + [w.text for w in latin]
        parts = [part for name in names for part in re.split(r"[-_./+]", name.lower()) if part.isalpha()]
        self.keys = frozenset([*(w.key for w in latin), *parts, *map(stem, parts)])


@lru_cache(maxsize=8192)
def target_of(text: str) -> Target:
    """The prepared form of a folded text."""
    return Target(text)


def credit_of(word: Word, before: str, after: str, target: Target, lexicon: Lexicon) -> float:
    """How well one content word stands in a text, 0..1; ``before`` and ``after`` are its neighbours if single characters."""
    if not word.han:
        if word.key in target.keys or word.text in target.keys:
            return 1.0
        return 0.9 if _equivalent(word.key, target, lexicon) or _equivalent(word.text, target, lexicon) else 0.0
    text = target.text
    if len(word.text) == 1:
        if not (before or after):
            if word.text in text:
                return 1.0
        elif (before and before + word.text in text) or (after and word.text + after in text):
            return 1.0
        return 0.9 if _equivalent(word.text, target, lexicon) else 0.0
    if word.text in text:
        return 1.0
    if _equivalent(word.text, target, lexicon):
        return 0.9
    if re.search(".{0,2}".join(map(re.escape, word.text)), text):
        return 0.8
    if len(word.text) > 3:
        halves = (word.text[:2], word.text[2:])
        if all(grammatical(h) or h in text or _equivalent(h, target, lexicon) for h in halves):
            return 0.8
    return 0.7 if _loose(word.text, lexicon).search(text) else 0.0


@lru_cache(maxsize=8192)
def _loose_pattern(word: str, alternatives: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(".{0,2}".join(f"[{re.escape(a)}]" for a in alternatives) or r"(?!)")


def _loose(word: str, lexicon: Lexicon) -> re.Pattern[str]:
    """``带狗`` as ``携犬``, ``放出`` as ``放``: character by character, grammar left out, near one another."""
    alternatives = tuple(
        char + "".join(o for o in lexicon.equivalents.get(char, ()) if len(o) == 1)
        for char in word
        if char not in FUNCTION_WORDS
    )
    return _loose_pattern(word, alternatives)


def _equivalent(key: str, target: Target, lexicon: Lexicon) -> bool:
    others = lexicon.equivalents.get(key)
    if not others:
        return False
    for other in others:
        if other.isascii():
            parts = other.split()
            if all(p in target.keys for p in parts):
                return True
        elif other in target.text:
            return True
    return False


def align(claim: Claim, sections: Iterable[Section], lexicon: Lexicon) -> Aligned | None:
    """The passage that says most of the claim, its figures above all; ties go to the earlier one."""
    best: Aligned | None = None
    for index, section in enumerate(sections):
        for place, passage in enumerate(section.passages):
            aligned = _compare(claim, index, section, place, passage, lexicon)
            if best is None or aligned.score > best.score + 1e-9:
                best = aligned
    return best


def _compare(
    claim: Claim, index: int, section: Section, place: int, passage: Passage, lexicon: Lexicon
) -> Aligned:
    own, carried, heading = target_of(passage.own), target_of(passage.carried), target_of(section.heading)
    later = _following(section, place) if len(claim.clauses) > 1 else ()
    following = target_of("\n".join(p.text for p in later))
    main = claim.clauses[-1][0]
    found: list[Found] = []
    total = gained = score = 0.0
    for word, before, after in _with_neighbours(claim.words):
        weight = float(min(len(word.text), 4)) if word.han else 2.0
        total += weight
        period = next((f for f in claim.figures if f.weak and f.start <= word.start < f.end), None)
        if period and period.kind == "duration" and standing(period, passage.figures) == "same":
            found.append(Found(word, "own", 1.0))
            gained, score = gained + weight, score + weight
            continue
        credit = credit_of(word, before, after, own, lexicon)
        where: Place = "own"
        worth = OWN
        if credit < 0.6:
            for name, target, value in (
                ("carried", carried, CARRIED),
                ("following", following, CARRIED),
                ("heading", heading, HEADING),
            ):
                other = credit_of(word, before, after, target, lexicon)
                if other > credit and other >= 0.6:
                    credit, where, worth = other, name, value  # type: ignore[assignment]
                    break
        if credit < 0.6:
            where = "none"
        found.append(Found(word, where, credit))
        gained += weight * credit * worth
        share = 0.2 if where == "none" else 1.0 if where == "own" else 0.5
        score += weight * credit * (share if word.start >= main else min(share, 0.7))
    near = (*passage.carried_figures, *(f for p in later for f in p.figures), *section.heading_figures)
    for figure in claim.figures:
        if figure.weak:
            continue
        total += FIGURE_WEIGHT
        if standing(figure, passage.figures) == "same":
            gained += FIGURE_WEIGHT
            score += FIGURE_WEIGHT
        elif standing(figure, near) == "same":
            gained += FIGURE_WEIGHT * CARRIED
            score += FIGURE_WEIGHT * 0.5
    support = gained / total if total else 0.0
    return Aligned(claim, index, passage, later, tuple(found), score - 0.002 * len(passage.text), support)


def _following(section: Section, place: int) -> tuple[Passage, ...]:
    segment = section.passages[place].segment
    return tuple(p for p in section.passages[place + 1 : place + 4] if p.segment == segment)


def _with_neighbours(words: tuple[Word, ...]) -> list[tuple[Word, str, str]]:
    """Each word with the single characters right beside it, for words that the dictionary cut apart."""
    rows: list[tuple[Word, str, str]] = []
    for i, word in enumerate(words):
        before = words[i - 1] if i and words[i - 1].end == word.start and len(words[i - 1].text) == 1 else None
        after = words[i + 1] if i + 1 < len(words) and words[i + 1].start == word.end else None
        if after and len(after.text) > 1:
            after = None
        rows.append(
            (word, before.text if before and before.han else "", after.text if after and after.han else "")
        )
    return rows
