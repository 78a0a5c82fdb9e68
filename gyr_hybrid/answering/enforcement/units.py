"""Cut a model's answer into units: sentences, list items, table rows, code blocks.

The answer is fed piece by piece as it arrives. A unit is given out as soon as nothing that may still come can
change it, and always at the same place, however the pieces were cut; so an answer that is streamed and one that
arrives whole are cut alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from gyr_hybrid.answering.enforcement.brackets import OPENERS, Labels
from gyr_hybrid.answering.enforcement.sentence_ends import ENDS, behind_emphasis, end_of_sentence

Kind = Literal["sentence", "item", "row", "header", "code", "heading", "rule"]

_LOOKAHEAD = 8
"""Characters of a line that decide what kind of line it is."""

_FENCE = re.compile(r"(`{3,}|~{3,})([^\n`]*)")
_ITEM = re.compile(
    r"(?:[-*+]\s+|[•·●▪]\s*|\d{1,3}[.)．）、](?!\d)\s*|[(（]\d{1,2}[)）]\s*|[①-⑳]\s*|[一二三四五六七八九十]{1,3}、\s*)"
)
_DELIMITER = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_RULE = re.compile(r"(?:-{3,}|\*{3,}|_{3,}|={3,})\s*")
_FULL_STOP = re.compile(r"[。！？!?]")
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
"""Read as notes (``退款。¹``), but powers behind a Latin letter or a digit."""
_BEFORE_NOTE = frozenset(["", *".!?;,)]\"'*\n"])


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of an answer that is checked and shown, or left out, as a whole."""

    kind: Kind
    raw: str
    """As the model wrote it, citations included, without the list marker."""
    before: str = ""
    """What separates it from the unit before: nothing, a blank, one or two line ends."""
    marker: str = ""
    """List marker or ``> `` with its indentation."""
    level: int = -1
    """Indentation of a list item; -1 for everything else."""


