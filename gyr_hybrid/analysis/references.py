"""References by number: articles of laws, chapters, standards, numbers of official documents."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gyr_hybrid.analysis.codes import compact_form
from gyr_hybrid.analysis.folding import fold
from gyr_hybrid.analysis.numerals import NUMERAL, chinese_number
from gyr_hybrid.analysis.pieces import EVERYDAY_WORD, Piece
from gyr_hybrid.analysis.strength import Strength
from gyr_hybrid.analysis.vocabulary import STANDARD_BODIES

_NUMBER = rf"(?:\d{{1,5}}|[{NUMERAL}]{{1,9}})"
_SUBS = rf"(?:之({_NUMBER}))?((?:\s?第\s?\(?{_NUMBER}\)?\s?[款项項目])*)"
_ORDINAL = re.compile(rf"第\s?({_NUMBER})\s?([条條章节節编編]){_SUBS}")
_CITED_ARTICLE = re.compile(rf"(?<=[法典例则則程》])\s?({_NUMBER})\s?([条條]){_SUBS}")
_SUB_ORDINAL = re.compile(rf"第\s?\(?({_NUMBER})\)?\s?([款项項目])")
_SIMPLIFIED = {"條": "条", "節": "节", "編": "编", "項": "项"}
_COUNTED = re.compile(
    "消息|短信|微博|评论|留言|回复|动态|弹幕|弹窗|朋友圈|新闻|建议|命令|语句|记录|日志|流水|线|航线|生产线|跑道|铁路|地铁|轻轨|高铁|公路|道路|隧道|"
    "路|街|巷|河|江|溪|渠|船|舰|鱼|蛇|龙|狗|虫|命|裤|裙|毛巾|被子|床单|围巾|领带|项链|绳|链|管|缝|腿|胳膊|尾巴"
)
_DOCUMENT_NUMBER = re.compile(
    r"([\u4e00-\u9fff]{1,8})?[〔\[(【]((?:19|20)\d\d)[〕\])】]\s?第?\s?(\d{1,5})\s?号"
    r"|(公告|令|决议|通告)\s?(?:[〔\[(【]?((?:19|20)\d\d)[〕\])】]?年?)?\s?第?\s?(\d{1,5})\s?号"
)
_BEFORE_ISSUER = re.compile(
    r".*(?:根据|按照|依据|依照|关于|参照|遵照|执行|印发|下发|发布|出台|以及|文件|通知|规定|查询|请问|什么是|[和与及的在由见《、按了查问])"
)
_BODIES = "|".join(sorted(STANDARD_BODIES, key=len, reverse=True))
_STANDARD = re.compile(
    rf"((?:{_BODIES}|DB\d\d|T|Q)(?:[/ ](?:IEC|IEEE|TS|TR|EN|T|Z|J|[A-Z]{{3,6}}))?|MIL-STD|ITU-T)"
    r"([ -]?)((?:(?<=[ -])[A-Z]{1,2})?\d{2,6}(?:\.\d+)*(?:-\d{1,3}(?!\d))?(?:[-:](?:19|20)?\d\d)?[A-Za-z]{0,2})"
    r"(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_OFTEN_GLUED = frozenset("gb gbj gbz gjb iso iec ieee ansi astm rfc mil-std itu-t".split())
_HEADS = {body[:2] for body in STANDARD_BODIES} | {"DB", "T/", "Q/", "MI", "IT"}
STANDARD_HEADS = frozenset(_HEADS | {head.lower() for head in _HEADS})
"""First two characters of the bodies of standards."""


def special(
    start: int, end: int, text: str, strength: Strength, kind: str, canonical: str | None = None
) -> Piece:
    """A piece that was found by a pattern of its own."""
    key = fold(text) if canonical is None else canonical
    return Piece(start, end, text, strength, kind, key, compact_form(key), None)


def ordinals(text: str) -> Iterator[Piece]:
    """``第三十三条``, ``第12条第（三）项``, ``刑法264条`` (surely meant only when the index knows it), ``第三章``."""
    for pattern, strength in ((_ORDINAL, Strength.STRONG), (_CITED_ARTICLE, Strength.WEAK)):
        for match in pattern.finditer(text):
            number = chinese_number(match[1])
            if number is None:
                continue
            unit = _SIMPLIFIED.get(match[2], match[2])
            if unit == "条" and not match[3] and not match[4] and _COUNTED.match(text, match.end()):
                yield special(match.start(), match.end(), match.group(), Strength.VALUE, "word")
                continue
            canonical = f"第{number}{unit}"
            if match[3] and (branch := chinese_number(match[3])) is not None:
                canonical += f"之{branch}"
            for sub in _SUB_ORDINAL.finditer(match[4]):
                if (value := chinese_number(sub[1])) is not None:
                    canonical += f"第{value}{_SIMPLIFIED.get(sub[2], sub[2])}"
            lead = len(match.group()) - len(match.group().lstrip())
            yield special(
                match.start() + lead,
                match.end(),
                match.group().strip(),
                strength if unit == "条" else Strength.EVERYDAY,
                "ordinal",
                canonical,
            )


def document_numbers(text: str) -> Iterator[Piece]:
    """``财税〔2016〕36号``, ``公告2023年第7号``, ``国务院令第588号`` (from ``令``)."""
    for match in _DOCUMENT_NUMBER.finditer(text):
        start = match.start()
        if match[2]:
            issuer = match[1] or ""
            if lead := _BEFORE_ISSUER.match(issuer):
                start += lead.end()
                issuer = issuer[lead.end() :]
            canonical = f"{issuer}[{match[2]}]{int(match[3])}号"
        else:
            year = f"[{match[5]}]" if match[5] else ""
            canonical = f"{match[4]}{year}{int(match[6])}号"
        yield special(start, match.end(), text[start : match.end()], Strength.STRONG, "standard", canonical)


def standard(text: str, start: int, end: int) -> Piece | None:
    """The standard that begins at ``start``: ``GB/T 19001-2016``, ``ISO 9001:2015``, ``RFC 2616``."""
    match = _STANDARD.match(text, start, end)
    if not match:
        return None
    body, joint, number = match.groups()
    short = body.split("/")[0].split(" ")[0].lower()
    if joint != " " and "/" not in body and short not in _OFTEN_GLUED:
        return None
    if sum(character.isdigit() for character in number) < 3 and len(short) < 3:
        return None
    before = text[max(0, start - 2) : start]
    if before.strip().isdecimal() or (
        before and before[-1].isascii() and (before[-1].isalnum() or before[-1] in "-_./")
    ):
        return None
    if joint != " " and number[-1].isalpha() and short not in ("ieee", "mil-std"):
        return None
    if joint == "-" and text[match.end() : match.end() + 1] in ("/", "#"):
        return None
    spelled = match.group()
    if EVERYDAY_WORD.fullmatch(fold(spelled)):
        return None
    canonical = f"{fold(body)} {fold(number)}".replace(":", "-")
    return special(start, match.end(), spelled, Strength.STRONG, "standard", canonical)
