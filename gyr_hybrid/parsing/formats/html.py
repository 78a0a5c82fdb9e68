"""HTML pages: headings, text, lists, tables and code of the main content, navigation left out."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, TypeAlias

from gyr_hybrid.errors import DocumentError
from gyr_hybrid.parsing.decoding import decode
from gyr_hybrid.parsing.formats.markdown_text import MarkdownText
from gyr_hybrid.parsing.formats.reading import FileReadings, Reading, clean

Tag: TypeAlias = Any
"""A ``bs4.Tag``; the package is an extra, and types would need it."""

_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_ENCODINGS = {"gb2312": "gb18030", "gbk": "gb18030"}
_DROPPED = (
    "script, style, noscript, template, iframe, svg, canvas, object, form, button, select, input, nav, aside, footer, "
    "[hidden], [aria-hidden=true], [role=navigation], [role=banner], [role=contentinfo], [role=search], "
    "[role=complementary], body > header, .breadcrumb, .breadcrumbs, .sidebar, .pagination, .cookie, .cookies"
)
_MAIN = ("main", "[role=main]", "article", "#content", ".markdown-body", ".article-content")
_BLOCKS = frozenset(
    "address article blockquote body dd details div dl dt fieldset figcaption figure footer h1 h2 h3 h4 h5 h6 header"
    " hr li main ol p pre section summary table tbody td tfoot th thead tr ul".split()
)
_MAX_DEPTH = 200
_SPACE = re.compile(r"[ \t\r\n\f]+")
_BREAK = "\x0b"  # stands for <br> until spaces are folded


def read_html(data: bytes) -> FileReadings:
    """The title is the page's ``<title>`` when it has no ``<h1>``; anchors are the ids of its headings."""
    import_module("lxml")  # knows which end tags may be left out; programs leave them out
    soup = import_module("bs4").BeautifulSoup(_decode(data), "lxml")
    metadata = _metadata(soup)
    for tag in soup.select(_DROPPED):
        tag.decompose()
    written = MarkdownText()
    _Writer(written).blocks(_main(soup), 0)
    if not written.text():
        raise DocumentError("The page has no text outside its navigation; it may be filled by a script.")
    if soup.find("h1") is not None:
        metadata.pop("title", None)
    return FileReadings((Reading(written.text(), metadata=dict(metadata), places=written.places()),))


def _decode(data: bytes) -> str:
    declared = _CHARSET.search(data, 0, 4096)
    if declared:
        name = declared[1].decode("ascii").lower()
        try:
            return data.decode(_ENCODINGS.get(name, name)).replace("\r\n", "\n").replace("\r", "\n")
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(data)


def _metadata(soup: Tag) -> dict[str, str]:
    found = {
        "title": soup.title.get_text() if soup.title else "",
        "url": _attribute(soup, "link[rel=canonical]", "href")
        or _attribute(soup, "meta[property='og:url']", "content"),
        "updated_at": _attribute(soup, "meta[property='article:modified_time']", "content"),
    }
    return {key: text for key, value in found.items() if (text := clean(value).strip())}


def _attribute(soup: Tag, selector: str, name: str) -> str:
    tag = soup.select_one(selector)
    return str(tag.get(name) or "") if tag is not None else ""


def _main(soup: Tag) -> Tag:
    for selector in _MAIN:
        found = soup.select(selector)
        if len(found) == 1 and found[0].get_text(strip=True):
            return found[0]
    return soup.body or soup


