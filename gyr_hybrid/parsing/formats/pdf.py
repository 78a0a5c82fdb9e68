"""PDF files: lines in reading order, paragraphs, headings by font size, ruled tables, page numbers."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from importlib import import_module

from gyr_hybrid.errors import DocumentError
from gyr_hybrid.parsing.formats.markdown_text import MarkdownText
from gyr_hybrid.parsing.formats.pdf_lines import Line, Page, joined, read_page
from gyr_hybrid.parsing.formats.reading import FileReadings, Reading

_MARGIN = 0.12  # share of the page height where running heads and feet stand
_HEADING_SIZE = 1.12  # times the size of the body
_HEADING_CHARS = 60
_PAGE_NUMBER = re.compile(
    r"\W*(?:第\s*)?\d{1,4}\s*页?(?:\W*共?\s*\d{1,4}\s*页?)?\W*|page\s*\d+(?:\s*of\s*\d+)?", re.IGNORECASE
)
_ENDS = re.compile(r"[。！？；：.!?;:”」』）)]$")
_NUMBERED = re.compile(
    r"\s*(?:第[一二三四五六七八九十百千零〇\d]+[章节条编]|[（(]?[一二三四五六七八九十\d]{1,3}[、.）)])"
)
_BULLET = re.compile(r"\s*[•·●■▪◦‣\uf0b7\uf0a7\uf06c]\s*|\s*[-–—]\s+")


def read_pdf(data: bytes) -> FileReadings:
    """Pages without text (scans) are named in the complaint; a file of nothing else raises `DocumentError`."""
    pdfplumber = import_module("pdfplumber")
    try:
        with pdfplumber.open(io.BytesIO(data)) as pdf:
            pages = [read_page(page) for page in pdf.pages]
    except import_module("pdfplumber.utils.exceptions").PdfminerException as error:
        cause = type(error.args[0]).__name__ if error.args else type(error).__name__
        raise DocumentError(
            f"The PDF cannot be opened ({cause}); it may be damaged or need a password."
        ) from error
    scanned = [str(number) for number, page in enumerate(pages, 1) if not page.lines and not page.tables]
    if len(scanned) == len(pages):
        raise DocumentError("The PDF has no text: its pages are pictures. Run OCR on it first.")
    writer = _Writer(_running_lines(pages), _heading_sizes(pages))
    for number, page in enumerate(pages, 1):
        writer.page(number, page)
    writer.flush()
    complaint = f"Pages without text (pictures?) were left out: {', '.join(scanned)}." if scanned else None
    written = writer.written
    return FileReadings((Reading(written.text(), places=written.places()),), complaint)


def _running_lines(pages: Sequence[Page]) -> frozenset[str]:
    """Heads and feet that stand on most pages, figures aside."""
    seen: Counter[str] = Counter()
    for page in pages:
        seen.update({_key(line) for line in page.lines if _at_edge(line, page)})
    return frozenset(key for key, count in seen.items() if count >= 2 and count > len(pages) / 2)


def _key(line: Line) -> str:
    return re.sub(r"\d+", "0", line.text).strip()


def _at_edge(line: Line, page: Page) -> bool:
    return line.bottom < _MARGIN * page.height or line.top > (1 - _MARGIN) * page.height


def _heading_sizes(pages: Sequence[Page]) -> dict[float, int]:
    """Font size -> heading level, for the sizes above that of the body."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[line.size] += len(line.text)
    if not sizes:
        return {}
    body = sizes.most_common(1)[0][0]
    larger = sorted((size for size in sizes if size > body * _HEADING_SIZE), reverse=True)
    return {size: min(level, 6) for level, size in enumerate(larger, 1)}


class _Writer:
    """Puts lines together to paragraphs, over the ends of columns and pages."""

    def __init__(self, running: frozenset[str], levels: dict[float, int]) -> None:
        self.written = MarkdownText()
        self._running = running
        self._levels = levels
        self._paragraph: list[Line] = []
        self._begun = 0  # page on which the paragraph begins
        self._shown = 0  # page noted last

    def page(self, number: int, page: Page) -> None:
        tables = sorted(page.tables, key=lambda table: table[0])
        for line in page.lines:
            if _at_edge(line, page) and (_key(line) in self._running or _PAGE_NUMBER.fullmatch(line.text)):
                continue
            while tables and tables[0][0] < line.top:
                self._table(number, tables.pop(0)[1])
            if self._paragraph and not _goes_on(self._paragraph[-1], line):
                self.flush()
            if not self._paragraph:
                self._begun = number
            self._paragraph.append(line)
        for _, rows in tables:
            self._table(number, rows)

    def flush(self) -> None:
        """Write the paragraph that waits."""
        if not self._paragraph:
            return
        text = reduce(joined, [line.text for line in self._paragraph])
        level = self._levels.get(self._paragraph[0].size)
        self._paragraph.clear()
        self._note(self._begun)
        if level is not None and len(text) <= _HEADING_CHARS:
            self.written.heading(level, text)
        elif bullet := _BULLET.match(text):
            self.written.item(text[bullet.end() :])
        else:
            self.written.paragraph(text)

    def _table(self, number: int, rows: list[list[str]]) -> None:
        self.flush()
        self._note(number)
        self.written.table(rows)

    def _note(self, number: int) -> None:
        if number != self._shown:
            self.written.place("page", str(number))
            self._shown = number


def _goes_on(line: Line, following: Line) -> bool:
    """Whether the next line belongs to the same paragraph (or heading)."""
    height = line.bottom - line.top
    if line.size != following.size or _NUMBERED.match(following.text) or _BULLET.match(following.text):
        return False
    if following.top < line.top:  # on the next column or page
        return not _ENDS.search(line.text)
    if following.top - line.top >= 2.2 * height or following.left > line.left + 1.2 * height:
        return False
    ends_short = line.right < following.right - 2 * height
    return not (ends_short and _ENDS.search(line.text))
