"""HybridIndex: opening, upserting, deleting, pruning, reading back."""

from __future__ import annotations

import asyncio
import datetime
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from llama_index.core import Document, MockEmbedding
from llama_index.core import Settings as GlobalSettings

from gyr_hybrid import (
    Analyzer,
    CitedQueryEngine,
    Code,
    EmbeddingError,
    GyrError,
    HybridIndex,
    HybridRetriever,
    IndexMismatchError,
    SectionNodeParser,
    Settings,
    StorageError,
    UpsertReport,
    load_documents,
)

REFUND = "# 退款\n\n## 年付\n\n年付套餐按剩余月数退款。\n\n## 月付\n\n月付套餐不支持退款。\n"
E1042 = "# 错误码 E1042\n\n## 解决办法\n\n请下载最新模板。\n"


# opening


def test_open_creates_a_folder_and_opens_it_again(tmp_path: Path, embedding: Any, doc: Any) -> None:
    place = tmp_path / "a" / "b"
    with HybridIndex.open(place, embed_model=embedding) as index:
        assert index.upsert([doc("a", REFUND)]).added == ["a"]
    assert place.is_dir()
    with HybridIndex.open(str(place), embed_model=embedding) as index:
        assert index.document("a").text == REFUND


def test_the_default_location_is_storage_in_the_working_directory() -> None:
    with HybridIndex.open() as index:
        assert isinstance(index, HybridIndex)
    assert Path("storage").is_dir()


def test_from_documents_is_in_memory_or_upserts_into_an_existing_location(
    tmp_path: Path, embedding: Any, doc: Any
) -> None:
    before = set(Path.cwd().iterdir())
    with HybridIndex.from_documents([doc("a", REFUND)], embed_model=embedding) as index:
        assert index.document("a").text == REFUND
    assert set(Path.cwd().iterdir()) == before
    with HybridIndex.from_documents([doc("a", REFUND)], tmp_path / "x", embed_model=embedding):
        pass
    with HybridIndex.from_documents(
        [doc("b", E1042)], location=tmp_path / "x", embed_model=embedding
    ) as index:
        assert [index.document(i).id_ for i in ("a", "b")] == ["a", "b"]


def test_a_closed_index_says_so_and_may_be_closed_twice(embedding: Any, doc: Any) -> None:
    with HybridIndex.from_documents([doc("a", REFUND)], embed_model=embedding) as index:
        retriever = index.as_retriever()
    index.close()
    for use in (
        lambda: index.upsert([doc("b", E1042)]),
        lambda: retriever.retrieve("退款"),
        lambda: index.document("a"),
    ):
        with pytest.raises(StorageError, match="closed"):
            use()


def test_objects_given_win_over_settings_and_settings_over_the_environment(
    monkeypatch: pytest.MonkeyPatch, embedding: Any, llm: Any
) -> None:
    monkeypatch.delenv("GYR_OFFLINE")
    monkeypatch.setenv("LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("LLM_API_KEY", "sk-environment")
    monkeypatch.setenv("LLM_MODEL", "from-environment")
    settings = Settings(llm_base_url="http://127.0.0.1:9/v1", llm_api_key="sk-x", llm_model="from-settings")
    mine = llm("好。")
    with HybridIndex.from_documents([], embed_model=embedding, llm=mine, settings=settings) as index:
        assert index.llm is mine
        assert index.embed_model is embedding
    with HybridIndex.from_documents([], embed_model=embedding, settings=settings) as index:
        assert index.llm is not None
        assert index.llm.metadata.model_name == "from-settings"
    with HybridIndex.from_documents([], embed_model=embedding) as index:
        assert index.llm is not None
        assert index.llm.metadata.model_name == "from-environment"
    Path(".env").write_text("LLM_MODEL=from-file\n")
    monkeypatch.delenv("LLM_MODEL")
    with HybridIndex.from_documents([], embed_model=embedding) as index:
        assert index.llm is not None
        assert index.llm.metadata.model_name == "from-file"
    with HybridIndex.from_documents([], embed_model=embedding, offline=True) as index:
        assert index.llm is None
    monkeypatch.setenv("GYR_OFFLINE", "1")
    with HybridIndex.from_documents([], embed_model=embedding) as index:
        assert index.llm is None


def test_llama_indexs_global_settings_are_never_read(
    monkeypatch: pytest.MonkeyPatch, index_of: Any, doc: Any, embedding: Any
) -> None:
    class Forbidden:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"the global settings were asked for {name}")

    for name in ("_llm", "_embed_model", "_node_parser", "_transformations", "_prompt_helper"):
        monkeypatch.setattr(GlobalSettings, name, Forbidden())
    index = index_of(doc("a", REFUND))
    assert index.as_query_engine().query("月付套餐可以退款吗").response
    assert index.as_retriever().retrieve("年付退款")


