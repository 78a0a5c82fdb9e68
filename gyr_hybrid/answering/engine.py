"""CitedQueryEngine: answers whose every sentence was checked against what it cites."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from datetime import date
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.query import QueryEndEvent, QueryStartEvent
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.mixin import PromptDictType, PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index.core.vector_stores import MetadataFilters

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.answering.answer import Answer
from gyr_hybrid.answering.context import Context
from gyr_hybrid.answering.enforcement import AskAgain, Enforcement, Request, Settings
from gyr_hybrid.answering.extractive import choose, extract
from gyr_hybrid.answering.generation import Delta, Prompt, ThinkFilter, agenerate, generate
from gyr_hybrid.answering.options import ENGINE_OPTIONS, EngineOptions
from gyr_hybrid.answering.preparation import Found, material, prepare
from gyr_hybrid.answering.prompts import Language, default_prompts, language_of
from gyr_hybrid.answering.quoting import quote
from gyr_hybrid.answering.reading import Reading, adrive, drive
from gyr_hybrid.answering.streaming import CitedAsyncStreamingResponse, CitedStreamingResponse
from gyr_hybrid.answering.units import Unit
from gyr_hybrid.answering.verdict import Verifier
from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.retrieval.options import check_options
from gyr_hybrid.retrieval.query import HybridQuery
from gyr_hybrid.retrieval.retriever import HybridRetriever

__all__ = ["ENGINE_OPTIONS", "CitedQueryEngine"]

LONG_PIECE = 200
"""Characters of a piece that are cut off the event loop."""

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
        self._retriever = retriever
        self._llm = llm
        self._postprocessors = tuple(node_postprocessors)
        self._options = EngineOptions(**options)
        self._prompts = default_prompts()
        self._analyzer = analyzer or getattr(retriever, "analyzer", None) or Analyzer()

    @property
    def retriever(self) -> BaseRetriever:
        """Where the sections come from."""
        return self._retriever

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
        bundle = self._bundle(str_or_query_bundle, filters, as_of, top_k)
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
        bundle = self._bundle(str_or_query_bundle, filters, as_of, top_k)
        dispatcher.event(QueryStartEvent(query=bundle))
        with self.callback_manager.as_trace("query"):
            response = await self._aquery(bundle)
        dispatcher.event(QueryEndEvent(query=bundle, response=response))
        return response

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """What the retriever and the postprocessors bring."""
        return list(self._find(query_bundle).nodes)

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """``retrieve`` for an event loop."""
        return list((await self._afind(query_bundle)).nodes)

    def _bundle(
        self, query: QueryType, filters: MetadataFilters | None, as_of: date | str | None, top_k: int | None
    ) -> QueryBundle:
        if isinstance(self._retriever, HybridRetriever):
            return HybridQuery.of(query, filters=filters, as_of=as_of, top_k=top_k)
        given = [
            name
            for name, value in (("filters", filters), ("as_of", as_of), ("top_k", top_k))
            if value is not None
        ]
        if given:
            raise TypeError(
                f"{', '.join(given)} cannot be passed to {type(self._retriever).__name__}; set it on the retriever"
            )
        return QueryBundle(query) if isinstance(query, str) else query

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with self.callback_manager.event(
            CBEventType.QUERY, payload={EventPayload.QUERY_STR: query_bundle.query_str}
        ) as event:
            answer = self._empty(query_bundle)
            if answer is None:
                found = self._find(query_bundle)
                answer = self._prepare(query_bundle.query_str, found)
                pieces = self._pieces(answer, found)
            else:
                pieces = self._pieces(answer, Found([]))
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
        with self.callback_manager.event(
            CBEventType.QUERY, payload={EventPayload.QUERY_STR: query_bundle.query_str}
        ) as event:
            answer = self._empty(query_bundle)
            if answer is None:
                found = await self._afind(query_bundle)
                answer = await asyncio.to_thread(self._prepare, query_bundle.query_str, found)
                pieces = self._apieces(answer, found)
            else:
                pieces = self._apieces(answer, Found([]))
            response: RESPONSE_TYPE
            if self._options.streaming:
                response = CitedAsyncStreamingResponse(answer, pieces)
            else:
                async for _ in pieces:
                    pass
                response = answer.response()
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    # before the model

    def _find(self, bundle: QueryBundle) -> Found:
        if isinstance(self._retriever, HybridRetriever):
            dispatcher.event(RetrievalStartEvent(str_or_query_bundle=bundle))
            with self._retrieving(bundle) as event:
                retrieval = self._retriever.run(bundle)
                event.on_end(payload={EventPayload.NODES: retrieval.nodes})
            dispatcher.event(RetrievalEndEvent(str_or_query_bundle=bundle, nodes=retrieval.nodes))
            found = Found(retrieval.nodes, retrieval, retrieval.warnings)
        else:
            found = Found(self._retriever.retrieve(bundle))
        nodes = list(found.nodes)
        for postprocessor in self._postprocessors:
            nodes = postprocessor.postprocess_nodes(nodes, query_bundle=bundle)
        return Found(nodes, found.retrieval, found.warnings)

    async def _afind(self, bundle: QueryBundle) -> Found:
        if isinstance(self._retriever, HybridRetriever):
            dispatcher.event(RetrievalStartEvent(str_or_query_bundle=bundle))
            with self._retrieving(bundle) as event:
                retrieval = await self._retriever.arun(bundle)
                event.on_end(payload={EventPayload.NODES: retrieval.nodes})
            dispatcher.event(RetrievalEndEvent(str_or_query_bundle=bundle, nodes=retrieval.nodes))
            found = Found(retrieval.nodes, retrieval, retrieval.warnings)
        else:
            found = Found(await self._retriever.aretrieve(bundle))
        nodes = list(found.nodes)
        for postprocessor in self._postprocessors:
            nodes = await postprocessor.apostprocess_nodes(nodes, query_bundle=bundle)
        return Found(nodes, found.retrieval, found.warnings)

    def _retrieving(self, bundle: QueryBundle) -> Any:
        return self.callback_manager.event(
            CBEventType.RETRIEVE, payload={EventPayload.QUERY_STR: bundle.query_str}
        )

    def _language(self, question: str) -> Language:
        return self._options.language or language_of(question)

    def _empty(self, bundle: QueryBundle) -> Answer | None:
        """A refusal for a question without text."""
        if bundle.query_str.strip():
            return None
        options = self._options
        answer = Answer(
            bundle.query_str,
            self._language(bundle.query_str),
            Context((), (), options.citation_format),
            refusal_text=options.refusal_text,
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
        )

    # the answer, piece by piece

    def _pieces(self, answer: Answer, found: Found) -> Generator[str]:
        quoted = self._extract(answer, found) if self._extracts(answer) else []
        if answer.refusal_reason is not None:
            yield answer.refuse(answer.refusal_reason)
        elif self._llm is None:
            yield from map(answer.show, quoted)
        else:
            llm = self._llm
            checks = self._checks(answer)
            reading = Reading(answer, checks)
            deltas = generate(llm, self._prompt(answer), stream=self._options.streaming)
            try:
                for delta in deltas:
                    for unit in reading.feed(delta):
                        yield from map(answer.show, drive(checks.check(unit), self._replies(answer, llm)))
                for unit in reading.finish():
                    yield from map(answer.show, drive(checks.check(unit), self._replies(answer, llm)))
            finally:
                deltas.close()
            if (reason := reading.outcome()) is not None:
                yield from map(answer.show, self._rescue(answer, found, checks))
                if not answer.pieces:
                    yield answer.refuse(reason)
        answer.done = True

    async def _apieces(self, answer: Answer, found: Found) -> AsyncGenerator[str]:
        quoted = await asyncio.to_thread(self._extract, answer, found) if self._extracts(answer) else []
        if answer.refusal_reason is not None:
            yield answer.refuse(answer.refusal_reason)
        elif self._llm is None:
            for piece in quoted:
                yield answer.show(piece)
        else:
            llm = self._llm
            checks = await asyncio.to_thread(self._checks, answer)
            reading = Reading(answer, checks)
            deltas = agenerate(llm, self._prompt(answer), stream=self._options.streaming)
            try:
                async for delta in deltas:
                    for unit in await _off_loop(reading.feed, delta):
                        for piece in await adrive(checks.check(unit), self._areplies(answer, llm)):
                            yield answer.show(piece)
                for unit in reading.finish():
                    for piece in await adrive(checks.check(unit), self._areplies(answer, llm)):
                        yield answer.show(piece)
            finally:
                await deltas.aclose()
            if (reason := reading.outcome()) is not None:
                for piece in await asyncio.to_thread(self._rescue, answer, found, checks):
                    yield answer.show(piece)
                if not answer.pieces:
                    yield answer.refuse(reason)
        answer.done = True

    def _extracts(self, answer: Answer) -> bool:
        return self._llm is None and answer.refusal_reason is None

    def _extract(self, answer: Answer, found: Found) -> list[str]:
        quoted = quote(answer.context, extract(*material(answer, found, self._analyzer)))
        answer.citations, answer.trace = list(quoted.citations), list(quoted.trace)
        if not quoted.pieces:
            answer.refusal_reason = "no_evidence"
        return list(quoted.pieces)

    def _rescue(self, answer: Answer, found: Found, checks: Enforcement) -> list[str]:
        """When nothing of the answer passed: the cited section's own words, if a sentence was about it."""
        if not checks.dropped:
            return []
        question, candidates = material(answer, found, self._analyzer)
        ids = [source.node_id for source in answer.context.sources]
        for sentence, node_id in checks.dropped:
            number = ids.index(node_id)
            if candidates[number].terms & set(self._analyzer.content_words(sentence)):
                chosen = [(number, excerpt) for excerpt in choose(question, candidates[number])]
                quoted = quote(answer.context, chosen, replacing="nothing passed: the cited section answers")
                answer.citations.extend(quoted.citations)
                answer.trace.extend(quoted.trace)
                return list(quoted.pieces)
        return []

    def _checks(self, answer: Answer) -> Enforcement:
        options = self._options
        settings = Settings(
            policy=options.policy,
            max_retries=options.max_retries,
            language=answer.language,
            with_verifier=options.verifier is not None,
            lexicon=options.lexicon,
            has_content=lambda text: bool(self._analyzer.content_words(text)),
        )
        checks = Enforcement(answer.context, settings)
        answer.citations, answer.trace = checks.citations, checks.trace
        return checks

    def _prompt(self, answer: Answer, again: AskAgain | None = None) -> Prompt:
        variables = {
            "context_str": answer.context.text(),
            "query_str": answer.question,
            "label": answer.context.sources[0].label,
        }
        if again is None:
            return Prompt(self._prompts[f"answer_{answer.language}"], variables)
        variables |= {"sentence": again.sentence, "reason": again.reason}
        return Prompt(self._prompts[f"retry_{answer.language}"], variables)

    def _replies(self, answer: Answer, llm: LLM) -> Callable[[Request], Any]:
        def reply(request: Request) -> Any:
            if isinstance(request, AskAgain):
                deltas = generate(llm, self._prompt(answer, request), stream=False)
                return _without_thoughts("".join(delta.text for delta in deltas))
            return self._verifier.verify(request.sentence, request.nodes)

        return reply

    def _areplies(self, answer: Answer, llm: LLM) -> Callable[[Request], Awaitable[Any]]:
        async def reply(request: Request) -> Any:
            if isinstance(request, AskAgain):
                deltas = agenerate(llm, self._prompt(answer, request), stream=False)
                return _without_thoughts("".join([delta.text async for delta in deltas]))
            verifier = self._verifier
            if hasattr(verifier, "averify"):
                return await verifier.averify(request.sentence, request.nodes)
            return await asyncio.to_thread(verifier.verify, request.sentence, request.nodes)

        return reply

    @property
    def _verifier(self) -> Verifier:
        if self._options.verifier is None:
            raise ConfigurationError("no verifier is set; give `verifier=` to the engine")
        return self._options.verifier


async def _off_loop(feed: Callable[[Delta], list[Unit]], delta: Delta) -> list[Unit]:
    """Long pieces are cut in a thread; for a token the change of threads costs more than the cutting."""
    return feed(delta) if len(delta.text) <= LONG_PIECE else await asyncio.to_thread(feed, delta)


def _without_thoughts(text: str) -> str:
    thinking = ThinkFilter()
    return thinking.feed(text) + thinking.finish()
