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
