"""A chat model behind an OpenAI-compatible service: LlamaIndex's OpenAILike, put right."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from json import JSONDecodeError
from typing import Any

import httpx
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    MessageRole,
    TextBlock,
    ThinkingBlock,
)
from llama_index.llms.openai.utils import to_openai_message_dicts
from llama_index.llms.openai_like import OpenAILike
from pydantic import PrivateAttr

from gyr_hybrid.models.calls import acall, aonce, call, once
from gyr_hybrid.models.failures import malformed
from gyr_hybrid.models.service import Service

CONNECT_SECONDS = 10.0
FINISH = "finish_reason"
"""Key of ``ChatResponse.additional_kwargs``: ``stop``, ``length``, ``content_filter`` … as the service says, and
``incomplete`` when a stream ends without saying."""
_STRANGE = (AttributeError, IndexError, TypeError, JSONDecodeError)


class ChatEndpoint(OpenAILike):
    """Chat completions of one `Service`, for completions too (``complete("hi")`` is a chat of one message).

    Retries are made here and nowhere below. The key is in no field: neither `repr`, `to_dict` nor an event shows it.
    Raises `EndpointError`.
    """

    _service: Service = PrivateAttr()

    def __init__(
        self, service: Service, *, context_window: int = 32_768, extra_body: dict[str, Any] | None = None
    ) -> None:
        super().__init__(
            model=service.model or "",
            api_base=service.base_url,
            api_key="kept elsewhere",
            is_chat_model=True,
            is_function_calling_model=False,
            context_window=context_window,
            timeout=service.timeout,
            max_retries=0,
            additional_kwargs={"extra_body": dict(extra_body)} if extra_body else {},
        )
        self._service = service

    @classmethod
    def class_name(cls) -> str:
        return "ChatEndpoint"

    @property
    def service(self) -> Service:
        """Where the model is asked."""
        return self._service

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        yield "service", self._service

    def _get_credential_kwargs(self, is_async: bool = False) -> dict[str, Any]:
        return client_options(self._service, self, is_async=is_async)

    def _chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        ask = super()._chat
        try:
            return _finished(call(self._service, lambda: ask(messages, **kwargs)))
        except _STRANGE as error:
            raise self._no_chat(error) from error

    async def _achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        ask = super()._achat
        try:
            return _finished(await acall(self._service, lambda: ask(messages, **kwargs)))
        except _STRANGE as error:
            raise self._no_chat(error) from error

    def _stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        create = self._get_client().chat.completions.create
        request = self._streaming(messages, kwargs)

        def pieces() -> ChatResponseGen:
            said = _Said()
            with call(self._service, lambda: create(**request)) as stream:
                while (chunk := once(self._service, lambda: next(stream, None))) is not None:
                    yield said.add(chunk)
            if said.chunks == 0:
                raise malformed(self._service, "did not answer with a stream of chat completions")
            if said.reason is None:
                yield said.incomplete()

        return pieces()

    async def _astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        create = self._get_aclient().chat.completions.create
        request = self._streaming(messages, kwargs)

        async def pieces() -> ChatResponseAsyncGen:
            said = _Said()
            async with await acall(self._service, lambda: create(**request)) as stream:
                while (chunk := await aonce(self._service, lambda: anext(stream, None))) is not None:
                    yield said.add(chunk)
            if said.chunks == 0:
                raise malformed(self._service, "did not answer with a stream of chat completions")
            if said.reason is None:
                yield said.incomplete()

        return pieces()

    def _streaming(self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> dict[str, Any]:
        dicts = to_openai_message_dicts(messages, model=self.model)
        return {"messages": dicts, **self._get_model_kwargs(stream=True, **kwargs)}

    def _no_chat(self, error: Exception) -> Exception:
        return malformed(self._service, f"did not answer with a chat completion ({type(error).__name__})")


def client_options(service: Service, model: object, *, is_async: bool) -> dict[str, Any]:
    """Arguments for a client of the openai package that belongs to ``model``.

    A connection kept open belongs to the event loop it was made in, and a later loop fails on it: the async client
    keeps none. Those of the sync client are closed when the model goes: nobody else has them to close.
    """
    from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

    timeout = httpx.Timeout(service.timeout, connect=min(CONNECT_SECONDS, service.timeout))
    http_client: httpx.Client | httpx.AsyncClient
    if is_async:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        http_client = DefaultAsyncHttpxClient(timeout=timeout, limits=limits)
    else:
        http_client = DefaultHttpxClient(timeout=timeout)
        weakref.finalize(model, http_client.close)
    return {
        "api_key": service.secret,
        "base_url": service.base_url,
        "max_retries": 0,
        "timeout": timeout,
        "http_client": http_client,
    }


def _finished(response: ChatResponse) -> ChatResponse:
    choices = getattr(response.raw, "choices", None)
    reason = choices[0].finish_reason if choices else None
    if reason:
        response.additional_kwargs[FINISH] = reason
    return response


class _Said:
    """What a stream has said so far.

    LlamaIndex's own loop leaves the HTTP response open until the garbage collector comes by when its reader stops
    early; ours is closed at once, and this is what it needs instead.
    """

    def __init__(self) -> None:
        self.chunks = 0
        self.text = ""
        self.thoughts = ""
        self.reason: str | None = None

    def add(self, chunk: Any) -> ChatResponse:
        """The response after one more chunk; a chunk may be without choices (usage)."""
        choice = chunk.choices[0] if getattr(chunk, "choices", None) else None
        delta = getattr(choice, "delta", None)
        said = getattr(delta, "content", None) or ""
        thought = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None) or ""
        self.chunks += 1
        self.text += said
        self.thoughts += thought
        self.reason = getattr(choice, "finish_reason", None) or self.reason
        extra = {FINISH: self.reason} if self.reason else {}
        return self._response(said, extra | ({"thinking_delta": thought} if thought else {}), chunk)

    def incomplete(self) -> ChatResponse:
        """The last response of a stream that ended without giving a reason."""
        return self._response("", {FINISH: "incomplete"})

    def _response(self, delta: str, extra: dict[str, Any], chunk: Any = None) -> ChatResponse:
        blocks = [ThinkingBlock(content=self.thoughts)] if self.thoughts else []
        message = ChatMessage(role=MessageRole.ASSISTANT, blocks=[*blocks, TextBlock(text=self.text)])
        return ChatResponse(message=message, delta=delta, raw=chunk, additional_kwargs=extra)
