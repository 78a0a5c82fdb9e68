"""Figures that a sentence works out from quoted ones: ``468 ÷ 12 = 39``.

A figure that stands nowhere may still be true: a share of a quoted amount, a monthly price over a year, the
difference of two limits. Every operation below keeps units, so that a wrong number seldom fits by chance; sums
and differences must also be announced by a word such as 共 or ``more``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

from gyr_hybrid.figures.measures import UNITS
from gyr_hybrid.figures.normaliser import Figure

_SUM = re.compile(
    r"合计|总共|一共|共计|共|总计|加起来|两者|连同|\b(?:total|together|altogether|combined|in all|sum)\b"
)
_DIFFERENCE = re.compile(
    r"多|少|退[回还]|扣|贵|便宜|高|低|长|短|差|省|剩|余|再|还|早|晚|超[出过]|\b(?:more|less|fewer|longer|shorter|higher|lower|cheaper|difference|saves?|saving|remaining|left|another|dearer|earlier|later)\b"
)
_REST = re.compile(r"剩|余|其他|其余|\b(?:rest|remaining|remainder|other|balance|left)\b")
_LESS = re.compile(r"减|折|优惠|剩|余|扣|便宜|实付|\b(?:off|discount|remaining|left|minus|after|less)\b")
_YEARLY = re.compile(
    r"一年|全年|每年|年付|满年|年度|整年|年费|\b(?:year|yearly|annual|annually|twelve months)\b"
)
_OPERATOR = re.compile(r"[÷×*/]\s*$")
_EACH = re.compile(r"每|/|平均|折合|单|\b(?:per|each|every|an?|average)\b")

_PER_VALUE = {"second": Fraction(1), "minute": Fraction(60), "hour": Fraction(3600), "day": Fraction(86400)}
_PER_VALUE |= {"week": Fraction(7 * 86400)}
_PER_MONTHS = {"month": Fraction(1), "quarter": Fraction(3), "year": Fraction(12)}

TIERS = 8
"""Most rates and first amounts that a price is worked out from."""
MOST = 40
"""Most different figures that enter calculations; a text with more is a table, in which anything fits something."""
ROUNDS = 3
"""Longest chain of calculations: ``12 - 5 = 7``, ``7 × 39 = 273``."""


def derived(unknown: Iterable[Figure], quoted: Iterable[Figure], sentence: str) -> set[Figure]:
    """Those of ``unknown`` that arithmetic on ``quoted`` yields, and the premises they were worked out from.

    One premise of the sentence itself may enter a calculation whose result the sentence also gives
    (``标的额 10 万元的，定金最多 2 万元`` for ``不得超过百分之二十``).

    >>> from gyr_hybrid.figures.normaliser import find_figures
    >>> quoted = find_figures("年付 468 元")
    >>> [f.text for f in derived(find_figures("折合 39 元/月"), quoted, "年付折合 39 元/月")]
    ['39 元/月']
    """
    open_figures = [f for f in unknown if isinstance(f.value, Fraction) and f.kind != "code"]
    usable = [f for f in quoted if isinstance(f.value, Fraction) and f.kind not in ("code", "ordinal")]
    known = list({(f.kind, f.base, f.value, f.per): f for f in usable}.values())[:MOST]
    ordinals = [f for f in (*quoted, *open_figures) if f.kind == "ordinal" and f.base == "月"]
    if _YEARLY.search(sentence) or any(f.per == "year" for f in known):
        known.append(Figure("duration", Fraction(12), "month"))
    explained: set[Figure] = set()
    if _YEARLY.search(sentence):  # the divisor of ``468 ÷ 12``
        explained.update(
            f
            for f in open_figures
            if f.kind == "number" and f.value == 12 and _OPERATOR.search(sentence, 0, f.start)
        )
    for _ in range(ROUNDS):
        before = len(explained)
        for figure in open_figures:
            if figure in explained:
                continue
            premises = [
                f for f in open_figures if f is not figure and f not in explained and f.kind != "ordinal"
            ]
            reached = _explain(figure, known, premises, ordinals, sentence)
            if reached is not None:
                explained.add(figure)
                explained.update(reached)
                known.extend([figure, *(f for f in reached if f.kind != "ordinal")])
        if len(explained) == before:
            break
    return explained


def _explain(
    figure: Figure, known: list[Figure], premises: list[Figure], ordinals: list[Figure], sentence: str
) -> set[Figure] | None:
    """Premises used by the first calculation that yields ``figure``; None when none does."""
    for left in known:
        if any(value == figure.value for value in _from_one(figure, left, known, sentence)):
            return set()
        for right in known:
            if right is not left and figure.value in set(_from_two(figure, left, right, sentence)):
                return set()
    for premise in premises:
        for other in known:
            pairs = (
                *_from_two(figure, premise, other, sentence),
                *_from_two(figure, other, premise, sentence),
            )
            if figure.value in pairs:
                return {premise}
    for premise in premises:
        if figure.value in set(_tiered(figure, premise, known)):
            return {premise}
    if figure.base == "month":
        for ordinal in ordinals:
            if isinstance(ordinal.value, Fraction) and figure.value == 12 - ordinal.value:
                return {ordinal}
    return None


def _from_one(figure: Figure, source: Figure, known: list[Figure], sentence: str) -> Iterator[Fraction]:
    value = source.value
    assert isinstance(value, Fraction)
    if source.kind == figure.kind and source.base == figure.base:
        if source.per == "month" and (figure.per == "year" or (not figure.per and _YEARLY.search(sentence))):
            yield value * 12
        if figure.per == "month" and (source.per == "year" or (not source.per and _YEARLY.search(sentence))):
            yield value / 12
    if figure.kind == source.kind == "percent" and _REST.search(sentence):
        yield 100 - value
    if figure.kind == "duration" and source.kind == "clock":
        clocks = [f.value for f in known if f.kind == "clock" and isinstance(f.value, Fraction)]
        yield from ((b - a) * 60 for a, b in pairwise(clocks))
        if len(clocks) >= 4:
            yield sum(((b - a) * 60 for a, b in zip(clocks[::2], clocks[1::2], strict=False)), Fraction(0))


def _from_two(figure: Figure, left: Figure, right: Figure, sentence: str) -> Iterator[Fraction]:
    """Results of one calculation on ``left`` and ``right`` that would have the unit of ``figure``."""
    a, b = left.value, right.value
    assert isinstance(a, Fraction)
    assert isinstance(b, Fraction)
    same = left.base == figure.base and left.kind == figure.kind
    if same and right.kind == "percent":
        yield a * b / 100
        if _LESS.search(sentence):
            yield a * (100 - b) / 100
    if same and right.kind == "discount":
        yield a * b / 100
        if _LESS.search(sentence):
            yield a * (100 - b) / 100
    if same and right.kind == "times":
        yield a * b
    if same and figure.kind in ("money", "count", "size", "points", "duration", "number"):
        yield from _rated(left, right, sentence)
    if same and right.kind == left.kind and right.base == left.base and left.per == right.per:
        if _DIFFERENCE.search(sentence):
            yield abs(a - b)
        if _SUM.search(sentence):
            yield a + b
    if left.kind == right.kind and left.base == right.base and b and a != b:
        if figure.kind == "times":
            yield a / b
        if figure.kind == "percent" and left.kind != "percent":
            yield 100 * a / b
    counted = right.kind in ("count", "number") or right.base == "month"
    if same and figure.kind == "money" and b and counted and (figure.per or _EACH.search(sentence)):
        yield a / b


def _tiered(figure: Figure, premise: Figure, known: list[Figure]) -> Iterator[Fraction]:
    """``首重 1 公斤 12 元，续重每公斤 2 元`` for 3 kg: a first price and a rate for what exceeds the first amount."""
    if figure.kind != "money" or not isinstance(premise.value, Fraction):
        return
    rates = [f for f in known if f.kind == "money" and f.base == figure.base and f.per][:TIERS]
    bases = {f.value for f in known if f.kind == "money" and f.base == figure.base and not f.per}
    firsts = [f for f in known if (f.kind, f.base) == (premise.kind, premise.base)][:TIERS]
    for rate, first in product(rates, firsts):
        over = premise.value - first.value  # type: ignore[operator]
        if over > 0:
            for more in _rated(rate, replace(premise, value=over), ""):
                if figure.value - more in bases:  # type: ignore[operator]
                    yield figure.value  # type: ignore[misc]


def _rated(rate: Figure, amount: Figure, sentence: str) -> Iterator[Fraction]:
    """``12 元/人`` for five people, ``0.5 元/天`` for ten days."""
    a, b = rate.value, amount.value
    assert isinstance(a, Fraction)
    assert isinstance(b, Fraction)
    if amount.kind == "duration":
        if amount.base == "second" and rate.per in _PER_VALUE:
            yield a * b / _PER_VALUE[rate.per]
        if amount.base == "month" and rate.per in _PER_MONTHS:
            yield a * b / _PER_MONTHS[rate.per]
    elif rate.per in UNITS and amount.kind not in ("count", "number"):
        unit = UNITS[rate.per]
        if (amount.kind, amount.base) == (unit.kind, unit.base):
            yield a * b / unit.factor
    elif (amount.kind in ("count", "number") and rate.per not in (*_PER_VALUE, *_PER_MONTHS)) or (
        amount.kind in ("count", "number") and rate.kind == "money"
    ):
        yield a * b
