"""Our parts in other people's LlamaIndex pipelines."""

from __future__ import annotations

from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import get_leaf_nodes, get_root_nodes
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore

from gyr_hybrid import HybridIndex, SectionNodeParser, load_documents
from gyr_hybrid.shipped import shipped
from gyr_hybrid.testing import HashEmbedding


def test_the_stock_auto_merging_retriever_takes_our_nodes() -> None:
    nodes = SectionNodeParser().get_nodes_from_documents(load_documents(str(shipped("helpcenter"))))
    docstore = SimpleDocumentStore()
    docstore.add_documents(nodes)
    context = StorageContext.from_defaults(docstore=docstore)
    leaves = get_leaf_nodes(nodes)
    assert len(get_root_nodes(nodes)) == 42
    index = VectorStoreIndex(leaves, storage_context=context, embed_model=HashEmbedding())
    retriever = AutoMergingRetriever(index.as_retriever(similarity_top_k=6), context)
    hits = retriever.retrieve("发票开错了怎么办")
    assert hits
    assert all(isinstance(hit.node, TextNode) for hit in hits)


def test_the_stock_query_engine_takes_our_retriever(helpcenter: HybridIndex) -> None:
    engine = RetrieverQueryEngine.from_args(helpcenter.as_retriever(), llm=MockLLM(max_tokens=16))
    response = engine.query("E1042 怎么办")
    assert next(n.node.node_id for n in response.source_nodes) == "kb-010#2"


def test_offsets_and_ids_hold_for_every_node_of_both_knowledge_bases() -> None:
    for name, sections in (("helpcenter", 42), ("novashop", 8)):
        documents = load_documents(str(shipped(name)))
        texts = {d.id_: d.text for d in documents}
        nodes = SectionNodeParser().get_nodes_from_documents(documents)
        for node in nodes:
            assert texts[node.ref_doc_id][node.start_char_idx : node.end_char_idx] == node.text
        assert len(get_root_nodes(nodes)) == sections
        again = SectionNodeParser().get_nodes_from_documents(load_documents(str(shipped(name))))
        assert [n.node_id for n in again] == [n.node_id for n in nodes]


def test_the_index_gives_back_the_nodes_that_the_parser_made(helpcenter: HybridIndex) -> None:
    parsed = {
        n.node_id: n
        for n in SectionNodeParser().get_nodes_from_documents(load_documents(str(shipped("helpcenter"))))
    }
    for hit in helpcenter.as_retriever(top_k=42).retrieve("退款 发票 成员 E1042 数据 账号"):
        node = parsed[hit.node.node_id]
        assert hit.node.get_content() == node.get_content()
        assert hit.node.metadata == node.metadata
        assert hit.node.relationships == node.relationships
        assert hit.node.get_content("embed") == node.get_content("embed")
