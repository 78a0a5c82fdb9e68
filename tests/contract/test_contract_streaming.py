"""Streaming: the same guarantee sentence by sentence, in both modes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata

from gyr_hybrid import (
    CitedAsyncStreamingResponse,
    CitedResponse,
    CitedStreamingResponse,
    EndpointError,
    HybridIndex,
)

REFUND = """# 退款规则

## 申请条件

年付套餐购买后 7 天内可以全额退款。月付套餐不支持退款。

## 到账时间

退款会在 3 个工作日内原路退回。信用卡支付的退款需要 5 个工作日到账。

## 申请步骤

打开设置页面，点击订阅管理。选择需要退款的订单，填写退款原因后提交申请。
"""
ASK = "年付套餐多久可以退款"
FIRST, SECOND = "年付套餐购买后 7 天内可以全额退款。[kb-002#1]", "退款会在 3 个工作日内原路退回。[kb-002#2]"
WRONG = "年付套餐购买后 30 天内可以全额退款。[kb-002#1]"
REPLIES = {
    "plain": [FIRST + SECOND],
    "no citations": ["年付套餐购买后 7 天内可以全额退款。退款会在 3 个工作日内原路退回。"],
    "wrong, then right": [f"{WRONG}{SECOND}", FIRST],
    "wrong twice": [f"{WRONG}{SECOND}{WRONG}"],
    "list": [
        "步骤如下：\n\n1. 打开设置页面，点击订阅管理。[kb-002#3]\n2. 选择需要退款的订单，填写退款原因后提交申请。[kb-002#3]\n\n祝好！"
    ],
    "lead-in alone": [f"{FIRST}\n\n注意事项如下：\n\n- 拨打 400 电话联系人工客服。"],
    "think": [f"<think>先看 [kb-002#2]。</think>\n\n{FIRST}"],
    "loose": ["买了年付的人七天之内都能把钱全部拿回来。[kb-002#1]"],
    "nothing": ["比特币今天涨了 500 美元。"],
    "refusal": ["资料中没有提到。"],
    "refusal after an answer": [f"{FIRST}资料中没有提到其他内容。"],
    "empty": [""],
}


@pytest.fixture
def index(index_of: Any, doc: Any) -> HybridIndex:
    built: HybridIndex = index_of(doc("kb-002", REFUND))
    return built


def same(one: CitedResponse, other: CitedResponse) -> None:
    assert one.response == other.response
    assert one.citations == other.citations
    assert (one.refused, one.refusal_reason) == (other.refused, other.refusal_reason)
    assert [n.node.node_id for n in one.source_nodes] == [n.node.node_id for n in other.source_nodes]
    assert [n.node.node_id for n in one.context_nodes] == [n.node.node_id for n in other.context_nodes]
    assert one.warnings == other.warnings
    assert one.evidence == other.evidence
    assert one.trace == other.trace


@pytest.mark.parametrize("policy", ["strict", "flag"])
@pytest.mark.parametrize("name", REPLIES)
async def test_all_modes_give_the_same(index: HybridIndex, llm: Any, name: str, policy: str) -> None:
    replies = REPLIES[name]
    whole = index.as_query_engine(llm(*replies), policy=policy).query(ASK)
    for piece in (1, 7, 1000):
        streamed = index.as_query_engine(llm(*replies, piece=piece), policy=policy, streaming=True).query(ASK)
        assert isinstance(streamed, CitedStreamingResponse)
        assert isinstance(streamed, StreamingResponse)
        assert "".join(streamed.response_gen) == whole.response
        same(streamed.get_response(), whole)
        later = await index.as_query_engine(llm(*replies, piece=piece), policy=policy, streaming=True).aquery(
            ASK
        )
        assert isinstance(later, CitedAsyncStreamingResponse)
        assert isinstance(later, AsyncStreamingResponse)
        assert "".join([text async for text in later.async_response_gen()]) == whole.response
        same(await later.get_response(), whole)


def test_sentences_leave_one_by_one_with_their_citations(index: HybridIndex, llm: Any) -> None:
    response = index.as_query_engine(llm(FIRST + SECOND), streaming=True).query(ASK)
    pieces = iter(response.response_gen)
    assert next(pieces) == FIRST
    assert [c.node_id for c in response.citations] == ["kb-002#1"]
    assert [n.node.node_id for n in response.source_nodes] == ["kb-002#1"]
    assert response.context_nodes
    assert next(pieces) == SECOND
    assert next(pieces, None) is None
    assert [c.node_id for c in response.citations] == ["kb-002#1", "kb-002#2"]
    assert (response.refused, response.refusal_reason, response.evidence > 0) == (False, None, True)


def test_the_first_sentence_leaves_before_the_model_has_finished(index: HybridIndex) -> None:
    seen = threading.Event()

    class Slow(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata()

        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
            return CompletionResponse(text=FIRST + SECOND)

        def stream_complete(
            self, prompt: str, formatted: bool = False, **kwargs: Any
        ) -> Iterator[CompletionResponse]:
            yield CompletionResponse(text=FIRST, delta=FIRST)
            yield CompletionResponse(text=FIRST + SECOND[:3], delta=SECOND[:3])
            assert seen.is_set(), "the model was read to its end before the first sentence was shown"
            yield CompletionResponse(text=FIRST + SECOND, delta=SECOND[3:])

    pieces = iter(index.as_query_engine(Slow(), streaming=True).query(ASK).response_gen)
    assert next(pieces) == FIRST
    seen.set()
    assert list(pieces) == [SECOND]


@pytest.mark.parametrize("read", [0, 1, 2])
def test_the_whole_text_is_there_whatever_was_read_before(
    index: HybridIndex, llm: Any, read: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def fresh() -> Any:
        response = index.as_query_engine(llm(FIRST + SECOND), streaming=True).query(ASK)
        pieces = iter(response.response_gen)
        for _ in range(read):
            next(pieces)
        return response

    whole = fresh().get_response()
    assert isinstance(whole, CitedResponse)
    assert whole.response == FIRST + SECOND
    assert str(fresh()) == FIRST + SECOND
    fresh().print_response_stream()
    assert capsys.readouterr().out.strip() == FIRST + SECOND
    response = fresh()
    assert response.get_response() == response.get_response()
    assert "".join(response.response_gen) in (FIRST + SECOND, "", SECOND)


@pytest.mark.parametrize("read", [0, 1, 2])
async def test_the_whole_text_is_there_in_async_too(
    index: HybridIndex, llm: Any, read: int, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fresh() -> Any:
        response = await index.as_query_engine(llm(FIRST + SECOND), streaming=True).aquery(ASK)
        pieces = response.response_gen
        for _ in range(read):
            await anext(pieces)
        return response

    assert asyncio.iscoroutinefunction(CitedAsyncStreamingResponse.get_response)
    whole = await (await fresh()).get_response()
    assert isinstance(whole, CitedResponse)
    assert whole.response == FIRST + SECOND
    response = await fresh()
    await response.get_response()
    assert str(response) == FIRST + SECOND
    await (await fresh()).print_response_stream()
    assert capsys.readouterr().out.strip() == FIRST + SECOND


async def test_str_of_an_unread_async_stream_gives_the_whole_text(index: HybridIndex, llm: Any) -> None:
    engine = index.as_query_engine(llm(FIRST + SECOND), streaming=True)
    assert str(await engine.aquery(ASK)) == FIRST + SECOND


@pytest.mark.parametrize(
    ("question", "reply", "reason"),
    [
        ("", "x", "empty_question"),
        ("E9999 怎么办", "x", "unknown_identifier"),
        ("量子力学的基本假设", "x", "no_evidence"),
        (ASK, "资料中没有提到。", "model_refused"),
        (ASK, "比特币今天涨了 500 美元。", "not_supported"),
    ],
)
async def test_a_refusal_is_streamed_as_its_text(
    index: HybridIndex, llm: Any, question: str, reply: str, reason: str
) -> None:
    engine = index.as_query_engine(llm(reply), streaming=True)
    response = engine.query(question)
    text = "".join(response.response_gen)
    assert text
    assert (response.refused, response.refusal_reason, response.citations) == (True, reason, [])
    assert response.get_response().response == text
    later = await engine.aquery(question)
    assert "".join([piece async for piece in later.response_gen]) == text
    assert later.refusal_reason == reason


async def test_extraction_streams_too(index: HybridIndex) -> None:
    whole = index.as_query_engine().query(ASK)
    assert "".join(index.as_query_engine(streaming=True).query(ASK).response_gen) == whole.response
    later = await index.as_query_engine(streaming=True).aquery(ASK)
    assert "".join([piece async for piece in later.response_gen]) == whole.response


def test_a_model_that_breaks_off_raises_and_what_was_shown_stays(index: HybridIndex) -> None:
    class Broken(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata()

        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
            raise RuntimeError("cut")

        def stream_complete(
            self, prompt: str, formatted: bool = False, **kwargs: Any
        ) -> Iterator[CompletionResponse]:
            yield CompletionResponse(text=FIRST + "退", delta=FIRST + "退")
            raise RuntimeError("cut")

    response = index.as_query_engine(Broken(), streaming=True).query(ASK)
    pieces = iter(response.response_gen)
    assert next(pieces) == FIRST
    with pytest.raises(EndpointError):
        next(pieces)
    assert [c.node_id for c in response.citations] == ["kb-002#1"]
    with pytest.raises(EndpointError):
        response.get_response()


def test_closing_the_stream_stops_the_model(index: HybridIndex) -> None:
    given: list[int] = []

    class Endless(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata()

        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
            return CompletionResponse(text=FIRST)

        def stream_complete(
            self, prompt: str, formatted: bool = False, **kwargs: Any
        ) -> Iterator[CompletionResponse]:
            try:
                for i in range(1000):
                    given.append(i)
                    yield CompletionResponse(text="", delta=FIRST)
            finally:
                given.append(-1)

    response = index.as_query_engine(Endless(), streaming=True).query(ASK)
    pieces = response.response_gen
    assert next(pieces) == FIRST
    pieces.close()
    assert given[-1] == -1
    assert len(given) < 10


async def test_the_event_loop_is_never_held(index: HybridIndex) -> None:
    class Sleepy(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata()

        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
            raise AssertionError("the blocking method was called from async code")

        def stream_complete(
            self, prompt: str, formatted: bool = False, **kwargs: Any
        ) -> Iterator[CompletionResponse]:
            raise AssertionError("the blocking method was called from async code")

        async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
            await asyncio.sleep(0.6)
            return CompletionResponse(text=FIRST)

        async def astream_complete(
            self, prompt: str, formatted: bool = False, **kwargs: Any
        ) -> AsyncIterator[CompletionResponse]:
            async def pieces() -> AsyncIterator[CompletionResponse]:
                await asyncio.sleep(0.6)
                yield CompletionResponse(text=FIRST, delta=FIRST)

            return pieces()

    longest, stop = 0.0, False

    async def heart() -> None:
        nonlocal longest
        while not stop:
            began = time.perf_counter()
            await asyncio.sleep(0.005)
            longest = max(longest, time.perf_counter() - began)

    beating = asyncio.create_task(heart())

    async def streamed() -> CitedResponse:
        response = await index.as_query_engine(Sleepy(), streaming=True).aquery(ASK)
        whole: CitedResponse = await response.get_response()
        return whole

    answers = await asyncio.gather(
        *(index.as_query_engine(Sleepy()).aquery(ASK) for _ in range(3)), streamed()
    )
    stop = True
    await beating
    assert {a.response for a in answers} == {FIRST}
    assert longest < 0.5


async def test_many_questions_at_once_do_not_mix(index: HybridIndex, llm: Any) -> None:
    engine = index.as_query_engine(streaming=True)
    questions = [ASK, "退款几天退回", "月付套餐支持退款吗", "怎么申请退款"] * 3
    expected = [index.as_query_engine().query(q).response for q in questions]

    async def one(question: str) -> str:
        response = await engine.aquery(question)
        return "".join([piece async for piece in response.response_gen])

    assert await asyncio.gather(*map(one, questions)) == expected
