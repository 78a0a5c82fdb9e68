"""A code map under the ids of its children."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gyr_hybrid.storage.code_view import CodeView
    from gyr_hybrid.storage.codes import KnownCode

Held = list[tuple[int, bool]]
"""(Slot, defining)."""


class VisibleCodes:
    """The code map as a view sees it, with child ids for slots.

    Args:
        named: slots to child ids, in reading order.
    """

    def __init__(self, codes: CodeView, named: Callable[[Held], list[tuple[str, bool]]]) -> None:
        self._codes = codes
        self._named = named

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
        return self._named(self._codes.holders(canonical))

    def all(self) -> Iterator[KnownCode]:
        return self._codes.all()
