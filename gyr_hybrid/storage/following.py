"""Keeps the search structures of a process in step with the database, and remembers what scopes see."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gyr_hybrid.storage import cache
from gyr_hybrid.storage.derived import DerivedIndex
from gyr_hybrid.storage.filters import names_key
from gyr_hybrid.storage.meta import DIMENSION, FOLLOWED_FROM, GENERATION, get_number
from gyr_hybrid.storage.protocol import Scope
from gyr_hybrid.storage.schema import transaction
from gyr_hybrid.storage.snapshot import Snapshot
from gyr_hybrid.storage.view import FEW, Masks

if TYPE_CHECKING:
    from gyr_hybrid.storage.code_view import CodeView

_SORTED_AGAIN = 200_000
"""Postings that are sorted in a tenth of a second; fewer are not worth a file."""
_KEPT_MASKS = 64
"""Scopes whose masks are kept; one takes a byte per child."""
_DEAD_SHARE = 0.25
"""Deleted children that are carried along, as a share of all, before everything is built anew."""
_FEW_DEAD = 4096
"""Fewer dead children than this are never worth it."""


class Follower:
    """The derived index of a store, built when it is first needed."""

    def __init__(
        self,
        reading: Callable[[str], AbstractContextManager[sqlite3.Connection]],
        *,
        cache_file: Path | None,
        keeps: bool,
    ) -> None:
        """``reading``: what is being done -> a connection to do it with; ``keeps``: whether to write the file."""
        self._reading = reading
        self._cache = cache_file
        self._keeps = keeps
        self.lock = threading.RLock()
        self._index: DerivedIndex | None = None
        self._masks: OrderedDict[tuple[Scope, date], Masks] = OrderedDict()
        self._masks_of: Snapshot | None = None
        self._rebuilding: threading.Thread | None = None

    def keep_up(self) -> None:
        """Follow a commit at once, if anything was built yet, so that the next question need not."""
        with self.lock:
            if self._index is not None:
                self.current()

    def forget(self) -> None:
        """Drop everything derived; it is built again when it is next needed."""
        with self.lock:
            self._index = None
            self._masks.clear()

    def current(self) -> DerivedIndex:
        """The index in step with the newest commit of any process; the caller holds the lock."""
        with self._reading("follow commits") as connection:
            index = self._index
            if index is not None and index.snapshot.generation == get_number(connection, GENERATION):
                return index
            self._index = None
            with transaction(connection):
                self._index = self._followed(index, connection)
        if index is None:
            self.save()
        return self._index

    def save(self) -> None:
        """Keep the sorted postings for the next process, if much was sorted since they were kept."""
        with self.lock:
            index = self._index
            if index is None or self._cache is None or not self._keeps:
                return
            if index.sorted_postings < _SORTED_AGAIN:
                return
            if index.sorted_postings * 10 > sum(map(len, index.snapshot.postings.segments)):
                cached = index.cached_postings()
                if cached is not None:
                    cache.save(self._cache, cached)
                    index.sorted_postings = 0

    def see(self, scope: Scope) -> tuple[Snapshot, Masks, Callable[[], CodeView]]:
        """What a scope sees of the newest commit."""
        with self.lock:
            index = self.current()
            snapshot = index.snapshot
            if self._masks_of is not snapshot:
                self._masks.clear()
                self._masks_of = snapshot
            day = scope.as_of or date.today()
            masks = self._masks.get((scope, day))
            if masks is None:
                masks = self._masks[scope, day] = self._make_masks(index, scope, day)
                if len(self._masks) > _KEPT_MASKS:
                    self._masks.popitem(last=False)
            return snapshot, masks, self._codes(index, masks)

    def wants_rebuilding(self) -> bool:
        """Whether so much was deleted that the structures are worth building anew."""
        with self.lock:
            if self._index is None:
                return False
            dead = self._index.snapshot.n_slots - self._index.snapshot.n_live
            return dead > _FEW_DEAD and self._index.dead_share > _DEAD_SHARE

    def rebuild(self, connection: sqlite3.Connection) -> None:
        """Build anew over a connection of the caller's, while questions go on; then take over."""
        with transaction(connection):
            index = self._followed(None, connection)
        with self.lock, self._reading("follow commits") as current, transaction(current):
            if self._index is not None:
                self._index = self._followed(index, current)

    def _codes(self, index: DerivedIndex, masks: Masks) -> Callable[[], CodeView]:
        def view() -> CodeView:
            with self.lock:
                return index.codes.view(masks.visible, masks.passing)

        if not index.has_codes:
            return view
        # taken now, so that it is of the same commit as the snapshot
        taken = view()
        return lambda: taken

    def _make_masks(self, index: DerivedIndex, scope: Scope, day: date) -> Masks:
        snapshot = index.snapshot
        rules = snapshot.documents.rules
        allowed = rules.allowed(snapshot.documents.alive, tenant=scope.tenant, principals=scope.principals)
        documents = rules.visible(allowed, day, one_version=not names_key(scope.filters, "version"))
        visible = None if documents.all() else documents[snapshot.slot_documents]
        passing = visible
        if scope.filters is not None:
            with self._reading("apply filters") as connection, transaction(connection):
                passing = index.passing(scope.filters, connection)
            if visible is not None:
                passing &= visible
        count = snapshot.n_slots if passing is None else int(np.count_nonzero(passing))
        slots = None if passing is None or count * FEW > snapshot.n_slots else np.flatnonzero(passing)
        return Masks(documents, allowed, visible, passing, count, slots)

    def _followed(self, index: DerivedIndex | None, connection: sqlite3.Connection) -> DerivedIndex:
        """An index brought to the newest commit that the transaction sees, or built."""
        cached = None
        if index is None or index.snapshot.generation < (get_number(connection, FOLLOWED_FROM) or 0):
            index = DerivedIndex()
            cached = None if self._cache is None else cache.load(self._cache)
        generation = get_number(connection, GENERATION) or 0
        index.follow(connection, generation, get_number(connection, DIMENSION), cached)
        return index
