"""Headings and sections of Markdown and plain text."""

from __future__ import annotations

import pytest

from gyr_hybrid.parsing.sections import Section, outline


def sections(
    text: str, title: str | None = None, *, plain: bool = False
) -> list[tuple[tuple[str, ...], str]]:
    """(path, text) of each section."""
    return [(s.path, text[s.start : s.end]) for s in outline(text, title, plain=plain).sections]


def paths(text: str, *, plain: bool = False) -> list[tuple[str, ...]]:
    return [path for path, _ in sections(text, plain=plain)]


def only(text: str) -> Section:
    (section,) = outline(text).sections
    return section


def test_a_section_is_a_heading_with_its_own_text_up_to_the_next_of_any_level() -> None:
    text = "# 手册\n\n引言。\n\n## 安装\n\n先下载。\n\n### Linux\n\n运行。\n\n## 使用\n\n打开。  \n\n"
    assert sections(text) == [
        ((), "# 手册\n\n引言。"),
        (("安装",), "## 安装\n\n先下载。"),
        (("安装", "Linux"), "### Linux\n\n运行。"),
        (("使用",), "## 使用\n\n打开。"),
    ]
    assert [s.level for s in outline(text).sections] == [1, 2, 3, 2]


def test_a_heading_without_own_text_makes_no_section_but_stands_in_the_paths_below() -> None:
    text = "# 手册\n\n## 第一部分\n\n### 安装\n\n下载。\n\n## 空\n\n \n"
    assert sections(text) == [(("第一部分", "安装"), "### 安装\n\n下载。")]


def test_text_before_the_first_heading_is_a_section() -> None:
    assert sections("\n\n 引言。\n\n# 手册\n\n## 一\n\n甲。") == [((), "引言。"), (("一",), "## 一\n\n甲。")]
    assert outline("引言。").sections[0].level == 0


def test_an_h1_equal_to_the_title_is_not_repeated_another_is() -> None:
    text = "# 退款 政策\n\n甲。\n\n# 附则\n\n乙。"
    assert [path for path, _ in sections(text)] == [(), ("附则",)]
    assert [path for path, _ in sections(text, "退款 政策")] == [(), ("附则",)]
    assert [path for path, _ in sections(text, "退款")] == [("退款 政策",), ("附则",)]
    full_width = "# 错误码 E1042：导入失败\n\n甲。"
    assert [path for path, _ in sections(full_width, "错误码 E1042:导入失败")] == [()]


def test_a_deeper_heading_does_not_swallow_its_siblings() -> None:
    text = "## 甲\n\n1\n\n#### 乙\n\n2\n\n### 丙\n\n3\n\n# 丁\n\n4"
    assert paths(text) == [("甲",), ("甲", "乙"), ("甲", "丙"), ()]


def test_slashes_and_arrows_in_headings_do_not_mix_up_the_path() -> None:
    assert paths("# 手册\n\n## 价格/费用\n\n### A > B\n\n正文。") == [("价格/费用", "A > B")]


# What is a heading: run-llama/llama_index's MarkdownNodeParser misses or invents these


@pytest.mark.parametrize(
    "heading", ["##时限", "## 时限", "##  时限 ##", "  ## 时限", "时限\n---", "##时限##", "## **时限**"]
)
def test_headings_are_recognised(heading: str) -> None:
    text = f"# 退款\n\n{heading}\n\n七天。"
    assert sections(text) == [(("时限",), f"{heading.lstrip()}\n\n七天。")]


