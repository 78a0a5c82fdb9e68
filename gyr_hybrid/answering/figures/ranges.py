"""Figures of a source, with the codes of each short range that is written by its ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from gyr_hybrid.analysis.series import LONGEST_RANGE, RANGE_MARKS
from gyr_hybrid.answering.figures.normaliser import Figure, find_figures
from gyr_hybrid.answering.figures.numerals import even_fold

_RANGE = re.compile(r"(?P<prefix>[a-z0-9._/+:-]*[a-z][-_./]?)(?P<low>\d{1,9})-(?P=prefix)(?P<high>\d{1,9})")
_MARKS = frozenset(map(even_fold, RANGE_MARKS))


@lru_cache(maxsize=8192)
def source_figures(text: str) -> tuple[Figure, ...]:
    """The figures of ``text`` and, weak, the members of its ranges of codes: nothing need say each of them.

    >>> [(f.text, f.weak) for f in source_figures("P5–P7")]
    [('P5–P7', False), ('p5', True), ('p6', True), ('p7', True)]
    """
    found = find_figures(text)
    members = tuple(member for written in _written(found, text) for member in _members(*written))
    return found + members if members else found


def _written(found: tuple[Figure, ...], text: str) -> Iterator[tuple[str, Figure]]:
    """Each range as ``low-high``, with the code that it begins with."""
    codes = [f for f in found if f.kind == "code"]
    for code in codes:
        yield even_fold(code.text), code
    for low, high in pairwise(codes):
        if even_fold(text[low.end : high.start]).strip() in _MARKS:
            yield f"{even_fold(low.text)}-{even_fold(high.text)}", low


def _members(written: str, code: Figure) -> Iterator[Figure]:
    span = _RANGE.fullmatch(written)
    if span is None:
        return
    low, high = span["low"], span["high"]
    padded = len(low) if low.startswith("0") or high.startswith("0") else 0
    if padded and len(low) != len(high):
        return
    first, last = int(low), int(high)
    if not 0 < last - first <= LONGEST_RANGE + 1:
        return
    for number in range(first, last + 1):
        name = f"{span['prefix']}{number:0{padded}d}"
        key = re.sub(r"[-_./:]", "", name)
        yield Figure("code", key, weak=True, start=code.start, end=code.end, text=name)
