"""Put the pool in order: fuse, merge, score, and let known codes make tiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from time import perf_counter

import numpy as np
from llama_index.core.schema import NodeWithScore
from numpy.typing import NDArray

from gyr_hybrid.retrieval.aboutness import Aboutness
from gyr_hybrid.retrieval.fusion import reciprocal_rank_fusion
from gyr_hybrid.retrieval.headings import heading_share, named
from gyr_hybrid.retrieval.merging import Merged, merge_into_sections
from gyr_hybrid.retrieval.run import Run, milliseconds
from gyr_hybrid.retrieval.scoring import WEIGHTS, Features, best_coverage, relevance, section_bm25

RERANK_POOL = 20
"""Sections shown to a reranker that is a model; the rest keep their order behind them."""


def rank(run: Run) -> None:
    """Fill ``fused``, ``merged``, ``levels`` and ``order``."""
    started = perf_counter()
    options, view = run.options, run.view
    run.fused = reciprocal_rank_fusion(
        {leg: [hit.node_id for hit in hits] for leg, hits in run.legs.items()},
        k=options.rrf_k,
        weights=options.weights,
        position=view.position,
    )
    if options.merge:
        run.merged = merge_into_sections(run.fused, view.parents([hit.node_id for hit in run.fused]))
    else:
        run.merged = [Merged(hit.node_id, hit.score, (hit.node_id,)) for hit in run.fused]
    units = [unit.node_id for unit in run.merged]
    members = view.children(units) if options.merge else {}
    children = {unit: members.get(unit) or [unit] for unit in units}
    set_tiers(run, children)
    if options.mode == "dense":
        cosine = {hit.node_id: hit.score for hit in run.legs["dense"]}
        scores = {unit.node_id: max(cosine.get(c, 0.0) for c in unit.children) for unit in run.merged}
    elif options.rerank:
        scores = score(run, children)
    else:
        top = max((unit.score for unit in run.merged), default=1.0)
        scores = {unit.node_id: unit.score / top for unit in run.merged}
    sort(run, scores)
    run.timings["order"] = milliseconds(started)


def set_tiers(run: Run, children: Mapping[str, Sequence[str]]) -> None:
    """Fill ``levels`` for units with these children."""
    holders = run.holders
    run.levels = {unit: holders.tier(ids) if holders else (0, 0) for unit, ids in children.items()}


def rerank_pool(run: Run) -> list[NodeWithScore]:
    """The best sections, for a reranker that is a model."""
    head = run.order[: max(RERANK_POOL, run.options.top_k)]
    found = run.view.nodes([unit for unit, _ in head])
    return [NodeWithScore(node=found[unit], score=score) for unit, score in head if unit in found]


def apply_reranker(run: Run, ranked: Sequence[NodeWithScore]) -> None:
    """Take a reranker's order within the tiers of codes; what it left out follows as it stood.

    Its scores are kept when they lie in 0..1 and fall; otherwise the order alone is.
    """
    before = [unit for unit, _ in run.order]
    rows = [row for row in ranked if row.node.node_id in run.levels]
    first = list(dict.fromkeys(row.node.node_id for row in rows))
    given = [-1.0 if row.score is None else float(row.score) for row in rows]
    scores: dict[str, float] = {}
    if all(0.0 <= score <= 1.0 for score in given) and given == sorted(given, reverse=True):
        for row, score in zip(rows, given, strict=True):
            scores.setdefault(row.node.node_id, score)
    floor = min(scores.values(), default=1.0)
    rest = [unit for unit in dict.fromkeys((*first, *before)) if unit not in scores]
    for i, unit in enumerate(rest):
        scores[unit] = floor * (1.0 - (i + 1) / (len(rest) + 1))
    for unit in first:
        run.features.setdefault(unit, {})["reranker"] = scores[unit]
    sort(run, scores)


def score(run: Run, children: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """The score step: unit -> 0..1, for units with these children, whose tiers are known."""
    units = list(children)
    if not units:
        return {}
    view = run.view
    weights = run.rest or run.weights
    tokens = list(weights)
    idf = np.array([weights[token] * view.idf(token) for token in tokens])
    flat = [child for unit in units for child in children[unit]]
    starts = np.cumsum([0, *(len(children[unit]) for unit in units)])[:-1].tolist()
    lengths = view.lengths(flat)
    frequencies = view.frequencies(tokens, flat)
    mean, best = _cosines(run, units, flat, lengths, starts)
    aboutness = Aboutness(run, units)
    features = Features(
        bm25=section_bm25(frequencies, lengths, starts, idf),
        coverage=best_coverage(frequencies, starts, idf),
        cosine_mean=mean,
        cosine_best=best,
        heading=heading_share(run, units),
        named=named(run, units),
        about=aboutness.weighted(children),
    )
    columns = {
        field: values.tolist()
        for field in (*WEIGHTS, "about")
        if (values := getattr(features, field)) is not None
    }
    for unit, *row in zip(units, *columns.values(), strict=True):
        run.features[unit] = dict(zip(columns, row, strict=True))
    scores: dict[str, float] = dict(zip(units, relevance(features).tolist(), strict=True))
    aboutness.order_editions(scores)
    return scores


def _cosines(
    run: Run, units: Sequence[str], flat: Sequence[str], lengths: NDArray[np.int32], starts: Sequence[int]
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Mean, by length, and best cosine of each unit's children; without a question vector the scores given, or None."""
    if run.vector is None:
        given = np.array([run.given.get(unit, 0.0) for unit in units]) if run.given else None
        return given, given
    by_child = run.view.cosine(run.vector, flat)
    cosines = np.array([by_child.get(child, 0.0) for child in flat])
    sizes = np.maximum(lengths, 1).astype(np.float64)
    mean = np.add.reduceat(cosines * sizes, starts) / np.add.reduceat(sizes, starts)
    return mean, np.maximum.reduceat(cosines, starts)


def sort(run: Run, scores: Mapping[str, float]) -> None:
    """Tier, defining places, score, reading order; the scores fall with the tiers."""
    levels = sorted(set(run.levels.values()))
    place = {level: i for i, level in enumerate(levels)}
    total = {
        unit: (place[level] + min(1.0, max(0.0, scores[unit]))) / len(levels)
        for unit, level in run.levels.items()
    }
    twins = {value for value, count in Counter(total.values()).items() if count > 1}
    units = sorted(
        run.levels,
        key=lambda u: (-place[run.levels[u]], -scores[u], run.view.position(u) if total[u] in twins else 0),
    )
    run.order = falling((unit, total[unit]) for unit in _each_code_first(run, units))


def falling(order: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """The order as it is, no score below one that follows."""
    result: list[tuple[str, float]] = []
    least = 0.0
    for unit, score in reversed(list(order)):
        least = score if score > least else least
        result.append((unit, least))
    return result[::-1]


def _each_code_first(run: Run, units: Sequence[str]) -> list[str]:
    """Within a tier the first section of each code, then second ones: a question about two codes needs both."""
    if len(run.holders.children) < 2:
        return list(units)
    children = run.view.children(units)
    seen: set[int] = set()
    ordered: list[str] = []
    for _, group in groupby(units, key=run.levels.__getitem__):
        later: list[str] = []
        for unit in group:
            ids = children.get(unit) or [unit]
            borne = {i for i, held in enumerate(run.holders.children) if any(child in held for child in ids)}
            (ordered if borne - seen else later).append(unit)
            seen |= borne
        ordered += later
    return ordered
