"""A LlamaIndex LLM that says what a test tells it to say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.llm import LLM
from pydantic import Field, PrivateAttr

from gyr_hybrid.errors import ConfigurationError

Answer = str | Exception
Answers = Answer | Sequence[Answer] | Callable[[str], Answer]


class ScriptedLLM(LLM):
    """Answers from a script, in the order of the calls, sync, async and streaming alike.

    ``answers`` is one text for every call, a sequence of one per call, or a function of the prompt. An exception
    in the place of a text is raised. A sequence that runs out raises `ConfigurationError`.

    ``chunk`` is the number of characters per piece of a stream, ``delay`` the seconds before each answer and each
    piece (the async methods await it). ``finish_reason`` is why it stopped, as in a `ChatEndpoint`'s
    ``additional_kwargs``. Safe to call from several threads.

    >>> llm = ScriptedLLM(lambda prompt: "是" if "E1042" in prompt else "否")
    >>> llm.complete("有 E1042 吗").text, llm.complete("有 E1043 吗").text
    ('是', '否')
    >>> [piece.delta for piece in ScriptedLLM("三年。", chunk=2).stream_complete("保修")]
    ['三年', '。']
    """

    chunk: int = Field(default=4, ge=1)
    delay: float = Field(default=0.0, ge=0.0)
    finish_reason: str = "stop"
    context_window: int = Field(default=32_768, gt=0)
    num_output: int = Field(default=1_024, gt=0)

    _answers: Answers = PrivateAttr()
    _prompts: list[str] = PrivateAttr(default_factory=list)
    _messages: list[list[ChatMessage]] = PrivateAttr(default_factory=list)
    _pieces: int = PrivateAttr(default=0)
    _lock: Any = PrivateAttr(default_factory=Lock)

    def __init__(self, answers: Answers = "", **options: Any) -> None:
        super().__init__(**options)
        self._answers = (
            answers if isinstance(answers, str | Exception) or callable(answers) else tuple(answers)
        )

    @classmethod
    def class_name(cls) -> str:
        return "ScriptedLLM"

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=self.context_window,
            num_output=self.num_output,
            is_chat_model=True,
            model_name="scripted",
        )

    @property
    def calls(self) -> int:
        """How often the model was asked, streams included."""
        return len(self._prompts)

    @property
    def prompts(self) -> list[str]:
        """The text of every call in order; the messages of a chat are joined by a blank line."""
        return list(self._prompts)

    @property
    def messages(self) -> list[list[ChatMessage]]:
        """The messages of every call in order; a completion is one user message."""
        return [list(messages) for messages in self._messages]

    @property
    def pieces(self) -> int:
        """How many pieces of streams were taken so far: a stream closed early stays short of its answer."""
        return self._pieces

    def _say(self, messages: Sequence[ChatMessage]) -> str:
        prompt = "\n\n".join(message.content or "" for message in messages)
        with self._lock:
            turn = len(self._prompts)
            self._prompts.append(prompt)
            self._messages.append(list(messages))
        answers = self._answers
        if isinstance(answers, str | Exception):
            answer = answers
        elif callable(answers):
            answer = answers(prompt)
        elif turn < len(answers):
            answer = answers[turn]
        else:
            raise ConfigurationError(
                f"ScriptedLLM has {len(answers)} answers and was asked {turn + 1} times; "
                "give one answer per call, or a function of the prompt"
            )
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _response(self, text: str, delta: str | None = None, *, ended: bool = True) -> ChatResponse:
        return ChatResponse(
            message=ChatMessage(role=MessageRole.ASSISTANT, content=text),
            delta=delta,
            additional_kwargs={"finish_reason": self.finish_reason} if ended else {},
        )

    def _cut(self, text: str) -> list[str]:
        return [text[i : i + self.chunk] for i in range(0, len(text), self.chunk)]

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        text = self._say(messages)
        time.sleep(self.delay)
        return self._response(text)

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        text = self._say(messages)
        await asyncio.sleep(self.delay)
        return self._response(text)

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        text = self._say(messages)

        def pieces() -> ChatResponseGen:
            said = ""
            for delta in self._cut(text):
                time.sleep(self.delay)
                self._pieces += 1
                said += delta
                yield self._response(said, delta, ended=said == text)

        return pieces()

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        text = self._say(messages)

        async def pieces() -> ChatResponseAsyncGen:
            said = ""
            for delta in self._cut(text):
                await asyncio.sleep(self.delay)
                self._pieces += 1
                said += delta
                yield self._response(said, delta, ended=said == text)

        return pieces()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        text = self._say(_user(prompt))
        time.sleep(self.delay)
        return CompletionResponse(text=text, additional_kwargs={"finish_reason": self.finish_reason})

    @llm_completion_callback()
    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        text = self._say(_user(prompt))
        await asyncio.sleep(self.delay)
        return CompletionResponse(text=text, additional_kwargs={"finish_reason": self.finish_reason})

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        text = self._say(_user(prompt))

        def pieces() -> CompletionResponseGen:
            said = ""
            for delta in self._cut(text):
                time.sleep(self.delay)
                self._pieces += 1
                said += delta
                yield CompletionResponse(text=said, delta=delta)

        return pieces()

    @llm_completion_callback()
    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        text = self._say(_user(prompt))

        async def pieces() -> CompletionResponseAsyncGen:
            said = ""
            for delta in self._cut(text):
                await asyncio.sleep(self.delay)
                self._pieces += 1
                said += delta
                yield CompletionResponse(text=said, delta=delta)

        return pieces()


def _user(prompt: str) -> list[ChatMessage]:
    return [ChatMessage(role=MessageRole.USER, content=prompt)]
