"""What a retrieval gives back: the nodes, what was learnt on the way, and its explanation."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from llama_index.core.schema import NodeWithScore

from gyr_hybrid.retrieval.code_lookup import ResolvedCode
from gyr_hybrid.retrieval.explanation import ExplainedCode, ExplainedVariant, Explanation, Step
from gyr_hybrid.retrieval.run import Run

NO_LEGS: dict[str, tuple[Step, ...]] = {"codes": (), "lexical": (), "dense": ()}


@dataclass(frozen=True)
class Retrieval:
    """The result of one question and what an answering engine needs to know about it."""

    nodes: list[NodeWithScore]
    codes: tuple[ResolvedCode, ...] = ()
    word_weights: Mapping[str, float] = field(default_factory=dict)
    """Content word of the question -> idf among the live documents."""
    synonyms: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Content word of the question -> tokens that also count as it."""
    bm25_best: float = 0.0
    bm25_bound: float = 0.0
    """Sum of idf of the question's tokens: what a BM25 score (lucene form) cannot exceed."""
    cosine_best: float | None = None
    bearing: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Node id -> canonical forms of the question's known codes that it bears."""
    all_codes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Node id -> canonical forms of all codes that it bears; empty when the question has no code."""
    warnings: tuple[str, ...] = ()
    run: Run | None = field(default=None, repr=False, compare=False)
    """The books of the question; None for an empty one."""
    query: str = ""
    mode: str = "hybrid"

    @cached_property
    def explanation(self) -> Explanation:
        """Every step in figures, written when it is first asked for."""
        if self.run is None:
            return Explanation(self.query, self.mode, legs=dict(NO_LEGS), warnings=self.warnings)
        return explain(self.run, self.warnings)


def finish(run: Run, notices: Sequence[str]) -> Retrieval:
    """Fetch the best ``top_k`` and close the books."""
    view = run.view
    top = run.order[: run.options.top_k]
    found = view.nodes([unit for unit, _ in top])
    nodes = [NodeWithScore(node=found[unit], score=score) for unit, score in top if unit in found]
    warnings = tuple(dict.fromkeys((*notices, *run.warnings)))
    return Retrieval(
        nodes=nodes,
        codes=run.codes,
        bearing=_bearing(run, nodes),
        all_codes=_all_codes(run, nodes),
        warnings=warnings,
        run=run,
        query=run.query.query_str,
        mode=run.options.mode,
        **_words_and_scores(run),
    )


def of_part(retrieval: Retrieval, part: Run) -> Retrieval:
    """What was learnt for one part of the question about the nodes found for the whole."""
    canonicals = {match.canonical for code in part.codes for match in code.matches}
    return replace(
        retrieval,
        codes=part.codes,
        bearing={node_id: borne & canonicals for node_id, borne in retrieval.bearing.items()},
        run=part,
        query=part.query.query_str,
        **_words_and_scores(part),
    )


def _words_and_scores(run: Run) -> dict[str, Any]:
    view = run.view
    lexical, dense = run.legs["lexical"], run.legs["dense"]
    return {
        "word_weights": {word: view.idf(word) for word in run.analyzer.content_words(run.plain)},
        "synonyms": run.expansion.equivalents,
        "bm25_best": lexical[0].score if lexical else 0.0,
        "bm25_bound": sum(view.idf(token) for token in run.tokens),
        "cosine_best": dense[0].score if dense else None,
    }


def explain(run: Run, warnings: tuple[str, ...]) -> Explanation:
    """The books of one run; scores are left out where access rules hold."""
    hide = run.options.restricted

    def shown(score: float) -> float | None:
        return None if hide else score

    spans = run.view.spans([child for unit in run.merged for child in unit.children])
    return Explanation(
        query=run.query.query_str,
        mode=run.options.mode,
        tokens=tuple(run.tokens),
        codes=tuple(ExplainedCode(c.text, c.canonical, c.status, c.suggestions) for c in run.codes),
        synonyms=run.expansion.words,
        legs={
            leg: tuple(Step(hit.node_id, i, shown(hit.score)) for i, hit in enumerate(hits, 1))
            for leg, hits in run.legs.items()
        },
        fused=tuple(
            Step(hit.node_id, i, shown(hit.score), (("ranks", dict(hit.ranks)),))
            for i, hit in enumerate(run.fused, 1)
        ),
        merged=tuple(
            Step(
                unit.node_id,
                i,
                shown(unit.score),
                (
                    (
                        "children",
                        [
                            {"node_id": child, "start": spans[child][0], "end": spans[child][1]}
                            for child in unit.children
                            if child in spans
                        ],
                    ),
                ),
            )
            for i, unit in enumerate(run.merged, 1)
        ),
        reranked=tuple(
            Step(
                unit,
                i,
                shown(score),
                (("tier", run.levels[unit][0]), *(() if hide else tuple(run.features.get(unit, {}).items()))),
            )
            for i, (unit, score) in enumerate(run.order[: run.options.top_k], 1)
        ),
        variants=tuple(
            ExplainedVariant(
                v.kind, v.query.query_str, tuple(unit for unit, _ in v.order[: run.options.top_k])
            )
            for v in run.variants
        ),
        cost={
            "searches": 1 + len(run.variants),
            "texts_embedded": sum(one.vector is not None for one in (run, *run.variants)),
            **run.cost,
        },
        warnings=warnings,
        timings_ms={part: round(ms, 3) for part, ms in run.timings.items()},
    )


def _bearing(run: Run, nodes: Sequence[NodeWithScore]) -> dict[str, frozenset[str]]:
    if not run.holders:
        return {}
    held: dict[str, Container[str]] = {}
    for canonicals, holders in zip(run.holders.canonicals, run.holders.children, strict=True):
        for canonical in canonicals:  # of a family each by itself
            alone = len(canonicals) == 1
            held[canonical] = holders if alone else {child for child, _ in run.view.codes.holders(canonical)}
    ids = [hit.node.node_id for hit in nodes]
    children = run.view.children(ids)
    return {
        node_id: frozenset(
            canonical
            for canonical, holders in held.items()
            if any(child in holders for child in children.get(node_id) or [node_id])
        )
        for node_id in ids
    }


def _all_codes(run: Run, nodes: Sequence[NodeWithScore]) -> dict[str, frozenset[str]]:
    if not run.codes:
        return {}
    paths = run.view.header_paths([hit.node.node_id for hit in nodes])
    return {
        hit.node.node_id: frozenset(
            mention.code.canonical
            for mention in run.analyzer.mentions(hit.node.get_content(), header_path=path)
        )
        for hit, path in zip(nodes, paths, strict=True)
    }