@pytest.mark.parametrize(
    "line",
    [
        "#1042 是工单号。",
        "#include <stdio.h>",
        "#!/bin/sh",
        "#话题#这是一条微博",
        "#标签 #另一个",
        "####### 七级",
        "\\# 转义",
        "    # 缩进代码",
        "> # 引用",
        "- # 列表",
        "`# 代码`",
    ],
)
def test_what_only_looks_like_a_heading_is_text(line: str) -> None:
    text = f"# 退款\n\n{line}\n\n七天。"
    assert sections(text) == [((), text)]


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "```python"])
def test_nothing_in_a_fence_is_a_heading(fence: str) -> None:
    close = fence.rstrip("python")
    text = f"## 安装\n\n{fence}\n# 注释\n##x\n标题\n===\n第一条 甲。\n\n## 不是\n{close}\n\n## 使用\n\n打开。"
    assert [path for path, _ in sections(text)] == [("安装",), ("使用",)]


def test_fences_nest() -> None:
    text = "## 甲\n\n````md\n```sh\n# x\n```\n## 不是\n````\n\n## 乙\n\n好。\n\n```\n# 没有结束"
    assert [path for path, _ in sections(text)] == [("甲",), ("乙",)]


def test_dashes_below_a_sentence_are_a_rule_not_a_heading() -> None:
    text = "## 甲\n\n这是一句话。\n---\n\n## 乙\n\n好。"
    assert sections(text) == [(("甲",), "## 甲\n\n这是一句话。\n---"), (("乙",), "## 乙\n\n好。")]


def test_front_matter_left_in_a_text_is_no_heading() -> None:
    assert paths("---\ntitle: 甲\nid: 乙\n---\n\n## 丙\n\n好。") == [(), ("丙",)]


def test_headings_lose_their_markup_and_anchor() -> None:
    text = "## `a_b` 与 _强调_ [链接](http://x) ![图](y.png) <b>粗</b> snake_case &amp; {#id-1}\n\n好。"
    assert paths(text) == [("a_b 与 强调 链接 图 粗 snake_case &",)]


def test_an_empty_heading_parts_sections_without_a_name() -> None:
    assert sections("## 甲\n\n1\n\n##\n\n2") == [(("甲",), "## 甲\n\n1"), ((), "##\n\n2")]


# Articles


def test_a_paragraph_that_begins_with_an_article_number_is_a_heading_one_level_below() -> None:
    text = "# 法\n\n## 第一章 总则\n\n第一条 甲。\n\n第二条　乙：\n\n（一）丙；\n\n（二）丁。\n\n### 第一节 x\n\n第三条\t戊。"
    assert sections(text) == [
        (("第一章 总则", "第一条"), "第一条 甲。"),
        (("第一章 总则", "第二条"), "第二条　乙：\n\n（一）丙；\n\n（二）丁。"),
        (("第一章 总则", "第一节 x", "第三条"), "第三条\t戊。"),
    ]
    assert [s.level for s in outline(text).sections] == [3, 3, 4]


def test_articles_without_any_heading_stand_at_level_one() -> None:
    (first, second) = outline("第一条 甲。\n\n第2条 乙。").sections
    assert (first.level, first.path, second.level, second.path) == (1, ("第一条",), 1, ("第2条",))


@pytest.mark.parametrize(
    ("start", "name"),
    [
        ("第三条 ", "第三条"),
        ("第三十三条\u3000", "第三十三条"),
        ("第33条 ", "第33条"),
        ("第 33 条 ", "第33条"),
        ("第一百二十条之一 ", "第一百二十条之一"),
        ("**第三条** ", "第三条"),
        ("第三条\n", "第三条"),
        ("\u3000\u3000第三条 ", "第三条"),
    ],
)
def test_ways_to_write_an_article(start: str, name: str) -> None:
    for plain in (False, True):
        assert paths(f"{start}内容。", plain=plain) == [(name,)]


@pytest.mark.parametrize(
    "text",
    [
        "第三条内容。",
        "依照第三条 办理。",
        "第三条款 内容。",
        "> 第三条 引用。",
        "- 第三条 列表。",
        "本合同的签订依照双方在去年年底商定的\n第三条 的规定办理。",
        "第三条：内容。",
    ],
)
def test_what_is_no_article(text: str) -> None:
    assert paths(text) == [()]
    assert paths(f"前言。\n\n{text}") == [()]


