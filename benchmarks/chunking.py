"""Chunk settings compared by what is found: the questions of a data set asked of an index per setting.

    python benchmarks/chunking.py DATASET [DATASET ...] [--every N] [--where LABEL=VALUE ...]
                                   [--only NAME ...] [--cache DIR] [--markdown FILE]

A data set is a folder as `gyr-hybrid eval` takes it. Each N-th of the documents that answer a question is indexed, and
the questions that they answer are asked; the rest is left out, since every setting embeds all of it again. Everything
but the node parser is the default, embeddings are those of this machine. Indexes are kept in the cache folder.

In the first table sections are those of the default and only the children differ, so that the same sections answer. In
the second the sections differ too: what answers is each section that touches a judged line, so a longer one has it
easier; the column with the tokens of the first five sections says how much a reader or model has to read for it.

Columns: children and their mean tokens; MRR@10 of BM25, of vectors and of the whole pipeline; recall@5 of the whole
pipeline; MRR minus the default's with its 95 % interval of a paired bootstrap.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core.bridge.pydantic import PrivateAttr
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import gyr_hybrid
from gyr_hybrid import HybridIndex, SectionNodeParser
from gyr_hybrid.analysis import count_tokens
from gyr_hybrid.evaluation import FULL, Dataset, load_dataset, measure, paired_bootstrap
from gyr_hybrid.evaluation.ablation import DEPTH
from gyr_hybrid.evaluation.cache import default_cache
from gyr_hybrid.evaluation.judging import SectionSpan, collapse, line_span, touched
from gyr_hybrid.models.local_embedding import LocalEmbedding

DEFAULT = "mixture 128"
SAME_SECTIONS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "mixture 64": {"child_size": 64},
    "mixture 256": {"child_size": 256},
    "recursive 128": {"children": "recursive"},
    "fixed 128": {"children": "fixed"},
    "semantic 128": {"children": "semantic"},
    "whole section": {"children": "whole"},
}
OWN_SECTIONS: dict[str, dict[str, Any]] = {
    "fixed 256": {"strategy": "fixed"},
    "fixed 256, overlap 32": {"strategy": "fixed", "overlap": 32},
    "recursive 256": {"strategy": "recursive"},
    "recursive 512": {"strategy": "recursive", "section_size": 512},
    "semantic 256": {"strategy": "semantic"},
    "parent/child 800/128": {"strategy": "parent_child"},
}
COLUMNS = (
    "children",
    "tokens",
    "MRR BM25",
    "MRR vectors",
    "MRR",
    "recall@5",
    "MRR − default",
    "tokens of 5",
)
MRR, RECALL = "MRR@10", "recall@5"


@dataclass(frozen=True, slots=True)
class Found:
    """What one setting did on one data set."""

    children: int
    tokens: float
    """Mean of a child."""
    figures: Mapping[str, Mapping[str, NDArray[np.float64]]]
    """Row -> metric -> value per question."""
    read: float
    """Mean tokens of the first five sections."""


class Remembering(LocalEmbedding):
    """Embeds a text once, however many settings and questions ask for it."""

    _known: dict[str, list[float]] = PrivateAttr(default_factory=dict)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, super()._get_text_embeddings(new), strict=True))
        return [self._known[text] for text in texts]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embeddings([query])[0]


def smaller(data: Dataset, every: int, where: Mapping[str, str]) -> Dataset:
    """Each N-th document that answers, and its questions that have these labels."""
    judged = [question for question in data.questions if question.judged]
    names = {q.id: {doc for doc, _, _ in q.lines} | set(q.documents) for q in judged}
    gold = set().union(*names.values())
    documents = [document for document in data.documents if document.id_ in gold][::every]
    kept = {document.id_ for document in documents}
    questions = tuple(
        q for q in judged if names[q.id] <= kept and all(q.labels.get(k) == v for k, v in where.items())
    )
    return replace(data, documents=documents, questions=questions)


def run(data: Dataset, options: Mapping[str, Any], model: LocalEmbedding, cache: Path) -> Found:
    documents = data.documents
    parser = SectionNodeParser(**options, embed_model=model)
    key = f"{gyr_hybrid.__version__} {data.fingerprint} {len(documents)} {sorted(options.items())}"
    folder = cache / f"chunking-{data.name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    with HybridIndex.open(folder, offline=True, embed_model=model, node_parser=parser) as index:
        index.upsert(documents)
        nodes = parser.get_nodes_from_documents(list(documents))
        children = [count_tokens(node.text) for node in nodes if not node.child_nodes]
        sections: dict[str, list[SectionSpan]] = {}
        for node in nodes:
            if node.child_nodes:
                span = SectionSpan(node.id_, node.start_char_idx or 0, node.end_char_idx or 0)
                sections.setdefault(node.metadata["doc_id"], []).append(span)
        judged = judge(data, sections)
        rows = rankings(data, index)
        sizes = {node.id_: count_tokens(node.text) for node in nodes if node.child_nodes}
    read = [sum(sizes[unit] for unit in rows[FULL][q.id][:5]) for q in data.questions if q.unit == "section"]
    figures = {row: measure(ranked, judged, [MRR, RECALL]) for row, ranked in rows.items()}
    return Found(len(children), float(np.mean(children)), figures, float(np.mean(read)))


def rankings(data: Dataset, index: HybridIndex) -> dict[str, dict[str, list[str]]]:
    """Row -> question -> units, best first: of two legs and of the whole pipeline."""
    retriever = index.as_retriever(top_k=DEPTH)
    rows: dict[str, dict[str, list[str]]] = {"bm25": {}, "vectors": {}, FULL: {}}
    for question in data.questions:
        seen = retriever.explain(question.text)
        steps = {
            "bm25": seen.legs.get("lexical", ()),
            "vectors": seen.legs.get("dense", ()),
            FULL: seen.reranked,
        }
        for row, ranked in steps.items():
            rows[row][question.id] = collapse((step.node_id for step in ranked), question.unit)
    return rows


def judge(data: Dataset, sections: Mapping[str, Sequence[SectionSpan]]) -> dict[str, dict[str, int]]:
    """Question -> the sections of this setting that touch a judged line, or the judged documents."""
    by_id = {document.id_: document for document in data.documents}
    judged = {}
    for question in data.questions:
        if question.lines:
            judged[question.id] = {
                name: 1
                for doc, first, last in question.lines
                for name in touched(sections[doc], *line_span(by_id[doc], first, last))
            }
        else:
            judged[question.id] = dict(question.documents)
    return judged


def row_of(found: Found, default: Found) -> list[str]:
    full, usual = found.figures[FULL], default.figures[FULL]
    gap = paired_bootstrap(full[MRR], usual[MRR], seed=0)
    return [
        f"{found.children:,}",
        f"{found.tokens:.0f}",
        *(f"{found.figures[row][MRR].mean():.3f}" for row in ("bm25", "vectors", FULL)),
        f"{full['recall@5'].mean():.3f}",
        "" if found is default else f"{gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]",
        f"{found.read:,.0f}",
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("datasets", nargs="+", type=Path, metavar="DATASET")
    arguments.add_argument("--every", type=int, default=1, metavar="N", help="take each N-th document")
    arguments.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="only these, and the default"
    )
    arguments.add_argument(
        "--where", nargs="+", default=[], metavar="LABEL=VALUE", help="only questions with these labels"
    )
    arguments.add_argument("--cache", type=Path, default=default_cache(), metavar="DIR")
    arguments.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables as Markdown")
    options = arguments.parse_args()
    console, written = Console(width=150), []
    for folder in options.datasets:
        data = smaller(load_dataset(folder), options.every, dict(pair.split("=") for pair in options.where))
        about = f"{data.name}: {len(data.documents)} documents, {len(data.questions)} questions"
        model = Remembering()
        default = run(data, {}, model, options.cache)
        for kind, settings in (("children", SAME_SECTIONS), ("sections", OWN_SECTIONS)):
            title = f"{about}, other {kind}"
            rows = [[DEFAULT, *row_of(default, default)]]
            for name, setting in settings.items():
                if name == DEFAULT or (options.only and name not in options.only):
                    continue
                console.print(f"{data.name}: {kind}, {name}", style="dim")
                rows.append([name, *row_of(run(data, setting, model, options.cache), default)])
            table = Table("", *COLUMNS, title=title)
            for row in rows:
                table.add_row(*row)
            console.print(table)
            lines = [["", *COLUMNS], ["---"] * (len(COLUMNS) + 1), *rows]
            written += [f"{title}\n", *(f"| {' | '.join(line)} |" for line in lines), ""]
            if options.markdown:
                options.markdown.write_text("\n".join(written), encoding="utf-8")


if __name__ == "__main__":
    main()
