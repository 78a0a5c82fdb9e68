"""The blocks of a section, as a person sees them: its text without markup, and what stands under what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gyr_hybrid.text.lines import FIELD, Kind, Piece
from gyr_hybrid.text.reading import Reader, TooDeep
from gyr_hybrid.text.rendering import Placed

__all__ = ["Block", "Kind", "read_blocks", "standing_under"]

_LEADS_IN = re.compile(r"[:：]$")
_TITLE_CHARS = 40
_TITLE = re.compile(
    r"第[ ]?[0-9０-９零〇一二三四五六七八九十百千两]{1,8}[ ]?(?P<unit>编|篇|部分|章|节)(?=\s|$)"
)
_SECTION_NUMBER = re.compile(r"\d{1,2}(?P<parts>(?:\.\d{1,2}){1,2})(?:[.、．]|\s)(?!\d)")
_TITLE_END = re.compile(r"[。！？；：，、…!?;:,.][”’」』）)\"']*$")
_RANKS = {
    style: rank
    for rank, style in enumerate(
        ("step", "han", "han_enclosed", "number", "closed", "enclosed", "circled", "letter", "bullet")
    )
}
"""Of the marks that people write: a list with a later one stands in a list with an earlier one."""
_MAY_BE_ITEM = ("item", "head", "question", "answer")
_MAY_LEAD_IN = ("prose", "quote", "item", "answer")
_TITLE_LEVELS = {"编": 2, "篇": 2, "部分": 2, "章": 3, "节": 4, "han": 5, "han_enclosed": 6}


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a section that holds text and no other block."""

    kind: Kind
    start: int
    """Of its own characters in the section: at its list mark, its row, the opening line of its fence."""
    end: int
    """After its last character that is no blank; for a fence after the closing line."""
    text: str
    """What it means: without markup, list marks and fences. Lines of code stay lines."""
    places: tuple[int, ...]
    """``places[i]`` is where ``text[i]`` stands in the section. They do not fall, except at a cell that is
    repeated because it covers several rows or columns."""
    under: int | None
    """Index of the block that it stands under; smaller than its own."""
    cells: tuple[tuple[int, int], ...] = ()
    """Of a header or row: spans of ``text``."""
    level: int = 0
    """Depth of a list item, from 1; level of a heading."""


def read_blocks(text: str, *, plain: bool = False) -> tuple[Block, ...]:
    """The blocks of Markdown, or of plain text, in reading order."""
    reader = Reader(text, plain)
    try:
        reader.read()
    except TooDeep:
        plain, reader = True, Reader(text, True)
        reader.read()
    pieces = reader.pieces
    _mark_records(pieces)
    _mark_titles(pieces, plain)
    return _Builder(text, plain).build(pieces)


def standing_under(blocks: Sequence[Block], index: int) -> tuple[int, ...]:
    """The blocks that ``blocks[index]`` stands under, outermost first."""
    chain: list[int] = []
    under = blocks[index].under
    while under is not None:
        chain.append(under)
        under = blocks[under].under
    return tuple(reversed(chain))


def _mark_records(pieces: list[Piece]) -> None:
    """In runs of fields that begin anew with the same field, that field heads its record."""
    for run in _runs_of_fields(pieces):
        keys = [_key(piece) for piece in run]
        counts = Counter(keys)
        first = next((key for key in keys if counts[key] > 1), None)
        starts = [i for i, key in enumerate(keys) if first and key == first]
        records = [set(keys[start:end]) for start, end in pairwise([*starts, len(keys)])]
        if len(records) > 1 and len(records[0]) > 1 and all(record == records[0] for record in records):
            for start in starts:
                run[start].kind, run[start].style, run[start].alone = "head", "field", True


def _runs_of_fields(pieces: list[Piece]) -> Iterator[list[Piece]]:
    run: list[Piece] = []
    for piece in pieces:
        if piece.kind == "prose" and _key(piece) is not None:
            run.append(piece)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _key(piece: Piece) -> str | None:
    match = FIELD.match(piece.placed.text)
    return match[1].strip() if match else None


def _mark_titles(pieces: list[Piece], plain: bool) -> None:
    """A head that nothing follows is a sentence; a short numbered line of plain text heads what follows."""
    levels = [0, *(_title_level(piece) if plain else 0 for piece in pieces), 0]
    for piece, following, around in zip(
        pieces, [*pieces[1:], Piece("close")], zip(levels, levels[1:], levels[2:], strict=False), strict=False
    ):
        ends = following.kind in ("close", "heading")
        before, level, after = around
        if piece.kind == "head" and piece.alone and ends:
            piece.kind = "prose"
        elif level and not ends and level not in (before, after):
            mark = range(piece.start, piece.start + len(piece.mark))
            piece.placed = Placed(piece.mark + piece.placed.text, [*mark, *piece.placed.places])
            piece.kind, piece.level = "heading", level


def _title_level(piece: Piece) -> int:
    text = piece.placed.text
    if piece.kind not in ("prose", "item"):
        return 0
    if len(text) > _TITLE_CHARS or _TITLE_END.search(text):
        return 0
    if title := _TITLE.match(text):
        return _TITLE_LEVELS[title["unit"]]
    if number := _SECTION_NUMBER.match(text):
        return 4 + number["parts"].count(".")
    return _TITLE_LEVELS.get(piece.style, 0)


