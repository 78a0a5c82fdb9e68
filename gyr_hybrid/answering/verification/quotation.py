"""Sentences that are the source's own words: found to the character, and told apart from near misses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache

from gyr_hybrid.answering.verification.aligned import Aligned
from gyr_hybrid.answering.verification.denials import NEGATION_MARK, denials_of, without_fixed
from gyr_hybrid.answering.verification.passages import Section
from gyr_hybrid.figures import even_fold

NEAR = 0.75
"""Similarity of characters from which a claim counts as an edited copy of its passage."""

_MARKS = re.compile(r"[\s*`“”\"]")
_LIST_MARK = re.compile(
    r"^\s*(?:[-*+•·]\s+|\d{1,3}[.)、](?!\d)\s*|[(（](?:[一二三四五六七八九十]{1,3}|\d{1,2})[)）]\s*|[①-⑳]\s*|[一二三四五六七八九十]{1,3}、)"
)
_LIMITING = re.compile(r"\s*[,，;；]?\s*(?:但|除|不过|然而|except|unless|but)")
_END = ".。;；,，!！?？:： "


def without_list_mark(sentence: str) -> str:
    """A list item's text without its bullet or number."""
    return _LIST_MARK.sub("", sentence, count=1)


@lru_cache(maxsize=512)
def _plain(text: str) -> tuple[str, tuple[int, ...]]:
    """Folded text without blanks and emphasis, and the offset each of its characters came from."""
    kept = [(c, i) for i, c in enumerate(even_fold(text)) if not _MARKS.match(c)]
    return "".join(c for c, _ in kept), tuple(i for _, i in kept)


def verbatim_span(sentence: str, section: Section) -> tuple[int, int] | None:
    """Span of the section that ``sentence`` repeats from the beginning of a sentence, segment or cell, or None.

    It may stop at a comma, unless a restriction follows (``但…除外``).
    """
    wanted = _plain(without_list_mark(sentence))[0].strip(_END)
    if len(wanted) < 4:
        return None
    plain, offsets = _plain(section.text)
    place = plain.find(wanted)
    while place >= 0:
        start, end = offsets[place], offsets[place + len(wanted) - 1] + 1
        if _begins(section.folded, start) and _ends(section.folded, end):
            closing = re.compile(r"[。！？.!?;；]?[”\"’』」）)`*]*").match(section.text, end)
            return start, closing.end() if closing else end
        place = plain.find(wanted, place + 1)
    return None


def _begins(text: str, start: int) -> bool:
    line = text.rfind("\n", 0, start) + 1
    before = text[line:start]
    bare = before.rstrip(" \t*`“\"'（(>")
    return (
        not bare
        or bare[-1] in "。！？;；|"
        or bool(re.search(r"[.!?]$", bare))
        or bool(_LIST_MARK.fullmatch(before))
    )


def _ends(text: str, end: int) -> bool:
    rest = text[end:].lstrip("*`”\"'）) ")
    return (not rest or rest[0] in "。！？;；|\n,，:：.!?") and not _LIMITING.match(rest)


def edited_negation(one: Aligned) -> Iterator[str]:
    """A negator put in or taken out of an otherwise copied clause."""
    ours, theirs = without_fixed(one.claim.text), without_fixed(one.source.replace("\n", ","))
    if len(NEGATION_MARK.findall(ours)) == len(NEGATION_MARK.findall(theirs)):
        return  # moved at most; what each denies is compared elsewhere
    if len(denials_of(ours)) == len(denials_of(theirs)):
        return  # ``excluded`` for ``not covered``
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    matched = sum(b.size for b in matcher.get_matching_blocks())
    if not ours or matched / len(ours) < NEAR:
        return
    codes = matcher.get_opcodes()
    for tag, i1, i2, j1, j2 in codes:
        edge = ((i1 == 0 or i2 == len(ours)) and tag == "delete") or j1 == 0 or j2 == len(theirs)
        if tag == "equal" or (tag == "insert" and j2 - j1 > (3 if edge else 6)):
            continue
        mine, other = NEGATION_MARK.search(ours[i1:i2]), NEGATION_MARK.search(theirs[j1:j2])
        if bool(mine) != bool(other):
            seen = mine or other
            assert seen is not None
            yield f"{seen.group()!r} stands on one side only"
