"""What LlamaIndex's BM25Retriever gets wrong on Chinese business text, and ours does not."""

from __future__ import annotations

import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.node_parser import HierarchicalNodeParser
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import FilterOperator, MetadataFilter, MetadataFilters
from llama_index.retrievers.bm25 import BM25Retriever

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.errors import ConfigurationError, FilterError, IndexMismatchError, StorageError
from gyr_hybrid.parsing import SectionNodeParser
from gyr_hybrid.retrieval.jieba_bm25 import JiebaBM25Retriever
from gyr_hybrid.retrieval.query import HybridQuery
from gyr_hybrid.testing import HashEmbedding, ScriptedLLM

TEXTS = {
    "n0": "设备出现错误代码E1042时，请先断开电源，再检查风扇是否堵转。",
    "n1": "型号NS-X2-BLK-M的保修期为三年，适用于中国大陆。",
    "n2": "员工报销差旅费，须在三十天内提交发票。",
    "n3": "NS-X2-WHT-L 是白色大号机型，库存充足。",
    "n4": "退货政策：签收后七天内可以无理由退货。",
}
DEPARTMENTS = {"n0": "售后", "n1": "售后", "n2": "财务", "n3": "仓储", "n4": "客服"}


def corpus() -> list[TextNode]:
    return [
        TextNode(id_=node_id, text=text, metadata={"dept": DEPARTMENTS[node_id]})
        for node_id, text in TEXTS.items()
    ]


@pytest.fixture(scope="module")
def retriever() -> JiebaBM25Retriever:
    return JiebaBM25Retriever(corpus(), similarity_top_k=4)


def ids(hits: list[NodeWithScore]) -> list[str]:
    return [hit.node.node_id for hit in hits]


def only(key: str, value: str, operator: FilterOperator = FilterOperator.EQ) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key=key, value=value, operator=operator)])


@pytest.mark.parametrize(
    ("question", "first"), [("保修期多久", "n1"), ("报销", "n2"), ("怎么退货", "n4"), ("风扇堵转", "n0")]
)
def test_chinese_words_are_found(retriever: JiebaBM25Retriever, question: str, first: str) -> None:
    """Every normal Chinese question scored 0: run-llama/llama_index#13866, run-llama/llama_index#17461."""
    hits = retriever.retrieve(question)
    assert hits[0].node.node_id == first
    assert hits[0].score is not None
    assert hits[0].score > 0


@pytest.mark.parametrize("spelling", ["E1042", "e1042", "Ｅ１０４２", "E-1042", "错误代码E1042时"])
def test_a_code_glued_to_chinese_is_found_in_any_spelling(
    retriever: JiebaBM25Retriever, spelling: str
) -> None:
    assert ids(retriever.retrieve(spelling))[0] == "n0"


def test_a_code_is_not_its_neighbour(retriever: JiebaBM25Retriever) -> None:
    assert retriever.retrieve("E1043") == []


def test_the_right_sku_stands_strictly_first(retriever: JiebaBM25Retriever) -> None:
    right, *others = retriever.retrieve("NS-X2-BLK-M")
    assert right.node.node_id == "n1"
    assert all((right.score or 0) > (other.score or 0) for other in others)


def test_a_tokenizer_that_would_do_nothing_is_refused() -> None:
    """Tutorials tell Chinese users to pass a tokenizer, which LlamaIndex ignores."""
    with pytest.raises(TypeError, match="tokenizer"):
        JiebaBM25Retriever.from_defaults(nodes=corpus(), tokenizer=list)
    with pytest.raises(TypeError, match="language"):
        JiebaBM25Retriever.from_defaults(nodes=corpus(), language="zh")


def test_the_analyzer_serves_nodes_and_questions() -> None:
    """run-llama/llama_index#14960: other stems for the question than for the index."""
    analyzer = Analyzer(user_words=["云枢纽"])
    found = JiebaBM25Retriever(
        [TextNode(text="云枢纽每晚同步"), TextNode(text="云上的枢纽")], analyzer=analyzer
    )
    assert found.analyzer is analyzer
    assert found.retrieve("云枢纽")[0].node.get_content() == "云枢纽每晚同步"
    english = JiebaBM25Retriever([TextNode(text="Offices in Italy are closed"), TextNode(text="Paris")])
    assert len(english.retrieve("italy office")) == 1


