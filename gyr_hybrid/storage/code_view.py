"""The codes of one moment as one scope sees them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.storage.code_entries import CodeEntry, CodeSnapshot, plain_number
from gyr_hybrid.storage.code_neighbours import (
    coarse_shape,
    code_shape,
    common_prefix,
    compact_key,
    same_outline,
)
from gyr_hybrid.storage.codes import KnownCode

Mask = NDArray[np.bool_]

_SPELLINGS = 200  # holders looked at to find the usual spelling
_SORTED_NATURALLY = 400  # of more codes than that, the order before the limit is plain
_SHORT = 3  # characters; shapes so short say nothing without the letters
_LOOKED_AT = 4000  # codes of one shape that are asked whether they are visible
_NATURAL = re.compile(r"(\d+)")
_SEPARATORS = "-_./:#+ "


class CodeView:
    """The codes of one moment as one scope sees them."""

    def __init__(self, snapshot: CodeSnapshot, visible: Mask | None, passing: Mask | None) -> None:
        self._snapshot = snapshot
        self._visible = None if visible is None else visible.tobytes()
        self._passing = None if passing is None else passing.tobytes()

    def exact(self, canonical: str) -> KnownCode | None:
        """The code with this canonical form."""
        entry = self._snapshot.entry(canonical)
        return None if entry is None else self._known(entry)

    def compact(self, compact: str) -> list[KnownCode]:
        """The codes with this compact form."""
        return self._all_known(self._snapshot.keyed(f"c{compact}"))

    def number(self, number: str) -> list[KnownCode]:
        """The codes around this number; leading zeros do not count."""
        return self._all_known(self._snapshot.keyed(f"n{plain_number(number)}"))

    def members(self, prefix: str, limit: int = 50, *, anywhere: bool = False) -> list[KnownCode]:
        """Codes that begin with ``prefix`` and go on, natural order.

        Args:
            prefix: canonical or compact form.
            limit: at most so many.
            anywhere: they may go on within a part (``e10`` of ``e1042``); else only at a separator.
        """
        snapshot = self._snapshot
        compact = compact_key(prefix)
        old = (other for other in snapshot.neighbours.beginning_with(compact) if other in snapshot.base)
        candidates = chain(old, (other for begin, other in snapshot.new_codes() if begin.startswith(compact)))
        kept = sorted({canonical for canonical in candidates if _continues(canonical, compact, anywhere)})
        if len(kept) <= _SORTED_NATURALLY:
            kept.sort(key=_natural)
        found: list[KnownCode] = []
        for canonical in kept:
            entry = snapshot.entry(canonical)
            if entry is not None and (known := self._known(entry)) is not None:
                found.append(known)
                if len(found) == limit:
                    break
        return sorted(found, key=lambda known: _natural(known.canonical))

    def near(self, canonical: str, *, distance: int = 2, limit: int = 5) -> list[KnownCode]:
        """Codes within the edit distance, nearest first, then those of the same prefix and shape.

        Of a code with more than half of its characters edited nothing is left: ``A13`` is not like ``第一条``.
        Separators do not count; of equally near codes those of the same shape and the longest common prefix come first.
        """
        compact = compact_key(canonical)
        new = self._snapshot.new_codes()
        neighbours = self._snapshot.neighbours
        found: dict[str, KnownCode] = {}
        for edits in range(1, min(distance, len(compact) // 2) + 1):
            self._take(
                self._by_likeness(neighbours.at_distance(compact, edits, new), canonical),
                canonical,
                limit,
                found,
            )
            if len(found) == limit:
                return list(found.values())
        self._take(neighbours.alike(compact, canonical, new), canonical, limit, found)
        return list(found.values())

    def _take(self, others: Iterable[str], canonical: str, limit: int, found: dict[str, KnownCode]) -> None:
        """Add visible codes until there are ``limit``."""
        for other in others:
            if len(found) == limit:
                return
            if other == canonical or other in found:
                continue
            entry = self._snapshot.entry(other)
            if entry is not None and (known := self._known(entry)) is not None:
                found[other] = known

    def _by_likeness(self, others: Iterable[str], canonical: str) -> list[str]:
        length = len(canonical)
        outline = coarse_shape(code_shape(canonical))
        ranked = sorted(
            set(others), key=lambda other: (-common_prefix(other, canonical), abs(len(other) - length), other)
        )
        ranked[:_SORTED_NATURALLY] = sorted(
            ranked[:_SORTED_NATURALLY], key=lambda other: coarse_shape(code_shape(other)) != outline
        )
        return ranked

    def knows_shape(self, canonical: str) -> bool:
        """Whether a visible code has the shape of this one.

        Either the same letters and digits in the same places, or the same first letters and the same order of
        letters, digits and separators, or of letters and digits alone; of two or three characters only the latter two.
        """
        snapshot = self._snapshot
        shape = code_shape(canonical)
        same = snapshot.neighbours.shaped(shape) if len(shape) > _SHORT else ()
        for other in chain(islice(same, _LOOKED_AT), snapshot.neighbours.related(canonical)):
            entry = snapshot.entry(other)
            if entry is not None and other != canonical and self._sees(entry):
                return True
        return any(
            ((len(shape) > _SHORT and entry.shape == shape) or same_outline(canonical, other))
            and other != canonical
            and self._sees(entry)
            for other, entry in snapshot.changed.items()
            if entry is not None
        )

    def holders(self, canonical: str) -> list[tuple[int, bool]]:
        """(Slot, defining) of the children that bear the code, are visible and pass the filters; by slot."""
        entry = self._snapshot.entry(canonical)
        if entry is None:
            return []
        passing = self._passing
        return [
            (slot, defining)
            for slot, (defining, _) in sorted(entry.holders.items())
            if self._slot_visible(slot) and (passing is None or (slot < len(passing) and passing[slot]))
        ]

    def all(self) -> Iterator[KnownCode]:
        """Every visible code, in no order."""
        for entry in self._snapshot.entries():
            known = self._known(entry)
            if known is not None:
                yield known

    def _slot_visible(self, slot: int) -> bool:
        visible = self._visible
        return visible is None or (slot < len(visible) and bool(visible[slot]))

    def _sees(self, entry: CodeEntry) -> bool:
        if entry.kind == "short":
            return self._known(entry) is not None
        return self._visible is None or any(map(self._slot_visible, entry.holders))

    def _all_known(self, canonicals: Iterable[str]) -> list[KnownCode]:
        entries = (self._snapshot.entry(canonical) for canonical in canonicals)
        known = (self._known(entry) for entry in entries if entry is not None)
        return sorted((one for one in known if one is not None), key=lambda one: _natural(one.canonical))

    def _known(self, entry: CodeEntry) -> KnownCode | None:
        holders = entry.holders
        if self._visible is not None:
            holders = {slot: held for slot, held in holders.items() if self._slot_visible(slot)}
        if not holders or (entry.kind == "short" and not any(defining for defining, _ in holders.values())):
            return None
        votes: Counter[str] = Counter()
        for _, (defining, text) in zip(range(_SPELLINGS), holders.values(), strict=False):
            votes[text] += _SPELLINGS if defining else 1
        text = max(votes, key=lambda spelling: (votes[spelling], spelling))
        return KnownCode(text, entry.canonical, entry.compact, entry.kind, entry.number, len(holders))


def _continues(canonical: str, compact: str, anywhere: bool) -> bool:
    """Whether the code goes on after the characters of ``compact``, at a separator unless ``anywhere``."""
    at = 0
    for character in canonical:
        if at == len(compact):
            return anywhere or character in _SEPARATORS
        if character == compact[at]:
            at += 1
        elif character not in _SEPARATORS:
            return False
    return False


def _natural(canonical: str) -> tuple[tuple[int, int, str], ...]:
    return tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _NATURAL.split(canonical) if part
    )
