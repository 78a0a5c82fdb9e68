"""Units of business prose: what each spelling measures, in which base unit, times what.

Durations of fixed length count seconds, calendar ones months: thirty days are not a month, one year is
twelve months, a week is seven days, and a working day is neither. Units with prefixes are built from the
prefixes and the bases of the SI brochure (9th edition, tables 2, 4 and 7), bytes from powers of 1024.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Unit:
    kind: str
    """``duration``, ``money``, ``size``, ``count``, ``percent`` …"""
    base: str
    """Base unit that values are counted in; figures compare only within one base."""
    factor: Fraction
    """Base units in one of this unit."""


_Row = tuple[str, str, str, int | Fraction]
_THINGS = "条笔项件种类款家台套只本册份张封部枚支双间处门辆组单户篇道批片包箱盒瓶袋节章级层期届轮晚颗步字"
_ROWS: tuple[_Row, ...] = (
    ("duration", "second", "秒钟|sec", 1),
    ("duration", "second", "分钟|min|minute", 60),
    ("duration", "second", "刻钟", 900),
    ("duration", "second", "小时|钟头|h|hr|hour", 3600),
    ("duration", "second", "天|日|自然日|日历日|day|calendar day", 86400),
    ("duration", "second", "周|星期|礼拜|week|wk", 7 * 86400),
    ("duration", "month", "月|自然月|month|mo", 1),
    ("duration", "month", "季度|季|quarter", 3),
    ("duration", "month", "年|周年|年度|year|yr", 12),
    ("duration", "workday", "工作日|交易日|workday|working day|business day", 1),
    ("money", "CNY", "元|块|块钱|元人民币|人民币|圆|rmb|cny|yuan", 1),
    ("money", "CNY", "角|毛|角钱|毛钱", Fraction(1, 10)),
    ("money", "CNY", "分钱", Fraction(1, 100)),
    ("money", "USD", "美元|美金|usd|dollar", 1),
    ("money", "", "cent", Fraction(1, 100)),
    ("money", "EUR", "欧元|eur|euro", 1),
    ("money", "GBP", "英镑|gbp", 1),
    ("money", "HKD", "港元|港币|hkd", 1),
    ("money", "JPY", "日元|jpy|yen", 1),
    ("size", "byte", "兆|M", 2**20),
    ("size", "byte", "G", 2**30),
    ("size", "byte", "T", 2**40),
    ("length", "metre", "公里", 1000),
    ("weight", "gram", "公斤", 1000),
    ("weight", "gram", "斤", 500),
    ("weight", "gram", "吨|t|ton|tonne", 10**6),
    ("volume", "litre", "立方米|m3", 1000),
    ("area", "square metre", "平方米|平米|㎡|m2|square metre|square meter", 1),
    ("temperature", "celsius", "度|℃|°c|摄氏度|degree", 1),
    ("temperature", "fahrenheit", "℉|°f|华氏度|degree f", 1),
    ("percent", "percent", "%|百分点|percent|per cent|percentage point", 1),
    ("percent", "percent", "成", 10),
    ("times", "times", "倍|x|fold", 1),
    ("discount", "discount", "折", 1),
    ("points", "point", "分|积分|point", 1),
    ("age", "year of age", "岁|周岁|year old|year of age", 1),
    ("count", "any", "个|位", 1),
    ("count", "person", "名|人|person|people", 1),
    ("count", "occurrence", "次|遍|回|time", 1),
    ("count", "row", "行|row", 1),
    ("count", "column", "列|column", 1),
    ("count", "page", "页|page", 1),
    ("count", "thing", "|".join(_THINGS), 1),
)
"""Measure words are those of the shipped knowledge bases and the commonest hundred of a Chinese grammar."""

# symbol, Chinese name, English names, prefixes in use, kind, base, factor
_SI: tuple[tuple[str, str, str, str, str, str, int], ...] = (
    ("m", "米", "metre|meter", "nµmcdk", "length", "metre", 1),
    ("g", "克", "gram", "µmk", "weight", "gram", 1),
    ("L", "升", "litre|liter", "µmck", "volume", "litre", 1),
    ("s", "秒", "second", "nµm", "duration", "second", 1),
    ("V", "伏", "volt", "µmkM", "voltage", "volt", 1),
    ("A", "安", "ampere|amp", "nµmk", "current", "ampere", 1),
    ("Ah", "安时", "", "mk", "charge", "ampere-hour", 1),
    ("W", "瓦", "watt", "µmkMG", "power", "watt", 1),
    ("Wh", "瓦时", "", "kMG", "energy", "joule", 3600),
    ("J", "焦", "joule", "mkM", "energy", "joule", 1),
    ("VA", "伏安", "", "kM", "apparent power", "volt-ampere", 1),
    ("Pa", "帕", "pascal", "kMG", "pressure", "pascal", 1),
    ("N", "牛", "newton", "mkM", "force", "newton", 1),
    ("Hz", "赫兹", "hertz", "kMGT", "frequency", "hertz", 1),
    ("Ω", "欧", "ohm", "mkM", "resistance", "ohm", 1),
    ("F", "法", "farad", "nµm", "capacitance", "farad", 1),
    *((rate, "", "", "kMGT", "bandwidth", "bit per second", 1) for rate in ("bps", "bit/s", "b/s")),
    ("B", "字节", "byte", "kMGTP", "size", "byte", 1),
)
_PREFIXES = {
    "n": (-9, "纳", "nano"),
    "µ": (-6, "微", "micro"),
    "m": (-3, "毫", "milli"),
    "c": (-2, "厘", "centi"),
    "d": (-1, "分", "deci"),
    "k": (3, "千", "kilo"),
    "M": (6, "兆", "mega"),
    "G": (9, "吉", "giga"),
    "T": (12, "太", "tera"),
    "P": (15, "", "peta"),
}
_HAN_BASES = "安焦帕牛欧法"
"""Chinese names that without a prefix are other words: ``统一安排``."""
_BARE_LETTERS = "smhgtxVWL"
"""Symbols of one letter that are read in either case; ``5 a`` is no current and ``5 N`` no nail."""


def _prefixed() -> Iterator[tuple[str, Unit]]:
    """Each SI spelling, with the case of its symbols."""
    for symbol, han, english, prefixes, kind, base, one in _SI:
        for prefix in ("", *prefixes):
            power, han_prefix, english_prefix = _PREFIXES.get(prefix, (0, "", ""))
            scale = Fraction(2) ** (power // 3 * 10) if kind == "size" else Fraction(10) ** power
            unit = Unit(kind, base, scale * one)
            names = [
                prefix + symbol,
                *([han_prefix + han] if han and (han_prefix or han not in _HAN_BASES) else []),
            ]
            names += [english_prefix + name for name in english.split("|") if name]
            names += ["μ" + symbol, "u" + symbol] if prefix == "µ" else []
            names += [prefix.upper() + "B", prefix.upper() + "iB"] if kind == "size" and prefix else []
            yield from ((name, unit) for name in names)


_CASED: dict[str, Unit] = {}
"""Latin spellings as written, for what case tells apart: ``mW`` and ``MW``, ``M`` and ``m``."""
UNITS: dict[str, Unit] = {}
"""Spelling in folded text -> unit."""
for _kind, _base, _names, _factor in _ROWS:
    for _name in _names.split("|"):
        _CASED[_name] = Unit(_kind, _base, Fraction(_factor))
_CASED.update(_prefixed())
for _name, _unit in _CASED.items():
    _folded = _name.casefold().replace("µ", "μ")
    if len(_name) > 1 or not _name.isascii() or _name in _BARE_LETTERS + "%":
        UNITS.setdefault(_folded, _unit)

SIGNS = {"¥": "CNY", "$": "USD", "€": "EUR", "£": "GBP", "us$": "USD", "hk$": "HKD"}
SIGNS |= {n: u.base for n, u in UNITS.items() if u.kind == "money" and len(n) == 3 and n.isascii()}
SIGNS |= {"人民币": "CNY"}
"""Currency marks and codes that stand before the amount."""

_COUNTS = frozenset({"", *(base for kind, base, _, _ in _ROWS if kind == "count")})
_LATIN = re.compile(r"[a-zμω°]{1,20}(?:[23]|/s)?(?![a-z0-9])|h(?=\d)")
_PHRASE = re.compile(r"[a-z]{3,12}[ -][a-z]{1,6}(?: age)?(?![a-z])")
"""``business days``, ``year-old``, ``years of age``."""


_MARKS = frozenset(c for name in UNITS for c in name[:1] if not c.isalpha())
"""``%``, ``°``: first characters of units that are no letters."""


def named(word: str) -> Unit | None:
    """The unit of a word of folded text, singular or plural."""
    return UNITS.get(word) or (UNITS.get(word[:-1]) if word.endswith("s") and len(word) > 2 else None)


def unit_at(raw: str, text: str, start: int) -> tuple[Unit, int] | None:
    """The unit that begins at ``start`` and where it ends; ``text`` is ``raw`` folded.

    >>> [unit_at(t, t.lower(), 0)[0].base for t in ("mAh 电池", "个工作日内", "business days")]
    ['ampere-hour', 'workday', 'workday']
    """
    if not text[start : start + 1].isalpha() and text[start : start + 1] not in _MARKS:
        return None
    if phrase := _PHRASE.match(text, start):
        words = (
            phrase.group()
            .replace("-", " ")
            .replace("years ", "year ")
            .replace("degrees ", "degree ")
            .replace("olds", "old")
        )
        if (unit := named(words)) is not None:
            return unit, phrase.end()
    if latin := _LATIN.match(text, start):
        ends = [latin.end(), latin.end() - 2] if latin.group().endswith("/s") else [latin.end()]
        found = [(u, e) for e in ends if (u := _CASED.get(raw[start:e]))]
        found += [(u, e) for e in ends if (u := named(text[start:e]))]
        return found[0] if found else None
    if text.startswith(
        "个", start
    ):  # of its own only before longer names: ``3 个工作日``, but ``3 个分公司``
        inner = _longest(text, start + 1)
        if inner and (inner[1] - start > 2 or text[start + 1] in "月人字"):
            return inner
    return _longest(text, start)


def _longest(text: str, start: int) -> tuple[Unit, int] | None:
    for end in range(min(len(text), start + 5), start, -1):
        if (unit := UNITS.get(text[start:end])) is not None and (
            end - start == 1 or not text[start:end].isascii()
        ):
            return unit, end
    return None


def compatible(base: str, other: str) -> bool:
    """Whether counts of two bases may speak of the same: ``3 名成员``, ``3 个成员`` and ``3 members``.

    >>> compatible("any", "person"), compatible("row", "column"), compatible("", "occurrence")
    (True, False, True)
    """
    return base == other or (base in _COUNTS and other in _COUNTS and bool({"", "any"} & {base, other}))
