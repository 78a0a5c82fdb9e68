"""What the codes of a question mean in an index: known, unknown, a family, or several."""

from __future__ import annotations

import re
from collections.abc import Callable

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.analysis.codes import compact_form
from gyr_hybrid.analysis.context import Rank, counted
from gyr_hybrid.analysis.pieces import Piece, split_pieces
from gyr_hybrid.analysis.strength import Strength
from gyr_hybrid.retrieval.code_families import Families
from gyr_hybrid.retrieval.code_question import CodeQuestion
from gyr_hybrid.retrieval.code_spellings import SpellingFinder
from gyr_hybrid.retrieval.dependence import hangs_on
from gyr_hybrid.retrieval.number_labels import number_label
from gyr_hybrid.retrieval.resolved_code import ResolvedCode, Status, look_alike
from gyr_hybrid.retrieval.unknown_codes import UnknownCodes
from gyr_hybrid.storage.codes import KnownCode
from gyr_hybrid.storage.protocol import CodeLookup

__all__ = ["ResolvedCode", "hangs_on", "look_alike", "resolve_codes"]

_SHORTEST_NUMBER = 3  # digits that a word like 错误 makes a code
_CLAUSES = re.compile(r"(?:第\d+[款项目])+$")
_LAST_MARK = re.compile(r"[/#](?!.*[/#])")


def resolve_codes(
    question: str, analyzer: Analyzer, codes: CodeLookup, *, said: Callable[[str], bool] | None = None
) -> list[ResolvedCode]:
    """The codes of ``question`` in order, each with its meaning among the visible codes of an index.

    A spelling is looked up by its canonical form, else by its compact form, else, for bare digits beside a class
    word, by the number inside; several meanings are ``ambiguous``. What only might be a code is left out unless the
    index knows it or its family, a class word stands beside it, or it is all that the question says.

    Args:
        question: as it was asked.
        analyzer: the index's.
        codes: those that may be seen.
        said: whether the documents that may be seen have a token; what they say and do not treat as a code is a word.
    """
    return _Resolution(CodeQuestion(question, analyzer, codes, said or (lambda token: False))).run()


