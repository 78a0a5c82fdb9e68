"""Read a model's answer as it arrives: thoughts out, units to the checks, and what the end of it means."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from gyr_hybrid.answering.answer import Answer
from gyr_hybrid.answering.enforcement.deciding import Request
from gyr_hybrid.answering.enforcement.enforcer import Enforcement, Steps
from gyr_hybrid.answering.enforcement.units import Unit
from gyr_hybrid.answering.generation import Delta, ThinkFilter
from gyr_hybrid.answering.prompts import Language
from gyr_hybrid.answering.response import RefusalReason

_STOPS: dict[str, dict[Language, str]] = {
    "length": {
        "zh": "模型的回答因长度上限被截断，可能不完整",
        "en": "the model's answer was cut off at its length limit and may be incomplete",
    },
    "incomplete": {
        "zh": "模型的回答在传输中断开，可能不完整",
        "en": "the model's answer broke off before its end and may be incomplete",
    },
    "content_filter": {
        "zh": "模型的回答被内容过滤中止，可能不完整",
        "en": "the model's answer was stopped by a content filter and may be incomplete",
    },
}


_EMPTY: dict[Language, str] = {"zh": "模型没有给出任何内容", "en": "the model's answer was empty"}


MOST_GROUPS = 4
"""Most questions to a judge while an answer streams; the last takes all the rest."""


class Reading:
    """One model answer on its way to the checks."""

    def __init__(self, answer: Answer, checks: Enforcement, *, judged: bool, streaming: bool) -> None:
        self._answer = answer
        self._alone = not judged
        self._grouped = judged and streaming
        self._group: list[Unit] = []
        self._groups = 0
        self._checks = checks
        self._thinking = ThinkFilter()
        self._segmenter = checks.segmenter()
        self._stopped: str | None = None
        self._empty = True

    def feed(self, delta: Delta) -> list[list[Unit]]:
        """Groups of units that are complete with this piece: single ones that no judge need see, else paragraphs."""
        if delta.finish_reason in _STOPS:
            self._stopped = delta.finish_reason
        return self._complete(self._segmented(self._thinking.feed(delta.text)))

    def finish(self) -> list[list[Unit]]:
        """Groups that the end completes; half a sentence of an answer that was cut off is left out."""
        units = self._segmented(self._thinking.finish()) + self._segmenter.finish()
        if self._empty:
            self._answer.warnings.append(_EMPTY[self._answer.language])
        if self._stopped is not None:
            self._answer.warnings.append(_STOPS[self._stopped][self._answer.language])
            if units and self._checks.cut_off(units[-1]):
                units.pop()
        groups = self._complete(units)
        return [*groups, self._group] if self._group else groups

    def _complete(self, units: list[Unit]) -> list[list[Unit]]:
        if self._alone:
            return [[unit] for unit in units]
        groups = []
        for unit in units:
            if self._grouped and not self._group and not self._checks.is_open(unit):
                groups.append([unit])
                continue
            if self._grouped and self._group and unit.before == "\n\n" and self._groups < MOST_GROUPS - 1:
                groups.append(self._group)
                self._groups += 1
                self._group = []
            self._group.append(unit)
        return groups

    def _segmented(self, text: str) -> list[Unit]:
        self._empty = self._empty and not text.strip()
        return self._segmenter.feed(text)

    def outcome(self) -> RefusalReason | None:
        """Why nothing is shown, None when something is."""
        self._answer.warnings.extend(self._checks.ledger.warnings)
        if self._answer.pieces:
            return None
        return "not_supported" if self._checks.claims else "model_refused"


def drive(steps: Steps, reply: Callable[[Request], Any]) -> list[str]:
    """Run the checks of one unit, answering what they ask."""
    value: Any = None
    while True:
        try:
            request = steps.send(value)
        except StopIteration as end:
            return list(end.value)
        value = reply(request)


async def adrive(steps: Steps, reply: Callable[[Request], Awaitable[Any]]) -> list[str]:
    """``drive`` with the checks in a thread and the replies awaited."""

    def step(value: Any) -> tuple[bool, Any]:
        try:
            return False, steps.send(value)
        except StopIteration as end:
            return True, end.value

    value: Any = None
    while True:
        done, result = await asyncio.to_thread(step, value)
        if done:
            return list(result)
        value = await reply(result)
