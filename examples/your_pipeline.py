"""Our parts in a pipeline of yours: a LlamaIndex vector index, our sections below it and our checks above it.

The sections keep their offsets in any index, so that every citation can be shown in its place.
"""

from __future__ import annotations

from llama_index.core import VectorStoreIndex
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.storage import StorageContext
from llama_index.core.storage.docstore import SimpleDocumentStore

from gyr_hybrid import CitedQueryEngine, SectionNodeParser, load_documents
from gyr_hybrid.testing import HashEmbedding, ScriptedLLM


def main() -> None:
    documents = load_documents("data/helpcenter")
    nodes = SectionNodeParser().get_nodes_from_documents(documents)
    leaves = [node for node in nodes if node.parent_node is not None]

    docstore = SimpleDocumentStore()
    docstore.add_documents(nodes)
    storage = StorageContext.from_defaults(docstore=docstore)
    index = VectorStoreIndex(leaves, storage_context=storage, embed_model=HashEmbedding())  # yours here
    retriever = AutoMergingRetriever(index.as_retriever(similarity_top_k=6), storage)

    llm = ScriptedLLM(
        "请下载最新模板，把日期列的单元格格式设为「文本」。[kb-010#2]退款 99 天到账。[kb-002#4]"
    )  # yours here
    answer = CitedQueryEngine(retriever, llm=llm).query("E1042 银行流水导入失败的解决办法")
    print(answer)
    for step in answer.trace:
        print(f"  {step.action}: {step.unit} ({step.reason})")


if __name__ == "__main__":
    main()
