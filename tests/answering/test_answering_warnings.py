"""What an answer says beside itself: degraded legs and parts without evidence, in the question's language."""

from __future__ import annotations

import asyncio
import pickle

import pytest
from llama_index.core import Document
from llama_index.core.base.embeddings.base import BaseEmbedding

from gyr_hybrid import CitedResponse, HybridIndex
from gyr_hybrid.notices import Notice, said
from gyr_hybrid.testing import HashEmbedding

REFUND = Document(
    id_="kb-002", text="# 退款\n\n## 到账\n\n退款 3 个工作日内到账。Refunds arrive within 3 days."
)


class Failing(HashEmbedding):
    """Embeds documents, but no question."""

    def _get_query_embedding(self, query: str) -> list[float]:
        raise ConnectionError("no route")

    async def _aget_query_embedding(self, query: str) -> list[float]:
        raise ConnectionError("no route")


def ask(question: str, *, embed_model: BaseEmbedding | None, awaited: bool = False) -> CitedResponse:
    with HybridIndex.from_documents([REFUND], embed_model=embed_model, offline=True) as index:
        engine = index.as_query_engine()
        response = asyncio.run(engine.aquery(question)) if awaited else engine.query(question)
    assert isinstance(response, CitedResponse)
    return response


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize(
    ("question", "warning"),
    [
        ("退款几天到账", "问题的向量化失败，已略过：ConnectionError: no route"),
        ("when do refunds arrive", "embed failed and was left out: ConnectionError: no route"),
    ],
)
def test_a_leg_that_failed_is_named_in_the_question_s_language(
    question: str, warning: str, awaited: bool
) -> None:
    assert ask(question, embed_model=Failing(), awaited=awaited).warnings == [warning]


def test_a_notice_is_english_text_until_somebody_asks() -> None:
    notice = Notice("nothing", zh="没有")
    assert notice == "nothing"
    assert said(notice, "zh") == "没有"
    assert said(notice, "en") == "nothing"
    assert said(pickle.loads(pickle.dumps(notice)), "zh") == "没有"


@pytest.mark.parametrize(
    ("question", "answered", "warning"),
    [
        ("汇率几点更新，健身房怎么办卡？", "kb-020", "资料中没有能回答“健身房怎么办卡”的内容"),
        ("火星上的水有几种？优惠码能不能叠加？", "kb-008", "资料中没有能回答“火星上的水有几种”的内容"),
    ],
)
def test_a_part_without_evidence_is_named_and_the_other_answered(
    helpcenter: HybridIndex, question: str, answered: str, warning: str
) -> None:
    response = helpcenter.as_query_engine().query(question)
    assert isinstance(response, CitedResponse)
    assert not response.refused
    assert response.warnings == [warning]
    assert {citation.doc_id for citation in response.citations} == {answered}


def test_a_part_without_evidence_is_named_in_english() -> None:
    response = ask("When do refunds arrive, and who won the football cup?", embed_model=HashEmbedding())
    assert "the documents contain nothing that answers “who won the football cup”" in response.warnings


@pytest.mark.parametrize(
    "question",
    [
        "汇率几点更新？优惠码能不能叠加？",  # both parts
        "退款几天到账",  # one part
        "火星上的水有几种，健身房怎么办卡？",  # none: a refusal says so
    ],
)
def test_nothing_is_said_of_parts_where_all_or_none_have_evidence(
    helpcenter: HybridIndex, question: str
) -> None:
    response = helpcenter.as_query_engine().query(question)
    assert isinstance(response, CitedResponse)
    assert response.warnings == []
    assert response.refused == ("健身房" in question)


def test_a_model_is_asked_the_whole_question_and_the_warning_stays(helpcenter: HybridIndex) -> None:
    from gyr_hybrid.testing import ScriptedLLM

    llm = ScriptedLLM("优惠码不能叠加使用。[kb-008#1]资料中没有提到健身房。")
    response = helpcenter.as_query_engine(llm=llm).query("优惠码能不能叠加？健身房怎么办卡？")
    assert isinstance(response, CitedResponse)
    assert response.warnings == ["资料中没有能回答“健身房怎么办卡”的内容"]
    assert response.citations
