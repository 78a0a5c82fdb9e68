"""How well one word stands in a stretch of source text: itself, an equivalent, its characters side by side."""

from __future__ import annotations

import re
from functools import lru_cache

from gyr_hybrid.answering.verification.claims import grammatical
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.stemming import stem
from gyr_hybrid.answering.verification.word_lists import FUNCTION_WORDS, LIGHT_WORDS
from gyr_hybrid.answering.verification.words import Word, words_of

STANDS = 0.6
"""Credit from which a word counts as standing in a text."""
RESULTATIVES = frozenset("出到上下了着过来去里内中为成掉完好入起")
"""Second characters that a Chinese verb or place may lose: ``放出``, ``机上``."""


MODALS = frozenset("可并会将被应须再先即")
"""First characters that a Chinese verb may gain: ``可免``, ``并处``."""

_LATIN = re.compile(r"[a-z0-9]+(?:['_./+#&-][a-z0-9]+)*[+#]*")
NOTHING = Lexicon({}, {})
"""A lexicon that knows no equivalents."""


class Target:
    """A stretch of source text, prepared for looking words up."""

    __slots__ = ("_singles", "keys", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._singles: frozenset[str] | None = None
        names = _LATIN.findall(text)
        parts = [part for name in names for part in re.split(r"['_./+#&-]+", name) if part]
        self.keys = frozenset([*names, *parts, *map(stem, names), *map(stem, parts)])

    def has(self, word: str) -> bool:
        """Whether a Chinese word stands in the text; a single character only as a word of its own."""
        if len(word) > 1 or word not in self.text:
            return word in self.text
        if self._singles is None:
            self._singles = frozenset(w.text for w in words_of(self.text) if len(w.text) == 1)
        return word in self._singles


@lru_cache(maxsize=8192)
def target_of(text: str) -> Target:
    """The prepared form of a folded text."""
    return Target(text)


def credit_of(word: Word, target: Target, lexicon: Lexicon, before: str = "", after: str = "") -> float:
    """How well one content word stands in a text, 0..1.

    1 for the word itself, 0.9 for an equivalent, 0.7 to 0.8 for its characters near one another. ``before`` and
    ``after`` are its neighbours, for a single character that the dictionary may have cut from them.
    """
    if not word.han:
        if word.key in target.keys or word.text in target.keys:
            return 1.0
        return (
            0.9 if _equivalent(word.key, target, lexicon) or _equivalent(word.text, target, lexicon) else 0.0
        )
    text = target.text
    if len(word.text) == 1:
        if not (before or after):
            if word.text in text:
                return 1.0
        elif (before and before + word.text in text) or (after and word.text + after in text):
            return 1.0
        elif (before and word.text + before in text) or (after and after + word.text in text):
            return 0.9  # ``把水加到`` for ``加水至``
        return 0.9 if _equivalent(word.text, target, lexicon) else 0.0
    if word.text in text:
        return 1.0
    if _equivalent(word.text, target, lexicon):
        return 0.9
    if word.text[0] in text and word.text[-1] in text and _loose_pattern(tuple(word.text)).search(text):
        return 0.8
    if len(word.text) > 3:
        halves = (word.text[:2], word.text[2:])
        if all(
            grammatical(h) or h in LIGHT_WORDS or h in text or _equivalent(h, target, lexicon) for h in halves
        ) and any(h in text for h in halves):
            return 0.8
    if word.text[0] in MODALS and word.text[1:] in text:
        return 0.8
    if all(c in FUNCTION_WORDS for c in word.text) and word.key not in lexicon.equivalents:
        return 0.7
    loose = _alternatives(word.text, lexicon)
    if not all(any(c in text for c in a) for a in loose):  # a cheap no for most words
        return 0.0
    return 0.7 if _loose_pattern(loose).search(text) else 0.0


def stands(word: Word, target: Target, lexicon: Lexicon = NOTHING) -> bool:
    """Whether one content word stands in a text."""
    return credit_of(word, target, lexicon) >= STANDS


@lru_cache(maxsize=8192)
def _loose_pattern(alternatives: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(".{0,2}".join(f"[{re.escape(a)}]" for a in alternatives) or r"(?!)")


def _alternatives(word: str, lexicon: Lexicon) -> tuple[str, ...]:
    """``带狗`` as ``携犬``, ``放出`` as ``放``: for each character those that may stand for it."""
    return tuple(
        char + "".join(o for o in lexicon.equivalents.get(char, ()) if len(o) == 1)
        for i, char in enumerate(word)
        if not (i and char in RESULTATIVES)
    )


def _equivalent(key: str, target: Target, lexicon: Lexicon) -> bool:
    others = lexicon.equivalents.get(key)
    if not others:
        return False
    for other in others:
        if other.isascii():
            parts = other.split()
            if all(p in target.keys for p in parts):
                return True
        elif target.has(other):
            return True
    return False
