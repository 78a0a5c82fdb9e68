"""One run over a data set: the ranking of every leg and of every step, per question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gyr_hybrid.evaluation.judging import collapse, section_nodes, with_repeats
from gyr_hybrid.progress import progress

if TYPE_CHECKING:
    import gyr_hybrid
    from gyr_hybrid.evaluation.datasets import Question

DEPTH = 50
"""Sections that a retriever is asked for: enough for ten documents."""

ROWS: Mapping[str, str] = {
    "codes": "exact codes",
    "bm25": "BM25, children",
    "bm25-whole": "BM25, whole texts",
    "vectors": "vectors",
    "rrf": "RRF of children",
    "merge": "+ merge into sections",
    "tiers": "+ tiers of codes",
    "rerank": "+ rerank (full)",
}
"""Row of an ablation -> what it is, in the order of the road."""
LEGS = ("codes", "bm25", "bm25-whole", "vectors")
"""Rows that search in one way only."""
FULL = "rerank"
"""The whole pipeline."""


@dataclass(frozen=True, slots=True)
class Rankings:
    """Row -> question id -> units, best first; and how long the questions took."""

    rows: Mapping[str, Mapping[str, list[str]]]
    total_ms: list[float] = field(default_factory=list)
    """Whole pipeline, per question."""
    steps_ms: Mapping[str, list[float]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def rank_questions(
    index: gyr_hybrid.HybridIndex,
    questions: Sequence[Question],
    *,
    whole: gyr_hybrid.JiebaBM25Retriever | None = None,
    options: Mapping[str, Any] | None = None,
    timed: bool = True,
    show_progress: bool = False,
) -> Rankings:
    """Run every question through the full pipeline and through fusion without the score step.

    Rankings of legs, of merged and of reranked nodes are collapsed to the question's unit, the best that
    can be made of them; that of fused children is not: there a section that comes twice takes two places.

    Args:
        whole: BM25 over whole documents or sections, for the row ``bm25-whole``.
        options: of ``HybridIndex.as_retriever``.
        timed: also retrieve each question as a user would, to see how long that takes.
    """
    usual = index.as_retriever(**(options or {}))
    given = {**(options or {}), "top_k": DEPTH}
    full = index.as_retriever(**given)
    fused = index.as_retriever(**{**given, "rerank": False})
    rows: dict[str, dict[str, list[str]]] = {
        name: {} for name in ROWS if name != "bm25-whole" or whole is not None
    }
    total: list[float] = []
    steps: dict[str, list[float]] = {}
    warnings: dict[str, None] = {}
    if questions:
        full.explain(questions[0].text)  # loads the dictionary and the model before the clock runs
    for question in progress(list(questions), "asking", show_progress):
        if timed:
            started = perf_counter()
            result = usual.run(question.text)
            total.append((perf_counter() - started) * 1000.0)
            for step, ms in result.explanation.timings_ms.items():
                steps.setdefault(step, []).append(ms)
        seen = full.explain(question.text)
        warnings.update(dict.fromkeys(seen.warnings))
        unit = question.unit
        children = [step.node_id for step in seen.fused]
        found = {
            "codes": collapse((step.node_id for step in seen.legs.get("codes", ())), unit),
            "bm25": collapse((step.node_id for step in seen.legs.get("lexical", ())), unit),
            "vectors": collapse((step.node_id for step in seen.legs.get("dense", ())), unit),
            "rrf": with_repeats(children, unit),
            "merge": collapse(children, unit),
            "tiers": collapse((step.node_id for step in fused.explain(question.text).reranked), unit),
            "rerank": collapse((step.node_id for step in seen.reranked), unit),
        }
        if whole is not None:
            found["bm25-whole"] = collapse((hit.node.node_id for hit in whole.retrieve(question.text)), unit)
        for name, ranking in found.items():
            rows[name][question.id] = ranking
    return Rankings(rows, total, steps, tuple(warnings))


def whole_texts(
    index: gyr_hybrid.HybridIndex, documents: Sequence[Any], *, sections: bool
) -> gyr_hybrid.JiebaBM25Retriever:
    """BM25 with the index's own words over whole documents, or over whole sections: the usual baseline."""
    from llama_index.core.schema import TextNode

    import gyr_hybrid

    nodes: list[TextNode] = []
    for document in documents:
        if sections:
            nodes += [node for node in section_nodes(document) if isinstance(node, TextNode)]
        else:
            title = document.metadata.get("title")
            nodes.append(
                TextNode(text=f"{title}\n{document.text}" if title else document.text, id_=document.id_)
            )
    return gyr_hybrid.JiebaBM25Retriever(nodes=nodes, analyzer=index.analyzer, similarity_top_k=DEPTH)
