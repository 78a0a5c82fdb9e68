"""Figures are read in time that grows with the text, whatever stands in it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from gyr_hybrid.figures import Figure, derived, find_figures, source_figures

PIECES = [
    "1", "1,", "1,111,", "1-", "1.", "1/", "a", "E1042到E1050、", "一", "一二三", "零", "[kb-001#1", "%%%", "第第第", "第三条", "年月日",
    "2026-10-", "3天", "1年", "每", "至多", "不得", "半", "百分之", "3 元 5 角", "one ", "one and ", "a week and ", " ", "µ",
]  # fmt: skip
SIZES = (1000, 2000, 4000, 8000, 16000)
FLOOR = 0.02
"""Seconds below which the clock and the collector decide."""


def derived_of(text: str) -> set[Figure]:
    figures = find_figures(text)
    return derived(figures, figures, text)


def seconds(read: Callable[[str], object], text: str) -> float:
    find_figures.cache_clear()
    source_figures.cache_clear()
    start = time.process_time()
    read(text)
    return max(FLOOR, time.process_time() - start)


@pytest.mark.parametrize("read", [find_figures, source_figures, derived_of])
@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_the_text_and_no_faster(piece: str, read: Callable[[str], object]) -> None:
    texts = [(piece * size)[:size] for size in SIZES]
    took = [seconds(read, text) for text in texts]
    for _ in range(3):  # the collector or a neighbour may have disturbed a measurement
        if all(later / earlier < 9 for earlier, later in zip(took, took[2:], strict=False)):
            return  # four times the text: linear time grows by four, quadratic by sixteen
        took = [min(before, seconds(read, text)) for before, text in zip(took, texts, strict=True)]
    pytest.fail(f"{took} s for {SIZES} characters")


def test_an_overlong_run_of_digits_is_compared_as_text() -> None:
    (one,) = find_figures("1" * 5000)
    assert (one.kind, one.value) == ("code", "1" * 5000)
    assert find_figures("1" * 40)[0].kind == "number"
