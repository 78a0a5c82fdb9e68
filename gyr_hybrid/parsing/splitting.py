"""Cutting a span of text into consecutive pieces: by size, by separators, by meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.analysis.sentences import split_sentences
from gyr_hybrid.parsing.borders import Borders, last_border, next_border
from gyr_hybrid.parsing.sizes import Sizes

Span: TypeAlias = tuple[int, int]
Way: TypeAlias = Literal["fixed", "recursive", "semantic"]
Embed: TypeAlias = Callable[[list[str]], Sequence[Sequence[float]]]
"""Texts to their vectors."""

WINDOW = 3  # sentences before a sentence that it is compared with
NOVELTY = 0.8  # standard deviations above the mean novelty of a text where a new subject begins
_PARAGRAPH = re.compile(r"\n(?:[^\S\n]*\n)+(?=[^\S\n]*\S)")
_LINE = re.compile(r"\n(?=[^\S\n]*\S)")


class Splitter:
    """Cuts ``text[start:end]``. Pieces join to it and are cut where `Borders` allows.

    A piece fits ``limit``, unless a URL or a protected span alone does not.
    """

    def __init__(self, text: str, start: int, end: int, sizes: Sizes, limit: int, borders: Borders) -> None:
        self._text = text
        self._span = (start, end)
        self._sizes = sizes
        self._limit = limit
        self._borders = borders
        part = text[start:end]
        self._sentences = borders.allowed(first for first, _ in split_sentences(part))
        self._levels = [
            borders.allowed(match.end() for match in _PARAGRAPH.finditer(part)),
            borders.allowed(match.end() for match in _LINE.finditer(part)),
            self._sentences,
            borders.clauses,
            borders.ascii_clauses,
        ]

    def fixed(self) -> list[Span]:
        """Pieces as long as they may be, whatever stands there."""
        return list(self._fixed(*self._span))

    def recursive(self) -> list[Span]:
        """Cut at the ends of paragraphs; what is still too long at lines, sentences, clauses, tokens.

        Neighbours that fit together stay together.
        """
        return list(self._recursive(*self._span, 0))

    def semantic(self, embed: Embed) -> list[Span]:
        """Cut before a sentence that brings something new; a piece that is too long is cut recursively.

        New is a sentence whose 1 - cosine to the mean vector of the three before it exceeds the mean of the text by
        0.8 standard deviations.
        """
        start, end = self._span
        starts = [start, *self._sentences]
        if len(starts) > 2:
            spans = pairwise([*starts, end])
            novelty = _novelty(
                np.asarray(embed([self._text[s:e].strip() for s, e in spans]), dtype=np.float64)
            )
            new = novelty > novelty.mean() + NOVELTY * novelty.std()
            starts = [start, *(at for at, begins in zip(starts[1:], new, strict=True) if begins)]
        return [piece for s, e in pairwise([*starts, end]) for piece in self._recursive(s, e, 0)]

    def _fixed(self, start: int, end: int) -> Iterator[Span]:
        while not self._sizes.fits(start, end, self._limit):
            cut = last_border(self._borders.free, start, self._sizes.reach(start, self._limit))
            if cut is None:
                cut = next_border(self._borders.free, start)
            if cut is None or cut >= end:
                break
            yield start, cut
            start = cut
        yield start, end

    def _recursive(self, start: int, end: int, level: int) -> Iterator[Span]:
        if self._sizes.fits(start, end, self._limit):
            yield start, end
            return
        if level == len(self._levels):
            yield from self._fixed(start, end)
            return
        begin = start
        for first, after in pairwise([start, *_between(self._levels[level], start, end), end]):
            if self._sizes.fits(begin, after, self._limit):
                continue
            if begin < first:
                yield begin, first
            begin = first
            if not self._sizes.fits(first, after, self._limit):
                yield from self._recursive(first, after, level + 1)
                begin = after
        if begin < end:
            yield begin, end


def _between(borders: list[int], start: int, end: int) -> Iterator[int]:
    at = next_border(borders, start)
    while at is not None and at < end:
        yield at
        at = next_border(borders, at)


def _novelty(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - cosine of each row but the first to the mean of the rows before it, at most `WINDOW` of them."""
    sums = np.cumsum(np.vstack([np.zeros_like(vectors[:1]), vectors]), axis=0)
    at = np.arange(1, len(vectors))
    before = sums[at] - sums[np.maximum(at - WINDOW, 0)]
    norms = np.linalg.norm(vectors[1:], axis=1) * np.linalg.norm(before, axis=1)
    cosine = (vectors[1:] * before).sum(axis=1) / np.maximum(norms, 1e-12)
    return np.asarray(1 - cosine, dtype=np.float64)
