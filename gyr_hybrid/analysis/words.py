"""Words as tokens: English stems, the tokens of a piece."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from gyr_hybrid.analysis.pieces import Piece
from gyr_hybrid.analysis.strength import Strength

_PARTS = re.compile(r"[^\W_]+")
_RUNS = re.compile(r"[^\W\d_]+|\d+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_COMMAS = re.compile(r"(?<=\d),(?=\d{3})")


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Snowball (English) stem of a lower-case word; other scripts stay.

    >>> stem("retries")
    'retri'
    """
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    stemmed: str = _stemmer().stemWord(word)
    return stemmed


def piece_tokens(piece: Piece) -> tuple[str, ...]:
    """Index tokens of a piece: the whole first, then compact form, inner number, parts, stems."""
    return _tokens_of(piece.at(-piece.start))


@lru_cache(maxsize=1 << 16)
def _tokens_of(piece: Piece) -> tuple[str, ...]:
    if piece.kind == "link":
        return ()
    if piece.strength is Strength.WORD:
        return _word_tokens(piece.canonical)
    if piece.strength is Strength.VALUE:
        plain = _COMMAS.sub("", piece.canonical)
        return (plain,) if plain == piece.canonical else (piece.canonical, plain)
    if piece.strength is Strength.NUMBER:
        return (piece.canonical,)
    tokens = [piece.canonical]
    if piece.compact != piece.canonical:
        tokens.append(piece.compact)
    if piece.kind == "ordinal":
        article = piece.canonical.partition("条")
        whole = "".join(article[:2])
        return (piece.canonical,) if whole == piece.canonical or not article[1] else (piece.canonical, whole)
    parts = _PARTS.findall(piece.canonical)
    if piece.number and piece.number != piece.canonical and piece.number not in parts:
        tokens.append(piece.number)
    if piece.kind != "version":
        if len(parts) == 1 and piece.kind in ("name", "code") and piece.text != piece.canonical:
            parts = [hump.lower() for hump in _HUMPS.findall(piece.text)] if piece.kind == "name" else []
        if len(parts) > 1:
            for part in parts:
                tokens += _word_tokens(part) if part.isalpha() and len(part) > 2 else (part,)
        elif piece.strength < Strength.STRONG:
            tokens += [
                run
                for run in _RUNS.findall(piece.canonical)
                if len(run) > 2 and run.isalpha() and run != piece.canonical
            ]
    return tuple(tokens)


def _word_tokens(word: str) -> tuple[str, ...]:
    stemmed = stem(word)
    return (word,) if stemmed == word else (word, stemmed)
