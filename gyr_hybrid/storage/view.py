"""What one question sees of one commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

import numpy as np
from llama_index.core.schema import Document, TextNode
from numpy.typing import NDArray

from gyr_hybrid.errors import EmbeddingError
from gyr_hybrid.storage.postings import term_key
from gyr_hybrid.storage.protocol import Hit, Vector
from gyr_hybrid.storage.ranking import top_k
from gyr_hybrid.storage.snapshot import Snapshot
from gyr_hybrid.storage.visible_codes import Held, VisibleCodes

if TYPE_CHECKING:
    from gyr_hybrid.storage.code_view import CodeView

Bool = NDArray[np.bool_]

_KEPT_LISTS = 32
"""Lists of ids whose numbers a view keeps."""
FEW = 5
"""A scope that leaves fewer than one slot in so many is searched by its slots, not by masking all."""


@dataclass(frozen=True, slots=True)
class Masks:
    """What a scope sees at a generation."""

    documents: Bool
    """Visible documents by row: tenant, acl, day, one version of each."""
    allowed: Bool
    """Live documents by row that tenant and acl allow, on any day and in any version."""
    visible: Bool | None
    """Children of visible documents by slot; None for all."""
    passing: Bool | None
    """Those of them that pass the filters too; None for all."""
    count: int
    """How many are passing."""
    slots: NDArray[np.intp] | None
    """The passing slots, where they are few."""


class Source(Protocol):
    """What a view still reads from the database."""

    def read_nodes(self, wanted: Sequence[tuple[int, int, int]]) -> list[TextNode | None]:
        """Nodes by (document key, piece, ordinal)."""
        ...

    def read_document(self, doc_key: int) -> Document | None: ...


class SnapshotView:
    """A ``View`` over a snapshot."""

    def __init__(
        self, snapshot: Snapshot, masks: Masks, codes: Callable[[], CodeView], source: Source
    ) -> None:
        self._snapshot = snapshot
        self._masks = masks
        self._code_view = codes
        self._found: dict[str, int] = {}
        self._resolved: dict[tuple[str, ...], NDArray[np.intp]] = {}
        self._source = source

    @property
    def generation(self) -> int:
        return self._snapshot.generation

    @property
    def dimension(self) -> int | None:
        return None if self._snapshot.matrix is None else self._snapshot.matrix.dimension

    @property
    def n_children(self) -> int:
        return self._snapshot.n_live

    @property
    def n_visible(self) -> int:
        return self._masks.count

    # searches

    def dense(self, vector: Vector, k: int) -> list[Hit]:
        snapshot, masks, matrix = self._snapshot, self._masks, self._snapshot.matrix
        query = self._unit(vector)
        if query is None or matrix is None or not masks.count:
            return []
        if masks.slots is None:
            scores = matrix.products(query, snapshot.n_slots)
            for mask in (masks.passing, snapshot.has_vector):
                if mask is not None:
                    scores[~mask] = -np.inf
            exact = partial(matrix.exact_products_of, query)
            best, values = top_k(scores, k, snapshot.slot_positions, exact=exact)
            return self._hits(best, values)
        few = masks.slots if snapshot.has_vector is None else masks.slots[snapshot.has_vector[masks.slots]]
        places, values = top_k(
            matrix.products_of(query, few),
            k,
            lambda places: snapshot.slot_positions(few[places]),
            exact=lambda places: matrix.exact_products_of(query, few[places]),
        )
        return self._hits(few[places], values)

    def lexical(self, weights: Mapping[str, float], k: int) -> list[Hit]:
        if not self._masks.count:
            return []
        scores = self._snapshot.postings.scores(
            _by_key(weights), self._masks.passing, few=self._masks.slots is not None
        )
        best, values = top_k(scores, k, self._snapshot.slot_positions, above=0.0)
        return self._hits(best, values)

    def bm25(self, weights: Mapping[str, float], node_ids: Sequence[str]) -> dict[str, float]:
        ids, slots = self._slots(node_ids)
        scores = self._snapshot.postings.scores_of(_by_key(weights), slots)
        return dict(zip(ids, scores.tolist(), strict=True))

    def cosine(self, vector: Vector, node_ids: Sequence[str]) -> dict[str, float]:
        ids, slots = self._slots(node_ids)
        query, matrix, has_vector = self._unit(vector), self._snapshot.matrix, self._snapshot.has_vector
        if not ids or query is None or matrix is None:
            return {}
        scores = matrix.exact_products_of(query, slots.astype(np.intp))
        pairs = zip(ids, scores.tolist(), slots.tolist(), strict=True)
        return {i: score for i, score, slot in pairs if has_vector is None or has_vector[slot]}

    def idf(self, token: str) -> float:
        return self._snapshot.postings.idf(term_key(token))

    def frequencies(self, tokens: Sequence[str], node_ids: Sequence[str]) -> NDArray[np.int32]:
        table = np.zeros((len(node_ids), len(tokens)), dtype=np.int32)
        rows, slots = self._aligned_slots(node_ids)
        table[rows] = self._snapshot.postings.frequencies([term_key(token) for token in tokens], slots)
        return table

    def lengths(self, node_ids: Sequence[str]) -> NDArray[np.int32]:
        out = np.zeros(len(node_ids), dtype=np.int32)
        rows, slots = self._aligned_slots(node_ids)
        out[rows] = self._snapshot.postings.lengths[slots]
        return out

    @cached_property
    def codes(self) -> VisibleCodes:
        return VisibleCodes(self._code_view(), self._named)

    def _named(self, held: Held) -> list[tuple[str, bool]]:
        """Ids for slots, in reading order."""
        nodes = self._snapshot.nodes
        numbers = [int(self._snapshot.slot_nodes[slot]) for slot, _ in held]
        positions = [self._snapshot.position(number) for number in numbers]
        order = sorted(range(len(held)), key=positions.__getitem__)
        return [(nodes.ids[numbers[i]], held[i][1]) for i in order]

    # look-ups

    def nodes(self, node_ids: Sequence[str]) -> dict[str, TextNode]:
        nodes, keys = self._snapshot.nodes, self._snapshot.documents.keys
        ids, numbers = self._known(node_ids)
        wanted = zip(
            keys[nodes.documents[numbers]].tolist(),
            nodes.pieces[numbers].tolist(),
            nodes.ordinals[numbers].tolist(),
            strict=True,
        )
        read = self._source.read_nodes(list(wanted))
        return {node_id: node for node_id, node in zip(ids, read, strict=True) if node is not None}

    def children(self, section_ids: Sequence[str]) -> dict[str, list[str]]:
        ids, nodes = self._snapshot.nodes.ids, self._snapshot.nodes
        sections, numbers = self._known(section_ids)
        found: dict[str, list[str]] = {}
        firsts, counts = nodes.first_children[numbers].tolist(), nodes.child_counts[numbers].tolist()
        for section, number, first, count in zip(sections, numbers.tolist(), firsts, counts, strict=True):
            together = first < 0 or count > 0
            found[section] = (
                list(ids[first : first + count])
                if together
                else [ids[child] for child in self._snapshot.children(number)]
            )
        return found

    def parents(self, child_ids: Sequence[str]) -> dict[str, str]:
        nodes = self._snapshot.nodes
        children, numbers = self._known(child_ids)
        parents = nodes.parents[numbers].tolist()
        return {
            child: nodes.ids[parent] for child, parent in zip(children, parents, strict=True) if parent >= 0
        }

    def header_paths(self, node_ids: Sequence[str]) -> list[tuple[str, ...]]:
        nodes = self._snapshot.nodes
        numbers = self._resolve(node_ids)
        paths = np.where(numbers >= 0, nodes.paths[numbers], -1).tolist() if len(nodes) else []
        return [nodes.header_paths[path] if path >= 0 else () for path in paths or [-1] * len(numbers)]

    def spans(self, node_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        nodes = self._snapshot.nodes
        ids, numbers = self._known(node_ids)
        spans = zip(nodes.starts[numbers].tolist(), nodes.ends[numbers].tolist(), strict=True)
        return {node_id: span for node_id, span in zip(ids, spans, strict=True) if span[0] >= 0}

    def position(self, node_id: str) -> int:
        number = self._number(node_id)
        return self._snapshot.position(number) if number >= 0 else len(self._snapshot.documents) << 32

    def document(self, doc_id: str, version: str | None = None) -> Document | None:
        documents = self._snapshot.documents
        allowed = self._masks.documents if version is None else self._masks.allowed
        rules = documents.rules.rows
        rows = [row for row in documents.rows_of(doc_id) if allowed[row]]
        if version is not None:
            rows = [row for row in rows if rules[row].version == version]
        if not rows:
            return None
        return self._source.read_document(int(documents.keys[max(rows, key=lambda row: rules[row].rank)]))

    # helpers

    def _hits(self, slots: NDArray[np.intp], values: NDArray[np.float32]) -> list[Hit]:
        ids = self._snapshot.nodes.ids
        numbers = self._snapshot.slot_nodes[slots].tolist()
        return [Hit(ids[number], score) for number, score in zip(numbers, values.tolist(), strict=True)]

    def _unit(self, vector: Vector) -> Vector | None:
        """The query as a unit vector; None when it points nowhere."""
        query = np.asarray(vector, dtype=np.float32)
        if self.dimension is not None and query.shape != (self.dimension,):
            raise EmbeddingError(
                f"the query vector has shape {query.shape}, the index {self.dimension} dimensions; "
                "use the embedding model that the index was built with"
            )
        norm = float(np.linalg.norm(query))
        return query / np.float32(norm) if np.isfinite(norm) and norm > 0.0 else None

    def _number(self, node_id: str) -> int:
        """Number of a visible node, -1 for none."""
        number = self._found.get(node_id)
        if number is None:
            number = self._found[node_id] = self._snapshot.find(node_id, self._masks.documents)
        return number

    def _resolve(self, node_ids: Sequence[str]) -> NDArray[np.intp]:
        """Numbers of the visible nodes, -1 for the others; one question asks for the same ids many times."""
        key = tuple(node_ids)
        numbers = self._resolved.get(key)
        if numbers is None:
            numbers = self._snapshot.find_all(key, self._masks.documents)
            if len(self._resolved) >= _KEPT_LISTS:
                self._resolved.clear()
            self._resolved[key] = numbers
            self._found.update(zip(key, numbers.tolist(), strict=True))
        return numbers

    def _known(self, node_ids: Sequence[str]) -> tuple[Sequence[str], NDArray[np.intp]]:
        """The visible nodes among the ids, each once, and their numbers."""
        ids = list(dict.fromkeys(node_ids))
        numbers = self._resolve(ids)
        known = numbers >= 0
        if known.all():
            return ids, numbers
        return [node_id for node_id, keep in zip(ids, known, strict=True) if keep], numbers[known]

    def _slots(self, node_ids: Sequence[str]) -> tuple[Sequence[str], NDArray[np.int32]]:
        """The visible children among the ids, and their slots."""
        ids, numbers = self._known(node_ids)
        slots = self._snapshot.nodes.slots[numbers]
        if len(slots) and slots.min() < 0:
            kept = slots >= 0
            return [node_id for node_id, keep in zip(ids, kept, strict=True) if keep], slots[kept]
        return ids, slots

    def _aligned_slots(self, node_ids: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
        """Places in ``node_ids`` of visible children, and their slots."""
        numbers = self._resolve(node_ids)
        known = np.flatnonzero(numbers >= 0)
        slots: NDArray[np.int32] = self._snapshot.nodes.slots[numbers[known]]
        children = slots >= 0
        return known[children], slots[children]


def _by_key(weights: Mapping[str, float]) -> dict[int, float]:
    return {term_key(token): weight for token, weight in weights.items()}
