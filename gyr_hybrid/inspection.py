"""How a file is cut: its sections and children with sizes, offsets and what looks wrong."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import Document, NodeRelationship, TextNode

from gyr_hybrid.analysis import count_tokens
from gyr_hybrid.parsing import (
    SectionNodeParser,
    document_name,
    load_documents,
    near_identical_documents,
)

MANY_CHILDREN = 40
"""Children of one section past which it is worth a look."""
LONG_CHILD = 256
"""Tokens of a child past which it is worth a look: twice what a child usually may have."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A section or a child."""

    node_id: str
    header_path: tuple[str, ...]
    start: int
    end: int
    """Code points of the document's text."""
    tokens: int
    text: str
    children: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Inspection:
    """One document as the parser sees it."""

    doc_id: str
    title: str
    text: str
    sections: tuple[Piece, ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, the document's text left out."""

        def piece(p: Piece) -> dict[str, Any]:
            found: dict[str, Any] = {
                "node_id": p.node_id,
                "header_path": list(p.header_path),
                "start": p.start,
                "end": p.end,
                "tokens": p.tokens,
            }
            return found | ({"children": [piece(c) for c in p.children]} if p.children else {"text": p.text})

        return {
            "doc_id": self.doc_id,
            "title": self.title,
            "characters": len(self.text),
            "sections": [piece(s) for s in self.sections],
            "warnings": list(self.warnings),
        }


def inspect_file(path: str | Path, *, node_parser: NodeParser | None = None) -> list[Inspection]:
    """Read and cut a file or folder without storing anything.

    What cannot be read or cut is an `Inspection` without sections whose warning says why. Documents that are
    nearly the same name each other.
    """
    loaded = load_documents(str(path))
    parser = node_parser or SectionNodeParser()
    alike: dict[str, list[str]] = {}
    for one, other, share in near_identical_documents(loaded):
        for name, second in ((one, other), (other, one)):
            alike.setdefault(name, []).append(f"nearly the same: {share:.0%} of it is in {second} too")
    found = []
    for document in loaded:
        seen = inspect_document(document, parser)
        found.append(replace(seen, warnings=(*seen.warnings, *alike.get(document_name(document), ()))))
    found += [Inspection(name, name, "", (), (reason,)) for name, reason in loaded.failed.items()]
    return found


def inspect_document(document: Document, parser: NodeParser) -> Inspection:
    """Cut one document."""
    title = str(document.metadata.get("title", document.id_))
    try:
        nodes = [n for n in parser.get_nodes_from_documents([document]) if isinstance(n, TextNode)]
    except ValueError as error:
        return Inspection(document.id_, title, document.text, (), (str(error),))
    by_id = {node.node_id: node for node in nodes}
    sections = tuple(
        _piece(node, tuple(_piece(by_id[child.node_id]) for child in node.child_nodes or ()))
        for node in nodes
        if NodeRelationship.PARENT not in node.relationships
    )
    return Inspection(document.id_, title, document.text, sections, tuple(_warnings(document, sections)))


def to_html(inspections: list[Inspection]) -> str:
    """One self-contained page: each document with its sections framed and its children coloured."""
    body = "".join(_document_html(found) for found in inspections)
    return (
        '<!doctype html><html lang="zh"><head><meta charset="utf-8"><title>inspect</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # the document is untrusted: nothing is loaded and nothing runs, even if a mark-up got through
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )


_STYLE = (
    "body{font:15px/1.7 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "h1{font-size:1.3rem;overflow-wrap:anywhere}section{border-left:4px solid #888;margin:1rem 0;padding:.2rem .8rem;background:#fafafa}"
    "small{color:#555;overflow-wrap:anywhere}pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit;margin:.3rem 0}"
    "mark{color:inherit;border-radius:3px}mark.a{background:#dcefff}mark.b{background:#ffeccf}"
    "ul.warnings{color:#a40000}.outside{color:#777}"
)


def _document_html(found: Inspection) -> str:
    warnings = "".join(f"<li>{html.escape(w)}</li>" for w in found.warnings)
    parts = [
        f"<h1>{html.escape(found.title)}</h1><small>{html.escape(found.doc_id)}, {len(found.text)} characters</small>"
    ]
    parts += [f'<ul class="warnings">{warnings}</ul>'] if warnings else []
    at = 0
    for section in found.sections:
        parts.append(_outside(found.text[at : section.start]))
        path = html.escape(" > ".join(section.header_path))
        parts.append(
            f"<section><small>{html.escape(section.node_id)} · {path} · {section.start}–{section.end} · {section.tokens} tokens</small><pre>"
        )
        for i, child in enumerate(section.children):
            label = html.escape(
                f"{child.node_id}  {child.start}–{child.end}  {child.tokens} tokens", quote=True
            )
            parts.append(f'<mark class="{"ab"[i % 2]}" title="{label}">{html.escape(child.text)}</mark>')
        parts.append("</pre></section>")
        at = section.end
    parts.append(_outside(found.text[at:]))
    return "".join(parts)


def _outside(text: str) -> str:
    return f'<pre class="outside">{html.escape(text.strip())}</pre>' if text.strip() else ""


def _piece(node: TextNode, children: tuple[Piece, ...] = ()) -> Piece:
    path = node.metadata.get("header_path") or ()
    return Piece(
        node.node_id,
        (path,) if isinstance(path, str) else tuple(path),
        node.start_char_idx or 0,
        node.end_char_idx or 0,
        count_tokens(node.text),
        node.text,
        children,
    )


def _warnings(document: Document, sections: tuple[Piece, ...]) -> Iterator[str]:
    text = document.text
    if not sections:
        yield "no section: the document has headings but no text of their own, or no text at all"
    elif len(sections) == 1 and sections[0].tokens > 400:
        yield f"no structure: {sections[0].tokens} tokens without a heading; add headings so that sections are found and cited apart"
    paths = [section.header_path for section in sections]
    for path in dict.fromkeys(p for p in paths if paths.count(p) > 1):
        yield f"cut or repeated: {paths.count(path)} sections under {' > '.join(path) or '(no heading)'}"
    for section in sections:
        if len(section.children) > MANY_CHILDREN:
            yield f"many children: {section.node_id} has {len(section.children)}"
        for child in section.children:
            if child.tokens > LONG_CHILD:
                yield f"long child: {child.node_id} has {child.tokens} tokens; its meaning is lost in one vector"
    odd = text.count("\ufffd") + sum(1 for char in text if "\ue000" <= char <= "\uf8ff")
    if odd:
        yield f"mojibake suspected: {odd} replacement or private-use characters; check the file's encoding"
