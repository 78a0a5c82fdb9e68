"""What a clause denies: negators, how far they reach, and whether the clause only supposes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from gyr_hybrid.answering.verification.claims import content_words
from gyr_hybrid.figures import find_figures

REACH = 10
"""Characters of Chinese a negator reaches forward."""
REACH_LATIN = 32
"""Characters of English a negator reaches forward."""

_FIXED = re.compile(
    r"不[但仅管论断久等妨如禁愧便良利然]|不同(?!意)|不一(?!致|样)|不过(?!\d)|不(?:得|能|可以?|应当?|会|准|许)?(?:再)?(?:超过|少于|低于|高于|多于|大于|小于|晚于|早于)|(?:没有|未)(?=超过|少于|低于|高于|多于|大于|小于|[达满]|到\s?[\d一二三四五六七八九十百两半])|不[满到]|不足(?!以)|未满|不动产|不可抗力|不锈钢|不定[期时]|未来|未成年|无论|无限|无线"
    r"|无人机|非常|非法|非机动|别人|别的|[特级分区类性个识差派辨]别|没收|免[费税息邮赔押签疫]|避免|难免|豁免|是否|能否|可否|与否|有没有|是不是|能不能|会不会|要不要|可不可以|否则|不仅|差不多|对不起|了不起"
    r"|不得不|不能不|无不|(?:no|not) (?:more|less|fewer|later|longer|earlier|larger|greater|smaller) than|(?:not|no)(?: be)? [a-z]+er than|not only|no\. ?\d|not exceed\w*|no matter|whether or not|non-?stop"
)
_NEGATOR = re.compile(
    r"不(?:得|能|可以?|会|予|再|是|用|需要?|必|准|许|允许|应当?|要|该|宜|属于|适用|支持|包括|包含|计入|具有)?|未(?:经|曾|能)?|没有?|无(?:法|需|须|权|从|效)?|缺少?(?![点陷席勤口失])|取消(?=[^,，;；。\n]{0,4}资格)|勿|忌(?![日惮讳辰])|别(?=[自再用在把让去乱随])|严禁|禁止?|拒绝|谢绝|免(?!费)|非(?![常法洲但得凡])|除非|排除"
    r"|(?<![a-z])(?:not|never|hardly|rarely|seldom|far from|no|none|nobody|nothing|without|cannot|can't|won't|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|shouldn't|mustn't|hasn't|haven't|hadn't|wouldn't|couldn't|needn't|neither|nor|unable|unless|except|excluded|excluding|excludes|refuse[sd]?|prohibit(?:s|ed)?|forbidden|fails? to)(?![a-z])"
)
NEGATION_MARK = re.compile(
    r"[不未无没非勿禁免]|(?<![a-z])(?:not|never|no|cannot|without|unless)(?![a-z])|n't(?![a-z])"
)
"""A bare sign of negation, for comparing two versions of a clause character by character."""


def without_fixed(text: str) -> str:
    """A folded text without the fixed words that contain a negator but deny nothing."""
    return _FIXED.sub(lambda m: m.group() if m.group().startswith("免") else "", text)


_STOP = re.compile(
    r"[,;，；。、\n]|[的则]|等(?![待级于候额])|时(?![间长段限效])|后(?![台果续])|就(?![诊业医餐])|或者?|但|而(?!且)|(?<![a-z])(?:but|and|if|when|without|unless|except)(?![a-z])"
)

_STOP_PLACED = re.compile(r"[,;，；。\n]|的|但|而(?!且)")
PLACED = re.compile(r"[在于向对将把从和与跟](?!于)")
"""A negator before a preposition denies the verb behind the whole phrase."""


@dataclass(frozen=True, slots=True)
class Denial:
    """A negator at a place, with the content words in its reach."""

    start: int
    end: int
    text: str
    targets: tuple[str, ...]
    """The next two content words of its clause, as keys; more after ``no``, which stands far from its verb."""
    reach: int
    """Offset where its reach ends."""


@lru_cache(maxsize=8192)
def denials_of(text: str) -> tuple[Denial, ...]:
    """The negators of a folded text; fixed words such as ``不仅`` or ``no later than`` deny nothing."""
    barred = bytearray(len(text) + 1)
    for fixed in _FIXED.finditer(text):
        barred[fixed.start() : fixed.end()] = b"\x01" * (fixed.end() - fixed.start())
    words = content_words(text)
    found: list[Denial] = []
    negators = [n for n in _NEGATOR.finditer(text) if not barred[n.start()]]
    for number, negator in enumerate(negators):
        start, end = negator.span()
        placed = bool(PLACED.match(text, end))  # ``不得在楼道、消防通道堆放杂物``
        stop = (_STOP_PLACED if placed else _STOP).search(text, end)
        limit = end + (REACH_LATIN if negator.group().isascii() or placed else REACH)
        reach = min(stop.start() if stop else len(text), limit)
        if number + 1 < len(negators):  # ``未经许可不得拍照`` denies the permission, not the taking
            reach = min(reach, negators[number + 1].start())
        targets = tuple(
            w.key if w.start >= end else w.text[end - w.start :]
            for w in words
            if w.end > end and w.start < reach
        )[: 5 if negator.group() == "no" or placed else 2]
        if figure_follows(text, end):
            targets = (text[end : end + 2], *targets)[:2]
        elif not targets and text[end : end + 1].isalpha() and not negator.group().isascii():
            targets = (text[end : end + 2],)
        if negator.group() in ("without", "unless", "except"):
            ends = [w.end for w in words if start < w.end and w.end > end and w.start < reach][:2]
            reach = ends[-1] if ends else reach
            targets = targets[: 1 if negator.group() == "without" else 2]
        found.append(Denial(start, end, negator.group(), targets, reach))
    return tuple(found)


def figure_follows(text: str, place: int) -> bool:
    """Whether a figure without digits, such as ``减半``, begins at ``place``."""
    return any(f.start == place and not f.text[0].isdigit() for f in find_figures(text))


def denied_at(text: str, place: int) -> bool:
    """Whether what stands at ``place`` of a folded text is denied (an odd number of negators reach it)."""
    return sum(d.end <= place < d.reach or d.start <= place < d.end for d in denials_of(text)) % 2 == 1


def occurrences(key: str, text: str) -> list[int]:
    """Offsets of a word's key in a folded text; English keys are stems and match word beginnings."""
    if key.isascii():
        return [w.start for w in content_words(text) if w.key == key]
    return [m.start() for m in re.finditer(re.escape(key), text)]


