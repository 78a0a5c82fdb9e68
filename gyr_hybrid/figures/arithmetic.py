"""Figures that a sentence works out from quoted ones: ``468 ÷ 12 = 39``.

A figure that stands nowhere may still be true: a share of a quoted amount, a monthly price over a year, the
difference of two limits. Every operation below keeps units, so that a wrong number seldom fits by chance; sums
and differences must also be announced by a word such as 共 or ``more``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

from gyr_hybrid.figures.scan import Figure
from gyr_hybrid.figures.units import named

_WORDS = {
    "sum": r"合计|总共|一共|共|总计|加起来|\b(?:total|together|altogether|combined|sum)\b",
    "difference": r"多|少|退[回还]|扣|贵|便宜|[高低长短差省]|剩|余|早|晚|超[出过]|"
    r"\b(?:more|less|fewer|(?:long|short|high|low|cheap|dear|earli|lat)er|difference|saves?|remaining|left)\b",
    "rest": r"剩|余|其他|\b(?:rest|remaining|remainder|other|balance|left)\b",
    "less": r"减|折|优惠|剩|余|扣|便宜|实付|\b(?:off|discount|remaining|left|minus|after|less)\b",
    "yearly": r"一年|全年|每年|年付|满年|年度|年费|\b(?:year|yearly|annual|annually)\b",
    "each": r"每|/|平均|折合|单|\b(?:per|each|every|an?|average)\b",
}
"""What a sentence says of a calculation: that it adds, compares, leaves a rest, takes off, counts a year or shares out."""
_RULES = {name: re.compile(pattern) for name, pattern in _WORDS.items()}
_OPERATOR = re.compile(r"[÷×*/]\s*$")

def reckons(sentence: str) -> bool:
    """Whether a folded sentence says that something is worked out: with an operator, a sum, a share, a difference."""
    return re.search(r"[÷×=+*]|\d\s?/\s?\d|折合|相当于|平均|average|equals", sentence) is not None or any(
        _RULES[name].search(sentence) for name in ("sum", "difference", "rest", "less")
    )


_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_MULTIPLIED = ("money", "count", "size", "points", "duration", "number")

MOST = 24
"""Most different figures that enter calculations; a text with more is a table, in which anything fits something."""
ASKED = 12
"""Most figures of a sentence that are worked out; a sentence seldom holds more."""
ROUNDS = 3
"""Longest chain of calculations: ``12 - 5 = 7``, ``7 × 39 = 273``."""


@dataclass(frozen=True, slots=True)
class _Number:
    """A figure whose value is a number, with that number."""

    figure: Figure
    kind: str
    base: str
    per: str
    value: Fraction


def _numbers(figures: Iterable[Figure], *without: str) -> list[_Number]:
    return [
        _Number(f, f.kind, f.base, f.per, f.value)
        for f in figures
        if isinstance(f.value, Fraction) and f.kind not in without
    ]


def derived(unknown: Iterable[Figure], quoted: Iterable[Figure], sentence: str) -> set[Figure]:
    """Those of ``unknown`` that arithmetic on ``quoted`` yields, and the premises they were worked out from.

    One premise of the sentence itself may enter a calculation whose result the sentence also gives
    (``标的额 10 万元的，定金最多 2 万元`` for ``不得超过百分之二十``).

    >>> from gyr_hybrid.figures import find_figures
    >>> quoted = find_figures("年付 468 元")
    >>> [f.text for f in derived(find_figures("折合 39 元/月"), quoted, "年付折合 39 元/月")]
    ['39 元/月']
    """
    asked = _numbers(unknown, "code", "ordinal", "weekday")[:ASKED]
    usable = _numbers(quoted, "code", "ordinal", "weekday")
    known = list({(n.kind, n.base, n.value, n.per): n for n in usable}.values())[:MOST]
    said = {name for name, rule in _RULES.items() if rule.search(sentence)}
    explained: set[Figure] = set()
    if "yearly" in said or any(n.per == "year" for n in known):
        known += _numbers([Figure("duration", Fraction(12), "month")])
        if "yearly" in said:  # the divisor of ``468 ÷ 12``
            explained.update(n.figure for n in asked if n.value == 12 and _follows_operator(n, sentence))
    for _ in range(ROUNDS):
        before = len(explained)
        for result in asked:
            if result.figure in explained:
                continue
            premises = [n for n in asked if n is not result and n.figure not in explained]
            reached = _explain(result, known, premises, said)
            if reached is not None:
                explained.update(n.figure for n in (result, *reached))
                known += [result, *reached]
        if len(explained) == before:
            break
    return explained


def _follows_operator(number: _Number, sentence: str) -> bool:
    start = number.figure.start
    return number.kind == "number" and _OPERATOR.search(sentence, max(0, start - 4), start) is not None


def _explain(
    result: _Number, known: list[_Number], premises: list[_Number], said: set[str]
) -> list[_Number] | None:
    """Premises used by the first calculation that yields ``result``; None when none does."""
    for left in known:
        if result.value in _from_one(result, left, said):
            return []
        if any(result.value in _from_two(result, left, right, said) for right in known if right is not left):
            return []
    for premise in premises:
        for other in known:
            pairs = chain(_from_two(result, premise, other, said), _from_two(result, other, premise, said))
            if result.value in pairs:
                return [premise]
    return None


def _from_one(result: _Number, source: _Number, said: set[str]) -> Iterator[Fraction]:
    value = source.value
    if source.kind == result.kind and source.base == result.base:
        if source.per == "month" and (result.per == "year" or (not result.per and "yearly" in said)):
            yield value * 12
        if result.per == "month" and (source.per == "year" or (not source.per and "yearly" in said)):
            yield value / 12
    if result.kind == source.kind == "percent" and "rest" in said:
        yield 100 - value


def _from_two(result: _Number, left: _Number, right: _Number, said: set[str]) -> Iterator[Fraction]:
    """Results of one calculation on ``left`` and ``right`` that would have the unit of ``result``."""
    a, b = left.value, right.value
    alike = left.kind == right.kind and left.base == right.base
    if alike and left.kind == "clock" and result.kind == "duration":
        yield (b - a) * 60
    if alike and b and a != b:
        if result.kind == "times":
            yield a / b
        if result.kind == "percent" and left.kind != "percent":
            yield 100 * a / b
    if left.base != result.base or left.kind != result.kind:
        return
    if right.kind in ("percent", "discount"):
        yield a * b / 100
        if "less" in said:
            yield a * (100 - b) / 100
    if right.kind == "times":
        yield a * b
    if result.kind in _MULTIPLIED:
        yield from _rated(left, right)
    if alike and left.per == right.per:
        if "difference" in said:
            yield abs(a - b)
        if "sum" in said:
            yield a + b
    counted = right.kind in ("count", "number") or right.base == "month"
    if result.kind == "money" and b and counted and (result.per or "each" in said):
        yield a / b


def _rated(rate: _Number, amount: _Number) -> Iterator[Fraction]:
    """``12 元/人`` for five people, ``0.5 元/天`` for ten days, ``5 元/平方米`` for a hundred."""
    a, b = rate.value, amount.value
    if amount.kind == "duration":
        if amount.base == "second" and rate.per in _SECONDS:
            yield a * b / _SECONDS[rate.per]
        if amount.base == "month" and rate.per in _MONTHS:
            yield a * b / _MONTHS[rate.per]
    elif amount.kind in ("count", "number"):
        if rate.kind == "money" or rate.per not in (*_SECONDS, *_MONTHS):
            yield a * b
    elif (unit := named(rate.per)) and (amount.kind, amount.base) == (unit.kind, unit.base):
        yield a * b / unit.factor
