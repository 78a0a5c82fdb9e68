"""How many tokens of context it takes to hold the lines that answer: sections against fixed chunks.

    python benchmarks/context.py DATASET... [--chunks 4] [--judged-only] [--limit N] [--markdown FILE]

The same documents are indexed twice, with the same analyzer, embedding and ranking: once cut into sections with
children (the default), once into consecutive chunks of 512 tokens. The chunks' context is the first ``--chunks``
of them; the sections' context is filled, best first, up to half of those tokens. A question counts as held when
all of its judged lines stand in the context. Data sets: folders with ``docs/`` and judged lines
(``gyr-hybrid eval --help``). Tokens: one Han character, one run of letters or digits, or one other mark.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import BaseNode, NodeRelationship, TextNode
from rich.console import Console
from rich.table import Table

from gyr_hybrid import HybridIndex
from gyr_hybrid.analysis import count_tokens
from gyr_hybrid.evaluation import Dataset, Question, load_dataset
from gyr_hybrid.evaluation.cache import default_cache
from gyr_hybrid.evaluation.judging import document_of, line_span
from gyr_hybrid.progress import progress

CHUNK_TOKENS = 512
DEPTH = 30


class FixedChunks(NodeParser):
    """Consecutive chunks of 512 tokens, whatever stands there."""

    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **_: Any
    ) -> list[BaseNode]:
        return [chunk for node in nodes for chunk in self._chunks(node)]

    def _chunks(self, document: BaseNode) -> Iterator[TextNode]:
        text = document.get_content()
        for number, (start, end) in enumerate(_cuts(text), 1):
            yield TextNode(
                id_=f"{document.node_id}#{number}",
                text=text[start:end],
                start_char_idx=start,
                end_char_idx=end,
                metadata={"doc_id": document.node_id, "breadcrumb": document.metadata.get("title", "")},
                excluded_embed_metadata_keys=["doc_id"],
                metadata_template="{value}",
                text_template="{metadata_str}\n{content}",
                relationships={NodeRelationship.SOURCE: document.as_related_node_info()},
            )

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Any]
    ) -> list[BaseNode]:
        return nodes


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    """Spans of at most 512 tokens, found by halving."""
    start = 0
    while start < len(text):
        low, high = start + 1, min(len(text), start + 8 * CHUNK_TOKENS)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (
                (middle, high) if count_tokens(text[start:middle]) <= CHUNK_TOKENS else (low, middle - 1)
            )
        if text[start:low].strip():
            yield start, low
        start = low


@dataclass(frozen=True, slots=True)
class Held:
    """Over the questions of one set."""

    whole: float
    """Share of questions whose judged lines are all in the context."""
    tokens: float
    """Mean tokens of context."""


def held(
    index: HybridIndex,
    data: Dataset,
    questions: Sequence[Question],
    *,
    chunks: int | None,
    budgets: list[int],
) -> tuple[Held, list[int]]:
    """Fill a context per question: the first ``chunks`` nodes, or as many as fit into its budget."""
    documents = {document.id_: document for document in data.documents}
    retriever = index.as_retriever(top_k=DEPTH)
    whole, used = [], []
    for i, question in enumerate(progress(list(questions), data.name, True)):
        context: list[TextNode] = []
        tokens = 0
        for hit in retriever.retrieve(question.text):
            node = hit.node
            assert isinstance(node, TextNode)
            size = count_tokens(node.text)
            if (chunks is not None and len(context) >= chunks) or (
                chunks is None and context and tokens + size > budgets[i]
            ):
                break
            context.append(node)
            tokens += size
        doc_id, first, last = question.lines[0]
        text = documents[doc_id].text
        start, end = line_span(documents[doc_id], first, last)
        wanted = {place for place in range(start, end) if not text[place].isspace()}
        for node in context:
            if (
                document_of(node.node_id) == doc_id
                and node.start_char_idx is not None
                and node.end_char_idx is not None
            ):
                wanted -= set(range(node.start_char_idx, node.end_char_idx))
        whole.append(not wanted)
        used.append(tokens)
    return Held(float(np.mean(whole)), float(np.mean(used))), used


def main(arguments: Any = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument(
        "--chunks", type=int, default=4, help="chunks of 512 tokens in the baseline's context"
    )
    parser.add_argument(
        "--judged-only",
        action="store_true",
        help="index only the documents that hold judged lines (minutes instead of an hour)",
    )
    parser.add_argument("--limit", type=int, help="most questions of each set")
    parser.add_argument("--cache", type=Path, default=default_cache() / "context")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table as Markdown")
    options = parser.parse_args(arguments)
    os.environ["GYR_OFFLINE"] = "1"
    rows: list[tuple[str, ...]] = []
    for path in options.datasets:
        data = load_dataset(path)
        asked = tuple(question for question in data.questions if question.lines)
        documents = data.documents
        if options.judged_only:
            wanted = {place[0] for question in asked for place in question.lines}
            documents = [document for document in documents if document.id_ in wanted]
        data = Dataset(data.name, documents, asked, data.fingerprint)
        questions = data.select(limit=options.limit).questions
        budgets: list[int] = []
        for name, parser_ in (("chunks", FixedChunks()), ("sections", None)):
            folder = options.cache / f"{data.name}-{name}-{len(documents)}-{data.fingerprint}"
            folder.mkdir(parents=True, exist_ok=True)
            with HybridIndex.open(folder, node_parser=parser_) as index:
                index.upsert(documents, show_progress=True)
                fixed = name == "chunks"
                found, used = held(
                    index, data, questions, chunks=options.chunks if fixed else None, budgets=budgets
                )
                budgets = [tokens // 2 for tokens in used]
            rows.append((data.name, name, str(len(questions)), f"{found.whole:.3f}", f"{found.tokens:.0f}"))
    columns = ("data set", "context of", "questions", "judged lines held", "tokens")
    table = Table(*columns)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    if options.markdown:
        lines = [columns, ("---", "---", "---:", "---:", "---:"), *rows]
        options.markdown.write_text(
            "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
