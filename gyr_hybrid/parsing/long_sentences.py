"""Cutting what is longer than a child: after ``，、；``, else at a token border, never inside what must stay whole."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TypeAlias

from gyr_hybrid.analysis.sentences import token_spans

CodeSpans: TypeAlias = Callable[[str], list[tuple[int, int]]]
"""Spans of a text that are codes, in order."""

_CLAUSE = re.compile(r"[，、；][”’」』）)】]*\s*")
_ASCII_CLAUSE = re.compile(r"[,;:][\"')]*\s+|：\s*")
_URL = re.compile(r"(?:(?:https?|ftp|file|wss?|mailto|jdbc:\w+):|www\.)[!#-;=?-_a-z~|]+")
_WHOLE = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@\w[\w-]*(?:\.\w+)+"  # an e-mail address
    r"|[A-Za-z]:\\[^\s，。；、！？）】》<>|\"]+"  # a Windows path
    r"|(?:~|\.{1,2})?(?:/[A-Za-z0-9_.+@%~-]+)+/?"  # a POSIX path
    r"|[+-]?\d{1,3}(?:[,，]\d{3})+(?:\.\d+)?%?"
    r"|[+-]?[A-Za-z]?\d+(?:[.:/-]\d+)*(?:[.-][A-Za-z0-9]+)*%?"
    r"|(?<![A-Za-z0-9_])[A-Za-z0-9_]+(?:[-_.:/+#@][A-Za-z0-9_]+)+\+*"  # codes, dotted names, relative paths
    r"|第[0-9零〇一二三四五六七八九十百千万两]+[条款项章节编]"
    r"|`[^`\n]+`|\$\$[^$]+\$\$|\$[^$\n]+\$",
    re.ASCII,
)


def cut_long(text: str, start: int, end: int, limit: int, codes: CodeSpans | None = None) -> list[int]:
    """Offsets where the pieces of ``text[start:end]`` begin, the first being ``start``.

    Every piece has at most ``limit`` tokens, except where a URL or a protected span alone has more.
    """
    part = text[start:end]
    tokens = token_spans(part)
    if len(tokens) <= limit:
        return [start]
    spans = _protected(part, codes, limit, tokens)
    starts = [s for s, _ in tokens]
    free = [at for at in starts if not _inside(spans, at)]
    clauses = _ends(_CLAUSE, part, spans)
    ascii_clauses = _ends(_ASCII_CLAUSE, part, spans)
    pieces, at = [0], 0
    while True:
        first = bisect_left(starts, at)
        if len(starts) - first <= limit:
            break
        furthest = starts[first + limit]  # the piece may run up to here
        cut = _last(clauses, at, furthest) or _last(ascii_clauses, at, furthest) or _last(free, at, furthest)
        if cut is None:  # a protected span longer than the limit
            cut = next((border for border in free if border > at), None)
            if cut is None:
                break
        pieces.append(cut)
        at = cut
    return [start + piece for piece in pieces]


def _protected(
    part: str, codes: CodeSpans | None, limit: int, tokens: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Disjoint spans that no cut may fall into, in order.

    Only a URL is kept whole beyond the limit: base64 and runs of separators look like paths.
    """
    found = [match.span() for match in _WHOLE.finditer(part)]
    found += codes(part) if codes is not None else []
    starts = [s for s, _ in tokens]
    found = [(s, e) for s, e in found if bisect_left(starts, e) - bisect_left(starts, s) <= limit]
    found += [match.span() for match in _URL.finditer(part)]
    merged: list[tuple[int, int]] = []
    for span in sorted(found):
        if merged and span[0] < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], span[1]))
        else:
            merged.append(span)
    return merged


def _inside(spans: list[tuple[int, int]], at: int) -> bool:
    index = bisect_right(spans, (at, -1)) - 1
    return index >= 0 and spans[index][0] < at < spans[index][1]


def _ends(pattern: re.Pattern[str], part: str, spans: list[tuple[int, int]]) -> list[int]:
    ends = [match.end() for match in pattern.finditer(part)]
    return [at for at in ends if 0 < at < len(part) and not _inside(spans, at)]


def _last(borders: list[int], after: int, upto: int) -> int | None:
    index = bisect_right(borders, upto) - 1
    return borders[index] if index >= 0 and borders[index] > after else None
