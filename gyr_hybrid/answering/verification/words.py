"""Content words of a sentence with their places: what a sentence says besides figures and grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from gyr_hybrid.analysis.segmentation import Segmenter
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.stemming import stem
from gyr_hybrid.answering.verification.word_lists import FUNCTION_WORDS
from gyr_hybrid.figures import bound_words, even_fold, find_figures

_TOKEN = re.compile(r"[a-z0-9]+(?:['_./+#&-][a-z0-9]+)*[+#]*|[\u3400-\u9fff]+")

_LIMITING = re.compile(r"([最至][多少])")
_PARTY = frozenset("人者方员商")
_AFTER_FIGURE = frozenset("前后内起止里中")
"""Characters that belong to the figure before them and to no word after it: ``30 日后退还``."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word at a place; ``key`` is its stem if English, the word itself otherwise."""

    text: str
    key: str
    start: int
    end: int

    @property
    def han(self) -> bool:
        """Whether it is Chinese."""
        return not self.text.isascii()


@cache
def _segmenter() -> Segmenter:
    return Segmenter([(word, None) for word in sorted(_vocabulary())])


@cache
def _vocabulary() -> frozenset[str]:
    """Chinese words of the word lists, which the dictionary must not cut apart."""
    known = Lexicon.builtin()
    listed = {w for w in (*known.equivalents, *known.contrasts) if w[0] not in "不没未无"}
    words = FUNCTION_WORDS | listed
    return frozenset(w for w in words if len(w) > 1 and not w.isascii())


def _cut(text: str) -> Iterator[Word]:
    for found in _TOKEN.finditer(text):
        token, start = found.group(), found.start()
        if token.isascii():
            parts = re.split(r"[-/]", token) if re.fullmatch(r"[a-z]+(?:[-/][a-z]+)+", token) else [token]
            for part in parts:
                place = start + token.find(part) if len(parts) > 1 else start
                yield Word(part, stem(part), place, place + len(part))
            continue
        for part in _LIMITING.split(token):  # the dictionary reads ``最多重试`` as ``最 多重 试``
            for piece in _pieces(part):
                yield Word(piece, piece, start, start + len(piece))
                start += len(piece)


_DENIED = re.compile(
    r"[不未没无](?![但仅管论同断久一等妨如禁愧便良利足满到来限线是会能得可要用需有法须必])(?!人机|成年|动产|可抗力|锈钢|定[期时])[\u3400-\u9fff]+"
)
"""A negator that the dictionary keeps in one word with what it denies: ``不起作用``, ``未归还``."""


def _pieces(token: str) -> Iterator[str]:
    for piece in _joined(_segmenter().words(token)):
        if len(piece) > 1 and _DENIED.fullmatch(piece) and piece not in _vocabulary():
            yield piece[0]
            yield piece[1:]
        else:
            yield piece


def _joined(pieces: list[str]) -> Iterator[str]:
    """Pieces with the suffix of a party joined to its word: ``存货`` ``人`` is ``存货人``."""
    held = ""
    for piece in pieces:
        if len(held) > 1 and piece in _PARTY and held not in _vocabulary():
            yield held + piece
            held = ""
            continue
        if held:
            yield held
        held = piece
    if held:
        yield held


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[Word, ...]:
    """All words of ``text`` outside its figures, in order; offsets are those of ``text``."""
    taken, folded = bytearray(len(text)), even_fold(text)
    for figure in find_figures(text):
        if not figure.weak or figure.kind not in ("duration", "ordinal"):
            end = figure.end + (text[figure.end : figure.end + 1] in _AFTER_FIGURE)
            limit = bound_words(folded, figure.start) if figure.bound else (figure.start, figure.start)
            for low, high in (limit, (figure.start, end)):
                taken[low:high] = b"\x01" * (high - low)
    blanked = "".join("\x00" if taken[i] else c for i, c in enumerate(folded))
    return tuple(_cut(blanked))
