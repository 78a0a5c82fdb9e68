"""Whether a figure of an answer stands among the figures of its source, and what differs if it does not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

from gyr_hybrid.figures.bounds import opposite
from gyr_hybrid.figures.measures import compatible
from gyr_hybrid.figures.normaliser import Figure
from gyr_hybrid.figures.numerals import NUMBER_PATTERN, even_fold, number_value

Standing = Literal["same", "bound", "rate", "side", "unit", "absent"]

_DECIMAL_SIZES = frozenset(Fraction(1024, 1000) ** power for power in (-3, -2, -1, 1, 2, 3))
"""What makes ``1 GB`` of ``1000 MB``: people count sizes in thousands too."""
_HALF_MONTH = {("month", Fraction(1, 2)), ("second", Fraction(15 * 86400))}
_ORDER: tuple[Standing, ...] = ("same", "bound", "rate", "side", "unit", "absent")


def standing(figure: Figure, sources: Iterable[Figure]) -> Standing:
    """How ``figure`` stands among ``sources``: ``same``, or the least that differs from the nearest of them.

    >>> from gyr_hybrid.figures.normaliser import find_figures
    >>> source = find_figures("单文件不超过 10 MB，每天 8 点更新，保修 1 年")
    >>> [standing(find_figures(t)[0], source) for t in ("10 兆以内", "10 MB 以上", "12 个月", "10 天", "9 点")]
    ['same', 'bound', 'same', 'unit', 'absent']
    """
    best: Standing = "absent"
    for other in sources:
        found = compare(figure, other)
        if found == "same":
            return "same"
        if _ORDER.index(found) < _ORDER.index(best):
            best = found
    return best


def compare(figure: Figure, other: Figure) -> Standing:
    """What of two figures differs."""
    if other.weak and not figure.weak and figure.text[:1].isdigit():
        return "absent"  # ``每月`` is no ``1 个月``, though it is ``一个月``
    if "code" in (figure.kind, other.kind):
        return _compare_code(figure, other)
    if figure.kind == "date" or other.kind == "date":
        return _compare_date(figure, other)
    if not _equal(figure, other):
        if figure.value == other.value and not isinstance(figure.value, tuple):
            return "unit"
        return "unit" if _number(figure) is not None and _number(figure) == _number(other) else "absent"
    if opposite(figure.bound, other.bound) or (other.low and not figure.low and figure.bound[:1] == "<"):
        return "bound"
    if other.low and not figure.low and figure.bound[:1] != ">":
        return "bound"
    if other.high and not figure.high and figure.bound[:1] == ">":
        return "bound"
    if figure.per and other.per and not {figure.per, *figure.also} & {other.per, *other.also}:
        return "rate"
    if figure.side and other.side and figure.side != other.side:
        return "side"
    return "same"


def approximate(figure: Figure, other: Figure) -> bool:
    """Whether two durations agree but for the length of a month or a year: ``3 个月`` and ``90 天``."""
    pair = {figure.base: figure.value, other.base: other.value}
    if figure.kind != "duration" or other.kind != "duration" or set(pair) != {"month", "second"}:
        return False
    months, seconds = pair["month"], pair["second"]
    if not isinstance(months, Fraction) or not isinstance(seconds, Fraction):
        return False
    return months * 28 <= seconds / 86400 <= months * 31


def _equal(figure: Figure, other: Figure) -> bool:
    if isinstance(figure.value, Fraction) and isinstance(other.value, Fraction):
        pair = {figure.kind: figure.value, other.kind: other.value}
        if set(pair) == {"percent", "times"}:
            return pair["percent"] == 100 * pair["times"]
        if set(pair) == {"percent", "discount"}:
            return pair["percent"] in (pair["discount"], 100 - pair["discount"])
    if "number" in (figure.kind, other.kind) and figure.kind != other.kind:
        # a bare number counts in whatever unit the other is written in: a table's ``50`` under ``存储（GB）``
        return "ordinal" not in (figure.kind, other.kind) and _written(figure) == _written(other) is not None
    if figure.value == other.value:
        if figure.base == other.base:
            return figure.kind == other.kind or "ordinal" not in (figure.kind, other.kind)
        if figure.kind == other.kind == "money":
            return "" in (figure.base, other.base)
        if "ordinal" in (figure.kind, other.kind):
            return figure.kind == other.kind and "" in (figure.base, other.base)
        return compatible(figure.base, other.base)
    if (
        figure.kind == other.kind == "size"
        and isinstance(figure.value, Fraction)
        and isinstance(other.value, Fraction)
    ):
        return bool(other.value) and figure.value / other.value in _DECIMAL_SIZES
    if figure.kind == other.kind == "clock":
        return figure.value % 1440 == other.value % 1440  # type: ignore[operator]
    if figure.kind == other.kind == "weekday":
        return 67 in (figure.value, other.value) and {figure.value, other.value} <= {6, 7, 67}
    return {(figure.base, figure.value), (other.base, other.value)} == _HALF_MONTH


def _written(figure: Figure) -> Fraction | None:
    """The number as written, before its unit turns it into base units."""
    found = re.search(NUMBER_PATTERN, even_fold(figure.text))
    return number_value(found.group()) if found else None


def _number(figure: Figure) -> str | None:
    """The digits as written, for telling a wrong unit from a wrong number."""
    digits = "".join(c for c in figure.text if c.isdigit() or c == ".")
    return digits or None


def _compare_code(figure: Figure, other: Figure) -> Standing:
    if figure.kind == other.kind:
        return "same" if figure.value == other.value else "absent"
    code, number = (figure, other) if figure.kind == "code" else (other, figure)
    if number is figure and figure.kind == "number" and isinstance(code.value, str):
        digits = "".join(c for c in code.value if c.isdigit())
        return "same" if len(digits) >= 3 and digits == _number(figure) else "absent"
    return "absent"


def _compare_date(figure: Figure, other: Figure) -> Standing:
    mine, theirs = figure.value, other.value
    if "ordinal" in (figure.kind, other.kind):  # ``on the 25th`` for ``每月 25 日``
        day, number = (mine, theirs) if isinstance(mine, tuple) else (theirs, mine)
        return "same" if day == (None, None, number) else "absent"
    if not isinstance(mine, tuple) or not isinstance(theirs, tuple):
        if figure.kind == "duration" and figure.base == "second" and figure.value == other.value:
            return "same"
        if (
            figure.text.endswith("日")
            and figure.side == "before"
            and not figure.bound
            and theirs == (None, None, _written(figure))
        ):
            return "same"  # ``20 日前缴清`` for ``每月 20 日前``
        return "absent"
    if any(m is not None and m != t for m, t in zip(mine, theirs, strict=True)):
        return "absent"
    if figure.side and other.side and figure.side != other.side:
        return "side"
    return "bound" if opposite(figure.bound, other.bound) else "same"
