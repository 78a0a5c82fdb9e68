"""Where a sentence of an answer ends: final punctuation with the quotes and emphasis that close there."""

from __future__ import annotations

import re

from gyr_hybrid.answering.enforcement.brackets import OPENERS

_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|No|Nos|Fig|Dr|Mr|Mrs|Ms|Inc|Ltd|Co|St|[A-Z]))$"
)
ENDS = frozenset("。！？；…!?;")
_CLOSERS = frozenset("”’」』》〉）)】］\"'*_~`")
_PAIRED = frozenset("\"'*_~`")


def end_of_sentence(text: str, start: int, at: int, final: bool) -> int | None:
    """End of the sentence whose final punctuation stands at ``at``; 0 if it is none, None if unknown."""
    char = text[at]
    if char in ".;":
        if at + 1 == len(text):
            return at + 1 if final else None
        follows = text[at + 1]
        if char == "." and (_ABBREVIATION.search(text[start:at]) or follows == "."):
            return 0
        if not (
            follows.isspace() or follows in _CLOSERS or follows in OPENERS or "\u4e00" <= follows <= "\u9fff"
        ):
            return 0
        if char == "." and text[start:at].strip().isdigit():
            return 0
    end = at + 1
    while end < len(text):
        char = text[end]
        if (
            char in ENDS
            or (char == "." and text[end - 1] == ".")
            or (char in _CLOSERS and char not in _PAIRED)
            or (char in _PAIRED and _opened(text[start:end], char))
        ):
            end += 1
            while char in _PAIRED and text[end : end + 1] == char:
                end += 1
        else:
            return end
    return end if final else None


def behind_emphasis(text: str, start: int, stop: int) -> int:
    """``stop`` moved behind the emphasis that closes there: ``**三年。[a]**``."""
    mark = text[stop : stop + 1]
    if mark in ("*", "_", "~") and _opened(text[start:stop], mark):
        while text[stop : stop + 1] == mark:
            stop += 1
    return stop


def _opened(text: str, mark: str) -> bool:
    """Whether a paired mark, a run of them counting once, is still open: ``**退款`` and ``"no``."""
    return len(re.findall(rf"{re.escape(mark)}+", text)) % 2 == 1
