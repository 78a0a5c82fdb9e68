"""The derived index as it was at one commit: arrays that nothing writes to any more."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.storage.growing import GrowingArray
from gyr_hybrid.storage.matrix import Matrix
from gyr_hybrid.storage.postings import Postings
from gyr_hybrid.storage.visibility import RuleArrays

Bool = NDArray[np.bool_]
Ints = NDArray[np.int32]

_ORDINAL_BITS = 24
"""Nodes per document that a position has room for: 16 million."""

DocumentOrder = tuple[str, tuple[Any, ...], int]
"""Doc id, version in natural order, row."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """Sections and children by number; a child has a slot besides, its row in every search structure."""

    ids: Sequence[str]
    numbers: Mapping[str, int]
    """Id -> newest number; follow ``previous`` to older ones."""
    previous: GrowingArray
    documents: Ints
    """Row of the document."""
    ordinals: Ints
    """Place in the document's list of nodes."""
    parents: Ints
    """Number of the parent, -1 for none."""
    first_children: Ints
    """Number of the first child; -1 for none."""
    child_counts: Ints
    """How many children follow each other from there; 0 when other nodes stand between them."""
    pieces: Ints
    slots: Ints
    """-1 for a section."""
    starts: Ints
    ends: Ints
    """Offsets into the document's text, -1 for none."""
    paths: Ints
    """Into ``header_paths``, -1 for none."""
    header_paths: Sequence[tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.documents)


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents by row."""

    keys: NDArray[np.int64]
    ids: Sequence[str]
    first_nodes: Ints
    """Shape (documents + 1,)."""
    alive: Bool
    rules: RuleArrays
    order: Sequence[DocumentOrder]
    """Live ones in reading order."""

    def __len__(self) -> int:
        return len(self.keys)

    def rows_of(self, doc_id: str) -> list[int]:
        """Rows of the live versions of a doc id."""
        first = bisect.bisect_left(self.order, (doc_id,))
        same = itertools.takewhile(
            lambda entry: entry[0] == doc_id, itertools.islice(self.order, first, None)
        )
        return [row for _, _, row in same]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything a search needs, at one generation."""

    generation: int
    nodes: Nodes
    documents: Documents
    slot_nodes: Ints
    """Slot -> node number."""
    slot_documents: Ints
    """Slot -> document row."""
    alive: Bool | None
    """Per slot; None when all are live."""
    n_live: int
    postings: Postings
    matrix: Matrix | None
    has_vector: Bool | None
    """Per slot; None when every slot has one."""
    _ranks: dict[int, int] = field(default_factory=dict)

    @property
    def n_slots(self) -> int:
        return len(self.slot_nodes)

    def find(self, node_id: str, visible: Bool) -> int:
        """Number of the node with this id in a document that ``visible`` (by row) shows; -1 for none."""
        number = self.nodes.numbers.get(node_id, -1)
        while number >= 0:
            if number < len(self.nodes) and visible[self.nodes.documents[number]]:
                return number
            number = int(self.nodes.previous.values[number])
        return -1

    def find_all(self, node_ids: Sequence[str], visible: Bool) -> NDArray[np.intp]:
        """The same for many ids at once."""
        newest = self.nodes.numbers.get
        numbers = np.array([newest(node_id, -1) for node_id in node_ids], dtype=np.intp)
        doubtful = numbers >= 0
        known = doubtful & (numbers < len(self.nodes))
        doubtful[known] = ~visible[self.nodes.documents[numbers[known]]]
        for place in np.flatnonzero(doubtful).tolist():
            numbers[place] = self.find(node_ids[place], visible)
        return numbers

    def children(self, number: int) -> Sequence[int]:
        """Numbers of the nodes whose parent this is, in reading order."""
        first, count = int(self.nodes.first_children[number]), int(self.nodes.child_counts[number])
        if first < 0 or count:
            return range(first, first + count)
        row = int(self.nodes.documents[number])
        start, end = self.documents.first_nodes[row : row + 2].tolist()
        found: list[int] = (np.flatnonzero(self.nodes.parents[start:end] == number) + start).tolist()
        return found

    def position(self, number: int) -> int:
        """Place of a node in reading order."""
        return self._rank(int(self.nodes.documents[number])) << _ORDINAL_BITS | int(
            self.nodes.ordinals[number]
        )

    def slot_positions(self, slots: NDArray[np.intp]) -> NDArray[np.int64]:
        """Places of children in reading order."""
        numbers = self.slot_nodes[slots]
        rows = self.nodes.documents[numbers]
        distinct, inverse = np.unique(rows, return_inverse=True)
        ranks = np.fromiter(map(self._rank, distinct.tolist()), dtype=np.int64, count=len(distinct))
        positions: NDArray[np.int64] = (ranks[inverse] << _ORDINAL_BITS) | self.nodes.ordinals[numbers]
        return positions

    def _rank(self, row: int) -> int:
        rank = self._ranks.get(row)
        if rank is None:
            doc_id = self.documents.ids[row]
            place = bisect.bisect_left(self.documents.order, (doc_id,))
            while self.documents.order[place][2] != row:
                place += 1
            self._ranks[row] = rank = place
        return rank
