"""The numbers that Word shows before numbered paragraphs, which are not part of their text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DIGITS = "零一二三四五六七八九"
_UNITS = ("", "十", "百", "千")


@dataclass(frozen=True, slots=True)
class Number:
    """The number of one paragraph."""

    text: str
    """As Word shows it: ``1.``, ``第三条``, ``（一）``; empty for a bullet."""
    level: int
    """0 is the outermost."""
    is_list: bool
    """It reads like the marker of a list item: a bullet, ``1.``, ``a)``."""


@dataclass(frozen=True, slots=True)
class _Level:
    format: str
    template: str
    start: int


class Numbering:
    """Counts through a document; ask for each numbered paragraph once, in order."""

    def __init__(self, document: Any) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, str] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        try:
            root = document.part.numbering_part.element
        except (KeyError, NotImplementedError):
            return
        for abstract in root.iter(f"{_W}abstractNum"):
            levels = {int(level.get(f"{_W}ilvl")): _level(level) for level in abstract.iter(f"{_W}lvl")}
            self._levels[abstract.get(f"{_W}abstractNumId")] = levels
        for num in root.iter(f"{_W}num"):
            abstract_id = num.find(f"{_W}abstractNumId")
            if abstract_id is not None:
                self._lists[num.get(f"{_W}numId")] = abstract_id.get(f"{_W}val")

    def next(self, paragraph: Any, styles: Sequence[Any]) -> Number | None:
        """The number of ``paragraph``, whose style and the styles it is based on are ``styles``."""
        num_id, level = None, None
        for element in (paragraph, *styles):
            found = element.find(f"{_W}pPr/{_W}numPr")
            if found is not None:
                num_id = num_id or _value(found, "numId")
                level = level or _value(found, "ilvl")
        if num_id is None or num_id == "0" or num_id not in self._lists:
            return None
        abstract, depth = self._lists[num_id], int(level or 0)
        levels = self._levels.get(abstract, {})
        if depth not in levels:
            return None
        counts = self._counts[abstract]
        counts[depth] = counts.get(depth, levels[depth].start - 1) + 1
        for deeper in [d for d in counts if d > depth]:
            del counts[deeper]
        if levels[depth].format in ("bullet", "none"):
            return Number("", depth, True)
        text = re.sub(
            r"%(\d)", lambda match: _shown(levels, counts, int(match[1]) - 1), levels[depth].template
        )
        return Number(text, depth, re.fullmatch(r"\w{1,3}[.)]", text, re.ASCII) is not None)


def _level(element: Any) -> _Level:
    return _Level(
        format=_value(element, "numFmt") or "decimal",
        template=_value(element, "lvlText") or "",
        start=int(_value(element, "start") or 1),
    )


def _shown(levels: dict[int, _Level], counts: dict[int, int], depth: int) -> str:
    level = levels.get(depth)
    if level is None:
        return ""
    return _FORMATS.get(level.format, str)(counts.get(depth, level.start))


def chinese(number: int) -> str:
    """``number`` below ten thousand in Chinese.

    >>> [chinese(n) for n in (3, 10, 12, 20, 105, 110)]
    ['三', '十', '十二', '二十', '一百零五', '一百一十']
    """
    if not 0 < number < 10_000:
        return str(number)
    text, gap = "", False
    for place, digit in zip(range(len(str(number)) - 1, -1, -1), map(int, str(number)), strict=True):
        if digit:
            text += ("零" if gap else "") + _DIGITS[digit] + _UNITS[place]
        gap = not digit and bool(text)
    return text.removeprefix("一") if 10 <= number < 20 else text


def _letters(number: int) -> str:
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)


def _roman(number: int) -> str:
    text = ""
    for value, sign in (
        (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
        (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
    ):  # fmt: skip
        text += sign * (number // value)
        number %= value
    return text


_FORMATS: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimalZero": lambda number: f"{number:02d}",
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "chineseCounting": chinese,
    "chineseCountingThousand": chinese,
    "chineseLegalSimplified": chinese,
    "japaneseCounting": chinese,
    "ideographDigital": chinese,
    "taiwaneseCountingThousand": chinese,
}


def _value(element: Any, name: str) -> str | None:
    found = element.find(_W + name)
    return None if found is None else found.get(f"{_W}val")
