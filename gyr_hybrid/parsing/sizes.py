"""Sizes of any span of a text, without counting twice, and the limits that pieces keep."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.analysis.sentences import HAN_KANA

_BLANK, _SINGLE, _RUN = (
    0,
    1,
    2,
)  # a run of letters or digits is one token, every other non-blank character too
_HAN = re.compile(f"[{HAN_KANA}]")


Measure: TypeAlias = Literal["tokens", "characters"]
"""``tokens`` are those of `gyr_hybrid.analysis.count_tokens`, ``characters`` all that are not blank."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a section and a child may have."""

    section: int = 800
    child: int = 128
    measure: Measure = "tokens"


class Sizes:
    """The counts of `gyr_hybrid.analysis.count_tokens` for spans of one text, each in constant time.

    A span that begins inside a run of letters or digits is counted without that run. With limits in characters
    those are counted instead. Blanks have no size.

    >>> sizes = Sizes("错误码 E1042，请重试。")
    >>> sizes.count(0, 14), sizes.count(4, 9), sizes.fits(0, 14, limit=8)
    (9, 1, False)
    """

    def __init__(self, text: str, limits: Limits = Limits()) -> None:
        self.section = limits.section
        self.child = limits.child
        kinds = _kinds(text)
        begins = kinds != _BLANK
        if limits.measure == "tokens":
            begins[1:] &= (kinds[1:] == _SINGLE) | (kinds[:-1] != _RUN)
        self._before: NDArray[np.int64] = np.zeros(len(kinds) + 1, dtype=np.int64)
        np.cumsum(begins, out=self._before[1:])

    def count(self, start: int, end: int) -> int:
        """Tokens that begin in ``[start, end)``."""
        return int(self._before[end] - self._before[start])

    def fits(self, start: int, end: int, limit: int) -> bool:
        """Whether the span has at most ``limit`` tokens."""
        return end - start <= limit or self.count(start, end) <= limit

    def reach(self, start: int, limit: int) -> int:
        """The furthest end of a span from ``start`` that fits."""
        return bisect_right(self._before, self._before[start] + limit) - 1

    def reach_back(self, end: int, limit: int) -> int:
        """The earliest start of a span up to ``end`` that fits."""
        return bisect_left(self._before, self._before[end] - limit)


def _kinds(text: str) -> NDArray[np.uint8]:
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    table = _table()
    if not len(points) or points.max() < len(table):
        return table[points]
    kinds = table[np.minimum(points, len(table) - 1)]
    for point in np.unique(points[points >= len(table)]):
        kinds[points == point] = _kind(chr(point))
    return kinds


@cache
def _table() -> NDArray[np.uint8]:
    """Kind of each character of the Basic Multilingual Plane."""
    return np.array([_kind(chr(point)) for point in range(0x10000)], dtype=np.uint8)


def _kind(char: str) -> int:
    if char.isspace():
        return _BLANK
    return _RUN if char.isalnum() and not _HAN.match(char) else _SINGLE
