"""Data set folders as people write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.evaluation.datasets import corpus_id, load_dataset

Rows = list[dict[str, Any]]
Make = Callable[..., Path]


def _lines(path: Path, rows: Rows) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def _make(corpus: Rows, queries: Rows, qrels: str = "", absent: Rows | None = None) -> Path:
        folder = tmp_path / "shop"
        folder.mkdir()
        _lines(folder / "corpus.jsonl", corpus)
        _lines(folder / "queries.jsonl", queries)
        (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
        if absent is not None:
            _lines(folder / "absent.jsonl", absent)
        return folder

    return _make


CORPUS: Rows = [
    {"_id": "p1", "title": "退货", "text": "七天内可以退货。"},
    {"_id": "p2", "text": "运费由买家承担。"},
]


def test_passages_with_judgements(make: Make) -> None:
    data = load_dataset(
        make(
            CORPUS,
            [
                {"_id": "q1", "text": "几天能退", "kind": "fact", "answers": ["七天"]},
                {"_id": "q2", "text": "运费"},
            ],
            "query-id\tcorpus-id\tscore\nq1\tp1\t2\nq1\tp2\t0\n",
        )
    )
    assert data.name == "shop"
    assert [(d.id_, d.text, d.metadata) for d in data.documents] == [
        ("p1", "七天内可以退货。", {"title": "退货"}),
        ("p2", "运费由买家承担。", {}),
    ]
    first, second = data.questions
    assert (first.documents, first.unit, first.judged) == ({"p1": 2}, "document", True)
    assert first.labels == {"kind": "fact"}
    assert not second.judged


def test_qrels_need_no_header(make: Make) -> None:
    data = load_dataset(make(CORPUS, [{"_id": "q1", "text": "退货"}], "q1\tp1\t1\r\n"))
    assert data.questions[0].documents == {"p1": 1}


def test_section_ids_and_lines(make: Make) -> None:
    data = load_dataset(
        make(
            CORPUS,
            [
                {"_id": "q1", "text": "退货", "sections": ["p1#1", "p2#1"]},
                {"_id": "q2", "text": "退货", "doc": "p1", "line_start": 3, "line_end": 4},
                {"_id": "q3", "text": "退货", "doc": "p1", "line_start": 3},
            ],
        )
    )
    assert data.questions[0].sections == ("p1#1", "p2#1")
    assert data.questions[1].lines == (("p1", 3, 4),)
    assert data.questions[2].lines == (("p1", 3, 3),)
    assert {q.unit for q in data.questions} == {"section"}


def test_unanswerable_questions_from_their_field_and_from_their_file(make: Make) -> None:
    folder = make(
        CORPUS,
        [
            {"_id": "q1", "text": "月球", "answerable": False},
            {"_id": "q2", "text": "退货", "sections": ["p1#1"]},
        ],
        absent=[{"_id": "a1", "text": "E9999"}],
    )
    questions = load_dataset(folder).questions
    assert {q.id: q.answerable for q in questions} == {"q1": False, "q2": True, "a1": False}
    assert [q.id for q in questions if q.judged] == ["q2"]


def test_documents_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# 标题\n\n正文。\n", encoding="utf-8")
    _lines(tmp_path / "queries.jsonl", [{"_id": "q", "text": "正文", "sections": ["a.md#1"]}])
    assert [d.id_ for d in load_dataset(tmp_path).documents] == ["a.md"]


def test_shipped_knowledge_bases_by_name(tmp_path: Path) -> None:
    (tmp_path / "shipped.txt").write_text("helpcenter novashop", encoding="utf-8")
    _lines(tmp_path / "queries.jsonl", [{"_id": "q", "text": "退款", "sections": ["kb-002#1"]}])
    ids = {d.id_ for d in load_dataset(tmp_path).documents}
    assert {"kb-001", "kb-020", "returns-cn"} <= ids


def test_limit_takes_questions_at_even_distances_and_where_takes_labels(make: Make) -> None:
    queries = [{"_id": f"q{i}", "text": "退货", "kind": "a" if i < 6 else "b"} for i in range(10)]
    data = load_dataset(make(CORPUS, queries))
    assert [q.id for q in data.select(limit=4).questions] == ["q0", "q2", "q5", "q7"]
    assert [q.id for q in data.select(where={"kind": "b"}, limit=2).questions] == ["q6", "q8"]
    assert len(data.select(limit=99).questions) == 10
    with pytest.raises(ConfigurationError, match="kind=a, kind=b"):
        data.select(where={"kind": "c"})
    with pytest.raises(ConfigurationError, match="limit=0"):
        data.select(limit=0)


def test_the_fingerprint_follows_the_content(make: Make) -> None:
    folder = make(CORPUS, [{"_id": "q1", "text": "退货"}], "q1\tp1\t1\n")
    before = load_dataset(folder).fingerprint
    assert load_dataset(folder).fingerprint == before
    (folder / "qrels.tsv").write_text("q1\tp2\t1\n", encoding="utf-8")
    assert load_dataset(folder).fingerprint != before


def test_ids_that_no_document_may_have_are_encoded_in_corpus_and_judgements(make: Make) -> None:
    data = load_dataset(
        make(
            [{"_id": "MCU:A,1#2", "text": "一个部件。"}],
            [{"_id": "q", "text": "部件"}],
            "q\tMCU:A,1#2\t1\n",
        )
    )
    assert data.documents[0].id_ == corpus_id("MCU:A,1#2") == "MCU:A%2C1%232"
    assert data.questions[0].documents == {"MCU:A%2C1%232": 1}


@pytest.mark.parametrize(
    ("queries", "qrels", "message"),
    [
        ('{"_id": "q", "text": "a"}\n{"_id": "q", "text": "b"}\n', "", "'q' stands twice"),
        ('{"_id": "q"}\n', "", "line 1: a row needs"),
        ('\n{"_id": \n', "", "line 2: not JSON"),
        ('{"_id": "q", "text": "a"}\n', "q\tp1\t1\nq p1 1\n", "line 2: write question, document and grade"),
    ],
)
def test_a_bad_row_is_named(make: Make, queries: str, qrels: str, message: str) -> None:
    folder = make(CORPUS, [], qrels)
    (folder / "queries.jsonl").write_text(queries, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=message):
        load_dataset(folder)


def test_a_folder_that_is_no_data_set_says_what_one_is(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"queries\.jsonl"):
        load_dataset(tmp_path)
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "a"}\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"neither docs/ nor corpus\.jsonl"):
        load_dataset(tmp_path)
