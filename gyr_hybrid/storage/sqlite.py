"""The embedded engine: one SQLite file is the truth, everything that searches is derived from it in memory.

A commit writes whole documents. The search structures follow after it, here at once and in other processes
with their next question: every row carries the generation that brought it, every removal the one that took it.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from llama_index.core.schema import Document, TextNode
from numpy.typing import NDArray

from gyr_hybrid.errors import StorageError
from gyr_hybrid.storage import schema
from gyr_hybrid.storage.derived import DerivedIndex
from gyr_hybrid.storage.filters import names_key
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
from gyr_hybrid.storage.schema import FILE_NAME, FORMAT, transaction, translated
from gyr_hybrid.storage.snapshot import Snapshot
from gyr_hybrid.storage.terms import Terms
from gyr_hybrid.storage.vectors import decode
from gyr_hybrid.storage.view import FEW, Masks, SnapshotView
from gyr_hybrid.storage.writing import Writer

if TYPE_CHECKING:
    from typing import Self


Bool = NDArray[np.bool_]

WRITE_TIMEOUT = 30.0
"""Seconds that a writer waits for another one."""
_KEPT_MASKS = 64
_INTERNAL = "store."


class SQLiteStore:
    """A ``KnowledgeStore`` in a folder, or in memory."""

    def __init__(self, path: str, *, read_only: bool, write_timeout: float) -> None:
        """``path``: the database file, or ``:memory:``; use ``open``."""
        self._path = path
        self._read_only = read_only
        self._write_timeout = write_timeout
        self._write_lock = threading.RLock()
        self._index_lock = threading.RLock()
        self._terms = Terms()
        self._index: DerivedIndex | None = None
        self._masks: OrderedDict[tuple[int, int, Scope, date], Masks] = OrderedDict()
        self._closed = False
        with translated(f"open {path}"):
            self._writer = schema.connect(path, timeout=write_timeout, read_only=read_only)
            try:
                schema.prepare(self._writer, path, read_only=read_only, timeout=write_timeout)
                if path == ":memory:" or read_only:
                    self._reader, self._read_lock = self._writer, self._write_lock
                else:
                    self._reader = schema.connect(path, timeout=write_timeout)
                    self._read_lock = threading.RLock()
            except BaseException:
                self._writer.close()
                raise

    @classmethod
    def open(
        cls,
        location: str | Path | None,
        *,
        read_only: bool = False,
        write_timeout: float = WRITE_TIMEOUT,
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
            return cls(":memory:", read_only=False, write_timeout=write_timeout)
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
                f"cannot create the folder {folder}: {error.strerror}; choose another path"
            ) from error
        return cls(str(path), read_only=read_only, write_timeout=write_timeout)

    # writing

    def apply(self, batch: Batch) -> int:
        self._must_write()
        writer = Writer(self._writer, self._terms)
        prepared = writer.prepare(batch)
        with self._writing("write"):
            generation = writer.write(prepared)
        writer.committed()
        if self._index is not None:
            self._follow()
        return generation

    def cache_vectors(self, vectors: Mapping[str, Vector]) -> None:
        self._must_write()
        if not vectors:
            return
        writer = Writer(self._writer, self._terms)
        with self._writing("keep vectors"):
            writer.keep(vectors)

    # reading

    def view(self, scope: Scope = EVERYTHING) -> SnapshotView:
        with self._index_lock:
            index = self._follow()
            snapshot = index.snapshot
            day = scope.as_of or date.today()
            key = (id(index), snapshot.generation, scope, day)
            masks = self._masks.get(key)
            if masks is None:
                masks = self._masks[key] = self._make_masks(index, snapshot, scope, day)
                while len(self._masks) > _KEPT_MASKS:
                    self._masks.popitem(last=False)
            codes = index.codes.view(masks.visible, masks.passing)
            return SnapshotView(snapshot, masks, codes, _Source(self))

    def fingerprints(self, keys: Sequence[DocumentKey]) -> dict[DocumentKey, str]:
        wanted = json.dumps([[doc_id, version or ""] for doc_id, version in keys])
        with self._reading("read fingerprints") as connection:
            rows = connection.execute(
                "SELECT d.doc_id, d.version, d.fingerprint FROM json_each(?) AS k JOIN documents AS d "
                "ON d.doc_id = k.value ->> 0 AND d.version = k.value ->> 1 WHERE d.retired_at IS NULL",
                (wanted,),
            ).fetchall()
        return {(doc_id, version or None): fingerprint for doc_id, version, fingerprint in rows}

    def documents(self) -> list[DocumentInfo]:
        with self._reading("list documents") as connection:
            rows = connection.execute(
                "SELECT doc_id, version, root, source, title, fingerprint, n_sections, n_children "
                "FROM documents WHERE retired_at IS NULL ORDER BY doc_id, version"
            ).fetchall()
        return [DocumentInfo(row[0], row[1] or None, *row[2:]) for row in rows]

    def cached_vectors(self, hashes: Sequence[str]) -> dict[str, Vector]:
        wanted = list(dict.fromkeys(hashes))
        found: dict[str, Vector] = {}
        with self._reading("read vectors") as connection:
            for start in range(0, len(wanted), 500):
                part = [bytes.fromhex(h) for h in wanted[start : start + 500]]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT hash, vector FROM vectors WHERE hash IN ({marks})", part)
                found.update((h.hex(), decode([v])[0]) for h, v in rows)
        return found

    @property
    def meta(self) -> MutableMapping[str, Any]:
        return _Meta(self)

    def stats(self) -> dict[str, Any]:
        with self._reading("count") as connection, transaction(connection):
            documents, versions, sections, children = connection.execute(
                "SELECT count(DISTINCT doc_id), count(*), coalesce(sum(n_sections), 0), coalesce(sum(n_children), 0) "
                "FROM documents WHERE retired_at IS NULL"
            ).fetchone()
            (vectors,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
            (terms,) = connection.execute("SELECT count(*) FROM terms").fetchone()
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            (page_size,) = connection.execute("PRAGMA page_size").fetchone()
            generation = self._generation(connection)
        return {
            "location": None if self._path == ":memory:" else str(Path(self._path).parent),
            "format": FORMAT,
            "generation": generation,
            "documents": documents,
            "versions": versions,
            "sections": sections,
            "children": children,
            "vectors": vectors,
            "terms": terms,
            "bytes": pages * page_size,
        }

    # upkeep

    def check(self, repair: bool = True) -> CheckReport:
        raise NotImplementedError

    def backup(self, path: str | Path) -> None:
        raise NotImplementedError

    def compact(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        with self._index_lock, self._write_lock, self._read_lock:
            if self._closed:
                return
            self._closed = True
            self._index = None
            self._masks.clear()
            self._reader.close()
            self._writer.close()

    # helpers

    def _must_write(self) -> None:
        if self._read_only:
            raise StorageError(f"{self._path} was opened with read_only=True; open it without to write")

    @contextlib.contextmanager
    def _writing(self, doing: str) -> Iterator[sqlite3.Connection]:
        if not self._write_lock.acquire(timeout=self._write_timeout):
            raise StorageError(
                f"cannot {doing}: another thread has been writing to {self._path} for {self._write_timeout:g} s; "
                "wait for it, or pass a longer write timeout"
            )
        try:
            self._must_be_open()
            with translated(f"{doing} {self._path}"), transaction(self._writer, write=True):
                yield self._writer
        finally:
            self._write_lock.release()

    @contextlib.contextmanager
    def _reading(self, doing: str) -> Iterator[sqlite3.Connection]:
        with self._read_lock:
            self._must_be_open()
            with translated(f"{doing} in {self._path}"):
                yield self._reader

    def _must_be_open(self) -> None:
        if self._closed:
            raise StorageError(f"the index {self._path} is closed; open it again")

    def _follow(self) -> DerivedIndex:
        """The derived index in step with the newest commit of any process."""
        with self._index_lock, self._reading("follow commits") as connection:
            generation = self._generation(connection)
            if self._index is not None and self._index.snapshot.generation == generation:
                return self._index
            index = self._index or DerivedIndex()
            self._index = None
            with transaction(connection):
                generation = self._generation(connection)
                index.follow(connection, generation, _get(connection, _INTERNAL + "dimension"))
            self._index = index
            return index

    def _generation(self, connection: sqlite3.Connection) -> int:
        return int(_get(connection, _INTERNAL + "generation") or 0)

    def _make_masks(self, index: DerivedIndex, snapshot: Snapshot, scope: Scope, day: date) -> Masks:
        rules, alive = snapshot.documents.rules, snapshot.documents.alive
        allowed = rules.allowed(alive, tenant=scope.tenant, principals=scope.principals)
        documents = rules.visible(allowed, day, one_version=not names_key(scope.filters, "version"))
        visible = None if documents.all() else documents[snapshot.slot_documents]
        passing = visible
        if scope.filters is not None:
            with self._reading("apply filters") as connection, transaction(connection):
                passing = index.passing(scope.filters, connection)
            if visible is not None:
                passing &= visible
        count = snapshot.n_slots if passing is None else int(np.count_nonzero(passing))
        few = passing is not None and count * FEW < snapshot.n_slots
        slots = np.flatnonzero(passing) if few and passing is not None else None
        return Masks(documents, allowed, visible, passing, count, slots)


class _Source:
    """What views read after they were made."""

    def __init__(self, store: SQLiteStore) -> None:
        self._store = store

    def term_ids(self, tokens: Sequence[str]) -> dict[str, int]:
        with self._store._reading("look up terms") as connection:
            return self._store._terms.find(connection, tokens)

    def read_nodes(self, wanted: Sequence[tuple[int, int, int]]) -> list[TextNode | None]:
        with self._store._reading("read nodes") as connection, transaction(connection):
            return read_nodes(connection, wanted)

    def read_document(self, doc_key: int) -> Document | None:
        with self._store._reading("read a document") as connection, transaction(connection):
            return read_document(connection, doc_key)


class _Meta(MutableMapping[str, Any]):
    """Facts about the index; every change is written at once."""

    def __init__(self, store: SQLiteStore) -> None:
        self._store = store

    def __getitem__(self, name: str) -> Any:
        with self._store._reading("read meta") as connection:
            row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        if row is None or name.startswith(_INTERNAL):
            raise KeyError(name)
        return json.loads(row[0])

    def __setitem__(self, name: str, value: Any) -> None:
        self._store._must_write()
        if name.startswith(_INTERNAL):
            raise KeyError(f"{name!r} belongs to the store")
        with self._store._writing("write meta") as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, json.dumps(value)))

    def __delitem__(self, name: str) -> None:
        self._store._must_write()
        self[name]
        with self._store._writing("write meta") as connection:
            connection.execute("DELETE FROM meta WHERE name = ?", (name,))

    def __iter__(self) -> Iterator[str]:
        with self._store._reading("read meta") as connection:
            rows = connection.execute("SELECT name FROM meta ORDER BY name").fetchall()
        return iter([name for (name,) in rows if not name.startswith(_INTERNAL)])

    def __len__(self) -> int:
        return len(list(iter(self)))


def _get(connection: sqlite3.Connection, name: str) -> Any:
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return None if row is None else json.loads(row[0])
