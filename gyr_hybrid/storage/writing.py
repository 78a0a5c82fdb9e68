"""Documents into rows: everything that one commit writes."""

from __future__ import annotations

import itertools
import secrets
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.schema import MetadataMode

from gyr_hybrid.errors import DocumentError, EmbeddingError
from gyr_hybrid.storage.meta import DIMENSION, GENERATION, STALE_CHILDREN, get_number, set_number
from gyr_hybrid.storage.packing import PackedDocument, pack_document, pack_text, to_json
from gyr_hybrid.storage.postings import MAX_FREQUENCY, term_digest
from gyr_hybrid.storage.protocol import Batch, DocumentKey, DocumentRecord, Vector, embed_hash
from gyr_hybrid.storage.vectors import decode, encode, units
from gyr_hybrid.storage.visibility import Rules

RETIRED_FOR = 60.0
"""Seconds that a replaced or deleted document stays for readers that look at an older commit."""
KEPT_UNUSED = 20_000
"""Children that may have gone away before their vectors are looked through for the unused."""
SAME_VECTOR = 1e-3
"""Vectors of one text that differ by less in every number are the same; services repeat themselves so closely."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    record: DocumentRecord
    packed: PackedDocument
    rules: Rules
    counts: list[Counter[str]]
    """Per child its tokens."""
    embedded: list[str]
    """Ids of the children that have a vector."""
    hashes: list[bytes]
    """Of their EMBED texts."""
    vectors: Vector
    """Of length 1, shape (embedded, dimension)."""


class Writer:
    """Writes one batch. ``prepare`` needs no transaction, ``write`` runs inside one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def prepare(self, batch: Batch) -> tuple[Batch, list[_Prepared]]:
        """Check and pack a batch."""
        keys = [record.key for record in batch.upserts]
        twice = [key for key, n in Counter(keys).items() if n > 1]
        if twice:
            raise DocumentError(
                f"the batch holds {twice[0]!r} twice; give each document its own id or version"
            )
        return batch, [self._prepare(record) for record in batch.upserts]

    def write(self, prepared: tuple[Batch, list[_Prepared]]) -> int:
        """Write the batch and return its generation; nothing to do leaves the old one."""
        batch, documents = prepared
        connection = self._connection
        generation = (get_number(connection, GENERATION) or 0) + 1
        self._check_dimension(d.vectors for d in documents if d.embedded)
        gone = self._retire([*batch.deletes, *(d.record.key for d in documents)], generation)
        if not gone and not documents:
            return generation - 1
        keys = self._vector_keys(documents)
        for document, vector_keys in zip(documents, keys, strict=True):
            try:
                self._insert(document, generation, vector_keys)
            except UnicodeEncodeError as error:
                raise DocumentError(
                    f"document {document.record.document.id_!r} cannot be stored: {error}; "
                    "remove the half surrogate pair from its id, tenant or fingerprint"
                ) from error
        purge_retired(connection, time.time() - RETIRED_FOR)
        self._drop_unused(sum(gone.values()))
        set_number(connection, GENERATION, generation)
        return generation

    def keep(self, vectors: Mapping[str, Vector]) -> None:
        """Put vectors into the cache by the hash of their text."""
        matrix = units(list(vectors.values()), list(vectors))
        self._check_dimension([matrix])
        self._connection.executemany(
            "INSERT INTO vectors (hash, vector) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING",
            list(zip(map(bytes.fromhex, vectors), encode(matrix), strict=True)),
        )

    def _prepare(self, record: DocumentRecord) -> _Prepared:
        doc_id = record.document.id_
        packed = pack_document(record.document, record.nodes)
        children = set(packed.children)
        for name, ids in (("tokens", record.tokens), ("codes", record.codes), ("vectors", record.vectors)):
            unknown = next((i for i in ids if i not in children), None)
            if unknown is not None:
                raise DocumentError(
                    f"document {doc_id!r}: {name} are given for {unknown!r}, which is no child of it"
                )
        embedded = [child for child in packed.children if child in record.vectors]
        nodes = {node.node_id: node for node in record.nodes} if len(record.hashes) < len(embedded) else {}
        hashes = [
            record.hashes.get(child) or embed_hash(nodes[child].get_content(MetadataMode.EMBED))
            for child in embedded
        ]
        vectors = [record.vectors[child] for child in embedded]
        return _Prepared(
            record=record,
            packed=packed,
            rules=Rules.of(doc_id, record.document.metadata),
            counts=[Counter(record.tokens.get(child, ())) for child in packed.children],
            embedded=embedded,
            hashes=[bytes.fromhex(digest) for digest in hashes],
            vectors=units(vectors, embedded) if embedded else np.zeros((0, 0), dtype=np.float32),
        )

    def _retire(self, keys: Iterable[DocumentKey], generation: int) -> dict[int, int]:
        """Take documents away; document key -> children of those that were there."""
        gone: dict[int, int] = {}
        for doc_id, version in dict.fromkeys(keys):
            row = self._connection.execute(
                "SELECT doc_key, n_children FROM documents "
                "WHERE doc_id = ? AND version = ? AND retired_at IS NULL",
                (doc_id, version or ""),
            ).fetchone()
            if row is not None:
                gone[row[0]] = row[1]
        now = time.time()
        self._connection.executemany(
            "UPDATE documents SET retired_at = ? WHERE doc_key = ?", [(now, key) for key in gone]
        )
        self._connection.executemany(
            "INSERT INTO removals VALUES (?, ?)", [(key, generation) for key in gone]
        )
        return gone

    def _drop_unused(self, stale: int) -> None:
        """Drop vectors that nothing refers to, once as many children went away as there are."""
        stale += get_number(self._connection, STALE_CHILDREN) or 0
        if stale > KEPT_UNUSED:
            (live,) = self._connection.execute(
                "SELECT coalesce(sum(n_children), 0) FROM documents WHERE retired_at IS NULL"
            ).fetchone()
            if stale > live:
                drop_unused_vectors(self._connection)
                stale = 0
        set_number(self._connection, STALE_CHILDREN, stale)

    def _insert(self, prepared: _Prepared, generation: int, vector_keys: Mapping[str, int]) -> None:
        record, packed, rules = prepared.record, prepared.packed, prepared.rules
        codes = [
            [
                i,
                *(
                    [m.text, m.canonical, m.compact, m.kind, m.number, m.defining]
                    for m in record.codes[child]
                ),
            ]
            for i, child in enumerate(packed.children)
            if record.codes.get(child)
        ]
        doc_id, metadata = record.document.id_, record.document.metadata
        cursor = self._connection.execute(
            "INSERT INTO documents (doc_id, version, tenant, acl, valid_from, valid_to, updated_at, generation, "
            "stamp, fingerprint, root, source, title, n_sections, n_children) "
            "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                doc_id,
                *rules.columns,
                generation,
                secrets.randbits(63),
                record.fingerprint,
                _text(record.root),
                _text(metadata.get("source") if record.source is None else record.source),
                _text(metadata.get("title")),
                packed.n_sections,
                len(packed.children),
            ),
        )
        doc_key = cursor.lastrowid
        term_counts, term_keys, frequencies = _pack_terms(prepared.counts)
        self._connection.execute("INSERT INTO postings VALUES (?,?,?)", (doc_key, term_keys, frequencies))
        self._connection.execute(
            "INSERT INTO contents VALUES (?,?,?,?,?,?,?,?,?)",
            (
                doc_key,
                packed.document,
                packed.shared,
                to_json(packed.node_ids, doc_id),
                to_json(packed.paths, doc_id),
                packed.layout.tobytes(),
                term_counts,
                np.array([vector_keys.get(child, 0) for child in packed.children], dtype=np.int64).tobytes(),
                to_json(codes, doc_id) if codes else None,
            ),
        )
        self._connection.executemany(
            "INSERT INTO pieces VALUES (?, ?, ?, ?, ?)",
            [(doc_key, i, p.start, pack_text(p.text), p.nodes) for i, p in enumerate(packed.pieces)],
        )

    def _vector_keys(self, documents: Sequence[_Prepared]) -> list[dict[str, int]]:
        """Per document its embedded children and the keys of their vectors; one that is kept is shared."""
        digests = [digest for d in documents for digest in d.hashes]
        if not digests:
            return [{} for _ in documents]
        matrix = np.concatenate([d.vectors for d in documents if d.embedded])
        kept, kept_vectors = self._kept(digests)
        first: dict[bytes, int] = {}
        (last,) = self._connection.execute("SELECT coalesce(max(vector_key), 0) FROM vectors").fetchone()
        keys: list[int] = []
        fresh: list[int] = []
        for row, digest in enumerate(digests):
            known = kept_vectors[kept[digest][1]] if digest in kept else None
            if known is None and digest in first:
                known = matrix[first[digest]]
            if known is not None and np.abs(known - matrix[row]).max() <= SAME_VECTOR:
                keys.append(kept[digest][0] if digest in kept else keys[first[digest]])
                continue
            if known is None:
                first[digest] = row
            fresh.append(row)
            keys.append(last + len(fresh))
        hashes = [digests[row] if first.get(digests[row]) == row else None for row in fresh]
        self._connection.executemany(
            "INSERT INTO vectors (vector_key, hash, vector) VALUES (?, ?, ?)",
            list(zip([keys[row] for row in fresh], hashes, encode(matrix[fresh]), strict=True))
            if fresh
            else [],
        )
        numbers = iter(keys)
        return [
            dict(zip(d.embedded, itertools.islice(numbers, len(d.embedded)), strict=True)) for d in documents
        ]

    def _kept(self, digests: Sequence[bytes]) -> tuple[dict[bytes, tuple[int, int]], Vector]:
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

    def _check_dimension(self, matrices: Iterable[Vector]) -> None:
        known = get_number(self._connection, DIMENSION)
        for matrix in matrices:
            dimension = matrix.shape[1]
            if known is None:
                known = dimension
                set_number(self._connection, DIMENSION, known)
            elif dimension != known:
                raise EmbeddingError(
                    f"a vector has {dimension} dimensions, the index {known}; "
                    "use the embedding model that the index was built with, or build a new index"
                )


