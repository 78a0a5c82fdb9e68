"""CitedQueryEngine: answers whose every sentence was checked against what it cites."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.query import QueryEndEvent, QueryStartEvent
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index.core.vector_stores import MetadataFilters

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.answering.answer import Answer
from gyr_hybrid.answering.context.packing import Context
from gyr_hybrid.answering.finding import Finder
from gyr_hybrid.answering.in_use import InUse
from gyr_hybrid.answering.options import ENGINE_OPTIONS, EngineOptions
from gyr_hybrid.answering.preparation import Found, prepare
from gyr_hybrid.answering.prompts import Language, default_prompts, language_of
from gyr_hybrid.answering.streaming import CitedAsyncStreamingResponse, CitedStreamingResponse
from gyr_hybrid.answering.writing import Writer
from gyr_hybrid.retrieval.options import check_options
from gyr_hybrid.retrieval.retriever import HybridRetriever

__all__ = ["ENGINE_OPTIONS", "CitedQueryEngine"]

dispatcher = get_dispatcher(__name__)


class CitedQueryEngine(BaseQueryEngine):
    """Answers questions from the sections that a retriever brings, and cites them.

    Around a `HybridRetriever` it knows codes, evidence and offsets; around anyone's retriever nodes are cited by
    node id. Without an ``llm`` it answers by extraction. Keeps nothing between questions.

    >>> from llama_index.core.schema import TextNode, NodeWithScore
    >>> from llama_index.core.base.base_retriever import BaseRetriever
    >>> class One(BaseRetriever):
    ...     def _retrieve(self, query_bundle):
    ...         return [NodeWithScore(node=TextNode(id_="kb-1#1", text="退款 3 个工作日内到账。"), score=1.0)]
    >>> print(CitedQueryEngine(One()).query("退款几天到账"))
    退款 3 个工作日内到账。[kb-1#1]

    Args:
        retriever: any LlamaIndex retriever.
        llm: any LlamaIndex LLM; None answers with the source's own sentences.
        node_postprocessors: applied to what was retrieved.
        analyzer: None is the retriever's own, or a default one.
        options: those of `EngineOptions`.

    Raises:
        TypeError: an unknown option; the message names the nearest known one.
        ConfigurationError: a value that makes no sense.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        llm: LLM | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] = (),
        *,
        analyzer: Analyzer | None = None,
        callback_manager: CallbackManager | None = None,
        **options: Any,
    ) -> None:
        check_options(options, ENGINE_OPTIONS)
        super().__init__(callback_manager)
        self._options = EngineOptions(**options)
        self._prompts = default_prompts()
        self._analyzer = analyzer or getattr(retriever, "analyzer", None) or Analyzer()
        self._finder = Finder(retriever, node_postprocessors, self.callback_manager, self._analyzer)
        self._llm = llm
        self._writer = Writer(llm, self._options, self._prompts, self._analyzer)

    @property
    def retriever(self) -> BaseRetriever:
        """Where the sections come from."""
        return self._finder.retriever

    def _get_prompts(self) -> PromptDictType:
        return dict(self._prompts)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        self._prompts.update({name: prompt for name, prompt in prompts.items() if name in self._prompts})

    # asking

    def query(
        self,
        str_or_query_bundle: QueryType,
        *,
        filters: MetadataFilters | None = None,
        as_of: date | str | None = None,
        top_k: int | None = None,
    ) -> RESPONSE_TYPE:
        """A `CitedResponse`, or a `CitedStreamingResponse` with ``streaming=True``.

        Raises:
            EndpointError: the language model failed after its retries.
        """
        bundle = self._finder.bundle(str_or_query_bundle, filters, as_of, top_k)
        dispatcher.event(QueryStartEvent(query=bundle))
        with self.callback_manager.as_trace("query"):
            response = self._query(bundle)
        dispatcher.event(QueryEndEvent(query=bundle, response=response))
        return response

    async def aquery(
        self,
        str_or_query_bundle: QueryType,
        *,
        filters: MetadataFilters | None = None,
        as_of: date | str | None = None,
        top_k: int | None = None,
    ) -> RESPONSE_TYPE:
        """``query`` that never holds the event loop; a `CitedAsyncStreamingResponse` with ``streaming=True``."""
        bundle = self._finder.bundle(str_or_query_bundle, filters, as_of, top_k)
        dispatcher.event(QueryStartEvent(query=bundle))
        with self.callback_manager.as_trace("query"):
            response = await self._aquery(bundle)
        dispatcher.event(QueryEndEvent(query=bundle, response=response))
        return response

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """What the retriever and the postprocessors bring."""
        return list(self._finder.find(query_bundle).nodes)

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """``retrieve`` for an event loop."""
        return list((await self._finder.afind(query_bundle)).nodes)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with self._event(query_bundle) as event:
            found = Found([])
            answer = self._refused_empty(query_bundle.query_str)
            if answer is None:
                found = self._finder.find(query_bundle)
                answer = self._prepare(query_bundle.query_str, found)
            pieces = self._writer.pieces(answer, found)
            response: RESPONSE_TYPE
            if self._options.streaming:
                response = CitedStreamingResponse(answer, pieces)
            else:
                for _ in pieces:
                    pass
                response = answer.response()
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with self._event(query_bundle) as event:
            found = Found([])
            answer = self._refused_empty(query_bundle.query_str)
            if answer is None:
                found = await self._finder.afind(query_bundle)
                answer = await asyncio.to_thread(self._prepare, query_bundle.query_str, found)
            pieces = self._writer.apieces(answer, found)
            response: RESPONSE_TYPE
            if self._options.streaming:
                response = CitedAsyncStreamingResponse(answer, pieces)
            else:
                async for _ in pieces:
                    pass
                response = answer.response()
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    def _event(self, bundle: QueryBundle) -> Any:
        payload: dict[str, Any] = {EventPayload.QUERY_STR: bundle.query_str}
        return self.callback_manager.event(CBEventType.QUERY, payload=payload)

    def _language(self, question: str) -> Language:
        return self._options.language or language_of(question)

    def _refused_empty(self, question: str) -> Answer | None:
        """A refusal for a question without text."""
        if question.strip():
            return None
        context = Context((), (), self._options.citation_format)
        answer = Answer(
            question,
            self._language(question),
            context,
            refusal_text=self._options.refusal_text,
            in_use=self._in_use(),
        )
        answer.refusal_reason = "empty_question"
        return answer

    def _prepare(self, question: str, found: Found) -> Answer:
        options = self._options
        return prepare(
            question,
            found,
            analyzer=self._analyzer,
            language=self._language(question),
            citation_format=options.citation_format,
            token_budget=options.token_budget,
            refusal_text=options.refusal_text,
            with_llm=self._llm is not None,
            min_evidence=options.min_evidence,
            small_talk=options.small_talk,
            in_use=self._in_use(),
        )

    def _in_use(self) -> InUse:
        judge = self._writer.judge if self._llm is not None else None
        ours = self.retriever.models if isinstance(self.retriever, HybridRetriever) else {}
        return InUse.of(llm=self._llm, judge=judge, **ours)
