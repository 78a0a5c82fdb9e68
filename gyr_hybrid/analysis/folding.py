"""Folding: one form for the widths, cases and dashes in which people type the same thing."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from gyr_hybrid.analysis.script import simplify

DASHES = "-‐‑‒–—―⁃−﹘﹣－➖─"
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"


class _Folds(dict[int, str]):
    """Code point -> its folded text, filled as characters are met; ``resized`` holds those of other lengths."""

    def __init__(self) -> None:
        super().__init__()
        self.resized: set[str] = set()

    def __missing__(self, code_point: int) -> str:
        character = chr(code_point)
        if character in DASHES:
            folded = "-"
        elif character in INVISIBLE:
            folded = ""
        else:
            folded = "".join(
                "-" if part in DASHES else part for part in unicodedata.normalize("NFKC", character)
            )
        if len(folded) != 1:
            self.resized.add(character)
        self[code_point] = folded
        return folded


class _Lowered(dict[int, str]):
    """Code point -> lower case, where that is one character."""

    def __missing__(self, code_point: int) -> str:
        lower = chr(code_point).lower()
        self[code_point] = result = lower if len(lower) == 1 else chr(code_point)
        return result


_FOLDS = _Folds()
_LOWERED = _Lowered()


@cache
def _changing() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Characters that may fold to something else, and those that may fold to another length.

    A pattern looks for them several times faster than ``str.translate`` looks up every character. Beyond the
    Basic Multilingual Plane all characters may.
    """
    plane = map(chr, range(0x10000))
    likely = [c for c in plane if not unicodedata.is_normalized("NFKC", c) or c in DASHES or c in INVISIBLE]
    changed = [char for char in likely if _FOLDS[ord(char)] != char]
    resized = [char for char in changed if char in _FOLDS.resized]
    return _any_of(changed), _any_of(resized)


def _any_of(characters: list[str]) -> re.Pattern[str]:
    return re.compile(f"[{''.join(map(re.escape, characters))}\U00010000-\U0010ffff]")


def _folded(match: re.Match[str]) -> str:
    return _FOLDS[ord(match[0])]


def lower(text: str) -> str:
    """Lower case of the same length (``İ`` stays)."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_LOWERED)


def fold(text: str) -> str:
    """NFKC, lower case, every dash to ``-``; the length may change.

    >>> fold("Ｅ–１０４２")
    'e-1042'
    """
    return lower(unicodedata.normalize("NFKC", text).translate(_FOLDS))


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text folded character by character, with the way back to the original's offsets."""

    text: str
    """Widths and dashes folded, case kept."""
    lowered: str
    """The same in lower case and Simplified script; same length as ``text``."""
    origins: tuple[int, ...] | None
    """Original offset of each folded character and of the end; None when they are equal."""

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Span of the original text that ``text[start:end]`` was folded from."""
        if self.origins is None:
            return start, end
        if start == end:
            return self.origins[start], self.origins[start]
        return self.origins[start], self.origins[end - 1] + 1


def fold_with_offsets(text: str) -> FoldedText:
    """Fold ``text`` and keep, for every folded character, the offset it came from."""
    if text.isascii():
        return FoldedText(text, text.lower(), None)
    changed, resized = _changing()
    folded = changed.sub(_folded, text)
    if not resized.search(text) or _FOLDS.resized.isdisjoint(text):
        return FoldedText(folded, simplify(lower(folded)), None)
    origins = [offset for offset, character in enumerate(text) for _ in _FOLDS[ord(character)]]
    return FoldedText(folded, simplify(lower(folded)), (*origins, len(text)))
