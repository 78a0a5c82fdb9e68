"""Lines to sections, nodes to units."""

from __future__ import annotations

import pytest
from llama_index.core.schema import Document

from gyr_hybrid.evaluation.judging import (
    SectionSpan,
    collapse,
    document_of,
    first_rank,
    line_span,
    section_of,
    touched,
    with_repeats,
)


@pytest.mark.parametrize(
    ("node", "section", "document"),
    [
        ("kb-002#1.3", "kb-002#1", "kb-002"),
        ("kb-002#1", "kb-002#1", "kb-002"),
        ("error-codes.md#12.3", "error-codes.md#12", "error-codes.md"),
        ("kb-002@1.2#4.1", "kb-002@1.2#4", "kb-002"),
        ("plain-document", "plain-document", "plain-document"),
    ],
)
def test_ids_tell_section_and_document(node: str, section: str, document: str) -> None:
    assert section_of(node) == section
    assert document_of(node) == document


def test_a_unit_stands_where_its_first_node_stood() -> None:
    nodes = ["a#2.1", "a#1.4", "a#2.3", "b#1.1"]
    assert collapse(nodes, "section") == ["a#2", "a#1", "b#1"]
    assert collapse(nodes, "document") == ["a", "b"]


def test_repeats_take_places_without_being_worth_anything() -> None:
    ranking = with_repeats(["a#2.1", "a#2.3", "a#2.4", "b#1.1"], "section")
    assert len(ranking) == len(set(ranking)) == 4
    assert first_rank(ranking, {"b#1": 1}) == 4
    assert first_rank(ranking, {"a#2": 1}) == 1
    assert first_rank(ranking, {"c#1": 1}) is None


def test_lines_of_the_file_become_characters_of_the_text() -> None:
    text = "\n# 标题\n\n第一段。\n第二段。\n"
    document = Document(text=text, metadata={"body_line": 5})  # lines 1-4 are the front matter
    start, end = line_span(document, 8, 8)
    assert text[start:end] == "第一段。"
    start, end = line_span(document, 7, 9)
    assert text[start:end] == "第一段。\n第二段。"


def test_lines_without_front_matter_and_past_the_end() -> None:
    document = Document(text="一\n二\n三")
    assert line_span(document, 1, 1) == (0, 1)
    start, end = line_span(document, 2, 99)
    assert document.text[start:end] == "二\n三"
    start, end = line_span(document, 50, 60)
    assert start == end


def test_a_section_is_touched_when_it_shares_a_character() -> None:
    sections = [SectionSpan("d#1", 0, 10), SectionSpan("d#2", 12, 20), SectionSpan("d#3", 20, 30)]
    assert touched(sections, 5, 13) == ["d#1", "d#2"]
    assert touched(sections, 10, 12) == []
    assert touched(sections, 19, 20) == ["d#2"]
    assert touched(sections, 20, 20) == []
