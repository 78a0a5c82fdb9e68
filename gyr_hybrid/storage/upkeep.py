"""Looking after the database: verify, mend what is derived, back up, give back space."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.errors import DocumentError, StorageError
from gyr_hybrid.storage.packing import CHILD, END, PARENT, PIECE, START
from gyr_hybrid.storage.postings import MAX_FREQUENCY
from gyr_hybrid.storage.protocol import CheckReport
from gyr_hybrid.storage.reading import read_pieces
from gyr_hybrid.storage.vectors import decode, dimension_of
from gyr_hybrid.storage.visibility import Rules
from gyr_hybrid.storage.writing import RETIRED_FOR, purge_retired

DAMAGED = "damaged"
"""Fingerprint of a document that lost something: no upsert finds it unchanged."""
_NORM_TOLERANCE = 1e-2
_RULES = ("version", "tenant", "acl", "valid_from", "valid_to", "updated_at")


class Checker:
    """Looks at every row; with ``repair`` it also mends, and the caller's transaction keeps it."""

    def __init__(self, connection: sqlite3.Connection, *, repair: bool, dimension: int | None) -> None:
        self._connection = connection
        self._repair = repair
        self._dimension = dimension
        self._problems: list[str] = []
        self._repaired: list[str] = []
        self._counts: Counter[str] = Counter()

    def run(self) -> CheckReport:
        """Check the whole database."""
        if self._integrity():
            self._leftovers()
            damaged = self._vectors()
            self._documents(damaged)
        return CheckReport(tuple(self._problems), tuple(self._repaired), dict(self._counts))

    def _integrity(self) -> bool:
        """SQLite's own check; a damaged index of a table can be made again, a damaged table cannot."""
        messages = self._integrity_messages()
        if messages and self._repair:
            self._connection.execute("REINDEX")
            left = self._integrity_messages()
            if not left:
                self._repaired.append(f"indexes of tables made again: {messages[0]}")
            messages = left
        for message in messages:
            self._problems.append(
                f"the database is damaged: {message}; restore a backup, or build the index again"
            )
        return not messages

    def _integrity_messages(self) -> list[str]:
        return [text for (text,) in self._connection.execute("PRAGMA integrity_check(20)") if text != "ok"]

    def _leftovers(self) -> None:
        """Rows that belong to nothing."""
        for table in ("pieces", "contents", "postings"):
            orphans = f"FROM {table} WHERE doc_key NOT IN (SELECT doc_key FROM documents)"
            (count,) = self._connection.execute(f"SELECT count(*) {orphans}").fetchone()
            if count:
                self._mend(f"{count} rows of {table} belong to no document", f"DELETE {orphans}")
        missing = "FROM documents WHERE doc_key NOT IN (SELECT doc_key FROM contents)"
        for (doc_id,) in self._connection.execute(
            f"SELECT doc_id {missing} AND retired_at IS NULL"
        ).fetchall():
            self._problems.append(f"document {doc_id!r}: its contents are lost; upsert it again")
        overdue = time.time() - 10 * RETIRED_FOR
        if self._repair:
            purge_retired(self._connection, overdue)

    def _vectors(self) -> set[int]:
        """Keys of vectors that cannot be used."""
        damaged: set[int] = set()
        cursor = self._connection.execute("SELECT vector_key, vector FROM vectors")
        while rows := cursor.fetchmany(2048):
            self._counts["vectors"] += len(rows)
            good = [(key, blob) for key, blob in rows if dimension_of(blob) == self._dimension]
            damaged.update({key for key, _ in rows} - {key for key, _ in good})
            if good:
                norms = np.linalg.norm(decode([blob for _, blob in good]), axis=1)
                wrong = ~(np.abs(norms - 1.0) < _NORM_TOLERANCE)
                damaged.update(key for (key, _), bad in zip(good, wrong, strict=True) if bad)
        if damaged:
            marks = json.dumps(sorted(damaged))
            self._mend(
                f"{len(damaged)} vectors have another dimension, or are no unit vectors",
                "DELETE FROM vectors WHERE vector_key IN (SELECT value FROM json_each(?))",
                (marks,),
            )
        return damaged

    def _documents(self, damaged: set[int]) -> None:
        keys = {key for (key,) in self._connection.execute("SELECT vector_key FROM vectors")} - damaged
        cursor = self._connection.cursor()
        cursor.row_factory = sqlite3.Row
        for row in cursor.execute(
            "SELECT * FROM documents JOIN contents USING (doc_key) LEFT JOIN postings USING (doc_key) "
            "WHERE retired_at IS NULL ORDER BY doc_id, version"
        ):
            name = f"{row['doc_id']}@{row['version']}" if row["version"] else row["doc_id"]
            self._counts["documents"] += 1
            try:
                wrong = list(self._faults(row))
            except (ValueError, TypeError, KeyError, IndexError) as error:
                wrong = [f"it cannot be read ({error})"]
            for fault in wrong:
                self._problems.append(f"document {name!r}: {fault}; upsert it again")
            if wrong and self._repair:
                self._forget(row["doc_key"])
            self._check_rules(row, name)
            self._check_vector_keys(row, name, keys)
            if row["fingerprint"] == DAMAGED:
                self._problems.append(f"document {name!r} is incomplete; upsert it again")

    def _faults(self, row: sqlite3.Row) -> Iterator[str]:
        """What is wrong with a document's rows and cannot be worked out again."""
        layout = np.frombuffer(row["layout"], dtype=np.int32).reshape(-1, 6)
        ids = json.loads(row["node_ids"])
        children = int((layout[:, CHILD] >= 0).sum())
        self._counts["nodes"] += len(layout)
        self._counts["children"] += children
        if len(ids) != len(layout) or len(set(ids)) != len(ids):
            yield "its node ids do not fit its nodes"
        if children != row["n_children"] or int((layout[:, PARENT] < 0).sum()) != row["n_sections"]:
            yield "its nodes were counted wrongly"
        counts = np.frombuffer(row["term_counts"], dtype=np.int32).reshape(-1, 2)
        terms = np.frombuffer(row["term_keys"], dtype=np.uint64)
        frequencies = np.frombuffer(row["frequencies"], dtype=np.uint8)
        self._counts["postings"] += len(terms)
        if len(counts) != children or counts[:, 0].sum() != len(terms) or len(terms) != len(frequencies):
            yield "its postings do not fit its children"
        elif not _adds_up(frequencies, counts):
            yield "its postings do not add up to the lengths of its children"
        if len(row["vector_keys"]) != 8 * children:
            yield "its vectors do not fit its children"
        yield from self._text_faults(row["doc_key"], layout)

    def _text_faults(self, doc_key: int, layout: NDArray[np.int32]) -> Iterator[str]:
        expected, seen = 0, set()
        for number, (start, piece, nodes) in enumerate(read_pieces(self._connection, doc_key)):
            if start != expected:
                yield "a piece of its text is missing"
                return
            expected += len(piece)
            for ordinal, _, text, first, last, *_ in json.loads(nodes):
                seen.add(ordinal)
                if layout[ordinal, PIECE] != number or [first, last] != [
                    None if offset < 0 else offset for offset in layout[ordinal, [START, END]].tolist()
                ]:
                    yield f"node {ordinal} is not where it should be"
                if text is None and not start <= first <= last <= expected:
                    yield f"the offsets of node {ordinal} lie outside its text"
        if seen != set(range(len(layout))):
            yield "some of its nodes are missing"

    def _check_rules(self, row: sqlite3.Row, name: str) -> None:
        """Tenant, acl and dates are copies of what the metadata says."""
        try:
            rules = Rules.of(row["doc_id"], json.loads(row["document"])["metadata"])
        except (DocumentError, ValueError, KeyError):
            return
        right = rules.columns
        if right != tuple(row[column] for column in _RULES):
            self._mend(
                f"document {name!r}: tenant, acl or dates did not agree with its metadata",
                f"UPDATE documents SET {', '.join(f'{column} = ?' for column in _RULES)} WHERE doc_key = ?",
                (*right, row["doc_key"]),
            )

    def _check_vector_keys(self, row: sqlite3.Row, name: str, known: set[int]) -> None:
        keys = np.frombuffer(row["vector_keys"][: len(row["vector_keys"]) // 8 * 8], dtype=np.int64)
        lost = [key for key in keys.tolist() if key and key not in known]
        if not lost:
            return
        self._problems.append(f"document {name!r}: {len(lost)} of its vectors are lost; upsert it again")
        if self._repair:
            left = np.where(np.isin(keys, lost), 0, keys)
            self._connection.execute(
                "UPDATE contents SET vector_keys = ? WHERE doc_key = ?", (left.tobytes(), row["doc_key"])
            )
            self._forget(row["doc_key"])

    def _forget(self, doc_key: int) -> None:
        """Make the next upsert of the document take place whatever it holds."""
        self._connection.execute("UPDATE documents SET fingerprint = ? WHERE doc_key = ?", (DAMAGED, doc_key))

    def _mend(self, what: str, sql: str, parameters: Sequence[Any] = ()) -> None:
        if not self._repair:
            self._problems.append(f"{what}; run check with repair=True")
            return
        self._connection.execute(sql, parameters)
        self._repaired.append(what)


def count_rows(connection: sqlite3.Connection) -> dict[str, int]:
    """How much there is of everything."""
    documents, versions, sections, children = connection.execute(
        "SELECT count(DISTINCT doc_id), count(*), coalesce(sum(n_sections), 0), coalesce(sum(n_children), 0) "
        "FROM documents WHERE retired_at IS NULL"
    ).fetchone()
    counts = {"documents": documents, "versions": versions, "sections": sections, "children": children}
    (counts["vectors"],) = connection.execute("SELECT count(*) FROM vectors").fetchone()
    return counts


def back_up(connection: sqlite3.Connection, path: Path) -> None:
    """Copy the database to one file, whole or not at all.

    Raises:
        StorageError: the target exists already, or cannot be written.
    """
    if path.exists():
        raise StorageError(f"{path} exists already; choose another name for the backup")
    part = path.with_name(path.name + ".part")
    try:
        part.unlink(missing_ok=True)
        target = sqlite3.connect(part)
        try:
            connection.backup(target)
            # a single file, without a log beside it
            target.execute("PRAGMA journal_mode = DELETE")
        finally:
            target.close()
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except (OSError, sqlite3.Error) as error:
        raise StorageError(
            f"cannot write the backup {path}: {error}; check the folder and its free space"
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _adds_up(frequencies: NDArray[np.uint8], counts: NDArray[np.int32]) -> bool:
    """Whether the frequencies of each child add up to its tokens; those at the limit may stand for more."""
    borders = np.concatenate([[0], np.cumsum(counts[:, 0])])
    sums = np.concatenate([[0], np.cumsum(frequencies, dtype=np.int64)])[borders]
    limits = np.concatenate([[0], np.cumsum(frequencies == MAX_FREQUENCY)])[borders]
    missing = counts[:, 1] - np.diff(sums)
    return bool(np.where(np.diff(limits) > 0, missing >= 0, missing == 0).all())
