"""Number words of Chinese and English as exact values, and the length-preserving fold they are read in."""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache

from gyr_hybrid.analysis.script import simplify

_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹣－"), "-")
_QUOTES = {ord("’"): "'", ord("‘"): "'", ord("，"): ",", ord("～"): "~", ord("〜"): "~", ord("∼"): "~"}
_KEEP = frozenset("①②③④⑤⑥⑦⑧⑨⑩")


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
    return simplify("".join(map(_fold_char, text)).translate(_DASHES).translate(_QUOTES))


DIGITS = {"零": 0, "〇": 0, "○": 0, "一": 1, "壹": 1, "二": 2, "贰": 2, "两": 2, "兩": 2, "俩": 2}
DIGITS |= {"三": 3, "叁": 3, "四": 4, "肆": 4, "五": 5, "伍": 5, "六": 6, "陆": 6, "七": 7, "柒": 7}
DIGITS |= {"八": 8, "捌": 8, "九": 9, "玖": 9}
TENS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
MYRIADS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}

HAN_NUMERAL = "[" + "".join((*DIGITS, *TENS, *MYRIADS)) + "]"
"""Pattern of one character of a Chinese numeral."""


def han_number(text: str) -> Fraction | None:
    """Value of a whole Chinese numeral, or None when it is not one.

    >>> han_number("一千零五十"), han_number("二〇二六"), han_number("三千五"), han_number("十")
    (Fraction(1050, 1), Fraction(2026, 1), Fraction(3500, 1), Fraction(10, 1))
    """
    if not text or any(c not in DIGITS and c not in TENS and c not in MYRIADS for c in text):
        return None
    if all(c in DIGITS for c in text):
        return Fraction(int("".join(str(DIGITS[c]) for c in text)))
    total = section = 0
    digit: int | None = None
    last_scale = 1
    after_zero = False
    for char in text:
        if char in DIGITS:
            if digit is not None and digit != 0:
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
ENGLISH = {word: n for n, word in enumerate(_ONES)}
ENGLISH |= {
    w: 10 * n for n, w in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_ENGLISH_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_WORD = "|".join(sorted(ENGLISH, key=len, reverse=True))
_SCALE = "|".join(_ENGLISH_SCALES)
ENGLISH_NUMERAL = rf"(?:(?:{_WORD})(?:(?:[ -]|\s+and\s+)(?:{_WORD}|{_SCALE}))*)"
"""Pattern of a number written in English words, in folded text."""

ENGLISH_ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
}


def english_number(text: str) -> Fraction | None:
    """Value of a number in English words, or None.

    >>> english_number("twenty-five"), english_number("two hundred and fifty thousand")
    (Fraction(25, 1), Fraction(250000, 1))
    """
    total = section = 0
    words = [w for w in re.split(r"[\s-]+", text.strip()) if w and w != "and"]
    if not words:
        return None
    for word in words:
        if word in ENGLISH:
            section += ENGLISH[word]
        elif word == "hundred":
            section = (section or 1) * 100
        elif word in _ENGLISH_SCALES:
            total += (section or 1) * _ENGLISH_SCALES[word]
            section = 0
        else:
            return None
    return Fraction(total + section)


def digit_number(text: str) -> Fraction | None:
    """Value of digits with thousands separators and a decimal point: ``1,280.50``."""
    plain = text.replace(",", "").replace(" ", "")
    return Fraction(plain) if re.fullmatch(r"\d+(?:\.\d+)?", plain) else None


DIGITS_PATTERN = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
"""Pattern of a number in digits, with or without thousands separators."""
NUMBER_PATTERN = (
    rf"(?:(?<![\d.])(?:{DIGITS_PATTERN})(?:\s?[十百千万亿萬億]+|\s?(?:thousand|million|billion|bn)(?![a-z])|k(?![a-z])|w(?=\s?[元块]))?"
    rf"|{HAN_NUMERAL}+(?:点[{''.join(DIGITS)}]+)?[万亿]?|(?<![a-z]){ENGLISH_NUMERAL}(?![a-z]))"
)
"""Pattern of a number in digits, Chinese or English words, in folded text."""


def number_value(text: str) -> Fraction | None:
    """Value of a number in digits (``1,280``, ``5 万``), Chinese (``三``, ``二十万``) or English words."""
    text = text.strip()
    scaled = re.fullmatch(rf"({DIGITS_PATTERN})\s?([十百千万亿萬億]+|thousand|million|billion|bn|[kw])", text)
    if scaled:
        head = digit_number(scaled[1])
        word = {"k": "thousand", "w": "万", "bn": "billion"}.get(scaled[2], scaled[2])
        scale = english_number(word) if word.isascii() else han_number(word)
        return head * scale if head is not None and scale is not None else None
    pointed = re.fullmatch(rf"({HAN_NUMERAL}+)点([{''.join(DIGITS)}]+)([万亿]?)", text)
    if pointed:
        whole = han_number(pointed[1])
        tail = Fraction(int("".join(str(DIGITS[c]) for c in pointed[2])), 10 ** len(pointed[2]))
        scale = han_number(pointed[3]) if pointed[3] else Fraction(1)
        return None if whole is None or scale is None else (whole + tail) * scale
    found = digit_number(text)
    if found is None:
        found = han_number(text)
    return english_number(text) if found is None else found
