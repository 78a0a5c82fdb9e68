"""The class word of a bare number: the one beside it, or the one before the list of numbers in which it stands."""

from __future__ import annotations

import re

from gyr_hybrid.analysis.context import Label, Surroundings
from gyr_hybrid.analysis.folding import FoldedText

_LISTED = re.compile(r"(?<![a-z0-9.])(?P<number>\d+)\s*(?:和|与|跟|及|或|、|,|，|/|and|or)\s*$")
_REACH = 24
"""Characters of one number and what joins it to the next."""


def number_label(around: Surroundings, folded: FoldedText, start: int, end: int) -> Label | None:
    """The class word of the number there, None without one: ``参数 1828、1829 和 1830`` labels all three.

    >>> from gyr_hybrid.analysis.folding import fold_with_offsets
    >>> number_label(Surroundings(), fold_with_offsets("参数 1828 和 1829"), 10, 14).word
    '参数'
    """
    if label := around.label(folded, start, end):
        return label
    while found := _LISTED.search(folded.lowered, max(0, start - _REACH), start):
        start = found.start("number")
        if label := around.label_before(folded, start):
            return label
    return None
