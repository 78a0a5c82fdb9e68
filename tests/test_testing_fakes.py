"""The scripted LLM and the hash embedding: what users' own tests rely on."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.prompts import PromptTemplate

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.testing import HashEmbedding, ScriptedLLM


def test_answers_come_in_the_order_of_the_calls_and_running_out_is_an_error() -> None:
    llm = ScriptedLLM(["一", "二"])
    assert [llm.complete("a").text, llm.chat([ChatMessage(content="b")]).message.content] == ["一", "二"]
    assert (llm.calls, llm.prompts) == (2, ["a", "b"])
    with pytest.raises(ConfigurationError, match="2 answers and was asked 3 times"):
        llm.complete("c")


def test_one_text_answers_every_call_and_a_function_sees_the_prompt() -> None:
    llm = ScriptedLLM("同样")
    assert {llm.complete(str(i)).text for i in range(3)} == {"同样"}
    assert ScriptedLLM(str.upper).complete("e1042").text == "E1042"


def test_an_exception_in_the_script_is_raised_and_the_next_answer_follows() -> None:
    llm = ScriptedLLM([TimeoutError("slow"), "好"])
    with pytest.raises(TimeoutError, match="slow"):
        llm.complete("a")
    assert llm.complete("b").text == "好"


def test_messages_of_a_chat_are_one_prompt() -> None:
    llm = ScriptedLLM("好")
    llm.chat([ChatMessage(role="system", content="只用资料"), ChatMessage(role="user", content="保修多久")])
    assert llm.prompts == ["只用资料\n\n保修多久"]
    assert [m.role.value for m in llm.messages[0]] == ["system", "user"]


def test_streams_are_cut_into_chunks_and_a_closed_one_stops() -> None:
    llm = ScriptedLLM("保修期为三年", chunk=2)
    assert [r.delta for r in llm.stream_complete("q")] == ["保修", "期为", "三年"]
    assert [r.delta for r in llm.stream_chat([ChatMessage(content="q")])] == ["保修", "期为", "三年"]
    taken = llm.pieces
    stream = llm.stream_complete("q")
    next(stream)
    stream.close()
    assert llm.pieces == taken + 1


def test_why_it_stopped_stands_beside_the_last_piece() -> None:
    llm = ScriptedLLM("保修期为三年", chunk=3, finish_reason="length")
    pieces = list(llm.stream_chat([ChatMessage(content="q")]))
    assert [piece.additional_kwargs for piece in pieces] == [{}, {"finish_reason": "length"}]
    assert llm.chat([ChatMessage(content="q")]).additional_kwargs == {"finish_reason": "length"}


async def test_async_methods_say_the_same() -> None:
    llm = ScriptedLLM("保修期为三年", chunk=3)
    assert (await llm.acomplete("q")).text == "保修期为三年"
    assert (await llm.achat([ChatMessage(content="q")])).message.content == "保修期为三年"
    assert [r.delta async for r in await llm.astream_complete("q")] == ["保修期", "为三年"]
    assert [r.delta async for r in await llm.astream_chat([ChatMessage(content="q")])] == ["保修期", "为三年"]
    assert llm.calls == 4


async def test_the_async_delay_leaves_the_loop_free() -> None:
    llm = ScriptedLLM("好", delay=0.2)
    loop = asyncio.get_running_loop()
    start = loop.time()
    await asyncio.gather(*(llm.acomplete("q") for _ in range(20)))
    assert loop.time() - start < 20 * 0.2


def test_llama_index_predict_works() -> None:
    llm = ScriptedLLM(lambda prompt: f"[{prompt}]")
    assert llm.predict(PromptTemplate("问：{q}"), q="保修") == "[问：保修]"
    assert "".join(llm.stream(PromptTemplate("问：{q}"), q="保修")) == "[问：保修]"


def test_vectors_are_unit_deterministic_and_near_when_texts_are() -> None:
    model = HashEmbedding(dimensions=128)
    vectors = np.array(model.get_text_embedding_batch(["保修期为三年。", "保修期是三年", "请先断开电源"]))
    assert vectors.shape == (3, 128)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert vectors[0] @ vectors[1] > 0.4 > vectors[0] @ vectors[2]
    assert HashEmbedding(dimensions=128).get_query_embedding("保修期为三年。") == vectors[0].tolist()


def test_width_case_and_blanks_make_no_difference() -> None:
    model = HashEmbedding()
    assert model.get_text_embedding("Ｅ１０４２ 错误") == model.get_text_embedding("e1042错误")


def test_empty_text_has_a_vector() -> None:
    assert np.linalg.norm(HashEmbedding().get_text_embedding("")) == 1.0


async def test_calls_and_texts_are_counted() -> None:
    model = HashEmbedding(embed_batch_size=2)
    model.get_text_embedding_batch(["a", "b", "c"])
    await model.aget_text_embedding("d")
    await model.aget_query_embedding("q")
    assert (model.calls, model.texts, model.queries, model.n_texts) == (4, ["a", "b", "c", "d"], ["q"], 4)
    model.reset()
    assert (model.calls, model.texts, model.queries) == (0, [], [])


def test_a_set_error_is_raised_until_cleared() -> None:
    model = HashEmbedding(error=ConnectionError("down"))
    with pytest.raises(ConnectionError, match="down"):
        model.get_query_embedding("q")
    model.fail_with(None)
    assert len(model.get_query_embedding("q")) == 256
