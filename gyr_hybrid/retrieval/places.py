"""How much a section is about the codes of a question: the place where they stand in it.

A heading that is the code says more than a line that begins with it, that more than one row of a long table, and
that more than a line of a log. The grade is one feature of the score, among sections of one tier.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from llama_index.core.schema import TextNode

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.analysis.folding import fold_with_offsets
from gyr_hybrid.retrieval.legs import CodeHolders
from gyr_hybrid.retrieval.phrases import CLASS_WORDS
from gyr_hybrid.storage import View

HEADING_IS = 1.0
"""The nearest heading with a code is the code, perhaps with its class word (``错误码 E1042``)."""
HEADING_LEADS = 0.85
"""It begins with the code (``E1042：导入失败``)."""
OWN_LINE = 0.8
"""A line of the text is the code, perhaps with its class word (``* Error Number: 8028``)."""
HEADING_HOLDS = 0.7
LINE_LEADS = 0.6
"""``E1042：…``, ``**E1042** …``."""
CELL_IS = 0.55
"""A first cell is the code."""
CELL_HOLDS = 0.4
LOGGED = 0.25
"""Defining by its form, but within a code block: logs, output of commands."""
BRIEF = 0.08
"""What such headings gain, less the more other words they have."""
PASSED_BY = 0.4
"""Only a farther heading names it, and a nearer one names another code."""
READ_AT_MOST = 40
"""Sections whose text is looked at, best first; those behind them are graded by their headings."""

_MARKS = "\"'`“”‘’「」『』【】《》[]()*_<>~ \t\u3000"
_SINCE = re.compile(
    r"[(（<]?\s*(?:从|自|since|new in|added in|deprecated(?: since)?)\s*"
    r"(?:v?\d+(?:\.\d+)+[\w.-]*(?:\s*(?:版本?|、|和|及|，|,|and)\s*)*)+(?:开始|起|之?后)?\s*(?:引入|新增|支持|弃用|废弃|移除)?\s*[)）>]?",
    re.IGNORECASE,
)
"""``从 v8.4.0 版本开始引入``: a remark on what the heading names."""
_LINE_LEAD = re.compile(r"[ \t>]*(?:#{1,6}[ \t]*|[-*+•·][ \t]+|\d{1,3}[.)、][ \t]*)?")
_AFTER = re.compile(rf"[{re.escape(_MARKS)}]*(?:[(（][^()（）\n]{{0,24}}[)）])?[{re.escape(_MARKS)}]*")
_FENCE = re.compile(r"^[ \t>]*(?:```|~~~)[`~]*[ \t]*(\S?)", re.MULTILINE)


@dataclass(slots=True)
class Places:
    """Grades of sections, 0..1, for the codes of one question."""

    holders: CodeHolders
    analyzer: Analyzer
    view: View
    _headings: dict[str, dict[str, float]] = field(default_factory=dict)

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
        return [sum(row) / max(len(row), 1) for row in grades]

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
            grades = self._heading(heading)
            grade = max((grades.get(canonical, 0.0) for canonical in canonicals), default=0.0)
            if grade:
                return min(grade, PASSED_BY) if passed else grade
            passed = passed or max(grades.values(), default=0.0) >= HEADING_LEADS
        return 0.0

    def _heading(self, heading: str) -> dict[str, float]:
        """The codes of a heading, and those of the question in it, each with the grade of its place."""
        known = self._headings.get(heading)
        if known is None:
            codes = [m.code for m in self.analyzer.mentions(f"# {heading}") if m.defining]
            spans = {code.canonical: (code.start - 2, code.end - 2) for code in codes}
            # a compound of plain words is a code there only because the index knows it as one
            folded = fold_with_offsets(heading)
            for canonical in set().union(*self.holders.canonicals) - set(spans):
                if found := re.search(rf"(?<![\w.-]){re.escape(canonical)}(?![\w-])", folded.lowered):
                    spans[canonical] = folded.origin(*found.span())
            remark = _SINCE.search(heading)
            remarked = range(*remark.span()) if remark and remark.start() else range(0)
            known = {}
            for canonical, (start, end) in spans.items():
                later = [at for at, _ in spans.values() if at >= end and at not in remarked]
                known[canonical] = (
                    PASSED_BY if start in remarked else self._heading_grade(heading, start, end, bool(later))
                )
            self._headings[heading] = known
        return known

    def _heading_grade(self, heading: str, start: int, end: int, others: bool) -> float:
        """Grade of the code there; ``others`` tells whether codes follow that are no remark on a version."""
        before, after = self._words(heading[:start]), self._words(_SINCE.sub(" ", heading[end:]))
        if not before and not after and not others:
            return HEADING_IS
        grade = HEADING_HOLDS if others or before else HEADING_LEADS
        return grade + BRIEF / (1 + before + after)

    def _words(self, text: str) -> int:
        """How many words a part of a heading says besides what kind of thing the code is."""
        return len(self.analyzer.content_words(CLASS_WORDS.sub(" ", text)))


def _place(text: str, start: int, end: int, class_word: str | None) -> float:
    """Grade of a defining place at ``text[start:end]``."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    if _in_code_block(text, line_start):
        return LOGGED
    before, after = text[line_start:start], text[end:line_end]
    if before.lstrip(" >").startswith("#"):
        return 0.0  # the heading path says it
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
    return LINE_LEADS


def _in_code_block(text: str, at: int) -> bool:
    """Whether a line is fenced; a section that is a later piece of a long one may begin within a block."""
    fences = list(_FENCE.finditer(text))
    begins_inside = len(fences) % 2 == 1 and not fences[0][1]
    return sum(fence.start() < at for fence in fences) % 2 == (0 if begins_inside else 1)
