"""Rows of documents as the search structures take them in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.storage.visibility import Rules


class DocumentRow(NamedTuple):
    doc_key: int
    stamp: int
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
    term_counts: bytes
    vector_keys: bytes
    codes: str | None

    @property
    def rules(self) -> Rules:
        return Rules.from_columns(*self[3:9])


SELECT_ALL = (
    f"SELECT {', '.join(DocumentRow._fields)} FROM documents JOIN contents USING (doc_key) "
    "WHERE retired_at IS NULL AND generation > ? ORDER BY doc_key"
)
SELECT_NEW = SELECT_ALL.replace("documents JOIN", "documents INDEXED BY new_documents JOIN")


def families(parents: NDArray[np.int64], first: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per node its first child and how many follow each other; ``first`` is the number of the first node."""
    first_children = np.full(len(parents), -1)
    counts = np.zeros(len(parents), dtype=np.int64)
    children = np.flatnonzero(parents >= 0)
    owners, begin, count = np.unique(parents[children], return_index=True, return_counts=True)
    end = len(children) - 1 - np.unique(parents[children][::-1], return_index=True)[1]
    together = children[end] - children[begin] + 1 == count
    first_children[owners - first] = children[begin] + first
    counts[owners - first] = np.where(together, count, 0)
    return first_children, counts


def joined(rows: Sequence[DocumentRow], column: str, dtype: Any) -> NDArray[Any]:
    return np.frombuffer(b"".join([getattr(row, column) for row in rows]), dtype=dtype)
