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

Kind = Literal["sentence", "item", "row", "header", "code", "heading", "rule"]

_LOOKAHEAD = 8
"""Characters of a line that decide what kind of line it is."""
_GROUP_LIMIT = 400
"""Longest bracket group that is waited for."""

_FENCE = re.compile(r"(`{3,}|~{3,})([^\n`]*)")
_ITEM = re.compile(
    r"(?:[-*+]\s+|[•·●▪]\s*|\d{1,3}[.)．）、](?!\d)\s*|[(（]\d{1,2}[)）]\s*|[①-⑳]\s*|[一二三四五六七八九十]{1,3}、\s*)"
)
_DELIMITER = re.compile(r"\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")
_RULE = re.compile(r"(?:-{3,}|\*{3,}|_{3,}|={3,})\s*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|No|Nos|Fig|Dr|Mr|Mrs|Ms|Inc|Ltd|Co|St|[A-Z]))$"
)
_QUOTE_TAG = re.compile(r"<(quote|q)>.*?</\1>", re.IGNORECASE | re.DOTALL)
_FULL_STOP = re.compile(r"[。！？!?]")
_OPENERS = {"[": "]", "【": "】", "［": "］", "〔": "〕", "(": ")", "（": "）"}
_ENDS = frozenset("。！？；…!?;")
_CLOSERS = frozenset("”’」』》〉）)】］\"'*_~`")
_PAIRED = frozenset("\"'*_~`")
_BLANK = " \t\u3000\xa0"


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
        self._is_citation = is_citation
        self._tail = ""
        self._in_table = False
        self._armed = False
        self._first = True

    def feed(self, text: str) -> list[Unit]:
        """Take the next piece of the answer and give the units that are complete now."""
        found: list[Unit] = []
        for char in text.replace("\r\n", "\n").replace("\r", "\n"):
            self._tail += char
            if char == "\n" or char in _ENDS or char == ".":
                self._armed = True
            if self._armed:
                found.extend(self._take(final=False))
        return found

    def finish(self) -> list[Unit]:
        """Give what is left after the last piece."""
        return list(self._take(final=True))

    def _take(self, *, final: bool) -> Iterator[Unit]:
        while (cut := self._next(final)) is not None:
            unit, end = cut
            self._tail = self._tail[end:]
            self._in_table = unit.kind in ("header", "row")
            self._armed = any(c in _ENDS or c in ".\n" for c in self._tail)
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
            end = self._with_labels(line_end, final)
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
        end = self._with_labels(found.end(), final)
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
        end_row = self._with_labels(line_end, final)
        return None if end_row is None else (Unit("row", text[start:end_row].strip(), before), end_row)

    def _sentence(self, start: int, before: str, marker: str, final: bool) -> tuple[Unit, int] | None:
        text = self._tail
        at = start
        while at < len(text):
            char = text[at]
            if char == "\n":
                end = self._with_labels(at, final)
                return (
                    None if end is None else (Unit("sentence", text[start:end].strip(), before, marker), end)
                )
            if char in _OPENERS or char == "<":
                group = self._group(at, final)
                if group is None and not final:
                    return None
                if group and (
                    char == "<" or self._is_citation(text[at:group]) or not _FULL_STOP.search(text, at, group)
                ):
                    at = group
                    continue
            if char in _ENDS or char == ".":
                ends = self._ends_here(start, at, final)
                if ends is None:
                    return None
                if ends:
                    stop = self._with_labels(ends, final)
                    if stop is None:
                        return None
                    if char not in "；;" or stop > ends:  # clauses stay together unless cited apart
                        return Unit("sentence", text[start:stop].strip(), before, marker), stop
                    at = ends
                    continue
            at += 1
        if not final:
            return None
        return Unit("sentence", text[start:].strip(), before, marker), len(text)

    def _ends_here(self, start: int, at: int, final: bool) -> int | None:
        """End of the sentence whose final punctuation stands at ``at``; 0 if it is none, None if unknown."""
        text = self._tail
        char = text[at]
        if char in ".;":
            if at + 1 == len(text):
                return at + 1 if final else None
            follows = text[at + 1]
            if char == "." and (_ABBREVIATION.search(text[start:at]) or follows == "."):
                return 0
            if not (
                follows.isspace()
                or follows in _CLOSERS
                or follows in _OPENERS
                or "\u4e00" <= follows <= "\u9fff"
            ):
                return 0
            if char == "." and text[start:at].strip().isdigit():
                return 0
        end = at + 1
        while end < len(text):
            char = text[end]
            if (
                char in _ENDS
                or (char == "." and text[end - 1] == ".")
                or (char in _CLOSERS and not (char in _PAIRED and text[start:end].count(char) % 2 == 0))
            ):
                end += 1
            else:
                return end
        return end if final else None

    def _group(self, at: int, final: bool) -> int | None:
        """End of the bracket group or quote tag that opens at ``at``; 0 if it is none, None if it may still close."""
        text = self._tail
        if text[at] == "<":
            head = text[at : at + 7].lower()
            if not any(tag.startswith(head[: len(tag)]) for tag in ("<quote>", "<q>")):
                return 0
            if found := _QUOTE_TAG.match(text, at):
                return found.end()
            return None if len(text) - at < 4 * _GROUP_LIMIT else 0
        depth = 0
        opener, closer = text[at], _OPENERS[text[at]]
        for i in range(at, min(len(text), at + _GROUP_LIMIT)):
            if text[i] == "\n":
                return 0
            depth += (text[i] == opener) - (text[i] == closer)
            if depth == 0:
                return self._with_link(i + 1, final) if closer == "]" else i + 1
        return None if len(text) - at < _GROUP_LIMIT else 0

    def _with_link(self, end: int, final: bool) -> int | None:
        """``end`` moved behind ``(https://…)``."""
        text = self._tail
        head = text[end : end + 5]
        if not "(http".startswith(head):
            return end
        if len(head) < 5 and not final:
            return None
        close = text.find(")", end) if head == "(http" else -1
        return close + 1 if close > 0 else end

    def _with_labels(self, end: int, final: bool) -> int | None:
        """``end`` moved behind the citations that follow, on the same line or alone on the next one."""
        text = self._tail
        while True:
            at = end
            while at < len(text) and text[at] in _BLANK:
                at += 1
            if at == len(text):
                return end if final else None
            if text[at] == "\n":
                return self._with_label_line(end, at, final)
            if text[at] not in _OPENERS and text[at] != "<":
                return end
            group = self._group(at, final)
            if group is None:
                if final:
                    return end
                return None
            if not group or (text[at] != "<" and not self._is_citation(text[at:group])):
                return end
            end = group
            while end < len(text) and text[end] in "。.，,":
                end += 1
            if end == len(text) and not final:
                return None

    def _with_label_line(self, end: int, line_break: int, final: bool) -> int | None:
        text = self._tail
        at = line_break
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return end if final else None
        if text[at] not in _OPENERS and text[at] != "<":
            return end
        stop = at
        while stop < len(text) and (text[stop] in _OPENERS or text[stop] == "<"):
            group = self._group(stop, final)
            if group is None and not final:
                return None
            if not group or (text[stop] != "<" and not self._is_citation(text[stop:group])):
                return end
            stop = group
            while stop < len(text) and text[stop] in _BLANK + "。.，,;；":
                stop += 1
        if stop == len(text):
            return stop if final else None
        return stop if text[stop] == "\n" else end


def _shown_marker(marker: str, indent: int) -> str:
    return " " * indent + marker.rstrip() + (" " if marker[-1].isspace() or marker.isascii() else "")
