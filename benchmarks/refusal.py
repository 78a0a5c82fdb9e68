"""How well ``evidence`` tells questions that the documents answer from those that they do not. Offline, no model.

    python benchmarks/refusal.py cmrc_refusal [--near product_faq tidb_docs] [--out FILE.json]

The first data set marks its questions as answerable or not. Data sets given with ``--near`` are made near-topic by
this script: what answers a question is taken out and its page kept (a document of a corpus, or the lines of the
section in a page), for one half of the questions at a time, so that each question is asked once with its answer there
and once without. Of a folder of pages only those that questions name are indexed. A known identifier whose only
section was taken out is unknown, its evidence 0.

AUROC is the chance that an answerable question has more evidence than an unanswerable one. The second figure is the
share of unanswerable questions below the evidence under which 5 % of the answerable ones lie; the third and fourth
are what the engine's own border does.
"""

from __future__ import annotations

import argparse
import json
import os
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from llama_index.core import Document
from rich.console import Console
from rich.table import Table

from gyr_hybrid import CitedResponse, HybridIndex
from gyr_hybrid.evaluation.datasets import Dataset, Question, load_dataset
from gyr_hybrid.evaluation.metrics import auroc

FALSE_REFUSALS = 0.05


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was asked once."""

    evidence: float
    refused: bool
    answerable: bool


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of one data set."""

    name: str
    answerable: int
    unanswerable: int
    auroc: float
    refused_at_5: float
    """Share of the unanswerable below the evidence of the lowest 5 % of the answerable."""
    false_refusals: float
    """Share of the answerable that the engine refuses."""
    refusals: float
    """Share of the unanswerable that the engine refuses."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--near", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    os.environ["GYR_OFFLINE"] = "1"
    rows = [_row(arguments.folder.name, _marked(load_dataset(arguments.folder)))]
    near: list[Asked] = []
    for folder in arguments.near:
        asked = _near_topic(load_dataset(folder))
        rows.append(_row(f"{folder.name}, near-topic", asked))
        near += asked
    if len(arguments.near) > 1:
        rows.append(_row("near-topic, together", near))
    table = Table("questions", "answerable", "not", "AUROC", "refused at 5 %", "false refusals", "refusals")
    for row in rows:
        figures = (row.auroc, row.refused_at_5, row.false_refusals, row.refusals)
        table.add_row(row.name, str(row.answerable), str(row.unanswerable), *(f"{f:.3f}" for f in figures))
    Console().print(table)
    if arguments.out:
        arguments.out.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")


def _marked(dataset: Dataset) -> list[Asked]:
    with HybridIndex.from_documents(dataset.documents, show_progress=True) as index:
        return _ask(index, ((question, question.answerable) for question in dataset.questions))


def _near_topic(dataset: Dataset) -> list[Asked]:
    """Ask every question with and without what answers it."""
    questions = [q for q in dataset.questions if q.judged]
    named = {doc for q in questions for doc, _, _ in q.lines}
    documents = [d for d in dataset.documents if not named or d.id_ in named]
    asked: list[Asked] = []
    with HybridIndex.from_documents(documents, show_progress=True) as index:
        for half in (0, 1):
            without = [q for q in questions if zlib.crc32(q.id.encode()) % 2 == half]
            gone = {doc for q in without if not q.lines for doc in q.documents}
            kept = [_cut(d, without) for d in documents if d.id_ not in gone]
            gone |= {d.id_ for d in kept if not d.text.strip()}  # nothing but answers stood there
            index.delete(gone)
            index.upsert(kept)
            left_out = {q.id for q in without}
            pairs = [
                (q, q.id not in left_out)
                for q in questions
                if q.id in left_out or not gone & set(q.documents)
            ]
            asked += _ask(index, pairs)
            index.upsert(documents)
    return asked


def _cut(document: Document, questions: Sequence[Question]) -> Document:
    """The document without the lines that answer the questions."""
    first = int(document.metadata.get("body_line", 1))
    spans = [(start, end) for q in questions for doc, start, end in q.lines if doc == document.id_]
    if not spans:
        return document
    lines = document.text.split("\n")
    kept = [line for i, line in enumerate(lines, first) if not any(start <= i <= end for start, end in spans)]
    return Document(text="\n".join(kept), id_=document.id_, metadata=dict(document.metadata))


def _ask(index: HybridIndex, questions: Iterable[tuple[Question, bool]]) -> list[Asked]:
    engine = index.as_query_engine()
    asked = []
    for question, answerable in questions:
        answer = engine.query(question.text)
        assert isinstance(answer, CitedResponse)
        asked.append(Asked(answer.evidence, answer.refused, answerable))
    return asked


def _row(name: str, asked: Sequence[Asked]) -> Row:
    yes = [a for a in asked if a.answerable]
    no = [a for a in asked if not a.answerable]
    border = float(np.quantile([a.evidence for a in yes], FALSE_REFUSALS))
    return Row(
        name,
        len(yes),
        len(no),
        auroc([a.evidence for a in yes], [a.evidence for a in no]),
        float(np.mean([a.evidence < border for a in no])),
        float(np.mean([a.refused for a in yes])),
        float(np.mean([a.refused for a in no])),
    )


if __name__ == "__main__":
    main()
