"""HybridIndex as its users hold it: what goes in, what changes, what is gone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from llama_index.core import Document
from llama_index.core.vector_stores import FilterOperator, MetadataFilter, MetadataFilters

from gyr_hybrid import (
    Analyzer,
    DocumentError,
    HybridIndex,
    HybridQuery,
    IndexMismatchError,
    agreement,
    ingestion,
    load_documents,
)
from gyr_hybrid.analysis import analyzer as analyzer_module
from gyr_hybrid.testing import HashEmbedding

A = "# 退款\n\n## 年付\n\n年付套餐按剩余月数退款。\n\n## 月付\n\n月付套餐不支持退款。\n"
B = "# 错误码 E1042\n\n## 解决办法\n\n请下载最新模板。\n"


def doc(text: str, doc_id: str, **metadata: object) -> Document:
    return Document(text=text, id_=doc_id, metadata=metadata)


@pytest.fixture
def model() -> HashEmbedding:
    return HashEmbedding()


def open_(path: Path, model: HashEmbedding, **options: object) -> HybridIndex:
    return HybridIndex.open(path / "index", embed_model=model, **options)  # type: ignore[arg-type]


def ids(index: HybridIndex, question: str, **options: object) -> list[str]:
    return [hit.node.node_id for hit in index.as_retriever(**options).retrieve(question)]


def test_upsert_reports_what_happened_and_embeds_only_what_changed(
    tmp_path: Path, model: HashEmbedding
) -> None:
    index = open_(tmp_path, model)
    first = index.upsert([doc(A, "a"), doc(B, "b")])
    assert (first.added, first.updated, first.unchanged, first.failed) == (["a", "b"], [], [], {})
    assert first.nodes_embedded == 3
    again = index.upsert([doc(A, "a"), doc(B, "b")])
    assert (again.added, again.updated, again.unchanged, again.nodes_embedded) == ([], [], ["a", "b"], 0)
    changed = index.upsert([doc(A.replace("不支持", "支持"), "a")])
    assert (changed.updated, changed.nodes_embedded) == (["a"], 1)


def test_rights_and_dates_change_without_embedding_and_a_title_with(
    tmp_path: Path, model: HashEmbedding
) -> None:
    index = open_(tmp_path, model)
    index.upsert([doc(A, "a")])
    report = index.upsert([doc(A, "a", acl=["hr"], tenant="t1", updated_at="2026-01-01")])
    assert (report.updated, report.nodes_embedded) == (["a"], 0)
    assert ids(index, "年付退款", principals=["sales"]) == []
    report = index.upsert([doc(A, "a", title="退钱")])
    assert (report.updated, report.nodes_embedded) == (["a"], 2)


def test_reopening_embeds_nothing_and_answers_the_same(tmp_path: Path, model: HashEmbedding) -> None:
    with open_(tmp_path, model) as index:
        index.upsert([doc(A, "a"), doc(B, "b")])
        before = ids(index, "月付能退款吗")
    fresh = HashEmbedding()
    with open_(tmp_path, fresh) as index:
        assert index.upsert([doc(A, "a"), doc(B, "b")]).nodes_embedded == 0
        assert fresh.calls == 0
        assert ids(index, "月付能退款吗") == before


def test_bad_documents_are_reported_and_the_others_stored(tmp_path: Path, model: HashEmbedding) -> None:
    index = open_(tmp_path, model)
    report = index.upsert([doc(A, "a"), doc("  \n", "blank"), doc(B, "b#1"), doc(A, "twin"), doc(B, "twin")])
    assert report.added == ["a"]
    assert set(report.failed) == {"blank", "b#1", "twin"}
    assert "twice" in report.failed["twin"]
    assert "no text" in report.failed["blank"]


def test_two_documents_with_the_same_text_stay_two(tmp_path: Path, model: HashEmbedding) -> None:
    """run-llama/llama_index#22706: documents of the same content collapse into one."""
    index = open_(tmp_path, model)
    index.upsert([doc(A, "one"), doc(A, "two")])
    assert set(ids(index, "年付套餐按剩余月数退款")) >= {"one#1", "two#1"}
    assert index.delete("one") == 1
    assert all(i.startswith("two") for i in ids(index, "年付套餐按剩余月数退款"))


