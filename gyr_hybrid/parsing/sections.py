"""Sections: a heading with its own text, up to the next heading of any level."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gyr_hybrid.parsing.structure import Block, Heading, Part, parse_structure

_ODD_BLANKS = "\u00a0\u200b\u2060\u3000\ufeff"
_LOOKS_BLANK = re.compile(rf"^[ \t]*[{_ODD_BLANKS}][ \t{_ODD_BLANKS}]*$", re.MULTILINE)


class Section(NamedTuple):
    """A section before it is cut to size; offsets are code points of the document's text."""

    path: tuple[str, ...]
    """Headings from the outermost to its own, without the document's title."""
    level: int
    """Level of its heading, 1-7; 0 for text before the first heading."""
    start: int
    """At its heading line, else at its first non-blank character."""
    end: int
    """After its last non-blank character."""
    heading_end: int
    """Where its heading line ends and its own text begins; ``start`` without a heading and for articles."""
    blocks: tuple[Block, ...]
    """Leaf blocks of its own text, by line."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The sections of a text and what is needed to read their lines."""

    title: str | None
    """Text of the first H1."""
    sections: tuple[Section, ...]
    lines: list[int]
    """Offset of the beginning of each line, and the length of the text behind the last."""


def outline(text: str, title: str | None = None, *, plain: bool = False) -> Outline:
    """Find the sections of ``text``.

    ``title`` is the document's, None to take the first H1; an H1 equal to it is not repeated in paths.
    A heading without own text makes no section, but stands in the paths of those below it.
    """
    source = _parseable(text)
    parts, lines = parse_structure(source, plain=plain)
    first = next(
        (p for p in parts if isinstance(p, Heading) and p.level == 1 and p.text and p.after > p.first), None
    )
    found = first.text if first else None
    title = title if title is not None else found
    return Outline(found, tuple(_sections(source, lines, parts, title)), lines)


def _parseable(text: str) -> str:
    """As many code points, with LF as the only line end, no NUL, and lines that look blank made so."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    text = text.replace("\0", "\ufffd")
    if any(blank in text for blank in _ODD_BLANKS):
        text = _LOOKS_BLANK.sub(lambda match: " " * len(match[0]), text)
    return text


def _sections(source: str, lines: Sequence[int], parts: Sequence[Part], title: str | None) -> list[Section]:
    sections: list[Section] = []
    stack: list[tuple[int, str]] = []
    heading: Heading | None = None
    blocks: list[Block] = []
    for part in (*parts, None):
        if isinstance(part, Block):
            blocks.append(part)
            continue
        upto = len(source) if part is None else lines[part.first]
        section = _section(source, lines, heading, blocks, upto, tuple(text for _, text in stack))
        if section is not None:
            sections.append(section)
        if part is not None:
            while stack and stack[-1][0] >= part.level:
                stack.pop()
            if part.text and not (part.level == 1 and title is not None and _same(part.text, title)):
                stack.append((part.level, part.text))
            heading, blocks = part, []
    return sections


def _section(
    source: str,
    lines: Sequence[int],
    heading: Heading | None,
    blocks: list[Block],
    upto: int,
    path: tuple[str, ...],
) -> Section | None:
    begin = lines[heading.first] if heading else 0
    own = min(lines[heading.after], upto) if heading else 0
    text = source[own:upto].rstrip()
    if not text or (heading and heading.after == heading.first and text.strip() == heading.text):
        return None
    if heading is None and blocks and blocks[0].kind == "code":
        begin = lines[blocks[0].first] if not source[: lines[blocks[0].first]].strip() else begin
    elif source[begin].isspace():
        begin += len(source[begin:upto]) - len(source[begin:upto].lstrip())
    return Section(
        path=path,
        level=heading.level if heading else 0,
        start=begin,
        end=own + len(text),
        heading_end=max(begin, own),
        blocks=tuple(blocks),
    )


def _same(one: str, other: str) -> bool:
    return _folded(one) == _folded(other)


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
