"""The LlamaIndex nodes of one document: ids, metadata, relations."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.schema import BaseNode, NodeRelationship, ObjectType, RelatedNodeInfo, TextNode

from gyr_hybrid.parsing.chunking import Piece
from gyr_hybrid.parsing.identity import document_name, document_version
from gyr_hybrid.parsing.packing import Child

# All other metadata is left out of the text that is embedded, indexed and shown to a model.
SHOWN = ("breadcrumb", "table_header")
_COMPUTED = frozenset((*SHOWN, "doc_id", "title", "version", "header_path", "section_level", "places"))
_PATH_SEPARATOR = " > "
_LIST_SEPARATOR = ", "

_set = object.__setattr__  # the model's own checks each value

_Model = TypeVar("_Model", bound=BaseModel)
_Relation: TypeAlias = tuple[NodeRelationship, RelatedNodeInfo | list[RelatedNodeInfo]]


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
    builder = _NodeBuilder(document, text, title, flat)
    families = [builder.family(number, piece) for number, piece in enumerate(cut, 1)]
    if link:
        _link([(family.section, family.info) for family in families])
        _link([pair for family in families for pair in zip(family.children, family.infos, strict=True)])
    return [node for family in families for node in (family.section, *family.children)]


class _Family(NamedTuple):
    """A section, its children, and what other nodes say of each when they are related."""

    section: TextNode
    info: RelatedNodeInfo
    children: list[TextNode]
    infos: list[RelatedNodeInfo]


class _NodeBuilder:
    """Makes the nodes of one document."""

    def __init__(self, document: BaseNode, text: str, title: str | None, flat: bool) -> None:
        version = document_version(document)
        self._text = text
        self._flat = flat
        self._prefix = document_name(document)
        self._source = (NodeRelationship.SOURCE, _source_info(document))
        self._title = document.id_ if title is None else title
        self._shown_title = () if title is None else (title,)
        self._about = {"doc_id": document.id_, "title": self._title}
        if version is not None:
            self._about["version"] = version
        self._about |= _inherited(document, flat)
        self._places = _places(document.metadata.get("places"))
        self._hidden = sorted({*self._about, *self._places, "header_path", "section_level"})
        self._lists = [key for key, value in self._about.items() if isinstance(value, list)]
        if not flat:
            self._lists.append("header_path")
        pattern = TextNode(
            id_=self._prefix,
            text="",
            start_char_idx=0,
            end_char_idx=0,
            metadata=self._about,
            relationships=dict((self._source,)),
            excluded_embed_metadata_keys=self._hidden,
            excluded_llm_metadata_keys=self._hidden,
            metadata_template="{value}",
            text_template="{metadata_str}\n{content}",
        )
        self._nodes = _Mould(pattern)

    def family(self, number: int, piece: Piece) -> _Family:
        metadata = self._metadata(piece)
        id_ = f"{self._prefix}#{number}"
        info = _infos.cast({"node_id": id_, "metadata": {}})
        infos = [
            _infos.cast({"node_id": f"{id_}.{i}", "metadata": {}}) for i in range(1, len(piece.children) + 1)
        ]
        section = self._node(id_, piece, metadata, (NodeRelationship.CHILD, infos))
        parent = (NodeRelationship.PARENT, info)
        children = [
            self._node(child_info.node_id, child, metadata, parent)
            for child_info, child in zip(infos, piece.children, strict=True)
        ]
        return _Family(section, info, children, infos)

    def _metadata(self, piece: Piece) -> dict[str, Any]:
        path = [self._title, *piece.section.path]
        breadcrumb = _PATH_SEPARATOR.join((*self._shown_title, *piece.section.path))
        return {
            **({"breadcrumb": breadcrumb} if breadcrumb else {}),
            **self._about,
            "header_path": _PATH_SEPARATOR.join(path) if self._flat else path,
            "section_level": piece.section.level,
        }

    def _places_at(self, start: int) -> dict[str, str]:
        found = {}
        for key, (offsets, values) in self._places.items():
            index = bisect_right(offsets, start) - 1
            if index >= 0 and values[index]:
                found[key] = values[index]
        return found

    def _node(self, id_: str, span: Piece | Child, metadata: dict[str, Any], relation: _Relation) -> TextNode:
        own = metadata.copy()
        for key in self._lists:
            own[key] = metadata[key].copy()
        if span.table_header:
            own["table_header"] = span.table_header
        if self._places:
            own |= self._places_at(span.start)
        start, end = span.start, span.end
        return self._nodes.cast(
            {
                "id_": id_,
                "text": self._text[start:end],
                "start_char_idx": start,
                "end_char_idx": end,
                "metadata": own,
                "relationships": dict((self._source, relation)),
                "excluded_embed_metadata_keys": self._hidden.copy(),
                "excluded_llm_metadata_keys": self._hidden.copy(),
            }
        )


class _Mould(Generic[_Model]):
    """Makes copies of a model with other values, as unpickling makes one: what all have in common was validated once.

    A third of the time of a new one; parsing makes two for each child.
    """

    def __init__(self, pattern: _Model) -> None:
        self._type = type(pattern)
        self._values = pattern.__dict__
        self._fields = pattern.model_fields_set

    def cast(self, values: dict[str, Any]) -> _Model:
        made = self._type.__new__(self._type)
        _set(made, "__dict__", self._values | values)
        _set(made, "__pydantic_fields_set__", self._fields.copy())
        _set(made, "__pydantic_extra__", None)
        _set(made, "__pydantic_private__", None)
        return made


_infos = _Mould(RelatedNodeInfo(node_id="", node_type=ObjectType.TEXT))


def _source_info(document: BaseNode) -> RelatedNodeInfo:
    info = document.as_related_node_info()
    metadata = {key: value for key, value in info.metadata.items() if key != "places"}
    return info.model_copy(update={"metadata": metadata})


def _places(written: object) -> dict[str, tuple[list[int], list[str]]]:
    """Pages, rows and anchors that a reader has noted in ``metadata["places"]``: key -> offsets, values."""
    places: dict[str, tuple[list[int], list[str]]] = {}
    for at, key, value in json.loads(written) if isinstance(written, str) and written else ():
        offsets, values = places.setdefault(key, ([], []))
        offsets.append(at)
        values.append(value)
    return places


def _link(nodes: Sequence[tuple[TextNode, RelatedNodeInfo]]) -> None:
    for (one, one_info), (other, other_info) in pairwise(nodes):
        one.relationships[NodeRelationship.NEXT] = other_info
        other.relationships[NodeRelationship.PREVIOUS] = one_info


def _inherited(document: BaseNode, flat: bool) -> dict[str, Any]:
    """The document's metadata as nodes carry it; what it lacks is left out."""
    metadata = {k: v for k, v in document.metadata.items() if v is not None and k not in _COMPUTED}
    acl = metadata.get("acl")
    if isinstance(acl, str):
        metadata["acl"] = [acl] if acl.strip() else []
    return {key: _stored(value, flat) for key, value in metadata.items()}


def _stored(value: Any, flat: bool) -> Any:
    if isinstance(value, date):  # also a datetime
        return value.isoformat()
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return _LIST_SEPARATOR.join(map(str, value)) if flat else list(value)
    if flat and isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return value
