"""What share of a set's questions never reaches the model, and what share is refused without one. No network.

    python benchmarks/gate.py FOLDER... [--limit N] [--lexical] [--out FILE.json]

A scripted model that counts its calls stands behind the engine. A question is stopped when it is answered or refused
without a call; of answerable questions none should be. Questions marked as unanswerable are counted by themselves:
with a model it is the model's part to say that the documents lack the answer. ``refused without a model`` is what
``min_evidence`` does where there is none, ``weak`` the share of passages that open with a line that they are only the
closest.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from gyr_hybrid import CitedResponse, HybridIndex
from gyr_hybrid.answering.refusal import weak_warning
from gyr_hybrid.evaluation.datasets import Question, load_dataset
from gyr_hybrid.testing import ScriptedLLM

MISSING = "资料中没有提到。"


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of the answerable or the other questions of one set."""

    name: str
    questions: int
    stopped: float
    """Share that does not reach the model."""
    refused: float
    """Share refused without a model."""
    weak: float
    """Share answered without a model by a passage that is only the closest."""
    examples: tuple[str, ...]
    """Some of the stopped ones."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--lexical", action="store_true", help="without vectors")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    os.environ["GYR_OFFLINE"] = "1"
    options = {"mode": "lexical"} if arguments.lexical else {}
    rows: list[Row] = []
    for folder in arguments.folders:
        dataset = load_dataset(folder).select(limit=arguments.limit)
        with HybridIndex.from_documents(dataset.documents, show_progress=True) as index:
            for answerable in (True, False):
                questions = [q for q in dataset.questions if q.answerable is answerable]
                if questions:
                    name = f"{folder.name}, {'answerable' if answerable else 'not'}"
                    rows.append(_row(name, index, questions, options))
    table = Table("questions", "n", "stopped before the model", "refused without a model", "weak")
    for row in rows:
        table.add_row(
            row.name, str(row.questions), *(f"{v:.3f}" for v in (row.stopped, row.refused, row.weak))
        )
    Console().print(table)
    for row in rows:
        Console().print(row.name, *row.examples, sep="\n  ", markup=False)
    if arguments.out:
        text = json.dumps([asdict(row) for row in rows], indent=2, ensure_ascii=False)
        arguments.out.write_text(text + "\n", encoding="utf-8")


def _row(name: str, index: HybridIndex, questions: Sequence[Question], options: dict[str, Any]) -> Row:
    llm = ScriptedLLM(MISSING)
    with_model, without = index.as_query_engine(llm, **options), index.as_query_engine(**options)
    stopped: list[str] = []
    refused, weak = [], []
    for question in questions:
        calls = llm.calls
        with_model.query(question.text)
        if llm.calls == calls:
            stopped.append(question.text)
        answer = without.query(question.text)
        assert isinstance(answer, CitedResponse)
        refused.append(answer.refused)
        weak.append(any(weak_warning(language) in answer.warnings for language in ("zh", "en")))
    return Row(
        name,
        len(questions),
        len(stopped) / len(questions),
        float(np.mean(refused)),
        float(np.mean(weak)),
        tuple(stopped[:5]),
    )


if __name__ == "__main__":
    main()