def test_versions_live_side_by_side_and_the_valid_one_is_seen(tmp_path: Path, model: HashEmbedding) -> None:
    index = open_(tmp_path, model)
    index.upsert(
        [
            doc("# 退款\n\n三天到账。", "kb", version="1", valid_from="2020-01-01", valid_to="2024-01-01"),
            doc("# 退款\n\n五天到账。", "kb", version="2", valid_from="2024-01-01"),
        ]
    )
    assert ids(index, "退款几天到账") == ["kb@2#1"]
    assert [h.node.node_id for h in index.as_retriever().retrieve("退款几天到账", as_of="2023-12-31")] == [
        "kb@1#1"
    ]
    assert [h.node.node_id for h in index.as_retriever().retrieve("退款几天到账", as_of="2024-01-01")] == [
        "kb@2#1"
    ]
    index.upsert([doc("# 退款\n\n四天到账。", "kb", version="1a", valid_from="2021-01-01")])
    assert ids(index, "退款几天到账") == ["kb@2#1"]
    wanted = MetadataFilters(filters=[MetadataFilter(key="version", value="1a")])
    assert [h.node.node_id for h in index.as_retriever().retrieve("退款几天到账", filters=wanted)] == [
        "kb@1a#1"
    ]
    assert index.document("kb").text.endswith("五天到账。")
    assert index.document("kb@1").text.endswith("三天到账。")
    assert index.delete("kb@1") == 1
    with pytest.raises(DocumentError, match="has no version '1'"):
        index.document("kb@1")
    assert index.delete(["kb", "nobody"]) == 2


def test_tenant_and_acl_hold_in_results_suggestions_and_unknown_codes(
    tmp_path: Path, model: HashEmbedding
) -> None:
    index = open_(tmp_path, model)
    index.upsert(
        [
            doc("# 错误码 E7001\n\n重启设备。", "ours", tenant="t1"),
            doc("# 错误码 E7002\n\n更换风扇。", "theirs", tenant="t2"),
            doc("# 公共说明\n\n请先重启设备。", "shared"),
            doc("# 工资 E7003\n\n每月五日发放。", "secret", tenant="t1", acl=["hr"]),
        ]
    )
    assert ids(index, "E7002 怎么办", tenant="t2")[0] == "theirs#1"
    assert "theirs#1" not in ids(index, "E7002 怎么办", tenant="t1")
    answer = index.as_query_engine(tenant="t1").query("E7002 怎么办")
    assert answer.refusal_reason == "unknown_identifier"
    assert set(answer.unknown_identifiers[0].suggestions) == {"E7001", "E7003"}
    answer = index.as_query_engine(tenant="t1", principals=["sales"]).query("E7002 怎么办")
    assert set(answer.unknown_identifiers[0].suggestions) == {"E7001"}
    explained = index.as_retriever(tenant="t1").explain("E7001").to_dict()
    assert all(row["score"] is None for row in explained["legs"]["lexical"])
    assert ids(index, "工资 每月五日发放", principals=[]) == ids(
        index, "工资 每月五日发放", principals=["sales"]
    )
    assert "secret#1" in ids(index, "工资 每月五日发放")


def test_filters_hold_in_every_leg_and_cannot_be_widened(tmp_path: Path, model: HashEmbedding) -> None:
    index = open_(tmp_path, model)
    index.upsert([doc(A, "a", dept="售后", year="2023"), doc(B, "b", dept="技术")])
    after = MetadataFilters(filters=[MetadataFilter(key="dept", value="售后")])
    tech = MetadataFilters(filters=[MetadataFilter(key="dept", value="技术")])
    for mode in ("hybrid", "lexical", "dense"):
        found = [
            h.node.node_id for h in index.as_retriever(mode=mode).retrieve("E1042 模板 退款", filters=after)
        ]
        assert found
        assert all(i.startswith("a") for i in found)
    assert index.as_retriever(filters=after).retrieve("E1042", filters=tech) == []
    year = MetadataFilters(filters=[MetadataFilter(key="year", value=2023, operator=FilterOperator.EQ)])
    assert index.as_retriever().retrieve(HybridQuery("年付退款", filters=year))


