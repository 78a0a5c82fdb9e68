"""Sections cut to size and their children."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gyr_hybrid.analysis import count_tokens
from gyr_hybrid.parsing.chunking import Piece, pieces
from gyr_hybrid.parsing.sections import outline
from gyr_hybrid.parsing.sizes import Sizes
from gyr_hybrid.parsing.units import UnitBuilder


def cut(text: str, *, code_table: bool = False, plain: bool = False) -> list[Piece]:
    shape = outline(text, plain=plain)
    sizes = Sizes(text)
    builder = UnitBuilder(text, shape.lines, sizes, None, lambda rows: code_table)
    return [piece for section in shape.sections for piece in pieces(text, sizes, section, builder)]


def children(text: str, *, code_table: bool = False) -> list[str]:
    (piece,) = cut(text, code_table=code_table)
    parts = [text[child.start : child.end] for child in piece.children]
    assert "".join(parts) == text[piece.start : piece.end]
    return parts


def sentence(tokens: int, mark: str = "。") -> str:
    return "字" * (tokens - 1) + mark


# Sentences


def test_the_heading_line_begins_the_first_child_and_counts_as_a_sentence() -> None:
    assert children("## 时限\n\n一。二。三。四。五。") == ["## 时限\n\n一。二。", "三。四。五。"]


def test_a_child_has_at_most_128_tokens() -> None:
    exact = sentence(64) + sentence(64)
    assert children(exact) == [exact]
    assert children(sentence(64) + sentence(65)) == [sentence(64), sentence(65)]


def test_trailing_blanks_belong_to_the_child_before() -> None:
    one, two = sentence(100), sentence(100)
    assert children(f"{one}\n\n\n  {two}\n") == [f"{one}\n\n\n  ", two]


def test_short_paragraphs_share_a_child_long_ones_do_not() -> None:
    assert children("甲。\n\n乙。") == ["甲。\n\n乙。"]
    long = sentence(96)
    assert children(f"{long}\n\n乙。") == [f"{long}\n\n", "乙。"]


def test_numbers_versions_addresses_and_codes_end_no_sentence() -> None:
    text = "升级到 v3.5.1 需 1,299.00 元，见 https://a.cn/x?a=1!b 与 /etc/app.d/x.conf。报错 E1042.1 时联系客服。"
    assert children(text) == [text]
    filled = sentence(100) + text
    assert children(filled) == [sentence(100), text]


def test_a_heading_that_does_not_fit_with_the_first_sentence_stands_alone() -> None:
    long = sentence(128)
    assert children(f"## 甲\n\n{long}") == ["## 甲\n\n", long]


# Sentences past the limit


def test_a_long_sentence_is_cut_after_commas() -> None:
    text = "，".join("字" * 30 for _ in range(6)) + "。"
    assert children(text) == ["，".join(["字" * 30] * 4) + "，", "字" * 30 + "，" + "字" * 30 + "。"]


def test_without_commas_it_is_cut_hard_and_nothing_is_lost() -> None:
    assert children("字" * 300) == ["字" * 128, "字" * 128, "字" * 44]


@pytest.mark.parametrize(
    "whole",
    [
        "https://example.com/a/b?c=1,2;d=3#e",
        "NS-X2-BLK-M",
        "1,299.00",
        "v3.5.1",
        "/usr/local/lib/app.conf",
        r"C:\Program\app.exe",
        "advertise-status-addr",
        "第三十三条",
        "a.b+c@example.com",
        "2026/10/1",
        "`SELECT a, b FROM t`",
        "$a+b=c$",
    ],
)
def test_no_cut_falls_into_what_must_stay_whole(whole: str) -> None:
    for before in range(110, 129):
        text = "字" * before + whole + "字" * 60
        assert [part for part in children(text) if whole in part], (before, children(text))


def test_a_url_longer_than_a_child_stays_whole() -> None:
    url = "https://example.com/" + "/".join("a" for _ in range(150))
    parts = children("字" * 100 + url + "字" * 100)
    assert parts == ["字" * 100, url, "字" * 100]


# Lists


def test_list_items_stay_with_their_lead_in() -> None:
    items = "".join(f"- 材料{i}\n" for i in range(1, 5))
    assert children(f"需要准备：\n\n{items}") == ["需要准备：\n\n- 材料1\n- 材料2\n", "- 材料3\n- 材料4"]
    before = sentence(60) + sentence(60)
    assert any(part.endswith("材料：\n\n- 材料1\n") for part in children(f"{before}材料：\n\n{items}"))
    assert children(f"{sentence(125)}材料：\n\n{items}")[1].startswith("材料：\n\n- 材料1\n")


def test_what_begins_within_a_paragraph_ends_with_it() -> None:
    item = "* Error Number: {}\n\n    甲。乙。丙。\n\n"
    text = "".join(item.format(number) for number in (8001, 8002))
    assert children(text) == [
        "* Error Number: 8001\n\n    甲。",
        "乙。丙。\n\n",
        "* Error Number: 8002\n\n    甲。",
        "乙。丙。",
    ]


def test_a_long_paragraph_is_cut_into_children_of_like_size() -> None:
    assert children("".join(sentence(30) for _ in range(4))) == [sentence(30) * 2] * 2
    assert children(sentence(100) + sentence(20) + sentence(40)) == [
        sentence(100),
        sentence(20) + sentence(40),
    ]


def test_nested_items_and_their_code_are_children_in_order() -> None:
    text = "1. 下载：\n\n   ```sh\n   wget x\n   ```\n\n2. 运行。\n   - 甲。\n   - 乙。"
    assert "".join(children(text)) == text
    assert children(text)[0] == "1. 下载：\n\n   ```sh\n   wget x\n   ```\n\n"


def test_a_lead_in_does_not_join_the_paragraph_before() -> None:
    assert children("## 甲\n\n说明。\n\n- 处理方法：\n\n  重启。") == [
        "## 甲\n\n说明。\n\n",
        "- 处理方法：\n\n  重启。",
    ]


# Code


def test_a_code_block_is_whole() -> None:
    code = "```sql\nSELECT 1;\n\nSELECT 2;\n```"
    assert children(f"如下：\n\n{code}\n\n好。") == [f"如下：\n\n{code}\n\n", "好。"]
    assert children(f"{sentence(100)}\n\n{code}") == [f"{sentence(100)}\n\n", code]


def test_a_code_block_past_the_limit_is_cut_at_blank_lines_else_at_line_ends() -> None:
    block = "x = 1;\n" * 20  # 80 tokens
    text = f"```\n{block}\n{block}{block}```"
    assert children(text) == [f"```\n{block}\n", block + "x = 1;\n" * 12, "x = 1;\n" * 8 + "```"]


def test_a_line_of_code_is_not_cut() -> None:
    border = "+" + "-" * 200 + "+"
    assert children(f"```\na\n{border}\nb\n```") == ["```\na\n", f"{border}\n", "b\n```"]


def test_only_a_line_of_code_with_words_past_800_tokens_is_cut() -> None:
    border = f"```\na\n{'-' * 900}\n```"
    assert [border[p.start : p.end] for p in cut(border)] == ["```\na", "-" * 900, "```"]
    data = ",".join(str(i) for i in range(500))
    text = f"```\n{data}\n```"
    assert max(count_tokens(text[c.start : c.end]) for piece in cut(text) for c in piece.children) <= 128


# Tables

HEAD = "| 错误码 | 说明 |\n| --- | --- |\n"
ROWS = [f"| E10{i} | 说明{i}。 |\n" for i in range(10, 17)]


def test_a_table_of_codes_has_one_child_per_row() -> None:
    text = f"## 错误码\n\n{HEAD}{''.join(ROWS)}"
    (piece,) = cut(text, code_table=True)
    assert children(text, code_table=True) == [f"## 错误码\n\n{HEAD}", *ROWS[:-1], ROWS[-1].rstrip()]
    assert [child.table_header for child in piece.children] == [None] + ["| 错误码 | 说明 |"] * 7


def test_other_tables_have_groups_of_rows() -> None:
    assert children(f"{HEAD}{''.join(ROWS)}") == [
        HEAD,
        "".join(ROWS[:3]),
        "".join(ROWS[3:6]),
        ROWS[6].rstrip(),
    ]


def test_the_head_of_a_table_ends_the_child_before_its_first_row_if_it_fits() -> None:
    assert children(f"价格如下：\n\n{HEAD}{ROWS[0]}\n完。") == [
        f"价格如下：\n\n{HEAD}",
        f"{ROWS[0]}\n",
        "完。",
    ]
    long = sentence(120)
    assert children(f"{long}\n\n{HEAD}{ROWS[0]}") == [f"{long}\n\n", HEAD, ROWS[0].rstrip()]


def test_two_tables_do_not_share_a_child() -> None:
    text = f"{HEAD}{ROWS[0]}\n{HEAD}{ROWS[1]}"
    assert children(text) == [HEAD, f"{ROWS[0]}\n", HEAD, ROWS[1].rstrip()]


def test_a_row_past_the_limit_is_cut_and_keeps_its_header() -> None:
    row = f"| E1 | {sentence(100, '，')}{sentence(100)} |"
    (piece,) = cut(HEAD + row)
    assert [child.table_header for child in piece.children] == [
        None,
        "| 错误码 | 说明 |",
        "| 错误码 | 说明 |",
    ]
    assert all(count_tokens((HEAD + row)[child.start : child.end]) <= 128 for child in piece.children)


def test_a_table_without_rows_is_text() -> None:
    assert children(HEAD) == [HEAD.rstrip()]


# Sections past the limit


def test_800_tokens_are_one_section_801_are_two() -> None:
    paragraphs = [sentence(100)] * 8
    assert len(cut("\n\n".join(paragraphs))) == 1
    text = "\n\n".join([*paragraphs, "完"])
    assert [text[p.start : p.end] for p in cut(text)] == ["\n\n".join(paragraphs), "完"]


def test_a_long_section_is_cut_at_paragraph_ends_into_consecutive_pieces() -> None:
    text = "## 甲\n\n" + "\n\n".join(sentence(300) for _ in range(5))
    parts = cut(text)
    assert [count_tokens(text[p.start : p.end]) for p in parts] == [603, 600, 300]
    assert {p.section.path for p in parts} == {("甲",)}
    assert all(text[a.end : b.start] == "\n\n" for a, b in pairwise(parts))


def test_a_paragraph_past_the_limit_is_cut_at_sentence_ends() -> None:
    text = "## 甲\n\n" + sentence(90) * 20
    parts = [text[p.start : p.end] for p in cut(text)]
    assert parts == ["## 甲\n\n" + sentence(90) * 8, sentence(90) * 8, sentence(90) * 4]


def test_a_paragraph_without_sentence_ends_is_cut_within_the_limit() -> None:
    text = "字" * 2000
    parts = cut(text)
    assert "".join(text[p.start : p.end] for p in parts) == text
    assert max(count_tokens(text[p.start : p.end]) for p in parts) <= 800


def test_a_list_item_stays_with_its_paragraphs() -> None:
    item = f"* Error Number: {{}}\n\n    {sentence(150)}\n\n    {sentence(30)}\n\n"
    text = "".join(item.format(number) for number in range(8001, 8009))
    parts = [text[p.start : p.end] for p in cut(text)]
    assert [part.count("Error") for part in parts] == [4, 4]
    assert all(part.startswith("* Error") for part in parts)


def test_a_lead_in_and_a_head_of_a_table_stay_with_what_follows() -> None:
    rows = "".join(f"| E{i} | {sentence(60)} |\n" for i in range(1000, 1020))
    text = f"{sentence(700)}\n\n错误码如下：\n\n{HEAD}{rows}"
    first, second, *rest = cut(text)
    assert text[first.start : first.end] == sentence(700)
    assert text[second.start : second.end].startswith("错误码如下：\n\n| 错误码")
    assert all(piece.table_header == "| 错误码 | 说明 |" for piece in rest)


# Odds and ends


def test_rules_comments_and_link_definitions_go_with_the_text_before() -> None:
    text = "甲。\n\n---\n\n<!-- INFO END -->\n\n[a]: http://x\n\n乙。"
    assert children(text) == [text]
    assert children("## 甲\n\n<!-- 注 -->") == ["## 甲\n\n<!-- 注 -->"]


def test_a_long_comment_is_cut_to_size() -> None:
    comment = "<!--\n" + "字字字字\n" * 60 + "-->"
    text = f"甲。\n\n{comment}\n\n乙。"
    assert max(map(count_tokens, children(text))) <= 128


def test_a_section_of_blanks_that_are_none_to_markdown_is_no_trouble() -> None:
    text = "## 甲\n\n\x0c\n\n乙。\n\n\x0c"
    assert children(text) == ["## 甲\n\n\x0c\n\n乙。"]


def test_blank_code_is_no_child() -> None:
    text = "甲。\n\n    \x0c\n\n" + sentence(120) + "\n\n    \x0c\n\n乙。"
    assert all(part.strip() for part in children(text))
