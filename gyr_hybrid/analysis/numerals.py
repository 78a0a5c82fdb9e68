"""Chinese numerals of ordinals: ``三十三`` is 33, ``一百二十`` is 120."""

from __future__ import annotations

_DIGITS = {
    "零": 0, "〇": 0, "○": 0, "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4,
    "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
}  # fmt: skip
_UNITS = {"十": 10, "百": 100, "千": 1000, "廿": 20, "卅": 30}

NUMERAL = "零〇○一二两兩三四五六七八九十百千廿卅"


def chinese_number(text: str) -> int | None:
    """Value of a numeral below ten thousand in Chinese or ASCII digits; None when it is none.

    >>> chinese_number("三十三"), chinese_number("一百零五"), chinese_number("二〇"), chinese_number("33")
    (33, 105, 20, 33)
    """
    if text.isascii():
        return int(text) if text.isdecimal() else None
    if not text or any(character not in _DIGITS and character not in _UNITS for character in text):
        return None
    if all(character in _DIGITS for character in text):
        return int("".join(str(_DIGITS[character]) for character in text))
    total, digit = 0, None
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character in "廿卅":
            total += _UNITS[character]
            digit = None
        else:
            total += (1 if digit is None else digit) * _UNITS[character]
            digit = None
    return total + (digit or 0)
