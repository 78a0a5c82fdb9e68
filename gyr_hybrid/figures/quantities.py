"""Numbers with their units: amounts, counts, durations, sizes, ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

from gyr_hybrid.figures.bounds import rate_of
from gyr_hybrid.figures.measures import CAPITALS, SIGNS, UNITS, Unit, unit_pattern
from gyr_hybrid.figures.numerals import DIGITS, NUMBER_PATTERN, TENS, han_number, number_value
from gyr_hybrid.figures.scan import Figure, Scan

_NOT_NUMERAL = re.compile(
    r"一(?:些|般|直|定|旦|样|起|致|并|律|切|下|方|点|键|经|同|再|向|贯|概|手|次性|站|体|举|味|时|系列|连|边|面|道|共|齐|道)"
    r"|(?:唯|统|同|另|任|逐|专|第|万|均|划|归|其)一|单一(?![个张份次笔])|之[一二三]|千万(?=别|不|要|注)|十[分足](?!钟|之)|百分百"
    r"|(?:第三|双|三|两)方(?!案|式|面|法)|[二两]者|二[维次手]|三包|一分钱|两步验证|双[方重]|四[舍则]|五[险金]|万[能一]|周三|三角|一一"
    r"|百货|百科|千兆|八卦|七夕|九宫|十字|三星|三思|万分(?!之)|成千上万|千[克米瓦伏]|百度|零(?:件|售|钱|食|碎|部)"
)
_NOT_UNIT = re.compile(
    r"成(?=[员功本为果交都立熟长就])|分(?=[别类析级享店行段支组区公期布配])|度(?=[过])|位(?=[置于])|名(?=[称单字义])|项(?=目)|单(?=[位独据])"
    r"|条(?=[件例])|日(?=[期常志])|天(?=[猫然])|年(?=[龄付费卡轻])|周(?=[期边])|月(?=[付卡费])|角(?=[色度])|元(?=[素数])|部(?=[分门署])|件(?=数)"
    r"|列(?=[表名])|行(?=[业为程政])|页(?=面)|字(?=[段节符母体])|章(?=程)|节(?=[点假])|段(?=落)|包(?=[括含装])|方(?=[案式法])|所(?=[有需])|层(?=次)"
    r"|级(?=[别联])|种(?=植)|家(?=[庭长])|台(?=[阶])|张(?=[贴])|次(?=[日年月要])|点(?=[击])|人(?=[民工员])|步(?=[骤])|处(?=[理罚])|对(?=[应于比])|组(?=[成织])|季(?=节)"
)
_NEGATIVE = re.compile(r"(?<![\w.℃°])-$|零下\s?$")
_TIMES_EN = re.compile(r"\s*(?:the|as|more|that|larger|higher|bigger|what|its)\b")


_BETWEEN = re.compile(r"\bbetween\s*$")


@cache
def _quantity() -> re.Pattern[str]:
    sign = "|".join(re.escape(s) for s in sorted(SIGNS, key=len, reverse=True))
    unit = unit_pattern()
    return re.compile(
        rf"(?P<sign>{sign})?\s?(?P<first>{NUMBER_PATTERN})(?:(?:\s|-(?=[a-z]))?(?P<firstunit>{unit}))?"
        rf"(?:\s?(?P<joint>-|~|至|到|to|and)\s?(?:{sign})?(?P<second>{NUMBER_PATTERN})(?:(?:\s|-(?=[a-z]))?(?P<unit>{unit}))?)?"
    )


def quantities(scan: Scan) -> Iterator[Figure]:
    """All numbers of the text that no other form has claimed, with their units."""
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


def _read_quantity(scan: Scan, found: re.Match[str]) -> Iterator[Figure]:
    first = number_value(found["first"])
    if first is None:
        return
    start = found.start("sign") if found["sign"] else found.start("first")
    first_unit = _unit_at(scan, found, "firstunit")
    joined = found["joint"] != "and" or _BETWEEN.search(scan.text, 0, start)
    second = (
        number_value(found["second"])
        if found["second"] and joined and scan.open(found.start("second"), found.end())
        else None
    )
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
    per, _ = rate_of(scan.text, start, end)
    yield replace(_figure(first, lower_unit, start, low_end), low=True, per=per)
    yield replace(_figure(second, unit, found.start("second"), end), high=True, per=per)


def _unit_at(scan: Scan, found: re.Match[str], group: str) -> Unit | None:
    if not found[group] or not scan.open(*found.span(group)):
        return None
    if _NOT_UNIT.match(scan.text, found.start(group)) and len(found[group]) == 1:
        return None
    raw = scan.raw[found.start(group) : found.end(group)]
    name = CAPITALS.get(raw, found[group])
    if found["sign"] and name in ("m", "mb"):
        return Unit("money", SIGNS[found["sign"]], Fraction(10**6))  # ``$2.5M``
    if name in ("time", "times") and _TIMES_EN.match(scan.text, found.end(group)):
        name = "倍"
    if name == "second" and scan.text[found.end(group) :].startswith(("time", " time")):
        return None
    return UNITS.get(name)


def _figure(value: Fraction, unit: Unit | None, start: int, end: int) -> Figure:
    if unit is None:
        return Figure("number", value, "", start=start, end=end)
    if unit.base == "fahrenheit":
        return Figure(unit.kind, (value - 32) * Fraction(5, 9), "celsius", start=start, end=end)
    if unit.kind == "discount":
        value = value * 10 if value < 10 else value
    return Figure(unit.kind, value * unit.factor, unit.base, start=start, end=end)


def _single(
    scan: Scan, found: re.Match[str], value: Fraction, unit: Unit | None, start: int, end: int
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
