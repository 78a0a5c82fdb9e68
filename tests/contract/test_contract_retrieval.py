"""Retrieval: options, per-query options, access, validity, filters, results, explanations."""

from __future__ import annotations

import asyncio
import copy
import datetime
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core import PromptTemplate
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from gyr_hybrid import FilterError, GyrError, HybridIndex, HybridQuery, HybridRetriever, JiebaBM25Retriever

Op, Join = FilterOperator, FilterCondition

PRICES = "# 价格\n\n## 年付\n\n年付套餐每年九百元，按年结算。\n\n## 月付\n\n月付套餐每月九十元，按月结算。\n"
RETURNS = "# 退货\n\n## 时限\n\n签收后七天内可以退货。\n\n## 运费\n\n退货运费由买家承担。\n"
FAULT = "# 错误码 E1042\n\n## 含义\n\n模板版本过期。\n\n## 解决办法\n\n请下载最新模板后再导入。\n"


def where(key: str, value: Any, operator: FilterOperator = Op.EQ) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key=key, value=value, operator=operator)])


def join(condition: FilterCondition, *parts: Any) -> MetadataFilters:
    return MetadataFilters(filters=list(parts), condition=condition)


@pytest.fixture
def shop(index_of: Any, doc: Any) -> HybridIndex:
    index: HybridIndex = index_of(
        doc("price", PRICES, dept="售前", year=2023),
        doc("return", RETURNS, dept="售后", year="2023"),
        doc("fault", FAULT, dept="技术", year="2024"),
    )
    return index


# options


def test_a_hybrid_retriever_is_a_retriever_that_gives_sections(shop: HybridIndex, ids: Any) -> None:
    retriever = shop.as_retriever()
    assert isinstance(retriever, BaseRetriever)
    assert isinstance(retriever, HybridRetriever)
    rows = retriever.retrieve("年付套餐多少钱")
    assert all(isinstance(row, NodeWithScore) for row in rows)
    assert ids(rows)[0] == "price#1"
    assert all("." not in i for i in ids(rows))


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "dense"])
def test_top_k_counts_sections_or_children(index_of: Any, doc: Any, ids: Any, mode: str) -> None:
    text = "# 说明\n\n" + "".join(
        f"## 第{i}节\n\n退款需要凭证。\n\n另外一段退款说明，内容较多，" + "需要阅读。" * 4 + "\n\n"
        for i in range(8)
    )
    index = index_of(doc("d", text))
    sections = index.as_retriever(mode=mode, top_k=3).retrieve("退款凭证")
    assert len(sections) == len(set(ids(sections))) == 3
    children = index.as_retriever(mode=mode, top_k=4, merge=False).retrieve("退款凭证")
    assert len(children) == len(set(ids(children))) == 4
    assert all("." in i.partition("#")[2] for i in ids(children))
    assert len(index.as_retriever(mode=mode, top_k=50).retrieve("退款凭证")) == 8


def test_top_k_defaults_to_five(index_of: Any, doc: Any) -> None:
    index = index_of(*(doc(f"d{i}", f"退款说明第{i}篇。") for i in range(9)))
    assert len(index.as_retriever().retrieve("退款说明")) == 5


def test_modes_use_their_legs(shop: HybridIndex) -> None:
    question = "E1042 下载最新模板"
    legs = {
        mode: {
            leg
            for leg, rows in shop.as_retriever(mode=mode).explain(question).to_dict()["legs"].items()
            if rows
        }
        for mode in ("hybrid", "lexical", "dense")
    }
    assert legs == {
        "hybrid": {"codes", "lexical", "dense"},
        "lexical": {"codes", "lexical"},
        "dense": {"dense"},
    }
    assert shop.as_retriever(mode="dense").explain(question).to_dict()["codes"] == []


def test_lexical_mode_asks_no_embedding(shop: HybridIndex, embedding: Any, ids: Any) -> None:
    embedding.fail_after(0)
    retriever = shop.as_retriever(mode="lexical")
    assert ids(retriever.retrieve("年付套餐"))[0] == "price#1"
    assert retriever.warnings == []


