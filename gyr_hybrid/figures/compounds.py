"""Amounts written in several units: ``1 小时 30 分``, ``2 min 30 s``, ``3 元 5 角``, ``12 块 5``, ``一米八``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from gyr_hybrid.figures.measures import UNITS, Unit
from gyr_hybrid.figures.numerals import (
    DIGITS,
    DIGITS_PATTERN,
    ENGLISH_NUMERAL,
    HAN_NUMERAL,
    number_value,
)
from gyr_hybrid.figures.scan import Figure, Scan

_N = rf"(?:{DIGITS_PATTERN}|{HAN_NUMERAL}+|(?<![a-z])(?:{ENGLISH_NUMERAL}|an?(?= )))"
_CHAINS: tuple[tuple[str, ...], ...] = (
    (r"年|years?|yrs?", r"个月|months?|mos?"),
    (r"周|个?星期|weeks?|wks?", r"天|日|days?"),
    (r"天|日|days?", r"个?小时|钟头|hours?|hrs?|h"),
    (r"个?小时|钟头|hours?|hrs?|h", r"分钟?|minutes?|mins?|m", r"秒钟?|seconds?|secs?|s"),
    (r"分钟?|minutes?|mins?|m", r"秒钟?|seconds?|secs?|s"),
    (r"元|块", r"[角毛](?![色度巾病衣发])", r"分"),
    (r"[角毛](?![色度巾病衣发])", r"分"),
    (r"米", r"厘米|公分"),
    (r"feet|foot|ft", r"inches|inch|in(?! [a-z])"),
)
"""Units from large to small; each lesser amount is less than one of the unit before."""
_AND = r"(?:\s?(?:零|又|and)\s?|\s?)"
_AND_WORD = re.compile(r"零|又|(?<![a-z])and(?![a-z])")
_PERIODS = re.compile(r"年|周|个?星期|天|日")
_SHORT = {"分": "分钟", "m": "minute", "in": "inch", "钟头": "小时"}
_BARE = re.compile(
    rf"(?P<whole>{_N})\s?(?P<unit>块|米)\s?(?P<rest>[{''.join(DIGITS)}]|\d)(?=\s?以[上下内外]|\s?起|\s?(?:一|每)(?:斤|公斤|份|个|张|瓶)|(?![\d.{HAN_NUMERAL[1:-1]}\s]*[a-z%％\u3400-\u9fff\d]))"
)
"""``12 块 5``: the digit counts tenths; any unit or word behind it speaks against it."""


def _chain(units: tuple[str, ...]) -> re.Pattern[str]:
    end = r"(?![a-z])"
    parts = [rf"(?P<n{i}>{_N})[\s-]?(?P<u{i}>{names}){end}" for i, names in enumerate(units)]
    pattern = parts[0] + _AND + parts[1]
    for part in parts[2:]:
        pattern += rf"(?:{_AND}{part})?"
    return re.compile(pattern)


_PATTERNS = tuple((_chain(units), len(units)) for units in _CHAINS)


def compounds(scan: Scan) -> Iterator[Figure]:
    """Each amount in several units as one figure.

    A lesser part that fills the greater one is a figure of its own (``7 天 24 小时``).
    """
    for pattern, most in _PATTERNS:
        for found in pattern.finditer(scan.text):
            if not scan.open(*found.span()):
                continue
            parts = [(found[f"n{i}"], found[f"u{i}"]) for i in range(most) if found[f"n{i}"]]
            each = parts[0][0] == "一" or (parts[0][0] == "1" and "年" not in parts[0][1])
            if each and _PERIODS.fullmatch(parts[0][1]) and not _AND_WORD.search(found.group()):
                continue  # ``一周五天`` is five days of each week
            amount = _sum([(number, _unit(name, parts[0][1])) for number, name in parts])
            if amount is not None:
                yield Figure(*amount, start=found.start(), end=found.end())
    for found in _BARE.finditer(scan.text):
        whole, rest = number_value(found["whole"]), number_value(found["rest"])
        if whole is not None and rest is not None and scan.open(*found.span()):
            unit = UNITS[found["unit"]]
            yield Figure(
                unit.kind, (whole + rest / 10) * unit.factor, unit.base, start=found.start(), end=found.end()
            )


def _unit(name: str, first: str) -> Unit:
    money = re.fullmatch("元|块|角|毛", first)
    return UNITS["分钱"] if money and name == "分" else UNITS[_SHORT.get(name, name)]


def _sum(parts: list[tuple[str, Unit]]) -> tuple[str, Fraction, str] | None:
    """Kind, value and base of the whole; None when a part is no number or fills the unit before it."""
    total, before = Fraction(0), None
    for number, unit in parts:
        count = Fraction(1) if number in ("a", "an") else number_value(number)
        if count is None or (
            before is not None and (unit.base != before.base or count * unit.factor >= before.factor)
        ):
            return None
        total, before = total + count * unit.factor, unit
    assert before is not None
    return before.kind, total, before.base
