"""What stands around a piece: class words, units, code marks, and places that define a code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from gyr_hybrid.analysis.folding import FoldedText, fold
from gyr_hybrid.analysis.script import simplify
from gyr_hybrid.analysis.vocabulary import (
    COUNTERS,
    FAMILY_WORDS,
    HARD_CLASS_WORDS,
    INSTANCE_WORDS,
    NAMING_CLASS_WORDS,
    NUMBERING_CLASS_WORDS,
    OTHER_CLASS_WORDS,
)

_COUNTER = re.compile(
    rf"\s?(?:[{COUNTERS}]|(?:{'|'.join(('rows', 'times', 'seconds', 'minutes', 'hours', 'days', 'users', 'files'))})\b)"
)
_REACH = 28  # characters in which a class word is looked for
_BLANKS = re.compile(r"[\s_-]+")
_LINE_LEAD = re.compile(r"[ \t>]*(?:#{1,6}[ \t]*|[-*+•·][ \t]+|\d{1,3}[.)、][ \t]*)?[\"'`“‘「『【《\[(*_]*")
_TAIL = re.compile(r"[\"'`”’」』】》\])*_]*[ \t]*(?:$|\n)")
_REMARK_TAIL = re.compile(r"[\"'`”’」』】》\])*_]*[ \t]*\([^()\n]{1,24}\)[\"'`*_]*[ \t]*(?:$|\n)")
_COLON_TAIL = re.compile(r"[\"'`”’」』】》\])*_]*[ \t]*(?:\([^()\n]{0,24}\))?[ \t]*:")
_CELL_TAIL = re.compile(r"[`*_\"' \t]*\|")
_CELL_LEAD = re.compile(r"[ \t]*\|[ \t`*_\"'\[]*")


class Rank(IntEnum):
    """What a class word does to what stands beside it."""

    OTHER = 0
    """It says what a code is."""
    NUMBERING = 1
    """Digits beside it are a code if the documents have it."""
    NAMING = 2
    """What looks like a code, or digits, is one."""
    HARD = 3
    """Besides, a question hangs on it."""


class Label(NamedTuple):
    """A class word beside a piece."""

    word: str
    rank: Rank
    own: bool = False
    """Whether it is one of the owner's."""


class Surroundings:
    """Class words and family words of one analyzer, looked for beside pieces."""

    def __init__(self, class_words: Sequence[str] = (), family_words: Sequence[str] = ()) -> None:
        self._ranks: dict[str, Rank] = {}
        self._own = frozenset(map(simplify, map(fold, class_words)))
        for words, rank in (
            (OTHER_CLASS_WORDS, Rank.OTHER),
            (NUMBERING_CLASS_WORDS, Rank.NUMBERING),
            (NAMING_CLASS_WORDS, Rank.NAMING),
            ((*HARD_CLASS_WORDS, *self._own), Rank.HARD),
        ):
            self._ranks.update(dict.fromkeys(words, rank))
        any_word = _alternatives([*self._ranks])
        self._before = re.compile(
            rf"({any_word})(?:号码|编号|代码|编码|号|码|名称|名|number|no\.?|code|id)?"
            r"\s*(?:是|为|叫|was|is|of)?[\s:=#]*[-+]?[\s\"'`“”‘’「『【《\[(<*_-]*$"
        )
        self._after = re.compile(
            rf"[\"'`”’」』】》)\]*]*\s*(?:这个|这种|这类|这款|的|号|类)?\s*[`]?({any_word})"
        )
        self._family = re.compile(
            r"[-_./:#]*[\"'`”’」』】》)\]*]*\s*(?:这个|这一|的)?\s*"
            rf"(?:{_alternatives([*FAMILY_WORDS, *map(simplify, map(fold, family_words))])})"
        )
        self._instance = re.compile(rf"(?:{_alternatives(INSTANCE_WORDS)})\s*(?:是|为)?[\s:=#(]*$")
        latin = [word for word, rank in self._ranks.items() if rank is Rank.HARD and word[-1].isascii()]
        self._glued = re.compile(rf"({_alternatives(latin)})(?=\d)")

    def label(self, folded: FoldedText, start: int, end: int) -> Label | None:
        """The class word beside the span; of one before and one after it, that of the higher rank."""
        best = self.label_before(folded, start)
        if (best is None or best.rank < Rank.HARD) and (
            match := self._after.match(folded.lowered, end, end + _REACH)
        ):
            after = self._label(match)
            if best is None or after.rank > best.rank:
                best = after
        return best

    def label_before(self, folded: FoldedText, start: int) -> Label | None:
        """The class word before the span."""
        match = self._before.search(folded.lowered, max(0, start - _REACH), start)
        return self._label(match) if match else None

    def _label(self, match: re.Match[str]) -> Label:
        word = match[1]
        if word not in self._ranks:
            word = _BLANKS.sub(" ", word)
        return Label(match[1], self._ranks.get(word, Rank.OTHER), word in self._own)

    def glued_word(self, folded: FoldedText, start: int, end: int) -> Label | None:
        """The class word that a span begins with before a digit: ``Ticket8842``."""
        match = self._glued.match(folded.lowered, start, end)
        return self._label(match) if match else None

    def family_word(self, folded: FoldedText, end: int) -> bool:
        """Whether a family word follows."""
        return self._family.match(folded.lowered, end, end + _REACH) is not None

    def instance_word(self, folded: FoldedText, start: int) -> bool:
        """Whether the span is a number of the asker's own (an order, a phone)."""
        return self._instance.search(folded.lowered, max(0, start - 12), start) is not None


