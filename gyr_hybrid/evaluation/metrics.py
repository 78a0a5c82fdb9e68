"""Figures of merit per question; the maths of rankings is that of ir-measures (trec_eval)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.errors import ConfigurationError

Floats = NDArray[np.float64]


def metric_names(k: int) -> tuple[str, ...]:
    """The figures of a report whose cut-off is ``k``."""
    return tuple(dict.fromkeys(("hit@1", f"hit@{k}", f"recall@{k}", "MRR@10", "nDCG@10")))


def measure(
    rankings: Mapping[str, Sequence[str]], judged: Mapping[str, Mapping[str, int]], names: Sequence[str]
) -> dict[str, Floats]:
    """Figures per question, in the order of ``judged``.

    Args:
        rankings: question id -> unit ids, best first; a question without an entry found nothing.
        judged: question id -> unit id -> grade.
        names: ``hit@k`` (one of the first k answers), ``recall@k`` (share of what answers that is among the
            first k), ``MRR@k`` (1 / rank of the first that answers), ``nDCG@k``.

    >>> measure({"q": ["b", "a"]}, {"q": {"a": 1}}, ["hit@1", "MRR@10"])
    {'hit@1': array([0.]), 'MRR@10': array([0.5])}
    """
    try:
        import ir_measures
    except ImportError as error:
        raise ConfigurationError(
            "evaluation needs the package ir-measures; install the extra with `pip install 'gyr_hybrid[eval]'`"
        ) from error
    wanted = {name: _measure(ir_measures, name) for name in names}
    row = {question: i for i, question in enumerate(judged)}
    figures = {name: np.zeros(len(row)) for name in names}
    runs = {
        question: {unit: 1.0 / rank for rank, unit in enumerate(rankings.get(question, ()), 1)}
        for question in row
    }
    runs = {question: run for question, run in runs.items() if run}
    if runs:
        names_of = {str(value): name for name, value in wanted.items()}
        plain = {question: dict(grades) for question, grades in judged.items()}
        for figure in ir_measures.iter_calc(list(wanted.values()), plain, runs):
            figures[names_of[str(figure.measure)]][row[figure.query_id]] = figure.value
    return figures


def _measure(ir_measures: Any, name: str) -> Any:
    kind, _, cutoff = name.partition("@")
    kinds = {
        "hit": ir_measures.Success,
        "recall": ir_measures.R,
        "mrr": ir_measures.RR,
        "ndcg": ir_measures.nDCG,
    }
    if kind.lower() not in kinds or not cutoff.isdecimal() or int(cutoff) < 1:
        raise ConfigurationError(f"unknown metric {name!r}; write hit@k, recall@k, MRR@k or nDCG@k")
    return kinds[kind.lower()] @ int(cutoff)


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Chance that a positive stands above a negative, ties counted half (Mann and Whitney 1947).

    >>> auroc([0.9, 0.5], [0.5, 0.1])
    0.875

    Raises:
        ConfigurationError: one side is empty.
    """
    if not len(positive) or not len(negative):
        raise ConfigurationError("AUROC needs answerable and unanswerable questions")
    low = np.sort(np.asarray(negative, dtype=np.float64))
    high = np.asarray(positive, dtype=np.float64)
    below = np.searchsorted(low, high, side="left")
    not_above = np.searchsorted(low, high, side="right")
    return float((below + not_above).sum() / 2 / (len(high) * len(low)))


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """``p50``, ``p95``, ``p99`` and ``mean`` of some values, linear between neighbours."""
    if not len(values):
        return {}
    points = np.percentile(np.asarray(values, dtype=np.float64), [50, 95, 99])
    return {**dict(zip(("p50", "p95", "p99"), points.tolist(), strict=True)), "mean": float(np.mean(values))}
