"""The SQLite file: its tables, its format number, how it is opened, what its errors mean."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gyr_hybrid.errors import StorageError

FILE_NAME = "knowledge.sqlite3"
APPLICATION_ID = 0x47595248  # "GYRH"
FORMAT = 1
"""Number of the layout below, kept in SQLite's ``user_version``."""

_PAGE_SIZE = (
    8192  # 7 float16 or 3 float32 vectors of 512 numbers fit; with 4096 every float32 one takes a page
)

_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- One row per version of a document. `doc_key` is never used again, so a row never changes under a reader.
-- A replaced or deleted row stays for a minute, with `retired_at`, for the readers that still look at it.
CREATE TABLE documents (
    doc_key      INTEGER PRIMARY KEY AUTOINCREMENT,
    doc_id       TEXT NOT NULL,
    version      TEXT NOT NULL,         -- '' for none
    generation   INTEGER NOT NULL,      -- the commit that brought it
    retired_at   REAL,                  -- seconds since 1970; NULL while it is live
    stamp        INTEGER NOT NULL,      -- random: tells rows of one key apart after an old backup was put back
    fingerprint  TEXT NOT NULL,
    root         TEXT,
    source       TEXT,
    title        TEXT,
    tenant       TEXT,                  -- NULL: everybody's
    acl          TEXT,                  -- JSON list; NULL: not restricted
    valid_from   TEXT,                  -- ISO day; NULL: open
    valid_to     TEXT,
    updated_at   TEXT,
    n_sections   INTEGER NOT NULL,
    n_children   INTEGER NOT NULL
);
CREATE UNIQUE INDEX live_documents ON documents (doc_id, version) WHERE retired_at IS NULL;
CREATE INDEX new_documents ON documents (generation);
CREATE INDEX retired_documents ON documents (retired_at) WHERE retired_at IS NOT NULL;

-- What is read of a document only when it is searched or shown.
CREATE TABLE contents (
    doc_key      INTEGER PRIMARY KEY,
    document     TEXT NOT NULL,         -- JSON: the LlamaIndex document without its text
    shared       TEXT NOT NULL,         -- JSON: what its nodes have in common
    node_ids     TEXT NOT NULL,         -- JSON list, reading order
    header_paths TEXT NOT NULL,         -- JSON list of the distinct ones
    layout       BLOB NOT NULL,         -- int32 (nodes, 6): parent, piece, child number, start, end, header path; -1: none
    term_counts  BLOB NOT NULL,         -- int32 (children, 2): distinct terms, tokens
    vector_keys  BLOB NOT NULL,         -- int64 per child, 0 for none
    codes        TEXT                   -- JSON: [[child, [text, canonical, compact, kind, number, defining], ...], ...]
);

CREATE TABLE postings (
    doc_key      INTEGER PRIMARY KEY,
    term_keys    BLOB NOT NULL,         -- uint64, child by child
    frequencies  BLOB NOT NULL          -- uint8, one per term key
);

-- The text of a document in consecutive pieces, one per section, each with its nodes.
CREATE TABLE pieces (
    doc_key INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    start   INTEGER NOT NULL,           -- code points before it
    text    TEXT NOT NULL,
    nodes   TEXT NOT NULL,              -- JSON list
    PRIMARY KEY (doc_key, number)
) WITHOUT ROWID;

-- Which documents a commit took away, so that other processes can follow.
CREATE TABLE removals (
    doc_key    INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL
);
CREATE INDEX new_removals ON removals (generation);

