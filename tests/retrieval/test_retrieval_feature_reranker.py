"""FeatureReranker over nodes of anyone's retriever."""

from __future__ import annotations

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import MarkdownNodeParser
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from gyr_hybrid import Analyzer, FeatureReranker, HybridIndex
from gyr_hybrid.retrieval.candidates import Candidates, header_path, pieces
from gyr_hybrid.testing import HashEmbedding

TEXTS = {
    "refund": "退款会在 3 个工作日内原路退回。",
    "invoice": "开具发票需要营业执照和税号。",
    "ship": "现货订单付款后两天内发货。",
}


def _found(texts: dict[str, str] = TEXTS, **scores: float) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(text=text, id_=name), score=scores.get(name))
        for name, text in texts.items()
    ]


def _ids(hits: list[NodeWithScore]) -> list[str]:
    return [hit.node.node_id for hit in hits]


def _ask(reranker: FeatureReranker, nodes: list[NodeWithScore], question: str) -> list[NodeWithScore]:
    return reranker.postprocess_nodes(nodes, QueryBundle(question))


def test_words_decide_and_scores_fall_between_0_and_1() -> None:
    hits = _ask(FeatureReranker(), _found(refund=0.9, invoice=0.8, ship=0.7), "开发票要什么税号")
    assert _ids(hits)[0] == "invoice"
    scores = [hit.score or 0.0 for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert sorted(_ids(hits)) == sorted(TEXTS)


def test_without_words_in_common_the_scores_given_decide() -> None:
    assert _ids(_ask(FeatureReranker(), _found(refund=0.1, invoice=0.2, ship=0.9), "天气如何"))[0] == "ship"


def test_rows_given_are_not_changed_and_top_n_cuts() -> None:
    nodes = _found(refund=0.1, invoice=0.2, ship=0.9)
    hits = _ask(FeatureReranker(top_n=1), nodes, "退款几天退回")
    assert _ids(hits) == ["refund"]
    assert [hit.score for hit in nodes] == [0.1, 0.2, 0.9]


def test_a_heading_counts_whatever_form_its_path_has() -> None:
    text = "请在三天内办理。"
    for path in (["手册", "离职"], "/手册/离职/"):
        nodes = _found({"a": text, "b": text})
        nodes[1].node.metadata["header_path"] = path
        assert _ids(_ask(FeatureReranker(), nodes, "离职怎么办理"))[0] == "b"


def test_words_that_stand_together_come_before_the_same_words_apart() -> None:
    filler = "本页说明各类业务的办理流程与注意事项，供各部门同事查阅参考使用。" * 6
    nodes = _found({"apart": f"退款{filler}金额{filler}", "together": f"{filler}退款金额{filler}"})
    assert _ids(_ask(FeatureReranker(), nodes, "退款金额"))[0] == "together"


def test_a_rare_word_weighs_more_than_one_that_all_candidates_have() -> None:
    nodes = _found({"a": "退款退款退款，规则如下。", "b": "退款，信用卡除外。", "c": "退款，线上办理。"})
    assert _ids(_ask(FeatureReranker(), nodes, "信用卡退款"))[0] == "b"


def test_synonyms_widen_the_question() -> None:
    nodes = _found({"a": "包邮的门槛。", "b": "免运费的门槛。"})
    assert _ids(_ask(FeatureReranker(synonyms=["免邮费, 免运费"]), nodes, "免邮费"))[0] == "b"


def test_nodes_of_one_id_without_text_or_score_are_kept() -> None:
    nodes = [NodeWithScore(node=TextNode(text=text, id_="x")) for text in ("退款。", "")]
    nodes.append(NodeWithScore(node=TextNode(text="", id_="y")))
    assert sorted(_ids(_ask(FeatureReranker(), nodes, "退款"))) == ["x", "x", "y"]
    assert _ask(FeatureReranker(), [], "退款") == []
    assert FeatureReranker().postprocess_nodes(nodes) == nodes


async def test_async_gives_the_same() -> None:
    nodes = _found(refund=0.9, invoice=0.8, ship=0.7)
    again = await FeatureReranker().apostprocess_nodes(nodes, QueryBundle("发票"))
    assert [(h.node.node_id, h.score) for h in again] == [
        (h.node.node_id, h.score) for h in _ask(FeatureReranker(), nodes, "发票")
    ]


def test_it_stands_in_a_stock_pipeline() -> None:
    text = "# 手册\n\n## 错误码 E1043\n\n请联系管理员。\n\n## 错误码 E1042\n\n请检查列序。"
    nodes = MarkdownNodeParser().get_nodes_from_documents([Document(text=text)])
    index = VectorStoreIndex(nodes, embed_model=HashEmbedding(32))
    retriever: BaseRetriever = index.as_retriever(similarity_top_k=10)
    engine = RetrieverQueryEngine.from_args(
        retriever, llm=MockLLM(), node_postprocessors=[FeatureReranker(top_n=1)]
    )
    assert "E1042" in engine.query("报错 e1042 怎么办").source_nodes[0].node.get_content()


def test_over_the_nodes_of_an_index_it_agrees_with_the_index(helpcenter: HybridIndex) -> None:
    """One code for both: only rarity, counted among the candidates, and vectors differ."""
    for question in ("E1042 怎么办", "发票怎么申请", "升级什么时候生效"):
        hits = helpcenter.as_retriever(top_k=10).retrieve(question)
        again = _ask(FeatureReranker(analyzer=helpcenter.analyzer), hits, question)
        assert _ids(again)[0] == _ids(hits)[0]


def test_an_index_takes_it_for_its_own_score_step() -> None:
    documents = [Document(text=text, id_=name) for name, text in TEXTS.items()]
    with (
        HybridIndex.from_documents(documents, embed_model=HashEmbedding(32)) as usual,
        HybridIndex.from_documents(
            documents, embed_model=HashEmbedding(32), reranker=FeatureReranker()
        ) as given,
    ):
        rows = [
            [(h.node.node_id, h.score) for h in index.as_retriever().retrieve("退款几天")]
            for index in (usual, given)
        ]
    assert rows[0] == rows[1]


def test_candidates_count_as_an_index_does() -> None:
    view = Candidates([hit.node for hit in _found()], Analyzer())
    assert view.n_visible == 3
    assert 0 < view.idf("退款") <= view.idf("发票") < view.idf("没有")
    assert view.frequencies(["退款", "发票"], [*view.children(["refund"])["refund"], "none"]).tolist() == [
        [1, 0],
        [0, 0],
    ]
    assert view.lengths(["none"]).tolist() == [0]
    assert [view.parents([hit.node_id])[hit.node_id] for hit in view.lexical({"发票": 1.0}, 5)] == ["invoice"]
    assert view.document("refund") is None
    assert view.dense([1.0], 1) == []


@pytest.mark.parametrize("text", ["", "一句。", "一句。" * 200])
def test_pieces_are_lossless(text: str) -> None:
    spans = pieces(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert len(spans) == (1 if len(text) < 100 else 7)


def test_paths() -> None:
    assert header_path({"title": "手册"}) == ("手册",)
    assert header_path({}) == ()
