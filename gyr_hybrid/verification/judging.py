"""Asking a judge so that it never blocks, delays or breaks an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from gyr_hybrid.errors import EndpointError
from gyr_hybrid.verification.verdict import Claim, Verdict, Verifier

T = TypeVar("T")
Judged = tuple[list[Verdict], str | None]

TIMEOUT = 15.0
"""Seconds after which a judge is waited for no longer."""
AT_ONCE = 4
"""Requests of one answer under way at the same time."""


def judge_claims(judge: Any, claims: Sequence[Claim], *, timeout: float = TIMEOUT) -> Judged:
    """One verdict per claim, and a warning in one line when the judge failed.

    Any object with ``verify`` will do; ``verify_many`` is used where it is there. A judge that raises, is too slow or
    answers with something else than one `Verdict` per claim leaves every claim uncertain. It is asked in a daemon
    thread: one that hangs holds neither the answer nor the end of the program.
    """
    if not claims:
        return [], None
    outcomes: SimpleQueue[Any] = SimpleQueue()
    _in_thread(lambda: _ask(judge, claims), outcomes.put)
    try:
        outcome = outcomes.get(timeout=timeout)
    except Empty:
        outcome = _TooSlow()
    return _judged(outcome, claims, timeout)


async def ajudge_claims(judge: Any, claims: Sequence[Claim], *, timeout: float = TIMEOUT) -> Judged:
    """`judge_claims` without blocking the event loop; the judge's own async methods are used where it has them."""
    if not claims:
        return [], None
    task = asyncio.ensure_future(_aask(judge, claims))
    task.add_done_callback(_seen)
    try:
        done, _ = await asyncio.wait({task}, timeout=timeout)
    finally:
        task.cancel()  # not awaited: one that will not be cancelled is left alone
    return _judged(_outcome(task) if done else _TooSlow(), claims, timeout)


def together(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Results of the tasks in order, at most `AT_ONCE` at a time; the first failure is raised at once.

    The threads are daemons: a pool's would hold the end of the program until the last request has timed out.
    """
    if len(tasks) == 1:
        return [tasks[0]()]
    waiting: SimpleQueue[int] = SimpleQueue()
    outcomes: SimpleQueue[Any] = SimpleQueue()
    for number in range(len(tasks)):
        waiting.put(number)

    def work() -> None:
        with suppress(Empty):
            while True:
                number = waiting.get_nowait()
                outcomes.put((number, tasks[number]()))

    for _ in range(min(AT_ONCE, len(tasks))):
        _in_thread(work, lambda outcome: outcomes.put(outcome) if outcome is not None else None)
    results: dict[int, T] = {}
    while len(results) < len(tasks):
        outcome = outcomes.get()
        if isinstance(outcome, BaseException):
            while not waiting.empty():
                with suppress(Empty):
                    waiting.get_nowait()
            raise outcome
        results[outcome[0]] = outcome[1]
    return [results[number] for number in range(len(tasks))]


async def atogether(tasks: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T]:
    """`together` for coroutine functions; when one fails the others are cancelled."""
    places = asyncio.Semaphore(AT_ONCE)

    async def placed(task: Callable[[], Coroutine[Any, Any, T]]) -> T:
        async with places:
            return await task()

    running = [asyncio.ensure_future(placed(task)) for task in tasks]
    try:
        return list(await asyncio.gather(*running))
    finally:
        for one in running:
            one.cancel()


class _TooSlow(Exception):
    """The time is over."""


def _in_thread(work: Callable[[], Any], tell: Callable[[Any], None]) -> None:
    """Run ``work`` in a daemon thread, in the caller's context; ``tell`` gets its result or what it raised."""
    context = copy_context()

    def run() -> None:
        try:
            outcome = context.run(work)
        except BaseException as error:
            outcome = error
        tell(outcome)

    Thread(target=run, name="judge", daemon=True).start()


async def _in_thread_awaited(work: Callable[[], Any]) -> Any:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(outcome: Any) -> None:
        if not future.done():
            future.set_result(outcome)

    def tell(outcome: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(settle, outcome)

    _in_thread(work, tell)
    return await future


def _ask(judge: Any, claims: Sequence[Claim]) -> Any:
    if callable(getattr(judge, "verify_many", None)):
        return judge.verify_many(claims)
    return [judge.verify(claim.sentence, claim.nodes) for claim in claims]


async def _aask(judge: Any, claims: Sequence[Claim]) -> Any:
    if _own(judge, "averify_many"):
        return await judge.averify_many(claims)
    if not _own(judge, "verify_many") and _own(judge, "averify"):
        return await atogether([_call(judge.averify, claim) for claim in claims])
    return await _in_thread_awaited(lambda: _ask(judge, claims))


def _call(averify: Callable[..., Awaitable[Any]], claim: Claim) -> Callable[[], Coroutine[Any, Any, Any]]:
    async def ask() -> Any:
        return await averify(claim.sentence, claim.nodes)

    return ask


def _own(judge: Any, name: str) -> bool:
    """Whether the judge brings this method itself; those of `Verifier` only pass on to others."""
    method = getattr(judge, name, None)
    return callable(method) and getattr(method, "__func__", method) is not getattr(Verifier, name)


def _outcome(task: asyncio.Future[Any]) -> Any:
    if task.cancelled():
        return asyncio.CancelledError()
    return task.exception() or task.result()


def _seen(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _judged(outcome: Any, claims: Sequence[Claim], timeout: float) -> Judged:
    failure = _failure(outcome, len(claims), timeout)
    if failure is None:
        return list(outcome), None
    return [Verdict("uncertain", f"judge: failed ({failure})")] * len(claims), f"the judge failed: {failure}"


def _failure(outcome: Any, count: int, timeout: float) -> str | None:
    """What went wrong in one line, without anything that was said to the judge or by it."""
    if isinstance(outcome, EndpointError) and outcome.remedy:
        return f"{type(outcome).__name__}, {' '.join(outcome.remedy.split())}"
    if isinstance(outcome, _TooSlow):
        return f"no verdict within {timeout:g} seconds"
    if isinstance(outcome, BaseException):
        return type(outcome).__name__
    if not isinstance(outcome, list | tuple) or not all(isinstance(one, Verdict) for one in outcome):
        return "it did not answer with verdicts"
    if len(outcome) != count:
        return f"{len(outcome)} verdicts for {count} sentences"
    return None
