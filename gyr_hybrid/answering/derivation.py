"""Figures that a sentence works out from quoted ones: ``468 ÷ 12 = 39``."""

from __future__ import annotations

from collections.abc import Iterable

from gyr_hybrid.answering.figures import Figure


def derived(unknown: Iterable[Figure], quoted: Iterable[Figure], sentence: str) -> set[Figure]:
    """Those of ``unknown`` that arithmetic on ``quoted`` yields."""
    return set()
