"""Where a text may be cut: at tokens, after clauses, never inside codes, numbers, addresses and formulas."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TypeAlias

from gyr_hybrid.analysis.sentences import token_spans
from gyr_hybrid.parsing.sizes import Sizes

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


class Borders:
    """Where ``text[start:end]`` may be cut: at tokens, but not within what must stay whole.

    Only a URL is kept whole beyond ``limit``: base64 and runs of separators look like paths.
    """

    def __init__(
        self, text: str, start: int, end: int, sizes: Sizes, limit: int, codes: CodeSpans | None = None
    ) -> None:
        part = text[start:end]
        found = [match.span() for match in _WHOLE.finditer(part)]
        found += codes(part) if codes is not None else []
        found = [(s, e) for s, e in found if sizes.fits(start + s, start + e, limit)]
        found += [match.span() for match in _URL.finditer(part)]
        self._part = part
        self._start = start
        self._spans = _disjoint(found)

    @cached_property
    def free(self) -> list[int]:
        """Where a token begins."""
        return self.allowed(start for start, _ in token_spans(self._part))

    @cached_property
    def clauses(self) -> list[int]:
        """Behind ``，、；`` and their closing quotes."""
        return self.allowed(match.end() for match in _CLAUSE.finditer(self._part))

    @cached_property
    def ascii_clauses(self) -> list[int]:
        """Behind ``, ; :`` before a blank, and behind ``：``."""
        return self.allowed(match.end() for match in _ASCII_CLAUSE.finditer(self._part))

    def allowed(self, places: Iterable[int]) -> list[int]:
        """Those offsets of the part that are within it and in nothing protected, as offsets of the text."""
        inner = (at for at in places if 0 < at < len(self._part))
        return [self._start + at for at in inner if not _inside(self._spans, at)]


def _disjoint(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for span in sorted(spans):
        if merged and span[0] < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], span[1]))
        else:
            merged.append(span)
    return merged


def _inside(spans: list[tuple[int, int]], at: int) -> bool:
    index = bisect_right(spans, (at, -1)) - 1
    return index >= 0 and spans[index][0] < at < spans[index][1]


def last_border(borders: list[int], after: int, upto: int) -> int | None:
    """The last border in ``(after, upto]``."""
    index = bisect_right(borders, upto) - 1
    return borders[index] if index >= 0 and borders[index] > after else None


def next_border(borders: list[int], after: int) -> int | None:
    """The first border past ``after``."""
    index = bisect_right(borders, after)
    return borders[index] if index < len(borders) else None
