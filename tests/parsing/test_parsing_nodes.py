"""Documents to LlamaIndex nodes: ids, offsets, metadata, relations."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from itertools import pairwise

import pytest
from llama_index.core import Document
from llama_index.core.node_parser import get_leaf_nodes, get_root_nodes
from llama_index.core.schema import MetadataMode, NodeRelationship, ObjectType, TextNode

from gyr_hybrid import Analyzer, SectionNodeParser
from gyr_hybrid.errors import DocumentError

EMBED, LLM, NONE = MetadataMode.EMBED, MetadataMode.LLM, MetadataMode.NONE
ARTICLE = """# 退款政策

## 时限

签收后 7 天内可退。超过 7 天不退。定制商品不退。请保留凭证。

## 费用

| 原因 | 运费 |
| --- | --- |
| 质量问题 | 商家承担 |
| 个人原因 | 买家承担 |
"""


def parse(text: str, **document: object) -> list[TextNode]:
    parser = SectionNodeParser()
    return parser.get_nodes_from_documents([Document(text=text, **{"id_": "kb-1", **document})])


def test_ids_are_document_section_child() -> None:
    assert [node.id_ for node in parse(ARTICLE)] == [
        "kb-1#1", "kb-1#1.1", "kb-1#1.2", "kb-1#2", "kb-1#2.1", "kb-1#2.2",
    ]  # fmt: skip


def test_a_version_stands_in_the_ids_but_not_in_the_document_id() -> None:
    nodes = parse("正文。", metadata={"version": 2})
    assert [node.id_ for node in nodes] == ["kb-1@2#1", "kb-1@2#1.1"]
    assert {node.ref_doc_id for node in nodes} == {"kb-1"}
    assert {node.metadata["version"] for node in nodes} == {"2"}


def test_two_versions_of_one_document_are_parsed_together() -> None:
    docs = [Document(id_="kb-1", text=f"第 {v} 版。", metadata={"version": v}) for v in ("1", "2")]
    nodes = SectionNodeParser().get_nodes_from_documents(docs)
    assert [(n.id_, n.text) for n in get_root_nodes(nodes)] == [
        ("kb-1@1#1", "第 1 版。"),
        ("kb-1@2#1", "第 2 版。"),
    ]


def test_offsets_point_into_the_document_also_for_repeated_text() -> None:
    """run-llama/llama_index#20050: identical sentences got the offset of the first."""
    text = "## 甲\n\n请联系客服。" + "请联系客服。" * 9 + "\n\n## 甲\n\n请联系客服。"
    nodes = parse(text)
    assert [text[n.start_char_idx : n.end_char_idx] for n in nodes] == [n.text for n in nodes]
    starts = [n.start_char_idx for n in get_leaf_nodes(nodes)]
    assert starts == sorted(set(starts))


def test_two_levels_and_their_relations() -> None:
    nodes = parse(ARTICLE)
    sections, children = get_root_nodes(nodes), get_leaf_nodes(nodes)
    assert [n.id_ for n in sections] == ["kb-1#1", "kb-1#2"]
    assert [n.id_ for n in children] == ["kb-1#1.1", "kb-1#1.2", "kb-1#2.1", "kb-1#2.2"]
    for section in sections:
        below = [n for n in children if n.parent_node.node_id == section.id_]
        assert [info.node_id for info in section.child_nodes] == [n.id_ for n in below]
        assert "".join(n.text for n in below) == section.text
        assert NodeRelationship.PARENT not in section.relationships
    for child in children:
        assert NodeRelationship.CHILD not in child.relationships
    for level in (sections, children):
        for one, other in pairwise(level):
            assert one.next_node.node_id == other.id_
            assert other.prev_node.node_id == one.id_
        assert (level[0].prev_node, level[-1].next_node) == (None, None)
    assert {(n.source_node.node_id, n.source_node.node_type) for n in nodes} == {
        ("kb-1", ObjectType.DOCUMENT)
    }


def test_metadata_of_every_node() -> None:
    about = {
        "title": "退款",
        "category": "售后",
        "acl": ["a", "b"],
        "tenant": "010",
        "body_line": 4,
        "own": "x",
    }
    for node in parse(ARTICLE, metadata=about):
        assert about.items() <= node.metadata.items()
        assert node.metadata["doc_id"] == "kb-1"
        assert node.metadata["section_level"] == 2
        assert node.metadata["header_path"] in (["退款", "退款政策", "时限"], ["退款", "退款政策", "费用"])
        assert {"version", "url", "valid_from"}.isdisjoint(node.metadata)
        assert None not in node.metadata.values()


def test_what_a_document_lacks_is_left_out() -> None:
    (section, _) = parse("正文。", metadata={"url": None, "version": ""})
    assert set(section.metadata) == {"doc_id", "title", "header_path", "section_level"}