class _Writer:
    """Walks over blocks; text between them is a paragraph."""

    def __init__(self, written: MarkdownText) -> None:
        self._written = written

    def blocks(self, parent: Tag, depth: int) -> None:
        if depth > _MAX_DEPTH:
            self._written.paragraph(parent.get_text())
            return
        inline: list[str] = []
        for child in parent.children:
            if child.name and _is_block(child):
                self._written.paragraph(_folded("".join(inline)))
                inline.clear()
                self._block(child, depth + 1)
            elif child.name:
                inline.append(_inline(child))
            elif type(child).__name__ == "NavigableString":
                inline.append(_SPACE.sub(" ", child))
        self._written.paragraph(_folded("".join(inline)))

    def _block(self, tag: Tag, depth: int) -> None:
        name = tag.name
        if name in ("ul", "ol"):
            self._list(tag, 0, depth)
        elif re.fullmatch(r"h[1-6]", name):
            anchor = tag.get("id") or next(
                (link.get("id") or link.get("name") for link in tag.select("a[id], a[name]")), ""
            )
            self._written.place("anchor", str(anchor or ""))
            self._written.heading(int(name[1]), tag.get_text())
        elif name == "pre":
            self._written.code(tag.get_text().replace("\r", ""))
        elif name == "table" and _is_data(tag):
            self._written.table(_rows(tag))
        elif name in ("dt", "summary"):
            self._written.paragraph(f"**{' '.join(tag.get_text().split())}**")
        elif name != "hr":
            self.blocks(tag, depth)

    def _list(self, tag: Tag, level: int, depth: int) -> None:
        for number, item in enumerate(tag.find_all("li", recursive=False), 1):
            inner = item.find_all(["ul", "ol", "table", "pre"])
            nested = [part for part in inner if part.find_parent(["li", "table", "pre"]) is item]
            for part in nested:
                part.extract()
            marker = f"{number}." if tag.name == "ol" else "-"
            self._written.item(_inline(item), depth=level, marker=marker)
            for part in nested:
                if part.name in ("ul", "ol") and depth < _MAX_DEPTH:
                    self._list(part, level + 1, depth + 1)
                else:
                    self._block(part, depth + 1)


def _folded(text: str) -> str:
    """Spaces folded; the line ends left are those of ``<br>``."""
    return "\n".join(_SPACE.sub(" ", line).strip() for line in text.split(_BREAK))


def _inline(tag: Tag, depth: int = 0) -> str:
    if depth > _MAX_DEPTH:
        return str(tag.get_text())
    if tag.name == "br":
        return _BREAK
    if tag.name == "img":
        return str(tag.get("alt") or "")
    if tag.name in ("code", "kbd", "samp") and "`" not in tag.get_text():
        text = tag.get_text()
        return f"`{text}`" if text.strip() else ""
    parts = []
    for child in tag.children:
        if child.name:
            text = _inline(child, depth + 1)
            parts.append(f" {text} " if child.name in _BLOCKS else text)
        elif type(child).__name__ == "NavigableString":  # its subclasses are comments and the like
            parts.append(_SPACE.sub(" ", child))
    return "".join(parts)


def _is_block(tag: Tag) -> bool:
    return tag.name in _BLOCKS or tag.find(list(_BLOCKS)) is not None


def _is_data(table: Tag) -> bool:
    """A table of data, not one that lays out the page."""
    rows = table.find_all("tr")
    return table.find(["table", "h1", "h2", "h3", "pre"]) is None and any(
        len(row.find_all(["td", "th"])) > 1 for row in rows
    )


def _rows(table: Tag) -> list[list[str]]:
    """Cells as text; one that spans rows or columns stands in each of them."""
    rows: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}  # column -> rows still to fill, text
    for tr in table.find_all("tr"):
        row: list[str] = []

        def fill(row: list[str] = row) -> None:
            while (spanning := below.get(len(row))) is not None:
                left, text = spanning
                if left == 1:
                    del below[len(row)]
                else:
                    below[len(row)] = (left - 1, text)
                row.append(text)

        for cell in tr.find_all(["td", "th"], recursive=False):
            fill()
            text = _folded(_inline(cell)).replace("\n", " ")
            for _ in range(_span(cell, "colspan")):
                if (height := _span(cell, "rowspan")) > 1:
                    below[len(row)] = (height - 1, text)
                row.append(text)
        fill()
        rows.append(row)
    return rows


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name) or "1").strip()
    return min(max(int(value), 1), 100) if value.isdecimal() else 1
