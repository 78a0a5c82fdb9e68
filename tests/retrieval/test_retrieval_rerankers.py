from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import Document
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from gyr_hybrid import (
    ConfigurationError,
    EndpointReranker,
    FeatureReranker,
    HybridIndex,
    LLMReranker,
    Settings,
)
from gyr_hybrid.retrieval.grades import parse_grades
from gyr_hybrid.retrieval.reranking import Reranker
from gyr_hybrid.testing import HashEmbedding, ScriptedLLM


def _nodes() -> list[NodeWithScore]:
    return [NodeWithScore(node=TextNode(text=f"d{i}", id_=f"d{i}"), score=1 - i / 10) for i in (1, 2, 3)]


@pytest.mark.parametrize(
    ("reply", "grades"),
    [
        ("文档：2，相关性：9", [None, 0.9, None]),
        ("Doc 2 (9/10)", [None, 0.9, None]),
        ("[2, 1]", [0.5, 1.0, None]),
        ("", [None, None, None]),
        ("Doc: 2, Relevance: 9, because it says so", [None, 0.9, None]),
        ("Doc: 2, Relevance: 0.95\nDoc: 1, Relevance: 0.10", [0.1, 0.95, None]),
        ("Doc: 2, Relevance: -5", [None, None, None]),
        ("Doc: 0, Relevance: 9", [None, None, None]),
        ("Doc: 2, Relevance: 高\nDoc: 1, Relevance: 3\nDoc: 3, Relevance: 8", [0.3, None, 0.8]),
        ("Doc: 2, Relevance: 9\nDoc: 2, Relevance: 1", [None, 0.9, None]),
        ("<think>maybe Doc: 3, Relevance: 1</think>\nDoc: 2, Relevance: 9", [None, 0.9, None]),
        ('```json\n[{"doc": 3, "score": 8}, {"doc": 1, "score": 2}]\n```', [0.2, None, 0.8]),
        ('{"results": [{"index": 1, "score": 7.5}]}', [0.75, None, None]),
        ("1: 9\n3：4", [0.9, None, 0.4]),
    ],
)
def test_whatever_the_model_writes_is_read(reply: str, grades: list[float | None]) -> None:
    """run-llama/llama_index#11470, #17352: a free reply raises, shifts scores or empties the context."""
    assert parse_grades(reply, 3) == [g if g is None else pytest.approx(g) for g in grades]


@pytest.mark.parametrize("reply", ["", "我不知道", "Doc: 2, Relevance: 9"])
def test_no_document_is_ever_lost(reply: str) -> None:
    ranked = LLMReranker(llm=ScriptedLLM([reply])).postprocess_nodes(_nodes(), QueryBundle("q"))
    assert sorted(hit.node.node_id for hit in ranked) == ["d1", "d2", "d3"]
    scores = [hit.score or 0.0 for hit in ranked]
    assert scores == sorted(scores, reverse=True)
    assert ranked[0].node.node_id == ("d2" if "9" in reply else "d1")


class _Scores:
    def __init__(self, scores: list[float | None]) -> None:
        self._scores = scores

    def scores(self, query: str, documents: object) -> list[float | None]:
        return self._scores

    async def ascores(self, query: str, documents: object) -> list[float | None]:
        return self._scores


def test_logits_become_scores_between_0_and_1() -> None:
    ranked = EndpointReranker(_Scores([-2.0, 3.0, None])).postprocess_nodes(_nodes(), QueryBundle("q"))
    assert [hit.node.node_id for hit in ranked] == ["d2", "d1", "d3"]
    assert all(0.0 <= (hit.score or 0.0) <= 1.0 for hit in ranked)


def test_the_nodes_given_keep_their_scores() -> None:
    nodes = _nodes()
    EndpointReranker(_Scores([0.1, 0.9, 0.5])).postprocess_nodes(nodes, QueryBundle("q"))
    assert [hit.score for hit in nodes] == [0.9, 0.8, 0.7]


CODES = {
    "e1043": "错误码 E1043：请联系管理员，导入就能继续。",
    "words": "导入怎么办：下载模板，重新导入。",
    "e1042": "错误码 E1042：请检查列序。",
}


def _model(name: str) -> Reranker:
    """Each puts the section of the code last, as far as it may."""
    if name == "features":
        return FeatureReranker(top_n=2)
    if name == "endpoint":
        return EndpointReranker(_Scores([0.9, 0.8, 0.0]), top_n=2)
    return LLMReranker(
        ScriptedLLM(['[{"doc": 1, "score": 9}, {"doc": 2, "score": 8}, {"doc": 3, "score": 0}]']), top_n=2
    )


@pytest.mark.parametrize("name", ["features", "endpoint", "llm"])
@pytest.mark.parametrize("question", ["导入报Ｅ１０４２怎么办", "错误码1042 导入", "e-1042"])
def test_the_section_of_a_known_code_cannot_be_reranked_away(name: str, question: str) -> None:
    nodes = [NodeWithScore(node=TextNode(text=t, id_=i), score=0.5) for i, t in CODES.items()]
    hits = _model(name).postprocess_nodes(nodes, QueryBundle(question))
    assert hits[0].node.node_id == "e1042"
    assert len(hits) == 2
    scores = [hit.score or 0.0 for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)


@pytest.mark.parametrize("name", ["features", "endpoint", "llm"])
def test_nor_by_the_reranker_of_an_index(name: str) -> None:
    documents = [Document(text=f"# {i}\n\n{t}", id_=i) for i, t in CODES.items()]
    with HybridIndex.from_documents(documents, embed_model=HashEmbedding(32), reranker=_model(name)) as index:
        for question in ("导入报 e1042 怎么办", "错误码1042"):
            hits = index.as_retriever(top_k=1).retrieve(question)
            assert [hit.node.node_id for hit in hits] == ["e1042#1"]


def test_settings_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(llm: ScriptedLLM | None = None, **values: Any) -> Any:
        with HybridIndex.open(
            None, settings=Settings(**values), llm=llm, embed_model=HashEmbedding(8)
        ) as index:
            return index.reranker

    monkeypatch.setenv("GYR_OFFLINE", "0")
    service = {"rerank_base_url": "http://localhost:1/v1", "rerank_model": "m"}
    assert chosen() is None
    assert isinstance(chosen(**service), EndpointReranker)
    assert chosen(**service, reranker="features") is None
    assert isinstance(chosen(ScriptedLLM(["1"]), **service, reranker="llm"), LLMReranker)
    assert chosen(offline=True, reranker="endpoint") is None
    for name in ("llm", "endpoint"):
        with pytest.raises(ConfigurationError, match=f"GYR_RERANKER={name} needs"):
            chosen(reranker=name)
    monkeypatch.setenv("GYR_RERANKER", "features")
    assert chosen(**service) is None
