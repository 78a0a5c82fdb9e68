"""The offline embedding: unit vectors, the same alone and in company, off the loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.models import local_embedding
from gyr_hybrid.models.local_embedding import LocalEmbedding

TEXTS = ["保修期为三年。", "The warranty lasts three years.", "请先断开电源，再检查风扇。", "", "E1042"]


@pytest.fixture(scope="module")
def model() -> LocalEmbedding:
    return LocalEmbedding()


def test_vectors_are_finite_units_of_512_dimensions(model: LocalEmbedding) -> None:
    vectors = np.array(model.get_text_embedding_batch(TEXTS))
    assert vectors.shape == (5, model.dimensions) == (5, 512)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_a_translation_is_nearer_than_another_matter(model: LocalEmbedding) -> None:
    warranty, english, power = (np.array(model.get_text_embedding(text)) for text in TEXTS[:3])
    assert warranty @ english > 0.5 > warranty @ power


def test_a_text_has_one_vector_alone_in_a_batch_and_as_a_query(model: LocalEmbedding) -> None:
    alone = [model.get_text_embedding(text) for text in TEXTS]
    assert np.allclose(alone, model.get_text_embedding_batch(TEXTS), atol=1e-5)
    assert np.allclose(alone, [model.get_query_embedding(text) for text in TEXTS], atol=1e-6)


async def test_the_async_twins_give_the_same(model: LocalEmbedding) -> None:
    assert await model.aget_text_embedding_batch(TEXTS) == model.get_text_embedding_batch(TEXTS)
    assert await model.aget_query_embedding(TEXTS[0]) == model.get_query_embedding(TEXTS[0])


async def test_the_event_loop_keeps_ticking_while_texts_are_encoded(model: LocalEmbedding) -> None:
    model.get_text_embedding("warm")
    work = asyncio.ensure_future(model.aget_text_embedding_batch(["导入流水提示字段顺序不符" * 20] * 16))
    ticks = 0
    while not work.done():
        await asyncio.sleep(0.002)
        ticks += 1
    assert len(await work) == 16
    assert ticks >= 3


def test_threads_share_one_model_and_get_equal_vectors(model: LocalEmbedding) -> None:
    expected = model.get_text_embedding(TEXTS[0])
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda _: LocalEmbedding().get_text_embedding(TEXTS[0]), range(16)))
    assert np.allclose(got, [expected] * 16, atol=1e-6)


def test_building_one_loads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(local_embedding, "_encoder", refuse)
    LocalEmbedding()


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_embedding, "find_spec", lambda name: None)
    assert not LocalEmbedding.available()
    with pytest.raises(ConfigurationError, match=r"pip install 'gyr_hybrid\[local\]'"):
        LocalEmbedding()
