"""Small words that turn a sentence round: what comes first, from where to where, and or or, by or to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gyr_hybrid.answering.verification.aligned import Aligned
from gyr_hybrid.answering.verification.claims import content_words

_STEPS = re.compile(
    r"(?:先|优先)(?![行生进期])(?P<first>[^。；;\n]{1,24}?)[,，、]?\s?(?:再|然后|之后再|随后|后(?![天台续果]|付费))(?P<second>[^,，。；;\n]{1,24})"
)
_DIRECTION = re.compile(
    r"(?:从|由|自|把|将)(?P<first>[^,，。；;\n]{1,12}?)(?:发往|飞往|开往|寄往|运往|驶往|复制到|移动到|转移到|转换成|转换为|转为|换成|兑换成|兑换为|改为|升级到|降级到|到|至)(?P<second>[^,，。；;\n\d的]{1,12})"
    r"|(?<![a-z])(?:from|convert|move|copy|exchange) (?P<from>[a-z ]{2,24}?) (?:to|into) (?P<to>[a-z]{2,16})"
)


def reversed_order(one: Aligned, sentence: str) -> Iterator[str]:
    """Steps or places in the other order than in the source: ``先拔插头，再关电源``, ``从上海发往北京``.

    ``sentence`` is folded.
    """
    source = "\n".join([one.passage.carried, one.passage.own, *(p.text for p in one.later)]).replace(
        "\n", ","
    )
    for rule in (_STEPS, _DIRECTION):
        theirs = [_sides(found) for found in rule.finditer(source)]
        for found in rule.finditer(sentence):
            first, second = _sides(found)
            for one_side, other_side in theirs:
                if first & other_side and second & one_side and not (first & one_side or second & other_side):
                    yield f"{found.group()!r} is the other way round in the source"


def _sides(found: re.Match[str]) -> tuple[frozenset[str], frozenset[str]]:
    groups = [text for text in found.groups() if text]
    first, second = (frozenset(w.key for w in content_words(text)) for text in groups[:2])
    return first, second


_OR = re.compile(r"([\u3400-\u9fff]{2,6}?)或者?([\u3400-\u9fff]{2})")
_TOGETHER = re.compile(r"同时|均须|都须|均需|都需|一并|缺一不可")
_EITHER = re.compile(r"任选其一|任一|任意一|之一|或者?|(?<![a-z])(?:or|either)(?![a-z])")
_ANY = re.compile(r"任选其一|任一|任意一|之一")
_DUTY = re.compile(r"须|必须|应|需|要")


def choice_changed(one: Aligned, sentence: str) -> Iterator[str]:
    """``字母或数字`` for the duty ``字母和数字``, and both for what the source leaves to choose."""
    source = one.source
    if _DUTY.search(source) and not _EITHER.search(source):
        for found in _OR.finditer(one.claim.text):
            if any(found[1][-2:] + joint + found[2] in source for joint in ("和", "与", "及", "以及", "、")):
                yield f"{found.group()!r} where the source has both"
    if _ANY.search(source) and _TOGETHER.search(sentence) and not _ANY.search(sentence):
        yield "both where the source has one of them"


_WHICHEVER = (
    ("先到", "后到"),
    ("最高", "最低"),
    ("最多", "最少"),
    ("最大", "最小"),
    ("最早", "最晚"),
    ("最长", "最短"),
    ("上限", "下限"),
    ("较早", "较晚"),
    ("较高", "较低"),
    ("较大", "较小"),
    ("孰早", "孰晚"),
    ("孰高", "孰低"),
    ("孰先", "孰后"),
    ("whichever is earlier", "whichever is later"),
    ("comes first", "comes last"),
)


def other_of_two(one: Aligned) -> Iterator[str]:
    """``以后到者为准`` for ``以先到者为准``."""
    for pair in _WHICHEVER:
        for ours, theirs in (pair, pair[::-1]):
            if ours in one.claim.text and theirs in one.source and ours not in one.source:
                yield f"{ours!r} where the source has {theirs!r}"


_CHANGE = r"(?:上升|上涨|上调|提高|增加|增长|下降|下调|降低|减少|缩短|延长)"
_CHANGED_TO = re.compile(rf"({_CHANGE})(?:到|至|为)")


def by_for_to(one: Aligned) -> Iterator[str]:
    """``上升到 10 ℃`` for ``上升 10 ℃``, and the other way round."""
    ours, theirs = set(_CHANGED_TO.findall(one.claim.text)), set(_CHANGED_TO.findall(one.source))
    for verb in re.findall(_CHANGE, one.claim.text):
        if verb in one.source and (verb in ours) != (verb in theirs):
            yield f"{verb!r} by where the source has to, or the other way round"
