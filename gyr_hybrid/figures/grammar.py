"""Numerals of Chinese and English as exact values, and the length-preserving fold they are read in."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache

from gyr_hybrid.analysis.script import simplify

_EVEN = {ord(c): "-" for c in "‐‑‒–—―−﹣－"} | {ord(c): "~" for c in "～〜∼"}
_EVEN |= {ord("’"): "'", ord("‘"): "'", ord("，"): ","}
_KEEP = frozenset("①②③④⑤⑥⑦⑧⑨⑩")
"""Numbers of list items; folded they would be digits of figures."""

LONGEST = 40
"""Most digits of a number: more are an identifier, compared as text. 10**40 is beyond any amount that is counted."""


def _fold_char(char: str) -> str:
    if char in _KEEP:
        return char
    folded = unicodedata.normalize("NFKC", char).casefold()
    return folded if len(folded) == 1 else char


@lru_cache(maxsize=4096)
def even_fold(text: str) -> str:
    """Width, case, dashes and Traditional script folded, each code point to exactly one, so that offsets stay valid.

    >>> even_fold("Ｅ１０４２：３－７ 天")
    'e1042:3-7 天'
    """
    if text.isascii():
        return text.lower()
    return simplify("".join(map(_fold_char, text)).translate(_EVEN))


DIGITS = {"〇": 0} | {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2}
DIGITS |= {c: n for n, c in enumerate("壹贰叁肆伍陆柒捌玖", 1)}
TENS = {"十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000}
MYRIADS = {"万": 10**4, "亿": 10**8}

HAN_CHARS = "".join((*DIGITS, *TENS, *MYRIADS))
HAN_NUMERAL = f"[{HAN_CHARS}]"
"""Pattern of one character of a Chinese numeral."""
HAN_RUN = rf"(?<!{HAN_NUMERAL}){HAN_NUMERAL}{{1,{LONGEST}}}(?!{HAN_NUMERAL})"


def han_number(text: str) -> Fraction | None:
    """Value of a whole Chinese numeral, or None when it is not one.

    >>> han_number("一千零五十"), han_number("二〇二六"), han_number("三千五"), han_number("十")
    (Fraction(1050, 1), Fraction(2026, 1), Fraction(3500, 1), Fraction(10, 1))
    """
    if not text or len(text) > LONGEST or any(c not in HAN_CHARS for c in text):
        return None
    if all(c in DIGITS for c in text):
        return Fraction(int("".join(str(DIGITS[c]) for c in text)))
    total = section = 0
    digit: int | None = None
    last_scale = 1
    after_zero = False
    for char in text:
        if char in DIGITS:
            if digit:
                return None
            digit = DIGITS[char]
            after_zero = after_zero or digit == 0
        elif char in TENS:
            section += (1 if digit is None else digit) * TENS[char]
            last_scale, digit, after_zero = TENS[char], None, False
        else:
            scale, lot = MYRIADS[char], section + (digit or 0)
            total = total + (lot or 1) * scale if total >= scale else (total + lot or 1) * scale
            section, digit, last_scale, after_zero = 0, None, scale, False
    if digit and last_scale > 10 and not after_zero:
        digit *= last_scale // 10
    return Fraction(total + section + (digit or 0))


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TEN_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ENGLISH = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TEN_WORDS, 2)}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_WORD = "(?:" + "|".join(sorted(_ENGLISH, key=len, reverse=True)) + ")"
_TWO = rf"{_WORD}(?:[ -]{_WORD})?"
ENGLISH_NUMERAL = rf"(?<![a-z]){_TWO}(?: (?:hundred|{'|'.join(_SCALES)})(?: (?:and )?{_TWO})?){{0,4}}(?: and a half)?(?![a-z])"
"""Pattern of a number written in English words, in folded text."""


def english_number(text: str) -> Fraction | None:
    """Value of a number in English words, or None.

    >>> english_number("twenty-five"), english_number("two hundred and fifty thousand")
    (Fraction(25, 1), Fraction(250000, 1))
    """
    half = Fraction(text.endswith(" and a half"), 2)
    total = section = 0
    words = [w for w in re.split(r"[\s-]+", text.removesuffix(" and a half").strip()) if w != "and"]
    for word in words:
        if word in _ENGLISH:
            section += _ENGLISH[word]
        elif word == "hundred":
            section = (section or 1) * 100
        elif word in _SCALES:
            total += (section or 1) * _SCALES[word]
            section = 0
        else:
            return None
    return total + section + half


_TAIL = rf"(?:\.\d{{1,{LONGEST}}})?(?!\d)"
DIGITS_PATTERN = rf"(?:\d{{1,3}}(?:,\d{{3}}){{1,12}}{_TAIL}|\d{{1,{LONGEST}}}{_TAIL})"
"""Pattern of a number in digits, with or without thousands separators."""
_HAN_POINT = rf"点[{''.join(DIGITS)}]{{1,{LONGEST}}}"
NUMBER_PATTERN = (
    rf"(?:(?<![\d.]){DIGITS_PATTERN}(?:\s?[十百千万亿]{{1,4}}|\s?(?:thousand|million|billion|bn|k)(?![a-z])"
    rf"|w(?=\s?[元块]))?|{HAN_RUN}(?:{_HAN_POINT}[万亿]?)?|{ENGLISH_NUMERAL})"
)
"""Pattern of a number in digits, Chinese or English words, in folded text."""
_SCALED = re.compile(rf"({DIGITS_PATTERN})\s?([十百千万亿]+|thousand|million|billion|bn|[kw])")
_POINTED = re.compile(rf"({HAN_NUMERAL}+)点([{''.join(DIGITS)}]+)([万亿]?)")
_SHORT_SCALES = {"k": 10**3, "w": 10**4, "bn": 10**9, **_SCALES}


def digit_number(text: str) -> Fraction | None:
    """Value of digits with thousands separators and a decimal point: ``1,280.50``."""
    plain = text.replace(",", "")
    return Fraction(plain) if re.fullmatch(r"\d+(?:\.\d+)?", plain) else None


@lru_cache(maxsize=4096)
def number_value(text: str) -> Fraction | None:
    """Value of a number in digits (``1,280``, ``5 万``), Chinese (``三``, ``二十万``) or English words."""
    if scaled := _SCALED.fullmatch(text):
        head, scale = digit_number(scaled[1]), _SHORT_SCALES.get(scaled[2]) or han_number(scaled[2])
        return head * scale if head is not None and scale is not None else None
    if pointed := _POINTED.fullmatch(text):
        whole, scale = han_number(pointed[1]), han_number(pointed[3] or "一")
        tail = Fraction(int("".join(str(DIGITS[c]) for c in pointed[2])), 10 ** len(pointed[2]))
        return None if whole is None or scale is None else (whole + tail) * scale
    found = digit_number(text)
    if found is None:
        found = han_number(text)
    return english_number(text) if found is None else found