def test_tiers_of_codes_hold_whatever_rerank_is(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of(
        doc("near", "# 导入模板\n\n导入流水怎么办：请下载最新模板后再导入流水。怎么办都写在这里。"),
        doc("code", "# 错误码一览\n\n- E1042\n"),
    )
    for options in (
        {"rerank": False},
        {"rerank": True},
        {"mode": "lexical"},
        {"mode": "lexical", "rerank": False},
    ):
        assert ids(index.as_retriever(**options).retrieve("导入流水提示 E1042 怎么办"))[0] == "code#1"


def test_weights_decide_in_the_fusion(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of(doc("a", PRICES), doc("b", RETURNS), doc("c", FAULT))
    explained = (
        index.as_retriever(weights={"dense": 0, "codes": 0}, rerank=False).explain("退货运费谁承担").to_dict()
    )
    lexical = [row["node_id"] for row in explained["legs"]["lexical"]]
    assert [row["node_id"] for row in explained["fused"]] == lexical


def test_the_fusion_is_reciprocal_rank(shop: HybridIndex) -> None:
    explained = (
        shop.as_retriever(rrf_k=10, weights={"lexical": 2.0}).explain("退货运费由买家承担吗").to_dict()
    )
    ranks = {leg: {row["node_id"]: row["rank"] for row in rows} for leg, rows in explained["legs"].items()}
    for row in explained["fused"]:
        expected = sum(
            (2.0 if leg == "lexical" else 1.0) / (10 + found[row["node_id"]])
            for leg, found in ranks.items()
            if row["node_id"] in found
        )
        assert row["score"] == pytest.approx(expected)


def test_candidates_limit_each_leg(index_of: Any, doc: Any) -> None:
    index = index_of(*(doc(f"d{i}", f"退款说明第{i}篇。") for i in range(9)))
    legs = index.as_retriever(candidates=4).explain("退款说明").to_dict()["legs"]
    assert len(legs["lexical"]) == len(legs["dense"]) == 4


def test_synonyms_of_the_owner_widen_the_question(index_of: Any, doc: Any, ids: Any, tmp_path: Any) -> None:
    index = index_of(doc("a", "# 快递\n\n包邮门槛是九十九元。"), doc("b", "# 其他\n\n别的内容。"))
    assert ids(index.as_retriever(mode="lexical").retrieve("免运费")) == []
    assert ids(index.as_retriever(mode="lexical", synonyms=["包邮, 免运费"]).retrieve("免运费")) == ["a#1"]
    path = tmp_path / "synonyms.txt"
    path.write_text("包邮, 免运费\n", encoding="utf-8")
    assert ids(index.as_retriever(mode="lexical", synonyms=path).retrieve("免运费")) == ["a#1"]


# per query


def test_filters_as_of_and_top_k_travel_in_a_hybrid_query(shop: HybridIndex, ids: Any) -> None:
    retriever = shop.as_retriever()
    query = HybridQuery("退货和套餐", filters=where("dept", "售后"), top_k=1)
    assert isinstance(query, QueryBundle)
    assert ids(retriever.retrieve(query)) == ids(
        retriever.retrieve("退货和套餐", filters=where("dept", "售后"), top_k=1)
    )
    assert {i.partition("#")[0] for i in ids(retriever.retrieve(query))} == {"return"}
    assert len(retriever.retrieve("退货和套餐")) > 1


async def test_keywords_are_taken_by_every_way_of_asking(shop: HybridIndex, ids: Any) -> None:
    retriever, engine = shop.as_retriever(), shop.as_query_engine()
    only = where("dept", "售后")
    keywords: dict[str, Any] = {"filters": only, "as_of": "2026-01-01", "top_k": 1}
    assert ids(retriever.retrieve("退货时限", **keywords)) == ["return#1"]
    assert ids(await retriever.aretrieve("退货时限", **keywords)) == ["return#1"]
    assert [r["node_id"] for r in retriever.explain("退货时限", **keywords).to_dict()["reranked"]] == [
        "return#1"
    ]
    assert ids(engine.query("退货时限", **keywords).context_nodes) == ["return#1"]
    assert ids((await engine.aquery("退货时限", **keywords)).context_nodes) == ["return#1"]
    assert ids(engine.query(HybridQuery("退货时限", filters=only, top_k=1)).context_nodes) == ["return#1"]


async def test_a_plain_bundle_works_everywhere(shop: HybridIndex, ids: Any) -> None:
    bundle = QueryBundle("退货运费")
    retriever, engine = shop.as_retriever(), shop.as_query_engine()
    expected = ids(retriever.retrieve("退货运费"))
    assert ids(retriever.retrieve(bundle)) == expected
    assert ids(await retriever.aretrieve(bundle)) == expected
    assert [r["node_id"] for r in retriever.explain(bundle).to_dict()["reranked"]] == expected
    assert engine.query(bundle).response == engine.query("退货运费").response
    assert (await engine.aquery(bundle)).response == engine.query("退货运费").response


def test_filters_of_the_query_are_anded_and_cannot_widen(shop: HybridIndex, ids: Any) -> None:
    fixed = shop.as_retriever(filters=where("dept", "售后"))
    assert {i.partition("#")[0] for i in ids(fixed.retrieve("退货 套餐 模板"))} == {"return"}
    assert ids(fixed.retrieve("退货 套餐 模板", filters=where("dept", "技术"))) == []
    both = join(Join.OR, MetadataFilter(key="dept", value="技术"), MetadataFilter(key="dept", value="售后"))
    assert {i.partition("#")[0] for i in ids(fixed.retrieve("退货 套餐 模板", filters=both))} == {"return"}
    query = HybridQuery("退货 套餐 模板", filters=where("dept", "售前"))
    assert ids(fixed.retrieve(query)) == []
    assert ids(shop.as_retriever().retrieve(query, filters=where("year", 2024))) == []
    engine = shop.as_query_engine(filters=where("dept", "售后"))
    assert engine.query("月付套餐多少钱", filters=where("dept", "售前")).context_nodes == []


def test_as_of_and_top_k_of_the_query_replace(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of(
        doc("a", "退款说明一。", valid_to="2024-01-01"),
        doc("b", "退款说明二。", valid_from="2024-01-01", valid_to="2025-01-01"),
    )
    retriever = index.as_retriever(as_of="2023-06-01", top_k=1)
    assert ids(retriever.retrieve("退款说明")) == ["a#1"]
    assert ids(retriever.retrieve("退款说明", as_of="2024-06-01", top_k=5)) == ["b#1"]
    assert ids(retriever.retrieve("退款说明")) == ["a#1"]


def test_nothing_is_kept_between_questions(shop: HybridIndex, ids: Any) -> None:
    retriever = shop.as_retriever()
    before = ids(retriever.retrieve("退货"))
    retriever.retrieve("退货", filters=where("dept", "技术"), top_k=1, as_of="2001-01-01")
    assert ids(retriever.retrieve("退货")) == before


@pytest.mark.parametrize("name", ["tenant", "principals", "mode"])
def test_what_is_fixed_cannot_be_passed_with_a_question(shop: HybridIndex, name: str) -> None:
    with pytest.raises(TypeError):
        shop.as_retriever(tenant="t1").retrieve("退货", **{name: "x"})
    with pytest.raises(TypeError):
        HybridQuery("退货", **{name: "x"})


def test_a_hybrid_query_is_serialised_with_its_filters() -> None:
    query = HybridQuery(
        "退货",
        filters=join(Join.OR, MetadataFilter(key="a", value=1), where("b", ["x"], Op.IN)),
        as_of=datetime.date(2026, 1, 2),
        top_k=3,
    )
    data = json.loads(json.dumps(query.to_dict()))
    assert data["query_str"] == "退货"
    assert data["filters"]["condition"] == "or"
    assert HybridQuery.from_dict(data) == query


async def test_llama_indexs_own_engines_take_the_retriever(shop: HybridIndex, llm: Any, ids: Any) -> None:
    retriever = shop.as_retriever()
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm("七天。"))
    response = engine.query("退货时限")
    assert str(response) == "七天。"
    assert ids(response.source_nodes)[0] == "return#1"
    fusion = QueryFusionRetriever(
        [retriever], llm=llm("x"), num_queries=1, similarity_top_k=2, use_async=False
    )
    assert ids(fusion.retrieve("退货时限"))[0] == "return#1"
    fusion = QueryFusionRetriever([retriever], llm=llm("x"), num_queries=1, similarity_top_k=2)
    assert ids(await fusion.aretrieve("退货时限"))[0] == "return#1"
    chat = CondenseQuestionChatEngine.from_defaults(
        query_engine=shop.as_query_engine(),
        llm=llm("退货时限"),
        memory=ChatMemoryBuffer.from_defaults(),
        condense_question_prompt=PromptTemplate("{chat_history}{question}"),
    )
    assert "七天" in str(chat.chat("退货时限"))


# access


@pytest.fixture
def secrets(index_of: Any, doc: Any) -> HybridIndex:
    index: HybridIndex = index_of(
        doc("public", "# 工资\n\n工资每月五日发放。"),
        doc("t1", "# 工资一\n\n工资每月六日发放，见 E7001。", tenant="t1"),
        doc("t2", "# 工资二\n\n工资每月七日发放，见 E7002。", tenant="t2"),
        doc("hr", "# 工资三\n\n工资每月八日发放，见 E7003。", acl=["hr", "boss"]),
        doc("text", "# 工资四\n\n工资每月九日发放，见 E7004。", acl="hr,boss"),
        doc("none", "# 工资五\n\n工资每月十日发放，见 E7005。", acl=[]),
        doc("blank", "# 工资六\n\n工资每月初一发放，见 E7006。", acl=""),
        doc("both", "# 工资七\n\n工资每月初二发放，见 E7007。", tenant="t1", acl=["hr"]),
    )
    return index


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({}, {"public", "t1", "t2", "hr", "text", "none", "blank", "both"}),
        ({"tenant": "t1"}, {"public", "t1", "hr", "text", "none", "blank", "both"}),
        ({"tenant": "t9"}, {"public", "hr", "text", "none", "blank"}),
        ({"principals": []}, {"public", "t1", "t2"}),
        ({"principals": ["nobody"]}, {"public", "t1", "t2"}),
        ({"principals": ["hr"]}, {"public", "t1", "t2", "hr", "both"}),
        ({"principals": ["boss", "x"]}, {"public", "t1", "t2", "hr"}),
        ({"principals": ["hr,boss"]}, {"public", "t1", "t2", "text"}),
        ({"principals": [""]}, {"public", "t1", "t2"}),
        ({"principals": ["hr"], "tenant": "t2"}, {"public", "t2", "hr"}),
        ({"principals": ["hr"], "tenant": "t1"}, {"public", "t1", "hr", "both"}),
        ({"principals": {"hr"}, "tenant": "t1"}, {"public", "t1", "hr", "both"}),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "dense"])
