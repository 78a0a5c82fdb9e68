"""Cut a section into what can be shown on its own: sentences, list items, table rows, code blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gyr_hybrid.analysis import split_sentences

ExcerptKind = Literal["sentence", "item", "row", "header", "code", "heading"]

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+]\s+|[•·●▪]\s*|\d{1,3}[.)．）、](?!\d)\s*|[(（]\d{1,2}[)）]\s*|[①-⑳]\s*)")
_HEADING = re.compile(r"[ \t]*#{1,6}\s*\S")
_DELIMITER = re.compile(r"[ \t]*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?[ \t]*")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*")
_LEAD_IN = re.compile(r"[:：][*_]*$")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of a section's text."""

    kind: ExcerptKind
    start: int
    end: int
    """Code points into the section's text, blanks and list marker left out."""
    text: str
    marker: str = ""
    paragraph: int = 0
    """Number of the paragraph, list or table it stands in."""
    header: str = ""
    """Header and delimiter rows, for a table row."""

    @property
    def indent(self) -> int:
        """Blanks before a list marker."""
        return len(self.marker) - len(self.marker.lstrip())

    @property
    def is_lead_in(self) -> bool:
        """Whether it only introduces what follows."""
        return self.kind in ("sentence", "item") and _LEAD_IN.search(self.text) is not None


def excerpts(text: str) -> list[Excerpt]:
    """All excerpts in reading order.

    >>> [e.text for e in excerpts("## 到账\\n\\n原路退回。支付宝 3 天。\\n\\n- 银行卡：7 天")]
    ['## 到账', '原路退回。', '支付宝 3 天。', '银行卡：7 天']
    """
    found: list[Excerpt] = []
    lines = _lines(text)
    i = paragraph = 0
    while i < len(lines):
        start, end = lines[i]
        line = text[start:end]
        if not line.strip():
            paragraph += 1
            i += 1
        elif fence := _FENCE.match(line):
            last = _closing(text, lines, i, fence.group(1))
            found.append(_excerpt("code", text, (start, lines[last][1]), paragraph))
            i = last + 1
        elif _HEADING.match(line):
            found.append(_excerpt("heading", text, (start, end), paragraph))
            i += 1
        elif _is_table(text, lines, i):
            i = _table(text, lines, i, paragraph, found)
        elif item := _ITEM.match(line):
            while i + 1 < len(lines) and _continues(text[slice(*lines[i + 1])]):
                i += 1
            span = start + item.end(), lines[i][1]
            found.append(_excerpt("item", text, span, paragraph, marker=item.group()))
            i += 1
        else:
            last = i
            while last + 1 < len(lines) and _is_prose(text, lines, last + 1):
                last += 1
            if last > i and _UNDERLINE.fullmatch(text[slice(*lines[last])]):
                found.append(_excerpt("heading", text, (start, lines[last][1]), paragraph))
            else:
                found.extend(_sentences(text, start, lines[last][1], paragraph))
            i = last + 1
    return found


def excerpt_at(text: str, start: int, end: int) -> Excerpt | None:
    """The excerpt that shares most with ``text[start:end]``, headings left out."""

    def shared(excerpt: Excerpt) -> int:
        return min(excerpt.end, end) - max(excerpt.start, start)

    best = max((e for e in excerpts(text) if e.kind not in ("heading", "header")), key=shared, default=None)
    return best if best is not None and shared(best) > 0 else None


def row_as_text(excerpt: Excerpt, language: str = "zh") -> str:
    """A table row as words: ``型号：X2，价格：399 元``; every other excerpt as it is."""
    if excerpt.kind != "row":
        return excerpt.text
    colon, comma = ("：", "，") if language == "zh" else (": ", ", ")
    cells = cells_of(excerpt.text)
    names = cells_of(excerpt.header.split("\n")[0])
    if len(names) != len(cells):
        return comma.join(c for c in cells if c)
    return comma.join(f"{n}{colon}{c}" if n else c for n, c in zip(names, cells, strict=True) if c)


def row_under(header: str, excerpt: Excerpt) -> str | None:
    """A source row as a row of another table, the cells picked by column name; None where that cannot be.

    >>> source = Excerpt("row", 0, 9, "| X2 | 黑 | 399 |", header="| 型号 | 颜色 | 价格 |\\n|---|---|---|")
    >>> row_under("| 型号 | 价格 |", source)
    '| X2 | 399 |'
    """
    if excerpt.kind != "row":
        return None
    cells = cells_of(excerpt.text)
    names = [name.casefold() for name in cells_of(excerpt.header.split("\n")[0])]
    wanted = [name.casefold() for name in cells_of(header.split("\n")[0])]
    if len(names) != len(cells) or not set(wanted) <= set(names):
        return None
    return f"| {' | '.join(cells[names.index(name)] for name in wanted)} |"


def cells_of(row: str) -> list[str]:
    """Cells of a table row, without blanks at their ends."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def _lines(text: str) -> list[Span]:
    spans, at = [], 0
    for line in text.split("\n"):
        spans.append((at, at + len(line)))
        at += len(line) + 1
    return spans


def _excerpt(
    kind: ExcerptKind, text: str, span: Span, paragraph: int, *, marker: str = "", header: str = ""
) -> Excerpt:
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Excerpt(kind, start, end, text[start:end], marker, paragraph, header)


def _closing(text: str, lines: list[Span], i: int, fence: str) -> int:
    for j in range(i + 1, len(lines)):
        if text[slice(*lines[j])].strip().startswith(fence):
            return j
    return len(lines) - 1


def _is_table(text: str, lines: list[Span], i: int) -> bool:
    if "|" not in text[slice(*lines[i])] or i + 1 >= len(lines):
        return False
    return _DELIMITER.fullmatch(text[slice(*lines[i + 1])]) is not None


def _table(text: str, lines: list[Span], i: int, paragraph: int, found: list[Excerpt]) -> int:
    head = (lines[i][0], lines[i + 1][1])
    found.append(_excerpt("header", text, head, paragraph))
    i += 2
    while i < len(lines) and "|" in text[slice(*lines[i])]:
        found.append(_excerpt("row", text, lines[i], paragraph, header=text[slice(*head)]))
        i += 1
    return i


def _continues(line: str) -> bool:
    return line[:1] in (" ", "\t") and bool(line.strip()) and not _ITEM.match(line) and not _FENCE.match(line)


def _is_prose(text: str, lines: list[Span], i: int) -> bool:
    line = text[slice(*lines[i])]
    if not line.strip() or _FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line):
        return False
    return not _is_table(text, lines, i)


def _sentences(text: str, start: int, end: int, paragraph: int) -> list[Excerpt]:
    found = [
        _excerpt("sentence", text, (start + s, start + e), paragraph)
        for s, e in split_sentences(text[start:end])
    ]
    return [excerpt for excerpt in found if excerpt.text]
