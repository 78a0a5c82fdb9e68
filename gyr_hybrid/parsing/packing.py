"""Children: one to three sentences, rows of a table, a block of code."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from gyr_hybrid.parsing.sizes import Sizes
from gyr_hybrid.parsing.units import Unit

CHILD_SENTENCES = 3
ROW_GROUP = 3  # rows of a table that is not one of codes
# Only a child below this share of the limit takes in the next paragraph: below 96 of 128 tokens. On the articles and
# scenes of 388 statutes 96 beats 48: MRR of BM25 0.625 to 0.610; on 14 of them vectors 0.604 to 0.594, their fusion
# 0.752 to 0.740; with a tenth fewer children.
SHORT = 3 / 4


class Child(NamedTuple):
    """A span of the text that is searched."""

    start: int
    end: int
    table_header: str | None
    """Header row of the table that its rows stand in."""


def children(sizes: Sizes, units: list[Unit]) -> Iterator[Child]:
    """Put the units of a section together; the children join to it.

    A paragraph or list item that is too long for one child is cut into children of like size, short ones share
    a child. What begins within a paragraph ends with it.
    """
    if len(units) == 1:
        yield _child(units)
        return
    short: list[Unit] = []  # whole paragraphs, still short
    for run in _runs(units):
        packed = _packed(sizes, run)
        if short and len(packed) == 1 and _shares(sizes, short, run):
            short += run
            continue
        if short:
            yield _child(short)
        if len(packed) == 1:
            short = run
        else:
            yield from map(_child, packed)
            short = []
    if short:
        yield _child(short)


def _child(group: list[Unit]) -> Child:
    return Child(group[0].start, group[-1].end, group[0].header)


def _runs(units: list[Unit]) -> Iterator[list[Unit]]:
    """Units that belong together: a paragraph or list item with what leads to it, a block of code, rows."""
    run = [units[0]]
    for last, unit in pairwise(units):
        begins = unit.rank == 0 and not unit.inner and not last.leads
        if begins or not _alike(last, unit):
            yield run
            run = []
        run.append(unit)
    yield run


def _alike(last: Unit, unit: Unit) -> bool:
    """Whether two units may stand in one child at all."""
    if unit.kind == "row" or last.kind == "row":
        return unit.kind == last.kind and unit.header == last.header and not unit.single
    if last.kind in ("table", "code"):
        return unit.kind == last.kind == "table"
    return unit.kind not in ("code", "table") or last.leads


def _shares(sizes: Sizes, short: list[Unit], run: list[Unit]) -> bool:
    """Whether ``run`` goes into the child of the paragraphs before it."""
    if not _alike(short[-1], run[0]) or run[0].kind == "row" or (run[-1].leads and run[0].rank == 0):
        return False
    return (
        sizes.fits(short[0].start, short[-1].end, int(SHORT * sizes.child) - 1)
        and len(short) + len(run) <= CHILD_SENTENCES
        and sizes.fits(short[0].start, run[-1].end, sizes.child)
    )


def _packed(sizes: Sizes, run: list[Unit]) -> list[list[Unit]]:
    """As few children as possible, of like size."""
    if len(run) == 1:
        return [run]
    packed = _filled(sizes, run, sizes.child)
    if len(packed) in (1, len(run)) or run[0].kind in ("row", "code"):
        return packed
    cost = _cost(packed)
    low, high = -(-sizes.count(run[0].start, run[-1].end) // len(packed)), sizes.child
    while low < high:  # look for the smallest limit that does as well
        limit = (low + high) // 2
        smaller = _filled(sizes, run, limit)
        if _cost(smaller) > cost:
            low = limit + 1
        else:
            packed, high = smaller, limit
    return packed


def _cost(groups: list[list[Unit]]) -> tuple[int, int]:
    """Number of children, and of those that end with a lead-in to the next."""
    return len(groups), sum(group[-1].leads for group in groups[:-1])


def _filled(sizes: Sizes, run: list[Unit], limit: int) -> list[list[Unit]]:
    """Each child as full as it may be; a lead-in goes over to the child that it leads to."""
    groups: list[list[Unit]] = [[]]
    for unit in run:
        group = groups[-1]
        if group and not _joins(sizes, group, unit, limit):
            carries = (
                len(group) > 1
                and group[-1].leads
                and group[-1].kind == "sentence"
                and sizes.fits(group[-1].start, unit.end, limit)
            )
            groups.append([group.pop()] if carries else [])
        groups[-1].append(unit)
    return groups


def _joins(sizes: Sizes, group: list[Unit], unit: Unit, limit: int) -> bool:
    most = ROW_GROUP if unit.kind == "row" else CHILD_SENTENCES
    if unit.kind == "row" and not unit.rank == group[-1].rank == 1:
        return False  # a row that was too long stands in children of its own
    return len(group) < most and sizes.fits(group[0].start, unit.end, limit)