def test_retrievers_and_engines_see_every_commit_at_once(tmp_path: Path, model: HashEmbedding) -> None:
    """run-llama/llama_index#16271: an inserted document is invisible until restart."""
    index = open_(tmp_path, model)
    retriever, engine = index.as_retriever(), index.as_query_engine()
    assert retriever.retrieve("E1042") == []
    index.upsert([doc(B, "b")])
    assert [h.node.node_id for h in retriever.retrieve("E1042")] == ["b#1"]
    assert not engine.query("E1042 怎么办").refused
    index.delete("b")
    assert retriever.retrieve("E1042") == []


def test_another_embedding_model_is_an_error_that_names_both(tmp_path: Path, model: HashEmbedding) -> None:
    open_(tmp_path, model).upsert([doc(A, "a")])
    with pytest.raises(IndexMismatchError, match=r"(?s)hash.*other.*gyr-hybrid index"):
        HybridIndex.open(tmp_path / "index", embed_model=HashEmbedding(model_name="other"))


def test_prune_removes_what_the_folder_lost_but_not_what_failed(tmp_path: Path, model: HashEmbedding) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").write_text(f"# 文档{name}\n\n内容{name}。\n", encoding="utf-8")
    index = open_(tmp_path, model)
    index.upsert([doc(A, "elsewhere")])
    index.upsert(load_documents(folder))
    (folder / "a.md").unlink()
    (folder / "b.md").write_bytes(b"---\nid: 'b#bad'\n---\n# B\n\ntext\n")
    report = index.upsert(load_documents(folder), prune=True)
    assert report.deleted == ["a.md"]
    assert list(report.failed) == [str(folder / "b.md")]
    assert index.document("b.md").text
    assert index.document("elsewhere").text


def test_a_failing_embedding_keeps_the_old_version(tmp_path: Path, model: HashEmbedding) -> None:
    """run-llama/llama_index#22639: the old version is deleted before the new one is ready."""
    index = open_(tmp_path, model)
    index.upsert([doc(A, "a")])

    def broken(texts: list[str], **_: object) -> list[list[float]]:
        raise ConnectionError("429")

    object.__setattr__(model, "get_text_embedding_batch", broken)
    with pytest.raises(ConnectionError):
        index.upsert([doc(A.replace("年付套餐", "两年付套餐"), "a")])
    assert "a#1" in ids(index, "年付套餐按剩余月数退款", mode="lexical")
    assert index.document("a").text == A


def test_an_unknown_option_names_the_nearest_known_one(tmp_path: Path, model: HashEmbedding) -> None:
    index = open_(tmp_path, model)
    with pytest.raises(TypeError, match=r"'topk'.*'top_k'"):
        index.as_retriever(topk=3)
    with pytest.raises(TypeError, match=r"'polcy'.*'policy'"):
        index.as_query_engine(polcy="flag")


def test_a_failing_leg_degrades_and_says_so(tmp_path: Path, model: HashEmbedding) -> None:
    index = open_(tmp_path, model)
    index.upsert([doc(B, "b")])

    def broken(query: str) -> list[float]:
        raise TimeoutError("no answer")

    object.__setattr__(model, "get_query_embedding", broken)
    retriever = index.as_retriever()
    assert [h.node.node_id for h in retriever.retrieve("E1042 怎么办")] == ["b#1"]
    assert any("no answer" in w for w in retriever.warnings)
    answer = index.as_query_engine().query("E1042 怎么办")
    assert not answer.refused
    assert any("no answer" in w for w in answer.warnings)
    with pytest.raises(TimeoutError):
        index.as_retriever(mode="dense").retrieve("E1042 怎么办")


