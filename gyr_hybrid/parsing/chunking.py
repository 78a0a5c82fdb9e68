"""Sections cut to size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gyr_hybrid.parsing.packing import Child, children
from gyr_hybrid.parsing.sections import Section
from gyr_hybrid.parsing.sizes import Sizes
from gyr_hybrid.parsing.units import Unit, UnitBuilder


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
    """Cut ``section`` of ``text`` to the limit of a section, and each piece into children.

    Only a URL or a code that is longer by itself goes past a limit.
    """
    units = builder.build(section)
    whole = sizes.fits(section.start, section.end, sizes.section)
    for group in [units] if whole else _groups(sizes, units):
        start, last = group[0].start, group[-1]
        last.end = start + len(text[start : last.end].rstrip())
        header = group[0].header if group[0].kind == "row" else None
        yield Piece(section, start, last.end, header, tuple(children(sizes, group)))


def _groups(sizes: Sizes, units: list[Unit]) -> Iterator[list[Unit]]:
    begin = 0
    while begin < len(units):
        start, upto = units[begin].start, begin + 1
        while upto < len(units) and sizes.fits(start, units[upto].end, sizes.section):
            upto += 1
        if upto < len(units):
            upto = _cut(sizes, units, begin, upto)
        yield units[begin:upto]
        begin = upto


def _cut(sizes: Sizes, units: list[Unit], begin: int, furthest: int) -> int:
    """Where the piece from ``begin`` ends: at the last end of a paragraph that fits, else of a sentence, else
    where a long sentence was cut. What leads to something stays with it where that is possible, and a list
    item with its paragraphs where half of the limit is used."""
    places = [place for place in range(furthest, begin, -1) if not units[place - 1].leads]
    paragraphs = [place for place in places if units[place].rank == 0]
    for place in paragraphs:
        if not units[place].inner:
            if 2 * sizes.count(units[begin].start, units[place].start) >= sizes.section:
                return place
            break
    sentences = (place for place in places if units[place].rank == 1)
    anywhere = (
        place
        for place in range(furthest, begin, -1)
        if units[place].rank < 2 and units[place - 1].kind != "heading"
    )
    return next((place for group in (paragraphs, sentences, anywhere) for place in group), furthest)
