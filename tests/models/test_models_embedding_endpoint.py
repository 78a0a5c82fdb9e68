"""Embeddings through the real client: every vector with its own text, batches that fit, bad vectors refused."""

from __future__ import annotations

import asyncio
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyr_hybrid.errors import EmbeddingError, EndpointError, GyrError
from gyr_hybrid.models import calls
from gyr_hybrid.models.embedding_endpoint import EmbeddingEndpoint
from gyr_hybrid.models.endpoints import embedding_model
from gyr_hybrid.models.service import Service
from gyr_hybrid.models.vectors import checked_vectors
from gyr_hybrid.testing import FakeEndpoint
from gyr_hybrid.testing.embedding import hash_vector

TEXTS = [f"第{i}条：保修期为{i}年。" for i in range(1, 26)]
KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "FIRST_WAIT", 0.001)


def model_of(endpoint: FakeEndpoint, **changes: object) -> EmbeddingEndpoint:
    model = embedding_model(endpoint.settings("embedding", **changes))
    assert isinstance(model, EmbeddingEndpoint)
    return model


def expected(texts: list[str], dimensions: int = 64) -> np.ndarray:
    return np.array([hash_vector(text, dimensions) for text in texts])


def sizes(endpoint: FakeEndpoint) -> list[int]:
    return [len(request.body["input"]) for request in endpoint.sent("embedding")]


def test_batches_of_ten_in_float_encoding() -> None:
    """The SDK's default base64 is refused by many services: vllm-project/vllm#6174, langgenius/dify#6440."""
    with FakeEndpoint() as endpoint:
        vectors = model_of(endpoint).get_text_embedding_batch(TEXTS)
        assert np.allclose(vectors, expected(TEXTS), atol=1e-6)
        assert sizes(endpoint) == [10, 10, 5]
        assert {request.body["encoding_format"] for request in endpoint.requests} == {"float"}
        assert {request.body["model"] for request in endpoint.requests} == {"fake-embedding"}


def test_vectors_are_matched_by_index() -> None:
    with FakeEndpoint() as endpoint:
        endpoint.fail("wrong_order")
        assert np.allclose(model_of(endpoint).get_text_embedding_batch(TEXTS), expected(TEXTS), atol=1e-6)


async def test_the_async_twins_give_the_same() -> None:
    with FakeEndpoint() as endpoint:
        endpoint.fail("wrong_order")
        model = model_of(endpoint)
        assert np.allclose(await model.aget_text_embedding_batch(TEXTS), expected(TEXTS), atol=1e-6)
        assert np.allclose(await model.aget_text_embedding(TEXTS[3]), expected(TEXTS[3:4])[0], atol=1e-6)
        assert np.allclose(await model.aget_query_embedding(TEXTS[3]), expected(TEXTS[3:4])[0], atol=1e-6)


async def test_async_batches_run_together_but_not_all_at_once() -> None:
    with FakeEndpoint() as endpoint:
        endpoint.fail("slow", seconds=0.05)
        model = model_of(endpoint, embed_batch_size=1)
        ticks = 0
        work = asyncio.ensure_future(model.aget_text_embedding_batch(TEXTS[:12]))
        while not work.done():
            await asyncio.sleep(0.005)
            ticks += 1
        assert len(await work) == 12
        times = sorted(request.at for request in endpoint.requests)
        assert times[4] - times[0] >= 0.04
        assert ticks >= 5


def test_newlines_reach_the_model() -> None:
    with FakeEndpoint() as endpoint:
        model_of(endpoint).get_text_embedding("| 代码 | 含义 |\n| E1042 | 列序不符 |")
        assert endpoint.requests[0].body["input"] == ["| 代码 | 含义 |\n| E1042 | 列序不符 |"]


@pytest.mark.parametrize("blank", ["", "  \n"])
def test_a_blank_text_is_never_sent(blank: str) -> None:
    with FakeEndpoint() as endpoint:
        with pytest.raises(EmbeddingError, match="text 1 of 2 is blank"):
            model_of(endpoint).get_text_embedding_batch(["保修", blank])
        with pytest.raises(EmbeddingError, match="text 0 of 1 is blank"):
            model_of(endpoint, embed_query_instruction="Query: ").get_query_embedding(blank)
        assert endpoint.requests == []


@pytest.mark.parametrize(
    ("instruction", "sent"),
    [("Query: ", "Query: 保修多久"), ("<q>{query}</q>", "<q>保修多久</q>"), (None, "保修多久")],
)
def test_the_instruction_stands_before_questions_only(instruction: str | None, sent: str) -> None:
    with FakeEndpoint() as endpoint:
        model = model_of(endpoint, embed_query_instruction=instruction)
        model.get_query_embedding("保修多久")
        model.get_text_embedding("保修多久")
        assert [request.body["input"] for request in endpoint.requests] == [[sent], ["保修多久"]]


