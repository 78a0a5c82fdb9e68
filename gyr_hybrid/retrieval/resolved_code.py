"""A code of a question with its meaning in an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gyr_hybrid.storage.code_neighbours import coarse_shape, code_shape, same_outline
from gyr_hybrid.storage.codes import KnownCode

Status = Literal["known", "unknown", "family", "ambiguous"]


@dataclass(frozen=True, slots=True)
class ResolvedCode:
    """A code of a question and what it means in the index."""

    text: str
    """As it was typed."""
    canonical: str
    """That of the index when the code is known, else of what was typed."""
    start: int
    end: int
    """Code points into the question."""
    status: Status
    matches: tuple[KnownCode, ...] = ()
    """What it means: one, several when ambiguous, the members of a family; an exact code before its family."""
    suggestions: tuple[str, ...] = ()
    """At most five codes that an unknown one may stand for, as the documents spell them."""
    class_word: str | None = None
    """The word beside it that says what it is."""
    known_shape: bool = False
    """Whether the index knows codes of this shape."""
    named: bool = False
    """Whether the class word is one beside which only a code can be meant."""


def relatives(first: str, second: str) -> bool:
    """Whether two canonical forms are different codes of one family: the same first letters and outline.

    >>> relatives("e1042", "e2017"), relatives("e1042", "ns-x2")
    (True, False)
    """
    return first != second and same_outline(first, second)


def look_alike(first: str, second: str) -> bool:
    """Whether two canonical forms are different codes of one shape within two edits.

    >>> look_alike("e1042", "e1043"), look_alike("e1042", "ns-x2"), look_alike("e1042", "e1042")
    (True, False, False)
    """
    from rapidfuzz.distance import Levenshtein

    if first == second or coarse_shape(code_shape(first)) != coarse_shape(code_shape(second)):
        return False
    return Levenshtein.distance(first, second, score_cutoff=2) <= 2
