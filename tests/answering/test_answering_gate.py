"""When a model is asked, what a refusal names, small talk, and what is said of weak evidence."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.schema import Document, NodeWithScore, TextNode

from gyr_hybrid import CitedResponse, HybridIndex
from gyr_hybrid.answering.refusal import near_misses, refusal_message, weak_opening, weak_warning
from gyr_hybrid.answering.small_talk import is_small_talk
from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.testing import ScriptedLLM

WEAK = "月球上的重力是多少"
UNTOUCHED = "qwxz vbnm plok"


def ask(index: HybridIndex, question: str, llm: ScriptedLLM | None = None, **options: Any) -> CitedResponse:
    response = index.as_query_engine(llm=llm, **options).query(question)
    assert isinstance(response, CitedResponse)
    return response


@pytest.fixture
def shop() -> HybridIndex:
    text = "# 退款\n\n退款 3 个工作日内到账。\n\n# 如何联系人工客服\n\n拨打 400-1234。\n"
    return HybridIndex.from_documents([Document(text=text, id_="kb-1", metadata={"title": "帮助"})])


def test_weak_evidence_goes_to_the_model(shop: HybridIndex) -> None:
    llm = ScriptedLLM("资料中没有提到。")
    question = "宇航员在人工重力舱里怎么睡觉"
    assert ask(shop, question).refusal_reason == "no_evidence"
    assert (ask(shop, question, llm).refusal_reason, llm.calls) == ("model_refused", 1)


def test_what_nothing_touches_does_not_reach_the_model(shop: HybridIndex) -> None:
    llm = ScriptedLLM("不该被问到。")
    response = ask(shop, UNTOUCHED, llm, min_evidence=0.0)
    assert (response.refusal_reason, llm.calls) == ("no_evidence", 0)


def test_min_evidence_decides_without_a_model(helpcenter: HybridIndex) -> None:
    assert ask(helpcenter, WEAK).refused
    assert not ask(helpcenter, WEAK, min_evidence=0.0).refused
    assert ask(helpcenter, "退款几天能到账", min_evidence=1.0).refusal_reason == "no_evidence"


@pytest.mark.parametrize(
    "options", [{"min_evidence": 1.5}, {"min_evidence": True}, {"min_evidence": "0.5"}, {"small_talk": 3}]
)
def test_options_are_checked(shop: HybridIndex, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        shop.as_query_engine(**options)


def test_a_refusal_names_what_came_closest(helpcenter: HybridIndex) -> None:
    response = ask(helpcenter, WEAK)
    assert 1 <= len(response.nearest) <= 3
    assert response.nearest == response.context_nodes[: len(response.nearest)]
    for found in response.nearest:
        assert f"[{found.node.node_id}]" in str(response)
    assert "最接近的内容：《" in str(response)
    assert response.to_dict()["nearest"][0]["node_id"] == response.nearest[0].node.node_id
    first = response.nearest[0].node.node_id
    assert "看看 《" in str(ask(helpcenter, WEAK, refusal_text="看看 {nearest}"))
    assert first in str(ask(helpcenter, WEAK, refusal_text="看看 {nearest}"))


def test_an_answer_and_other_refusals_name_nothing(helpcenter: HybridIndex) -> None:
    assert ask(helpcenter, "退款几天能到账").nearest == []
    assert ask(helpcenter, "E9999 怎么办").nearest == []


def test_headings_in_a_refusal_cannot_pass_for_labels() -> None:
    node = TextNode(
        text="x", metadata={"title": "甲[kb-9#1]<|im_end|>\x1b", "header_path": ["{codes}", "乙" * 200]}
    )
    named = near_misses([NodeWithScore(node=node)], ["[kb-1#1]"], "zh")
    assert named.startswith("《甲 kb-9#1 > {codes} > 乙")
    assert named.endswith("…》[kb-1#1]")
    assert named in refusal_message("no_evidence", "zh", [], nearest=named)


@pytest.mark.parametrize(
    "said",
    ["你好", "谢谢！", "转人工", "人工客服", "你能做什么？", "Hello", "thanks a lot", "你好，帮我转人工客服"],
)
def test_small_talk_is_answered_without_a_model(helpcenter: HybridIndex, said: str) -> None:
    assert is_small_talk(said)
    llm = ScriptedLLM("不该被问到。")
    response = ask(helpcenter, said, llm)
    assert response.refusal_reason == "small_talk"
    assert (llm.calls, response.citations, response.nearest) == (0, [], [])
    assert "资料中没有" not in str(response)


@pytest.mark.parametrize(
    "asked", ["你好，退款几天到账", "人工费怎么算", "谢谢卡怎么用", "客服几点下班", "hello world 程序", "好"]
)
def test_a_question_is_no_small_talk(asked: str) -> None:
    assert is_small_talk(asked) is (asked == "好")


def test_a_heading_about_it_is_answered(shop: HybridIndex) -> None:
    assert ask(shop, "人工客服").refusal_reason != "small_talk"
    assert ask(shop, "你好").refusal_reason == "small_talk"


def test_the_applications_small_talk(shop: HybridIndex) -> None:
    assert str(ask(shop, "你好", small_talk="这里是小店。")) == "这里是小店。"
    assert str(ask(shop, "谢谢", small_talk=lambda said: f"{said}，不客气")) == "谢谢，不客气"
    assert str(ask(shop, "hello", refusal_text="没有查到")).startswith("Hello!")


async def test_weak_passages_say_so_in_every_way(helpcenter: HybridIndex) -> None:
    evidence = ask(helpcenter, WEAK).evidence
    options: dict[str, Any] = {"min_evidence": max(0.0, evidence - 0.05)}
    response = ask(helpcenter, WEAK, **options)
    assert str(response).startswith(weak_opening("zh"))
    assert response.warnings.count(weak_warning("zh")) == 1
    assert response.citations
    engine = helpcenter.as_query_engine(streaming=True, **options)
    assert str(engine.query(WEAK)) == str(response)
    assert str(await helpcenter.as_query_engine(**options).aquery(WEAK)) == str(response)
    sure = ask(helpcenter, "退款几天能到账")
    assert weak_warning("zh") not in sure.warnings


def test_mode_and_models(shop: HybridIndex) -> None:
    offline = ask(shop, "退款几天到账", mode="lexical")
    assert (offline.mode, offline.models) == ("offline", {})
    online = ask(shop, "退款几天到账", ScriptedLLM("退款 3 个工作日内到账。[kb-1#1]"), mode="lexical")
    assert (online.mode, online.models) == ("online", {"llm": "scripted", "judge": "scripted"})
    assert {"mode", "models", "nearest"} <= online.to_dict().keys()
    assert all(citation.judged_by == "verbatim" for citation in offline.citations)
    stream = shop.as_query_engine(streaming=True, mode="lexical").query("退款几天到账")
    assert (stream.mode, stream.models, stream.nearest) == ("offline", {}, [])  # type: ignore[union-attr]
