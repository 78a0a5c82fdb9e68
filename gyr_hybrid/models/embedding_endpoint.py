"""An embedding model behind an OpenAI-compatible service: LlamaIndex's OpenAILikeEmbedding, put right."""

from __future__ import annotations

import re
from base64 import b64decode
from collections import deque
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from pydantic import Field, PrivateAttr

from gyr_hybrid.errors import EmbeddingError, EndpointError
from gyr_hybrid.models.calls import acall, call
from gyr_hybrid.models.chat_endpoint import client_options
from gyr_hybrid.models.failures import FILTERED, malformed
from gyr_hybrid.models.service import Service
from gyr_hybrid.models.vectors import checked_vectors

PARALLEL_REQUESTS = 4
"""Batches in flight at once in the async methods; more meet rate limits sooner than they save time."""
TOO_MUCH = frozenset({400, 413, 422})
"""Statuses with which services refuse a batch that is too long."""
_LIMIT = re.compile(
    r"(?:larger|greater|more|exceed|max|limit|最大|最多|超过|上限)\D{0,40}(\d+)", re.IGNORECASE
)

Rows = list[list[float]]


class EmbeddingEndpoint(OpenAILikeEmbedding):
    """Embeddings of one `Service`, as the service gives them (not normalised), each with the text it belongs to.

    Vectors are matched by ``index``; their number, their length (``dimensions``, else that of the first answer) and
    their values are checked. A batch that is refused as too long is halved, and the service's limit remembered.
    Texts go out untouched; ``query_instruction`` stands before questions only, or around them where it says
    ``{query}``. Raises `EmbeddingError` for a blank text and for bad vectors, `EndpointError` when the service fails.
    """

    query_instruction: str | None = Field(default=None)

    _service: Service = PrivateAttr()
    _largest: int | None = PrivateAttr(default=None)
    _length: int | None = PrivateAttr(default=None)

    def __init__(
        self,
        service: Service,
        *,
        dimensions: int | None = None,
        batch_size: int = 10,
        query_instruction: str | None = None,
        encoding_format: str = "float",
    ) -> None:
        super().__init__(
            model_name=service.model or "",
            api_base=service.base_url,
            api_key="kept elsewhere",
            dimensions=dimensions,
            embed_batch_size=batch_size,
            timeout=service.timeout,
            max_retries=0,
            num_workers=PARALLEL_REQUESTS,
            additional_kwargs={"encoding_format": encoding_format},
            query_instruction=query_instruction,
        )
        self._service = service
        self._length = dimensions

    @classmethod
    def class_name(cls) -> str:
        return "EmbeddingEndpoint"

    @property
    def service(self) -> Service:
        """Where the model is asked."""
        return self._service

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        yield "service", self._service
        yield "dimensions", self.dimensions
        yield "batch_size", self.embed_batch_size

    def _get_credential_kwargs(self, is_async: bool = False) -> dict[str, Any]:
        return client_options(self._service, self, is_async=is_async)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embeddings([self._instructed(query)])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return (await self._aget_text_embeddings([self._instructed(query)]))[0]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._aget_text_embeddings([text]))[0]

    def _get_text_embeddings(self, texts: list[str]) -> Rows:
        create = self._get_client().embeddings.create
        plan = self._plan(texts)
        try:
            batch = next(plan)
            while True:
                try:
                    reply = call(self._service, lambda: create(**self._request(batch)))  # noqa: B023
                except EndpointError as error:
                    batch = plan.throw(error)
                else:
                    batch = plan.send(reply)
        except StopIteration as done:
            rows: Rows = done.value
            return rows

    async def _aget_text_embeddings(self, texts: list[str]) -> Rows:
        create = self._get_aclient().embeddings.create
        plan = self._plan(texts)
        try:
            batch = next(plan)
            while True:
                try:
                    reply = await acall(self._service, lambda: create(**self._request(batch)))  # noqa: B023
                except EndpointError as error:
                    batch = plan.throw(error)
                else:
                    batch = plan.send(reply)
        except StopIteration as done:
            rows: Rows = done.value
            return rows

    def _plan(self, texts: list[str]) -> Generator[list[str], Any, Rows]:
        """Yield the batches to send one after another; take each one's reply, or the error it met."""
        for position, text in enumerate(texts):
            if not text.strip():
                raise EmbeddingError(
                    f"text {position} of {len(texts)} is blank and has no vector; leave it out"
                )
        size = min(self._largest or len(texts), len(texts)) or 1
        waiting = deque(texts[i : i + size] for i in range(0, len(texts), size))
        rows: Rows = []
        while waiting:
            batch = waiting.popleft()
            try:
                reply = yield batch
            except EndpointError as error:
                size = self._smaller(error, len(batch))
                waiting.extendleft(reversed([batch[i : i + size] for i in range(0, len(batch), size)]))
                continue
            rows += self._matched(reply, len(batch))
        return rows

    def _smaller(self, error: EndpointError, size: int) -> int:
        """The batch size to try after ``size`` was refused; raises ``error`` when size was not the reason."""
        if error.status not in TOO_MUCH or size == 1 or FILTERED.search(str(error)):
            raise error
        limits = [int(number) for number in _LIMIT.findall(str(error))]
        fitting = [limit for limit in limits if 0 < limit < size]
        if fitting:
            self._largest = min(fitting)
            return self._largest
        return (size + 1) // 2

    def _matched(self, reply: Any, count: int) -> Rows:
        try:
            items = list(reply.data)
            vectors = [_numbers(item.embedding) for item in items]
            places = [getattr(item, "index", None) for item in items]
        except (AttributeError, TypeError) as error:
            raise malformed(
                self._service, f"did not answer with embeddings ({type(error).__name__})"
            ) from None
        model = f"the model {self.model_name}"
        rows: Rows = checked_vectors(vectors, count=count, dimension=self._length, model=model).tolist()
        self._length = len(rows[0])
        if all(place is None for place in places):
            return rows
        if sorted(places, key=str) != sorted(range(count), key=str):
            raise EmbeddingError(
                f"{model} numbered its {count} vectors {places}, so none can be matched with its text; "
                "set EMBED_BATCH_SIZE=1 or use another service"
            )
        by_place = dict(zip(places, rows, strict=True))
        return [by_place[place] for place in range(count)]

    def _request(self, batch: list[str]) -> dict[str, Any]:
        return {"input": batch, "model": self.model_name, **self.additional_kwargs}

    def _instructed(self, query: str) -> str:
        instruction = self.query_instruction
        if not instruction or not query.strip():
            return query
        return instruction.replace("{query}", query) if "{query}" in instruction else instruction + query


def _numbers(embedding: Any) -> list[float]:
    if isinstance(embedding, str):
        numbers: list[float] = np.frombuffer(b64decode(embedding), dtype="<f4").tolist()
        return numbers
    return list(embedding)
