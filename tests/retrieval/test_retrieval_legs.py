"""The leg of exact codes."""

from __future__ import annotations

from llama_index.core import Document

from gyr_hybrid import HybridIndex
from gyr_hybrid.retrieval.legs import code_leg, find_holders
from gyr_hybrid.testing import HashEmbedding


def test_a_long_page_does_not_keep_other_sections_out_of_the_leg() -> None:
    long = "# 泵 QP-3310\n\n" + "\n\n".join(
        f"QP-3310 的第 {n} 次保养记录：更换油封，检查轴承。" * 3 for n in range(40)
    )
    short = "# 备件\n\n**QP-3310** 的油封在三号库。"
    documents = [Document(text=long, id_="log"), Document(text=short, id_="parts")]
    with HybridIndex.from_documents(documents, offline=True, embed_model=HashEmbedding(16)) as index:
        run = index.as_retriever(mode="lexical").run("QP-3310").run
        assert run is not None
        hits = code_leg(find_holders(run.codes, run.view), run.rest, run.view, 5)
        parents = run.view.parents([hit.node_id for hit in hits])
        assert "parts#1" in parents.values()
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_sections_with_all_codes_come_before_those_with_some_and_defining_before_mention() -> None:
    texts = {
        "both": "# 换算\n\nQP-3310 与 QP-3320 的油封通用。",
        "first": "# QP-3310\n\n扬程 20 米。",
        "second": "# 维修\n\n送修过 QP-3320。",
    }
    documents = [Document(text=text, id_=name) for name, text in texts.items()]
    with HybridIndex.from_documents(documents, offline=True, embed_model=HashEmbedding(16)) as index:
        run = index.as_retriever(mode="lexical").run("QP-3310 和 QP-3320").run
        assert run is not None
        assert [hit.node_id for hit in run.legs["codes"]] == ["both#1.1", "first#1.1", "second#1.1"]


def test_no_known_code_no_rows() -> None:
    with HybridIndex.from_documents(
        [Document(text="# QP-3310\n\n扬程。", id_="p")], offline=True, embed_model=HashEmbedding(16)
    ) as index:
        run = index.as_retriever(mode="lexical").run("扬程多少").run
        assert run is not None
        assert run.legs["codes"] == []