@dataclass(slots=True)
class _Scope:
    """A container whose blocks are being placed."""

    name: str
    base: int | None
    """What stands outside of it and over it, or the first block of an item, or the last heading."""
    chain: list[tuple[str, str, bool, int]] = field(default_factory=list)
    """Open heads and questions: kind, style, alone, index."""
    items: list[tuple[str, int]] = field(default_factory=list)
    """Open items of a list written by hand: style of the mark, index."""
    items_under: int | None = None
    last: int | None = None
    """The block before, when that stands in this container itself."""
    count: int = 0
    """Blocks since a heading, head, question or the beginning."""

    @property
    def standing(self) -> int | None:
        return self.chain[-1][3] if self.chain else self.base


class _Builder:
    """Finds for every piece what it stands under."""

    def __init__(self, source: str, plain: bool) -> None:
        self._source = source
        self._plain = plain
        self._blocks: list[Block] = []
        self._scopes = [_Scope("", None)]
        self._headings: list[tuple[int, int]] = []

    def build(self, pieces: Sequence[Piece]) -> tuple[Block, ...]:
        for piece in pieces:
            scope = self._scopes[-1]
            if piece.kind == "open":
                base = scope.standing
                if scope.name != "list":
                    base = self._lead(scope, colon=piece.style not in ("list", "table"))
                self._scopes.append(_Scope(piece.style, base))
            elif piece.kind == "close":
                self._scopes.pop()
                if self._scopes[-1].name != "list":
                    self._scopes[-1].last = None
                    self._scopes[-1].count += 1
            else:
                self._place(piece, scope)
        return tuple(self._blocks)

    def _place(self, piece: Piece, scope: _Scope) -> None:
        index = len(self._blocks)
        kind: Kind = piece.kind  # type: ignore[assignment]
        level = piece.level
        if scope.name == "item" and scope.last is None and not scope.count and kind in _MAY_BE_ITEM:
            under = self._open(scope if kind != "question" else self._scopes[-2], piece, index)
            scope.base = index
            scope.chain.clear()
            level = self._depth() if kind == "item" else 0
        elif kind == "heading" and not scope.name:
            under = self._under_heading(level, index)
        elif kind in ("heading", "head", "question", "answer"):
            under = self._open(scope, piece, index)
        elif kind == "item":
            under = self._item(piece, scope, index)
            level = self._depth() + len(scope.items)
        elif scope.name == "table":
            under = scope.base
            scope.base = index if kind == "header" else under
        else:
            under = self._loose(piece, scope)
        scope.last = index
        scope.count = 0 if kind in ("heading", "head", "question") else scope.count + 1
        self._blocks.append(
            Block(
                kind,
                piece.start,
                piece.end,
                piece.placed.text,
                tuple(piece.placed.places),
                under,
                piece.cells,
                level,
            )
        )

    def _depth(self) -> int:
        return sum(scope.name == "list" for scope in self._scopes)

    def _under_heading(self, level: int, index: int) -> int | None:
        """What a heading stands under: the one before of a lower level. It ends all that is open."""
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        under = self._headings[-1][1] if self._headings else None
        self._headings.append((level, index))
        self._scopes[0] = _Scope("", index)
        return under

    def _open(self, scope: _Scope, piece: Piece, index: int) -> int | None:
        """What a head, question, answer or item stands under; a head or question ends the one before of its kind."""
        if piece.kind == "answer":
            return self._question()
        if piece.kind == "item":
            return scope.base
        for position, (kind, style, alone, _) in enumerate(scope.chain):
            alike = kind == "question" or (style, alone) == (piece.style, piece.alone)
            if kind == piece.kind and (alike or (piece.alone and not alone)):
                del scope.chain[position:]
                break
        under = scope.standing
        scope.chain.append((piece.kind, piece.style, piece.alone, index))
        scope.items.clear()
        return under

    def _question(self) -> int | None:
        """The open question, else what the next block stands under anyway."""
        for scope in reversed(self._scopes):
            for kind, *_, index in reversed(scope.chain):
                if kind == "question":
                    return index
        return self._scopes[-1].standing

    def _item(self, piece: Piece, scope: _Scope, index: int) -> int | None:
        """What an item stands under that is marked by hand."""
        items, last = scope.items, scope.last
        if last is not None and self._leads_in(last) and (not items or items[-1][1] != last):
            items.clear()
        rank = _RANKS.get(piece.style, 0)
        same = any(style == piece.style for style, _ in items)
        while items and _RANKS.get(items[-1][0], 0) >= rank:
            items.pop()
        if not items and not same:
            scope.items_under = self._lead(scope)
        under = items[-1][1] if items else scope.items_under
        items.append((piece.style, index))
        return under

    def _loose(self, piece: Piece, scope: _Scope) -> int | None:
        """What a paragraph or code stands under."""
        last = scope.last
        if last is None or piece.kind == "heading":
            return scope.standing
        before = self._blocks[last]
        if self._plain and scope.items:
            item = scope.items[-1][1]
            if self._indent(piece.start) > self._indent(self._blocks[item].start):
                return item
        if self._leads_in(last):
            return last
        goes_on = self._source.count("\n", before.end, piece.start) < 2
        if self._plain and goes_on and before.kind == "prose" and before.under is not None:
            return before.under if self._leads_in(before.under) else scope.standing
        return scope.standing

    def _lead(self, scope: _Scope, *, colon: bool = False) -> int | None:
        """What a list or table stands under: the paragraph that leads in, else what is open."""
        last = scope.last
        if last is None:
            return scope.standing
        only = not colon and scope.count == 1 and scope.name != "item"
        leads = self._leads_in(last) or (only and self._blocks[last].kind in ("prose", "quote"))
        return last if leads else scope.standing

    def _leads_in(self, index: int) -> bool:
        block = self._blocks[index]
        return block.kind in _MAY_LEAD_IN and _LEADS_IN.search(block.text) is not None

    def _indent(self, start: int) -> int:
        return start - self._source.rfind("\n", 0, start)
