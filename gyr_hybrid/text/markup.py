"""The block rules that markdown-it-py lacks: admonitions, tables in HTML, lines of tags, ``#标题``."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import (
    StateBlock,
    code,
    fence,
    heading,
    html_block,
    lheading,
    paragraph,
    reference,
    table,
)
from markdown_it.token import Token

from gyr_hybrid.text.rendering import is_tag

_ADMONITION = re.compile(
    r'(?:(?:!!!|\?\?\?\+?)[ \t]*[A-Za-z][\w-]*(?:[ \t]+[A-Za-z][\w-]*)*(?:[ \t]+"(?P<title>[^"\n]*)")?'
    r'|===[!+]?[ \t]+"(?P<tab>[^"\n]*)")[ \t]*$'
)
_BOX = re.compile(
    r"(?P<colons>:{3,})[ \t]*(?:[A-Za-z][\w-]*)?(?:\{[^}\n]*\})?(?:\[(?P<label>[^\]\n]*)\])?(?P<title>[^\n]*?):*[ \t]*$"
)
_SHORTCODES = re.compile(r"(?:(?:\{\{[<%][^{}]*[%>]\}\}|\{%[^{}%]*%\})[ \t]*)+$")
_TAGS = re.compile(r"(?:</?[A-Za-z][\w.-]*(?:\s[^<>]*|/)?>[ \t]*)+$")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)((?:\s[^<>]*|/)?)>")
_TABLE_TAG = re.compile(r"<table\b[^<>]*>", re.IGNORECASE)
_TABLE_END = re.compile(r"</table\s*>", re.IGNORECASE)
_TIGHT_HEADING = re.compile(
    r"(?:##+(?=[^\W\d_])|#+(?=[A-Z\u3400-\u9fff《【（「『“\"'`*\[(〈①-⑳]|\d{1,3}(?:\.\d{1,3})*[.、．)）]|\d{1,3}(?:\.\d{1,3})+\s))"
    r"(?<!#{7})[^#\n]*#*[ \t]*$"
)
_FIELD = re.compile(r"[^：:，。]{1,24}[：:]")
_SENTENCE_END = re.compile(r"[。；]$")
NESTED = 100
"""Containers in one another that are read."""


def _located(rule: Any) -> Any:
    """``rule``, which then says where in the text each of its lines begins and ends."""

    def located(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        count = len(state.tokens)
        if not rule(state, line, end, silent):
            return False
        if len(state.tokens) > count:
            token = state.tokens[count]
            token.meta["spans"] = _spans(state, line, state.line, indented=token.type == "html_block")
        return True

    return located


def _push(state: StateBlock, kind: str, line: int, after: int) -> Token:
    token = state.push(kind, "", 0)
    token.meta["spans"] = _spans(state, line, after, indented=kind == "html_block")
    return token


def _spans(state: StateBlock, line: int, after: int, *, indented: bool) -> list[tuple[int, int]]:
    """Where lines begin, behind the marks of lists and quotations, and end; ``indented``: with their indentation."""
    shifts = state.tShift[line:after]
    if indented:
        shifts[1:] = [0] * len(shifts[1:])
    return [
        (state.bMarks[i] + shift, state.eMarks[i])
        for i, shift in zip(range(line, after), shifts, strict=True)
    ]


def _admonition(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """``!!! note "标题"`` with an indented body."""
    start, stop = state.bMarks[line] + state.tShift[line], state.eMarks[line]
    match = _ADMONITION.match(state.src, start, stop) if state.src[start : start + 1] in "!?=" else None
    if match is None or state.is_code_block(line):
        return False
    if silent:
        return True
    indent, limit = state.blkIndent, state.lineMax
    after = line + 1
    while after < end and (state.isEmpty(after) or state.sCount[after] >= state.sCount[line] + 4):
        after += 1
    name = "tab" if match["tab"] else "title"
    _push(state, "box_open", line, line + 1).meta["title"] = match.span(name)
    state.blkIndent, state.lineMax = state.sCount[line] + 4, after
    state.level += 1
    state.md.block.tokenize(state, line + 1, after)
    state.level -= 1
    state.blkIndent, state.lineMax, state.line = indent, limit, after
    _push(state, "box_close", line, line)
    return True


def _single_line(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """``:::tip 标题``, ``:::``, a line of shortcodes, a line of tags such as ``<Tabs>``, ``#标题``."""
    text, start, stop = state.src, state.bMarks[line] + state.tShift[line], state.eMarks[line]
    first = text[start : start + 1]
    marks = "#" if state.env["plain"] else ":{<#"
    if start >= stop or first not in marks or state.is_code_block(line):
        return False
    kind, title = "", (-1, -1)
    if first == ":" and (match := _BOX.match(text, start, stop)):
        kind = (
            "box_close"
            if match.end("colons") == stop or not text[match.end("colons") : stop].strip()
            else "box_open"
        )
        title = match.span("label") if match["label"] else match.span("title")
    elif first == "{" and _SHORTCODES.match(text, start, stop):
        kind = "shortcodes"
    elif (
        first == "#" and state.level == 0 and state.blkIndent == 0 and _TIGHT_HEADING.match(text, start, stop)
    ):
        kind = "tight_heading"
    elif first == "<" and _TAGS.match(text, start, stop):
        tags = _TAG.findall(text, start, stop)
        if all(name.lower() not in _HTML_BLOCKS and _is_tag(name, rest, text) for _, name, rest in tags):
            kind = "tags"
    if kind and not silent:
        state.line = line + 1
        _push(state, kind, line, line + 1).meta["title"] = title
    return bool(kind)