@pytest.mark.parametrize("question", ["", " ", "zzzzqq", "？！"])
def test_no_match_is_no_row(retriever: JiebaBM25Retriever, question: str) -> None:
    assert retriever.retrieve(question) == []


class TestFilters:
    """run-llama/llama_index#14959: filters zeroed scores and let the rows through."""

    def test_those_of_the_constructor_hold(self) -> None:
        found = JiebaBM25Retriever(corpus(), similarity_top_k=4, filters=only("dept", "售后"))
        assert ids(found.retrieve("NS-X2-WHT-L 库存充足")) == ["n1"]

    def test_those_of_a_question_are_anded_with_them(self, retriever: JiebaBM25Retriever) -> None:
        assert ids(retriever.retrieve(HybridQuery("保修期 退货", filters=only("dept", "客服")))) == ["n4"]
        assert ids(retriever.retrieve("保修期 退货", filters=only("dept", "客服"))) == ["n4"]
        found = JiebaBM25Retriever(corpus(), filters=only("dept", "售后"))
        assert found.retrieve("保修期 退货", filters=only("dept", "客服")) == []
        assert ids(found.retrieve("保修期 退货")) == ["n1"]

    def test_they_work_before_the_cut(self) -> None:
        found = JiebaBM25Retriever(corpus(), similarity_top_k=1)
        assert ids(found.retrieve("NS-X2-WHT-L", filters=only("dept", "售后"))) == ["n1"]

    def test_none_passing_is_an_empty_list(self) -> None:
        found = JiebaBM25Retriever(corpus(), filters=only("dept", "法务"))
        assert found.retrieve("保修期") == []

    def test_numbers_and_nesting(self) -> None:
        nodes = [
            TextNode(id_=str(year), text="保修政策", metadata={"year": str(year)})
            for year in (2022, 2023, 2024)
        ]
        either = MetadataFilters(
            filters=[MetadataFilter(key="year", value=2023), only("year", "2024")],
            condition="or",  # type: ignore[arg-type]
        )
        assert ids(JiebaBM25Retriever(nodes).retrieve("保修", filters=either)) == ["2023", "2024"]

    def test_the_document_is_known_by_its_id(self) -> None:
        nodes = SectionNodeParser().get_nodes_from_documents(
            [Document(text="保修期三年", id_="a"), Document(text="保修期一年", id_="b")]
        )
        assert [
            hit.node.ref_doc_id
            for hit in JiebaBM25Retriever(nodes).retrieve("保修期", filters=only("doc_id", "b"))
        ] == ["b"]

    def test_a_bad_one_is_an_error(self, retriever: JiebaBM25Retriever) -> None:
        with pytest.raises(FilterError):
            JiebaBM25Retriever(corpus(), filters="dept=售后")  # type: ignore[arg-type]
        with pytest.raises(FilterError, match="昨天"):
            retriever.retrieve("保修期", as_of="昨天")

    def test_a_day_leaves_out_what_is_not_valid_on_it(self) -> None:
        old = TextNode(id_="old", text="保修期一年", metadata={"valid_to": "2026-01-01"})
        new = TextNode(id_="new", text="保修期三年", metadata={"valid_from": "2026-01-01"})
        found = JiebaBM25Retriever([old, new])
        assert ids(found.retrieve("保修期", as_of="2025-12-31")) == ["old"]
        assert ids(found.retrieve("保修期", as_of="2026-01-01")) == ["new"]
        assert ids(found.retrieve("保修期")) == ["old", "new"]


