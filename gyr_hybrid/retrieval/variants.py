"""A question searched in other words beside its own: its parts, and what a chat model rewrote it to.

A variant sees what the question sees (one view: tenant, acl, day, filters) and stands under the question's codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from gyr_hybrid.retrieval.coverage import coverage
from gyr_hybrid.retrieval.fusion import reciprocal_rank_fusion
from gyr_hybrid.retrieval.parts import split_question
from gyr_hybrid.retrieval.ranking import falling, rank, sort
from gyr_hybrid.retrieval.resolved_code import ResolvedCode
from gyr_hybrid.retrieval.run import Run
from gyr_hybrid.retrieval.synonyms import Rules

CONTEXT = 0.2
"""Weight of the words of the other parts: ``几天到账`` of ``退款怎么申请，几天到账`` is about refunds."""
HALF = 0.5
"""Share, by idf, of a part's own words that a section must have to be brought forward for it."""
LOOKED_AT = 5
"""Sections of a part's own order among which that one is sought."""


def parts_of(run: Run, synonyms: Rules) -> list[Run]:
    """A run for each part of a question that asks several things; none where the score step is off."""
    if run.options.mode == "dense" or not run.options.rerank:
        return []
    context = dict.fromkeys(run.tokens, CONTEXT)
    found = []
    for text in split_question(run.query.query_str, run.analyzer):
        part = _beside(run, text, "part")
        part.codes = tuple(part.codes_of(text))
        part.weigh(synonyms, context)
        found.append(part)
    return found


def rewritten(run: Run, texts: Sequence[str], synonyms: Rules) -> list[Run]:
    """A run for each rewriting. Codes that it adds are blanked out, codes that it lost are put behind it."""
    found = []
    for text in texts:
        if run.options.mode != "dense":
            text = with_codes_of(text, run.codes, run.codes_of(text))
        rewrite = _beside(run, text, "rewrite")
        rewrite.codes = tuple(rewrite.codes_of(text)) if run.codes else ()
        rewrite.weigh(synonyms)
        found.append(rewrite)
    return found


def with_codes_of(text: str, asked: Sequence[ResolvedCode], found: Sequence[ResolvedCode]) -> str:
    """``text`` with the codes that were asked and no others.

    Args:
        asked: the codes of the question.
        found: those of the text.
    """
    names = [_names(code) for code in asked]
    chars = list(text)
    kept: set[str] = set()
    for code in found:
        mine = _names(code)
        if any(mine & theirs for theirs in names):
            kept |= mine
        else:
            chars[code.start : code.end] = " " * (code.end - code.start)
    lost = [code.text for code, theirs in zip(asked, names, strict=True) if not theirs & kept]
    return " ".join(("".join(chars).strip(), *lost))


def rank_with_variants(run: Run) -> None:
    """Order the question's own candidates, then take in what its variants found."""
    rank(run)
    for variant in run.variants:
        rank(variant)
        run.warnings += [warning for warning in variant.warnings if warning not in run.warnings]
    rewrites = [variant for variant in run.variants if variant.kind == "rewrite"]
    if rewrites:
        _pool(run, rewrites)
    _promote(run, [variant for variant in run.variants if variant.kind == "part"])


def _pool(run: Run, rewrites: Sequence[Run]) -> None:
    """By reciprocal rank, the question's own order being one of the rankings."""
    fused = reciprocal_rank_fusion(
        {str(i): [unit for unit, _ in one.order] for i, one in enumerate((run, *rewrites))},
        k=run.options.rrf_k,
        position=run.view.position,
    )
    for rewrite in rewrites:
        _take_in(run, rewrite, [unit for unit, _ in rewrite.order])
    sort(run, {unit.node_id: unit.score / fused[0].score for unit in fused})


def _promote(run: Run, parts: Sequence[Run]) -> None:
    """Put the best section of each part right behind the first of all, within its tier of codes."""
    if not parts or not run.order:
        return
    head = {run.order[0][0]: None}
    for part in parts:
        near = [unit for unit, _ in part.order[:LOOKED_AT]]
        shares = coverage(part, near)
        best = next((unit for unit, share in zip(near, shares, strict=True) if share >= HALF), None)
        if best is not None:
            _take_in(run, part, [best])
            head[best] = None
    places = {unit: place for place, unit in enumerate((*head, *(unit for unit, _ in run.order)))}
    places |= {unit: place for place, unit in enumerate(head)}
    scores = dict(run.order)
    units = sorted({**scores, **head}, key=lambda unit: (run.levels[unit], -places[unit]))
    run.order = falling((unit, scores.get(unit, 0.0)) for unit in reversed(units))


def _take_in(run: Run, variant: Run, units: Sequence[str]) -> None:
    """Add sections that only a variant found."""
    merged = {unit.node_id: unit for unit in variant.merged}
    for unit in units:
        if unit not in run.levels:
            run.levels[unit] = variant.levels[unit]
            run.features[unit] = variant.features.get(unit, {})
            run.merged.append(merged[unit])


def _beside(run: Run, text: str, kind: Literal["part", "rewrite"]) -> Run:
    """A run for another text under the same view, options and codes."""
    query = replace(run.query, query_str=text, embedding=None, custom_embedding_strs=None)
    return Run(query, run.options, run.view, run.analyzer, holders=run.holders, kind=kind)


def _names(code: ResolvedCode) -> set[str]:
    return {code.canonical, *(match.canonical for match in code.matches)}
