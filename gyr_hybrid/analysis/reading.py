"""Codes of documents: which pieces of a text are codes there, and which places define them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gyr_hybrid.analysis.codes import Code, Mention, compact_form
from gyr_hybrid.analysis.context import (
    Rank,
    Surroundings,
    counted,
    defines,
    ends_labelled_line,
    in_code_marks,
    in_heading_line,
    whole_place,
)
from gyr_hybrid.analysis.folding import fold
from gyr_hybrid.analysis.pieces import Piece, unqualified
from gyr_hybrid.analysis.recognition import Recognizer, Scan
from gyr_hybrid.analysis.series import codes_between, continued, dashed_ends, joined
from gyr_hybrid.analysis.strength import Strength

_HEADINGS_KEPT = 4096


class CodeReader:
    """Reads the codes of documents."""

    def __init__(self, recognizer: Recognizer, surroundings: Surroundings) -> None:
        self._recognizer = recognizer
        self._surroundings = surroundings
        self._headings: dict[str, tuple[Mention, ...]] = {}

    def mentions(self, text: str, header_path: Sequence[str], *, table_row: bool) -> list[Mention]:
        """Codes of the headings, then those of the text, each followed by the codes inside it."""
        mentions = [mention for heading in header_path for mention in self._heading_mentions(heading)]
        return [*mentions, *_with_implied(self.read(text, table_row=table_row), text)]

    def _heading_mentions(self, heading: str) -> tuple[Mention, ...]:
        known = self._headings.get(heading)
        if known is None:
            text = heading.strip()
            known = tuple(
                replace(mention, code=replace(mention.code, start=-1, end=-1, class_word=None))
                for mention in _with_implied(self.read(text, heading=True), text)
            )
            if len(self._headings) >= _HEADINGS_KEPT:
                self._headings.clear()
            self._headings[heading] = known
        return known

    def read(self, text: str, *, table_row: bool = False, heading: bool = False) -> Iterator[Mention]:
        """Codes of a text in order, without overlap; those of a list or a range are all defined, or none is."""
        scan = self._recognizer.scan(text)
        series: list[Mention] = []
        span = (0, 0)
        for piece in scan.pieces:
            found = self._mentions_of(scan, text, piece, series, table_row=table_row, heading=heading)
            if not found:
                continue
            if series and joined(text[series[-1].code.end : found[0].code.start]):
                span = (span[0], piece.end)
            else:
                yield from self._together(scan, series, *span)
                series, span = [], (piece.start, piece.end)
            series += found
        yield from self._together(scan, series, *span)

    def _mentions_of(
        self, scan: Scan, text: str, piece: Piece, before: list[Mention], *, table_row: bool, heading: bool
    ) -> list[Mention]:
        """What a piece mentions: nothing, a code, both ends of a range; ``before`` are the codes just before it."""
        folded = scan.folded
        if piece.strength < Strength.EVERYDAY and not _may_be_named(piece):
            return []
        start, end = folded.origin(piece.start, piece.end)
        if before and piece.strength is Strength.NUMBER and not counted(folded, piece.start, piece.end):
            last = before[-1]
            if code := continued(last.code, text[last.code.end : start], text[start:end]):
                return [Mention(code, last.defining)]
        whole = whole_place(folded, piece.start, piece.end)
        heading = heading or in_heading_line(folded, piece.start)
        if not self._accepted(scan, piece, whole=whole, cell=whole and table_row, heading=heading):
            return []
        label = self._surroundings.label(folded, piece.start, piece.end)
        label_start = folded.lowered.rfind(label.word, 0, piece.start) if label else -1
        told = heading and (piece.strength is not Strength.SHORT or self._about(scan, piece.start, piece.end))
        defining = whole or told or defines(folded, piece.start, piece.end, label_start)
        code = _code(piece, text[start:end], start, end, label.word if label else None)
        return [Mention(end_of, defining) for end_of in dashed_ends(code)]

    def _together(self, scan: Scan, series: list[Mention], start: int, end: int) -> list[Mention]:
        """Codes that stand together, all of them defined where one is or where they are as a whole."""
        if len(series) < 2 or not (
            any(mention.defining for mention in series) or defines(scan.folded, start, end)
        ):
            return series
        return [replace(mention, defining=True) for mention in series]

    def _accepted(self, scan: Scan, piece: Piece, *, whole: bool, cell: bool, heading: bool) -> bool:
        """Whether the piece is a code of a document.

        Args:
            scan: the text.
            piece: one of its pieces.
            whole: the piece is all of its line, heading or first cell.
            cell: it is all of the first cell of a row.
            heading: it stands in a heading.
        """
        strength, folded = piece.strength, scan.folded
        if strength >= Strength.WEAK:
            return True
        if strength is Strength.VALUE:
            return False
        if strength is Strength.WORD:
            if piece.kind == "camel" and whole and (cell or in_code_marks(folded, piece.start, piece.end)):
                return True
            return self._labelled_word(scan, piece)
        if piece.kind == "ordinal":
            return heading
        if strength is Strength.SHORT and (whole or not piece.text.islower()):
            return True
        if strength is Strength.NAME and (whole or in_code_marks(folded, piece.start, piece.end)):
            return True
        digits = cell or (whole and heading)
        if strength is Strength.NUMBER and (digits or counted(folded, piece.start, piece.end)):
            return digits
        label = self._surroundings.label_before(folded, piece.start)
        needed = Rank.NUMBERING if strength is Strength.NUMBER else Rank.NAMING
        return label is not None and label.rank >= needed

    def _about(self, scan: Scan, start: int, end: int) -> bool:
        """Whether a heading is about the short code in it: it begins with it, or a class word stands beside it."""
        line_start = scan.folded.text.rfind("\n", 0, start) + 1
        label = self._surroundings.label(scan.folded, start, end)
        first = not scan.folded.text[line_start:start].strip(" \t#>*`")
        return first or (label is not None and label.rank >= Rank.NUMBERING)

    def _labelled_word(self, scan: Scan, piece: Piece) -> bool:
        """Whether a line says that a word is a code: ``型号：LED``, ``错误码: InvalidParameter``."""
        if not _may_be_named(piece):
            return False
        label = self._surroundings.label_before(scan.folded, piece.start)
        named = label is not None and label.rank >= Rank.NAMING
        return named and ends_labelled_line(scan.folded, piece.start, piece.end)


def _may_be_named(piece: Piece) -> bool:
    """Whether a word is written like a name: in capitals, or two words in one."""
    if piece.strength is not Strength.WORD:
        return False
    return piece.kind == "camel" or (piece.text.isupper() and piece.text.isascii() and len(piece.text) > 1)


def _code(piece: Piece, text: str, start: int, end: int, class_word: str | None) -> Code:
    kind = {"word": "code", "camel": "name"}.get(piece.kind, piece.kind)
    spelled = text if start >= 0 else piece.text
    return Code(spelled, piece.canonical, piece.compact, kind, piece.number, start, end, class_word)


def _with_implied(mentions: Iterable[Mention], text: str) -> list[Mention]:
    """The mentions, with the codes between the ends of ranges, each followed by the codes inside it."""
    found: list[Mention] = []
    before: Mention | None = None
    for mention in mentions:
        if before is not None:
            found += codes_between(before, mention, text)
        found.append(mention)
        found += _contained(mention)
        before = mention
    return found


def _contained(mention: Mention) -> list[Mention]:
    """The codes inside a code that are codes by themselves."""
    code = mention.code
    if code.kind == "ordinal":
        article, unit, rest = code.canonical.partition("条")
        if not rest.startswith("第"):
            return []
        return [Mention(replace(code, canonical=article + unit, compact=article + unit), False)]
    if code.kind != "name":
        return []
    keys = [(name, fold(name)) for name in unqualified(code.text)]
    return [
        Mention(replace(code, text=name, canonical=key, compact=compact_form(key)), mention.defining)
        for name, key in keys
    ]
