"""What the codes of a question mean in an index: known, unknown, a family, or several."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.analysis.codes import compact_form
from gyr_hybrid.analysis.context import Rank, counted
from gyr_hybrid.analysis.pieces import Piece, split_pieces
from gyr_hybrid.analysis.strength import Strength
from gyr_hybrid.analysis.vocabulary import ASKING_WORDS
from gyr_hybrid.retrieval.code_spellings import SpellingFinder, dashed, may_be_spaced
from gyr_hybrid.retrieval.dependence import hangs_on
from gyr_hybrid.retrieval.resolved_code import ResolvedCode, Status, look_alike
from gyr_hybrid.storage.code_neighbours import leading, same_outline
from gyr_hybrid.storage.codes import KnownCode
from gyr_hybrid.storage.protocol import CodeLookup

__all__ = ["ResolvedCode", "hangs_on", "look_alike", "resolve_codes"]

_SUGGESTIONS = 5
_MEMBERS = 50  # codes of a family that a question may mean
_SHORTEST_NUMBER = 3  # digits that a word like 错误 makes a code
_SHORTEST_ALONE = 4  # characters of what might be a code and is all that a question says
_NAME_PARTS = re.compile(r"[^\W_]+[-_./:]+[^\W_]+(?=[-_./:])")
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
    return _Resolution(question, analyzer, codes, said or (lambda token: False)).run()


class _Resolution:
    def __init__(
        self, question: str, analyzer: Analyzer, codes: CodeLookup, said: Callable[[str], bool]
    ) -> None:
        self.said = said
        self.spans: list[tuple[int, int]] = []
        self.question = question
        self.analyzer = analyzer
        self.around = analyzer.surroundings
        self.codes = codes
        self.scan = analyzer.recognizer.scan(question)
        self.folded = self.scan.folded

    def run(self) -> list[ResolvedCode]:
        found: list[ResolvedCode] = []
        spans = self.spans
        taken = [
            piece for piece in self.scan.pieces if piece.kind in ("ordinal", "standard", "link", "state")
        ]
        spellings = SpellingFinder(self.folded, self.codes, taken, self._meant)
        for spelling in spellings:
            if self._ends_open(spelling.end) and (family := self._family(spelling.start, spelling.end)):
                found.append(family)
            else:
                found.append(self._known(spelling.start, spelling.end, spelling.matches))
            spans.append((spelling.start, spelling.end))
        for start, end in self._spaced_families(spellings, spans):
            if family := self._family(start, end):
                found.append(family)
                spans.append((start, end))
        for start, end in spellings.spans():
            if not self._found(start, end) and (code := self._spaced_unknown(start, end)):
                found.append(code)
                spans.append((start, end))
        left = [piece for piece in self.scan.pieces if not self._found(piece.start, piece.end)]
        found += [code for code in map(self._piece, left) if code]
        return sorted(found, key=lambda code: (code.start, code.end))

    def _found(self, start: int, end: int) -> bool:
        """Whether something there is spoken for already."""
        return any(first < end and start < last for first, last in self.spans)

    def _piece(self, piece: Piece) -> ResolvedCode | None:
        if piece.strength <= Strength.WORD:
            followed = piece.strength is Strength.WORD and self.around.family_word(self.folded, piece.end)
            return self._family(piece.start, piece.end) or self._unknown_family(piece) if followed else None
        if piece.strength is Strength.NUMBER:
            return self._number(piece)
        if matches := self._matches(piece):
            return self._known(piece.start, piece.end, matches)
        if rest := self._without_class_word(piece):
            return self._piece(rest)
        followed = self.around.family_word(self.folded, piece.end)
        begins = piece.kind != "ordinal" and (followed or piece.strength >= Strength.WEAK)
        family = self._family(piece.start, piece.end, piece.canonical) if begins else None
        unknown = family or self._unknown(piece)
        return self._unknown_family(piece) if unknown is None and followed else unknown

    def _matches(self, piece: Piece) -> tuple[KnownCode, ...]:
        canonical = piece.canonical
        if piece.kind == "ordinal":  # the article holds its clauses
            article = self.codes.exact(_CLAUSES.sub("", canonical))
            return (article,) if article else ()
        if exact := self.codes.exact(canonical):
            return (exact,)
        if matches := self.codes.compact(piece.compact):
            return tuple(matches)
        if piece.kind == "name" and ":" in canonical:
            exact = self.codes.exact(canonical.rpartition(":")[2])
            return (exact,) if exact else ()
        if piece.kind == "code" and _LAST_MARK.search(canonical):
            return tuple(self.codes.compact(compact_form(_LAST_MARK.split(canonical)[0])))
        return ()

    def _number(self, piece: Piece) -> ResolvedCode | None:
        """Bare digits: a code beside a class word, or when they are the question."""
        if counted(self.folded, piece.start, piece.end):
            return None
        label = self.around.label(self.folded, piece.start, piece.end)
        rank = label.rank if label else Rank.OTHER
        if rank is Rank.NUMBERING and len(piece.text) < _SHORTEST_NUMBER:
            rank = Rank.OTHER
        beside = rank is Rank.OTHER and self._only_numbers_beside_codes(piece)
        if rank is Rank.OTHER and not beside and self._rest(piece.start, piece.end):
            return None
        if exact := self.codes.exact(piece.canonical):
            return self._known(piece.start, piece.end, (exact,))
        named = rank >= Rank.NAMING or (
            rank is Rank.NUMBERING and label is not None and not label.word.isascii()
        )
        if inside := self.codes.number(piece.canonical) if named else []:
            return self._known(piece.start, piece.end, tuple(inside))
        if beside or rank >= Rank.NAMING:
            return self._unknown(piece)
        return self._absent_number(piece) if rank is Rank.NUMBERING else None

    def _absent_number(self, piece: Piece) -> ResolvedCode | None:
        """Digits beside a word that numbers things, where the index knows such numbers and no document has these."""
        near = self.codes.near(piece.canonical, distance=2, limit=_SUGGESTIONS)
        alike = [
            one for one in near if one.canonical.isdigit() and len(one.canonical) == len(piece.canonical)
        ]
        if not alike or self.said(piece.canonical):
            return None
        return self._resolved(
            piece.start,
            piece.end,
            piece.canonical,
            "unknown",
            suggestions=tuple(one.text for one in alike),
            known_shape=True,
        )

    def _only_numbers_beside_codes(self, piece: Piece) -> bool:
        """Whether the question says nothing but known codes and numbers: ``E1042 1043``."""
        if not self.spans or len(piece.text) < _SHORTEST_NUMBER:
            return False
        numbers = [(p.start, p.end) for p in self.scan.pieces if p.strength is Strength.NUMBER]
        return not self._rest(piece.start, piece.end, *self.spans, *numbers)

    def _without_class_word(self, piece: Piece) -> Piece | None:
        """What follows a class word that is glued to its number: ``Ticket8842``, ``error9999``."""
        label = self.around.glued_word(self.folded, piece.start, piece.end)
        if label is None or not (label.own or piece.strength < Strength.STRONG):
            return None
        pieces = split_pieces(piece.text[len(label.word) :])
        return pieces[0].at(piece.start + len(label.word)) if len(pieces) == 1 else None

    def _unknown(self, piece: Piece) -> ResolvedCode | None:
        label = self.around.label(self.folded, piece.start, piece.end)
        rank = label.rank if label else Rank.OTHER
        own = label is not None and label.own
        if not own and self.around.instance_word(self.folded, piece.start):
            return None
        doubtful = piece.strength < Strength.STRONG and piece.kind in ("code", "short")
        if piece.strength is Strength.EVERYDAY and not own and not doubtful:
            return None
        if doubtful and piece.kind != "short" and self.said(piece.canonical):
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
        around = self.codes.number(piece.canonical) if piece.kind == "number" else []
        near = [*around, *self.codes.near(piece.canonical, distance=2, limit=_SUGGESTIONS)]
        return self._resolved(
            piece.start,
            piece.end,
            piece.canonical,
            "unknown",
            suggestions=tuple(dict.fromkeys(one.text for one in near))[:_SUGGESTIONS],
            known_shape=known_shape,
            named=rank is Rank.HARD,
        )

    def _knows_shape(self, piece: Piece) -> bool:
        """Whether the index knows a family of such codes.

        Bare digits and versions have no shape of their own; a name needs a code that shares its first two parts.
        """
        if piece.kind in ("number", "version"):
            return False
        if piece.kind == "name":
            parts = _NAME_PARTS.match(piece.canonical)
            return parts is not None and bool(self.codes.members(parts.group(), 1))
        return self.codes.knows_shape(piece.canonical)

    def _related(self, piece: Piece) -> bool:
        """Whether codes of the index begin with the same letters and have the same outline."""
        members = self.codes.members(leading(piece.canonical), _MEMBERS, anywhere=True)
        return any(
            same_outline(piece.canonical, member.canonical)
            and (piece.kind != "short" or member.kind == "short")
            for member in members
        )

    def _alone(self, piece: Piece) -> bool:
        """Whether the piece is long enough to be a code and all that the question says."""
        return len(piece.text) >= _SHORTEST_ALONE and not self._rest(piece.start, piece.end)

    def _spaced_unknown(self, start: int, end: int) -> ResolvedCode | None:
        """A code of a known shape that the index does not have, written with blanks: ``E 9999``.

        It is one beside a class word, when the question says nothing else, or, in capitals, when the index knows
        codes that begin with the same letters.
        """
        label = self.around.label(self.folded, start, end)
        if not (label and label.own) and self.around.instance_word(self.folded, start):
            return None
        pieces = [piece for piece in self.scan.pieces if piece.start < end and start < piece.end]
        if not may_be_spaced(self.folded, start, end, pieces):
            return None
        typed = self.folded.text[start:end]
        canonical = dashed(self.folded.lowered[start:end])
        members = self.codes.members(leading(canonical), _MEMBERS, anywhere=True)
        related = any(same_outline(canonical, member.canonical) for member in members)
        if not related and not (typed.isupper() and self._knows_compact_shape(canonical)):
            return None
        named = label is not None and label.rank >= Rank.NAMING
        if not named and self._rest(start, end) and not (related and typed.isupper()):
            return None
        near = self.codes.near(canonical, distance=2, limit=_SUGGESTIONS)
        return self._resolved(
            start,
            end,
            canonical,
            "unknown",
            suggestions=tuple(one.text for one in near),
            known_shape=True,
        )

    def _knows_compact_shape(self, canonical: str) -> bool:
        return self.codes.knows_shape(canonical) or self.codes.knows_shape(compact_form(canonical))

    def _family(self, start: int, end: int, prefix: str | None = None) -> ResolvedCode | None:
        """The codes that begin with what stands there: before a family word anywhere, else at a separator.

        Letters alone end where the letters of a code end: ``SV 系列`` is ``SV-1`` and ``SV100``, not ``SVX-1``.
        """
        anywhere = self.around.family_word(self.folded, end) and not self._ends_open(end)
        typed = self.folded.lowered[start:end]
        members = self.codes.members(prefix or typed, _MEMBERS, anywhere=anywhere)
        if typed.isalpha():
            members = [one for one in members if not one.canonical[len(typed) : len(typed) + 1].isalpha()]
        if not members:
            return None
        return self._resolved(start, end, prefix or typed, "family", tuple(members), known_shape=True)

    def _unknown_family(self, piece: Piece) -> ResolvedCode | None:
        """A prefix before a family word with which no code begins and that no document says."""
        if piece.kind == "ordinal" or not piece.text.isascii() or self.said(piece.canonical):
            return None
        near = self.codes.near(piece.canonical, distance=1, limit=_SUGGESTIONS)
        return self._resolved(
            piece.start,
            piece.end,
            piece.canonical,
            "unknown",
            suggestions=tuple(one.text for one in near),
        )

    def _ends_open(self, end: int) -> bool:
        """Whether a separator with a family word follows: ``NS-X2- 系列``."""
        return self.folded.lowered[end : end + 1] in ("-", "_", "/") and self.around.family_word(
            self.folded, end
        )

    def _spaced_families(
        self, spellings: SpellingFinder, spans: Sequence[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """Spans of several atoms before a family word, longest first: ``NS X2 系列``."""
        found = []
        for chain in spellings.chains():
            last = chain[-1][1]
            if len(chain) > 1 and self.around.family_word(self.folded, last):
                if any(start < last <= end for start, end in spans):
                    continue
                starts = [chain[at][0] for at in range(len(chain) - 1) if spellings.open(chain, at - 1)]
                found += [
                    (start, last)
                    for start in starts
                    if " " in self.folded.lowered[start:last] and self._family(start, last)
                ][:1]
        return found

    def _known(self, start: int, end: int, matches: tuple[KnownCode, ...]) -> ResolvedCode:
        status: Status = "known" if len(matches) == 1 else "ambiguous"
        canonical = matches[0].canonical if len(matches) == 1 else self.folded.lowered[start:end]
        if self.around.family_word(self.folded, end):
            members = self.codes.members(matches[0].canonical, _MEMBERS, anywhere=True)
            matches = (*matches, *(member for member in members if member not in matches))
        return self._resolved(start, end, canonical, status, matches, known_shape=True)

    def _resolved(
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

    def _meant(self, start: int, end: int) -> bool:
        """Whether plain words may be a code: a class word stands beside them, or they are the question."""
        label = self.around.label(self.folded, start, end)
        return (label is not None and label.rank >= Rank.NAMING) or not self._rest(start, end)

    def _rest(self, start: int, end: int, *others: tuple[int, int]) -> bool:
        """Whether the question says anything besides these spans."""
        text = list(self.question)
        for span in ((start, end), *others):
            first, last = self.folded.origin(*span)
            text[first:last] = " " * (last - first)
        words = self.analyzer.content_words("".join(text))
        return any(word not in ASKING_WORDS for word in words)
