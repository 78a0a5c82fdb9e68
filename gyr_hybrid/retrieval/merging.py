"""Lift child hits to the sections that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gyr_hybrid.retrieval.fusion import Fused


@dataclass(frozen=True, slots=True)
class Merged:
    """A section (or a child whose section is missing) and the children that brought it."""

    node_id: str
    score: float
    """The best score of its children: a section never stands below its best child."""
    children: tuple[str, ...]
    """Ids of the matched children, best first."""


def merge_into_sections(pool: Sequence[Fused], parents: Mapping[str, str]) -> list[Merged]:
    """Replace every child by its section, in the order of each section's best child.

    Args:
        pool: fused children, best first.
        parents: child id -> section id; a child without an entry stands for itself.

    One hit is enough (no ratio of children is asked for), nothing is filled in that was not
    found, and a section comes once.
    """
    groups: dict[str, list[Fused]] = {}
    for hit in pool:
        groups.setdefault(parents.get(hit.node_id, hit.node_id), []).append(hit)
    return [
        Merged(node_id, max(hit.score for hit in hits), tuple(hit.node_id for hit in hits))
        for node_id, hits in groups.items()
    ]
