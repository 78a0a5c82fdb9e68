"""The search structures of one process: built from the database, then kept in step with its commits."""

from __future__ import annotations

import bisect
import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.storage import packing
from gyr_hybrid.storage.code_map import CodeMap
from gyr_hybrid.storage.columns import MetadataTable, evaluate
from gyr_hybrid.storage.filters import Filter
from gyr_hybrid.storage.growing import GrowingArray
from gyr_hybrid.storage.matrix import Matrix
from gyr_hybrid.storage.postings import Postings, Segment, add_segment
from gyr_hybrid.storage.protocol import CodeMention
from gyr_hybrid.storage.snapshot import DocumentOrder, Documents, Nodes, Snapshot
from gyr_hybrid.storage.visibility import DocumentRules, Rules, natural_order

Bool = NDArray[np.bool_]

_READ_AT_ONCE = 2048
"""Documents, or vectors, per step while reading."""
_FEW_VECTORS = 4096
"""Up to so many are looked up by key; more are found faster by reading the whole table."""


class _Row(NamedTuple):
    doc_key: int
    doc_id: str
    version: str
    tenant: str | None
    acl: str | None
    valid_from: str | None
    valid_to: str | None
    updated_at: str
    shared: str
    node_ids: str
    header_paths: str
    layout: bytes
    terms: bytes
    vectors: bytes
    codes: str | None


_SELECT = f"SELECT {', '.join(_Row._fields)} FROM documents WHERE retired_at IS NULL AND generation > ? ORDER BY doc_key"


