"""The table of vectors: found by the hash of their text, shared by all children with that text."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np

from gyr_hybrid.errors import EmbeddingError
from gyr_hybrid.storage.meta import DIMENSION, get_number, set_number
from gyr_hybrid.storage.protocol import Vector
from gyr_hybrid.storage.vectors import decode, encode, units

SAME_VECTOR = 1e-3
"""Vectors of one text that differ by less in every number are the same; services repeat themselves so closely."""


class VectorTable:
    """Vectors of live documents, and the cache of earlier runs; used inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def keep(self, vectors: Mapping[str, Vector]) -> None:
        """Put vectors there by the hash of their text; those that are there already stay."""
        matrix = units(list(vectors.values()), list(vectors))
        self.check_dimension(matrix)
        self._connection.executemany(
            "INSERT INTO vectors (hash, vector) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING",
            list(zip(map(bytes.fromhex, vectors), encode(matrix), strict=True)),
        )

    def keys(self, digests: Sequence[bytes], matrix: Vector) -> list[int]:
        """Key of each row of a matrix of unit vectors, whose texts have these hashes.

        A vector that is kept is shared; another one of the same text gets a row that no hash finds.
        """
        kept, kept_vectors = self._find(digests)
        (last,) = self._connection.execute("SELECT coalesce(max(vector_key), 0) FROM vectors").fetchone()
        first: dict[bytes, int] = {}
        keys: list[int] = []
        fresh: list[int] = []
        for row, digest in enumerate(digests):
            known = None
            if digest in kept:
                key, place = kept[digest]
                known = kept_vectors[place]
            elif digest in first:
                key, known = keys[first[digest]], matrix[first[digest]]
            if known is not None and np.abs(known - matrix[row]).max() <= SAME_VECTOR:
                keys.append(key)
                continue
            if known is None:
                first[digest] = row
            fresh.append(row)
            keys.append(last + len(fresh))
        if fresh:
            hashes = [digests[row] if first.get(digests[row]) == row else None for row in fresh]
            self._connection.executemany(
                "INSERT INTO vectors (vector_key, hash, vector) VALUES (?, ?, ?)",
                list(zip([keys[row] for row in fresh], hashes, encode(matrix[fresh]), strict=True)),
            )
        return keys

    def check_dimension(self, matrix: Vector) -> None:
        """Note the dimension of the first vectors; all others must have it.

        Raises:
            EmbeddingError: these have another one.
        """
        known, given = get_number(self._connection, DIMENSION), matrix.shape[1]
        if known is None:
            set_number(self._connection, DIMENSION, given)
        elif given != known:
            raise EmbeddingError(
                f"a vector has {given} dimensions, the index {known}; "
                "use the embedding model that the index was built with, or build a new index"
            )

    def drop_unused(self) -> None:
        """Remove the vectors that no document refers to."""
        used: set[int] = set()
        for (keys,) in self._connection.execute("SELECT vector_keys FROM contents"):
            used.update(np.frombuffer(keys, dtype=np.int64).tolist())
        found = self._connection.execute("SELECT vector_key FROM vectors")
        unused = [(key,) for (key,) in found if key not in used]
        self._connection.executemany("DELETE FROM vectors WHERE vector_key = ?", unused)

    def _find(self, digests: Sequence[bytes]) -> tuple[dict[bytes, tuple[int, int]], Vector]:
        """Hash -> key and row of the vectors that are kept, and these."""
        wanted = list(dict.fromkeys(digests))
        rows: list[tuple[bytes, int, bytes]] = []
        for part in (wanted[i : i + 500] for i in range(0, len(wanted), 500)):
            marks = ",".join("?" * len(part))
            rows += self._connection.execute(
                f"SELECT hash, vector_key, vector FROM vectors WHERE hash IN ({marks})", part
            )
        places = {digest: (key, row) for row, (digest, key, _) in enumerate(rows)}
        return places, decode([blob for _, _, blob in rows]) if rows else np.zeros((0, 0), dtype=np.float32)
