"""Cutting what is longer than a child: after ``，、；``, else at a token, never inside what must stay whole."""

from __future__ import annotations

from gyr_hybrid.parsing.borders import Borders, CodeSpans, last_border, next_border
from gyr_hybrid.parsing.sizes import Sizes


def cut_long(text: str, start: int, end: int, sizes: Sizes, codes: CodeSpans | None = None) -> list[int]:
    """Offsets where the pieces of ``text[start:end]`` begin, the first being ``start``.

    Every piece fits a child, except where a URL or a protected span alone does not.
    """
    if sizes.fits(start, end, sizes.child):
        return [start]
    borders = Borders(text, start, end, sizes, sizes.child, codes)
    pieces, at = [start], start
    while not sizes.fits(at, end, sizes.child):
        furthest = sizes.reach(at, sizes.child)
        cut = last_border(borders.clauses, at, furthest)
        if cut is None:
            cut = last_border(borders.ascii_clauses, at, furthest)
        if cut is None:
            cut = last_border(borders.free, at, furthest)
        if cut is None:  # a protected span longer than the limit
            cut = next_border(borders.free, at)
            if cut is None:
                break
        pieces.append(cut)
        at = cut
    return pieces
