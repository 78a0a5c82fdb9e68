"""What an evaluation found: figures per row, the best single leg, refusals, time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.evaluation.ablation import FULL, LEGS, ROWS, Rankings, rank_questions
from gyr_hybrid.evaluation.judging import first_rank, judge
from gyr_hybrid.evaluation.metrics import Floats, measure, metric_names, percentiles
from gyr_hybrid.evaluation.refusal import Refusals, measure_refusals
from gyr_hybrid.evaluation.significance import Difference, paired_bootstrap

if TYPE_CHECKING:
    import gyr_hybrid
    from gyr_hybrid.evaluation.datasets import Dataset


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole pipeline against the best single leg on one figure."""

    leg: str
    """Row that is best among the legs."""
    value: float
    """The leg's mean."""
    difference: Difference
    """Whole pipeline minus leg."""


@dataclass(frozen=True, slots=True)
class Win:
    """A question that one row answers better than another."""

    id: str
    text: str
    rank_a: int | None
    """Rank of the first unit that answers; None: not found."""
    rank_b: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """One evaluation; the same index, questions and seed give the same report but for its times."""

    dataset: str
    fingerprint: str
    questions: int
    judged: int
    """Questions with a known answer; the figures of rankings are over these."""
    k: int
    seed: int
    index: Mapping[str, Any]
    """What was searched: embedding model, analyzer, documents, sections, children, word lists with their sizes."""
    rows: Mapping[str, Mapping[str, float]]
    """Row -> figure -> mean over the judged questions."""
    best: Mapping[str, Comparison]
    """Figure -> the best single leg on it."""
    refusals: Refusals | None = None
    latency_ms: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Step, and ``total`` -> percentiles. Empty when times are not wanted."""
    groups: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Value of a label -> figures of the whole pipeline over its questions, and ``n``."""
    warnings: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Question id -> text, for the judged ones."""
    ranks: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict, repr=False)
    """Row -> question id -> rank of the first unit that answers."""

    def diff(self, a: str, b: str) -> list[Win]:
        """Questions on which two rows differ, the clearest win of ``a`` first, of ``b`` last.

        Raises:
            ConfigurationError: no such row.
        """
        for name in (a, b):
            if name not in self.ranks:
                raise ConfigurationError(f"no row {name!r} to compare; rows: {', '.join(self.ranks)}")
        wins = [
            Win(question, text, self.ranks[a].get(question), self.ranks[b].get(question))
            for question, text in self.texts.items()
        ]
        return sorted(
            (w for w in wins if w.rank_a != w.rank_b), key=lambda w: _gain(w.rank_b) - _gain(w.rank_a)
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        values = asdict(self)
        values["texts"] = dict(self.texts)
        rounded: dict[str, Any] = _rounded(values)
        return rounded


def evaluate(
    dataset: Dataset,
    index: gyr_hybrid.HybridIndex,
    *,
    k: int = 5,
    seed: int = 0,
    by: str | None = None,
    whole: gyr_hybrid.JiebaBM25Retriever | None = None,
    options: Mapping[str, Any] | None = None,
    timed: bool = True,
    show_progress: bool = False,
) -> Report:
    """Ask an index the questions of a data set and compare every leg and step.

    Args:
        k: cut-off of ``hit@k`` and ``recall@k``.
        seed: of the bootstrap.
        by: a label of the questions to give figures by, for instance ``kind``.
        whole: BM25 over whole texts, for a row of its own (``whole_texts``).
        options: of ``HybridIndex.as_retriever``.
        timed: report how long things took, the only thing that differs between two runs.

    Questions without an answer, where the set has any, are put to the query engine, together with the
    others, to see whether refusals fall on them.
    """
    if not dataset.questions:
        raise ConfigurationError(f"the data set {dataset.name!r} has no questions")
    judged = judge(dataset.questions, dataset.documents)
    asked = [question for question in dataset.questions if question.id in judged]
    found = rank_questions(
        index, asked, whole=whole, options=options, timed=timed, show_progress=show_progress
    )
    names = metric_names(k)
    figures = {row: measure(rankings, judged, names) for row, rankings in found.rows.items()}
    refusals = None
    if any(not question.answerable for question in dataset.questions):
        refusals = measure_refusals(index, dataset.questions, options=options, show_progress=show_progress)
    return Report(
        dataset=dataset.name,
        fingerprint=dataset.fingerprint,
        questions=len(dataset.questions),
        judged=len(judged),
        k=k,
        seed=seed,
        index=_about(index),
        rows={row: {n: _mean(values[n]) for n in names} for row, values in figures.items()},
        best=_best_legs(figures, names, seed) if judged else {},
        refusals=refusals,
        latency_ms=_latency(found) if timed else {},
        groups=_groups(dataset, list(judged), figures[FULL], by) if by else {},
        warnings=found.warnings,
        texts={question.id: question.text for question in asked},
        ranks={
            row: {question: first_rank(rankings.get(question, ()), judged[question]) for question in judged}
            for row, rankings in found.rows.items()
        },
    )


def _best_legs(
    figures: Mapping[str, Mapping[str, Floats]], names: Sequence[str], seed: int
) -> dict[str, Comparison]:
    best = {}
    for name in names:
        leg = max((row for row in LEGS if row in figures), key=lambda row: _mean(figures[row][name]))
        gap = paired_bootstrap(figures[FULL][name], figures[leg][name], seed=seed)
        best[name] = Comparison(leg, _mean(figures[leg][name]), gap)
    return best


def _groups(
    dataset: Dataset, judged: Sequence[str], figures: Mapping[str, Floats], by: str
) -> dict[str, dict[str, float]]:
    labels = {question.id: question.labels.get(by) for question in dataset.questions}
    values = sorted({label for question in judged if (label := labels[question]) is not None})
    if not values:
        raise ConfigurationError(f"no question of {dataset.name!r} has the label {by!r}")
    groups: dict[str, dict[str, float]] = {}
    for value in values:
        mine = np.array([labels[question] == value for question in judged])
        groups[value] = {"n": int(mine.sum()), **{name: _mean(f[mine]) for name, f in figures.items()}}
    return groups


def _latency(found: Rankings) -> dict[str, dict[str, float]]:
    return {
        "total": percentiles(found.total_ms),
        **{step: percentiles(ms) for step, ms in found.steps_ms.items()},
    }


def _about(index: gyr_hybrid.HybridIndex) -> dict[str, Any]:
    model = index.embed_model
    about = {"embedding": getattr(model, "model_name", type(model).__name__) if model is not None else None}
    about["analyzer"] = index.analyzer.fingerprint
    figures = index.stats()
    return {
        **about,
        **{k: figures[k] for k in ("documents", "sections", "children", "word_lists") if k in figures},
    }


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else 0.0


def _gain(rank: int | None) -> float:
    return 0.0 if rank is None else 1.0 / rank


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


def row_label(row: str) -> str:
    """A row's name for people."""
    return ROWS.get(row, row)
