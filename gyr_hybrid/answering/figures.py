"""Numbers, amounts, units, rates, percentages, dates, durations, ordinals and codes of a text, in comparable form.

>>> [(f.text, f.kind, str(f.value), f.base, f.bound) for f in find_figures("每单至多三张，半年内有效")]
[('三张', 'count', '3', 'thing', '<='), ('半年', 'duration', '6', 'month', '<=')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache

from gyr_hybrid.answering.bounds import bound_of, per_of, side_of
from gyr_hybrid.answering.calendar_figures import find_dates
from gyr_hybrid.answering.numerals import (
    DIGITS,
    ENGLISH_NUMERAL,
    ENGLISH_ORDINALS,
    HAN_NUMERAL,
    TENS,
    digit_number,
    english_number,
    even_fold,
    han_number,
)
from gyr_hybrid.answering.measures import CAPITALS, SIGNS, UNITS, Unit, unit_pattern

FigureValue = Fraction | str | tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure, date or code at a place of a text."""

    kind: str
    """``number``, ``count``, ``money``, ``duration``, ``percent``, ``date``, ``clock``, ``ordinal``, ``code`` …"""
    value: FigureValue
    """Base units as a fraction; ``(year, month, day)`` with None for what is not said; folded key of a code."""
    base: str = ""
    """Base unit (``second``, ``month``, ``workday``, ``CNY``, ``percent``, ``person`` …) or empty."""
    bound: str = ""
    """``<=``, ``<``, ``>=``, ``>``, ``~`` as the words around say, or empty."""
    per: str = ""
    """What a rate counts by (``month`` in ``39 元/月``), or empty."""
    side: str = ""
    """``before`` or ``after`` (``到期前 3 天``), or empty."""
    low: bool = False
    """The lower end of a range such as ``1-3 个工作日``."""
    weak: bool = False
    """An article-like ``一`` or ``one``, which asserts no number."""
    start: int = 0
    end: int = 0
    text: str = ""