def test_tenant_and_principals(secrets: HybridIndex, mode: str, options: Any, seen: set[str]) -> None:
    retriever = secrets.as_retriever(mode=mode, top_k=20, **options)
    rows = retriever.retrieve("工资每月发放")
    assert {row.node.metadata["doc_id"] for row in rows} == seen
    legs = retriever.explain("工资每月发放 E7005").to_dict()["legs"]
    assert {row["node_id"].partition("#")[0] for rows in legs.values() for row in rows} <= seen


def test_principals_and_tenant_are_fixed_when_the_retriever_is_made(
    secrets: HybridIndex, index_of: Any, doc: Any
) -> None:
    who = ["nobody"]
    retriever, engine = (
        build(principals=who, top_k=20) for build in (secrets.as_retriever, secrets.as_query_engine)
    )
    who.append("hr")
    assert {row.node.metadata["doc_id"] for row in retriever.retrieve("工资每月发放")} == {
        "public",
        "t1",
        "t2",
    }
    assert "hr" not in {
        row.node.metadata["doc_id"] for row in engine.query("工资每月八日发放吗").context_nodes
    }
    once = secrets.as_retriever(principals=(name for name in ["hr"]), tenant="t2", top_k=20)
    for _ in range(2):
        assert {row.node.metadata["doc_id"] for row in once.retrieve("工资每月发放")} == {
            "public",
            "t2",
            "hr",
        }
    numbered = index_of(
        doc("five", "工资五日发放。", tenant=5, acl=[7]), doc("six", "工资六日发放。", tenant=6)
    )
    rows = numbered.as_retriever(tenant=5, principals=[7]).retrieve("工资发放")
    assert [row.node.metadata["doc_id"] for row in rows] == ["five"]


