"""The vectors of an index's texts: kept ones first, the model for the rest, each call's result checked and kept at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from numpy.typing import NDArray

from gyr_hybrid.errors import EmbeddingError, IndexMismatchError
from gyr_hybrid.models.identity import embedding_identity
from gyr_hybrid.storage import KnowledgeStore

EMBED_TEXTS = 256
"""Texts per call of the embedding model."""


class Embedder:
    """One model for the texts of one store; without a model there are no vectors."""

    def __init__(self, store: KnowledgeStore, model: BaseEmbedding | None) -> None:
        self._store = store
        self._model = model

    @property
    def model_name(self) -> str | None:
        """What the model is known by; None without one."""
        return embedding_identity(self._model)[0] if self._model is not None else None

    def vectors(self, texts: Mapping[str, str]) -> tuple[dict[str, NDArray[np.float32]], int]:
        """Unit vectors by hash, and for how many texts the model was asked.

        Args:
            texts: hash -> text.

        Raises:
            EmbeddingError: too few vectors, or one of another length, zero, NaN or infinite.
            IndexMismatchError: their length is not that of the index.
        """
        if self._model is None:
            return {}, 0
        vectors = dict(self._store.cached_vectors(list(texts)))
        missing = [h for h in texts if h not in vectors]
        for start in range(0, len(missing), EMBED_TEXTS):
            hashes = missing[start : start + EMBED_TEXTS]
            raw = self._model.get_text_embedding_batch([texts[h] for h in hashes])
            fresh = dict(zip(hashes, self._checked(raw, len(hashes)), strict=True))
            self._store.cache_vectors(fresh)
            vectors |= fresh
        return vectors, len(missing)

    def _checked(self, raw: Sequence[Sequence[float]], count: int) -> list[NDArray[np.float32]]:
        name = self.model_name
        if len(raw) != count:
            raise EmbeddingError(
                f"{name!r} returned {len(raw)} vectors for {count} texts; nothing was stored"
            )
        arrays = [np.asarray(values, dtype=np.float32) for values in raw]
        dimension = self._store.meta.get("embedding_dimension") or arrays[0].size
        if any(a.shape != (arrays[0].size,) for a in arrays):
            sizes = sorted({a.size for a in arrays})
            raise EmbeddingError(
                f"{name!r} returned vectors of different dimensions {sizes}; nothing was stored"
            )
        if arrays[0].size != dimension:
            raise IndexMismatchError(
                f"{name!r} returned {arrays[0].size} dimensions, the index has {dimension}; "
                "set EMBED_DIMENSIONS, or build a new index"
            )
        norms = np.array([np.linalg.norm(a) for a in arrays])
        if not np.isfinite(norms).all() or not (norms > 0).all():
            raise EmbeddingError(f"{name!r} returned a zero, NaN or infinite vector; nothing was stored")
        if self._store.meta.get("embedding_name") is None:
            self._store.meta.update({"embedding_name": name, "embedding_dimension": int(dimension)})
        return [a / np.float32(n) for a, n in zip(arrays, norms, strict=True)]
