"""What the words around a figure make of it: a limit, a rate, a time before or after.

Only so many characters around it are read as such words may take; a limit further away limits something else.
"""

from __future__ import annotations

import re

from gyr_hybrid.figures.grammar import HAN_CHARS
from gyr_hybrid.figures.units import named

BEFORE, AFTER = 24, 12
"""Characters read before and after a figure: the longest listed words, with an adverb or a short verb between."""

_LINK = r"(?:为|是|在|到|of|is|to|an?|the|[:\s])*"
_VERB = rf"(?:(?![{HAN_CHARS}个])[\u3400-\u9fff]){{0,4}}\s?$"
"""What may stand between a limit and its figure: ``上限为``, ``at least the``, a short verb as in ``至少请求 60 次``."""
_FEWER = r"(?:few|small|low|short|earli|young)er"
_MORE = rf"(?<![a-z])(?!{_FEWER})[a-z]{{2,12}}er"
_BEFORE: tuple[tuple[str, str], ...] = (
    (
        "<=",
        r"不[得能可应]?(?:超过|[多大高晚]于)|[未有]超过|[至最]多|最[高长大迟晚]|上限|≤|<=|小于等于|"
        rf"up to|at most|(?:no|not)(?: [a-z]+){{0,3}} (?:more|{_MORE}) than|not exceed(?:ing)?|within|max(?:imum)?",
    ),
    (
        ">=",
        r"不[得能可应]?[少低小早]于|[至最]少|最[低小短]|起码|(?<![不未])满|达到|≥|>=|大于等于|下限|"
        rf"at least|(?:no|not) (?:less|{_FEWER}) than|min(?:imum)?",
    ),
    (">", rf"超[过出]|[大多高长]于|>|over|exceed(?:s|ed|ing)?|above|(?:more|{_MORE}) than"),
    ("<", rf"[少小低短]于|不足|不到|[未不]满|<|under|below|(?:less|{_FEWER}) than"),
    ("~", r"约|大概|近|about|around|approximately|nearly|~"),
)
_AFTER: tuple[tuple[str, str], ...] = (
    ("<=", r"(?:\(含\))?[及或]?(?:[以之]内|内(?![容部存置])|以下)|or (?:less|fewer|under|below)"),
    (">=", r"(?:\(含\))?[及或]?以上|起(?![来点始])|(?:or|and) (?:more|above|over|up)|\+"),
    ("~", r"左右|上下|or so"),
)
_WORDED = re.compile(r"[^\W\d_]|[≤≥<>~]")
_BEFORE_RULES = [(b, re.compile(rf"((?:{p}){_LINK}){_VERB}")) for b, p in _BEFORE]
_AFTER_RULE = re.compile(r"\s*(?:" + "|".join(f"({p})" for _, p in _AFTER) + ")")


def bound_of(text: str, start: int, end: int) -> str:
    """``<=``, ``<``, ``>=``, ``>``, ``~`` or empty for the figure at ``text[start:end]`` (folded).

    >>> bound_of("不超过 60 次", 4, 8), bound_of("90 天以上", 0, 4), bound_of("不足 3 人", 3, 6)
    ('<=', '>=', '<')
    """
    after = _AFTER_RULE.match(text, end, end + AFTER)
    return _AFTER[(after.lastindex or 1) - 1][0] if after else _limit_before(text, start)[0]


def _limit_before(text: str, start: int) -> tuple[str, tuple[int, int]]:
    low = max(0, start - BEFORE)
    window = text[low:start]
    if not _WORDED.search(window):
        return "", (start, start)
    for bound, rule in _BEFORE_RULES:
        if found := rule.search(window):
            return bound, (low + found.start(1), low + found.end(1))
    return "", (start, start)


_SIDE_AFTER = re.compile(
    r"\s*(?:([之以]?前(?![提台端])|before|ago|earlier|prior|in advance)|[之以]?后(?![台端])|after|later)"
)
_SIDE_BEFORE = re.compile(r"(?:(前的?第?|提前)|(?<![以先最然今])后的?第?)(?:至少|最多|约)?\s*$")


def side_of(text: str, start: int, end: int) -> str:
    """``before`` or ``after`` when a time is counted from an event: ``到期前 3 天``, ``7 天后``."""
    found = _SIDE_AFTER.match(text, end) or _SIDE_BEFORE.search(text, max(0, start - AFTER), start)
    return ("before" if found[1] else "after") if found else ""


_NAME = r"(?P<per>[a-z]{1,12}(?![a-z])|[\u3400-\u9fff]{1,4})"
_PER_AFTER = re.compile(rf"\s?(?:(?P<slash>/\s?)|每|per |an? |each |every )\s?个?\s?{_NAME}")
_PER_BEFORE = re.compile(rf"(?:每|per |each |every )\s?一?个?\s?(?={_NAME})")
_TAIL = re.compile(rf"[^\d,;。；!?{HAN_CHARS.replace('一', '')}]*$")
"""The words before a figure that may hold what it counts by: no other number, no other clause."""
TIMES = {
    ("second", 1): "second",
    ("second", 60): "minute",
    ("second", 3600): "hour",
    ("second", 86400): "day",
}
TIMES |= {
    ("second", 7 * 86400): "week",
    ("month", 1): "month",
    ("month", 3): "quarter",
    ("month", 12): "year",
}
"""The names of the times that rates count by."""


def _per(word: str) -> tuple[str, int]:
    """The unit that a word begins with, times by one English name, and how long it is; nothing for none."""
    for size in range(len(word), 0, -1) if not word.isascii() else [len(word)]:
        if (unit := named(word[:size])) is not None:
            return TIMES.get((unit.base, int(unit.factor)), word[:size]), size
    return "", 0


def rates_of(text: str, start: int, end: int) -> tuple[str, frozenset[str], int]:
    """What a rate counts by last, all that it counts by, and where the figure with it ends.

    >>> rates_of("39 元/月", 0, 4), rates_of("39 元", 0, 4)
    (('month', frozenset({'month'}), 6), ('', frozenset(), 4))
    >>> rates_of("每分钟不超过 60 次", 7, 11)
    ('minute', frozenset({'minute'}), 11)
    """
    window = text[max(0, start - BEFORE) : start]
    tail = _TAIL.search(window) if _WORDED.search(window) else None
    found = [
        _per(each["per"])[0] for each in _PER_BEFORE.finditer(window, tail.start() if tail else len(window))
    ]
    for _ in range(2):  # ``39 元/用户/月``
        after = _PER_AFTER.match(text, end)
        if not after:
            break
        per, size = _per(after["per"])
        if not per and after["slash"]:
            per, size = after["per"], len(after["per"])
        found.append(per)
        end = after.start("per") + size if per else end
    named_ones = [per for per in found if per]
    return (named_ones[-1] if named_ones else ""), frozenset(named_ones), end


def opposite(bound: str, other: str) -> bool:
    """Whether one bound is a ceiling and the other a floor."""
    return {bound[:1], other[:1]} == {"<", ">"}
