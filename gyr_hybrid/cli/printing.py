"""What commands print, for people and as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from gyr_hybrid.errors import GyrError

if TYPE_CHECKING:
    from gyr_hybrid.answering import CitedResponse
    from gyr_hybrid.index import HybridIndex
    from gyr_hybrid.inspection import Inspection

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def reported(work: Callable[[], None]) -> None:
    """Errors of ours become one line and status 2; nothing is swallowed."""
    try:
        work()
    except GyrError as error:
        err.print(Text(f"error: {plain(str(error))}", style="red"))
        raise typer.Exit(2) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        err.print(Text(f"error: no such file or folder: {plain(str(error.filename or error))}", style="red"))
        raise typer.Exit(2) from error
    except BrokenPipeError:
        raise typer.Exit(0) from None


def print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def print_answer(answer: CitedResponse, index: HybridIndex, name: str) -> None:
    from gyr_hybrid.models.endpoints import describe

    where = "demo: the shipped help centre 演示：自带的帮助中心" if name == "demo" else name
    err.print(
        Text(
            f"{describe(llm=index.llm, embed_model=index.embed_model, reranker=index.reranker)}  index={where}",
            style="dim",
        )
    )
    out.print()
    out.print(Text(plain(answer.response or "", keep_lines=True)))
    if answer.citations:
        out.print()
        out.print(Text("出处 sources", style="bold"))
    for citation in answer.citations:
        place = f"{citation.doc_id} {citation.start_char}–{citation.end_char}"
        out.print(
            Text(
                f"{citation.label} {plain(' > '.join(citation.header_path))}  ({plain(place)})",
                style="cyan",
            )
        )
        out.print(Text(f"    「{shorten(citation.quote, 200)}」"))
    for warning in answer.warnings:
        err.print(Text(f"warning: {plain(warning)}", style="yellow"))


def print_inspection(found: Inspection) -> None:
    tree = Tree(Text(f"{plain(found.title)}  ({found.doc_id}, {len(found.text)} characters)", style="bold"))
    for section in found.sections:
        branch = tree.add(
            Text(
                f"[{section.node_id}] {plain(' > '.join(section.header_path))}"
                f"  {section.start}–{section.end}  {section.tokens} tokens",
                style="cyan",
            )
        )
        for child in section.children:
            branch.add(
                Text(
                    f"{child.node_id}  {child.start}–{child.end}  {child.tokens} tokens  {shorten(child.text, 60)}"
                )
            )
    out.print(tree)
    for warning in found.warnings:
        err.print(Text(f"warning: {plain(warning)}", style="yellow"))


def answer_dict(answer: CitedResponse) -> dict[str, Any]:
    """The fields of a response, with more of its sections than the response itself gives."""
    return {
        **answer.to_dict(),
        "source_nodes": [node_dict(n) for n in answer.source_nodes],
        "context_nodes": [node_dict(n) for n in answer.context_nodes],
        "nearest": [node_dict(n) for n in answer.nearest],
        "chunks": len(answer.context_nodes),
        "context_chars": sum(len(n.node.get_content()) for n in answer.context_nodes),
    }


def node_dict(hit: Any) -> dict[str, Any]:
    node = hit.node
    return {
        "node_id": node.node_id,
        "score": hit.score,
        "doc_id": node.metadata.get("doc_id", node.ref_doc_id),
        "header_path": node.metadata.get("header_path", []),
        "start_char": node.start_char_idx,
        "end_char": node.end_char_idx,
        "text": node.get_content(),
    }


def heading_path(metadata: dict[str, Any]) -> str:
    path = metadata.get("header_path") or []
    return plain(path if isinstance(path, str) else " > ".join(path))


def plain(text: str, *, keep_lines: bool = False) -> str:
    """Text of documents without control characters, so that it cannot drive the terminal."""
    return "".join(c for c in text if c.isprintable() or (keep_lines and c in "\n\t"))


def shorten(text: str, limit: int = 100) -> str:
    line = plain(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"
