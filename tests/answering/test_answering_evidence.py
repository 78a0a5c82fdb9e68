"""The one number on which refusal is decided."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyr_hybrid import CitedResponse, HybridIndex
from gyr_hybrid.answering.evidence import (
    EVIDENCE_MIN,
    Signals,
    coverage,
    evidence,
    evidence_of_code,
    names_fault,
    runs,
)
from gyr_hybrid.evaluation.metrics import auroc
from gyr_hybrid.shipped import shipped

FLOOR = Path(__file__).parents[1] / "data" / "floor" / "queries.jsonl"


def test_coverage_is_that_of_the_best_single_section() -> None:
    weights = {"退款": 2.0, "到账": 1.0, "支付宝": 1.0}
    assert coverage(weights, [{"退款", "到账"}, {"支付宝"}], {}) == 0.75
    assert coverage(weights, [{"退款", "到账"}, {"支付宝"}], {"支付宝": {"到账"}}) == 1.0
    assert coverage({}, [{"退款"}], {}) == 0.0
    assert coverage(weights, [], {}) == 0.0


def test_single_characters_scattered_about_are_no_runs() -> None:
    words = ["颊", "鳞", "雀", "鲷"]
    assert runs("颊鳞雀鲷", words, ["颊鳞雀鲷分布于"], [()]) == 1.0
    assert runs("颊鳞雀鲷", words, ["鲷鱼的颊与鳞，雀"], [()]) == 0.0
    assert runs("怎么用 api", ["api"], ["open api"], [()]) == 1.0
    assert runs("支付", ["支付"], ["付款"], [{"支付"}]) == 0.5
    assert runs("怎么办", [], ["怎么办"], [()]) == 0.0


STRONG = Signals(0.9, 0.9, bm25=0.6, lead=0.5, agreement=1.0, cosine=0.7)
WEAK = Signals(0.2, 0.1, bm25=0.1, lead=0.05, agreement=0.1, cosine=0.2)


def test_strong_signals_answer_and_weak_ones_do_not() -> None:
    assert evidence(STRONG, 1000) > 0.95
    assert evidence(WEAK, 1000) < 0.1


UNIT = st.floats(0.0, 1.0)


@given(
    st.builds(Signals, UNIT, UNIT, UNIT | st.none(), UNIT | st.none(), UNIT | st.none(), UNIT | st.none()),
    st.integers(0, 10**7),
)
def test_evidence_is_a_number_from_0_to_1(signals: Signals, children: int) -> None:
    assert 0.0 <= evidence(signals, children) <= 1.0


@pytest.mark.parametrize(
    "name", ["coverage", "runs", "bm25", "lead", "agreement", "cosine", "heading", "figure", "named"]
)
def test_more_of_a_signal_is_never_less_evidence(name: str) -> None:
    values = [evidence(replace(WEAK, **{name: x}), 1000) for x in (0.2, 0.5, 0.9)]
    assert values == sorted(values)


def test_a_lead_counts_half_where_little_is_covered() -> None:
    assert evidence(replace(WEAK, lead=1.0), 1000) == evidence(replace(WEAK, lead=0.5), 1000)
    assert evidence(replace(STRONG, lead=1.0), 1000) > evidence(replace(STRONG, lead=0.5), 1000)


def test_the_same_cosine_says_less_in_a_larger_index() -> None:
    assert evidence(STRONG, 10) > evidence(STRONG, 10**6)


def test_a_word_that_the_documents_have_elsewhere_weighs_against_a_code_s_section() -> None:
    section = [{"ns-x2-blk-m", "尺码"}]
    assert evidence_of_code({}, (), section, {}, defined=False, fault=False) > EVIDENCE_MIN
    assert evidence_of_code({}, (), section, {}, defined=True, fault=False) > 0.8
    assert evidence_of_code({"尺码": 2.0}, (), section, {}, defined=False, fault=False) > EVIDENCE_MIN
    assert evidence_of_code({"发货": 2.0}, (), section, {}, defined=False, fault=False) < EVIDENCE_MIN
    assert evidence_of_code({"防水": 2.0}, ("防水",), section, {}, defined=False, fault=False) < EVIDENCE_MIN
    assert (
        evidence_of_code({"导不进去": 2.0}, ("导不进去",), [{"导入"}], {}, defined=True, fault=True)
        > EVIDENCE_MIN
    )


def test_the_figure_asked_for_decides_between_met_words_and_missing_ones() -> None:
    section = [{"ns-x2-blk-m", "尺码"}]
    rest = {"尺码": 2.0, "脚长": 2.0}

    def value(figure: float | None) -> float:
        return evidence_of_code(rest, (), section, {}, defined=True, fault=False, figure=figure)

    assert value(0.0) > EVIDENCE_MIN > value(None) > value(0.4)
    assert (
        evidence_of_code({"脚长": 2.0}, (), section, {}, defined=True, fault=False, figure=0.0) < EVIDENCE_MIN
    )


def test_faults_are_named_in_both_languages() -> None:
    assert names_fault("错误码 E1042")
    assert names_fault("error E4029 how to fix")
    assert not names_fault("尺码指南 terror")


@pytest.fixture(scope="module")
def asked(helpcenter: HybridIndex, novashop: HybridIndex) -> list[tuple[dict[str, Any], CitedResponse]]:
    engines = {
        "helpcenter": helpcenter.as_query_engine(),
        "novashop": novashop.as_query_engine(synonyms=str(shipped("novashop") / "synonyms.txt")),
    }
    rows = [json.loads(line) for line in FLOOR.read_text("utf-8").splitlines()]
    return [(row, engines[row["kb"]].query(row["text"])) for row in rows]  # type: ignore[misc]


def test_customers_questions_are_told_apart(asked: list[tuple[dict[str, Any], CitedResponse]]) -> None:
    yes = [r.evidence for row, r in asked if row["answerable"]]
    no = [r.evidence for row, r in asked if not row["answerable"]]
    assert auroc(yes, no) >= 0.88
    assert sum(r.refused for row, r in asked if row["answerable"]) <= 0.1 * len(yes)
    assert sum(r.refused for row, r in asked if not row["answerable"]) >= 0.75 * len(no)


def test_a_refusal_for_want_of_evidence_is_decided_on_the_number(
    asked: list[tuple[dict[str, Any], CitedResponse]],
) -> None:
    for _, response in asked:
        assert 0.0 <= response.evidence <= 1.0
        if response.refusal_reason == "no_evidence":
            assert response.evidence < EVIDENCE_MIN
        elif not response.refused:
            assert response.evidence >= EVIDENCE_MIN


def test_the_number_is_the_same_for_a_restricted_retriever(helpcenter: HybridIndex) -> None:
    question = "退款几天能到账"
    free = helpcenter.as_query_engine().query(question)
    restricted = helpcenter.as_query_engine(principals=["anyone"]).query(question)
    assert isinstance(free, CitedResponse)
    assert isinstance(restricted, CitedResponse)
    assert restricted.evidence == free.evidence


def test_a_known_code_that_filters_hide_is_no_evidence(helpcenter: HybridIndex) -> None:
    from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

    filters = MetadataFilters(filters=[MetadataFilter(key="category", value="发票")])
    response = helpcenter.as_query_engine(filters=filters).query("E1042 怎么办")
    assert isinstance(response, CitedResponse)
    assert response.refusal_reason == "no_evidence"