def test_read_only_refuses_to_write_and_to_create(tmp_path: Path, embedding: Any, doc: Any) -> None:
    with pytest.raises(StorageError, match="nothing-here"):
        HybridIndex.open(tmp_path / "nothing-here", read_only=True, embed_model=embedding)
    assert not (tmp_path / "nothing-here").exists()
    HybridIndex.from_documents([doc("a", REFUND)], tmp_path / "x", embed_model=embedding).close()
    with HybridIndex.open(tmp_path / "x", read_only=True, embed_model=embedding) as index:
        assert index.document("a").text == REFUND
        assert index.as_retriever().retrieve("年付退款")
        assert index.as_query_engine().query("年付套餐怎么退款").citations
        for write in (lambda: index.upsert([doc("b", E1042)]), lambda: index.delete("a")):
            with pytest.raises(StorageError, match="read_only"):
                write()
        assert index.document("a").text == REFUND
    with HybridIndex.open(tmp_path / "x", embed_model=embedding) as index:
        assert index.delete("a") == 1


def test_read_only_follows_a_writer_in_the_same_folder(
    tmp_path: Path, new_embedding: Any, doc: Any, ids: Any
) -> None:
    with HybridIndex.open(tmp_path, embed_model=new_embedding()) as writer:
        writer.upsert([doc("a", REFUND)])
        with HybridIndex.open(tmp_path, embed_model=new_embedding(), read_only=True) as reader:
            retriever = reader.as_retriever()
            assert ids(retriever.retrieve("年付套餐退款"))[0] == "a#1"
            writer.upsert([doc("b", E1042)])
            assert ids(retriever.retrieve("E1042"))[0] == "b#1"
            writer.delete("b")
            assert "b#1" not in ids(retriever.retrieve("E1042 下载最新模板"))


def test_a_location_that_is_a_file_is_an_error_and_the_file_stays(tmp_path: Path, embedding: Any) -> None:
    place = tmp_path / "file"
    place.write_text("mine")
    with pytest.raises(StorageError, match="file"):
        HybridIndex.open(place, embed_model=embedding)
    with pytest.raises(OSError, match="file"):
        HybridIndex.open(place / "below", embed_model=embedding)
    assert place.read_text() == "mine"


@pytest.mark.parametrize("location", ["", "postgresql://127.0.0.1/kb"])
def test_a_location_that_is_no_folder_is_an_error_that_creates_nothing(location: str, embedding: Any) -> None:
    with pytest.raises(StorageError, match="folder"):
        HybridIndex.open(location, embed_model=embedding)
    assert list(Path.cwd().iterdir()) == []


def test_one_document_instead_of_a_list_is_an_error(index_of: Any, doc: Any) -> None:
    for wrong in (doc("a", REFUND), "退款说明"):
        with pytest.raises(ValueError, match="list"):
            index_of().upsert(wrong)


def test_an_index_of_another_format_is_an_error_that_says_what_to_do(
    tmp_path: Path, embedding: Any, doc: Any
) -> None:
    HybridIndex.from_documents([doc("a", REFUND)], tmp_path / "x", embed_model=embedding).close()
    (database,) = (p for p in (tmp_path / "x").iterdir() if p.read_bytes()[:6] == b"SQLite")
    good = database.read_bytes()
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StorageError, match=r"99.*\n?.*upgrade"):
        HybridIndex.open(tmp_path / "x", embed_model=embedding)
    database.write_bytes(b"this is no database at all " * 400)
    with pytest.raises(StorageError):
        HybridIndex.open(tmp_path / "x", embed_model=embedding)
    assert database.read_bytes().startswith(b"this is no database")
    database.write_bytes(good)
    with HybridIndex.open(tmp_path / "x", embed_model=embedding) as index:
        assert index.document("a").text == REFUND


