"""Put the units that passed back together: separators, list numbers, lead-ins, table heads, labels.

A label stands right after a sentence's final punctuation, at the end of a list item, inside the last cell of a
table row, and on its own line after a code block.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gyr_hybrid.answering.enforcement.units import Unit

_GAPS = ("", " ", "\n", "\n\n")
_NUMBERED = re.compile(r"(\s*)(\d{1,3})([.)．）、].*)", re.DOTALL)
_INSIDE = 1_000
"""Level of rows, code and table heads: deeper than any list."""


@dataclass(slots=True)
class _Lead:
    unit: Unit
    level: int
    gap: str
    text: str
    began: bool = False
    """Whether something of what follows was seen already."""
    listed: bool = False
    """Whether that was a list, a table or code."""
    shown: bool = False


class Composer:
    """Builds the text of one answer, piece by piece; pieces joined are the text."""

    def __init__(self) -> None:
        self._shown = False
        self._gap = ""
        self._leads: list[_Lead] = []
        self._numbers: dict[int, int] = {}

    def enter(self, unit: Unit) -> None:
        """Take note of a unit, whatever becomes of it: lead-ins whose reach ends here are forgotten."""
        level = _level(unit)
        number = _NUMBERED.match(unit.marker)
        if number and number.group(2) == "1":
            self._numbers[unit.level] = 0
        kept: list[_Lead] = []
        for lead in self._leads:
            if self._reaches(lead, unit, level):
                lead.began = True
                lead.listed = lead.listed or level >= 0
                kept.append(lead)
            elif not lead.shown:
                self._gap = _wider(lead.gap, self._gap)
        self._leads = kept
        self._gap = _wider(self._gap, unit.before)

    @staticmethod
    def _reaches(lead: _Lead, unit: Unit, level: int) -> bool:
        if unit.kind in ("heading", "rule"):
            return False
        if lead.level == _INSIDE:
            return unit.kind == "row"
        if level >= 0:
            return level > lead.level
        if lead.level >= 0:
            return unit.before != "\n\n" and not lead.listed
        return not lead.listed and not (lead.began and unit.before == "\n\n")

    def lead(self, unit: Unit, text: str) -> None:
        """Keep a lead-in or a table's head until something of what follows is shown."""
        level = _INSIDE if unit.kind == "header" else unit.level
        self._leads.append(_Lead(unit, level, self._gap, text))
        self._gap = ""

    @property
    def lead_text(self) -> str:
        """The lead-ins, shown or not, that the current unit hangs on."""
        return "".join(lead.text for lead in self._leads if lead.level != _INSIDE)

    def show(self, unit: Unit, text: str, labels: str = "", suffix: str = "") -> str:
        """The piece of the answer that shows ``text`` with its labels and what must stand before it."""
        out = ""
        for lead in self._leads:
            if not lead.shown:
                out += (lead.gap if self._shown else "") + self._marker(lead.unit) + lead.text
                lead.shown = self._shown = True
        out += (
            (self._gap if self._shown else "")
            + self._marker(unit)
            + labelled(unit.kind, text, labels + suffix)
        )
        self._shown = True
        self._gap = "\n\n" if unit.kind == "code" else ""
        return out

    def more(self, text: str, labels: str = "", suffix: str = "") -> str:
        """A further sentence in the same place."""
        return labelled("sentence", text, labels + suffix)

    def _marker(self, unit: Unit) -> str:
        number = _NUMBERED.match(unit.marker)
        if number is None:
            return unit.marker
        self._numbers[unit.level] = self._numbers.get(unit.level, 0) + 1
        return f"{number.group(1)}{self._numbers[unit.level]}{number.group(3)}"


def labelled(kind: str, text: str, labels: str) -> str:
    """``text`` with its labels where they belong.

    >>> labelled("row", "| E1042 | 换模板 |", "[kb-010#2]")
    '| E1042 | 换模板 [kb-010#2] |'
    """
    if not labels:
        return text
    if kind == "code":
        return f"{text}\n{labels}"
    if kind == "row" and text.rstrip().endswith("|"):
        return f"{text.rstrip()[:-1].rstrip()} {labels} |"
    return text.rstrip() + labels


def _level(unit: Unit) -> int:
    if unit.kind in ("row", "code", "header"):
        return _INSIDE - 1
    return unit.level


def _wider(a: str, b: str) -> str:
    return max(a, b, key=_GAPS.index)
