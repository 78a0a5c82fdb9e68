"""HybridIndex: the one object users hold. It connects the rooms and does no work of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.node_parser import NodeParser
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import Document

from gyr_hybrid.agreement import (
    NOT_EMBEDDED,
    OTHER_ANALYZER,
    UNFINISHED,
    agreed_analyzer,
    check_embedding,
    stale_analysis,
)
from gyr_hybrid.analysis import Analyzer, Code
from gyr_hybrid.analysis.word_lists import SYNONYMS_FILE
from gyr_hybrid.answering.engine import ENGINE_OPTIONS, CitedQueryEngine
from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.holdings import find_document, list_codes, word_lists
from gyr_hybrid.ingestion import Ingestion, UpsertReport
from gyr_hybrid.models.endpoints import NO_EMBEDDING, chat_model, embedding_model, judge_of, rerank_client
from gyr_hybrid.notices import Notice
from gyr_hybrid.parsing import SectionNodeParser
from gyr_hybrid.retrieval.options import RETRIEVER_OPTIONS, check_options
from gyr_hybrid.retrieval.rerankers import EndpointReranker, LLMReranker
from gyr_hybrid.retrieval.retriever import HybridRetriever
from gyr_hybrid.settings import Settings
from gyr_hybrid.storage import CheckReport, KnowledgeStore, open_store

if TYPE_CHECKING:
    from typing import Self


class HybridIndex:
    """A knowledge base: documents go in, retrievers and query engines come out.

    >>> from gyr_hybrid import HybridIndex
    >>> from llama_index.core import Document
    >>> index = HybridIndex.from_documents([Document(text="# 退款\\n\\n退款 3 个工作日内到账。", id_="kb-1")])
    >>> print(index.as_query_engine().query("退款几天到账"))
    **退款**
    <BLANKLINE>
    退款 3 个工作日内到账。[kb-1#1]
    """

    def __init__(
        self,
        store: KnowledgeStore,
        *,
        analyzer: Analyzer,
        embed_model: BaseEmbedding | None,
        llm: LLM | None,
        reranker: BaseNodePostprocessor | None,
        node_parser: NodeParser | None,
        settings: Settings,
        location: str | Path | None = None,
    ) -> None:
        self._store = store
        self._location = location
        self._node_parser = node_parser
        self.analyzer = analyzer
        self.embed_model = embed_model
        self.llm = llm
        self.reranker = reranker
        self.settings = settings
        self._ingestion = self._ingestion_with(analyzer)
        self._stale = stale_analysis(store, location)
        self._analysed_by = store.meta.get("analysed_by")
        self._lock = threading.RLock()

    @classmethod
    def open(
        cls,
        location: str | Path | None = "storage",
        *,
        settings: Settings | None = None,
        offline: bool | None = None,
        embed_model: BaseEmbedding | None = None,
        llm: LLM | None = None,
        reranker: BaseNodePostprocessor | None = None,
        analyzer: Analyzer | None = None,
        node_parser: NodeParser | None = None,
        read_only: bool = False,
    ) -> Self:
        """Open an index, or create it where there is none.

        Objects given here win over ``settings``, settings over the environment and ``.env``.

        Args:
            location: a folder; None keeps the index in memory.
            offline: True ignores every endpoint of the settings.
            reranker: orders the best sections; a `FeatureReranker` is the score step that an index has anyway.
            read_only: refuse to write, and to create.

        Raises:
            IndexMismatchError: the index was built with another embedding model or analyzer.
            StorageError: the location cannot be opened, or is no index.
        """
        settings = settings or Settings.load(offline=offline)
        if offline is not None and settings.offline != offline:
            settings = settings.model_copy(update={"offline": offline})
        store = open_store(location, read_only=read_only)
        try:
            analyzer = agreed_analyzer(store, analyzer, location, read_only)
            embed_model = embed_model if embed_model is not None else embedding_model(settings)
            check_embedding(store, embed_model)
            llm = llm if llm is not None else chat_model(settings)
            return cls(
                store,
                analyzer=analyzer,
                embed_model=embed_model,
                llm=llm,
                reranker=reranker if reranker is not None else _reranker(settings, llm, analyzer),
                node_parser=node_parser,
                settings=settings,
                location=location,
            )
        except BaseException:
            store.close()
            raise

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[Document],
        location: str | Path | None = None,
        *,
        show_progress: bool = False,
        **options: Any,
    ) -> Self:
        """Open an index (in memory by default) and upsert the documents; ``report`` tells what went in."""
        index = cls.open(location, **options)
        try:
            index.report = index.upsert(documents, show_progress=show_progress)
        except BaseException:
            index.close()
            raise
        return index

    report: UpsertReport | None = None
    """What ``from_documents`` stored and what it refused; None for an index that was opened."""

    # writing

    def upsert(
        self, documents: Iterable[Document], *, prune: bool = False, show_progress: bool = False
    ) -> UpsertReport:
        """Store new and changed documents; each replaces its own (doc id, version) only.

        Bad documents are reported in ``failed`` and the others stored. Unchanged sections keep their
        vectors. The old version of a document is searchable until the new one is committed.

        Args:
            prune: also remove documents of the same source folder that are gone.
        """
        with self._lock:
            return self._ingestion.upsert(documents, prune=prune, show_progress=show_progress)

    def reanalyze(self, analyzer: Analyzer | None = None, *, show_progress: bool = False) -> UpsertReport:
        """Analyse the stored documents again; ids, texts and vectors stay.

        For changed word lists in the folder of the index (``userdict.txt``, ``code_patterns.txt``, …), for another
        analyzer, and for a version of this package with new rules. The next run finishes one that was interrupted.
        Retrievers and engines made before keep the analyzer that they were made with.

        Args:
            analyzer: None is the one that the files in the folder of the index make.
        """
        with self._lock:
            if analyzer is None:
                analyzer = Analyzer() if self._location is None else Analyzer.from_folder(self._location)
            self.analyzer, self._analysed_by = analyzer, analyzer.fingerprint
            self._store.meta.update(
                {
                    "analysis": "unfinished",
                    "analyzer": analyzer.to_dict(),
                    "analysed_by": self._analysed_by,
                }
            )
            self._ingestion = self._ingestion_with(analyzer)
            self._stale = UNFINISHED
            report = self._ingestion.renew(show_progress=show_progress)
            self._store.meta["analysis"] = "finished"
            self._stale = None
            return report

    def _ingestion_with(self, analyzer: Analyzer) -> Ingestion:
        parser = self._node_parser or SectionNodeParser(analyzer=analyzer)
        return Ingestion(self._store, analyzer, self.embed_model, parser)

    async def aupsert(
        self, documents: Iterable[Document], *, prune: bool = False, show_progress: bool = False
    ) -> UpsertReport:
        """``upsert`` off the event loop."""
        return await asyncio.to_thread(self.upsert, documents, prune=prune, show_progress=show_progress)

    def delete(self, doc_ids: str | Iterable[str]) -> int:
        """Remove documents: ``kb-002`` with all versions, ``kb-002@2`` one. Returns how many are gone."""
        with self._lock:
            return self._ingestion.delete([doc_ids] if isinstance(doc_ids, str) else doc_ids)

    async def adelete(self, doc_ids: str | Iterable[str]) -> int:
        """``delete`` off the event loop."""
        return await asyncio.to_thread(self.delete, doc_ids)

    # reading

    def document(self, doc_id: str) -> Document:
        """The version seen today (``kb-002``) or the named one (``kb-002@2``).

        Raises:
            DocumentError: there is no such document, or no version of it is valid today.
        """
        return find_document(self._store, doc_id)

    def codes(self) -> list[Code]:
        """Every recognised code that is visible today, with the sections that bear it, in code order."""
        return list_codes(self._store.view())

    def stats(self) -> dict[str, Any]:
        """Counts, sizes and format of the index; the embedding model, analyzer and word lists that it works with.

        ``embedding_name`` and ``embedding_dimension`` are None while nothing was embedded.
        """
        meta = self._store.meta
        return {
            **self._store.stats(),
            "embedding_name": meta.get("embedding_name"),
            "embedding_dimension": meta.get("embedding_dimension"),
            "analyzer_rules": (meta.get("analyzer") or {}).get("rules"),
            "analyzer_fingerprint": self.analyzer.fingerprint,
            "word_lists": word_lists(self.analyzer, self._location),
        }

    def check(self, *, repair: bool = True) -> CheckReport:
        """Verify the database against itself and rebuild what is derived."""
        return self._store.check(repair=repair)

    def backup(self, path: str | Path) -> None:
        """Copy the database to one file while it is in use."""
        self._store.backup(path)

    def compact(self) -> None:
        """Give back the space of deleted documents and unused vectors."""
        with self._lock:
            self._store.compact()

    def close(self) -> None:
        """Release the files; the index cannot be used afterwards."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # asking

    @property
    def warnings(self) -> list[str]:
        """What is degraded from the start, for instance that there are no vectors."""
        warnings: list[str] = []
        if self.embed_model is None:
            warnings.append(NO_EMBEDDING)
        elif self._store.meta.get("embedding_name") is None and self._store.view().n_children:
            warnings.append(NOT_EMBEDDED)
        if self._other_analyzer():
            warnings.append(OTHER_ANALYZER)
        elif self._stale is not None:
            warnings.append(
                Notice(
                    f"{self._stale}; `gyr-hybrid index` or HybridIndex.reanalyze() analyses them again",
                    zh=f"{self._stale.zh}；用 `gyr-hybrid index` 或 HybridIndex.reanalyze() 重新分析",
                )
            )
        return warnings

    def _other_analyzer(self) -> bool:
        """Whether another process analysed the documents again, and not as this one reads questions."""
        analysed_by = self._store.meta.get("analysed_by")  # a few bytes, unlike the analyzer
        if analysed_by == self._analysed_by:
            return False
        if analysed_by != self.analyzer.fingerprint:
            return True
        self._stale = stale_analysis(self._store, self._location)
        if self._stale is None:  # what was found at opening is mended
            self._analysed_by = analysed_by
        return False

    @property
    def stale_analysis(self) -> str | None:
        """Why the stored tokens and codes are not what today's rules and word lists make; None when they are."""
        return self._stale

    def as_retriever(self, **options: Any) -> HybridRetriever:
        """A live retriever; options as in ``RetrieverOptions``.

        Raises:
            TypeError: an unknown option; the message names the nearest known one.
        """
        check_options(options, RETRIEVER_OPTIONS)
        return self._retriever(self.llm, options)

    def _retriever(self, llm: LLM | None, options: dict[str, Any]) -> HybridRetriever:
        own = self._word_list(SYNONYMS_FILE)
        if options.get("synonyms") is None and own is not None:
            options = {**options, "synonyms": own}
        return HybridRetriever(
            self._store,
            self.analyzer,
            embed_model=self.embed_model,
            reranker=self.reranker,
            llm=llm,
            notices=lambda: self.warnings,
            **options,
        )

    def as_query_engine(
        self,
        llm: LLM | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] = (),
        **options: Any,
    ) -> CitedQueryEngine:
        """An engine whose every sentence carries a checked citation.

        Args:
            llm: any LlamaIndex LLM; None is the index's, and extraction when it has none.
            options: those of the engine and of the retriever.
        """
        check_options(options, RETRIEVER_OPTIONS | ENGINE_OPTIONS)
        llm = llm if llm is not None else self.llm
        if isinstance(options.get("synonyms"), Iterable) and not isinstance(options["synonyms"], str):
            options["synonyms"] = list(options["synonyms"])  # read twice
        retriever = self._retriever(llm, {k: v for k, v in options.items() if k in RETRIEVER_OPTIONS})
        if options.get("judge", "auto") == "auto":
            options["judge"] = judge_of(self.settings, llm)
        return CitedQueryEngine(
            retriever,
            llm=llm,
            node_postprocessors=node_postprocessors,
            **{k: v for k, v in options.items() if k in ENGINE_OPTIONS},
        )

    def _word_list(self, name: str) -> Path | None:
        """A word list of the owner in the folder of the index; None where there is none."""
        path = Path(self._location) / name if self._location is not None else None
        return path if path is not None and path.is_file() else None


def _reranker(settings: Settings, llm: LLM | None, analyzer: Analyzer) -> BaseNodePostprocessor | None:
    """The reranker that the settings choose; None is the index's own score step, the only one offline."""
    client = rerank_client(settings) if settings.reranker in (None, "endpoint") else None
    if client is not None:
        return EndpointReranker(client, analyzer=analyzer)
    if settings.reranker == "llm" and llm is not None:
        return LLMReranker(llm=llm, analyzer=analyzer)
    if settings.reranker in (None, "features") or settings.offline:
        return None
    needs = {
        "llm": "a chat model; set LLM_BASE_URL, LLM_API_KEY",
        "endpoint": "a service; set RERANK_BASE_URL",
    }
    raise ConfigurationError(
        f"GYR_RERANKER={settings.reranker} needs {needs[settings.reranker]} and the model's name"
    )
