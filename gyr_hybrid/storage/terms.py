"""Numbers of index terms: kept in the database, remembered in the process as they are met."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

_REMEMBERED = 1_000_000
"""Terms that a process keeps in memory; past that it starts afresh."""


class Terms:
    """Term -> number. A number never changes, so what was read once stays right."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def find(self, connection: sqlite3.Connection, terms: Iterable[str]) -> dict[str, int]:
        """Numbers of the terms that have one."""
        wanted = dict.fromkeys(terms)
        known = self._known
        missing = [term for term in wanted if term not in known]
        if missing:
            spelled = {storable(term): term for term in missing}
            rows = connection.execute(
                "SELECT term, term_id FROM terms WHERE term IN (SELECT value FROM json_each(?))",
                (json.dumps(list(spelled), ensure_ascii=False),),
            ).fetchall()
            self.remember({spelled[term]: number for term, number in rows})
        known = self._known
        return {term: known[term] for term in wanted if term in known}

    def add(self, connection: sqlite3.Connection, terms: Iterable[str]) -> dict[str, int]:
        """Numbers of all the terms, new ones made up; ``remember`` the new ones once they are committed."""
        wanted = dict.fromkeys(terms)
        numbers = self.find(connection, wanted)
        missing = {storable(term): term for term in wanted if term not in numbers}
        if missing:
            (last,) = connection.execute("SELECT coalesce(max(term_id), 0) FROM terms").fetchone()
            fresh = [(last + i, spelled) for i, spelled in enumerate(missing, start=1)]
            connection.executemany("INSERT INTO terms (term_id, term) VALUES (?, ?)", fresh)
            made = {spelled: number for number, spelled in fresh}
            numbers.update((term, made[storable(term)]) for term in wanted if term not in numbers)
        return numbers

    def remember(self, numbers: dict[str, int]) -> None:
        """Keep committed numbers in memory."""
        if len(self._known) + len(numbers) > _REMEMBERED:
            self._known = {}
        self._known.update(numbers)


def storable(term: str) -> str:
    """The term as UTF-8 can write it: halves of surrogate pairs become ``?``."""
    try:
        term.encode()
    except UnicodeEncodeError:
        return term.encode("utf-8", "replace").decode()
    return term
