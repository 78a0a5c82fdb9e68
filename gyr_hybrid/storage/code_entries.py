"""Codes with the children that bear them, and a picture of all of them at one moment."""

from __future__ import annotations

from collections.abc import Iterator

from gyr_hybrid.storage.code_neighbours import CodeNeighbours, code_shape


class CodeEntry:
    """One canonical form; changed in place only while no view has seen it."""

    __slots__ = ("canonical", "compact", "holders", "kind", "number", "shape", "stamp")

    def __init__(self, canonical: str, compact: str, kind: str, number: str | None, stamp: int) -> None:
        self.canonical = canonical
        self.compact = compact
        self.kind = kind
        self.number = number
        self.shape = code_shape(canonical)
        self.holders: dict[int, tuple[bool, str]] = {}
        self.stamp = stamp

    def copied(self, stamp: int) -> CodeEntry:
        copy = CodeEntry.__new__(CodeEntry)
        copy.canonical, copy.compact, copy.kind, copy.number = (
            self.canonical,
            self.compact,
            self.kind,
            self.number,
        )
        copy.shape, copy.holders, copy.stamp = self.shape, dict(self.holders), stamp
        return copy


class CodeSnapshot:
    """Entries and keys as of one moment: a large base shared by snapshots, and the few changes since."""

    __slots__ = ("_new", "base", "base_keys", "changed", "changed_keys", "neighbours")

    def __init__(
        self,
        base: dict[str, CodeEntry],
        base_keys: dict[str, tuple[str, ...]],
        changed: dict[str, CodeEntry | None],
        changed_keys: dict[str, tuple[str, ...]],
        neighbours: CodeNeighbours,
    ) -> None:
        self.base = base
        self.base_keys = base_keys
        self.changed = changed
        self.changed_keys = changed_keys
        self.neighbours = neighbours
        self._new: list[tuple[str, str]] | None = None

    def entry(self, canonical: str) -> CodeEntry | None:
        if canonical in self.changed:
            return self.changed[canonical]
        return self.base.get(canonical)

    def keyed(self, key: str) -> tuple[str, ...]:
        if key in self.changed_keys:
            return self.changed_keys[key]
        return self.base_keys.get(key, ())

    def entries(self) -> Iterator[CodeEntry]:
        for canonical, entry in self.base.items():
            if canonical not in self.changed:
                yield entry
        for changed in self.changed.values():
            if changed is not None:
                yield changed

    def new_codes(self) -> list[tuple[str, str]]:
        """(Compact form, canonical form) of the codes that the base lacks."""
        if self._new is None:
            self._new = [
                (entry.compact, canonical)
                for canonical, entry in self.changed.items()
                if entry and canonical not in self.base
            ]
        return self._new


def look_up_keys(entry: CodeEntry) -> list[str]:
    """The keys, besides the canonical form, under which a code is found."""
    keys = [f"c{entry.compact}"]
    if entry.number is not None:
        keys.append(f"n{plain_number(entry.number)}")
    return keys


def plain_number(number: str) -> str:
    """Digits without leading zeros."""
    return number.lstrip("0") or "0"
