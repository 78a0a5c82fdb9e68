"""The sections and children of all documents, numbered in the order in which they came."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.storage import packing
from gyr_hybrid.storage.growing import GrowingArray
from gyr_hybrid.storage.rows import DocumentRow, families, joined
from gyr_hybrid.storage.snapshot import Nodes

_NODE_COLUMNS = (
    "documents",
    "ordinals",
    "parents",
    "first_children",
    "child_counts",
    "pieces",
    "slots",
    "starts",
    "ends",
    "paths",
)


class NodeTable:
    """Grows at the end; ``nodes`` handed out earlier stay as they were."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._numbers: dict[str, int] = {}
        self._previous = GrowingArray(np.int32)
        self._node_columns = {name: GrowingArray(np.int32) for name in _NODE_COLUMNS}
        self._paths: list[tuple[str, ...]] = []
        self._path_numbers: dict[tuple[str, ...], int] = {}
        self._slot_nodes = GrowingArray(np.int32)
        self._slot_documents = GrowingArray(np.int32)

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def slot_nodes(self) -> NDArray[np.int32]:
        """Per child the number of its node."""
        return self._slot_nodes.values

    @property
    def slot_documents(self) -> NDArray[np.int32]:
        """Per child the row of its document."""
        return self._slot_documents.values

    @property
    def nodes(self) -> Nodes:
        """The nodes as they are now."""
        return Nodes(
            ids=self._ids,
            numbers=self._numbers,
            previous=self._previous,
            header_paths=self._paths,
            **{name: column.values for name, column in self._node_columns.items()},
        )

    def append(
        self, rows: Sequence[DocumentRow], first_row: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Take in the nodes of several documents; how many nodes and how many children each has.

        Numbers within a document become numbers within the index. ``first_row`` is the row of the first document.
        """
        first_node, first_slot = len(self._ids), len(self._slot_nodes)
        counts = np.array([len(row.layout) // 24 for row in rows])
        children = np.array([len(row.term_counts) // 8 for row in rows])
        layout = joined(rows, "layout", np.int32).reshape(-1, 6)
        node_starts = np.repeat(np.cumsum(counts) - counts, counts)
        slot_starts = np.repeat(np.cumsum(children) - children, counts)
        paths = [self._number_paths(json.loads(row.header_paths)) for row in rows]
        path_starts = np.repeat(np.cumsum([0, *map(len, paths[:-1])]), counts)
        path_numbers = np.array([*itertools.chain.from_iterable(paths), -1], dtype=np.int32)

        def shifted(column: int, by: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.where(layout[:, column] < 0, -1, layout[:, column] + by)

        documents = np.repeat(np.arange(first_row, first_row + len(rows)), counts)
        slots = shifted(packing.CHILD, first_slot + slot_starts)
        parents = shifted(packing.PARENT, first_node + node_starts)
        first_children, child_counts = families(parents, first_node)
        columns: dict[str, NDArray[Any]] = {
            "documents": documents,
            "ordinals": np.arange(len(layout)) - node_starts,
            "parents": parents,
            "first_children": first_children,
            "child_counts": child_counts,
            "pieces": layout[:, packing.PIECE],
            "slots": slots,
            "starts": layout[:, packing.START],
            "ends": layout[:, packing.END],
            "paths": path_numbers[shifted(packing.PATH, path_starts)],
        }
        for name, values in columns.items():
            self._node_columns[name].extend(values)
        holders = np.flatnonzero(slots >= 0)
        by_slot = holders[np.argsort(slots[holders], kind="stable")]
        self._slot_nodes.extend(first_node + by_slot)
        self._slot_documents.extend(documents[by_slot])
        ids = list(itertools.chain.from_iterable(json.loads(row.node_ids) for row in rows))
        previous = []
        for number, node_id in enumerate(ids, start=first_node):
            previous.append(self._numbers.get(node_id, -1))
            self._numbers[node_id] = number
        # readers follow `numbers` to `previous`, so this comes first for them: they check the number's range
        self._previous.extend(previous)
        self._ids.extend(ids)
        return counts, children

    def _number_paths(self, paths: list[list[str]]) -> list[int]:
        numbers = []
        for path in map(tuple, paths):
            number = self._path_numbers.setdefault(path, len(self._paths))
            if number == len(self._paths):
                self._paths.append(path)
            numbers.append(number)
        return numbers
