"""Answers that arrive sentence by sentence, each checked before it leaves.

The text may be read through ``response_gen`` wholly, in part or not at all: ``get_response()``, ``str()`` and
``print_response_stream()`` always give the whole of it. Closing ``response_gen`` stops the model call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from threading import RLock
from typing import Any

from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.schema import NodeWithScore

from gyr_hybrid.answering.answer import Answer
from gyr_hybrid.answering.response import (
    Citation,
    CitedResponse,
    Decision,
    Mode,
    RefusalReason,
    UnknownIdentifier,
)


class _Fields:
    """The fields of a `CitedResponse`; they fill while the stream is read and are final at its end."""

    _answer: Answer

    @property
    def source_nodes(self) -> list[NodeWithScore]:
        """Sections cited so far, in order of first citation."""
        return self._answer.source_nodes

    @property
    def citations(self) -> list[Citation]:
        return self._answer.citations

    @property
    def context_nodes(self) -> list[NodeWithScore]:
        return self._answer.context_nodes

    @property
    def refused(self) -> bool:
        return self._answer.refusal_reason is not None

    @property
    def refusal_reason(self) -> RefusalReason | None:
        return self._answer.refusal_reason

    @property
    def unknown_identifiers(self) -> list[UnknownIdentifier]:
        return self._answer.unknown_identifiers

    @property
    def warnings(self) -> list[str]:
        return self._answer.warnings

    @property
    def evidence(self) -> float:
        return self._answer.evidence

    @property
    def trace(self) -> list[Decision]:
        return self._answer.trace

    @property
    def nearest(self) -> list[NodeWithScore]:
        return self._answer.nearest

    @property
    def mode(self) -> Mode:
        return self._answer.in_use.mode

    @property
    def models(self) -> dict[str, str]:
        return self._answer.in_use.models

    @property
    def metadata(self) -> dict[str, Any] | None:
        return self._answer.metadata

    @property
    def response_txt(self) -> str | None:
        """The whole text, None until the end of the stream."""
        return self._answer.text if self._answer.done else None


class CitedStreamingResponse(_Fields, StreamingResponse):  # type: ignore[override]
    """A LlamaIndex ``StreamingResponse`` whose ``response_gen`` yields checked sentences with citations."""

    def __init__(self, answer: Answer, pieces: Generator[str]) -> None:
        self._answer = answer
        self._pieces = pieces
        self._lock = RLock()
        self._error: Exception | None = None
        self.response_gen = self._tokens()

    def _tokens(self) -> Generator[str]:
        try:
            yield from self._from(0)
        except GeneratorExit:
            self.close()
            raise

    def _from(self, at: int) -> Generator[str]:
        while (piece := self._piece(at)) is not None:
            at += 1
            yield piece

    def _piece(self, at: int) -> str | None:
        with self._lock:
            if at < len(self._answer.pieces):
                return self._answer.pieces[at]
            if self._error is not None:
                raise self._error
            try:
                return None if self._answer.done else next(self._pieces)
            except StopIteration:
                self._answer.done = True
                return None
            except Exception as error:
                self._error = error
                raise

    def close(self) -> None:
        """Stop the model call; what was read so far stays."""
        with self._lock:
            if not self._answer.done:
                self._pieces.close()
                self._answer.cancel()

    def get_response(self) -> CitedResponse:
        """The whole answer, waiting for its end."""
        for _ in self._from(len(self._answer.pieces)):
            pass
        return self._answer.response()

    def __str__(self) -> str:
        return str(self.get_response())

    def print_response_stream(self) -> None:
        """Print the whole answer as it arrives, from its beginning."""
        for piece in self._from(0):
            print(piece, end="", flush=True)


class CitedAsyncStreamingResponse(_Fields, AsyncStreamingResponse):  # type: ignore[override]
    """The same for an event loop; ``get_response`` and ``print_response_stream`` are coroutines."""

    def __init__(self, answer: Answer, pieces: AsyncGenerator[str]) -> None:
        self._answer = answer
        self._pieces = pieces
        self._lock = asyncio.Lock()
        self._error: Exception | None = None
        self.response_gen = self._tokens()

    async def _tokens(self) -> AsyncGenerator[str]:
        try:
            async for piece in self._from(0):
                yield piece
        except GeneratorExit:
            await self.aclose()
            raise

    async def _from(self, at: int) -> AsyncGenerator[str]:
        while (piece := await self._piece(at)) is not None:
            at += 1
            yield piece

    async def _piece(self, at: int) -> str | None:
        async with self._lock:
            if at < len(self._answer.pieces):
                return self._answer.pieces[at]
            if self._error is not None:
                raise self._error
            try:
                return None if self._answer.done else await anext(self._pieces)
            except StopAsyncIteration:
                self._answer.done = True
                return None
            except asyncio.CancelledError:
                self._answer.cancel()
                raise
            except Exception as error:
                self._error = error
                raise

    async def aclose(self) -> None:
        """Stop the model call; what was read so far stays."""
        if not self._answer.done:
            await self._pieces.aclose()
            self._answer.cancel()

    def async_response_gen(self) -> AsyncGenerator[str]:
        """The whole answer from its beginning, whatever was read before."""
        return self._from(0)

    async def get_response(self) -> CitedResponse:
        """The whole answer, waiting for its end."""
        async for _ in self._from(len(self._answer.pieces)):
            pass
        return self._answer.response()

    def __str__(self) -> str:
        return str(self._answer.response() if self._answer.done else asyncio_run(self.get_response()))

    async def print_response_stream(self) -> None:
        """Print the whole answer as it arrives, from its beginning."""
        async for piece in self._from(0):
            print(piece, end="", flush=True)
        print()
