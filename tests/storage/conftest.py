"""Documents for the stores, made without any parser, and a plain model of what a store must answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llama_index.core.schema import Document, MetadataMode, NodeRelationship, RelatedNodeInfo, TextNode

from gyr_hybrid.storage import Batch, CodeMention, DocumentRecord, KnowledgeStore, open_store

DIMENSION = 16

RecordMaker = Callable[..., DocumentRecord]


def unit_vector(text: str, dimension: int = DIMENSION) -> np.ndarray:
    """A unit vector that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    vector = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    return vector / np.linalg.norm(vector)


def make_record(
    doc_id: str,
    sections: Sequence[Sequence[str]] = (("红 苹果 很 甜。", "绿 苹果 很 酸。"),),
    *,
    vectors: bool = True,
    codes: dict[str, list[CodeMention]] | None = None,
    fingerprint: str = "",
    root: str | None = None,
    **metadata: Any,
) -> DocumentRecord:
    """A document of sections of children; words are what blanks separate; vectors come from the text."""
    text, nodes, offset = "", [], 0
    version = metadata.get("version")
    prefix = doc_id if version is None else f"{doc_id}@{version}"
    source = RelatedNodeInfo(node_id=doc_id, node_type="4")
    for i, children in enumerate(sections, start=1):
        whole = "".join(children)
        shared = {"doc_id": doc_id, "header_path": [doc_id, f"第{i}节"], **metadata}
        section = TextNode(
            id_=f"{prefix}#{i}",
            text=whole,
            metadata=dict(shared),
            start_char_idx=offset,
            end_char_idx=offset + len(whole),
        )
        section.relationships = {NodeRelationship.SOURCE: source, NodeRelationship.CHILD: []}
        nodes.append(section)
        start = offset
        for j, child in enumerate(children, start=1):
            node = TextNode(
                id_=f"{prefix}#{i}.{j}",
                text=child,
                metadata={**shared, "place": j},
                start_char_idx=start,
                end_char_idx=start + len(child),
                text_template="{content}",
            )
            node.relationships = {
                NodeRelationship.SOURCE: source,
                NodeRelationship.PARENT: RelatedNodeInfo(node_id=section.node_id, node_type="1"),
            }
            section.relationships[NodeRelationship.CHILD].append(
                RelatedNodeInfo(node_id=node.node_id, node_type="1")
            )
            nodes.append(node)
            start += len(child)
        offset += len(whole) + 1
        text += whole + "\n"
    leaves = [node for node in nodes if NodeRelationship.CHILD not in node.relationships]
    return DocumentRecord(
        document=Document(id_=doc_id, text=text, metadata=metadata),
        nodes=tuple(nodes),
        tokens={node.node_id: node.text.replace("。", " ").split() for node in leaves},
        codes=codes or {},
        vectors={n.node_id: unit_vector(n.get_content(MetadataMode.EMBED)) for n in leaves}
        if vectors
        else {},
        fingerprint=fingerprint or hashlib.sha256(repr((text, metadata)).encode()).hexdigest(),
        root=root,
    )


@pytest.fixture(scope="session")
def record() -> RecordMaker:
    return make_record


@pytest.fixture(scope="session")
def vector_of() -> Callable[..., np.ndarray]:
    return unit_vector


@pytest.fixture(params=["memory", "folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KnowledgeStore]:
    """Every engine in turn; a further one is added here and must pass the same tests."""
    opened = open_store(None if request.param == "memory" else tmp_path / "index")
    yield opened
    opened.close()


@pytest.fixture
def fill(store: KnowledgeStore) -> Callable[..., int]:
    """Store records in one batch."""
    return lambda *records: store.apply(Batch(upserts=records))
