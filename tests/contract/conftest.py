"""What a stranger would write to try the package: models of their own, a few small documents."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Document
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback

from gyr_hybrid import HybridIndex


class Bigrams(BaseEmbedding):
    """Counts of character pairs, hashed into 64 places; remembers every text it was given."""

    model_name: str = "bigrams"
    size: int = 64
    _texts: list[str] = PrivateAttr(default_factory=list)
    _fails: list[int] = PrivateAttr(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return self._texts

    def fail_after(self, texts: int) -> None:
        """Raise from the text after the next ``texts`` on."""
        self._fails = [len(self._texts) + texts]

    def heal(self) -> None:
        self._fails = []

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.size
        for pair in zip(text, text[1:] + " ", strict=True):
            place = int.from_bytes(hashlib.blake2b("".join(pair).encode(), digest_size=4).digest())
            vector[place % self.size] += 1.0
        return vector

    def _get_text_embedding(self, text: str) -> list[float]:
        if self._fails and len(self._texts) >= self._fails[0]:
            raise RuntimeError("the embedding service is down")
        self._texts.append(text)
        return self._vector(text)

    def _get_query_embedding(self, query: str) -> list[float]:
        if self._fails:
            raise RuntimeError("the embedding service is down")
        return self._vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        await asyncio.sleep(0)
        return self._get_query_embedding(query)


class Scripted(CustomLLM):
    """Answers with the given texts in turn, the last one again and again; keeps the prompts."""

    replies: list[str]
    error: str = ""
    piece: int = 7
    _prompts: list[str] = PrivateAttr(default_factory=list)

    @property
    def prompts(self) -> list[str]:
        return self._prompts

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=32_000, num_output=1_000, model_name="scripted")

    def _next(self, prompt: str) -> str:
        self._prompts.append(prompt)
        if self.error:
            raise RuntimeError(self.error)
        return self.replies[min(len(self._prompts), len(self.replies)) - 1]

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._next(prompt))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        reply = self._next(prompt)

        def pieces() -> Iterator[CompletionResponse]:
            for end in range(self.piece, max(len(reply), 1) + self.piece, self.piece):
                yield CompletionResponse(text=reply[:end], delta=reply[end - self.piece : end])

        return pieces()

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        await asyncio.sleep(0)
        return CompletionResponse(text=self._next(prompt))

    @llm_completion_callback()
    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> AsyncIterator[CompletionResponse]:
        reply = self._next(prompt)

        async def pieces() -> AsyncIterator[CompletionResponse]:
            for end in range(self.piece, max(len(reply), 1) + self.piece, self.piece):
                await asyncio.sleep(0)
                yield CompletionResponse(text=reply[:end], delta=reply[end - self.piece : end])

        return pieces()


@pytest.fixture
def embedding() -> Bigrams:
    return Bigrams()


@pytest.fixture
def new_embedding() -> Callable[..., Bigrams]:
    return Bigrams


@pytest.fixture
def llm() -> Callable[..., Scripted]:
    """``llm("reply", "second reply")``: a language model with these replies."""

    def make(*replies: str, **options: Any) -> Scripted:
        return Scripted(replies=list(replies), **options)

    return make


@pytest.fixture
def index_of(embedding: Bigrams) -> Iterator[Callable[..., HybridIndex]]:
    """``index_of(document, …)`` in memory, closed at the end of the test."""
    opened: list[HybridIndex] = []

    def make(*documents: Document, **options: Any) -> HybridIndex:
        index = HybridIndex.from_documents(list(documents), **{"embed_model": embedding, **options})
        opened.append(index)
        return index

    yield make
    for index in opened:
        index.close()


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """``write("folder/name.md", text)`` below the test's folder; gives back the path."""

    def make(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


@pytest.fixture
def doc() -> Callable[..., Document]:
    """``doc("kb-1", text, version="2", …)``."""

    def make(doc_id: str, text: str, **metadata: Any) -> Document:
        return Document(id_=doc_id, text=text, metadata=metadata)

    return make


@pytest.fixture
def ids() -> Callable[[Sequence[Any]], list[str]]:
    """Node ids of retrieved rows, in their order."""
    return lambda rows: [row.node.node_id for row in rows]
