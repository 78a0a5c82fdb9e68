"""Speed and cuts of SectionNodeParser beside other splitters, on a folder of Markdown files.

    python benchmarks/parsing.py FOLDER [FOLDER ...] [--every N] [--markdown FILE] [--only-ours]

Every splitter gets the same texts, one document at a time, in one process: SectionNodeParser (its children),
LlamaIndex's HierarchicalNodeParser (its leaves: 128 tiktoken tokens) and MarkdownNodeParser, LangChain's
recursive splitter and chonkie's recursive chunker (200 characters), semchunk (128 tokens as gyr_hybrid counts).
One that is not installed is left out. ``--every N`` takes each N-th file only: the others are slow.

Columns, each about the pieces that would be embedded:

- MB/s of CPU time, and that as a multiple of markdown-it-py's own block parse of the same texts in the same run;
- mid-sentence: share of pieces that begin or end inside a sentence, that is neither at a line end nor after
  one of ``。！？；…：.!?;:`` with closing quotes or brackets;
- heading: share of pieces whose nearest heading above (by markdown-it-py) stands in their text or metadata;
- offsets: share of pieces whose start and end lead to their text in the document;
- longest piece, in tokens as gyr_hybrid counts.

Then the promises of SectionNodeParser are checked on all files; a broken one is printed and the exit code is 1.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from llama_index.core import Document
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    MarkdownNodeParser,
    NodeParser,
    get_leaf_nodes,
)
from llama_index.core.schema import BaseNode, MetadataMode
from markdown_it import MarkdownIt
from rich.console import Console
from rich.table import Table

from gyr_hybrid import SectionNodeParser, load_documents
from gyr_hybrid.analysis import count_tokens

COLUMNS = ("", "pieces", "s", "MB/s", "x block parse", "mid-sentence", "heading", "offsets", "longest")
CHARACTERS, TOKENS = 200, 128
_BORDER = re.compile(r"(?:^|\n|[。！？；…：.!?;:][”’」』）)】\"'*`_\]]*)\s*$")
_ARTICLE = re.compile(
    r"^第[零〇一二三四五六七八九十百千]+条(?:之[一二三四五六七八九十]+)?[ \u3000]", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a document."""

    text: str
    shown: str
    """What is embedded, with metadata."""
    start: int
    """-1 when the splitter does not say."""


Splitter = Callable[[Document], Callable[[], list[Part]]]
"""Splits a document, which is timed; then gives its parts to be looked at, which is not."""


def parts_of(nodes: Sequence[BaseNode]) -> list[Part]:
    parts = []
    for node in nodes:
        start = getattr(node, "start_char_idx", None)
        text, shown = node.get_content(MetadataMode.NONE), node.get_content(MetadataMode.EMBED)
        parts.append(Part(text, shown, -1 if start is None else start))
    return parts


def splitters(only_ours: bool) -> Iterator[tuple[str, Splitter]]:
    yield "gyr_hybrid", _nodes(SectionNodeParser(), leaves=True)
    if only_ours:
        return
    yield "llama-index hierarchical", _nodes(HierarchicalNodeParser.from_defaults(), leaves=True)
    yield "llama-index markdown", _nodes(MarkdownNodeParser(), leaves=False)
    for name, build in (("langchain", _langchain), ("chonkie", _chonkie), ("semchunk", _semchunk)):
        try:
            yield name, build()
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)


def _nodes(parser: NodeParser, *, leaves: bool) -> Splitter:
    def split(document: Document) -> Callable[[], list[Part]]:
        if not isinstance(
            parser, SectionNodeParser
        ):  # front matter counts against their chunk size, or raises
            document = Document(id_=document.id_, text=document.text)
        nodes = parser.get_nodes_from_documents([document])
        return lambda: parts_of(get_leaf_nodes(nodes) if leaves else nodes)

    return split


def _langchain() -> Splitter:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=CHARACTERS, chunk_overlap=0, add_start_index=True)

    def split(document: Document) -> Callable[[], list[Part]]:
        pieces = splitter.create_documents([document.text])
        return lambda: [Part(p.page_content, p.page_content, p.metadata["start_index"]) for p in pieces]

    return split


def _chonkie() -> Splitter:
    from chonkie import RecursiveChunker

    chunker = RecursiveChunker(tokenizer="character", chunk_size=CHARACTERS)

    def split(document: Document) -> Callable[[], list[Part]]:
        pieces = chunker.chunk(document.text)
        return lambda: [Part(piece.text, piece.text, piece.start_index) for piece in pieces]

    return split


def _semchunk() -> Splitter:
    import semchunk

    chunker = semchunk.chunkerify(count_tokens, TOKENS)

    def split(document: Document) -> Callable[[], list[Part]]:
        pieces, offsets = chunker(document.text, offsets=True)
        return lambda: [Part(piece, piece, start) for piece, (start, _) in zip(pieces, offsets, strict=True)]

    return split


# Measures


