"""A question carries its filters, day and number of results, through copies, JSON and other people's bundles."""

from __future__ import annotations

import json
import pickle
from copy import deepcopy
from datetime import UTC, date, datetime
from typing import Any

import pytest
from llama_index.core.schema import QueryBundle
from llama_index.core.vector_stores import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from gyr_hybrid.errors import ConfigurationError, FilterError
from gyr_hybrid.retrieval.query import HybridQuery
from gyr_hybrid.storage.filters import compile_filters

NESTED = MetadataFilters(
    filters=[
        MetadataFilter(key="category", value=["售后", "政策"], operator=FilterOperator.IN),
        MetadataFilters(filters=[MetadataFilter(key="year", value=2023)], condition=FilterCondition.NOT),
    ],
    condition=FilterCondition.AND,
)
DEPT = MetadataFilters(filters=[MetadataFilter(key="dept", value="售后")])
YEAR = MetadataFilters(filters=[MetadataFilter(key="year", value="2023")])


def test_it_is_a_query_bundle() -> None:
    query = HybridQuery("退货期限", filters=DEPT, top_k=3)
    assert isinstance(query, QueryBundle)
    assert str(query) == "退货期限"
    assert query.embedding_strs == ["退货期限"]


@pytest.mark.parametrize(
    "day",
    [date(2026, 10, 1), datetime(2026, 10, 1, 9, 30, tzinfo=UTC), "2026-10-01", "2026-10-01T09:30:00+08:00"],
)
def test_a_day_is_a_date_in_the_end(day: Any) -> None:
    assert HybridQuery("q", as_of=day).as_of == date(2026, 10, 1)


def test_what_is_no_day_and_no_number_is_refused() -> None:
    with pytest.raises(FilterError, match="去年"):
        HybridQuery("q", as_of="去年")
    for top_k in (0, -1, 2.0, True, "3"):
        with pytest.raises(ConfigurationError, match=f"top_k={top_k!r} must be a whole number"):
            HybridQuery("q", top_k=top_k)  # type: ignore[arg-type]


@pytest.mark.parametrize("filters", [None, DEPT, NESTED])
@pytest.mark.parametrize("as_of", [None, "2026-10-01"])
def test_it_survives_dict_json_copy_and_pickle(filters: MetadataFilters | None, as_of: str | None) -> None:
    query = HybridQuery(
        "退货", custom_embedding_strs=["退"], embedding=[0.5], filters=filters, as_of=as_of, top_k=7
    )
    assert HybridQuery.from_dict(json.loads(json.dumps(query.to_dict()))) == query
    assert HybridQuery.from_json(query.to_json()) == query
    assert deepcopy(query) == query
    assert pickle.loads(pickle.dumps(query)) == query


def test_filters_read_back_mean_the_same() -> None:
    restored = HybridQuery.from_dict(HybridQuery("q", filters=NESTED).to_dict())
    before, after = compile_filters(NESTED), compile_filters(restored.filters)
    assert before == after
    assert after is not None
    assert after.matches({"category": "售后", "year": "2024"})
    assert not after.matches({"category": "售后", "year": "2023"})


def test_a_dict_may_leave_out_all_but_the_question() -> None:
    assert HybridQuery.from_dict({"query_str": "q"}) == HybridQuery("q")


def test_text_and_bundles_become_one() -> None:
    assert HybridQuery.of("q", top_k=2) == HybridQuery("q", top_k=2)
    bundle = QueryBundle("q", custom_embedding_strs=["a"], embedding=[1.0])
    assert HybridQuery.of(bundle, as_of="2026-10-01") == HybridQuery(
        "q", custom_embedding_strs=["a"], embedding=[1.0], as_of="2026-10-01"
    )


def test_keywords_and_the_querys_own_options() -> None:
    own = HybridQuery("q", filters=DEPT, as_of="2026-01-01", top_k=9)
    assert HybridQuery.of(own) == own
    merged = HybridQuery.of(own, filters=YEAR, as_of="2026-02-02", top_k=2)
    assert (merged.as_of, merged.top_k) == (date(2026, 2, 2), 2)
    compiled = compile_filters(merged.filters)
    assert compiled is not None
    assert compiled.matches({"dept": "售后", "year": "2023"})
    assert not compiled.matches({"dept": "售后"})
    assert not compiled.matches({"year": "2023"})
    assert own == HybridQuery("q", filters=DEPT, as_of="2026-01-01", top_k=9)


def test_one_bare_filter_is_taken_as_filters() -> None:
    query = HybridQuery("q", filters=MetadataFilter(key="dept", value="售后"))  # type: ignore[arg-type]
    assert query.filters == DEPT


def test_what_is_no_question_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="is a NoneType; ask with a str or a QueryBundle"):
        HybridQuery.of(None)  # type: ignore[arg-type]
