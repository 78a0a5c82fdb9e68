"""One question on its way: what it is, what it may see, and what each step found."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.errors import IndexMismatchError
from gyr_hybrid.notices import Notice
from gyr_hybrid.retrieval.code_lookup import ResolvedCode, resolve_codes
from gyr_hybrid.retrieval.fusion import Fused
from gyr_hybrid.retrieval.legs import CodeHolders, code_leg, dense_leg, find_holders, lexical_leg
from gyr_hybrid.retrieval.merging import Merged
from gyr_hybrid.retrieval.options import RetrieverOptions
from gyr_hybrid.retrieval.query import HybridQuery
from gyr_hybrid.retrieval.synonyms import Expansion, Rules, expand
from gyr_hybrid.storage import (
    Filter,
    Hit,
    KnowledgeStore,
    Scope,
    View,
    all_filters,
    compile_filters,
    parse_day,
)

LEG_COUNT = {"dense": 1, "lexical": 2, "hybrid": 3}
SEARCHES = ("codes", "lexical", "embed", "dense")
PARTS_ZH = {
    "codes": "编号检索",
    "lexical": "词语检索",
    "embed": "问题的向量化",
    "dense": "向量检索",
    "rewrite": "问题改写",
    "reranker": "重排",
}


@dataclass(slots=True)
class Run:
    """State of one call; never shared and never kept."""

    query: HybridQuery
    options: RetrieverOptions
    view: View
    analyzer: Analyzer
    codes: tuple[ResolvedCode, ...] = ()
    expansion: Expansion = field(default_factory=lambda: Expansion({}, {}, ()))
    tokens: list[str] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    """Token -> weight of the whole question, synonyms included."""
    rest: dict[str, float] = field(default_factory=dict)
    """The same without the codes that the index knows: what decides among sections that bear them."""
    plain: str = ""
    """The question with its codes blanked out."""
    holders: CodeHolders = field(default_factory=CodeHolders)
    vector: NDArray[np.float32] | None = None
    given: Mapping[str, float] = field(default_factory=dict)
    """Unit -> score of whoever found it, where there are no vectors to compare."""
    legs: dict[str, list[Hit]] = field(default_factory=lambda: {"codes": [], "lexical": [], "dense": []})
    fused: list[Fused] = field(default_factory=list)
    merged: list[Merged] = field(default_factory=list)
    levels: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Unit -> (tier, codes it defines)."""
    features: dict[str, dict[str, float]] = field(default_factory=dict)
    order: list[tuple[str, float]] = field(default_factory=list)
    """(Unit, score in 0..1), best first."""
    variants: list[Run] = field(default_factory=list)
    """Parts and rewritings of the question that are searched beside it."""
    kind: Literal["question", "part", "rewrite"] = "question"
    cost: dict[str, int] = field(default_factory=dict)
    """What rewriting cost: ``llm_calls``, ``prompt_tokens``, ``reply_tokens`` (counted here, not by the service)."""
    warnings: list[str] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)

    @classmethod
    def begin(
        cls,
        query: HybridQuery,
        options: RetrieverOptions,
        *,
        store: KnowledgeStore,
        analyzer: Analyzer,
        filters: Filter | None,
        synonyms: Rules,
    ) -> Run:
        """Fix what the question may see, and understand it."""
        if query.top_k is not None:
            options = replace(options, top_k=query.top_k)
        if query.as_of is not None:
            options = replace(options, as_of=query.as_of)
        scope = Scope(
            tenant=options.tenant,
            principals=options.who,
            as_of=parse_day(options.as_of),
            filters=all_filters(filters, compile_filters(query.filters)),
        )
        run = cls(query, options, store.view(scope), analyzer)
        run.understand(synonyms)
        return run

    def understand(self, synonyms: Rules) -> None:
        """Find the question's words, codes and synonyms."""
        started = perf_counter()
        if self.options.mode != "dense":
            self.codes = tuple(self.codes_of(self.query.query_str))
            self.holders = find_holders(self.codes, self.view)
        self.weigh(synonyms)
        self.timings["analyse"] = milliseconds(started)

    def codes_of(self, text: str) -> list[ResolvedCode]:
        """The codes of a text, as they are understood in this index."""
        view = self.view
        return resolve_codes(
            text, self.analyzer, view.codes, said=lambda token: bool(view.lexical({token: 1.0}, 1))
        )

    def weigh(self, synonyms: Rules, context: Mapping[str, float] | None = None) -> None:
        """Give the words of the question their weights, once its codes are known.

        Args:
            context: token -> weight of words around the question, where it is part of one.
        """
        text = self.plain = self.query.query_str
        self.tokens = self.analyzer.query_tokens(text)
        if self.options.mode == "dense":
            return
        self.expansion = expand(text, synonyms, self.analyzer)
        self.plain = without_codes(text, self.codes)
        around = {**(context or {}), **self.expansion.weights}
        self.weights = {**around, **dict.fromkeys(self.tokens, 1.0)}
        words = self.analyzer.query_tokens(self.plain) if self.holders else self.tokens
        self.rest = {**around, **dict.fromkeys(words, 1.0)}

    def search_words(self) -> None:
        """The codes and the BM25 leg."""
        if self.options.mode == "dense":
            return
        k = self.options.candidates
        self._leg("codes", lambda: code_leg(self.holders, self.rest, self.view, k))
        self._leg("lexical", lambda: lexical_leg(self.weights, self.view, k))

    def search_vectors(self) -> None:
        """The dense leg, when the question has a vector."""
        vector = self.vector
        if vector is not None:
            self._leg("dense", lambda: dense_leg(vector, self.view, self.options.candidates))

    def _leg(self, name: str, search: Callable[[], list[Hit]]) -> None:
        def step() -> None:
            self.legs[name] = search()

        self.guard(name, step)

    def guard(self, part: str, step: Callable[[], Any]) -> None:
        """Do one step; a failure degrades, a mismatch of index and model does not."""
        started = perf_counter()
        try:
            step()
        except IndexMismatchError:
            raise
        except Exception as error:
            self.degrade(part, error)
        self.timings[part] = self.timings.get(part, 0.0) + milliseconds(started)

    @asynccontextmanager
    async def aguard(self, part: str) -> AsyncGenerator[None]:
        """``guard`` around a step that waits."""
        started = perf_counter()
        try:
            yield
        except IndexMismatchError:
            raise
        except Exception as error:
            self.degrade(part, error)
        self.timings[part] = self.timings.get(part, 0.0) + milliseconds(started)

    def degrade(self, part: str, error: Exception) -> None:
        """Go on without a part, and say so."""
        reason = f"{type(error).__name__}: {error}"
        self.warnings.append(
            Notice(
                f"{part} failed and was left out: {reason}",
                zh=f"{PARTS_ZH.get(part, part)}失败，已略过：{reason}",
            )
        )
        if part in SEARCHES:
            self.failures.append(error)

    def check_failures(self) -> None:
        """With no leg left to search with, the failure itself is the answer."""
        if self.failures and len(self.failures) >= LEG_COUNT[self.options.mode]:
            raise self.failures[0]


def without_codes(text: str, codes: Sequence[ResolvedCode]) -> str:
    """The question with its codes blanked out, length kept."""
    chars = list(text)
    for code in codes:
        chars[code.start : code.end] = " " * (code.end - code.start)
    return "".join(chars)


def milliseconds(started: float) -> float:
    """Since ``started``, a reading of ``perf_counter``."""
    return (perf_counter() - started) * 1000.0
