"""The strategies: what a section of a text is, and what its children are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from gyr_hybrid.parsing.borders import Borders, CodeSpans, next_border
from gyr_hybrid.parsing.chunking import Piece, pieces
from gyr_hybrid.parsing.packing import Child
from gyr_hybrid.parsing.sections import Outline, Section
from gyr_hybrid.parsing.sizes import Sizes
from gyr_hybrid.parsing.splitting import Embed, Span, Splitter, Way
from gyr_hybrid.parsing.units import UnitBuilder

Strategy: TypeAlias = Literal["mixture", "fixed", "recursive", "semantic", "structure", "parent_child"]
Children: TypeAlias = Literal["sentences", "whole", "fixed", "recursive", "semantic"]


class Plan(NamedTuple):
    """What a strategy does where nothing else is asked for."""

    sections: Literal["headings"] | Way
    children: Children
    section_size: int


STRATEGIES: dict[Strategy, Plan] = {
    "mixture": Plan("headings", "sentences", 800),
    "fixed": Plan("fixed", "whole", 256),
    "recursive": Plan("recursive", "whole", 256),
    "semantic": Plan("semantic", "whole", 256),
    "structure": Plan("headings", "whole", 800),
    "parent_child": Plan("recursive", "recursive", 800),
}


class Cutter:
    """Cuts one text into sections and children."""

    def __init__(
        self, text: str, shape: Outline, sizes: Sizes, codes: CodeSpans, embed: Embed | None = None
    ) -> None:
        self._text = text
        self._shape = shape
        self._sizes = sizes
        self._codes = codes
        self._embed = embed

    def by_headings(self, builder: UnitBuilder, children: Children) -> Iterator[Piece]:
        """The sections that the headings make."""
        for section in self._shape.sections:
            for piece in pieces(self._text, self._sizes, section, builder):
                if children != "sentences":
                    piece = piece._replace(children=self._children(piece.start, piece.end, children))
                yield piece

    def by_size(self, way: Way, children: Children, overlap: int = 0) -> Iterator[Piece]:
        """Sections by size or meaning, wherever the headings are; those only give the pieces their names.

        A section begins up to ``overlap`` before the end of the one before it, but not above a heading.
        """
        start, end = len(self._text) - len(self._text.lstrip()), len(self._text.rstrip())
        limit = self._sizes.section - overlap
        borders = Borders(self._text, start, end, self._sizes, limit, self._codes)
        for s, e in self._split(start, end, limit, way, borders):
            begin = self._back(s, overlap, borders) if overlap and s > start else s
            after = begin + len(self._text[begin:e].rstrip())
            yield Piece(
                self._section_at(begin, after),
                begin,
                after,
                self._table_header(begin),
                self._children(begin, after, children),
            )

    def _children(self, start: int, end: int, way: Children) -> tuple[Child, ...]:
        if way == "whole" or way == "sentences":
            spans = [(start, end)]
        else:
            borders = Borders(self._text, start, end, self._sizes, self._sizes.child, self._codes)
            spans = self._split(start, end, self._sizes.child, way, borders)
        return tuple(Child(s, e, self._table_header(s)) for s, e in spans)

    def _split(self, start: int, end: int, limit: int, way: Way, borders: Borders) -> list[Span]:
        splitter = Splitter(self._text, start, end, self._sizes, limit, borders)
        if way == "fixed":
            return splitter.fixed()
        if way == "semantic" and self._embed is not None:
            return splitter.semantic(self._embed)
        return splitter.recursive()

    def _back(self, start: int, overlap: int, borders: Borders) -> int:
        """The first border at most ``overlap`` before ``start`` that is not above the heading there."""
        heading = bisect_right(self._headings, start) - 1
        earliest = self._sizes.reach_back(start, overlap)
        if heading >= 0:
            earliest = max(earliest, self._headings[heading])
        return min(next_border(borders.free, earliest - 1) or start, start)

    def _section_at(self, start: int, end: int) -> Section:
        """The section that a piece begins in, else the first one that begins in it, else the one before."""
        sections = self._shape.sections
        index = bisect_right(sections, start, key=lambda section: section.end)
        if index < len(sections) and sections[index].start < end:
            return sections[index]
        return sections[index - 1] if index else Section((), 0, start, end, start, ())

    def _table_header(self, at: int) -> str | None:
        """Header row of the table in whose body ``at`` is."""
        index = bisect_right(self._tables, at, key=lambda table: table[0]) - 1
        return self._tables[index][2] if index >= 0 and at < self._tables[index][1] else None

    @cached_property
    def _headings(self) -> list[int]:
        return [section.start for section in self._shape.sections if section.level]

    @cached_property
    def _tables(self) -> list[tuple[int, int, str]]:
        """Begin and end of the body of each table, and its header row."""
        lines = self._shape.lines
        return [
            (lines[b.body], lines[b.after], self._text[lines[b.first] : lines[b.body - 1]].strip())
            for section in self._shape.sections
            for b in section.blocks
            if b.kind == "table"
        ]
