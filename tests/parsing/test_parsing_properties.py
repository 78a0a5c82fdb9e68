"""What holds for every text: lossless, exact, bounded, the same each time."""

from __future__ import annotations

import asyncio
import pickle
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
from gyr_hybrid.testing import HashEmbedding

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


MIXTURE = SectionNodeParser()
HEADINGS = [  # each strategy and each way to cut children
    MIXTURE,
    SectionNodeParser(section_size=300, child_size=40),
    SectionNodeParser(child_size=100, measure="characters"),
    SectionNodeParser(strategy="structure"),
    SectionNodeParser(children="fixed", child_size=60),
    SectionNodeParser(children="recursive"),
    SectionNodeParser(children="semantic", embed_model=HashEmbedding()),
]
SIZES = [
    SectionNodeParser(strategy="fixed", section_size=50),
    SectionNodeParser(strategy="recursive"),
    SectionNodeParser(strategy="recursive", section_size=60, measure="characters"),
    SectionNodeParser(strategy="semantic", embed_model=HashEmbedding()),
    SectionNodeParser(strategy="parent_child", section_size=200, child_size=40),
]
OVERLAPPING = [
    SectionNodeParser(strategy="fixed", section_size=50, overlap=10),
    SectionNodeParser(strategy="recursive", section_size=80, overlap=40),
    SectionNodeParser(strategy="parent_child", section_size=120, child_size=40, overlap=30),
]


def parse(text: str, parser: SectionNodeParser = MIXTURE, *, source: str = "a.md") -> list[TextNode]:
    return parser.get_nodes_from_documents([Document(id_="a", text=text, metadata={"source": source})])


@given(texts, st.sampled_from([*HEADINGS, *SIZES]), st.sampled_from(["a.md", "a.txt"]))
@settings(max_examples=120)
@example("\0 甲", MIXTURE, "a.md").via("NUL")
def test_children_join_to_their_section_and_offsets_are_exact(
    text: str, parser: SectionNodeParser, source: str
) -> None:
    end = 0
    joined: dict[str, str] = {}
    nodes = parse(text, parser, source=source)
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


@given(texts, st.sampled_from(SIZES))
@settings(max_examples=100)
def test_nothing_is_lost_where_headings_are_not_looked_at(text: str, parser: SectionNodeParser) -> None:
    at = 0
    for node in parse(text, parser):
        if node.parent_node is None:
            assert not text[at : node.start_char_idx].strip()
            at = node.end_char_idx
    assert not text[at:].strip()


@given(texts, st.sampled_from(OVERLAPPING))
@settings(max_examples=100)
def test_sections_overlap_a_little_and_children_never(text: str, parser: SectionNodeParser) -> None:
    begin = end = 0
    nodes = parse(text, parser)
    sections = [node for node in nodes if node.parent_node is None]
    children = {node.id_: node for node in nodes if node.parent_node is not None}
    for section in sections:
        assert text[section.start_char_idx : section.end_char_idx] == section.text
        assert begin <= section.start_char_idx
        assert section.end_char_idx > end
        assert not text[end : section.start_char_idx].strip()
        assert count_tokens(text[section.start_char_idx : end]) <= parser.overlap
        assert "".join(children[info.node_id].text for info in section.child_nodes) == section.text
        begin, end = section.start_char_idx, section.end_char_idx
    assert not text[end:].strip()


@given(markdown.filter(str.strip), st.sampled_from(HEADINGS), st.sampled_from(["a.md", "a.txt"]))
@settings(max_examples=100)
def test_no_text_is_lost_but_headings_without_own_text(
    text: str, parser: SectionNodeParser, source: str
) -> None:
    at, left = 0, []
    for node in parse(text, parser, source=source):
        if node.parent_node is None:
            left.append(text[at : node.start_char_idx])
            at = node.end_char_idx
    left.append(text[at:])
    for line in "\n".join(left).split("\n"):
        plain = line.strip("\u200b\u3000 ")
        assert not plain.strip() or re.match(r"#{1,6}|[甲乙]$|[=-]{3,}$|第.条$", plain), line


@given(texts, st.sampled_from([*HEADINGS, *SIZES, *OVERLAPPING]))
@settings(max_examples=80)
def test_limits_are_kept(text: str, parser: SectionNodeParser) -> None:
    alone = parser.strategy not in ("mixture", "parent_child")  # a section is its own child
    section = parser.section_size or (800 if parser.strategy in ("mixture", "structure") else 256)
    for node in parse(text, parser):
        size = count_tokens(node.text)
        if parser.measure == "characters":
            size = len("".join(node.text.split()))
        # the longest protected span here has far fewer tokens than a child
        assert size <= (section if alone or node.parent_node is None else parser.child_size)


@given(
    st.lists(
        st.one_of(st.sampled_from(PROTECTED), phrase, st.sampled_from("，、 ")), min_size=20, max_size=120
    ),
    st.sampled_from([*HEADINGS, *SIZES, *OVERLAPPING]),
)
@settings(max_examples=80)
def test_no_cut_falls_into_a_protected_token(parts: list[str], parser: SectionNodeParser) -> None:
    # a blank or comma on each side, so that two protected tokens do not make a third
    text = "，".join(part for part in parts if part.strip())
    spans, at = [], 0
    for part in text.split("，"):
        if part in PROTECTED:
            spans.append((at, at + len(part)))
        at += len(part) + 1
    cuts = {node.start_char_idx for node in parse(f"{text}。", parser)} if text.strip("，、 ") else set()
    assert not [cut for cut in cuts for start, end in spans if start < cut < end]


@pytest.mark.parametrize(
    "parser", [*HEADINGS, *SIZES, *OVERLAPPING], ids=lambda p: f"{p.strategy}-{p.children}"
)
@given(text=markdown.filter(str.strip))
@settings(max_examples=4)
def test_the_same_text_gives_the_same_nodes_sync_and_async(text: str, parser: SectionNodeParser) -> None:
    docs = [Document(id_="a", text=text)]
    nodes = parser.get_nodes_from_documents(docs)
    assert pickle.loads(pickle.dumps(parser)).get_nodes_from_documents(docs) == nodes
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
