"""Figures that English builds from several words: ``an hour and a half``, ``two thirds``, ``two dozen``, ``noon``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from gyr_hybrid.figures.measures import UNITS
from gyr_hybrid.figures.numerals import DIGITS_PATTERN, ENGLISH_NUMERAL, number_value
from gyr_hybrid.figures.scan import Figure, Scan

_TIME = r"second|minute|hour|day|week|month|quarter|year|decade"
_MIXED = re.compile(
    rf"(?<![a-z])(?:(?P<n>{ENGLISH_NUMERAL}|\d+|an?) and a half (?P<u>{_TIME})s?"
    rf"|(?P<n2>{ENGLISH_NUMERAL}|\d+|an?) (?P<u2>{_TIME})s? and a half"
    rf"|(?P<part>a quarter|three quarters) of an? (?P<u3>{_TIME}))(?![a-z])"
)
_SHARE = re.compile(
    r"(?<![a-z])(?P<top>an?|one|two|three|four) (?:(?P<third>thirds?)|(?P<fourth>quarters?|fourths?)(?= of)|(?P<fifth>fifths?)"
    r"|(?P<tenth>tenths?))(?![a-z])|(?<![a-z])(?P<of>one|two|three|four|five|nine) (?:in|out of) (?P<all>four|five|ten)(?![a-z])"
)
_PARTS = {"third": 3, "fourth": 4, "fifth": 5, "tenth": 10}
_DOZEN = re.compile(
    rf"(?<![a-z])(?:(?P<half>half a )|(?P<n>{ENGLISH_NUMERAL}|{DIGITS_PATTERN}|a) )dozen(?![a-z])|一打"
)
_NOON = re.compile(
    r"正午|午夜|(?<!凌晨)零点(?![几\d一二三四五六七八九])|(?<![a-z])(?:noon|midday|midnight)(?![a-z])"
)


def mixed_numbers(scan: Scan) -> Iterator[Figure]:
    """``an hour and a half``, ``two and a half years``, ``a quarter of an hour``."""
    for found in _MIXED.finditer(scan.text):
        word = found["n"] or found["n2"] or ""
        unit = UNITS[found["u"] or found["u2"] or found["u3"]]
        if found["part"]:
            amount = Fraction(1 if found["part"].startswith("a ") else 3, 4)
        else:
            amount = (Fraction(1) if word in ("a", "an") else number_value(word) or Fraction(0)) + Fraction(
                1, 2
            )
        if scan.open(*found.span()):
            yield Figure(unit.kind, amount * unit.factor, unit.base, start=found.start(), end=found.end())


def shares(scan: Scan) -> Iterator[Figure]:
    """``two thirds``, ``a quarter of``, ``nine out of ten`` as percent."""
    for found in _SHARE.finditer(scan.text):
        if not scan.open(*found.span()):
            continue
        if found["of"]:
            top, parts = number_value(found["of"]), number_value(found["all"])
        else:
            top = Fraction(1) if found["top"] in ("a", "an") else number_value(found["top"])
            parts = Fraction(next(n for name, n in _PARTS.items() if found[name]))
        if top and parts:
            weak = found["top"] in ("a", "an")  # ``a third person`` counts no shares
            yield Figure(
                "percent", 100 * top / parts, "percent", weak=weak, start=found.start(), end=found.end()
            )


def dozens(scan: Scan) -> Iterator[Figure]:
    """``a dozen``, ``two dozen``, ``一打``."""
    for found in _DOZEN.finditer(scan.text):
        word = found["n"]
        count = Fraction(1) if word in (None, "a") else number_value(word) or Fraction(1)
        if scan.open(*found.span()):
            amount = Fraction(6) if found["half"] else 12 * count
            han = found.group() == "一打"
            yield Figure(
                "count" if han else "number",
                amount,
                "any" if han else "",
                start=found.start(),
                end=found.end(),
            )


def noons(scan: Scan) -> Iterator[Figure]:
    """``noon``, ``midnight`` as minutes of the day."""
    for found in _NOON.finditer(scan.text):
        if scan.open(*found.span()):
            noon = found.group() in ("正午", "noon", "midday")
            yield Figure(
                "clock", Fraction(720 if noon else 1440), "minute", start=found.start(), end=found.end()
            )
