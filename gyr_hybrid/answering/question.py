"""What an extraction knows about the question, and about a section that may answer it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from gyr_hybrid.answering.evidence import covered

_HOW = re.compile(r"怎么|怎样|如何|咋|步骤|流程|办法|解决|\bhow\b|\bsteps?\b|\bfix\b", re.IGNORECASE)
_QUESTIONS = re.compile(r"[？?；;。\n]+|[，,]\s*(?:另外|还有|以及|顺便|同时|also\b|and\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A section of the context, prepared."""

    text: str
    terms: Set[str]
    """Of text and heading path."""
    codes: Collection[str] = ()
    """Known codes of the question that it bears."""
    focus: Sequence[tuple[int, int]] = ()
    """Stretches of the text that retrieval found, best first."""
    place: tuple[str, int] = ("", 0)
    """Document and offset, for reading order."""


@dataclass(frozen=True, slots=True)
class Question:
    """What an extraction knows about the question."""

    text: str
    weights: Mapping[str, float]
    """Content word, codes left out -> idf."""
    synonyms: Mapping[str, Collection[str]]
    terms: Callable[[str], Collection[str]]
    codes: Sequence[str] = field(default_factory=tuple)
    """Known codes, in order; of a family its first."""
    members: Collection[str] = field(default_factory=tuple)
    """All codes that count: those, and the others of their families."""
    head: Callable[[str], str | None] = lambda text: None
    """The code that a text begins with."""
    split: Callable[[str], Sequence[str]] = lambda text: _QUESTIONS.split(text)
    """The questions that a text consists of; none or one when it asks one thing."""
    orders: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """One of those questions -> numbers of the sections as its own search had them, best first."""

    @property
    def asks_family(self) -> bool:
        """Whether a code means several, each of which is to be shown."""
        return len(self.members) > len(self.codes)

    @property
    def asks_how(self) -> bool:
        """Whether steps are wanted, so that a list must not be cut."""
        return _HOW.search(self.text) is not None

    def worth(self, text: str) -> float:
        """Weight of the question's words in ``text``."""
        return covered(self.weights, self.terms(text), self.synonyms)

    def worth_of(self, text: str, words: Collection[str]) -> float:
        """Weight of some of the question's words in ``text``."""
        weights = {word: self.weights[word] for word in words}
        return covered(weights, self.terms(text), self.synonyms)

    def joined(self, other: Question) -> Question:
        """Both questions as one, asked of the same section."""
        return replace(self, text=f"{self.text}；{other.text}", weights={**self.weights, **other.weights})

    def bears(self, text: str) -> bool:
        """Whether a code of the question stands in ``text``."""
        wanted = self.members or self.codes
        terms = self.terms(text) if wanted else ()
        return any(code in terms for code in wanted)

    def parts(self) -> list[Question]:
        """The questions that it consists of, each with its own words."""
        parts = []
        for text in self.split(self.text):
            terms = self.terms(text)
            weights = {word: weight for word, weight in self.weights.items() if word in terms}
            if weights:
                parts.append(replace(self, text=text, weights=weights))
        return parts or [self]
