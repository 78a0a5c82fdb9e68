"""Sections, children, ids, offsets."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import get_leaf_nodes, get_root_nodes
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import BaseNode, MetadataMode, NodeRelationship, TextNode

from gyr_hybrid import SectionNodeParser, load_documents

HAN_OR_KANA = r"[\u3400-\u4dbf\u4e00-\u9fff\u3040-\u30ff]"


def tokens(text: str) -> int:
    """The contract's token: one Han or kana character, one run of letters or digits, one other non-blank."""
    return len(re.findall(rf"{HAN_OR_KANA}|(?:(?!{HAN_OR_KANA})[^\W_])+|\S", text))


def parse(text: str, doc_id: str = "d", **metadata: Any) -> list[BaseNode]:
    return SectionNodeParser().get_nodes_from_documents([Document(id_=doc_id, text=text, metadata=metadata)])


def sections(nodes: Sequence[BaseNode]) -> list[BaseNode]:
    return [n for n in nodes if NodeRelationship.PARENT not in n.relationships]


def children(nodes: Sequence[BaseNode], section: BaseNode | None = None) -> list[BaseNode]:
    found = [n for n in nodes if NodeRelationship.PARENT in n.relationships]
    if section is None:
        return found
    return [n for n in found if n.relationships[NodeRelationship.PARENT].node_id == section.id_]  # type: ignore[union-attr]


def check_invariants(text: str, nodes: Sequence[BaseNode], doc_id: str) -> None:
    tops = sections(nodes)
    assert [n.id_ for n in tops] == [f"{doc_id}#{i}" for i in range(1, len(tops) + 1)]
    for one, other in pairwise(tops):
        assert one.end_char_idx <= other.start_char_idx  # type: ignore[attr-defined]
    for section in tops:
        body = section.get_content(MetadataMode.NONE)
        assert text[section.start_char_idx : section.end_char_idx] == body  # type: ignore[attr-defined]
        assert body == body.rstrip() != ""
        below = children(nodes, section)
        assert [n.id_ for n in below] == [f"{section.id_}.{i}" for i in range(1, len(below) + 1)]
        assert below
        at = section.start_char_idx  # type: ignore[attr-defined]
        for child in below:
            assert child.start_char_idx == at  # type: ignore[attr-defined]
            at = child.end_char_idx  # type: ignore[attr-defined]
            content = child.get_content(MetadataMode.NONE)
            assert text[child.start_char_idx : at] == content  # type: ignore[attr-defined]
            assert content.strip()
        assert at == section.end_char_idx  # type: ignore[attr-defined]
        assert "".join(c.get_content(MetadataMode.NONE) for c in below) == body
        assert [i.node_id for i in section.relationships[NodeRelationship.CHILD]] == [n.id_ for n in below]  # type: ignore[union-attr]
        assert NodeRelationship.PARENT not in section.relationships
        assert all(NodeRelationship.CHILD not in c.relationships for c in below)
    for level in (tops, children(nodes)):
        for before, node, after in zip([None, *level[:-1]], level, [*level[1:], None], strict=True):
            previous = node.relationships.get(NodeRelationship.PREVIOUS)
            following = node.relationships.get(NodeRelationship.NEXT)
            assert (previous.node_id if previous else None) == (before.id_ if before else None)  # type: ignore[union-attr]
            assert (following.node_id if following else None) == (after.id_ if after else None)  # type: ignore[union-attr]
    assert all(n.ref_doc_id == doc_id for n in nodes)
    assert all(type(n) is TextNode for n in nodes)
    assert get_root_nodes(list(nodes)) == tops
    assert get_leaf_nodes(list(nodes)) == children(nodes)


NESTED = """开头的话。

# 会员手册

总则一句话。

## 年付

年付一句话。

### 折扣

折扣一句话。

#### 空标题

## 月付

月付一句话。

# 附录

附录一句话。
"""


