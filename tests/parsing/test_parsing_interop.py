"""The nodes in LlamaIndex's own pipeline, stores and retrievers; sync and async."""

from __future__ import annotations

import asyncio
import pickle
import time

from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import get_leaf_nodes, get_root_nodes
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.storage.docstore import SimpleDocumentStore

from gyr_hybrid import SectionNodeParser
from gyr_hybrid.testing import HashEmbedding

DOCS = [
    Document(
        id_="kb-1",
        text="# 退款\n\n## 时限\n\n七天内可退。超过不退。定制不退。请留凭证。\n\n## 费用\n\n运费由买家承担。",
    ),
    Document(id_="kb-2", text="# 发票\n\n| 类型 | 时间 |\n| --- | --- |\n| 普票 | 一天 |\n| 专票 | 三天 |\n"),
]


def test_the_pipeline_gives_the_same_nodes_sync_and_async() -> None:
    """LlamaIndex's hierarchical parser gives whole documents in the async path."""
    parser = SectionNodeParser()
    nodes = parser.get_nodes_from_documents(DOCS)
    assert IngestionPipeline(transformations=[parser]).run(documents=DOCS) == nodes
    assert asyncio.run(IngestionPipeline(transformations=[parser]).arun(documents=DOCS)) == nodes
    assert asyncio.run(parser.aget_nodes_from_documents(DOCS)) == nodes
    assert asyncio.run(parser.acall(DOCS)) == nodes
    assert parser(DOCS) == nodes


async def test_the_async_path_does_not_block_the_loop() -> None:
    docs = [Document(id_=f"kb-{i}", text="## 甲\n\n" + "七天内可退。" * 400) for i in range(30)]
    longest, last = 0.0, time.perf_counter()
    task = asyncio.create_task(SectionNodeParser().aget_nodes_from_documents(docs))
    while not task.done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    assert len(await task) > 1000
    assert longest < 0.5


def test_the_stock_auto_merging_retriever_merges_children_into_their_section() -> None:
    nodes = SectionNodeParser().get_nodes_from_documents(DOCS)
    store = SimpleDocumentStore()
    store.add_documents(nodes)
    storage = StorageContext.from_defaults(docstore=store)
    index = VectorStoreIndex(get_leaf_nodes(nodes), storage_context=storage, embed_model=HashEmbedding())
    retriever = AutoMergingRetriever(index.as_retriever(similarity_top_k=6), storage)
    found = {hit.node.node_id for hit in retriever.retrieve("退款时限")}
    assert found == {node.id_ for node in get_root_nodes(nodes)}


def test_a_document_can_be_deleted_from_a_stock_index() -> None:
    nodes = SectionNodeParser().get_nodes_from_documents(DOCS)
    store = SimpleDocumentStore()
    store.add_documents(nodes)
    assert set(store.get_ref_doc_info("kb-1").node_ids) == {n.id_ for n in nodes if n.ref_doc_id == "kb-1"}


def test_the_parser_goes_to_worker_processes() -> None:
    parser = pickle.loads(pickle.dumps(SectionNodeParser(flat_metadata=True)))
    assert parser.flat_metadata is True
    assert parser.get_nodes_from_documents(DOCS) == SectionNodeParser(
        flat_metadata=True
    ).get_nodes_from_documents(DOCS)
