"""Writing the text of a document that has no text of its own: Markdown that says what was a heading or table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from gyr_hybrid.parsing.formats.reading import Place, clean

# What Markdown would take for structure that the source does not have.
_STRUCTURE = re.compile(r"#|(?:-{3,}|=+)$|```|~~~")

_Kind: TypeAlias = Literal["block", "item", "row"]
"""Items and rows follow each other without a blank line."""


class MarkdownText:
    """Collects blocks, and the places (pages, rows, anchors) where they begin."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._length = 0
        self._last: _Kind = "block"
        self._places: list[Place] = []
        self._waiting: list[tuple[str, str]] = []

    def heading(self, level: int, text: str) -> None:
        """A heading; without text it is left out."""
        if text := " ".join(clean(text).split()):
            self._add(f"{'#' * min(max(level, 1), 6)} {text}")

    def paragraph(self, text: str) -> None:
        """Lines of text; blanks at their ends are dropped."""
        lines = [line for raw in text.split("\n") if (line := clean(raw).strip())]
        if lines:
            self._add("\n".join(f"\\{line}" if _STRUCTURE.match(line) else line for line in lines))

    def item(self, text: str, *, depth: int = 0, marker: str = "-") -> None:
        """A list item; ``depth`` 0 is the outermost."""
        if text := " ".join(clean(text).split()):
            self._add(f"{'  ' * min(depth, 6)}{marker} {text}", "item")

    def code(self, text: str) -> None:
        """A block of code as it is."""
        if text.strip():
            fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
            self._add(f"{fence}\n{text.strip(chr(10))}\n{fence}")

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """A table whose first row is its header; empty rows are dropped, short ones filled."""
        if lines := table_lines(rows):
            self._add("\n".join(lines))

    def row(self, line: str, *, first: bool = False) -> None:
        """A line of a table, as it is."""
        self._add(line, "block" if first else "row", "row")

    def place(self, key: str, value: str) -> None:
        """From the next block or line on, ``key`` is ``value``."""
        self._waiting.append((key, value))

    def text(self) -> str:
        """All blocks, parted by blank lines."""
        return "".join(self._blocks)

    def places(self) -> tuple[Place, ...]:
        return tuple(self._places)

    def _add(self, block: str, joins: _Kind = "block", kind: _Kind | None = None) -> None:
        joint = ""
        if self._blocks:
            joint = "\n" if joins != "block" and joins == self._last else "\n\n"
        self._last = kind or joins
        self._places += [(self._length + len(joint), key, value) for key, value in self._waiting]
        self._waiting.clear()
        self._blocks.append(joint + block)
        self._length += len(joint) + len(block)


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a Markdown table.

    >>> table_lines([["错误码", "说明"], ["E1", "甲|乙"]])
    ['| 错误码 | 说明 |', '| --- | --- |', '| E1 | 甲\\\\|乙 |']
    """
    cells = [[_cell(cell) for cell in row] for row in rows]
    cells = [row for row in cells if any(row)]
    if not cells:
        return []
    width = max(map(len, cells))
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in cells]
    return [lines[0], f"|{' --- |' * width}", *lines[1:]]


def _cell(text: str) -> str:
    return " ".join(clean(text).split()).replace("|", "\\|")
