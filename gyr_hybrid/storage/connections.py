"""The connections of one store: one that writes, one that reads, and who may use them when."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator

from gyr_hybrid.errors import StorageError
from gyr_hybrid.storage import schema
from gyr_hybrid.storage.schema import transaction, translated

MEMORY = ":memory:"
WRITE_CACHE_KB = 64_000
"""Pages of indexes that a long ingest touches again and again; filled by writing only."""


class Connections:
    """Opens the database, creating it where there is none; every error of SQLite becomes a ``StorageError``."""

    def __init__(self, path: str, *, read_only: bool, write_timeout: float) -> None:
        """``path``: the database file, or ``:memory:``."""
        self.path = path
        self.read_only = read_only
        self._timeout = write_timeout
        self._closed = False
        self._process = os.getpid()
        self._write_lock = threading.RLock()
        self._read_lock = self._write_lock
        with translated(f"open {path}"):
            self._writer = schema.connect(
                path, timeout=write_timeout, read_only=read_only, cache_kb=WRITE_CACHE_KB
            )
            self._reader = self._writer
            try:
                schema.prepare(self._writer, path, read_only=read_only, timeout=write_timeout)
                if path != MEMORY and not read_only:
                    # a connection of its own, so that questions do not wait for a writing thread
                    self._reader = schema.connect(path, timeout=write_timeout)
                    self._read_lock = threading.RLock()
            except BaseException:
                self._writer.close()
                raise

    @contextlib.contextmanager
    def reading(self, doing: str) -> Iterator[sqlite3.Connection]:
        """The reading connection for one thread; outside a transaction each statement sees the newest commit."""
        with self._read_lock:
            self._must_be_usable()
            with translated(f"{doing} in {self.path}"):
                yield self._reader

    @contextlib.contextmanager
    def writing(self, doing: str) -> Iterator[sqlite3.Connection]:
        """A transaction of the only writer, of all threads and processes."""
        with self.exclusive(doing) as connection, transaction(connection, write=True):
            yield connection

    @contextlib.contextmanager
    def exclusive(self, doing: str) -> Iterator[sqlite3.Connection]:
        """The writing connection for one thread, without a transaction."""
        self.must_write()
        if not self._write_lock.acquire(timeout=self._timeout):
            raise StorageError(
                f"cannot {doing} {self.path}: another thread has been writing for {self._timeout:g} s; "
                "wait until it is done and try again"
            )
        try:
            self._must_be_usable()
            with translated(f"{doing} {self.path}"):
                yield self._writer
        finally:
            self._write_lock.release()

    def another(self) -> sqlite3.Connection:
        """A further connection, for a thread that reads for long; the caller closes it."""
        with translated(f"open {self.path}"):
            return schema.connect(self.path, timeout=self._timeout, read_only=self.read_only)

    def must_write(self) -> None:
        """Raise ``StorageError`` unless the store may be written."""
        if self.read_only:
            raise StorageError(f"{self.path} was opened with read_only=True; open it without to write")

    @property
    def usable(self) -> bool:
        """Whether the connections are open, and of this process."""
        return not self._closed and os.getpid() == self._process

    def close(self) -> None:
        """Wait for running statements and close; a second call does nothing."""
        with self._write_lock, self._read_lock:
            if not self._closed:
                self._closed = True
                self._reader.close()
                self._writer.close()

    def _must_be_usable(self) -> None:
        if self._closed:
            raise StorageError(f"the index {self.path} is closed; open it again")
        if os.getpid() != self._process:
            raise StorageError(
                f"the index {self.path} was opened in another process and came here by fork; "
                "open it in each process, after the fork"
            )
