"""Facts about an index that live beside its documents."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager
from typing import Any

GENERATION = "store.generation"
"""Number of the last commit."""
DIMENSION = "store.dimension"
"""Of the vectors."""
FOLLOWED_FROM = "store.followed_from"
"""Search structures of an older generation than this must be built again: the steps to here are not kept."""
STALE_CHILDREN = "store.stale_children"
"""Children that went away since unused vectors were last removed."""

_OWN = "store."

Access = Callable[[str], AbstractContextManager[sqlite3.Connection]]


def get_number(connection: sqlite3.Connection, name: str) -> int | None:
    """One of the store's own numbers."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row[0])


def set_number(connection: sqlite3.Connection, name: str, value: int) -> None:
    """Set one of the store's own numbers."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, str(value)))


class Meta(MutableMapping[str, Any]):
    """Names and JSON values; every change is a commit of its own. The store's own numbers are hidden."""

    def __init__(self, reading: Access, writing: Access) -> None:
        """``reading`` and ``writing``: what is being done -> a connection to do it with."""
        self._reading = reading
        self._writing = writing

    def __getitem__(self, name: str) -> Any:
        with self._reading("read meta") as connection:
            row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        if row is None or name.startswith(_OWN):
            raise KeyError(name)
        return json.loads(row[0])

    def __setitem__(self, name: str, value: Any) -> None:
        if name.startswith(_OWN):
            raise KeyError(f"{name!r} belongs to the store")
        with self._writing("write meta") as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, json.dumps(value)))

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        with self._writing("write meta") as connection:
            connection.execute("DELETE FROM meta WHERE name = ?", (name,))

    def __iter__(self) -> Iterator[str]:
        with self._reading("read meta") as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM meta ORDER BY name")]
        return iter([name for name in names if not name.startswith(_OWN)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"Meta({list(self)})"
