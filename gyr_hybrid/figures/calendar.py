"""Dates and times of day, in Chinese and English, of a folded text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from gyr_hybrid.figures.numerals import HAN_NUMERAL, digit_number, english_number, han_number

_N = rf"(?:\d{{1,2}}|{HAN_NUMERAL}{{1,3}})"
_YEAR = r"(?:(?:19|20)\d\d|[一二][〇零○一二三四五六七八九]{3})"
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = r"(?:" + "|".join(f"{m[:3]}(?:{m[3:]})?" if len(m) > 3 else m for m in _MONTHS) + r")\.?"

_CHINESE = re.compile(
    rf"(?P<y>{_YEAR})\s?年(?:\s?(?P<m>{_N})\s?月(?:份|\s?(?P<d>{_N})\s?[日号])?)?"
    rf"|(?<![个每/\d])(?P<m2>{_N})\s?月\s?(?P<d2>{_N})\s?[日号]"
    rf"|(?P<m4>(?<![\d.{HAN_NUMERAL[1:-1]}])(?:1[0-2]|[1-9]))\s?月份?(?!\d)"
    rf"|(?P<m5>{HAN_NUMERAL}{{1,2}})月份"
    rf"|(?P<every>[每次当本上下]个?月(?:的)?)\s?(?P<d3>{_N})\s?[日号]"
    rf"|(?<![\d第])(?P<d4>\d{{1,2}})\s?号(?![码线店楼])"
)
_NUMERIC = re.compile(r"(?<![\d.])((?:19|20)\d\d)([-/.])(\d{1,2})(?:\2(\d{1,2}))?(?![\d.]*\d)")
_ENGLISH = re.compile(
    rf"\b(?P<m>{_MONTH})\s(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s?%)(?:,?\s(?P<y>(?:19|20)\d\d))?"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?:\sof)?\s(?P<m2>{_MONTH})(?![a-z])(?:,?\s(?P<y2>(?:19|20)\d\d))?"
    rf"|\b(?P<m3>{_MONTH})\s(?P<y3>(?:19|20)\d\d)\b|\b(?:in|since|from|by|until)\s(?P<y4>(?:19|20)\d\d)\b(?![-/.]\d)"
)
_CLOCK = re.compile(
    r"(?P<half>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|晚间|夜里|每晚|每早|晚|早)?(?:(?<=.)\s)?(?:"
    r"(?P<h>\d{1,2}):(?P<min>[0-5]\d)(?::[0-5]\d)?(?!\d)\s?(?P<ampm>[ap]\.?m\b\.?)?"
    r"|(?P<h2>\d{1,2}|[一二两三四五六七八九十]{1,3})\s?点(?!\d+[.%]|[零一二三四五六七八九](?![十分]))钟?(?P<half2>半)?(?:整|\s?(?P<min2>[0-5]\d)(?!\d)\s?分?)?(?![击评赞心数播])"
    r"|(?P<h3>\d{1,2})\s?(?P<ampm2>[ap]\.?m\b\.?))"
)
_TO = re.compile(r"\s?(?:-|~|至|到|to|until)\s?")
_LATE = ("中午", "下午", "傍晚", "晚上", "晚间", "夜里", "每晚", "晚")


def _number(text: str | None) -> int | None:
    if not text:
        return None
    value = digit_number(text)
    if value is None:
        value = han_number(text)
    if value is None:
        value = english_number(text)
    return None if value is None else int(value)


def _month(name: str | None) -> int | None:
    return None if name is None else 1 + next(i for i, m in enumerate(_MONTHS) if m.startswith(name[:3]))


def find_dates(text: str) -> Iterator[tuple[int, int, str, Fraction | tuple[int | None, ...]]]:
    """``(start, end, kind, value)`` of dates (year, month, day or None) and clock times (minutes)."""
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
    last_end, last = -9, Fraction(0)
    for found in _CLOCK.finditer(text):
        hour = _number(found["h"] or found["h2"] or found["h3"])
        if hour is None or hour > 24:
            continue
        minute = 30 if found["half2"] else int(found["min"] or found["min2"] or 0)
        late = found["half"] in _LATE or (found["ampm"] or found["ampm2"] or "").startswith("p")
        if late and hour < 12 and not (found["half"] == "中午" and hour >= 10):
            hour += 12
        value = Fraction(hour * 60 + minute)
        if last > value and hour < 12 and not found["half"] and _TO.fullmatch(text[last_end : found.start()]):
            value += 720
        last_end, last = found.end(), value
        yield *found.span(), "clock", value
