"""The LlamaIndex nodes of one document: ids, metadata, relations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import Any

from llama_index.core.schema import BaseNode, NodeRelationship, ObjectType, RelatedNodeInfo, TextNode

from .chunking import Piece
from .identity import document_version

# All other metadata is left out of the text that is embedded, indexed and shown to a model.
SHOWN = ("breadcrumb", "table_header")
_PATH_SEPARATOR = " > "
_LIST_SEPARATOR = ", "


def document_nodes(
    document: BaseNode,
    text: str,
    cut: Sequence[Piece],
    *,
    title: str | None,
    flat: bool = False,
    link: bool = True,
) -> list[TextNode]:
    """Nodes of ``document``'s pieces in reading order, each section before its children.

    ``title`` None: the document id stands for it, but not in the embedded text. ``flat`` joins lists
    to text. ``link`` sets PREVIOUS and NEXT among the sections and among the children.
    """
    version = document_version(document)
    prefix = document.id_ if version is None else f"{document.id_}@{version}"
    source = document.as_related_node_info()
    inherited = _inherited(document, flat)
    inherited["title"] = document.id_ if title is None else title
    shown_title = () if title is None else (title,)
    nodes: list[TextNode] = []
    sections: list[TextNode] = []
    children: list[TextNode] = []
    for number, piece in enumerate(cut, 1):
        path = [inherited["title"], *piece.section.path]
        about: dict[str, Any] = {
            **inherited,
            "header_path": _PATH_SEPARATOR.join(path) if flat else path,
            "section_level": piece.section.level,
        }
        breadcrumb = _PATH_SEPARATOR.join((*shown_title, *piece.section.path))
        parent = _node(
            f"{prefix}#{number}", text, piece.start, piece.end, about, breadcrumb, piece.table_header
        )
        parent.relationships[NodeRelationship.SOURCE] = source
        below = [
            _node(f"{parent.id_}.{i}", text, child.start, child.end, about, breadcrumb, child.table_header)
            for i, child in enumerate(piece.children, 1)
        ]
        parent_info = _info(parent)
        for child_node in below:
            child_node.relationships[NodeRelationship.SOURCE] = source
            child_node.relationships[NodeRelationship.PARENT] = parent_info
        parent.relationships[NodeRelationship.CHILD] = [_info(node) for node in below]
        sections.append(parent)
        children += below
        nodes += (parent, *below)
    if link:
        _link(sections)
        _link(children)
    return nodes


def _inherited(document: BaseNode, flat: bool) -> dict[str, Any]:
    """The document's metadata as nodes carry it; what it lacks is left out."""
    metadata = {key: value for key, value in document.metadata.items() if value is not None}
    acl = metadata.get("acl")
    if isinstance(acl, str):
        metadata["acl"] = [acl] if acl.strip() else []
    version = document_version(document)
    metadata.pop("version", None)
    if version is not None:
        metadata["version"] = version
    metadata = {key: _stored(value, flat) for key, value in metadata.items()}
    return {**metadata, "doc_id": document.id_}


def _stored(value: Any, flat: bool) -> Any:
    if isinstance(value, date):  # also a datetime
        return value.isoformat()
    if isinstance(value, list | tuple | set | frozenset):
        items = list(value)
        if not flat:
            return items
        return _LIST_SEPARATOR.join(map(str, items))
    if flat and isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return value


def _node(
    id_: str,
    text: str,
    start: int,
    end: int,
    about: dict[str, Any],
    breadcrumb: str,
    table_header: str | None,
) -> TextNode:
    metadata = {"breadcrumb": breadcrumb} if breadcrumb else {}
    if table_header:
        metadata["table_header"] = table_header
    hidden = [key for key in about if key not in SHOWN]
    path = about["header_path"]
    own = {**about, "header_path": list(path)} if isinstance(path, list) else about
    return TextNode(
        id_=id_,
        text=text[start:end],
        start_char_idx=start,
        end_char_idx=end,
        metadata={**metadata, **{key: value for key, value in own.items() if key not in SHOWN}},
        excluded_embed_metadata_keys=hidden,
        excluded_llm_metadata_keys=list(hidden),
        metadata_template="{value}",
        text_template="{metadata_str}\n{content}",
    )


def _info(node: TextNode) -> RelatedNodeInfo:
    return RelatedNodeInfo(node_id=node.id_, node_type=ObjectType.TEXT)


def _link(nodes: Sequence[TextNode]) -> None:
    infos = [_info(node) for node in nodes]
    for index, node in enumerate(nodes):
        if index:
            node.relationships[NodeRelationship.PREVIOUS] = infos[index - 1]
        if index + 1 < len(nodes):
            node.relationships[NodeRelationship.NEXT] = infos[index + 1]
