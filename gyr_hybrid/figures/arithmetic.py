"""Figures that a sentence works out from quoted ones: ``468 ÷ 12 = 39``.

A figure that stands nowhere may still be true: a share of a quoted amount, a monthly price over a year, the
difference of two limits. Every operation below keeps units, so that a wrong number seldom fits by chance; sums
and differences must also be announced by a word such as 共 or ``more``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain

from gyr_hybrid.figures.scan import Figure
from gyr_hybrid.figures.units import named

_WORDS = {
    "sum": r"共|[合总]计|加起来|\b(?:total|together|combined)\b",
    "difference": r"[多少扣贵高低长短差省剩余早晚]|便宜|退[回还]|超[出过]|\b(?:more|less|saves?|left|(?:few|long|high|low|cheap)er)\b",
    "rest": r"[剩余]|其他|\b(?:rest|remaining|other|left)\b",
    "less": r"[减折剩余扣]|优惠|便宜|实付|\b(?:off|discount|remaining|left|after|less)\b",
    "yearly": r"[一全每满]年|年[付度费]|\b(?:year|yearly|annual)\b",
    "each": r"[每/单]|平均|折合|\b(?:per|each|every|an?)\b",
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


def _numbers(figures: Iterable[Figure]) -> list[Figure]:
    """The figures that are numbers and may enter calculations."""
    return [
        f for f in figures if isinstance(f.value, Fraction) and f.kind not in ("code", "ordinal", "weekday")
    ]


def _value(figure: Figure) -> Fraction:
    assert isinstance(figure.value, Fraction)
    return figure.value


def derived(unknown: Iterable[Figure], quoted: Iterable[Figure], sentence: str) -> set[Figure]:
    """Those of ``unknown`` that arithmetic on ``quoted`` yields, and the premises they were worked out from.

    One premise of the sentence itself may enter a calculation whose result the sentence also gives
    (``标的额 10 万元的，定金最多 2 万元`` for ``不得超过百分之二十``).

    >>> from gyr_hybrid.figures import find_figures
    >>> quoted = find_figures("年付 468 元")
    >>> [f.text for f in derived(find_figures("折合 39 元/月"), quoted, "年付折合 39 元/月")]
    ['39 元/月']
    """
    asked = _numbers(unknown)[:ASKED]
    usable = _numbers(quoted)
    known = list({(n.kind, n.base, n.value, n.per): n for n in usable}.values())[:MOST]
    said = {name for name, rule in _RULES.items() if rule.search(sentence)}
    explained: set[Figure] = set()
    if "yearly" in said or any(n.per == "year" for n in known):
        known.append(Figure("duration", Fraction(12), "month"))
        if "yearly" in said:  # the divisor of ``468 ÷ 12``
            explained.update(n for n in asked if n.value == 12 and _follows_operator(n, sentence))
    for _ in range(ROUNDS):
        before = len(explained)
        for result in asked:
            if result in explained:
                continue
            premises = [n for n in asked if n is not result and n not in explained]
            reached = _explain(result, known, premises, said)
            if reached is not None:
                explained.update((result, *reached))
                known += [result, *reached]
        if len(explained) == before:
            break
    return explained


def _follows_operator(number: Figure, sentence: str) -> bool:
    start = number.start
    return number.kind == "number" and _OPERATOR.search(sentence, max(0, start - 4), start) is not None


def _explain(
    result: Figure, known: list[Figure], premises: list[Figure], said: set[str]
) -> list[Figure] | None:
    """Premises used by the first calculation that yields ``result``; None when none does."""
    wanted = _value(result)
    for left in known:
        if wanted in _from_one(result, left, said):
            return []
        if any(wanted in _from_two(result, left, right, said) for right in known if right is not left):
            return []
    for premise in premises:
        for other in known:
            pairs = chain(_from_two(result, premise, other, said), _from_two(result, other, premise, said))
            if wanted in pairs:
                return [premise]
    return None


def _from_one(result: Figure, source: Figure, said: set[str]) -> Iterator[Fraction]:
    value = _value(source)
    if source.kind == result.kind and source.base == result.base:
        if source.per == "month" and (result.per == "year" or (not result.per and "yearly" in said)):
            yield value * 12
        if result.per == "month" and (source.per == "year" or (not source.per and "yearly" in said)):
            yield value / 12
    if result.kind == source.kind == "percent" and "rest" in said:
        yield 100 - value


def _from_two(result: Figure, left: Figure, right: Figure, said: set[str]) -> Iterator[Fraction]:
    """Results of one calculation on ``left`` and ``right`` that would have the unit of ``result``."""
    a, b = _value(left), _value(right)
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


def _rated(rate: Figure, amount: Figure) -> Iterator[Fraction]:
    """``12 元/人`` for five people, ``0.5 元/天`` for ten days, ``5 元/平方米`` for a hundred."""
    a, b = _value(rate), _value(amount)
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