class Segmenter:
    """Cuts one answer; not reusable.

    ``is_citation`` tells whether a bracket group such as ``[kb-002#1]`` cites a source, so that it stays with the
    sentence before it.

    >>> cut = Segmenter(lambda group: True)
    >>> [u.raw for u in cut.feed("三年。[a] 不退")], [u.raw for u in cut.finish()]
    (['三年。[a]'], ['不退'])
    """

    def __init__(self, is_citation: Callable[[str], bool]) -> None:
        self._labels = Labels(is_citation)
        self._tail = ""
        self._in_table = False
        self._armed = False
        self._first = True

    def feed(self, text: str) -> list[Unit]:
        """Take the next piece of the answer and give the units that are complete now."""
        found: list[Unit] = []
        for char in text.replace("\r\n", "\n").replace("\r", "\n"):
            self._tail += self._note(char) if char in _SUPERSCRIPTS else char
            if char == "\n" or char in ENDS or char == ".":
                self._armed = True
            if self._armed:
                found.extend(self._take(final=False))
        return found

    def _note(self, char: str) -> str:
        before = self._tail[-1:]
        power = before.isascii() and before not in _BEFORE_NOTE
        return char if power else f"[^{_SUPERSCRIPTS.index(char)}]"

    def finish(self) -> list[Unit]:
        """Give what is left after the last piece."""
        return list(self._take(final=True))

    def _take(self, *, final: bool) -> Iterator[Unit]:
        while (cut := self._next(final)) is not None:
            unit, end = cut
            self._tail = self._tail[end:]
            self._in_table = unit.kind in ("header", "row")
            self._armed = any(c in ENDS or c in ".\n" for c in self._tail)
            self._first = False
            yield unit

    def _next(self, final: bool) -> tuple[Unit, int] | None:
        text = self._tail
        start = len(text) - len(text.lstrip())
        if start == len(text):
            return None
        blank = text[:start]
        breaks = blank.count("\n")
        before = "" if self._first else "\n\n" if breaks > 1 else "\n" if breaks else " " if blank else ""
        if not (breaks or self._first):
            return self._sentence(start, before, "", final)
        indent = len(blank.rpartition("\n")[2].expandtabs(4)) if breaks else 0
        line_end = text.find("\n", start)
        whole_line = line_end >= 0 or final
        if line_end < 0:
            line_end = len(text)
        if not whole_line and line_end - start < _LOOKAHEAD:
            return None
        if breaks > 1:
            self._in_table = False
        line = text[start:line_end]
        if fence := _FENCE.match(line):
            return self._code(start, before, fence, final)
        if line[0] == "|":
            return self._table(start, line_end, before, whole_line, final)
        if line[0] == "#":
            return self._line("heading", start, line_end, before, whole_line, final) if whole_line else None
        if _RULE.match(line) and (whole_line or len(line.strip("-*_= ")) == 0):
            if not whole_line:
                return None
            if _RULE.fullmatch(line):
                return self._line("rule", start, line_end, before, whole_line, final)
        marker = ""
        if line[0] == ">":
            marker = re.match(r"(?:>\s*)+", line).group()  # type: ignore[union-attr]
            start += len(marker)
            line = line[len(marker) :]
            if not line:
                return None if not whole_line else (Unit("rule", "", before), line_end)
        if item := _ITEM.match(line):
            if not whole_line:
                return None
            body = start + item.end()
            end = self._labels.after(text, line_end, final)
            if end is None:
                return None
            unit = Unit(
                "item", text[body:end].strip(), before, marker + _shown_marker(item.group(), indent), indent
            )
            return unit, end
        return self._sentence(start, before, marker, final)

    def _line(
        self, kind: Kind, start: int, end: int, before: str, whole: bool, final: bool
    ) -> tuple[Unit, int] | None:
        return (Unit(kind, self._tail[start:end].strip(), before), end) if whole else None

    def _code(self, start: int, before: str, fence: re.Match[str], final: bool) -> tuple[Unit, int] | None:
        text = self._tail
        head_end = text.find("\n", start)
        if head_end < 0:
            return (Unit("rule", text[start:], before), len(text)) if final else None
        if fence.group(2).strip().lower() in ("markdown", "md"):
            return Unit("rule", text[start:head_end], before), head_end
        closing = re.compile(rf"\n[ \t]*{re.escape(fence.group(1))}[`~]*[ \t]*(?=\n|$)")
        found = closing.search(text, start)
        if found is None or (found.end() == len(text) and not final):
            if not final:
                return None
            if head_end == len(text.rstrip()) or not text[head_end:].strip():
                return Unit("rule", text[start:], before), len(text)
            return Unit("code", text[start:].rstrip() + f"\n{fence.group(1)}", before), len(text)
        end = self._labels.after(text, found.end(), final)
        return None if end is None else (Unit("code", text[start:end].rstrip(), before), end)

    def _table(
        self, start: int, line_end: int, before: str, whole: bool, final: bool
    ) -> tuple[Unit, int] | None:
        text = self._tail
        if not whole:
            return None
        if not self._in_table:
            second_end = text.find("\n", line_end + 1)
            second = text[line_end + 1 : second_end if second_end >= 0 else len(text)]
            if second_end < 0 and not final and re.fullmatch(r"[|\s:-]*", second):
                return None
            if second.strip() and _DELIMITER.fullmatch(second.strip()):
                end = second_end if second_end >= 0 else len(text)
                return Unit("header", text[start:end].strip(), before), end
        end_row = self._labels.after(text, line_end, final)
        return None if end_row is None else (Unit("row", text[start:end_row].strip(), before), end_row)

    def _sentence(self, start: int, before: str, marker: str, final: bool) -> tuple[Unit, int] | None:
        text = self._tail
        at = start
        while at < len(text):
            char = text[at]
            if char == "\n":
                end = self._labels.after(text, at, final)
                return (
                    None if end is None else (Unit("sentence", text[start:end].strip(), before, marker), end)
                )
            if char in OPENERS or char == "<":
                group = self._labels.group(text, at, final)
                if group is None and not final:
                    return None
                if group and (
                    char == "<"
                    or text[group - 1] == ")" != char
                    or self._labels.is_citation(text[at:group])
                    or not _FULL_STOP.search(text, at, group)
                ):
                    at = group
                    continue
            if char in ENDS or char == ".":
                ends = end_of_sentence(text, start, at, final)
                if ends is None:
                    return None
                if ends:
                    stop = self._labels.after(text, ends, final)
                    if stop is None:
                        return None
                    stop = behind_emphasis(text, start, stop)
                    if stop == len(text) and not final:
                        return None
                    if char not in "；;" or stop > ends:  # clauses stay together unless cited apart
                        return Unit("sentence", text[start:stop].strip(), before, marker), stop
                    at = ends
                    continue
            at += 1
        if not final:
            return None
        return Unit("sentence", text[start:].strip(), before, marker), len(text)


def _shown_marker(marker: str, indent: int) -> str:
    return " " * indent + marker.rstrip() + (" " if marker[-1].isspace() or marker.isascii() else "")
