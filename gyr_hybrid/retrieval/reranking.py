"""What all rerankers do: new rows, best first, no node lost, and no section of a known code put behind others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.retrieval.candidates import Candidates
from gyr_hybrid.retrieval.code_lookup import resolve_codes
from gyr_hybrid.retrieval.legs import find_holders

Grades = Sequence[float | None]
"""One per node, higher is better; None where there is none."""


class Reranker(BaseNodePostprocessor):
    """A LlamaIndex postprocessor that orders nodes by a grade for each.

    It returns new rows with scores in 0..1 that fall; the rows given stay as they are. What has no grade keeps its
    order, at the end. Nodes that bear codes of the question stand before all others whatever their grades are: those
    that bear all of them, then some, as a `HybridRetriever` has them.
    """

    top_n: int | None = Field(default=None, ge=1, description="Rows returned; None for all.")
    _analyzer: Any = PrivateAttr(default=None)

    def __init__(self, *, analyzer: Analyzer | None = None, **data: Any) -> None:
        super().__init__(**data)
        self._analyzer = analyzer

    @property
    def analyzer(self) -> Analyzer:
        """What finds codes in questions and nodes."""
        found: Analyzer = self._analyzer or _usual_analyzer()
        return found

    def _grades(self, question: str, nodes: Sequence[NodeWithScore]) -> Grades:
        raise NotImplementedError

    async def _agrades(self, question: str, nodes: Sequence[NodeWithScore]) -> Grades:
        raise NotImplementedError

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes or query_bundle is None:
            return nodes
        question = query_bundle.query_str
        return self._ordered(question, nodes, self._grades(question, nodes))

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if not nodes or query_bundle is None:
            return nodes
        question = query_bundle.query_str
        return self._ordered(question, nodes, await self._agrades(question, nodes))

    def _ordered(self, question: str, nodes: Sequence[NodeWithScore], grades: Grades) -> list[NodeWithScore]:
        scores = filled(grades, len(nodes))
        tiers = code_tiers(question, nodes, self.analyzer)
        levels = {tier: place for place, tier in enumerate(sorted(set(tiers)))}
        tiered = [(levels[tier] + score) / len(levels) for tier, score in zip(tiers, scores, strict=True)]
        order = sorted(range(len(nodes)), key=lambda i: (-levels[tiers[i]], -scores[i]))
        return [NodeWithScore(node=nodes[i].node, score=tiered[i]) for i in order[: self.top_n]]


def filled(grades: Grades, count: int) -> list[float]:
    """Grades for all of ``count`` nodes: those without one come in their order, below the lowest that there is.

    >>> [round(grade, 2) for grade in filled([None, 0.5, None], 3)]
    [0.33, 0.5, 0.17]
    """
    given = [*grades, *[None] * count][:count]
    floor = min((grade for grade in given if grade is not None), default=1.0)
    rest = sum(grade is None for grade in given)
    left = iter(range(rest, 0, -1))
    return [floor * next(left) / (rest + 1) if grade is None else grade for grade in given]


def code_tiers(question: str, nodes: Sequence[NodeWithScore], analyzer: Analyzer) -> list[tuple[int, int]]:
    """Per node: (2 bears all codes of the question that these nodes know, 1 some, 0 none; how many it defines)."""
    view = Candidates([hit.node for hit in nodes], analyzer)
    codes = resolve_codes(
        question, analyzer, view.codes, said=lambda token: bool(view.lexical({token: 1.0}, 1))
    )
    holders = find_holders(codes, view)
    children = view.children(list(view.units))
    return [holders.tier(children[hit.node.node_id]) if holders else (0, 0) for hit in nodes]


@lru_cache(maxsize=1)
def _usual_analyzer() -> Analyzer:
    return Analyzer()
