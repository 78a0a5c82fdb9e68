"""Documents made ready for a store: cut into nodes, their tokens and codes worked out from the text alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import BaseNode, Document, MetadataMode, NodeRelationship, TextNode

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.errors import DocumentError
from gyr_hybrid.parsing import SectionNodeParser
from gyr_hybrid.storage import CodeMention, embed_hash


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document with all that is stored of it but vectors."""

    document: Document
    nodes: tuple[TextNode, ...]
    tokens: dict[str, list[str]]
    """Child id -> index tokens."""
    codes: dict[str, list[CodeMention]]
    """Child id -> codes that it bears."""
    hashes: dict[str, str]
    """Child id -> hash of its EMBED text."""
    texts: dict[str, str]
    """Hash -> EMBED text."""


class Preparer:
    """Cuts and analyses documents.

    Args:
        analyzer: makes tokens and codes.
        node_parser: any of LlamaIndex's; leaves are searched.
        embedding: name of the model whose vectors go with the documents.
    """

    def __init__(self, analyzer: Analyzer, node_parser: NodeParser, embedding: str | None = None) -> None:
        self._analyzer = analyzer
        self._parser = node_parser
        parser = json.dumps(node_parser.to_dict(), sort_keys=True, default=str)
        self._rules = (analyzer.fingerprint, str(embedding), parser)

    def fingerprint(self, document: Document) -> str:
        """Hash of everything that decides what is stored of a document."""
        metadata = json.dumps(document.metadata, sort_keys=True, default=str, ensure_ascii=False)
        return _digest(document.text, metadata, *self._rules)

    def prepare(self, document: Document) -> Prepared:
        """Cut and analyse one document.

        Raises:
            DocumentError: it has no section with text, or the node parser refuses it.
        """
        nodes = tuple(node for node in self._parse(document) if isinstance(node, TextNode))
        prepared = Prepared(document, nodes, {}, {}, {}, {})
        for node in nodes:
            if _is_child(node):
                self._analyse(node, prepared)
        if not prepared.hashes:
            raise DocumentError(
                f"document {document.id_!r} has no section with text; nothing was stored for it"
            )
        return prepared

    def _parse(self, document: Document) -> Sequence[BaseNode]:
        parser = self._parser
        # for a short document the events that nobody listens to take as long as its sentences
        if type(parser) is SectionNodeParser and not parser.callback_manager.handlers:
            return parser.parse(document)
        return parser.get_nodes_from_documents([document])

    def _analyse(self, child: TextNode, prepared: Prepared) -> None:
        child_id, text = child.node_id, child.get_content(MetadataMode.EMBED)
        prepared.hashes[child_id] = digest = embed_hash(text)
        prepared.texts[digest] = text
        prepared.tokens[child_id] = self._analyzer.tokens(text)
        path: Sequence[str] | str = child.metadata.get("header_path") or ()
        mentions = self._analyzer.mentions(
            child.text,
            header_path=[path] if isinstance(path, str) else path,
            table_row="table_header" in child.metadata,
        )
        prepared.codes[child_id] = [
            CodeMention(m.code.text, m.code.canonical, m.code.compact, m.code.kind, m.code.number, m.defining)
            for m in mentions
        ]


def _is_child(node: BaseNode) -> bool:
    """Leaves are searched; a node without children of its own is a leaf, whatever parser made it."""
    return NodeRelationship.CHILD not in node.relationships


def _digest(*parts: str) -> str:
    sha = hashlib.sha256()
    for part in parts:
        sha.update(part.encode("utf-8", "surrogatepass"))
        sha.update(b"\0")
    return sha.hexdigest()
