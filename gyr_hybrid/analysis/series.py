"""Codes that a list or a range names together: ``P4、P5``, ``ALM-101/102``, ``P5–P7``, ``ALM-301 至 305``."""

from __future__ import annotations

import re
from dataclasses import replace

from gyr_hybrid.analysis.codes import Code, Mention, compact_form, inner_number

RANGE_MARKS = frozenset("- ~ ～ – — − 至 到 to through".split())
LONGEST_RANGE = 20
"""Codes between the ends of a range that a document counts as naming; of a longer one it names the ends."""
_LIST_MARKS = frozenset("/ 、 , ， 和 与 及 或 & and or".split())
_NUMBER_MARKS = (RANGE_MARKS - {"-", "−"}) | {"/", "、"}
"""Marks after which bare digits go on with the code before them; with a hyphen they are a part of it."""
_PREFIXED = re.compile(r"(.*\D)(\d{1,9})")
_DASHED = re.compile(r"(.*[^\d.])(\d{1,9})[–—](\d{1,9})")
_FEWEST_LISTED = 2  # digits after a slash; ``A/B1/2`` may be anything


def joined(between: str) -> bool:
    """Whether what stands between two codes makes them one list or range."""
    mark = between.strip()
    return mark in RANGE_MARKS or mark in _LIST_MARKS


def continued(code: Code, between: str, digits: str) -> Code | None:
    """The code that bare digits after ``code`` mean, as many as it ends in; None where they are no more than a number.

    >>> code = Code("ALM-101", "alm-101", "alm101", "code", "101", 0, 7)
    >>> continued(code, "/", "102").text, continued(code, " ", "102"), continued(code, "/", "2")
    ('ALM-102', None, None)
    """
    if code.kind not in ("code", "short") or between.strip() not in _NUMBER_MARKS:
        return None
    ends = _PREFIXED.fullmatch(code.canonical)
    if ends is None or len(ends[2]) != len(digits):
        return None
    if not (int(ends[2]) < int(digits) if between.strip() in RANGE_MARKS else len(digits) >= _FEWEST_LISTED):
        return None
    start = code.end + len(between)
    return replace(_numbered(code, digits), start=start, end=start + len(digits))


def dashed_ends(code: Code) -> list[Code]:
    """The ends of a range whose prefix is written once, before a dash that is no hyphen: ``ALM-201–205``; else the code."""
    span = _DASHED.fullmatch(code.text)
    if code.kind != "code" or span is None or len(span[2]) != len(span[3]) or int(span[2]) >= int(span[3]):
        return [code]
    canonical = code.canonical[: span.end(2)]
    first = replace(
        code,
        text=code.text[: span.end(2)],
        canonical=canonical,
        compact=compact_form(canonical),
        number=inner_number(canonical),
        end=code.start + span.end(2),
    )
    return [first, replace(_numbered(first, span[3]), start=code.start + span.start(3), end=code.end)]


def codes_between(first: Mention, last: Mention, text: str) -> list[Mention]:
    """The codes of a range that is written by its ends: ``P6`` of ``P5–P7``; none of a long range."""
    mark = text[first.code.end : last.code.start].strip()
    if mark not in RANGE_MARKS or first.code.kind not in ("code", "short"):
        return []
    low, high = _PREFIXED.fullmatch(first.code.canonical), _PREFIXED.fullmatch(last.code.canonical)
    if low is None or high is None or low[1] != high[1] or len(low[2]) != len(high[2]):
        return []
    numbers = range(int(low[2]) + 1, int(high[2]))
    if len(numbers) > LONGEST_RANGE:
        return []
    codes = (_numbered(first.code, f"{number:0{len(low[2])}d}") for number in numbers)
    return [Mention(replace(code, end=last.code.end), first.defining) for code in codes]


def _numbered(code: Code, digits: str) -> Code:
    """``code`` with other digits at its end, as many."""
    canonical = code.canonical[: -len(digits)] + digits
    return replace(
        code,
        text=code.text[: -len(digits)] + digits,
        canonical=canonical,
        compact=compact_form(canonical),
        number=digits if code.number else None,
    )
