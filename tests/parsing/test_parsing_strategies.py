"""One way to ask for each strategy, and what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Document
from llama_index.core.schema import MetadataMode, TextNode

from gyr_hybrid import ConfigurationError, HybridIndex, SectionNodeParser
from gyr_hybrid.analysis import count_tokens
from gyr_hybrid.testing import HashEmbedding

TEXT = """# 手册

## 退款

退款三天到账。请保留订单号。

超过七天不能退款，也不能换货；定制商品除外。

## 发票

发票在订单页下载。

| 类型 | 天数 |
|---|---|
| 电子 | 1 |
| 纸质 | 7 |
"""


class Subjects(HashEmbedding):
    """One direction for refunds, another for all else."""

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "退款" in text else [0.0, 1.0] for text in texts]


def cut(text: str = TEXT, **options: Any) -> list[list[TextNode]]:
    """Each section with its children behind it."""
    nodes = SectionNodeParser(**options).get_nodes_from_documents([Document(id_="a", text=text)])
    by_id = {node.id_: node for node in nodes}
    sections = [node for node in nodes if node.parent_node is None]
    return [[section, *(by_id[info.node_id] for info in section.child_nodes)] for section in sections]


def texts(**options: Any) -> list[str]:
    return [section.text for section, *_ in cut(**options)]


def test_structure_has_a_section_per_heading_that_is_its_own_child() -> None:
    assert [section.id_ for section, *_ in cut(strategy="structure")] == [s.id_ for s, *_ in cut()]
    for section, *children in cut(strategy="structure"):
        assert [child.text for child in children] == [section.text]


def test_fixed_pieces_are_as_long_as_they_may_be() -> None:
    found = texts(strategy="fixed", section_size=20)
    assert found[0] == "# 手册\n\n## 退款\n\n退款三天到账。请保留订单号"
    assert {count_tokens(text) for text in found[:-1]} == {20}


def test_recursive_cuts_at_paragraphs_then_sentences_then_clauses() -> None:
    found = texts(strategy="recursive", section_size=14)
    assert found[:3] == ["# 手册\n\n## 退款", "退款三天到账。请保留订单号。", "超过七天不能退款，"]
    assert found[3] == "也不能换货；定制商品除外。"


def test_recursive_keeps_together_what_fits() -> None:
    assert texts(strategy="recursive") == [TEXT.strip()]


def test_semantic_cuts_where_something_new_begins() -> None:
    text = "退款三天到账。退款到账要三天。退款后三天到账。\n发票可以下载。发票下载在订单页。发票可下载。"
    first, second = texts(text=text, strategy="semantic", embed_model=Subjects())
    assert first == "退款三天到账。退款到账要三天。退款后三天到账。"
    assert second == "发票可以下载。发票下载在订单页。发票可下载。"


def test_parents_and_children_by_size() -> None:
    ((parent, *children),) = cut(strategy="parent_child", child_size=14)
    assert parent.text == TEXT.strip()
    assert len(children) > 5
    assert all(count_tokens(child.text) <= 14 for child in children)


def test_pieces_know_the_heading_above_and_the_header_of_their_table() -> None:
    pieces = [section for section, *_ in cut(strategy="recursive", section_size=14)]
    *_, row = pieces
    assert row.metadata["header_path"] == ["手册", "发票"]
    assert row.metadata["table_header"] == "| 类型 | 天数 |"
    assert row.get_content(MetadataMode.EMBED).startswith("手册 > 发票\n| 类型 | 天数 |\n")
    assert pieces[1].metadata["header_path"] == ["手册", "退款"]


@pytest.mark.parametrize("way", ["whole", "fixed", "recursive", "semantic"])
def test_children_can_be_cut_another_way_while_sections_stay(way: str) -> None:
    other = cut(children=way, child_size=12, embed_model=HashEmbedding())
    assert [section.id_ for section, *_ in other] == [section.id_ for section, *_ in cut()]
    assert [section.text for section, *_ in other] == [section.text for section, *_ in cut()]


def test_an_overlap_repeats_the_end_of_the_piece_before_but_not_above_a_heading() -> None:
    text = "甲" * 30 + "\n\n## 乙\n\n" + "丙" * 30
    found = texts(text=text, strategy="fixed", section_size=20, overlap=5)
    assert found == ["甲" * 15, "甲" * 20, "## 乙\n\n" + "丙" * 12, "丙" * 20, "丙" * 8]


def test_sizes_may_be_in_characters() -> None:
    assert texts(text="error 1042 timeout", strategy="fixed", section_size=2) == ["error 1042", "timeout"]
    found = texts(text="error 1042 timeout", strategy="fixed", section_size=10, measure="characters")
    assert found == ["error 1042", "timeout"]
    found = texts(text="error 1042 timeout", strategy="fixed", section_size=8, measure="characters")
    assert found == ["error", "1042", "timeout"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"strategy": "fixd"}, "fixd"),
        ({"children": "rows"}, "rows"),
        ({"section_size": 0}, "section_size=0"),
        ({"strategy": "semantic"}, "embed_model"),
        ({"overlap": 10}, "recursive"),
        ({"strategy": "fixed", "overlap": 200}, "half"),
        ({"strategy": "fixed", "children": "sentences"}, "recursive"),
    ],
)
def test_options_that_make_no_sense_are_named(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        SectionNodeParser(**options)


def test_an_unknown_option_is_named_with_the_nearest() -> None:
    with pytest.raises(TypeError, match=r"chid_size.*child_size"):
        SectionNodeParser(chid_size=3)


def test_an_index_cuts_again_what_was_cut_another_way(tmp_path: Path) -> None:
    document = Document(id_="a", text=TEXT)
    with HybridIndex.open(tmp_path, offline=True) as index:
        index.upsert([document])
    parser = SectionNodeParser(strategy="structure")
    with HybridIndex.open(tmp_path, offline=True, node_parser=parser) as index:
        assert index.upsert([document]).updated == ["a"]
        assert index.upsert([document]).unchanged == ["a"]


def test_an_index_takes_any_strategy() -> None:
    parser = SectionNodeParser(strategy="recursive", section_size=30)
    with HybridIndex.from_documents(
        [Document(id_="a", text=TEXT)], node_parser=parser, offline=True
    ) as index:
        answer = index.as_query_engine().query("发票在哪里下载")
    assert str(answer).startswith("**手册 > 发票**\n\n发票在订单页下载。")