def test_a_query_cannot_widen_what_a_restricted_retriever_sees(secrets: HybridIndex, ids: Any) -> None:
    retriever = secrets.as_retriever(tenant="t1", principals=[], top_k=20)
    for filters in (where("tenant", "t2"), where("acl", "hr", Op.CONTAINS), where("doc_id", "t2")):
        assert ids(retriever.retrieve("工资每月发放", filters=filters)) == []


def test_suggestions_and_unknown_codes_see_visible_documents_only(secrets: HybridIndex) -> None:
    engine = secrets.as_query_engine(tenant="t1", principals=[])
    answer = engine.query("E7002 怎么办")
    assert (answer.refused, answer.refusal_reason) == (True, "unknown_identifier")
    (unknown,) = answer.unknown_identifiers
    assert unknown.text == "E7002"
    assert set(unknown.suggestions) <= {"E7001"}
    assert "E7003" not in str(answer.response) + str(answer.warnings) + str(answer.trace)
    codes = secrets.as_retriever(tenant="t1", principals=[]).explain("E7002 怎么办").to_dict()["codes"]
    assert [(c["text"], c["status"]) for c in codes] == [("E7002", "unknown")]
    assert set(codes[0]["suggestions"]) <= {"E7001"}
    assert secrets.as_query_engine(tenant="t2").query("E7002").refused is False


@pytest.mark.parametrize("options", [{"tenant": "t1"}, {"principals": ["hr"]}, {"principals": []}])
def test_a_restricted_explanation_gives_ranks_not_scores(secrets: HybridIndex, options: Any) -> None:
    explained = secrets.as_retriever(**options).explain("工资每月发放 E7001").to_dict()
    rows = [*explained["fused"], *explained["merged"], *explained["reranked"]]
    rows += [row for leg in explained["legs"].values() for row in leg]
    assert rows
    assert all(row["rank"] >= 1 and row["score"] is None for row in rows)
    assert not any(isinstance(v, float) for row in rows for v in row.values())


def test_other_tenants_do_not_change_what_is_found(index_of: Any, doc: Any, ids: Any) -> None:
    mine = [doc("a", PRICES, tenant="t1"), doc("b", RETURNS, tenant="t1")]
    others = [doc(f"x{i}", "# 退货\n\n退货运费由买家承担。", tenant="t2") for i in range(60)]
    alone = index_of(*mine).as_retriever(tenant="t1", candidates=5)
    crowded = index_of(*mine, *others).as_retriever(tenant="t1", candidates=5)
    assert ids(alone.retrieve("退货运费")) == ids(crowded.retrieve("退货运费"))


# validity


@pytest.mark.parametrize(
    ("as_of", "seen"),
    [
        ("2023-12-31", {"until", "always"}),
        ("2024-01-01", {"from", "between", "always"}),
        ("2024-05-31", {"from", "between", "always"}),
        ("2024-06-01", {"from", "always"}),
        (datetime.date(2024, 1, 1), {"from", "between", "always"}),
        (datetime.datetime(2024, 5, 31, 23, 59), {"from", "between", "always"}),
        ("2024-06-01T00:00:00", {"from", "always"}),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "dense"])
def test_valid_is_from_inclusive_to_exclusive(
    index_of: Any, doc: Any, mode: str, as_of: Any, seen: set[str]
) -> None:
    index = index_of(
        doc("until", "退款说明甲。", valid_to="2024-01-01"),
        doc("from", "退款说明乙。", valid_from=datetime.date(2024, 1, 1)),
        doc("between", "退款说明丙。", valid_from=datetime.datetime(2024, 1, 1, 8), valid_to="2024-06-01"),
        doc("always", "退款说明丁。"),
    )
    rows = index.as_retriever(mode=mode, top_k=20).retrieve("退款说明", as_of=as_of)
    assert {row.node.metadata["doc_id"] for row in rows} == seen
    rows = index.as_retriever(mode=mode, top_k=20, as_of=as_of).retrieve("退款说明")
    assert {row.node.metadata["doc_id"] for row in rows} == seen


