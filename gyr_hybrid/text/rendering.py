"""The text that inline markup stands for; each character knows its place in the source."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Sequence
from dataclasses import dataclass
from html import unescape
from typing import NamedTuple

from markdown_it.common.utils import normalizeReference

_MARKUP = re.compile(r"[\\`$<&\[\]*_~]|\{[{%#:]|[ ]\t?\n")
_INLINE = re.compile(
    r"""
      (?P<escape>\\(?:[!-/:-@\[-`{-~]|\t?\n))
    | (?P<hard>(?<![ ])[ ]{2,}\t?\n)
    | (?P<code>`+)
    | (?P<math>\$\$[^$]+\$\$|\$(?![\s$])[^$`\n]+(?<![\s\\])\$(?!\d))
    | (?P<gone><!--(?:[^-<]|-(?!->)|<(?!!--))*-->  # comments, then shortcodes, attributes, footnote marks
        |\{\{[<%][^{}]*[%>]\}\} | \{%[^{}%]*%\} | \{[\#:][^{}\n]*\}(?=[ \t]*(?:\n|\Z)) | \[\^[^\[\]\s]*\]:?)
    | (?P<address><(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]+@[\w.-]+)>)
    | (?P<tag></?(?P<name>[A-Za-z][\w.-]*)(?P<rest>(?:\s[^<>]*|/)?)>)
    | (?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)
    | (?P<open>!?\[)
    | (?P<close>\])
    | (?P<emphasis>\*+|_+|~~)
    """,
    re.VERBOSE,
)
_TARGET = re.compile(
    r"\(\s*(?:<[^<>\n]*>|(?:[^()\s\\]|\\.|\((?:[^()\s\\]|\\.)*\))*)"
    r"(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
)
_LABEL = re.compile(r"\[(?!\^)([^\[\]]{0,999})\]")
_HTML = frozenset(
    "a abbr address article aside audio b base big blockquote body br button canvas caption center cite code col "
    "colgroup data dd del details dfn div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 "
    "h5 h6 head header hr html i iframe img input ins kbd label legend li link main map mark meta nav noscript "
    "object ol option p picture pre q s samp script section select small source span strike strong style sub "
    "summary sup svg table tbody td template textarea tfoot th thead time title tr tt u ul var video wbr".split()
)
_BREAKS = frozenset("br p div li ul ol tr td th dd dt hr pre section blockquote h1 h2 h3 h4 h5 h6".split())

_UNTIDY = re.compile(r"^\s|\s$|\s\s|[^\S ]|[\u200b\u2060\ufeff]")
_BLANKS = re.compile(r"[\s\u200b\u2060\ufeff]+")
_BLANK = re.compile(r"\s")
_VISIBLE = re.compile(r"\S")
_CJK = re.compile(
    "[\u2e80-\u303e\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff“”‘’…·]"
)


class Placed(NamedTuple):
    """A text whose character ``i`` stands at ``places[i]`` of the source.

    ``\\n`` in it is a soft line break, ``\\r`` a line break that is meant."""

    text: str
    places: Sequence[int]
    strong: Sequence[tuple[int, int]] = ()
    """Spans that are bold, in order."""

    def cut(self, start: int, end: int) -> Placed:
        return Placed(self.text[start:end], self.places[start:end])


NOTHING = Placed("", ())


def tidy(placed: Placed) -> Placed:
    """Without blanks at the ends, runs of blanks as one; soft breaks within Chinese and invisible characters go."""
    text, places = placed.text, placed.places
    if not _UNTIDY.search(text):
        return placed
    parts: list[str] = []
    kept: list[int] = []
    at = 0
    for run in _BLANKS.finditer(text):
        start, end = run.span()
        parts.append(text[at:start])
        kept += places[at:start]
        at = end
        if not kept or end == len(text):
            continue
        blank = _BLANK.search(text, start, end)
        within = "\n" in run[0] and _CJK.match(text, start - 1) and _CJK.match(text, end)
        if blank and not within:
            parts.append(" ")
            kept.append(places[blank.start()])
    return Placed("".join([*parts, text[at:]]), [*kept, *places[at:]])


def join(cells: Sequence[Placed]) -> tuple[Placed, tuple[tuple[int, int], ...]]:
    """The cells of a row as one text, and the span of each in it."""
    text = ""
    places: list[int] = []
    spans: list[tuple[int, int]] = []
    first = next((cell.places[0] for cell in cells if cell.text), 0)
    for index, cell in enumerate(cells):
        if index:
            text += " | "
            places += [places[-1] if places else first] * 3
        spans.append((len(text), len(text) + len(cell.text)))
        text += cell.text
        places += cell.places
    return Placed(text, places), tuple(spans)


def columns_wide(text: str) -> int:
    """How many columns of a terminal the text fills."""
    return len(text) + (0 if text.isascii() else sum(unicodedata.east_asian_width(c) in "WF" for c in text))


def is_tag(name: str, rest: str, source: str) -> bool:
    """Whether ``<name rest>`` is markup; else it is a placeholder that is to be read, such as ``<cluster-name>``."""
    return name.lower() in _HTML or "=" in rest or rest.endswith("/") or f"</{name}" in source


def render(raw: Placed, labels: Container[str] = ()) -> Placed:
    """``raw`` without its inline markup; ``labels`` are those of the link definitions."""
    return _Inline(raw.text, labels).render(raw.places) if _MARKUP.search(raw.text) else raw


@dataclass(slots=True, eq=False)
class _Run:
    text: str
    start: int
    """Index of its source in the raw text."""
    one: bool = False
    """All of it comes from the one character at ``start``."""


class _Inline:
    def __init__(self, raw: str, labels: Container[str]) -> None:
        self._raw = raw
        self._labels = labels
        self._runs: list[_Run] = []
        self._marks: dict[str, list[_Run]] = {"*": [], "_": [], "~": []}
        self._brackets: list[int] = []
        self._bold: list[_Run] = []
        self._strong: list[tuple[_Run, _Run]] = []
        self._unclosed: set[int] = set()
        """Lengths of runs of backticks after which there is no other of that length."""

    def render(self, places: Sequence[int]) -> Placed:
        raw, at = self._raw, 0
        while match := _INLINE.search(raw, at):
            self._add(at, match.start())
            at = getattr(self, f"_{match.lastgroup}")(match)
        self._add(at, len(raw))
        kept: list[int] = []
        ends: dict[_Run, int] = {}
        for run in self._runs:
            if run.one:
                kept += [places[run.start]] * len(run.text)
            else:
                kept += places[run.start : run.start + len(run.text)]
            ends[run] = len(kept)
        strong = [(ends[a], ends[b] - len(b.text)) for a, b in self._strong if a in ends and b in ends]
        return Placed("".join(run.text for run in self._runs), kept, sorted(strong))

    def _add(self, start: int, end: int) -> _Run:
        run = _Run(self._raw[start:end], start)
        if start < end:
            self._runs.append(run)
        return run

    def _put(self, text: str, start: int) -> _Run:
        run = _Run(text, start, True)
        self._runs.append(run)
        return run

    def _escape(self, match: re.Match[str]) -> int:
        if match[0].endswith("\n"):
            self._put("\r", match.start())
        else:
            self._add(match.start() + 1, match.end())
        return match.end()

    def _hard(self, match: re.Match[str]) -> int:
        self._put("\r", match.start())
        return match.end()

    def _code(self, match: re.Match[str]) -> int:
        ticks = len(match[0])
        closing = None
        if ticks not in self._unclosed:
            closing = re.compile(rf"(?<!`)`{{{ticks}}}(?!`)").search(self._raw, match.end())
        if closing is None:
            self._unclosed.add(ticks)
            self._add(*match.span())
            return match.end()
        start, end = match.end(), closing.start()
        if self._raw[start] == self._raw[end - 1] == " " and self._raw[start:end].strip():
            start, end = start + 1, end - 1
        self._add(start, end)
        return closing.end()

    def _math(self, match: re.Match[str]) -> int:
        end = match.end() if re.search(r"[\\_^{]", match[0]) else match.start() + 1
        self._add(match.start(), end)
        return end

    def _gone(self, match: re.Match[str]) -> int:
        return match.end()

    def _address(self, match: re.Match[str]) -> int:
        self._add(match.start() + 1, match.end() - 1)
        return match.end()

    def _tag(self, match: re.Match[str]) -> int:
        name, closing = match["name"].lower(), match[0].startswith("</")
        if not is_tag(match["name"], match["rest"], self._raw):
            self._add(*match.span())
        elif name in _BREAKS:
            self._put("\r", match.start())
        elif name in ("b", "strong"):
            mark = self._put("", match.start())
            if not closing:
                self._bold.append(mark)
            elif self._bold:
                self._strong.append((self._bold.pop(), mark))
        return match.end()

    def _entity(self, match: re.Match[str]) -> int:
        self._put(unescape(match[0]), match.start())
        return match.end()

    def _open(self, match: re.Match[str]) -> int:
        self._brackets.append(len(self._runs))
        self._add(*match.span())
        return match.end()

    def _close(self, match: re.Match[str]) -> int:
        raw, after = self._raw, match.end()
        index = self._brackets.pop() if self._brackets else -1
        if not 0 <= index < len(self._runs):
            self._add(*match.span())
            return after
        opening = self._runs[index]
        target = _TARGET.match(raw, after)
        if target is None and self._labels:
            label = _LABEL.match(raw, after)
            name = label[1] if label and label[1] else raw[opening.start + len(opening.text) : after - 1]
            if len(name) < 1000 and normalizeReference(name) in self._labels:
                after = label.end() if label else after
                target = match
        if target is None:
            self._add(*match.span())
            return after
        if opening.text == "![":
            del self._runs[index:]
        else:
            opening.text = ""
        return max(after, target.end())

    def _emphasis(self, match: re.Match[str]) -> int:
        opens, closes = self._flanks(*match.span())
        run = self._add(*match.span())
        stack = self._marks[run.text[0]]
        while closes and stack and run.text:
            opening = stack[-1]
            width = min(2, len(opening.text), len(run.text))
            if width == 2 and run.text[0] != "~":
                self._strong.append((opening, run))
            opening.text = opening.text[width:]
            run.text, run.start = run.text[width:], run.start + width
            if not opening.text:
                stack.pop()
        if opens and run.text:
            stack.append(run)
        return match.end()

    def _flanks(self, start: int, end: int) -> tuple[bool, bool]:
        """Whether the run of marks may open and close. CommonMark's rules, but ``**注意：**请`` is bold and the
        product in ``2*3*4`` stays."""
        raw = self._raw
        before = raw[start - 1] if start else " "
        after = raw[end] if end < len(raw) else " "
        opens, closes = not after.isspace(), not before.isspace()
        if raw[start] == "_":
            return opens and not before.isalnum(), closes and not after.isalnum()
        if before.isdigit() and after.isdigit():
            return False, False
        if end - start == 1:
            if (before + after).isascii() and before.isalnum() and after.isalnum():
                return False, False
            marks = [unicodedata.category(c)[0] in "PS" for c in (before, after)]
            opens = opens and (not marks[1] or marks[0] or before.isspace())
            closes = closes and (not marks[0] or marks[1] or after.isspace())
        return opens, closes


def first_visible(text: str, start: int, end: int) -> int:
    """Index of the first character from ``start`` that is no blank, else ``end``."""
    match = _VISIBLE.search(text, start, end)
    return match.start() if match else end


def last_visible(text: str, start: int, end: int) -> int:
    """Index after the last character before ``end`` that is no blank, else ``start``."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return end
