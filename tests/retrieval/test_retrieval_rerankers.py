from __future__ import annotations

import pytest
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from gyr_hybrid.retrieval.rerankers import EndpointReranker, LLMReranker, parse_grades
from gyr_hybrid.testing import ScriptedLLM


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
