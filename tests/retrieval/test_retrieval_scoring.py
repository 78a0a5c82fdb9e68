"""The score step's arithmetic, by hand."""

from __future__ import annotations

from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gyr_hybrid.retrieval.scoring import (
    K1,
    WEIGHTS,
    B,
    Features,
    best_coverage,
    relevance,
    section_bm25,
    standard,
)

Vectors = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*(arrays(np.float64, n, elements=st.floats(0, 50)) for _ in range(6)))
)


def test_a_sections_bm25_is_that_of_its_children_read_as_one_text() -> None:
    frequencies = np.array([[1, 0], [2, 0], [0, 1]], dtype=np.int32)  # two children, then a section of one
    lengths = np.array([4, 6, 10], dtype=np.int32)
    scores = section_bm25(frequencies, lengths, [0, 2], np.array([2.0, 3.0]))
    norm = K1 * (1 - B + B * 10 / 10)
    assert scores.tolist() == pytest.approx([2.0 * 3 / (3 + norm), 3.0 * 1 / (1 + norm)])


def test_a_longer_section_needs_more_of_a_word() -> None:
    frequencies = np.array([[1], [1]], dtype=np.int32)
    scores = section_bm25(frequencies, np.array([5, 50], dtype=np.int32), [0, 1], np.array([1.0]))
    assert scores[0] > scores[1] > 0


def test_coverage_is_that_of_the_best_child_not_of_all_together() -> None:
    frequencies = np.array([[3, 0, 0], [0, 1, 1], [0, 0, 0]], dtype=np.int32)
    assert best_coverage(frequencies, [0, 2], np.array([1.0, 2.0, 1.0])).tolist() == [0.75, 0.0]
    assert best_coverage(frequencies, [0, 2], np.zeros(3)).tolist() == [0.0, 0.0]


def test_no_candidates_no_scores() -> None:
    assert best_coverage(np.zeros((0, 2), np.int32), [], np.ones(2)).size == 0
    assert section_bm25(np.zeros((0, 2), np.int32), np.zeros(0, np.int32), [], np.ones(2)).size == 0


def test_standard_scores_by_hand() -> None:
    assert standard(np.array([1.0, 2.0, 3.0])).tolist() == pytest.approx([-sqrt(1.5), 0.0, sqrt(1.5)])
    assert standard(np.array([0.7, 0.7])).tolist() == [0.0, 0.0]
    assert standard(np.zeros(0)).size == 0


def test_weights_are_shares_of_one() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)
    assert {*WEIGHTS, "about"} == set(Features.__dataclass_fields__)


def test_relevance_by_hand() -> None:
    flat = np.zeros(2)
    scores = relevance(Features(np.array([0.0, 4.0]), flat, flat, flat, flat, flat))
    assert scores.tolist() == pytest.approx([1 / (1 + exp(WEIGHTS["bm25"])), 1 / (1 + exp(-WEIGHTS["bm25"]))])


def test_what_is_said_of_a_code_is_taken_off_from_those_that_are_less_about_it() -> None:
    flat = np.zeros(2)
    scores = relevance(Features(flat, flat, flat, flat, flat, flat, about=np.array([6.0, 4.0])))
    assert scores.tolist() == pytest.approx([0.5, 1 / (1 + exp(2.0))])


def test_without_vectors_words_decide() -> None:
    words = np.array([3.0, 1.0, 2.0])
    scores = relevance(Features(words, words, None, None, np.zeros(3), np.zeros(3)))
    assert np.argsort(-scores).tolist() == [0, 2, 1]


def test_the_scale_of_an_embedding_models_cosines_does_not_matter() -> None:
    words, cosines = np.array([3.0, 1.0, 2.0]), np.array([0.1, 0.9, 0.3])
    wide = relevance(Features(words, words, cosines, cosines, np.zeros(3), np.zeros(3)))
    narrow = relevance(
        Features(words, words, 0.8 + cosines / 10, 0.8 + cosines / 10, np.zeros(3), np.zeros(3))
    )
    assert wide == pytest.approx(narrow)


@given(Vectors)
def test_scores_lie_within_0_and_1_and_equal_candidates_stay_equal(parts: tuple[np.ndarray, ...]) -> None:
    twice = Features(*(np.concatenate([part, part]) for part in parts))
    scores = relevance(twice)
    half = len(scores) // 2
    assert ((scores > 0) & (scores < 1)).all()
    assert scores[:half].tolist() == scores[half:].tolist()