def test_a_section_is_a_heading_with_its_own_text_up_to_the_next_of_any_level() -> None:
    nodes = parse(NESTED)
    assert [(n.id_, n.get_content(), n.metadata["header_path"]) for n in sections(nodes)] == [
        ("d#1", "开头的话。", ["会员手册"]),
        ("d#2", "# 会员手册\n\n总则一句话。", ["会员手册"]),
        ("d#3", "## 年付\n\n年付一句话。", ["会员手册", "年付"]),
        ("d#4", "### 折扣\n\n折扣一句话。", ["会员手册", "年付", "折扣"]),
        ("d#5", "## 月付\n\n月付一句话。", ["会员手册", "月付"]),
        ("d#6", "# 附录\n\n附录一句话。", ["会员手册", "附录"]),
    ]
    assert [n.metadata["section_level"] for n in sections(nodes)][1:] == [1, 2, 3, 2, 1]
    check_invariants(NESTED, nodes, "d")


def test_a_heading_without_own_text_gives_its_name_to_those_below() -> None:
    nodes = parse("# 手册\n\n## 套餐\n\n### 年付\n\n文。\n\n## 空\n", title="手册")
    assert [(n.get_content(), n.metadata["header_path"]) for n in sections(nodes)] == [
        ("### 年付\n\n文。", ["手册", "套餐", "年付"])
    ]


def test_an_h1_that_differs_from_the_title_stands_in_the_path() -> None:
    nodes = parse("# 价格\n\n文。\n\n## 年付\n\n文。", title="会员手册")
    assert [n.metadata["header_path"] for n in sections(nodes)] == [
        ["会员手册", "价格"],
        ["会员手册", "价格", "年付"],
    ]


def test_markup_that_is_no_heading_makes_no_section() -> None:
    text = "# 标\n\n```\n# 代码里的井号\n## 也是\n```\n\n> 引用里的话\n\n    # 缩进代码\n\n尾。"
    assert [n.get_content() for n in sections(parse(text))] == [text]


def test_setext_and_closed_headings_are_headings() -> None:
    nodes = parse("手册\n====\n\n文一。\n\n年付\n----\n\n文二。\n\n## 月付 ##\n\n文三。")
    assert [n.metadata["header_path"] for n in sections(nodes)] == [
        ["手册"],
        ["手册", "年付"],
        ["手册", "月付"],
    ]


def test_headings_in_the_path_are_without_markup() -> None:
    nodes = parse("# 手册\n\n## **年付** `PLAN_Y` [说明](http://x.cn)\n\n文。")
    assert sections(nodes)[0].metadata["header_path"] == ["手册", "年付 PLAN_Y 说明"]


# limits


@pytest.mark.parametrize(("count", "expected"), [(797, 1), (798, 2)])
def test_the_section_limit_is_exactly_800_tokens(count: int, expected: int) -> None:
    body = ("一二三四五六七八九。" * 80)[:count]
    text = f"## 标\n\n{body}"
    assert tokens(text) == count + 3
    assert len(sections(parse(text))) == expected


@pytest.mark.parametrize(("count", "expected"), [(128, 1), (129, 2)])
@pytest.mark.parametrize("token", ["字", "カ", "word ", "2026 ", "✓"])
def test_the_child_limit_is_exactly_128_tokens(token: str, count: int, expected: int) -> None:
    text = (token * count).strip()
    assert tokens(text) == count
    assert len(children(parse(text))) == expected


def test_a_long_section_is_cut_at_paragraphs_into_sections_of_the_same_path() -> None:
    paragraphs = ["甲" * 99 + "。" for _ in range(20)]
    text = "# 手册\n\n## 长节\n\n" + "\n\n".join(paragraphs) + "\n\n## 后节\n\n文。"
    nodes = parse(text)
    check_invariants(text, nodes, "d")
    cut = [n for n in sections(nodes) if n.metadata["header_path"] == ["手册", "长节"]]
    assert len(cut) == 3
    assert [n.id_ for n in sections(nodes)] == ["d#1", "d#2", "d#3", "d#4"]
    assert cut[0].get_content().startswith("## 长节\n\n")
    for piece in cut:
        assert tokens(piece.get_content()) <= 800
        assert piece.get_content().endswith("。")
        assert (
            piece.get_content().removeprefix("## 长节\n\n").split("\n\n")
            == paragraphs[: piece.get_content().count("。")]
        )


