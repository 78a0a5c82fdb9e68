"""Codes that look like one another: by edit distance, by prefix, by shape."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

_REPEATED = re.compile(r"(.)\1+")
_LEAD = re.compile(r"[^\W\d_]+|\d+")
_AROUND = 64  # neighbours in sorted order that are looked at for a common prefix


class _Shapes(dict[int, str]):
    def __missing__(self, code_point: int) -> str:
        character = chr(code_point)
        self[code_point] = shape = "9" if character.isdecimal() else "a" if character.isalpha() else character
        return shape


_SHAPES = _Shapes()


def code_shape(canonical: str) -> str:
    """Letters as ``a``, digits as ``9``, separators as they are.

    >>> code_shape("ns-x2-blk-m")
    'aa-a9-aaa-a'
    """
    return canonical.translate(_SHAPES)


def coarse_shape(shape: str) -> str:
    """A shape with its runs made one character: ``aa-a9-aaa-a`` is ``a-a9-a-a``."""
    return _REPEATED.sub(r"\1", shape)


def common_prefix(first: str, second: str) -> int:
    """Characters that both begin with."""
    length = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        length += 1
    return length


class CodeNeighbours:
    """Searches among many codes; each of its tables is built when first needed.

    Args:
        codes: (compact form, canonical form, shape) of each.
    """

    def __init__(self, codes: Iterable[tuple[str, str, str]]) -> None:
        self._codes = list(codes)

    @cached_property
    def _sorted(self) -> list[tuple[str, str]]:
        return sorted((compact, canonical) for compact, canonical, _ in self._codes)

    @cached_property
    def _by_length(self) -> dict[int, tuple[list[str], list[str]]]:
        groups: dict[int, tuple[list[str], list[str]]] = {}
        for compact, canonical, _ in self._codes:
            compacts, canonicals = groups.setdefault(len(compact), ([], []))
            compacts.append(compact)
            canonicals.append(canonical)
        return groups

    @cached_property
    def _by_shape(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for _, canonical, shape in self._codes:
            groups.setdefault(shape, []).append(canonical)
            groups.setdefault(f"{leading(canonical)}|{coarse_shape(shape)}", []).append(canonical)
        return groups

    def beginning_with(self, compact: str) -> Iterator[str]:
        """Canonical forms of the codes whose compact form begins so, sorted."""
        for position in range(bisect_left(self._sorted, (compact, "")), len(self._sorted)):
            other, canonical = self._sorted[position]
            if not other.startswith(compact):
                return
            yield canonical

    def shaped(self, canonical: str, shape: str) -> Iterator[str]:
        """Canonical forms of the codes of the same shape, or of the same prefix and coarse shape."""
        yield from self._by_shape.get(shape, ())
        yield from self._by_shape.get(f"{leading(canonical)}|{coarse_shape(shape)}", ())

    def within(self, compact: str, distance: int, new: Sequence[tuple[str, str]]) -> list[tuple[int, str]]:
        """(Edit distance, canonical form) of the codes within ``distance``; ``new`` codes are searched too."""
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import extract

        found: list[tuple[int, str]] = []
        groups = [
            self._by_length.get(length)
            for length in range(len(compact) - distance, len(compact) + distance + 1)
        ]
        if new:
            groups.append(([one for one, _ in new], [canonical for _, canonical in new]))
        for group in groups:
            if group:
                rows = extract(
                    compact,
                    group[0],
                    scorer=Levenshtein.distance,
                    processor=None,
                    score_cutoff=distance,
                    limit=None,
                )
                found += [(int(score), group[1][position]) for _, score, position in rows]
        return found

    def alike(self, compact: str, canonical: str, new: Sequence[tuple[str, str]]) -> list[str]:
        """Canonical forms of codes of the same prefix and coarse shape, longest common prefix first."""
        lead, shape = leading(canonical), coarse_shape(code_shape(canonical))
        at = bisect_left(self._sorted, (compact, ""))
        around = [*self._sorted[max(0, at - _AROUND) : at + _AROUND], *new]
        same = [
            other
            for _, other in around
            if leading(other) == lead and coarse_shape(code_shape(other)) == shape
        ]
        return sorted(same, key=lambda other: (-common_prefix(other, canonical), other))


def leading(canonical: str) -> str:
    """The run of letters, or of digits, that a code begins with."""
    match = _LEAD.match(canonical)
    return match.group() if match else canonical[:1]