def test_as_of_is_today_by_default(index_of: Any, doc: Any, ids: Any) -> None:
    today = datetime.date.today()
    day = datetime.timedelta(days=1)
    index = index_of(
        doc("gone", "退款说明甲。", valid_to=str(today)),
        doc("here", "退款说明乙。", valid_from=str(today), valid_to=str(today + day)),
        doc("soon", "退款说明丙。", valid_from=str(today + day)),
    )
    assert ids(index.as_retriever().retrieve("退款说明")) == ["here#1"]
    with pytest.raises(GyrError):
        index.document("gone")
    assert (
        index.as_query_engine().query("退款说明", as_of=today + day).context_nodes[0].node.node_id == "soon#1"
    )


@pytest.mark.parametrize(
    ("one", "other", "seen"),
    [
        ({"version": "1", "valid_from": "2024-01-01"}, {"version": "2", "valid_from": "2023-01-01"}, "1"),
        ({"version": "1", "valid_from": "2024-01-01"}, {"version": "2"}, "1"),
        ({"version": "1", "updated_at": "2024-02-01"}, {"version": "2", "updated_at": "2024-01-31"}, "1"),
        ({"version": "1.9"}, {"version": "1.10"}, "1.10"),
        (
            {"version": "v9", "updated_at": "2024-01-01"},
            {"version": "v10", "updated_at": "2024-01-01"},
            "v10",
        ),
        ({"version": "1"}, {"version": "2", "valid_to": "2020-01-01"}, "1"),
        ({"version": "1"}, {"version": "2", "valid_from": "2999-01-01"}, "1"),
        ({"version": "1"}, {"version": "2", "acl": ["hr"]}, "1"),
        ({"version": "1", "tenant": "t1"}, {"version": "2", "tenant": "t2"}, "1"),
    ],
)
def test_one_version_is_seen(index_of: Any, doc: Any, ids: Any, one: Any, other: Any, seen: str) -> None:
    for documents in ((one, other), (other, one)):
        index = index_of(*(doc("kb", f"退款说明第{d['version']}版。", **d) for d in documents))
        retriever = index.as_retriever(tenant="t1", principals=["sales"])
        assert ids(retriever.retrieve("退款说明")) == [f"kb@{seen}#1"]


