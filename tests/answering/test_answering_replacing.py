"""The source's own sentence for one that did not pass: about the same row, code and question."""

from __future__ import annotations

import pytest
from llama_index.core import Document

from gyr_hybrid import HybridIndex
from gyr_hybrid.testing import ScriptedLLM


def shown(documents: dict[str, str], asked: str, *answers: str, max_retries: int) -> str:
    nodes = [Document(id_=name, text=text) for name, text in documents.items()]
    with HybridIndex.from_documents(nodes, offline=True) as index:
        engine = index.as_query_engine(llm=ScriptedLLM(list(answers)), max_retries=max_retries)
        return str(engine.query(asked))


UPKEEP = {
    "a": "# 保养\n\n| 项目 | 周期 | 容量 |\n|---|---|---|\n| 切削液 | 每 3 个月 | 320 升 |\n| 主轴冷却油 | 每 12 个月 | 20 升 |"
}
COOLANT, OIL = (
    "项目：切削液，周期：每 3 个月，容量：320 升",
    "项目：主轴冷却油，周期：每 12 个月，容量：20 升",
)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("切削液容量 20 升。[a#1]", f"{COOLANT}。[a#1]"),
        ("切削液的周期是 12 个月。[a#1]", f"{COOLANT}。[a#1]"),
        ("主轴冷却油的容量是 320 升。[a#1]", f"{OIL}。[a#1]"),
        ("- 切削液：20 升 [a#1]\n- 主轴冷却油：320 升 [a#1]", f"- {COOLANT}[a#1]\n- {OIL}[a#1]"),
    ],
)
def test_a_row_stands_in_for_what_names_it(answer: str, expected: str) -> None:
    assert shown(UPKEEP, "切削液容量多少", answer, max_retries=0) == expected


def test_a_row_of_something_else_never_stands_in() -> None:
    answer = shown(UPKEEP, "切削液和导轨油容量多少", "导轨油容量 20 升。[a#1]", max_retries=0)
    assert "主轴冷却油" not in answer


TRAVEL = {"a": "# 差旅\n\n住宿每晚 550 元。伙食补助每天 100 元。"}
ROOM, FOOD = "住宿每晚 550 元。[a#1]", "伙食补助每天 100 元。[a#1]"


@pytest.mark.parametrize(
    ("answer", "again", "expected"),
    [
        ("住宿每晚 800 元。[a#1]" + FOOD, FOOD, ROOM + FOOD),
        (FOOD + "住宿每晚 800 元。[a#1]", FOOD, FOOD + ROOM),
        ("住宿每晚 800 元。[a#1]" + FOOD, ROOM, ROOM + FOOD),
        ("住宿每晚 800 元。[a#1]" + FOOD, "资料没有说明。", ROOM + FOOD),
        (
            "住宿每晚 800 元。[a#1]",
            "住宿标准为每晚 550 元。[a#1]",
            "住宿标准为每晚 550 元。[a#1]",
        ),
    ],
)
def test_a_second_attempt_that_is_about_something_else_gives_way_to_the_source(
    answer: str, again: str, expected: str
) -> None:
    assert shown(TRAVEL, "住宿多少，伙食补助多少", answer, again, max_retries=1) == expected


GRADES = {"a": "# P4 员工\n\n住宿每晚 400 元。", "b": "# P8 员工\n\n住宿每晚 800 元。"}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "- P4：住宿每晚 500 元 [a#1]\n- P8：住宿每晚 900 元 [b#1]",
            "- P4：住宿每晚 400 元。[a#1]\n- P8：住宿每晚 800 元。[b#1]",
        ),
        ("- P9：住宿每晚 900 元 [b#1]", "- 住宿每晚 800 元。[b#1]"),
        ("- 标准：住宿每晚 500 元 [a#1]", "- 住宿每晚 400 元。[a#1]"),
    ],
)
def test_a_list_item_keeps_its_label_if_it_is_the_code_of_its_section(answer: str, expected: str) -> None:
    assert shown(GRADES, "P4和P8住宿分别多少", answer, max_retries=0) == expected