-- Vectors by the hash of their text: of live documents, and the cache of earlier runs.
CREATE TABLE vectors (
    vector_key INTEGER PRIMARY KEY,
    hash       BLOB UNIQUE,             -- NULL: not to be found by its text
    vector     BLOB NOT NULL            -- float32 scale, int16 numbers
);
"""

MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {}
"""Format -> what brings a file of that format to the next one; runs inside one transaction."""


def connect(
    path: str, *, timeout: float, read_only: bool = False, cache_kb: int = 8_000
) -> sqlite3.Connection:
    """A connection with our settings; ``path`` may be ``:memory:``.

    A read-only file whose folder cannot be written is opened as immutable when nothing waits in its log.
    """
    if path == ":memory:":
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    else:
        uri = Path(path).absolute().as_uri()
        connection = sqlite3.connect(
            f"{uri}?mode=ro" if read_only else uri,
            uri=True,
            timeout=timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        if read_only and not _readable(connection) and not _has_log(path):
            connection.close()
            connection = sqlite3.connect(
                f"{uri}?immutable=1", uri=True, isolation_level=None, check_same_thread=False
            )
    connection.execute(f"PRAGMA cache_size = -{cache_kb}")
    if read_only:
        connection.execute("PRAGMA query_only = ON")
    return connection


def prepare(connection: sqlite3.Connection, path: str, *, read_only: bool, timeout: float) -> None:
    """Create the tables of an empty file, bring an older format forward, refuse what is not ours.

    Raises:
        StorageError: the file belongs to something else, or to a newer version of this package.
    """
    with translated(f"open {path}"):
        if _state(connection) == (0, 0) and not _tables(connection):
            if read_only:
                raise StorageError(f"{path} is empty; open it without read_only=True to create the index")
            _create(connection, timeout)
        application, found = _state(connection)
        if application != APPLICATION_ID:
            raise StorageError(f"{path} is a database of another program; give the index a folder of its own")
        if found > FORMAT:
            raise StorageError(
                f"{path} has format {found}, written by a newer gyr_hybrid; this one reads up to {FORMAT}: "
                "upgrade with `pip install -U gyr_hybrid`"
            )
        if found < FORMAT:
            if read_only:
                raise StorageError(
                    f"{path} has format {found}, this gyr_hybrid uses {FORMAT}; open it once without read_only=True"
                )
            _migrate(connection)
        if not read_only:
            # a backup that was put back is not in WAL mode yet
            _use_log(connection, timeout)
            connection.execute("PRAGMA synchronous = FULL")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, *, write: bool = False) -> Iterator[None]:
    """One transaction: committed at the end, rolled back on any exception."""
    connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn SQLite's errors into ``StorageError`` with a remedy."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise StorageError(f"cannot {doing}: {error}; {_remedy(error)}") from error


def _remedy(error: Exception) -> str:
    name = getattr(error, "sqlite_errorname", "") or ""
    for prefix, remedy in (
        (
            "SQLITE_BUSY",
            "another process is writing to this index; wait until it is done, or end it, and try again",
        ),
        (
            "SQLITE_LOCKED",
            "another process is writing to this index; wait until it is done, or end it, and try again",
        ),
        ("SQLITE_FULL", "the disk or quota is full; nothing was changed, free some space and try again"),
        (
            "SQLITE_READONLY",
            "the folder or file cannot be written; change its permissions or open with read_only=True",
        ),
        (
            "SQLITE_CANTOPEN",
            "the folder does not exist or cannot be read and written; check the path and permissions",
        ),
        ("SQLITE_NOTADB", "the file is no SQLite database; give the index a folder of its own"),
        (
            "SQLITE_CORRUPT",
            "the database is damaged; restore a backup, or build the index again in a new folder",
        ),
        ("SQLITE_IOERR", "the disk could not be read or written; check the disk and its free space"),
    ):
        if name.startswith(prefix):
            return remedy
    return "if it happens again, run `gyr-hybrid check`"


def _state(connection: sqlite3.Connection) -> tuple[int, int]:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    return application, connection.execute("PRAGMA user_version").fetchone()[0]


def _tables(connection: sqlite3.Connection) -> int:
    count: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return count


def _create(connection: sqlite3.Connection, timeout: float) -> None:
    connection.execute(f"PRAGMA page_size = {_PAGE_SIZE}")
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    _use_log(connection, timeout)
    with transaction(connection, write=True):
        if _tables(connection) == 0:
            for statement in _TABLES.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")


def _use_log(connection: sqlite3.Connection, timeout: float) -> None:
    """WAL mode; a database in memory has no such thing and stays as it is."""
    if connection.execute("PRAGMA journal_mode").fetchone()[0] in ("wal", "memory"):
        return
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            # SQLite does not wait when two processes open the same new file at once
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _migrate(connection: sqlite3.Connection) -> None:
    with transaction(connection, write=True):
        found = _state(connection)[1]
        while found < FORMAT:
            if found not in MIGRATIONS:
                raise StorageError(f"format {found} cannot be brought to {FORMAT}; build the index again")
            MIGRATIONS[found](connection)
            found += 1
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def _readable(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        return False
    return True


def _has_log(path: str) -> bool:
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0
