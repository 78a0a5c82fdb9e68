"""HybridRetriever: codes, words and vectors, fused, merged into sections and put in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from datetime import date
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index.core.vector_stores import MetadataFilters

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.notices import Notice
from gyr_hybrid.retrieval.explanation import Explanation
from gyr_hybrid.retrieval.feature_reranker import FeatureReranker
from gyr_hybrid.retrieval.legs import unit_vector
from gyr_hybrid.retrieval.options import RETRIEVER_OPTIONS, RetrieverOptions, check_options
from gyr_hybrid.retrieval.query import HybridQuery
from gyr_hybrid.retrieval.ranking import apply_reranker, rerank_pool
from gyr_hybrid.retrieval.result import Retrieval, finish
from gyr_hybrid.retrieval.rewriting import cost, parse_rewrites, rewriting_prompt
from gyr_hybrid.retrieval.run import Run
from gyr_hybrid.retrieval.synonyms import load_synonyms
from gyr_hybrid.retrieval.variants import parts_of, rank_with_variants, rewritten
from gyr_hybrid.storage import KnowledgeStore, compile_filters

NO_REWRITES = Notice(
    "rewrites need a chat model: set LLM_BASE_URL, LLM_API_KEY and LLM_MODEL, or pass llm=",
    zh="改写问题需要对话模型：请设置 LLM_BASE_URL、LLM_API_KEY 和 LLM_MODEL，或传入 llm=",
)
NO_OTHER_WORDING = Notice(
    "rewrites: the model gave no other wording; the question was searched as it is",
    zh="改写：模型没有给出别的说法，按原问题检索",
)

_last_warnings: ContextVar[tuple[int, tuple[str, ...]]] = ContextVar("gyr_hybrid_warnings", default=(0, ()))


class HybridRetriever(BaseRetriever):
    """Finds the sections that answer a question, exact codes first.

    Built by ``HybridIndex.as_retriever``; works wherever LlamaIndex takes a retriever. Options are
    fixed here; ``filters``, ``as_of`` and ``top_k`` may also come with each question. It sees every
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
        llm: LLM | None = None,
        notices: Callable[[], Sequence[str]] = tuple,
        **options: Any,
    ) -> None:
        check_options(options, RETRIEVER_OPTIONS)
        self.analyzer = analyzer
        self.options = RetrieverOptions(**options)
        self._store = store
        self._embed_model = embed_model
        self._reranker = None if isinstance(reranker, FeatureReranker) else reranker  # `rank` has its steps
        self._llm: Any = llm
        self._notices = notices
        self._filters = compile_filters(self.options.filters)
        self._synonyms = load_synonyms(self.options.synonyms)
        super().__init__()

    @property
    def warnings(self) -> list[str]:
        """What is degraded: standing notices, and those of the last question of this thread or task."""
        owner, last = _last_warnings.get()
        return list(dict.fromkeys((*self._notices(), *(last if owner == id(self) else ()))))

    @property
    def models(self) -> dict[str, Any]:
        """The models that its options use: ``embedding`` and ``reranker``, None where there is none."""
        return {
            "embedding": None if self.options.mode == "lexical" else self._embed_model,
            "reranker": self._reranker if self.options.rerank else None,
        }

    def retrieve(
        self,
        str_or_query_bundle: QueryType,
        *,
        filters: MetadataFilters | None = None,
        as_of: date | str | None = None,
        top_k: int | None = None,
    ) -> list[NodeWithScore]:
        """Sections (or children) with scores in 0..1, best first; comparable within one question only.

        Raises:
            FilterError: ``filters`` or ``as_of`` cannot be understood.
        """
        return super().retrieve(
            HybridQuery.of(str_or_query_bundle, filters=filters, as_of=as_of, top_k=top_k)
        )

    async def aretrieve(
        self,
        str_or_query_bundle: QueryType,
        *,
        filters: MetadataFilters | None = None,
        as_of: date | str | None = None,
        top_k: int | None = None,
    ) -> list[NodeWithScore]:
        """As ``retrieve``, with the legs in parallel and no work on the event loop."""
        return await super().aretrieve(
            HybridQuery.of(str_or_query_bundle, filters=filters, as_of=as_of, top_k=top_k)
        )

    def explain(
        self,
        query: QueryType,
        *,
        filters: MetadataFilters | None = None,
        as_of: date | str | None = None,
        top_k: int | None = None,
    ) -> Explanation:
        """Tokens, codes, and the ranks and scores of every leg and step."""
        return self.run(HybridQuery.of(query, filters=filters, as_of=as_of, top_k=top_k)).explanation

    def run(self, query: QueryType) -> Retrieval:
        """Retrieve and keep what was learnt on the way; ``retrieve`` returns its ``nodes``."""
        query = HybridQuery.of(query)
        if not query.query_str.strip():
            return self._noted(self._nothing(query))
        run = self._begin(query)
        run.guard("rewrite", lambda: self._rewrite(run))
        run.variants += parts_of(run, self._synonyms)
        for one in (run, *run.variants):
            self._search(one)
        run.check_failures()
        rank_with_variants(run)
        if self._reranker is not None and run.options.rerank and run.order:
            reranker = self._reranker
            run.guard(
                "reranker", lambda: apply_reranker(run, reranker.postprocess_nodes(rerank_pool(run), query))
            )
        return self._noted(self._finish(run))

    async def arun(self, query: QueryType) -> Retrieval:
        """``run`` for an event loop."""
        query = HybridQuery.of(query)
        if not query.query_str.strip():
            return self._noted(self._nothing(query))
        run = await asyncio.to_thread(self._begin, query)
        await self._arewrite(run)
        run.variants += await asyncio.to_thread(parts_of, run, self._synonyms)
        await asyncio.gather(*map(self._asearch, (run, *run.variants)))
        run.check_failures()
        await asyncio.to_thread(rank_with_variants, run)
        if self._reranker is not None and run.options.rerank and run.order:
            await self._arerank(run, self._reranker)
        return self._noted(await asyncio.to_thread(self._finish, run))

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.run(query_bundle).nodes

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return (await self.arun(query_bundle)).nodes

    # The base class drops rows whose text stands twice; two documents with the same text are two.
    def _handle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        return nodes

    async def _ahandle_recursive_retrieval(
        self, query_bundle: QueryBundle, nodes: list[NodeWithScore]
    ) -> list[NodeWithScore]:
        return nodes

    def _begin(self, query: HybridQuery) -> Run:
        return Run.begin(
            query,
            self.options,
            store=self._store,
            analyzer=self.analyzer,
            filters=self._filters,
            synonyms=self._synonyms,
        )

    def _embedding_for(self, run: Run) -> BaseEmbedding | None:
        searchable = run.options.mode != "lexical" and run.view.dimension is not None
        return self._embed_model if searchable else None

    def _take_vector(self, run: Run, values: Sequence[float]) -> None:
        run.vector = unit_vector(values, run.view.dimension)

    def _search(self, run: Run) -> None:
        model = self._embedding_for(run)
        if model is not None:
            text = run.query.query_str
            run.guard("embed", lambda: self._take_vector(run, model.get_query_embedding(text)))
        run.search_words()
        run.search_vectors()

    async def _asearch(self, run: Run) -> None:
        await asyncio.gather(self._aembed(run), asyncio.to_thread(run.search_words))
        await asyncio.to_thread(run.search_vectors)

    async def _aembed(self, run: Run) -> None:
        model = self._embedding_for(run)
        if model is not None:
            async with run.aguard("embed"):
                self._take_vector(run, await model.aget_query_embedding(run.query.query_str))

    def _rewrite(self, run: Run) -> None:
        if prompt := self._rewriting_prompt(run):
            self._take_rewrites(run, prompt, self._llm.complete(prompt).text)

    async def _arewrite(self, run: Run) -> None:
        if prompt := self._rewriting_prompt(run):
            async with run.aguard("rewrite"):
                reply = (await self._llm.acomplete(prompt)).text
                await asyncio.to_thread(self._take_rewrites, run, prompt, reply)

    def _rewriting_prompt(self, run: Run) -> str | None:
        n = run.options.rewrites
        if n and self._llm is None:
            run.warnings.append(NO_REWRITES)
        return rewriting_prompt(run.query.query_str, n) if n and self._llm is not None else None

    def _take_rewrites(self, run: Run, prompt: str, reply: str) -> None:
        run.cost = cost(prompt, reply)
        texts = parse_rewrites(reply, run.query.query_str, run.options.rewrites)
        if not texts:
            run.warnings.append(NO_OTHER_WORDING)
        run.variants += rewritten(run, texts, self._synonyms)

    async def _arerank(self, run: Run, reranker: BaseNodePostprocessor) -> None:
        async with run.aguard("reranker"):
            pool = await asyncio.to_thread(rerank_pool, run)
            apply_reranker(run, await reranker.apostprocess_nodes(pool, run.query))

    def _finish(self, run: Run) -> Retrieval:
        return finish(run, self._notices())

    def _nothing(self, query: HybridQuery) -> Retrieval:
        return Retrieval([], warnings=tuple(self._notices()), query=query.query_str, mode=self.options.mode)

    def _noted(self, retrieval: Retrieval) -> Retrieval:
        _last_warnings.set((id(self), retrieval.warnings))
        return retrieval
