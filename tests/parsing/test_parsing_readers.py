"""Files to documents: bodies, front matter, ids, titles, and what cannot be read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gyr_hybrid import LoadedDocuments, load_documents
from gyr_hybrid.errors import DocumentError


def write(folder: Path, name: str, content: str | bytes) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def load_one(folder: Path, content: str | bytes, name: str = "a.md"):
    docs = load_documents(write(folder, name, content))
    assert docs.failed == {}
    return docs[0]


def test_a_folder_is_read_with_all_below_it_in_the_order_of_its_paths(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "# 乙\n\n正文。")
    write(tmp_path, "a/c.md", "# 丙\n\n正文。")
    write(tmp_path, "a/d.txt", "正文。")
    docs = load_documents(tmp_path)
    assert isinstance(docs, LoadedDocuments)
    assert isinstance(docs, list)
    assert [doc.id_ for doc in docs] == ["a/c.md", "a/d.txt", "b.md"]
    assert [doc.metadata["source"] for doc in docs] == ["a/c.md", "a/d.txt", "b.md"]
    assert docs.failed == {}


def test_several_paths_and_strings_are_read_in_the_order_given(tmp_path: Path) -> None:
    one, two = write(tmp_path, "x/a.md", "甲。"), write(tmp_path, "y/b.md", "乙。")
    docs = load_documents([str(two), one.parent])
    assert [doc.id_ for doc in docs] == ["b.md", "a.md"]
    assert docs.roots == [two.as_posix(), one.parent.as_posix()]
    assert [docs.root_of(doc) for doc in docs] == docs.roots


def test_the_root_is_absolute_and_not_in_the_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "kb/a.md", "甲。")
    monkeypatch.chdir(tmp_path)
    docs = load_documents("kb")
    assert docs.root_of(docs[0]) == (tmp_path / "kb").as_posix()
    assert str(tmp_path) not in json.dumps(docs[0].metadata)


def test_a_folder_shows_its_progress(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for n in range(3):
        write(tmp_path, f"{n}.md", "文。")
    load_documents(tmp_path)
    assert capsys.readouterr().err == ""
    load_documents(tmp_path, show_progress=True)
    assert "3/3" in capsys.readouterr().err


def test_only_a_missing_path_raises(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"nowhere.*does not exist"):
        load_documents(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError):
        load_documents([tmp_path, tmp_path / "nowhere"])
    assert load_documents(tmp_path) == []


def test_the_owners_word_lists_and_hidden_files_are_no_documents(tmp_path: Path) -> None:
    write(tmp_path, "synonyms.txt", "坏, 破损 -> 质量问题")
    write(tmp_path, ".git/config.md", "x")
    write(tmp_path, ".hidden.md", "x")
    docs = load_documents(tmp_path)
    assert (list(docs), docs.failed) == ([], {})


# Bodies


def test_the_body_is_the_decoded_text_untouched(tmp_path: Path) -> None:
    doc = load_one(tmp_path, "\ufeff\r\nＡ１\t \r第二行\r\n\r\n")
    assert doc.text == "\nＡ１\t \n第二行\n\n"
    assert doc.metadata["body_line"] == 1


@pytest.mark.parametrize("encoding", ["gbk", "gb18030", "gb2312", "utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("text", ["退款", "# 退款政策\n\n签收后 7 天内可以退货。\n", "发票 E1042 请重试"])
def test_chinese_encodings_are_detected(tmp_path: Path, encoding: str, text: str) -> None:
    assert load_one(tmp_path, text.encode(encoding), "a.txt").text == text


def test_big5_is_not_read_as_gbk(tmp_path: Path) -> None:
    text = "退貨與退款政策說明，請於七天內與客服聯絡，我們會儘快處理您的訂單並退還款項。" * 3
    assert load_one(tmp_path, text.encode("big5")).text == text


def test_damaged_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    file = write(tmp_path, "a.md", "第一行。\n第二".encode() + b"\xff" + "行，很长的正文。".encode())
    write(tmp_path, "b.md", "好的。")
    docs = load_documents(tmp_path)
    assert [doc.id_ for doc in docs] == ["b.md"]
    assert list(docs.failed) == [str(file)]
    assert "line 2" in docs.failed[str(file)]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.md", b"\x89PNG\r\n\x1a\n\0\0\0\r", "binary"),
        ("a.md", b"abc\0def", "NUL"),
        ("a.xyz", b"abc", "no reader for .xyz"),
        ("README", b"abc", "no reader for files without an extension"),
    ],
)
def test_what_is_no_text_is_reported_by_name(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    file = write(tmp_path, name, content)
    docs = load_documents(tmp_path)
    assert list(docs) == []
    assert reason in docs.failed[str(file)]


@pytest.mark.skipif(
    not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders, so none can block"
)
def test_a_named_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert "no regular file" in load_documents(tmp_path).failed[str(tmp_path / "pipe.md")]


# Front matter


def test_scalars_stay_text(tmp_path: Path) -> None:
    block = "tenant: 010\nversion: 1.10\nenabled: no\nupdated_at: 2026-01-02\nn: 0x1F\nnull_: ~\n"
    doc = load_one(tmp_path, f"---\n{block}---\n正文。")
    expected = {"tenant": "010", "version": "1.10", "enabled": "no", "updated_at": "2026-01-02", "n": "0x1F"}
    assert expected.items() <= doc.metadata.items()
    assert doc.metadata["null_"] == "~"


def test_lists_stay_lists_and_nested_values_become_json(tmp_path: Path) -> None:
    doc = load_one(tmp_path, "---\nacl: [sales, '007']\nowner:\n  name: 张三\n  ext: 010\n---\n正文。")
    assert doc.metadata["acl"] == ["sales", "007"]
    assert json.loads(doc.metadata["owner"]) == {"name": "张三", "ext": "010"}
    assert "张三" in doc.metadata["owner"]


def test_the_body_begins_at_the_line_after_the_block(tmp_path: Path) -> None:
    doc = load_one(tmp_path, "\ufeff---\r\nid: kb-1\r\n---\r\n\r\n  正文。\r\n")
    assert doc.text == "\n  正文。\n"
    assert doc.metadata["body_line"] == 4
    assert doc.id_ == "kb-1"


@pytest.mark.parametrize(
    "text",
    [
        "---\n只是一段话\n---\n正文。",
        "---\n- 甲\n- 乙\n---\n正文。",
        "---\n\n---\n正文。",
        "---\n说明: 价格: 见下\n正文没有结束线。",
        "----\nid: x\n----\n正文。",
        " ---\nid: x\n---\n正文。",
    ],
)
def test_a_block_that_is_no_mapping_is_text(tmp_path: Path, text: str) -> None:
    doc = load_one(tmp_path, text)
    assert doc.text == text
    assert (doc.id_, doc.metadata["body_line"]) == ("a.md", 1)


def test_front_matter_that_is_meant_but_broken_is_reported(tmp_path: Path) -> None:
    """Taken for text, its acl would be lost and everybody could read the document."""
    file = write(tmp_path, "a.md", "---\nacl: [sales\ntitle: a\n---\n正文。")
    docs = load_documents(tmp_path)
    assert list(docs) == []
    assert "not valid YAML" in docs.failed[str(file)]
    assert "line" in docs.failed[str(file)]


def test_yaml_bombs_are_refused(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    file = write(tmp_path, "a.md", f"---\n{bomb}---\n正文。")
    assert "aliases" in load_documents(tmp_path).failed[str(file)]
    deep = write(tmp_path, "deep.md", f"---\na: {'[' * 5000}\n---\n正文。")
    assert str(deep) in load_documents(tmp_path).failed


def test_empty_values_say_nothing_but_an_empty_acl_does(tmp_path: Path) -> None:
    doc = load_one(tmp_path, "---\nid:\ntitle: ''\nversion:\nvalid_from:\nurl:\nacl:\n---\n正文。")
    assert doc.id_ == "a.md"
    assert doc.metadata["title"] == "a"
    assert doc.metadata["acl"] == ""
    assert {"version", "valid_from", "url"}.isdisjoint(doc.metadata)


def test_a_file_without_text_is_a_document_that_upsert_will_report(tmp_path: Path) -> None:
    doc = load_one(tmp_path, "---\nid: kb-1\n---\n\n")
    assert (doc.id_, doc.text) == ("kb-1", "\n")
    assert load_one(tmp_path, b"", "b.md").text == ""


# Ids


def test_the_id_is_the_front_matters(tmp_path: Path) -> None:
    assert load_one(tmp_path, "---\nid: 007\n---\n正文。").id_ == "007"


@pytest.mark.parametrize(
    ("name", "doc_id"),
    [
        ("C#, 常见问题.md", "C%23%2C 常见问题.md"),
        ("a@b [1]【2】，;%.md", "a%40b %5B1%5D%E3%80%902%E3%80%91%EF%BC%8C%3B%25.md"),
        (" a.md", "%20a.md"),
        ("Cafe\u0301.md", "Café.md"),
    ],
)
def test_a_paths_reserved_characters_are_percent_encoded(tmp_path: Path, name: str, doc_id: str) -> None:
    write(tmp_path, name, "正文。")
    docs = load_documents(tmp_path)
    assert [doc.id_ for doc in docs] == [doc_id]
    assert load_documents(tmp_path / name)[0].id_ == doc_id


@pytest.mark.parametrize(
    "bad", ["kb#1", "kb@2", "a[1]", "【a】", "a, b", "a，b", "a;b", "100%", "' a'", '"a\\tb"', "[a, b]"]
)
def test_a_bad_explicit_id_is_reported_not_raised(tmp_path: Path, bad: str) -> None:
    quoted = bad if bad[0] in "'\"[" else f'"{bad}"'
    file = write(tmp_path, "a.md", f"---\nid: {quoted}\n---\n正文。")
    write(tmp_path, "b.md", "好。")
    docs = load_documents(tmp_path)
    assert [doc.id_ for doc in docs] == ["b.md"]
    assert "document id" in docs.failed[str(file)]


# Titles


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 甲\n---\n# 乙\n\n正文。", "甲"),
        ("引言。\n\n# 乙 `v2` **[链接](x)**\n\n正文。", "乙 v2 链接"),
        ("乙\n===\n\n正文。", "乙"),
        ("#乙\n\n正文。", "乙"),
        ("```sh\n# 注释\n```\n\n# 乙\n\n正文。", "乙"),
        ("> # 引用\n\n# 乙", "乙"),
        ("```sh\n# 注释\n```\n\n## 二级\n\n正文。", "退款 说明"),
        ("正文。", "退款 说明"),
    ],
)
def test_the_title_is_the_front_matters_else_the_first_h1_else_the_stem(
    tmp_path: Path, text: str, title: str
) -> None:
    assert load_one(tmp_path, text, "退款 说明.md").metadata["title"] == title
