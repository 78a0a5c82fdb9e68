"""The metadata of children, for filters: by document what all its nodes have, by child the rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.storage.columns import Column, MetadataTable, evaluate
from gyr_hybrid.storage.filters import Condition, Filter
from gyr_hybrid.storage.reading import child_metadata
from gyr_hybrid.storage.snapshot import Snapshot

Bool = NDArray[np.bool_]


class _OwnColumn(NamedTuple):
    column: Column
    documents: int
    """How many documents it covers."""


class NodeMetadata:
    """Grows with the documents; columns of keys that differ between the nodes of a document are read when asked for."""

    def __init__(self) -> None:
        self._shared = MetadataTable()
        self._own_keys: set[str] = set()
        self._own: dict[str, _OwnColumn] = {}

    def append(self, row: int, shared: Mapping[str, Any], orders: Iterable[Sequence[str]]) -> None:
        """Take in a document: what its nodes have in common, and the keys that they have."""
        self._shared.append(row, shared)
        for order in orders:
            self._own_keys.update(key for key in order if key not in shared)

    def passing(self, filters: Filter, snapshot: Snapshot, connection: sqlite3.Connection) -> Bool:
        """Per slot whether the metadata of its child passes."""
        documents, slots = len(snapshot.documents), snapshot.n_slots
        own = {condition.key for condition in filters.conditions()} & self._own_keys
        if not own:
            by_document = evaluate(filters, documents, lambda c: self._shared.passing(c, documents))
            return by_document[snapshot.slot_documents]
        for key in own:
            self._read(key, snapshot, connection)

        def leaf(condition: Condition) -> Bool:
            if condition.key in own:
                return self._own[condition.key].column.passing(condition, slots)
            return self._shared.passing(condition, documents)[snapshot.slot_documents]

        return evaluate(filters, slots, leaf)

    def _read(self, key: str, snapshot: Snapshot, connection: sqlite3.Connection) -> None:
        """Bring the column of a key that differs between the nodes of a document up to date."""
        own = self._own.setdefault(key, _OwnColumn(Column(), 0))
        fresh = range(own.documents, len(snapshot.documents))
        ordinals = snapshot.nodes.ordinals[snapshot.slot_nodes]
        for row, metadata in child_metadata(connection, snapshot.documents.keys, fresh):
            first, last = np.searchsorted(snapshot.slot_documents, (row, row + 1)).tolist()
            for slot in range(first, last):
                own.column.append(slot, metadata(int(ordinals[slot])).get(key))
        self._own[key] = _OwnColumn(own.column, len(snapshot.documents))
