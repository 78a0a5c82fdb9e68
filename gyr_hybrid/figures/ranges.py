"""Figures of a source, with the codes that its lists and ranges name without writing each of them out."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.figures.normaliser import Figure, find_figures

_SERIES = re.compile(r"\d\s?(?:[-~～–—−/、]|至|到|to|through)\s?(?:[^\W\d_][\w.-]*)?\d")
"""Digits on both sides of a mark of lists and ranges: only such a text is analysed once more."""


@cache
def _analyzer() -> Analyzer:
    return Analyzer()


@lru_cache(maxsize=8192)
def source_figures(text: str) -> tuple[Figure, ...]:
    """The figures of ``text`` and, weak, the codes of its lists and ranges: nothing need say each of them.

    Which codes those are is told by the analysis that indexes them too.

    >>> [(f.text, f.weak) for f in source_figures("P5–P7")]
    [('P5–P7', False), ('P5', True), ('P6', True), ('P7', True)]
    """
    found = find_figures(text)
    if not _SERIES.search(text) or not any(f.kind == "code" for f in found):
        return found
    said = {f.value for f in found}
    named = {
        re.sub(r"[-_./:]", "", mention.code.canonical): mention.code
        for mention in _analyzer().mentions(text.upper())  # short codes are told by their capitals
        if mention.code.kind in ("code", "short")
    }
    return found + tuple(
        Figure("code", key, weak=True, start=code.start, end=code.end, text=code.text)
        for key, code in named.items()
        if key not in said
    )
