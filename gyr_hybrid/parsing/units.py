"""The units that a section is built of: heading, sentences, rows of tables, blocks of code."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from gyr_hybrid.analysis.sentences import split_sentences
from gyr_hybrid.parsing.borders import CodeSpans
from gyr_hybrid.parsing.long_sentences import cut_long
from gyr_hybrid.parsing.sections import Section
from gyr_hybrid.parsing.sizes import Sizes
from gyr_hybrid.parsing.structure import Block

Kind: TypeAlias = Literal["heading", "sentence", "code", "table", "row"]
IsCodeTable: TypeAlias = Callable[[list[str]], bool]
"""Whether the lines of a table's body rows make it a table of codes."""

_VISIBLE = re.compile(r"\S")
_WORD = re.compile(r"[^\W_]")
_LEAD_IN = re.compile(r"[:：][\s*_]*$")
_MAY_END_SENTENCE = re.compile(r"[。！？!?…\n]|\.(?![A-Za-z0-9])")


@dataclass(slots=True)
class Unit:
    """A piece that fits a child. It runs to the start of the next, so that all of them join to the section."""

    start: int
    kind: Kind
    """``table`` is the header and delimiter rows."""
    rank: int
    """0 begins a block, 1 a sentence, row or part of code, 2 goes on with one that was too long."""
    header: str | None = None
    """For a row: the header row of its table."""
    single: bool = False
    """For a row: it stands in a table of codes, so no other joins it."""
    inner: bool = False
    """It begins a block that goes on with a list item or quotation."""
    end: int = -1
    leads: bool = False
    """It belongs to what follows: a heading, the head of a table, a sentence that ends in a colon, the one
    sentence with which a list item of several paragraphs begins."""


class UnitBuilder:
    """Builds the units of the sections of one text."""

    def __init__(
        self,
        text: str,
        lines: Sequence[int],
        sizes: Sizes,
        codes: CodeSpans | None = None,
        is_code_table: IsCodeTable | None = None,
    ) -> None:
        self._text = text
        self._lines = lines
        self._sizes = sizes
        self._codes = codes
        self._is_code_table = is_code_table
        self._units: list[Unit] = []

    def build(self, section: Section) -> list[Unit]:
        """At least one unit; the first begins where the section does, the last ends where it does."""
        units: list[Unit] = []
        self._units = units
        starts = [self._lines[block.first] for block in section.blocks]
        if section.heading_end > section.start:
            self._add(section.start, section.heading_end, "heading", 0)
            self._add_gap(section.heading_end, starts[0] if starts else section.end)
        for block, line_start, upto in zip(section.blocks, starts, [*starts, section.end][1:], strict=True):
            end = min(self._lines[block.after], section.end)
            visible = self._visible(line_start, end)
            if visible >= end:
                continue  # blanks that are none to Markdown: a form feed, an ideographic space
            start = section.start if not units else line_start if block.kind == "code" else visible
            count = len(units)
            if block.inner and count and units[-1].rank == 0 and not units[-1].inner:
                units[-1].leads = True  # the first line of an item
            if block.kind == "table":
                self._add_table(block, start, end)
            elif block.kind == "code":
                self._add_code(start, end)
            else:
                self._add_sentences(start, end)
            units[count].inner = block.inner
            self._add_gap(end, upto)
        if not units:
            self._add_sentences(section.start, section.end)
        for unit, following in pairwise(units):
            unit.end = following.start
        units[-1].end = section.end
        for unit in units:
            if unit.kind == "sentence" and not unit.leads:
                tail = self._text[max(unit.start, unit.end - 16) : unit.end]
                unit.leads = (":" in tail or "：" in tail) and _LEAD_IN.search(tail) is not None
            elif unit.kind in ("heading", "table"):
                unit.leads = True
        return units

    def _visible(self, start: int, end: int) -> int:
        """Offset of the first non-blank character from ``start``, else ``end``."""
        if start < end and not self._text[start].isspace():
            return start
        visible = _VISIBLE.search(self._text, start, end)
        return visible.start() if visible else end

    def _add(
        self, start: int, end: int, kind: Kind, rank: int, header: str | None = None, single: bool = False
    ) -> None:
        """One unit, or several when it is past the limit of a child."""
        self._units.append(Unit(start, kind, rank, header, single))
        if not self._sizes.fits(start, end, self._sizes.child):
            cuts = cut_long(self._text, start, end, self._sizes, self._codes)
            self._units += [Unit(cut, kind, 2, header, single) for cut in cuts[1:]]

    def _add_sentences(self, start: int, end: int) -> None:
        text, rank = self._text, 0
        visible = start + len(text[start:end].rstrip())
        first_end = _MAY_END_SENTENCE.search(text, start, visible)
        if (first_end is None or first_end.end() == visible) and self._sizes.fits(
            start, end, self._sizes.child
        ):
            self._units.append(Unit(start, "sentence", 0))
            return
        for first, after in split_sentences(text[start:end]):
            if rank and not text[start + first : start + after].strip():
                continue
            self._add(start + first, start + after, "sentence", rank)
            rank = 1

    def _add_gap(self, start: int, end: int) -> None:
        """Lines of no block (rules, comments, link definitions) go with the unit before unless they are many."""
        if (
            end - start > 1
            and self._text[start:end].strip()
            and not self._sizes.fits(self._units[-1].start, end, self._sizes.child)
        ):
            self._add_lines(start, end)

    def _add_code(self, start: int, end: int) -> None:
        if self._sizes.fits(start, end, self._sizes.child):
            self._units.append(Unit(start, "code", 0))
        else:
            self._add_lines(start, end)

    def _add_lines(self, start: int, end: int) -> None:
        """Code past the limit: cut at the last blank line that fits, else at the last line end.

        A line is cut only when it is past the limit of a section and has words: not the border of a table that
        a database client has drawn.
        """
        text, rank = self._text, 0
        begin, size = start, 0
        blank, blank_size = start, 0  # after the last blank line, and the tokens before it
        at = start
        while at < end:
            line_end = text.find("\n", at, end) + 1 or end
            tokens = self._sizes.count(at, line_end)
            while size and size + tokens > self._sizes.child:
                cut, cut_size = (blank, blank_size) if blank_size else (at, size)
                self._units.append(Unit(begin, "code", rank))
                rank, begin, size, blank_size = 1, cut, size - cut_size, 0
            if tokens > self._sizes.section and _WORD.search(text, at, line_end):
                self._add(begin, line_end, "code", rank)
                rank, begin = 1, line_end
            elif tokens:
                size += tokens
            elif size or rank:
                blank, blank_size = line_end, size
                begin = begin if size else line_end
            at = line_end
        if text[begin:end].strip():
            self._units.append(Unit(begin, "code", rank))

    def _add_table(self, block: Block, start: int, end: int) -> None:
        text, lines = self._text, self._lines
        delimiter, body = lines[block.body - 1], lines[block.body]
        header = text[start:delimiter].strip()
        if self._sizes.fits(start, body, self._sizes.child):
            self._units.append(Unit(start, "table", 0))
        else:
            self._add(start, delimiter, "table", 0)
            self._add(delimiter, body, "table", 1)
        rows = [
            (self._visible(lines[row], end), min(lines[row + 1], end))
            for row in range(block.body, block.after)
        ]
        single = self._is_code_table is not None and self._is_code_table([text[s:e] for s, e in rows])
        for row_start, row_end in rows:
            self._add(row_start, row_end, "row", 1, header, single)
