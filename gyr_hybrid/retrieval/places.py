"""How much a section is about the codes of a question: the place where they stand in it.

A heading that is the code says more than a line that begins with it, that more than one row of a long table, and
that more than a line of a log. The grade is one feature of the score, among sections of one tier.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from llama_index.core.schema import TextNode

from gyr_hybrid.analysis import Analyzer, Mention
from gyr_hybrid.retrieval.legs import CodeHolders
from gyr_hybrid.storage import View

HEADING_IS = 1.0
"""The nearest heading with a code is the code, perhaps with its class word (``错误码 E1042``)."""
HEADING_LEADS = 0.9
"""It begins with the code (``E1042：导入失败``)."""
OWN_LINE = 0.8
"""A line of the text is the code, perhaps with its class word (``* Error Number: 8028``)."""
HEADING_HOLDS = 0.7
LINE_LEADS = 0.7
"""``E1042：…``, ``**E1042** …``."""
CELL_IS = 0.6
"""A first cell is the code."""
CELL_HOLDS = 0.45
LOGGED = 0.3
"""Defining by its form, but within a code block: logs, output of commands."""
PASSED_BY = 0.4
"""Only a farther heading names it, and a nearer one names another code."""
READ_AT_MOST = 40
"""Sections whose text is looked at, best first; those behind them are graded by their headings."""

_MARKS = "\"'`“”‘’「」『』【】《》[]()*_<>~ \t\u3000"
_LINE_LEAD = re.compile(r"[ \t>]*(?:#{1,6}[ \t]*|[-*+•·][ \t]+|\d{1,3}[.)、][ \t]*)?")
_AFTER = re.compile(rf"[{re.escape(_MARKS)}]*(?:[(（][^()（）\n]{{0,24}}[)）])?[{re.escape(_MARKS)}]*")
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)


@dataclass(slots=True)
class Places:
    """Grades of sections, 0..1, for the codes of one question."""

    holders: CodeHolders
    analyzer: Analyzer
    view: View
    _headings: dict[str, tuple[tuple[Mention, float], ...]] = field(default_factory=dict)

    def by_heading(self, units: Sequence[str]) -> list[list[float]]:
        """Per unit and code, the grade that its heading path gives; 0 where no heading bears the code."""
        return [
            [self._path_grade(path, canonicals) for canonicals in self.holders.canonicals]
            for path in self.view.header_paths(units)
        ]

    def grades(self, units: Sequence[str], children: Mapping[str, Sequence[str]]) -> list[float]:
        """Per unit, the mean over the question's codes of the best place where it defines each.

        Args:
            units: sections, best first: those of the first tier, of whose texts the first ones are read.
            children: unit -> its children.
        """
        grades = self.by_heading(units)
        unread = [
            unit
            for unit, row in zip(units, grades, strict=True)
            if any(
                grade < HEADING_LEADS and any(found.get(child) for child in children[unit])
                for grade, found in zip(row, self.holders.children, strict=True)
            )
        ][:READ_AT_MOST]
        nodes = self.view.nodes(unread)
        for unit, row in zip(units, grades, strict=True):
            if unit in nodes:
                self._read(nodes[unit], children[unit], row)
        return [sum(row) / len(row) for row in grades]

    def _read(self, node: TextNode, children: Sequence[str], row: list[float]) -> None:
        """Raise the grades of a section's row by the places in its text."""
        spans = self.view.spans(children)
        offset = node.start_char_idx or 0
        for i, (canonicals, found) in enumerate(
            zip(self.holders.canonicals, self.holders.children, strict=True)
        ):
            for child in children:
                if found.get(child) and child in spans:
                    start, end = spans[child][0] - offset, spans[child][1] - offset
                    row[i] = max(row[i], self._text_grade(node.text, start, end, canonicals))

    def _text_grade(self, text: str, start: int, end: int, canonicals: Collection[str]) -> float:
        best = 0.0
        piece = text[start:end]
        row = piece.lstrip().startswith("|")
        for mention in self.analyzer.mentions(piece, table_row=row):
            code = mention.code
            if code.canonical in canonicals and mention.defining and code.start >= 0:
                best = max(best, _place(text, start + code.start, start + code.end, code.class_word))
        return best

    def _path_grade(self, path: Sequence[str], canonicals: Collection[str]) -> float:
        """Of the nearest heading that bears the code; less when a heading below it names another code first."""
        passed = False
        for heading in reversed(path):
            mentions = self._heading(heading)
            grade = max((g for mention, g in mentions if mention.code.canonical in canonicals), default=0.0)
            if grade:
                return min(grade, PASSED_BY) if passed else grade
            passed = passed or any(g >= HEADING_LEADS for _, g in mentions)
        return 0.0

    def _heading(self, heading: str) -> tuple[tuple[Mention, float], ...]:
        """The codes of a heading, each with the grade of its place."""
        known = self._headings.get(heading)
        if known is None:
            mentions = [m for m in self.analyzer.mentions(f"# {heading}") if m.defining]
            known = tuple((m, self._heading_grade(heading, m, mentions)) for m in mentions)
            self._headings[heading] = known
        return known

    def _heading_grade(self, heading: str, mention: Mention, mentions: Sequence[Mention]) -> float:
        code = mention.code
        start, end = code.start - 2, code.end - 2
        words = self.analyzer.content_words
        labels = set(self.analyzer.tokens(code.class_word)) if code.class_word else set()
        before = [word for word in words(heading[:start]) if word not in labels]
        after = [word for word in words(heading[end:]) if word not in labels]
        if not before and not after:
            return HEADING_IS
        others = any(m.code.kind == code.kind and m.code.start - 2 >= end for m in mentions)
        return HEADING_HOLDS if before or others else HEADING_LEADS


def _place(text: str, start: int, end: int, class_word: str | None) -> float:
    """Grade of a defining place at ``text[start:end]``."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    if len(_FENCE.findall(text[:line_start])) % 2:
        return LOGGED
    before, after = text[line_start:start], text[end:line_end]
    if before.lstrip().startswith("|"):
        cell = before.lstrip()[1:] + text[start:end] + after.partition("|")[0]
        return CELL_IS if cell.strip(_MARKS) == text[start:end] else CELL_HOLDS
    lead = _LINE_LEAD.match(before)
    before = before[lead.end() :] if lead else before
    if class_word and class_word in before.lower():
        before = before[: before.lower().rindex(class_word)]
    rest = _AFTER.sub("", after, count=1)
    if not before.strip(_MARKS) and not rest.strip():
        return OWN_LINE
    return LINE_LEADS if not before.strip(_MARKS) else HEADING_HOLDS - 0.1
