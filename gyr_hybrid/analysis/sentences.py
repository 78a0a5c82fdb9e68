"""Sentences of Chinese and English text, and the token that sizes are counted in."""

from __future__ import annotations

import re
from itertools import pairwise

HAN_KANA = "\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Character class of Han characters and kana."""
_TOKEN = re.compile(rf"[{HAN_KANA}]|[^\W_{HAN_KANA}]+|[^\w\s]|_")

_CLOSERS = "”’」』】）》〉〕]\"')*_`"
_END = re.compile(
    rf"(?P<full>[。！？!?…]+|\.{{3,}})[{re.escape(_CLOSERS)}]*"
    rf"|(?P<dot>\.)[\"'”’)\]*_]*(?=\s|$)"
    rf"|(?<=[{HAN_KANA}])(?P<han>\.)(?=[{HAN_KANA}])"
    r"|(?P<line>\n)"
)
_MARK = re.compile(
    r"[。！？!?….\n]"
)  # what `_END` begins with: one class of characters is found faster than four alternatives
_BLANKS = re.compile(r"\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(（])(?:[A-Za-z]|(?:[A-Za-z]\.)+[A-Za-z]|mr|mrs|ms|dr|prof|st|vs|etc|cf|fig|figs|eq|no|nos|vol|pp?|ch|sec"
    r"|inc|ltd|co|corp|jr|sr|approx|resp|al|ed|eds|dept|est|ver|ref|refs|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)$",
    re.IGNORECASE,
)
_LIST_NUMBER = re.compile(r"[ \t>]*(?:\d{1,3}|[A-Za-z])")
_GOES_ON = re.compile(r"[\"'”’)\]*_`]*[，、；：,;:）)]")
_REACH = 24  # characters before a full stop that may be an abbreviation
_BLOCK_LINE = re.compile(
    r"[ \t>]*(?:[-*+•·#|]|\d{1,3}[.)、]|[（(][一二三四五六七八九十\d]{1,3}[)）]|```|~~~)"
)
_CLAUSE_END = re.compile(r"[；;](?=\s|[^\x00-\x7f]|$)")

LONG_SENTENCE = 128  # tokens: the size of a child; beyond it a semicolon ends a sentence too


def count_tokens(text: str) -> int:
    """Tokens of ``text``: a Han or kana character, a run of letters or digits, any other non-blank character.

    >>> count_tokens("错误码 E1042，请重试。")
    9
    """
    return len(_TOKEN.findall(text))


def token_spans(text: str) -> list[tuple[int, int]]:
    """Where the tokens of ``text`` begin and end, in order.

    >>> token_spans("E1042 吗")
    [(0, 5), (6, 7)]
    """
    return [match.span() for match in _TOKEN.finditer(text)]


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of ``text``: consecutive, lossless, blanks belonging to the sentence before.

    Ends are ``。！？!?…`` with their closing quotes, a full stop before a blank (not after an abbreviation or a
    list number), and line ends, except where a line of English prose merely wraps or a Chinese one ends in a comma. A
    semicolon ends a sentence only in one of more than 128 tokens.

    >>> text = "版本 3.5.1 已发布。支持 A、B！See v2.0 notes."
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['版本 3.5.1 已发布。', '支持 A、B！', 'See v2.0 notes.']
    """
    spans: list[tuple[int, int]] = []
    start = read = 0
    for mark in _MARK.finditer(text):
        match = _END.match(text, mark.start()) if mark.start() >= read else None
        if match is None:
            continue
        read = match.end()
        if match.start() < start or not _ends(text, start, match):
            continue
        blanks = _BLANKS.match(text, match.end())
        end = blanks.end() if blanks else match.end()
        if not text[start : match.end()].strip():
            if spans:
                spans[-1] = (spans[-1][0], end)
                start = end
            continue
        spans.append((start, end))
        start = end
    if start < len(text):
        if spans and not text[start:].strip():
            spans[-1] = (spans[-1][0], len(text))
        else:
            spans.append((start, len(text)))
    return [part for span in spans for part in _clauses(text, *span)]


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    if match["dot"]:
        line = text[
            max(start, text.rfind("\n", start, match.start()) + 1, match.start() - _REACH) : match.start()
        ]
        if _LIST_NUMBER.fullmatch(line):
            return False
        return not (_ABBREVIATION.search(line) and match.end() < len(text) and text[match.end()] != "\n")
    if match["line"]:
        return not _wraps(text, match.start())
    if match["full"]:
        mark = match["full"]
        if (mark[0] in "…." and _GOES_ON.match(text, match.end())) or (
            mark[0] == "." and _glued(text, match.end())
        ):
            return False
        # ``?a=1`` in an address, ``![`` of an image, ``!=``: a mark glued to what follows ends nothing
        return not (mark in ("!", "?") and _glued(text, match.end()))
    return True


def _glued(text: str, end: int) -> bool:
    """Whether an ASCII character follows at once."""
    following = text[end : end + 1]
    return bool(following) and following.isascii() and not following.isspace()


def _wraps(text: str, line_end: int) -> bool:
    """Whether the line end only wraps a line: of English prose, or a Chinese one behind a comma."""
    line = text[text.rfind("\n", 0, line_end) + 1 : line_end].rstrip()
    if line.endswith(("，", "、")):
        following = text[line_end + 1 : line_end + 40]
        return bool(following.split("\n", 1)[0].strip()) and not _BLOCK_LINE.match(following)
    if len(line) < 40 or not (line[-1].isascii() and (line[-1].isalpha() or line[-1] == ",")):
        return False
    following = text[line_end + 1 : line_end + 40]
    return (
        bool(following)
        and following[0].isascii()
        and following[0].isalnum()
        and not _BLOCK_LINE.match(following)
    )


def _clauses(text: str, start: int, end: int) -> list[tuple[int, int]]:
    if end - start <= LONG_SENTENCE or count_tokens(text[start:end]) <= LONG_SENTENCE:
        return [(start, end)]
    cuts = [start]
    for match in _CLAUSE_END.finditer(text, start, end):
        blanks = _BLANKS.match(text, match.end(), end)
        cut = blanks.end() if blanks else match.end()
        if cut < end:
            cuts.append(cut)
    cuts.append(end)
    return list(pairwise(cuts))
