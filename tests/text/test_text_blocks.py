"""Blocks: what a person sees in a section, and what stands under what."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyr_hybrid.text.blocks import Block, read_blocks, standing_under

Seen = tuple[str, str, int | None]

MARKDOWN: dict[str, tuple[str, list[Seen]]] = {
    "heading": (
        "# 标题 `x` {#a}\n\n正文",
        [("heading", "标题 x", None), ("prose", "正文", 0)],
    ),
    "heading without a blank": ("#标题\n正文", [("heading", "标题", None), ("prose", "正文", 0)]),
    "setext": ("标题\n===\n\n正文", [("heading", "标题", None), ("prose", "正文", 0)]),
    "closing hashes": ("## 标题 ##", [("heading", "标题", None)]),
    "headings by level": (
        "# 一\n\n## 二\n\n### 三\n\n## 四",
        [("heading", "一", None), ("heading", "二", 0), ("heading", "三", 1), ("heading", "四", 0)],
    ),
    "a rule below a sentence": ("句子。\n---\n后文", [("prose", "句子。", None), ("prose", "后文", None)]),
    "front matter": (
        "---\ntitle: 名\nsummary: 摘要\n---\n正文",
        [("prose", "title: 名", None), ("prose", "summary: 摘要", None), ("prose", "正文", None)],
    ),
    "article": (
        "第三条 不得：\n\n（一）甲；\n\n（二）乙。\n\n第四条 丙。",
        [("prose", "第三条 不得：", None), ("item", "甲；", 0), ("item", "乙。", 0), ("prose", "第四条 丙。", None)],
    ),
    "soft breaks": (
        "中文\n换行，\n标点 and\nwords",
        [("prose", "中文换行，标点 and words", None)],
    ),
    "hard breaks": (
        "一  \n二\\\n三<br>四",
        [("prose", "一", None), ("prose", "二", None), ("prose", "三", None), ("prose", "四", None)],
    ),
    "fields": (
        "错误码：E1\n原因: 超时",
        [("prose", "错误码：E1", None), ("prose", "原因: 超时", None)],
    ),
    "list under its lead-in": (
        "# 题\n\n先说。\n\n如下：\n\n- 甲\n  - 子\n\n  后段\n- 乙\n\n末段。",
        [
            ("heading", "题", None),
            ("prose", "先说。", 0),
            ("prose", "如下：", 0),
            ("item", "甲", 2),
            ("item", "子", 3),
            ("prose", "后段", 3),
            ("item", "乙", 2),
            ("prose", "末段。", 0),
        ],
    ),
    "list under the only paragraph": (
        "# 题\n\n说明\n\n1. 甲\n2. 乙",
        [("heading", "题", None), ("prose", "说明", 0), ("item", "甲", 1), ("item", "乙", 1)],
    ),
    "list after two paragraphs": (
        "# 题\n\n一\n\n二\n\n- 甲",
        [("heading", "题", None), ("prose", "一", 0), ("prose", "二", 0), ("item", "甲", 0)],
    ),
    "tasks": ("- [ ] 未\n- [x] 已", [("item", "未", None), ("item", "已", None)]),
    "marks by hand": (
        "步骤：\n1）甲\n①子\n②丑\n2）乙\n\n第一步：开\n\n第二步：关",
        [
            ("prose", "步骤：", None),
            ("item", "甲", 0),
            ("item", "子", 1),
            ("item", "丑", 1),
            ("item", "乙", 0),
            ("item", "开", None),
            ("item", "关", None),
        ],
    ),
    "code and table of an item": (
        "1. 甲：\n   ```sh\n   ls\n     -l\n   ```\n2. 乙\n\n   | a | b |\n   |---|---|\n   | 1 | 2 |",
        [
            ("item", "甲：", None),
            ("code", "ls\n  -l", 0),
            ("item", "乙", None),
            ("header", "a | b", 2),
            ("row", "1 | 2", 3),
        ],
    ),
    "an item that begins with code": ("- ```\n  x\n  ```\n- 乙", [("code", "x", None), ("item", "乙", None)]),
    "pipe table": (
        "见表：\n\n| 代码 | 处理 |\n|:-|-:|\n| `a\\|b` | 改<br>期 |\n| **E1** | |\n后文",
        [
            ("prose", "见表：", None),
            ("header", "代码 | 处理", 0),
            ("row", "a|b | 改 期", 1),
            ("row", "E1 | ", 1),
            ("prose", "后文", None),
        ],
    ),
    "table without header": (
        "| | |\n|---|---|\n| 姓名 | 张三 |",
        [("row", "姓名 | 张三", None)],
    ),
    "keywords of a page": ("|keywords||\n|---|---|\n\n正文", [("prose", "正文", None)]),
    "html table": (
        "<table><tr><th>码</th><th>名</th></tr>\n\n<tr><td>402</td><td>改<br/>参数</td></tr></table>",
        [("header", "码 | 名", None), ("row", "402 | 改 参数", 0)],
    ),
    "html table with spans": (
        "<table>\n<tr><th>甲</th><th>乙</th><th>丙</th></tr>\n<tr><td rowspan='2'>1</td><td>2</td><td>3</td></tr>\n"
        "<tr><td colspan=2>4</td></tr>\n</table>",
        [("header", "甲 | 乙 | 丙", None), ("row", "1 | 2 | 3", 0), ("row", "1 | 4 | 4", 0)],
    ),
    "html table with names in its first column": (
        "<table><tr><th>姓名</th><td>张三</td></tr><tr><th>年龄</th><td>30</td></tr></table>",
        [("row", "姓名 | 张三", None), ("row", "年龄 | 30", None)],
    ),
    "html table within a paragraph": (
        "文字 <table><tr><td>甲</td><td>乙</td></tr></table> 后",
        [("prose", "文字", None), ("row", "甲 | 乙", 0), ("prose", "后", None)],
    ),
    "a table that is only named": (
        "执行 `CHECK <table>` 或 <table> 检查",
        [("prose", "执行 CHECK <table> 或 检查", None)],
    ),
    "caption": (
        "<table><caption>表一</caption><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>",
        [("head", "表一", None), ("header", "a", 0), ("row", "1", 1)],
    ),
    "columns in a paragraph": (
        "机型   功率\n标准   1\n加强   2",
        [("header", "机型 | 功率", None), ("row", "标准 | 1", 0), ("row", "加强 | 2", 0)],
    ),
    "fences": ("如下：\n\n~~~mermaid\ngraph\n~~~\n\n```\n未闭合", [("prose", "如下：", None), ("code", "graph", 0), ("code", "未闭合", None)]),
    "indented code": ("    一\n      二", [("code", "一\n  二", None)]),
    "json": ('```json\n{"a": 1}\n```', [("code", '{"a": 1}', None)]),
    "quotation": ("> 引\n> 用\n\n正文", [("quote", "引用", None), ("prose", "正文", None)]),
    "list in a quotation": ("> 引：\n> - 甲\n>   乙", [("quote", "引：", None), ("item", "甲乙", 0)]),
    "bold line": (
        "**E1042**\n\n原因。\n\n**E1043**\n\n其他。",
        [("head", "E1042", None), ("prose", "原因。", 0), ("head", "E1043", None), ("prose", "其他。", 2)],
    ),
    "bold question without marks": (
        "**如何退款？**\n\n点退款。",
        [("head", "如何退款？", None), ("prose", "点退款。", 0)],
    ),
    "bold line with its text below": (
        "> **注意：**\n>\n> 小心。\n\n正文",
        [("head", "注意：", None), ("quote", "小心。", 0), ("prose", "正文", None)],
    ),
    "bold line that nothing follows": ("正文\n\n**一句话**", [("prose", "正文", None), ("prose", "一句话", None)]),
    "bold entry": (
        "**E1041** 损坏。\n\n**E1042** 锁。",
        [("head", "E1041", None), ("prose", "损坏。", 0), ("head", "E1042", None), ("prose", "锁。", 2)],
    ),
    "bold entries of a list": (
        "- **甲**：一\n  - 子\n- **乙：** 二",
        [("head", "甲", None), ("prose", "一", 0), ("item", "子", 0), ("head", "乙：", None), ("prose", "二", 3)],
    ),
    "bold words of a sentence": ("**请勿**拆机。", [("prose", "请勿拆机。", None)]),
    "brackets": (
        "【标准版】\n价格：99\n\n【专业版】价格：199",
        [("head", "标准版", None), ("prose", "价格：99", 0), ("head", "专业版", None), ("prose", "价格：199", 2)],
    ),
    "definition list": (
        "术语\n: 一\n: 二\n\n另一\n\n: 三\n\n后段",
        [
            ("head", "术语", None),
            ("prose", "一", 0),
            ("prose", "二", 0),
            ("head", "另一", None),
            ("prose", "三", 3),
            ("prose", "后段", None),
        ],
    ),
    "html definition list": (
        "<dl><dt>甲</dt><dd>乙</dd></dl>\n\n后",
        [("head", "甲", None), ("prose", "乙", 0), ("prose", "后", None)],
    ),
    "repeated fields": (
        "职务：技术员\n住宿：290元\n\n职务：经理\n住宿：490元",
        [("head", "职务：技术员", None), ("prose", "住宿：290元", 0), ("head", "职务：经理", None), ("prose", "住宿：490元", 2)],
    ),
    "records with other fields": (
        "职务：技术员\n住宿：290元\n\n职务：经理\n餐费：90元",
        [("prose", "职务：技术员", None), ("prose", "住宿：290元", None), ("prose", "职务：经理", None), ("prose", "餐费：90元", None)],
    ),
    "mkdocs": (
        '!!! note "题"\n\n    正**文**\n\n    - 项\n\n后',
        [("head", "题", None), ("prose", "正文", 0), ("item", "项", 1), ("prose", "后", None)],
    ),
    "mkdocs without title": (
        '!!! note ""\n\n    !!! 内容\n\n???+ tip\n    甲',
        [("prose", "内容", None), ("prose", "甲", None)],
    ),
    "mkdocs in a list": (
        '1. 甲\n\n    !!! note "题"\n        内\n\n2. 乙',
        [("item", "甲", None), ("head", "题", 0), ("prose", "内", 1), ("item", "乙", None)],
    ),
    "docusaurus": (
        ":::tip 题\n内\n:::\n\n:::note[名]\n中\n:::\n外",
        [("head", "题", None), ("prose", "内", 0), ("head", "名", None), ("prose", "中", 2), ("prose", "外", None)],
    ),
    "github alert": ("> [!NOTE]\n> 内\n\n> [!TIP] 题\n> 中", [("prose", "内", None), ("head", "题", None), ("prose", "中", 1)]),
    "shortcodes": (
        "{{% notice tip %}}\n甲\n{{% /notice %}}\n{{< copyable >}}\n\n{% tip %}\n乙\n{% endtip %}",
        [("prose", "甲", None), ("prose", "乙", None)],
    ),
    "details": (
        "<details>\n<summary>题</summary>\n\n内\n\n</details>\n\n外",
        [("head", "题", None), ("prose", "内", 0), ("prose", "外", None)],
    ),
    "details in one line": (
        "<details><summary>题</summary>内<p>中</p></details>\n外",
        [("head", "题", None), ("prose", "内", 0), ("prose", "中", 0), ("prose", "外", None)],
    ),
    "question and answer in a line": (
        "Q：甲？ A：乙。\n\nQ：丙？ A：丁。",
        [("question", "甲？", None), ("answer", "乙。", 0), ("question", "丙？", None), ("answer", "丁。", 2)],
    ),
    "bold question": (
        "**Q：甲？**\n\n**A：** 乙。\n\n再。\n\n**问：** 丙？\n\n答：丁。",
        [("question", "甲？", None), ("answer", "乙。", 0), ("prose", "再。", 0), ("question", "丙？", None), ("answer", "丁。", 3)],
    ),
    "numbered questions": (
        "1. 问：甲\n   答：乙\n2. 问：丙\n   答：丁",
        [("question", "甲", None), ("answer", "乙", 0), ("question", "丙", None), ("answer", "丁", 2)],
    ),
    "questions in items": (
        "- Q: 甲\n- A: 乙\n- Q: 丙\n- A: 丁",
        [("question", "甲", None), ("answer", "乙", 0), ("question", "丙", None), ("answer", "丁", 2)],
    ),
    "question as heading": ("### Q：甲？\n\nA：乙。", [("heading", "Q：甲？", None), ("answer", "乙。", 0)]),
    "questions under a head": (
        "**退货**\n\nQ1. 甲\nA1. 乙\n\n**换货**\n\nQ2. 丙\nA2. 丁",
        [
            ("head", "退货", None),
            ("question", "甲", 0),
            ("answer", "乙", 1),
            ("head", "换货", None),
            ("question", "丙", 3),
            ("answer", "丁", 4),
        ],
    ),
    "no text": (
        "<!-- 许可 -->\n\n<script>var 中=1</script>\n\n![图](a.png)\n\n---\n\n...\n\n<main id=x>\n\n[a]: http://x\n\n正文[a][^1]</main>",
        [("prose", "正文a", None)],
    ),
    "mdx": (
        "import A from 'a'\nimport {\n  B\n} from \"b\"\nexport const x = 1\n\n# 题\n\n<Tabs>\n<Tab name=\"a\">\n- 甲\n</Tab>\n</Tabs>",
        [("heading", "题", None), ("item", "甲", 0)],
    ),
    "inline": (
        "net\\_port &lt;x&gt; <https://a.b/c> ~~旧~~ `a*b` [链](u \"t\")*斜* <b>粗</b> 2*3*4 snake_case_name",
        [("prose", "net_port <x> https://a.b/c 旧 a*b 链斜 粗 2*3*4 snake_case_name", None)],
    ),
    "what only looks like markup": (
        "tiup <集群名> <cluster-name> [注]: 不是 ***",
        [("prose", "tiup <集群名> <cluster-name> [注]: 不是 ***", None)],
    ),
    "bold next to punctuation": ("甲**注意：**乙", [("prose", "甲注意：乙", None)]),
    "formula": ("当 $a_1*b_2$ 时", [("prose", "当 $a_1*b_2$ 时", None)]),
    "footnote": ("[^1]: 说明", [("prose", "说明", None)]),
    "crlf": ("* 甲\r\n* 乙\r\n\r\n段 \r\n落\r\n```\r\nc\r\n```\r\n", [("item", "甲", None), ("item", "乙", None), ("prose", "段落", None), ("code", "c", None)]),
}  # fmt: skip

PLAIN: dict[str, tuple[str, list[Seen]]] = {
    "lines": ("一句。\n二句", [("prose", "一句。", None), ("prose", "二句", None)]),
    "wrapped lines": (
        "本公司为了加强考勤管理，维护正常的工作秩序，提高办事效率，严肃企业纪律，使员\n工遵守，制定本规定。\n二段",
        [
            ("prose", "本公司为了加强考勤管理，维护正常的工作秩序，提高办事效率，严肃企业纪律，使员工遵守，制定本规定。", None),
            ("prose", "二段", None),
        ],
    ),
    "no markup": ("a*b*c \\_ <x> **d**", [("prose", "a*b*c \\_ <x> **d**", None)]),
    "items": (
        "如下：\n1、甲\n  说明\n2、乙\n• 子\n\n* 丑",
        [("prose", "如下：", None), ("item", "甲", 0), ("prose", "说明", 1), ("item", "乙", 0), ("item", "子", 3), ("item", "丑", 3)],
    ),
    "lines under their lead-in": (
        "不予退款：\n已拆封；\n超过七天。\n\n其他可退。",
        [("prose", "不予退款：", None), ("prose", "已拆封；", 0), ("prose", "超过七天。", 0), ("prose", "其他可退。", None)],
    ),
    "numbered headings": (
        "第一章 总则\n一、范围\n适用于全体。\n二、职责\n（一）甲。\n（二）乙。",
        [
            ("heading", "第一章 总则", None),
            ("heading", "一、范围", 0),
            ("prose", "适用于全体。", 1),
            ("heading", "二、职责", 0),
            ("item", "甲。", 3),
            ("item", "乙。", 3),
        ],
    ),
    "heading": ("# 题\n\n正文", [("heading", "题", None), ("prose", "正文", 0)]),
    "questions": (
        "Q1. 忘记打卡怎么办\nA1. 当月补卡。\n\nQ2. 年假\nA2. 可以。\n次年。",
        [("question", "忘记打卡怎么办", None), ("answer", "当月补卡。", 0), ("question", "年假", None), ("answer", "可以。", 2), ("prose", "次年。", 2)],
    ),
    "questions of one line": (
        "Q：甲 A：乙。\nQ：丙 A：丁。",
        [("question", "甲", None), ("answer", "乙。", 0), ("question", "丙", None), ("answer", "丁。", 2)],
    ),
    "columns": (
        "机型   功率\n标准型  1.5kW\n加强型  2.2kW",
        [("header", "机型 | 功率", None), ("row", "标准型 | 1.5kW", 0), ("row", "加强型 | 2.2kW", 0)],
    ),
    "tabs": (
        "姓名\t部门\t电话\n李四\t\t456",
        [("header", "姓名 | 部门 | 电话", None), ("row", "李四 |  | 456", 0)],
    ),
    "a cell is missing": (
        "机型   功率   备注\n标准型        好\n加强型  2.2kW",
        [("header", "机型 | 功率 | 备注", None), ("row", "标准型 |  | 好", 0), ("row", "加强型 | 2.2kW | ", 0)],
    ),
    "commands with their help": (
        "Commands:\n  unlock      解除锁定\n  passwd      重置密码",
        [("prose", "Commands:", None), ("row", "unlock | 解除锁定", 0), ("row", "passwd | 重置密码", 0)],
    ),
    "two blanks after a sentence": (
        "Hello world.  This is\nwrapped.  Another",
        [("prose", "Hello world. This is", None), ("prose", "wrapped. Another", None)],
    ),
    "articles": ("第一条  甲\n第二条  乙", [("prose", "第一条 甲", None), ("prose", "第二条 乙", None)]),
    "brackets": (
        "【标准版】\n价格：99元/月\n\n【专业版】\n价格：199元/月",
        [("head", "标准版", None), ("prose", "价格：99元/月", 0), ("head", "专业版", None), ("prose", "价格：199元/月", 2)],
    ),
    "repeated fields": (
        "职务：技术员\n住宿：290\n职务：经理\n住宿：490",
        [("head", "职务：技术员", None), ("prose", "住宿：290", 0), ("head", "职务：经理", None), ("prose", "住宿：490", 2)],
    ),
    "table and fence": (
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx  y\n```",
        [("header", "a | b", None), ("row", "1 | 2", 0), ("code", "x  y", None)],
    ),
}  # fmt: skip


def seen(blocks: tuple[Block, ...]) -> list[Seen]:
    return [(block.kind, block.text, block.under) for block in blocks]


@pytest.mark.parametrize("name", MARKDOWN)
def test_markdown(name: str) -> None:
    text, expected = MARKDOWN[name]
    assert seen(read_blocks(text)) == expected
    check(text, read_blocks(text))


@pytest.mark.parametrize("name", PLAIN)
def test_plain_text(name: str) -> None:
    text, expected = PLAIN[name]
    assert seen(read_blocks(text, plain=True)) == expected
    check(text, read_blocks(text, plain=True))


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("# 标题 #\n\n正文 `x`", ["# 标题 #", "正文 `x`"]),
        ("- **甲**：一\n  二", ["- **甲**：", "一\n  二"]),
        ("前\n\n```sh\nls\n```\n\n后", ["前", "```sh\nls\n```", "后"]),
        ("| a | b |\n|--|--|\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
        ("**Q：甲？** **A：乙。**", ["**Q：甲？**", "**A：乙。**"]),
        ("  1. 甲\n\n     乙", ["1. 甲", "乙"]),
        ("> 引\n> 用", ["引\n> 用"]),
        ("甲 &lt;\n\n乙 [丙](http://x)", ["甲 &lt;", "乙 [丙](http://x)"]),
    ],
)
def test_a_block_spans_its_own_characters(text: str, spans: list[str]) -> None:
    assert [text[block.start : block.end] for block in read_blocks(text)] == spans


def test_cells_are_spans_of_the_text() -> None:
    header, row = read_blocks("| 码 | 名 | |\n|--|--|--|\n| 1 | `a b` |")
    assert [header.text[start:end] for start, end in header.cells] == ["码", "名", ""]
    assert [row.text[start:end] for start, end in row.cells] == ["1", "a b", ""]


def test_a_cell_that_is_repeated_comes_from_one_place() -> None:
    text = "<table><tr><th>a</th><th>b</th></tr><tr><td rowspan=2>甲</td><td>1</td></tr><tr><td>2</td></tr></table>"
    rows = [block for block in read_blocks(text) if block.kind == "row"]
    assert [row.places[0] for row in rows] == [text.index("甲")] * 2


def test_levels() -> None:
    blocks = read_blocks("## 题\n\n- 甲\n  - 乙\n    1. 丙")
    assert [block.level for block in blocks] == [2, 1, 2, 3]


def test_standing_under() -> None:
    blocks = read_blocks("# 题\n\n如下：\n\n- 甲\n  - 乙")
    assert standing_under(blocks, 3) == (0, 1, 2)
    assert standing_under(blocks, 0) == ()


def check(text: str, blocks: tuple[Block, ...]) -> None:
    """What holds for every text."""
    text, end = text.replace("\r", "\t"), 0
    for index, block in enumerate(blocks):
        assert end <= block.start < block.end <= len(text)
        end = block.end
        assert block.text
        assert block.kind == "code" or not text[block.start].isspace()
        assert not text[end - 1].isspace()
        assert block.under is None or 0 <= block.under < index
        assert len(block.places) == len(block.text)
        assert all(0 <= place < len(text) for place in block.places)
        repeated = block.kind == "row" or block.kind == "header"
        assert repeated or list(block.places) == sorted(block.places)
        assert repeated or block.start <= block.places[0] <= block.places[-1] < block.end
        for character, place in zip(block.text, block.places, strict=True):
            source = text[place]
            blank = character == " " and (source.isspace() or source in "<\\")
            line = character == "\n" and source == "<"  # `<br>` in `<pre>`
            assert character == source or blank or line or source == "&" or (repeated and character in " |")
        assert all(0 <= start <= stop <= len(block.text) for start, stop in block.cells)


ALPHABET = "甲乙丙ab1２ \t\n\r\u3000#*_`~[]()<>!|&;:：{}%^$\\-+=.。、，Q问A答【】①（一）\"'/?"
SNIPPETS = [
    "**", "```\n", "- ", "1. ", "> ", "\n\n", "| a | b |\n|---|---|\n", "<table>", "<tr><td>", "</table>", "<br>", "<b>",
    "</b>", "<details>", "</details>", "<summary>", "<!--", "-->", "!!! note \"甲\"\n", "    ", ":::tip 题\n", ":::\n",
    "{{< x >}}", "![", "](u)", "[^1]", "Q：", "A：", "&lt;", "&nbsp;", "\\_", "【甲】", "【甲】\n", "\n: ", "职务：乙\n",
    "甲  乙\n", "<pre>", "<li>", "<dt>", "[!NOTE]\n", "---\n", "===\n", "[a]: b\n", "<script>", "$a_b$", "第一条 ", "一、", "1.1 甲\n",
    "<td rowspan=2 colspan=3>", "import 'a'\n", "*甲*", "\r\n", "<x>", "<h2>", "第一步：", "- [ ] ",
]  # fmt: skip
mixtures = st.lists(st.one_of(st.sampled_from(SNIPPETS), st.text(ALPHABET, max_size=6)), max_size=30).map(
    "".join
)


@settings(max_examples=600, deadline=None)
@given(st.one_of(mixtures, st.text(ALPHABET + "\u200b", max_size=80), st.text(max_size=60)), st.booleans())
def test_any_text_is_read(text: str, plain: bool) -> None:
    check(text, read_blocks(text, plain=plain))


WORD = st.text("东南西北春夏秋冬梅兰竹菊", min_size=2, max_size=6)
TEMPLATES = [
    "# {}\n", "{}\n===\n", "{}\n", "{}，\n{}\n", "{}  \n{}<br>{}\n", "{}：{}\n{}：{}\n", "- {}\n- {}\n  - {}\n\n  {}\n", "1. {}\n\n       {}\n",
    "1）{}\n2）{}\n", "（一）{}\n", "第一步：{}\n", "- [ ] {}\n", "| {} | {} |\n|---|---|\n| {} | **{}** | {} |\n| {} |\n",
    "<table><tr><th>{}</th><td>{}</td></tr><tr><td rowspan=2>{}</td></tr></table>\n", "{} <table><td>{}</table> {}\n",
    "{}  {}\n{}  {}\n", "```\n{}\n  {}\n```\n", "    {}\n", "> {}\n> {}\n", "**{}**\n", "**{}** {}\n", "- **{}**：{}\n", "【{}】\n{}\n",
    "【{}】{}\n", "{}\n: {}\n: {}\n", "{}\n\n: {}\n", '!!! note "{}"\n    {}\n\n    - {}\n', ":::tip {}\n{}\n:::\n", "> [!NOTE]\n> {}\n",
    "{{{{% tip %}}}}\n{}\n{{{{% /tip %}}}}\n", "<details><summary>{}</summary>\n\n{}\n\n</details>\n", "<dl><dt>{}</dt><dd>{}</dd></dl>\n",
    "Q：{} A：{}\n", "问：{}\n答：{}\n", "- Q: {}\n- A: {}\n", "1. 问：{}\n   答：{}\n", "<Tabs>\n{}\n</Tabs>\n", "a\\_{} &lt;{}&gt; <集{}>\n",
    "[{}](http://a) `{}` *{}* ~~{}~~ <b>{}</b> {}[^1]\n", "<ul><li>{}</li><li>{}<p>{}</p></li></ul>\n", "<pre>{}\n {}</pre>\n", "<h3>{}</h3>{}\n",
]  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, list[str]]:
    parts: list[str] = []
    words: list[str] = []
    for template in draw(st.lists(st.sampled_from(TEMPLATES), min_size=1, max_size=8)):
        chosen = [draw(WORD) for _ in range(len(re.findall(r"(?<!\{)\{\}(?!\})", template)))]
        words += chosen
        text = template.format(*chosen)
        indent = draw(st.sampled_from(["", "", "", "> ", "- "]))
        if indent:
            rest = "> " if indent == "> " else "  "
            lines = text.rstrip("\n").split("\n")
            text = "\n".join([indent + lines[0], *(rest + line for line in lines[1:])]) + "\n"
        parts.append(text)
    return "\n".join(parts), words


@settings(max_examples=400, deadline=None)
@given(documents())
def test_nothing_is_lost(document: tuple[str, list[str]]) -> None:
    text, words = document
    blocks = read_blocks(text)
    check(text, blocks)
    read = "\n".join(block.text for block in blocks)
    assert [word for word in words if word not in read] == []


@settings(max_examples=300, deadline=None)
@given(mixtures)
def test_plain_text_loses_no_letter(text: str) -> None:
    blocks = read_blocks(text, plain=True)
    held = {place for block in blocks for place in range(block.start, block.end)}
    fences = "```" in text or "|" in text  # the words behind a fence, tables of keywords
    assert fences or all(index in held for index, c in enumerate(text) if "\u3400" <= c <= "\u9fff")


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    "text",
    ["1", "[", "*", "|", "<", "【", "`", "_", "$", "![", "](", "<!--", "{{<", "**a", "> ", "<a ", "<x>", "<td rowspan=9999>", "Q：", "a  ", "- "],
)  # fmt: skip
def test_time_is_linear(text: str, plain: bool) -> None:
    began = time.process_time()
    read_blocks(text * (16_000 // len(text)), plain=plain)
    assert time.process_time() - began < 0.6


def test_what_is_nested_too_deep_is_read_as_lines() -> None:
    text = "> " * 120 + "甲"
    assert "甲" in read_blocks(text)[-1].text