def headings_of(text: str) -> list[tuple[int, str]]:
    """(offset, words) of the headings that markdown-it-py finds."""
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        (
            lines[token.map[0]],
            re.sub(r"[\W_]", "", re.sub(r"<[^>]*>|\]\([^)]*\)|\{#.*\}", "", inline.content)),
        )
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def measure(documents: Sequence[Document], split: Splitter) -> tuple[float, list[str]]:
    """Seconds, and the columns pieces, mid-sentence, heading, offsets, longest."""
    pieces, seconds = [], 0.0
    for document in documents:
        begin = time.process_time()
        parts = split(document)
        seconds += time.process_time() - begin
        pieces.append(parts())
    total = sum(map(len, pieces))
    inside = known = exact = longest = 0
    for document, parts in zip(documents, pieces, strict=True):
        text, headings, at = document.text, headings_of(document.text), 0
        starts = [start for start, _ in headings]
        for part in parts:
            exact += part.start >= 0 and text.startswith(part.text, part.start)
            right = part.start if text.startswith(part.text, max(part.start, 0)) else text.find(part.text, at)
            at = max(right, at)
            end = at + len(part.text)
            inside += not (_is_border(text, at) and _is_border(text, end))
            above = bisect_right(starts, end - 1) - 1
            known += above < 0 or headings[above][1] in re.sub(r"[\W_]", "", part.shown)
            longest = max(longest, count_tokens(part.text))
    shares = [f"{share / max(total, 1):.1%}" for share in (inside, known, exact)]
    return seconds, [f"{total:,}", *shares, f"{longest:,}"]


def _is_border(text: str, at: int) -> bool:
    return text[at : at + 1] in ("", "\n") or _BORDER.search(text, max(0, at - 20), at) is not None


def block_parse_seconds(documents: Sequence[Document]) -> float:
    parser = MarkdownIt("commonmark").enable("table")
    texts = [document.text for document in documents]
    begin = time.process_time()
    for text in texts:
        parser.block.parse(text, parser, {}, [])
    return time.process_time() - begin


# Promises


def broken_promises(documents: Sequence[Document]) -> Iterator[str]:
    for document in documents:
        text = document.text
        nodes = SectionNodeParser().get_nodes_from_documents([document])
        children = {node.id_: node for node in nodes if node.parent_node is not None}
        starts = {node.start_char_idx for node in nodes}
        for node in nodes:
            if text[node.start_char_idx : node.end_char_idx] != node.text:
                yield f"{node.id_}: offsets are not exact"
            if (
                node.child_nodes
                and "".join(children[info.node_id].text for info in node.child_nodes) != node.text
            ):
                yield f"{node.id_}: its children do not join to it"
            header = node.metadata.get("table_header")
            if header and header not in node.get_content(MetadataMode.EMBED):
                yield f"{node.id_}: its table header is not embedded"
        yield from (f"{document.id_}: {place}" for place in _cut_code(text, starts))
        yield from (
            f"{document.id_}: {match[0]} is no section"
            for match in _ARTICLE.finditer(text)
            if match.start() not in starts
        )


def _cut_code(text: str, starts: set[int]) -> Iterator[str]:
    lines = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "fence" and token.map:
            begin, end = lines[token.map[0]], lines[token.map[1]]
            for start in starts:
                line = text.rfind("\n", 0, start) + 1
                if begin < start < end and text[line:start].strip():
                    yield f"a code line is cut at {start}: {text[line:start][-40:]!r}"


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    arguments.add_argument("--every", type=int, default=1, metavar="N", help="take each N-th file")
    arguments.add_argument("--only-ours", action="store_true", help="leave the other splitters out")
    arguments.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables as Markdown")
    options = arguments.parse_args()
    console, written, broken = Console(width=140), [], 0
    for folder in options.folders:
        documents = [doc for doc in load_documents(folder) if doc.text.strip()][:: options.every]
        megabytes = sum(len(document.text.encode()) for document in documents) / 1e6
        SectionNodeParser().get_nodes_from_documents(
            documents[:1]
        )  # tables of characters and patterns are made
        reference = block_parse_seconds(documents)
        title = f"{folder.parent.name}/{folder.name}: {len(documents)} files, {megabytes:.1f} MB"
        rows = [
            [
                "markdown-it-py block parse",
                "",
                f"{reference:.1f}",
                f"{megabytes / reference:.2f}",
                "1.0",
                "",
                "",
                "",
                "",
            ]
        ]
        for name, split in splitters(options.only_ours):
            seconds, (pieces, *shares) = measure(documents, split)
            speed = [f"{seconds:.1f}", f"{megabytes / seconds:.2f}", f"{seconds / reference:.1f}"]
            rows.append([name, pieces, *speed, *shares])
        table = Table(*COLUMNS, title=title)
        for row in rows:
            table.add_row(*row)
        console.print(table)
        lines = [COLUMNS, ["---"] * len(COLUMNS), *rows]
        written += [f"{title}\n", *(f"| {' | '.join(line)} |" for line in lines), ""]
        for promise in broken_promises(documents):
            broken += 1
            console.print(f"broken: {promise}", markup=False)
        console.print(f"promises broken: {broken}")
    if options.markdown:
        options.markdown.write_text("\n".join(written), encoding="utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
