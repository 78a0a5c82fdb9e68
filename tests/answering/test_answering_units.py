"""An answer cut into units, the same however it arrives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyr_hybrid.answering.context.citations import CitationParser
from gyr_hybrid.answering.context.labels import Source
from gyr_hybrid.answering.enforcement.units import Segmenter, Unit
from gyr_hybrid.answering.generation import ThinkFilter

PARSER = CitationParser(
    [Source("kb-002#4", "kb-002", 4, "[kb-002#4]"), Source("kb-002#1", "kb-002", 1, "[kb-002#1]")]
)


def cut(*pieces: str) -> list[Unit]:
    segmenter = Segmenter(PARSER.is_citation)
    return [unit for piece in pieces for unit in segmenter.feed(piece)] + segmenter.finish()


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ("三年。五年！可以吗？好……完。", ["三年。", "五年！", "可以吗？", "好……", "完。"]),
        ("他说：“可以。”然后退款。", ["他说：“可以。”", "然后退款。"]),
        ("版本 3.5.1 收费 1,299.00 元。", ["版本 3.5.1 收费 1,299.00 元。"]),
        (
            "It takes 3.5 days, e.g. Monday. Then it ends.",
            ["It takes 3.5 days, e.g. Monday.", "Then it ends."],
        ),
        ("三年。[kb-002#4]五年[kb-002#1]。", ["三年。[kb-002#4]", "五年[kb-002#1]。"]),
        ("三年。 [kb-002#4] [kb-002#1] 五年。", ["三年。 [kb-002#4] [kb-002#1]", "五年。"]),
        (
            "三年。[kb-002#4]<quote>三年。五年</quote>五年。",
            ["三年。[kb-002#4]<quote>三年。五年</quote>", "五年。"],
        ),
        ("三年。\n[kb-002#4]\n五年。", ["三年。\n[kb-002#4]", "五年。"]),
        ("[kb-002#4] 三年。五年。", ["[kb-002#4] 三年。", "五年。"]),
        ("三年；五年。[kb-002#4]", ["三年；五年。[kb-002#4]"]),
        ("三年；[kb-002#1]五年。[kb-002#4]", ["三年；[kb-002#1]", "五年。[kb-002#4]"]),
        ("（见《政策》。）三年。", ["（见《政策》。）", "三年。"]),
        ("退款（全额；原路）三年。", ["退款（全额；原路）三年。"]),
    ],
)
def test_sentences_end_where_they_end(text: str, raw: list[str]) -> None:
    assert [unit.raw for unit in cut(text)] == raw


def test_lists_keep_their_markers_and_levels() -> None:
    units = cut(
        "步骤如下：\n\n1. 打开设置。再点订阅。[kb-002#4]\n2. 提交\n   - 原因[kb-002#1]\n\n（1）完成\n"
    )
    assert [(u.kind, u.marker, u.level, u.raw) for u in units] == [
        ("sentence", "", -1, "步骤如下："),
        ("item", "1. ", 0, "打开设置。再点订阅。[kb-002#4]"),
        ("item", "2. ", 0, "提交"),
        ("item", "   - ", 3, "原因[kb-002#1]"),
        ("item", "（1）", 0, "完成"),
    ]
    assert [u.before for u in units] == ["", "\n\n", "\n", "\n", "\n\n"]


def test_a_number_at_the_beginning_of_a_line_is_no_list() -> None:
    assert [u.kind for u in cut("3.5 元一次。\n2026 年起。")] == ["sentence", "sentence"]


def test_tables_come_row_by_row_behind_their_head() -> None:
    units = cut("| 套餐 | 价格 |\n|---|---|\n| 专业版 | 49 元 [kb-002#4] |\n| 企业版 | 199 元 |\n\n完。")
    assert [u.kind for u in units] == ["header", "row", "row", "sentence"]
    assert units[1].raw == "| 专业版 | 49 元 [kb-002#4] |"


def test_code_stays_whole_with_the_label_below_it() -> None:
    units = cut("运行：\n```bash\nls -l; echo 完。\n```\n[kb-002#4]\n然后重启。")
    assert [(u.kind, u.raw) for u in units] == [
        ("sentence", "运行："),
        ("code", "```bash\nls -l; echo 完。\n```\n[kb-002#4]"),
        ("sentence", "然后重启。"),
    ]


def test_headings_and_rules_are_told_apart() -> None:
    assert [u.kind for u in cut("## 结论\n\n---\n\n可以退。")] == ["heading", "rule", "sentence"]


def test_a_unit_leaves_as_soon_as_nothing_can_change_it() -> None:
    segmenter = Segmenter(PARSER.is_citation)
    assert segmenter.feed("三年。") == []
    assert segmenter.feed("[kb-002") == []
    assert segmenter.feed("#4]") == []
    assert [u.raw for u in segmenter.feed("不")] == ["三年。[kb-002#4]"]
    assert [u.raw for u in segmenter.finish()] == ["不"]


ANSWER = st.lists(
    st.sampled_from(
        [
            "三年",
            "。",
            "！",
            "；",
            ".",
            " ",
            "\n",
            "\n\n",
            "- ",
            "1. ",
            "| a | b |",
            "|---|---|",
            "# ",
            "```",
            "“",
            "”",
            "（",
            "）",
            "[kb-002#4]",
            "[9]",
            "[可选]",
            "<quote>",
            "</quote>",
            "**",
            "3.5",
            "OK",
            "：",
            ">",
            "[",
        ]
    ),
    max_size=25,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(ANSWER, st.data())
def test_the_cut_does_not_depend_on_how_the_answer_arrives(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    assert cut(*pieces) == cut(text) == cut(*text)


@settings(max_examples=300, deadline=None)
@given(ANSWER)
def test_nothing_that_is_said_gets_lost(text: str) -> None:
    def said(raw: str) -> str:
        return "".join(c for c in raw if c in "三年可选OK35ab49kq")

    assert said("".join(u.marker + u.raw for u in cut(text))).startswith(said(text)[:1])
    assert len(said("".join(u.marker + u.raw for u in cut(text)))) >= len(said(text))


@pytest.mark.parametrize("size", [1, 3, 100])
def test_thoughts_are_taken_out(size: int) -> None:
    text = "<think>也许 <b>五年</b>？</think>三年。a < b，<THINK>x</THINK>完"
    thinking = ThinkFilter()
    out = "".join(thinking.feed(text[i : i + size]) for i in range(0, len(text), size)) + thinking.finish()
    assert out == "三年。a < b，完"


def test_a_thought_that_never_ends_is_no_answer() -> None:
    thinking = ThinkFilter()
    assert thinking.feed("<think>三年。") + thinking.finish() == ""