def test_async_twins_do_the_same(tmp_path: Path, model: HashEmbedding) -> None:
    async def go() -> list[str]:
        with open_(tmp_path, model) as index:
            report = await index.aupsert([doc(A, "a"), doc(B, "b")])
            assert report.added == ["a", "b"]
            found = [h.node.node_id for h in await index.as_retriever().aretrieve("E1042 怎么办")]
            assert found == ids(index, "E1042 怎么办")
            assert await index.adelete("b") == 1
            return found

    assert asyncio.run(go())[0] == "b#1"


def test_codes_lists_every_code_with_its_sections(helpcenter: HybridIndex) -> None:
    sections = {code.text: code.sections for code in helpcenter.codes()}
    assert sections["E1042"] == ("kb-010#1", "kb-010#2")
    assert sections["E4029"] == ("kb-019#2",)


def test_the_index_in_memory_leaves_no_file(
    tmp_path: Path, model: HashEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    HybridIndex.from_documents([doc(A, "a")], embed_model=model).close()
    assert list(tmp_path.iterdir()) == []


def test_results_are_copies_with_falling_scores(helpcenter: HybridIndex) -> None:
    retriever = helpcenter.as_retriever(top_k=8)
    hits = retriever.retrieve("退款多久到账")
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= s <= 1.0 for s in scores)
    hits[0].node.metadata["doc_id"] = "spoilt"
    hits[0].node.set_content("spoilt")
    again = retriever.retrieve("退款多久到账")
    assert again[0].node.get_content() != "spoilt"
    assert again[0].node.metadata["doc_id"] != "spoilt"


@pytest.mark.parametrize("question", ["", "  ", "\n"])
def test_an_empty_question_finds_nothing(helpcenter: HybridIndex, question: str) -> None:
    assert helpcenter.as_retriever().retrieve(question) == []
    answer = helpcenter.as_query_engine().query(question)
    assert (answer.refused, answer.refusal_reason) == (True, "empty_question")


def test_no_match_gives_no_row(helpcenter: HybridIndex) -> None:
    """The stock BM25 retriever returns top_k rows of score 0."""
    assert helpcenter.as_retriever(mode="lexical").retrieve("zzzzqq") == []


