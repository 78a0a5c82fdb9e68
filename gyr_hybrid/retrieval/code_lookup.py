"""What the codes of a question mean in an index: known, unknown, a family, or several."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.analysis.codes import compact_form
from gyr_hybrid.analysis.context import counted
from gyr_hybrid.analysis.folding import FoldedText
from gyr_hybrid.analysis.pieces import Piece, Strength
from gyr_hybrid.analysis.recognition import Scan
from gyr_hybrid.analysis.sentences import HAN_KANA
from gyr_hybrid.analysis.vocabulary import ASKING_WORDS, QUESTION_WORDS, STOP_WORDS
from gyr_hybrid.storage.code_map import KnownCode
from gyr_hybrid.storage.code_neighbours import coarse_shape, code_shape, leading
from gyr_hybrid.storage.protocol import CodeLookup

Status = Literal["known", "unknown", "family", "ambiguous"]

_ATOM = re.compile(rf"[^\W_{HAN_KANA}]+\+{{0,2}}")
_GAP = re.compile(r"[ \t]{0,2}[-_./:#]{0,2}[ \t]{0,2}")
_SEPARATORS = re.compile(r"[-_./:#\s]+")
_LONGEST = 8  # atoms of one spelled-out code
_SUGGESTIONS = 5
_NAME_PARTS = re.compile(r"[^\W_]+[-_./:]+[^\W_]+(?=[-_./:])")
_SUB_ORDINAL = re.compile(r"(?:第\d+[款项目])+$")
_MESSAGE = re.compile(r"(?:\s?\([0-9A-Z]{5}\))?(?:[\"'`)\]]*\s*[:：]|[)\]]+)\s*[!-~]+(?:\s+[!-~]+){2,}")


@dataclass(frozen=True, slots=True)
class ResolvedCode:
    """A code of a question and what it means in the index."""

    text: str
    canonical: str
    start: int
    end: int
    """Code points into the question."""
    status: Status
    matches: tuple[KnownCode, ...] = ()
    """What it means: one, several when ambiguous, the members of a family; an exact code before its family."""
    suggestions: tuple[str, ...] = ()
    """At most five codes that an unknown one may stand for, as the documents spell them."""
    class_word: str | None = None
    """The word beside it that says what it is."""
    known_shape: bool = False
    """Whether the index knows codes of this shape."""
    named: bool = False
    """Whether the class word is one beside which only a code can be meant."""


def look_alike(first: str, second: str) -> bool:
    """Whether two canonical forms are different codes of one shape within two edits.

    >>> look_alike("e1042", "e1043"), look_alike("e1042", "ns-x2"), look_alike("e1042", "e1042")
    (True, False, False)
    """
    from rapidfuzz.distance import Levenshtein

    if first == second or coarse_shape(code_shape(first)) != coarse_shape(code_shape(second)):
        return False
    return Levenshtein.distance(first, second, score_cutoff=2) <= 2


def resolve_codes(question: str, analyzer: Analyzer, codes: CodeLookup) -> list[ResolvedCode]:
    """The codes of ``question`` in order, each with its meaning among the visible codes of an index.

    A spelling is looked up by its canonical form, else by its compact form, else, for bare digits, by the number
    inside; several meanings are ``ambiguous``. What only might be a code is left out unless the index knows it.
    """
    return _Resolution(question, analyzer, codes).run()


class _Resolution:
    def __init__(self, question: str, analyzer: Analyzer, codes: CodeLookup) -> None:
        self.question = question
        self.analyzer = analyzer
        self.codes = codes
        self.scan: Scan = analyzer.recognizer.scan(question)
        self.folded: FoldedText = self.scan.folded
        self.low = self.folded.lowered

    def run(self) -> list[ResolvedCode]:
        found: list[tuple[int, int, ResolvedCode]] = []
        special = [
            piece for piece in self.scan.pieces if piece.kind in ("ordinal", "standard", "link", "state")
        ]
        for start, end, matches in self._known_spans(special):
            found.append((start, end, self._resolved(start, end, matches[0].canonical, matches)))
        for piece in self.scan.pieces:
            if any(start < piece.end and piece.start < end for start, end, _ in found):
                continue
            code = self._piece(piece)
            if code is not None:
                found.append((piece.start, piece.end, code))
        return [code for _, _, code in sorted(found, key=lambda row: row[:2])]

    # spellings that the index knows

    def _known_spans(self, special: Sequence[Piece]) -> Iterator[tuple[int, int, tuple[KnownCode, ...]]]:
        for chain in self._chains(special):
            at = 0
            while at < len(chain):
                for stop in range(min(len(chain), at + _LONGEST), at, -1):
                    matches = self._spelled(chain, at, stop)
                    if matches:
                        yield chain[at][0], chain[stop - 1][1], matches
                        at = stop
                        break
                else:
                    at += 1

    def _chains(self, special: Sequence[Piece]) -> Iterator[list[tuple[int, int]]]:
        """Runs of letters and digits that follow one another with at most a separator between."""
        chain: list[tuple[int, int]] = []
        for match in _ATOM.finditer(self.low):
            start, end = match.span()
            if any(piece.start < end and start < piece.end for piece in special):
                continue
            if chain and not _GAP.fullmatch(self.low, chain[-1][1], start):
                yield chain
                chain = []
            chain.append((start, end))
        if chain:
            yield chain

    def _spelled(self, chain: Sequence[tuple[int, int]], at: int, stop: int) -> tuple[KnownCode, ...]:
        start, end = chain[at][0], chain[stop - 1][1]
        text = self.low[start:end]
        if text.isdecimal() or not (self._open(chain, at - 1) and self._open(chain, stop - 1)):
            return ()
        spaced = any(character.isspace() for character in text)
        words = spaced and not any(character.isdigit() for character in text)
        if spaced:
            if text[-1].isdecimal() and counted(self.folded, *chain[stop - 1]):
                return ()
        elif exact := self.codes.exact(text):
            return (exact,) if not text.isalpha() or exact.kind == "name" or self._meant(start, end) else ()
        compact = _SEPARATORS.sub("", text)
        if compact.isdecimal() or (text.isalpha() and len(text) < 6):
            return ()
        key = compact if spaced else compact_form(text)
        matches = self.codes.compact(key)
        if not matches and key[-1] == "+":
            matches = self.codes.compact(key.rstrip("+"))
        if matches and words and not self._meant(start, end):
            if stop - at < 3:
                return ()
            spelled = _SEPARATORS.sub("", self.folded.text[start:end])
            matches = [match for match in matches if spelled in (compact, _SEPARATORS.sub("", match.text))]
        return tuple(matches)

    def _meant(self, start: int, end: int) -> bool:
        """Whether plain words may be a code's parts: they are the question, or a class word says so."""
        label = self.analyzer.surroundings.class_word(self.folded, start, end)
        return (label is not None and label[1]) or not self._rest(start, end)

    def _open(self, chain: Sequence[tuple[int, int]], gap: int) -> bool:
        """Whether a code may end (and another begin) in the gap after atom ``gap``."""
        if gap < 0 or gap + 1 >= len(chain):
            return True
        between = self.low[chain[gap][1] : chain[gap + 1][0]]
        return not between or any(character in " \t/:#" for character in between)

    # pieces by themselves

    def _piece(self, piece: Piece) -> ResolvedCode | None:
        strength = piece.strength
        if strength <= Strength.WORD:
            return self._family_of_word(piece) if strength is Strength.WORD else None
        if strength is Strength.NUMBER:
            return self._number(piece)
        matches = self._matches(piece)
        if matches:
            return self._resolved(piece.start, piece.end, piece.canonical, matches)
        if family := self._family(piece):
            return family
        return self._unknown(piece)

    def _matches(self, piece: Piece) -> tuple[KnownCode, ...]:
        exact = self.codes.exact(piece.canonical)
        if piece.kind == "ordinal":
            article = self.codes.exact(_SUB_ORDINAL.sub("", piece.canonical))
            return (article,) if article else ()
        if exact is not None:
            return (exact,)
        if matches := tuple(self.codes.compact(piece.compact)):
            return matches
        if (
            piece.strength is Strength.STRONG
            and piece.kind == "code"
            and any(mark in piece.canonical for mark in "/#")
        ):
            head = re.split(r"[/#](?!.*[/#])", piece.canonical)[0]
            return tuple(self.codes.compact(compact_form(head)))
        return ()

    def _number(self, piece: Piece) -> ResolvedCode | None:
        if counted(self.folded, piece.start, piece.end):
            return None
        label = self.analyzer.surroundings.class_word(self.folded, piece.start, piece.end)
        if label is not None and not (
            label[1] or (len(piece.text) > 2 and self.analyzer.surroundings.numbers(label))
        ):
            label = None
        if label is None and self._rest(piece.start, piece.end):
            return None
        exact = self.codes.exact(piece.canonical)
        matches = (exact,) if exact else tuple(self.codes.number(piece.canonical)) if label else ()
        if matches:
            return self._resolved(piece.start, piece.end, piece.canonical, matches)
        if label is not None and label[1]:
            return self._unknown(piece)
        return None

    def _rest(self, start: int, end: int) -> bool:
        """Whether the question says anything besides this span."""
        first, last = self.folded.origin(start, end)
        rest = f"{self.question[:first]} {self.question[last:]}"
        return any(word not in ASKING_WORDS for word in self.analyzer.content_words(rest))

    def _family(self, piece: Piece) -> ResolvedCode | None:
        followed = self.analyzer.surroundings.family_word(self.folded, piece.end)
        if piece.kind == "ordinal" or (piece.strength < Strength.WEAK and not followed):
            return None
        members = self.codes.members(piece.canonical, 50, anywhere=followed)
        if not members:
            return None
        return self._resolved(piece.start, piece.end, piece.canonical, tuple(members), status="family")

    def _family_of_word(self, piece: Piece) -> ResolvedCode | None:
        if not self.analyzer.surroundings.family_word(self.folded, piece.end):
            return None
        members = self.codes.members(piece.canonical, 50)
        if not members:
            return None
        return self._resolved(piece.start, piece.end, piece.canonical, tuple(members), status="family")

    def _unknown(self, piece: Piece) -> ResolvedCode | None:
        label = self.analyzer.surroundings.class_word(self.folded, piece.start, piece.end)
        named = label is not None and label[1]
        if piece.strength is Strength.EVERYDAY or self.analyzer.surroundings.instance_word(
            self.folded, piece.start
        ):
            return None
        known_shape = self._knows_shape(piece)
        if piece.kind == "ordinal":
            if not known_shape:
                return None
            named = True
        elif (
            piece.strength < Strength.STRONG
            and not named
            and not (known_shape and piece.strength is Strength.WEAK)
        ):
            return None
        code = self._resolved(piece.start, piece.end, piece.canonical, ())
        near = self.codes.near(piece.canonical, distance=2, limit=_SUGGESTIONS)
        return replace(
            code,
            status="unknown",
            suggestions=tuple(one.text for one in near),
            known_shape=known_shape,
            named=named,
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
        outline = coarse_shape(code_shape(piece.canonical))
        members = self.codes.members(leading(piece.canonical), 20, anywhere=True)
        return any(coarse_shape(code_shape(member.canonical)) == outline for member in members)

    def _resolved(
        self,
        start: int,
        end: int,
        canonical: str,
        matches: tuple[KnownCode, ...],
        *,
        status: Status | None = None,
    ) -> ResolvedCode:
        label = self.analyzer.surroundings.class_word(self.folded, start, end)
        first, last = self.folded.origin(start, end)
        if status is None:
            status = "known" if len(matches) == 1 else "ambiguous"
            if matches and self.analyzer.surroundings.family_word(self.folded, end):
                members = self.codes.members(matches[0].canonical, 50, anywhere=True)
                matches = (*matches, *(member for member in members if member not in matches))
        return ResolvedCode(
            text=self.question[first:last],
            canonical=canonical,
            start=first,
            end=last,
            status=status,
            matches=matches,
            class_word=label[0] if label else None,
            known_shape=bool(matches),
            named=label is not None and label[1],
        )


def hangs_on(
    question: str,
    code: ResolvedCode,
    *,
    analyzer: Analyzer,
    codes: Sequence[ResolvedCode],
    section_terms: Sequence[set[str]],
    idf: Callable[[str], float],
    synonyms: Mapping[str, frozenset[str]] | None = None,
) -> bool:
    """Whether ``question`` hangs on its unknown ``code``, so that it cannot be answered without it.

    It does when (a) nothing but the code and words that ask is left, or (b) a class word stands beside it, or
    (c) the index knows codes of its shape and no section holds half of the other words. It does not when the text of
    the error message follows the code: then the message can be looked for.

    Args:
        question: as it was asked.
        code: one of ``codes``.
        analyzer: the index's.
        codes: all codes of the question.
        section_terms: per retrieved section the tokens of its text and headings (``Analyzer.terms``).
        idf: weight of a word among the visible documents.
        synonyms: content word to tokens that also count as it.
    """
    if code.status != "unknown":
        return False
    words = other_words(question, analyzer, codes)
    if not words:
        return True
    if _MESSAGE.match(question, code.end):
        return False
    if code.named:
        return True
    if not code.known_shape:
        return False
    equal = synonyms or {}
    weights = {word: idf(word) for word in words}
    half = sum(weights.values()) / 2
    if half <= 0:
        weights = dict.fromkeys(words, 1.0)
        half = len(words) / 2
    for terms in section_terms:
        held = sum(
            weight
            for word, weight in weights.items()
            if word in terms or not terms.isdisjoint(equal.get(word, ()))
        )
        if held >= half:
            return False
    return True


def other_words(question: str, analyzer: Analyzer, codes: Sequence[ResolvedCode]) -> list[str]:
    """Content words of the question besides its codes, their class words and words that only ask."""
    text = list(question)
    for code in codes:
        text[code.start : code.end] = " " * (code.end - code.start)
    rest = "".join(text)
    labels = {word for code in codes if code.class_word for word in analyzer.tokens(code.class_word)}
    dull = ASKING_WORDS | QUESTION_WORDS | STOP_WORDS | labels
    return [word for word in analyzer.content_words(rest) if word not in dull]
