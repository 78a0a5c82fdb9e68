"""A question in which codes are looked for: its pieces, what stands around them, and what it says besides."""

from __future__ import annotations

from collections.abc import Callable

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.analysis.context import Rank
from gyr_hybrid.analysis.vocabulary import ASKING_WORDS
from gyr_hybrid.retrieval.resolved_code import ResolvedCode, Status
from gyr_hybrid.storage.codes import KnownCode
from gyr_hybrid.storage.protocol import CodeLookup

SUGGESTIONS = 5
MEMBERS = 50
"""Codes of a family that a question may mean."""


class CodeQuestion:
    """One question against the codes that may be seen; offsets are into the folded question."""

    def __init__(
        self, question: str, analyzer: Analyzer, codes: CodeLookup, said: Callable[[str], bool]
    ) -> None:
        self.said = said
        self.question = question
        self.analyzer = analyzer
        self.around = analyzer.surroundings
        self.codes = codes
        self.scan = analyzer.recognizer.scan(question)
        self.folded = self.scan.folded

    def near(self, canonical: str, distance: int = 2) -> list[KnownCode]:
        """Codes that may be suggested instead."""
        return self.codes.near(canonical, distance=distance, limit=SUGGESTIONS)

    def meant(self, start: int, end: int) -> bool:
        """Whether plain words may be a code: a class word stands beside them, or they are the question."""
        label = self.around.label(self.folded, start, end)
        return (label is not None and label.rank >= Rank.NAMING) or not self.rest(start, end)

    def rest(self, start: int, end: int, *others: tuple[int, int]) -> bool:
        """Whether the question says anything besides these spans."""
        text = list(self.question)
        for span in ((start, end), *others):
            first, last = self.folded.origin(*span)
            text[first:last] = " " * (last - first)
        words = self.analyzer.content_words("".join(text))
        return any(word not in ASKING_WORDS for word in words)

    def resolved(
        self,
        start: int,
        end: int,
        canonical: str,
        status: Status,
        matches: tuple[KnownCode, ...] = (),
        *,
        suggestions: tuple[str, ...] = (),
        known_shape: bool = False,
        named: bool | None = None,
    ) -> ResolvedCode:
        """The code at a span, with the class word beside it."""
        label = self.around.label(self.folded, start, end)
        first, last = self.folded.origin(start, end)
        return ResolvedCode(
            text=self.question[first:last],
            canonical=canonical,
            start=first,
            end=last,
            status=status,
            matches=matches,
            suggestions=suggestions,
            class_word=label.word if label else None,
            known_shape=known_shape,
            named=(label is not None and label.rank is Rank.HARD) if named is None else named,
        )
