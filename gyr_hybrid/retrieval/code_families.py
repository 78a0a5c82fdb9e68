"""Families of codes in a question: a prefix that means all codes which begin with it."""

from __future__ import annotations

from collections.abc import Sequence

from gyr_hybrid.analysis.pieces import Piece
from gyr_hybrid.retrieval.code_question import MEMBERS, CodeQuestion
from gyr_hybrid.retrieval.code_spellings import SpellingFinder
from gyr_hybrid.retrieval.resolved_code import ResolvedCode
from gyr_hybrid.storage.codes import KnownCode


class Families:
    """Finds families in one question."""

    def __init__(self, asked: CodeQuestion) -> None:
        self._asked = asked

    def named(self, end: int) -> bool:
        """Whether a family word follows."""
        return self._asked.around.family_word(self._asked.folded, end)

    def with_members(self, matches: tuple[KnownCode, ...]) -> tuple[KnownCode, ...]:
        """A code, and those that begin with it."""
        members = self._asked.codes.members(matches[0].canonical, MEMBERS, anywhere=True)
        return (*matches, *(member for member in members if member not in matches))

    def at(self, start: int, end: int, prefix: str | None = None) -> ResolvedCode | None:
        """The codes that begin with what stands there: before a family word anywhere, else at a separator.

        Letters alone end where the letters of a code end: ``SV 系列`` is ``SV-1`` and ``SV100``, not ``SVX-1``.
        """
        anywhere = self.named(end) and not self.ends_open(end)
        typed = self._asked.folded.lowered[start:end]
        members = self._asked.codes.members(prefix or typed, MEMBERS, anywhere=anywhere)
        if typed.isalpha():
            members = [one for one in members if not one.canonical[len(typed) : len(typed) + 1].isalpha()]
        if not members:
            return None
        return self._asked.resolved(start, end, prefix or typed, "family", tuple(members), known_shape=True)

    def unknown(self, piece: Piece) -> ResolvedCode | None:
        """A prefix before a family word with which no code begins and that no document says."""
        if piece.kind == "ordinal" or not piece.text.isascii() or self._asked.said(piece.canonical):
            return None
        near = self._asked.near(piece.canonical, 1)
        return self._asked.resolved(
            piece.start,
            piece.end,
            piece.canonical,
            "unknown",
            suggestions=tuple(one.text for one in near),
        )

    def ends_open(self, end: int) -> bool:
        """Whether a separator with a family word follows: ``NS-X2- 系列``."""
        return self._asked.folded.lowered[end : end + 1] in tuple("-_/") and self.named(end)

    def spaced(self, spellings: SpellingFinder, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Spans of several atoms before a family word, longest first: ``NS X2 系列``."""
        found = []
        for chain in spellings.chains():
            last = chain[-1][1]
            if len(chain) > 1 and self.named(last):
                if any(start < last <= end for start, end in spans):
                    continue
                starts = [chain[at][0] for at in range(len(chain) - 1) if spellings.open(chain, at - 1)]
                found += [
                    (start, last)
                    for start in starts
                    if " " in self._asked.folded.lowered[start:last] and self.at(start, last)
                ][:1]
        return found
