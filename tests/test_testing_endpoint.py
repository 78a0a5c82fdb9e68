"""The fake service itself: what it notes, how failures are ordered, that it stops."""

from __future__ import annotations

import socket
import time

import httpx
import pytest

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.models.endpoints import chat_model
from gyr_hybrid.testing import FakeEndpoint


def ask(endpoint: FakeEndpoint, said: str = "hi", **body: object) -> httpx.Response:
    return httpx.post(
        f"{endpoint.base_url}/chat/completions",
        json={"model": "m", "messages": [{"role": "user", "content": said}], **body},
    )


def test_answers_may_be_a_text_a_list_or_a_function() -> None:
    def content(response: httpx.Response) -> str:
        text: str = response.json()["choices"][0]["message"]["content"]
        return text

    with FakeEndpoint("好") as endpoint:
        assert [content(ask(endpoint)) for _ in range(2)] == ["好", "好"]
    with FakeEndpoint(["一", "二"]) as endpoint:
        assert [content(ask(endpoint)) for _ in range(3)] == ["一", "二", "二"]
    with FakeEndpoint(lambda prompt: prompt[::-1]) as endpoint:
        assert content(ask(endpoint, "保修")) == "修保"


def test_requests_are_noted_with_layer_body_and_headers() -> None:
    with FakeEndpoint() as endpoint:
        ask(endpoint, temperature=0.5)
        httpx.post(f"{endpoint.base_url}/completions", json={"prompt": "hi"})
        assert [(request.layer, request.path) for request in endpoint.requests] == [
            ("llm", "/v1/chat/completions"),
            (None, "/v1/completions"),
        ]
        assert endpoint.sent("llm")[0].body["temperature"] == 0.5
        assert "content-type" in endpoint.requests[0].headers


def test_failures_last_as_ordered_and_the_newest_counts() -> None:
    with FakeEndpoint() as endpoint:
        endpoint.fail("500", times=1)
        endpoint.fail("401", times=1)
        assert [ask(endpoint).status_code for _ in range(3)] == [401, 500, 200]
        with endpoint.failing("404"):
            assert [ask(endpoint).status_code for _ in range(2)] == [404, 404]
        assert ask(endpoint).status_code == 200


def test_a_failure_can_be_for_one_layer() -> None:
    with FakeEndpoint() as endpoint:
        endpoint.fail("500", layer="rerank")
        assert ask(endpoint).status_code == 200
        assert (
            httpx.post(f"{endpoint.base_url}/rerank", json={"query": "q", "documents": []}).status_code == 500
        )


def test_an_unknown_failure_is_refused() -> None:
    with FakeEndpoint() as endpoint, pytest.raises(ConfigurationError, match="no failure '418'; it has 401"):
        endpoint.fail("418")  # type: ignore[arg-type]


def test_it_knows_no_base64_and_only_its_key() -> None:
    with FakeEndpoint(api_key="right") as endpoint:
        url = f"{endpoint.base_url}/embeddings"
        body = {"model": "m", "input": ["保修"], "encoding_format": "base64"}
        assert httpx.post(url, json=body).status_code == 401
        assert httpx.post(url, json=body, headers={"Authorization": "Bearer right"}).status_code == 400


def test_stopping_is_quick_and_closes_the_port() -> None:
    with FakeEndpoint() as endpoint:
        port = int(endpoint.base_url.rpartition(":")[2].removesuffix("/v1"))
        endpoint.fail("slow", seconds=30)
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{endpoint.base_url}/rerank", json={"query": "q", "documents": []}, timeout=0.2)
        start = time.monotonic()
    assert time.monotonic() - start < 20
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    with pytest.raises(ConfigurationError, match="use it in a with statement"):
        _ = FakeEndpoint().base_url


def test_settings_point_the_chosen_layers_at_it() -> None:
    with FakeEndpoint("好") as endpoint:
        settings = endpoint.settings("llm", max_retries=1)
        assert (settings.llm_base_url, settings.embed_base_url) == (endpoint.base_url, None)
        assert settings.max_retries == 1
        everything = endpoint.settings()
        assert everything.rerank_base_url == everything.embed_base_url == endpoint.base_url
        llm = chat_model(settings)
        assert llm is not None
        assert llm.complete("hi").text == "好"
