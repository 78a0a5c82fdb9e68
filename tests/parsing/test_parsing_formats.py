"""Readers of file formats. The samples were written by LibreOffice 7.4 and a Chinese font."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

import pytest
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from gyr_hybrid import HybridIndex, SectionNodeParser, load_documents
from gyr_hybrid.errors import DocumentError
from gyr_hybrid.parsing.formats import registry
from gyr_hybrid.parsing.formats.archives import check_archive
from gyr_hybrid.parsing.formats.markdown_text import MarkdownText
from gyr_hybrid.parsing.formats.reading import FileReadings

SAMPLES = Path(__file__).parent / "samples"


def read(data: bytes | str, extension: str) -> FileReadings:
    return registry.read_file(data.encode() if isinstance(data, str) else data, extension)


def text_of(data: bytes | str, extension: str) -> str:
    (reading,) = read(data, extension).readings
    return reading.text


def nodes_of(path: Path) -> list[TextNode]:
    docs = load_documents(path)
    assert docs.failed == {}
    nodes = SectionNodeParser().get_nodes_from_documents(docs)
    for node in nodes:
        assert docs[0].text[node.start_char_idx : node.end_char_idx] == node.text
        assert "places" not in node.metadata
    return nodes


def test_an_unknown_extension_says_what_to_do() -> None:
    with pytest.raises(DocumentError, match=r"no reader for \.doc; save it as \.docx"):
        read(b"", ".doc")


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, *_: object) -> None:
        raise ModuleNotFoundError("No module named 'pdfplumber'", name="pdfplumber")

    monkeypatch.setattr(registry, "import_module", missing)
    with pytest.raises(DocumentError, match=r"pip install 'gyr_hybrid\[pdf\]'"):
        read(b"", ".pdf")


@pytest.mark.parametrize("extension", [".docx", ".xlsx", ".pdf"])
def test_damaged_files_are_reported(extension: str, tmp_path: Path) -> None:
    pytest.importorskip({".docx": "docx", ".xlsx": "openpyxl", ".pdf": "pdfplumber"}[extension])
    file = tmp_path / f"a{extension}"
    for content in (b"", b"nonsense", (SAMPLES / "manual.docx").read_bytes()[:3000]):
        file.write_bytes(content)
        docs = load_documents(tmp_path)
        assert list(docs) == []
        assert docs.failed[str(file)]


def test_a_zip_bomb_is_not_unpacked() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * (40 << 20))
    with pytest.raises(DocumentError, match="zip bomb"):
        check_archive(packed.getvalue())


# Written Markdown


def test_text_that_looks_like_structure_is_escaped() -> None:
    written = MarkdownText()
    written.paragraph("# 不是标题\n好\n---\nsoft\u00adware\u200b  x\x07")
    written.heading(2, " 标 \n 题 ")
    written.code("a\n```\nb")
    assert written.text() == "\\# 不是标题\n好\n\\---\nsoftware x\n\n## 标 题\n\n````\na\n```\nb\n````"


def test_places_are_where_the_next_block_begins() -> None:
    written = MarkdownText()
    for number in (1, 2):
        written.place("page", str(number))
        written.paragraph(f"第 {number} 段")
    assert [written.text()[at : at + 5] for at, _, _ in written.places()] == ["第 1 段", "第 2 段"]


# HTML

PAGE = """<html><head><title>退款说明 - 商城</title><link rel="canonical" href="https://shop.example/refund">
<meta property="article:modified_time" content="2026-01-02"><style>x{}</style></head><body>
<header>站点</header><nav><ul><li>首页</li></ul></nav><main><h1 id="top">退款说明</h1>
<p>签收后<b>七天</b>内 可退。<br>超过不退。</p><h2 id="time">时限</h2>
<div>普通商品 7 天<p>生鲜 <code>24h</code></p></div><ul><li>甲<ol><li>一</li></ol></li><li>乙</li></ul>
<table><tr><th>错误码</th><th>说明</th></tr><tr><td rowspan=2>E1042</td><td>列名</td></tr><tr><td>日期|格式</td></tr></table>
<pre>a = 1
  b</pre><h2>其他</h2><dl><dt>运费</dt><dd>买家承担</dd></dl><script>alert(1)</script><!-- 注 --></main>
