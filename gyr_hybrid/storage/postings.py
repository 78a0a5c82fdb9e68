"""Which children hold which terms, in compressed sparse rows, and BM25 over them.

Postings are kept in immutable segments: a large one and ever smaller ones behind it. A commit adds a small
segment; neighbours of like size are merged, so there are never more than a handful. Deleted children stay
until their segment is merged and are masked until then. Document frequencies and lengths are those of the
live children, because both are worked out when a question is asked.

Scores are those of bm25s with ``method="lucene"``: ``idf * tf / (tf + k1 * (1 - b + b * length / average))``
with ``idf = ln(1 + (N - df + 0.5) / (df + 0.5))`` (Kamphuis et al. 2020, variant "Lucene (accurate)").
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

K1 = 1.5
B = 0.75
"""bm25s's defaults."""

MAX_FREQUENCY = 4095
"""Repeats of a term in one child that are counted; BM25 is flat long before."""

_MERGE_RATIO = 4
"""A segment is merged with the one before it unless that is at least so many times larger."""
_INDEXED_TERMS = 20_000
"""Segments with fewer terms find them in a dict, larger ones by bisection."""

Bool = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Segment:
    """Postings of a range of slots, sorted by term, then slot."""

    terms: NDArray[np.int32]
    """Distinct term ids, ascending."""
    starts: NDArray[np.int64]
    """Shape (terms + 1,): where each term's postings begin."""
    slots: NDArray[np.int32]
    frequencies: NDArray[np.uint16]
    _places: dict[int, int] = field(default_factory=dict)

    @classmethod
    def build(
        cls, terms: NDArray[np.int32], slots: NDArray[np.int32], frequencies: NDArray[np.uint16]
    ) -> Segment:
        """From rows in any order, one per (term, slot)."""
        if len(terms) and int(terms.max()) < 1 << 24 and int(slots.max()) < 1 << 28:
            # one sort of packed integers is several times faster than sorting three columns
            rows = terms.astype(np.uint64) << np.uint64(40)
            rows |= slots.astype(np.uint64) << np.uint64(12)
            rows |= frequencies.astype(np.uint64)
            rows.sort()
            frequencies = (rows & np.uint64(0xFFF)).astype(np.uint16)
            slots = ((rows >> np.uint64(12)) & np.uint64(0xFFFFFFF)).astype(np.int32)
            terms = (rows >> np.uint64(40)).astype(np.int32)
        else:
            order = np.lexsort((slots, terms))
            terms, slots, frequencies = terms[order], slots[order], frequencies[order]
        return cls._sorted(terms, slots, frequencies)

    @classmethod
    def _sorted(
        cls, terms: NDArray[np.int32], slots: NDArray[np.int32], frequencies: NDArray[np.uint16]
    ) -> Segment:
        first = np.flatnonzero(np.diff(terms, prepend=np.int32(-1)))
        distinct = terms[first]
        starts = np.append(first, len(terms)).astype(np.int64)
        places = (
            {term: i for i, term in enumerate(distinct.tolist())} if len(distinct) < _INDEXED_TERMS else {}
        )
        return cls(distinct, starts, slots, frequencies, places)

    def __len__(self) -> int:
        return len(self.slots)

    def find(self, term: int) -> tuple[int, int]:
        """Where the term's postings begin and end."""
        if self._places:
            place = self._places.get(term)
            if place is None:
                return 0, 0
        else:
            # a plain int would make numpy copy the terms as int64 first
            place = int(self.terms.searchsorted(np.int32(term)))
            if place == len(self.terms) or int(self.terms[place]) != term:
                return 0, 0
        return int(self.starts[place]), int(self.starts[place + 1])

    def merged(self, other: Segment, alive: Bool | None) -> Segment:
        """Both in one, without postings of dead slots; ``other`` holds the higher slots."""
        terms = np.concatenate([np.repeat(s.terms, np.diff(s.starts)) for s in (self, other)])
        slots = np.concatenate([self.slots, other.slots])
        frequencies = np.concatenate([self.frequencies, other.frequencies])
        if alive is not None:
            kept = alive[slots]
            terms, slots, frequencies = terms[kept], slots[kept], frequencies[kept]
        return Segment.build(terms, slots, frequencies)


