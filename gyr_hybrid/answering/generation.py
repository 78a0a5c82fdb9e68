"""Ask an LLM, whole or as a stream, sync or async, and say in one error what went wrong."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.types import ChatResponse, CompletionResponse
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate

from gyr_hybrid.errors import EndpointError, GyrError

_REMEDIES = {
    400: "check the model's name and what it accepts (length of the prompt, LLM_EXTRA_BODY)",
    401: "check LLM_API_KEY",
    403: "check LLM_API_KEY and that it may use this model",
    404: "check LLM_MODEL and LLM_BASE_URL (name, region, /v1)",
    408: "the service was too slow: try again or raise the time-out",
    429: "the rate limit is reached: wait, or ask for a higher one",
}
_TAGS = ("think", "thinking", "reasoning", "thought")


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a model's answer."""

    text: str
    finish_reason: str | None = None
    """``stop``, ``length``, ``content_filter`` … with the last piece, where the service tells."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A template and what to fill it with."""

    template: BasePromptTemplate
    variables: dict[str, str]


def generate(llm: LLM, prompt: Prompt, *, stream: bool) -> Generator[Delta]:
    """The answer in pieces; in one piece without ``stream``.

    Raises:
        EndpointError: the model failed, at any time.
    """
    try:
        if stream:
            said = ""
            responses = _start(llm, prompt)
            try:
                for response in responses:
                    delta, said = _delta(response, said)
                    yield delta
            finally:
                if hasattr(responses, "close"):
                    responses.close()
        else:
            yield Delta(*_whole(_ask(llm, prompt)))
    except GyrError:
        raise
    except Exception as error:
        raise endpoint_error(error, llm) from error


async def agenerate(llm: LLM, prompt: Prompt, *, stream: bool) -> AsyncGenerator[Delta]:
    """``generate`` for an event loop."""
    try:
        if stream:
            said = ""
            responses = await _astart(llm, prompt)
            try:
                async for response in responses:
                    delta, said = _delta(response, said)
                    yield delta
            finally:
                if hasattr(responses, "aclose"):
                    await responses.aclose()
        else:
            yield Delta(*_whole(await _aask(llm, prompt)))
    except GyrError:
        raise
    except Exception as error:
        raise endpoint_error(error, llm) from error


def _is_chat(llm: LLM) -> bool:
    return bool(llm.metadata.is_chat_model)


def _ask(llm: LLM, prompt: Prompt) -> ChatResponse | CompletionResponse:
    if _is_chat(llm):
        return llm.chat(prompt.template.format_messages(llm=llm, **prompt.variables))
    return llm.complete(prompt.template.format(llm=llm, **prompt.variables), formatted=True)


async def _aask(llm: LLM, prompt: Prompt) -> ChatResponse | CompletionResponse:
    if _is_chat(llm):
        return await llm.achat(prompt.template.format_messages(llm=llm, **prompt.variables))
    return await llm.acomplete(prompt.template.format(llm=llm, **prompt.variables), formatted=True)


def _start(llm: LLM, prompt: Prompt) -> Any:
    if _is_chat(llm):
        return llm.stream_chat(prompt.template.format_messages(llm=llm, **prompt.variables))
    return llm.stream_complete(prompt.template.format(llm=llm, **prompt.variables), formatted=True)


async def _astart(llm: LLM, prompt: Prompt) -> Any:
    if _is_chat(llm):
        return await llm.astream_chat(prompt.template.format_messages(llm=llm, **prompt.variables))
    return await llm.astream_complete(prompt.template.format(llm=llm, **prompt.variables), formatted=True)


def _text(response: ChatResponse | CompletionResponse) -> str:
    return (response.message.content if isinstance(response, ChatResponse) else response.text) or ""


def _whole(response: ChatResponse | CompletionResponse) -> tuple[str, str | None]:
    return _text(response), finish_reason(response)


def _delta(response: ChatResponse | CompletionResponse, said: str) -> tuple[Delta, str]:
    text = response.delta
    if text is None:
        whole = _text(response)
        text = whole[len(said) :] if whole.startswith(said) else whole
    return Delta(text, finish_reason(response)), said + text


def finish_reason(response: ChatResponse | CompletionResponse) -> str | None:
    """Why the model stopped, as OpenAI-compatible services say it; None if unknown."""
    for holder in (response.raw, response.additional_kwargs):
        choices = _get(holder, "choices")
        found = _get(choices[0], "finish_reason") if choices else _get(holder, "finish_reason")
        if found:
            return str(found)
    return None


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)


def endpoint_error(error: Exception, llm: LLM) -> EndpointError:
    """What a user can do about a failed model call; no key and no prompt in it."""
    status = getattr(error, "status_code", None) or getattr(
        getattr(error, "response", None), "status_code", None
    )
    status = status if isinstance(status, int) else None
    name = getattr(llm, "model", None) or llm.metadata.model_name
    timed_out = isinstance(error, TimeoutError) or "timeout" in type(error).__name__.lower()
    if timed_out:
        remedy = "the service did not answer in time: try again or raise the time-out"
    elif status is not None and status >= 500:
        remedy = "the service has a fault: try again later"
    else:
        remedy = _REMEDIES.get(status or 0, "check LLM_BASE_URL and that the service runs")
    what = f"HTTP {status}" if status else type(error).__name__
    return EndpointError(
        f"the language model {name!r} failed ({what}); {remedy}", layer="llm", status=status, remedy=remedy
    )


def without_thoughts(text: str) -> str:
    """A whole text without ``<think>…</think>``."""
    thinking = ThinkFilter()
    return thinking.feed(text) + thinking.finish()


class ThinkFilter:
    """Takes ``<think>…</think>`` out of a text that arrives in pieces.

    >>> f = ThinkFilter()
    >>> f.feed("<thi") + f.feed("nk>嗯</think>三年。") + f.finish()
    '三年。'
    """

    def __init__(self) -> None:
        self._held = ""
        self._inside: str | None = None

    def feed(self, text: str) -> str:
        """What of the text so far is certainly no thinking."""
        out = ""
        for char in text:
            self._held += char
            out += self._settle()
        return out

    def finish(self) -> str:
        """What was held back; an unclosed thought is dropped."""
        held, self._held = self._held, ""
        return "" if self._inside else held

    def _settle(self) -> str:
        held = self._held
        lowered = held.lower()
        if self._inside is not None:
            end = f"</{self._inside}>"
            if lowered.endswith(end):
                self._held, self._inside = "", None
            else:
                self._held = held[-len(end) :]
            return ""
        if held[0] != "<":
            self._held = ""
            return held
        for tag in _TAGS:
            if lowered == f"<{tag}>":
                self._held, self._inside = "", tag
                return ""
            if lowered == f"</{tag}>":
                self._held = ""
                return ""
        if any(f"<{tag}>".startswith(lowered) or f"</{tag}>".startswith(lowered) for tag in _TAGS):
            return ""
        self._held = ""
        if char_again := held[-1] == "<":
            self._held = "<"
        return held[:-1] if char_again else held