class TestBatchLimit:
    """Services that take 10 or 25 texts at once: memodb-io/memobase#142, langchain4j/langchain4j#1140."""

    def test_the_limit_is_read_from_the_refusal_and_remembered(self) -> None:
        with FakeEndpoint() as endpoint:
            endpoint.fail("batch_limit", limit=10)
            model = model_of(endpoint, embed_batch_size=25)
            assert np.allclose(model.get_text_embedding_batch(TEXTS), expected(TEXTS), atol=1e-6)
            assert sizes(endpoint) == [25, 10, 10, 5]
            model.get_text_embedding_batch(TEXTS)
            assert sizes(endpoint)[4:] == [10, 10, 5]

    @pytest.mark.parametrize(
        "said", ["input batch size 25 > maximum allowed batch size 10", "输入数量超过上限：10"]
    )
    def test_other_wordings_are_understood(self, said: str) -> None:
        with FakeEndpoint() as endpoint:
            endpoint.fail("batch_limit", limit=10, said=said)
            model_of(endpoint, embed_batch_size=25).get_text_embedding_batch(TEXTS)
            assert sizes(endpoint) == [25, 10, 10, 5]

    def test_a_refusal_without_a_number_is_answered_by_halving(self) -> None:
        with FakeEndpoint() as endpoint:
            endpoint.fail("batch_limit", limit=4, said="too many inputs")
            vectors = model_of(endpoint, embed_batch_size=10).get_text_embedding_batch(TEXTS[:10])
            assert np.allclose(vectors, expected(TEXTS[:10]), atol=1e-6)
            assert max(size for size in sizes(endpoint) if size <= 4) == 3

    async def test_the_async_twin_splits_too(self) -> None:
        with FakeEndpoint() as endpoint:
            endpoint.fail("batch_limit", limit=3)
            vectors = await model_of(endpoint, embed_batch_size=25).aget_text_embedding_batch(TEXTS)
            assert np.allclose(vectors, expected(TEXTS), atol=1e-6)

    @given(
        n=st.integers(0, 40),
        limit=st.integers(1, 40),
        numbered=st.booleans(),
        seed=st.randoms(use_true_random=False),
    )
    def test_whatever_the_limit_each_text_gets_its_vector(
        self, n: int, limit: int, numbered: bool, seed: Random
    ) -> None:
        model = EmbeddingEndpoint(Service("embedding", "http://localhost:9/v1", "m"))
        plan = model._plan([f"t{i}" for i in range(n)])
        sent = 0
        answer: object = None
        try:
            batch = next(plan)
            while True:
                sent += 1
                if len(batch) > limit:
                    said = f"not larger than {limit}" if numbered else "too many"
                    batch = plan.throw(EndpointError(said, status=400))
                    continue
                items = [_Item([float(text[1:]) + 1.0], place) for place, text in enumerate(batch)]
                seed.shuffle(items)
                batch = plan.send(_Reply(items))
        except StopIteration as done:
            answer = done.value
        assert answer == [[i + 1.0] for i in range(n)]
        assert sent <= 2 * n + 1

    def test_one_text_that_is_refused_is_an_error(self) -> None:
        with FakeEndpoint() as endpoint:
            endpoint.fail("batch_limit", limit=0, said="text too long")
            with pytest.raises(EndpointError, match="text too long") as caught:
                model_of(endpoint).get_text_embedding_batch(TEXTS[:4])
            assert (caught.value.layer, caught.value.status) == ("embedding", 400)
            assert sizes(endpoint) == [4, 2, 1]

    def test_a_filtered_text_is_not_a_batch_too_long(self) -> None:
        with FakeEndpoint() as endpoint:
            endpoint.fail("filtered")
            with pytest.raises(EndpointError, match="content filter"):
                model_of(endpoint).get_text_embedding_batch(TEXTS[:4])
            assert sizes(endpoint) == [4]


