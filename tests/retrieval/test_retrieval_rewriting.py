"""Questions rewritten by a chat model, each rewriting searched and pooled."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core import Document
from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from gyr_hybrid import ConfigurationError, HybridIndex
from gyr_hybrid.retrieval.rewriting import parse_rewrites
from gyr_hybrid.testing import HashEmbedding, ScriptedLLM

TEXTS = {
    "pay": "# 付款方式\n\n支持银行转账与支付宝。",
    "fee": "# 邮费\n\n单笔满九十九元包邮。",
    "e1042": "# 错误码 E1042\n\n请检查列序。",
    "e1043": "# 错误码 E1043\n\n请联系管理员。",
    "secret": "# 内部邮费\n\n内部员工包邮。",
}


def _documents() -> list[Document]:
    rights = {"secret": {"tenant": "other", "acl": ["hr"], "category": "内部", "valid_to": "2020-01-01"}}
    return [Document(text=text, id_=name, metadata=rights.get(name, {})) for name, text in TEXTS.items()]


def _index(*replies: str, **options: Any) -> tuple[HybridIndex, ScriptedLLM]:
    llm = ScriptedLLM(list(replies))
    return HybridIndex.from_documents(_documents(), embed_model=HashEmbedding(64), llm=llm, **options), llm


def _ids(hits: Any) -> list[str]:
    return [hit.node.node_id for hit in hits]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("运费多少\n满多少包邮", ["运费多少", "满多少包邮"]),
        ("1. 运费多少\n2、满多少包邮", ["运费多少", "满多少包邮"]),
        ("- “运费多少”\n\n- 运费多少", ["运费多少"]),
        ('```json\n["运费多少", "满多少包邮"]\n```', ["运费多少", "满多少包邮"]),
        ("<think>运费？</think>改写1：运费多少", ["运费多少"]),
        ("寄东西要钱吗", []),
        ("", []),
        ("好" * 300, []),
        ("a\n。\n运费多少", ["运费多少"]),
    ],
)
def test_whatever_the_model_writes_is_read(reply: str, found: list[str]) -> None:
    assert parse_rewrites(reply, "寄东西要钱吗", 2) == found


def test_off_by_default_no_call_is_made() -> None:
    index, llm = _index("包邮")
    index.as_retriever().retrieve("寄东西要钱吗")
    assert llm.prompts == []


def test_a_rewriting_finds_what_the_users_words_do_not() -> None:
    index, llm = _index("满多少包邮")
    question = "寄东西要花钱嘛"
    plain = index.as_retriever(mode="lexical", top_k=1).retrieve(question)
    assert _ids(plain) == []
    explained = index.as_retriever(mode="lexical", top_k=1, rewrites=2).explain(question)
    assert [step.node_id for step in explained.reranked] == ["fee#1"]
    assert question in llm.prompts[0]
    assert [(v.kind, v.text) for v in explained.variants] == [("rewrite", "满多少包邮")]
    assert explained.cost["llm_calls"] == 1
    assert explained.cost["searches"] == 2
    assert explained.cost["texts_embedded"] == 0
    assert explained.cost["prompt_tokens"] > explained.cost["reply_tokens"] == 5
    assert "llm_calls 1" in str(explained)


async def test_async_is_awaited_and_finds_the_same() -> None:
    class Waiting(ScriptedLLM):
        async def acomplete(self, *args: Any, **kwargs: Any) -> CompletionResponse:
            await asyncio.sleep(0)
            return CompletionResponse(text="满多少包邮")

        def complete(self, *args: Any, **kwargs: Any) -> CompletionResponse:
            raise AssertionError("the loop was blocked")

    index = HybridIndex.from_documents(_documents(), embed_model=HashEmbedding(64), llm=Waiting([]))
    found = await index.as_retriever(rewrites=1, mode="lexical").aretrieve("寄东西要花钱嘛")
    other, _ = _index("满多少包邮")
    again = other.as_retriever(rewrites=1, mode="lexical").retrieve("寄东西要花钱嘛")
    assert [(h.node.node_id, h.score) for h in found] == [(h.node.node_id, h.score) for h in again]
    assert _ids(found)[0] == "fee#1"


def test_a_rewriting_neither_adds_a_code_nor_loses_one() -> None:
    index, _ = _index("E1043 报错请联系管理员\n文件列序检查")
    retriever = index.as_retriever(rewrites=2, top_k=2)
    explained = retriever.explain("E1042 怎么办")
    assert explained.reranked[0].node_id == "e1042#1"
    assert [code.canonical for code in explained.codes] == ["e1042"]
    assert all("E1043" not in v.text and "E1042" in v.text for v in explained.variants)
    answer = index.as_query_engine(ScriptedLLM(["请检查列序。[e1042#1]"]), rewrites=0).query("E1042 怎么办")
    assert answer.unknown_identifiers == []


def test_a_question_without_a_code_gets_none() -> None:
    index, _ = _index("E1043 是什么")
    explained = index.as_retriever(rewrites=1, mode="lexical").explain("请联系管理员")
    assert explained.codes == ()
    assert [dict(step.details)["tier"] for step in explained.reranked] == [0] * len(explained.reranked)


def test_every_rewriting_sees_only_what_the_question_may_see() -> None:
    only = MetadataFilters(filters=[MetadataFilter(key="category", value="内部")])
    for options in ({"tenant": "mine"}, {"principals": ["sales"]}, {"as_of": "2026-01-01"}):
        index, _ = _index("内部邮费 内部员工包邮")
        assert "secret#1" not in _ids(index.as_retriever(rewrites=1, **options).retrieve("寄东西要花钱嘛"))
    index, _ = _index("满多少包邮")
    inside = index.as_retriever(rewrites=1, as_of="2019-01-01").retrieve("寄东西要花钱嘛", filters=only)
    assert _ids(inside) == ["secret#1"]


@pytest.mark.parametrize("reply", ["fail", ""])
async def test_a_failure_is_a_warning(reply: str) -> None:
    class Broken(ScriptedLLM):
        def complete(self, *args: Any, **kwargs: Any) -> CompletionResponse:
            if reply:
                raise RuntimeError("the model is down")
            return CompletionResponse(text="")

        async def acomplete(self, *args: Any, **kwargs: Any) -> CompletionResponse:
            return self.complete()

    index = HybridIndex.from_documents(_documents(), embed_model=HashEmbedding(64), llm=Broken([]))
    retriever = index.as_retriever(rewrites=1, mode="lexical")
    says = "the model is down" if reply else "no other wording"
    assert _ids(retriever.retrieve("支付宝付款"))[0] == "pay#1"
    assert any(says in warning for warning in retriever.warnings)
    assert _ids(await retriever.aretrieve("支付宝付款"))[0] == "pay#1"
    assert any(says in warning for warning in retriever.warnings)


def test_without_a_model_it_says_so() -> None:
    with HybridIndex.from_documents(_documents(), embed_model=HashEmbedding(64)) as index:
        retriever = index.as_retriever(rewrites=2)
        assert retriever.retrieve("支付宝付款")
        assert any("rewrites need a chat model" in warning for warning in retriever.warnings)
        for wrong in (-1, 11, True, "2"):
            with pytest.raises(ConfigurationError, match="rewrites="):
                index.as_retriever(rewrites=wrong)
