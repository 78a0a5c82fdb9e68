"""Tenants, access lists, days of validity, and the choice among versions."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.vector_stores import FilterOperator, MetadataFilter

from gyr_hybrid.errors import DocumentError
from gyr_hybrid.storage import (
    Batch,
    DocumentRecord,
    KnowledgeStore,
    Scope,
    check_metadata,
    compile_filters,
    open_store,
)
from gyr_hybrid.storage.visibility import Rules, natural_order

Fill = Callable[..., int]
Record = Callable[..., DocumentRecord]


def seen(store: KnowledgeStore, **scope: Any) -> set[str]:
    """Documents (``id@version``) that searches bring."""
    view = store.view(Scope(**scope))
    words = {hit.node_id.partition("#")[0] for hit in view.lexical({"苹果": 1.0}, 100)}
    query = next(iter(view.nodes([f"{doc}#1.1" for doc in words]).values()), None)
    assert view.n_visible == 2 * len(words)
    assert query is None or len(words) > 0
    return words


def test_a_tenant_sees_its_own_and_everybodys(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("own", tenant="t1"), record("other", tenant="t2"), record("all"), record("number", tenant=1))
    assert seen(store) == {"own", "other", "all", "number"}
    assert seen(store, tenant="t1") == {"own", "all"}
    assert seen(store, tenant="t3") == {"all"}
    assert seen(store, tenant="t") == {"all"}
    assert seen(store, tenant="1") == {"number", "all"}
    assert seen(store, tenant="") == {"all"}


def test_principals_must_meet_the_acl(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(
        record("open"),
        record("staff", acl=["staff", "boss"]),
        record("text", acl="staff"),
        record("nobody", acl=[]),
        record("blank", acl=""),
        record("blanks", acl=[""]),
    )
    everything = {"open", "staff", "text", "nobody", "blank", "blanks"}
    assert seen(store) == everything
    assert seen(store, principals=frozenset()) == {"open"}
    assert seen(store, principals=frozenset(["staff"])) == {"open", "staff", "text"}
    assert seen(store, principals=frozenset(["boss", "x"])) == {"open", "staff"}
    assert seen(store, principals=frozenset(["st"])) == {"open"}
    assert seen(store, principals=frozenset([""])) == {"open"}


def test_tenant_and_principals_and_filters_all_bind(
    store: KnowledgeStore, fill: Fill, record: Record
) -> None:
    fill(
        record("a", tenant="t1", acl=["x"], kind="k"),
        record("b", tenant="t1", acl=["y"], kind="k"),
        record("c", tenant="t2", acl=["x"], kind="k"),
        record("d", tenant="t1", acl=["x"], kind="l"),
    )
    filters = compile_filters(MetadataFilter(key="kind", value="k"))
    assert seen(store, tenant="t1", principals=frozenset("x"), filters=filters) == {"a"}
    wide = compile_filters(MetadataFilter(key="tenant", value="t2"))
    assert seen(store, tenant="t1", filters=wide) == set()


def test_what_may_not_be_seen_is_nowhere(
    store: KnowledgeStore, fill: Fill, record: Record, vector_of: Callable[..., Any]
) -> None:
    fill(record("secret", acl=["boss"]), record("open"))
    view = store.view(Scope(principals=frozenset(["staff"])))
    assert view.nodes(["secret#1", "secret#1.1", "open#1"]).keys() == {"open#1"}
    assert view.document("secret") is None
    assert view.children(["secret#1"]) == view.parents(["secret#1.1"]) == view.spans(["secret#1.1"]) == {}
    assert view.bm25({"苹果": 1.0}, ["secret#1.1"]) == view.cosine(vector_of("x"), ["secret#1.1"]) == {}
    assert view.frequencies(["苹果"], ["secret#1.1"]).tolist() == [[0]]
    assert view.header_paths(["secret#1"]) == [()]


def test_validity_is_half_open(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(
        record("old", valid_to="2026-01-01"),
        record("now", valid_from="2026-01-01", valid_to="2027-01-01"),
        record("later", valid_from="2027-01-01"),
        record("always"),
        record("dated", valid_from=date(2026, 6, 1)),
        record("blank", valid_from="", valid_to=""),
    )
    ever = {"always", "blank"}
    assert seen(store, as_of=date(2025, 12, 31)) == ever | {"old"}
    assert seen(store, as_of=date(2026, 1, 1)) == ever | {"now"}
    assert seen(store, as_of=date(2026, 12, 31)) == ever | {"now", "dated"}
    assert seen(store, as_of=date(2027, 1, 1)) == ever | {"later", "dated"}


def test_today_is_the_default(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    today = date.today()
    tomorrow = date.fromordinal(today.toordinal() + 1)
    fill(
        record("until", valid_to=today.isoformat()),
        record("from", valid_from=today.isoformat()),
        record("soon", valid_from=tomorrow.isoformat()),
    )
    assert seen(store) == {"from"}


def test_one_version_is_seen(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(
        record("kb", version="1", valid_from="2025-01-01"),
        record("kb", version="2", valid_from="2026-01-01"),
        record("kb", version="3", valid_from="2027-01-01"),
    )
    assert seen(store, as_of=date(2024, 1, 1)) == set()
    assert seen(store, as_of=date(2025, 5, 1)) == {"kb@1"}
    assert seen(store, as_of=date(2026, 5, 1)) == {"kb@2"}
    assert seen(store, as_of=date(2027, 5, 1)) == {"kb@3"}
    assert store.view(Scope(as_of=date(2026, 5, 1))).document("kb").metadata["version"] == "2"
    assert store.view(Scope(as_of=date(2024, 5, 1))).document("kb") is None
    assert store.view(Scope(as_of=date(2024, 5, 1))).document("kb", "3").metadata["version"] == "3"
    assert store.view().document("kb", "4") is None


@pytest.mark.parametrize(
    ("loser", "winner"),
    [
        ({"version": "2"}, {"version": "1", "valid_from": "2020-01-01"}),
        ({"version": "9", "valid_from": "2020-01-01"}, {"version": "1", "valid_from": "2020-01-02"}),
        ({"version": "2", "updated_at": "2026-01-01"}, {"version": "1", "updated_at": "2026-01-02"}),
        ({"version": "2"}, {"version": "1", "updated_at": "2026-01-02"}),
        (
            {"version": "2", "updated_at": "2026-01-01T10:00:00+08:00"},
            {"version": "1", "updated_at": "2026-01-01T03:00:00Z"},
        ),
        ({"version": "1.9"}, {"version": "1.10"}),
        ({"version": "v9"}, {"version": "v10"}),
        ({}, {"version": "1"}),
        ({"version": "1"}, {"version": "1.1"}),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_the_version_seen(
    store: KnowledgeStore,
    fill: Fill,
    record: Record,
    loser: dict[str, str],
    winner: dict[str, str],
    turned: bool,
) -> None:
    versions = [record("kb", **loser), record("kb", **winner)]
    for one in reversed(versions) if turned else versions:
        fill(one)
    expected = "kb@" + winner["version"]
    assert seen(store, as_of=date(2026, 6, 1)) == {expected}
    fill(record("other"))
    assert seen(store, as_of=date(2026, 6, 1)) == {expected, "other"}


def test_the_choice_is_among_what_may_be_seen(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(
        record("kb", version="1"),
        record("kb", version="2", acl=["boss"]),
        record("kb", version="3", tenant="t2"),
    )
    assert seen(store) == {"kb@3"}
    assert seen(store, tenant="t1") == {"kb@2"}
    assert seen(store, tenant="t1", principals=frozenset(["staff"])) == {"kb@1"}


def test_the_choice_comes_before_filters(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("kb", version="1", lang="zh"), record("kb", version="2", lang="en"))
    assert seen(store, filters=compile_filters(MetadataFilter(key="lang", value="zh"))) == set()
    assert seen(store, filters=compile_filters(MetadataFilter(key="lang", value="en"))) == {"kb@2"}


def test_a_filter_that_names_version_switches_the_choice_off(
    store: KnowledgeStore, fill: Fill, record: Record
) -> None:
    fill(
        record("kb", version="1"), record("kb", version="2"), record("kb", version="3", valid_to="2000-01-01")
    )

    def version(operator: FilterOperator, value: Any) -> set[str]:
        return seen(
            store, filters=compile_filters(MetadataFilter(key="version", value=value, operator=operator))
        )

    assert version(FilterOperator.EQ, "1") == {"kb@1"}
    assert version(FilterOperator.EQ, 2) == {"kb@2"}
    assert version(FilterOperator.NE, "9") == {"kb@1", "kb@2"}
    assert version(FilterOperator.EQ, "3") == set()


def test_deleting_the_version_seen_uncovers_the_one_before(
    store: KnowledgeStore, fill: Fill, record: Record
) -> None:
    fill(record("kb", version="1"), record("kb", version="2"))
    assert seen(store) == {"kb@2"}
    store.apply(Batch(deletes=(("kb", "2"),)))
    assert seen(store) == {"kb@1"}


def test_rules_change_without_new_vectors(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("kb", acl=["a"]))
    vectors = store.stats()["vectors"]
    fill(record("kb", acl=["b"]))
    assert seen(store, principals=frozenset("a")) == set()
    assert seen(store, principals=frozenset("b")) == {"kb"}
    assert store.stats()["vectors"] == vectors


def test_bounds_that_are_no_days_are_refused() -> None:
    check_metadata("kb", {"valid_from": "2026-01-01", "valid_to": None, "updated_at": "whenever"})
    with pytest.raises(DocumentError, match=r"'kb'.*valid_to.*'2026/1/1'.*ISO"):
        check_metadata("kb", {"valid_to": "2026/1/1"})


def test_natural_order() -> None:
    versions = ["", "1", "1.2", "1.10", "2", "10", "2026-1", "a", "v2", "v10", "v10b"]
    assert sorted(sorted(versions), key=natural_order) == versions


_DAYS = st.sampled_from([None, "2026-01-01", "2026-06-01", "2027-01-01"])
_DOCUMENTS = st.lists(
    st.fixed_dictionaries(
        {
            "doc_id": st.sampled_from(["a", "b"]),
            "version": st.sampled_from([None, "1", "2", "10"]),
            "tenant": st.sampled_from([None, "t1", "t2"]),
            "acl": st.sampled_from([None, [], ["x"], ["x", "y"]]),
            "valid_from": _DAYS,
            "valid_to": _DAYS,
            "updated_at": st.sampled_from([None, "2026-01-01", "2026-02-01"]),
        }
    ),
    max_size=10,
    unique_by=lambda d: (d["doc_id"], d["version"]),
)
_SCOPES = st.builds(
    Scope,
    tenant=st.sampled_from([None, "t1", "t3"]),
    principals=st.sampled_from([None, frozenset(), frozenset("x"), frozenset("y")]),
    as_of=st.sampled_from([date(2025, 1, 1), date(2026, 3, 1), date(2027, 1, 1)]),
)


@settings(max_examples=60, deadline=None)
@given(documents=_DOCUMENTS, scopes=st.lists(_SCOPES, min_size=1, max_size=6))
def test_masks_agree_with_the_rules_of_each_document(
    record: Record, documents: list[dict[str, Any]], scopes: list[Scope]
) -> None:
    store = open_store(None)
    kept = [{k: v for k, v in d.items() if v is not None} for d in documents]
    for d in kept:
        store.apply(Batch(upserts=(record(**d),)))
    for scope in scopes:
        assert scope.as_of is not None
        best: dict[str, Rules] = {}
        for d in kept:
            rules = Rules.of(d["doc_id"], d)
            if rules.may_see(scope.tenant, scope.principals) and rules.is_valid(scope.as_of):
                best[d["doc_id"]] = max(best.get(d["doc_id"], rules), rules, key=lambda r: r.rank)
        hits = store.view(scope).lexical({"苹果": 1.0}, 100)
        expected = {f"{doc_id}@{r.version}" if r.version else doc_id for doc_id, r in best.items()}
        assert {hit.node_id.partition("#")[0] for hit in hits} == expected
    store.close()
