"""One run over a small set, from questions to table, Markdown, JSON and picture."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from llama_index.core.schema import Document
from rich.console import Console

from gyr_hybrid import HybridIndex
from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.evaluation import (
    FULL,
    LEGS,
    ROWS,
    Dataset,
    Question,
    Report,
    dataset_from_index,
    evaluate,
    save_chart,
    to_json,
    to_markdown,
    to_rich,
    whole_texts,
    write_questions,
)
from gyr_hybrid.evaluation.rendering import wins_table
from gyr_hybrid.testing import HashEmbedding

DOCUMENTS = [
    Document(
        id_="fee",
        text="# 费用\n\n## 运费\n\n退货运费由买家承担。\n\n## 税费\n\n进口税由平台承担。\n",
        metadata={"title": "费用"},
    ),
    Document(
        id_="err",
        text="# 错误码\n\n## E1042\n\n提示 E1042 时，请下载最新模板再导入。\n\n## E1043\n\n提示 E1043 时，请另存为 UTF-8。\n",
        metadata={"title": "错误码"},
    ),
]
QUESTIONS = (
    Question("q1", "退货的运费谁出", sections=("fee#1",), labels={"kind": "words"}),
    Question("q2", "E1043 怎么办", sections=("err#2",), labels={"kind": "code"}),
    Question("q3", "进口要交税吗", lines=(("fee", 9, 9),), labels={"kind": "words"}),
    Question("q4", "E9999 怎么办", answerable=False, labels={"kind": "code"}),
)
DATA = Dataset("tiny", DOCUMENTS, QUESTIONS, "0" * 16)


@pytest.fixture(scope="module")
def index() -> Iterator[HybridIndex]:
    with HybridIndex.from_documents(DOCUMENTS, offline=True, embed_model=HashEmbedding()) as built:
        yield built


@pytest.fixture(scope="module")
def report(index: HybridIndex) -> Report:
    return evaluate(DATA, index, k=2, by="kind", whole=whole_texts(index, DOCUMENTS, sections=True))


def test_every_row_and_figure_is_there(report: Report) -> None:
    assert tuple(report.rows) == tuple(ROWS)
    assert set(report.rows[FULL]) == {"hit@1", "hit@2", "recall@2", "MRR@10", "nDCG@10"}
    assert (report.questions, report.judged) == (4, 3)
    assert report.rows[FULL]["MRR@10"] == 1.0
    assert report.rows["codes"]["hit@1"] == pytest.approx(1 / 3)  # only q2 has a code


def test_lines_count_the_section_that_holds_them(report: Report) -> None:
    assert report.ranks[FULL]["q3"] == 1


def test_the_best_leg_is_one_of_the_legs(report: Report) -> None:
    for name, found in report.best.items():
        assert found.leg in LEGS
        assert found.value == max(report.rows[leg][name] for leg in LEGS)
        assert found.difference.mean == pytest.approx(report.rows[FULL][name] - found.value)


def test_refusals_are_measured_where_a_set_has_unanswerable_questions(
    report: Report, index: HybridIndex
) -> None:
    assert report.refusals is not None
    assert (report.refusals.answerable, report.refusals.unanswerable) == (3, 1)
    assert report.refusals.true_refusals == 1.0
    assert report.refusals.reasons["unknown_identifier"] == 1
    without = Dataset("tiny", DOCUMENTS, QUESTIONS[:3], "")
    assert evaluate(without, index).refusals is None


def test_groups_split_the_questions(report: Report) -> None:
    assert {name: values["n"] for name, values in report.groups.items()} == {"code": 1, "words": 2}


def test_an_unknown_label_or_row_is_an_error(report: Report, index: HybridIndex) -> None:
    with pytest.raises(ConfigurationError, match="'colour'"):
        evaluate(DATA, index, by="colour")
    with pytest.raises(ConfigurationError, match=r"'bm52'.*bm25"):
        report.diff("bm52", FULL)


def test_lines_outside_the_documents_are_an_error(index: HybridIndex) -> None:
    astray = Dataset("tiny", DOCUMENTS, (Question("q", "税", lines=(("fee", 99, 99),)),), "")
    with pytest.raises(ConfigurationError, match="99-99"):
        evaluate(astray, index)


def test_diff_lists_the_questions_that_one_row_wins(report: Report) -> None:
    wins = report.diff(FULL, "codes")
    assert {win.id for win in wins} == {"q1", "q3"}  # the code leg finds nothing without a code
    assert all((win.rank_a, win.rank_b) == (1, None) for win in wins)
    assert report.diff("codes", FULL)[0].rank_b == 1
    assert report.diff(FULL, FULL) == []


def test_the_same_seed_gives_the_same_report(index: HybridIndex, tmp_path: Path) -> None:
    first, second = (evaluate(DATA, index, k=2, seed=3, timed=False) for _ in range(2))
    assert to_json(first) == to_json(second)
    assert to_markdown(first) == to_markdown(second)


def test_times_are_reported_per_step(report: Report) -> None:
    assert {"total", "embed", "lexical", "dense"} <= set(report.latency_ms)
    assert report.latency_ms["total"]["p50"] <= report.latency_ms["total"]["p95"]


def test_json_holds_the_figures_and_the_ranks(report: Report) -> None:
    values = json.loads(to_json(report, report.diff(FULL, "codes")))
    assert values["rows"][FULL]["MRR@10"] == 1.0
    assert values["best"]["hit@1"]["difference"]["p"] <= 1.0
    assert values["ranks"]["codes"] == {"q1": None, "q2": 1, "q3": None}
    assert values["texts"]["q1"] == "退货的运费谁出"
    assert [win["id"] for win in values["diff"]] == ["q1", "q3"]


def test_markdown_and_table_say_the_same(report: Report) -> None:
    console = Console(width=160, file=StringIO())
    console.print(to_rich(report))
    console.print(wins_table(report.diff(FULL, "codes"), FULL, "codes"))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    text = to_markdown(report)
    assert f"| + rerank (full) [{FULL}] | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 |" in text
    for words in ("+ rerank (full) [rerank]", "3 judged of 4 questions", "AUROC", "p50"):
        assert words in shown
        assert words in text
    assert "退货的运费谁出" in shown


def test_the_picture_is_a_png_and_the_same_every_time(report: Report, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    first, second = tmp_path / "a.png", tmp_path / "b.png"
    save_chart(report, first)
    save_chart(report, second)
    assert first.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert first.read_bytes() == second.read_bytes()


def test_headings_and_codes_of_an_index_become_questions(index: HybridIndex, tmp_path: Path) -> None:
    data = dataset_from_index(index)
    asked = {question.text: question.sections for question in data.questions}
    assert asked["运费"] == ("fee#1",)
    assert asked["税费"] == ("fee#2",)
    assert asked["E1042"] == ("err#1",)
    assert {q.labels["kind"] for q in data.questions} == {"heading", "code"}
    assert evaluate(data, index, k=1, by="kind").rows[FULL]["hit@1"] == 1.0
    file = write_questions(data, tmp_path / "mine")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert {row["text"] for row in rows} == set(asked)
    assert all(set(row) == {"_id", "text", "sections", "kind"} for row in rows)


def test_a_heading_that_stands_twice_is_asked_with_its_title() -> None:
    twins = [
        Document(id_=name, text=f"# {name}\n\n## 原因\n\n这是{name}的原因。\n", metadata={"title": name})
        for name in ("甲机", "乙机")
    ]
    with HybridIndex.from_documents(twins, offline=True, embed_model=HashEmbedding()) as built:
        asked = {q.text: q.sections for q in dataset_from_index(built).questions}
    assert asked["甲机 原因"] == ("甲机#1",)
    assert asked["乙机 原因"] == ("乙机#1",)
    assert "原因" not in asked


def test_the_same_seed_chooses_the_same_questions(index: HybridIndex) -> None:
    few = [[q.id for q in dataset_from_index(index, limit=3, seed=5).questions] for _ in range(2)]
    assert few[0] == few[1]
    assert len(few[0]) == 3
    with pytest.raises(ConfigurationError, match="limit=0"):
        dataset_from_index(index, limit=0)


def test_an_empty_index_cannot_be_asked_about(index: HybridIndex) -> None:
    with (
        HybridIndex.open(None, offline=True, embed_model=HashEmbedding()) as empty,
        pytest.raises(ConfigurationError, match="no headings and no codes"),
    ):
        dataset_from_index(empty)
