"""Which children hold which terms, in compressed sparse rows, and BM25 over them.

A term goes by a 64-bit hash of its text, so that no process has to number terms before another may: among ten
million terms two share one with a probability of three in a million. Postings are kept in immutable segments: a
large one and ever smaller ones behind it. A commit adds a small segment; neighbours of like size are merged, so
there are never more than a handful. Deleted children stay until their segment is merged and are masked until
then. Document frequencies and lengths are those of the live children, because both are worked out when a
question is asked.

Scores are those of bm25s with ``method="lucene"``: ``idf * tf / (tf + k1 * (1 - b + b * length / average))``
with ``idf = ln(1 + (N - df + 0.5) / (df + 0.5))`` (Kamphuis et al. 2020, variant "Lucene (accurate)").
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

K1 = 1.5
B = 0.75
"""bm25s's defaults."""

MAX_FREQUENCY = 255
"""Repeats of a term in one child that are counted; BM25 is flat long before."""

_IDFS_KEPT = 1 << 14
"""Terms of questions whose weight is kept until the next commit."""

_MERGE_RATIO = 4
"""A segment is merged with the one before it unless that is at least so many times larger."""

Bool = NDArray[np.bool_]
Keys = NDArray[np.uint64]
Slots = NDArray[np.int32]
Frequencies = NDArray[np.uint8]


_DIGESTS_KEPT = 1 << 17


class _Digests(dict[str, bytes]):
    """Term -> its digest, filled as terms are met."""

    def __missing__(self, term: str) -> bytes:
        digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if len(self) >= _DIGESTS_KEPT:
            self.clear()
        self[term] = digest
        return digest


_DIGESTS = _Digests()


def term_digest(term: str) -> bytes:
    """Eight bytes that a term goes by, the same in every process: its key, little-endian."""
    return _DIGESTS[term]


def term_digests(terms: Iterable[str]) -> bytes:
    """The digests of many terms, one after the other."""
    return b"".join(map(_DIGESTS.__getitem__, terms))


def term_key(term: str) -> int:
    """The number that a term goes by."""
    return int.from_bytes(term_digest(term), "little")


@dataclass(frozen=True, slots=True)
class Segment:
    """Postings of some slots, sorted by term key, then slot."""

    keys: Keys
    """Distinct, ascending."""
    starts: NDArray[np.int64]
    """Shape (keys + 1,): where each term's postings begin."""
    slots: Slots
    frequencies: Frequencies

    @classmethod
    def build(cls, keys: Keys, slots: Slots, frequencies: Frequencies) -> Segment:
        """From rows, one per (term, slot), in the order of slots."""
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else order
        return cls(keys[first], np.append(first, len(keys)), slots[order], frequencies[order])

    def __len__(self) -> int:
        return len(self.slots)

    def find(self, key: int) -> tuple[Slots, Frequencies] | None:
        """The postings of a term."""
        # a plain int would make numpy copy the keys as another type first
        place = int(self.keys.searchsorted(np.uint64(key)))
        if place == len(self.keys) or int(self.keys[place]) != key:
            return None
        start, end = self.starts[place : place + 2].tolist()
        return self.slots[start:end], self.frequencies[start:end]

    def moved(self, places: NDArray[np.int32]) -> Segment:
        """The same with other slot numbers in the same order; -1 drops a slot."""
        slots = places[self.slots]
        if not len(places) or places.min() >= 0:
            return Segment(self.keys, self.starts, slots, self.frequencies)
        kept = slots >= 0
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        held = np.diff(starts) > 0
        return Segment(
            self.keys[held], np.append(starts[:-1][held], starts[-1]), slots[kept], self.frequencies[kept]
        )

    def merged(self, other: Segment, alive: Bool | None) -> Segment:
        """Both in one, without postings of dead slots; ``other`` holds the higher slots."""
        keys = np.concatenate([np.repeat(s.keys, np.diff(s.starts)) for s in (self, other)])
        slots = np.concatenate([self.slots, other.slots])
        frequencies = np.concatenate([self.frequencies, other.frequencies])
        if alive is not None:
            kept = alive[slots]
            keys, slots, frequencies = keys[kept], slots[kept], frequencies[kept]
        return Segment.build(keys, slots, frequencies)


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
    _idfs: dict[int, float] = field(default_factory=dict)

    def idf(self, key: int) -> float:
        """0 for a term that no live child has."""
        known = self._idfs.get(key)
        if known is None:
            df = sum(self._df(slots) for slots, _ in self._find(key))
            known = self._idf(df) if df else 0.0
            if len(self._idfs) >= _IDFS_KEPT:
                self._idfs.clear()
            self._idfs[key] = known
        return known

    def scores(
        self, weights: Mapping[int, float], visible: Bool | None, *, few: bool = False
    ) -> NDArray[np.float32]:
        """BM25 of every slot, 0 where no term matches or ``visible`` is False.

        Args:
            weights: term key -> weight in the question.
            few: whether few slots are visible, so that leaving out the others first pays.
        """
        scores = np.zeros(len(self.lengths), dtype=np.float32)
        for key, weight in weights.items():
            found = self._find(key)
            df = sum(self._df(slots) for slots, _ in found)
            if not df or not weight:
                continue
            factor = np.float32(weight * self._idf(df))
            for slots, frequencies in found:
                if few and visible is not None:
                    kept = visible[slots]
                    slots, frequencies = slots[kept], frequencies[kept]
                scores[slots] += self._saturation(slots, frequencies) * factor
        mask = self.alive if visible is None else visible
        if mask is not None:
            scores[~mask] = 0.0
        return scores

    def scores_of(self, weights: Mapping[int, float], slots: Slots) -> NDArray[np.float32]:
        """BM25 of the given slots."""
        keys = list(weights)
        table = self.frequencies(keys, slots).astype(np.float32)
        norm, scores = self._norm(slots), np.zeros(len(slots), dtype=np.float32)
        # column by column, as in `scores`, so that both round alike
        for column, key in enumerate(keys):
            tf = table[:, column]
            scores += tf / (norm + tf) * np.float32(weights[key] * self.idf(key))
        return scores

    def frequencies(self, keys: Sequence[int], slots: Slots) -> NDArray[np.int32]:
        """Shape (slots, keys): how often each slot has each term."""
        table = np.zeros((len(slots), len(keys)), dtype=np.int32)
        for column, key in enumerate(keys):
            for held, frequencies in self._find(key):
                places = held.searchsorted(slots)
                places[places == len(held)] = 0
                table[:, column] += np.where(held[places] == slots, frequencies[places], 0)
        return table

    def _find(self, key: int) -> list[tuple[Slots, Frequencies]]:
        return [found for segment in self.segments if (found := segment.find(key)) is not None]

    def _df(self, slots: Slots) -> int:
        return len(slots) if self.alive is None else int(np.count_nonzero(self.alive[slots]))

    def _idf(self, df: int) -> float:
        return math.log(1.0 + (self.n_live - df + 0.5) / (df + 0.5))

    def _norm(self, slots: Slots) -> NDArray[np.float32]:
        average = self.total_length / self.n_live if self.total_length else 1.0
        norm: NDArray[np.float32] = self.lengths[slots].astype(np.float32)
        norm *= np.float32(K1 * B / average)
        norm += np.float32(K1 * (1.0 - B))
        return norm

    def _saturation(self, slots: Slots, frequencies: Frequencies) -> NDArray[np.float32]:
        tf = frequencies.astype(np.float32)
        norm = self._norm(slots)
        norm += tf
        tf /= norm
        return tf