def test_another_embedding_model_is_an_error_naming_both_and_the_command(
    tmp_path: Path, new_embedding: Any, doc: Any
) -> None:
    HybridIndex.from_documents(
        [doc("a", REFUND)], tmp_path, embed_model=new_embedding(model_name="old")
    ).close()
    with pytest.raises(IndexMismatchError, match="old") as caught:
        HybridIndex.open(tmp_path, embed_model=new_embedding(model_name="new"))
    assert "new" in str(caught.value)
    assert "gyr-hybrid index" in str(caught.value)
    assert isinstance(caught.value, ValueError)
    with HybridIndex.open(tmp_path, embed_model=new_embedding(model_name="old")) as index:
        assert index.document("a").text == REFUND


def test_another_dimension_is_an_error_before_anything_is_lost(
    tmp_path: Path, new_embedding: Any, doc: Any
) -> None:
    HybridIndex.from_documents([doc("a", REFUND)], tmp_path / "x", embed_model=new_embedding(size=64)).close()
    with (
        pytest.raises(IndexMismatchError, match="64") as caught,
        HybridIndex.open(tmp_path / "x", embed_model=new_embedding(size=32)) as index,
    ):
        index.upsert([doc("b", E1042)])
    assert "32" in str(caught.value)
    mock = tmp_path / "mock"
    HybridIndex.from_documents([doc("a", REFUND)], mock, embed_model=MockEmbedding(embed_dim=8)).close()
    with pytest.raises(IndexMismatchError, match="8"):
        HybridIndex.open(mock, embed_model=MockEmbedding(embed_dim=9))
    with HybridIndex.open(tmp_path / "x", embed_model=new_embedding(size=64)) as index:
        assert index.document("a").text == REFUND
        with pytest.raises(GyrError):
            index.document("b")


def test_another_analyzer_is_an_error_that_says_how_to_rebuild(
    tmp_path: Path, embedding: Any, doc: Any
) -> None:
    HybridIndex.from_documents(
        [doc("a", REFUND)], tmp_path, embed_model=embedding, analyzer=Analyzer(user_words=["年付套餐"])
    ).close()
    with pytest.raises(IndexMismatchError, match="reanalyze"):
        HybridIndex.open(tmp_path, embed_model=embedding, analyzer=Analyzer(user_words=["月付套餐"]))
    HybridIndex.open(tmp_path, embed_model=embedding, analyzer=Analyzer(user_words=["年付套餐"])).close()
    HybridIndex.open(tmp_path, embed_model=embedding).close()


# upserting


def test_the_report_says_what_happened(index_of: Any, doc: Any) -> None:
    index = index_of()
    report = index.upsert([doc("a", REFUND), doc("b", E1042)])
    assert isinstance(report, UpsertReport)
    assert (report.added, report.updated, report.unchanged, report.deleted) == (["a", "b"], [], [], [])
    assert (report.failed, report.nodes_embedded) == ({}, 3)
    report = index.upsert([doc("a", REFUND), doc("b", E1042.replace("最新", "新版")), doc("c", "新文。")])
    assert (report.added, report.updated, report.unchanged, report.deleted) == (["c"], ["b"], ["a"], [])
    assert report.nodes_embedded == 2


def test_only_changed_sections_are_embedded_again(index_of: Any, doc: Any, embedding: Any) -> None:
    index = index_of(doc("a", REFUND))
    embedding.texts.clear()
    report = index.upsert([doc("a", REFUND.replace("不支持", "支持"))])
    assert report.nodes_embedded == len(embedding.texts) == 1
    assert "月付套餐支持退款" in embedding.texts[0]


def test_what_is_embedded_is_the_embed_text(index_of: Any, doc: Any, embedding: Any) -> None:
    index_of(doc("a", REFUND, acl=["hr"], source="secret/path.md"))
    assert embedding.texts == [
        "退款 > 年付\n## 年付\n\n年付套餐按剩余月数退款。",
        "退款 > 月付\n## 月付\n\n月付套餐不支持退款。",
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"acl": ["hr"]},
        {"acl": []},
        {"tenant": "t1"},
        {"updated_at": "2026-01-01"},
        {"valid_from": "2020-01-01"},
        {"valid_to": datetime.date(2030, 1, 1)},
        {"url": "https://x.cn"},
    ],
)
def test_rights_and_dates_alone_are_an_update_that_embeds_nothing(
    index_of: Any, doc: Any, change: Any
) -> None:
    index = index_of(doc("a", REFUND))
    report = index.upsert([doc("a", REFUND, **change)])
    assert (report.updated, report.unchanged, report.nodes_embedded) == (["a"], [], 0)
    assert index.upsert([doc("a", REFUND, **change)]).unchanged == ["a"]
    assert index.upsert([doc("a", REFUND)]).updated == ["a"]


