"""Checked, cited answers from Chinese business knowledge bases, on LlamaIndex."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from gyr_hybrid.analysis import Analyzer, Code
    from gyr_hybrid.answering import (
        Citation,
        CitedAsyncStreamingResponse,
        CitedQueryEngine,
        CitedResponse,
        CitedStreamingResponse,
        UnknownIdentifier,
    )
    from gyr_hybrid.errors import (
        ConfigurationError,
        DocumentError,
        EmbeddingError,
        EndpointError,
        FilterError,
        GyrError,
        IndexMismatchError,
        StorageError,
    )
    from gyr_hybrid.index import HybridIndex
    from gyr_hybrid.ingestion import UpsertReport
    from gyr_hybrid.parsing import LoadedDocuments, SectionNodeParser, load_documents
    from gyr_hybrid.retrieval.feature_reranker import FeatureReranker
    from gyr_hybrid.retrieval.jieba_bm25 import JiebaBM25Retriever
    from gyr_hybrid.retrieval.query import HybridQuery
    from gyr_hybrid.retrieval.rerankers import EndpointReranker, LLMReranker
    from gyr_hybrid.retrieval.retriever import HybridRetriever
    from gyr_hybrid.settings import Settings
    from gyr_hybrid.verification import EndpointVerifier, LLMVerifier, Verdict, Verifier, verify

# Names are loaded when first used, so that the import itself reads no dictionary and starts no client.
_HOMES = {
    "gyr_hybrid.analysis": ("Analyzer", "Code"),
    "gyr_hybrid.answering": (
        "Citation",
        "CitedAsyncStreamingResponse",
        "CitedQueryEngine",
        "CitedResponse",
        "CitedStreamingResponse",
        "UnknownIdentifier",
    ),
    "gyr_hybrid.errors": (
        "ConfigurationError",
        "DocumentError",
        "EmbeddingError",
        "EndpointError",
        "FilterError",
        "GyrError",
        "IndexMismatchError",
        "StorageError",
    ),
    "gyr_hybrid.index": ("HybridIndex",),
    "gyr_hybrid.ingestion": ("UpsertReport",),
    "gyr_hybrid.parsing": ("LoadedDocuments", "SectionNodeParser", "load_documents"),
    "gyr_hybrid.retrieval.feature_reranker": ("FeatureReranker",),
    "gyr_hybrid.retrieval.jieba_bm25": ("JiebaBM25Retriever",),
    "gyr_hybrid.retrieval.query": ("HybridQuery",),
    "gyr_hybrid.retrieval.rerankers": ("EndpointReranker", "LLMReranker"),
    "gyr_hybrid.retrieval.retriever": ("HybridRetriever",),
    "gyr_hybrid.settings": ("Settings",),
    "gyr_hybrid.verification": ("EndpointVerifier", "LLMVerifier", "Verdict", "Verifier", "verify"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Analyzer",
    "Citation",
    "CitedAsyncStreamingResponse",
    "CitedQueryEngine",
    "CitedResponse",
    "CitedStreamingResponse",
    "Code",
    "ConfigurationError",
    "DocumentError",
    "EmbeddingError",
    "EndpointError",
    "EndpointReranker",
    "EndpointVerifier",
    "FeatureReranker",
    "FilterError",
    "GyrError",
    "HybridIndex",
    "HybridQuery",
    "HybridRetriever",
    "IndexMismatchError",
    "JiebaBM25Retriever",
    "LLMReranker",
    "LLMVerifier",
    "LoadedDocuments",
    "SectionNodeParser",
    "Settings",
    "StorageError",
    "UnknownIdentifier",
    "UpsertReport",
    "Verdict",
    "Verifier",
    "load_documents",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