<footer>版权</footer></body></html>"""


def test_html_keeps_structure_and_leaves_navigation_out(tmp_path: Path) -> None:
    pytest.importorskip("bs4")
    assert text_of(PAGE, ".html") == (
        "# 退款说明\n\n签收后七天内 可退。\n超过不退。\n\n## 时限\n\n普通商品 7 天\n\n生鲜 `24h`\n\n- 甲\n  1. 一\n- 乙\n\n"
        "| 错误码 | 说明 |\n| --- | --- |\n| E1042 | 列名 |\n| E1042 | 日期\\|格式 |\n\n```\na = 1\n  b\n```\n\n"
        "## 其他\n\n**运费**\n\n买家承担"
    )
    file = tmp_path / "a.html"
    file.write_text(PAGE, encoding="utf-8")
    first, *_, last = nodes_of(file)
    about = {
        "title": "退款说明",
        "url": "https://shop.example/refund",
        "updated_at": "2026-01-02",
        "anchor": "top",
    }
    assert about.items() <= first.metadata.items()
    assert "anchor" not in last.metadata
    assert "url" not in first.get_content("embed")


def test_a_page_written_by_a_word_processor() -> None:
    pytest.importorskip("bs4")
    assert load_documents(SAMPLES / "manual.html")[0].text.split("\n\n") == [
        "# 保修手册",
        "本手册适用于 NovaTrail 系列，全国联保。",
        "## 保修范围",
        "自签收之日起 12 个月内，非人为损坏免费维修。",
        "- 主机：12 个月\n- 配件：6 个月",
        "## 故障代码",
        "| 代码 | 含义 | 处理 |\n| --- | --- | --- |\n| E1042 | 列名与模板不匹配 | 下载最新模板 |\n"
        "| E1043 | 文件编码错误 | 另存为 UTF-8 |\n| E2017 | 图片无法识别 | 重拍清晰照片 |",
        "## 联系我们",
        "客服电话 400-820-0000，工作日 9:00 至 18:00。",
    ]


def test_html_end_tags_may_be_left_out() -> None:
    page = "<p>甲<p>乙<ul><li>一<li>二<ul><li>三</ul></ul><table><tr><th>码<th>义<tr><td>E1<td>断电</table>"
    assert text_of(page, ".html") == (
        "甲\n\n乙\n\n- 一\n- 二\n  - 三\n\n| 码 | 义 |\n| --- | --- |\n| E1 | 断电 |"
    )


def test_html_declares_its_encoding() -> None:
    pytest.importorskip("bs4")
    page = '<meta http-equiv="Content-Type" content="text/html; charset=gb2312"><p>退款镕</p>'
    assert text_of(page.encode("gb18030"), ".html") == "退款镕"


def test_html_without_h1_takes_the_pages_title() -> None:
    pytest.importorskip("bs4")
    (reading,) = read("<title>甲</title><p>乙</p>", ".htm").readings
    assert reading.metadata == {"title": "甲"}


def test_html_with_absurd_nesting_is_read() -> None:
    pytest.importorskip("bs4")
    assert "甲" in text_of("<div>" * 3000 + "甲" + "</div>" * 3000, ".html")
    assert "甲" in text_of("<b>" * 400 + "甲", ".html")


def test_an_empty_page_is_reported() -> None:
    pytest.importorskip("bs4")
    with pytest.raises(DocumentError, match="no text"):
        read("<body><nav>首页</nav><script>x</script></body>", ".html")


# Word


def test_word_headings_lists_and_tables() -> None:
    pytest.importorskip("docx")
    nodes = nodes_of(SAMPLES / "manual.docx")
    assert [
        (n.id_.removeprefix("manual.docx"), n.metadata["header_path"]) for n in nodes if n.parent_node is None
    ] == [
        ("#1", ["保修手册"]),
        ("#2", ["保修手册", "保修范围"]),
        ("#3", ["保修手册", "故障代码"]),
        ("#4", ["保修手册", "联系我们"]),
    ]
    rows = [n.text.rstrip() for n in nodes if "table_header" in n.metadata]
    assert rows[0] == "| E1042 | 列名与模板不匹配 | 下载最新模板 |"
    assert len(rows) == 3


def test_word_shows_the_numbers_that_are_not_in_the_text() -> None:
    pytest.importorskip("docx")
    text = load_documents(SAMPLES / "contract.docx")[0].text
    assert text.split("\n\n") == [
        "# 租赁合同",
        "甲乙双方经协商一致，订立本合同。",
        "第一条 甲方将房屋出租给乙方使用。",
        "第二条 租金每月 3,500 元，乙方应当：",
        "（一） 按月支付租金；",
        "（二） 爱护房屋设施。",
        "第三条 本合同自签字之日起生效。",
        "附件：",
        "- 房屋平面图\n- 设施清单",
    ]


def test_word_keeps_insertions_and_drops_deletions(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    from docx.oxml import parse_xml

    document = docx.Document()
    ns = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    for xml in (
        f"<w:p {ns}><w:r><w:t>七</w:t></w:r><w:ins><w:r><w:t>个工作</w:t></w:r></w:ins>"
        f"<w:del><w:r><w:delText>自然</w:delText></w:r></w:del><w:r><w:t>日</w:t></w:r></w:p>",
        f"<w:sdt {ns}><w:sdtContent><w:p><w:r><w:t>表单内容</w:t></w:r></w:p></w:sdtContent></w:sdt>",
        f'<w:sdt {ns}><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>'
        f"<w:sdtContent><w:p><w:r><w:t>目录</w:t></w:r></w:p></w:sdtContent></w:sdt>",
    ):
        document.element.body.insert(len(document.element.body) - 1, parse_xml(xml))
    document.save(tmp_path / "a.docx")
    assert load_documents(tmp_path)[0].text == "七个工作日\n\n表单内容"


@pytest.mark.parametrize(
    ("number", "chinese"),
    [(3, "三"), (10, "十"), (11, "十一"), (20, "二十"), (101, "一百零一"), (1010, "一千零一十")],
)
def test_chinese_numbers(number: int, chinese: str) -> None:
    from gyr_hybrid.parsing.formats import word_numbering

    assert word_numbering.chinese(number) == chinese


# Sheets


def workbook(rows: list[list[object]], merge: str = "", second: Sequence[list[object]] = ()) -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "表一"
    for row in rows:
        book.active.append(row)
    if merge:
        book.active.merge_cells(merge)
    sheet = book.create_sheet("表二") if second else None
    for row in second:
        sheet.append(row)
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


def test_a_sheet_of_codes_has_a_child_per_row_with_its_place() -> None:
    pytest.importorskip("openpyxl")
    rows = [n for n in nodes_of(SAMPLES / "stock.xlsx") if "table_header" in n.metadata]
    assert [(n.metadata["sheet"], n.metadata["row"], n.text.rstrip()) for n in rows] == [
        ("stock", "2", "| NS-X2-BLK-M | 黑色 | M | 12 |"),
        ("stock", "3", "| NS-X2-BLK-L | 黑色 | L | 8 |"),
        ("stock", "4", "| NS-X2-WHT-M | 白色 | M | 5 |"),
    ]
    assert {n.metadata["table_header"] for n in rows} == {"| 型号 | 颜色 | 尺码 | 库存 |"}


def test_cells_are_written_as_people_read_them() -> None:
    data = workbook(
        [["2026 年报价", None], [None, None], ["型号", "价格", "日期", "有货"], ["A1", 1299.0, date(2026, 1, 2), True],
         ["A2", 0.1 + 0.2, datetime(2026, 1, 2, 3, 4), False], ["A3", 10, None, None]]
    )  # fmt: skip
    assert text_of(data, ".xlsx") == (
        "## 表一\n\n2026 年报价\n\n| 型号 | 价格 | 日期 | 有货 |\n| --- | --- | --- | --- |\n"
        "| A1 | 1299 | 2026-01-02 | 是 |\n| A2 | 0.3 | 2026-01-02 03:04:00 | 否 |\n| A3 | 10 |  |  |"
    )


def test_a_category_merged_downwards_is_that_of_each_row() -> None:
    data = workbook([["类别", "项目"], ["售后", "退款"], [None, "换货"]], merge="A2:A3")
    assert text_of(data, ".xlsx").endswith("| 售后 | 退款 |\n| 售后 | 换货 |")


def test_questions_and_answers_are_sections(tmp_path: Path) -> None:
    file = tmp_path / "faq.csv"
    file.write_bytes(
        '问题,答案,分类,适用型号\n怎么退款？,"七天内可退。\n须保留凭证。",售后,\n多久发货？,1-3 天,,X2\n'.encode(
            "gbk"
        )
    )
    sections = [n for n in nodes_of(file) if n.parent_node is None]
    assert [
        (n.metadata["header_path"], n.metadata["row"], n.metadata.get("分类"), n.text) for n in sections
    ] == [
        (["faq", "怎么退款？"], "2", "售后", "### 怎么退款？\n\n七天内可退。\n须保留凭证。"),
        (["faq", "多久发货？"], "3", None, "### 多久发货？\n\n1-3 天\n\n适用型号：X2"),
    ]


def test_what_a_column_says_about_a_question_is_filtered_by_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "faq.csv"
    file.write_text(
        "问题,答案,分类,备注\n怎么退款？,七天内到账。,售后,张三维护\n怎么退货？,七天内寄回。,物流,仅内部可见\n",
        encoding="utf-8",
    )
    with HybridIndex.from_documents(load_documents(str(file)), offline=True) as index:
        answer = index.as_query_engine().query("怎么退款")
        assert str(answer).endswith("\n\n七天内到账。[faq.csv#1]")
        assert answer.citations[0].quote == "七天内到账。"
        only = MetadataFilters(filters=[MetadataFilter(key="分类", value="物流")])
        found = index.as_retriever(filters=only).retrieve("怎么退款")
        assert [hit.node.node_id for hit in found] == ["faq.csv#2"]


def test_what_a_sheet_of_questions_says_about_them_ends_with_it(tmp_path: Path) -> None:
    faq: list[list[object]] = [["问题", "答案", "分类"], ["怎么退款？", "七天内。", "售后"]]
    (tmp_path / "a.xlsx").write_bytes(workbook(faq, second=[["型号", "价格"], ["A1", "9"]]))
    sections = [n for n in nodes_of(tmp_path / "a.xlsx") if n.parent_node is None]
    assert [n.metadata.get("分类") for n in sections] == ["售后", None]


def test_long_rows_are_records_with_the_name_of_each_column() -> None:
    text = text_of(f"型号,说明\nA1,{'长' * 300}\n", ".csv")
    assert text == f"### A1\n\n型号：A1\n\n说明：{'长' * 300}"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_delimiters_are_found(delimiter: str) -> None:
    data = "\n".join(delimiter.join(row) for row in (["代码", "说明"], ["E1", "甲"], ["E2", "乙"]))
    assert text_of(data, ".csv") == "| 代码 | 说明 |\n| --- | --- |\n| E1 | 甲 |\n| E2 | 乙 |"


def test_a_table_saved_in_gbk_by_a_spreadsheet() -> None:
    nodes = nodes_of(SAMPLES / "stock.csv")
    rows = [(n.metadata["row"], n.text.rstrip()) for n in nodes if "table_header" in n.metadata]
    assert rows == [
        ("2", "| NS-X2-BLK-M | 黑色 | M | 12 |"),
        ("3", "| NS-X2-BLK-L | 黑色 | L | 8 |"),
        ("4", "| NS-X2-WHT-M | 白色 | M | 5 |"),
    ]


def test_a_cell_past_all_bounds_is_reported_and_other_files_go_in(tmp_path: Path) -> None:
    (tmp_path / "huge.csv").write_text(f"代码,说明\nE1,{'长' * 200_000}\n", encoding="utf-8")
    (tmp_path / "ok.csv").write_text("代码,说明\nE1,短\n", encoding="utf-8")
    loaded = load_documents(tmp_path)
    assert [document.id_ for document in loaded] == ["ok.csv"]
    assert "larger than field limit" in loaded.failed[str(tmp_path / "huge.csv")]


def test_an_empty_sheet_is_reported() -> None:
    for data, extension in ((workbook([]), ".xlsx"), (b"", ".csv"), (b",,\n,,\n", ".csv")):
        with pytest.raises(DocumentError, match="no cells"):
            read(data, extension)


# Plain text


def test_a_contract_saved_as_text_with_indented_articles() -> None:
    sections = [n for n in nodes_of(SAMPLES / "contract.txt") if n.parent_node is None]
    assert [n.metadata["header_path"] for n in sections] == [
        ["contract"],
        ["contract", "第一条"],
        ["contract", "第二条"],
        ["contract", "第三条"],
    ]
    assert sections[1].text == "第一条 甲方将房屋出租给乙方使用。"


# JSON


def test_each_record_is_a_document_and_bad_ones_are_named(tmp_path: Path) -> None:
    file = tmp_path / "faq.jsonl"
    lines = [
        json.dumps({"id": "q1", "question": "怎么退款？", "answer": "七天内。", "tags": ["a"], "n": 3}),
        '{"title": "说明", "text": "# 甲\\r\\n\\r\\n乙。"}',
        "nonsense",
        '{"x": 1}',
        '{"id": "a#b", "text": "丙"}',
        "",
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    docs = load_documents(file)
    assert [(doc.id_, doc.metadata["title"], doc.text) for doc in docs] == [
        ("q1", "faq", "## 怎么退款？\n\n七天内。"),
        ("faq.jsonl/2", "说明", "# 甲\n\n乙。"),
    ]
    assert docs[0].metadata["tags"] == ["a"]
    assert docs[0].metadata["n"] == "3"
    reason = docs.failed[str(file)]
    assert "line 3" in reason
    assert "record 4 has no text" in reason
    assert "'a#b'" in reason


def test_json_holds_a_list_or_one_record() -> None:
    assert [r.text for r in read('[{"text": "甲"}, {"content": "乙"}]', ".json").readings] == ["甲", "乙"]
    assert text_of('{"body": "丙"}', ".json") == "丙"
    for bad in ("{", "[]", '{"a": 1}', "3"):
        with pytest.raises(DocumentError):
            read(bad, ".json")


# PDF


def test_pdf_headings_lists_tables_and_pages() -> None:
    pytest.importorskip("pdfplumber")
    nodes = nodes_of(SAMPLES / "manual.pdf")
    assert nodes[0].metadata["title"] == "保修手册"
    assert {n.metadata["page"] for n in nodes} == {"1"}
    rows = [n for n in nodes if "table_header" in n.metadata]
    assert rows[0].text.rstrip() == "| E1042 | 列名与模板不匹配 | 下载最新模板 |"
    assert {n.metadata["table_header"] for n in rows} == {"| 代码 | 含义 | 处理 |"}
    assert any("- 主机：12 个月\n- 配件：6 个月" in n.text for n in nodes)


def test_pdf_columns_are_read_one_after_the_other_without_heads_and_feet() -> None:
    pytest.importorskip("pdfplumber")
    (document,) = load_documents(SAMPLES / "columns.pdf")
    first, *paragraphs = document.text.split("\n\n")
    assert first == "# 仓储作业通讯"
    assert [p[:4] for p in paragraphs] == ["左栏第一", "左栏第二", "中间一段", "右栏末段"] * 3
    assert "内部资料" not in document.text
    assert "页" not in document.text
    assert [(key, value) for _, key, value in json.loads(document.metadata["places"])] == [
        ("page", "1"),
        ("page", "2"),
    ]


def test_a_scanned_page_among_others_is_named_and_the_others_are_read() -> None:
    pytest.importorskip("pdfplumber")
    loaded = load_documents(SAMPLES / "scanned.pdf")
    assert loaded[0].text == "# 收货单\n\n签收后请把回单寄回仓库。"
    assert list(loaded.failed.values()) == ["Pages without text (pictures?) were left out: 2."]


def test_a_scanned_pdf_is_reported(tmp_path: Path) -> None:
    pytest.importorskip("pdfplumber")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>",
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    body += (
        b"xref\n0 4\n0000000000 65535 f \n%strailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (
            table,
            len(body),
        )
    )
    file = tmp_path / "scan.pdf"
    file.write_bytes(body)
    assert "no text" in load_documents(file).failed[str(file)]
