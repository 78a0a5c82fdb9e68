"""Rows back into nodes, documents and vectors."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from llama_index.core.schema import Document, TextNode
from numpy.typing import NDArray

from gyr_hybrid.storage.matrix import Matrix
from gyr_hybrid.storage.packing import PIECE
from gyr_hybrid.storage.unpacking import NodeReader, unpack_document, unpack_text
from gyr_hybrid.storage.vectors import decode

_READ_AT_ONCE = 2048
_FEW = 4096
"""Up to so many rows are looked up by key; more are found faster by reading the whole table."""


def read_nodes(
    connection: sqlite3.Connection, wanted: Sequence[tuple[int, int, int]]
) -> list[TextNode | None]:
    """Nodes by (document key, piece, ordinal); None where the document is gone."""
    by_document: dict[int, list[tuple[int, int]]] = {}
    for doc_key, piece, ordinal in wanted:
        by_document.setdefault(doc_key, []).append((piece, ordinal))
    readers: dict[int, NodeReader] = {}
    for doc_key, places in by_document.items():
        row = connection.execute(
            "SELECT shared, node_ids, layout FROM contents WHERE doc_key = ?", (doc_key,)
        ).fetchone()
        if row is None:
            continue
        shared, node_ids, layout = row
        reader = NodeReader(shared, json.loads(node_ids))
        reader.add(read_pieces(connection, doc_key, {piece for piece, _ in places}))
        more = reader.neighbours([ordinal for _, ordinal in places])
        if more:
            pieces = np.frombuffer(layout, dtype=np.int32).reshape(-1, 6)[list(more), PIECE]
            reader.add(read_pieces(connection, doc_key, set(pieces.tolist())))
        readers[doc_key] = reader
    return [readers[doc_key].node(ordinal) if doc_key in readers else None for doc_key, _, ordinal in wanted]


def read_pieces(
    connection: sqlite3.Connection, doc_key: int, numbers: Iterable[int] | None = None
) -> list[tuple[int, str, str]]:
    """(Start, text, nodes) of some pieces of a document, or of all."""
    if numbers is None:
        rows = connection.execute(
            "SELECT start, text, nodes FROM pieces WHERE doc_key = ? ORDER BY number", (doc_key,)
        )
    else:
        rows = connection.execute(
            "SELECT start, text, nodes FROM pieces "
            "WHERE doc_key = ? AND number IN (SELECT value FROM json_each(?))",
            (doc_key, json.dumps(list(numbers))),
        )
    return [(start, unpack_text(text), nodes) for start, text, nodes in rows]


def read_document(connection: sqlite3.Connection, doc_key: int) -> Document | None:
    """A document with its whole text; None when it is gone."""
    row = connection.execute(
        "SELECT doc_id, document FROM documents JOIN contents USING (doc_key) WHERE doc_key = ?", (doc_key,)
    ).fetchone()
    if row is None:
        return None
    return unpack_document(row[0], row[1], "".join(text for _, text, _ in read_pieces(connection, doc_key)))


def child_metadata(
    connection: sqlite3.Connection, doc_keys: NDArray[np.int64], rows: Iterable[int]
) -> Iterator[tuple[int, Callable[[int], dict[str, Any]]]]:
    """Per document that is still there its row and a function from a node's ordinal to its metadata."""
    for row in rows:
        doc_key = int(doc_keys[row])
        found = connection.execute(
            "SELECT shared, node_ids FROM contents WHERE doc_key = ?", (doc_key,)
        ).fetchone()
        if found is not None:
            reader = NodeReader(found[0], json.loads(found[1]))
            reader.add(read_pieces(connection, doc_key))
            yield row, reader.metadata


def read_postings(
    connection: sqlite3.Connection, doc_keys: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Term keys and frequencies of documents given by ascending key, one after the other."""
    keys: list[bytes] = []
    frequencies: list[bytes] = []
    wanted = set(doc_keys.tolist())
    if len(wanted) <= _FEW:
        cursor = connection.execute(
            "SELECT doc_key, term_keys, frequencies FROM postings "
            "WHERE doc_key IN (SELECT value FROM json_each(?)) ORDER BY doc_key",
            (json.dumps(doc_keys.tolist()),),
        )
    else:
        cursor = connection.execute("SELECT doc_key, term_keys, frequencies FROM postings ORDER BY doc_key")
    for doc_key, held, repeats in cursor:
        if doc_key in wanted:
            keys.append(held)
            frequencies.append(repeats)
    return np.frombuffer(b"".join(keys), np.uint64), np.frombuffer(b"".join(frequencies), np.uint8)


def read_vectors(
    connection: sqlite3.Connection, keys: NDArray[np.int64], slots: NDArray[np.int64], matrix: Matrix
) -> None:
    """Write the vectors with these keys into these rows of the matrix; several rows may share a key."""
    order = np.argsort(keys, kind="stable")
    keys, slots = keys[order], slots[order]
    if len(keys) <= _FEW:
        cursor = connection.execute(
            "SELECT vector_key, vector FROM vectors WHERE vector_key IN (SELECT value FROM json_each(?))",
            (json.dumps(np.unique(keys).tolist()),),
        )
    else:
        cursor = connection.execute("SELECT vector_key, vector FROM vectors ORDER BY vector_key")
    while rows := cursor.fetchmany(_READ_AT_ONCE):
        found = np.array([key for key, _ in rows], dtype=np.int64)
        vectors = decode([vector for _, vector in rows])
        first = np.searchsorted(keys, found, side="left")
        repeats = np.searchsorted(keys, found, side="right") - first
        source = np.repeat(np.arange(len(found)), repeats)
        within = np.arange(len(source)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        matrix.write(slots[first[source] + within], vectors[source])
