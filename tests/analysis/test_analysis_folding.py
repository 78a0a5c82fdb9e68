"""Folding of width, case, dashes and script; numerals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyr_hybrid.analysis import fold
from gyr_hybrid.analysis.folding import fold_with_offsets
from gyr_hybrid.analysis.numerals import chinese_number
from gyr_hybrid.analysis.script import simplify


@pytest.mark.parametrize("text", ["Ｅ－１０４２", "e–1042", "E—1042", "E‑1042", "E−1042", "E\u200b-1042"])
def test_one_form_for_width_case_and_dash(text: str) -> None:
    assert fold(text) == "e-1042"


@given(st.text(max_size=40))
def test_every_folded_character_knows_where_it_came_from(text: str) -> None:
    folded = fold_with_offsets(text)
    assert len(folded.text) == len(folded.lowered)
    for at in range(len(folded.text)):
        start, end = folded.origin(at, at + 1)
        assert 0 <= start < end <= len(text)
        assert folded.text[at] in fold_with_offsets(text[start:end]).text


@given(st.text(max_size=40))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_traditional_characters_become_simplified_one_by_one() -> None:
    assert simplify("發票開錯了，別刪除銅製品；後臺裡的數據") == "发票开错了，别删除铜制品；后台里的数据"
    assert simplify("已经是简体") == "已经是简体"


@given(st.text(max_size=40))
def test_simplified_text_keeps_its_length_and_stays(text: str) -> None:
    assert len(simplify(text)) == len(text)
    assert simplify(simplify(text)) == simplify(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("三", 3), ("十", 10), ("十二", 12), ("二十", 20), ("三十三", 33), ("一百", 100), ("一百零五", 105), ("一百二十", 120), ("两百", 200),
        ("一千二百六十", 1260), ("二〇二四", 2024), ("廿三", 23), ("33", 33), ("〇", 0), ("", None), ("三条", None), ("x", None),
    ],
)  # fmt: skip
def test_chinese_numerals(text: str, value: int | None) -> None:
    assert chinese_number(text) == value
