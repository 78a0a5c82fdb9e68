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
from gyr_hybrid.answering.enforcement.quoting import quote
from gyr_hybrid.answering.enforcement.replacing import speaks_of_a_rival
from gyr_hybrid.answering.enforcement.units import Unit
from gyr_hybrid.answering.evidence import covered
from gyr_hybrid.answering.extractive import choose, extract
from gyr_hybrid.answering.generation import Delta, Prompt, agenerate, generate, without_thoughts
from gyr_hybrid.answering.options import EngineOptions
from gyr_hybrid.answering.preparation import Found, material
from gyr_hybrid.answering.reading import Reading, adrive, drive
from gyr_hybrid.answering.refusal import weak_opening, weak_warning
from gyr_hybrid.answering.verification.verdict import Verifier
from gyr_hybrid.errors import ConfigurationError

ANSWERS = 0.6
"""Share of what the best section has of the question's words that the cited one needs to be quoted in its place."""
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
            reading = Reading(answer, checks)
            deltas = generate(llm, self._prompt(answer), stream=self._options.streaming)
            try:
                for delta in deltas:
                    for unit in reading.feed(delta):
                        yield from map(answer.show, drive(checks.check(unit), self._replies(answer, llm)))
                for unit in reading.finish():
                    yield from map(answer.show, drive(checks.check(unit), self._replies(answer, llm)))
            finally:
                deltas.close()
            if (reason := reading.outcome()) is not None:
                yield from map(answer.show, self._rescue(answer, found, checks))
                if not answer.pieces:
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
            reading = Reading(answer, checks)
            deltas = agenerate(llm, self._prompt(answer), stream=self._options.streaming)
            try:
                async for delta in deltas:
                    for unit in await _off_loop(reading.feed, delta):
                        for piece in await adrive(checks.check(unit), self._areplies(answer, llm)):
                            yield answer.show(piece)
                for unit in reading.finish():
                    for piece in await adrive(checks.check(unit), self._areplies(answer, llm)):
                        yield answer.show(piece)
            finally:
                await deltas.aclose()
            if (reason := reading.outcome()) is not None:
                for piece in await asyncio.to_thread(self._rescue, answer, found, checks):
                    yield answer.show(piece)
                if not answer.pieces:
                    yield answer.refuse(reason)
        answer.done = True

    def _extracts(self, answer: Answer) -> bool:
        return self._llm is None and answer.refusal_reason is None

    def _extract(self, answer: Answer, found: Found) -> list[str]:
        quoted = quote(answer.context, extract(*material(answer, found, self._analyzer)))
        answer.citations, answer.trace = list(quoted.citations), list(quoted.trace)
        if not quoted.pieces:
            answer.refusal_reason = "no_evidence"
        return list(quoted.pieces)

    def _rescue(self, answer: Answer, found: Found, checks: Enforcement) -> list[str]:
        """When nothing of the answer passed: the cited section's own words, if a sentence was about it."""
        if not checks.dropped:
            return []
        question, candidates = material(answer, found, self._analyzer)
        ids = [source.node_id for source in answer.context.sources]
        for sentence, node_id in checks.dropped:
            number = ids.index(node_id)
            best = max(covered(question.weights, c.terms, question.synonyms) for c in candidates)
            share = covered(question.weights, candidates[number].terms, question.synonyms)
            if share < ANSWERS * best and not candidates[number].codes:
                continue
            if candidates[number].terms & set(self._analyzer.content_words(sentence)):
                node = answer.context.facts[number]
                chosen = [
                    (number, excerpt)
                    for excerpt in choose(question, candidates[number])
                    if not speaks_of_a_rival(answer.question, node, excerpt.text, self._options.lexicon)
                ]
                quoted = quote(answer.context, chosen, replacing="nothing passed: the cited section answers")
                answer.citations.extend(quoted.citations)
                answer.trace.extend(quoted.trace)
                return list(quoted.pieces)
        return []

    def _checks(self, answer: Answer) -> Enforcement:
        options = self._options
        settings = Settings(
            policy=options.policy,
            max_retries=options.max_retries,
            language=answer.language,
            with_verifier=options.verifier is not None,
            lexicon=options.lexicon,
            has_content=lambda text: bool(self._analyzer.content_words(text)),
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
            return self._verifier.verify(request.sentence, request.nodes)

        return reply

    def _areplies(self, answer: Answer, llm: LLM) -> Callable[[Request], Awaitable[Any]]:
        async def reply(request: Request) -> Any:
            if isinstance(request, AskAgain):
                deltas = agenerate(llm, self._prompt(answer, request), stream=False)
                return without_thoughts("".join([delta.text async for delta in deltas]))
            verifier = self._verifier
            if hasattr(verifier, "averify"):
                return await verifier.averify(request.sentence, request.nodes)
            return await asyncio.to_thread(verifier.verify, request.sentence, request.nodes)

        return reply

    @property
    def _verifier(self) -> Verifier:
        if self._options.verifier is None:
            raise ConfigurationError("no verifier is set; give `verifier=` to the engine")
        return self._options.verifier


def _opened(answer: Answer, pieces: list[str]) -> list[str]:
    """Pieces of an extraction; where the evidence is weak they open with a line that says so."""
    if not answer.weak:
        return pieces
    opening = weak_opening(answer.language)
    answer.warnings.append(weak_warning(answer.language))
    return [opening + "\n\n", *pieces]


async def _off_loop(feed: Callable[[Delta], list[Unit]], delta: Delta) -> list[Unit]:
    """Long pieces are cut in a thread; for a token the change of threads costs more than the cutting."""
    return feed(delta) if len(delta.text) <= LONG_PIECE else await asyncio.to_thread(feed, delta)
