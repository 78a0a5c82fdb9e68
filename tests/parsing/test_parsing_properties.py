"""What holds for every text: lossless, exact, bounded, the same each time."""

from __future__ import annotations

import asyncio
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from llama_index.core import Document
from llama_index.core.schema import MetadataMode, TextNode

from gyr_hybrid import SectionNodeParser
from gyr_hybrid.analysis import count_tokens
from gyr_hybrid.parsing.markdown_rules import block_parser
from gyr_hybrid.parsing.sizes import Sizes
from gyr_hybrid.parsing.structure import parse_structure

PROTECTED = [
    "E1042",
    "NS-X2-BLK-M",
    "3.5",
    "1,299.00",
    "v3.5.1",
    "https://a.cn/x?y=1,2",
    "/etc/app/x.conf",
    "第三十三条",
]

phrase = st.text(alphabet="退款发票七天内可以申请重试客服", min_size=1, max_size=40)
word = st.one_of(
    phrase, st.sampled_from(PROTECTED), st.sampled_from(["API", "the app", "【注】", "（见下）"])
)
mark = st.sampled_from(["。", "！", "？", "；", "，", "、", "：", "…", "。”", ". ", "\n", "  \n", " "])
prose = st.lists(st.tuples(word, mark), min_size=1, max_size=25).map(
    lambda parts: "".join(map("".join, parts))
)
long_prose = st.lists(prose, min_size=1, max_size=12).map("".join)


@st.composite
def tables(draw: st.DrawFn) -> str:
    cell = st.one_of(word, st.just(""), st.just("a\\|b"))
    width = draw(st.integers(1, 3))
    rows = draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=1, max_size=6))
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, "|" + " --- |" * width, *body])


heading = st.builds(
    lambda level, space, text: f"{'#' * level}{space}{text}",
    st.integers(1, 6),
    st.sampled_from([" ", "", "  "]),
    word,
)
fence = st.builds(
    lambda tick, lines: f"{tick}\n" + "\n".join(lines) + f"\n{tick}",
    st.sampled_from(["```", "~~~", "````"]),
    st.lists(st.sampled_from(["x = 1", "", "# 注释", "第一条 甲。", "print('a, b')", "}"]), max_size=60),
)
item = st.builds(
    lambda bullet, text: f"{bullet} {text}", st.sampled_from(["-", "*", "1.", "  -", ">", "   "]), prose
)
article = st.builds(lambda n, text: f"第{n}条 {text}", st.sampled_from("一二三十"), prose)
odd = st.sampled_from(
    [
        "---",
        "<!-- 注 -->",
        "<div>\n好。",
        "[a]: http://x",
        "甲\n===",
        "乙\n---",
        "    缩进",
        "\u3000",
        "\x0c",
        "\u200b",
    ]
)
block = st.one_of(prose, long_prose, tables(), heading, fence, item, article, odd)
markdown = st.lists(st.tuples(block, st.sampled_from(["\n\n", "\n", "\n\n\n"])), min_size=1, max_size=14).map(
    lambda parts: "".join(map("".join, parts))
)
noise = st.text(alphabet="# |-:`~>*_\n\n\r\t 1.[]()<>\\第一条甲，。a\u3000\u200b\0😀", max_size=120)
texts = st.one_of(markdown, noise).filter(str.strip)


def parse(text: str, *, source: str = "a.md") -> list[TextNode]:
    return SectionNodeParser().get_nodes_from_documents(
        [Document(id_="a", text=text, metadata={"source": source})]
    )


@given(texts, st.sampled_from(["a.md", "a.txt"]))
@settings(max_examples=100)
@example("\0 甲", "a.md").via("NUL")
def test_children_join_to_their_section_and_offsets_are_exact(text: str, source: str) -> None:
    end = 0
    joined: dict[str, str] = {}
    nodes = parse(text, source=source)
    for node in nodes:
        assert text[node.start_char_idx : node.end_char_idx] == node.text
        assert node.text.strip()
        if node.parent_node is None:
            assert node.start_char_idx >= end
            assert node.text == node.text.rstrip()
            end = node.end_char_idx
            joined[node.id_] = ""
        else:
            joined[node.parent_node.node_id] += node.text
    assert joined == {node.id_: node.text for node in nodes if node.parent_node is None}
    assert list(joined) == [f"a#{i}" for i in range(1, len(joined) + 1)]


