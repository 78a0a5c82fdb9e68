"""Whether refusals fall on the questions that have no answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gyr_hybrid.evaluation.metrics import auroc
from gyr_hybrid.progress import progress

if TYPE_CHECKING:
    import gyr_hybrid
    from gyr_hybrid.evaluation.datasets import Question


@dataclass(frozen=True, slots=True)
class Refusals:
    """Answers and refusals over questions with and without an answer."""

    answerable: int
    unanswerable: int
    auroc: float | None
    """Of ``evidence``, answerable above unanswerable; None when one side is empty."""
    false_refusals: float | None
    """Share of the answerable questions that were refused."""
    true_refusals: float | None
    """Share of the unanswerable questions that were refused."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Reason -> number of refusals."""
    wrong: tuple[str, ...] = ()
    """Ids of the questions that were refused or answered wrongly."""


def measure_refusals(
    index: gyr_hybrid.HybridIndex,
    questions: Sequence[Question],
    *,
    options: Mapping[str, Any] | None = None,
    show_progress: bool = False,
) -> Refusals:
    """Ask the query engine every question and look at ``refused`` and ``evidence``."""
    engine = index.as_query_engine(**(options or {}))
    evidence: dict[bool, list[float]] = {True: [], False: []}
    refused: dict[bool, int] = {True: 0, False: 0}
    reasons: Counter[str] = Counter()
    wrong: list[str] = []
    for question in progress(list(questions), "answering", show_progress):
        answer: Any = engine.query(question.text)
        evidence[question.answerable].append(float(answer.evidence or 0.0))
        refused[question.answerable] += answer.refused
        if answer.refused:
            reasons[str(answer.refusal_reason)] += 1
        if answer.refused == question.answerable:
            wrong.append(question.id)
    yes, no = evidence[True], evidence[False]
    return Refusals(
        answerable=len(yes),
        unanswerable=len(no),
        auroc=auroc(yes, no) if yes and no else None,
        false_refusals=refused[True] / len(yes) if yes else None,
        true_refusals=refused[False] / len(no) if no else None,
        reasons=dict(sorted(reasons.items())),
        wrong=tuple(wrong),
    )
