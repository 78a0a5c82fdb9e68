"""JiebaBM25Retriever: LlamaIndex's BM25Retriever with our analyzer, for those who want only that part."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.indices.vector_store.base import VectorStoreIndex
from llama_index.core.schema import BaseNode, IndexNode, NodeWithScore, QueryBundle, QueryType
from llama_index.core.storage.docstore.types import BaseDocumentStore
from llama_index.core.vector_stores import MetadataFilters
from llama_index.retrievers.bm25 import BM25Retriever

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.errors import ConfigurationError, IndexMismatchError
from gyr_hybrid.retrieval.bm25_corpus import Corpus
from gyr_hybrid.retrieval.query import HybridQuery
from gyr_hybrid.storage.filters import all_filters, compile_filters
from gyr_hybrid.storage.visibility import Rules

_log = logging.getLogger(__name__)


class JiebaBM25Retriever(BM25Retriever):
    """BM25 over words and codes: scores above 0 only, best first.

    Drop-in for LlamaIndex's ``BM25Retriever``. ``filters`` are ANDed with those of a `HybridQuery`, whose ``top_k``
    takes the place of ``similarity_top_k``. The text indexed is the node's own, with the heading path and table
    header that `SectionNodeParser` gives it; other metadata is not searched. Where nodes are given together with
    their parents or documents, only the leaves are indexed. An empty list is an index that finds nothing.

    >>> from llama_index.core.schema import TextNode
    >>> texts = ["提示E1042时请检查列序。", "提示E1043时请联系管理员。"]
    >>> retriever = JiebaBM25Retriever([TextNode(text=text) for text in texts], similarity_top_k=1)
    >>> [hit.node.get_content() for hit in retriever.retrieve("错误码Ｅ１０４２怎么办")]
    ['提示E1042时请检查列序。']
    """

    def __init__(
        self,
        nodes: Sequence[BaseNode] = (),
        *,
        analyzer: Analyzer | None = None,
        similarity_top_k: int = 5,
        filters: MetadataFilters | None = None,
        callback_manager: CallbackManager | None = None,
        objects: list[IndexNode] | None = None,
        object_map: dict[str, Any] | None = None,
        verbose: bool = False,
    ) -> None:
        self.analyzer = analyzer or Analyzer()
        self.filters = filters
        self._filter = compile_filters(filters)
        self._corpus = Corpus.build(nodes, self.analyzer)
        super().__init__(
            existing_bm25=self._corpus.bm25,
            similarity_top_k=1,  # the base class lowers it for good to the number of nodes
            callback_manager=callback_manager,
            objects=objects,
            object_map=object_map,
            verbose=verbose,
        )
        self.similarity_top_k = similarity_top_k

    @classmethod
    def from_defaults(  # type: ignore[override]
        cls,
        index: VectorStoreIndex | None = None,
        nodes: Sequence[BaseNode] | None = None,
        docstore: BaseDocumentStore | None = None,
        **options: Any,
    ) -> JiebaBM25Retriever:
        """Index nodes, or those of a LlamaIndex index or docstore; ``options`` as for the class.

        Raises `ConfigurationError` unless exactly one of the three is given.
        """
        sources = {"index": index, "nodes": nodes, "docstore": docstore}
        given = [name for name, value in sources.items() if value is not None]
        if len(given) != 1:
            raise ConfigurationError(
                f"from_defaults got {' and '.join(given) or 'nothing'}; "
                "give exactly one of index, nodes and docstore"
            )
        if nodes is None:
            store = docstore if index is None else index.docstore
            nodes = list(store.docs.values()) if store is not None else []
            if not nodes:
                _log.warning(
                    "empty docstore: nothing to find; if the vector store keeps the texts, pass nodes="
                )
        return cls(nodes, **options)

    @property
    def nodes(self) -> tuple[BaseNode, ...]:
        """The nodes indexed."""
        return self._corpus.nodes

    def refresh(self, nodes: Sequence[BaseNode]) -> None:
        """Put other nodes in the place of all; whoever holds this retriever finds them from now on."""
        self._take(Corpus.build(nodes, self.analyzer))

    def retrieve(
        self,
        str_or_query_bundle: QueryType,
        *,
        filters: MetadataFilters | None = None,
        as_of: date | str | None = None,
        top_k: int | None = None,
    ) -> list[NodeWithScore]:
        """Copies of the nodes that share a word or code with the question, with their BM25 scores.

        ``as_of``, when given, leaves out nodes whose ``valid_from`` and ``valid_to`` exclude that day.
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
        """As ``retrieve``, off the event loop."""
        return await super().aretrieve(
            HybridQuery.of(str_or_query_bundle, filters=filters, as_of=as_of, top_k=top_k)
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = HybridQuery.of(query_bundle)
        corpus = self._corpus
        passing = all_filters(self._filter, compile_filters(query.filters))
        hits: list[NodeWithScore] = []
        for place, score in corpus.scored(self.analyzer.query_tokens(query.query_str)):
            node = corpus.nodes[place]
            metadata = _metadata(node)
            if passing is not None and not passing.matches(metadata):
                continue
            if isinstance(query.as_of, date) and not Rules.of(node.node_id, metadata).is_valid(query.as_of):
                continue
            hits.append(NodeWithScore(node=node.model_copy(deep=True), score=score))
            if len(hits) >= (query.top_k or self.similarity_top_k):
                break
        return hits

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def get_persist_args(self) -> dict[str, Any]:
        """What ``persist`` saves beside nodes and scores."""
        return {
            "similarity_top_k": self.similarity_top_k,
            "verbose": self._verbose,
            "filters": self.filters.model_dump(mode="json") if self.filters is not None else None,
            "analyzer": self.analyzer.to_dict(),
            "fingerprint": self.analyzer.fingerprint,
        }

    def persist(self, path: str | Path, encoding: str = "utf-8", **kwargs: Any) -> None:
        """Save nodes, scores, options and analyzer into a folder; ``kwargs`` go to ``bm25s.BM25.save``."""
        self._corpus.save(Path(path), self.get_persist_args(), encoding=encoding, **kwargs)

    @classmethod
    def from_persist_dir(
        cls, path: str | Path, encoding: str = "utf-8", *, analyzer: Analyzer | None = None, **options: Any
    ) -> JiebaBM25Retriever:
        """Load what ``persist`` saved; ``options`` of the class win over the saved ones.

        Raises `StorageError` for a folder that holds no finished index, `IndexMismatchError` when ``analyzer`` (None:
        the saved one) gives other tokens than those in the index.
        """
        corpus, saved = Corpus.load(Path(path), encoding=encoding)
        analyzer = analyzer or Analyzer.from_dict(saved["analyzer"])
        if analyzer.fingerprint != saved["fingerprint"]:
            raise IndexMismatchError(
                f"{path} was built with analyzer {saved['fingerprint']}, not with {analyzer.fingerprint}; load it "
                "with that one, or build it again: JiebaBM25Retriever(nodes, analyzer=…).persist(…)"
            )
        filters = saved["filters"]
        values = {
            "similarity_top_k": saved["similarity_top_k"],
            "verbose": saved["verbose"],
            "filters": MetadataFilters.model_validate(filters) if filters is not None else None,
        }
        retriever = cls(analyzer=analyzer, **(values | options))
        retriever._take(corpus)
        return retriever

    def _take(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self.bm25 = corpus.bm25


def _metadata(node: BaseNode) -> Mapping[str, Any]:
    """What filters see: the metadata, and ``doc_id`` where it lacks one."""
    return {"doc_id": node.ref_doc_id, **node.metadata} if node.ref_doc_id else node.metadata
