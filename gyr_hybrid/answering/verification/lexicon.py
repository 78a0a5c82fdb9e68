"""Words that say the same, exclude one another, claim everything or claim nothing.

Names, plans, roles and codes are compared as they stand; no similarity stands in for knowledge. What words mean
the same, and which contrast, is told by three sources: the groups shipped here, files of the index's owner, and
the enumerations that the documents themselves make (columns of a table, heads of a list, parallel clauses).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from gyr_hybrid.analysis.word_lists import (
    CONTRASTS_FILE,
    SYNONYMS_FILE,
    Entry,
    entries_of,
    groups_of,
    read_entries,
)
from gyr_hybrid.answering.verification.stemming import stem
from gyr_hybrid.figures import even_fold

_EXAMPLES = {
    "synonyms": "`退款, 退钱` or `坏, 破损 -> 质量问题`",
    "contrasts": "words of which only one can be meant: `买家, 卖家`",
}


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What one knowledge base knows about its words. Keys are folded, English ones stemmed word by word."""

    equivalents: Mapping[str, frozenset[str]]
    """Word -> other words that say the same."""
    contrasts: Mapping[str, frozenset[str]]
    """Word -> words that exclude it."""

    @classmethod
    def builtin(cls) -> Lexicon:
        """The groups shipped with the package."""
        return _builtin()

    @classmethod
    def from_lines(cls, *, synonyms: Iterable[str] = (), contrasts: Iterable[str] = ()) -> Lexicon:
        """The shipped groups and the owner's: ``退款, 退钱``; ``坏, 破损 -> 质量问题``; contrasts ``买家, 卖家``."""
        return cls._with(entries_of(synonyms, "synonyms"), entries_of(contrasts, "contrasts"))

    @classmethod
    def _with(cls, synonyms: Iterable[Entry], contrasts: Iterable[Entry]) -> Lexicon:
        built = _builtin()
        return cls(
            _join(built.equivalents, _pairs(synonyms, "synonyms")),
            _join(built.contrasts, _pairs(contrasts, "contrasts")),
        )

    @classmethod
    def from_folder(cls, folder: str | Path) -> Lexicon:
        """The shipped groups and those of ``synonyms.txt`` and ``contrast.txt`` in ``folder``, if there."""
        return cls.from_files(*(Path(folder) / name for name in (SYNONYMS_FILE, CONTRASTS_FILE)))

    @classmethod
    def from_files(cls, synonyms: str | Path | Iterable[str] | None, contrasts: str | Path | None) -> Lexicon:
        """The shipped groups and those of two files, or lines of synonyms; a file that is not there is empty."""
        return cls._with(_entries(synonyms, "synonyms"), _entries(contrasts, "contrasts"))

    def with_contrasts(self, groups: Iterable[Iterable[str]]) -> Lexicon:
        """The same with further groups of words that exclude one another, such as mined ones."""
        pairs: dict[str, set[str]] = {}
        for group in groups:
            words = {key_of(w) for w in group}
            for word in words:
                pairs.setdefault(word, set()).update(words - {word})
        return replace(self, contrasts=_join(self.contrasts, pairs)) if pairs else self


def _entries(source: str | Path | Iterable[str] | None, name: str) -> list[Entry]:
    if isinstance(source, str | Path):
        return read_entries(Path(source))
    return entries_of(source or (), name)


def key_of(phrase: str) -> str:
    """Folded form that words are looked up by, English words stemmed."""
    folded = even_fold(phrase.strip())
    if not folded.isascii():
        return folded
    return " ".join(stem(w) for w in folded.split())


def _pairs(entries: Iterable[Entry], kind: str) -> dict[str, set[str]]:
    pairs: dict[str, set[str]] = {}
    for entry in entries:
        sides = [list(map(key_of, side)) for side in groups_of(entry, _EXAMPLES[kind])]
        for word in sides[0]:
            others = sides[1] if len(sides) == 2 else [w for w in sides[0] if w != word]
            pairs.setdefault(word, set()).update(others)
    return pairs


def _join(base: Mapping[str, frozenset[str]], more: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    return {**base, **{w: base.get(w, frozenset()) | o for w, o in more.items()}}


@cache
def _builtin() -> Lexicon:
    def shipped(name: str) -> list[Entry]:
        return read_entries(Path(__file__).with_name(name))

    return Lexicon(
        _join({}, _pairs(shipped("equivalents.txt"), "synonyms")),
        _join({}, _pairs(shipped("contrasts.txt"), "contrasts")),
    )
