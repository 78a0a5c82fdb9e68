"""Numbers, amounts, units, rates, percentages, dates, durations, ordinals and codes of a text, in comparable form.

>>> [(f.text, f.kind, str(f.value), f.base, f.bound) for f in find_figures("每单至多三张，半年内有效")]
[('三张', 'count', '3', 'thing', '<='), ('半年', 'duration', '6', 'month', '<=')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.figures.dates import find_dates
from gyr_hybrid.figures.grammar import DIGITS_PATTERN, HAN_NUMERAL, LONGEST, number_value
from gyr_hybrid.figures.quantities import quantities
from gyr_hybrid.figures.scan import Figure, Scan
from gyr_hybrid.figures.units import named, unit_at

_LIST_MARK = re.compile(
    rf"(?m)[(（](?:{HAN_NUMERAL}{{1,3}}|\d{{1,2}})[)）]"
    rf"|^[ \t]{{0,12}}(?:\d{{1,2}}[.、)）](?!\d)|{HAN_NUMERAL}{{1,3}}、)|^#{{1,6}} \d{{1,2}}(?:\.\d{{1,2}}){{0,3}}[.、 ]"
)
_CODE = re.compile(r"[a-z0-9]+(?:[-_./+:][a-z0-9]+)*\+*")
_LONG = re.compile(rf"\d{{{LONGEST + 1},}}|{HAN_NUMERAL}{{{LONGEST + 1},}}")
_NO_CODE = re.compile(
    r"[\d.,:/+-]+|\d+(?:st|nd|rd|th|x)|\d+(?:\.\d+)?k|\d+h\d+m(?:in)?|\d+(?:am|pm)|\d+-years?-olds?"
)
_DATE = re.compile(r"\d{4}\.\d{1,2}\.\d{1,2}")
_VERSION = re.compile(r"v\d+(?:\.\d+)*|\d+(?:\.\d+){2,}|\d+x\d+")
_MEASURED = re.compile(r"\d+(?:\.\d+)?(?:[-/]\d+(?:\.\d+)?)?-?([a-z]+)(?:/[a-z]+)?")
_FRACTION = re.compile(
    rf"(百|千|万|{HAN_NUMERAL}{{1,8}}|\d{{1,8}})分之({HAN_NUMERAL}{{1,8}}(?:点{HAN_NUMERAL}{{1,8}})?|{DIGITS_PATTERN})"
    r"|(?<![\d./-])([1-9])/([2-9]|10)(?![\d./月-])"
)
_HALF = re.compile(
    rf"一半|(?<![a-z])half(?= (?:of|the)(?![a-z]))|(?P<some>(?:(?P<n>{HAN_NUMERAL}{{1,3}}|\d{{1,3}})个)?半|(?<![a-z])half an? )"
)
_HALVED = ("duration", "weight", "length", "volume")
_RANKED = "工作日|季度|小时|[条款项章节编页天日年月周季次批期]"
_ORDINAL = re.compile(
    rf"第(?!三方|三人|一时间)\s?(?P<n>{HAN_NUMERAL}{{1,8}}|\d{{1,8}}(?!\d|\s?[至到~-]\s?\d+\s?[天日个]))\s?个?(?P<unit>{_RANKED})?"
    rf"|首个?(?P<head>{_RANKED})|(?P<class>[一二三四五])等(?=[奖舱座品])"
    r"|(?<![a-z0-9])(?P<nth>\d{1,8})(?:st|nd|rd|th)(?![a-z])"
)
_PERIOD = re.compile(r"(?:每个?|全|单)(?=[^\W\d_])")
_TO = re.compile(r"\s?(?:至|到|-|~|to)\s?")
_SERIES = re.compile(r"\d\s?(?:[-~～–—−/、]|至|到|to|through)\s?(?:[^\W\d_][\w.-]{0,40})?\d")
"""Digits on both sides of a mark of lists and ranges: only such a text is analysed once more."""


@lru_cache(maxsize=8192)
def find_figures(text: str) -> tuple[Figure, ...]:
    """All figures of ``text`` in reading order; spans are code points into ``text`` and never overlap."""
    scan = Scan(text)
    for mark in _LIST_MARK.finditer(scan.text):
        scan.claim(*mark.span())
    for part in (_codes, _dates, _fractions, _halves, _ordinals, quantities, _periods):
        for figure in part(scan):
            scan.add(figure)
    return tuple(_ranged(sorted(scan.found, key=lambda f: f.start), scan.text))


@cache
def _analyzer() -> Analyzer:
    return Analyzer()


@lru_cache(maxsize=8192)
def source_figures(text: str) -> tuple[Figure, ...]:
    """The figures of ``text`` and, weak, the codes of its lists and ranges: nothing need say each of them.

    Which codes those are is told by the analysis that indexes them too.

    >>> [(f.text, f.weak) for f in source_figures("P5–P7")]
    [('P5–P7', False), ('P5', True), ('P6', True), ('P7', True)]
    """
    found = find_figures(text)
    if not _SERIES.search(text) or not any(f.kind == "code" for f in found):
        return found
    said = {f.value for f in found}
    named_codes = {
        re.sub(r"[-_./:]", "", mention.code.canonical): mention.code
        for mention in _analyzer().mentions(text.upper())  # short codes are told by their capitals
        if mention.code.kind in ("code", "short")
    }
    return found + tuple(
        Figure("code", key, weak=True, start=code.start, end=code.end, text=code.text)
        for key, code in named_codes.items()
        if key not in said
    )


def _ranged(found: list[Figure], text: str) -> Iterator[Figure]:
    """The figures, with the ends of a range such as ``3 个月到半年`` marked."""
    joined = [
        (figure.kind, figure.base) == (following.kind, following.base)
        and figure.kind not in ("code", "date", "clock", "weekday", "ordinal")
        and bool(_TO.fullmatch(text, figure.end, following.start))
        for figure, following in pairwise(found)
    ]
    for figure, low, high in zip(found, [*joined, False], [False, *joined], strict=False):
        if low or high:
            figure = replace(figure, low=figure.low or low, high=figure.high or high)
        yield figure


def _codes(scan: Scan) -> Iterator[Figure]:
    for found in _LONG.finditer(scan.text):
        if scan.open(*found.span()):
            yield Figure("code", found.group(), start=found.start(), end=found.end())
    for found in _CODE.finditer(scan.text):
        token = found.group()
        if not scan.open(*found.span()) or not is_code(token):
            continue
        versioned = re.fullmatch(r"v?(\d+(?:\.\d+)+)", token)
        key = versioned[1] if versioned else re.sub(r"[-_./:]", "", token)
        yield Figure("code", key, start=found.start(), end=found.end())


def is_code(token: str) -> bool:
    """Whether a folded Latin token is a code or version and no number with its unit, date or plain word."""
    if token.isdigit() or not any(c.isdigit() for c in token):
        return "_" in token.strip("_")
    if _VERSION.fullmatch(token):
        return not _DATE.fullmatch(token)
    if _NO_CODE.fullmatch(token) or named(token) is not None:
        return False
    quantity = _MEASURED.fullmatch(token)
    return not (quantity and (named(quantity[1]) or quantity[1] == "a"))


def _dates(scan: Scan) -> Iterator[Figure]:
    for start, end, kind, value in find_dates(scan.text):
        shown = scan.text[start:end]
        start, end = start + len(shown) - len(shown.lstrip()), end - len(shown) + len(shown.rstrip())
        if scan.open(start, end):
            base = {"clock": "minute", "weekday": "weekday"}.get(kind, "")
            yield Figure(kind, value, base, start=start, end=end)


def _fractions(scan: Scan) -> Iterator[Figure]:
    """``百分之八十``, ``三分之二``, ``1/3`` as percent."""
    for found in _FRACTION.finditer(scan.text):
        whole, part = number_value(found[1] or found[4]), number_value(found[2] or found[3])
        if whole and part is not None and scan.open(*found.span()):
            yield Figure("percent", part / whole * 100, "percent", start=found.start(), end=found.end())


def _halves(scan: Scan) -> Iterator[Figure]:
    """``半年``, ``一个半月``, ``half an hour``; ``一半``."""
    for found in _HALF.finditer(scan.text):
        start, end = found.span()
        if not scan.open(start, end):
            continue
        if not found["some"]:
            yield Figure("percent", Fraction(50), "percent", start=start, end=end)
            continue
        unit = unit_at(scan.raw, scan.text, end)
        count = number_value(found["n"]) if found["n"] else Fraction(0)
        if unit and unit[0].kind in _HALVED and count is not None and scan.open(end, unit[1]):
            value = (count + Fraction(1, 2)) * unit[0].factor
            yield Figure(unit[0].kind, value, unit[0].base, start=start, end=unit[1])


def _ordinals(scan: Scan) -> Iterator[Figure]:
    """``第三条``, ``首次``, ``二等奖``, ``3rd``."""
    for found in _ORDINAL.finditer(scan.text):
        value = number_value(found["n"] or found["nth"] or found["class"] or "一")
        base = found["unit"] or found["head"] or ("等" if found["class"] else "")
        weak = found["head"] is not None or found.group() == "第二天"  # also said without a number: 次日
        if value is not None and scan.open(*found.span()):
            yield Figure("ordinal", value, base, weak=weak, start=found.start(), end=found.end())


def _periods(scan: Scan) -> Iterator[Figure]:
    """``每月``, ``全年``: one of them, which asserts no number."""
    for found in _PERIOD.finditer(scan.text):
        unit = unit_at(scan.raw, scan.text, found.end())
        if unit and unit[0].kind == "duration" and scan.open(found.start(), unit[1]):
            yield Figure(
                "duration", unit[0].factor, unit[0].base, weak=True, start=found.start(), end=unit[1]
            )