def test_a_long_paragraph_is_cut_at_sentence_ends() -> None:
    sentence = "第一步请按下红色按钮并等待十秒钟直到灯亮。"
    text = "# 手册\n\n" + sentence * 100
    nodes = parse(text)
    check_invariants(text, nodes, "d")
    assert len(sections(nodes)) == 3
    assert all(n.get_content().endswith("。") for n in sections(nodes))


def test_children_hold_one_to_three_sentences() -> None:
    text = "# 手册\n\n" + "".join(f"这是第{i}句话。" for i in range(1, 12))
    for child in children(parse(text)):
        assert 1 <= child.get_content().count("。") <= 3


def test_a_sentence_longer_than_a_child_is_cut_within_the_limit_and_nothing_is_lost() -> None:
    text = "# 手册\n\n" + "很长的一句话，没有句号，" * 60
    nodes = parse(text)
    check_invariants(text, nodes, "d")
    assert all(tokens(n.get_content()) <= 128 for n in children(nodes))


@pytest.mark.parametrize(
    "atom",
    ["3.5", "1,299.00", "v3.5.1", "E1042", "https://x.cn/a.b?c=d!e", "/usr/local/bin.d/a.sh", "NS-X2-BLK-M"],
)
def test_no_child_ends_inside_a_figure_code_url_or_path(atom: str) -> None:
    for lead in range(110, 132):
        text = "字" * lead + f" {atom} " + "尾" * 60 + "。"
        assert any(atom in n.get_content() for n in children(parse(text))), lead


# articles


LAW = """# 管理办法

## 第一章 总则

第一条 为了规范管理，制定本办法。

第二条　本办法所称员工，是指：

（一）正式员工；

（二）试用员工。

第二条之一 本条为增补。

依照第三条 的规定不算标题。

## 第二章 附则

第十二条 本办法自公布之日起施行。
"""


@pytest.mark.parametrize("name", ["law.md", "law.txt"])
def test_a_paragraph_that_begins_with_an_article_is_a_heading_one_level_below(
    name: str, tmp_path: Any
) -> None:
    path = tmp_path / name
    path.write_text(LAW, encoding="utf-8")
    document = load_documents(path)[0]
    nodes = SectionNodeParser().get_nodes_from_documents([document])
    tops = sections(nodes)
    assert [n.get_content() for n in tops] == [
        "第一条 为了规范管理，制定本办法。",
        "第二条　本办法所称员工，是指：\n\n（一）正式员工；\n\n（二）试用员工。",
        "第二条之一 本条为增补。\n\n依照第三条 的规定不算标题。",
        "第十二条 本办法自公布之日起施行。",
    ]
    assert [n.metadata["section_level"] for n in tops] == [3, 3, 3, 3]
    paths = [n.metadata["header_path"] for n in tops]
    assert [p[:2] for p in paths] == [["管理办法", "第一章 总则"]] * 3 + [["管理办法", "第二章 附则"]]
    assert [p[2] for p in paths] == ["第一条", "第二条", "第二条之一", "第十二条"]
    check_invariants(document.text, nodes, name)


def test_an_article_without_any_heading_above_is_a_heading_too() -> None:
    nodes = parse("第一条 甲。\n\n第二条 乙。", title="办法")
    assert [n.metadata["header_path"] for n in sections(nodes)] == [["办法", "第一条"], ["办法", "第二条"]]


def test_an_article_glued_to_its_text_is_no_heading() -> None:
    assert len(sections(parse("第一条规定了甲。\n\n第二条规定了乙。"))) == 1


# ids


