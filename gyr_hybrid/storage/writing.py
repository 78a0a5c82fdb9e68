"""Documents into rows: everything that one commit writes."""

from __future__ import annotations

import itertools
import secrets
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.schema import MetadataMode

from gyr_hybrid.errors import DocumentError
from gyr_hybrid.storage.json_text import pack_text, to_json
from gyr_hybrid.storage.meta import GENERATION, STALE_CHILDREN, get_number, set_number
from gyr_hybrid.storage.packing import PackedDocument, pack_document
from gyr_hybrid.storage.postings import MAX_FREQUENCY, term_digests
from gyr_hybrid.storage.protocol import Batch, DocumentKey, DocumentRecord, Vector, embed_hash
from gyr_hybrid.storage.vector_table import VectorTable
from gyr_hybrid.storage.vectors import units
from gyr_hybrid.storage.visibility import Rules

RETIRED_FOR = 60.0
"""Seconds that a replaced or deleted document stays for readers that look at an older commit."""
KEPT_UNUSED = 20_000
"""Children that may have gone away before their vectors are looked through for the unused."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A record, checked and packed."""

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


def prepare(batch: Batch) -> list[Prepared]:
    """Check and pack the upserts of a batch; no transaction is needed yet.

    Raises:
        DocumentError: a record makes no sense.
        EmbeddingError: a vector is zero, NaN or infinite.
    """
    twice = [key for key, n in Counter(record.key for record in batch.upserts).items() if n > 1]
    if twice:
        raise DocumentError(f"the batch holds {twice[0]!r} twice; give each document its own id or version")
    return [_prepare(record) for record in batch.upserts]


class Writer:
    """Writes one batch inside a transaction of the caller's."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._vectors = VectorTable(connection)

    def write(self, deletes: Sequence[DocumentKey], documents: Sequence[Prepared]) -> int:
        """Delete, then write, and return the generation; nothing to do leaves the old one."""
        connection = self._connection
        generation = (get_number(connection, GENERATION) or 0) + 1
        for document in documents:
            if document.embedded:
                self._vectors.check_dimension(document.vectors)
        gone = self._retire([*deletes, *(d.record.key for d in documents)], generation)
        if not gone and not documents:
            return generation - 1
        keys = self._vector_keys(documents)
        for document in documents:
            try:
                self._insert(document, generation, keys)
            except UnicodeEncodeError as error:
                raise DocumentError(
                    f"document {document.record.document.id_!r} cannot be stored: {error}; "
                    "remove the half surrogate pair from its id, tenant or fingerprint"
                ) from error
        purge_retired(connection, time.time() - RETIRED_FOR)
        self._drop_unused(sum(gone.values()))
        set_number(connection, GENERATION, generation)
        return generation

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
                self._vectors.drop_unused()
                stale = 0
        set_number(self._connection, STALE_CHILDREN, stale)

    def _insert(self, prepared: Prepared, generation: int, vector_keys: Iterator[int]) -> None:
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
        doc_key, embedded = cursor.lastrowid, set(prepared.embedded)
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
                np.array(
                    [next(vector_keys) if child in embedded else 0 for child in packed.children],
                    dtype=np.int64,
                ).tobytes(),
                to_json(codes, doc_id) if codes else None,
            ),
        )
        self._connection.executemany(
            "INSERT INTO pieces VALUES (?, ?, ?, ?, ?)",
            [(doc_key, i, p.start, pack_text(p.text), p.nodes) for i, p in enumerate(packed.pieces)],
        )

    def _vector_keys(self, documents: Sequence[Prepared]) -> Iterator[int]:
        """Key of the vector of each embedded child, document by document."""
        matrices = [d.vectors for d in documents if d.embedded]
        if not matrices:
            return iter(())
        digests = [digest for d in documents for digest in d.hashes]
        return iter(self._vectors.keys(digests, np.concatenate(matrices)))


def _prepare(record: DocumentRecord) -> Prepared:
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
    return Prepared(
        record=record,
        packed=packed,
        rules=Rules.of(doc_id, record.document.metadata),
        counts=[Counter(record.tokens.get(child, ())) for child in packed.children],
        embedded=embedded,
        hashes=[bytes.fromhex(digest) for digest in hashes],
        vectors=units(vectors, embedded) if embedded else np.zeros((0, 0), dtype=np.float32),
    )


def _pack_terms(counts: Sequence[Counter[str]]) -> tuple[bytes, bytes, bytes]:
    """Counts per child, term keys, frequencies."""
    per_child = [(len(count), sum(count.values())) for count in counts]
    keys = term_digests(itertools.chain.from_iterable(counts))
    repeats = list(itertools.chain.from_iterable(count.values() for count in counts))
    if max(repeats, default=0) > MAX_FREQUENCY:
        repeats = [min(n, MAX_FREQUENCY) for n in repeats]
    return np.array(per_child, dtype=np.int32).tobytes(), keys, bytes(repeats)


def purge_retired(connection: sqlite3.Connection, before: float) -> None:
    """Remove documents that were retired before a moment (seconds since 1970)."""
    keys = "SELECT doc_key FROM documents WHERE retired_at IS NOT NULL AND retired_at < ?"
    for table in ("pieces", "contents", "postings"):
        connection.execute(f"DELETE FROM {table} WHERE doc_key IN ({keys})", (before,))
    connection.execute("DELETE FROM documents WHERE retired_at IS NOT NULL AND retired_at < ?", (before,))


def _text(value: object) -> str | None:
    return None if value is None else str(value).encode("utf-8", "replace").decode()
