"""Streaming: the same answer, sentence by sentence, however much of it was read before."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.memory import ChatMemoryBuffer

from gyr_hybrid import CitedAsyncStreamingResponse, CitedResponse, CitedStreamingResponse, HybridIndex
from gyr_hybrid.errors import EndpointError
from gyr_hybrid.testing import ScriptedLLM

QUESTION = "退款几天能到账"
FIRST = "款项原路退回。[kb-002#4]"
SECOND = "支付宝 1-3 个工作日到账，银行卡 3-7 个工作日到账。[kb-002#4]"
ANSWERS = [
    FIRST + SECOND,
    f"<think>嗯。</think>您好！\n\n{FIRST}\n\n- 支付宝 9 天到账[kb-002#4]\n- 银行卡 3-7 个工作日到账【kb-002#4】\n",
    "支付宝 9 个工作日到账。[kb-002#4]" + SECOND,
    "如下：\n\n| 方式 | 时间 |\n|---|---|\n| 银行卡 | 3-7 个工作日到账 [1] |\n\n" + FIRST,
    "资料中没有提到。",
    "月球基地下周开放参观。",
]


def memory() -> ChatMemoryBuffer:
    return ChatMemoryBuffer.from_defaults(token_limit=3000, tokenizer_fn=list)


def stream(
    index: HybridIndex, answer: Any, question: str = QUESTION, **options: Any
) -> CitedStreamingResponse:
    llm = answer if isinstance(answer, ScriptedLLM) else ScriptedLLM(answer, chunk=3)
    response = index.as_query_engine(llm=llm, streaming=True, **options).query(question)
    assert isinstance(response, CitedStreamingResponse)
    assert isinstance(response, StreamingResponse)
    return response


def whole(index: HybridIndex, answer: str, question: str = QUESTION, **options: Any) -> CitedResponse:
    response = index.as_query_engine(llm=ScriptedLLM(answer), **options).query(question)
    assert isinstance(response, CitedResponse)
    return response


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("policy", ["strict", "flag"])
def test_streaming_gives_the_same_text_and_citations(
    helpcenter: HybridIndex, answer: str, policy: str
) -> None:
    # linagora/openrag#837, infiniflow/ragflow#8273: the same payload when streaming
    expected = whole(helpcenter, answer, policy=policy)
    response = stream(helpcenter, answer, policy=policy)
    assert "".join(response.response_gen) == str(expected)
    assert response.get_response().to_dict() == expected.to_dict()
    assert response.citations == expected.citations
    assert (response.refused, response.refusal_reason) == (expected.refused, expected.refusal_reason)
    assert response.warnings == expected.warnings


@pytest.mark.parametrize("taken", [0, 1, 99])
def test_the_whole_text_is_there_whatever_was_read_before(helpcenter: HybridIndex, taken: int) -> None:
    expected = whole(helpcenter, FIRST + SECOND)
    for ending in (str, lambda r: r.get_response().response):
        response = stream(helpcenter, FIRST + SECOND)
        for _ in range(taken):
            next(response.response_gen, None)
        assert ending(response) == str(expected)
        assert isinstance(response.get_response(), CitedResponse)
        assert response.response_txt == str(expected)
        assert [n.node.node_id for n in response.source_nodes] == ["kb-002#4"]


@pytest.mark.parametrize("taken", [0, 1, 99])
def test_printing_prints_the_whole_text(
    helpcenter: HybridIndex, taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    response = stream(helpcenter, FIRST + SECOND)
    for _ in range(taken):
        next(response.response_gen, None)
    response.print_response_stream()
    assert capsys.readouterr().out == FIRST + SECOND


def test_a_sentence_leaves_before_the_model_is_done(helpcenter: HybridIndex) -> None:
    llm = ScriptedLLM(FIRST + SECOND, chunk=1)
    response = stream(helpcenter, llm)
    assert (response.citations, response.refused) == ([], False)
    assert response.context_nodes[0].node.node_id == "kb-002#4"
    assert next(response.response_gen) == FIRST
    assert llm.pieces <= len(FIRST) + 2
    assert [c.label for c in response.citations] == ["[kb-002#4]"]


def test_closing_the_stream_stops_the_model(helpcenter: HybridIndex) -> None:
    llm = ScriptedLLM(FIRST + SECOND * 20, chunk=1)
    response = stream(helpcenter, llm)
    next(response.response_gen)
    taken = llm.pieces
    response.response_gen.close()
    assert str(response) == FIRST
    assert llm.pieces == taken
    assert any("中止" in warning for warning in response.get_response().warnings)


@pytest.mark.parametrize(
    ("question", "reason"),
    [("", "empty_question"), ("E9999 怎么办", "unknown_identifier"), ("火星上的天气怎么样", "no_evidence")],
)
def test_a_refusal_is_streamed_too(helpcenter: HybridIndex, question: str, reason: str) -> None:
    llm = ScriptedLLM("不该被问到。")
    response = stream(helpcenter, llm, question)
    assert (response.refused, response.refusal_reason) == (True, reason)
    text = "".join(response.response_gen)
    assert text == str(response) == str(whole(helpcenter, "", question))
    assert llm.calls == 0


def test_extraction_streams_too(helpcenter: HybridIndex) -> None:
    expected = helpcenter.as_query_engine().query(QUESTION)
    response = helpcenter.as_query_engine(streaming=True).query(QUESTION)
    assert isinstance(response, CitedStreamingResponse)
    pieces = list(response.response_gen)
    assert pieces
    assert "".join(pieces) == str(expected)


def test_a_model_that_fails_in_the_middle_raises_every_time(helpcenter: HybridIndex) -> None:
    class Broken(ScriptedLLM):
        def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
            def pieces() -> Any:
                for n, piece in enumerate(super(Broken, self).stream_chat(messages, **kwargs)):
                    if n == 12:
                        raise ConnectionResetError("gone")
                    yield piece

            return pieces()

    response = stream(helpcenter, Broken(FIRST + SECOND, chunk=3))
    with pytest.raises(EndpointError, match="ConnectionResetError"):
        list(response.response_gen)
    with pytest.raises(EndpointError):
        response.get_response()


async def astream(index: HybridIndex, answer: Any, question: str = QUESTION) -> CitedAsyncStreamingResponse:
    llm = answer if isinstance(answer, ScriptedLLM) else ScriptedLLM(answer, chunk=3)
    response = await index.as_query_engine(llm=llm, streaming=True).aquery(question)
    assert isinstance(response, CitedAsyncStreamingResponse)
    assert isinstance(response, AsyncStreamingResponse)
    return response


@pytest.mark.parametrize("answer", ANSWERS)
async def test_asynchronous_streaming_gives_the_same_answer(helpcenter: HybridIndex, answer: str) -> None:
    expected = whole(helpcenter, answer)
    response = await astream(helpcenter, answer)
    assert "".join([piece async for piece in response.response_gen]) == str(expected)
    assert (await response.get_response()).to_dict() == expected.to_dict()


@pytest.mark.parametrize("taken", [0, 1, 99])
async def test_the_whole_asynchronous_text_is_there_too(
    helpcenter: HybridIndex, taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    response = await astream(helpcenter, FIRST + SECOND)
    for _ in range(taken):
        await anext(response.response_gen, None)
    assert "".join([piece async for piece in response.async_response_gen()]) == FIRST + SECOND
    assert (await response.get_response()).response == FIRST + SECOND
    await response.print_response_stream()
    assert capsys.readouterr().out.strip() == FIRST + SECOND
    assert str(response) == FIRST + SECOND


async def test_closing_or_cancelling_an_asynchronous_stream_stops_the_model(helpcenter: HybridIndex) -> None:
    llm = ScriptedLLM(FIRST + SECOND * 20, chunk=1)
    response = await astream(helpcenter, llm)
    await anext(response.response_gen)
    await response.response_gen.aclose()
    taken = llm.pieces
    assert (await response.get_response()).response == FIRST
    assert llm.pieces == taken

    slow = ScriptedLLM(SECOND * 20, chunk=1, delay=0.01)
    task = asyncio.ensure_future((await astream(helpcenter, slow)).get_response())
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    taken = slow.pieces
    await asyncio.sleep(0.05)
    assert slow.pieces == taken


def test_the_chat_engine_streams_the_checked_text(helpcenter: HybridIndex) -> None:
    engine = helpcenter.as_query_engine(llm=ScriptedLLM(FIRST + SECOND), streaming=True)
    chat = CondenseQuestionChatEngine.from_defaults(engine, llm=ScriptedLLM(QUESTION), memory=memory())
    reply = chat.stream_chat(QUESTION)
    assert "".join(reply.response_gen) == FIRST + SECOND


async def test_the_chat_engine_streams_asynchronously(helpcenter: HybridIndex) -> None:
    engine = helpcenter.as_query_engine(llm=ScriptedLLM(FIRST + SECOND), streaming=True)
    chat = CondenseQuestionChatEngine.from_defaults(engine, llm=ScriptedLLM(QUESTION), memory=memory())
    reply = await chat.astream_chat(QUESTION)
    assert "".join([piece async for piece in reply.async_response_gen()]) == FIRST + SECOND