def test_ids_are_the_same_in_another_process() -> None:
    code = (
        "from llama_index.core import Document; from gyr_hybrid import SectionNodeParser\n"
        f"ns = SectionNodeParser().get_nodes_from_documents([Document(id_='d', text={NESTED!r})])\n"
        "print([(n.id_, n.start_char_idx, n.end_char_idx, n.hash) for n in ns])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": "7", "PATH": "", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = [(n.id_, n.start_char_idx, n.end_char_idx, n.hash) for n in parse(NESTED)]  # type: ignore[attr-defined]
    assert run.stdout.strip() == str(here)


def test_repeated_text_has_offsets_of_its_own() -> None:
    text = (
        "# 手册\n\n## 年付\n\n可以退款。可以退款。\n\n## 月付\n\n可以退款。可以退款。\n\n"
        + "可以退款。" * 300
    )
    check_invariants(text, parse(text), "d")


def test_offsets_count_code_points() -> None:
    text = "# 手册 🧾\n\n👩‍👩‍👧 可以𠀀退款。🎉🎉\n\n## 二\n\n好。"
    check_invariants(text, parse(text), "d")


# children


TABLE = """# 错误码

## 一览

下表列出全部错误码。

| 代码 | 含义 | 处理 |
|---|---|---|
| E1042 | 模板过期 | 下载新模板 |
| E1043 | 日期错误 | 改成年月日 |
| E1044 | 金额为空 | 补全金额 |

表后的话。
"""


def test_a_table_of_codes_has_one_row_per_child() -> None:
    nodes = parse(TABLE)
    check_invariants(TABLE, nodes, "d")
    below = children(nodes)
    rows = [n for n in below if "table_header" in n.metadata]
    assert [n.get_content().strip() for n in rows] == [
        "| E1042 | 模板过期 | 下载新模板 |",
        "| E1043 | 日期错误 | 改成年月日 |",
        "| E1044 | 金额为空 | 补全金额 |",
    ]
    assert {n.metadata["table_header"] for n in rows} == {"| 代码 | 含义 | 处理 |"}
    before = below[below.index(rows[0]) - 1]
    assert before.get_content().rstrip().endswith("| 代码 | 含义 | 处理 |\n|---|---|---|")
    assert rows[0].get_content(MetadataMode.EMBED).rstrip() == (
        "错误码 > 一览\n| 代码 | 含义 | 处理 |\n| E1042 | 模板过期 | 下载新模板 |"
    )


def test_another_table_has_row_groups_under_its_header() -> None:
    body = "".join(f"| 城市{chr(0x4E00 + i)} | 次日达 |\n" for i in range(20))
    text = f"# 配送\n\n| 城市 | 时效 |\n|---|---|\n{body}"
    nodes = parse(text)
    check_invariants(text, nodes, "d")
    rows = [n for n in children(nodes) if "table_header" in n.metadata]
    assert 1 < len(rows) < 20
    assert "".join(n.get_content() for n in rows).rstrip() == body.rstrip()
    assert all(line.startswith("| 城市") for n in rows for line in n.get_content().splitlines())


def test_code_blocks_stay_whole() -> None:
    code = "```python\n# 注释。不是标题！\nprint('a. b')\n\nx = 1\n```"
    text = f"# 示例\n\n先看代码。\n\n{code}\n\n再看说明。"
    assert any(code in n.get_content() for n in children(parse(text)))


def test_the_heading_line_begins_the_first_child() -> None:
    for section in sections(nodes := parse(NESTED))[1:]:
        assert children(nodes, section)[0].get_content().startswith(section.get_content().splitlines()[0])


def test_embed_text_is_the_path_line_then_the_text() -> None:
    nodes = parse(NESTED, acl=["hr"], category="x", source="a.md", updated_at="2026-01-01")
    for node in nodes:
        path = " > ".join(node.metadata["header_path"])
        assert node.get_content(MetadataMode.EMBED) == f"{path}\n{node.get_content(MetadataMode.NONE)}"
        assert node.get_content(MetadataMode.LLM) == node.get_content(MetadataMode.EMBED)
        assert node.get_content(MetadataMode.NONE) == node.text  # type: ignore[attr-defined]


# in LlamaIndex


async def test_async_parsing_gives_the_same_nodes() -> None:
    documents = [Document(id_="a", text=NESTED), Document(id_="b", text=TABLE)]
    parser = SectionNodeParser()
    assert await parser.aget_nodes_from_documents(documents) == parser.get_nodes_from_documents(documents)


def test_documents_are_not_linked_to_each_other_and_not_changed() -> None:
    documents = [Document(id_="a", text=NESTED), Document(id_="b", text=NESTED)]
    before = [d.model_dump() for d in documents]
    nodes = SectionNodeParser().get_nodes_from_documents(documents)
    assert [d.model_dump() for d in documents] == before
    check_invariants(NESTED, [n for n in nodes if n.ref_doc_id == "a"], "a")
    check_invariants(NESTED, [n for n in nodes if n.ref_doc_id == "b"], "b")


def test_an_ingestion_pipeline_takes_the_parser() -> None:
    nodes = IngestionPipeline(transformations=[SectionNodeParser()]).run(
        documents=[Document(id_="a", text=NESTED)]
    )
    assert [n.id_ for n in nodes] == [n.id_ for n in parse(NESTED, "a")]


def test_the_stock_auto_merging_retriever_merges_our_nodes(embedding: Any) -> None:
    text = (
        "# 手册\n\n## 退款\n\n"
        + "".join(f"第{i}种退款情形需要提供凭证。" for i in range(9))
        + "\n\n## 其他\n\n别的内容。"
    )
    nodes = SectionNodeParser(flat_metadata=True).get_nodes_from_documents([Document(id_="d", text=text)])
    context = StorageContext.from_defaults()
    context.docstore.add_documents(nodes)
    base = VectorStoreIndex(get_leaf_nodes(nodes), storage_context=context, embed_model=embedding)
    retriever = AutoMergingRetriever(base.as_retriever(similarity_top_k=4), context)
    found = [hit.node.id_ for hit in retriever.retrieve("退款情形需要提供什么凭证")]
    assert "d#1" in found
    assert not any(i.startswith("d#1.") for i in found)


# any document


BLOCKS = st.sampled_from(
    [
        "# 手册", "## 年付", "### 折扣", "## 空", "#没有空格", "标题\n===", "年付套餐按剩余月数退款。月付不退！", "E1042 怎么办？",
        "第三条 员工应当遵守。", "第四条　补充：", "- 一项。\n- 二项；\n  - 子项\n", "1. 第一\n2. 第二", "| a | b |\n|---|---|\n| 1 | 2 |\n| E1 | 4 |",
        "| 只有表头 |\n|---|", "```\n# 代码\n\n尾\n```", "```未关闭", "    缩进代码", "> 引用。\n> 又一行", "---", "<div>\n块\n</div>",
        "<!-- 注 -->", "长" * 130, "很长的句子，" * 150, "word " * 140, "a" * 3000, "　全角　空格　", "\u200b", "\f", "x  \ny", "[链接]: http://x.cn",
        "🎉👩‍👩‍👧𠀀", "\t制表", "……！！", "3.5kV 1,299.00 v3.5.1", "",
    ]
)  # fmt: skip


@given(
    st.lists(st.tuples(BLOCKS, st.sampled_from(["\n", "\n\n", "\n\n\n", " \n"])), max_size=14), st.booleans()
)
@hypothesis_settings(max_examples=150)
def test_every_document_keeps_the_rules(blocks: list[tuple[str, str]], plain: bool) -> None:
    text = "".join(block + gap for block, gap in blocks) + "尾。"
    document = Document(id_="d", text=text, metadata={"source": "a.txt" if plain else "a.md", "title": "题"})
    nodes = SectionNodeParser().get_nodes_from_documents([document])
    check_invariants(text, nodes, "d")
    for node in children(nodes):
        assert tokens(node.get_content()) <= 128
        header = node.metadata.get("table_header")
        lines = [" > ".join(node.metadata["header_path"]), *([header] if header else []), node.get_content()]
        assert node.get_content(MetadataMode.EMBED) == "\n".join(lines).strip()  # TextNode strips the ends
    for node in sections(nodes):
        assert tokens(node.get_content()) <= 800