@given(markdown.filter(str.strip), st.sampled_from(["a.md", "a.txt"]))
@settings(max_examples=60)
def test_no_text_is_lost_but_headings_without_own_text(text: str, source: str) -> None:
    at, left = 0, []
    for node in parse(text, source=source):
        if node.parent_node is None:
            left.append(text[at : node.start_char_idx])
            at = node.end_char_idx
    left.append(text[at:])
    for line in "\n".join(left).split("\n"):
        plain = line.strip("\u200b\u3000 ")
        assert not plain.strip() or re.match(r"#{1,6}|[甲乙]$|[=-]{3,}$|第.条$", plain), line


@given(texts)
@settings(max_examples=60)
def test_limits_are_kept(text: str) -> None:
    for node in parse(text):
        # the longest protected span here has far fewer tokens than a child
        assert count_tokens(node.text) <= (800 if node.parent_node is None else 128)


@given(
    st.lists(
        st.one_of(st.sampled_from(PROTECTED), phrase, st.sampled_from("，、 ")), min_size=20, max_size=120
    )
)
@settings(max_examples=40)
def test_no_cut_falls_into_a_protected_token(parts: list[str]) -> None:
    # a blank or comma on each side, so that two protected tokens do not make a third
    text = "，".join(part for part in parts if part.strip())
    spans, at = [], 0
    for part in text.split("，"):
        if part in PROTECTED:
            spans.append((at, at + len(part)))
        at += len(part) + 1
    cuts = {node.start_char_idx for node in parse(f"{text}。")} if text.strip("，、 ") else set()
    assert not [cut for cut in cuts for start, end in spans if start < cut < end]


@given(markdown.filter(str.strip))
@settings(max_examples=15)
def test_the_same_text_gives_the_same_nodes_sync_and_async(text: str) -> None:
    docs = [Document(id_="a", text=text)]
    parser = SectionNodeParser()
    nodes = parser.get_nodes_from_documents(docs)
    assert SectionNodeParser().get_nodes_from_documents(docs) == nodes
    assert asyncio.run(parser.aget_nodes_from_documents(docs)) == nodes


@given(st.lists(tables(), min_size=1, max_size=3).map("\n\n文字。\n\n".join))
@settings(max_examples=40)
def test_every_row_has_its_header_in_the_embedded_text(text: str) -> None:
    headers = [line for line in text.split("\n") if line.startswith("|")]
    for node in parse(text):
        if node.parent_node is not None and node.text.startswith("|") and "---" not in node.text:
            assert node.metadata["table_header"] in headers
            assert node.metadata["table_header"] in node.get_content(MetadataMode.EMBED).split("\n")


@given(st.one_of(markdown, noise), st.booleans())
@settings(max_examples=100)
def test_the_short_cut_for_single_lines_changes_nothing(text: str, plain: bool) -> None:
    quick = parse_structure(text, plain=plain)
    try:
        block_parser(plain).disable("line")
        assert parse_structure(text, plain=plain) == quick
    finally:
        block_parser(plain).enable("line")


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("a1中あ，。 \n_-")), max_size=30))
def test_sizes_are_those_of_count_tokens(text: str) -> None:
    assert Sizes(text).count(0, len(text)) == count_tokens(text)


@pytest.mark.parametrize("fence", ["```", "~~~"])
@given(
    lines=st.lists(
        st.sampled_from(["select 1;", "", "-" * 150, "| a | b |", "第一条 甲。"]), min_size=1, max_size=120
    )
)
@settings(max_examples=15)
def test_code_is_whole_or_cut_at_line_ends(fence: str, lines: list[str]) -> None:
    text = "## 甲\n\n好。\n\n" + "\n".join([fence, *lines, fence])
    for node in parse(text):
        assert node.start_char_idx == 0 or text[node.start_char_idx - 1] == "\n"
