"""What metadata filters mean, on their own and in a store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.vector_stores import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from gyr_hybrid.errors import FilterError
from gyr_hybrid.storage import (
    Batch,
    DocumentRecord,
    KnowledgeStore,
    Scope,
    all_filters,
    compile_filters,
    open_store,
    parse_day,
)
from gyr_hybrid.storage.filters import names_key

Op = FilterOperator


def where(key: str, operator: Op, value: Any = None) -> MetadataFilter:
    return MetadataFilter(key=key, operator=operator, value=value)


def passes(operator: Op, value: Any, stored: Any) -> bool:
    compiled = compile_filters(where("k", operator, value))
    assert compiled is not None
    return compiled.matches({"k": stored})


@pytest.mark.parametrize(
    ("operator", "value", "stored", "expected"),
    [
        (Op.EQ, 2023, "2023", True),
        (Op.EQ, "2023", 2023, True),
        (Op.EQ, 2023.0, "2023", True),
        (Op.EQ, 7, "007", False),
        (Op.EQ, "7", "007", False),
        (Op.EQ, "007", "007", True),
        (Op.EQ, "1.1", "1.10", False),
        (Op.EQ, "a", "A", False),
        (Op.EQ, 1, True, False),
        (Op.EQ, "true", True, True),
        (Op.EQ, "a", ["a"], False),
        (Op.EQ, ["a", "b"], ["a", "b"], True),
        (Op.EQ, ["b", "a"], ["a", "b"], False),
        (Op.NE, "a", "b", True),
        (Op.NE, "a", "a", False),
        (Op.NE, "a", ["a"], True),
        (Op.GT, 9, "10", True),
        (Op.GT, "9", "10", True),
        (Op.GT, "007", "7", True),
        (Op.GT, 5, "2023-01-01", False),
        (Op.LT, 5, "abc", False),
        (Op.GTE, "2026-01-01", "2026-01-01", True),
        (Op.LT, "2026-02-01", "2026-01-31", True),
        (Op.GT, 1, [2], False),
        (Op.GT, 0, True, False),
        (Op.LTE, 1.5, 1.5, True),
        (Op.IN, ["a", "b"], "b", True),
        (Op.IN, [2023], "2023", True),
        (Op.IN, ["ab"], "a", False),
        (Op.IN, [], "a", False),
        (Op.IN, ["a"], ["a"], False),
        (Op.NIN, ["a"], "b", True),
        (Op.NIN, ["a"], "a", False),
        (Op.NIN, [], "a", True),
        (Op.CONTAINS, "a", ["a", "b"], True),
        (Op.CONTAINS, "a", "a", True),
        (Op.CONTAINS, "a", "abc", False),
        (Op.CONTAINS, 1, ["1"], True),
        (Op.ANY, ["x", "b"], ["a", "b"], True),
        (Op.ANY, ["b"], "abc", False),
        (Op.ANY, ["x"], ["a"], False),
        (Op.ALL, ["a", "b"], ["b", "a", "c"], True),
        (Op.ALL, ["a", "x"], ["a", "b"], False),
        (Op.TEXT_MATCH, "bc", "abcd", True),
        (Op.TEXT_MATCH, "BC", "abcd", False),
        (Op.TEXT_MATCH, "b", ["abc", "x"], True),
        (Op.TEXT_MATCH, "02", 2023, True),
        (Op.TEXT_MATCH_INSENSITIVE, "BC", "abcd", True),
        (Op.IS_EMPTY, None, "", True),
        (Op.IS_EMPTY, None, [], True),
        (Op.IS_EMPTY, None, 0, False),
        (Op.IS_EMPTY, None, "x", False),
    ],
)
def test_operators(operator: Op, value: Any, stored: Any, expected: bool) -> None:
    assert passes(operator, value, stored) is expected


@pytest.mark.parametrize("operator", [op for op in Op if op is not Op.IS_EMPTY])
@pytest.mark.parametrize("metadata", [{}, {"k": None}])
def test_a_missing_key_matches_only_is_empty(operator: Op, metadata: dict[str, Any]) -> None:
    """NE and NIN need the key as well (pitfall of ``!=`` in the stock vector store)."""
    compiled = compile_filters(
        where("k", operator, ["a"] if operator in (Op.IN, Op.NIN, Op.ANY, Op.ALL) else "a")
    )
    assert compiled is not None
    assert not compiled.matches(metadata)
    empty = compile_filters(where("k", Op.IS_EMPTY))
    assert empty is not None
    assert empty.matches(metadata)


def test_not_passes_where_its_filters_are_false_or_the_key_is_missing() -> None:
    compiled = compile_filters(
        MetadataFilters(
            filters=[where("k", Op.EQ, "a"), where("k", Op.EQ, "b")], condition=FilterCondition.NOT
        )
    )
    assert compiled is not None
    assert [compiled.matches(m) for m in ({"k": "a"}, {"k": "b"}, {"k": "c"}, {})] == [
        False,
        False,
        True,
        True,
    ]


def test_groups_nest() -> None:
    """``Nested MetadataFilters are not supported`` in the stock vector store."""
    inner = MetadataFilters(
        filters=[where("a", Op.EQ, 1), where("b", Op.EQ, 1)], condition=FilterCondition.OR
    )
    compiled = compile_filters(MetadataFilters(filters=[inner, where("c", Op.EQ, 1)]))
    assert compiled is not None
    assert compiled.matches({"b": 1, "c": 1})
    assert not compiled.matches({"b": 1})
    assert not compiled.matches({"c": 1})


def test_groups_without_filters() -> None:
    conditions = (FilterCondition.AND, FilterCondition.OR, FilterCondition.NOT, None)
    compiled = [compile_filters(MetadataFilters(filters=[], condition=c)) for c in conditions]
    assert [c is not None and c.matches({"a": 1}) for c in compiled] == [True, False, True, True]


def test_filters_join() -> None:
    one, two = compile_filters(where("a", Op.EQ, 1)), compile_filters(where("b", Op.EQ, 1))
    assert all_filters(None, None) is None
    assert all_filters(one, None) is one
    both = all_filters(one, two)
    assert both is not None
    assert both.matches({"a": 1, "b": 1})
    assert not both.matches({"a": 1})
    assert hash(both) == hash(all_filters(one, two))
    assert names_key(both, "b")
    assert not names_key(both, "c")
    assert not names_key(None, "c")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (MetadataFilter.model_construct(key="k", value="v", operator="~="), r"'~=' is unknown; use one of"),
        (MetadataFilters.model_construct(filters=[], condition="xor"), "'xor' is unknown"),
        (where("k", Op.EQ, None), "use IS_EMPTY"),
        (where("k", Op.GT, ["a"]), "GT takes one value"),
        (where("k", Op.CONTAINS, ["a"]), "use ANY or ALL"),
        (where("k", Op.GT, float("nan")), "cannot be compared"),
        (MetadataFilter.model_construct(key="k", value={"a": 1}, operator=Op.EQ), "cannot be compared"),
        ({"k": "v"}, "pass LlamaIndex MetadataFilters"),
    ],
)
def test_what_has_no_meaning_is_an_error(given: Any, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        compile_filters(given)


def test_days() -> None:
    day = date(2026, 10, 1)
    for value in (
        day,
        datetime(2026, 10, 1, 23, 59),
        "2026-10-01",
        "20261001",
        "2026-10-01T01:00:00+08:00",
        " 2026-10-01 ",
    ):
        assert parse_day(value) == day
    assert parse_day(None) == date.today()
    for wrong in ("soon", "", "2026/10/1", "2026-13-01", 20261001):
        with pytest.raises(FilterError, match="2026-10-01"):
            parse_day(wrong)  # type: ignore[arg-type]


# in a store

_VALUES = st.one_of(
    st.sampled_from(["a", "b", "A", "", "7", "007", "10", "9", "1.0", "true", "ab"]),
    st.sampled_from([7, 10, 9, 1, 1.0, 0.5, True, False]),
    st.lists(st.sampled_from(["a", "b", "7", 7]), max_size=2),
)
_METADATA = st.dictionaries(st.sampled_from(["x", "y"]), _VALUES)
_SCALARS = st.sampled_from(["a", "b", "7", "007", "10", "true", "", 7, 10, 1.0])


@st.composite
def _conditions(draw: st.DrawFn) -> MetadataFilter:
    operator = draw(st.sampled_from(list(Op)))
    key = draw(st.sampled_from(["x", "y", "place", "doc_id", "nowhere"]))
    if operator is Op.IS_EMPTY:
        return where(key, operator)
    if operator in (Op.IN, Op.NIN, Op.ANY, Op.ALL):
        kind = draw(st.sampled_from([["a", "b", "7"], [7, 10], [1.0, 0.5]]))
        return where(key, operator, draw(st.lists(st.sampled_from(kind), max_size=3)))
    return where(key, operator, draw(_SCALARS))


_FILTERS = st.recursive(
    _conditions(),
    lambda inner: st.builds(
        MetadataFilters,
        filters=st.lists(inner, max_size=3),
        condition=st.sampled_from(list(FilterCondition)),
    ),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(
    metadata=st.lists(_METADATA, min_size=1, max_size=8), filters=st.lists(_FILTERS, min_size=1, max_size=5)
)
def test_a_store_passes_exactly_what_matches(
    record: Callable[..., DocumentRecord], metadata: list[dict[str, Any]], filters: list[Any]
) -> None:
    with_store = open_store(None)
    records = [record(f"d{i}", [["字 一。", "字 二。"]], **m) for i, m in enumerate(metadata)]
    with_store.apply(Batch(upserts=tuple(records[: len(records) // 2])))
    children = [n for r in records for n in r.nodes if n.node_id in r.tokens]
    for done in (len(records) // 2, len(records)):
        if done == len(records):
            with_store.apply(Batch(upserts=tuple(records[len(records) // 2 :])))
        stored = {n.node_id for r in records[:done] for n in r.nodes}
        for given_filters in filters:
            compiled = compile_filters(given_filters)
            assert compiled is not None
            expected = {n.node_id for n in children if n.node_id in stored and compiled.matches(n.metadata)}
            view = with_store.view(Scope(filters=compiled))
            query = next(iter(records[0].vectors.values()))
            assert {hit.node_id for hit in view.lexical({"字": 1.0}, 100)} == expected
            assert {hit.node_id for hit in view.dense(query, 100)} == expected
            assert view.n_visible == len(expected)
    with_store.close()


@pytest.mark.parametrize(
    "evil",
    [
        "' OR '1'='1",
        "x'; DROP TABLE documents; --",
        '") OR 1=1 --',
        "%",
        "_",
        "*",
        "a\x00b",
        "\\",
        "${x}",
        "json_each",
    ],
)
def test_filters_cannot_be_widened_by_what_they_contain(
    store: KnowledgeStore, fill: Callable[..., int], record: Callable[..., DocumentRecord], evil: str
) -> None:
    fill(record("a", tenant="t1"), record("b", tenant="t2", **{evil: "v"}))

    def found(given_filter: MetadataFilter, **scope: Any) -> set[str]:
        view = store.view(Scope(filters=compile_filters(given_filter), **scope))
        return {hit.node_id[0] for hit in view.lexical({"苹果": 1.0}, 10)}

    for operator in (Op.EQ, Op.TEXT_MATCH, Op.CONTAINS, Op.GT):
        assert found(where("tenant", operator, evil)) <= ({"a", "b"} if operator is Op.GT else set())
    assert found(where("tenant", Op.IN, [evil])) == set()
    assert found(where(evil, Op.EQ, "v")) == {"b"}
    assert found(where(evil, Op.EQ, "v"), tenant="t1") == set()
    assert found(where("tenant", Op.EQ, "t1"), tenant=evil) == set()
    assert found(where("tenant", Op.EQ, "t1"), principals=frozenset([evil])) == {"a"}
    assert len(store.documents()) == 2


def test_filters_bind_before_the_best_are_taken(
    store: KnowledgeStore, fill: Callable[..., int], record: Callable[..., DocumentRecord]
) -> None:
    """A filter that few rows pass gets all of them, however badly they score (run-llama/llama_index#14959)."""
    fill(
        *(record(f"d{i:03}", [["词 词 词。"]], group="many") for i in range(200)),
        record("rare", [["词 " + "别 " * 50]], group="few"),
    )
    view = store.view(Scope(filters=compile_filters(where("group", Op.EQ, "few"))))
    assert [hit.node_id for hit in view.lexical({"词": 1.0}, 1)] == ["rare#1.1"]
    query = next(iter(record("x", [["词 词 词。"]]).vectors.values()))
    assert [hit.node_id for hit in view.dense(query, 1)] == ["rare#1.1"]
    assert view.n_visible == 1
    nobody = store.view(Scope(filters=compile_filters(where("group", Op.EQ, "none"))))
    assert nobody.lexical({"词": 1.0}, 5) == nobody.dense(query, 5) == []