def supposes(denial: Denial, text: str) -> bool:
    """Whether a denial only supposes something: ``未备案的…``, ``不填时``."""
    return text[denial.reach : denial.reach + 1] in tuple("的时等")


_OTHERWISE = re.compile(r"否则|逾期|超时|过期|(?<![a-z])(?:otherwise|or else|late)(?![a-z])")
_SUPPOSING = re.compile(r"如果?|若|要是|倘若|假如|(?<![a-z])(?:if|when|unless)(?![a-z])")

_OVERDUE = re.compile(r"(?:逾期|超期|到期)$")


def in_condition(denial: Denial, text: str) -> bool:
    """Whether the denial stands in a clause that supposes: before the comma, after ``如`` or before ``的``."""
    begin = max(text.rfind(mark, 0, denial.start) for mark in ",，;；\n") + 1
    ending = re.search(r"[,，;；\n]|$", text[denial.end :])
    end = denial.end + (ending.start() if ending else 0)
    clause = text[begin:end].strip()
    if _SUPPOSING.match(clause) or _OVERDUE.search(text[begin : denial.start]):
        return True
    return end < len(text.rstrip()) and clause.endswith(("的", "时", "的话"))


def says_otherwise(text: str) -> bool:
    """Whether a folded text says what happens when its duty is not met."""
    return bool(_OTHERWISE.search(text))
