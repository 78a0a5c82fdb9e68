"""The pure parts of the store, each against the slow way."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.schema import Document, NodeRelationship, RelatedNodeInfo, TextNode

from gyr_hybrid.errors import DocumentError
from gyr_hybrid.storage.growing import GrowingArray
from gyr_hybrid.storage.matrix import BLOCK_ROWS, Matrix
from gyr_hybrid.storage.packing import pack_document
from gyr_hybrid.storage.postings import Postings, Segment, add_segment, term_key
from gyr_hybrid.storage.protocol import embed_hash, version_of
from gyr_hybrid.storage.ranking import top_k
from gyr_hybrid.storage.unpacking import NodeReader, unpack_document
from gyr_hybrid.storage.vectors import decode, dimension_of, encode, units

# the best k


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, -np.inf]), max_size=60),
    st.integers(0, 12),
    st.integers(0, 60),
)
def test_top_k_is_the_sorted_list_cut(values: list[float], k: int, repeats: int) -> None:
    scores = np.array(values * (1 + repeats), dtype=np.float32)
    expected = sorted((i for i, s in enumerate(scores) if s > 0), key=lambda i: (-scores[i], -i))[:k]
    slots, best = top_k(scores, k, lambda slots: -slots.astype(np.int64), above=0.0)
    assert slots.tolist() == expected
    assert best.tolist() == scores[expected].tolist()


def test_top_k_of_many_equal_scores_is_still_the_first_ones() -> None:
    scores = np.ones(5000, dtype=np.float32)
    assert top_k(scores, 3, lambda slots: slots.astype(np.int64))[0].tolist() == [0, 1, 2]


# vectors


@pytest.mark.parametrize("dimension", [1, 2, 16, 512])
def test_encoded_vectors_are_close_and_encode_to_themselves(dimension: int) -> None:
    raw = np.random.default_rng(1).standard_normal((200, dimension)).astype(np.float32)
    vectors = units(list(raw), [str(i) for i in range(200)])
    blobs = encode(vectors)
    decoded = decode(blobs)
    assert np.abs(vectors @ vectors.T - vectors @ decoded.T).max() < 5e-5
    assert encode(decoded) == blobs
    assert {dimension_of(blob) for blob in blobs} == {dimension}
    assert {len(blob) for blob in blobs} == {4 + 2 * dimension}


@pytest.mark.parametrize("blob", [b"", b"1234", b"12345"])
def test_a_blob_that_is_no_vector_has_no_dimension(blob: bytes) -> None:
    assert dimension_of(blob) == -1


def test_a_matrix_grows_without_moving() -> None:
    random = np.random.default_rng(2)
    vectors = random.standard_normal((BLOCK_ROWS + 50, 8)).astype(np.float32)
    matrix = Matrix(8, 10)
    matrix.write(np.arange(10), vectors[:10])
    query = vectors[3]
    before = matrix.products(query, 10)
    rest = random.permutation(np.arange(10, len(vectors)))
    matrix.write(rest, vectors[rest])
    assert matrix.products(query, 10).tolist() == before.tolist()
    assert matrix.products(query, len(vectors)) == pytest.approx(vectors @ query, abs=1e-4)
    some = np.array([0, 9, 10, 11, BLOCK_ROWS + 9, BLOCK_ROWS + 49])
    assert matrix.products_of(query, some) == pytest.approx((vectors @ query)[some], abs=1e-4)
    assert matrix.products(query, len(vectors) + 3)[-3:].tolist() == [0, 0, 0]


def test_slices_of_a_growing_array_keep_their_values() -> None:
    growing = GrowingArray(np.int32)
    growing.extend(range(5))
    early = growing.values
    growing.extend(range(5, 500))
    assert early.tolist() == [0, 1, 2, 3, 4]
    assert growing.values.tolist() == list(range(500))


# postings

_ROWS = st.lists(st.dictionaries(st.sampled_from("甲乙丙丁"), st.integers(1, 300), max_size=4), max_size=12)


@settings(max_examples=80, deadline=None)
@given(batches=st.lists(_ROWS, max_size=6), dead=st.sets(st.integers(0, 71)), few=st.booleans())
def test_scores_do_not_depend_on_how_postings_came_together(
    batches: list[list[dict[str, int]]], dead: set[int], few: bool
) -> None:
    rows = [row for batch in batches for row in batch]
    alive = np.array([i not in dead for i in range(len(rows))], dtype=bool)
    segments: tuple[Segment, ...] = ()
    slot = 0
    for batch in batches:
        held = [(term_key(t), slot + i, min(n, 255)) for i, row in enumerate(batch) for t, n in row.items()]
        slot += len(batch)
        columns = list(zip(*held, strict=True)) or [(), (), ()]
        types = (np.uint64, np.int32, np.uint8)
        new = Segment.build(*(np.array(c, dtype=t) for c, t in zip(columns, types, strict=True)))
        mask = np.zeros(slot, dtype=bool) | alive[:slot]
        segments = add_segment(segments, new, mask)
    sizes = [len(segment) for segment in segments]
    assert all(a >= 4 * b for a, b in itertools.pairwise(sizes))
    lengths = np.array([sum(row.values()) for row in rows], dtype=np.int32)
    live = [row for row, ok in zip(rows, alive, strict=True) if ok]
    postings = Postings(segments, lengths, alive, len(live), int(lengths[alive].sum()) if len(rows) else 0)
    average = sum(sum(row.values()) for row in live) / len(live) if live else 1.0
    query = {"甲": 1.0, "丁": 0.5, "戊": 1.0}
    expected = np.zeros(len(rows))
    for term, weight in query.items():
        df = sum(term in row for row in live)
        for i, row in enumerate(rows):
            if alive[i] and term in row:
                tf, norm = min(row[term], 255), 1.5 * (0.25 + 0.75 * lengths[i] / average)
                expected[i] += weight * math.log(1 + (len(live) - df + 0.5) / (df + 0.5)) * tf / (tf + norm)
    weights = {term_key(term): weight for term, weight in query.items()}
    assert postings.scores(weights, alive, few=few) == pytest.approx(expected, abs=1e-4)
    slots = np.flatnonzero(alive).astype(np.int32)
    assert postings.scores_of(weights, slots) == pytest.approx(expected[alive], abs=1e-4)


def test_moving_slots_drops_the_dead_ones() -> None:
    keys = np.array([7, 7, 9], dtype=np.uint64)
    segment = Segment.build(keys, np.array([0, 2, 1], dtype=np.int32), np.array([1, 2, 3], dtype=np.uint8))
    moved = segment.moved(np.array([0, -1, 1], dtype=np.int32))
    found = moved.find(7)
    assert found is not None
    assert [part.tolist() for part in found] == [[0, 1], [1, 2]]
    assert moved.find(9) is None


# documents as rows

_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(-2, 2), st.text(max_size=5))
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
_METADATA = st.dictionaries(st.sampled_from(["a", "b", "c", "header_path"]), _VALUES, max_size=4)


@st.composite
def _documents(draw: st.DrawFn) -> tuple[Document, list[TextNode]]:
    text = draw(st.text(min_size=1, max_size=40))
    document = Document(id_="d", text=text, metadata=draw(_METADATA))
    source = document.as_related_node_info() if draw(st.booleans()) else RelatedNodeInfo(node_id="d")
    nodes: list[TextNode] = []
    for i in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, len(text)))
        node = TextNode(id_=f"n{i}", text=text[start:end], metadata=draw(_METADATA))
        if draw(st.booleans()):
            node.start_char_idx, node.end_char_idx = start, end
        elif draw(st.booleans()):
            node.text = draw(st.text(max_size=5))
        node.relationships[NodeRelationship.SOURCE] = source
        if nodes:
            other = draw(st.sampled_from(nodes))
            kind = draw(st.sampled_from([NodeRelationship.PARENT, NodeRelationship.PREVIOUS]))
            node.relationships[kind] = (
                other.as_related_node_info()
                if draw(st.booleans())
                else RelatedNodeInfo(node_id=other.node_id)
            )
            if kind is NodeRelationship.PARENT:
                other.relationships.setdefault(NodeRelationship.CHILD, []).append(  # type: ignore[union-attr]
                    RelatedNodeInfo(node_id=node.node_id, node_type="1")
                )
        nodes.append(node)
    return document, nodes


@settings(max_examples=150, deadline=None)
@given(_documents())
def test_any_document_and_its_nodes_come_back_equal(given_: tuple[Document, list[TextNode]]) -> None:
    document, nodes = given_
    packed = pack_document(document, nodes)
    assert "".join(piece.text for piece in packed.pieces) == document.text
    assert unpack_document("d", packed.document, document.text) == document
    reader = NodeReader(packed.shared, packed.node_ids)
    reader.add((piece.start, piece.text, piece.nodes) for piece in packed.pieces)
    assert [reader.node(i) for i in range(len(nodes))] == nodes
    assert [reader.node(i).to_dict() for i in range(len(nodes))] == [node.to_dict() for node in nodes]


def test_text_is_not_stored_twice() -> None:
    text = "第一节的内容。" * 50
    half = len(text) // 2
    section = TextNode(id_="s", text=text, start_char_idx=0, end_char_idx=len(text))
    children = [
        TextNode(id_=f"c{a}", text=text[a:b], start_char_idx=a, end_char_idx=b)
        for a, b in ((0, half), (half, len(text)))
    ]
    for child in children:
        child.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id="s", node_type="1")
    section.relationships[NodeRelationship.CHILD] = [
        RelatedNodeInfo(node_id=c.node_id, node_type="1") for c in children
    ]
    packed = pack_document(Document(id_="d", text=text), [section, *children])
    written = packed.document + packed.shared + "".join(piece.text + piece.nodes for piece in packed.pieces)
    assert written.count("第一节的内容。") == 50


def test_values_that_json_lacks_are_written_plainly() -> None:
    from datetime import date
    from pathlib import PurePosixPath

    metadata: dict[str, Any] = {
        "day": date(2026, 1, 2),
        "path": PurePosixPath("a/b"),
        "set": {"b", "a"},
        "number": np.float32(0.5),
        "pair": (1, 2),
    }
    document = Document(id_="d", text="x")
    packed = pack_document(document, [TextNode(id_="n", text="x", metadata=metadata)])
    reader = NodeReader(packed.shared, packed.node_ids)
    reader.add((piece.start, piece.text, piece.nodes) for piece in packed.pieces)
    assert reader.metadata(0) == {
        "day": "2026-01-02",
        "path": "a/b",
        "set": ["a", "b"],
        "number": 0.5,
        "pair": [1, 2],
    }
    with pytest.raises(DocumentError, match="object"):
        pack_document(document, [TextNode(id_="n", text="x", metadata={"thing": object()})])


def test_hashes_and_versions() -> None:
    assert embed_hash("甲") == embed_hash("甲") != embed_hash("乙")
    assert len(embed_hash("")) == 32
    assert [version_of({"version": v}) for v in ("2", 2, 1.5, "", None)] == ["2", "2", "1.5", None, None]
    assert version_of({}) is None
