"""A text as tokens: codes and runs as their pieces, Chinese words with the words inside them, kana in pairs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from gyr_hybrid.analysis.recognition import Recognizer
from gyr_hybrid.analysis.segmentation import Segmenter
from gyr_hybrid.analysis.vocabulary import QUESTION_WORDS
from gyr_hybrid.analysis.words import piece_tokens

HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_KANA = re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f]+")
_WORDS_KEPT = 1 << 16


class _Word(NamedTuple):
    """What a Chinese word adds to the tokens of a text."""

    tokens: tuple[str, ...]
    """The word, then the dictionary words inside it."""
    first: str
    """Its characters at the borders; empty for a word without weight."""
    last: str


class Tokenizer:
    """Cuts texts into tokens; one object serves documents and questions."""

    def __init__(self, recognizer: Recognizer, segmenter: Segmenter, stop_words: Collection[str]) -> None:
        self._recognizer = recognizer
        self._segmenter = segmenter
        self._stop_words = stop_words
        self._words: dict[str, _Word] = {}

    def tokens(self, text: str) -> list[str]:
        """Index tokens, repeats kept: codes whole and in parts, words with the words inside them, English stems.

        Where two Chinese words that carry meaning meet, the two characters at the border are a token too; they
        catch names that the dictionary lacks.
        """
        scan = self._recognizer.scan(text)
        low = scan.folded.lowered
        tokens: list[str] = []
        position = 0
        for piece in scan.pieces:
            if piece.start > position:
                self._add_words(low[position : piece.start], tokens)
            tokens += piece_tokens(piece)
            position = piece.end
        if position < len(low):
            self._add_words(low[position:], tokens)
        return tokens

    def query_tokens(self, text: str) -> list[str]:
        """Tokens of a question: stop words and question words dropped when something else remains."""
        tokens = self.tokens(text)
        return [token for token in tokens if not self._weightless(token)] or tokens

    def content_words(self, text: str) -> list[str]:
        """Words of a question that carry meaning, each once, in the form in which ``terms`` holds them.

        A long word counts as the dictionary words that it falls into; an English word as its stem; a code as its
        canonical form.
        """
        words: dict[str, None] = {}
        for group in self._groups(text):
            if not group:
                continue
            stemmed = group[0].isascii() and group[0].isalpha() and len(group) == 2
            for word in _finest(group) if HAN.match(group[0]) else [group[-1] if stemmed else group[0]]:
                if not self._weightless(word) and not self._weightless(group[0]):
                    words.setdefault(word)
        return list(words)

    def terms(self, text: str) -> set[str]:
        """What a section says, to look for content words in: its tokens without those of word borders."""
        return {token for group in self._groups(text) for token in group}

    def _weightless(self, token: str) -> bool:
        return token in self._stop_words or token in QUESTION_WORDS

    def _groups(self, text: str) -> Iterator[Sequence[str]]:
        """Tokens of each piece and of each word between pieces, the whole first."""
        scan = self._recognizer.scan(text)
        low = scan.folded.lowered
        position = 0
        for piece in scan.pieces:
            if piece.start > position:
                yield from self._plain(low[position : piece.start])
            yield piece_tokens(piece)
            position = piece.end
        if position < len(low):
            yield from self._plain(low[position:])

    def _plain(self, text: str) -> Iterator[Sequence[str]]:
        for run in HAN.findall(text):
            for word in self._segmenter.words(run):
                yield (self._words.get(word) or self._look_up(word)).tokens
        for run in _KANA.findall(text):
            yield from ((token,) for token in _kana_tokens(run))

    def _add_words(self, text: str, tokens: list[str]) -> None:
        """The tokens of words between pieces, and those of the borders between words."""
        known = self._words
        for run in HAN.findall(text):
            before = ""
            for word in self._segmenter.words(run):
                inside, first, last = known.get(word) or self._look_up(word)
                tokens += inside
                if before and first:
                    tokens.append(before + first)
                before = last
        for run in _KANA.findall(text):
            tokens += _kana_tokens(run)

    def _look_up(self, word: str) -> _Word:
        tokens = (word, *self._segmenter.inside(word)) if len(word) > 2 else (word,)
        found = _Word(tokens, "", "") if self._weightless(word) else _Word(tokens, word[0], word[-1])
        if len(self._words) >= _WORDS_KEPT:
            self._words.clear()
        self._words[word] = found
        return found


def _kana_tokens(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


def _finest(group: Sequence[str]) -> Sequence[str]:
    """The dictionary words that a word falls into without rest or overlap, else the word."""
    word, *inner = group
    tiles: dict[int, list[str]] = {0: []}
    for at in range(len(word)):
        if at in tiles:
            for part in inner:
                if word.startswith(part, at):
                    tiles.setdefault(at + len(part), [*tiles[at], part])
    return tiles.get(len(word)) or [word]
