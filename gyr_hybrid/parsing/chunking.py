"""Sections cut to size, and their children."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gyr_hybrid.parsing.sections import Section
from gyr_hybrid.parsing.sizes import Sizes
from gyr_hybrid.parsing.units import CHILD_TOKENS, SECTION_TOKENS, Unit, UnitBuilder, leads

CHILD_SENTENCES = 3
ROW_GROUP = 3  # rows of a table that is not one of codes
PARAGRAPH_TOKENS = 48  # a child of this size ends with its paragraph


class Child(NamedTuple):
    """A span of the text that is searched."""

    start: int
    end: int
    table_header: str | None
    """Header row of the table that its rows stand in."""


class Piece(NamedTuple):
    """A numbered section: all of a `Section`, or a part of one that is past the limit."""

    section: Section
    start: int
    end: int
    table_header: str | None
    """Header row when it begins with rows of a table."""
    children: tuple[Child, ...]
    """They join to ``text[start:end]``."""


def pieces(text: str, sizes: Sizes, section: Section, builder: UnitBuilder) -> Iterator[Piece]:
    """Cut ``section`` of ``text`` to at most 800 tokens, and each piece into children of at most 128.

    Only a URL or a code that is longer by itself goes past a limit.
    """
    units = builder.build(section)
    whole = sizes.fits(section.start, section.end, SECTION_TOKENS)
    for group in [units] if whole else _groups(text, sizes, units):
        start, last = group[0].start, group[-1]
        last.end = start + len(text[start : last.end].rstrip())
        header = group[0].header if group[0].kind == "row" else None
        yield Piece(section, start, last.end, header, tuple(_children(text, sizes, group)))


def _groups(text: str, sizes: Sizes, units: list[Unit]) -> Iterator[list[Unit]]:
    begin = 0
    while begin < len(units):
        start, upto = units[begin].start, begin + 1
        while upto < len(units) and sizes.fits(start, units[upto].end, SECTION_TOKENS):
            upto += 1
        if upto < len(units):
            upto = _cut(text, sizes, units, begin, upto)
        yield units[begin:upto]
        begin = upto


def _cut(text: str, sizes: Sizes, units: list[Unit], begin: int, furthest: int) -> int:
    """Where the piece from ``begin`` ends: at the last end of a paragraph that fits, else of a sentence, else
    where a long sentence was cut. What leads to something stays with it where that is possible, and a list
    item with its paragraphs where half of the limit is used."""
    places = [place for place in range(furthest, begin, -1) if not leads(text, units[place - 1])]
    paragraphs = [place for place in places if units[place].rank == 0]
    for place in paragraphs:
        if not units[place].inner:
            if 2 * sizes.count(units[begin].start, units[place].start) >= SECTION_TOKENS:
                return place
            break
    sentences = (place for place in places if units[place].rank == 1)
    anywhere = (
        place
        for place in range(furthest, begin, -1)
        if units[place].rank < 2 and units[place - 1].kind != "heading"
    )
    return next((place for group in (paragraphs, sentences, anywhere) for place in group), furthest)


def _children(text: str, sizes: Sizes, units: list[Unit]) -> Iterator[Child]:
    group: list[Unit] = []
    for unit in units:
        if group and not _joins(text, sizes, group, unit):
            carried = _carried(text, sizes, group, unit)
            yield _child(group[: len(group) - len(carried)])
            group = carried
        group.append(unit)
    yield _child(group)


def _child(group: list[Unit]) -> Child:
    return Child(group[0].start, group[-1].end, group[0].header)


def _joins(text: str, sizes: Sizes, group: list[Unit], unit: Unit) -> bool:
    """Whether ``unit`` may stand in one child with ``group``."""
    last = group[-1]
    if not sizes.fits(group[0].start, unit.end, CHILD_TOKENS):
        return False
    if unit.kind == "row" or last.kind == "row":
        together = unit.kind == last.kind and unit.header == last.header and unit.rank == last.rank == 1
        return together and not unit.single and len(group) < ROW_GROUP
    if last.kind == "table":
        return unit.kind == "table"
    if unit.kind in ("code", "table"):
        return leads(text, last)
    if last.kind == "code" or len(group) >= CHILD_SENTENCES:
        return False
    if unit.rank > 0 or leads(text, last):
        return True
    return not leads(text, unit) and sizes.fits(group[0].start, last.end, PARAGRAPH_TOKENS - 1)


def _carried(text: str, sizes: Sizes, group: list[Unit], unit: Unit) -> list[Unit]:
    """The lead-in at the end of a full child, when it can go over to the child that it leads to."""
    last = group[-1]
    if len(group) == 1 or unit.kind == "row" or last.kind != "sentence" or not leads(text, last):
        return []
    return [last] if sizes.fits(last.start, unit.end, CHILD_TOKENS) else []
