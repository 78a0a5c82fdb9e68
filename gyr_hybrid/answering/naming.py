"""Rows and list items that a text names by their label: a row's first words, an item's words before its colon."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gyr_hybrid.answering.excerpts import Excerpt, cells_of

_LETTER = re.compile(r"[^\W\d_]")
_ITEM_LABEL = re.compile(r"[*_`]*([^：:，,。；;！？!?\n]{1,40}?)[*_`]*\s*[：:](?=.)", re.DOTALL)
_OTHER_NAMES = re.compile(r"[（()）/、|]")


def label_of(excerpt: Excerpt) -> str:
    """What a row or an item is about; empty where nothing says so.

    >>> label_of(Excerpt("row", 0, 0, "| 1 | 切削液 | 320 升 |")), label_of(Excerpt("item", 0, 0, "**P4**：400 元"))
    ('切削液', 'P4')
    """
    if excerpt.kind == "row":
        return next((cell for cell in cells_of(excerpt.text)[:2] if _LETTER.search(cell)), "")
    found = _ITEM_LABEL.match(excerpt.text) if excerpt.kind == "item" else None
    return found.group(1) if found else ""


def named_in(text: str, among: Iterable[Excerpt]) -> list[Excerpt]:
    """The rows and items whose label stands in ``text``; a label inside a longer one that stands there does not count.

    >>> rows = [Excerpt("row", i, i, f"| {name} | 1 |") for i, name in enumerate(("金卡", "白金卡", "黑卡"))]
    >>> [row.text for row in named_in("白金卡年费多少", rows)]
    ['| 白金卡 | 1 |']
    """
    names = {excerpt: _names(label_of(excerpt)) for excerpt in among}
    left = _even(text)
    found: set[str] = set()
    for name in sorted({name for own in names.values() for name in own}, key=len, reverse=True):
        rest = re.sub(_whole(name), "\n", left)
        if rest != left:
            found.add(name)
            left = rest
    return [excerpt for excerpt, own in names.items() if own & found]


def _names(label: str) -> set[str]:
    """The label, and what stands before its bracket or between its strokes."""
    names = {_even(label), *map(_even, _OTHER_NAMES.split(label))}
    return {name for name in names if len(name) > 1 and _LETTER.search(name)}


def _even(text: str) -> str:
    """Folded, without emphasis and without blanks beside Han characters."""
    return re.sub(r"(?<=[^\x00-\x7f])\s+|\s+(?=[^\x00-\x7f])|[*_`]", "", text.casefold()).strip()


def _whole(name: str) -> str:
    """Pattern of a name that is no part of a Latin word or a number."""
    head = r"(?<![a-z0-9])" if name[0].isascii() else ""
    tail = r"(?![a-z0-9])" if name[-1].isascii() else ""
    return f"{head}{re.escape(name)}{tail}"
