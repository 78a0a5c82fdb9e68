"""HybridRetriever: codes, words and vectors, fused, merged into sections and put in order."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import date
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index.core.vector_stores import MetadataFilters
from numpy.typing import NDArray

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.errors import EmbeddingError, IndexMismatchError
from gyr_hybrid.retrieval.code_lookup import ResolvedCode, resolve_codes
from gyr_hybrid.retrieval.explanation import ExplainedCode, Explanation, Step
from gyr_hybrid.retrieval.fusion import Fused, reciprocal_rank_fusion
from gyr_hybrid.retrieval.legs import CodeHolders, code_leg, dense_leg, find_holders, lexical_leg, unit_vector
from gyr_hybrid.retrieval.merging import Merged, merge_into_sections
from gyr_hybrid.retrieval.options import RETRIEVER_OPTIONS, RetrieverOptions, check_options
from gyr_hybrid.retrieval.query import HybridQuery
from gyr_hybrid.retrieval.scoring import Features, mean_score, relative, section_bm25
from gyr_hybrid.retrieval.synonyms import Expansion, expand, load_synonyms
from gyr_hybrid.storage import Filter, Hit, KnowledgeStore, Scope, View, all_filters, compile_filters, parse_day

if TYPE_CHECKING:
    from gyr_hybrid.analysis import Code

RERANK_POOL = 20
"""Sections shown to a reranker that is a model; the rest keep their order behind them."""

_last_warnings: ContextVar[tuple[int, tuple[str, ...]]] = ContextVar("gyr_hybrid_warnings", default=(0, ()))


@dataclass(frozen=True, slots=True)
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
    """Node id -> canonical forms of all codes that it bears."""
    explanation: Explanation = field(default_factory=lambda: Explanation("", "hybrid"))
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Run:
    """One question on its way; lives for one call only."""

    query: HybridQuery
    options: RetrieverOptions
    view: View
    codes: tuple[ResolvedCode, ...] = ()
    expansion: Expansion = field(default_factory=lambda: Expansion({}, {}, ()))
    tokens: list[str] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    rest: dict[str, float] = field(default_factory=dict)
    holders: CodeHolders = field(default_factory=CodeHolders)
    vector: NDArray[np.float32] | None = None
    legs: dict[str, list[Hit]] = field(default_factory=dict)
    fused: list[Fused] = field(default_factory=list)
    merged: list[Merged] = field(default_factory=list)
    levels: dict[str, tuple[int, int]] = field(default_factory=dict)
    features: dict[str, dict[str, float]] = field(default_factory=dict)
    order: list[tuple[str, float]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)


class HybridRetriever(BaseRetriever):
    """Finds the sections that answer a question, exact codes first.

    Built by ``HybridIndex.as_retriever``; works wherever LlamaIndex takes a retriever. Options are
    fixed here; ``filters``, ``as_of`` and ``top_k`` may also come with each question. Sees every
    commit to the index at once and keeps nothing between questions.

    >>> from gyr_hybrid import HybridIndex
    >>> from llama_index.core import Document
    >>> index = HybridIndex.from_documents([Document(text="# 错误码 E1042\\n\\n请下载最新模板。", id_="kb-010")])
    >>> [hit.node.node_id for hit in index.as_retriever().retrieve("报错Ｅ１０４２怎么办")]
    ['kb-010#1']
    """

    def __init__(
        self,
        store: KnowledgeStore,
        analyzer: Analyzer,
        *,
        embed_model: BaseEmbedding | None = None,
        reranker: BaseNodePostprocessor | None = None,
        notices: Sequence[str] = (),
        **options: Any,
    ) -> None:
        check_options(options, RETRIEVER_OPTIONS)
        self._store = store
        self.analyzer = analyzer
        self._embed_model = embed_model
        self._reranker = reranker
        self._notices = tuple(notices)
        self._options = RetrieverOptions(**options)
        self._filters = _compile(self._options.filters)
        self._synonyms = load_synonyms(self._options.synonyms)
        super().__init__()

    @property
    def warnings(self) -> list[str]:
        """What is degraded: standing notices, and those of the last question of this thread or task."""
        owner, last = _last_warnings.get()
        return list(dict.fromkeys((*self._notices, *(last if owner == id(self) else ()))))

    # LlamaIndex's interface

    def retrieve(  # type: ignore[override]
        self,
        str_or_query_bundle: QueryType,
        *,
        filters: MetadataFilters | None = None,
        as_of: date | str | None = None,
        top_k: int | None = None,
    ) -> list[NodeWithScore]:
        """Sections (or children) with scores in 0..1, best first; comparable within one question only."""
        query = HybridQuery.of(str_or_query_bundle, filters=filters, as_of=as_of, top_k=top_k)
        return super().retrieve(query)

    async def aretrieve(  # type: ignore[override]
        self,
        str_or_query_bundle: QueryType,
        *,
        filters: MetadataFilters | None = None,
        as_of: date | str | None = None,
        top_k: int | None = None,
    ) -> list[NodeWithScore]:
        """As ``retrieve``, with the legs in parallel and no work on the event loop."""
        query = HybridQuery.of(str_or_query_bundle, filters=filters, as_of=as_of, top_k=top_k)
        return await super().aretrieve(query)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.run(query_bundle).nodes

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return (await self.arun(query_bundle)).nodes

    def _handle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        return nodes  # the base class drops rows whose text stands twice

    async def _ahandle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        return nodes

    # ours

    def explain(
        self,
        query: QueryType,
        *,
        filters: MetadataFilters | None = None,
        as_of: date | str | None = None,
        top_k: int | None = None,
    ) -> Explanation:
        """Tokens, codes, ranks and scores of every leg and step."""
        return self.run(HybridQuery.of(query, filters=filters, as_of=as_of, top_k=top_k)).explanation

    def run(self, query: QueryType) -> Retrieval:
        """Retrieve and keep what was learnt on the way; ``retrieve`` returns its ``nodes``."""
        query = HybridQuery.of(query)
        if not query.query_str.strip():
            return self._nothing(query)
        run = self._begin(query)
        if run.options.mode != "lexical" and self._embed_model is not None:
            self._guard(run, "dense", lambda: self._embed(run))
        self._search(run)
        self._order(run)
        if self._wants_reranker(run):
            try:
                nodes = self._reranker_nodes(run)
                ranked = self._reranker.postprocess_nodes(nodes, query)  # type: ignore[union-attr]
                self._apply_reranker(run, ranked)
            except Exception as error:
                self._degrade(run, "reranker", error)
        return self._finish(run)

    async def arun(self, query: QueryType) -> Retrieval:
        """``run`` for an event loop."""
        query = HybridQuery.of(query)
        if not query.query_str.strip():
            return self._nothing(query)
        run = await asyncio.to_thread(self._begin, query)
        if run.options.mode != "lexical" and self._embed_model is not None:
            await asyncio.gather(self._aembed(run), asyncio.to_thread(self._search_words, run))
            await asyncio.to_thread(self._search_vectors, run)
            self._check_failures(run)
        else:
            await asyncio.to_thread(self._search, run)
        await asyncio.to_thread(self._order, run)
        if self._wants_reranker(run):
            try:
                nodes = await asyncio.to_thread(self._reranker_nodes, run)
                ranked = await self._reranker.apostprocess_nodes(nodes, query)  # type: ignore[union-attr]
                self._apply_reranker(run, ranked)
            except Exception as error:
                self._degrade(run, "reranker", error)
        retrieval = await asyncio.to_thread(self._finish, run)
        _last_warnings.set((id(self), retrieval.warnings))
        return retrieval

    # steps

    def _nothing(self, query: HybridQuery) -> Retrieval:
        _last_warnings.set((id(self), self._notices))
        explanation = Explanation(
            query.query_str, self._options.mode, legs={leg: () for leg in ("codes", "lexical", "dense")}
        )
        return Retrieval([], explanation=replace(explanation, warnings=self._notices), warnings=self._notices)

    def _begin(self, query: HybridQuery) -> _Run:
        """Analyse the question and fix what it may see."""
        options = self._options
        if query.top_k is not None:
            options = replace(options, top_k=query.top_k)
        if query.as_of is not None:
            options = replace(options, as_of=query.as_of)
        scope = Scope(
            tenant=options.tenant,
            principals=options.who,
            as_of=parse_day(options.as_of),
            filters=all_filters(self._filters, _compile(query.filters)),
        )
        run = _Run(query, options, self._store.view(scope))
        started = perf_counter()
        text = query.query_str
        run.tokens = self.analyzer.query_tokens(text)
        if options.mode != "dense":
            run.expansion = expand(text, self._synonyms, self.analyzer)
            run.codes = tuple(resolve_codes(text, self.analyzer, run.view.codes))
            run.holders = find_holders(run.codes, run.view)
            run.weights = {**run.expansion.weights, **dict.fromkeys(run.tokens, 1.0)}
            words = self.analyzer.query_tokens(_without(text, run.codes)) if run.holders else run.tokens
            run.rest = {**run.expansion.weights, **dict.fromkeys(words, 1.0)}
        run.timings["analyse"] = _ms(started)
        return run

    def _embed(self, run: _Run) -> None:
        started = perf_counter()
        values = self._embed_model.get_query_embedding(run.query.query_str)  # type: ignore[union-attr]
        run.vector = unit_vector(values, run.view.dimension)
        run.timings["embed"] = _ms(started)

    async def _aembed(self, run: _Run) -> None:
        started = perf_counter()
        try:
            values = await self._embed_model.aget_query_embedding(run.query.query_str)  # type: ignore[union-attr]
            run.vector = unit_vector(values, run.view.dimension)
        except (IndexMismatchError, EmbeddingError):
            raise
        except Exception as error:
            self._degrade(run, "dense", error)
        run.timings["embed"] = _ms(started)

    def _search(self, run: _Run) -> None:
        self._search_words(run)
        self._search_vectors(run)
        self._check_failures(run)

    def _search_words(self, run: _Run) -> None:
        k = run.options.candidates
        run.legs["codes"] = []
        run.legs["lexical"] = []
        if run.options.mode == "dense":
            return
        self._guard(run, "codes", lambda: run.legs.__setitem__("codes", code_leg(run.holders, run.rest, run.view, k)))
        self._guard(run, "lexical", lambda: run.legs.__setitem__("lexical", lexical_leg(run.weights, run.view, k)))

    def _search_vectors(self, run: _Run) -> None:
        run.legs["dense"] = []
        vector = run.vector
        if vector is not None:
            k = run.options.candidates
            self._guard(run, "dense", lambda: run.legs.__setitem__("dense", dense_leg(vector, run.view, k)))

    def _guard(self, run: _Run, leg: str, step: Any) -> None:
        """Run a step of a leg; a failure degrades, a mismatch of index and model does not."""
        started = perf_counter()
        try:
            step()
        except (IndexMismatchError, EmbeddingError):
            raise
        except Exception as error:
            self._degrade(run, leg, error)
        run.timings[leg] = run.timings.get(leg, 0.0) + _ms(started)

    def _degrade(self, run: _Run, part: str, error: Exception) -> None:
        run.warnings.append(f"{part} failed and was left out: {type(error).__name__}: {error}")
        run.failures.append(error)

    def _check_failures(self, run: _Run) -> None:
        """With nothing left to search with, the failure itself is the answer."""
        wanted = {"dense": 1, "lexical": 2, "hybrid": 3}[run.options.mode]
        if run.failures and len(run.failures) >= wanted:
            raise run.failures[0]

    def _order(self, run: _Run) -> None:
        """Fuse, merge, score, and let known codes make tiers."""
        started = perf_counter()
        options, view = run.options, run.view
        run.fused = reciprocal_rank_fusion(
            {leg: [hit.node_id for hit in run.legs.get(leg, [])] for leg in ("codes", "lexical", "dense")},
            k=options.rrf_k,
            weights=options.weights,
            position=view.position,
        )
        pool_ids = [hit.node_id for hit in run.fused]
        if options.merge:
            run.merged = merge_into_sections(run.fused, view.parents(pool_ids))
        else:
            run.merged = [Merged(hit.node_id, hit.score, (hit.node_id,)) for hit in run.fused]
        units = [unit.node_id for unit in run.merged]
        members = view.children(units) if options.merge else {}
        children = {unit: members.get(unit) or [unit] for unit in units}
        run.levels = {unit: run.holders.tier(children[unit]) if run.holders else (0, 0) for unit in units}
        if options.rerank and options.mode != "dense":
            scores = self._score(run, units, children)
        elif options.mode == "dense":
            cosine = {hit.node_id: hit.score for hit in run.legs["dense"]}
            scores = {u.node_id: max(cosine.get(c, 0.0) for c in u.children) for u in run.merged}
        else:
            top = max((unit.score for unit in run.merged), default=1.0)
            scores = {unit.node_id: unit.score / top for unit in run.merged}
        self._sort(run, scores)
        run.timings["order"] = _ms(started)

    def _score(self, run: _Run, units: list[str], children: Mapping[str, list[str]]) -> dict[str, float]:
        view = run.view
        if not units:
            return {}
        weights = run.rest or run.weights
        tokens = list(weights)
        idf = np.array([weights[t] * view.idf(t) for t in tokens])
        flat = [child for unit in units for child in children[unit]]
        starts = np.cumsum([0, *(len(children[unit]) for unit in units)])[:-1]
        bm25 = section_bm25(view.frequencies(tokens, flat), view.lengths(flat), starts.tolist(), idf)
        if run.vector is not None:
            by_child = view.cosine(run.vector, flat)
            cosine = np.maximum.reduceat([by_child.get(c, 0.0) for c in flat], starts).clip(0.0, 1.0)
        else:
            cosine = np.zeros(len(units))
        heading = self._heading_share(run, units)
        features = Features(relative(bm25), cosine, heading)
        mean = mean_score(features, with_vectors=run.vector is not None)
        for i, unit in enumerate(units):
            run.features[unit] = {"bm25": float(features.bm25[i]), "cosine": float(cosine[i]), "heading": float(heading[i])}
        return dict(zip(units, mean.tolist(), strict=True))

    def _heading_share(self, run: _Run, units: list[str]) -> NDArray[np.float64]:
        words = {w: run.view.idf(w) for w in self.analyzer.content_words(_without(run.query.query_str, run.codes))}
        for word in run.expansion.equivalents:
            words.setdefault(word, run.view.idf(word))
        # a synonym of a question word ("怎么办") has no content word of its own
        extra = {t: w * run.view.idf(t) for t, w in run.expansion.weights.items()}
        total = sum(words.values()) or max(extra.values(), default=0.0)
        share = np.zeros(len(units))
        if total <= 0:
            return share
        for i, path in enumerate(run.view.header_paths(units)):
            terms = self.analyzer.terms(" ".join(path))
            got = sum(
                idf
                for word, idf in words.items()
                if word in terms or terms & run.expansion.equivalents.get(word, frozenset())
            )
            got += max((value for token, value in extra.items() if token in terms), default=0.0)
            share[i] = min(1.0, got / total)
        return share

    def _sort(self, run: _Run, scores: Mapping[str, float]) -> None:
        """Order by tier, defining places, score, reading order; scores fall with the tiers."""
        levels = sorted(set(run.levels.values()))
        place = {level: i for i, level in enumerate(levels)}
        final = {
            unit: (place[level] + min(1.0, max(0.0, scores[unit]))) / len(levels)
            for unit, level in run.levels.items()
        }
        units = sorted(final, key=lambda u: (-place[run.levels[u]], -scores[u], run.view.position(u)))
        run.order = [(unit, final[unit]) for unit in units]

    def _wants_reranker(self, run: _Run) -> bool:
        return self._reranker is not None and run.options.rerank and bool(run.order)

    def _reranker_nodes(self, run: _Run) -> list[NodeWithScore]:
        head = run.order[: max(RERANK_POOL, run.options.top_k)]
        found = run.view.nodes([unit for unit, _ in head])
        return [NodeWithScore(node=found[u], score=s) for u, s in head if u in found]

    def _apply_reranker(self, run: _Run, ranked: Sequence[NodeWithScore]) -> None:
        """Take the reranker's order; what it left out follows in the old order."""
        old = [unit for unit, _ in run.order]
        first = list(dict.fromkeys(r.node.node_id for r in ranked if r.node.node_id in run.levels))
        units = first + [unit for unit in old if unit not in set(first)]
        given = [r.score for r in ranked]
        usable = all(s is not None and 0.0 <= s <= 1.0 for s in given) and given == sorted(given, reverse=True)  # type: ignore[type-var]
        scores: dict[str, float] = {}
        if usable and given:
            for r in ranked:
                scores.setdefault(r.node.node_id, float(r.score or 0.0))
        floor = min(scores.values(), default=1.0)
        rest = [unit for unit in units if unit not in scores]
        for i, unit in enumerate(rest):
            scores[unit] = floor * (1.0 - (i + 1) / (len(rest) + 1))
        for unit in first:
            run.features.setdefault(unit, {})["reranker"] = scores[unit]
        self._sort(run, scores)

    def _finish(self, run: _Run) -> Retrieval:
        started = perf_counter()
        options, view = run.options, run.view
        top = run.order[: options.top_k]
        found = view.nodes([unit for unit, _ in top])
        nodes = [NodeWithScore(node=found[unit], score=score) for unit, score in top if unit in found]
        run.timings["fetch"] = _ms(started)
        wanted: dict[str, frozenset[str]] = {}
        borne: dict[str, frozenset[str]] = {}
        if run.codes:
            asked = frozenset().union(*run.holders.canonicals) if run.holders else frozenset()
            for hit in nodes:
                path = hit.node.metadata.get("header_path") or ()
                path = [path] if isinstance(path, str) else path
                codes: list[Code] = [
                    m.code for m in self.analyzer.mentions(hit.node.get_content(), header_path=path)
                ]
                borne[hit.node.node_id] = frozenset(code.canonical for code in codes)
            children = view.children(list(borne)) if options.merge else {}
            for node_id in borne:
                own = children.get(node_id) or [node_id]
                bears = {
                    canonical
                    for canonicals, holders in zip(run.holders.canonicals, run.holders.children, strict=True)
                    if any(child in holders for child in own)
                    for canonical in canonicals
                }
                wanted[node_id] = frozenset(bears & asked)
        plain = _without(run.query.query_str, run.codes)
        words = {w: view.idf(w) for w in self.analyzer.content_words(plain)}
        lexical, dense = run.legs.get("lexical", []), run.legs.get("dense", [])
        warnings = tuple(dict.fromkeys((*self._notices, *run.warnings)))
        _last_warnings.set((id(self), warnings))
        return Retrieval(
            nodes=nodes,
            codes=run.codes,
            word_weights=words,
            synonyms=run.expansion.equivalents,
            bm25_best=lexical[0].score if lexical else 0.0,
            bm25_bound=sum(view.idf(t) for t in run.tokens),
            cosine_best=dense[0].score if dense else None,
            bearing=wanted,
            all_codes=borne,
            explanation=self._explanation(run, warnings),
            warnings=warnings,
        )

    def _explanation(self, run: _Run, warnings: tuple[str, ...]) -> Explanation:
        hide = run.options.restricted

        def shown(score: float) -> float | None:
            return None if hide else score

        spans = run.view.spans([child for unit in run.merged for child in unit.children])
        return Explanation(
            query=run.query.query_str,
            mode=run.options.mode,
            tokens=tuple(run.tokens),
            codes=tuple(ExplainedCode(c.text, c.canonical, c.status, c.suggestions) for c in run.codes),
            legs={
                leg: tuple(Step(h.node_id, i, shown(h.score)) for i, h in enumerate(run.legs.get(leg, []), 1))
                for leg in ("codes", "lexical", "dense")
            },
            fused=tuple(
                Step(f.node_id, i, shown(f.score), (("ranks", dict(f.ranks)),)) for i, f in enumerate(run.fused, 1)
            ),
            merged=tuple(
                Step(
                    m.node_id,
                    i,
                    shown(m.score),
                    (
                        (
                            "children",
                            [{"node_id": c, "start": spans[c][0], "end": spans[c][1]} for c in m.children if c in spans],
                        ),
                    ),
                )
                for i, m in enumerate(run.merged, 1)
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
            warnings=warnings,
            timings_ms={name: round(ms, 3) for name, ms in run.timings.items()},
        )


def _compile(filters: Any) -> Filter | None:
    return None if filters is None else compile_filters(filters)


def _without(text: str, codes: Sequence[ResolvedCode]) -> str:
    """The question with its codes blanked out."""
    chars = list(text)
    for code in codes:
        chars[code.start : code.end] = " " * (code.end - code.start)
    return "".join(chars)


def _ms(started: float) -> float:
    return (perf_counter() - started) * 1000.0