def test_articles_on_lines_of_one_block_are_articles_too() -> None:
    for plain in (False, True):
        assert paths("第一条 甲。\n第二条 乙。\n第三条 丙。", plain=plain) == [
            ("第一条",),
            ("第二条",),
            ("第三条",),
        ]


def test_an_article_number_alone_needs_text_below() -> None:
    assert sections("第一条\n\n甲。\n\n第二条\n\n第三条 丙。") == [
        (("第一条",), "第一条\n\n甲。"),
        (("第三条",), "第三条 丙。"),
    ]


def test_dashes_below_an_article_do_not_make_it_a_setext_heading() -> None:
    assert sections("第一条 甲\n---\n\n乙。") == [(("第一条",), "第一条 甲\n---\n\n乙。")]


# Plain text


def test_plain_text_knows_numbered_headings() -> None:
    text = "第一章 总则\n\n一、目的\n为了规范。\n（一）范围\n适用于本公司。\n\n1.1 定义\n下列用语。\n第二章 附则\n自发布起施行。"
    assert paths(text, plain=True) == [
        ("第一章 总则", "一、目的"),
        ("第一章 总则", "一、目的", "（一）范围"),
        ("第一章 总则", "1.1 定义"),
        ("第二章 附则",),
    ]


def test_questions_with_answers_in_plain_text_are_sections() -> None:
    text = "常见问题\n\n问：能退款吗？\n答：七天内可以。\n问：多久到账？\n\n答：三天。\nQ2: 怎么联系？\nA2: 打电话。\n问：没有答案？"
    assert sections(text, plain=True) == [
        ((), "常见问题"),
        (("能退款吗？",), "问：能退款吗？\n答：七天内可以。"),
        (("多久到账？",), "问：多久到账？\n\n答：三天。"),
        (("怎么联系？",), "Q2: 怎么联系？\nA2: 打电话。\n问：没有答案？"),
    ]


def test_a_numbered_heading_is_no_title() -> None:
    assert outline("第一编 总则\n\n甲。", plain=True).title is None


@pytest.mark.parametrize(
    "text",
    [
        "需要的材料：\n一、身份证\n二、户口本\n三、照片",
        "一、本办法自发布之日起施行。\n另行通知。",
        "（一）很长的一条，它不是标题，因为它以逗号分开，而且超过了一行标题应有的长度，一直写到这里为止\n结束",
        "一、最后一行",
        "3.5 英寸\n3.6 英寸\n屏幕",
    ],
)
def test_enumerations_in_plain_text_are_no_headings(text: str) -> None:
    assert sections(text, plain=True) == [((), text)]


def test_plain_text_has_no_lists_quotations_or_indented_code() -> None:
    text = "说明\n---\n    四格缩进\n> 引用 <b>不是标签</b>\n\n[a]: http://x\n\n好。"
    assert sections(text, plain=True) == [((), text)]
    assert sections("# 标题\n\n#小标题\n好。", plain=True) == [(("小标题",), "#小标题\n好。")]


# Offsets


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_texts_with_other_line_ends_keep_their_offsets(end: str) -> None:
    text = "# 退款\n\n## 时限\n\n七天。\n\n## 费用\n\n免费。".replace("\n", end)
    assert sections(text) == [
        (("时限",), f"## 时限{end}{end}七天。"),
        (("费用",), f"## 费用{end}{end}免费。"),
    ]


@pytest.mark.parametrize("blank", ["\u3000", "\u200b", "\u00a0", "\ufeff"])
def test_a_line_that_looks_blank_parts_paragraphs(blank: str) -> None:
    assert paths(f"## 总则\n\n{blank}\n第一条 甲。\n{blank}\n第二条 乙。") == [
        ("总则", "第一条"),
        ("总则", "第二条"),
    ]


def test_a_first_block_of_indented_code_keeps_its_indent() -> None:
    text = "\n\n    pip install x\n"
    section = only(text)
    assert text[section.start : section.end] == "    pip install x"
