"""What the words around a figure make of it: a limit, a rate, a time before or after."""

from __future__ import annotations

import re

from gyr_hybrid.figures.numerals import HAN_NUMERAL

_LINK = r"(?:为|是|在|到|达到|达|of|is|to|a|an|the|[:\s])*$"
_BEFORE: tuple[tuple[str, str], ...] = (
    (
        "<=",
        r"不(?:得|能|可|应|会|允许)?(?:再)?(?:超过|多于|大于|高于|超出|晚于|迟于|长于)|(?:至|最)多(?:可以|可|能|支持|允许|只能|退|有)?|最高|最长|最大|最迟|最晚|上限|封顶|≤|<=|⩽|小于等于|小于或等于|没有超过|未超过|以内|(?<![上下低])限(?:于|制)?|"
        r"up to|at most|not (?:[a-z]+ ){1,3}by more than|(?:no|not)(?: be)? (?:more|(?!few|small|low|short|earl|young)[a-z]+er) than|not exceed(?:ing)?|cannot exceed|within|maximum(?: of)?|max\.?|limited to|upper limit(?: is| of)?",
    ),
    (
        ">=",
        r"不(?:得|能|可|应)?(?:少于|低于|小于|短于|早于)|至少|最少|最低|最小|最短|起码|(?<![不未])满|达到|≥|>=|⩾|大于等于|大于或等于|下限|"
        r"at least|(?:no|not) (?:less|fewer|lower|smaller|earlier) than|minimum(?: of)?|min\.?",
    ),
    (
        ">",
        r"超过|超出|大于|多于|高于|长于|逾|>|more than|over|exceed(?:s|ed|ing)?|above|beyond|(?:longer|larger|greater|taller|higher|heavier|bigger|wider|thicker|older) than",
    ),
    (
        "<",
        r"少于|小于|低于|短于|不足|不到|[未不]满|<|less than|under|below|fewer than|shorter than|smaller than",
    ),
    ("~", r"大?约|大概|大致|将近|接近|近|about|around|approximately|roughly|nearly|~"),
)
_AFTER: tuple[tuple[str, str], ...] = (
    (
        "<=",
        r"(?:\(含\))?(?:及|或|\(含\))?(?:以内|之内|内(?![容部存置地])|以下|封顶)|or (?:less|fewer|under|below)|at most|max\b|or earlier",
    ),
    (
        ">=",
        r"(?:\(含\))?(?:及|或)?以上|起(?![来点步始见诉])|or (?:more|above|over|longer|later)|and (?:above|over|up)|\+",
    ),
    ("~", r"左右|上下|or so"),
)
_LATEST = re.compile(rf"(?:(?:no|not) later than|最迟|最晚|不(?:得)?(?:晚|迟)于){_LINK}")
"""``no later than one hour before departure`` is at least one hour before it."""
_BEFORE_RULES = [(b, re.compile(rf"(?:{p}){_LINK}")) for b, p in _BEFORE]
_AFTER_RULES = [(b, re.compile(rf"\s*(?:{p})")) for b, p in _AFTER]

_PER_WORDS = "|".join(
    sorted(
        "公斤 千克 吨 升 公里 千米 平方米 平米 平方 班 台 片 包 箱 课时 kg km litre liter mile gallon node seat mailbox 年 月 日 天 周 星期 季度 季 小时 分钟 秒 次 人 单 笔 张 份 件 台 个账号 账号 账户 用户 成员 席位 key 个key 户 套 GB year month day week hour minute second person user member order time quarter".lower().split(),
        key=len,
        reverse=True,
    )
)
_PER_AFTER = re.compile(rf"\s?(?:/|每|per |an? |each |every )\s?个?\s?(?P<per>{_PER_WORDS})(?![a-z])")
_PER_BEFORE = re.compile(
    rf"(?:每|per |each |every )\s?一?\s?个?\s?(?P<per>{_PER_WORDS})(?![a-z\d])[^\d,;。；!?一二三四五六七八九十百千万两]{{0,12}}$"
)
_EACH = re.compile(rf"(?:每|per |each |every )\s?一?\s?个?\s?(?P<per>{_PER_WORDS})(?![a-z\d])[^\d,;。；!?]*$")
_SYNONYM = {
    "日": "day",
    "天": "day",
    "月": "month",
    "年": "year",
    "周": "week",
    "星期": "week",
    "季度": "quarter",
    "季": "quarter",
}
_SYNONYM |= {
    "小时": "hour",
    "分钟": "minute",
    "秒": "second",
    "次": "time",
    "人": "person",
    "个账号": "账号",
    "个key": "key",
    "单": "order",
}


