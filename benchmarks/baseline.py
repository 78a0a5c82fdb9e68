"""The same articles and questions through the stock LlamaIndex recipe and through gyr_hybrid.

    python benchmarks/baseline.py [--markdown FILE]

Articles: the two knowledge bases that come with the package, each searched on its own. Questions: those of
``benchmarks/data/expected.jsonl`` and the answerable ones of ``tests/data/floor``, each with the sections that
answer it. All three systems use the same offline embedding and run on one machine in one process:

1. stock: HierarchicalNodeParser (2048/512/128), BM25Retriever over the leaves, VectorStoreIndex,
   QueryFusionRetriever (reciprocal_rerank, num_queries=1, no LLM), AutoMergingRetriever;
2. the same with jieba words given to BM25Retriever, the usual work-around for Chinese;
3. gyr_hybrid with its defaults.

A stock node answers a question when it is of the same document and its text overlaps the section's. Stock nodes
that were merged are often whole articles, which then count for each of their sections; the column with the
characters of the first four nodes says how much text that is. Extra jieba words, synonyms and tuning: none for
any system, but for the general synonyms that gyr_hybrid ships.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import HierarchicalNodeParser, get_leaf_nodes
from llama_index.core.retrievers import AutoMergingRetriever, QueryFusionRetriever
from llama_index.core.schema import BaseNode, Document, NodeWithScore, QueryBundle, TextNode
from rich.console import Console
from rich.table import Table

from gyr_hybrid import HybridIndex, load_documents
from gyr_hybrid.evaluation.judging import SectionSpan, sections_of
from gyr_hybrid.models.local_embedding import LocalEmbedding
from gyr_hybrid.shipped import shipped

HERE = Path(__file__).resolve().parent
KNOWLEDGE_BASES = ("helpcenter", "novashop")
DEPTH = 10
CUT = 4


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    kb: str
    kind: str
    sections: tuple[str, ...]


@dataclass(slots=True)
class Tally:
    """Per question: reciprocal rank, hit at 1, share of its sections in the first four, time, text."""

    rr: list[float]
    top: list[float]
    recall: list[float]
    ms: list[float]
    characters: list[int]


class JiebaWords(BaseRetriever):
    """Stock BM25Retriever over texts that jieba has cut; gives the uncut nodes back."""

    def __init__(self, nodes: Sequence[BaseNode], depth: int) -> None:
        from llama_index.retrievers.bm25 import BM25Retriever

        self._nodes = {node.node_id: node for node in nodes}
        cut = [TextNode(id_=node.node_id, text=_words(node.get_content())) for node in nodes]
        self._bm25 = BM25Retriever.from_defaults(
            nodes=cut, similarity_top_k=min(depth, len(cut)), token_pattern=r"(?u)\S+", skip_stemming=True
        )
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = self._bm25.retrieve(_words(query_bundle.query_str))
        return [NodeWithScore(node=self._nodes[hit.node.node_id], score=hit.score) for hit in hits]


def _words(text: str) -> str:
    import jieba

    return " ".join(word for word in jieba.cut_for_search(text.lower()) if word.strip())


def stock(documents: Sequence[Document], *, jieba_words: bool) -> Callable[[str], list[BaseNode]]:
    """The documented recipe of auto-merging with hybrid fusion."""
    from llama_index.retrievers.bm25 import BM25Retriever

    plain = [
        Document(
            text=d.text, id_=d.id_, metadata={"title": d.metadata["title"]}, excluded_embed_metadata_keys=[]
        )
        for d in documents
    ]
    nodes = HierarchicalNodeParser.from_defaults(chunk_sizes=[2048, 512, 128]).get_nodes_from_documents(plain)
    leaves = get_leaf_nodes(nodes)
    context = StorageContext.from_defaults()
    context.docstore.add_documents(nodes)
    index = VectorStoreIndex(leaves, storage_context=context, embed_model=LocalEmbedding())
    depth = min(2 * DEPTH, len(leaves))
    words: BaseRetriever = (
        JiebaWords(leaves, depth)
        if jieba_words
        else BM25Retriever.from_defaults(nodes=leaves, similarity_top_k=depth)
    )
    fusion = QueryFusionRetriever(
        [index.as_retriever(similarity_top_k=depth), words],
        similarity_top_k=depth,
        num_queries=1,
        mode="reciprocal_rerank",  # type: ignore[arg-type]
        use_async=False,
        llm=MockLLM(),  # asked for by the constructor, never called with one query
    )
    merging = AutoMergingRetriever(fusion, context)  # type: ignore[arg-type]
    return lambda question: [hit.node for hit in merging.retrieve(question)][:DEPTH]


def ours(documents: Sequence[Document]) -> Callable[[str], list[BaseNode]]:
    """An index in memory with every default."""
    retriever = HybridIndex.from_documents(documents, offline=True).as_retriever(top_k=DEPTH)
    return lambda question: [hit.node for hit in retriever.retrieve(question)]


def covered(node: BaseNode, documents: dict[str, Document], spans: dict[str, list[SectionSpan]]) -> set[str]:
    """Ids of the sections whose characters a node's text overlaps."""
    doc_id = node.ref_doc_id or ""
    text = node.get_content().strip()
    start = documents[doc_id].text.find(text)
    if start < 0:
        raise SystemExit(f"a node of {doc_id} holds text that its document does not: {text[:60]!r}")
    return {s.node_id for s in spans[doc_id] if s.start < start + len(text) and start < s.end}


