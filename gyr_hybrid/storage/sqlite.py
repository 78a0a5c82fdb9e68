"""The embedded engine: one SQLite file is the truth, everything that searches is derived from it in memory.

A commit writes whole documents. The search structures follow it, here at once and in other processes with
their next question: every row carries the generation that brought it, every removal the one that took it.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_index.core.schema import Document, TextNode

from gyr_hybrid.errors import StorageError
from gyr_hybrid.storage import cache, upkeep
from gyr_hybrid.storage.connections import MEMORY, Connections
from gyr_hybrid.storage.following import Follower
from gyr_hybrid.storage.meta import DIMENSION, FOLLOWED_FROM, GENERATION, Meta, get_number, set_number
from gyr_hybrid.storage.protocol import (
    EVERYTHING,
    Batch,
    CheckReport,
    DocumentInfo,
    DocumentKey,
    Scope,
    Vector,
)
from gyr_hybrid.storage.reading import read_document, read_nodes
from gyr_hybrid.storage.schema import FILE_NAME, FORMAT, transaction
from gyr_hybrid.storage.vector_table import VectorTable
from gyr_hybrid.storage.vectors import decode
from gyr_hybrid.storage.view import SnapshotView
from gyr_hybrid.storage.writing import Writer, prepare, purge_retired

if TYPE_CHECKING:
    from typing import Self

WRITE_TIMEOUT = 30.0
"""Seconds that a writer waits for another one."""


class SQLiteStore:
    """A ``KnowledgeStore`` in a folder, or in memory; made by ``open``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        path = connections.path
        self._follower = Follower(
            connections.reading,
            cache_file=None if path == MEMORY else Path(path).with_name(cache.FILE_NAME),
            keeps=not connections.read_only,
        )
        self._rebuilding: threading.Thread | None = None

    @classmethod
    def open(
        cls, location: str | Path | None, *, read_only: bool = False, write_timeout: float = WRITE_TIMEOUT
    ) -> Self:
        """Open the index in a folder, or create it there.

        Args:
            location: a folder; None keeps everything in memory.
            read_only: refuse to create and to write.
            write_timeout: seconds to wait while another process writes.

        Raises:
            StorageError: the location is no folder, cannot be used, holds something else or a newer format.
        """
        if location is None:
            return cls(Connections(MEMORY, read_only=False, write_timeout=write_timeout))
        if not str(location).strip() or "://" in str(location):
            raise StorageError(
                f"location={str(location)!r} is no folder; give the path of one, or None for memory"
            )
        folder = Path(location)
        if folder.exists() and not folder.is_dir():
            raise StorageError(f"{folder} is a file; an index needs a folder")
        path = folder / FILE_NAME
        if read_only and not path.exists():
            raise StorageError(f"{folder} holds no index; open it without read_only=True to create one")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"cannot create the folder {folder}: {error.strerror}; choose another"
            ) from error
        return cls(Connections(str(path), read_only=read_only, write_timeout=write_timeout))

    # writing

    def apply(self, batch: Batch) -> int:
        """Carry out a batch in one transaction; see ``KnowledgeStore.apply``."""
        self._connections.must_write()
        prepared = prepare(batch)
        with self._connections.writing("write") as connection:
            generation = Writer(connection).write(batch.deletes, prepared)
        self._follower.keep_up()
        return generation

    def cache_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors by the hash of their text."""
        self._connections.must_write()
        if vectors:
            with self._connections.writing("keep vectors") as connection:
                VectorTable(connection).keep(vectors)

    @property
    def meta(self) -> Meta:
        """Facts about the index, as JSON values."""
        return Meta(self._connections.reading, self._connections.writing)

    # reading

    def view(self, scope: Scope = EVERYTHING) -> SnapshotView:
        """What a scope sees of the newest commit of any process."""
        snapshot, masks, codes = self._follower.see(scope)
        self._rebuild_if_worth()
        return SnapshotView(snapshot, masks, codes, self)

    def fingerprints(self, keys: Sequence[DocumentKey]) -> dict[DocumentKey, str]:
        """Fingerprints of the documents that are stored."""
        wanted = json.dumps([[doc_id, version or ""] for doc_id, version in keys])
        with self._connections.reading("read fingerprints") as connection:
            rows = connection.execute(
                "SELECT d.doc_id, d.version, d.fingerprint FROM json_each(?) AS k JOIN documents AS d "
                "ON d.doc_id = k.value ->> 0 AND d.version = k.value ->> 1 WHERE d.retired_at IS NULL",
                (wanted,),
            ).fetchall()
        return {(doc_id, version or None): fingerprint for doc_id, version, fingerprint in rows}

    def documents(self) -> list[DocumentInfo]:
        """All versions of all documents, by doc id and version."""
        with self._connections.reading("list documents") as connection:
            rows = connection.execute(
                "SELECT doc_id, version, root, source, title, fingerprint, n_sections, n_children "
                "FROM documents WHERE retired_at IS NULL ORDER BY doc_id, version"
            ).fetchall()
        return [DocumentInfo(row[0], row[1] or None, *row[2:]) for row in rows]

    def read(self, key: DocumentKey) -> Document | None:
        """One version of one document, whether valid or not; None when there is none."""
        with self._connections.reading("look up a document") as connection:
            row = connection.execute(
                "SELECT doc_key FROM documents WHERE doc_id = ? AND version = ? AND retired_at IS NULL",
                (key[0], key[1] or ""),
            ).fetchone()
        return None if row is None else self.read_document(row[0])

    def cached_vectors(self, hashes: Sequence[str]) -> dict[str, Vector]:
        """Vectors by the hash of their text, where there are any."""
        wanted = list(dict.fromkeys(hashes))
        found: dict[str, Vector] = {}
        with self._connections.reading("read vectors") as connection:
            for part in ([bytes.fromhex(h) for h in wanted[i : i + 500]] for i in range(0, len(wanted), 500)):
                rows = connection.execute(
                    f"SELECT hash, vector FROM vectors WHERE hash IN ({','.join('?' * len(part))})", part
                )
                found.update((digest.hex(), decode([blob])[0]) for digest, blob in rows)
        return found

    # what views read

    def read_nodes(self, wanted: Sequence[tuple[int, int, int]]) -> list[TextNode | None]:
        """Nodes by (document key, piece, ordinal)."""
        with self._connections.reading("read nodes") as connection, transaction(connection):
            return read_nodes(connection, wanted)

    def read_document(self, doc_key: int) -> Document | None:
        """A document with its text."""
        with self._connections.reading("read a document") as connection, transaction(connection):
            return read_document(connection, doc_key)

    # upkeep

    def stats(self) -> dict[str, Any]:
        """Where the index is, its format, and how much there is of everything."""
        with self._connections.reading("count") as connection, transaction(connection):
            counts = upkeep.count_rows(connection)
            generation = get_number(connection, GENERATION) or 0
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            (page_size,) = connection.execute("PRAGMA page_size").fetchone()
        path = self._connections.path
        location = None if path == MEMORY else str(Path(path).parent)
        return {
            "location": location,
            "format": FORMAT,
            "generation": generation,
            **counts,
            "bytes": pages * page_size,
        }

    def check(self, repair: bool = True) -> CheckReport:
        """Verify the database against itself, and mend what can be worked out again."""
        if self._connections.read_only or not repair:
            with self._connections.reading("check") as connection, transaction(connection):
                dimension = get_number(connection, DIMENSION)
                return upkeep.Checker(connection, repair=False, dimension=dimension).run()
        with self._connections.writing("check") as connection:
            dimension = get_number(connection, DIMENSION)
            report = upkeep.Checker(connection, repair=True, dimension=dimension).run()
            if report.repaired or report.problems:
                _start_over(connection)
        self._follower.forget()
        return report

    def backup(self, path: str | Path) -> None:
        """Copy the database to one file while it is in use; put it into a folder of its own to open it."""
        with self._connections.reading("back up") as connection:
            upkeep.back_up(connection, Path(path))

    def compact(self) -> None:
        """Give back the space of deleted documents and of vectors that no document needs."""
        with self._connections.writing("compact") as connection:
            purge_retired(connection, time.time())
            VectorTable(connection).drop_unused()
            connection.execute("DELETE FROM removals")
            _start_over(connection)
        with self._connections.exclusive("compact") as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._follower.keep_up()

    def close(self) -> None:
        """Release the files; a second call does nothing."""
        if self._rebuilding is not None:
            self._rebuilding.join()
        with self._follower.lock:
            if self._connections.usable:
                self._follower.save()
            self._follower.forget()
            self._connections.close()

    def _rebuild_if_worth(self) -> None:
        if not self._follower.wants_rebuilding():
            return
        if self._connections.path == MEMORY:
            with self._follower.lock, self._connections.reading("rebuild") as connection:
                self._follower.rebuild(connection)
        elif self._rebuilding is None or not self._rebuilding.is_alive():
            self._rebuilding = threading.Thread(target=self._rebuild_aside, name="gyr-hybrid-rebuild")
            self._rebuilding.start()

    def _rebuild_aside(self) -> None:
        # what fails here is tried again after a later commit; until then the old structures serve
        with (
            contextlib.suppress(sqlite3.Error, StorageError),
            contextlib.closing(self._connections.another()) as connection,
        ):
            self._follower.rebuild(connection)


def _start_over(connection: sqlite3.Connection) -> None:
    """Make every process build its search structures anew."""
    generation = (get_number(connection, GENERATION) or 0) + 1
    set_number(connection, GENERATION, generation)
    set_number(connection, FOLLOWED_FROM, generation)