def test_a_new_title_embeds_again(index_of: Any, doc: Any) -> None:
    index = index_of(doc("a", REFUND))
    report = index.upsert([doc("a", REFUND, title="退钱")])
    assert (report.updated, report.nodes_embedded) == (["a"], 2)


def test_any_iterable_is_taken_and_nothing_is_no_work(index_of: Any, doc: Any) -> None:
    index = index_of()
    assert index.upsert(d for d in [doc("a", REFUND)]).added == ["a"]
    report = index.upsert([])
    assert report == UpsertReport()


def test_documents_given_and_returned_are_copies(index_of: Any, doc: Any) -> None:
    mine = doc("a", REFUND, tags=["x"])
    before = mine.model_dump()
    index = index_of(mine)
    assert mine.model_dump() == before
    index.document("a").metadata["tags"] = ["changed"]
    index.document("a").set_content("changed")
    assert index.document("a").text == REFUND
    assert index.document("a").metadata["tags"] == ["x"]


def test_two_documents_with_the_same_text_stay_two(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of(doc("one", REFUND), doc("two", REFUND))
    assert set(ids(index.as_retriever().retrieve("年付套餐按剩余月数退款"))) >= {"one#1", "two#1"}
    assert index.delete("one") == 1
    assert set(ids(index.as_retriever().retrieve("年付套餐按剩余月数退款"))) == {"two#1", "two#2"}


def test_a_failing_embedding_leaves_the_old_version(
    index_of: Any, doc: Any, embedding: Any, ids: Any
) -> None:
    index = index_of(doc("a", REFUND))
    embedding.fail_after(0)
    with pytest.raises(RuntimeError, match="down"):
        index.upsert([doc("a", REFUND.replace("剩余月数", "剩余天数")), doc("b", E1042)])
    embedding.heal()
    assert index.document("a").text == REFUND
    assert ids(index.as_retriever().retrieve("年付套餐按剩余月数退款"))[0] == "a#1"
    with pytest.raises(GyrError):
        index.document("b")


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_vector_without_direction_is_an_error_and_nothing_is_stored(
    index_of: Any, doc: Any, value: float
) -> None:
    class Broken(MockEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return [value] * self.embed_dim

    index = index_of(embed_model=Broken(embed_dim=4))
    with pytest.raises(EmbeddingError):
        index.upsert([doc("a", REFUND)])
    with pytest.raises(GyrError):
        index.document("a")


def test_a_repeated_ingest_pays_nothing_twice(tmp_path: Path, new_embedding: Any, doc: Any) -> None:
    with HybridIndex.from_documents([doc("a", REFUND)], tmp_path, embed_model=new_embedding()) as index:
        before = [(h.node.node_id, h.score) for h in index.as_retriever().retrieve("月付能退款吗")]
    fresh = new_embedding()
    with HybridIndex.open(tmp_path, embed_model=fresh) as index:
        report = index.upsert([doc("a", REFUND)])
        assert (report.unchanged, report.nodes_embedded, fresh.texts) == (["a"], 0, [])
        assert [(h.node.node_id, h.score) for h in index.as_retriever().retrieve("月付能退款吗")] == before


# pruning


def test_prune_removes_what_the_folder_no_longer_holds(
    tmp_path: Path, write: Any, index_of: Any, doc: Any
) -> None:
    for name in ("kb/a.md", "kb/sub/b.md", "other/c.md"):
        write(name, f"# {name}\n\n一句话。")
    index = index_of()
    index.upsert(load_documents([tmp_path / "kb", tmp_path / "other"]))
    index.upsert([doc("by-hand", "手写的文。")])
    (tmp_path / "kb/sub/b.md").unlink()
    assert index.upsert(load_documents(tmp_path / "kb")).deleted == []
    assert index.document("sub/b.md").text
    report = index.upsert(load_documents(tmp_path / "kb"), prune=True)
    assert (report.deleted, report.unchanged) == (["sub/b.md"], ["a.md"])
    assert index.document("c.md").text
    assert index.document("by-hand").text
    with pytest.raises(GyrError):
        index.document("sub/b.md")


@pytest.mark.parametrize("source", [None, "官网"])
def test_prune_never_removes_a_document_whose_file_failed(
    tmp_path: Path, write: Any, index_of: Any, source: str | None
) -> None:
    front = "---\nid: kb-b\n" + (f"source: {source}\n" if source else "") + "---\n"
    write("kb/a.md", "甲文。")
    path = write("kb/b.md", front + "乙文。")
    index = index_of()
    index.upsert(load_documents(tmp_path / "kb"))
    path.write_bytes(b"\x00\xff\xfe\x00broken\x00\x81")
    loaded = load_documents(tmp_path / "kb")
    assert list(loaded.failed) == [str(path)]
    report = index.upsert(loaded, prune=True)
    assert report.deleted == []
    assert report.failed.keys() == {str(path)}
    assert index.document("kb-b").text == "乙文。"


def test_prune_never_removes_a_single_file_that_failed(tmp_path: Path, write: Any, index_of: Any) -> None:
    path = write("kb/b.md", "乙文。")
    index = index_of()
    index.upsert(load_documents(path))
    path.write_bytes(b"\x00\xff\xfe\x00broken\x00\x81")
    report = index.upsert(load_documents(path), prune=True)
    assert (report.deleted, list(report.failed)) == ([], [str(path)])
    assert index.document("b.md").text == "乙文。"


def test_prune_never_removes_a_document_that_lost_its_text(tmp_path: Path, write: Any, index_of: Any) -> None:
    write("kb/a.md", "甲文。")
    path = write("kb/b.md", "乙文。")
    index = index_of()
    index.upsert(load_documents(tmp_path / "kb"))
    path.write_text("\n")
    report = index.upsert(load_documents(tmp_path / "kb"), prune=True)
    assert report.deleted == []
    assert len(report.failed) == 1
    assert index.document("b.md").text == "乙文。"


def test_prune_keeps_versions_that_are_still_there(tmp_path: Path, write: Any, index_of: Any) -> None:
    write("kb/old.md", "---\nid: kb\nversion: 1\n---\n旧文。")
    write("kb/new.md", "---\nid: kb\nversion: 2\n---\n新文。")
    index = index_of()
    index.upsert(load_documents(tmp_path / "kb"))
    (tmp_path / "kb/old.md").unlink()
    assert index.upsert(load_documents(tmp_path / "kb"), prune=True).deleted == ["kb"]
    assert index.document("kb@2").text == "新文。"
    with pytest.raises(GyrError):
        index.document("kb@1")


def test_prune_finds_the_folder_however_it_is_written(
    tmp_path: Path, write: Any, index_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("kb/a.md", "甲文。")
    gone = write("kb/b.md", "乙文。")
    index = index_of()
    index.upsert(load_documents(tmp_path / "kb"))
    gone.unlink()
    monkeypatch.chdir(tmp_path)
    assert index.upsert(load_documents("./kb/"), prune=True).deleted == ["b.md"]


# deleting


def test_delete_takes_text_or_many_and_counts_documents(index_of: Any, doc: Any) -> None:
    index = index_of(
        doc("a", REFUND), doc("b", E1042), doc("c", "文。", version="1"), doc("c", "文二。", version="2")
    )
    assert index.delete("nobody") == 0
    assert index.delete([]) == 0
    assert index.delete("a") == 1
    assert index.delete("a") == 0
    assert index.delete(i for i in ("b", "b", "x")) == 1
    assert index.delete(["c"]) == 2


def test_a_deleted_document_is_gone_everywhere(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of(doc("a", REFUND), doc("b", E1042))
    index.delete("b")
    assert ids(index.as_retriever().retrieve("E1042 解决办法 下载最新模板")) == [] or all(
        i.startswith("a") for i in ids(index.as_retriever().retrieve("E1042 解决办法 下载最新模板"))
    )
    assert index.codes() == []
    assert index.as_query_engine().query("E1042 怎么办").refusal_reason == "unknown_identifier"
    assert index.upsert([doc("b", E1042)]).added == ["b"]
    assert ids(index.as_retriever().retrieve("E1042 怎么办"))[0] == "b#1"


# reading back


def test_document_gives_back_what_was_put_in(index_of: Any, doc: Any) -> None:
    text = "\n  # 退款 \n\n 年付。\t\n\n"
    index = index_of(doc("目录/a b.md", text, title="题", acl=["x"], depth=3, nested={"a": [1]}))
    found = index.document("目录/a b.md")
    assert isinstance(found, Document)
    assert (found.id_, found.text) == ("目录/a b.md", text)
    assert found.metadata["acl"] == ["x"]
    assert found.metadata["depth"] == 3
    assert found.metadata["nested"] == {"a": [1]}


def test_an_unknown_document_is_an_error_that_names_it(index_of: Any, doc: Any) -> None:
    index = index_of(doc("a", REFUND), doc("v", "文。", version="1"))
    for name in ("nobody", "a@1", "v@7"):
        with pytest.raises(GyrError, match=name.split("@")[0]):
            index.document(name)


def test_codes_lists_every_code_with_its_sections(index_of: Any, doc: Any) -> None:
    index = index_of(
        doc("b", E1042), doc("c", "# 说明\n\n参见 E1042 和 NS-X2-BLK-M。\n\n## 其他\n\n没有代码。")
    )
    codes = {code.canonical.upper(): code for code in index.codes()}
    assert all(isinstance(code, Code) for code in codes.values())
    assert set(codes) == {"E1042", "NS-X2-BLK-M"}
    assert list(codes["E1042"].sections) == ["b#1", "c#1"]
    assert list(codes["NS-X2-BLK-M"].sections) == ["c#1"]
    assert codes["E1042"].text == "E1042"


def test_stats_and_check_of_a_healthy_index(index_of: Any, doc: Any) -> None:
    index = index_of(doc("a", REFUND), doc("b", E1042))
    stats = index.stats()
    assert isinstance(stats, dict)
    assert stats["documents"] == 2
    assert stats["sections"] == 3
    assert stats["children"] == 3
    report = index.check()
    assert report.ok
    assert not report.problems


async def test_async_twins_do_the_same(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of()
    report = await index.aupsert([doc("a", REFUND), doc("b#", E1042)])
    assert (report.added, list(report.failed)) == (["a"], ["b#"])
    assert ids(await index.as_retriever().aretrieve("年付套餐退款"))[0] == "a#1"
    assert await index.adelete("a") == 1
    assert await index.as_retriever().aretrieve("年付套餐退款") == []


async def test_many_async_writers_lose_nothing(index_of: Any, doc: Any) -> None:
    index = index_of()
    await asyncio.gather(*(index.aupsert([doc(f"d{i}", f"# 标题{i}\n\n正文{i}。")]) for i in range(12)))
    assert index.stats()["documents"] == 12


# live objects


def test_retrievers_and_engines_see_every_commit_at_once(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of()
    retriever, engine = index.as_retriever(), index.as_query_engine()
    assert retriever.retrieve("月付套餐退款") == []
    assert engine.query("月付套餐可以退款吗").refusal_reason == "no_evidence"
    index.upsert([doc("a", REFUND)])
    assert ids(retriever.retrieve("月付套餐退款"))[0] == "a#2"
    assert "不支持退款" in engine.query("月付套餐可以退款吗").response
    index.upsert([doc("a", REFUND.replace("月付套餐不支持退款", "月付套餐七天内可退款"))])
    assert "七天内" in engine.query("月付套餐可以退款吗").response
    index.delete("a")
    assert retriever.retrieve("月付套餐退款") == []


def test_a_retriever_sees_vectors_that_come_later(
    tmp_path: Path, new_embedding: Any, doc: Any, monkeypatch: Any
) -> None:
    import gyr_hybrid.index as rooms

    monkeypatch.setattr(rooms, "embedding_model", lambda settings: None)
    HybridIndex.from_documents([doc("a", REFUND)], tmp_path).close()
    with HybridIndex.open(tmp_path, embed_model=new_embedding()) as index:
        retriever = index.as_retriever()
        assert retriever.explain("月付退款").to_dict()["legs"]["dense"] == []
        assert any("vector" in w for w in retriever.warnings)
        index.upsert([doc("a", REFUND)])
        assert retriever.explain("月付退款").to_dict()["legs"]["dense"]
        assert retriever.warnings == []


def test_as_retriever_and_as_query_engine_give_our_classes(index_of: Any, doc: Any, llm: Any) -> None:
    index = index_of(doc("a", REFUND))
    assert isinstance(index.as_retriever(), HybridRetriever)
    assert isinstance(index.as_query_engine(llm("好。"), (), top_k=3, policy="flag"), CitedQueryEngine)
    assert isinstance(index.as_query_engine(llm=llm("好。"), node_postprocessors=[]), CitedQueryEngine)


@pytest.mark.parametrize(
    ("build", "wrong", "near"),
    [
        ("as_retriever", "topk", "top_k"),
        ("as_retriever", "filter", "filters"),
        ("as_retriever", "similarity_top_k", "top_k"),
        ("as_retriever", "policy", None),
        ("as_query_engine", "polciy", "policy"),
        ("as_query_engine", "citation_fromat", "citation_format"),
        ("as_query_engine", "principal", "principals"),
    ],
)
def test_an_unknown_option_is_a_type_error_naming_it_and_the_nearest(
    index_of: Any, build: str, wrong: str, near: str | None
) -> None:
    with pytest.raises(TypeError, match=wrong) as caught:
        getattr(index_of(), build)(**{wrong: 3})
    assert near is None or f"{near!r}" in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"weights": [0.25, 0.75]},
        {"mode": "hybird"},
        {"top_k": 0},
        {"top_k": -1},
        {"candidates": 0},
        {"as_of": "soon"},
        {"weights": {"bm52": 1}},
    ],
)
def test_a_senseless_value_is_an_error_that_shows_it(index_of: Any, options: dict[str, Any]) -> None:
    with pytest.raises(GyrError) as caught:
        index_of().as_retriever(**options).retrieve("退款")
    assert isinstance(caught.value, ValueError)
    shown = next(iter(options.values()))
    assert str(next(iter(shown)) if isinstance(shown, dict) else shown) in str(caught.value)


def test_a_node_parser_of_ones_own_is_used(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of(doc("a", REFUND, tags=["x", "y"]), node_parser=SectionNodeParser(flat_metadata=True))
    node = index.as_retriever().retrieve("年付套餐退款")[0].node
    assert node.metadata["tags"] == "x, y"
    assert node.metadata["header_path"] == "退款 > 年付"


# a plain model of it


TEXTS = st.sampled_from(
    [REFUND, E1042, "一句话。", "# 甲\n\n乙。\n\n## 丙\n\n丁。", "  ", "E7001 和 E7002。"]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from("ab"), st.sampled_from([None, "1", "2"]), TEXTS),
        st.tuples(st.just("delete"), st.sampled_from(["a", "b", "a@1", "b@2", "c"])),
        st.tuples(st.just("reopen")),
    ),
    max_size=12,
)


@given(STEPS)
@hypothesis_settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_order_of_writes_leaves_what_a_dict_would_hold(
    tmp_path_factory: pytest.TempPathFactory, new_embedding: Callable[..., Any], doc: Any, steps: list[Any]
) -> None:
    place = tmp_path_factory.mktemp("steps")
    index = HybridIndex.open(place, embed_model=new_embedding())
    model: dict[tuple[str, str | None], str] = {}
    for step, *values in steps:
        if step == "put":
            name, version, text = values
            report = index.upsert([doc(name, text, **({"version": version} if version else {}))])
            if text.strip():
                old = model.get((name, version))
                kind = "added" if old is None else "unchanged" if old == text else "updated"
                assert getattr(report, kind) == [name]
                model[name, version] = text
            else:
                assert list(report.failed) == [name]
        elif step == "delete":
            name, _, version = values[0].partition("@")
            gone = [k for k in model if k[0] == name and (not version or k[1] == version)]
            assert index.delete(values[0]) == len(gone)
            for key in gone:
                del model[key]
        else:
            index.close()
            index = HybridIndex.open(place, embed_model=new_embedding())
    for (name, version), text in model.items():
        if version:
            assert index.document(f"{name}@{version}").text == text
    assert index.stats()["versions"] == len(model)
    assert index.check().ok
    index.close()


def test_a_process_that_was_forked_is_told_to_open_its_own(index_of: Any, doc: Any) -> None:
    index = index_of(doc("a", REFUND))
    child = os.fork()
    if child == 0:
        try:
            index.document("a")
        except StorageError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (0, 7)
