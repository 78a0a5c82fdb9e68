"""What ``FeatureReranker`` makes of other people's retrievers.

    python benchmarks/feature_reranker.py DATASET... [--pool 20] [--limit N] [--cache DIR] [--markdown FILE]

Two retrievers that are not ours to rank: vectors alone, and BM25 over whole texts with
jieba words (LlamaIndex's own class, our tokens). Each finds ``--pool`` nodes per question; they are judged as they come and after ``FeatureReranker``,
which knows nothing but those nodes. Data sets: folders as ``gyr-hybrid eval --help`` says. p: paired bootstrap.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from llama_index.core.schema import NodeWithScore, QueryBundle
from rich.console import Console
from rich.table import Table

from gyr_hybrid import FeatureReranker
from gyr_hybrid.evaluation import load_dataset
from gyr_hybrid.evaluation.cache import cached_index, cached_whole_texts, default_cache
from gyr_hybrid.evaluation.judging import collapse, judge
from gyr_hybrid.evaluation.metrics import measure
from gyr_hybrid.evaluation.significance import paired_bootstrap
from gyr_hybrid.progress import progress

METRICS = ("hit@1", "MRR@10")


def main(arguments: Any = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--pool", type=int, default=20, help="nodes that each retriever finds")
    parser.add_argument("--limit", type=int, help="most questions of each set")
    parser.add_argument("--cache", type=Path, default=default_cache())
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table as Markdown")
    options = parser.parse_args(arguments)
    os.environ["GYR_OFFLINE"] = "1"
    reranker = FeatureReranker()
    rows: list[tuple[str, ...]] = []
    for path in options.datasets:
        data = load_dataset(path)
        chosen = data.select(limit=options.limit)
        judged = judge(chosen.questions, chosen.documents)
        asked = [question for question in chosen.questions if question.id in judged]
        index, folder = cached_index(data, cache=options.cache, show_progress=True)
        with index:
            words = cached_whole_texts(data, index, folder)
            words.similarity_top_k = options.pool
            retrievers = {
                "vectors": index.as_retriever(mode="dense", top_k=options.pool),
                "BM25": words,
            }
            for name, retriever in retrievers.items():
                alone: dict[str, list[str]] = {}
                after: dict[str, list[str]] = {}
                for question in progress(asked, f"{data.name} {name}", True):
                    found = retriever.retrieve(question.text)
                    ranked = reranker.postprocess_nodes(found, QueryBundle(question.text))
                    alone[question.id], after[question.id] = (
                        _units(hits, question.unit) for hits in (found, ranked)
                    )
                before, then = (measure(run, judged, METRICS) for run in (alone, after))
                gap = paired_bootstrap(then["MRR@10"], before["MRR@10"])
                means = [f"{values[m].mean():.3f}" for m in METRICS for values in (before, then)]
                rows.append((data.name, name, str(len(asked)), *means, f"{gap.p:.4f}"))
    columns = ("data set", "retriever", "questions", "hit@1", "+ rerank", "MRR@10", "+ rerank", "p")
    table = Table(*columns)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    if options.markdown:
        lines = [columns, ("---", "---", *["---:"] * 6), *rows]
        options.markdown.write_text(
            "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n", encoding="utf-8"
        )


def _units(hits: list[NodeWithScore], unit: str) -> list[str]:
    return collapse((hit.node.node_id for hit in hits), unit)


if __name__ == "__main__":
    main()