@pytest.mark.parametrize(
    ("acl", "stored"), [("sales", ["sales"]), ("", []), (" ", []), ([], []), (["a"], ["a"])]
)
def test_an_acl_is_always_a_list(acl: object, stored: list[str]) -> None:
    assert {tuple(n.metadata["acl"]) for n in parse("正文。", metadata={"acl": acl})} == {tuple(stored)}


def test_metadata_of_the_same_names_does_not_get_into_the_embedded_text() -> None:
    about = {"breadcrumb": "x", "table_header": "x", "header_path": "x", "doc_id": "x", "section_level": "x"}
    node = parse("## 甲\n\n正文。", metadata=about)[0]
    assert node.get_content(EMBED) == "甲\n## 甲\n\n正文。"
    assert (node.metadata["doc_id"], node.metadata["section_level"]) == ("kb-1", 2)
    assert "table_header" not in node.metadata


def test_dates_become_iso_text() -> None:
    node = parse("正文。", metadata={"valid_from": date(2026, 1, 2)})[0]
    assert node.metadata["valid_from"] == "2026-01-02"


def test_flat_metadata_has_no_lists() -> None:
    doc = Document(id_="kb-1", text=ARTICLE, metadata={"acl": ["a", "b"], "more": {"x": 1}})
    for node in SectionNodeParser(flat_metadata=True).get_nodes_from_documents([doc]):
        assert all(isinstance(value, str | int | float) for value in node.metadata.values())
    assert node.metadata["header_path"] == "退款政策 > 费用"
    assert node.metadata["acl"] == "a, b"


def test_nodes_are_independent_copies() -> None:
    one, other, *_ = parse(ARTICLE, metadata={"acl": ["a"]})
    one.metadata["acl"].append("b")
    one.metadata["header_path"].append("x")
    one.excluded_embed_metadata_keys.append("x")
    assert other.metadata["acl"] == ["a"]
    assert other.metadata["header_path"] == ["退款政策", "时限"]
    assert "x" not in other.excluded_embed_metadata_keys


# What is indexed


def test_the_embedded_text_is_breadcrumb_header_row_and_text() -> None:
    nodes = {node.id_: node for node in parse(ARTICLE, metadata={"category": "售后", "acl": ["a"]})}
    first, rows = nodes["kb-1#1.2"], nodes["kb-1#2.2"]
    assert first.get_content(EMBED) == "退款政策 > 时限\n定制商品不退。请保留凭证。"
    assert rows.get_content(EMBED) == (
        "退款政策 > 费用\n| 原因 | 运费 |\n| 质量问题 | 商家承担 |\n| 个人原因 | 买家承担 |"
    )
    assert rows.metadata["table_header"] == "| 原因 | 运费 |"
    assert rows.get_content(LLM) == rows.get_content(EMBED)
    assert rows.get_content(NONE) == "| 质量问题 | 商家承担 |\n| 个人原因 | 买家承担 |"
    assert rows.get_content() == rows.text


def test_braces_in_a_text_are_no_template() -> None:
    text = "## {title}\n\n配置 {content} 与 {0} %s。"
    assert (
        parse(text, metadata={"title": "{value}"})[0].get_content(EMBED) == f"{{value}} > {{title}}\n{text}"
    )


@pytest.mark.parametrize(
    ("metadata", "path", "embedded"),
    [
        ({"title": "手册"}, ["手册", "甲"], "手册 > 甲\n"),
        ({}, ["kb-1", "甲"], "甲\n"),
        ({"file_name": "退款.md"}, ["退款", "甲"], "退款 > 甲\n"),
    ],
)
def test_a_document_id_that_stands_for_the_title_is_not_embedded(
    metadata: dict[str, str], path: list[str], embedded: str
) -> None:
    node = parse("## 甲\n\n正文。", metadata=metadata)[0]
    assert node.metadata["header_path"] == path
    assert node.metadata["title"] == path[0]
    assert node.get_content(EMBED) == f"{embedded}## 甲\n\n正文。"


def test_without_title_and_heading_the_text_alone_is_embedded() -> None:
    assert parse("正文。")[0].get_content(EMBED) == "正文。"


def test_metadata_never_eats_the_size_budget() -> None:
    """run-llama/llama_index#12200: long metadata raised, or made hundreds of tiny chunks."""
    text = "## 甲\n\n" + "七天内可退。" * 30
    plain = [(n.id_, n.text) for n in parse(text)]
    long = parse(text, metadata={"title": "标题" * 500, "来源": "很长的来源。" * 500, "acl": ["组"] * 500})
    assert [(n.id_, n.text) for n in long] == plain


# Tables of codes

