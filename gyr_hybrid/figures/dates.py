"""Dates and times of day, in Chinese and English, of a folded text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from gyr_hybrid.figures.grammar import HAN_CHARS, HAN_NUMERAL, number_value

_N = rf"(?:\d{{1,2}}|{HAN_NUMERAL}{{1,3}})"
_YEAR = r"(?:(?:19|20)\d\d|[一二][〇零○一二三四五六七八九]{3})"
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = r"(?:" + "|".join(f"{m[:3]}(?:{m[3:]})?" if len(m) > 3 else m for m in _MONTHS) + r")\.?"

_CHINESE = re.compile(
    rf"(?P<y>{_YEAR})\s?年(?:\s?(?P<m>{_N})\s?月(?:份|\s?(?P<d>{_N})\s?[日号])?)?"
    rf"|(?<![个每/\d])(?P<m2>{_N})\s?月\s?(?P<d2>{_N})\s?[日号]"
    rf"|(?P<m4>(?<![\d.{HAN_CHARS}])(?:1[0-2]|[1-9]))\s?月份?(?!\d)"
    rf"|(?P<m5>{HAN_NUMERAL}{{1,2}})月份"
    rf"|(?P<every>[每次当本上下]个?月(?:的)?)\s?(?P<d3>{_N})\s?[日号]"
    rf"|(?<![\d第])(?P<d4>\d{{1,2}})\s?号(?![码线店楼])"
)
_NUMERIC = re.compile(r"(?<![\d.])((?:19|20)\d\d)([-/.])(\d{1,2})(?:\2(\d{1,2}))?(?!\.?\d)")
_ENGLISH = re.compile(
    rf"\b(?P<m>{_MONTH})\s(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s?%)(?:,?\s(?P<y>(?:19|20)\d\d))?"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\sof)?\s(?P<m2>{_MONTH})(?![a-z])(?:,?\s(?P<y2>(?:19|20)\d\d))?"
    rf"|\b(?P<m3>{_MONTH})\s(?P<y3>(?:19|20)\d\d)\b|\b(?:in|since|from|by|until)\s(?P<y4>(?:19|20)\d\d)\b(?![-/.]\d)"
)
_LATE = ("中午", "下午", "傍晚", "晚上", "每晚", "晚")
HALVES = "|".join(("凌晨", "早上", "上午", "每早", "早", *_LATE))
"""Words for a half of the day, with which a time of day is no other one twelve hours away."""
_CLOCK = re.compile(
    rf"(?P<part>{HALVES})?(?:(?<=.)\s)?(?:"
    r"(?P<h>\d{1,2}):(?P<min>[0-5]\d)(?::[0-5]\d)?(?!\d)\s?(?P<ampm>[ap]\.?m\b\.?)?"
    r"|(?P<h2>\d{1,2}|[零一二两三四五六七八九十]{1,3})\s?点(?!\d+[.%]|[零一二三四五六七八九](?![十分]))钟?(?P<half>半)?"
    r"(?:整|\s?(?P<min2>[0-5]\d)(?!\d)\s?分?)?(?![击评赞])"
    r"|(?P<h3>\d{1,2})\s?(?P<ampm2>[ap]\.?m\b\.?))"
)
_WEEKDAY = re.compile(r"(?<![每两半一])(?:周|星期|礼拜)([一二三四五六日天])(?![年次个])")
_WEEK = {c: n for n, c in enumerate("一二三四五六日", 1)} | {"天": 7}
_TO = re.compile(r"\s?(?:-|~|至|到|to|until)\s?")


def _number(text: str | None) -> int | None:
    value = number_value(text) if text else None
    return None if value is None else int(value)


def _month(name: str | None) -> int | None:
    return None if name is None else 1 + next(i for i, m in enumerate(_MONTHS) if m.startswith(name[:3]))


Found = tuple[int, int, str, Fraction | tuple[int | None, ...]]


def find_dates(text: str) -> Iterator[Found]:
    """``(start, end, kind, value)`` of dates (year, month, day or None), clock times (minutes) and weekdays (1–7)."""
    yield from _dates(text)
    yield from _clocks(text)
    for found in _WEEKDAY.finditer(text):
        yield *found.span(), "weekday", Fraction(_WEEK[found[1]])


def _dates(text: str) -> Iterator[Found]:
    for found in _NUMERIC.finditer(text):
        year, month, day = int(found[1]), int(found[3]), _number(found[4])
        if 1 <= month <= 12 and (found[2] != "." or day) and (day is None or 1 <= day <= 31):
            yield *found.span(), "date", (year, month, day)
    for found in _ENGLISH.finditer(text):
        month_name = found["m"] or found["m2"] or found["m3"]
        year_text = found["y"] or found["y2"] or found["y3"] or found["y4"]
        if month_name == "may" and not (found["d"] or found["d2"] or found["y3"]):
            continue
        start = found.start("y4") if found["y4"] else found.start()
        yield (
            start,
            found.end(),
            "date",
            (_number(year_text), _month(month_name), _number(found["d"] or found["d2"])),
        )
    for found in _CHINESE.finditer(text):
        year_value = _number(found["y"])
        month_value = _number(found["m"] or found["m2"] or found["m4"] or found["m5"])
        day_value = _number(found["d"] or found["d2"] or found["d3"] or found["d4"])
        start = found.start("d3") if found["every"] else found.start()
        if (month_value or 1) <= 12 and (day_value or 1) <= 31:
            yield start, found.end(), "date", (year_value, month_value, day_value)


def _clocks(text: str) -> Iterator[Found]:
    last_end, last = -9, Fraction(0)
    for found in _CLOCK.finditer(text):
        hour = _number(found["h"] or found["h2"] or found["h3"])
        if hour is None or hour > 24:
            continue
        minute = 30 if found["half"] else int(found["min"] or found["min2"] or 0)
        late = found["part"] in _LATE or (found["ampm"] or found["ampm2"] or "").startswith("p")
        if late and hour < 12 and not (found["part"] == "中午" and hour >= 10):
            hour += 12
        value = Fraction(hour * 60 + minute)
        if last > value and hour < 12 and not found["part"] and _TO.fullmatch(text, last_end, found.start()):
            value += 720
        last_end, last = found.end(), value
        yield *found.span(), "clock", value