class _Resolution:
    def __init__(self, asked: CodeQuestion) -> None:
        self._asked = asked
        self._families = Families(asked)
        self._unknown = UnknownCodes(asked)
        self.spans: list[tuple[int, int]] = []

    def run(self) -> list[ResolvedCode]:
        found: list[ResolvedCode] = []
        spans = self.spans
        taken = [
            piece
            for piece in self._asked.scan.pieces
            if piece.kind in ("ordinal", "standard", "link", "state")
        ]
        spellings = SpellingFinder(self._asked.folded, self._asked.codes, taken, self._asked.meant)
        for spelling in spellings:
            if self._families.ends_open(spelling.end) and (
                family := self._families.at(spelling.start, spelling.end)
            ):
                found.append(family)
            else:
                found.append(self._known(spelling.start, spelling.end, spelling.matches))
            spans.append((spelling.start, spelling.end))
        for start, end in self._families.spaced(spellings, spans):
            if family := self._families.at(start, end):
                found.append(family)
                spans.append((start, end))
        for start, end in spellings.spans():
            if not self._found(start, end) and (code := self._unknown.spaced(start, end)):
                found.append(code)
                spans.append((start, end))
        left = [piece for piece in self._asked.scan.pieces if not self._found(piece.start, piece.end)]
        found += [code for code in map(self._piece, left) if code]
        return sorted(found, key=lambda code: (code.start, code.end))

    def _found(self, start: int, end: int) -> bool:
        """Whether something there is spoken for already."""
        return any(first < end and start < last for first, last in self.spans)

    def _piece(self, piece: Piece) -> ResolvedCode | None:
        if piece.strength < Strength.WORD:
            return None
        if piece.strength is Strength.WORD:
            if not self._families.named(piece.end):
                return None
            return self._families.at(piece.start, piece.end) or self._families.unknown(piece)
        if piece.strength is Strength.NUMBER:
            return self._number(piece)
        if matches := self._matches(piece):
            return self._known(piece.start, piece.end, matches)
        if rest := self._without_class_word(piece):
            return self._piece(rest)
        followed = self._families.named(piece.end)
        begins = piece.kind != "ordinal" and (followed or piece.strength >= Strength.WEAK)
        family = self._families.at(piece.start, piece.end, piece.canonical) if begins else None
        unknown = family or self._unknown.at(piece)
        return self._families.unknown(piece) if unknown is None and followed else unknown

    def _matches(self, piece: Piece) -> tuple[KnownCode, ...]:
        canonical = piece.canonical
        if piece.kind == "ordinal":  # the article holds its clauses
            article = self._asked.codes.exact(_CLAUSES.sub("", canonical))
            return (article,) if article else ()
        if exact := self._asked.codes.exact(canonical):
            return (exact,)
        if matches := self._asked.codes.compact(piece.compact):
            return tuple(matches)
        if piece.kind == "name" and ":" in canonical:
            exact = self._asked.codes.exact(canonical.rpartition(":")[2])
            return (exact,) if exact else ()
        if piece.kind == "code" and _LAST_MARK.search(canonical):
            return tuple(self._asked.codes.compact(compact_form(_LAST_MARK.split(canonical)[0])))
        return ()

    def _number(self, piece: Piece) -> ResolvedCode | None:
        """Bare digits: a code beside a class word, or when they are the question."""
        if counted(self._asked.folded, piece.start, piece.end):
            return None
        label = number_label(self._asked.around, self._asked.folded, piece.start, piece.end)
        rank = label.rank if label else Rank.OTHER
        if rank is Rank.NUMBERING and len(piece.text) < _SHORTEST_NUMBER:
            rank = Rank.OTHER
        beside = rank is Rank.OTHER and self._only_numbers_beside_codes(piece)
        if rank is Rank.OTHER and not beside and self._asked.rest(piece.start, piece.end):
            return None
        if exact := self._asked.codes.exact(piece.canonical):
            return self._known(piece.start, piece.end, (exact,))
        named = rank >= Rank.NAMING or (
            rank is Rank.NUMBERING and label is not None and not label.word.isascii()
        )
        if inside := self._asked.codes.number(piece.canonical) if named else []:
            return self._known(piece.start, piece.end, tuple(inside))
        if beside or rank >= Rank.NAMING:
            return self._unknown.at(piece)
        return self._unknown.number(piece) if rank is Rank.NUMBERING else None

    def _only_numbers_beside_codes(self, piece: Piece) -> bool:
        """Whether the question says nothing but known codes and numbers: ``E1042 1043``."""
        if not self.spans or len(piece.text) < _SHORTEST_NUMBER:
            return False
        numbers = [(p.start, p.end) for p in self._asked.scan.pieces if p.strength is Strength.NUMBER]
        return not self._asked.rest(piece.start, piece.end, *self.spans, *numbers)

    def _without_class_word(self, piece: Piece) -> Piece | None:
        """What follows a class word that is glued to its number: ``Ticket8842``, ``error9999``."""
        label = self._asked.around.glued_word(self._asked.folded, piece.start, piece.end)
        if label is None or not (label.own or piece.strength < Strength.STRONG):
            return None
        pieces = split_pieces(piece.text[len(label.word) :])
        return pieces[0].at(piece.start + len(label.word)) if len(pieces) == 1 else None

    def _known(self, start: int, end: int, matches: tuple[KnownCode, ...]) -> ResolvedCode:
        status: Status = "known" if len(matches) == 1 else "ambiguous"
        canonical = matches[0].canonical if len(matches) == 1 else self._asked.folded.lowered[start:end]
        if self._families.named(end):
            matches = self._families.with_members(matches)
        return self._asked.resolved(start, end, canonical, status, matches, known_shape=True)
