"""The nodes and BM25 scores behind `JiebaBM25Retriever`: built, searched, saved and loaded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
from bm25s.tokenization import Tokenized
from llama_index.core.schema import BaseNode, MetadataMode
from llama_index.core.storage.docstore.utils import doc_to_json, json_to_doc

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.errors import StorageError

FORMAT = 1
MANIFEST = "retriever.json"
"""Written last: a folder without it was not finished."""
NODES = "nodes.jsonl"
SHOWN = ("breadcrumb", "table_header")
"""Metadata that our node parser puts before the text when it is indexed."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Nodes in the order given, and their scores under the tokens of one analyzer."""

    nodes: tuple[BaseNode, ...]
    bm25: bm25s.BM25
    """Row ``i`` is node ``i``; its vocabulary is empty when no node has a word."""

    @classmethod
    def build(cls, nodes: Sequence[BaseNode], analyzer: Analyzer) -> Corpus:
        """Index the leaves among ``nodes``; bm25s' defaults are Lucene's formula, k1 1.5, b 0.75."""
        kept = tuple(leaves(nodes))
        vocabulary: dict[str, int] = {}
        ids = [
            [vocabulary.setdefault(token, len(vocabulary)) for token in analyzer.tokens(indexed_text(node))]
            for node in kept
        ]
        if not vocabulary:
            return cls(kept, _wordless())
        bm25 = bm25s.BM25(backend="numpy")
        bm25.index(Tokenized(ids=ids, vocab=vocabulary), create_empty_token=False, show_progress=False)
        return cls(kept, bm25)

    def scored(self, tokens: Sequence[str]) -> Iterator[tuple[int, float]]:
        """Places of the nodes with a score above 0, best first, equals in the order given; repeats count once."""
        vocabulary = self.bm25.vocab_dict
        ids = [vocabulary[token] for token in dict.fromkeys(tokens) if token in vocabulary]
        if not ids:
            return
        scores = self.bm25.get_scores_from_ids(ids)
        found = np.flatnonzero(scores > 0)
        for place in found[np.argsort(-scores[found], kind="stable")]:
            yield int(place), float(scores[place])

    def save(self, folder: Path, manifest: Mapping[str, Any], *, encoding: str, **options: Any) -> None:
        """Write nodes, scores and ``manifest`` into ``folder``; ``options`` go to ``bm25s.BM25.save``."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MANIFEST).unlink(missing_ok=True)
        if self.bm25.vocab_dict:
            self.bm25.save(folder, **{"show_progress": False, **options})
        with open(folder / NODES, "w", encoding=encoding, newline="\n") as file:
            for node in self.nodes:
                file.write(json.dumps(doc_to_json(node), ensure_ascii=False) + "\n")
        sizes = {"format": FORMAT, "n_nodes": len(self.nodes), "n_tokens": len(self.bm25.vocab_dict)}
        unfinished = folder / f"{MANIFEST}.unfinished"
        unfinished.write_text(
            json.dumps({**sizes, **manifest}, ensure_ascii=False, indent=2), encoding=encoding
        )
        unfinished.replace(folder / MANIFEST)

    @classmethod
    def load(cls, folder: Path, *, encoding: str) -> tuple[Corpus, dict[str, Any]]:
        """What ``save`` wrote, and its manifest; raises `StorageError` when it is not whole."""
        try:
            manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding=encoding))
            if manifest["format"] != FORMAT:
                raise ValueError(f"format {manifest['format']}, this version reads {FORMAT}")
            with open(folder / NODES, encoding=encoding, newline="\n") as file:
                nodes = tuple(json_to_doc(json.loads(line)) for line in file)
            bm25 = bm25s.BM25.load(folder, load_corpus=False) if manifest["n_tokens"] else _wordless()
            rows = bm25.scores["num_docs"] if manifest["n_tokens"] else len(nodes)
            if not rows == len(nodes) == manifest["n_nodes"]:
                raise ValueError(f"{len(nodes)} nodes and {rows} rows of {manifest['n_nodes']}")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"{folder} holds no finished JiebaBM25Retriever ({error}); "
                "build it from the nodes and persist it again"
            ) from error
        return cls(nodes, bm25), manifest


def leaves(nodes: Sequence[BaseNode]) -> Iterator[BaseNode]:
    """The nodes that are neither parent nor document of another one given."""
    present = {node.node_id for node in nodes}
    above = {
        node.node_id for node in nodes if any(child.node_id in present for child in node.child_nodes or ())
    }
    for node in nodes:
        above |= {
            relation.node_id
            for relation in (node.parent_node, node.source_node)
            if relation is not None and relation.node_id != node.node_id
        }
    return (node for node in nodes if node.node_id not in above)


def indexed_text(node: BaseNode) -> str:
    """The text whose words are searched: no metadata but the heading path and table header of our own nodes."""
    ours = any(key in node.metadata for key in SHOWN)
    return node.get_content(MetadataMode.EMBED if ours else MetadataMode.NONE)


def _wordless() -> bm25s.BM25:
    bm25 = bm25s.BM25(backend="numpy")
    bm25.vocab_dict, bm25.scores = {}, {"num_docs": 0}
    return bm25
