"""FeatureReranker: the score step of an index, over nodes that anyone found."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import NodeWithScore, QueryBundle

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.retrieval.candidates import Candidates
from gyr_hybrid.retrieval.options import RetrieverOptions
from gyr_hybrid.retrieval.query import HybridQuery
from gyr_hybrid.retrieval.ranking import score, set_tiers, sort
from gyr_hybrid.retrieval.reranking import Reranker
from gyr_hybrid.retrieval.run import Run
from gyr_hybrid.retrieval.synonyms import load_synonyms


class FeatureReranker(Reranker):
    """Order by words, headings and codes; no model, no index, no network.

    What a `HybridRetriever` does to its own candidates, done to those of any LlamaIndex retriever: BM25 of the whole
    node, share of the question that one piece of it has together, share of the question in the headings (metadata
    ``header_path`` or ``title``), codes in tiers and by their place. The scores that came with the nodes stand for the
    cosines that an index has. Words are compared among the nodes given: let the retriever find more than are wanted, and
    set ``top_n``. Behind vectors it gains most; BM25 over a whole collection knows better which words are rare.

    Args:
        top_n: rows returned; None for all.
        synonyms: a file of synonym groups, or its lines, beside the shipped ones.
        analyzer: the index's own, when it has words or codes of its own.

    >>> from llama_index.core.schema import TextNode
    >>> texts = ["提示E1043时请联系管理员。", "提示E1042时请检查列序。"]
    >>> found = [NodeWithScore(node=TextNode(text=text), score=0.5) for text in texts]
    >>> FeatureReranker(top_n=1).postprocess_nodes(found, query_str="Ｅ１０４２怎么办")[0].node.get_content()
    '提示E1042时请检查列序。'
    """

    _synonyms: Any = PrivateAttr()

    def __init__(
        self,
        *,
        top_n: int | None = None,
        synonyms: str | Path | Iterable[str] | None = None,
        analyzer: Analyzer | None = None,
        **data: Any,
    ) -> None:
        super().__init__(top_n=top_n, analyzer=analyzer, **data)
        self._synonyms = load_synonyms(synonyms)

    @classmethod
    def class_name(cls) -> str:
        return "FeatureReranker"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes or query_bundle is None:
            return nodes
        view = Candidates([hit.node for hit in nodes], self.analyzer)
        given: dict[str, float] = {}
        for hit in nodes:
            given.setdefault(hit.node.node_id, hit.score or 0.0)
        run = Run(HybridQuery(query_bundle.query_str), RetrieverOptions(), view, self.analyzer, given=given)
        run.understand(self._synonyms)
        children = view.children(list(view.units))
        set_tiers(run, children)
        sort(run, score(run, children))
        places = {unit: (place, value) for place, (unit, value) in enumerate(run.order)}
        ordered = sorted(nodes, key=lambda hit: places[hit.node.node_id][0])
        return [
            NodeWithScore(node=hit.node, score=places[hit.node.node_id][1]) for hit in ordered[: self.top_n]
        ]

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._postprocess_nodes, nodes, query_bundle)
