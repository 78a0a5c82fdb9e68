"""The block rules that this library adds to markdown-it-py.

markdown-it-py decides what is a heading, a list, a table or a fence. Added are headings without a
space (``#标题``), articles (``第三条 …``) and, in plain text, numbered headings (``第一章 总则``, ``一、``,
``（一）``, ``1.1``) and questions with answers (``问：``, ``答：``).
"""

from __future__ import annotations

import re
from functools import cache, partial

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, lheading, paragraph
from markdown_it.token import Token

_NUMERAL = r"[0-9０-９零〇○一二三四五六七八九十百千万两]{1,12}"
_BLANK = r"[ \t\u3000\u00a0]"
_ARTICLE = re.compile(
    rf"[ \t\u3000\u00a0\u200b\ufeff]*(?P<mark>\*\*|__)?(?P<name>第{_BLANK}?{_NUMERAL}{_BLANK}?条(?:之{_NUMERAL})?)"
    rf"(?(mark)(?P=mark))(?={_BLANK}|$)"
)
# The line before an article inside a block of lines; else `第三条 ` there is a wrapped reference.
_SENTENCE_END = re.compile(r"[。！？；：…!?;:”’」』）)】]\s*$")
_WRAPPED_CHARS = 20

# `#标题`, `##1. 概述`; not `#话题#内容`, `#1042`, `#include <x>`, `#!/bin/sh`.
_TIGHT_HEADING = re.compile(r"(?P<hashes>#{1,6})(?![#\s])(?P<text>.*?)(?P<tail>#*)[ \t]*$")
_TIGHT_START = re.compile(
    r"[^\W\d_]|[《【（「『“\"'`*\[(〈①-⑳]|\d{1,3}(?:\.\d{1,3})*[.、．)）]|\d{1,3}(?:\.\d{1,3})+\s"
)
_HAN = re.compile(r"[\u3400-\u9fff]")

# Plain text: what numbers a heading, and the level that it gives. Level 1 is left to a title (`# …`).
_NUMBERINGS: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(rf"第{_BLANK}?{_NUMERAL}{_BLANK}?(?:编|篇|部分|部)(?={_BLANK}|$)"), 2),
    (re.compile(rf"第{_BLANK}?{_NUMERAL}{_BLANK}?章(?={_BLANK}|$)"), 3),
    (re.compile(rf"第{_BLANK}?{_NUMERAL}{_BLANK}?节(?={_BLANK}|$)"), 4),
    (re.compile(r"[一二三四五六七八九十]{1,3}、"), 5),
    (re.compile(r"[（(][一二三四五六七八九十]{1,3}[）)]"), 6),
    (re.compile(rf"\d{{1,2}}\.\d{{1,2}}(?:[.、．]|{_BLANK})(?!\d)"), 5),
    (re.compile(rf"\d{{1,2}}\.\d{{1,2}}\.\d{{1,2}}(?:[.、．]|{_BLANK})(?!\d)"), 6),
)
# A line `问：…` with `答：…` below it is a heading too.
_QUESTION = re.compile(r"(?:问|Q)\s?\d{0,3}[:：.、]\s*(?P<text>\S.*)", re.IGNORECASE)
_ANSWER = re.compile(r"(?:答|A)\s?\d{0,3}[:：.、]", re.IGNORECASE)
_QUESTION_LEVEL = 6
_PLAIN_START = re.compile(
    r"[^\x00-\x7f]|[A-Za-z\"'(!]|\*\*[^\s*]|`(?!``)|\d(?!\d{0,8}[.)](?:\s|$))", re.MULTILINE
)
_BULLET = re.compile(r"[*+-] +[^\s*+-]")
_HEADING_CHARS = 40
_NO_HEADING_END = re.compile(r"[。！？；：，、…!?;:,.][”’」』）)\"']*$")


@cache
def block_parser(plain: bool) -> MarkdownIt:
    """The parser of Markdown, or of plain text (headings, fences and tables only)."""
    parser = MarkdownIt("commonmark").enable("table")
    rules = parser.block.ruler
    interrupts: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote"]}
    if plain:
        parser.disable(["code", "html_block", "reference", "lheading", "blockquote", "list", "hr"])
        rules.before("table", "numbered_heading", _numbered_heading, interrupts)
        rules.at("paragraph", _plain_paragraph)
    else:
        rules.at("lheading", _setext_heading)
    rules.before("heading", "tight_heading", _tight_heading, interrupts)
    # The first in line. Before the Setext rule, or a line of dashes makes a heading of a whole article.
    rules.before("table", "article", partial(_article, plain=plain), interrupts)
    rules.before("table", "line", partial(_single_line, plain=plain))
    return parser


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _at_top(state: StateBlock, line: int) -> bool:
    return state.level == 0 and state.blkIndent == 0 and not state.is_code_block(line)


