"""A ``View`` of a plain list of nodes, so that the score step of an index also orders what others have found."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from llama_index.core.schema import BaseNode, Document, MetadataMode, TextNode
from numpy.typing import NDArray

from gyr_hybrid.analysis import Analyzer, count_tokens, split_sentences
from gyr_hybrid.retrieval.scoring import K1, B
from gyr_hybrid.storage import CodeMention, Hit
from gyr_hybrid.storage.code_map import CodeMap
from gyr_hybrid.storage.visible_codes import VisibleCodes

PIECE_TOKENS = 96
"""Sentences are taken together up to so many tokens: the size of the children of an index."""

BACKGROUND = 1000
"""Pieces without any of the question's words that the nodes are thought to have been found among: counted among
themselves alone, the words that brought them would look common. With 0 the order of BM25 gets worse, with 100 to 10,000
it is kept (298 questions of FAQ pages, ``benchmarks/feature_reranker.py``)."""


class Candidates:
    """What a question sees when these nodes are all there is. Node ids are its units, pieces of them its children.

    Rarity is counted among the pieces of the nodes and a background. Of nodes with one id the first is kept.

    Args:
        nodes: in the order in which they came; that is their reading order.
        analyzer: turns their text into words and codes.
    """

    generation = 0
    dimension = None

    def __init__(self, nodes: Sequence[BaseNode], analyzer: Analyzer) -> None:
        self.units: dict[str, TextNode] = {}
        self._analyzer = analyzer
        self._children: dict[str, list[str]] = {}
        self._parents: dict[str, str] = {}
        self._paths: dict[str, tuple[str, ...]] = {}
        self._spans: dict[str, tuple[int, int]] = {}
        self._counts: dict[str, Counter[str]] = {}
        self._slots: dict[str, int] = {}
        for node in nodes:
            if node.node_id not in self.units:
                self._add(node)
        self._df = Counter(token for counts in self._counts.values() for token in counts)
        self._mean = max(sum(c.total() for c in self._counts.values()) / max(len(self._counts), 1), 1.0)

    def _add(self, node: BaseNode) -> None:
        unit, text = node.node_id, node.get_content(MetadataMode.NONE)
        start = getattr(node, "start_char_idx", None) or 0
        path = header_path(node.metadata)
        self.units[unit] = TextNode(id_=unit, text=text, metadata=node.metadata, start_char_idx=start)
        self._paths[unit] = path
        self._children[unit] = []
        above = "\n".join((*path, str(node.metadata.get("table_header", ""))))
        for number, (first, last) in enumerate(pieces(text)):
            child = f"{unit}\0{number}"
            self._children[unit].append(child)
            self._parents[child] = unit
            self._paths[child] = path
            self._spans[child] = start + first, start + last
            self._counts[child] = Counter(self._analyzer.tokens(f"{above}\n{text[first:last]}"))
            self._slots[child] = len(self._slots)

    # sizes

    @property
    def n_children(self) -> int:
        return len(self._parents) + BACKGROUND

    @property
    def n_visible(self) -> int:
        return len(self._parents)

    # searches

    def dense(self, vector: Any, k: int) -> list[Hit]:
        return []

    def cosine(self, vector: Any, node_ids: Sequence[str]) -> dict[str, float]:
        return {}

    def lexical(self, weights: Mapping[str, float], k: int) -> list[Hit]:
        scores = self.bm25(weights, list(self._parents))
        best = sorted(scores, key=lambda child: -scores[child])[:k]
        return [Hit(child, scores[child]) for child in best if scores[child] > 0.0]

    def bm25(self, weights: Mapping[str, float], node_ids: Sequence[str]) -> dict[str, float]:
        weighted = {token: weight * self.idf(token) for token, weight in weights.items()}
        scores = {}
        for child in node_ids:
            counts = self._counts.get(child)
            if counts is None:
                continue
            norm = K1 * (1 - B + B * counts.total() / self._mean)
            scores[child] = sum(
                weight * counts[token] / (counts[token] + norm) for token, weight in weighted.items()
            )
        return scores

    def idf(self, token: str) -> float:
        df = self._df[token]
        return math.log(1.0 + (self.n_children - df + 0.5) / (df + 0.5))

    def frequencies(self, tokens: Sequence[str], node_ids: Sequence[str]) -> NDArray[np.int32]:
        none: Counter[str] = Counter()
        rows = [[self._counts.get(child, none)[token] for token in tokens] for child in node_ids]
        return np.array(rows, dtype=np.int32).reshape(len(node_ids), len(tokens))

    def lengths(self, node_ids: Sequence[str]) -> NDArray[np.int32]:
        sizes = [self._counts[child].total() if child in self._counts else 0 for child in node_ids]
        return np.array(sizes, dtype=np.int32)

    @cached_property
    def codes(self) -> VisibleCodes:
        codes = CodeMap()
        for child, slot in self._slots.items():
            unit = self._parents[child]
            node, start = self.units[unit], self.units[unit].start_char_idx or 0
            first, last = self._spans[child]
            mentions = self._analyzer.mentions(
                node.text[first - start : last - start],
                header_path=self._paths[unit],
                table_row="table_header" in node.metadata,
            )
            codes.add(
                slot,
                [
                    CodeMention(c.text, c.canonical, c.compact, c.kind, c.number, mention.defining)
                    for mention in mentions
                    if (c := mention.code)
                ],
            )
        ids = list(self._slots)
        return VisibleCodes(codes.view(), lambda held: [(ids[slot], defining) for slot, defining in held])

    # look-ups

    def nodes(self, node_ids: Sequence[str]) -> dict[str, TextNode]:
        return {unit: self.units[unit] for unit in node_ids if unit in self.units}

    def children(self, section_ids: Sequence[str]) -> dict[str, list[str]]:
        return {unit: list(self._children[unit]) for unit in section_ids if unit in self._children}

    def parents(self, child_ids: Sequence[str]) -> dict[str, str]:
        return {child: self._parents[child] for child in child_ids if child in self._parents}

    def header_paths(self, node_ids: Sequence[str]) -> list[tuple[str, ...]]:
        return [self._paths.get(node_id, ()) for node_id in node_ids]

    def spans(self, node_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        return {child: self._spans[child] for child in node_ids if child in self._spans}

    def position(self, node_id: str) -> int:
        return self._places.get(self._parents.get(node_id, node_id), len(self._places))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {unit: place for place, unit in enumerate(self.units)}

    def document(self, doc_id: str, version: str | None = None) -> Document | None:
        return None


def pieces(text: str) -> list[tuple[int, int]]:
    """Spans of whole sentences, taken together up to ``PIECE_TOKENS``; at least one.

    >>> pieces("一句。又一句。")
    [(0, 7)]
    """
    spans: list[tuple[int, int]] = []
    size = 0
    for start, end in split_sentences(text):
        tokens = count_tokens(text[start:end])
        if spans and size + tokens <= PIECE_TOKENS:
            spans[-1] = spans[-1][0], end
            size += tokens
        else:
            spans.append((start, end))
            size = tokens
    return spans or [(0, len(text))]


def header_path(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Title and headings above a node: ``header_path`` as a list or as LlamaIndex's ``/a/b/``, else ``title``.

    >>> header_path({"header_path": "/手册/安装/"})
    ('手册', '安装')
    """
    path = metadata.get("header_path") or metadata.get("title") or ()
    parts = path.split("/") if isinstance(path, str) and path.startswith("/") else path
    return (parts,) if isinstance(parts, str) else tuple(str(part) for part in parts if str(part).strip())
