"""The questions of ``benchmarks/passages.py`` about the shipped knowledge bases name what stands there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from passages import Asked, fold

from gyr_hybrid import load_documents
from gyr_hybrid.shipped import shipped

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks/data"


def questions(name: str) -> list[dict[str, Any]]:
    lines = (BENCHMARKS / f"passages_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", ["helpcenter", "novashop", "tidb_docs"])
def test_ids_and_texts_are_unique_and_spans_short(name: str) -> None:
    rows = questions(name)
    assert len(rows) >= 100
    assert len({row["_id"] for row in rows}) == len({row["text"] for row in rows}) == len(rows)
    for row in rows:
        assert row["answers"] or row["all"], row["_id"]
        spans = [*row["answers"], *row.get("all", ()), *row.get("foreign", ())]
        assert all(len(fold(span)) > 0 and len(span) <= 80 for span in spans), row["_id"]


@pytest.mark.parametrize("name", ["helpcenter", "novashop"])
def test_every_document_is_asked_about_and_spans_are_verbatim(name: str) -> None:
    bodies = {document.id_: document.text for document in load_documents(shipped(name))}
    rows = questions(name)
    assert {row["doc"] for row in rows} == set(bodies)
    for row in rows:
        for span in [*row["answers"], *row.get("all", ())]:
            assert span in bodies[row["doc"]], (row["_id"], span)
        for span in row.get("foreign", ()):
            assert any(span in body for body in bodies.values()), (row["_id"], span)


@pytest.mark.parametrize("name", ["helpcenter", "novashop", "tidb_docs"])
def test_nothing_foreign_is_part_of_an_answer(name: str) -> None:
    for row in questions(name):
        gold = [fold(span) for span in [*row["answers"], *row.get("all", ())]]
        for span in map(fold, row.get("foreign", ())):
            assert not any(span in g or g in span for g in gold), (row["_id"], span)


def test_one_answer_is_enough_and_all_of_all_are_needed() -> None:
    either = Asked("1", "几天", ("7 天", "七天"))
    assert either.contained(fold("签收后 **７ 天**"))
    assert not either.contained(fold("签收后 8 天"))
    both = Asked("2", "价格", (), ("49 元", "199 元"))
    assert both.contained(fold("49 元，199 元"))
    assert not both.contained(fold("49 元"))