class TestReanalysis:
    """Word lists and rules change over the years; the documents need not be read or embedded again."""

    LISTED = "# 故障单\n\n故障单 甲12-34 已关闭。\n"

    def built(self, path: Path, model: HashEmbedding) -> HybridIndex:
        index = open_(path, model)
        index.upsert(
            [
                doc(self.LISTED, "a"),
                doc("# 价格\n\n甲12-34 旧价。\n", "p", version="1", valid_to="2020-01-01"),
                doc("# 价格\n\n甲12-34 新价。\n", "p", version="2", valid_from="2020-01-01"),
                doc("# 过期\n\n甲12-34 过期。\n", "gone", valid_to="2020-01-01"),
            ]
        )
        assert index.codes() == []
        index.close()
        (path / "index" / "code_patterns.txt").write_text("甲\\d{2}-\\d{2}\n", encoding="utf-8")
        return open_(path, model)

    def test_changed_word_lists_are_said_and_applied(self, tmp_path: Path, model: HashEmbedding) -> None:
        index = self.built(tmp_path, model)
        assert "changed after the documents were analysed" in str(index.stale_analysis)
        assert any("reanalyze" in warning for warning in index.as_retriever().warnings)
        report = index.reanalyze()
        assert (sorted(report.updated), report.failed, report.nodes_embedded) == (["a", "gone", "p"], {}, 0)
        assert index.stale_analysis is None
        assert [code.sections for code in index.codes()] == [("a#1", "p@2#1")]
        assert index.document("p@1").text.endswith("旧价。\n")
        assert sorted(ids(index, "甲12-34", as_of="2019-06-01")) == ["a#1", "gone#1", "p@1#1"]
        assert index.upsert([doc(self.LISTED, "a")]).unchanged == ["a"]
        index.close()
        assert open_(tmp_path, model).stale_analysis is None

    def test_an_interrupted_run_is_finished_by_the_next(
        self, tmp_path: Path, model: HashEmbedding, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        index = self.built(tmp_path, model)
        with monkeypatch.context() as patch:
            patch.setattr(ingestion, "RENEWED_DOCUMENTS", 2)
            upsert, calls = ingestion.Ingestion.upsert, []

            def interrupted(*args: object, **options: object) -> object:
                calls.append(args)
                if len(calls) == 2:
                    raise KeyboardInterrupt
                return upsert(*args, **options)  # type: ignore[arg-type]

            patch.setattr(ingestion.Ingestion, "upsert", interrupted)
            with pytest.raises(KeyboardInterrupt):
                index.reanalyze()
        assert "interrupted" in str(index.stale_analysis)
        index.close()
        index = open_(tmp_path, model)
        assert "interrupted" in str(index.stale_analysis)
        report = index.reanalyze()
        assert len(report.unchanged) == 2
        assert index.stale_analysis is None
        assert [code.sections for code in index.codes()] == [("a#1", "p@2#1")]

    def test_new_rules_of_the_package_are_noticed(
        self, tmp_path: Path, model: HashEmbedding, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        open_(tmp_path, model).upsert([doc(A, "a")])
        monkeypatch.setattr(analyzer_module, "RULES", "next")
        monkeypatch.setattr(agreement, "RULES", "next")
        index = open_(tmp_path, model)
        assert "this version has rules next" in str(index.stale_analysis)
        index.reanalyze()
        assert index.stale_analysis is None

    def test_an_open_index_says_that_another_process_analysed_again(
        self, tmp_path: Path, model: HashEmbedding
    ) -> None:
        with open_(tmp_path, model) as index:
            index.upsert([doc(self.LISTED, "a")])
        with open_(tmp_path, model, read_only=True) as reader, open_(tmp_path, model) as writer:
            retriever = reader.as_retriever()
            assert retriever.run("甲12-34").warnings == ()
            writer.upsert([doc(A, "b")])
            writer.reanalyze()
            assert retriever.run("甲12-34").warnings == ()
            writer.reanalyze(Analyzer(code_patterns=[r"甲\d{2}-\d{2}"]))
            assert writer.warnings == []
            assert "open it again" in retriever.run("甲12-34").warnings[0]
        with open_(tmp_path, model, read_only=True) as reader:
            assert reader.warnings == []

    def test_another_analyzer_can_be_given(self, tmp_path: Path, model: HashEmbedding) -> None:
        index = open_(tmp_path, model)
        index.upsert([doc(self.LISTED, "a")])
        mine = Analyzer(code_patterns=[r"甲\d{2}-\d{2}"])
        assert index.reanalyze(mine).updated == ["a"]
        assert [code.text for code in index.codes()] == ["甲12-34"]
        index.close()
        open_(tmp_path, model, analyzer=mine).close()

    def test_prune_still_knows_where_documents_came_from(self, tmp_path: Path, model: HashEmbedding) -> None:
        folder = tmp_path / "docs"
        folder.mkdir()
        for name in ("a", "b"):
            (folder / f"{name}.md").write_text(A, encoding="utf-8")
        index = open_(tmp_path, model)
        index.upsert(load_documents(folder))
        index.reanalyze(Analyzer(user_words=["年付套餐"]))
        (folder / "b.md").unlink()
        assert index.upsert(load_documents(folder), prune=True).deleted == ["b.md"]


def test_the_owners_word_lists_reach_questions(tmp_path: Path) -> None:
    text = "# 班车\n\n快线每天 8 班。\n\n# 退货\n\n因质量问题退货的，运费由商家承担。"
    (tmp_path / "synonyms.txt").write_text("瑕疵, 质量问题\n", encoding="utf-8")
    with HybridIndex.from_documents([Document(text=text, id_="kb-1")], tmp_path, offline=True) as index:
        assert ("瑕疵", ("质量问题",)) in index.as_retriever().explain("瑕疵怎么办").synonyms
        answer = index.as_query_engine().query("瑕疵退货运费谁承担")
        assert "运费由商家承担" in str(answer)
