"""What the model is shown: sections within a token budget, each in a tag that no document can forge."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, TextNode

from gyr_hybrid.analysis import count_tokens
from gyr_hybrid.answering.context.citations import CitationParser
from gyr_hybrid.answering.context.instructions import addresses_model, usable_spans
from gyr_hybrid.answering.context.labels import Source, format_label, section_number

TOKEN_BUDGET = 4000
"""Tokens (as `count_tokens` counts) of all sections together; five sections of the largest size fit."""


@dataclass(frozen=True, slots=True)
class Context:
    """The sections shown to the model, best first."""

    nodes: tuple[NodeWithScore, ...]
    sources: tuple[Source, ...]
    """Parallel to ``nodes``."""
    template: str
    facts: tuple[BaseNode, ...] = ()
    """The same sections with blanks where they address the model; offsets are the same."""

    def node(self, node_id: str) -> BaseNode:
        """The section of that id; it must be in the context."""
        return next(n.node for n in self.nodes if n.node.node_id == node_id)

    def source(self, node_id: str) -> Source:
        """How that section is cited."""
        return next(s for s in self.sources if s.node_id == node_id)

    def parser(self) -> CitationParser:
        """Reads citations of exactly these sections."""
        return CitationParser(self.sources, self.template)

    def text(self) -> str:
        """The blocks for the prompt."""
        parser = self.parser()
        return "\n".join(
            block(found.node, source.label, parser)
            for found, source in zip(self.nodes, self.sources, strict=True)
        )


def build_context(nodes: Sequence[NodeWithScore], template: str, budget: int = TOKEN_BUDGET) -> Context:
    """Take sections in order while they fit; the first always, one that is too long is passed over."""
    kept: list[NodeWithScore] = []
    seen: set[str] = set()
    left = budget
    for found in nodes:
        text = plain_text(found.node)
        if found.node.node_id in seen or not text.strip():
            continue
        size = count_tokens(text)
        if kept and size > left:
            continue
        seen.add(found.node.node_id)
        kept.append(found)
        left -= size
    facts = tuple(_facts(found.node) for found in kept)
    return Context(tuple(kept), tuple(_sources(kept, template)), template, facts)


def _facts(node: BaseNode) -> BaseNode:
    text = plain_text(node)
    if not addresses_model(text):
        return node
    blank = list(re.sub(r"\S", " ", text))
    for start, end in usable_spans(text):
        blank[start:end] = text[start:end]
    return TextNode(id_=node.node_id, text="".join(blank), metadata=node.metadata)


def _sources(nodes: Sequence[NodeWithScore], template: str) -> list[Source]:
    sources = []
    for place, found in enumerate(nodes, 1):
        node_id, doc_id = found.node.node_id, document_id(found.node)
        number = section_number(node_id, place)
        label = format_label(template, node_id=node_id, doc_id=doc_id, number=number)
        sources.append(Source(node_id, doc_id, number, label))
    return sources


def document_id(node: BaseNode) -> str:
    """The document's id without version; the node's own id when it names no document."""
    return str(node.metadata.get("doc_id") or node.ref_doc_id or node.node_id)


def plain_text(node: BaseNode) -> str:
    """The source's characters, without metadata."""
    return str(node.get_content(metadata_mode=MetadataMode.NONE))


def block(node: BaseNode, label: str, parser: CitationParser) -> str:
    """One section as the model sees it.

    Text is escaped, so a document cannot close its tag or open another one, and what reads as a citation inside
    it loses its brackets.
    """
    path = node.metadata.get("header_path") or node.metadata.get("title") or ""
    title = path if isinstance(path, str) else " > ".join(map(str, path))
    updated = node.metadata.get("updated_at")
    attributes = f' id="{_attribute(label)}"'
    attributes += f' title="{_attribute(title)}"' if title else ""
    attributes += f' updated_at="{_attribute(str(updated))}"' if updated else ""
    return f"<doc{attributes}>\n{html.escape(_defang(plain_text(node), parser), quote=False)}\n</doc>"


def _attribute(text: str) -> str:
    return html.escape(" ".join(text.split()), quote=True).replace("&#x27;", "'")


def _defang(text: str, parser: CitationParser) -> str:
    out, at = [], 0
    for start, end, _ in parser.find(text):
        out += [text[at:start], re.sub(r"[\[\]【】［］〔〕#]", " ", text[start:end])]
        at = end
    return "".join(out) + text[at:]
