"""Measure an index: data sets, rankings of every leg and step, refusals, reports.

>>> from gyr_hybrid import HybridIndex, load_documents
>>> from gyr_hybrid.evaluation import evaluate, load_dataset, to_markdown
>>> data = load_dataset("my-questions")                                    # doctest: +SKIP
>>> with HybridIndex.from_documents(data.documents) as index:              # doctest: +SKIP
...     print(to_markdown(evaluate(data, index)))
"""

from __future__ import annotations

from gyr_hybrid.evaluation.ablation import FULL, LEGS, ROWS, whole_texts
from gyr_hybrid.evaluation.datasets import Dataset, Question, load_dataset
from gyr_hybrid.evaluation.from_index import dataset_from_index, write_dataset, write_questions
from gyr_hybrid.evaluation.metrics import auroc, measure, percentiles
from gyr_hybrid.evaluation.refusal import Refusals, measure_refusals
from gyr_hybrid.evaluation.rendering import save_chart, to_json, to_markdown, to_rich
from gyr_hybrid.evaluation.report import Comparison, Report, Win, evaluate
from gyr_hybrid.evaluation.significance import Difference, paired_bootstrap

__all__ = [
    "FULL",
    "LEGS",
    "ROWS",
    "Comparison",
    "Dataset",
    "Difference",
    "Question",
    "Refusals",
    "Report",
    "Win",
    "auroc",
    "dataset_from_index",
    "evaluate",
    "load_dataset",
    "measure",
    "measure_refusals",
    "paired_bootstrap",
    "percentiles",
    "save_chart",
    "to_json",
    "to_markdown",
    "to_rich",
    "whole_texts",
    "write_dataset",
    "write_questions",
]
