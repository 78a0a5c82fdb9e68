"""Write a prepared answer piece by piece: a refusal, excerpts, or what passes of a model's answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import Any

from llama_index.core.llms import LLM
from llama_index.core.prompts.mixin import PromptDictType

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.answering.answer import Answer
from gyr_hybrid.answering.enforcement.deciding import AskAgain, Request, Settings
from gyr_hybrid.answering.enforcement.enforcer import Enforcement
from gyr_hybrid.answering.enforcement.units import Unit
from gyr_hybrid.answering.generation import Delta, Prompt, agenerate, generate, without_thoughts
from gyr_hybrid.answering.options import EngineOptions
from gyr_hybrid.answering.passages import passages
from gyr_hybrid.answering.preparation import Found, material
from gyr_hybrid.answering.reading import Reading, adrive, drive
from gyr_hybrid.answering.refusal import weak_opening, weak_warning
from gyr_hybrid.verification import LLMVerifier, Verdict, Verifier
from gyr_hybrid.verification.judging import ajudge_claims, judge_claims

_NOT_JUDGED_ZH = "核对改写的模型未能给出结论，改用原文：{}"
_NOT_JUDGED_EN = "the judge gave no verdict, the source's words are shown instead: {}"
LONG_PIECE = 200
"""Characters of a piece that are cut off the event loop."""


class Writer:
    """Writes answers with one model, or without; keeps nothing between questions.

    Args:
        llm: None answers with excerpts.
        prompts: templates by name, looked up for each answer.
    """

    def __init__(
        self, llm: LLM | None, options: EngineOptions, prompts: PromptDictType, analyzer: Analyzer
    ) -> None:
        self._llm = llm
        self._options = options
        self._prompts = prompts
        self._analyzer = analyzer

    def pieces(self, answer: Answer, found: Found) -> Generator[str]:
        """The pieces of the answer; joined they are its text. Closing the generator stops the model."""
        quoted = self._extract(answer, found) if self._extracts(answer) else []
        if answer.refusal_reason is not None:
            yield answer.refuse(answer.refusal_reason)
        elif self._llm is None:
            yield from map(answer.show, _opened(answer, quoted))
        else:
            llm = self._llm
            checks = self._checks(answer)
            reading = Reading(
                answer, checks, judged=self.judge is not None, streaming=self._options.streaming
            )
            deltas = generate(llm, self._prompt(answer), stream=self._options.streaming)
            try:
                for delta in deltas:
                    for group in reading.feed(delta):
                        yield from map(answer.show, drive(checks.check(group), self._replies(answer, llm)))
                for group in reading.finish():
                    yield from map(answer.show, drive(checks.check(group), self._replies(answer, llm)))
            finally:
                deltas.close()
            if (reason := reading.outcome()) is not None:
                yield answer.refuse(reason)
        answer.done = True

    async def apieces(self, answer: Answer, found: Found) -> AsyncGenerator[str]:
        """``pieces`` for an event loop: the checks in threads, the model awaited."""
        quoted = await asyncio.to_thread(self._extract, answer, found) if self._extracts(answer) else []
        if answer.refusal_reason is not None:
            yield answer.refuse(answer.refusal_reason)
        elif self._llm is None:
            for piece in _opened(answer, quoted):
                yield answer.show(piece)
        else:
            llm = self._llm
            checks = await asyncio.to_thread(self._checks, answer)
            reading = Reading(
                answer, checks, judged=self.judge is not None, streaming=self._options.streaming
            )
            deltas = agenerate(llm, self._prompt(answer), stream=self._options.streaming)
            try:
                async for delta in deltas:
                    for group in await _off_loop(reading.feed, delta):
                        for piece in await adrive(checks.check(group), self._areplies(answer, llm)):
                            yield answer.show(piece)
                for group in reading.finish():
                    for piece in await adrive(checks.check(group), self._areplies(answer, llm)):
                        yield answer.show(piece)
            finally:
                await deltas.aclose()
            if (reason := reading.outcome()) is not None:
                yield answer.refuse(reason)
        answer.done = True

    def _extracts(self, answer: Answer) -> bool:
        return self._llm is None and answer.refusal_reason is None

    def _extract(self, answer: Answer, found: Found) -> list[str]:
        quoted = passages(answer.context, *material(answer, found, self._analyzer))
        answer.citations, answer.trace = list(quoted.citations), list(quoted.trace)
        if not quoted.pieces:
            answer.refusal_reason = "no_evidence"
        return list(quoted.pieces)

    def _checks(self, answer: Answer) -> Enforcement:
        options = self._options
        settings = Settings(
            policy=options.policy,
            max_retries=options.max_retries,
            language=answer.language,
            judged=self.judge is not None,
            has_content=lambda text: bool(self._analyzer.content_words(text)),
            question=answer.question,
        )
        checks = Enforcement(answer.context, settings)
        answer.citations, answer.trace = checks.ledger.citations, checks.ledger.trace
        return checks

    def _prompt(self, answer: Answer, again: AskAgain | None = None) -> Prompt:
        variables = {
            "context_str": answer.context.text(),
            "query_str": answer.question,
            "label": answer.context.sources[0].label,
        }
        if again is None:
            return Prompt(self._prompts[f"answer_{answer.language}"], variables)
        variables |= {"sentence": again.sentence, "reason": again.reason}
        return Prompt(self._prompts[f"retry_{answer.language}"], variables)

    def _replies(self, answer: Answer, llm: LLM) -> Callable[[Request], Any]:
        def reply(request: Request) -> Any:
            if isinstance(request, AskAgain):
                deltas = generate(llm, self._prompt(answer, request), stream=False)
                return without_thoughts("".join(delta.text for delta in deltas))
            verdicts, warning = judge_claims(self.judge, request.claims, timeout=self._options.judge_timeout)
            return self._judged(answer, verdicts, warning)

        return reply

    def _areplies(self, answer: Answer, llm: LLM) -> Callable[[Request], Awaitable[Any]]:
        async def reply(request: Request) -> Any:
            if isinstance(request, AskAgain):
                deltas = agenerate(llm, self._prompt(answer, request), stream=False)
                return without_thoughts("".join([delta.text async for delta in deltas]))
            verdicts, warning = await ajudge_claims(
                self.judge, request.claims, timeout=self._options.judge_timeout
            )
            return self._judged(answer, verdicts, warning)

        return reply

    @property
    def judge(self) -> Verifier | None:
        """Who is asked what other words say; None: rules alone."""
        if self._options.verifier is not None:
            return self._options.verifier
        if self._options.judge == "auto":
            return LLMVerifier(self._llm) if self._llm is not None else None
        return self._options.judge

    @staticmethod
    def _judged(answer: Answer, verdicts: list[Verdict], warning: str | None) -> list[Verdict]:
        if warning is not None:
            said = (_NOT_JUDGED_ZH if answer.language == "zh" else _NOT_JUDGED_EN).format(warning)
            if said not in answer.warnings:
                answer.warnings.append(said)
        return verdicts


def _opened(answer: Answer, pieces: list[str]) -> list[str]:
    """Pieces of an extraction; where the evidence is weak they open with a line that says so."""
    if not answer.weak:
        return pieces
    opening = weak_opening(answer.language)
    answer.warnings.append(weak_warning(answer.language))
    return [opening + "\n\n", *pieces]


async def _off_loop(feed: Callable[[Delta], list[list[Unit]]], delta: Delta) -> list[list[Unit]]:
    """Long pieces are cut in a thread; for a token the change of threads costs more than the cutting."""
    return feed(delta) if len(delta.text) <= LONG_PIECE else await asyncio.to_thread(feed, delta)
