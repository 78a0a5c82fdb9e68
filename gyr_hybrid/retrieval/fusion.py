"""Reciprocal rank fusion by node id."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

RRF_K = 60
"""Cormack, Clarke and Büttcher, SIGIR 2009; ranks are counted from 1."""


@dataclass(frozen=True, slots=True)
class Fused:
    """A node of the pool and where each leg had it."""

    node_id: str
    score: float
    """Sum of weight / (k + rank) over the legs that returned the node."""
    ranks: tuple[tuple[str, int], ...]
    """(leg, rank from 1) in the order of the legs."""


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[str]],
    *,
    k: float = RRF_K,
    weights: Mapping[str, float] | None = None,
    position: Callable[[str], int] | None = None,
) -> list[Fused]:
    """Pool several rankings of node ids into one, best first.

    A leg whose weight is 0 has no vote. Ties are broken by ``position`` (reading order of the
    documents), else by id, so that the same rankings always give the same pool. The rankings are
    not changed; an id that stands twice in one ranking counts at its better rank.

    >>> [(f.node_id, f.ranks) for f in reciprocal_rank_fusion({"lexical": ["b"], "dense": ["a", "b"]})]
    [('b', (('lexical', 1), ('dense', 2))), ('a', (('dense', 1),))]
    """
    ranks: dict[str, dict[str, int]] = {}
    for leg, ids in rankings.items():
        if weights is not None and weights.get(leg, 1.0) == 0.0:
            continue
        for rank, node_id in enumerate(ids, start=1):
            ranks.setdefault(node_id, {}).setdefault(leg, rank)
    fused = [
        Fused(
            node_id,
            sum(
                (1.0 if weights is None else weights.get(leg, 1.0)) / (k + rank) for leg, rank in legs.items()
            ),
            tuple(legs.items()),
        )
        for node_id, legs in ranks.items()
    ]
    order = position or (lambda _: 0)
    return sorted(fused, key=lambda f: (-f.score, order(f.node_id), f.node_id))
