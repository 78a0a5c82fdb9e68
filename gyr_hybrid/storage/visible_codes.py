"""The code map as a view sees it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gyr_hybrid.storage.snapshot import Snapshot

if TYPE_CHECKING:
    from gyr_hybrid.storage.code_view import CodeView
    from gyr_hybrid.storage.codes import KnownCode


class VisibleCodes:
    """The code map as a view sees it, with child ids for slots."""

    def __init__(self, snapshot: Snapshot, codes: CodeView) -> None:
        self._snapshot = snapshot
        self._codes = codes

    def exact(self, canonical: str) -> KnownCode | None:
        return self._codes.exact(canonical)

    def compact(self, compact: str) -> list[KnownCode]:
        return self._codes.compact(compact)

    def number(self, number: str) -> list[KnownCode]:
        return self._codes.number(number)

    def members(self, prefix: str, limit: int = 50, *, anywhere: bool = False) -> list[KnownCode]:
        return self._codes.members(prefix, limit, anywhere=anywhere)

    def near(self, canonical: str, *, distance: int = 2, limit: int = 5) -> list[KnownCode]:
        return self._codes.near(canonical, distance=distance, limit=limit)

    def knows_shape(self, canonical: str) -> bool:
        return self._codes.knows_shape(canonical)

    def holders(self, canonical: str) -> list[tuple[str, bool]]:
        nodes = self._snapshot.nodes
        held = self._codes.holders(canonical)
        numbers = [int(self._snapshot.slot_nodes[slot]) for slot, _ in held]
        positions = [self._snapshot.position(number) for number in numbers]
        order = sorted(range(len(held)), key=positions.__getitem__)
        return [(nodes.ids[numbers[i]], held[i][1]) for i in order]

    def all(self) -> Iterator[KnownCode]:
        return self._codes.all()
