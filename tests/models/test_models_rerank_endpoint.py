"""The rerank client: scores in the documents' order, whatever the service's dialect."""

from __future__ import annotations

import pytest

from gyr_hybrid.errors import EndpointError
from gyr_hybrid.models import calls
from gyr_hybrid.models.endpoints import rerank_client
from gyr_hybrid.models.rerank_endpoint import RerankClient
from gyr_hybrid.models.service import Service
from gyr_hybrid.settings import Settings
from gyr_hybrid.testing import FakeEndpoint

DOCUMENTS = ["退货需要原包装", "保修期为三年", "保修期从购买日起算", "请先断开电源"]
KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "FIRST_WAIT", 0.001)


def client_of(endpoint: FakeEndpoint, **changes: object) -> RerankClient:
    client = rerank_client(endpoint.settings("rerank", **changes))
    assert client is not None
    return client


async def test_scores_come_in_the_order_of_the_documents() -> None:
    with FakeEndpoint() as endpoint:
        client = client_of(endpoint)
        scores = client.scores("保修期为三年吗", DOCUMENTS)
        assert all(score is not None for score in scores)
        assert scores.index(max(scores, key=lambda score: score or 0.0)) == 1
        assert await client.ascores("保修期为三年吗", DOCUMENTS) == scores
        assert endpoint.requests[0].path == "/v1/rerank"
        assert endpoint.requests[0].body == {
            "model": "fake-rerank",
            "query": "保修期为三年吗",
            "documents": DOCUMENTS,
            "top_n": 4,
            "return_documents": False,
        }
        assert endpoint.requests[0].headers["authorization"] == "Bearer test-key"


async def test_batches_are_put_together_again() -> None:
    with FakeEndpoint() as endpoint:
        whole = client_of(endpoint).scores("保修", DOCUMENTS)
        client = RerankClient(client_of(endpoint).service, batch_size=3)
        assert client.scores("保修", DOCUMENTS) == whole
        assert await client.ascores("保修", DOCUMENTS) == whole
        assert [len(request.body["documents"]) for request in endpoint.requests[:3]] == [4, 3, 1]


def test_results_out_of_range_and_missing_ones() -> None:
    with FakeEndpoint() as endpoint:
        whole = client_of(endpoint).scores("保修", DOCUMENTS)
        endpoint.fail("wrong_order")
        assert client_of(endpoint).scores("保修", DOCUMENTS) == whole
        endpoint.recover()
        endpoint.fail("wrong_count")
        assert client_of(endpoint).scores("保修", DOCUMENTS).count(None) == 1
        endpoint.recover()
        endpoint.fail("empty")
        assert client_of(endpoint).scores("保修", DOCUMENTS) == [None] * 4


async def test_blank_documents_and_questions_are_not_sent() -> None:
    with FakeEndpoint() as endpoint:
        client = client_of(endpoint)
        assert client.scores("保修", ["", "保修"])[0] is None
        assert endpoint.requests[0].body["documents"] == ["保修"]
        assert client.scores(" ", ["保修"]) == [None]
        assert client.scores("保修", []) == []
        assert await client.ascores("保修", []) == []
        assert len(endpoint.requests) == 1


@pytest.mark.parametrize("path", ["/rerank", "/reranks", "/services/rerank/text-rerank/text-rerank"])
def test_addresses_with_the_path_in_them(path: str) -> None:
    with FakeEndpoint() as endpoint:
        client = client_of(endpoint, rerank_base_url=endpoint.base_url + path)
        assert None not in client.scores("保修", DOCUMENTS)
        assert endpoint.requests[0].path == "/v1" + path
        assert ("input" in endpoint.requests[0].body) == path.endswith("text-rerank")


@pytest.mark.parametrize(
    ("item", "placed"),
    [
        ({"index": 1, "relevance_score": 0.5}, {1: 0.5}),
        ({"index": 1, "score": -3.25}, {1: -3.25}),
        ({"index": 1, "relevance_score": "0.5"}, {1: 0.5}),
        ({"index": 2, "relevance_score": 0.5}, {}),
        ({"index": -1, "relevance_score": 0.5}, {}),
        ({"index": "1", "relevance_score": 0.5}, {}),
        ({"index": True, "relevance_score": 0.5}, {}),
        ({"index": 1, "relevance_score": float("nan")}, {}),
        ({"index": 1, "relevance_score": None}, {}),
        ("prose", {}),
    ],
)
def test_only_results_that_make_sense_count(item: object, placed: dict[int, float]) -> None:
    client = RerankClient(Service("rerank", "http://localhost:9", None))
    for body in ({"results": [item]}, {"output": {"results": [item]}}, {"data": [item]}, [item]):
        assert client._placed(body, [0, 1]) == placed


def test_the_first_of_two_results_for_one_document_counts() -> None:
    client = RerankClient(Service("rerank", "http://localhost:9", None))
    assert client._placed({"results": [{"index": 0, "score": 0.9}, {"index": 0, "score": 0.1}]}, [5]) == {
        5: 0.9
    }


async def test_failures_name_the_layer_and_no_key() -> None:
    with FakeEndpoint(api_key="right") as endpoint:
        client = client_of(endpoint, rerank_api_key=KEY)
        with pytest.raises(EndpointError, match="check RERANK_API_KEY") as caught:
            client.scores("保修", DOCUMENTS)
        assert (caught.value.layer, caught.value.status) == ("rerank", 401)
        with pytest.raises(EndpointError, match="refused the key"):
            await client.ascores("保修", DOCUMENTS)
        assert KEY not in str(caught.value)
        assert KEY not in repr(client)


def test_what_passes_is_tried_again_and_what_is_no_answer_is_said() -> None:
    with FakeEndpoint() as endpoint:
        endpoint.fail("500", times=2)
        assert None not in client_of(endpoint).scores("保修", DOCUMENTS)
        assert len(endpoint.requests) == 3
        endpoint.fail("html")
        with pytest.raises(EndpointError, match="did not answer with JSON; check RERANK_BASE_URL"):
            client_of(endpoint).scores("保修", DOCUMENTS)


async def test_silence_is_a_time_out() -> None:
    with FakeEndpoint() as endpoint:
        endpoint.fail("slow", seconds=5)
        client = client_of(endpoint, timeout=0.2, max_retries=0)
        with pytest.raises(EndpointError, match="time-out"):
            client.scores("保修", DOCUMENTS)
        with pytest.raises(EndpointError, match="time-out"):
            await client.ascores("保修", DOCUMENTS)


def test_a_service_needs_no_model_name() -> None:
    client = rerank_client(Settings(rerank_base_url="http://localhost:9"))
    assert client is not None
    assert client.model_name == "localhost:9"
    assert "model" not in client._request("q", ["d"])["json"]
