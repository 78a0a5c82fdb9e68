"""Claims over the rows of a table that can be worked out: which is the most, the least."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from gyr_hybrid.figures import Figure, even_fold, find_figures, written
from gyr_hybrid.text.blocks import Block
from gyr_hybrid.verification.sources import Source, content

_MOST = re.compile(
    r"最(?:为)?([贵高多大长快重强]|便宜|[低少小短慢轻])|\b(most expensive|cheapest|highest|lowest|largest|smallest|longest|shortest)\b"
)
_LEAST = frozenset("便宜 低 少 小 短 慢 轻 cheapest lowest smallest shortest".split())
_PRICED = re.compile(r"贵|便宜|expensive|cheap")
_PRICE = re.compile(r"价|费|元|额|price|cost|fee")


def false_extreme(sentence: str, cited: Sequence[Source]) -> str | None:
    """What the rows say instead, when a folded sentence names the wrong one as the most or the least; None otherwise.

    Only where it is certain: the sentence names one row, and one column of numbers can be meant.
    """
    extreme = _MOST.search(sentence)
    if extreme is None:
        return None
    word = extreme[1] or extreme[2]
    for source in cited:
        for header, rows in _tables(source):
            named = [row for row in rows if _name(row) and _name(row) in sentence]
            column = _column(header, rows, sentence, bool(_PRICED.search(word)))
            if len(named) != 1 or column is None:
                continue
            numbers = {_name(row): n for row in rows if (n := _number(row, column)) is not None}
            mine = numbers.get(_name(named[0]))
            if mine is None or len(numbers) < len(rows):
                continue
            best = (min if word in _LEAST else max)(numbers, key=lambda name: numbers[name])
            if numbers[best] != mine:
                return f"{best!r} is"
    return None


def _tables(source: Source) -> Iterator[tuple[Block, list[Block]]]:
    for i, block in enumerate(source.blocks):
        if block.kind == "header":
            rows = [b for b in source.blocks if b.kind == "row" and b.under == i]
            if len(rows) > 1:
                yield block, rows


def _cell(row: Block, column: int) -> str:
    start, end = row.cells[column] if column < len(row.cells) else (0, 0)
    return even_fold(row.text[start:end]).strip()


def _name(row: Block) -> str:
    return _cell(row, 0)


def _number(row: Block, column: int) -> Fraction | None:
    figures: Sequence[Figure] = find_figures(_cell(row, column))
    return written(figures[0]) if len(figures) == 1 else None


def _column(header: Block, rows: Sequence[Block], sentence: str, priced: bool) -> int | None:
    """The one column of numbers that is meant: by its name, by being a price, by being the only one."""
    numeric = [c for c in range(1, len(header.cells)) if all(_number(row, c) is not None for row in rows)]
    if priced:
        numeric = [c for c in numeric if _PRICE.search(_cell(header, c)) or _PRICE.search(_cell(rows[0], c))]
    if len(numeric) > 1:
        numeric = [c for c in numeric if set(content(_cell(header, c))) & set(content(sentence))]
    return numeric[0] if len(numeric) == 1 else None
