"""Rows back into documents and nodes: the inverse of ``packing``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from llama_index.core.schema import (
    Document,
    MediaResource,
    NodeRelationship,
    ObjectType,
    RelatedNodeInfo,
    TextNode,
)

from gyr_hybrid.storage.packing import STYLE


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
            **{name: _copy(value) for name, value in zip(STYLE, self._styles[style], strict=True)},
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


def unpack_text(value: str | bytes) -> str:
    """The inverse of ``pack_text``."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogatepass")


def _copy(value: Any) -> Any:
    if isinstance(value, list):
        return [_copy(v) for v in value]
    return {k: _copy(v) for k, v in value.items()} if isinstance(value, dict) else value


def _is_many(value: Any) -> bool:
    return isinstance(value, dict) and "many" in value
