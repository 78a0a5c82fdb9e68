"""Numbers, amounts, units, rates, percentages, dates, durations, ordinals and codes of a text, in comparable form.

>>> [(f.text, f.kind, str(f.value), f.base, f.bound) for f in find_figures("每单至多三张，半年内有效")]
[('三张', 'count', '3', 'thing', '<='), ('半年', 'duration', '6', 'month', '<=')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from gyr_hybrid.figures.calendar import find_dates
from gyr_hybrid.figures.compounds import compounds
from gyr_hybrid.figures.english import dozens, mixed_numbers, noons, shares
from gyr_hybrid.figures.measures import UNITS
from gyr_hybrid.figures.numerals import HAN_NUMERAL
from gyr_hybrid.figures.quantities import quantities
from gyr_hybrid.figures.scan import Figure, FigureValue, Scan
from gyr_hybrid.figures.special import (
    article_times,
    fractions,
    halves,
    multiples,
    ordinals,
    periods,
    weekdays,
)

__all__ = ["Figure", "FigureValue", "find_figures", "is_code"]

_LIST_MARK = re.compile(
    rf"(?m)[(（](?:{HAN_NUMERAL}{{1,3}}|\d{{1,2}})[)）]|^[ \t]*\d{{1,2}}[.、)）](?!\d)|^[ \t]*{HAN_NUMERAL}{{1,3}}、|^#+ +\d+(?:\.\d+)*[.、 ]"
)
_CODE = re.compile(r"[a-z0-9]+(?:[-_./+:][a-z0-9]+)*\+*")


@lru_cache(maxsize=8192)
def find_figures(text: str) -> tuple[Figure, ...]:
    """All figures of ``text`` in reading order; spans are code points into ``text`` and never overlap."""
    scan = Scan(text)
    for mark in _LIST_MARK.finditer(scan.text):
        scan.claim(*mark.span())
    parts = (
        _codes,
        _dates,
        weekdays,
        fractions,
        mixed_numbers,
        shares,
        dozens,
        noons,
        halves,
        ordinals,
        compounds,
        multiples,
        quantities,
        article_times,
        periods,
    )
    for part in parts:
        for figure in part(scan):
            scan.add(figure)
    return tuple(_ranged(sorted(scan.found, key=lambda f: f.start), scan.text))


_TO = re.compile(r"\s?(?:至|到|-|~|to)\s?")


def _ranged(found: list[Figure], text: str) -> Iterator[Figure]:
    """The figures, with the ends of a range such as ``3 个月到半年`` marked."""
    joined = [
        (figure.kind, figure.base) == (following.kind, following.base)
        and figure.kind not in ("code", "date", "clock", "weekday", "ordinal")
        and bool(_TO.fullmatch(text, figure.end, following.start))
        for figure, following in pairwise(found)
    ]
    for figure, low, high in zip(found, [*joined, False], [False, *joined], strict=False):
        yield replace(figure, low=figure.low or low, high=figure.high or high)


def _codes(scan: Scan) -> Iterator[Figure]:
    for found in _CODE.finditer(scan.text):
        token = found.group()
        if not scan.open(*found.span()) or not is_code(token):
            continue
        versioned = re.fullmatch(r"v?(\d+(?:\.\d+)+)", token)
        key = versioned[1] if versioned else re.sub(r"[-_./:]", "", token)
        yield Figure("code", key, start=found.start(), end=found.end())


def is_code(token: str) -> bool:
    """Whether a folded Latin token is a code or version and no number with its unit, date or plain word."""
    if token in UNITS:
        return False
    if token.isdigit() or not any(c.isdigit() for c in token):
        return "_" in token.strip("_")
    if re.fullmatch(r"v\d+(?:\.\d+)*|\d+(?:\.\d+){2,}|\d+x\d+", token):
        return not re.fullmatch(r"\d{4}\.\d{1,2}\.\d{1,2}", token)
    if re.fullmatch(r"[\d.,:/+-]+", token):
        return False
    if re.fullmatch(r"\d+(?:st|nd|rd|th|x)|\d+(?:\.\d+)?k|\d+h\d+m(?:in)?|\d+-years?-olds?", token):
        return False
    quantity = re.fullmatch(r"(\d+(?:\.\d+)?(?:[-/]\d+(?:\.\d+)?)?)-?([a-z]+)(?:/([a-z]+))?", token)
    return not (quantity and quantity[2] in UNITS) and not re.fullmatch(r"\d+(?:am|pm)", token)


def _dates(scan: Scan) -> Iterator[Figure]:
    for start, end, kind, value in find_dates(scan.text):
        shown = scan.text[start:end]
        start, end = start + len(shown) - len(shown.lstrip()), end - len(shown) + len(shown.rstrip())
        if scan.open(start, end):
            yield Figure(kind, value, "minute" if kind == "clock" else "", start=start, end=end)