def _is_tag(name: str, rest: str, text: str) -> bool:
    """On a line of its own ``<Tabs>`` is a tag too when its end stands in another section."""
    return is_tag(name, rest, text) or (name[0].isupper() and not name.isupper())


def _html_table(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """A table in HTML up to its end, whatever blank lines are in it."""
    start = state.bMarks[line] + state.tShift[line]
    if state.is_code_block(line) or not _TABLE_TAG.match(state.src, start, state.eMarks[line]):
        return False
    if silent:
        return True
    closing = None if state.env.get("tables_closed") else _TABLE_END.search(state.src, start)
    if closing is None:
        state.env["tables_closed"] = True
        return False
    after = bisect_right(state.bMarks, closing.start(), line, state.lineMax)
    if after > end:
        return False
    state.line = after
    _push(state, "html_block", line, after)
    return True


def _setext_heading(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """CommonMark's rule, but ``---`` below a sentence or a list of fields is a rule."""
    if not lheading(state, line, end, silent):
        return False
    opening, inline, closing = state.tokens[-3:]
    content = inline.content
    if opening.markup == "-" and ("\n" in content or _SENTENCE_END.search(content) or _FIELD.match(content)):
        opening.type, closing.type = "rule_below_open", "rule_below_close"
    return True


def _link_definition(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """CommonMark's rule, but neither ``[^1]: 说明`` nor ``[注]：说明`` defines a link."""
    start = state.bMarks[line] + state.tShift[line]
    match = _DEFINITION.match(state.src, start)
    return match is not None and reference(state, line, end, silent)


_HTML_BLOCKS = frozenset(
    "table caption thead tbody tr td th pre script style textarea ul ol li dl dt dd".split()
)
_DEFINITION = re.compile(r"\[(?!\^)[^\]]{1,999}\]:\s*[!-~]")


@cache
def block_parser(plain: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": NESTED}).enable("table")
    rules = parser.block.ruler
    interrupts = ["paragraph", "reference", "blockquote"]
    rules.at("table", _located(table), {"alt": ["paragraph", "reference"]})
    rules.at("fence", _located(fence), {"alt": [*interrupts, "list"]})
    rules.at("heading", _located(heading), {"alt": interrupts})
    rules.at("paragraph", _located(paragraph))
    if plain:
        parser.disable(["code", "html_block", "reference", "lheading", "blockquote", "list", "hr"])
    else:
        rules.at("code", _located(code))
        rules.at("html_block", _located(html_block), {"alt": interrupts})
        rules.at("lheading", _located(_setext_heading))
        rules.at("reference", _link_definition)
        rules.before("table", "admonition", _admonition, {"alt": interrupts})
        rules.before("table", "html_table", _html_table, {"alt": interrupts})
    rules.before("table", "single_line", _single_line, {"alt": interrupts})
    return parser
