"""Figures of merit against values worked out by hand."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.evaluation.metrics import auroc, measure, metric_names, percentiles

JUDGED = {"q1": {"a": 1, "b": 1}, "q2": {"x": 1}, "q3": {"z": 2, "y": 1}}
RANKINGS = {"q1": ["c", "a", "d", "b"], "q2": ["w"], "q3": ["y", "z"]}


def test_hit_recall_and_reciprocal_rank_by_hand() -> None:
    figures = measure(RANKINGS, JUDGED, ["hit@1", "hit@2", "recall@2", "recall@4", "MRR@10"])
    assert figures["hit@1"].tolist() == [0.0, 0.0, 1.0]
    assert figures["hit@2"].tolist() == [1.0, 0.0, 1.0]
    assert figures["recall@2"].tolist() == [0.5, 0.0, 1.0]
    assert figures["recall@4"].tolist() == [1.0, 0.0, 1.0]
    assert figures["MRR@10"].tolist() == [0.5, 0.0, 1.0]


def test_ndcg_by_hand() -> None:
    figures = measure(RANKINGS, JUDGED, ["nDCG@10"])["nDCG@10"]
    two = (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3))
    graded = (1 + 2 / log2(3)) / (2 + 1 / log2(3))
    assert figures.tolist() == pytest.approx([two, 0.0, graded])


def test_a_rank_past_the_cut_off_counts_nothing() -> None:
    ranking = {"q": [f"n{i}" for i in range(10)] + ["a"]}
    figures = measure(ranking, {"q": {"a": 1}}, ["MRR@10", "recall@10", "MRR@11"])
    assert figures["MRR@10"][0] == 0.0
    assert figures["recall@10"][0] == 0.0
    assert figures["MRR@11"][0] == pytest.approx(1 / 11)


def test_questions_that_found_nothing_count_as_zero_in_their_place() -> None:
    figures = measure({"q2": ["x"], "q1": []}, JUDGED, ["hit@1"])["hit@1"]
    assert figures.tolist() == [0.0, 1.0, 0.0]
    assert measure({}, JUDGED, ["MRR@10"])["MRR@10"].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", ["precision@5", "hit", "hit@0", "MRR@x"])
def test_an_unknown_metric_is_named(name: str) -> None:
    with pytest.raises(ConfigurationError, match="hit@k, recall@k, MRR@k or nDCG@k"):
        measure(RANKINGS, JUDGED, [name])


def test_metric_names_do_not_repeat_themselves() -> None:
    assert metric_names(4) == ("hit@1", "hit@4", "recall@4", "MRR@10", "nDCG@10")
    assert metric_names(1) == ("hit@1", "recall@1", "MRR@10", "nDCG@10")


def test_auroc_by_hand() -> None:
    assert auroc([0.9, 0.8], [0.1, 0.2]) == 1.0
    assert auroc([0.1], [0.9]) == 0.0
    assert auroc([0.5], [0.5]) == 0.5
    assert auroc([0.9, 0.5], [0.5, 0.1]) == pytest.approx((1 + 1 + 0.5 + 1) / 4)


def test_auroc_needs_both_sides() -> None:
    with pytest.raises(ConfigurationError, match="unanswerable"):
        auroc([0.5], [])


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=12),
    st.lists(st.floats(0, 1), min_size=1, max_size=12),
)
def test_auroc_is_the_share_of_ordered_pairs(positive: list[float], negative: list[float]) -> None:
    pairs = [1.0 if p > n else 0.5 if p == n else 0.0 for p in positive for n in negative]
    assert auroc(positive, negative) == pytest.approx(float(np.mean(pairs)))
    assert auroc(positive, negative) + auroc(negative, positive) == pytest.approx(1.0)


def test_percentiles_by_hand() -> None:
    found = percentiles([1.0, 2.0, 3.0, 4.0, 5.0])
    assert found["p50"] == 3.0
    assert found["p95"] == pytest.approx(4.8)
    assert found["mean"] == 3.0
    assert percentiles([]) == {}
