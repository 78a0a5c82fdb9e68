"""Lines of a PDF page in reading order, and its ruled tables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from statistics import median
from typing import Any, TypeAlias

_COMPATIBILITY = re.compile(
    "[\ufb00-\ufb06\u2e80-\u2fdf\uf900-\ufaff]+"
)  # ligatures, radicals used as characters
_WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f]")
_GUTTER = (0.35, 0.65)  # share of the page width where the gap between two columns may be
_COLUMN = 0.25  # share of the page width that a column of prose has at least

_Word: TypeAlias = dict[str, Any]
"""A word of pdfplumber: a run of characters without a gap, in Chinese often a whole line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of one column; lengths in points."""

    text: str
    left: float
    right: float
    top: float
    bottom: float
    size: float


@dataclass(frozen=True, slots=True)
class Page:
    """What stands on a page; lengths in points."""

    height: float
    lines: list[Line]
    tables: list[tuple[float, list[list[str]]]]
    """(top, rows)"""


def read_page(page: Any) -> Page:
    """Read a page of pdfplumber. Lines within ruled tables are in the tables only."""
    found = [
        table
        for table in page.find_tables()
        if len(table.rows) > 1 and max(len(r.cells) for r in table.rows) > 1
    ]
    boxes = [table.bbox for table in found]
    words = [
        word
        for word in page.extract_words(extra_attrs=["size"], keep_blank_chars=False, use_text_flow=False)
        if not any(_inside(word, box) for box in boxes)
    ]
    tables = [
        (table.bbox[1], [[_cell(cell or "") for cell in row] for row in table.extract()]) for table in found
    ]
    return Page(float(page.height), _lines(words, float(page.width)), tables)


def _inside(word: _Word, box: Sequence[float]) -> bool:
    x, y = (word["x0"] + word["x1"]) / 2, (word["top"] + word["bottom"]) / 2
    return bool(box[0] <= x <= box[2] and box[1] <= y <= box[3])


def _cell(text: str) -> str:
    """The lines of a cell are one text that was wrapped."""
    lines = [line for line in _mapped(text).split("\n") if line]
    return reduce(joined, lines) if lines else ""


def _mapped(text: str) -> str:
    return _COMPATIBILITY.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


def _lines(words: list[_Word], width: float) -> list[Line]:
    """Lines in reading order: in two columns the left one first, down to the next line that crosses both."""
    rows = _rows(words)
    gutter = _gutter(rows, width)
    if gutter is None:
        return [_line(row) for row in rows]
    lines: list[Line] = []
    band: list[_Word] = []
    for row in [*rows, []]:
        crosses = any(word["x0"] < gutter < word["x1"] for word in row)
        if row and not crosses:
            band += row
            continue
        lines += [_line(r) for r in _rows([word for word in band if word["x1"] <= gutter])]
        lines += [_line(r) for r in _rows([word for word in band if word["x1"] > gutter])]
        lines += [_line(row)] if row else []
        band = []
    return lines


def _rows(words: Iterable[_Word]) -> list[list[_Word]]:
    """Words of one height on the page, from the top, each row from the left."""
    rows: list[list[_Word]] = []
    for word in sorted(words, key=lambda word: (word["bottom"], word["x0"])):
        if rows and word["bottom"] - rows[-1][0]["bottom"] < 0.5 * (word["bottom"] - word["top"]):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [sorted(row, key=lambda word: word["x0"]) for row in rows]


def _gutter(rows: Sequence[Sequence[_Word]], width: float) -> float | None:
    """Where a gap runs down between two columns of prose, or None."""
    best, fewest = None, len(rows)
    for percent in range(int(_GUTTER[0] * 100), int(_GUTTER[1] * 100) + 1):
        x = width * percent / 100
        crossing = sum(any(word["x0"] - 2 < x < word["x1"] + 2 for word in row) for row in rows)
        if crossing < fewest:
            best, fewest = x, crossing
    if best is None:
        return None
    both = [
        (best - row[0]["x0"], row[-1]["x1"] - best)
        for row in rows
        if row[0]["x1"] < best < row[-1]["x0"] or any(a["x1"] < best < b["x0"] for a, b in pairwise(row))
    ]
    if len(both) < 4 or len(both) < 2 * fewest:
        return None
    # Labels with values beside them have a gap too, but not two wide sides.
    left, right = (median(sides) for sides in zip(*both, strict=True))
    return best if min(left, right) > _COLUMN * width else None


def _line(row: Sequence[_Word]) -> Line:
    text = row[0]["text"]
    for one, other in pairwise(row):
        text = (
            joined(text, other["text"])
            if other["x0"] - one["x1"] < one["size"]
            else f"{text} {other['text']}"
        )
    return Line(
        _mapped(text),
        row[0]["x0"],
        max(word["x1"] for word in row),
        min(word["top"] for word in row),
        max(word["bottom"] for word in row),
        round(median(word["size"] for word in row), 1),
    )


def joined(text: str, following: str) -> str:
    """Two lines of one paragraph as one text: no blank between Chinese, none for a hyphenated word."""
    if re.search(r"[a-z]-$", text) and following[:1].islower():
        return text[:-1] + following
    return text + ("" if _WIDE.match(text[-1:]) and _WIDE.match(following[:1]) else " ") + following
