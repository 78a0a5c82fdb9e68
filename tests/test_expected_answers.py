"""The questions that the two shipped knowledge bases must answer, or refuse, offline."""

from __future__ import annotations

import pytest

from gyr_hybrid import CitedResponse, HybridIndex
from gyr_hybrid.shipped import shipped

HELPCENTER_TOP = [
    ("年付套餐买错了能退款吗", {"kb-002#1"}),
    ("导入流水提示 E1042 怎么办", {"kb-010#2", "kb-010#1"}),
    ("发票开错了还能改吗", {"kb-007#1"}),
    ("专业版最多几个人", {"kb-015#2", "kb-001#1"}),
]
HELPCENTER_WITHIN_4 = [
    ("E1043 怎么解决", "kb-011#2"),
    ("年付用了两个月取消能退多少", "kb-002#1"),
    ("退款几天能到账", "kb-002#4"),
]


def _context(answer: CitedResponse) -> list[str]:
    return [hit.node.node_id for hit in answer.context_nodes]


@pytest.mark.parametrize(("question", "sections"), HELPCENTER_TOP)
def test_the_right_section_is_first_in_the_context(
    helpcenter: HybridIndex, question: str, sections: set[str]
) -> None:
    answer = helpcenter.as_query_engine().query(question)
    assert _context(answer)[0] in sections
    assert not answer.refused
    assert answer.citations


@pytest.mark.parametrize(("question", "section"), HELPCENTER_WITHIN_4)
def test_the_right_section_is_among_the_first_four(
    helpcenter: HybridIndex, question: str, section: str
) -> None:
    answer = helpcenter.as_query_engine().query(question)
    assert section in _context(answer)[:4]
    assert not answer.refused
    assert answer.citations


def test_a_section_is_found_by_its_heading_path_alone(helpcenter: HybridIndex) -> None:
    hits = helpcenter.as_retriever(top_k=4).retrieve("E1043 怎么解决")
    found = {hit.node.node_id: hit.node.get_content() for hit in hits}
    assert "E1043" not in found["kb-011#2"]


def test_a_payment_that_no_article_names_is_refused(helpcenter: HybridIndex) -> None:
    answer = helpcenter.as_query_engine().query("你们支持微信支付吗")
    assert answer.refused
    assert answer.citations == []


NOVASHOP = [("这双鞋七天内能退吗", "returns-cn#1"), ("下单后多久能发货", "shipping-policy#1")]


@pytest.mark.parametrize(("question", "section"), NOVASHOP)
def test_the_shop_answers_from_the_right_clause(novashop: HybridIndex, question: str, section: str) -> None:
    answer = novashop.as_query_engine().query(question)
    assert _context(answer)[0] == section
    assert not answer.refused


def test_the_sibling_clause_never_answers_for_damaged_goods(novashop: HybridIndex) -> None:
    answer = novashop.as_query_engine().query("鞋收到是坏的，退货运费谁出")
    assert "returns-cn#3" in _context(answer)[:4]
    assert "买家" not in str(answer)


def test_with_the_shops_synonyms_the_right_clause_is_first(novashop: HybridIndex) -> None:
    engine = novashop.as_query_engine(synonyms=shipped("novashop") / "synonyms.txt")
    answer = engine.query("鞋收到是坏的，退货运费谁出")
    assert _context(answer)[0] == "returns-cn#3"
    assert "NovaShop 承担" in str(answer)
    assert "买家" not in str(answer)


def test_a_known_sku_without_a_record_of_its_shipment_is_refused(novashop: HybridIndex) -> None:
    answer = novashop.as_query_engine().query("NS-X2-BLK-M 什么时候发货")
    assert _context(answer)[0] == "size-guide#1"
    assert (answer.refused, answer.refusal_reason) == (True, "no_evidence")
    assert answer.citations == []


@pytest.mark.parametrize(
    ("question", "reason"),
    [("NS-X2-RED-M 有货吗", "unknown_identifier"), ("NovaShop 是否提供月球基地配送", "no_evidence")],
)
def test_the_shop_refuses_what_it_does_not_know(novashop: HybridIndex, question: str, reason: str) -> None:
    answer = novashop.as_query_engine().query(question)
    assert (answer.refused, answer.refusal_reason) == (True, reason)
    assert answer.citations == []
    assert answer.source_nodes == []


SPELLINGS = [
    "E1042",
    "e1042",
    "Ｅ１０４２",
    "E-1042",
    "错误码1042",
    "提示E1042怎么办",
    "E 1042",
    "e_1042",
    "E–1042",
    "报错E1042，怎么办",
]


@pytest.mark.parametrize("question", SPELLINGS)
def test_every_spelling_brings_the_code_and_never_its_neighbour_before_it(
    helpcenter: HybridIndex, question: str
) -> None:
    ids = [hit.node.node_id for hit in helpcenter.as_retriever().retrieve(question)]
    assert [i.split("#")[0] for i in ids[:2]] == ["kb-010", "kb-010"]
    answer = helpcenter.as_query_engine().query(question)
    assert not answer.refused
    assert {c.doc_id for c in answer.citations} == {"kb-010"}
    assert not any(hit.node.node_id.startswith("kb-011") for hit in answer.context_nodes)


def test_an_unknown_code_is_said_to_be_unknown_with_near_ones_that_exist(helpcenter: HybridIndex) -> None:
    answer = helpcenter.as_query_engine().query("E9999 怎么办")
    assert (answer.refused, answer.refusal_reason) == (True, "unknown_identifier")
    assert answer.citations == []
    (unknown,) = answer.unknown_identifiers
    assert unknown.text == "E9999"
    assert "E9999" in str(answer)
    assert set(unknown.suggestions) <= {"E1042", "E1043", "E2017", "E3001", "E4029"}
    near = helpcenter.as_query_engine().query("E1044 怎么办").unknown_identifiers[0].suggestions
    assert {"E1042", "E1043"} <= set(near)


def test_every_quote_stands_in_its_document(helpcenter: HybridIndex) -> None:
    engine = helpcenter.as_query_engine()
    for question, _ in [*HELPCENTER_TOP, *HELPCENTER_WITHIN_4]:
        for citation in engine.query(question).citations:
            text = helpcenter.document(citation.doc_id).text
            assert text[citation.start_char : citation.end_char] == citation.quote
            assert citation.quote
            assert citation.label == f"[{citation.node_id}]"
