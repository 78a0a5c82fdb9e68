"""The text of an answer and of a refusal, and the values that come with it."""

from __future__ import annotations

import dataclasses
import json

import pytest
from llama_index.core.base.response.schema import Response
from llama_index.core.schema import NodeWithScore, TextNode

from gyr_hybrid.answering.enforcement.citing import cite
from gyr_hybrid.answering.enforcement.composition import Composer, labelled
from gyr_hybrid.answering.enforcement.units import Unit
from gyr_hybrid.answering.refusal import refusal_message
from gyr_hybrid.answering.response import CitedResponse, UnknownIdentifier
from gyr_hybrid.verification import Quote

NODE = TextNode(
    id_="kb-002@2#4",
    text="## 到账\n\n原路退回。",
    start_char_idx=100,
    end_char_idx=112,
    metadata={
        "doc_id": "kb-002",
        "version": "2",
        "title": "退款政策",
        "header_path": ["退款政策", "到账"],
        "url": "https://x",
    },
)


def test_a_citation_says_where_in_the_document_its_quote_stands() -> None:
    citation = cite(
        NODE, Quote(NODE.node_id, 7, 12, "原路退回。", 0.9), "[a]", "原路退回。", "supported", "near", 0.9
    )
    assert (citation.start_char, citation.end_char, citation.quote) == (107, 112, "原路退回。")
    assert (citation.doc_id, citation.version, citation.title) == ("kb-002", "2", "退款政策")
    assert citation.header_path == ["退款政策", "到账"]
    assert (citation.url, citation.source, citation.anchored) == ("https://x", None, True)


@pytest.mark.parametrize(("start", "end"), [(None, None), (0, 5)])
def test_without_offsets_that_fit_a_citation_counts_in_the_node(start: int | None, end: int | None) -> None:
    node = TextNode(id_="5f0c", text="原路退回。不收费。", start_char_idx=start, end_char_idx=end)
    citation = cite(
        node, Quote("5f0c", 5, 9, "不收费。", 1.0), "[5f0c]", "不收费。", "supported", "near", 1.0
    )
    assert (citation.start_char, citation.end_char, citation.anchored) == (5, 9, False)
    assert node.text[citation.start_char : citation.end_char] == citation.quote
    assert citation.doc_id == "5f0c"


def test_the_response_is_a_llama_index_response_and_goes_into_json() -> None:
    citation = cite(
        NODE, Quote(NODE.node_id, 7, 12, "原路退回。", 0.9), "[a]", "原路退回。", "supported", "near", 0.9
    )
    response = CitedResponse(
        "原路退回。[a]", source_nodes=[NodeWithScore(node=NODE, score=0.5)], citations=[citation]
    )
    assert isinstance(response, Response)
    assert str(response) == "原路退回。[a]"
    assert json.loads(json.dumps(response.to_dict()))["citations"][0]["quote"] == "原路退回。"
    assert set(response.to_dict()) == {f.name for f in dataclasses.fields(response)} - {"metadata"}


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        ("sentence", "原路退回。", "原路退回。[a]"),
        ("item", "原路退回", "原路退回[a]"),
        ("row", "| 支付宝 | 3 天 |", "| 支付宝 | 3 天 [a] |"),
        ("code", "```\nls\n```", "```\nls\n```\n[a]"),
    ],
)
def test_a_label_has_its_place(kind: str, text: str, shown: str) -> None:
    assert labelled(kind, text, "[a]") == shown


def compose(*steps: tuple[str, Unit]) -> str:
    composer = Composer()
    pieces = []
    for action, unit in steps:
        composer.enter(unit)
        if action == "lead":
            composer.lead(unit, unit.raw)
        elif action == "show":
            pieces.append(composer.show(unit, unit.raw, "[a]"))
    return "".join(pieces)


def item(text: str, marker: str = "- ", level: int = 0, before: str = "\n") -> Unit:
    return Unit("item", text, before, marker, level)


LEAD = Unit("sentence", "步骤：")


def test_a_lead_in_stays_iff_something_of_what_follows_stays() -> None:
    after = Unit("sentence", "完。", "\n\n")
    first, second = item("一", before="\n\n"), item("二")
    assert compose(("lead", LEAD), ("drop", first), ("show", second), ("show", after)) == (
        "步骤：\n\n- 二[a]\n\n完。[a]"
    )
    assert compose(("lead", LEAD), ("drop", first), ("drop", second), ("show", after)) == "完。[a]"


def test_nested_lead_ins_follow_the_same_rule() -> None:
    outer, inner, other = item("甲："), item("乙", "  - ", 2), item("丙：")
    assert compose(("lead", LEAD), ("lead", outer), ("drop", inner), ("lead", other), ("show", inner)) == (
        "步骤：\n- 丙：\n  - 乙[a]"
    )


def test_numbered_lists_are_numbered_anew_when_an_item_is_dropped() -> None:
    steps = [item("一", "1. "), item("二", "2. "), item("三", "3. ")]
    assert compose(("show", steps[0]), ("drop", steps[1]), ("show", steps[2])) == "1. 一[a]\n2. 三[a]"


def test_a_table_s_head_comes_with_its_first_row_or_not_at_all() -> None:
    head = Unit("header", "| a |\n|---|")
    rows = [Unit("row", "| 1 |", "\n"), Unit("row", "| 2 |", "\n")]
    end = Unit("sentence", "完。", "\n\n")
    assert compose(("lead", head), ("drop", rows[0]), ("show", rows[1])) == "| a |\n|---|\n| 2 [a] |"
    assert compose(("lead", head), ("drop", rows[0]), ("show", end)) == "完。[a]"


def test_what_was_left_out_leaves_its_separation_behind() -> None:
    dropped = Unit("sentence", "乙。", "\n\n")
    assert compose(
        ("show", Unit("sentence", "甲。")), ("drop", dropped), ("show", Unit("sentence", "丙。"))
    ) == ("甲。[a]\n\n丙。[a]")


def test_refusals_name_the_codes_and_what_is_near() -> None:
    unknown = [UnknownIdentifier("E9999", ("E1042", "E1043"))]
    assert refusal_message("unknown_identifier", "zh", unknown) == (
        "资料中没有 E9999，请核对后再问。相近的有：E1042、E1043。"
    )
    assert refusal_message("unknown_identifier", "en", [UnknownIdentifier("E9999")]) == (
        "The documents do not contain E9999; please check it and ask again."
    )
    assert refusal_message("no_evidence", "zh", unknown, "查无 {codes} {其他}（{suggestions}）") == (
        "查无 E9999 {其他}（E1042、E1043）"
    )
