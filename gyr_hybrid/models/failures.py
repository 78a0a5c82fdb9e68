"""What the user is told when a service fails: which service, what it said, what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from gyr_hybrid.errors import EndpointError
from gyr_hybrid.models.service import Service

SPENT = re.compile(r"insufficient[_ ](?:quota|balance)|arrearage|欠费|余额不足", re.IGNORECASE)
"""Words of a service whose account is empty: no wait helps."""
FILTERED = re.compile(
    r"data_?inspection|content.?(?:filter|policy|risk)|inappropriate|敏感|违规", re.IGNORECASE
)
"""Words of a service that will not read the text."""
_KEY = re.compile(r"\b(?:sk|pk|hf|gsk|jina|Bearer)[-_ ][\w.*-]{6,}")
_LONGEST = 300


def endpoint_error(service: Service, error: Exception, *, midway: bool = False) -> EndpointError:
    """The error of a client library in our words; ``midway`` after a part of the answer has come.

    No key is repeated, however it got into what the service says.
    """
    what, remedy = _diagnosis(service, error, midway)
    return EndpointError(
        f"{service} {what}; {remedy}", layer=service.layer, status=status_of(error), remedy=remedy
    )


def malformed(service: Service, what: str) -> EndpointError:
    """For an answer that is not of this protocol: often the page of a web server."""
    remedy = f"check {service.variable('BASE_URL')}, which often ends in /v1"
    return EndpointError(f"{service} {what}; {remedy}", layer=service.layer, status=200, remedy=remedy)


def _diagnosis(service: Service, error: Exception, midway: bool) -> tuple[str, str]:
    import httpx
    import openai

    status = status_of(error)
    said = _redacted(words_of(error), service.key)
    key, model, url = (service.variable(name) for name in ("API_KEY", "MODEL", "BASE_URL"))
    if isinstance(error, httpx.TimeoutException | openai.APITimeoutError):
        return (
            f"sent nothing for {service.timeout:g} seconds (time-out)",
            "raise GYR_TIMEOUT, or look whether the service is overloaded",
        )
    if status is None and midway:
        return f"broke off in the middle of its answer: {said}", "ask again"
    if status is None:
        return f"cannot be reached: {said}", f"check {url}, the network and the proxy"
    if status == 402 or (status in (400, 403, 429) and SPENT.search(said)):
        return f"has no credit left ({status}): {said}", "top up the account or use another service"
    if FILTERED.search(said):
        return f"refused the text by its content filter ({status}): {said}", "change the text or the service"
    if status == 401 and service.key is None:
        return f"wants a key and none is set (401): {said}", f"set {key}"
    if status == 401:
        return f"refused the key (401): {said}", f"check {key}, and that it belongs to {url}"
    if status == 403:
        return (
            f"denied access (403): {said}",
            f"check {key}, and that its account may use {model}={service.model} in this region",
        )
    if status == 404:
        return (
            f"does not know the model or the path (404): {said}",
            f"check {model}={service.model}, and {url}: the key's region, often ending in /v1",
        )
    if status == 429:
        return f"limits the rate (429): {said}", "wait, send fewer requests, or have the limit raised"
    if status >= 500:
        return f"failed ({status}): {said}", "try again later"
    return f"refused the request ({status}): {said}", f"check {model}={service.model} and the text sent"


def status_of(error: BaseException) -> int | None:
    """HTTP status of the answer behind ``error``, or None when none came."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status if isinstance(status, int) else None


def words_of(error: BaseException) -> str:
    """The service's own words with its code, or the reason why there are none. Not redacted."""
    response = getattr(error, "response", None)
    if response is None:
        return str(error.__cause__ or error) or type(error).__name__
    try:
        body: Any = response.json()
    except Exception:
        return f"HTTP {response.status_code}"
    for holder in (body.get("error"), body.get("detail"), body) if isinstance(body, Mapping) else ():
        if isinstance(holder, str) and holder:
            return holder
        if isinstance(holder, Mapping) and holder.get("message"):
            code = holder.get("code") or holder.get("type")
            return f"{holder['message']} [{code}]" if code else str(holder["message"])
    return f"HTTP {response.status_code}"


def _redacted(text: str, key: SecretStr | None) -> str:
    if key is not None and key.get_secret_value():
        text = text.replace(key.get_secret_value(), "***")
    text = _KEY.sub("***", " ".join(text.split()))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
