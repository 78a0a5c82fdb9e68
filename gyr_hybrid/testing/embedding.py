"""An embedding model of LlamaIndex that is arithmetic only: texts that share characters are near."""

from __future__ import annotations

import asyncio
import time
import unicodedata
import zlib
from collections import Counter
from threading import Lock
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from pydantic import Field, PrivateAttr

NGRAMS = {1: 0.6, 2: 1.0, 3: 0.5}
"""Length of a character n-gram -> its weight; pairs of Han characters are mostly words."""


class HashEmbedding(BaseEmbedding):
    """Unit vectors from hashed character n-grams; the same on every machine, and for a query as for a text.

    ``error``, when set, is raised by every call; ``delay`` is the seconds each call takes (awaited by the async
    methods). Both may be changed while a test runs. Counts what it was given; safe to call from several threads.

    >>> model = HashEmbedding()
    >>> a, b, c = model.get_text_embedding_batch(["保修期为三年", "保修期三年", "退货需要原包装"])
    >>> bool(model.similarity(a, b) > 0.4 > model.similarity(a, c))
    True
    >>> model.calls, model.n_texts
    (1, 3)
    """

    dimensions: int = Field(default=256, ge=8)
    delay: float = Field(default=0.0, ge=0.0)

    _error: Exception | None = PrivateAttr(default=None)
    _calls: int = PrivateAttr(default=0)
    _texts: list[str] = PrivateAttr(default_factory=list)
    _queries: list[str] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=Lock)

    def __init__(self, dimensions: int = 256, *, error: Exception | None = None, **options: Any) -> None:
        options.setdefault("model_name", f"hash-{dimensions}")
        options["dimensions"] = dimensions
        super().__init__(**options)
        self._error = error

    @classmethod
    def class_name(cls) -> str:
        return "HashEmbedding"

    @property
    def calls(self) -> int:
        """How many requests were made: a batch is one, a query is one."""
        return self._calls

    @property
    def texts(self) -> list[str]:
        """Every text embedded so far, in order, queries not included."""
        return list(self._texts)

    @property
    def queries(self) -> list[str]:
        """Every query embedded so far, in order."""
        return list(self._queries)

    @property
    def n_texts(self) -> int:
        """How many texts were embedded, queries not included."""
        return len(self._texts)

    @property
    def error(self) -> Exception | None:
        """Raised by every call while it is not None."""
        return self._error

    def fail_with(self, error: Exception | None) -> None:
        """Raise ``error`` from now on; None makes the model work again."""
        self._error = error

    def reset(self) -> None:
        """Forget all counts."""
        with self._lock:
            self._calls = 0
            self._texts.clear()
            self._queries.clear()

    def _embed(self, texts: list[str], log: list[str]) -> list[list[float]]:
        with self._lock:
            self._calls += 1
            log.extend(texts)
        if self._error is not None:
            raise self._error
        return [hash_vector(text, self.dimensions).tolist() for text in texts]

    def _get_query_embedding(self, query: str) -> list[float]:
        time.sleep(self.delay)
        return self._embed([query], self._queries)[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        await asyncio.sleep(self.delay)
        return self._embed([query], self._queries)[0]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._aget_text_embeddings([text]))[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        time.sleep(self.delay)
        return self._embed(texts, self._texts)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        await asyncio.sleep(self.delay)
        return self._embed(texts, self._texts)


def hash_vector(text: str, dimensions: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Unit vector of shape ``(dimensions,)``; signed feature hashing (Weinberger et al. 2009) of 1- to 3-grams.

    Width, case and blanks make no difference. A text without any character gets the first axis.
    """
    plain = "".join(unicodedata.normalize("NFKC", text).casefold().split())
    vector = np.zeros(dimensions, dtype=np.float32)
    for n, weight in NGRAMS.items():
        grams = Counter(plain[i : i + n] for i in range(len(plain) - n + 1))
        for gram, count in grams.items():
            code = zlib.crc32(gram.encode())
            vector[(code >> 1) % dimensions] += weight * np.sqrt(count) * (1.0 if code & 1 else -1.0)
    norm = float(np.linalg.norm(vector))
    if norm == 0.0:
        vector[0] = norm = 1.0
    return vector / np.float32(norm)
