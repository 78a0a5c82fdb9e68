"""The quality floor: figures of the shipped knowledge bases that a change may not fall below.

Each floor stands just below what was measured when it was last raised; `gyr-hybrid eval tests/data/floor --by kind`
shows where a question went. Raise a floor when the figure rises.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gyr_hybrid import HybridIndex
from gyr_hybrid.evaluation import FULL, LEGS, Report, evaluate, load_dataset
from gyr_hybrid.shipped import shipped

FLOOR = Path(__file__).parents[1] / "data" / "floor"


def _report(index: HybridIndex, name: str, **options: str) -> Report:
    data = load_dataset(FLOOR, documents=[]).select(where={"kb": name})
    return evaluate(replace(data, name=name), index, k=4, by="kind", options=options, timed=False)


@pytest.fixture(scope="module")
def reports(helpcenter: HybridIndex, novashop: HybridIndex) -> dict[str, Report]:
    return {
        "helpcenter": _report(helpcenter, "helpcenter"),
        "novashop": _report(novashop, "novashop", synonyms=str(shipped("novashop") / "synonyms.txt")),
    }


@pytest.mark.parametrize(
    ("name", "figure", "floor"),
    [
        ("helpcenter", "hit@1", 0.91),
        ("helpcenter", "recall@4", 0.96),
        ("helpcenter", "MRR@10", 0.94),
        ("novashop", "hit@1", 0.88),
        ("novashop", "recall@4", 0.97),
        ("novashop", "MRR@10", 0.91),
    ],
)
def test_ranking(reports: dict[str, Report], name: str, figure: str, floor: float) -> None:
    assert reports[name].rows[FULL][figure] >= floor


@pytest.mark.parametrize("figure", ["hit@1", "MRR@10"])
def test_no_single_leg_is_better(reports: dict[str, Report], figure: str) -> None:
    """Over both knowledge bases together; the shop alone has 17 questions."""

    def mean(row: str) -> float:
        judged = sum(report.judged for report in reports.values())
        return sum(report.rows[row][figure] * report.judged for report in reports.values()) / judged

    legs = [row for row in LEGS if all(row in report.rows for report in reports.values())]
    assert mean(FULL) >= max(map(mean, legs)) + 0.025


@pytest.mark.parametrize("name", ["helpcenter", "novashop"])
def test_two_part_questions_bring_a_section_for_each_part(reports: dict[str, Report], name: str) -> None:
    assert reports[name].groups["two_section"]["recall@4"] >= 0.97


@pytest.mark.parametrize("name", ["helpcenter", "novashop"])
def test_exact_codes_are_first(reports: dict[str, Report], name: str) -> None:
    assert reports[name].groups["exact_code"]["hit@1"] == 1.0


@pytest.mark.parametrize(("name", "auroc"), [("helpcenter", 0.85), ("novashop", 0.75)])
def test_refusals_fall_on_the_questions_without_an_answer(
    reports: dict[str, Report], name: str, auroc: float
) -> None:
    found = reports[name].refusals
    assert found is not None
    assert found.auroc is not None
    assert found.auroc >= auroc
    assert found.reasons["unknown_identifier"] >= 2
