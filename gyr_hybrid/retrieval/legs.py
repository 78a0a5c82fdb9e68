"""The three searches of a question: exact codes, BM25 over words, vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.errors import EmbeddingError, IndexMismatchError
from gyr_hybrid.retrieval.code_lookup import ResolvedCode
from gyr_hybrid.storage import Hit, View

CODE_STATUSES = ("known", "ambiguous", "family")


@dataclass(frozen=True, slots=True)
class CodeHolders:
    """Where the codes of a question stand, as the asker may see it."""

    canonicals: tuple[frozenset[str], ...] = ()
    """Per known code of the question the canonical forms that it means."""
    children: tuple[Mapping[str, bool], ...] = ()
    """Per known code: child id -> whether the child defines it."""

    def __bool__(self) -> bool:
        return bool(self.children)

    def tier(self, child_ids: Sequence[str]) -> tuple[int, int]:
        """(2 bears all codes, 1 some, 0 none; how many it defines) of a section with these children."""
        borne = defined = 0
        for holders in self.children:
            places = [holders[child] for child in child_ids if child in holders]
            borne += bool(places)
            defined += any(places)
        return (2 if borne == len(self.children) else 1 if borne else 0), defined


def find_holders(codes: Sequence[ResolvedCode], view: View) -> CodeHolders:
    """Look up every code of the question that the index knows; a code written twice counts once."""
    seen: dict[frozenset[str], dict[str, bool]] = {}
    for code in codes:
        if code.status not in CODE_STATUSES:
            continue
        canonicals = frozenset(match.canonical for match in code.matches)
        if canonicals in seen:
            continue
        children: dict[str, bool] = {}
        for canonical in sorted(canonicals):
            for child, defining in view.codes.holders(canonical):
                children[child] = children.get(child, False) or defining
        seen[canonicals] = children
    return CodeHolders(tuple(seen), tuple(seen.values()))


def code_leg(holders: CodeHolders, rest: Mapping[str, float], view: View, k: int) -> list[Hit]:
    """Children that bear codes of the question: by tier, defining places, then BM25 of the other words.

    The best child of every section comes before the second of any, so that one long page cannot fill the leg.
    """
    ids = list(dict.fromkeys(child for found in holders.children for child in found))
    if not ids:
        return []
    if sum(map(len, holders.canonicals)) > 1:  # the holders of one code are in reading order
        ids.sort(key=view.position)
    parents = view.parents(ids)
    sections: dict[str, list[str]] = {}
    for child in ids:
        sections.setdefault(parents.get(child, child), []).append(child)
    words = view.bm25(rest, ids) if rest else {}
    best = max(words.values(), default=0.0) or 1.0
    step = 1.0 / (len(holders.children) + 1)  # one more code that is defined
    scores: list[tuple[float, int]] = []
    places = {child: place for place, child in enumerate(ids)}
    for children in sections.values():
        tier, defined = holders.tier(children)
        first = max(children, key=lambda child: words.get(child, 0.0))
        for child in children:
            share = 0.4 * words.get(child, 0.0) / best - (0.5 if child != first else 0.0)
            scores.append((tier + step * (defined + share), -places[child]))
    return [Hit(ids[-place], score) for score, place in nlargest(k, scores)]


def lexical_leg(weights: Mapping[str, float], view: View, k: int) -> list[Hit]:
    """BM25 over the question's tokens; only rows that match."""
    return view.lexical(weights, k) if weights else []


def dense_leg(vector: NDArray[np.float32], view: View, k: int) -> list[Hit]:
    """Exact cosine; only rows that point the question's way."""
    return [hit for hit in view.dense(vector, k) if hit.score > 0.0]


def unit_vector(values: Sequence[float], dimension: int | None) -> NDArray[np.float32]:
    """The question's embedding as a float32 unit vector, checked.

    Raises:
        IndexMismatchError: its dimension is not that of the index.
        EmbeddingError: it is zero, NaN or infinite.
    """
    vector = np.asarray(values, dtype=np.float32)
    if dimension is not None and vector.shape != (dimension,):
        raise IndexMismatchError(
            f"the question's embedding has {vector.size} dimensions, the index {dimension}; "
            "open the index with the model it was built with, or build it again in a new folder"
        )
    norm = float(np.linalg.norm(vector))
    if not np.isfinite(norm) or norm == 0.0:
        raise EmbeddingError("the question's embedding is zero, NaN or infinite; check the embedding model")
    return vector / np.float32(norm)