def _alternatives(words: Sequence[str]) -> str:
    parts = []
    for word in sorted(set(words), key=lambda word: (-len(word), word)):
        escaped = re.escape(word).replace(r"\ ", r"[\s_-]?")
        left = r"(?<![a-z0-9_])" if word[0].isascii() else ""
        right = r"(?![a-z])" if word[-1].isascii() else ""
        parts.append(f"{left}{escaped}{right}")
    return "|".join(parts)


def counted(folded: FoldedText, start: int, end: int) -> bool:
    """Whether the digits are an amount, a date or a place in a row: ``3 次``, ``第 3``, ``-0.5``."""
    text = folded.lowered
    before = text[max(0, start - 2) : start]
    if (before[-1:] in "第$¥￥€£" and before) or before[-1:] == "." or before.rstrip()[-1:] == "第":
        return True
    return before_counter(folded, end)


def before_counter(folded: FoldedText, end: int) -> bool:
    """Whether what is counted follows: ``次``, ``元``, ``rows``."""
    return _COUNTER.match(folded.lowered, end) is not None


def in_code_marks(folded: FoldedText, start: int, end: int) -> bool:
    """Whether the span opens a code span: `` `gc-ttl` ``, `` `--ssl-ca=…` ``."""
    text = folded.text
    while start and text[start - 1] in "-@$%[":
        start -= 1
    return start > 0 and text[start - 1] == "`" and text.find("`", end, end + 80) >= 0


def in_heading_line(folded: FoldedText, start: int) -> bool:
    """Whether the line is an ATX heading."""
    line_start = folded.text.rfind("\n", 0, start) + 1
    return folded.text[line_start : line_start + 8].lstrip(" >").startswith("#")


def defines(folded: FoldedText, start: int, end: int, label_start: int = -1) -> bool:
    """Whether the place defines a code: first cell, ``CODE：`` at the head of a line, ``**CODE**``.

    ``label_start`` is where the code's class word begins, -1 without one: ``* Error Number: 8001 (HY000)`` defines 8001.
    """
    text = folded.text
    line_start = text.rfind("\n", 0, start) + 1
    if text.startswith("**", max(0, start - 2)) and start >= 2 and text.startswith("**", end):
        return True
    if text.startswith("**`", max(0, start - 3)) and start >= 3 and text.startswith("`**", end):
        return True
    if cell := _CELL_LEAD.match(text, line_start):
        return "|" not in text[cell.end() : start]
    lead = _LINE_LEAD.match(text, line_start)
    first = lead is not None and lead.end() >= (label_start if label_start >= line_start else start)
    return first and any(tail.match(text, end) for tail in (_TAIL, _REMARK_TAIL, _COLON_TAIL))


def whole_place(folded: FoldedText, start: int, end: int) -> bool:
    """Whether the span is all of its line, heading, bold run or first cell."""
    text = folded.text
    line_start = text.rfind("\n", 0, start) + 1
    if cell := _CELL_LEAD.match(text, line_start):
        return cell.end() == start and _CELL_TAIL.match(text, end) is not None
    lead = _LINE_LEAD.match(text, line_start)
    return lead is not None and lead.end() == start and _TAIL.match(text, end) is not None


def ends_labelled_line(folded: FoldedText, start: int, end: int) -> bool:
    """Whether a colon or an equals sign stands before the span and the line or cell ends after it."""
    before = folded.text[max(0, start - 6) : start].rstrip(" \t\"'`*_[(“‘「『【《")
    return (
        before[-1:] in (":", "=")
        and (_TAIL.match(folded.text, end) or _CELL_TAIL.match(folded.text, end)) is not None
    )
