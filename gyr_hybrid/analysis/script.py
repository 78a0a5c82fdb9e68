"""Traditional characters to Simplified, character by character."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1)
def _simplified() -> dict[int, str]:
    """Traditional character -> its usual Simplified one (OpenCC's table)."""
    from importlib.resources import files

    table: dict[int, str] = {}
    text = (files("opencc") / "dictionary" / "TSCharacters.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        traditional, _, simplified = line.partition("\t")
        if len(traditional) == 1 and simplified:
            table[ord(traditional)] = simplified[0]
    return table


@lru_cache(maxsize=1)
def _traditional() -> frozenset[str]:
    return frozenset(map(chr, _simplified()))


def simplify(text: str) -> str:
    """Traditional characters made Simplified, one by one; the length stays.

    >>> simplify("發票開錯了")
    '发票开错了'
    """
    return text if _traditional().isdisjoint(text) else text.translate(_simplified())
