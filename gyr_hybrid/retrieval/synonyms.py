"""Meet the user's words: groups of words that say the same, applied to the question only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gyr_hybrid.analysis import Analyzer, fold
from gyr_hybrid.analysis.word_lists import Entry, entries_of, groups_of, read_entries
from gyr_hybrid.errors import ConfigurationError

SYNONYM_WEIGHT = 0.5
"""Weight of a synonym's token beside 1 for the user's own word."""

_EXAMPLE = "`退款, 退钱` or `坏, 破损 -> 质量问题`"

Rules = tuple[tuple[str, tuple[str, ...]], ...]
"""(word as the user writes it, words that the documents may use instead), longest word first."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """What the synonyms add to one question."""

    weights: Mapping[str, float]
    """Token -> query weight, tokens of the question itself left out."""
    equivalents: Mapping[str, frozenset[str]]
    """Content word of the question -> tokens that also count as it."""
    words: tuple[tuple[str, tuple[str, ...]], ...]
    """(word found in the question, what it was widened to), for ``explain``."""


def parse_synonyms(lines: Iterable[str], name: str = "synonyms") -> Rules:
    """Read groups: ``退款, 退钱`` (each means the others) or ``坏, 破损 -> 质量问题`` (left to right only).

    Empty lines and lines that begin with ``#`` are passed over. ``name`` is said, with the number of the line, of
    one that cannot be read.

    >>> parse_synonyms(["坏, 破损 -> 质量问题"])
    (('破损', ('质量问题',)), ('坏', ('质量问题',)))
    """
    return _rules(entries_of(lines, name))


def _rules(entries: Iterable[Entry]) -> Rules:
    rules: dict[str, dict[str, None]] = {}
    for entry in entries:
        sides = [list(map(fold, side)) for side in groups_of(entry, _EXAMPLE)]
        for word in sides[0]:
            others = sides[1] if len(sides) == 2 else [w for w in sides[0] if w != word]
            rules.setdefault(word, {}).update(dict.fromkeys(others))
    return tuple(sorted(((w, tuple(o)) for w, o in rules.items()), key=lambda r: (-len(r[0]), r[0])))


@lru_cache(maxsize=1)
def shipped_synonyms() -> Rules:
    """The general groups that come with the package."""
    return parse_synonyms(Path(__file__).with_name("synonyms.txt").read_text(encoding="utf-8").splitlines())


def load_synonyms(source: str | Path | Iterable[str] | None) -> Rules:
    """The shipped groups plus the owner's: a file, or lines as such a file has."""
    if source is None:
        return shipped_synonyms()
    if isinstance(source, str | Path):
        if not Path(source).is_file():
            raise ConfigurationError(
                f"synonyms: there is no file {str(source)!r}; give its path, or its lines"
            )
        own = _rules(read_entries(Path(source)))
    else:
        own = parse_synonyms(source)
    merged: dict[str, dict[str, None]] = {}
    for word, others in (*own, *shipped_synonyms()):
        merged.setdefault(word, {}).update(dict.fromkeys(others))
    return tuple(sorted(((w, tuple(o)) for w, o in merged.items()), key=lambda r: (-len(r[0]), r[0])))


def expand(question: str, rules: Rules, analyzer: Analyzer) -> Expansion:
    """Find the words of the rules in a question, longest first and without overlap."""
    text = fold(question)
    taken = [False] * len(text)
    found: list[tuple[str, tuple[str, ...]]] = []
    for word, others in rules:
        start = text.find(word)
        while start >= 0:
            end = start + len(word)
            if not any(taken[start:end]) and _at_borders(text, start, end):
                taken[start:end] = [True] * len(word)
                found.append((word, others))
            start = text.find(word, end)
    own = set(analyzer.query_tokens(question))
    weights: dict[str, float] = {}
    equivalents: dict[str, set[str]] = {}
    for word, others in found:
        # in order: sums of 32-bit scores differ in the last digits with the order of the words
        tokens = dict.fromkeys(token for other in others for token in analyzer.tokens(other))
        weights.update((token, SYNONYM_WEIGHT) for token in tokens if token not in own)
        for content in analyzer.content_words(word):
            equivalents.setdefault(content, set()).update(tokens)
    return Expansion(weights, {w: frozenset(t) for w, t in equivalents.items()}, tuple(found))


def _at_borders(text: str, start: int, end: int) -> bool:
    """A Latin word must stand alone; Chinese words need no border."""

    def latin(char: str) -> bool:
        return char.isascii() and char.isalnum()

    left = start > 0 and latin(text[start]) and latin(text[start - 1])
    right = end < len(text) and latin(text[end - 1]) and latin(text[end])
    return not (left or right)
