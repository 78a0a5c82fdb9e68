from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyr_hybrid.retrieval.fusion import Fused, reciprocal_rank_fusion
from gyr_hybrid.retrieval.merging import merge_into_sections


def test_scores_are_the_sum_of_reciprocal_ranks_counted_from_one() -> None:
    fused = reciprocal_rank_fusion({"lexical": ["a", "b"], "dense": ["b"]}, k=60)
    assert [(f.node_id, f.score) for f in fused] == [
        ("b", pytest.approx(1 / 62 + 1 / 61)),
        ("a", pytest.approx(1 / 61)),
    ]


def test_weights_count() -> None:
    """run-llama/llama_index#21444: weights had no effect."""
    rankings = {"lexical": ["a"], "dense": ["b"]}
    assert [
        f.node_id for f in reciprocal_rank_fusion(rankings, weights={"lexical": 0.99, "dense": 0.01})
    ] == ["a", "b"]
    assert [
        f.node_id for f in reciprocal_rank_fusion(rankings, weights={"lexical": 0.01, "dense": 0.99})
    ] == ["b", "a"]
    assert [f.node_id for f in reciprocal_rank_fusion(rankings, weights={"dense": 0.0})] == ["a"]


def test_ranks_per_leg_are_kept() -> None:
    fused = reciprocal_rank_fusion({"codes": ["x"], "lexical": ["y", "x"]})
    assert fused[0].ranks == (("codes", 1), ("lexical", 2))


def test_ties_follow_the_reading_order() -> None:
    order = {"late": 9, "early": 1}
    fused = reciprocal_rank_fusion({"lexical": ["late"], "dense": ["early"]}, position=order.__getitem__)
    assert [f.node_id for f in fused] == ["early", "late"]


def test_an_id_that_stands_twice_in_a_leg_counts_once() -> None:
    (only,) = reciprocal_rank_fusion({"lexical": ["a", "a"]})
    assert only.score == pytest.approx(1 / 61)


rankings = st.dictionaries(
    st.sampled_from(["codes", "lexical", "dense"]),
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    max_size=3,
)


@given(rankings)
def test_the_pool_is_the_union_and_the_rankings_stay_as_they_were(legs: dict[str, list[str]]) -> None:
    before = {name: list(ids) for name, ids in legs.items()}
    fused = reciprocal_rank_fusion(legs)
    assert {f.node_id for f in fused} == {i for ids in legs.values() for i in ids}
    assert [f.score for f in fused] == sorted((f.score for f in fused), reverse=True)
    assert legs == before


@given(rankings)
def test_a_node_that_every_leg_has_first_is_first(legs: dict[str, list[str]]) -> None:
    fused = reciprocal_rank_fusion({name: ["top", *ids] for name, ids in legs.items()})
    assert not legs or fused[0].node_id == "top"


def _pool(*ids: str) -> list[Fused]:
    return [Fused(i, 1.0 / (n + 1), ()) for n, i in enumerate(ids)]


def test_one_hit_lifts_its_section_whole() -> None:
    merged = merge_into_sections(
        _pool("kb#2.1", "kb#1.1", "kb#2.3"), {"kb#2.1": "kb#2", "kb#1.1": "kb#1", "kb#2.3": "kb#2"}
    )
    assert [(m.node_id, m.children) for m in merged] == [
        ("kb#2", ("kb#2.1", "kb#2.3")),
        ("kb#1", ("kb#1.1",)),
    ]


def test_a_section_never_stands_below_its_best_child() -> None:
    pool = _pool("a.1", "b.1", "a.2", "a.3")
    merged = merge_into_sections(pool, {c.node_id: c.node_id[0] for c in pool})
    assert merged[0].node_id == "a"
    assert merged[0].score == pool[0].score


def test_a_missing_parent_keeps_the_child() -> None:
    """The stock class fails the whole query with "doc_id not found"."""
    assert [m.node_id for m in merge_into_sections(_pool("kb#1.1", "lost"), {"kb#1.1": "kb#1"})] == [
        "kb#1",
        "lost",
    ]