class TestPersistence:
    """Analyzer and options were lost, filters broke loading: run-llama/llama_index#19656, run-llama/llama_index#22978."""

    def test_everything_comes_back(self, tmp_path: Path) -> None:
        analyzer = Analyzer(user_words=["堵转"], class_words=["工单类型"])
        before = JiebaBM25Retriever(
            corpus(),
            analyzer=analyzer,
            similarity_top_k=3,
            filters=only("dept", "财务", FilterOperator.NE),
            verbose=False,
        )
        before.persist(tmp_path / "bm25")
        after = JiebaBM25Retriever.from_persist_dir(tmp_path / "bm25")
        assert after.analyzer.fingerprint == analyzer.fingerprint
        assert after.similarity_top_k == 3
        assert after.filters == before.filters
        assert after.nodes == before.nodes
        for question in ("保修期", "NS-X2-BLK-M", "Ｅ１０４２", "报销", "堵转"):
            want = [(hit.node.node_id, hit.score) for hit in before.retrieve(question)]
            assert [(hit.node.node_id, hit.score) for hit in after.retrieve(question)] == want

    def test_options_given_win(self, tmp_path: Path) -> None:
        JiebaBM25Retriever(corpus(), filters=only("dept", "财务")).persist(tmp_path)
        after = JiebaBM25Retriever.from_persist_dir(tmp_path, similarity_top_k=1, filters=None)
        assert ids(after.retrieve("保修期")) == ["n1"]
        assert after.similarity_top_k == 1

    def test_another_analyzer_is_refused(self, tmp_path: Path) -> None:
        JiebaBM25Retriever(corpus()).persist(tmp_path)
        other = Analyzer(user_words=["云枢纽"])
        with pytest.raises(IndexMismatchError, match=r"build it again: JiebaBM25Retriever\(nodes") as caught:
            JiebaBM25Retriever.from_persist_dir(tmp_path, analyzer=other)
        assert other.fingerprint in str(caught.value)
        assert ids(JiebaBM25Retriever.from_persist_dir(tmp_path, analyzer=Analyzer()).retrieve("报销")) == [
            "n2"
        ]

    def test_rules_that_changed_since_are_noticed(self, tmp_path: Path) -> None:
        JiebaBM25Retriever(corpus()).persist(tmp_path)
        manifest = tmp_path / "retriever.json"
        saved = json.loads(manifest.read_text(encoding="utf-8"))
        manifest.write_text(json.dumps(saved | {"fingerprint": "0" * 16}), encoding="utf-8")
        with pytest.raises(IndexMismatchError):
            JiebaBM25Retriever.from_persist_dir(tmp_path)

    @pytest.mark.parametrize("nodes", [[], [TextNode(text="")], [TextNode(text="？！")]])
    def test_an_index_without_words(self, tmp_path: Path, nodes: list[TextNode]) -> None:
        JiebaBM25Retriever(corpus()).persist(tmp_path)
        JiebaBM25Retriever(nodes).persist(tmp_path)
        after = JiebaBM25Retriever.from_persist_dir(tmp_path)
        assert len(after.nodes) == len(nodes)
        assert after.retrieve("保修期") == []

    @pytest.mark.parametrize("missing", ["retriever.json", "nodes.jsonl", "data.csc.index.npy"])
    def test_an_unfinished_folder_is_said(self, tmp_path: Path, missing: str) -> None:
        JiebaBM25Retriever(corpus()).persist(tmp_path)
        (tmp_path / missing).unlink()
        with pytest.raises(StorageError, match="no finished JiebaBM25Retriever"):
            JiebaBM25Retriever.from_persist_dir(tmp_path)

    def test_nodes_and_scores_of_two_savings_are_not_mixed(self, tmp_path: Path) -> None:
        JiebaBM25Retriever(corpus()).persist(tmp_path)
        lines = (tmp_path / "nodes.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / "nodes.jsonl").write_text("".join(lines[:-1]), encoding="utf-8")
        with pytest.raises(StorageError, match="4 nodes and 5 rows of 5"):
            JiebaBM25Retriever.from_persist_dir(tmp_path)

    def test_han_is_written_as_it_is(self, tmp_path: Path) -> None:
        JiebaBM25Retriever(corpus()).persist(str(tmp_path))
        assert "保修期为三年" in (tmp_path / "nodes.jsonl").read_text(encoding="utf-8")


def test_other_nodes_are_seen_by_everyone_who_holds_the_retriever() -> None:
    """A stock retriever is a snapshot that every chain must be rebuilt around: run-llama/llama_index#12851."""
    found = JiebaBM25Retriever(corpus())
    engine = RetrieverQueryEngine.from_args(found, llm=ScriptedLLM("好"))
    found.refresh([*corpus(), TextNode(id_="n5", text="云枢纽每晚同步一次")])
    assert ids(engine.retrieve(HybridQuery("云枢纽同步"))) == ["n5"]
    found.refresh([node for node in corpus() if node.node_id != "n2"])
    assert found.retrieve("报销") == []


class TestOddCorpora:
    """run-llama/llama_index#19527: ``max() arg is an empty sequence``."""

    @pytest.mark.parametrize("nodes", [[], [TextNode(text="")], [TextNode(text="，。")]])
    def test_nothing_to_find_is_an_empty_list(self, nodes: list[TextNode]) -> None:
        assert JiebaBM25Retriever(nodes).retrieve("保修期") == []
        assert JiebaBM25Retriever.from_defaults(nodes=nodes).retrieve("保修期") == []

    def test_a_blank_node_among_others(self) -> None:
        nodes = [TextNode(id_="blank", text=""), TextNode(id_="full", text="保修期")]
        assert ids(JiebaBM25Retriever(nodes).retrieve("保修期")) == ["full"]

    def test_one_letter(self) -> None:
        assert len(JiebaBM25Retriever([TextNode(text="a")]).retrieve("a")) <= 1

    def test_an_empty_docstore_is_legal_and_explained(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            assert JiebaBM25Retriever.from_defaults(docstore=SimpleDocumentStore()).retrieve("保修期") == []
        assert "pass nodes=" in caplog.text


class TestTopK:
    """run-llama/llama_index#19568."""

    def test_more_than_the_corpus_is_fine(self) -> None:
        found = JiebaBM25Retriever(corpus(), similarity_top_k=100)
        assert found.similarity_top_k == 100
        assert ids(found.retrieve("保修期")) == ["n1"]

    def test_it_may_change_later_and_per_question(self) -> None:
        found = JiebaBM25Retriever([TextNode(text=f"保修期{i}年") for i in range(8)], similarity_top_k=2)
        assert len(found.retrieve("保修期")) == 2
        found.similarity_top_k = 50
        assert len(found.retrieve("保修期")) == 8
        assert len(found.retrieve(HybridQuery("保修期", top_k=3))) == 3
        assert len(found.retrieve("保修期", top_k=1)) == 1


class TestIndexedText:
    def test_metadata_is_not_searched(self) -> None:
        nodes = [
            TextNode(text="保修期三年", metadata={"file_name": "合同.md", "file_path": "/资料/合同.md"}),
            TextNode(text="合同期限一年", metadata={"file_name": "别的.md"}),
        ]
        found = JiebaBM25Retriever(nodes)
        assert found.retrieve("file_name") == []
        assert [hit.node.get_content() for hit in found.retrieve("合同")] == ["合同期限一年"]

    def test_the_heading_path_of_our_own_nodes_is(self) -> None:
        nodes = SectionNodeParser().get_nodes_from_documents(
            [Document(text="# 扫地机\n\n## 错误码 E1042\n\n请下载最新模板。", id_="kb-010")]
        )
        assert [hit.node.get_content() for hit in JiebaBM25Retriever(nodes).retrieve("扫地机")] == [
            "## 错误码 E1042\n\n请下载最新模板。"
        ]


class TestParentsAndLeaves:
    """Parents and leaves were indexed together, so the same text came twice and merging was bypassed."""

    def hierarchy(self) -> list[TextNode]:
        text = "".join(
            f"第{i}段：保修期为{i}年，凭发票办理。请保留包装与说明书以备查验。\n" for i in range(1, 60)
        )
        nodes = HierarchicalNodeParser.from_defaults(
            chunk_sizes=[512, 128], chunk_overlap=0
        ).get_nodes_from_documents([Document(text=text, id_="doc")])
        return [node for node in nodes if isinstance(node, TextNode)]

    def test_only_leaves_are_indexed(self) -> None:
        nodes = self.hierarchy()
        leaves = [node.node_id for node in nodes if not node.child_nodes]
        assert 0 < len(leaves) < len(nodes)
        store = SimpleDocumentStore()
        store.add_documents(nodes)
        for found in (
            JiebaBM25Retriever(nodes),
            JiebaBM25Retriever.from_defaults(nodes=nodes),
            JiebaBM25Retriever.from_defaults(docstore=store),
        ):
            assert sorted(node.node_id for node in found.nodes) == sorted(leaves)

    def test_sections_are_left_to_their_children(self) -> None:
        nodes = SectionNodeParser().get_nodes_from_documents(
            [Document(text="# 保修\n\n保修期三年。", id_="kb-1")]
        )
        assert [node.node_id for node in JiebaBM25Retriever(nodes).nodes] == ["kb-1#1.1"]

    def test_parents_alone_are_indexed(self) -> None:
        parents = [node for node in self.hierarchy() if node.child_nodes]
        assert len(JiebaBM25Retriever(parents).nodes) == len(parents)

    def test_a_document_beside_its_nodes_is_not(self) -> None:
        document = Document(text="保修期三年", id_="doc")
        node = TextNode(id_="node", text="保修期三年")
        node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="doc")
        assert [n.node_id for n in JiebaBM25Retriever([document, node]).nodes] == ["node"]
        assert [n.node_id for n in JiebaBM25Retriever([document]).nodes] == ["doc"]

    def test_a_vector_index_gives_its_docstore(self) -> None:
        index = VectorStoreIndex(corpus(), embed_model=HashEmbedding())
        assert ids(JiebaBM25Retriever.from_defaults(index=index).retrieve("报销")) == ["n2"]

    @pytest.mark.parametrize("sources", [{}, {"nodes": [], "docstore": SimpleDocumentStore()}])
    def test_exactly_one_source(self, sources: dict[str, object]) -> None:
        with pytest.raises(ConfigurationError, match="exactly one of index, nodes and docstore"):
            JiebaBM25Retriever.from_defaults(**sources)  # type: ignore[arg-type]


def test_traditional_script_and_width_meet() -> None:
    found = JiebaBM25Retriever(
        [TextNode(id_="s", text="保修期为三年，错误Ｅ１０４２"), TextNode(id_="x", text="退货")]
    )
    assert ids(found.retrieve("保修期為三年")) == ["s"]
    assert ids(found.retrieve("E1042")) == ["s"]


def test_hits_are_copies_and_nodes_are_kept_once() -> None:
    nodes = corpus()
    found = JiebaBM25Retriever(nodes)
    hit = found.retrieve("保修期")[0]
    hit.node.metadata["dept"] = "改动"
    hit.score = 9.0
    again = found.retrieve("保修期")[0]
    assert again.node.metadata["dept"] == "售后"
    assert again.score != 9.0
    assert found.nodes[1] is nodes[1]


def test_score_and_node_belong_together() -> None:
    """Scores stood beside the wrong nodes: run-llama/llama_index#14442."""
    found = JiebaBM25Retriever(
        [
            TextNode(id_="a", text="退货"),
            TextNode(id_="b", text="保修"),
            TextNode(id_="c", text="保修 保修 退货"),
        ]
    )
    scores = {hit.node.node_id: hit.score or 0.0 for hit in found.retrieve("保修")}
    # lucene idf of 2 in 3 is ln(1 + 1.5/2.5); average length 5/3, k1 1.5, b 0.75
    assert scores == pytest.approx(
        {"b": 0.470 * 1 / (1 + 1.5 * (0.25 + 0.75 * 0.6)), "c": 0.470 * 2 / (2 + 1.5 * (0.25 + 0.75 * 1.8))},
        rel=1e-3,
    )


def test_equal_scores_keep_the_order_given() -> None:
    nodes = [TextNode(id_=f"n{i}", text="保修期三年") for i in range(6)]
    assert ids(JiebaBM25Retriever(nodes, similarity_top_k=6).retrieve("保修期")) == [
        f"n{i}" for i in range(6)
    ]


async def test_it_is_a_bm25_retriever_for_everyone_else() -> None:
    assert issubclass(JiebaBM25Retriever, BM25Retriever)
    engine = RetrieverQueryEngine.from_args(JiebaBM25Retriever(corpus()), llm=ScriptedLLM("三年。"))
    response = await engine.aquery("保修期多久")
    assert str(response) == "三年。"
    assert [hit.node.node_id for hit in response.source_nodes] == ["n1"]


async def test_the_async_twin_gives_the_same_off_the_loop(
    retriever: JiebaBM25Retriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    search = JiebaBM25Retriever._retrieve

    def watched(self: JiebaBM25Retriever, query: QueryBundle) -> list[NodeWithScore]:
        threads.append(threading.get_ident())
        return search(self, query)

    monkeypatch.setattr(JiebaBM25Retriever, "_retrieve", watched)
    assert ids(await retriever.aretrieve("保修期")) == ["n1"]
    assert ids(await retriever.aretrieve("保修期 退货", filters=only("dept", "客服"), top_k=1)) == ["n4"]
    assert threading.get_ident() not in threads


def test_threads_do_not_disturb_each_other(retriever: JiebaBM25Retriever) -> None:
    questions = {"保修期": "n1", "报销": "n2", "E1042": "n0", "退货": "n4"}
    with ThreadPoolExecutor(8) as pool:
        firsts = list(pool.map(lambda q: (q, retriever.retrieve(q)[0].node.node_id), list(questions) * 10))
    assert all(questions[question] == first for question, first in firsts)
