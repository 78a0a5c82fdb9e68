"""Units of business prose: what each spelling measures, in which base unit, times what.

Durations of fixed length count seconds, calendar ones months: thirty days are not a month, one year is
twelve months, a week is seven days, and a working day is neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache


@dataclass(frozen=True, slots=True)
class Unit:
    kind: str
    """``duration``, ``money``, ``size``, ``count``, ``percent`` …"""
    base: str
    """Base unit that values are counted in; figures compare only within one base."""
    factor: Fraction
    """Base units in one of this unit."""


_Row = tuple[str, str, str, int | Fraction]
_ROWS: tuple[_Row, ...] = (
    ("duration", "second", "微秒|us|μs|microsecond|microseconds", Fraction(1, 10**6)),
    ("duration", "second", "毫秒|ms|millisecond|milliseconds", Fraction(1, 1000)),
    ("duration", "second", "秒|秒钟|s|sec|secs|second|seconds", 1),
    ("duration", "second", "分钟|min|mins|minute|minutes", 60),
    ("duration", "second", "刻钟", 900),
    ("duration", "second", "小时|个小时|钟头|个钟头|h|hr|hrs|hour|hours", 3600),
    ("duration", "second", "天|日|自然日|个自然日|日历天|日历日|个日历日|昼夜|day|days", 86400),
    ("duration", "second", "calendar day|calendar days|natural day|natural days", 86400),
    ("duration", "second", "周|星期|个星期|礼拜|个礼拜|week|weeks|wk|wks", 7 * 86400),
    ("duration", "second", "fortnight|fortnights", 14 * 86400),
    ("duration", "month", "decade|decades", 120),
    ("duration", "month", "月|个月|个自然月|month|months|mo|mos", 1),
    ("duration", "month", "季度|个季度|季|quarter|quarters", 3),
    ("duration", "month", "年|周年|年度|个年度|整年|year|years|yr|yrs", 12),
    ("duration", "workday", "工作日|个工作日|交易日|个交易日|workday|workdays", 1),
    ("duration", "workday", "working day|working days|business day|business days", 1),
    ("money", "CNY", "元|块|块钱|元人民币|人民币|圆|rmb|cny|yuan", 1),
    ("money", "CNY", "角|毛|毛钱|角钱", Fraction(1, 10)),
    ("money", "CNY", "分钱", Fraction(1, 100)),
    ("money", "USD", "美元|美金|usd|dollar|dollars", 1),
    ("money", "", "cent|cents", Fraction(1, 100)),
    ("money", "USD", "美分", Fraction(1, 100)),
    ("money", "EUR", "欧元|eur|euro|euros", 1),
    ("money", "GBP", "英镑|gbp|pound|pounds", 1),
    ("money", "HKD", "港元|港币|hkd", 1),
    ("money", "JPY", "日元|日圆|jpy|yen", 1),
    ("size", "byte", "字节|byte|bytes", 1),
    ("size", "byte", "kb|kib|千字节|kilobyte|kilobytes", 2**10),
    ("size", "byte", "mb|mib|兆|兆字节|megabyte|megabytes", 2**20),
    ("size", "byte", "gb|gib|gigabyte|gigabytes", 2**30),
    ("size", "byte", "tb|tib|terabyte|terabytes", 2**40),
    ("size", "byte", "pb|pib", 2**50),
    ("length", "metre", "微米|μm|um", Fraction(1, 10**6)),
    ("length", "metre", "毫米|mm", Fraction(1, 1000)),
    ("length", "metre", "厘米|公分|cm", Fraction(1, 100)),
    ("length", "metre", "米|公尺|m|metre|metres|meter|meters", 1),
    ("length", "metre", "公里|千米|km|kilometre|kilometres|kilometer|kilometers", 1000),
    ("length", "metre", "英寸|寸|inch|inches", Fraction(254, 10000)),
    ("length", "metre", "英尺|ft|foot|feet", Fraction(3048, 10000)),
    ("length", "metre", "英里|mile|miles", Fraction(1609344, 1000)),
    ("weight", "gram", "盎司|oz|ounce|ounces", Fraction(28349523125, 10**9)),
    ("weight", "gram", "磅|lb|lbs", Fraction(45359237, 10**5)),
    ("weight", "gram", "毫克|mg", Fraction(1, 1000)),
    ("weight", "gram", "克|g|gram|grams", 1),
    ("weight", "gram", "斤", 500),
    ("weight", "gram", "公斤|千克|kg|kilogram|kilograms|kilo|kilos", 1000),
    ("weight", "gram", "吨|ton|tons|tonne|tonnes", 10**6),
    ("volume", "litre", "毫升|ml", Fraction(1, 1000)),
    ("volume", "litre", "升|l|litre|litres|liter|liters", 1),
    (
        "area",
        "square metre",
        "平方米|平米|平方|㎡|m2|m²|square metre|square metres|square meter|square meters",
        1,
    ),
    ("area", "square metre", "平方厘米|cm2|cm²", Fraction(1, 10**4)),
    ("area", "square metre", "平方公里|平方千米|km2|km²", 10**6),
    ("volume", "litre", "立方米|m3|m³", 1000),
    ("area", "square metre", "公顷|hectare|hectares|ha", 10000),
    ("area", "square metre", "亩", Fraction(2000, 3)),
    ("voltage", "volt", "伏|伏特|v|volt|volts", 1),
    ("voltage", "volt", "毫伏|mv", Fraction(1, 1000)),
    ("voltage", "volt", "千伏|kv", 1000),
    ("power", "watt", "瓦|w|watt|watts", 1),
    ("power", "watt", "千瓦|kw", 1000),
    ("current", "ampere", "安|安培|amp|amps", 1),
    ("current", "ampere", "毫安|ma", Fraction(1, 1000)),
    ("charge", "ampere-hour", "安时|ah", 1),
    ("charge", "ampere-hour", "毫安时|mah", Fraction(1, 1000)),
    ("energy", "watt-hour", "瓦时|wh", 1),
    ("energy", "watt-hour", "千瓦时|kwh|度电", 1000),
    ("pressure", "pascal", "帕|pa", 1),
    ("pressure", "pascal", "千帕|kpa", 1000),
    ("pressure", "pascal", "兆帕|mpa", 10**6),
    ("pressure", "pascal", "bar", 10**5),
    ("frequency", "hertz", "赫兹|hz", 1),
    ("frequency", "hertz", "khz", 1000),
    ("frequency", "hertz", "mhz", 10**6),
    ("frequency", "hertz", "ghz", 10**9),
    ("temperature", "celsius", "度|℃|°c|摄氏度|degrees", 1),
    ("temperature", "fahrenheit", "℉|°f|华氏度|degrees fahrenheit|degrees f|degree f", 1),
    ("pixel", "pixel", "像素|个像素|px|pixel|pixels", 1),
    ("rate", "query per second", "qps|tps", 1),
    ("bandwidth", "bit per second", "kbps", 1000),
    ("bandwidth", "bit per second", "mbps", 10**6),
    ("bandwidth", "bit per second", "gbps", 10**9),
    ("percent", "percent", "%|个百分点|百分点|个点|percent|per cent|pct|percentage points", 1),
    ("percent", "percent", "‰", Fraction(1, 10)),
    ("percent", "percent", "基点|个基点|bp|bps|basis point|basis points", Fraction(1, 100)),
    ("percent", "percent", "成", 10),
    ("times", "times", "倍|fold", 1),
    ("discount", "discount", "折", 1),
    ("points", "point", "分|积分|个积分|point|points", 1),
    ("age", "year of age", "岁|周岁|years old|years of age|year of age|year-old|year-olds", 1),
    ("score", "star", "星|颗星|star|stars", 1),
    ("count", "any", "个|位", 1),
    ("count", "person", "名|人|个人|person|persons|people", 1),
    ("count", "occurrence", "次|遍|回|time|times", 1),
    (
        "count",
        "thing",
        "条|笔|项|件|种|类|款|家|台|套|只|本|册|份|张|封|部|枚|支|把|双|间|处|样|门|股|艘|辆|架|颗",
        1,
    ),
    ("count", "thing", "粒|组|单|对|户|篇|道|批|团|桌|幅|方|所|片|包|箱|盒|瓶|袋|群|段|节|章|款项|档", 1),
    (
        "count",
        "thing",
        "路|口|核|轴|场|届|代|期|轮|班|卷|集|排|座|席|剂|针|餐|顿|桶|盘|碗|杯|匹|头|具|根|管|棵|株|朵|串|通|格|孔|针脚",
        1,
    ),
    ("count", "night", "晚|夜|night|nights", 1),
    ("count", "row", "行|row|rows|line|lines", 1),
    ("count", "column", "列|column|columns", 1),
    ("count", "page", "页|page|pages", 1),
    ("count", "character", "字|个字|字符|个字符|个汉字|character|characters|char|chars", 1),
    ("count", "digit", "位数|位数字|digit|digits", 1),
    ("count", "step", "步|步骤|个步骤|step|steps", 1),
    ("count", "level", "级|个等级|级别|level|levels", 1),
    ("count", "floor", "层|楼", 1),
    ("count", "replica", "副本|个副本|replica|replicas", 1),
)

UNITS: dict[str, Unit] = {
    name: Unit(kind, base, Fraction(factor))
    for kind, base, names, factor in _ROWS
    for name in names.split("|")
}
"""Spelling in folded text -> unit."""

SIGNS = {
    "¥": "CNY",
    "$": "USD",
    "€": "EUR",
    "£": "GBP",
    "us$": "USD",
    "hk$": "HKD",
    "rmb": "CNY",
    "cny": "CNY",
}
SIGNS |= {"usd": "USD", "eur": "EUR", "人民币": "CNY", "美元": "USD"}
"""Currency marks that stand before the amount."""

CAPITALS = {"M": "mb", "G": "gb", "T": "tb", "K": "kb", "A": "amp"}
"""Unit letters whose case tells the size of a file from a length or a weight."""

_COUNTS = frozenset({"", *(base for kind, base, _, _ in _ROWS if kind == "count")})


@cache
def unit_pattern() -> str:
    """Alternation of all unit spellings in folded text, longest first; Latin ones end at a word border."""
    names = sorted({*UNITS, *map(str.lower, CAPITALS)}, key=len, reverse=True)
    return "|".join(
        re.escape(n) + (r"(?![a-z0-9])" if n.isascii() and n[-1].isalnum() else "") for n in names
    )


def compatible(base: str, other: str) -> bool:
    """Whether counts of two bases may speak of the same: ``3 名成员``, ``3 个成员`` and ``3 members``.

    >>> compatible("any", "person"), compatible("row", "column"), compatible("", "occurrence")
    (True, False, True)
    """
    return base == other or (base in _COUNTS and other in _COUNTS and bool({"", "any"} & {base, other}))