def _article(state: StateBlock, line: int, end: int, silent: bool, *, plain: bool) -> bool:
    """A paragraph that begins with ``第…条`` and a blank: one token ``article``."""
    source, start = state.src, state.bMarks[line] + state.tShift[line]
    if source[start : start + 1] not in "第*_\u3000\u00a0\u200b\ufeff" or not _at_top(state, line):
        return False
    match = _ARTICLE.match(_line(state, line))
    if match is None:
        return False
    if silent:
        before = _line(state, line - 1)
        if _SENTENCE_END.search(before):
            return True
        # A line of plain text is a paragraph, unless the one before it looks wrapped.
        return plain and len(before) < _WRAPPED_CHARS
    if _ends_paragraph(state, line + 1, plain):
        state.line = line + 1
    elif plain:
        state.line = _plain_end(state, line, end)
    else:
        paragraph(state, line, end, False)
        del state.tokens[-3:]
    _push(state, "article", "", 0, line).content = re.sub(_BLANK, "", match["name"])
    return True


def _single_line(state: StateBlock, line: int, end: int, silent: bool, *, plain: bool) -> bool:
    """A paragraph of one line that no other rule can want: one token ``line``.

    Adds nothing to what is recognised; most paragraphs are such, and a dozen rules are not tried on them.
    """
    if silent or not _PLAIN_START.match(state.src, state.bMarks[line] + state.tShift[line]):
        return False
    if state.is_code_block(line) or not _ends_paragraph(state, line + 1, plain):
        return False
    state.line = line + 1
    _push(state, "line", "", 0, line)
    return True


def _plain_paragraph(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Lines up to a blank one or to what begins something else, however far that is indented."""
    if not silent:
        state.line = _plain_end(state, line, end)
        _push(state, "line", "", 0, line)
    return True


def _plain_end(state: StateBlock, line: int, end: int) -> int:
    """The line after the paragraph of plain text that begins on ``line``."""
    rules = state.md.block.ruler.getRules("paragraph")
    after = line + 1
    while (
        after < end and not state.isEmpty(after) and not any(rule(state, after, end, True) for rule in rules)
    ):
        after += 1
    return after


def _ends_paragraph(state: StateBlock, line: int, plain: bool) -> bool:
    """Whether a paragraph surely ends before ``line``: that is blank, or a bullet with text."""
    if line >= state.lineMax or state.isEmpty(line):
        return True
    if plain:
        return False
    indent = state.sCount[line]
    if not 0 <= indent - state.blkIndent + 3 <= 6 or indent - max(state.listIndent, 0) > 3 or indent < 0:
        return False
    return _BULLET.match(state.src, state.bMarks[line] + state.tShift[line]) is not None


def _tight_heading(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """``#标题``, which CommonMark takes for text."""
    start = state.bMarks[line] + state.tShift[line]
    if state.src[start : start + 1] != "#" or not _at_top(state, line):
        return False
    match = _TIGHT_HEADING.match(_line(state, line))
    if match is None or not _is_tight_heading(match):
        return False
    if silent:
        return True
    _push_heading(state, line, len(match["hashes"]), match["text"].strip())
    return True


def _is_tight_heading(match: re.Match[str]) -> bool:
    text = match["text"]
    if not _TIGHT_START.match(text):
        return False
    if "#" in text:  # `#话题#内容`, `#标签 #标签`
        return False
    return len(match["hashes"]) > 1 or _HAN.search(text) is not None or text[0].isupper()


def _numbered_heading(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """In plain text a question with its answer below, or a short line that is numbered, stands by itself
    and has text below it."""
    if not _at_top(state, line):
        return False
    text = _line(state, line).strip()
    below = state.skipEmptyLines(line + 1)
    question = _QUESTION.fullmatch(text)
    if question and below < end and _ANSWER.match(_line(state, below)):
        if not silent:
            _push_heading(state, line, _QUESTION_LEVEL, question["text"])
        return True
    level = _numbering(text)
    if level is None:
        return False
    above = line - 1
    while above >= 0 and state.isEmpty(above):
        above -= 1
    if below >= end or _numbering(_line(state, below).strip()) == level:
        return False  # nothing below, or items of a list
    if above >= 0 and _numbering(_line(state, above).strip()) == level:
        return False
    if not silent:
        _push_heading(state, line, level, text)
    return True


def _numbering(text: str) -> int | None:
    if len(text) > _HEADING_CHARS or _NO_HEADING_END.search(text):
        return None
    return next((level for pattern, level in _NUMBERINGS if pattern.match(text)), None)


def _setext_heading(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """CommonMark's rule, but ``---`` below a sentence is a rule below text, as its author meant."""
    if not lheading(state, line, end, silent):
        return False
    opening, inline, _ = state.tokens[-3:]
    sentence = opening.markup == "-" and inline.content.endswith(("。", "；"))
    front_matter = line == 1 and state.src.startswith("---\n") and ":" in _line(state, 1)
    underline = state.line - 1
    if (sentence or front_matter) and _line(state, underline).startswith("---"):
        del state.tokens[-3:]
        state.line = underline
        _push(state, "paragraph_open", "p", 1, line)
        _push(state, "inline", "", 0, line).content = inline.content
        _push(state, "paragraph_close", "p", -1, line)
    return True


def _push_heading(state: StateBlock, line: int, level: int, text: str) -> None:
    state.line = line + 1
    _push(state, "heading_open", f"h{level}", 1, line)
    _push(state, "inline", "", 0, line).content = text
    _push(state, "heading_close", f"h{level}", -1, line)


def _push(state: StateBlock, kind: str, tag: str, nesting: int, line: int) -> Token:
    token = state.push(kind, tag, nesting)  # type: ignore[arg-type]
    token.map = [line, state.line]
    return token