class DerivedIndex:
    """Grows with every commit; ``snapshot`` is its state after the last one followed."""

    def __init__(self, dimension: int | None, vector_type: str) -> None:
        self.dimension = dimension
        self._vector_type = np.dtype(vector_type)
        self._ids: list[str] = []
        self._numbers: dict[str, int] = {}
        self._paths: list[tuple[str, ...]] = []
        self._path_numbers: dict[tuple[str, ...], int] = {}
        self._previous = GrowingArray(np.int32)
        self._node_columns = {name: GrowingArray(np.int32) for name in _NODE_COLUMNS}
        self._doc_keys = GrowingArray(np.int64)
        self._doc_ids: list[str] = []
        self._first_nodes = GrowingArray(np.int32)
        self._first_nodes.extend([0])
        self._rows: dict[int, int] = {}
        self._slot_nodes = GrowingArray(np.int32)
        self._slot_documents = GrowingArray(np.int32)
        self._lengths = GrowingArray(np.int32)
        self._has_vector = GrowingArray(np.bool_)
        self._alive_documents: Bool = np.zeros(0, dtype=bool)
        self._order: list[DocumentOrder] = []
        self._segments: tuple[Segment, ...] = ()
        self._matrix: Matrix | None = None
        self.rules = DocumentRules()
        self.metadata = MetadataTable()
        self.codes = CodeMap()
        self.own_keys: set[str] = set()
        """Metadata keys whose values differ between the nodes of some document."""
        self.snapshot = self._picture(0)

    @property
    def dead_share(self) -> float:
        """Share of the slots that belong to documents that are gone."""
        return 1.0 - self.snapshot.n_live / max(self.snapshot.n_slots, 1)

    def follow(self, connection: sqlite3.Connection, generation: int) -> None:
        """Take in the commits up to ``generation``; the caller holds a read transaction."""
        since = self.snapshot.generation
        gone = [
            key
            for (key,) in connection.execute("SELECT doc_key FROM removals WHERE generation > ?", (since,))
        ]
        removed = self._remove([self._rows[key] for key in gone if key in self._rows])
        first_slot, first_row = len(self._slot_nodes), len(self._doc_keys)
        vector_keys: list[NDArray[np.int64]] = []
        postings: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16]]] = []
        cursor = connection.execute(_SELECT, (since,))
        while rows := [_Row(*row) for row in cursor.fetchmany(_READ_AT_ONCE)]:
            self._append(rows, vector_keys, postings)
        self._alive_documents = np.concatenate(
            [self._alive_documents, np.ones(len(self._doc_keys) - first_row, dtype=bool)]
        )
        if removed:
            self._alive_documents[removed] = False
        alive = self._alive_slots()
        if postings:
            terms, slots, frequencies = (np.concatenate(parts) for parts in zip(*postings, strict=True))
            self._segments = add_segment(self._segments, Segment.build(terms, slots, frequencies), alive)
        if vector_keys:
            self._read_vectors(connection, first_slot, np.concatenate(vector_keys))
        self._reorder(removed, range(first_row, len(self._doc_keys)))
        self.snapshot = self._picture(generation)

    def passing(self, filters: Filter, snapshot: Snapshot) -> Bool:
        """Per slot of the snapshot whether its node's metadata passes."""
        documents = len(snapshot.documents)
        by_document = evaluate(
            filters, documents, lambda condition: self.metadata.passing(condition, documents)
        )
        return by_document[snapshot.slot_documents]

    def _remove(self, rows: Sequence[int]) -> list[int]:
        documents = self._slot_documents.values
        slots: list[int] = []
        for row in rows:
            self.rules.remove(self._doc_ids[row], row)
            first, last = np.searchsorted(documents, (row, row + 1))
            slots.extend(range(int(first), int(last)))
        for slot in slots:
            self.codes.remove(slot)
        return list(rows)

    def _append(
        self,
        rows: Sequence[_Row],
        vector_keys: list[NDArray[np.int64]],
        postings: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16]]],
    ) -> None:
        first_node, first_row, first_slot = len(self._ids), len(self._doc_keys), len(self._slot_nodes)
        layouts = [np.frombuffer(row.layout, dtype=np.int32).reshape(-1, 6) for row in rows]
        counts = np.array([len(layout) for layout in layouts], dtype=np.int64)
        starts = first_node + np.concatenate([[0], np.cumsum(counts)])
        layout = np.concatenate(layouts)
        own_start = np.repeat(starts[:-1], counts).astype(np.int32)
        children = np.array([int((part[:, packing.CHILD] >= 0).sum()) for part in layouts], dtype=np.int64)
        slot_starts = first_slot + np.concatenate([[0], np.cumsum(children)])
        own_slot = np.repeat(slot_starts[:-1], counts).astype(np.int32)
        paths = [self._number_paths(json.loads(row.header_paths)) for row in rows]
        path_starts = np.concatenate([[0], np.cumsum([len(p) for p in paths])])
        path_numbers = np.array([number for part in paths for number in part] or [-1], dtype=np.int32)
        own_path = np.repeat(path_starts[:-1], counts)

        def shifted(column: int, by: NDArray[Any]) -> NDArray[np.int32]:
            values = layout[:, column]
            return np.where(values < 0, -1, values + by).astype(np.int32)

        path = shifted(packing.PATH, own_path)
        columns = {
            "documents": np.repeat(np.arange(first_row, first_row + len(rows)), counts),
            "ordinals": np.arange(first_node, first_node + len(layout)) - own_start,
            "parents": shifted(packing.PARENT, own_start),
            "pieces": layout[:, packing.PIECE],
            "slots": shifted(packing.CHILD, own_slot),
            "starts": layout[:, packing.START],
            "ends": layout[:, packing.END],
            "paths": np.where(path < 0, -1, path_numbers[path]),
        }
        for name, values in columns.items():
            self._node_columns[name].extend(values)
        new_slots = columns["slots"]
        holders = np.flatnonzero(new_slots >= 0)
        by_slot = holders[np.argsort(new_slots[holders], kind="stable")]
        self._slot_nodes.extend(by_slot + first_node)
        self._slot_documents.extend(columns["documents"][by_slot])
        self._first_nodes.extend(starts[1:])
        self._doc_keys.extend([row.doc_key for row in rows])
        self._name_nodes(itertools.chain.from_iterable(json.loads(row.node_ids) for row in rows))
        for i, row in enumerate(rows):
            self._append_document(row, first_row + i, int(slot_starts[i]), int(children[i]), postings)
        keys = np.frombuffer(b"".join(row.vectors for row in rows), dtype=np.int64)
        vector_keys.append(keys)

    def _append_document(
        self,
        row: _Row,
        number: int,
        first_slot: int,
        children: int,
        postings: list[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint16]]],
    ) -> None:
        self._rows[row.doc_key] = number
        self._doc_ids.append(row.doc_id)
        self.rules.append(row.doc_id, _rules(row))
        shared = json.loads(row.shared)
        self.metadata.append(number, shared["metadata"])
        for order in shared["orders"]:
            self.own_keys.update(key for key in order if key not in shared["metadata"])
        terms = np.frombuffer(row.terms, dtype=np.int32)
        distinct = terms[:children]
        self._lengths.extend(terms[children : 2 * children])
        held = terms[2 * children :].reshape(2, -1)
        slots = np.repeat(np.arange(first_slot, first_slot + children, dtype=np.int32), distinct)
        postings.append((held[0], slots, held[1].astype(np.uint16)))
        if row.codes:
            for child, *mentions in json.loads(row.codes):
                self.codes.add(first_slot + child, [CodeMention(*m) for m in mentions])

    def _name_nodes(self, ids: Iterable[str]) -> None:
        for node_id in ids:
            number = len(self._ids)
            self._previous.extend([self._numbers.get(node_id, -1)])
            self._ids.append(node_id)
            self._numbers[node_id] = number

    def _number_paths(self, paths: list[list[str]]) -> list[int]:
        numbers = []
        for path in map(tuple, paths):
            if path not in self._path_numbers:
                self._path_numbers[path] = len(self._paths)
                self._paths.append(path)
            numbers.append(self._path_numbers[path])
        return numbers

    def _read_vectors(self, connection: sqlite3.Connection, first_slot: int, keys: NDArray[np.int64]) -> None:
        """Fill the rows of new slots; key 0 is no vector."""
        has = keys != 0
        self._has_vector.extend(has)
        if not has.any() or self.dimension is None:
            return
        if self._matrix is None:
            self._matrix = Matrix(self.dimension, first_slot + len(keys))
        order = np.argsort(keys, kind="stable")
        wanted = keys[order]
        for found, vectors in self._vectors(connection, wanted[wanted > 0]):
            first = np.searchsorted(wanted, found, side="left")
            repeats = np.searchsorted(wanted, found, side="right") - first
            source = np.repeat(np.arange(len(found)), repeats)
            places = np.arange(len(source)) - np.repeat(np.cumsum(repeats) - repeats, repeats) + first[source]
            self._matrix.write(first_slot + order[places], vectors[source])

    def _vectors(
        self, connection: sqlite3.Connection, keys: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        if len(keys) <= _FEW_VECTORS:
            cursor = connection.execute(
                "SELECT vector_key, vector FROM vectors WHERE vector_key IN (SELECT value FROM json_each(?))",
                (json.dumps(np.unique(keys).tolist()),),
            )
        else:
            cursor = connection.execute("SELECT vector_key, vector FROM vectors")
        while rows := cursor.fetchmany(_READ_AT_ONCE):
            data = np.frombuffer(b"".join([vector for _, vector in rows]), dtype=self._vector_type)
            found = np.fromiter((key for key, _ in rows), dtype=np.int64, count=len(rows))
            yield found, data.reshape(len(rows), -1).astype(np.float32)

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
        return self._doc_ids[row], natural_order(self.rules.rules[row].version), row

    def _alive_slots(self) -> Bool | None:
        return None if self._alive_documents.all() else self._alive_documents[self._slot_documents.values]

    def _picture(self, generation: int) -> Snapshot:
        alive = self._alive_slots()
        lengths = self._lengths.values
        n_live = len(lengths) if alive is None else int(np.count_nonzero(alive))
        total = int(lengths.sum() if alive is None else lengths[alive].sum())
        has_vector = self._has_vector.values
        columns = {name: column.values for name, column in self._node_columns.items()}
        return Snapshot(
            generation=generation,
            nodes=Nodes(
                ids=self._ids,
                numbers=self._numbers,
                previous=self._previous,
                header_paths=self._paths,
                **columns,
            ),
            documents=Documents(
                keys=self._doc_keys.values,
                ids=self._doc_ids,
                first_nodes=self._first_nodes.values,
                alive=self._alive_documents.copy(),
                rules=self.rules.arrays(),
                order=self._order,
            ),
            slot_nodes=self._slot_nodes.values,
            slot_documents=self._slot_documents.values,
            alive=alive,
            n_live=n_live,
            postings=Postings(self._segments, lengths, alive, n_live, total),
            matrix=self._matrix,
            has_vector=None if has_vector.all() else has_vector,
        )


_NODE_COLUMNS = ("documents", "ordinals", "parents", "pieces", "slots", "starts", "ends", "paths")


def _rules(row: _Row) -> Rules:
    return Rules(
        version=row.version,
        tenant=row.tenant,
        acl=None if row.acl is None else tuple(json.loads(row.acl)),
        valid_from=None if row.valid_from is None else date.fromisoformat(row.valid_from),
        valid_to=None if row.valid_to is None else date.fromisoformat(row.valid_to),
        updated_at=row.updated_at,
    )
