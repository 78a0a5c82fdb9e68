"""Documents and nodes as rows, without loss and without storing text twice; ``unpacking`` is the way back.

The text of a document is cut into consecutive pieces, one per section. A node keeps only its place in the
text, what its metadata has beyond that of all nodes of the document, and its relations as numbers. Nodes of
any LlamaIndex parser come back equal; a text that is no slice of its piece is kept as it is.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llama_index.core.schema import (
    Document,
    NodeRelationship,
    ObjectType,
    RelatedNodeInfo,
    TextNode,
)
from numpy.typing import NDArray

from gyr_hybrid.errors import DocumentError
from gyr_hybrid.storage.json_text import to_json

PARENT, PIECE, CHILD, START, END, PATH = range(6)
"""Columns of a layout."""

STYLE = (
    "text_template",
    "metadata_template",
    "metadata_separator",
    "excluded_embed_metadata_keys",
    "excluded_llm_metadata_keys",
    "mimetype",
)
"""Fields of a node that most nodes of a document have in common."""


_style_of = operator.attrgetter(*STYLE)
_ABSENT = object()
_KINDS = {kind: kind.value for kind in NodeRelationship}


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a document's text with the nodes of one section."""

    start: int
    """Code points before it."""
    text: str
    nodes: str
    """JSON."""


@dataclass(frozen=True, slots=True)
class PackedDocument:
    """A document and its nodes, ready to be written."""

    document: str
    shared: str
    node_ids: list[str]
    children: list[str]
    """Ids of the nodes without children of their own, reading order."""
    layout: NDArray[np.int32]
    """Shape (nodes, 6): parent, piece, child number, start, end, header path; -1 for none."""
    paths: list[list[str]]
    """Distinct header paths."""
    pieces: list[Piece]

    @property
    def n_sections(self) -> int:
        """Nodes without a parent."""
        return int((self.layout[:, PARENT] < 0).sum())


def pack_document(document: Document, nodes: Sequence[TextNode]) -> PackedDocument:
    """Cut a document and its nodes into rows.

    Raises:
        DocumentError: two nodes have one id, or metadata cannot be written as JSON.
    """
    return _Packer(document, nodes).pack()