_VERB = re.compile(
    rf"([至最][多少]|最[高低大小长短早晚迟]|起码)(?:(?!{HAN_NUMERAL}|[个元天日年月周次分秒])[\u3400-\u9fff]){{1,4}}\s?$"
)
"""A short verb between a limit and its figure: ``至少请求 60 次``."""


def bound_of(text: str, start: int, end: int) -> str:
    """``<=``, ``<``, ``>=``, ``>``, ``~`` or empty for the figure at ``text[start:end]`` (folded).

    >>> bound_of("不超过 60 次", 4, 8), bound_of("90 天以上", 0, 4), bound_of("不足 3 人", 3, 6)
    ('<=', '>=', '<')
    """
    after = text[end : end + 12]
    for bound, rule in _AFTER_RULES:
        if rule.match(after):
            return bound
    bound, span = _limit_before(text, start)
    early = (
        bound and _LATEST.match(text, span[0], start) and re.match(r"\s*(?:before|prior|之?前|以前)", after)
    )
    return ">=" if early else bound


def bound_words(text: str, start: int) -> tuple[int, int]:
    """Span of the words before a figure that limit it (``no later than``), empty when there are none."""
    return _limit_before(text, start)[1]


def _limit_before(text: str, start: int) -> tuple[str, tuple[int, int]]:
    """The limit that the words before a figure set, and their span; a short verb may stand between."""
    low = max(0, start - 24)
    before = _VERB.sub(r"\1", text[low:start])
    for bound, rule in _BEFORE_RULES:
        found = rule.search(before)
        if found:
            return bound, (low + found.start(), low + found.end())
    return "", (start, start)


def side_of(text: str, start: int, end: int) -> str:
    """``before`` or ``after`` when a time is counted from an event: ``到期前 3 天``, ``7 天后``."""
    before, after = text[max(0, start - 12) : start].rstrip(), text[end : end + 10].lstrip()
    if re.match(r"(?:之前|以前|前(?![提台端面])|before|ago|earlier|prior|ahead|in advance)", after):
        return "before"
    if re.match(r"(?:之后|以后|后(?![台端面缀])|after|later)", after):
        return "after"
    if re.search(r"(?:前的?第?|提前|之前的?|以前)(?:至少|最多|约)?$", before):
        return "before"
    return "after" if re.search(r"(?:[^以前先最然今]后的?第?|之后的?)(?:至少|最多|约)?$", before) else ""


def rate_of(text: str, start: int, end: int) -> tuple[str, int]:
    """What a rate counts by, in one English word where there is one, and where the figure with it ends.

    >>> rate_of("39 元/月", 0, 4), rate_of("每分钟不超过 60 次", 7, 11), rate_of("39 元", 0, 4)
    (('month', 6), ('minute', 11), ('', 4))
    """
    after = _PER_AFTER.match(text, end)
    found = after or _last(_PER_BEFORE, text, max(0, start - 24), start)
    if not found:
        return "", end
    return _SYNONYM.get(found["per"], found["per"]), after.end() if after else end


def rates_before(text: str, start: int) -> frozenset[str]:
    """All that stands after ``每`` or ``per`` in the words before a figure: ``每个 key 每分钟 600 次``."""
    found: set[str] = set()
    place = max(0, start - 24)
    while each := _EACH.search(text, place, start):
        found.add(_SYNONYM.get(each["per"], each["per"]))
        place = each.start() + 1
    return frozenset(found)


def _last(rule: re.Pattern[str], text: str, low: int, high: int) -> re.Match[str] | None:
    """The match of ``rule`` that begins last."""
    last = None
    while found := rule.search(text, low, high):
        last, low = found, found.start() + 1
    return last


def opposite(bound: str, other: str) -> bool:
    """Whether one bound is a ceiling and the other a floor."""
    return {bound[:1], other[:1]} == {"<", ">"}
