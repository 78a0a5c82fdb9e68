"""Codes of documents: which pieces of a text are codes there, and which places define them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
from gyr_hybrid.analysis.strength import Strength

RANGE_MARKS = frozenset("- ~ ～ – — − 至 到 to through".split())
LONGEST_RANGE = 20
"""Codes between the ends of a range that a document counts as naming; of a longer one it names the ends."""
_HEADINGS_KEPT = 4096
_PREFIXED = re.compile(r"(.*\D)(\d{1,9})")


class CodeReader:
    """Reads the codes of documents."""

    def __init__(self, recognizer: Recognizer, surroundings: Surroundings) -> None:
        self._recognizer = recognizer
        self._surroundings = surroundings
        self._headings: dict[str, tuple[Mention, ...]] = {}

    def mentions(self, text: str, header_path: Sequence[str], *, table_row: bool) -> list[Mention]:
        """Codes of the headings, then those of the text, each followed by the codes inside it."""
        mentions = [mention for heading in header_path for mention in self._heading_mentions(heading)]
        before: Mention | None = None
        for mention in self.read(text, table_row=table_row):
            if before is not None:
                mentions += _between(before, mention, text)
            mentions.append(mention)
            mentions += _contained(mention)
            before = mention
        return mentions

    def _heading_mentions(self, heading: str) -> tuple[Mention, ...]:
        known = self._headings.get(heading)
        if known is None:
            scan = self._recognizer.scan(heading.strip())
            found: list[Mention] = []
            for piece in scan.pieces:
                whole = whole_place(scan.folded, piece.start, piece.end)
                if self._accepted(scan, piece, whole=whole, cell=False, heading=True):
                    defining = whole or piece.strength is not Strength.SHORT or self._about(scan, piece)
                    mention = Mention(_code(piece, piece.text, -1, -1, None), defining)
                    found += [mention, *_contained(mention)]
            known = tuple(found)
            if len(self._headings) >= _HEADINGS_KEPT:
                self._headings.clear()
            self._headings[heading] = known
        return known

    def read(self, text: str, *, table_row: bool = False) -> Iterator[Mention]:
        """Codes of a text in order, without overlap."""
        scan = self._recognizer.scan(text)
        folded = scan.folded
        for piece in scan.pieces:
            if piece.strength < Strength.EVERYDAY and not _may_be_named(piece):
                continue
            whole = whole_place(folded, piece.start, piece.end)
            heading = in_heading_line(folded, piece.start)
            cell = whole and table_row
            if not self._accepted(scan, piece, whole=whole, cell=cell, heading=heading):
                continue
            label = self._surroundings.label(folded, piece.start, piece.end)
            start, end = folded.origin(piece.start, piece.end)
            label_start = folded.lowered.rfind(label.word, 0, piece.start) if label else -1
            told = heading and (piece.strength is not Strength.SHORT or self._about(scan, piece))
            defining = whole or told or defines(folded, piece.start, piece.end, label_start)
            yield Mention(_code(piece, text[start:end], start, end, label.word if label else None), defining)

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

    def _about(self, scan: Scan, piece: Piece) -> bool:
        """Whether a heading is about the short code in it: it begins with it, or a class word stands beside it."""
        line_start = scan.folded.text.rfind("\n", 0, piece.start) + 1
        label = self._surroundings.label(scan.folded, piece.start, piece.end)
        first = not scan.folded.text[line_start : piece.start].strip(" \t#>*`")
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


def _between(first: Mention, last: Mention, text: str) -> list[Mention]:
    """The codes of a range that is written by its ends: ``P6`` of ``P5–P7``; none of a long range."""
    mark = text[first.code.end : last.code.start].strip()
    if mark not in RANGE_MARKS or first.code.kind not in ("code", "short"):
        return []
    low, high = _PREFIXED.fullmatch(first.code.canonical), _PREFIXED.fullmatch(last.code.canonical)
    if low is None or high is None or low[1] != high[1] or len(low[2]) != len(high[2]):
        return []
    numbers = range(int(low[2]) + 1, int(high[2]))
    if len(numbers) > LONGEST_RANGE:
        return []
    found = []
    for number in numbers:
        digits = f"{number:0{len(low[2])}d}"
        canonical = low[1] + digits
        code = replace(
            first.code,
            text=first.code.text[: -len(digits)] + digits,
            canonical=canonical,
            compact=compact_form(canonical),
            number=digits if first.code.number else None,
            end=last.code.end,
        )
        found.append(Mention(code, first.defining))
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