class TestChecks:
    @pytest.mark.parametrize("failure", ["wrong_count", "empty"])
    def test_the_number_of_vectors(self, failure: str) -> None:
        with FakeEndpoint() as endpoint:
            endpoint.fail(failure)
            with pytest.raises(
                EmbeddingError, match=r"gave \d vectors for 3 texts; set EMBED_BATCH_SIZE=1"
            ) as caught:
                model_of(endpoint).get_text_embedding_batch(TEXTS[:3])
            assert isinstance(caught.value, GyrError)
            assert isinstance(caught.value, ValueError)

    def test_the_dimension_asked_for(self) -> None:
        with FakeEndpoint() as endpoint:
            assert len(model_of(endpoint, embed_dimensions=32).get_text_embedding("保修")) == 32
            assert endpoint.requests[0].body["dimensions"] == 32
            endpoint.fail("wrong_dimension")
            with pytest.raises(EmbeddingError, match="33 dimensions instead of 32; set EMBED_DIMENSIONS"):
                model_of(endpoint, embed_dimensions=32).get_text_embedding("保修")

    def test_the_dimension_may_not_change_between_calls(self) -> None:
        with FakeEndpoint() as endpoint:
            model = model_of(endpoint)
            model.get_text_embedding("保修")
            endpoint.fail("wrong_dimension")
            with pytest.raises(EmbeddingError, match="65 dimensions instead of 64"):
                model.get_text_embedding("保修")

    def test_a_zero_vector(self) -> None:
        with FakeEndpoint() as endpoint:
            endpoint.fail("zero")
            with pytest.raises(EmbeddingError, match="gave a zero vector for text 2 of 3"):
                model_of(endpoint).get_text_embedding_batch(TEXTS[:3])

    @pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e300])
    def test_values_that_are_not_finite(self, bad: float) -> None:
        with pytest.raises(EmbeddingError, match="NaN or infinite vector for text 1 of 2"):
            checked_vectors([[1.0, 0.0], [bad, 0.0]], count=2)

    @pytest.mark.parametrize("bad", [[["a", "b"]], [[[1.0], 2.0]]])
    def test_values_that_are_no_numbers(self, bad: list[list[float]]) -> None:
        with pytest.raises(EmbeddingError, match="not lists of numbers"):
            checked_vectors(bad, count=1)

    def test_lengths_that_differ(self) -> None:
        with pytest.raises(EmbeddingError, match="3 dimensions instead of 2"):
            checked_vectors([[1.0, 0.0], [1.0, 0.0, 0.0]], count=2)

    def test_no_texts_no_vectors(self) -> None:
        assert checked_vectors([], count=0, dimension=3).shape == (0, 3)

    def test_numbering_that_matches_nothing(self) -> None:
        model = EmbeddingEndpoint(Service("embedding", "http://localhost:9/v1", "m"))
        reply = _Reply([_Item([1.0, 0.0], 0), _Item([0.0, 1.0], 0)])
        with pytest.raises(EmbeddingError, match=r"numbered its 2 vectors \[0, 0\]"):
            model._matched(reply, 2)

    def test_no_numbering_means_the_order_sent(self) -> None:
        model = EmbeddingEndpoint(Service("embedding", "http://localhost:9/v1", "m"))
        assert model._matched(_Reply([_Item([1.0, 0.0], None), _Item([0.0, 1.0], None)]), 2) == [
            [1.0, 0.0],
            [0.0, 1.0],
        ]


class _Item:
    def __init__(self, embedding: list[float], index: int | None) -> None:
        self.embedding = embedding
        self.index = index


class _Reply:
    def __init__(self, data: list[_Item]) -> None:
        self.data = data


class TestFailures:
    def test_rate_limits_pass(self) -> None:
        with FakeEndpoint() as endpoint:
            endpoint.fail("429", times=2, retry_after=0)
            assert len(model_of(endpoint).get_text_embedding_batch(TEXTS)) == 25
            assert sizes(endpoint) == [10, 10, 10, 10, 5]

    @pytest.mark.parametrize("retries", [0, 2])
    def test_there_is_one_retry_layer(self, retries: int) -> None:
        with FakeEndpoint() as endpoint:
            endpoint.fail("500")
            with pytest.raises(EndpointError, match=r"the embedding service .* failed \(500\)"):
                model_of(endpoint, max_retries=retries).get_query_embedding("保修")
            assert len(endpoint.requests) == retries + 1

    async def test_a_wrong_key_names_its_variable(self) -> None:
        with FakeEndpoint(api_key="right") as endpoint:
            model = model_of(endpoint, embed_api_key=KEY)
            for failing in (model.aget_query_embedding("保修"), model.aget_text_embedding("保修")):
                with pytest.raises(EndpointError, match="check EMBED_API_KEY") as caught:
                    await failing
                assert caught.value.status == 401
                assert KEY not in str(caught.value)
            assert KEY not in repr(model)
            assert KEY not in str(model.to_dict())

    def test_a_web_page_is_no_embedding(self) -> None:
        with FakeEndpoint() as endpoint:
            endpoint.fail("html")
            with pytest.raises(
                EndpointError, match=r"did not answer with embeddings .* check EMBED_BASE_URL"
            ):
                model_of(endpoint).get_text_embedding("保修")

    def test_a_cut_answer_is_asked_for_again(self) -> None:
        with FakeEndpoint() as endpoint:
            endpoint.fail("cut", times=1)
            assert len(model_of(endpoint).get_text_embedding("保修")) == 64
            assert len(endpoint.requests) == 2
