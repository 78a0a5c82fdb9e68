"""The lines of a paragraph: list marks, heads of records, questions, fields, columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from gyr_hybrid.text.rendering import NOTHING, Placed, columns_wide, first_visible, join, last_visible, tidy

Kind: TypeAlias = Literal[
    "heading", "prose", "item", "header", "row", "code", "quote", "head", "question", "answer"
]
Spans: TypeAlias = Sequence[tuple[int, int]]
Row: TypeAlias = tuple[int, int, list[Placed]]
"""Where a row of a table begins and ends in the source, and its cells."""

FIELD = re.compile(
    r"([^\s：:，。；、！？,;!?|][^：:，。；、！？,;!?|\n\r]{0,23})[：:](?!//)[ \t\u3000]*(?=\S)"
)
_HAN_NUMERAL = "[零一二三四五六七八九十百]{1,5}"
_ITEM = re.compile(
    rf"""(?: (?P<number>\d{{1,3}}[.．、](?!\d)) | (?P<closed>\d{{1,3}}[)）]) | (?P<enclosed>[(（]\d{{1,3}}[)）])
      | (?P<circled>[①-⑳]) | (?P<han>{_HAN_NUMERAL}、) | (?P<han_enclosed>[(（]{_HAN_NUMERAL}[)）])
      | (?P<step>(?:第(?:\d{{1,2}}|{_HAN_NUMERAL})步|步骤[ ]?(?:\d{{1,2}}|{_HAN_NUMERAL}))(?:[：:、，,.．]|(?=\s)))
      | (?P<bullet>[•●○▪■◆▶►]|[-*+·–](?=[ \t])) | (?P<letter>[a-zA-Z][.)）](?=\s)) )[ \t\u3000]*(?=\S)""",
    re.VERBOSE,
)
_NUMBER = r"(?:\d{1,3}[ ]?[.、)）][ ]?)?"
_QUESTION = re.compile(rf"{_NUMBER}(?:Q|问|[Qq]uestion)[ ]?\d{{0,3}}[ ]?[：:.、．]\s*(?=\S)")
_ANSWER = re.compile(rf"{_NUMBER}(?:A|答|[Aa]nswer)[ ]?\d{{0,3}}[ ]?[：:.、．]\s*(?=\S)")
_WITHIN = re.compile(
    r"(?<=[\s。？！?!])(?:(?P<question>(?:Q|问)\d{0,3}[：:])|(?P<answer>(?:A|答)\d{0,3}[：:]))\s*(?=\S)"
)
_DEFINITION = re.compile(r":[ \t]+(?=\S)")
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_BRACKETS = re.compile(r"【([^【】\n\r]{1,40})】(?:[ \t]*[：:])?")
_AFTER_BOLD = re.compile(r"[ \t]*(?:[：:]|[—–-]{1,2}(?=[ \t]))")
_SENTENCE = re.compile(r"[。！!；;]|[？?](?=.)")
_HEAD_CHARS = 60
_COLUMN = re.compile(r"(?<![.。!?！？…;；,，\s])(?:[ \u3000]{2,}|[ ]*\t[ \t]*)(?=\S)")
_TAB = re.compile(r"[ ]*\t[ ]*")
_HEADER_CHARS = 24  # of a cell, where columns are told by blanks alone
_ARTICLE = re.compile(rf"第(?:{_HAN_NUMERAL}|\d+)[条章节编篇]")
_WRAPPED_COLUMNS = 50
_OPEN_END = re.compile(r"[^。！？；：….!?;:”’」』）)】\"']$")
_LINE = re.compile(r"[^\n\r]+")
_DOTS = re.compile(r"[.。…·\-—_=*~\\|+\s]*")

# What follows a character of the text in the source and still belongs to it.
_CLOSING = re.compile(r"(?:[*_~`>]+|\](?:\([^()\n]*\)|\[[^\[\]\n]*\])?|</\w+>)+")
_ENTITY = re.compile(r"&#?\w+;")
_GAP = re.compile(r"(?:\s|<br\s*/?>)*")


@dataclass(slots=True)
class Piece:
    """What will be a block, or the opening or closing of a container."""

    kind: Kind | Literal["open", "close"]
    style: str = ""
    """How a head or a list mark is written; the name of a container."""
    start: int = 0
    end: int = 0
    placed: Placed = NOTHING
    mark: str = ""
    """Of an item: as it is written in a paragraph."""
    cells: tuple[tuple[int, int], ...] = ()
    level: int = 0
    alone: bool = False
    """A head with its line to itself."""


def table_pieces(rows: Sequence[Row], headers: int) -> list[Piece]:
    """A table whose first rows are ``headers``."""
    pieces = [Piece("open", "table")]
    for index, (start, end, cells) in enumerate(rows):
        if any(cell.text for cell in cells):
            placed, spans = join(cells)
            pieces.append(Piece("header" if index < headers else "row", "", start, end, placed, cells=spans))
    return [*pieces, Piece("close", "table")]


@dataclass(slots=True)
class _Line:
    start: int
    """In the rendered paragraph, without blanks; so too ``end``."""
    end: int
    hard: bool
    """The line break before it is meant."""
    kind: Literal["", "item", "question", "answer", "definition"] = ""
    """By its mark."""
    style: str = ""
    body: int = 0
    """Where its text begins, behind the mark."""
    head: tuple[int, int, int] | None = None
    """The head with which it begins: start and end of its name, and where the text after it begins."""
    term: bool = False
    """The next line defines it."""

    @property
    def alone(self) -> bool:
        return self.term or (self.head is not None and self.head[2] >= self.end)


class Paragraph:
    """A paragraph of Markdown, or lines of plain text."""

    def __init__(
        self,
        source: str,
        rendered: Placed,
        spans: Spans,
        kind: Kind,
        *,
        plain: bool,
        entries: bool,
        answers: bool,
    ) -> None:
        self._source = source
        self._rendered = rendered
        self._text = rendered.text
        self._spans = spans
        self._kind: Kind = kind
        self._plain = plain
        self._entries = entries
        """Lines that begin with bold words and a blank are entries."""
        self._answers = answers
        """The text has questions with answers."""
        self._bold = dict(reversed(rendered.strong))
        self._starts = [start for start, _ in spans]
        self._pieces: list[Piece] = []
        self._defining = False

    def pieces(self) -> list[Piece]:
        lines = list(self._lines())
        fields = len(lines) > 1 and all(self._is_field(line) for line in lines)
        widest = max((self._width(line) for line in lines), default=0) if self._plain else 0
        group: list[_Line] = []
        index = 0
        while index < len(lines):
            line = lines[index]
            rows = self._columns(lines, index)
            if group and (rows or fields or self._breaks(group[-1], line, widest)):
                self._add_group(group)
                group = []
            if rows:
                self._add_table(rows, lines[index : index + len(rows)])
                index += len(rows)
                continue
            group.append(line)
            index += 1
        if group:
            self._add_group(group)
        if self._defining:
            self._pieces.append(Piece("close", "box"))
        return self._pieces

    # Lines.

    def _lines(self) -> Iterator[_Line]:
        text, after, waiting = self._text, 0, None
        for match in _LINE.finditer(text):
            start = first_visible(text, *match.span())
            if start == match.end():
                continue
            gap = text[after : match.start()]
            after = match.end()
            line = _Line(start, last_visible(text, *match.span()), "\r" in gap or gap.count("\n") > 1)
            self._read_mark(line)
            if waiting:
                waiting.term = line.kind == "definition" and waiting.kind == ""
                yield waiting
            elif line.kind == "definition":
                line.style = "definition"
            waiting = line
        if waiting:
            yield waiting

    def _read_mark(self, line: _Line) -> None:
        text, start, end = self._text, line.start, line.end
        line.body = start
        if self._answers:
            for kind, pattern in (("question", _QUESTION), ("answer", _ANSWER)):
                if match := pattern.match(text, start, end):
                    line.kind, line.body = kind, match.end()  # type: ignore[assignment]
                    return
        line.head = self._head(start, end)
        if line.head is not None and line.alone:
            return
        if not self._plain and (match := _DEFINITION.match(text, start, end)):
            line.kind, line.body = "definition", match.end()
        elif match := _ITEM.match(text, start, end):
            line.kind, line.style, line.body = "item", match.lastgroup or "", match.end()
            line.head = self._head(match.end(), end)

    def _head(self, start: int, end: int) -> tuple[int, int, int] | None:
        """A name in ``【】``, or in bold when what follows sets it apart."""
        text = self._text
        if text[start] == "【" and (match := _BRACKETS.match(text, start, end)):
            return (*match.span(1), first_visible(text, match.end(), end))
        stop = self._bold.get(start)
        if stop is None or not start < stop <= end:
            return None
        name = text[start:stop].rstrip()
        if not name or len(name) > _HEAD_CHARS or _SENTENCE.search(name):
            return None
        apart = _AFTER_BOLD.match(text, stop, end)
        after = first_visible(text, apart.end() if apart else stop, end)
        if after == end:
            return start, end, end
        entry = text[stop].isspace() and (self._entries or _DIGIT.search(name))
        return (start, stop, after) if apart or name[-1] in "：:" or entry else None

    def _is_field(self, line: _Line) -> bool:
        field = FIELD.match(self._text, line.body, line.end)
        return field is not None and _LETTER.search(field[1]) is not None

    def _width(self, line: _Line) -> int:
        return columns_wide(self._text[line.start : line.end])

    def _breaks(self, previous: _Line, line: _Line, widest: int) -> bool:
        """Whether ``line`` begins a block of its own."""
        if line.hard or line.kind or line.head or line.term or previous.alone:
            return True
        if not self._plain:
            return False
        width = self._width(previous)
        wrapped = width >= max(_WRAPPED_COLUMNS, 0.8 * widest) and not self._is_field(line)
        return not (wrapped and _OPEN_END.search(self._text, previous.start, previous.end))

    # Columns.

    def _cells(self, line: _Line) -> list[tuple[int, int]]:
        text, start, end = self._text, line.start, line.end
        if line.kind or line.head or _ARTICLE.match(text, start, end):
            return []
        gaps = list(_COLUMN.finditer(text, start, end))
        if any("\t" in gap[0] for gap in gaps):
            gaps = list(_TAB.finditer(text, start, end))
        if not gaps:
            return []
        return list(zip([start, *(g.end() for g in gaps)], [*(g.start() for g in gaps), end], strict=True))

    def _columns(self, lines: Sequence[_Line], first: int) -> list[list[tuple[int, int]]]:
        """The cells of the rows that begin on ``lines[first]``; none when its columns are not aligned."""
        header = self._cells(lines[first])
        if len(header) < 2 or any(
            end - start > _HEADER_CHARS or FIELD.match(self._text, start, end) for start, end in header
        ):
            return []
        rows = [header]
        for line in lines[first + 1 :]:
            cells = self._cells(line)
            if not 2 <= len(cells) <= len(header):
                break
            rows.append(self._aligned(cells, header))
        return rows if len(rows) > 1 else []

    def _aligned(self, cells: list[tuple[int, int]], header: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """As many cells as the header has; one that is missing is empty."""
        if len(cells) == len(header):
            return cells
        edges = [self._column_of(start) for start, _ in header]
        aligned = [(0, 0)] * len(header)
        column = -1
        for left, cell in enumerate(cells, start=len(header) - len(cells) + 1):
            latest = left if left < len(header) else len(header) - 1
            column = min(latest, max(column + 1, bisect_right(edges, self._column_of(cell[0]) + 1) - 1))
            aligned[column] = cell
        return aligned

    def _column_of(self, index: int) -> int:
        """The column on a terminal at which the character stands."""
        place = self._rendered.places[index]
        line = self._source.rfind("\n", 0, place) + 1
        return columns_wide(self._source[line:place])

    def _add_table(self, rows: list[list[tuple[int, int]]], lines: Sequence[_Line]) -> None:
        """The first row is the header, but not of two columns that are both indented, as commands with their help."""
        indented = all(self._source[max(0, self._source_start(line.start) - 2)].isspace() for line in lines)
        named = 0 if indented and len(rows[0]) == 2 else 1
        read: list[Row] = [
            (
                self._source_start(line.start),
                self._source_end(line.end),
                [tidy(self._rendered.cut(*cell)) for cell in cells],
            )
            for line, cells in zip(lines, rows, strict=True)
        ]
        self._pieces += table_pieces(read, named)

    # Blocks.

    def _add_group(self, group: list[_Line]) -> None:
        """Lines that are one block, or a head and a block."""
        first, end = group[0], group[-1].end
        if first.term and not self._defining:
            self._pieces.append(Piece("open", "box"))
        elif not first.term and first.kind != "definition" and self._defining:
            self._pieces.append(Piece("close", "box"))
        self._defining = first.term or (self._defining and first.kind == "definition")
        kind: Kind = self._kind
        if kind == "item" and self._pieces:
            kind = "prose"
        if first.term:
            self._add("head", first.start, first.body, end, style="term", alone=True)
        elif first.kind in ("question", "answer"):
            self._add_questions(first, end)
        elif first.head is not None and kind != "head" and not (first.alone and kind == "item"):
            name, stop, after = first.head
            brackets = self._text[name - 1 : name] == "【"
            style, until = "brackets" if brackets else "bold", end if first.alone else after
            self._add("head", first.start, name, stop, until, style=style, alone=brackets or first.alone)
            if not first.alone:
                self._add("prose" if kind == "item" else kind, after, after, end)
        else:
            kind = "item" if first.kind == "item" and kind != "head" else kind
            mark = self._text[first.start : first.body]
            self._add(kind, first.start, first.body, end, style=first.style, mark=mark, alone=kind == "head")

    def _add_questions(self, first: _Line, end: int) -> None:
        kind = first.kind
        start, body = first.start, first.body
        for match in [*_WITHIN.finditer(self._text, body, end), None]:
            stop = match.start() if match else end
            self._add("question" if kind == "question" else "answer", start, body, stop)
            if match:
                kind = "question" if match["question"] else "answer"
                start, body = match.span()

    def _add(
        self,
        kind: Kind,
        start: int,
        body: int,
        end: int,
        until: int | None = None,
        *,
        style: str = "",
        mark: str = "",
        alone: bool = False,
    ) -> None:
        """The block that begins at ``start`` and ends at ``until``, with the text from ``body`` to ``end``."""
        placed = tidy(self._rendered.cut(body, end))
        if placed.text and (start < body or not _DOTS.fullmatch(placed.text)):
            stop = self._source_end(end if until is None else until)
            self._pieces.append(
                Piece(kind, style, self._source_start(start), stop, placed, mark, alone=alone)
            )

    def _span_of(self, place: int) -> tuple[int, int]:
        return self._spans[max(0, bisect_right(self._starts, place) - 1)]

    def _source_start(self, index: int) -> int:
        """Where in the source the character begins, markup before it included."""
        places = self._rendered.places
        line, _ = self._span_of(places[index])
        before = last_visible(self._text, 0, index)
        if not before or places[before - 1] < line:
            return first_visible(self._source, line, places[index])
        after = self._behind(before)
        gap = _GAP.match(self._source, after)
        return min(gap.end() if gap else after, places[index])

    def _source_end(self, index: int) -> int:
        """Where in the source the text before ``index`` ends, markup behind it included."""
        return self._behind(last_visible(self._text, 0, index))

    def _behind(self, index: int) -> int:
        place = self._rendered.places[index - 1]
        _, end = self._span_of(place)
        if index < len(self._text):
            end = min(end, max(place + 1, self._rendered.places[index]))
        entity = _ENTITY.match(self._source, place, end)
        after = entity.end() if entity else place + 1
        closing = _CLOSING.match(self._source, after, end)
        return closing.end() if closing else after