_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_NUMBER = (
    rf"(?:(?<![\d.])(?:{_DIGITS})(?:\s?[十百千万亿萬億]+|\s?(?:thousand|million|billion)(?![a-z])|k(?![a-z]))?"
    rf"|{HAN_NUMERAL}+(?:点[{''.join(DIGITS)}]+)?[万亿]?|(?<![a-z]){ENGLISH_NUMERAL}(?![a-z]))"
)
_NOT_NUMERAL = re.compile(
    r"一(?:些|般|直|定|旦|样|起|致|并|律|切|下|方|点|键|经|同|再|向|贯|概|手|次性|站|体|举|味|时|系列|连|边|面|道|共|齐|道)"
    r"|(?:唯|统|同|另|任|逐|专|第|万|均|划|归|其)一|单一(?![个张份次笔])|之[一二三]|千万(?=别|不|要|注)|十[分足](?!钟|之)|百分百"
    r"|(?:第三|双|三|两)方(?!案|式|面|法)|[二两]者|二[维次手]|三包|两步验证|双[方重]|四[舍则]|五[险金]|万[能一]|[周期]三|三角|一一"
    r"|百货|百科|千兆|八卦|七夕|九宫|十字|三星|三思|万分(?!之)|成千上万|千[克米瓦伏]|百度|零(?:件|售|钱|食|碎|部)"
)
_LIST_MARK = re.compile(
    rf"(?m)[(（](?:{HAN_NUMERAL}{{1,3}}|\d{{1,2}})[)）]|^[ \t]*\d{{1,2}}[.、)）](?!\d)|^[ \t]*{HAN_NUMERAL}{{1,3}}、|^#+ +\d+(?:\.\d+)*[.、 ]"
)
_CODE = re.compile(r"[a-z0-9]+(?:[-_./+:][a-z0-9]+)*\+*")
_FRACTION = re.compile(rf"(百|千|万|{HAN_NUMERAL}+|\d+)分之({HAN_NUMERAL}+(?:点[{''.join(DIGITS)}]+)?|{_DIGITS}|百)")
_ORDINAL = re.compile(
    r"首(?P<head>小时|晚|次|日|周|月|年|批|期|单|个)"
    rf"|(?:第|(?:科目|方案|附件|附录|附表|阶段|情形|类型|步骤)(?={HAN_NUMERAL}))\s?(?P<n>{HAN_NUMERAL}+|\d+)\s?个?(?P<unit>工作日|季度|小时|分钟|单|批|晚|顺序|顺位|步骤|[条款项章节编步天日年月周次季级轮批期层代档类种名位页行列])?"
    r"|(?<![a-z0-9])(?P<nth>\d+)(?:st|nd|rd|th)(?![a-z])"
    rf"|(?<![a-z])(?P<word>{'|'.join(ENGLISH_ORDINALS)})(?![a-z])"
)
_HALF = re.compile(
    rf"(?:(?P<whole>{HAN_NUMERAL}+|\d+)(?P<measure>个)?)?半(?P<unit>年|个?月|天|日|个?小时|个?钟头|周|个?星期|分钟|价)"
    rf"|(?P<n2>{HAN_NUMERAL}+|\d+)\s?(?P<u2>年|个月|天|小时|个小时|周)半"
    r"|(?P<part>一半|半数|减半|百分百|百分之百)"
    r"|half[ -](?:an? )?(?P<eunit>year|month|day|hour|week|minute)(?![a-z])|(?P<ehalf>(?<![a-z])half(?= (?:of|the)))"
)
_MULTIPLE = re.compile(
    r"双倍|翻一?[倍番]|加倍|(?<![a-z])(?:double[sd]?|twice|triple[sd]?|thrice)(?![a-z])|(\d+|[二三四五六七八九十])x(?![a-z0-9])"
)
_ARTICLE_TIME = re.compile(
    r"(?<![a-z])(?:an?|one) (?P<unit>second|minute|hour|day|week|month|quarter|year|working day|business day)(?![a-z])(?! and a half)"
)
_PERIOD = re.compile(
    r"(?:每个?|全)(?P<unit>年|月|季度|周|星期|天|日|小时|分钟|秒)(?![\d一二三四五六七八九十])"
)
_WEEKDAY = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天末])(?!年)")
_WEEK = {c: n for n, c in enumerate("一二三四五六", 1)} | {"日": 7, "天": 7, "末": 67}
_NOT_UNIT = re.compile(
    r"成(?=[员功本为果交都立熟长就])|分(?=[别类析级享店行段支组区公期布配])|度(?=[过])|位(?=[置于])|名(?=[称单字义])|项(?=目)|单(?=[位独据])"
    r"|条(?=[件例])|日(?=[期常志])|天(?=[猫然])|年(?=[龄付费卡轻])|周(?=[期边])|月(?=[付卡费])|角(?=[色度])|元(?=[素数])|部(?=[分门署])|件(?=数)"
    r"|列(?=[表名])|行(?=[业为程政])|页(?=面)|字(?=[段节符母体])|章(?=程)|节(?=[点假])|段(?=落)|包(?=[括含装])|方(?=[案式法])|所(?=[有需])|层(?=次)"
    r"|级(?=[别联])|种(?=植)|家(?=[庭长])|台(?=[阶])|张(?=[贴])|次(?=[日年月要])|点(?=[击])|人(?=[民工员])|步(?=[骤])|处(?=[理罚])|对(?=[应于比])|组(?=[成织])|季(?=节)"
)
_NEGATIVE = re.compile(r"(?<![\w.℃°])-$|零下\s?$")
_TIMES_EN = re.compile(r"\s*(?:the|as|more|that|larger|higher|bigger|what|its)\b")


@cache
def _quantity() -> re.Pattern[str]:
    sign = "|".join(re.escape(s) for s in sorted(SIGNS, key=len, reverse=True))
    unit = unit_pattern()
    return re.compile(
        rf"(?P<sign>{sign})?\s?(?P<first>{_NUMBER})(?:(?:\s|-(?=[a-z]))?(?P<firstunit>{unit}))?"
        rf"(?:\s?(?:-|~|至|到|to|and(?=[^.;]*\bbetween))\s?(?:{sign})?(?P<second>{_NUMBER})(?:(?:\s|-(?=[a-z]))?(?P<unit>{unit}))?)?"
    )


def number_value(text: str) -> Fraction | None:
    """Value of a number in digits (``1,280``, ``5 万``), Chinese (``三``, ``二十万``) or English words."""
    text = text.strip()
    scaled = re.fullmatch(rf"({_DIGITS})\s?([十百千万亿萬億]+|thousand|million|billion|k)", text)
    if scaled:
        head = digit_number(scaled[1])
        word = {"k": "thousand"}.get(scaled[2], scaled[2])
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


