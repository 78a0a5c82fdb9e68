"""Find the pieces of a text: codes by pattern first, then every run of letters and digits, cut and judged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gyr_hybrid.analysis.folding import FoldedText, fold, fold_with_offsets
from gyr_hybrid.analysis.pieces import CHUNK, Piece, split_pieces
from gyr_hybrid.analysis.references import STANDARD_HEADS, document_numbers, ordinals, special, standard
from gyr_hybrid.analysis.strength import Strength
from gyr_hybrid.errors import ConfigurationError

_LINK = re.compile(
    r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|(?:https?|ftp|file|jdbc:\w+|s3|gcs|local)://[!-~]+|\bwww\.[!-~]+|<[a-zA-Z/!][^<>\n]*>"
)
_SQLSTATE = re.compile(r"\s?\(([0-9A-Z]{5})\)")
_HEAD = re.compile(r"[a-z0-9]")


@dataclass(frozen=True, slots=True)
class Scan:
    """A text, folded, with its pieces in order and without overlap (offsets into the folded text)."""

    folded: FoldedText
    pieces: tuple[Piece, ...]


class Recognizer:
    """Cuts texts into pieces; user patterns come first.

    Args:
        code_patterns: regular expressions whose matches are codes.
        whole_words: words of letters, digits and perhaps Han characters that stay whole (``T恤``, ``Node.js``).
    """

    def __init__(self, code_patterns: Sequence[str] = (), whole_words: Sequence[str] = ()) -> None:
        self._patterns = [compiled(pattern) for pattern in code_patterns]
        self._words: dict[str, list[tuple[int, str]]] = {}
        for word in sorted({fold(word) for word in whole_words}, key=lambda word: (-len(word), word)):
            if head := _HEAD.search(word):
                self._words.setdefault(head.group(), []).append((head.start(), word))

    def scan(self, text: str) -> Scan:
        """Pieces of ``text``, special forms before plain runs."""
        folded = fold_with_offsets(text)
        specials = self._specials(folded.text)
        if not specials:
            return Scan(folded, tuple(self._runs(folded, 0, len(folded.text))))
        pieces: list[Piece] = []
        position = 0
        for piece in sorted(specials, key=lambda piece: (piece.start, -piece.end)):
            if piece.start >= position:
                pieces += self._runs(folded, position, piece.start)
                pieces.append(piece)
                position = piece.end
        pieces += self._runs(folded, position, len(folded.text))
        return Scan(folded, tuple(pieces))

    def _specials(self, text: str) -> list[Piece]:
        found: list[Piece] = []
        if "](" in text or "://" in text or "www." in text or "<" in text:
            found += [
                special(*match.span(), match.group(), Strength.VALUE, "link")
                for match in _LINK.finditer(text)
            ]
        for pattern in self._patterns:
            matches = (match for match in pattern.finditer(text) if match.group().strip())
            found += [special(*match.span(), match.group(), Strength.STRONG, "code") for match in matches]
        if "条" in text or "第" in text or "條" in text:
            found += ordinals(text)
        if "号" in text:
            found += document_numbers(text)
        return found

    def _runs(self, folded: FoldedText, start: int, end: int) -> Iterator[Piece]:
        text, lowered, words, position = folded.text, folded.lowered, self._words, start
        while match := CHUNK.search(text, position, end):
            begin, stop = match.span()
            if lowered[begin] in words and (span := self._whole_word(lowered, begin, stop, position)):
                yield special(*span, text[span[0] : span[1]], Strength.WORD, "word")
                position = span[1]
                continue
            if text[begin : begin + 2] in STANDARD_HEADS and (cited := standard(text, begin, end)):
                yield cited
                position = cited.end
                continue
            position = stop
            pieces = split_pieces(match.group())
            for piece in pieces:
                yield piece.at(begin)
            if (
                pieces
                and pieces[-1].strength is Strength.NUMBER
                and (state := _SQLSTATE.match(text, stop, end))
            ):
                yield special(*state.span(1), state[1], Strength.VALUE, "state")
                position = state.end()

    def _whole_word(self, lowered: str, start: int, end: int, floor: int) -> tuple[int, int] | None:
        """Span of a word that stays whole around the run from ``start`` to ``end``, not before ``floor``."""
        for before, word in self._words[lowered[start]]:
            begin = start - before
            stop = begin + len(word)
            if (
                begin >= floor
                and lowered.startswith(word, begin)
                and (stop >= end or not lowered[stop - 1].isascii())
            ):
                return begin, stop
        return None


def compiled(pattern: str) -> re.Pattern[str]:
    """A user's pattern for codes.

    Raises:
        ConfigurationError: it is no regular expression.
    """
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise ConfigurationError(
            f"code pattern {pattern!r} is no regular expression: {error}; correct it, or write \\ before a character that is meant as it stands"
        ) from error
