"""Headings and leaf blocks of a text, by line, in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from gyr_hybrid.parsing.markdown_rules import block_parser

_MARKUP = re.compile(r"[`*\\\[\]<>&~{]|(?<!\w)_|_(?!\w)")
_ANCHOR = re.compile(r"[ \t]*\{#[^}\s]*\}$")
_TAG_OR_COMMENT = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)
_TITLE_LINE = re.compile(r"^ {0,3}(?:#(?!#).*|=+[ \t]*)$", re.MULTILINE)


class Heading(NamedTuple):
    """A heading at the top level of the text, or the number of an article."""

    level: int
    """1-6 as written; an article stands one below the heading above it, so 1-7."""
    text: str
    """Without markup and line ends; may be empty."""
    first: int
    """Its first line, 0-based."""
    after: int
    """The line after it. An article's own text begins on its first line, so there it is ``first``."""


class Block(NamedTuple):
    """A block that holds text and no other block."""

    kind: Literal["text", "code", "table"]
    """``code`` is a fence, indented code or HTML with text."""
    first: int
    """Its first line; for the first block of a list item or quotation the line of the marker."""
    after: int
    """The line after its last."""
    body: int = -1
    """Line of a table's first body row; -1 when it has none, and for the other kinds."""
    inner: bool = False
    """It goes on with a list item or quotation at the top level, or stands in a list within one."""


Part: TypeAlias = Heading | Block


class Structure(NamedTuple):
    """What a text is made of."""

    parts: list[Part]
    """Headings and leaf blocks in order. Each line is in at most one; in none are blank lines, rules, link
    definitions and HTML without text."""
    lines: list[int]
    """Offset of the beginning of each line, and behind the last the length of the text."""


def parse_structure(text: str, *, plain: bool = False) -> Structure:
    """Headings and leaf blocks of ``text``, whose line ends are LF."""
    parser = block_parser(plain)
    state = StateBlock(text, parser, {}, [])
    lines = list(state.bMarks)  # quotations change it while they are parsed
    parser.block.tokenize(state, 0, state.lineMax)
    return Structure(list(_parts(state.tokens, plain)), lines)


def first_title(text: str, *, plain: bool = False) -> str | None:
    """Text of the first H1, or None; looks no further than that H1 where it can."""
    candidate = _TITLE_LINE.search(text)
    if candidate is None and "#" not in text:
        return None
    upto = candidate.end() if candidate else len(text)
    return _first_h1(text[:upto], plain) or (_first_h1(text, plain) if upto < len(text) else None)


def _first_h1(text: str, plain: bool) -> str | None:
    return next(
        (
            part.text
            for part in parse_structure(text, plain=plain).parts
            if isinstance(part, Heading) and part.level == 1 and part.text and part.after > part.first
        ),
        None,
    )


def _parts(tokens: list[Token], plain: bool) -> Iterator[Part]:
    level = 0  # of the last heading that is no article
    marker: int | None = None  # line of a list marker or quotation mark that waits for its first block
    outermost = True  # that item or quotation is in no other
    index = 0
    while index < len(tokens):
        token = tokens[index]
        kind = token.type
        index += 1
        if token.map is None or kind == "inline":
            continue
        first, after = token.map
        if kind in ("list_item_open", "blockquote_open"):
            if marker is None:
                marker, outermost = first, token.level < 2
            continue
        if kind == "heading_open" and token.level == 0:
            level = int(token.tag[1:])
            yield Heading(level, _heading_text(tokens[index].content, plain), first, after)
            continue
        block: Block | None = None
        if kind in ("line", "paragraph_open", "heading_open"):
            block = Block("text", first, after)
        elif kind == "article":
            yield Heading(level + 1, token.content, first, first)
            block = Block("text", first, after)
        elif kind in ("fence", "code_block") or (kind == "html_block" and _has_text(token.content)):
            block = Block("code", first, after)
        elif kind == "table_open":
            while tokens[index].type != "table_close":
                index += 1
            body = first + 2
            block = Block("table", first, after, body) if after > body else Block("text", first, after)
        if block is not None:
            inner = token.level > 0 if marker is None else not outermost
            yield Block(block.kind, first if marker is None else marker, after, block.body, inner)
            marker = None


def _has_text(html: str) -> bool:
    return bool(_TAG_OR_COMMENT.sub("", html).strip())


def _heading_text(content: str, plain: bool) -> str:
    if not plain:
        content = _ANCHOR.sub("", content)
        if _MARKUP.search(content):
            inline = block_parser(False).parseInline(content)
            content = "".join(map(_visible, inline[0].children or ()))
    return " ".join(content.split())


def _visible(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    if token.type == "image":
        return "".join(map(_visible, token.children or ()))
    return token.content if token.type in ("text", "code_inline") else ""
