"""Spellings of known codes in a question: spaced, joined, with other separators, glued to other text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gyr_hybrid.analysis.codes import compact_form
from gyr_hybrid.analysis.context import before_counter
from gyr_hybrid.analysis.folding import FoldedText
from gyr_hybrid.analysis.pieces import Piece
from gyr_hybrid.analysis.sentences import HAN_KANA
from gyr_hybrid.analysis.strength import Strength
from gyr_hybrid.analysis.vocabulary import ASKING_WORDS, QUESTION_WORDS, STOP_WORDS
from gyr_hybrid.storage.codes import KnownCode
from gyr_hybrid.storage.protocol import CodeLookup

Atom = tuple[int, int]
"""Span of a run of letters and digits in the folded question."""

_ATOM = re.compile(rf"[^\W_{HAN_KANA}]+\+{{0,2}}")
_GAP = re.compile(r"[ \t]{0,2}[-_./:#]{0,2}[ \t]{0,2}")
_SEPARATORS = re.compile(r"[-_./:#\s]+")
_BLANKS = re.compile(r"[ \t]+(?:[-_./:#]+[ \t]*)?|[-_./:#]+[ \t]+")
_LETTERS_BESIDE_DIGITS = re.compile(r"(?<![a-z])[a-z]{1,4}[ \t]+\d{3,}")
_PARTS = 3  # atoms of which one has letters and digits
_LONGEST = 8  # atoms of one spelled-out code
_SHORTEST_JOINED = 6  # letters that may stand for a name written without its separators


@dataclass(frozen=True, slots=True)
class Spelling:
    """A place in the folded question where a known code is spelled."""

    start: int
    end: int
    matches: tuple[KnownCode, ...]


class SpellingFinder:
    """Looks up every run of neighbouring atoms, the longest first.

    Args:
        folded: the question.
        codes: the codes of the index.
        taken: pieces that are looked up by themselves.
        meant: whether plain words at a span may be a code, because a class word or nothing else stands beside them.
    """

    def __init__(
        self,
        folded: FoldedText,
        codes: CodeLookup,
        taken: Sequence[Piece],
        meant: Callable[[int, int], bool],
    ) -> None:
        self._folded = folded
        self._low = folded.lowered
        self._codes = codes
        self._taken = taken
        self._meant = meant

    def __iter__(self) -> Iterator[Spelling]:
        for chain in self.chains():
            at = 0
            while at < len(chain):
                for stop in range(min(len(chain), at + _LONGEST), at, -1):
                    if matches := self._matches(chain, at, stop):
                        yield Spelling(chain[at][0], chain[stop - 1][1], matches)
                        at = stop
                        break
                else:
                    at += 1

    def chains(self) -> Iterator[list[Atom]]:
        """Atoms that follow one another with at most blanks and separators between."""
        chain: list[Atom] = []
        for match in _ATOM.finditer(self._low):
            start, end = match.span()
            if any(piece.start < end and start < piece.end for piece in self._taken):
                continue
            if chain and not _GAP.fullmatch(self._low, chain[-1][1], start):
                yield chain
                chain = []
            chain.append((start, end))
        if chain:
            yield chain

    def spans(self) -> Iterator[Atom]:
        """Spans of several atoms that one code may fill, in each chain the longest first."""
        for chain in self.chains():
            for at in range(len(chain) - 1):
                for stop in range(min(len(chain), at + _LONGEST), at + 1, -1):
                    if self.open(chain, at - 1) and self.open(chain, stop - 1):
                        yield chain[at][0], chain[stop - 1][1]

    def open(self, chain: Sequence[Atom], gap: int) -> bool:
        """Whether one code may end and another begin in the gap after atom ``gap``."""
        if gap < 0 or gap + 1 >= len(chain):
            return True
        between = self._low[chain[gap][1] : chain[gap + 1][0]]
        return any(character in " \t/:#" for character in between)

    def _matches(self, chain: Sequence[Atom], at: int, stop: int) -> tuple[KnownCode, ...]:
        start, end = chain[at][0], chain[stop - 1][1]
        text = self._low[start:end]
        if text.isdecimal() or not (self.open(chain, at - 1) and self.open(chain, stop - 1)):
            return ()
        if any(character.isspace() for character in text):
            return self._spaced(text, chain, at, stop)
        if exact := self._codes.exact(text):
            plain = text.isalpha() and exact.kind != "name"
            return (exact,) if not plain or self._meant(start, end) else ()
        if text.isalpha() and len(text) < _SHORTEST_JOINED:
            return ()
        return self._compact(compact_form(text))

    def _spaced(self, text: str, chain: Sequence[Atom], at: int, stop: int) -> tuple[KnownCode, ...]:
        if text[-1].isdecimal() and before_counter(self._folded, chain[stop - 1][1]):
            return ()  # ``E1042 3 次``
        compact = _SEPARATORS.sub("", text)
        matches = self._compact(compact)
        start, end = chain[at][0], chain[stop - 1][1]
        if not matches or any(character.isdigit() for character in text) or self._meant(start, end):
            return matches
        if stop - at < 3:
            return ()  # two plain words are words: ``TiDB Lightning`` is not ``tidb-lightning``
        spelled = _SEPARATORS.sub("", self._folded.text[start:end])
        return tuple(match for match in matches if spelled in (compact, _SEPARATORS.sub("", match.text)))

    def _compact(self, key: str) -> tuple[KnownCode, ...]:
        if key.isdecimal():
            return ()
        matches = self._codes.compact(key)
        if not matches and key[-1] == "+":
            matches = self._codes.compact(key.rstrip("+"))
        return tuple(matches)


def dashed(spaced: str) -> str:
    """A spelling with a dash for every blank.

    >>> dashed("ns x9 - red")
    'ns-x9-red'
    """
    return _BLANKS.sub("-", spaced)


def may_be_spaced(folded: FoldedText, start: int, end: int, pieces: Sequence[Piece]) -> bool:
    """Whether a span has the look of one code written with blanks: ``E 9999``, ``NS X9 RED S``.

    Amounts and words that ask are no part of one, nor is what is a code by itself.

    Args:
        folded: the question.
        start: of the span.
        end: of the span.
        pieces: all that touch the span.
    """
    text = folded.lowered[start:end]
    if " " not in text and "\t" not in text:
        return False
    if text[-1].isdecimal() and before_counter(folded, end):
        return False
    if any(
        piece.start < start
        or end < piece.end
        or piece.strength in (Strength.VALUE, Strength.STRONG)
        or (piece.text.islower() and piece.canonical in _DULL)
        for piece in pieces
    ):
        return False
    if _LETTERS_BESIDE_DIGITS.fullmatch(text):
        return True
    mixed = [piece for piece in pieces if not piece.text.isalpha() and not piece.text.isdecimal()]
    return len(pieces) >= _PARTS and bool(mixed)


_DULL = ASKING_WORDS | QUESTION_WORDS | STOP_WORDS
