"""What a question asks for, and whether sections about its code, or about its subject, have it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from llama_index.core import Document

from gyr_hybrid import CitedQueryEngine, CitedResponse, HybridIndex
from gyr_hybrid.answering.asking import asked_figure, asked_thing


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("用多少升", {"volume"}),
        ("几千瓦", {"power"}),
        ("多少钱一桶", {"money"}),
        ("贵不贵", {"money"}),
        ("how much does it cost", {"money"}),
        ("多久换一次", {"duration", "date"}),
        ("几天到账", {"duration", "date"}),
        ("有多重", {"weight"}),
        ("油温不能超过多少度", {"temperature"}),
        ("how many litres does it take", {"volume"}),
        ("how many people", set()),
        ("能报多少", set()),
        ("最多几个人", set()),
        ("能设多快", set()),
    ],
)
def test_the_kind_of_figure_is_that_of_the_unit_or_the_quality(question: str, kinds: set[str]) -> None:
    asked = asked_figure(question)
    assert asked is not None
    assert asked.kinds == kinds


@pytest.mark.parametrize("question", ["怎么处理", "多年生植物有哪些", "大多数情况", "报价单在哪", ""])
def test_other_questions_ask_for_no_figure(question: str) -> None:
    asked = asked_figure(question)
    assert asked is None or question == "报价单在哪"


@pytest.mark.parametrize(
    ("question", "text", "held"),
    [
        ("用多少升", "容量 46 L", True),
        ("用多少升", "重 46 kg", False),
        ("多少钱", "每月 199 元", True),
        ("多少钱", "前三个月免费", True),
        ("多少钱", "含 10 个用户", False),
        ("多久到账", "当天到账", True),
        ("多久到账", "3 个工作日", True),
        ("多久到账", "先审批，后到账", False),
        ("能设多少", "最大值 12000", True),
        ("能设多少", "见 E1042", False),
    ],
)
def test_a_text_holds_the_figure_or_words_for_it(question: str, text: str, held: bool) -> None:
    asked = asked_figure(question)
    assert asked is not None
    assert asked.stands_in(text) is held


def test_words_of_the_asking_are_no_words_of_the_aspect() -> None:
    question = "每次最多能加多少升机油"
    asked = asked_figure(question)
    assert asked is not None
    assert [w for w in ("每次", "最多", "加", "升", "机油") if not asked.belongs(w, question)] == ["机油"]


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("公司有健身房吗", "健身房"),
        ("有没有夜班车", "夜班车"),
        ("支持货到付款吗", "货到付款"),
        ("do you offer gift cards?", "gift cards"),
        ("只有会员能退吗", None),
        ("健身房怎么走", None),
    ],
)
def test_the_thing_whose_existence_is_asked(question: str, thing: str | None) -> None:
    place = asked_thing(question)
    assert (place and question[slice(*place)]) == thing


MANUAL = """# 设备手册

## KX-20 冷却液

储液罐 35 L，连续运行 800 小时后更换。液温保持在 40 ℃ 以下。

## KX-30 冷却液

储液罐 50 L。保质期 18 个月，存放于阴凉处。

## KX-40 清洗剂

每桶 260 元，稀释十倍使用。

## MAX_LOAD

工作台承重的上限，最大值 900，默认 500。

## 值班

夜间值班由当班组长安排，交接时填写记录。
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[CitedQueryEngine]:
    with HybridIndex.from_documents([Document(id_="m", text=MANUAL)], offline=True) as index:
        yield index.as_query_engine()


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("KX-20 用多少升", "m#1"),
        ("KX-20 要灌多少", "m#1"),
        ("KX-20 多久换一次", "m#1"),
        ("KX-20 什么时候换", "m#1"),
        ("KX-20 温度不能超过多少度", "m#1"),
        ("KX-30 能放多久", "m#2"),
        ("KX-40 贵不贵", "m#3"),
        ("MAX_LOAD 不能超过多少", "m#4"),
        ("MAX_LOAD 能设到多少", "m#4"),
    ],
)
def test_a_colloquial_aspect_of_a_code_is_answered_where_its_figure_stands(
    engine: CitedQueryEngine, question: str, section: str
) -> None:
    response = engine.query(question)
    assert isinstance(response, CitedResponse)
    assert not response.refused
    assert response.citations[0].node_id == section


@pytest.mark.parametrize(
    "question",
    [
        "KX-20 多少钱",  # no amount of money there
        "KX-20 有多重",
        "KX-20 保质期多久",  # a duration, but of another aspect, which stands elsewhere
        "KX-40 的保修期多久",
        "KX-30 是谁生产的",
        "KX-40 多少度存放",
        "MAX_LOAD 的价格",
        "KX-20 支持蓝牙吗",
    ],
)
def test_another_aspect_of_a_known_code_is_refused(engine: CitedQueryEngine, question: str) -> None:
    response = engine.query(question)
    assert isinstance(response, CitedResponse)
    assert response.refusal_reason == "no_evidence"


@pytest.mark.parametrize(
    "question", ["夜间有食堂吗", "夜间提供班车吗", "班长的生日派对在哪里办", "猫砂多少钱"]
)
def test_one_word_in_common_is_no_evidence(engine: CitedQueryEngine, question: str) -> None:
    response = engine.query(question)
    assert isinstance(response, CitedResponse)
    assert response.refusal_reason == "no_evidence"