def test_the_version_is_chosen_before_filters_unless_they_name_it(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of(
        doc("kb", "退款说明旧版。", version="1", dept="售后"),
        doc("kb", "退款说明新版。", version="2", dept="售前"),
    )
    retriever = index.as_retriever()
    assert ids(retriever.retrieve("退款说明", filters=where("dept", "售后"))) == []
    assert ids(retriever.retrieve("退款说明", filters=where("dept", "售前"))) == ["kb@2#1"]
    assert ids(retriever.retrieve("退款说明", filters=where("version", "1"))) == ["kb@1#1"]
    assert ids(retriever.retrieve("退款说明", filters=where("version", 1))) == ["kb@1#1"]
    assert set(ids(retriever.retrieve("退款说明", filters=where("version", ["1", "2"], Op.IN)))) == {
        "kb@1#1",
        "kb@2#1",
    }
    nested = join(Join.AND, MetadataFilter(key="dept", value="售后"), where("version", "0", Op.NE))
    assert ids(retriever.retrieve("退款说明", filters=nested)) == ["kb@1#1"]


def test_a_citation_names_the_version(index_of: Any, doc: Any) -> None:
    index = index_of(doc("kb", "# 退款\n\n退款五天到账。", version="2"))
    (citation,) = index.as_query_engine().query("退款几天到账").citations
    assert (citation.doc_id, citation.version, citation.node_id, citation.label) == (
        "kb",
        "2",
        "kb@2#1",
        "[kb@2#1]",
    )


def test_a_bad_date_is_an_error_or_reported(index_of: Any, doc: Any) -> None:
    index = index_of(doc("a", "退款说明。"))
    with pytest.raises(FilterError, match="someday"):
        index.as_retriever().retrieve("退款", as_of="someday")
    with pytest.raises(FilterError, match="2024-13-01"):
        index.as_query_engine().query("退款", as_of="2024-13-01")
    report = index.upsert([doc("b", "退款说明。", valid_from="someday"), doc("c", "退款说明。")])
    assert (report.added, list(report.failed)) == (["c"], ["b"])
    assert "someday" in report.failed["b"]


# filters


ROWS: dict[str, dict[str, Any]] = {
    "a": {"year": 2023, "dept": "售后", "tags": ["x", "y"], "code": "007", "price": 9.5, "day": "2024-01-05"},
    "b": {"year": "2023", "dept": "售前", "tags": ["y"], "code": "7", "price": "10", "day": "2024-02-01"},
    "c": {"year": "2024", "dept": "", "tags": [], "code": 7, "price": "1.50"},
    "d": {"dept": "售后二部", "tags": "x", "flag": True},
}


@pytest.mark.parametrize(
    ("filters", "seen"),
    [
        (where("year", 2023), "ab"),
        (where("year", "2023"), "ab"),
        (where("year", 2023, Op.NE), "c"),
        (where("year", [2023, 2025], Op.IN), "ab"),
        (where("year", ["2023"], Op.NIN), "c"),
        (where("year", 2023, Op.GT), "c"),
        (where("year", "2023", Op.GTE), "abc"),
        (where("year", 2024, Op.LT), "ab"),
        (where("code", 7), "bc"),
        (where("code", "7"), "bc"),
        (where("code", "007"), "a"),
        (where("price", 9.6, Op.LT), "ac"),
        (where("price", 1.5), "c"),
        (where("day", "2024-02-01", Op.LT), "a"),
        (where("dept", None, Op.IS_EMPTY), "c"),
        (where("year", None, Op.IS_EMPTY), "d"),
        (where("tags", None, Op.IS_EMPTY), "c"),
        (where("tags", "x", Op.CONTAINS), "ad"),
        (where("tags", "y", Op.CONTAINS), "ab"),
        (where("dept", "售后", Op.CONTAINS), "a"),
        (where("dept", "售后", Op.TEXT_MATCH), "ad"),
        (where("tags", ["x", "z"], Op.ANY), "ad"),
        (where("tags", ["x", "y"], Op.ALL), "a"),
        (where("nothing", "x"), ""),
        (where("nothing", "x", Op.NE), ""),
        (where("nothing", ["x"], Op.NIN), ""),
        (where("doc_id", "b"), "b"),
        (where("title", "c"), "c"),
        (
            join(Join.AND, MetadataFilter(key="year", value=2023), MetadataFilter(key="dept", value="售前")),
            "b",
        ),
        (
            join(Join.OR, MetadataFilter(key="year", value=2024), MetadataFilter(key="dept", value="售前")),
            "bc",
        ),
        (join(Join.NOT, MetadataFilter(key="year", value=2023)), "cd"),
        (join(Join.NOT, MetadataFilter(key="year", value=2023, operator=Op.NE)), "abd"),
        (join(Join.NOT, MetadataFilter(key="nothing", value=1)), "abcd"),
        (
            join(
                Join.AND,
                join(Join.NOT, where("tags", "y", Op.CONTAINS)),
                where("dept", "售后", Op.TEXT_MATCH),
            ),
            "d",
        ),
        (join(Join.OR, join(Join.AND, where("year", 2023), where("code", 7)), where("flag", "true")), "bd"),
        (where("dept", "' OR 1=1 --"), ""),
        (where('dept") OR 1=1 --', "x"), ""),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "dense"])
def test_filters(index_of: Any, doc: Any, mode: str, filters: MetadataFilters, seen: str) -> None:
    index = index_of(*(doc(name, f"退款说明，见{name}。", **metadata) for name, metadata in ROWS.items()))
    rows = index.as_retriever(mode=mode, top_k=20).retrieve("退款说明", filters=filters)
    assert {row.node.metadata["doc_id"] for row in rows} == set(seen)


def test_filters_reach_headings_and_codes(shop: HybridIndex, ids: Any) -> None:
    retriever = shop.as_retriever(top_k=20)
    assert ids(retriever.retrieve("套餐", filters=where("header_path", "年付", Op.CONTAINS))) == ["price#1"]
    assert ids(retriever.retrieve("E1042 怎么办", filters=where("dept", "售后"))) == [] or all(
        i.startswith("return") for i in ids(retriever.retrieve("E1042 怎么办", filters=where("dept", "售后")))
    )


def test_an_unknown_operator_is_a_filter_error(shop: HybridIndex) -> None:
    strange = MetadataFilters.model_construct(
        filters=[MetadataFilter.model_construct(key="dept", value="x", operator="~=")], condition=Join.AND
    )
    with pytest.raises(FilterError, match="~="):
        shop.as_retriever(filters=strange)
    with pytest.raises(FilterError, match="~="):
        shop.as_retriever().retrieve("退货", filters=strange)
    with pytest.raises(ValueError, match="~="):
        shop.as_query_engine().query("退货", filters=strange)


# results


def test_results_are_copies(shop: HybridIndex, ids: Any) -> None:
    retriever = shop.as_retriever()
    first = retriever.retrieve("退货运费")
    before = copy.deepcopy([row.node.model_dump() for row in first])
    for row in first:
        row.node.metadata.clear()
        row.node.set_content("被改了")
        row.score = -1
    assert [row.node.model_dump() for row in retriever.retrieve("退货运费")] == before
    assert shop.document("return").text == RETURNS


@pytest.mark.parametrize(
    "options", [{}, {"mode": "lexical"}, {"mode": "dense"}, {"rerank": False}, {"merge": False}]
)
@pytest.mark.parametrize("question", ["退货运费由谁承担", "E1042 模板", "套餐 结算 E1042", "年付", "E1042"])
def test_scores_lie_in_0_1_and_never_rise(shop: HybridIndex, options: Any, question: str) -> None:
    scores = [row.score for row in shop.as_retriever(top_k=20, **options).retrieve(question)]
    assert scores
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert scores == sorted(scores, reverse=True)


def test_no_match_no_row(shop: HybridIndex) -> None:
    retriever = shop.as_retriever(mode="lexical", top_k=20)
    assert retriever.retrieve("量子力学") == []
    assert retriever.retrieve("zzzzqq") == []
    assert {row.node.metadata["doc_id"] for row in retriever.retrieve("买家")} == {"return"}


@pytest.mark.parametrize("question", ["", "  ", "\n\t　"])
async def test_an_empty_question_is_an_empty_list(shop: HybridIndex, question: str) -> None:
    retriever = shop.as_retriever()
    assert retriever.retrieve(question) == []
    assert await retriever.aretrieve(question) == []
    assert retriever.retrieve(QueryBundle(question)) == []
    assert retriever.explain(question).to_dict()["reranked"] == []


@pytest.mark.parametrize(
    "question", ["？！。", "的", "🎉", "a" * 20000, "退货" * 3000, "\x00", "[]()*%'\";--", "\u200b"]
)
async def test_odd_questions_are_answered_without_an_error(shop: HybridIndex, question: str) -> None:
    for mode in ("hybrid", "lexical", "dense"):
        shop.as_retriever(mode=mode).retrieve(question)
        await shop.as_retriever(mode=mode).aretrieve(question)
    assert shop.as_query_engine().query(question).response


@given(st.text(max_size=40))
def test_any_question_keeps_the_rules(helpcenter_like: HybridIndex, question: str) -> None:
    rows = helpcenter_like.as_retriever(mode="lexical").retrieve(question)
    scores = [row.score for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    str(helpcenter_like.as_retriever(mode="lexical").explain(question))


@pytest.fixture(scope="module")
def helpcenter_like() -> Any:
    from llama_index.core import Document, MockEmbedding

    documents = [Document(id_=str(i), text=text) for i, text in enumerate((PRICES, RETURNS, FAULT))]
    with HybridIndex.from_documents(documents, embed_model=MockEmbedding(embed_dim=4)) as index:
        yield index


def test_sync_and_async_give_the_same(shop: HybridIndex) -> None:
    retriever = shop.as_retriever()
    for question in ("退货运费", "E1042 怎么办", "年付和月付"):
        rows = [(r.node.node_id, r.score) for r in retriever.retrieve(question)]
        assert rows == [(r.node.node_id, r.score) for r in asyncio.run(retriever.aretrieve(question))]


# degrading


def test_a_failing_embedding_degrades_and_is_said(shop: HybridIndex, embedding: Any, ids: Any) -> None:
    embedding.fail_after(0)
    retriever = shop.as_retriever()
    assert ids(retriever.retrieve("退货运费"))[0] == "return#2"
    assert any("the embedding service is down" in w for w in retriever.warnings)
    assert any("down" in w for w in retriever.explain("退货运费").to_dict()["warnings"])
    answer = shop.as_query_engine().query("退货运费由谁承担")
    assert answer.citations
    assert any("down" in w for w in answer.warnings)
    embedding.heal()
    retriever.retrieve("退货运费")
    assert retriever.warnings == []


async def test_a_failing_embedding_degrades_in_async_too(shop: HybridIndex, embedding: Any, ids: Any) -> None:
    embedding.fail_after(0)
    retriever = shop.as_retriever()
    assert ids(await retriever.aretrieve("退货运费"))[0] == "return#2"
    assert any("down" in w for w in retriever.warnings)
    assert any("down" in w for w in (await shop.as_query_engine().aquery("退货运费由谁承担")).warnings)


@pytest.mark.parametrize("value", [0.0, float("nan")])
async def test_a_question_vector_without_direction_degrades(
    shop: HybridIndex, embedding: Any, ids: Any, monkeypatch: pytest.MonkeyPatch, value: float
) -> None:
    monkeypatch.setattr(type(embedding), "_vector", lambda self, text: [value] * self.size)
    retriever = shop.as_retriever()
    assert ids(retriever.retrieve("退货运费"))[0] == "return#2"
    assert retriever.warnings
    assert ids(await retriever.aretrieve("退货运费"))[0] == "return#2"
    assert retriever.warnings


class Reverser(BaseNodePostprocessor):
    fails: bool = False

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: Any = None) -> list[NodeWithScore]:
        if self.fails:
            raise RuntimeError("the reranker is down")
        return [NodeWithScore(node=n.node, score=i) for i, n in enumerate(reversed(nodes))][::-1][::-1]


async def test_a_reranker_is_used_and_degrades(index_of: Any, doc: Any, ids: Any) -> None:
    documents = [doc("a", "退款说明甲。"), doc("b", "退款说明乙。"), doc("c", "退款说明丙。")]
    plain = ids(index_of(*documents).as_retriever().retrieve("退款说明"))
    reversed_ = index_of(*documents, reranker=Reverser()).as_retriever()
    assert ids(reversed_.retrieve("退款说明")) == plain[::-1]
    assert ids(await reversed_.aretrieve("退款说明")) == plain[::-1]
    scores = [row.score for row in reversed_.retrieve("退款说明")]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= s <= 1 for s in scores)
    left_out = index_of(*documents, reranker=Reverser()).as_retriever(rerank=False)
    assert ids(left_out.retrieve("退款说明")) != plain[::-1]
    broken = index_of(*documents, reranker=Reverser(fails=True)).as_retriever()
    assert ids(broken.retrieve("退款说明")) == plain
    assert any("the reranker is down" in w for w in broken.warnings)
    assert ids(await broken.aretrieve("退款说明")) == plain
    assert any("the reranker is down" in w for w in broken.warnings)


