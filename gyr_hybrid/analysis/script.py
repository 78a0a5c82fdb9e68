"""Traditional characters to Simplified, character by character."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

_TABLE = Path(__file__).with_name("simplified.txt")  # pairs of characters: Traditional, Simplified


@lru_cache(maxsize=1)
def _simplified() -> dict[int, str]:
    pairs = "".join(_TABLE.read_text(encoding="utf-8").split())
    return {
        ord(traditional): simplified for traditional, simplified in zip(pairs[::2], pairs[1::2], strict=True)
    }


@lru_cache(maxsize=1)
def _traditional() -> re.Pattern[str]:
    return re.compile(f"[{''.join(map(chr, _simplified()))}]")


def simplify(text: str) -> str:
    """Traditional characters made Simplified, one by one; the length stays.

    >>> simplify("發票開錯了")
    '发票开错了'
    """
    return text.translate(_simplified()) if _traditional().search(text) else text