def _pack_terms(counts: Sequence[Counter[str]]) -> tuple[bytes, bytes, bytes]:
    """Counts per child, term keys, frequencies."""
    per_child = [(len(count), sum(count.values())) for count in counts]
    keys = b"".join(map(term_digest, itertools.chain.from_iterable(counts)))
    repeats = list(itertools.chain.from_iterable(count.values() for count in counts))
    if max(repeats, default=0) > MAX_FREQUENCY:
        repeats = [min(n, MAX_FREQUENCY) for n in repeats]
    return np.array(per_child, dtype=np.int32).tobytes(), keys, bytes(repeats)


def drop_unused_vectors(connection: sqlite3.Connection) -> None:
    """Remove the vectors that no document refers to."""
    used: set[int] = set()
    for (keys,) in connection.execute("SELECT vector_keys FROM contents"):
        used.update(np.frombuffer(keys, dtype=np.int64).tolist())
    unused = [(key,) for (key,) in connection.execute("SELECT vector_key FROM vectors") if key not in used]
    connection.executemany("DELETE FROM vectors WHERE vector_key = ?", unused)


def purge_retired(connection: sqlite3.Connection, before: float) -> None:
    """Remove documents that were retired before a moment (seconds since 1970)."""
    keys = "SELECT doc_key FROM documents WHERE retired_at IS NOT NULL AND retired_at < ?"
    for table in ("pieces", "contents", "postings"):
        connection.execute(f"DELETE FROM {table} WHERE doc_key IN ({keys})", (before,))
    connection.execute("DELETE FROM documents WHERE retired_at IS NOT NULL AND retired_at < ?", (before,))


def _text(value: object) -> str | None:
    return None if value is None else str(value).encode("utf-8", "replace").decode()
