"""Find the sections of a question through our retriever or anyone's, with LlamaIndex's events."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.retrieval import RetrievalEndEvent, RetrievalStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import QueryBundle, QueryType
from llama_index.core.vector_stores import MetadataFilters

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.answering.preparation import Found
from gyr_hybrid.retrieval.foreign import retrieval_of
from gyr_hybrid.retrieval.query import HybridQuery
from gyr_hybrid.retrieval.result import Retrieval
from gyr_hybrid.retrieval.retriever import HybridRetriever

dispatcher = get_dispatcher(__name__)


class Finder:
    """A retriever and the postprocessors behind it; keeps nothing between questions."""

    def __init__(
        self,
        retriever: BaseRetriever,
        postprocessors: Sequence[BaseNodePostprocessor],
        callback_manager: CallbackManager,
        analyzer: Analyzer,
    ) -> None:
        self.retriever = retriever
        self._postprocessors = tuple(postprocessors)
        self._callbacks = callback_manager
        self._analyzer = analyzer

    def bundle(
        self,
        query: QueryType,
        filters: MetadataFilters | None,
        as_of: date | str | None,
        top_k: int | None,
    ) -> QueryBundle:
        """The question with its own options, which only our retriever understands.

        Raises:
            TypeError: an option for anyone else's retriever.
        """
        if isinstance(self.retriever, HybridRetriever):
            return HybridQuery.of(query, filters=filters, as_of=as_of, top_k=top_k)
        options = {"filters": filters, "as_of": as_of, "top_k": top_k}
        given = [name for name, value in options.items() if value is not None]
        if given:
            raise TypeError(
                f"{', '.join(given)} cannot be passed to {type(self.retriever).__name__}; set it on the retriever"
            )
        return QueryBundle(query) if isinstance(query, str) else query

    def find(self, bundle: QueryBundle) -> Found:
        """What the retriever and the postprocessors bring."""
        retrieval: Retrieval | None = None
        if isinstance(self.retriever, HybridRetriever):
            dispatcher.event(RetrievalStartEvent(str_or_query_bundle=bundle))
            with self._event(bundle) as event:
                retrieval = self.retriever.run(bundle)
                event.on_end(payload={EventPayload.NODES: retrieval.nodes})
            dispatcher.event(RetrievalEndEvent(str_or_query_bundle=bundle, nodes=retrieval.nodes))
            nodes = list(retrieval.nodes)
        else:
            nodes = self.retriever.retrieve(bundle)
        for postprocessor in self._postprocessors:
            nodes = postprocessor.postprocess_nodes(nodes, query_bundle=bundle)
        retrieval = retrieval or retrieval_of(bundle.query_str, nodes, self._analyzer)
        return Found(nodes, retrieval, retrieval.warnings)

    async def afind(self, bundle: QueryBundle) -> Found:
        """``find`` for an event loop."""
        retrieval: Retrieval | None = None
        if isinstance(self.retriever, HybridRetriever):
            dispatcher.event(RetrievalStartEvent(str_or_query_bundle=bundle))
            with self._event(bundle) as event:
                retrieval = await self.retriever.arun(bundle)
                event.on_end(payload={EventPayload.NODES: retrieval.nodes})
            dispatcher.event(RetrievalEndEvent(str_or_query_bundle=bundle, nodes=retrieval.nodes))
            nodes = list(retrieval.nodes)
        else:
            nodes = await self.retriever.aretrieve(bundle)
        for postprocessor in self._postprocessors:
            nodes = await postprocessor.apostprocess_nodes(nodes, query_bundle=bundle)
        if retrieval is None:
            retrieval = await asyncio.to_thread(retrieval_of, bundle.query_str, nodes, self._analyzer)
        return Found(nodes, retrieval, retrieval.warnings)

    def _event(self, bundle: QueryBundle) -> Any:
        payload: dict[str, Any] = {EventPayload.QUERY_STR: bundle.query_str}
        return self._callbacks.event(CBEventType.RETRIEVE, payload=payload)