def load_questions() -> list[Question]:
    rows = [
        json.loads(line)
        for file in (HERE / "data/expected.jsonl", HERE.parent / "tests/data/floor/queries.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    return [
        Question(row["text"], row["kb"], row.get("kind", "expected"), tuple(row["sections"]))
        for row in rows
        if row["sections"]
    ]


def run(
    build: Callable[[Sequence[Document]], Callable[[str], list[BaseNode]]], questions: Sequence[Question]
) -> Tally:
    tally = Tally([], [], [], [], [])
    for kb in KNOWLEDGE_BASES:
        documents = {document.id_: document for document in load_documents(str(shipped(kb)))}
        spans = {name: sections_of(document) for name, document in documents.items()}
        retrieve = build(list(documents.values()))
        retrieve("先问一句热热身")
        for question in (q for q in questions if q.kb == kb):
            started = perf_counter()
            nodes = retrieve(question.text)
            tally.ms.append((perf_counter() - started) * 1000)
            found = [covered(node, documents, spans) for node in nodes]
            wanted = set(question.sections)
            rank = next((i for i, sections in enumerate(found, 1) if sections & wanted), None)
            tally.rr.append(1 / rank if rank else 0.0)
            tally.top.append(float(rank == 1))
            tally.recall.append(len(wanted & set().union(*found[:CUT])) / len(wanted))
            tally.characters.append(sum(len(node.get_content()) for node in nodes[:CUT]))
    return tally


SYSTEMS: dict[str, Callable[[Sequence[Document]], Callable[[str], list[BaseNode]]]] = {
    "LlamaIndex, stock": lambda documents: stock(documents, jieba_words=False),
    "LlamaIndex, BM25 over jieba words": lambda documents: stock(documents, jieba_words=True),
    "gyr_hybrid": ours,
}
COLUMNS = ("", "top-1", "recall@4", "MRR@10", "characters in first 4", "ms per question")


def cells(name: str, tally: Tally) -> list[str]:
    return [
        name,
        f"{np.mean(tally.top):.3f}",
        f"{np.mean(tally.recall):.3f}",
        f"{np.mean(tally.rr):.3f}",
        f"{np.mean(tally.characters):.0f}",
        f"{np.median(tally.ms):.1f}",
    ]


def main(arguments: Any = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table as Markdown")
    options = parser.parse_args(arguments)
    os.environ["GYR_OFFLINE"] = "1"
    logging.disable(logging.WARNING)  # the stock retriever's notes on its own arguments
    warnings.simplefilter("ignore")
    questions = load_questions()
    rows = [cells(name, run(build, questions)) for name, build in SYSTEMS.items()]
    title = f"{len(questions)} questions over {' and '.join(KNOWLEDGE_BASES)}, offline embedding"
    table = Table(*COLUMNS, title=title)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    if options.markdown:
        lines = [COLUMNS, ("---", *("---:" for _ in COLUMNS[1:])), *rows]
        text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        options.markdown.write_text(f"{title}\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
