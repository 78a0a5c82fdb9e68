"""Bracket groups of an answer that is still arriving: what is one, what cites, what stands behind a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable

_GROUP_LIMIT = 400
"""Longest bracket group that is waited for."""
_QUOTE_TAG = re.compile(r"<(quote|q)>.*?</\1>", re.IGNORECASE | re.DOTALL)
OPENERS = {"[": "]", "【": "】", "［": "］", "〔": "〕", "(": ")", "（": "）"}
_BLANK = " \t\u3000\xa0"


class Labels:
    """Finds the citations behind a place of a text.

    Args:
        is_citation: whether a bracket group such as ``[kb-002#1]`` cites a source.
    """

    def __init__(self, is_citation: Callable[[str], bool]) -> None:
        self.is_citation = is_citation

    def group(self, text: str, at: int, final: bool) -> int | None:
        """End of the bracket group or quote tag that opens at ``at``; 0 if it is none, None if it may still close."""
        if text[at] == "<":
            head = text[at : at + 7].lower()
            if not any(tag.startswith(head[: len(tag)]) for tag in ("<quote>", "<q>")):
                return 0
            if found := _QUOTE_TAG.match(text, at):
                return found.end()
            return None if len(text) - at < 4 * _GROUP_LIMIT else 0
        depth = 0
        opener, closer = text[at], OPENERS[text[at]]
        for i in range(at, min(len(text), at + _GROUP_LIMIT)):
            if text[i] == "\n":
                return 0
            depth += (text[i] == opener) - (text[i] == closer)
            if depth == 0:
                return _with_link(text, i + 1, final) if closer == "]" else i + 1
        return None if len(text) - at < _GROUP_LIMIT else 0

    def after(self, text: str, end: int, final: bool) -> int | None:
        """``end`` moved behind the citations that follow, on the same line or alone on the next one."""
        while True:
            at = end
            while at < len(text) and text[at] in _BLANK:
                at += 1
            if at == len(text):
                return end if final else None
            if text[at] == "\n":
                return self._on_next_line(text, end, at, final)
            if text[at] not in OPENERS and text[at] != "<":
                return end
            group = self.group(text, at, final)
            if group is None:
                if final:
                    return end
                return None
            if not group or (text[at] != "<" and not self.is_citation(text[at:group])):
                return end
            end = group
            while end < len(text) and text[end] in "。.，,":
                end += 1
            if end == len(text) and not final:
                return None

    def _on_next_line(self, text: str, end: int, line_break: int, final: bool) -> int | None:
        at = line_break
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return end if final else None
        if text[at] not in OPENERS and text[at] != "<":
            return end
        stop = at
        while stop < len(text) and (text[stop] in OPENERS or text[stop] == "<"):
            group = self.group(text, stop, final)
            if group is None and not final:
                return None
            if not group or (text[stop] != "<" and not self.is_citation(text[stop:group])):
                return end
            stop = group
            while stop < len(text) and text[stop] in _BLANK + "。.，,;；":
                stop += 1
        if stop == len(text):
            return stop if final else None
        return stop if text[stop] == "\n" else end


def _with_link(text: str, end: int, final: bool) -> int | None:
    """``end`` moved behind ``(https://…)``."""
    head = text[end : end + 5]
    if not "(http".startswith(head):
        return end
    if len(head) < 5 and not final:
        return None
    close = text.find(")", end) if head == "(http" else -1
    if head == "(http" and close < 0 and not final and len(text) - end < _GROUP_LIMIT:
        return None
    return close + 1 if close > 0 else end
