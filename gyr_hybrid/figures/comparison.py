"""Whether a figure of an answer stands among the figures of its source, and what differs if it does not.

A difference is only called one where the rules bring both figures to one form. Where they cannot, because a unit is
missing, a length of a month or a kilobyte is a matter of taste, or a word such as 约 leaves room, it is unclear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from gyr_hybrid.figures.around import TIMES, opposite
from gyr_hybrid.figures.dates import HALVES
from gyr_hybrid.figures.grammar import NUMBER_PATTERN, even_fold, number_value
from gyr_hybrid.figures.scan import Figure
from gyr_hybrid.figures.units import compatible

Standing = Literal["same", "unclear", "bound", "rate", "side", "unit", "absent"]

_ORDER: tuple[Standing, ...] = ("same", "unclear", "bound", "rate", "side", "unit", "absent")
_DECIMAL_SIZES = frozenset(Fraction(1024, 1000) ** power for power in (-4, -3, -2, -1, 1, 2, 3, 4))
"""What makes ``1 GB`` of ``1000 MB``: people count sizes in thousands too."""
_TOLERANCE = Fraction(1, 10)
"""How far ``约`` reaches: a tenth, the rounding to one digit that such a word announces."""
_COUNTABLE = 12
"""Largest number that a sentence may count from a list of the source (``三种方式``); longer lists are given in digits."""
_TIME_NAMES = frozenset(TIMES.values())
_MANY_MEANINGS = frozenset({"分", "m", "度", "点", "M", "T"})
"""Spellings of more than one unit: points and minutes, metres and minutes, degrees and kilowatt-hours."""
_MONTHS = (28, 31)
"""Days of the shortest and of the longest month."""


def standing(figure: Figure, sources: Iterable[Figure]) -> Standing:
    """How ``figure`` stands among ``sources``: ``same``, else ``unclear``, else the least that differs.

    >>> from gyr_hybrid.figures import find_figures
    >>> source = find_figures("单文件不超过 10 MB，每天 8 点更新，保修 1 年")
    >>> [standing(find_figures(t)[0], source) for t in ("10 兆以内", "10 MB 以上", "12 个月", "10 天", "9 点")]
    ['same', 'bound', 'same', 'unit', 'absent']
    """
    best: Standing = "unclear" if _may_count_a_list(figure) else "absent"
    for other in sources:
        found = compare(figure, other)
        if found == "same":
            return "same"
        if _ORDER.index(found) < _ORDER.index(best):
            best = found
    return best


def compare(figure: Figure, other: Figure) -> Standing:
    """What of two figures differs.

    ``bound``, ``rate``, ``side``, ``unit`` and ``absent`` (another value) are real differences; ``unclear`` is none:
    the two may say the same.
    """
    if other.weak and not figure.weak and figure.text[:1].isdigit() and figure.kind != "code":
        return (
            "unclear" if _equal(figure, other) else "absent"
        )  # ``每月`` is no ``1 个月``, though it is ``一个月``
    if "code" in (figure.kind, other.kind):
        return _compare_code(figure, other)
    if "date" in (figure.kind, other.kind):
        return _compare_date(figure, other)
    if _equal(figure, other):
        return _circumstances(figure, other)
    if _unclear(figure, other) or _may_count_a_list(figure):
        return "unclear"
    digits = _as_written(figure.text)[0]
    return "unit" if digits is not None and digits == _as_written(other.text)[0] else "absent"


def _circumstances(figure: Figure, other: Figure) -> Standing:
    """What differs in the limits, rates and sides of two figures of one value."""
    if opposite(figure.bound, other.bound):
        early = figure.side == "before"  # ``no later than an hour before`` is at least an hour before
        return "unclear" if early else "bound"
    if other.low and not figure.low and figure.bound[:1] != ">":
        return "bound"
    if other.high and not figure.high and figure.bound[:1] == ">":
        return "bound"
    ours, theirs = {figure.per, *figure.also} - {""}, {other.per, *other.also} - {""}
    if ours and theirs and not ours & theirs:
        return "rate" if ours | theirs <= _TIME_NAMES else "unclear"
    if figure.side and other.side and figure.side != other.side:
        return "side"
    return "same"


def _equal(figure: Figure, other: Figure) -> bool:
    kinds = {figure.kind, other.kind}
    mine, theirs = figure.value, other.value
    if isinstance(mine, Fraction) and isinstance(theirs, Fraction):
        pair = {figure.kind: mine, other.kind: theirs}
        if kinds == {"percent", "times"}:
            return pair["percent"] == 100 * pair["times"]
        if kinds == {"percent", "discount"}:
            return pair["percent"] in (pair["discount"], 100 - pair["discount"])
        if kinds == {"clock"}:
            return mine % 1440 == theirs % 1440
    if mine != theirs:
        return False
    if "ordinal" in kinds or kinds == {"money"}:
        return len(kinds) == 1 and (figure.base == other.base or "" in (figure.base, other.base))
    return (len(kinds) == 1 or kinds <= {"number", "count"}) and compatible(figure.base, other.base)


def _unclear(figure: Figure, other: Figure) -> bool:
    """Whether two unequal figures may say the same for all that the rules know."""
    kinds = {figure.kind, other.kind}
    mine, theirs = figure.value, other.value
    if not isinstance(mine, Fraction) or not isinstance(theirs, Fraction):
        return False
    if kinds == {"clock"}:
        return abs(mine - theirs) == 720 and not all(_says_half(f) for f in (figure, other))
    (number, unit), (their_number, their_unit) = _as_written(figure.text), _as_written(other.text)
    alike = number == their_number
    if len(kinds) > 1 and ("number" in kinds or "any" in (figure.base, other.base)):
        return ("ordinal" not in kinds and _shifted(number, their_number)) or mine == theirs or alike
    if alike and {unit, their_unit} & _MANY_MEANINGS:
        return True
    if kinds == {"size"} and theirs and mine / theirs in _DECIMAL_SIZES:
        return True
    if kinds == {"times"} and abs(mine - theirs) == 1:
        return True  # ``增加一倍`` makes twice as much
    if {figure.base, other.base} == {"times", "occurrence"}:
        return mine == theirs  # ``three times as much``
    if kinds == {"duration"} and approximate(figure, other):
        return True
    return len(kinds) == 1 and compatible(figure.base, other.base) and _near(figure, other)


def approximate(figure: Figure, other: Figure) -> bool:
    """Whether two durations agree but for the length of a month or a year: ``3 个月`` and ``90 天``."""
    pair = {figure.base: figure.value, other.base: other.value}
    months, seconds = pair.get("month"), pair.get("second")
    if figure.kind != "duration" or not isinstance(months, Fraction) or not isinstance(seconds, Fraction):
        return False
    return months * _MONTHS[0] <= seconds / 86400 <= months * _MONTHS[1]


def _near(figure: Figure, other: Figure) -> bool:
    """Whether a figure that says 约 or 多 leaves room for the other."""
    for vague, exact in ((figure, other), (other, figure)):
        low, value = vague.value, exact.value
        assert isinstance(low, Fraction)
        assert isinstance(value, Fraction)
        if vague.bound == "~" and abs(low - value) <= abs(low) * _TOLERANCE:
            return True
        if re.search("[多余]", vague.text) and low < value < low * 2:
            return True
    return False


def _shifted(mine: Fraction | None, theirs: Fraction | None) -> bool:
    """Whether two numbers are equal but for a power of ten: ``12`` under 万元 and ``120000 元``."""
    if not mine or not theirs:
        return False
    ratio = mine / theirs
    return 1 in ratio.as_integer_ratio() and str(max(ratio.as_integer_ratio())).strip("0") == "1"


def _may_count_a_list(figure: Figure) -> bool:
    """Whether a number in words may be the length of a list of the source: ``两个版本``, ``three ways``."""
    return (
        figure.kind in ("count", "number")
        and isinstance(figure.value, Fraction)
        and 1 < figure.value <= _COUNTABLE
        and not (figure.bound or figure.per or figure.low or figure.high)
        and not any(c.isdigit() for c in figure.text)
    )


def _says_half(figure: Figure) -> bool:
    value = figure.value
    hour_tells = isinstance(value, Fraction) and value >= 13 * 60
    return hour_tells or re.search(rf"{HALVES}|[ap]\.?m", even_fold(figure.text)) is not None


def written(figure: Figure) -> Fraction | None:
    """The number as written, before its unit turns it into base units."""
    return _as_written(figure.text)[0]


@lru_cache(maxsize=8192)
def _as_written(text: str) -> tuple[Fraction | None, str]:
    """The number of a figure before its unit turns it into base units, and what is written behind it."""
    found = re.search(NUMBER_PATTERN, even_fold(text))
    return (number_value(found.group()), text[found.end() :].strip()) if found else (None, "")


def _compare_code(figure: Figure, other: Figure) -> Standing:
    if figure.kind == other.kind:
        return "same" if figure.value == other.value else "absent"
    code, number = (figure, other) if figure.kind == "code" else (other, figure)
    digits = re.sub(r"\D", "", str(code.value))
    if not digits or digits != re.sub(r"\D", "", number.text):
        return "absent"
    return "same" if number is figure and number.kind == "number" and len(digits) >= 3 else "unclear"


def _compare_date(figure: Figure, other: Figure) -> Standing:
    mine, theirs = figure.value, other.value
    if not isinstance(mine, tuple) or not isinstance(theirs, tuple):
        dated, part = (figure, other) if isinstance(mine, tuple) else (other, figure)
        days = dated.value if isinstance(dated.value, tuple) else ()
        if list(days) == [None, None, part.value] and part.kind == "ordinal":
            return "same"  # ``on the 25th`` for ``每月 25 日``
        if part.kind not in ("number", "ordinal"):
            return "absent"
        number = _as_written(part.text)[0]
        return "unclear" if number is not None and number in days else "absent"
    shared = [(m, t) for m, t in zip(mine, theirs, strict=True) if m is not None and t is not None]
    if not shared or any(m != t for m, t in shared):
        return "absent"
    if any(m is not None and t is None for m, t in zip(mine, theirs, strict=True)):
        return "unclear"  # the answer says more than the source: the year of ``10月1日``
    if figure.side and other.side and figure.side != other.side:
        return "side"
    return "bound" if opposite(figure.bound, other.bound) else "same"
