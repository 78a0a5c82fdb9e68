"""A text read into pieces: headings, paragraphs, tables, code, and the containers that they stand in."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, takewhile
from typing import Any

from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from gyr_hybrid.text.lines import Kind, Paragraph, Piece, Row, Spans, table_pieces
from gyr_hybrid.text.markup import NESTED, block_parser
from gyr_hybrid.text.rendering import NOTHING, Placed, first_visible, last_visible, render, tidy

_BLANK_START = re.compile(r"^(?:[\u200b\u2060\ufeff]+|[^\S\n]+$)", re.MULTILINE)
_IMPORTS = re.compile(
    r"\s*(?:import\s+(?:[^\n'\"]*\sfrom\s*)?['\"][^\n]*|import\s[^\n{]*\{[^{}]*\}\s*from\s*['\"][^\n]*"
    r"|export\s+(?:const|let|default|function|\{)[^\n]*)(?:\n|\Z)"
)
_HASHES = re.compile(r"#{1,6}[ \t]*")
_CLOSING_HASHES = re.compile(r"(?<![#\\])#*\s*$")
_ANCHOR = re.compile(r"[ \t]*\{#[^}\s]*\}\s*$")
_MARK_BEFORE = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]*$")
_TASK = re.compile(r"\[[ xX]\][ \t]+(?=\S)")
_ALERT = re.compile(r"\[!\w+\][-+]?[ \t]*")
_BOLD_ENTRY = re.compile(r"^[ \t>*+-]*(?:\*\*|__)[^*_\n]+(?:\*\*|__)[ \t]+\S", re.MULTILINE)
_QUESTION = re.compile(r"(?:Q|问|[Qq]uestion) ?\d{0,3} ?[：:.、．]")
_ANSWER = re.compile(r"(?:A|答|[Aa]nswer) ?\d{0,3} ?[：:.、．]")
_PIPE = re.compile(r"\\.|\|", re.DOTALL)
_STRUCTURE = re.compile(
    r"<!--(?:[^-<]|-(?!->)|<(?!!--))*-->|<(?P<raw>script|style)\b.*?(?:</(?P=raw)\s*>|\Z)"
    r"|<(?P<slash>/?)(?P<name>table|caption|tr|t[hd]|thead|tbody|tfoot|colgroup|col|summary|details|d[ltd]|ul|ol|li|pre|h[1-6])"
    r"\b(?P<rest>[^<>]*)>",
    re.IGNORECASE | re.DOTALL,
)
_EMBEDDED = re.compile(r"(?<!`)<(table|script|style)\b[^<>]*>", re.IGNORECASE)
_CONTAINERS = {"details": "box", "dl": "box", "ul": "list", "ol": "list", "li": "item"}
_HEADS = ("summary", "dt", "caption")
_COVERS = re.compile(r"(row|col)span\s*=\s*[\"']?(\d{1,4})", re.IGNORECASE)
_REPEATED = 2000  # cells of a table that stand for others


class TooDeep(Exception):
    """More containers stand in one another than are read."""


class Reader:
    """Collects the pieces of a text."""

    def __init__(self, text: str, plain: bool) -> None:
        self.pieces: list[Piece] = []
        text = text.replace("\r", "\t")  # to the parser a blank, but none that breaks a line
        self._source = _BLANK_START.sub(lambda blank: " " * len(blank[0]), text)
        self._plain = plain
        self._labels: Container[str] = ()
        self._containers: list[str] = []

    def read(self) -> None:
        text, start = self._source, 0
        while not self._plain and (match := _IMPORTS.match(text, start)):
            start = match.end()
        if start:
            text = self._source = re.sub(r"[^\n]", " ", text[:start]) + text[start:]
        env: dict[str, Any] = {"plain": self._plain}
        parser = block_parser(self._plain)
        state = StateBlock(text, parser, env, [])
        parser.block.tokenize(state, 0, state.lineMax)
        self._labels = env.get("references", ())
        for token in state.tokens:
            self._token(token)

    def _token(self, token: Token) -> None:
        spans: Spans = token.meta.get("spans", ())
        if token.level >= NESTED - 1:
            raise TooDeep
        match token.type:
            case "paragraph_open":
                self._paragraph(spans)
            case "rule_below_open":
                self._paragraph(spans[:-1])
            case "heading_open":
                atx = token.markup.startswith("#")
                self._heading(spans if atx else spans[:-1], spans[-1][1], int(token.tag[1:]), atx)
            case "tight_heading":
                hashes = _HASHES.match(self._source, spans[0][0])
                self._heading(spans, spans[0][1], len(hashes[0]) if hashes else 1, True)
            case "fence" | "code_block":
                self._code(token, spans)
            case "html_block":
                self._html(spans)
            case "tags":
                self._html(spans, text=False)
            case "table_open":
                self._pipe_table(spans)
            case "box_open":
                self._open("box")
                start, end = token.meta["title"]
                if self._source[start:end].strip():
                    self._paragraph([(start, end)], "head")
            case "bullet_list_open" | "ordered_list_open":
                self._open("list")
            case "list_item_open":
                self._open("item")
            case "blockquote_open":
                self._open("quote")
            case "box_close":
                self._close("box")
            case "bullet_list_close" | "ordered_list_close":
                self._close("list")
            case "list_item_close":
                self._close("item")
            case "blockquote_close":
                self._close("quote", "alert")

    # Containers.

    def _open(self, name: str) -> None:
        self._containers.append(name)
        self.pieces.append(Piece("open", name))

    def _close(self, *names: str) -> None:
        """Closes the innermost container of that name and what is open in it."""
        if any(name in names for name in self._containers):
            closed = ""
            while closed not in names:
                closed = self._containers.pop()
                self.pieces.append(Piece("close", closed))

    def _just_opened(self, name: str) -> bool:
        return bool(self.pieces) and self.pieces[-1].kind == "open" and self.pieces[-1].style == name

    # Headings, code, paragraphs.

    def _raw(self, spans: Spans) -> Placed:
        source = self._source
        if len(spans) == 1:
            return Placed(source[slice(*spans[0])], range(*spans[0]))
        places: list[int] = []
        for start, end in spans:
            places += range(start, end + 1)
        return Placed("\n".join([source[start:end] for start, end in spans]), places[:-1])

    def _render(self, raw: Placed) -> Placed:
        return raw if self._plain else render(raw, self._labels)

    def _heading(self, spans: Spans, end: int, level: int, atx: bool) -> None:
        raw, start = self._raw(spans), first_visible(self._source, *spans[0])
        if atx:
            hashes, tail = _HASHES.match(raw.text), _CLOSING_HASHES.search(raw.text)
            first = hashes.end() if hashes else 0
            raw = raw.cut(first, max(first, tail.start()) if tail else len(raw.text))
        if anchor := _ANCHOR.search(raw.text):
            raw = raw.cut(0, anchor.start())
        placed = tidy(self._render(raw))
        if not placed.text:
            return
        kind: Kind = "heading" if {"item", "quote", "alert"}.isdisjoint(self._containers) else "head"
        if self._just_opened("item"):
            kind, start = "item", self._mark_start(start)
        end = last_visible(self._source, start, end)
        self.pieces.append(Piece(kind, f"h{level}", start, end, placed, level=level, alone=True))

    def _mark_start(self, start: int) -> int:
        """Where the list mark stands before the text of an item."""
        line = self._source.rfind("\n", 0, start) + 1
        mark = _MARK_BEFORE.search(self._source[line:start])
        return line + mark.start() if mark else start

    def _code(self, token: Token, spans: Spans) -> None:
        source = self._source
        parts: list[str] = []
        places: list[int] = []
        inside = spans[1:] if token.type == "fence" else spans
        for line, (start, end) in zip(token.content.split("\n"), inside, strict=False):
            begin = end - len(line) if source.endswith(line, 0, end) else start
            shown = last_visible(source, begin, end)
            parts.append(source[begin:shown])
            places += [*range(begin, shown), end]
        text = "\n".join(parts).rstrip()
        if text:
            start = min(spans[0][0], places[0])
            end = last_visible(source, start, spans[-1][1])
            self.pieces.append(Piece("code", "", start, end, Placed(text, places[: len(text)])))

    def _paragraph(self, spans: Spans, forced: Kind | None = None) -> None:
        source = self._source
        start, end = first_visible(source, *spans[0]), spans[0][1]
        kind: Kind = forced or ("quote" if "quote" in self._containers else "prose")
        first: int | None = None
        if not self._plain:
            if self._just_opened("quote") and (alert := _ALERT.match(source, start, end)):
                self.pieces[-1].style = self._containers[-1] = "alert"
                if alert.end() < end:
                    self._paragraph([(alert.end(), end)], "head")
                if len(spans) > 1:
                    self._paragraph(spans[1:])
                return
            if self._just_opened("item") and not forced:
                kind, first = "item", self._mark_start(start)
                task = _TASK.match(source, start, end)
                start = task.end() if task else start
            if source.startswith("!!! ", start):
                start += 4
        spans = [(start, end), *spans[1:]]
        raw = self._raw(spans)
        embedded = None if self._plain else _EMBEDDED.search(raw.text)
        if embedded and f"</{embedded[1].lower()}" in raw.text.lower():
            self._html(spans)
            return
        pieces = Paragraph(
            source,
            self._render(raw),
            spans,
            kind,
            plain=self._plain,
            entries=self._bold_entries,
            answers=self._has_answers,
        ).pieces()
        if not pieces:
            return
        if first is not None:
            pieces[0].start = first
        term = self.pieces[-1] if self.pieces else None
        if pieces[0].style == "definition" and term and term.kind == "prose" and "\n" not in term.placed.text:
            term.kind, term.style, term.alone = "head", "term", True
            self.pieces.insert(-1, Piece("open", "box"))
            pieces.append(Piece("close", "box"))
        self.pieces += pieces

    @cached_property
    def _bold_entries(self) -> bool:
        return len(_BOLD_ENTRY.findall(self._source)) > 1

    @cached_property
    def _has_answers(self) -> bool:
        return bool(_ANSWER.search(self._source) and _QUESTION.search(self._source))

    # Tables and HTML.

    def _pipe_table(self, spans: Spans) -> None:
        rows: list[Row] = []
        body = list(takewhile(lambda span: "|" in self._source[slice(*span)], spans[2:]))
        for start, end in (spans[0], *body):
            start, end = first_visible(self._source, start, end), last_visible(self._source, start, end)
            cells = [tidy(self._render(cell)) for cell in _split_row(self._raw([(start, end)]))]
            missing = len(rows[0][2]) - len(cells) if rows else 0
            rows.append((start, end, cells + [NOTHING] * missing))
        names, values = (
            sum(map(_has_word, cells)) for cells in (rows[0][2], chain(*(row[2] for row in rows[1:])))
        )
        if values or names > 1:  # else the keywords of a page
            self.pieces += table_pieces(rows, 1)
        if after := spans[2 + len(body) :]:
            self._paragraph(after)

    def _html(self, spans: Spans, *, text: bool = True) -> None:
        raw = self._raw(spans)
        at, name = 0, ""
        table: _HtmlTable | None = None
        for tag in [*_STRUCTURE.finditer(raw.text), None]:
            until = tag.start() if tag else len(raw.text)
            if not text:
                pass
            elif table is None or name == "caption":
                self._html_text(spans, raw.cut(at, until), name)
            else:
                table.text(at, until)
            at = tag.end() if tag else until
            name, slash = (tag["name"] or "").lower() if tag else "table", tag is None or bool(tag["slash"])
            if name == "table":
                self.pieces += table.pieces(self._render) if table else ()
                table = None if slash else _HtmlTable(raw)
            elif table and tag and name:
                table.tag(tag)
            elif name in _CONTAINERS:
                if slash or (name == "li" and self._containers[-1:] == ["item"]):
                    self._close(_CONTAINERS[name])
                if not slash:
                    self._open(_CONTAINERS[name])
            name = "" if slash else name

    def _html_text(self, spans: Spans, raw: Placed, name: str) -> None:
        """Text between two tags, of which the first is ``name``."""
        if not raw.text.strip():
            return
        first, last = raw.places[0], raw.places[-1] + 1
        near = spans[max(0, bisect_left(spans, (first, first)) - 1) : bisect_left(spans, (last, last)) + 1]
        inside = [(max(start, first), min(end, last)) for start, end in near]
        inside = [
            (first_visible(self._source, *span), last_visible(self._source, *span))
            for span in inside
            if self._source[slice(*span)].strip()
        ]
        if not inside:
            return
        if name.startswith("h"):
            self._heading(inside, inside[-1][1], int(name[1:]), False)
        elif name == "pre":
            code = self._render(raw)
            begin = len(code.text) - len(code.text.lstrip("\r\n"))
            placed = code.cut(begin, len(code.text.rstrip()))
            placed = Placed(placed.text.replace("\r", "\n"), placed.places)
            if placed.text:
                start = min(inside[0][0], placed.places[0])
                self.pieces.append(Piece("code", "", start, inside[-1][1], placed))
        else:
            self._paragraph(inside, "head" if name in _HEADS else None)


@dataclass(slots=True)
class _Cell:
    start: int
    end: int
    names: bool = False
    """It is a ``<th>``."""
    rows: int = 1
    columns: int = 1
    placed: Placed = NOTHING


class _HtmlTable:
    """A table of HTML while it is read."""

    def __init__(self, raw: Placed) -> None:
        self._raw = raw
        self._rows: list[list[_Cell]] = []
        self._open: _Cell | None = None

    def tag(self, tag: re.Match[str]) -> None:
        name, opens = tag["name"].lower(), not tag["slash"]
        if name not in ("tr", "td", "th"):
            return
        self._open = None
        if opens and name == "tr":
            self._rows.append([])
        elif opens:
            covers = {kind.lower(): int(count) for kind, count in _COVERS.findall(tag["rest"])}
            self._add(_Cell(tag.end(), tag.end(), name == "th", covers.get("row", 1), covers.get("col", 1)))

    def text(self, start: int, end: int) -> None:
        if self._open is None and self._raw.text[start:end].strip():
            self._add(_Cell(start, end))
        if self._open is not None:
            self._open.end = end

    def _add(self, cell: _Cell) -> None:
        if not self._rows:
            self._rows.append([])
        self._rows[-1].append(cell)
        self._open = cell

    def pieces(self, rendered: Callable[[Placed], Placed]) -> list[Piece]:
        self._rows = [cells for cells in self._rows if cells]
        for cells in self._rows:
            for cell in cells:
                cell.placed = tidy(rendered(self._raw.cut(cell.start, cell.end)))
        grid = self._grid()
        headers = 0
        while headers < len(grid) and all(cell.names for cell in self._rows[headers]):
            headers += 1
        if not headers and len(grid) > 1 and len(grid[0]) > 2:
            headers = int(not any(cell.names for cells in self._rows for cell in cells))
        rows: list[Row] = []
        for own, cells in zip(self._rows, grid, strict=True):
            filled = [cell.placed.places for cell in own if cell.placed.text]
            start, end = (filled[0][0], filled[-1][-1] + 1) if filled else (0, 0)
            rows.append((start, end, [cell.placed for cell in cells]))
        return table_pieces(rows, min(headers, len(rows) - 1) or headers)

    def _grid(self) -> list[list[_Cell]]:
        """The rows with every cell that they show: one that covers several stands in each."""
        grid: list[list[_Cell]] = []
        hanging: dict[int, tuple[int, _Cell]] = {}
        spare = _REPEATED
        for own in self._rows:
            row: list[_Cell] = []
            left = iter(own)
            while True:
                if len(row) in hanging:
                    rows, cell = hanging.pop(len(row))
                    if rows > 1 and spare > 0:
                        hanging[len(row)] = (rows - 1, cell)
                    spare -= 1
                    row.append(cell)
                    continue
                new = next(left, None)
                if new is None:
                    break
                for _ in range(max(1, min(new.columns, spare))):
                    if new.rows > 1:
                        hanging[len(row)] = (new.rows - 1, new)
                    row.append(new)
                spare -= new.columns - 1
            grid.append(row)
        return grid


def _has_word(cell: Placed) -> bool:
    return any(character.isalnum() for character in cell.text)


def _split_row(row: Placed) -> list[Placed]:
    """The cells of a row of a pipe table; ``\\|`` is a pipe in a cell."""
    text, cells, start = row.text, [], 0
    escaped: list[int] = []
    for match in [*_PIPE.finditer(text), None]:
        if match and match[0] != "|":
            if match[0] == "\\|":
                escaped.append(match.start())
            continue
        end = match.start() if match else len(text)
        cell = row.cut(start, end)
        for index in reversed(escaped):
            at = index - start
            cell = Placed(cell.text[:at] + cell.text[at + 1 :], [*cell.places[:at], *cell.places[at + 1 :]])
        if cell.text.strip() or (start and match):
            cells.append(cell)
        elif start == 0 and end and match:
            cells.append(cell)  # blanks before the first pipe
        start, escaped = end + 1, []
    return cells