def test_a_reranker_cannot_break_the_tiers(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of(
        doc("fault", FAULT), doc("a", "请下载最新模板。"), doc("b", "模板怎么办。"), reranker=Reverser()
    )
    rows = ids(index.as_retriever().retrieve("E1042 模板怎么办"))
    assert {i.partition("#")[0] for i in rows[:2]} == {"fault"}


def test_without_an_embedding_model_the_index_is_lexical_and_says_so(
    doc: Any, ids: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gyr_hybrid.index as rooms

    monkeypatch.setattr(rooms, "embedding_model", lambda settings: None)
    with HybridIndex.from_documents([doc("return", RETURNS)]) as index:
        retriever = index.as_retriever()
        assert ids(retriever.retrieve("退货运费"))[0] == "return#2"
        assert any("lexical" in w and "gyr_hybrid[local]" in w for w in retriever.warnings)
        assert any("lexical" in w for w in index.as_query_engine().query("退货运费由谁承担").warnings)


# explanations


def test_an_explanation_has_its_keys(shop: HybridIndex) -> None:
    explained = shop.as_retriever().explain("导入提示 E1042，E1043 是什么", top_k=2).to_dict()
    assert set(explained) >= {
        "query", "mode", "tokens", "codes", "legs", "fused", "merged", "reranked", "warnings", "timings_ms",
    }  # fmt: skip
    assert explained["query"] == "导入提示 E1042，E1043 是什么"
    assert explained["mode"] == "hybrid"
    assert explained["tokens"]
    assert all(isinstance(token, str) for token in explained["tokens"])
    assert [(c["text"], c["status"]) for c in explained["codes"]] == [
        ("E1042", "known"),
        ("E1043", "unknown"),
    ]
    assert all(set(c) == {"text", "canonical", "status", "suggestions"} for c in explained["codes"])
    assert explained["codes"][1]["suggestions"] == ["E1042"]
    assert set(explained["legs"]) == {"codes", "lexical", "dense"}
    for leg in explained["legs"].values():
        assert [row["rank"] for row in leg] == list(range(1, len(leg) + 1))
        assert all(set(row) >= {"node_id", "rank", "score"} for row in leg)
        assert [row["score"] for row in leg] == sorted((row["score"] for row in leg), reverse=True)
    assert len(explained["reranked"]) == 2
    assert explained["timings_ms"]
    assert all(isinstance(ms, float) for ms in explained["timings_ms"].values())
    assert json.loads(json.dumps(explained, ensure_ascii=False)) == explained


def test_an_explanation_ends_with_what_retrieve_returns(shop: HybridIndex) -> None:
    retriever = shop.as_retriever()
    rows = [(row.node.node_id, row.score) for row in retriever.retrieve("退货运费")]
    assert [(r["node_id"], r["score"]) for r in retriever.explain("退货运费").to_dict()["reranked"]] == rows


def test_an_explanation_prints_as_a_table(shop: HybridIndex) -> None:
    printed = str(shop.as_retriever().explain("E1042 怎么办"))
    assert "fault#2" in printed
    assert "known" in printed
    assert len(printed.splitlines()) > 4
    assert "退货" in str(shop.as_retriever().explain("退货"))
    str(shop.as_retriever().explain(""))


# the BM25 retriever alone


def test_jieba_bm25_finds_codes_and_words_and_returns_no_zero_rows(tmp_path: Any, ids: Any) -> None:
    from llama_index.core.schema import TextNode

    nodes = [
        TextNode(id_="n0", text="设备出现错误代码E1042时，请先断开电源。", metadata={"dept": "技术"}),
        TextNode(id_="n1", text="型号NS-X2-BLK-M的保修期为三年。", metadata={"dept": "售后"}),
        TextNode(id_="n2", text="NS-X2-WHT-L 是白色大号机型。", metadata={"dept": "售后"}),
    ]
    retriever = JiebaBM25Retriever(nodes)
    assert ids(retriever.retrieve("Ｅ１０４２")) == ["n0"]
    assert ids(retriever.retrieve("保修期")) == ["n1"]
    assert ids(retriever.retrieve("NS-X2-BLK-M"))[0] == "n1"
    assert retriever.retrieve("") == retriever.retrieve("zzqq") == []
    assert ids(retriever.retrieve(HybridQuery("保修期 E1042", filters=where("dept", "技术")))) == ["n0"]
    retriever.persist(str(tmp_path / "bm25"))
    again = JiebaBM25Retriever.from_persist_dir(str(tmp_path / "bm25"))
    assert ids(again.retrieve("错误代码1042")) == ids(retriever.retrieve("错误代码1042"))
    assert JiebaBM25Retriever([]).retrieve("保修期") == []
