"""Codes that look like one another: by edit distance, by prefix, by shape."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

_REPEATED = re.compile(r"(.)\1+")
_LEAD = re.compile(r"[^\W\d_]+|\d+")
_SEPARATORS = re.compile(r"[-_./:#\s]+")
_DOTTED = re.compile(r"v?\d+(?:\.\d+)+\S*")
_AROUND = 64  # neighbours in sorted order that are looked at for a common prefix
_LENGTHS = 0.6  # of two codes that are called alike, shorter to longer
_RELATIVES = 2000  # codes of one prefix that are looked at for a common outline


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


def compact_key(canonical: str) -> str:
    """``canonical`` without separators; versions and dotted numbers keep their dots.

    >>> compact_key("ns-x2-blk-m"), compact_key("v6.5")
    ('nsx2blkm', 'v6.5')
    """
    return canonical if _DOTTED.fullmatch(canonical) else _SEPARATORS.sub("", canonical)


def leading(canonical: str) -> str:
    """The run of letters, or of digits, that a code begins with."""
    match = _LEAD.match(canonical)
    return match.group() if match else canonical[:1]


def common_prefix(first: str, second: str) -> int:
    """Number of characters that both begin with."""
    length = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        length += 1
    return length


def same_outline(first: str, second: str) -> bool:
    """Whether two canonical forms have the same first letters and outline, with their separators or without.

    >>> same_outline("e-9999", "e1042"), same_outline("ns-y1", "ns-x20"), same_outline("e1042", "f1042")
    (True, True, False)
    """
    if first[:1] != second[:1]:
        return False
    if _same_outline(first, second):
        return True
    compacts = compact_key(first), compact_key(second)
    return compacts != (first, second) and _same_outline(*compacts)


def _same_outline(first: str, second: str) -> bool:
    return leading(first) == leading(second) and coarse_shape(code_shape(first)) == coarse_shape(
        code_shape(second)
    )


class _Equals:
    """Compact forms of one length, and their characters by position."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.compacts: list[str] = []
        self.canonicals: list[str] = []

    @cached_property
    def columns(self) -> NDArray[np.uint32]:
        letters = np.frombuffer("".join(self.compacts).encode("utf-32-le"), dtype=np.uint32)
        return np.ascontiguousarray(letters.reshape(len(self.compacts), self.length).T)

    def substituted(self, compact: str) -> NDArray[np.uint8]:
        """Positions in which each differs from ``compact``, which has the same length."""
        differing = np.zeros(len(self.compacts), dtype=np.uint8)
        for column, character in zip(self.columns, compact, strict=True):
            differing += column != ord(character)
        return differing


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
    def _by_length(self) -> dict[int, _Equals]:
        groups: dict[int, _Equals] = {}
        for compact, canonical, _ in self._codes:
            group = groups.get(len(compact))
            if group is None:
                group = groups[len(compact)] = _Equals(len(compact))
            group.compacts.append(compact)
            group.canonicals.append(canonical)
        return groups

    @cached_property
    def _by_shape(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for _, canonical, shape in self._codes:
            groups.setdefault(shape, []).append(canonical)
        return groups

    def beginning_with(self, compact: str) -> Iterator[str]:
        """Canonical forms of the codes whose compact form begins so, sorted."""
        for position in range(bisect_left(self._sorted, (compact, "")), len(self._sorted)):
            other, canonical = self._sorted[position]
            if not other.startswith(compact):
                return
            yield canonical

    def shaped(self, shape: str) -> Sequence[str]:
        """Canonical forms of the codes of this shape."""
        return self._by_shape.get(shape, ())

    def related(self, canonical: str) -> Iterator[str]:
        """Canonical forms of codes of the same first letters and the same outline."""
        for looked_at, other in enumerate(self.beginning_with(leading(canonical))):
            if looked_at == _RELATIVES:
                return
            if same_outline(canonical, other):
                yield other

    def at_distance(self, compact: str, distance: int, new: Sequence[tuple[str, str]]) -> list[str]:
        """Canonical forms of the codes whose compact form is exactly so many edits away; ``new`` ones too."""
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import extract

        found: list[str] = []
        if distance == 1:  # of one length only a substitution is one edit
            if same := self._by_length.get(len(compact)):
                rows = np.flatnonzero(same.substituted(compact) == 1)
                found += [same.canonicals[row] for row in rows]
            lengths = [len(compact) - 1, len(compact) + 1]
        else:
            lengths = list(range(len(compact) - distance, len(compact) + distance + 1))
        groups = [
            (group.compacts, group.canonicals) for length in lengths if (group := self._by_length.get(length))
        ]
        if new:
            groups.append(([one for one, _ in new], [canonical for _, canonical in new]))
        for compacts, canonicals in groups:
            matches = extract(
                compact,
                compacts,
                scorer=Levenshtein.distance,
                processor=None,
                score_cutoff=distance,
                limit=None,
            )
            found += [canonicals[row] for _, edits, row in matches if edits == distance]
        return found

    def alike(self, compact: str, canonical: str, new: Sequence[tuple[str, str]]) -> list[str]:
        """Canonical forms of codes of the same first letters, outline and about the same length.

        The longest common prefix comes first.
        """
        lead = leading(canonical)
        at = bisect_left(self._sorted, (compact, ""))
        around = self._sorted[max(0, at - _AROUND) : at + _AROUND]
        same = [
            other
            for _, other in (*around, *(pair for pair in new if pair[0].startswith(lead)))
            if same_outline(canonical, other)
            and min(len(other), len(canonical)) > _LENGTHS * max(len(other), len(canonical))
        ]
        return sorted(
            same,
            key=lambda other: (
                not _same_outline(canonical, other),
                -common_prefix(compact_key(other), compact),
                other,
            ),
        )
