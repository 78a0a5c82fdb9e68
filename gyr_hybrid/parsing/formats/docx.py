"""Word files: headings by style and outline level, numbers of numbered paragraphs, lists and tables."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from gyr_hybrid.errors import DocumentError
from gyr_hybrid.parsing.formats.archives import check_archive
from gyr_hybrid.parsing.formats.markdown_text import MarkdownText
from gyr_hybrid.parsing.formats.reading import FileReadings, Reading
from gyr_hybrid.parsing.formats.word_numbering import Numbering

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"(?:heading|标题)\s*([1-9])$", re.IGNORECASE)


def read_docx(data: bytes) -> FileReadings:
    """Deleted text and the table of contents are left out, inserted text is in. The title is that of the
    paragraph styled ``Title``, written as an H1, or the first heading of level 1."""
    docx = import_module("docx")
    check_archive(data)
    document = docx.Document(io.BytesIO(data))
    written = MarkdownText()
    _Writer(document, written).body()
    if not written.text():
        raise DocumentError("The file has no text; it may hold pictures only.")
    return FileReadings((Reading(written.text(), places=written.places()),))


class _Writer:
    def __init__(self, document: Any, written: MarkdownText) -> None:
        self._body = document.element.body
        self._written = written
        self._styles = {style.element.get(f"{_W}styleId"): style.element for style in document.styles}
        self._numbering = Numbering(document)

    def body(self) -> None:
        for element in _blocks(self._body):
            if element.tag == f"{_W}p":
                self._paragraph(element)
            else:
                self._table(element)

    def _paragraph(self, paragraph: Any) -> None:
        text = _text(paragraph)
        style = _value(paragraph, "pPr/pStyle")
        number = self._numbering.next(paragraph, list(self._lineage(style))) if text.strip() else None
        level = self._level(paragraph, style)
        if level is not None:
            self._written.heading(level, f"{number.text} {text}" if number and number.text else text)
        elif number is None:
            self._written.paragraph(text)
        elif number.text and not number.is_list:
            self._written.paragraph(f"{number.text} {text}")
        else:
            self._written.item(text, depth=number.level, marker=number.text or "-")

    def _level(self, paragraph: Any, style: str | None) -> int | None:
        outline = _value(paragraph, "pPr/outlineLvl")
        for element in self._lineage(style):
            name = _value(element, "name") or ""
            if name.casefold() in ("title", "标题"):
                return 1
            if match := _HEADING.match(name):
                return int(match[1])
            outline = outline if outline is not None else _value(element, "pPr/outlineLvl")
        return int(outline) + 1 if outline is not None and outline in "012345678" else None

    def _lineage(self, style: str | None) -> Iterator[Any]:
        """The elements of a style and those it is based on."""
        seen = set()
        while style is not None and style not in seen and style in self._styles:
            seen.add(style)
            yield self._styles[style]
            style = _value(self._styles[style], "basedOn")

    def _table(self, table: Any) -> None:
        rows = [
            [_cell(cell) for cell in tr.iterchildren(f"{_W}tc", f"{_W}sdt")]
            for tr in table.iter(f"{_W}tr")
            if next(tr.iterancestors(f"{_W}tbl")) is table
        ]
        if rows and max(map(len, rows)) == 1:  # a frame around text
            for (cell,) in filter(None, rows):
                self._written.paragraph(cell)
        else:
            self._written.table(_filled(rows))


def _blocks(parent: Any) -> Iterator[Any]:
    """Paragraphs and tables, also those in content controls but for tables of contents."""
    for child in parent.iterchildren():
        if child.tag in (f"{_W}p", f"{_W}tbl"):
            yield child
        elif child.tag == f"{_W}sdt":
            gallery = child.find(f"{_W}sdtPr/{_W}docPartObj/{_W}docPartGallery")
            content = child.find(f"{_W}sdtContent")
            if content is not None and (gallery is None or "Contents" not in gallery.get(f"{_W}val", "")):
                yield from _blocks(content)
        elif child.tag in (f"{_W}ins", f"{_W}customXml", f"{_W}smartTag"):
            yield from _blocks(child)


def _text(paragraph: Any) -> str:
    """Text with insertions, without deletions, moved-away text and field codes."""
    parts = []
    for element in paragraph.iter(f"{_W}t", f"{_W}tab", f"{_W}br", f"{_W}cr", f"{_W}noBreakHyphen"):
        if any(True for _ in element.iterancestors(f"{_W}moveFrom", f"{_W}del", f"{_W}tabs")):
            continue
        if element.tag == f"{_W}t":
            parts.append(element.text or "")
        else:
            parts.append({f"{_W}tab": " ", f"{_W}noBreakHyphen": "-"}.get(element.tag, "\n"))
    return "".join(parts)


_CONTINUES = "\0"


def _cell(cell: Any) -> str:
    merge = cell.find(f"{_W}tcPr/{_W}vMerge")
    if merge is not None and merge.get(f"{_W}val", "continue") == "continue":
        return _CONTINUES
    return "\n".join(filter(str.strip, map(_text, cell.iter(f"{_W}p"))))


def _filled(rows: list[list[str]]) -> list[list[str]]:
    """A cell merged downwards stands in each of its rows."""
    filled: list[list[str]] = []
    for row in rows:
        above = filled[-1] if filled else []
        filled.append(
            [
                (above[i] if i < len(above) else "") if cell == _CONTINUES else cell
                for i, cell in enumerate(row)
            ]
        )
    return filled


def _value(element: Any, path: str) -> str | None:
    found = element.find("/".join(_W + step for step in path.split("/")))
    return None if found is None else found.get(f"{_W}val")
