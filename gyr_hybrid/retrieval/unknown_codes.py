"""Codes of a question that no document has: which pieces are meant as one, and what there is instead."""

from __future__ import annotations

import re

from gyr_hybrid.analysis.codes import compact_form
from gyr_hybrid.analysis.context import Rank
from gyr_hybrid.analysis.pieces import Piece
from gyr_hybrid.analysis.strength import Strength
from gyr_hybrid.retrieval.code_question import MEMBERS, SUGGESTIONS, CodeQuestion
from gyr_hybrid.retrieval.code_spellings import dashed, may_be_spaced
from gyr_hybrid.retrieval.resolved_code import ResolvedCode
from gyr_hybrid.storage.code_neighbours import leading, same_outline

_SHORTEST_ALONE = 4  # characters of what might be a code and is all that a question says
_NAME_PARTS = re.compile(r"[^\W_]+[-_./:]+[^\W_]+(?=[-_./:])")


class UnknownCodes:
    """Tells the unknown codes of one question from its words."""

    def __init__(self, asked: CodeQuestion) -> None:
        self._asked = asked

    def at(self, piece: Piece) -> ResolvedCode | None:
        """A piece that is meant as a code."""
        label = self._asked.around.label(self._asked.folded, piece.start, piece.end)
        rank = label.rank if label else Rank.OTHER
        own = label is not None and label.own
        if not own and self._asked.around.instance_word(self._asked.folded, piece.start):
            return None
        doubtful = piece.strength < Strength.STRONG and piece.kind in ("code", "short")
        if piece.strength is Strength.EVERYDAY and not own and not doubtful:
            return None
        if doubtful and piece.kind != "short" and self._asked.said(piece.canonical):
            return None
        known_shape = self._knows_shape(piece)
        if piece.kind == "ordinal":
            if not known_shape:
                return None
            rank = Rank.HARD
        if piece.strength < Strength.STRONG and rank < Rank.NAMING:
            known_shape = known_shape and piece.strength > Strength.EVERYDAY and self._related(piece)
            if not (known_shape or piece.kind == "number" or (doubtful and self._alone(piece))):
                return None
        around = self._asked.codes.number(piece.canonical) if piece.kind == "number" else []
        near = [*around, *self._asked.near(piece.canonical)]
        return self._asked.resolved(
            piece.start,
            piece.end,
            piece.canonical,
            "unknown",
            suggestions=tuple(dict.fromkeys(one.text for one in near))[:SUGGESTIONS],
            known_shape=known_shape,
            named=rank is Rank.HARD,
        )

    def number(self, piece: Piece) -> ResolvedCode | None:
        """Digits beside a word that numbers things, where the index knows such numbers and no document has these."""
        near = self._asked.near(piece.canonical)
        alike = [
            one for one in near if one.canonical.isdigit() and len(one.canonical) == len(piece.canonical)
        ]
        if not alike or self._asked.said(piece.canonical):
            return None
        return self._asked.resolved(
            piece.start,
            piece.end,
            piece.canonical,
            "unknown",
            suggestions=tuple(one.text for one in alike),
            known_shape=True,
        )

    def spaced(self, start: int, end: int) -> ResolvedCode | None:
        """A code of a known shape that the index does not have, written with blanks: ``E 9999``.

        It is one beside a class word, when the question says nothing else, or, in capitals, when the index knows
        codes that begin with the same letters.
        """
        label = self._asked.around.label(self._asked.folded, start, end)
        if not (label and label.own) and self._asked.around.instance_word(self._asked.folded, start):
            return None
        pieces = [piece for piece in self._asked.scan.pieces if piece.start < end and start < piece.end]
        if not may_be_spaced(self._asked.folded, start, end, pieces):
            return None
        typed = self._asked.folded.text[start:end]
        canonical = dashed(self._asked.folded.lowered[start:end])
        members = self._asked.codes.members(leading(canonical), MEMBERS, anywhere=True)
        related = any(same_outline(canonical, member.canonical) for member in members)
        if not related and not (typed.isupper() and self._knows_compact_shape(canonical)):
            return None
        named = label is not None and label.rank >= Rank.NAMING
        if not named and self._asked.rest(start, end) and not (related and typed.isupper()):
            return None
        near = self._asked.near(canonical)
        return self._asked.resolved(
            start,
            end,
            canonical,
            "unknown",
            suggestions=tuple(one.text for one in near),
            known_shape=True,
        )

    def _knows_shape(self, piece: Piece) -> bool:
        """Whether the index knows a family of such codes.

        Bare digits and versions have no shape of their own; a name needs a code that shares its first two parts.
        """
        if piece.kind in ("number", "version"):
            return False
        if piece.kind == "name":
            parts = _NAME_PARTS.match(piece.canonical)
            return parts is not None and bool(self._asked.codes.members(parts.group(), 1))
        return self._asked.codes.knows_shape(piece.canonical)

    def _knows_compact_shape(self, canonical: str) -> bool:
        return self._asked.codes.knows_shape(canonical) or self._asked.codes.knows_shape(
            compact_form(canonical)
        )

    def _related(self, piece: Piece) -> bool:
        """Whether codes of the index begin with the same letters and have the same outline."""
        members = self._asked.codes.members(leading(piece.canonical), MEMBERS, anywhere=True)
        return any(
            same_outline(piece.canonical, member.canonical)
            and (piece.kind != "short" or member.kind == "short")
            for member in members
        )

    def _alone(self, piece: Piece) -> bool:
        """Whether the piece is long enough to be a code and all that the question says."""
        return len(piece.text) >= _SHORTEST_ALONE and not self._asked.rest(piece.start, piece.end)
