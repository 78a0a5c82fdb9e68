"""Figures of special forms: fractions, halves, ordinals, multiples, weekdays, periods."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from gyr_hybrid.figures.measures import UNITS
from gyr_hybrid.figures.numerals import (
    DIGITS,
    DIGITS_PATTERN,
    ENGLISH_ORDINALS,
    HAN_NUMERAL,
    number_value,
)
from gyr_hybrid.figures.scan import Figure, Scan

_FRACTION = re.compile(
    rf"(百|千|万|{HAN_NUMERAL}+|\d+)分之({HAN_NUMERAL}+(?:点[{''.join(DIGITS)}]+)?|{DIGITS_PATTERN}|百)"
)
_A_PERIOD = re.compile(r"\s(?:an?|per|each|every)\b")
_SLASHED = re.compile(r"(?<![\d./-])([1-9])/([2-9]|10)(?![\d./月-])")
"""``1/3``; a day of a month is written with more."""
_ORDINAL = re.compile(
    r"(?P<class>[一二三四五])等(?=[奖舱座品级功]|\s*[\d,、:;。]|\s*$)|首(?P<head>小时|晚|次|日|周|月|年|批|期|单|个)"
    rf"|(?:第|(?:科目|方案|附件|附录|附表|阶段|情形|类型|步骤)(?={HAN_NUMERAL}))\s?(?P<n>{HAN_NUMERAL}+|\d+(?!\d|\s?[至到~-]\s?\d+\s?(?:[天日周年]|个?月|个?小时)))\s?个?(?P<unit>工作日|季度|小时|分钟|单|批|晚|顺序|顺位|步骤|[条款项章节编步天日年月周次季级轮批期层代档类种名位页行列])?"
    r"|(?<![a-z0-9])(?P<nth>\d+)(?:st|nd|rd|th)(?![a-z])"
    rf"|(?<![a-z])(?P<word>{'|'.join(ENGLISH_ORDINALS)})(?![a-z])"
)
_HALF = re.compile(
    rf"(?:(?P<whole>{HAN_NUMERAL}+|\d+)(?P<measure>个)?)?半(?P<unit>年|个?月|天|日|个?小时|个?钟头|周|个?星期|分钟|价|公斤|斤|公里|米|升|吨)"
    rf"|(?P<n2>{HAN_NUMERAL}+|\d+)\s?(?P<u2>年|个月|天|小时|个小时|周)半"
    r"|(?P<part>一半|半数|减半|对折|百分百|百分之百)"
    r"|half[ -](?:an? )?(?P<eunit>year|month|day|hour|week|minute)(?![a-z])|(?P<ehalf>(?<![a-z])half(?= (?:of|the)))"
)
_MULTIPLE = re.compile(
    r"双倍|翻一?[倍番]|加倍|(?<![a-z])(?:double[sd]?|twice|triple[sd]?|thrice)(?![a-z])|(\d+|[二三四五六七八九十])x(?![a-z0-9])"
)
_ARTICLE_TIME = re.compile(
    r"(?<![a-z])(?:an?|one) (?P<unit>second|minute|hour|day|week|month|quarter|year|working day|business day|fortnight|decade)(?![a-z])(?! and a half)"
)
_PERIOD = re.compile(
    r"(?:每个?|全|单)(?P<unit>年|月|季度|周|星期|天|日|小时|分钟|秒)(?![\d一二三四五六七八九十])|(?P<annual>年)度(?!电)"
)
_WEEKDAY = re.compile(r"(?<![每两半一])(?:周|星期|礼拜)([一二三四五六日天末])(?![年次个])")
_WEEK = {c: n for n, c in enumerate("一二三四五六", 1)} | {"日": 7, "天": 7, "末": 67}


def weekdays(scan: Scan) -> Iterator[Figure]:
    """``周三``, ``星期日``; a weekend is 67."""
    for found in _WEEKDAY.finditer(scan.text):
        if scan.open(*found.span()):
            day = Fraction(_WEEK[found[1]])
            yield Figure("weekday", day, "weekday", start=found.start(), end=found.end())


def fractions(scan: Scan) -> Iterator[Figure]:
    """``百分之八十``, ``三分之二``, ``1/3`` as percent."""
    for found in _FRACTION.finditer(scan.text):
        whole, part = number_value(found[1]), number_value(found[2])
        if whole and part is not None and scan.open(*found.span()):
            yield Figure("percent", part / whole * 100, "percent", start=found.start(), end=found.end())
    for found in _SLASHED.finditer(scan.text):
        part, whole = Fraction(found[1]), Fraction(found[2])
        if part < whole and scan.open(*found.span()):
            yield Figure("percent", part / whole * 100, "percent", start=found.start(), end=found.end())


def halves(scan: Scan) -> Iterator[Figure]:
    """``半年``, ``一个半月``, ``一半``, ``half an hour``."""
    half = Fraction(1, 2)
    for found in _HALF.finditer(scan.text):
        start, end = found.span()
        if not scan.open(start, end):
            continue
        if found["part"]:
            value = Fraction(100 if "百" in found["part"] else 50)
            yield Figure("percent", value, "percent", start=start, end=end)
        elif found["ehalf"]:
            yield Figure("percent", Fraction(50), "percent", start=start, end=end)
        elif found["unit"] == "价":
            yield Figure("discount", Fraction(50), "discount", start=start, end=end)
        else:
            word = found["unit"] or found["u2"] or found["eunit"]
            unit = UNITS[word]
            count = number_value(found["whole"] or found["n2"] or "") or Fraction(0)
            if found["whole"] and not found["measure"]:
                continue
            yield Figure(unit.kind, (count + half) * unit.factor, unit.base, start=start, end=end)


def ordinals(scan: Scan) -> Iterator[Figure]:
    """``第三条``, ``首次``, ``3rd``, ``third``."""
    for found in _ORDINAL.finditer(scan.text):
        start, end = found.span()
        if not scan.open(start, end) or scan.text.startswith(("第一时间", "第三方", "第三人"), start):
            continue
        word = found["word"]
        if word:
            value: Fraction | None = Fraction(ENGLISH_ORDINALS[word])
        else:
            value = (
                Fraction(1) if found["head"] else number_value(found["class"] or found["n"] or found["nth"])
            )
        if value is not None:
            weak = word in ("first", "second") or bool(found["head"]) or found.group() == "第二天"
            yield Figure(
                "ordinal",
                value,
                found["unit"] or ("等" if found["class"] else (found["head"] or "").strip("个")),
                weak=weak,
                start=start,
                end=end,
            )


def multiples(scan: Scan) -> Iterator[Figure]:
    """``双倍``, ``翻倍``, ``twice``, ``3x``."""
    for found in _MULTIPLE.finditer(scan.text):
        if scan.open(*found.span()):
            times = (
                number_value(found[1])
                if found[1]
                else Fraction(3 if found[0].startswith("t") and found[0] != "twice" else 2)
            )
            if found[0] == "twice" and _A_PERIOD.match(scan.text, found.end()):
                yield Figure("count", Fraction(2), "occurrence", start=found.start(), end=found.end())
            elif times is not None:
                yield Figure("times", times, "times", start=found.start(), end=found.end())


def article_times(scan: Scan) -> Iterator[Figure]:
    """``a week``, ``an hour``: one of them, weak unless a limit is set on it."""
    for found in _ARTICLE_TIME.finditer(scan.text):
        rate = any(f.end <= found.start() <= f.end + 1 for f in scan.found)
        if scan.open(*found.span()) and not rate:
            unit = UNITS[found["unit"]]
            weak = found[0].startswith("a")
            yield Figure(unit.kind, unit.factor, unit.base, weak=weak, start=found.start(), end=found.end())


def periods(scan: Scan) -> Iterator[Figure]:
    """``每月``, ``全年``: one of them, which asserts no number."""
    for found in _PERIOD.finditer(scan.text):
        if scan.open(*found.span()):
            unit = UNITS[found["unit"] or found["annual"]]
            yield Figure(unit.kind, unit.factor, unit.base, weak=True, start=found.start(), end=found.end())
