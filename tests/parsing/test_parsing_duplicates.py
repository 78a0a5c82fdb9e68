"""Documents that say the same, or nearly."""

from __future__ import annotations

import random
from pathlib import Path

from llama_index.core import Document
from typer.testing import CliRunner

from gyr_hybrid import HybridIndex, cli
from gyr_hybrid.inspection import inspect_file
from gyr_hybrid.parsing import identical_documents, near_identical_documents

SENTENCES = [
    f"第 {n} 类订单在 {n * 3} 天内可以退款，运费由{who}承担。" for n in range(40) for who in ("商家", "买家")
]
PAGE = "\n".join(SENTENCES)


def doc(id_: str, text: str, **metadata: str) -> Document:
    return Document(id_=id_, text=text, metadata=metadata)


def test_the_same_text_is_found_whatever_its_blanks_and_metadata() -> None:
    documents = [
        doc("a", "甲。\n\n乙。"),
        doc("b", "丙。"),
        doc("c", "甲。 乙。\n", tenant="010"),
        doc("d", "丙"),
    ]
    assert identical_documents(documents) == [("a", "c")]


def test_versions_of_one_document_may_be_the_same() -> None:
    assert identical_documents([doc("a", "甲。", version="1"), doc("a", "甲。", version="2")]) == []
    documents = [doc("a", "甲。", version="1"), doc("b", "甲。")]
    assert identical_documents(documents) == [("a@1", "b")]


def test_documents_with_a_few_other_sentences_are_nearly_the_same() -> None:
    edited = "\n".join(["换了的第一句话。", *SENTENCES[1:-1], "最后也换了一句。"])
    shuffled = random.Random(0).sample(SENTENCES, 40)
    documents = [
        doc("a", PAGE),
        doc("b", "别的事情。" * 3),
        doc("c", edited),
        doc("half", "\n".join(shuffled)),
    ]
    (pair,) = near_identical_documents(documents)
    assert (pair.first, pair.second) == ("a", "c")
    assert 0.9 < pair.share < 1


def test_how_near_can_be_asked_for() -> None:
    documents = [doc("a", PAGE), doc("half", "\n".join(SENTENCES[:40]))]
    assert near_identical_documents(documents) == []
    (pair,) = near_identical_documents(documents, threshold=0.4)
    assert 0.4 < pair.share < 0.6


def test_no_documents_and_tiny_ones_are_no_trouble() -> None:
    assert near_identical_documents([]) == identical_documents([]) == []
    assert near_identical_documents([doc("a", "甲"), doc("b", ""), doc("c", "甲")]) == []


def test_indexing_reports_identical_documents_and_stores_all() -> None:
    documents = [doc("a", "退款三天到账。"), doc("b", "退款三天到账。"), doc("c", "发票。")]
    with HybridIndex.from_documents(documents, offline=True) as index:
        assert index.report is not None
        assert index.report.added == ["a", "b", "c"]
        assert index.report.identical == [("a", "b")]
        assert index.upsert(documents).identical == [("a", "b")]


def test_the_commands_name_them(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("a.md", "b.md"):
        (folder / name).write_text(PAGE, encoding="utf-8")
    done = CliRunner().invoke(
        cli.app, ["index", str(folder), "--storage", str(tmp_path / "index"), "--offline"]
    )
    assert done.exit_code == 0
    assert "a.md = b.md" in done.output
    first, second = inspect_file(folder)
    assert "nearly the same: 100% of it is in b.md too" in first.warnings
    assert "nearly the same: 100% of it is in a.md too" in second.warnings
