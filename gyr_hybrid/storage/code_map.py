"""The map from every spelling of a code to the children that bear it, in memory."""

from __future__ import annotations

from collections.abc import Iterable

from gyr_hybrid.storage.code_entries import CodeEntry, CodeSnapshot, look_up_keys
from gyr_hybrid.storage.code_neighbours import CodeNeighbours
from gyr_hybrid.storage.code_view import CodeView, Mask
from gyr_hybrid.storage.codes import CodeMention

_CHANGES = 4096  # codes that may change before they are worked into the base


class CodeMap:
    """Codes by canonical form, compact form and number; slots are the numbers of children.

    Not thread-safe by itself: the store adds and removes under its lock. A view that was handed out never changes.

    >>> from gyr_hybrid.storage.codes import CodeMention
    >>> codes = CodeMap()
    >>> codes.add(0, [CodeMention("E1042", "e1042", "e1042", "code", "1042", True)])
    >>> codes.view().number("1042")[0].text
    'E1042'
    """

    def __init__(self) -> None:
        self._base: dict[str, CodeEntry] = {}
        self._base_keys: dict[str, tuple[str, ...]] = {}
        self._changed: dict[str, CodeEntry | None] = {}
        self._changed_keys: dict[str, tuple[str, ...]] = {}
        self._neighbours = CodeNeighbours(())
        self._slots: dict[int, tuple[str, ...]] = {}
        self._stamp = 0
        self._snapshot: CodeSnapshot | None = None

    def __len__(self) -> int:
        return len(self._base) + sum(
            (entry is not None) - (canonical in self._base) for canonical, entry in self._changed.items()
        )

    def add(self, slot: int, mentions: Iterable[CodeMention]) -> None:
        """Add the codes that the child ``slot`` bears; a slot is added once, after ``remove`` again."""
        best: dict[str, CodeMention] = {}
        for mention in mentions:
            known = best.get(mention.canonical)
            if known is None or (mention.defining and not known.defining):
                best[mention.canonical] = mention
        if not best:
            return
        self._snapshot = None
        self._slots[slot] = (*self._slots.get(slot, ()), *best)
        for canonical, mention in best.items():
            entry = self._own(canonical)
            if entry is None:
                entry = CodeEntry(canonical, mention.compact, mention.kind, mention.number, self._stamp)
                self._changed[canonical] = entry
                for key in look_up_keys(entry):
                    self._changed_keys[key] = (*self._keyed(key), canonical)
            entry.holders[slot] = mention.defining, mention.text
        if len(self._changed) > max(_CHANGES, len(self._base) // 8):
            self._settle()

    def remove(self, slot: int) -> None:
        """Forget the child ``slot``; an unknown slot is ignored."""
        canonicals = self._slots.pop(slot, ())
        if not canonicals:
            return
        self._snapshot = None
        for canonical in canonicals:
            entry = self._own(canonical)
            if entry is None:
                continue
            entry.holders.pop(slot, None)
            if not entry.holders:
                self._changed[canonical] = None
                for key in look_up_keys(entry):
                    self._changed_keys[key] = tuple(one for one in self._keyed(key) if one != canonical)

    def view(self, visible: Mask | None = None, passing: Mask | None = None) -> CodeView:
        """The codes as they are now.

        Args:
            visible: slots that may be seen; None is all. A slot beyond the mask is not seen.
            passing: slots that also pass the filters; None is all. Decides ``holders`` alone.
        """
        if self._snapshot is None:
            self._stamp += 1
            self._snapshot = CodeSnapshot(
                self._base, self._base_keys, dict(self._changed), dict(self._changed_keys), self._neighbours
            )
        return CodeView(self._snapshot, visible, passing)

    def _own(self, canonical: str) -> CodeEntry | None:
        """The entry, copied first if a view has seen it."""
        entry = self._changed[canonical] if canonical in self._changed else self._base.get(canonical)
        if entry is not None and entry.stamp != self._stamp:
            entry = entry.copied(self._stamp)
            self._changed[canonical] = entry
        return entry

    def _keyed(self, key: str) -> tuple[str, ...]:
        return self._changed_keys[key] if key in self._changed_keys else self._base_keys.get(key, ())

    def _settle(self) -> None:
        """Make a new base of the old one and the changes."""
        base: dict[str, CodeEntry] = dict(self._base)
        for canonical, entry in self._changed.items():
            if entry is None:
                base.pop(canonical, None)
            else:
                base[canonical] = entry
        self._base_keys = {
            key: owners for key, owners in (self._base_keys | self._changed_keys).items() if owners
        }
        self._base, self._changed, self._changed_keys = base, {}, {}
        self._neighbours = CodeNeighbours(
            (entry.compact, canonical, entry.shape) for canonical, entry in base.items()
        )
