"""How an index names the embedding model that it was built with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

_DIMENSION_FIELDS = ("dimensions", "dimension", "embed_dim", "dim")


def embedding_identity(model: BaseEmbedding) -> tuple[str, int | None]:
    """Name of the model, and its dimension where it tells one without being called.

    LlamaIndex's ``"unknown"`` is no name; the class then stands for it.
    """
    name = model.model_name if model.model_name not in ("", "unknown") else model.class_name()
    for field in _DIMENSION_FIELDS:
        value = getattr(model, field, None)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return name, value
    return name, None