def add_segment(segments: tuple[Segment, ...], new: Segment, alive: Bool | None) -> tuple[Segment, ...]:
    """The segments with one more, neighbours of like size merged."""
    if not len(new):
        return segments
    stack = [*segments, new]
    while len(stack) > 1 and len(stack[-2]) < _MERGE_RATIO * len(stack[-1]):
        last = stack.pop()
        stack[-1] = stack[-1].merged(last, alive)
    return tuple(stack)


@dataclass(frozen=True, slots=True)
class Postings:
    """BM25 over the live children of one commit."""

    segments: tuple[Segment, ...]
    lengths: NDArray[np.int32]
    """Tokens per slot, dead ones included."""
    alive: Bool | None
    """None when every slot is live."""
    n_live: int
    total_length: int
    """Tokens of the live slots."""

    def idf(self, term: int | None) -> float:
        """0 for a term that no live child has and for None."""
        df = 0 if term is None else sum(self._df(slots) for slots, _ in self._find(term))
        return self._idf(df) if df else 0.0

    def scores(
        self, weights: Mapping[int, float], visible: Bool | None, *, few: bool = False
    ) -> NDArray[np.float32]:
        """BM25 of every slot, 0 where no term matches or ``visible`` is False.

        Args:
            weights: term id -> weight in the question.
            few: whether few slots are visible, so that leaving out the others first pays.
        """
        scores = np.zeros(len(self.lengths), dtype=np.float32)
        for term, weight in weights.items():
            found = self._find(term)
            df = sum(self._df(slots) for slots, _ in found)
            if not df or not weight:
                continue
            factor = np.float32(weight * self._idf(df))
            for slots, frequencies in found:
                if few and visible is not None:
                    kept = visible[slots]
                    slots, frequencies = slots[kept], frequencies[kept]
                scores[slots] += self._saturation(slots, frequencies) * factor
        if visible is not None:
            scores[~visible] = 0.0
        elif self.alive is not None:
            scores[~self.alive] = 0.0
        return scores

    def scores_of(self, weights: Mapping[int, float], slots: NDArray[np.int32]) -> NDArray[np.float32]:
        """BM25 of the given slots."""
        terms = list(weights)
        frequencies = self.frequencies(terms, slots).astype(np.float32)
        norm = self._norm(slots)[:, None]
        factors = np.array([weights[term] * self.idf(term) for term in terms], dtype=np.float32)
        scores: NDArray[np.float32] = (frequencies / (frequencies + norm)) @ factors
        return scores

    def frequencies(self, terms: Sequence[int], slots: NDArray[np.int32]) -> NDArray[np.int32]:
        """Shape (slots, terms): how often each slot has each term."""
        table = np.zeros((len(slots), len(terms)), dtype=np.int32)
        for column, term in enumerate(terms):
            for held, frequencies in self._find(term):
                places = np.searchsorted(held, slots)
                places[places == len(held)] = 0
                table[:, column] += np.where(held[places] == slots, frequencies[places], 0)
        return table

    def _find(self, term: int) -> list[tuple[NDArray[np.int32], NDArray[np.uint16]]]:
        found = []
        for segment in self.segments:
            start, end = segment.find(term)
            if end > start:
                found.append((segment.slots[start:end], segment.frequencies[start:end]))
        return found

    def _df(self, slots: NDArray[np.int32]) -> int:
        return len(slots) if self.alive is None else int(np.count_nonzero(self.alive[slots]))

    def _idf(self, df: int) -> float:
        return math.log(1.0 + (self.n_live - df + 0.5) / (df + 0.5))

    def _norm(self, slots: NDArray[np.int32]) -> NDArray[np.float32]:
        average = self.total_length / self.n_live if self.total_length else 1.0
        norm: NDArray[np.float32] = self.lengths[slots].astype(np.float32)
        norm *= np.float32(K1 * B / average)
        norm += np.float32(K1 * (1.0 - B))
        return norm

    def _saturation(self, slots: NDArray[np.int32], frequencies: NDArray[np.uint16]) -> NDArray[np.float32]:
        tf = frequencies.astype(np.float32)
        norm = self._norm(slots)
        norm += tf
        tf /= norm
        return tf
