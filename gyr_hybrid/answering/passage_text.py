"""Write one passage: blocks of a section as well-formed Markdown under their heading path, cited run by run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from llama_index.core.schema import BaseNode

from gyr_hybrid.answering.context.citations import CitationParser
from gyr_hybrid.answering.context.packing import document_id, plain_text
from gyr_hybrid.answering.enforcement.composition import labelled
from gyr_hybrid.text.blocks import Block, standing_under

_NEVER = re.compile(r"<[|｜][^<>\n]{0,64}[|｜]>|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Tokens of chat templates and control characters."""
_NUMBER = re.compile(r"(\d{1,3})[.)．、）]")
_ORDER = re.compile(r"[(（]?[^\W_]+[)）.、．:：]?|[①-⓿]")
_INFO = re.compile(r"[`~]{3,}[ \t]*([^`\n]*)")
_PIPE = re.compile(r"(?<!\\)\|")
_INDENT = "   "


class PassageText:
    """Renders the blocks of one section; ``fact`` is its text with blanks where it addresses the model."""

    def __init__(self, node: BaseNode, fact: str, blocks: Sequence[Block], parser: CitationParser) -> None:
        self._fact = fact
        self._raw = plain_text(node)
        self._blocks = blocks
        self._parser = parser
        path = node.metadata.get("header_path") or []
        names = [path] if isinstance(path, str) else list(map(str, path))
        own = document_id(node)  # stands for a title where there is none
        title = str(node.metadata.get("title") or "")
        self._path = [
            self._clean(name) for name in dict.fromkeys([title, *names]) if name.strip() not in ("", own)
        ]
        self._columns = str(node.metadata.get("table_header") or "")

    @property
    def heading(self) -> str:
        """The path of the section in bold; empty when it has none."""
        path = " > ".join(name for name in self._path if name)
        return f"**{path}**" if path else ""

    def body(self, shown: Mapping[int, tuple[int, int]], label: str = "") -> str:
        """The stretches of the blocks, given by index, with the label where the last one ends."""
        out, before = "", None
        last = self.last(shown)
        for i, (start, end) in shown.items():
            block = self._blocks[i]
            text = self._clean(block.text[start:end], code=block.kind == "code").strip("\n")
            if not text.strip() or self._is_path(block):
                continue
            depth = sum(self._blocks[over].kind == "item" for over in standing_under(self._blocks, i))
            out += self._gap(before, block) if out else ""
            unit = self._table_head(before, block) + self._unit(block, text, start, end)
            unit = labelled(_LABELLED.get(block.kind, "sentence"), unit, label if i == last else "")
            if depth:
                unit = "\n".join(_INDENT * depth + line for line in unit.split("\n"))
            out += unit
            before = block
        return out

    def last(self, shown: Mapping[int, tuple[int, int]]) -> int | None:
        """The last block that has something to show."""
        for i in reversed(list(shown)):
            block = self._blocks[i]
            if self._clean(block.text).strip() and not self._is_path(block):
                return i
        return None

    def runs(self, shown: Mapping[int, tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
        """Contiguous stretches of the section that are shown, and the text they are shown as."""
        run: dict[int, tuple[int, int]] = {}
        for i, (start, end) in [*shown.items(), (-1, (0, 0))]:
            if run and (i < 0 or i != max(run) + 1):
                yield from self._stretches(run)
                run = {}
            if run or (i >= 0 and not self._is_path(self._blocks[i])):
                run[i] = (start, end)

    def _stretches(self, run: Mapping[int, tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
        """A run in pieces where it has blanks in place of what addresses the model."""
        first, last = min(run), max(run)
        start, end = self._edge(first, run[first][0], first=True), self._edge(last, run[last][1], first=False)
        text = self.body(run)
        while start < end and text:
            stop = next((i for i in range(start, end) if self._raw[i] != self._fact[i]), end)
            if piece := self._fact[start:stop].strip():
                begin = self._fact.index(piece, start)
                yield begin, begin + len(piece), text
            start = next((i for i in range(stop, end) if self._raw[i] == self._fact[i]), end)

    def _edge(self, index: int, at: int, *, first: bool) -> int:
        block = self._blocks[index]
        if first:
            return block.start if at == 0 else block.places[at]
        return block.end if at == len(block.text) else block.places[at - 1] + 1

    def _is_path(self, block: Block) -> bool:
        return block.kind == "heading" and self._clean(block.text) in self._path

    def _clean(self, text: str, *, code: bool = False) -> str:
        if not code:
            text = self._parser.strip(text)
        while (less := _NEVER.sub("", text)) != text:
            text = less
        return text if code else text.strip()

    def _gap(self, before: Block | None, block: Block) -> str:
        table = ("header", "row")
        if before is None or (before.kind in table and block.kind in table and block.kind != "header"):
            return "\n" if before else ""
        return "\n" if before.kind == block.kind and block.kind in ("item", "header") else "\n\n"

    def _unit(self, block: Block, text: str, start: int, end: int) -> str:
        if block.kind in ("heading", "head", "question"):
            return f"**{text}**"
        if block.kind == "item":
            return self._mark(block, start) + text
        if block.kind in ("header", "row") and block.cells:
            return self._row(block)
        if block.kind == "code":
            longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
            fence, info = "`" * max(3, longest + 1), _INFO.match(self._fact, block.start)
            return f"{fence}{self._clean(info[1]) if info else ''}\n{text}\n{fence}"
        return text

    def _mark(self, block: Block, start: int) -> str:
        mark = self._fact[block.start : block.places[0]].strip() if block.places and start == 0 else ""
        if number := _NUMBER.match(mark):
            return f"{number[1]}. "
        return f"- {mark}" if _ORDER.fullmatch(mark) else "- "

    def _row(self, block: Block) -> str:
        cells = (_PIPE.sub(r"\\|", self._clean(block.text[a:b]).replace("\n", " ")) for a, b in block.cells)
        return f"| {' | '.join(cells)} |"

    def _table_head(self, before: Block | None, block: Block) -> str:
        """What a row needs above it, when the row before is not of its table."""
        if block.kind != "row" or not block.cells:
            return ""
        if before is not None and before.kind == "row":
            return ""
        rule = f"|{'---|' * len(block.cells)}\n"
        if before is not None and before.kind == "header":
            return rule
        first = self._columns.split("\n")[0].strip()
        names = first if first.startswith("|") else "|" + "   |" * len(block.cells)
        return f"{self._clean(names)}\n{rule}"


_LABELLED = {"row": "row", "header": "row", "code": "code"}
