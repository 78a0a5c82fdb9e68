"""Questions that ask two things."""

from __future__ import annotations

import pytest

from gyr_hybrid import Analyzer, HybridIndex
from gyr_hybrid.retrieval.parts import split_question

ANALYZER = Analyzer()


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("开发票要什么材料，多久能收到？", ("开发票要什么材料", "多久能收到")),
        ("汇率几点更新？优惠码能不能叠加？", ("汇率几点更新", "优惠码能不能叠加")),
        ("流水支持什么格式以及报表怎么导出", ("流水支持什么格式", "报表怎么导出")),
        ("升级和降级分别什么时候生效", ("升级", "降级分别什么时候生效")),
        ("我上周买了鞋，怎么退？另外发票怎么开", ("我上周买了鞋，怎么退", "发票怎么开")),
        ("How do I get a refund, and when is the invoice sent?", ("How do I get a refund", "when is the invoice sent")),
    ],
)  # fmt: skip
def test_each_part_that_asks_stands_alone(question: str, parts: tuple[str, ...]) -> None:
    assert split_question(question, ANALYZER) == parts


@pytest.mark.parametrize(
    "question",
    [
        "退款几天到账",
        "买的鞋开胶了，怎么退？",  # the first clause asks nothing
        "付款几天后发货，能退吗？为什么能退？？",  # the last part has no word of its own
        "和平饭店怎么走",  # no word that joins
        "和平饭店与和平酒店的区别",  # 和 is part of a name: better whole than wrong
        "TiDB 和 MySQL 兼容吗",
        "？" * 9,
        "",
        "一是什么？二是什么？三是什么？四是什么？五是什么？",
    ],
)
def test_a_question_that_asks_one_thing_stays_whole(question: str) -> None:
    assert split_question(question, ANALYZER) == ()


@pytest.mark.parametrize(
    ("question", "sections"),
    [
        ("发票怎么申请，开错了怎么办", {"kb-006#2", "kb-007#1"}),
        ("怎么邀请同事，最多能加几个人", {"kb-015#3", "kb-015#2"}),
        ("汇率几点更新？优惠码能不能叠加？", {"kb-020#2", "kb-008#1"}),
        ("记账员能做什么；邀请链接几天过期", {"kb-015#1", "kb-015#3"}),
        ("升级和降级分别什么时候生效", {"kb-005#1", "kb-005#2"}),
    ],
)
def test_the_first_two_sections_answer_both(
    helpcenter: HybridIndex, question: str, sections: set[str]
) -> None:
    hits = helpcenter.as_retriever(top_k=5).retrieve(question)
    assert {hit.node.node_id for hit in hits[:2]} == sections
    scores = [hit.score or 0.0 for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)


async def test_async_finds_the_same(helpcenter: HybridIndex) -> None:
    retriever = helpcenter.as_retriever(top_k=5)
    question = "重复扣款怎么退，汇率几点更新"
    found = [(hit.node.node_id, hit.score) for hit in retriever.retrieve(question)]
    assert [(hit.node.node_id, hit.score) for hit in await retriever.aretrieve(question)] == found


def test_parts_stand_in_the_explanation(helpcenter: HybridIndex) -> None:
    explained = helpcenter.as_retriever(top_k=2).explain("汇率几点更新？优惠码能不能叠加？")
    assert [(v.kind, v.text) for v in explained.variants] == [
        ("part", "汇率几点更新"),
        ("part", "优惠码能不能叠加"),
    ]
    assert explained.to_dict()["variants"][0]["found"][0] == "kb-020#2"
    assert explained.cost == {"searches": 3, "texts_embedded": 3}
    assert "part: 汇率几点更新" in str(explained)


def test_sections_of_a_code_stay_before_those_of_the_other_part(helpcenter: HybridIndex) -> None:
    ids = [
        h.node.node_id
        for h in helpcenter.as_retriever(top_k=4).retrieve("E1043 怎么解决，注销账号后数据还在吗")
    ]
    assert ids[0] == "kb-011#2"
    assert set(ids[:2]) == {"kb-011#1", "kb-011#2"}
    assert "kb-017#2" in ids


@pytest.mark.parametrize("options", [{"rerank": False}, {"mode": "dense"}])
def test_without_the_score_step_nothing_is_split(helpcenter: HybridIndex, options: dict[str, object]) -> None:
    assert helpcenter.as_retriever(**options).explain("汇率几点更新？优惠码能不能叠加？").variants == ()
