"""The LlamaIndex nodes of one document: ids, metadata, relations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import Any

from llama_index.core.schema import BaseNode, NodeRelationship, ObjectType, RelatedNodeInfo, TextNode

from gyr_hybrid.parsing.chunking import Child, Piece
from gyr_hybrid.parsing.identity import document_version

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
    hidden = sorted({*inherited, "header_path", "section_level"}.difference(SHOWN))
    lists = [key for key, value in inherited.items() if isinstance(value, list)]
    nodes: list[TextNode] = []
    levels: tuple[list[TextNode], list[TextNode]] = ([], [])
    infos: tuple[list[RelatedNodeInfo], list[RelatedNodeInfo]] = ([], [])
    for number, piece in enumerate(cut, 1):
        path = (inherited["title"], *piece.section.path)
        breadcrumb = _PATH_SEPARATOR.join((*shown_title, *piece.section.path))
        id_ = f"{prefix}#{number}"
        parent_info = _info(id_)
        child_infos: list[RelatedNodeInfo] = []
        spans: tuple[Piece | Child, ...] = (piece, *piece.children)
        for span in spans:
            level = 0 if span is piece else 1
            info = parent_info if level == 0 else _info(f"{id_}.{len(child_infos) + 1}")
            metadata: dict[str, Any] = {"breadcrumb": breadcrumb} if breadcrumb else {}
            if span.table_header:
                metadata["table_header"] = span.table_header
            metadata.update(inherited)
            for key in lists:
                metadata[key] = inherited[key].copy()
            metadata["header_path"] = _PATH_SEPARATOR.join(path) if flat else list(path)
            metadata["section_level"] = piece.section.level
            relations: dict[NodeRelationship, RelatedNodeInfo | list[RelatedNodeInfo]]
            if level == 0:
                relations = {NodeRelationship.SOURCE: source, NodeRelationship.CHILD: child_infos}
            else:
                relations = {NodeRelationship.SOURCE: source, NodeRelationship.PARENT: parent_info}
                child_infos.append(info)
            node = TextNode(
                id_=info.node_id,
                text=text[span.start : span.end],
                start_char_idx=span.start,
                end_char_idx=span.end,
                metadata=metadata,
                relationships=relations,
                excluded_embed_metadata_keys=hidden,
                excluded_llm_metadata_keys=hidden,
                metadata_template="{value}",
                text_template="{metadata_str}\n{content}",
            )
            nodes.append(node)
            levels[level].append(node)
            infos[level].append(info)
        levels[0][-1].relationships[NodeRelationship.CHILD] = child_infos
    if link:
        for level_nodes, level_infos in zip(levels, infos, strict=True):
            for index, node in enumerate(level_nodes):
                if index:
                    node.relationships[NodeRelationship.PREVIOUS] = level_infos[index - 1]
                if index + 1 < len(level_nodes):
                    node.relationships[NodeRelationship.NEXT] = level_infos[index + 1]
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


def _info(id_: str) -> RelatedNodeInfo:
    return RelatedNodeInfo(node_id=id_, node_type=ObjectType.TEXT)
