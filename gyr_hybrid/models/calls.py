"""One call to a service, tried again when that can help. This is the only layer that retries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from random import random
from typing import TYPE_CHECKING, Any, TypeVar

from gyr_hybrid.models.failures import SPENT, endpoint_error, status_of, words_of
from gyr_hybrid.models.service import Service

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")

PASSING = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
"""HTTP statuses that may be gone at the next try."""
FIRST_WAIT = 0.5
"""Seconds before the first retry, doubled for each further one and lengthened by up to half at random."""
LONGEST_WAIT = 60.0
"""Seconds. A service that asks for a longer pause in ``Retry-After`` is not waited for."""
LONGEST_CALL = 120.0
"""Seconds after which no further try begins: two time-outs of a minute are the most."""


def call(service: Service, request: Callable[[], T]) -> T:
    """The result of ``request``; raises `EndpointError` when it still fails after the retries."""
    from tenacity import Retrying

    try:
        return Retrying(**_policy(service))(request)
    except _failures() as error:
        raise endpoint_error(service, error) from None


async def acall(service: Service, request: Callable[[], Awaitable[T]]) -> T:
    """`call` for a coroutine function; its waits leave the event loop free."""
    from tenacity import AsyncRetrying

    async def attempt() -> T:
        return await request()

    try:
        return await AsyncRetrying(**_policy(service))(attempt)
    except _failures() as error:
        raise endpoint_error(service, error) from None


def once(service: Service, request: Callable[[], T]) -> T:
    """`call` without retries, for what cannot begin again: the rest of a stream."""
    try:
        return request()
    except _failures() as error:
        raise endpoint_error(service, error, midway=True) from None


async def aonce(service: Service, request: Callable[[], Awaitable[T]]) -> T:
    """`once` for a coroutine function."""
    try:
        return await request()
    except _failures() as error:
        raise endpoint_error(service, error, midway=True) from None


@cache
def _failures() -> tuple[type[Exception], ...]:
    import httpx
    import openai

    return openai.OpenAIError, httpx.HTTPError


def _policy(service: Service) -> dict[str, Any]:
    from tenacity import retry_if_exception

    def stop(state: RetryCallState) -> bool:
        asked = retry_after(_raised(state))
        return (
            state.attempt_number > service.retries
            or (state.seconds_since_start or 0.0) >= LONGEST_CALL
            or (asked or 0.0) > LONGEST_WAIT
        )

    return {"retry": retry_if_exception(_may_pass), "wait": _wait, "stop": stop, "reraise": True}


def _raised(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None


def _wait(state: RetryCallState) -> float:
    asked = retry_after(_raised(state))
    if asked is not None:
        return asked
    return float(FIRST_WAIT * 2 ** (state.attempt_number - 1) * (1.0 + random() / 2))


def _may_pass(error: BaseException) -> bool:
    import httpx
    import openai

    status = status_of(error)
    if status is None:
        return isinstance(error, httpx.TransportError | openai.APIConnectionError)
    return status in PASSING and not SPENT.search(words_of(error))


def retry_after(error: BaseException | None) -> float | None:
    """Seconds that the service asks to wait: ``Retry-After-Ms``, or ``Retry-After`` in seconds or as a date."""
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", None) or {}
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) / per_second)
        except ValueError:
            pass
        try:
            when = parsedate_to_datetime(value)
        except ValueError:
            continue
        return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    return None