CODES = "| {} | 说明 |\n| --- | --- |\n" + "".join("| {} | 甲。 |\n" for _ in range(4))


@pytest.mark.parametrize(
    "cells",
    [
        ("错误码", "E1042", "E1043", "E1044", "E2017"),
        ("错误码", "8001", "8002", "8003", "9005"),
        ("型号", "NS-X2-BLK-M", "NS-X2-BLK-L", "NS-X2-WHT-M", "NS-X2-WHT-L"),
        ("变量", "`tidb_mem_quota`", "`tidb_txn_mode`", "`max_connections`", "`sql_mode`"),
        ("标准", "GB/T 19001-2016", "GB/T 19002-2016", "ISO 9001", "GB 4943.1"),
    ],
)
def test_each_row_of_a_table_of_codes_is_a_child(cells: tuple[str, ...]) -> None:
    rows = [n for n in parse(CODES.format(*cells)) if "table_header" in n.metadata]
    assert [n.text.rstrip() for n in rows] == [f"| {cell} | 甲。 |" for cell in cells[1:]]


def test_rows_of_other_tables_are_grouped() -> None:
    rows = [
        n
        for n in parse(CODES.format("套餐", "免费版", "专业版", "企业版", "定制"))
        if "table_header" in n.metadata
    ]
    assert [n.text.count("\n") + 1 for n in rows] == [4, 1]


def test_the_analyzer_given_decides_what_a_code_is() -> None:
    text = CODES.format("编号", "甲-一", "甲-二", "乙-一", "乙-二")
    assert len([n for n in parse(text) if "table_header" in n.metadata]) == 2
    parser = SectionNodeParser(analyzer=Analyzer(code_patterns=["[甲乙]-[一二]"]))
    nodes = parser.get_nodes_from_documents([Document(id_="kb-1", text=text)])
    assert len([n for n in nodes if "table_header" in n.metadata]) == 4


# Plain text


def test_plain_text_is_told_by_its_type_or_its_name() -> None:
    text = "说明\n---\n第一章 总则\n自发布起施行。"
    assert parse(text)[0].metadata["header_path"] == ["kb-1", "说明"]
    for metadata in ({"source": "a/b.txt"}, {"file_path": "/x/b.TXT"}):
        assert [n.metadata["header_path"][1:] for n in get_root_nodes(parse(text, metadata=metadata))] == [
            [],
            ["第一章 总则"],
        ]


# Errors


@pytest.mark.parametrize("doc_id", ["kb#1", "kb@2", " kb", "a,b", "100%"])
def test_a_bad_id_raises(doc_id: str) -> None:
    with pytest.raises(DocumentError, match="document id"):
        parse("正文。", id_=doc_id)


@pytest.mark.parametrize("text", ["", " \n\u3000"])
def test_a_document_without_text_raises(text: str) -> None:
    with pytest.raises(DocumentError, match="'kb-1' has no text"):
        parse(text)


def test_a_repeated_id_raises_equal_texts_do_not() -> None:
    parser = SectionNodeParser()
    with pytest.raises(DocumentError, match="'kb-1'"):
        parser.get_nodes_from_documents(
            [Document(id_="kb-1", text="甲。"), Document(id_="kb-1", text="乙。")]
        )
    nodes = parser.get_nodes_from_documents(
        [Document(id_="kb-1", text="甲。"), Document(id_="kb-2", text="甲。")]
    )
    assert [n.id_ for n in nodes] == ["kb-1#1", "kb-1#1.1", "kb-2#1", "kb-2#1.1"]


def test_headings_alone_give_no_nodes() -> None:
    assert parse("# 手册\n\n## 空") == []


# Determinism


def test_another_process_gives_the_same_nodes() -> None:
    """run-llama/llama_index gives new uuids in every run."""
    code = (
        "import json, sys\n"
        "from llama_index.core import Document\n"
        "from gyr_hybrid import SectionNodeParser\n"
        "doc = Document(id_='kb-1', text=sys.stdin.buffer.read().decode())\n"
        "nodes = SectionNodeParser().get_nodes_from_documents([doc])\n"
        "print(json.dumps([[n.id_, n.start_char_idx, n.hash] for n in nodes]))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        input=ARTICLE.encode(),
        capture_output=True,
        check=True,
        env={"PYTHONHASHSEED": "7", "PATH": ""},
    )
    assert json.loads(run.stdout) == [[n.id_, n.start_char_idx, n.hash] for n in parse(ARTICLE)]


def test_nodes_survive_serialisation() -> None:
    for node in parse(ARTICLE, metadata={"acl": ["a"]}):
        again = TextNode.from_json(node.to_json())
        assert again == node
        assert again.get_content(EMBED) == node.get_content(EMBED)