class _Packer:
    def __init__(self, document: Document, nodes: Sequence[TextNode]) -> None:
        self._document = document
        self._nodes = nodes
        self._ordinals = {node.node_id: i for i, node in enumerate(nodes)}
        if len(self._ordinals) != len(nodes):
            ids = [node.node_id for node in nodes]
            twice = next(i for i in ids if ids.count(i) > 1)
            raise DocumentError(
                f"document {document.id_!r} has two nodes with the id {twice!r}; give each its own"
            )
        self._text = document.text
        self._styles: list[tuple[Any, ...]] = []
        self._last_style = 0
        self._hashes: dict[int, str] = {}

    def pack(self) -> PackedDocument:
        nodes, text = self._nodes, self._text
        children: list[str] = []
        paths: dict[tuple[str, ...], int] = {}
        parents, numbers, starts, ends, path_numbers = [], [], [], [], []
        for node in nodes:
            parent = node.parent_node
            parents.append(-1 if parent is None else self._ordinals.get(parent.node_id, -1))
            if NodeRelationship.CHILD in node.relationships:
                numbers.append(-1)
            else:
                numbers.append(len(children))
                children.append(node.node_id)
            start, end = node.start_char_idx, node.end_char_idx
            if start is None or end is None:
                start = end = -1
            starts.append(start)
            ends.append(end)
            path = node.metadata.get("header_path")
            if path:
                key = tuple(map(str, path)) if isinstance(path, (list, tuple)) else (str(path),)
                path_numbers.append(paths.setdefault(key, len(paths)))
            else:
                path_numbers.append(-1)
        roots = _roots(parents)
        order = {root: piece for piece, root in enumerate(dict.fromkeys(roots))}
        own_pieces = [order[root] for root in roots]
        cuts = _cuts([starts[root] for root in order], len(text))
        rows, shared = self._rows(own_pieces, cuts)
        layout = np.array([parents, own_pieces, numbers, starts, ends, path_numbers], dtype=np.int32).T
        pieces = [
            Piece(start, text[start:end], to_json(rows[i], self._document.id_))
            for i, (start, end) in enumerate(itertools.pairwise(cuts))
        ]
        return PackedDocument(
            document=to_json(self._document_fields(), self._document.id_),
            shared=shared,
            node_ids=list(self._ordinals),
            children=children,
            layout=np.ascontiguousarray(layout),
            paths=[list(path) for path in paths],
            pieces=pieces,
        )

    def _rows(self, pieces: list[int], cuts: list[int]) -> tuple[list[list[Any]], str]:
        nodes = self._nodes
        common = dict(nodes[0].metadata) if nodes else {}
        for node in nodes[1:]:
            metadata = node.metadata
            differing = [
                key
                for key, value in common.items()
                if (other := metadata.get(key, _ABSENT)) is not value and not _same(value, other)
            ]
            for key in differing:
                del common[key]
        source = next((node.source_node for node in nodes if node.source_node is not None), None)
        orders: dict[tuple[str, ...], int] = {}
        rows: list[list[Any]] = [[] for _ in cuts[1:]]
        for i, (node, piece) in enumerate(zip(nodes, pieces, strict=True)):
            metadata = node.metadata
            row = [
                i,
                self._style(node),
                None if self._is_slice(node, cuts[piece], cuts[piece + 1]) else node.text,
                node.start_char_idx,
                node.end_char_idx,
                [
                    orders.setdefault(tuple(map(str, metadata)), len(orders)),
                    *[value for key, value in metadata.items() if key not in common],
                ],
                self._relations(node, source),
            ]
            rows[piece].append(row)
        shared = {
            "metadata": common,
            "orders": list(orders),
            "styles": self._styles,
            "source": None if source is None else _info_fields(source),
        }
        return rows, to_json(shared, self._document.id_)

    def _style(self, node: TextNode) -> int:
        """Number of the style of a node; most often that of the node before it."""
        style = _style_of(node)
        if not self._styles or style != self._styles[self._last_style]:
            self._last_style = next((i for i, known in enumerate(self._styles) if known == style), -1)
            if self._last_style < 0:
                self._last_style = len(self._styles)
                self._styles.append(style)
        return self._last_style

    def _is_slice(self, node: TextNode, first: int, last: int) -> bool:
        start, end = node.start_char_idx, node.end_char_idx
        if start is None or end is None or not first <= start <= end <= last:
            return False
        return self._text[start:end] == node.text

    def _relations(self, node: TextNode, source: RelatedNodeInfo | None) -> list[list[Any]]:
        return [
            [
                _KINDS[kind],
                {"many": [self._relation(info, source) for info in value]}
                if isinstance(value, list)
                else self._relation(value, source),
            ]
            for kind, value in node.relationships.items()
        ]

    def _relation(self, info: RelatedNodeInfo, source: RelatedNodeInfo | None) -> Any:
        """None: the common source; a number: that node; ``[number]``: with its metadata and hash; else all fields."""
        if info is source:
            return None
        ordinal = self._ordinals.get(info.node_id)
        if ordinal is not None and info.node_type == ObjectType.TEXT:
            if not info.metadata and info.hash is None:
                return ordinal
            target = self._nodes[ordinal]
            if info.metadata == target.metadata and info.hash == self._hash(ordinal):
                return [ordinal]
        return None if source is not None and info == source else _info_fields(info)

    def _hash(self, ordinal: int) -> str:
        if ordinal not in self._hashes:
            self._hashes[ordinal] = self._nodes[ordinal].hash
        return self._hashes[ordinal]

    def _document_fields(self) -> dict[str, Any]:
        document = self._document
        fields: dict[str, Any] = {"metadata": document.metadata}
        for name in STYLE[:5]:
            value = getattr(document, name)
            if value != _defaults()[name]:
                fields[name] = value
        if document.text_resource is not None:
            resource = document.text_resource.model_dump(
                exclude={"text", "embeddings", "data"}, exclude_none=True
            )
            if resource:
                fields["resource"] = resource
        if document.relationships:
            fields["relationships"] = {
                kind.value: [_info_fields(info) for info in value]
                if isinstance(value, list)
                else _info_fields(value)
                for kind, value in document.relationships.items()
            }
        return fields


def _roots(parents: list[int]) -> list[int]:
    """Per node the section it belongs to, in the end; parents that go round in a circle lead anywhere."""
    roots = []
    for i in range(len(parents)):
        root = i
        for _ in range(len(parents)):
            if parents[root] < 0:
                break
            root = parents[root]
        roots.append(root)
    return roots


def _cuts(starts: list[int], length: int) -> list[int]:
    """Borders of the pieces: each runs to where the next section begins."""
    cuts = [0]
    for start in starts[1:]:
        cuts.append(min(max(start, cuts[-1]), length))
    return [*cuts, length]


def _info_fields(info: RelatedNodeInfo) -> dict[str, Any]:
    kind = info.node_type
    return {
        "node_id": info.node_id,
        "node_type": kind.value if isinstance(kind, ObjectType) else kind,
        "metadata": info.metadata,
        "hash": info.hash,
    }


@functools.cache
def _defaults() -> dict[str, Any]:
    return {name: Document.model_fields[name].get_default(call_default_factory=True) for name in STYLE[:5]}


def _same(a: Any, b: Any) -> bool:
    """Equal and of one type all the way down, so that True and 1 stay apart."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(_same, a.values(), b.values()))
    return bool(a == b)
