"""Documents: reading, front matter, ids, titles, identity."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core import Document
from llama_index.core.schema import MetadataMode

from gyr_hybrid import (
    DocumentError,
    GyrError,
    HybridIndex,
    LoadedDocuments,
    SectionNodeParser,
    load_documents,
)

Write = Callable[..., Path]


def one(path: Path) -> Document:
    loaded = load_documents(path)
    assert loaded.failed == {}
    assert len(loaded) == 1
    return loaded[0]


# reading


def test_the_result_is_a_list_of_documents_with_failed_beside_it(write: Write, tmp_path: Path) -> None:
    write("kb/a.md", "# 甲\n\n甲文。\n")
    write("kb/b.txt", "乙文。\n")
    loaded = load_documents(tmp_path / "kb")
    assert isinstance(loaded, LoadedDocuments)
    assert isinstance(loaded, list)
    assert all(isinstance(d, Document) for d in loaded)
    assert [d.id_ for d in loaded] == ["a.md", "b.txt"]
    assert loaded.failed == {}


def test_text_path_and_several_paths_are_taken(write: Write, tmp_path: Path) -> None:
    a, b = write("x/a.md", "甲文。"), write("y/b.md", "乙文。")
    assert [d.id_ for d in load_documents(str(a))] == ["a.md"]
    assert [d.id_ for d in load_documents([str(a), b])] == ["a.md", "b.md"]
    assert [d.id_ for d in load_documents([tmp_path / "x", tmp_path / "y"])] == ["a.md", "b.md"]
    assert [d.id_ for d in load_documents(p for p in (a, b))] == ["a.md", "b.md"]


def test_a_path_that_does_not_exist_raises_and_names_it(write: Write, tmp_path: Path) -> None:
    write("kb/a.md", "甲文。")
    with pytest.raises(GyrError, match="nowhere") as caught:
        load_documents(tmp_path / "nowhere")
    assert isinstance(caught.value, DocumentError)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_documents([tmp_path / "kb", tmp_path / "nowhere"])
    with pytest.raises(FileNotFoundError, match="''"):
        load_documents("")


def test_a_file_that_cannot_be_read_is_reported_and_the_others_go_in(write: Write, tmp_path: Path) -> None:
    write("kb/a.md", "甲文。")
    picture = write("kb/b.md", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\xff\xfe")
    loaded = load_documents(tmp_path / "kb")
    assert [d.id_ for d in loaded] == ["a.md"]
    assert list(loaded.failed) == [str(picture)]
    assert loaded.failed[str(picture)]


def test_an_empty_folder_gives_an_empty_list(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    loaded = load_documents(tmp_path / "empty")
    assert (list(loaded), loaded.failed) == ([], {})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "gb18030", "utf-16"])
def test_encodings_give_the_same_text(write: Write, encoding: str) -> None:
    text = "# 退款政策\n\n退款将在三个工作日内原路退回，请留意银行短信通知。如有疑问请联系客服。\n"
    assert one(write("a.md", text.encode(encoding))).text == text


def test_text_is_the_decoded_body_with_lf_and_otherwise_untouched(write: Write) -> None:
    body = "\r\n  　Ｅ１０４２ ﬁ é ﻿x\r\n第二行\r第三行 \t \r\n\r\n"
    document = one(write("a.md", b"\xef\xbb\xbf" + body.encode()))
    assert document.text == "\n  　Ｅ１０４２ ﬁ é ﻿x\n第二行\n第三行 \t \n\n"
    assert document.metadata["body_line"] == 1


def test_the_body_begins_at_the_line_after_the_front_matter_with_its_blank_lines(write: Write) -> None:
    document = one(write("a.md", "---\nid: kb-1\ntitle: 甲\n---\n\n\n# 甲\n\n文。"))
    assert document.text == "\n\n# 甲\n\n文。"
    assert document.metadata["body_line"] == 5
    crlf = one(write("b.md", "﻿---\r\nid: kb-2\r\n---\r\n甲文。\r\n".encode()))
    assert (crlf.id_, crlf.text, crlf.metadata["body_line"]) == ("kb-2", "甲文。\n", 4)


@pytest.mark.parametrize(
    "text", ["文。\n", "\n文。", "文。\n\n\n", "  文。  ", "a\n---\nb\n", "# 标\n\n---\n\n文。"]
)
def test_without_front_matter_the_text_is_the_file(write: Write, text: str) -> None:
    document = one(write("a.md", text))
    assert (document.text, document.metadata["body_line"]) == (text, 1)


# front matter


def test_scalars_stay_text(write: Write) -> None:
    document = one(
        write(
            "a.md",
            "---\ntenant: 010\nversion: 1.10\npublic: no\nflag: true\nnothing: null\nempty:\nupdated_at: 2026-01-05\n"
            "ratio: 1e3\noct: 0o17\nsix: 12:30:45\nacl: [销售, 007, yes]\n---\n文。",
        )
    )
    metadata = document.metadata
    assert metadata["tenant"] == "010"
    assert metadata["version"] == "1.10"
    assert metadata["public"] == "no"
    assert metadata["flag"] == "true"
    assert metadata["nothing"] == "null"
    assert metadata["updated_at"] == "2026-01-05"
    assert metadata["ratio"] == "1e3"
    assert metadata["oct"] == "0o17"
    assert metadata["six"] == "12:30:45"
    assert metadata["acl"] == ["销售", "007", "yes"]
    assert all(
        isinstance(v, str) or (isinstance(v, list) and all(isinstance(i, str) for i in v))
        for k, v in metadata.items()
        if k != "body_line"
    )


def test_a_nested_value_is_kept_as_json_text(write: Write) -> None:
    metadata = one(
        write("a.md", "---\nowner:\n  name: 王\n  phone: 010\nmix: [a, {b: c}]\n---\n文。")
    ).metadata
    assert json.loads(metadata["owner"]) == {"name": "王", "phone": "010"}
    assert json.loads(metadata["mix"]) == ["a", {"b": "c"}]
    assert "王" in metadata["owner"]


@pytest.mark.parametrize(
    "text",
    [
        "---\n- a\n- b\n---\n文。",
        "---\n只是一句话\n---\n文。",
        "---\n---\n文。",
        "---\n\n---\n文。",
        "---\n文。\n",
    ],
)
def test_a_block_that_is_no_mapping_is_text(write: Write, text: str) -> None:
    document = one(write("a.md", text))
    assert document.text == text
    assert document.metadata["body_line"] == 1


# ids


def test_the_id_is_the_front_matters_else_the_relative_posix_path(write: Write, tmp_path: Path) -> None:
    write("kb/a/文档.md", "甲文。")
    write("kb/b.md", "---\nid: kb-9\n---\n乙文。")
    assert {d.id_ for d in load_documents(tmp_path / "kb")} == {"a/文档.md", "kb-9"}
    assert one(tmp_path / "kb/a/文档.md").id_ == "文档.md"
    assert one(tmp_path / "kb/a").id_ == "文档.md"


def test_the_id_does_not_depend_on_the_working_directory(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("kb/a/b.md", "甲文。")
    monkeypatch.chdir(tmp_path / "kb")
    assert [d.id_ for d in load_documents(".")] == ["a/b.md"]
    assert [d.id_ for d in load_documents("../kb/")] == ["a/b.md"]
    assert [d.id_ for d in load_documents("a/b.md")] == ["b.md"]


def test_a_path_is_normalised_to_nfc_and_its_bad_characters_percent_encoded(write: Write) -> None:
    assert one(write("cafe\u0301.md", "文。")).id_ == "caf\u00e9.md"
    assert one(write("a#1@2 [x]【y】,，;%.md", "文。")).id_ == (
        "a%231%402 %5Bx%5D%E3%80%90y%E3%80%91%2C%EF%BC%8C%3B%25.md"
    )
    assert one(write("tab\there.md", "文。")).id_ == "tab%09here.md"
    assert one(write(" lead.md", "文。")).id_ == "%20lead.md"


@pytest.mark.parametrize(
    "bad",
    [
        "a#1",
        "a@2",
        "a[b",
        "a]b",
        "a【b",
        "a】b",
        "a,b",
        "a，b",
        "a;b",
        "50%",
        "a\tb",
        "a\x07b",
        '" a"',
        '"a "',
    ],
)
def test_a_bad_explicit_id_is_reported_by_path(write: Write, bad: str, tmp_path: Path) -> None:
    quoted = bad if bad.startswith('"') else json.dumps(bad)
    path = write("kb/a.md", f"---\nid: {quoted}\n---\n文。")
    write("kb/b.md", "乙文。")
    loaded = load_documents(tmp_path / "kb")
    assert [d.id_ for d in loaded] == ["b.md"]
    assert list(loaded.failed) == [str(path)]


def test_an_encoded_path_is_a_good_id_and_a_percent_sign_of_ones_own_is_not(
    write: Write, tmp_path: Path, index_of: Any, doc: Any
) -> None:
    write("kb/100% #1.md", "满减说明。")
    index = index_of()
    assert index.upsert(load_documents(tmp_path / "kb")).added == ["100%25 %231.md"]
    assert index.document("100%25 %231.md").text == "满减说明。"
    rows = index.as_retriever().retrieve("满减说明")
    assert [row.node.node_id for row in rows] == ["100%25 %231.md#1"]
    assert list(index.upsert([doc("100%", "文。")]).failed) == ["100%"]


def test_a_plain_document_uses_its_id(doc: Any) -> None:
    nodes = SectionNodeParser().get_nodes_from_documents([doc("mine", "一句话。")])
    assert [n.id_ for n in nodes] == ["mine#1", "mine#1.1"]
    assert {n.ref_doc_id for n in nodes} == {"mine"}


# bad input


def test_bad_documents_are_reported_and_all_others_stored(doc: Any, index_of: Any) -> None:
    index = index_of()
    report = index.upsert(
        [
            doc("good", "好文。"),
            doc("twin", "甲文。", version="1"),
            doc("twin", "乙文。", version="1"),
            doc("pair", "甲文。", version="1"),
            doc("pair", "乙文。", version="2"),
            doc("bad#id", "文。"),
            doc("blank", " \n　\t\n"),
            doc("empty", ""),
            doc("version", "文。", version="1#2"),
            doc("date", "文。", valid_from="someday"),
            doc("value", "文。", thing=object()),
        ]
    )
    assert sorted(report.added) == ["good", "pair"]
    assert set(report.failed) == {"twin", "bad#id", "blank", "empty", "version", "date", "value"}
    assert all(isinstance(reason, str) and reason for reason in report.failed.values())
    assert "bad#id" in report.failed["bad#id"]
    assert "twin" in report.failed["twin"]


def test_from_documents_reports_too_and_does_not_raise(doc: Any, index_of: Any) -> None:
    index = index_of(doc("good", "好文。"), doc("bad@id", "文。"), doc("empty", ""))
    assert index.document("good").text == "好文。"
    with pytest.raises(GyrError):
        index.document("empty")


def test_failed_files_are_copied_into_the_report(write: Write, tmp_path: Path, index_of: Any) -> None:
    write("kb/a.md", "甲文。")
    bad = write("kb/b.md", "---\nid: x#y\n---\n文。")
    loaded = load_documents(tmp_path / "kb")
    report = index_of().upsert(loaded)
    assert report.added == ["a.md"]
    assert report.failed == loaded.failed
    assert set(report.failed) == {str(bad)}


@pytest.mark.parametrize(
    "documents",
    [
        [Document(id_="a#1", text="文。")],
        [Document(id_="a", text="  \n")],
        [Document(id_="a", text="甲。"), Document(id_="a", text="乙。")],
    ],
)
def test_the_parser_alone_raises(documents: list[Document]) -> None:
    with pytest.raises(DocumentError):
        SectionNodeParser().get_nodes_from_documents(documents)


def test_odd_documents_never_stop_the_others(doc: Any, index_of: Any) -> None:
    index = index_of()
    report = index.upsert(
        [
            doc("heading", "# 只有标题"),
            doc("good", "好文。"),
            doc("image", "![](a.png)"),
            doc("comment", "<!-- 注释 -->"),
            doc("rule", "---"),
            doc("zero", "甲\x00乙。"),
            doc("surrogate", "甲\ud800乙。"),
        ]
    )
    assert "good" in report.added
    assert set(report.added) | set(report.failed) == {
        "heading", "good", "image", "comment", "rule", "zero", "surrogate",
    }  # fmt: skip
    assert "heading" in report.failed


# titles


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 元数据\n---\n# 标题一\n\n文。", "元数据"),
        ("# 标题一\n\n文。\n\n# 标题二\n\n文。", "标题一"),
        ("## 二级\n\n文。\n\n# 后面的一级\n\n文。", "后面的一级"),
        ("## 二级\n\n文。", "手册"),
        ("只有正文。", "手册"),
        ("```\n# 注释\n```\n\n文。", "手册"),
        ("标题\n====\n\n文。", "标题"),
    ],
)
def test_the_title_is_metadata_else_the_first_h1_else_the_stem(write: Write, text: str, title: str) -> None:
    document = one(write("手册.md", text))
    assert document.metadata["title"] == title
    assert {n.metadata["title"] for n in SectionNodeParser().get_nodes_from_documents([document])} == {title}


def test_a_plain_document_without_title_has_its_id_which_is_not_embedded(doc: Any) -> None:
    nodes = SectionNodeParser().get_nodes_from_documents([doc("kb-77", "## 退款\n\n三天到账。")])
    assert [n.metadata["title"] for n in nodes] == ["kb-77", "kb-77"]
    assert [n.metadata["header_path"] for n in nodes] == [["kb-77", "退款"]] * 2
    embedded = nodes[1].get_content(MetadataMode.EMBED)
    assert "kb-77" not in embedded
    assert embedded.splitlines()[0] == "退款"
    with_h1 = SectionNodeParser().get_nodes_from_documents([doc("kb-77", "# 退款\n\n三天到账。")])
    assert with_h1[0].metadata["title"] == "退款"


# identity


def test_versions_are_in_node_ids_and_not_in_the_document_id(write: Write) -> None:
    document = one(write("a.md", "---\nid: kb-002\nversion: 2\n---\n# 价格\n\n九十九元。"))
    assert document.id_ == "kb-002"
    nodes = SectionNodeParser().get_nodes_from_documents([document])
    assert [n.id_ for n in nodes] == ["kb-002@2#1", "kb-002@2#1.1"]
    assert {n.ref_doc_id for n in nodes} == {"kb-002"}
    assert {n.metadata["version"] for n in nodes} == {"2"}
    assert {n.metadata["doc_id"] for n in nodes} == {"kb-002"}


def test_two_versions_in_one_call_keep_their_own_metadata(doc: Any) -> None:
    nodes = SectionNodeParser().get_nodes_from_documents(
        [doc("kb", "旧文。", version="1", valid_to="2024-01-01"), doc("kb", "新文。", version="2")]
    )
    by_id = {n.id_: n for n in nodes}
    assert set(by_id) == {"kb@1#1", "kb@1#1.1", "kb@2#1", "kb@2#1.1"}
    assert by_id["kb@1#1"].text == "旧文。"
    assert by_id["kb@2#1.1"].text == "新文。"
    assert by_id["kb@1#1.1"].metadata["valid_to"] == "2024-01-01"
    assert "valid_to" not in by_id["kb@2#1.1"].metadata


def test_upsert_replaces_the_same_version_only_and_delete_one_or_all(doc: Any, index_of: Any) -> None:
    index: HybridIndex = index_of(
        doc("kb-002", "旧价格九元。", version="1", valid_to="2020-01-01"),
        doc("kb-002", "新价格十元。", version="2"),
        doc("kb-003", "别的文。"),
    )
    assert index.upsert([doc("kb-002", "新价格十一元。", version="2")]).updated == ["kb-002"]
    assert index.document("kb-002").text == "新价格十一元。"
    assert index.document("kb-002@2").text == "新价格十一元。"
    assert index.document("kb-002@1").text == "旧价格九元。"
    assert index.document("kb-002@1").id_ == "kb-002"
    assert index.document("kb-002@1").metadata["version"] == "1"
    assert index.delete(["kb-002@2"]) == 1
    assert index.document("kb-002@1").text == "旧价格九元。"
    assert index.delete(["kb-002"]) == 1
    assert index.delete("kb-003") == 1
    assert index.delete(["kb-002", "nobody", "kb-003@7"]) == 0


# metadata


def test_every_node_carries_the_metadata_and_absent_keys_are_left_out(write: Write) -> None:
    full = one(
        write(
            "a.md",
            "---\nid: kb-1\ntitle: 价格\ncategory: 套餐\nurl: https://x.cn/1\nupdated_at: 2026-01-05\nversion: 3\n"
            "valid_from: 2026-01-01\nvalid_to: 2027-01-01\ntenant: t1\nacl: [hr, boss]\ndept: 售后\nempty_list: []\n"
            "---\n# 价格\n\n十元。",
        )
    )
    for node in SectionNodeParser().get_nodes_from_documents([full]):
        expected = {
            "doc_id": "kb-1", "title": "价格", "header_path": ["价格"], "category": "套餐", "source": "a.md",
            "url": "https://x.cn/1", "updated_at": "2026-01-05", "version": "3", "valid_from": "2026-01-01",
            "valid_to": "2027-01-01", "tenant": "t1", "acl": ["hr", "boss"], "dept": "售后", "section_level": 1,
        }  # fmt: skip
        assert {k: node.metadata.get(k) for k in expected} == expected
    bare = one(write("b.md", "# 价格\n\n十元。"))
    for node in SectionNodeParser().get_nodes_from_documents([bare]):
        absent = "category url updated_at version valid_from valid_to tenant acl".split()
        assert [k for k in absent if k in node.metadata] == []
        assert None not in node.metadata.values()


def test_acl_as_text_is_one_principal_in_a_list(doc: Any) -> None:
    node = SectionNodeParser().get_nodes_from_documents([doc("a", "文。", acl="hr")])[0]
    assert node.metadata["acl"] == ["hr"]


def test_flat_metadata_joins_lists(doc: Any) -> None:
    document = doc("a", "# 价格\n\n## 年付\n\n十元。", acl=["hr", "boss"], tags=["x", "y"])
    for node in SectionNodeParser(flat_metadata=True).get_nodes_from_documents([document]):
        assert all(isinstance(v, str | int | float | bool) for v in node.metadata.values())
        assert "hr" in node.metadata["acl"]
        assert "boss" in node.metadata["acl"]
        assert node.metadata["header_path"] == "价格 > 年付"


def test_metadata_never_eats_the_size_budget(doc: Any) -> None:
    text = "# 说明\n\n" + "".join(f"第{i}步请按下红色按钮并等待十秒钟。" for i in range(80))
    plain = SectionNodeParser().get_nodes_from_documents([doc("a", text)])
    heavy = SectionNodeParser().get_nodes_from_documents(
        [doc("a", text, note="备注" * 5000, path="x/" * 900)]
    )
    assert [(n.id_, n.text) for n in plain] == [(n.id_, n.text) for n in heavy]


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_reading_is_decoding_and_nothing_else(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    body = "甲" + text.replace("\0", "")
    path = tmp_path_factory.mktemp("any") / "a.txt"
    path.write_bytes(body.encode())
    loaded = load_documents(path)
    assert [d.text for d in loaded] == [body.replace("\r\n", "\n").replace("\r", "\n")]
