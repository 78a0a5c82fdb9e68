"""The search structures of one process: built from the database, then kept in step with its commits."""

from __future__ import annotations

import bisect
import json
import sqlite3
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.errors import StorageError
from gyr_hybrid.storage.cache import CachedPostings
from gyr_hybrid.storage.code_map import CodeMap
from gyr_hybrid.storage.codes import CodeMention
from gyr_hybrid.storage.filters import Filter
from gyr_hybrid.storage.growing import GrowingArray
from gyr_hybrid.storage.matrix import Matrix
from gyr_hybrid.storage.node_metadata import NodeMetadata
from gyr_hybrid.storage.node_table import NodeTable
from gyr_hybrid.storage.postings import Postings, Segment, add_segment
from gyr_hybrid.storage.reading import read_postings, read_vectors
from gyr_hybrid.storage.rows import SELECT_ALL, SELECT_NEW, DocumentRow, joined
from gyr_hybrid.storage.snapshot import DocumentOrder, Documents, Snapshot
from gyr_hybrid.storage.visibility import DocumentRules, natural_order

Bool = NDArray[np.bool_]

_READ_AT_ONCE = 2048
"""Documents per step while reading."""


class DerivedIndex:
    """Grows with every commit; ``snapshot`` is its state after the last one followed.

    Not thread-safe: the store calls it under a lock. Snapshots, once handed out, never change.
    """

    def __init__(self) -> None:
        self._nodes = NodeTable()
        self._doc_keys = GrowingArray(np.int64)
        self._stamps = GrowingArray(np.int64)
        self._doc_ids: list[str] = []
        self._rows: dict[int, int] = {}
        self._first_nodes = GrowingArray(np.int32)
        self._first_nodes.extend([0])
        self._alive: Bool = np.zeros(0, dtype=bool)
        self._order: list[DocumentOrder] = []
        self._lengths = GrowingArray(np.int32)
        self._has_vector = GrowingArray(np.bool_)
        self._segments: tuple[Segment, ...] = ()
        self._matrix: Matrix | None = None
        self._rules = DocumentRules()
        self._metadata = NodeMetadata()
        self._codes = CodeMap()
        self._waiting_codes: list[tuple[int, str]] | None = []
        self.sorted_postings = 0
        """Postings that were sorted here, not taken from a cache; 0 again when they are saved to one."""
        self.snapshot = self._picture(0)

    @property
    def dead_share(self) -> float:
        """Share of the slots that belong to documents that are gone."""
        return 1.0 - self.snapshot.n_live / max(self.snapshot.n_slots, 1)

    @property
    def has_codes(self) -> bool:
        """Whether the code map was built."""
        return self._waiting_codes is None

    @property
    def codes(self) -> CodeMap:
        """The code map, built when it is first asked for."""
        if self._waiting_codes is not None:
            waiting, self._waiting_codes = self._waiting_codes, None
            for first_slot, codes in waiting:
                self._add_codes(first_slot, codes)
            if self.snapshot.alive is not None:
                for slot in np.flatnonzero(~self.snapshot.alive).tolist():
                    self._codes.remove(slot)
        return self._codes

    def follow(
        self,
        connection: sqlite3.Connection,
        generation: int,
        dimension: int | None,
        cached: CachedPostings | None = None,
    ) -> None:
        """Take in the commits up to ``generation``; the caller holds a read transaction.

        ``cached`` spares sorting when there is nothing yet. After an exception the index is unusable.
        """
        since = self.snapshot.generation
        gone = connection.execute("SELECT doc_key FROM removals WHERE generation > ?", (since,)).fetchall()
        removed = [self._rows.pop(key) for (key,) in gone if key in self._rows]
        self._remove(removed)
        first_row, first_slot = len(self._doc_keys), len(self._nodes.slot_nodes)
        vector_keys: list[NDArray[np.int64]] = []
        distinct: list[NDArray[np.int32]] = []
        cursor = connection.execute(SELECT_NEW if since else SELECT_ALL, (since,))
        while rows := [DocumentRow(*row) for row in cursor.fetchmany(_READ_AT_ONCE)]:
            distinct.append(self._append(rows))
            vector_keys.append(joined(rows, "vector_keys", np.int64))
        self._alive = np.concatenate([self._alive, np.ones(len(self._doc_keys) - first_row, dtype=bool)])
        self._alive[removed] = False
        if vector_keys:
            self._read_postings(connection, first_row, first_slot, np.concatenate(distinct), cached)
            self._read_vectors(connection, first_slot, np.concatenate(vector_keys), dimension)
        self._reorder(removed, range(first_row, len(self._doc_keys)))
        self.snapshot = self._picture(generation)

    def passing(self, filters: Filter, connection: sqlite3.Connection) -> Bool:
        """Per slot whether the metadata of its child passes."""
        return self._metadata.passing(filters, self.snapshot, connection)

    # taking documents away and in

    def _remove(self, rows: Sequence[int]) -> None:
        documents = self._nodes.slot_documents
        for row in rows:
            self._rules.remove(self._doc_ids[row], row)
            if self._waiting_codes is None:
                first, last = np.searchsorted(documents, (row, row + 1)).tolist()
                for slot in range(first, last):
                    self._codes.remove(slot)

    def _append(self, rows: Sequence[DocumentRow]) -> NDArray[np.int32]:
        """Take in documents; their distinct terms per child."""
        first_row, first_node = len(self._doc_keys), len(self._nodes)
        first_slot = len(self._nodes.slot_nodes)
        counts, children = self._nodes.append(rows, first_row)
        self._doc_keys.extend([row.doc_key for row in rows])
        self._stamps.extend([row.stamp for row in rows])
        self._doc_ids.extend(row.doc_id for row in rows)
        self._rows.update((row.doc_key, first_row + i) for i, row in enumerate(rows))
        self._first_nodes.extend(first_node + np.cumsum(counts))
        self._rules.extend([(row.doc_id, row.rules) for row in rows])
        for i, row in enumerate(rows, start=first_row):
            shared = json.loads(row.shared)
            self._metadata.append(i, shared["metadata"], shared["orders"])
        per_child = joined(rows, "term_counts", np.int32).reshape(-1, 2)
        self._lengths.extend(per_child[:, 1])
        starts = (first_slot + np.cumsum(children) - children).tolist()
        for start, row in zip(starts, rows, strict=True):
            if row.codes is not None:
                if self._waiting_codes is None:
                    self._add_codes(start, row.codes)
                else:
                    self._waiting_codes.append((start, row.codes))
        return per_child[:, 0]

    def _add_codes(self, first_slot: int, codes: str) -> None:
        for child, *mentions in json.loads(codes):
            self._codes.add(first_slot + child, [CodeMention(*mention) for mention in mentions])

    def _read_postings(
        self,
        connection: sqlite3.Connection,
        first_row: int,
        first_slot: int,
        distinct: NDArray[np.int32],
        cached: CachedPostings | None,
    ) -> None:
        """Add the postings of new documents, those that a cache has from there."""
        doc_keys, slot_documents = self._doc_keys.values, self._nodes.slot_documents
        if cached is not None and first_row == 0:
            children = np.bincount(slot_documents, minlength=len(doc_keys))
            fitted = cached.fitted(doc_keys, self._stamps.values, children)
            if fitted is not None:
                segment, first_row = fitted
                self._segments, self.sorted_postings = (segment,), 0
                distinct = distinct[int(children[:first_row].sum()) :]
                first_slot = int(children[:first_row].sum())
        keys, frequencies = read_postings(connection, doc_keys[first_row:])
        slots = np.repeat(np.arange(first_slot, first_slot + len(distinct), dtype=np.int32), distinct)
        if len(keys) != len(slots) or len(keys) != len(frequencies):
            raise StorageError("postings do not fit their children; run `gyr-hybrid check`")
        self.sorted_postings += len(keys)
        self._segments = add_segment(
            self._segments, Segment.build(keys, slots, frequencies), self._alive_slots()
        )

    def cached_postings(self) -> CachedPostings | None:
        """What to keep so that the next process need not sort: all live postings in one segment."""
        snapshot = self.snapshot
        if not self._segments:
            return None
        segment = self._segments[0]
        for other in self._segments[1:]:
            segment = segment.merged(other, snapshot.alive)
        live = self._alive
        children = np.bincount(snapshot.slot_documents, minlength=len(live))[live]
        if snapshot.alive is not None:
            moved = np.where(snapshot.alive, np.cumsum(snapshot.alive) - 1, -1).astype(np.int32)
            segment = segment.moved(moved)
        return CachedPostings(
            self._doc_keys.values[live], self._stamps.values[live], children.astype(np.int32), segment
        )

    def _read_vectors(
        self, connection: sqlite3.Connection, first_slot: int, keys: NDArray[np.int64], dimension: int | None
    ) -> None:
        """Fill the rows of new slots; key 0 is no vector."""
        self._has_vector.extend(keys != 0)
        slots = first_slot + np.flatnonzero(keys)
        if len(slots) and dimension is not None:
            if self._matrix is None:
                self._matrix = Matrix(dimension, first_slot + len(keys))
            read_vectors(connection, keys[keys != 0], slots, self._matrix)

    # pictures

    def _reorder(self, removed: Sequence[int], added: Iterable[int]) -> None:
        order = list(self._order)
        for row in removed:
            del order[bisect.bisect_left(order, self._order_of(row))]
        fresh = [self._order_of(row) for row in added]
        if len(fresh) < 32:
            for entry in fresh:
                bisect.insort(order, entry)
        else:
            order.extend(fresh)
            order.sort()
        self._order = order

    def _order_of(self, row: int) -> DocumentOrder:
        return self._doc_ids[row], natural_order(self._rules.rules[row].version), row

    def _alive_slots(self) -> Bool | None:
        return None if self._alive.all() else self._alive[self._nodes.slot_documents]

    def _picture(self, generation: int) -> Snapshot:
        alive, lengths = self._alive_slots(), self._lengths.values
        n_live = len(lengths) if alive is None else int(np.count_nonzero(alive))
        total = int(lengths.sum() if alive is None else lengths[alive].sum())
        has_vector = self._has_vector.values
        return Snapshot(
            generation=generation,
            nodes=self._nodes.nodes,
            documents=Documents(
                keys=self._doc_keys.values,
                ids=self._doc_ids,
                first_nodes=self._first_nodes.values,
                alive=self._alive,
                rules=self._rules.arrays(),
                order=self._order,
            ),
            slot_nodes=self._nodes.slot_nodes,
            slot_documents=self._nodes.slot_documents,
            alive=alive,
            n_live=n_live,
            postings=Postings(self._segments, lengths, alive, n_live, total),
            matrix=self._matrix,
            has_vector=None if has_vector.all() else has_vector,
        )