class _Scan:
    """One pass over a folded text; spans once claimed by a form are closed to the later ones."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.text = even_fold(raw)
        self.free = bytearray(b"\x01" * len(raw))
        self.found: list[Figure] = []

    def open(self, start: int, end: int) -> bool:
        return start < end and all(self.free[start:end])

    def claim(self, start: int, end: int) -> None:
        self.free[start:end] = bytes(end - start)

    def add(self, figure: Figure) -> None:
        start, end = figure.start, figure.end
        bound = "" if figure.kind in ("code", "ordinal") else bound_of(self.text, start, end)
        side = side_of(self.text, start, end) if figure.kind in ("duration", "date", "clock") else ""
        per = figure.per or (per_of(self.text, start, end) if _countable(figure) else "")
        weak = figure.weak and not (bound or per)
        self.found.append(
            replace(figure, bound=bound, side=side, per=per, weak=weak, text=self.raw[start:end])
        )
        self.claim(start, end)


def _countable(figure: Figure) -> bool:
    return figure.kind in ("money", "count", "number", "size", "percent", "points", "duration")


@lru_cache(maxsize=8192)
def find_figures(text: str) -> tuple[Figure, ...]:
    """All figures of ``text`` in reading order; spans are code points into ``text`` and never overlap."""
    scan = _Scan(text)
    for mark in _LIST_MARK.finditer(scan.text):
        scan.claim(*mark.span())
    parts = (_codes, _dates, _fractions, _halves, _ordinals, _multiples, _quantities, _article_times, _periods)
    for part in parts:
        for figure in part(scan):
            scan.add(figure)
    return tuple(sorted(scan.found, key=lambda f: f.start))


def _codes(scan: _Scan) -> Iterator[Figure]:
    for found in _CODE.finditer(scan.text):
        token = found.group()
        if not scan.open(*found.span()) or not is_code(token):
            continue
        versioned = re.fullmatch(r"v?(\d+(?:\.\d+)+)", token)
        key = versioned[1] if versioned else re.sub(r"[-_./:]", "", token)
        yield Figure("code", key, start=found.start(), end=found.end())


def is_code(token: str) -> bool:
    """Whether a folded Latin token is a code or version and no number with its unit, date or plain word."""
    if token.isdigit() or not any(c.isdigit() for c in token):
        return "_" in token.strip("_")
    if re.fullmatch(r"v\d+(?:\.\d+)*|\d+(?:\.\d+){2,}|\d+x\d+", token):
        return not re.fullmatch(r"\d{4}\.\d{1,2}\.\d{1,2}", token)
    if re.fullmatch(r"[\d.,:/+-]+", token):
        return False
    if re.fullmatch(r"\d+(?:st|nd|rd|th|x|k)", token):
        return False
    quantity = re.fullmatch(r"(\d+(?:\.\d+)?(?:[-/]\d+(?:\.\d+)?)?)-?([a-z]+)(?:/([a-z]+))?", token)
    return not (quantity and quantity[2] in UNITS) and not re.fullmatch(r"\d+(?:am|pm)", token)


def _dates(scan: _Scan) -> Iterator[Figure]:
    for start, end, kind, value in find_dates(scan.text):
        shown = scan.text[start:end]
        start, end = start + len(shown) - len(shown.lstrip()), end - len(shown) + len(shown.rstrip())
        if scan.open(start, end):
            yield Figure(kind, value, "minute" if kind == "clock" else "", start=start, end=end)
    for found in _WEEKDAY.finditer(scan.text):
        if scan.open(*found.span()):
            day = Fraction(_WEEK[found[1]])
            yield Figure("weekday", day, "weekday", start=found.start(), end=found.end())


def _fractions(scan: _Scan) -> Iterator[Figure]:
    for found in _FRACTION.finditer(scan.text):
        whole, part = number_value(found[1]), number_value(found[2])
        if whole and part is not None and scan.open(*found.span()):
            yield Figure("percent", part / whole * 100, "percent", start=found.start(), end=found.end())


def _halves(scan: _Scan) -> Iterator[Figure]:
    half = Fraction(1, 2)
    for found in _HALF.finditer(scan.text):
        start, end = found.span()
        if not scan.open(start, end):
            continue
        if found["part"]:
            value = Fraction(50 if "半" in found["part"] else 100)
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


def _ordinals(scan: _Scan) -> Iterator[Figure]:
    for found in _ORDINAL.finditer(scan.text):
        start, end = found.span()
        if not scan.open(start, end) or scan.text.startswith(("第一时间", "第三方", "第三人"), start):
            continue
        word = found["word"]
        if word:
            value: Fraction | None = Fraction(ENGLISH_ORDINALS[word])
        else:
            value = Fraction(1) if found["head"] else number_value(found["n"] or found["nth"])
        if value is not None:
            weak = word in ("first", "second") or bool(found["head"])
            yield Figure("ordinal", value, found["unit"] or (found["head"] or "").strip("个"), weak=weak, start=start, end=end)


def _multiples(scan: _Scan) -> Iterator[Figure]:
    for found in _MULTIPLE.finditer(scan.text):
        if scan.open(*found.span()):
            times = number_value(found[1]) if found[1] else Fraction(3 if found[0].startswith("t") and found[0] != "twice" else 2)
            if times is not None:
                yield Figure("times", times, "times", start=found.start(), end=found.end())


def _article_times(scan: _Scan) -> Iterator[Figure]:
    for found in _ARTICLE_TIME.finditer(scan.text):
        rate = any(f.end <= found.start() <= f.end + 1 for f in scan.found)
        if scan.open(*found.span()) and not rate:
            unit = UNITS[found["unit"]]
            weak = found[0].startswith("a")
            yield Figure(unit.kind, unit.factor, unit.base, weak=weak, start=found.start(), end=found.end())


def _periods(scan: _Scan) -> Iterator[Figure]:
    for found in _PERIOD.finditer(scan.text):
        if scan.open(*found.span()):
            unit = UNITS[found["unit"]]
            yield Figure(unit.kind, unit.factor, unit.base, weak=True, start=found.start(), end=found.end())


def _quantities(scan: _Scan) -> Iterator[Figure]:
    text = scan.text
    barred = bytearray(len(text) + 1)
    for word in _NOT_NUMERAL.finditer(text):
        barred[word.start() : word.end()] = b"\x01" * (word.end() - word.start())
    position = 0
    while found := _quantity().search(text, position):
        start = found.start("first")
        position = max(found.end("first"), start + 1)
        if barred[start] and not text[start].isdigit():
            position = start + 1
            continue
        if not scan.open(start, found.end("first")):
            continue
        figures = list(_read_quantity(scan, found))
        yield from figures
        if figures:
            position = max(f.end for f in figures)


def _read_quantity(scan: _Scan, found: re.Match[str]) -> Iterator[Figure]:
    first = number_value(found["first"])
    if first is None:
        return
    start = found.start("sign") if found["sign"] else found.start("first")
    first_unit = _unit_at(scan, found, "firstunit")
    second = number_value(found["second"]) if found["second"] and scan.open(found.start("second"), found.end()) else None
    if second is None:
        end = found.end("firstunit") if first_unit else found.end("first")
        yield from _single(scan, found, first, first_unit, start, end)
        return
    unit = _unit_at(scan, found, "unit") or first_unit
    lower_unit = first_unit or unit
    if unit is None and not (found["first"].isdigit() and found["second"].isdigit()):
        yield from _single(scan, found, first, first_unit, start, found.end("first"))
        return
    if unit is None and found["sign"]:
        unit = lower_unit = Unit("money", SIGNS[found["sign"]], Fraction(1))
    if lower_unit and lower_unit.kind == "temperature" and _NEGATIVE.search(scan.text, 0, start):
        first = -first
    low_end = found.end("firstunit") if first_unit else found.end("first")
    end = found.end("unit") if found["unit"] else found.end("second")
    per = per_of(scan.text, start, end)
    yield replace(_figure(first, lower_unit, start, low_end), low=True, per=per)
    yield replace(_figure(second, unit, found.start("second"), end), per=per)


def _unit_at(scan: _Scan, found: re.Match[str], group: str) -> Unit | None:
    if not found[group] or not scan.open(*found.span(group)):
        return None
    if _NOT_UNIT.match(scan.text, found.start(group)) and len(found[group]) == 1:
        return None
    raw = scan.raw[found.start(group) : found.end(group)]
    name = CAPITALS.get(raw, found[group])
    if name in ("time", "times") and _TIMES_EN.match(scan.text, found.end(group)):
        name = "倍"
    if name == "second" and scan.text[found.end(group) :].startswith(("time", " time")):
        return None
    return UNITS.get(name)


def _figure(value: Fraction, unit: Unit | None, start: int, end: int) -> Figure:
    if unit is None:
        return Figure("number", value, "", start=start, end=end)
    if unit.kind == "discount":
        value = value * 10 if value < 10 else value
    return Figure(unit.kind, value * unit.factor, unit.base, start=start, end=end)


def _single(
    scan: _Scan, found: re.Match[str], value: Fraction, unit: Unit | None, start: int, end: int
) -> Iterator[Figure]:
    word = found["first"]
    if unit is None and found["sign"]:
        unit = Unit("money", SIGNS[found["sign"]], Fraction(1))
    han = word[0] in DIGITS or word[0] in TENS or word[0] in "万亿"
    if unit is None and han and (len(word) == 1 or han_number(word) is None):
        return
    if word in "百千万亿" or (word == "十" and unit is None):
        return
    if unit is not None and unit.kind == "temperature" and _NEGATIVE.search(scan.text, 0, start):
        value, start = -value, start - (scan.text[start - 1] == "-")
    article = word in ("一", "one") and (unit is None or unit.kind in ("count", "points", "score"))
    yield replace(_figure(value, unit, start, end), weak=article)
