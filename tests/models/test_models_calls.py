"""How long to wait before the next try."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from gyr_hybrid.models.calls import retry_after


def error_with(headers: dict[str, str]) -> httpx.HTTPStatusError:
    response = httpx.Response(429, headers=headers)
    return httpx.HTTPStatusError("429", request=httpx.Request("POST", "http://h"), response=response)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "2"}, 2.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After-Ms": "250", "Retry-After": "2"}, 0.25),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": ""}, None),
        ({}, None),
    ],
)
def test_seconds_are_read_as_they_are_written(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(error_with(headers)) == seconds


def test_a_date_is_the_time_until_then() -> None:
    soon = datetime.now(UTC) + timedelta(seconds=30)
    seconds = retry_after(error_with({"Retry-After": format_datetime(soon, usegmt=True)}))
    assert seconds is not None
    assert 25 <= seconds <= 30
    assert retry_after(error_with({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})) == 0.0


def test_an_error_without_an_answer_asks_for_nothing() -> None:
    assert retry_after(ConnectionError("down")) is None
    assert retry_after(None) is None
