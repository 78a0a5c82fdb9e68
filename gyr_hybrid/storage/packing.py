"""Documents and nodes as rows, and back again, without loss and without storing text twice.

The text of a document is cut into consecutive pieces, one per section. A node keeps only its place in the
text, what its metadata has beyond that of all nodes of the document, and its relations as numbers. Nodes of
any LlamaIndex parser come back equal; a text that is no slice of its piece is kept as it is.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from pathlib import PurePath
from typing import Any

import numpy as np
from llama_index.core.schema import (
    Document,
    MediaResource,
    NodeRelationship,
    ObjectType,
    RelatedNodeInfo,
    TextNode,
)
from numpy.typing import NDArray

from gyr_hybrid.errors import DocumentError

PARENT, PIECE, CHILD, START, END, PATH = range(6)
"""Columns of a layout."""

_STYLE = (
    "text_template",
    "metadata_template",
    "metadata_separator",
    "excluded_embed_metadata_keys",
    "excluded_llm_metadata_keys",
    "mimetype",
)


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


def unpack_document(doc_id: str, packed: str, text: str) -> Document:
    """The document as it was given."""
    fields: dict[str, Any] = json.loads(packed)
    resource = MediaResource(text=text, **fields.pop("resource", {}))
    relations = {
        NodeRelationship(kind): [RelatedNodeInfo(**v) for v in value]
        if isinstance(value, list)
        else RelatedNodeInfo(**value)
        for kind, value in fields.pop("relationships", {}).items()
    }
    return Document(id_=doc_id, text_resource=resource, relationships=relations, **fields)


class NodeReader:
    """Rebuilds nodes of one document from its pieces."""

    def __init__(self, shared: str, node_ids: Sequence[str]) -> None:
        self._ids = node_ids
        read: dict[str, Any] = json.loads(shared)
        self._common: dict[str, Any] = read["metadata"]
        self._orders: list[list[str]] = read["orders"]
        self._styles: list[list[Any]] = read["styles"]
        self._source: dict[str, Any] | None = read["source"]
        self._raw: dict[int, tuple[list[Any], int, str]] = {}

    def add(self, pieces: Iterable[tuple[int, str, str]]) -> None:
        """Make the nodes of some pieces known: (start, text, nodes)."""
        for start, text, nodes in pieces:
            self._raw.update((raw[0], (raw, start, text)) for raw in json.loads(nodes))

    def neighbours(self, ordinals: Sequence[int]) -> set[int]:
        """Nodes that are needed besides, because a relation repeats their metadata or hash."""
        return {
            target[0]
            for ordinal in ordinals
            for _, value in self._raw[ordinal][0][6]
            for target in (value["many"] if _is_many(value) else [value])
            if isinstance(target, list) and target[0] not in self._raw
        }

    def node(self, ordinal: int) -> TextNode:
        """A fresh copy of one node."""
        (_, style, _, start, end, _, relations), _, _ = self._raw[ordinal]
        return TextNode.model_construct(
            id_=self._ids[ordinal],
            embedding=None,
            metadata=self.metadata(ordinal),
            relationships={
                NodeRelationship(kind): [self._info(v) for v in value["many"]]
                if _is_many(value)
                else self._info(value)
                for kind, value in relations
            },
            text=self._text(ordinal),
            start_char_idx=start,
            end_char_idx=end,
            **{name: _copy(value) for name, value in zip(_STYLE, self._styles[style], strict=True)},
        )

    def metadata(self, ordinal: int) -> dict[str, Any]:
        """A fresh copy of a node's metadata."""
        raw = self._raw[ordinal][0]
        own = iter(raw[5][1:])
        return {
            key: _copy(self._common[key]) if key in self._common else next(own)
            for key in self._orders[raw[5][0]]
        }

    def _text(self, ordinal: int) -> str:
        (_, _, own, start, end, _, _), offset, text = self._raw[ordinal]
        return own if own is not None else text[start - offset : end - offset]

    def _info(self, value: Any) -> RelatedNodeInfo:
        if value is None:
            assert self._source is not None
            return RelatedNodeInfo(**_copy(self._source))
        if isinstance(value, dict):
            return RelatedNodeInfo(**_copy(value))
        if isinstance(value, int):
            return RelatedNodeInfo.model_construct(
                node_id=self._ids[value], node_type=ObjectType.TEXT, metadata={}, hash=None
            )
        ordinal = value[0]
        target = TextNode.model_construct(text=self._text(ordinal), metadata=self.metadata(ordinal))
        return RelatedNodeInfo.model_construct(
            node_id=self._ids[ordinal], node_type=ObjectType.TEXT, metadata=target.metadata, hash=target.hash
        )


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
        self._styles: list[list[Any]] = []
        self._hashes: dict[int, str] = {}

    def pack(self) -> PackedDocument:
        nodes, text = self._nodes, self._text
        layout = np.full((len(nodes), 6), -1, dtype=np.int32)
        children = [node.node_id for node in nodes if NodeRelationship.CHILD not in node.relationships]
        numbers = {node_id: i for i, node_id in enumerate(children)}
        paths: dict[tuple[str, ...], int] = {}
        for i, node in enumerate(nodes):
            parent = node.parent_node
            layout[i, PARENT] = -1 if parent is None else self._ordinals.get(parent.node_id, -1)
            layout[i, CHILD] = numbers.get(node.node_id, -1)
            if node.start_char_idx is not None and node.end_char_idx is not None:
                layout[i, START], layout[i, END] = node.start_char_idx, node.end_char_idx
            path = node.metadata.get("header_path")
            if path:
                key = (path,) if isinstance(path, str) else tuple(map(str, path))
                layout[i, PATH] = paths.setdefault(key, len(paths))
        roots = self._roots(layout[:, PARENT])
        order = {root: piece for piece, root in enumerate(dict.fromkeys(roots))}
        layout[:, PIECE] = [order[root] for root in roots]
        cuts = self._cuts(layout, list(order), len(text))
        rows, shared = self._rows(layout, cuts)
        pieces = [
            Piece(start, text[start:end], to_json(rows[i], self._document.id_))
            for i, (start, end) in enumerate(itertools.pairwise(cuts))
        ]
        return PackedDocument(
            document=to_json(self._document_fields(), self._document.id_),
            shared=shared,
            node_ids=list(self._ordinals),
            children=children,
            layout=layout,
            paths=[list(path) for path in paths],
            pieces=pieces,
        )

    def _roots(self, parents: NDArray[np.int32]) -> list[int]:
        roots = []
        for i in range(len(parents)):
            root = i
            for _ in range(len(parents)):
                if parents[root] < 0:
                    break
                root = int(parents[root])
            roots.append(root)
        return roots

    def _cuts(self, layout: NDArray[np.int32], roots: list[int], length: int) -> list[int]:
        """Borders of the pieces: each runs to where the next section begins."""
        cuts = [0]
        for root in roots[1:]:
            start = int(layout[root, START])
            cuts.append(min(max(start, cuts[-1]), length))
        return [*cuts, length]

    def _rows(self, layout: NDArray[np.int32], cuts: list[int]) -> tuple[list[list[Any]], str]:
        nodes = self._nodes
        common = dict(nodes[0].metadata) if nodes else {}
        for node in nodes[1:]:
            metadata = node.metadata
            differing = [k for k, v in common.items() if k not in metadata or not _same(v, metadata[k])]
            for key in differing:
                del common[key]
        source = next((node.source_node for node in nodes if node.source_node is not None), None)
        orders: dict[tuple[str, ...], int] = {}
        styles: dict[str, int] = {}
        rows: list[list[Any]] = [[] for _ in cuts[1:]]
        for i, node in enumerate(nodes):
            piece = int(layout[i, PIECE])
            style = styles.setdefault(repr([getattr(node, name) for name in _STYLE]), len(styles))
            if style == len(self._styles):
                self._styles.append([getattr(node, name) for name in _STYLE])
            row = [
                i,
                style,
                None if self._is_slice(node, cuts[piece], cuts[piece + 1]) else node.text,
                node.start_char_idx,
                node.end_char_idx,
                [
                    orders.setdefault(tuple(map(str, node.metadata)), len(orders)),
                    *(value for key, value in node.metadata.items() if key not in common),
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
        for name in _STYLE[:5]:
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


def _info_fields(info: RelatedNodeInfo) -> dict[str, Any]:
    kind = info.node_type
    return {
        "node_id": info.node_id,
        "node_type": kind.value if isinstance(kind, ObjectType) else kind,
        "metadata": info.metadata,
        "hash": info.hash,
    }


def _is_many(value: Any) -> bool:
    return isinstance(value, dict) and "many" in value


def _copy(value: Any) -> Any:
    if isinstance(value, list):
        return [_copy(v) for v in value]
    return {k: _copy(v) for k, v in value.items()} if isinstance(value, dict) else value


@functools.cache
def _defaults() -> dict[str, Any]:
    return {name: Document.model_fields[name].get_default(call_default_factory=True) for name in _STYLE[:5]}


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


def to_json(value: Any, doc_id: str) -> str:
    """JSON that SQLite can hold; ``doc_id`` is for the message.

    Raises:
        DocumentError: a value has no JSON form.
    """
    try:
        written = _ENCODER.encode(value)
    except (TypeError, ValueError) as error:
        raise DocumentError(
            f"document {doc_id!r} cannot be stored: {error}; metadata takes text, numbers, lists and mappings"
        ) from error
    # halves of surrogate pairs have no UTF-8 form, but an escape
    return written if _is_writable(written) else json.dumps(value, separators=(",", ":"), default=_plain)


def pack_text(text: str) -> str | bytes:
    """Text as SQLite takes it: bytes only for what has no UTF-8 form."""
    return text if _is_writable(text) else text.encode("utf-8", "surrogatepass")


def unpack_text(value: str | bytes) -> str:
    """The inverse of ``pack_text``."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(value: Any) -> Any:
    """What JSON has no form for: dates as ISO text, sets as lists, numpy numbers as numbers."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} is a {type(value).__name__}")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)
