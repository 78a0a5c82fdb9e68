"""Numbers with their units: amounts, counts, durations, sizes, ranges, amounts in several units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from gyr_hybrid.figures.around import rates_of
from gyr_hybrid.figures.grammar import DIGITS, HAN_CHARS, MYRIADS, NUMBER_PATTERN, TENS, number_value
from gyr_hybrid.figures.scan import Figure, Scan
from gyr_hybrid.figures.units import SIGNS, UNITS, Unit, unit_at

_NUMBER = re.compile(
    rf"(?<![几数]){NUMBER_PATTERN}|(?<![a-z])(?:an?(?= [a-z])|(?:once|twice)(?![a-z]| as| the))|[双翻](?=倍)"
)
_IMPLIED = {"a": 1, "an": 1, "once": 1, "twice": 2, "双": 2, "翻": 2}
_SIGN = "(?:" + "|".join(re.escape(s) for s in sorted(SIGNS, key=len, reverse=True)) + r")\s?"
_SIGN_BEFORE = re.compile(rf"(?<![a-z]){_SIGN}$")
_UNIT_GAP = re.compile(r"(?:\s|-(?=[a-z]))?")
_OVER = re.compile(r"\s?个?[多余]\s?")
"""``30 多人``, ``10 余家``, ``3 个多月``: a little more than the number."""
_JOINT = re.compile(rf"\s?(-|~|至|到|to|and)\s?(?:{_SIGN})?")
_BETWEEN = re.compile(r"\bbetween\s*$")
_BELOW_ZERO = re.compile(r"(?:(?<![\w.℃°])-|零下\s?)$")
_MORE = re.compile(r"\s?(零|又|and )?\s?(?=[^\W_])")
_AND_HALF = re.compile(r"半| and a half(?![a-z])")
_TENTHS = re.compile(rf"\s?(\d|[{''.join(DIGITS)}])(?=\s?[以起]|[^\w\s.]|$)")
"""``12 块 5``, ``一米八``: the digit counts tenths where nothing is counted behind it."""
_NO_AMOUNT = re.compile(r"十分(?!钟|之|$)|三角[形函洲]")
"""``十分重要`` is an adverb; ten points end their clause."""
_MIXED = ("duration", "money", "length", "weight")
"""What is written in several units: ``1 小时 30 分``, ``3 元 5 角``, ``5 feet 6 inches``."""
_PERIODS = (86400, 7 * 86400)
_MINUTE, _CENT = UNITS["分钟"], UNITS["分钱"]


@dataclass(frozen=True, slots=True)
class _Amount:
    word: str
    value: Fraction
    unit: Unit | None
    name: str
    start: int
    end: int
    over: bool = False

    def figure(self) -> Figure:
        """The amount in base units."""
        bound = "~" if self.over else ""
        if self.unit is None:
            return Figure("number", self.value, start=self.start, end=self.end, bound=bound)
        value = self.value * self.unit.factor
        base = self.unit.base
        if base == "fahrenheit":
            value, base = (self.value - 32) * Fraction(5, 9), "celsius"
        if self.unit.kind == "discount" and self.value < 10:
            value = self.value * 10  # ``8 折`` and ``85 折`` are 80 and 85 of 100
        return Figure(self.unit.kind, value, base, start=self.start, end=self.end, bound=bound)


def quantities(scan: Scan) -> Iterator[Figure]:
    """All numbers of the text that no other form has claimed, with their units."""
    position = 0
    while found := _NUMBER.search(scan.text, position):
        position = found.end()
        amount = _read(scan, found) if scan.open(*found.span()) else None
        if amount is None:
            continue
        figures = _range(scan, amount)
        if not figures and amount.unit is None and _is_word(amount.word):
            continue
        figures = figures or [_single(scan, amount)]
        yield from figures
        position = max(position, *(f.end for f in figures))


def _read(scan: Scan, found: re.Match[str]) -> _Amount | None:
    """The number of a match with its sign and unit; None for a word that only looks like a number."""
    word, start, end = found.group(), found.start(), found.end()
    article = word in ("a", "an")
    value = Fraction(_IMPLIED[word]) if word in _IMPLIED else number_value(word)
    if value is None or _NO_AMOUNT.match(scan.text, start):
        return None
    over = _OVER.match(scan.text, end)
    gap = _UNIT_GAP.match(scan.text, over.end() if over else end)
    unit_start = gap.end() if gap else end
    unit = unit_at(scan.raw, scan.text, unit_start)
    if unit and not scan.open(unit_start, unit[1]):
        unit = None
    if word in ("once", "twice"):
        return _Amount(word, value, UNITS["次"], "", start, end)
    if article and not (unit and unit[0].kind == "duration"):
        return None
    sign = _SIGN_BEFORE.search(scan.text, max(0, start - 4), start)
    if sign and scan.open(*sign.span()):
        start, money = sign.start(), SIGNS[sign.group().strip()]
        million = bool(unit) and scan.text[unit_start : unit[1] if unit else end] == "m"  # ``$2.5M``
        stop = unit[1] if million and unit else end
        return _Amount(word, value, Unit("money", money, Fraction(10**6 if million else 1)), "", start, stop)
    if unit is None:
        return _Amount(word, value, None, "", start, end)
    if (word[0] in MYRIADS) or (word in TENS and word != "十"):
        return None
    return _Amount(word, value, unit[0], scan.text[unit_start : unit[1]], start, unit[1], bool(over))


def _is_word(word: str) -> bool:
    """Whether Chinese numerals without a unit are no number: ``三``, ``万一``, ``千万``, ``一一``."""
    if word[0] not in HAN_CHARS or "点" in word:
        return False
    scaled = any(c in DIGITS for c in word) and any(c not in DIGITS for c in word)
    return word[0] in MYRIADS or not (scaled or len(word) > 2)


def _range(scan: Scan, low: _Amount) -> list[Figure]:
    """Both ends of ``1-3 个工作日`` or ``between 5 and 10``; empty when the amount begins no range."""
    joint = _JOINT.match(scan.text, low.end)
    found = _NUMBER.match(scan.text, joint.end()) if joint else None
    if not joint or not found or not scan.open(*found.span()):
        return []
    window = max(0, low.start - 12)
    if joint[1] == "and" and not _BETWEEN.search(scan.text, window, low.start):
        return []
    high = _read(scan, found)
    bare = not low.word.isdigit() or high is None or not high.word.isdigit()
    if high is None or (bare and not (low.unit or high.unit)):
        return []
    high = replace(high, unit=high.unit or low.unit, start=found.start())
    low = replace(low, unit=low.unit or high.unit)
    if low.unit and low.unit.kind == "temperature" and _BELOW_ZERO.search(scan.text, window, low.start):
        low = replace(low, value=-low.value)
    per, _, _ = rates_of(scan.text, low.start, high.end)
    return [replace(low.figure(), low=True, per=per), replace(high.figure(), high=True, per=per)]


def _single(scan: Scan, amount: _Amount) -> Figure:
    text, end, unit = scan.text, amount.end, amount.unit
    kind = unit.kind if unit else "number"
    minus = (
        _BELOW_ZERO.search(text, max(0, amount.start - 4), amount.start) if kind == "temperature" else None
    )
    if minus:
        start = minus.start() if minus.group() == "-" else amount.start
        return replace(amount, value=-amount.value, start=start).figure()
    if kind == "duration" and (half := _AND_HALF.match(text, end)):
        return replace(amount, value=amount.value + Fraction(1, 2), end=half.end()).figure()
    if amount.name in ("块", "米") and (tenths := _TENTHS.match(text, end)):
        value = amount.value + (number_value(tenths[1]) or 0) / Fraction(10)
        return replace(amount, value=value, end=tenths.end()).figure()
    figure = _summed(scan, amount) if unit and kind in (*_MIXED, "points") else amount.figure()
    one = amount.word in ("一", "one", "once") and (
        kind in ("count", "points", "number") or amount.name == "分钱"
    )
    return replace(figure, weak=True) if one or amount.word in ("a", "an") else figure


def _summed(scan: Scan, first: _Amount) -> Figure:
    """``1 小时 30 分钟``, ``3 元 5 角`` as one figure.

    A lesser part that fills the greater one is a figure of its own (``7 天 24 小时``), as is what one day or
    week holds (``一周五天``).
    """
    parts = [first]
    while more := _MORE.match(scan.text, parts[-1].end):
        number, last = _NUMBER.match(scan.text, more.end()), parts[-1]
        part = _read(scan, number) if number and scan.open(*number.span()) else None
        if part is None or part.unit is None or last.unit is None:
            break
        if last.name == "分" and part.unit == UNITS["秒"]:
            last = parts[-1] = replace(last, unit=_MINUTE)  # ``2 分 30 秒``
        lesser = _lesser(part, last.unit or part.unit)
        greater = last.unit or lesser
        period = last.value == 1 and greater.factor in _PERIODS and not more[1]
        if period or greater.kind not in _MIXED or lesser.base != greater.base:
            break
        if part.value * lesser.factor >= greater.factor:
            break
        parts.append(replace(part, unit=lesser))
    figure = parts[0].figure()
    if len(parts) == 1:
        return figure if first.unit == parts[0].unit else first.figure()
    total = sum((p.value * p.unit.factor for p in parts if p.unit), Fraction(0))
    return replace(figure, value=total, end=parts[-1].end)


def _lesser(part: _Amount, unit: Unit) -> Unit:
    """The unit of a further part: ``分`` and ``m`` are minutes after hours, ``分`` is a cent after money."""
    if part.name in ("分", "m") and unit.base == "second":
        return _MINUTE
    return _CENT if part.name == "分" and unit.base == "CNY" else part.unit or unit
