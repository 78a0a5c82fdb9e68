"""What an index goes through over the years: interrupted runs, retries, the same text twice, documents that come back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from llama_index.core import Document
from llama_index.core.schema import MetadataMode

from gyr_hybrid import EmbeddingError, HybridIndex, SectionNodeParser, embedding, ingestion, load_documents
from gyr_hybrid.storage import writing
from gyr_hybrid.testing import HashEmbedding

TEXT = "# 保修\n\n## 期限\n\n整机保修期为三年。\n\n## 范围\n\n人为损坏不在保修范围。\n"
QUESTION = "保修期多久"


def doc(doc_id: str, text: str = TEXT) -> Document:
    return Document(text=text, id_=doc_id)


def numbered(n: int) -> list[Document]:
    return [doc(f"d{i}", f"# 设备{i}\n\n设备{i}的额定功率为{i + 1}00瓦。\n") for i in range(n)]


def found(index: HybridIndex, question: str = QUESTION) -> set[str]:
    return {hit.node.node_id.partition("#")[0] for hit in index.as_retriever(top_k=50).retrieve(question)}


def failing(model: HashEmbedding, error: BaseException, after: int) -> Callable[[], None]:
    """Make the model raise in its call after so many; returns what makes it well again."""
    whole, calls = model.get_text_embedding_batch, iter(range(after))

    def sometimes(texts: list[str], **options: object) -> list[list[float]]:
        if next(calls, None) is None:
            raise error
        return whole(texts)

    object.__setattr__(model, "get_text_embedding_batch", sometimes)
    return lambda: object.__setattr__(model, "get_text_embedding_batch", whole)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ConnectionError("429")], ids=["Ctrl-C", "endpoint"])
def test_an_interrupted_run_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    monkeypatch.setattr(ingestion, "COMMIT_CHILDREN", 4)
    monkeypatch.setattr(embedding, "EMBED_TEXTS", 2)
    model, documents = HashEmbedding(), numbered(10)
    mend = failing(model, error, after=3)  # one commit, and half of the second
    with HybridIndex.open(tmp_path / "index", embed_model=model) as index:
        with pytest.raises(type(error)):
            index.upsert(documents)
        assert index.stats()["documents"] == 4
        assert index.check().ok
    mend()
    with HybridIndex.open(tmp_path / "index", embed_model=model) as index:
        report = index.upsert(documents)
        assert report.unchanged == ["d0", "d1", "d2", "d3"]
        assert report.added == ["d4", "d5", "d6", "d7", "d8", "d9"]
        assert (report.nodes_embedded, model.n_texts) == (4, 10)  # no text is paid twice
        assert index.check().ok


def test_a_first_run_that_failed_can_be_repeated() -> None:
    """A pipeline that keeps what it has seen before it is stored finds nothing to do afterwards."""
    model = HashEmbedding()
    mend = failing(model, ConnectionError("429"), after=0)
    index = HybridIndex.open(None, embed_model=model)
    with pytest.raises(ConnectionError):
        index.upsert([doc("a")])
    assert found(index) == set()
    mend()
    assert index.upsert([doc("a")]).added == ["a"]
    assert found(index) == {"a"}


def test_a_service_that_gives_too_few_vectors_stores_nothing() -> None:
    model = HashEmbedding()
    object.__setattr__(model, "get_text_embedding_batch", lambda texts, **_: [[1.0] * 256])
    index = HybridIndex.open(None, embed_model=model)
    with pytest.raises(EmbeddingError, match="1 vectors for 2 texts"):
        index.upsert([doc("a")])
    assert index.stats()["documents"] == 0


def test_documents_of_one_text_go_one_by_one() -> None:
    """run-llama/llama_index#22706: a document that was deleted stays searchable through its twin."""
    model = HashEmbedding()
    index = HybridIndex.open(None, embed_model=model)
    index.upsert([doc("a")])
    assert index.upsert([doc("b"), doc("c")]).nodes_embedded == 0
    hits = index.as_retriever(top_k=9).retrieve(QUESTION)
    assert {hit.node.ref_doc_id for hit in hits} == {"a", "b", "c"}
    assert all(hit.node.node_id.startswith(f"{hit.node.ref_doc_id}#") for hit in hits)
    assert index.delete(["a", "b"]) == 2
    assert found(index) == {"c"}


def test_a_deleted_document_can_come_back() -> None:
    index = HybridIndex.open(None, embed_model=HashEmbedding())
    index.upsert([doc("a")])
    index.delete("a")
    report = index.upsert([doc("a")])
    assert (report.added, report.nodes_embedded) == (["a"], 0)
    assert found(index) == {"a"}


def test_an_unchanged_document_is_not_inserted_again_and_a_changed_one_leaves_nothing_behind() -> None:
    index = HybridIndex.open(None, embed_model=HashEmbedding())
    index.upsert([doc("a")])
    before = index.stats()
    for _ in range(2):
        assert index.upsert([doc("a")]).unchanged == ["a"]
    index.upsert([doc("a", TEXT.replace("三年", "五年"))])
    after = index.stats()
    assert [after[name] for name in ("documents", "sections", "children")] == [
        before[name] for name in ("documents", "sections", "children")
    ]
    texts = [hit.node.get_content() for hit in index.as_retriever().retrieve(QUESTION)]
    assert any("五年" in text for text in texts)
    assert not any("三年" in text for text in texts)


def test_a_retriever_made_of_an_empty_index_sees_what_comes() -> None:
    index = HybridIndex.open(None, embed_model=HashEmbedding())
    retriever = index.as_retriever()
    assert retriever.retrieve(QUESTION) == []
    index.upsert([doc("a")])
    assert next(hit.node.node_id for hit in retriever.retrieve(QUESTION)) == "a#1"


def test_children_alone_are_embedded_and_searched() -> None:
    model = HashEmbedding()
    index = HybridIndex.open(None, embed_model=model)
    index.upsert([doc("a")])
    nodes = SectionNodeParser().get_nodes_from_documents([doc("a")])
    children = {node.get_content(MetadataMode.EMBED) for node in nodes if "." in node.node_id}
    assert model.n_texts == len(children) == index.stats()["children"]
    legs = index.as_retriever().explain(QUESTION).legs
    assert all("." in step.node_id for steps in legs.values() for step in steps)


def test_a_document_that_goes_away_meanwhile_does_not_end_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A node that is missing when it is fetched must not raise: run-llama/llama_index's KeyError."""
    monkeypatch.setattr(writing, "RETIRED_FOR", -1.0)
    with HybridIndex.open(tmp_path / "index", embed_model=HashEmbedding()) as index:
        index.upsert([doc("a"), doc("b", TEXT.replace("三年", "两年"))])
        view = index._store.view()
        index.delete("a")
        assert view.lexical({"保修期": 1.0}, 9)
        assert set(view.nodes(["a#1", "b#1"])) == {"b#1"}
        assert found(index) == {"b"}


def test_han_is_stored_as_it_is_written(tmp_path: Path) -> None:
    with HybridIndex.open(tmp_path / "index", embed_model=HashEmbedding()) as index:
        index.upsert([Document(text=TEXT, id_="a", metadata={"category": "售后"})])
    (database,) = (tmp_path / "index").glob("*.sqlite3")
    raw = database.read_bytes()
    assert "整机保修期为三年".encode() in raw
    assert "售后".encode() in raw
    assert b"\\u552e" not in raw


def test_every_table_is_empty_again_when_all_is_deleted(tmp_path: Path) -> None:
    with HybridIndex.open(tmp_path / "index", embed_model=HashEmbedding()) as index:
        index.upsert(numbered(5))
        index.upsert(numbered(3))
        index.delete([f"d{i}" for i in range(5)])
        index.compact()
    (database,) = (tmp_path / "index").glob("*.sqlite3")
    connection = sqlite3.connect(database)
    tables = ("documents", "contents", "postings", "pieces", "removals", "vectors")
    counts = {t: connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables}
    connection.close()
    assert counts == dict.fromkeys(tables, 0)


def test_a_folder_is_read_again_after_a_file_was_broken(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(TEXT, encoding="utf-8")
    index = HybridIndex.open(None, embed_model=HashEmbedding())
    index.upsert(load_documents(folder))
    (folder / "a.md").write_bytes(b"")
    assert list(index.upsert(load_documents(folder), prune=True).failed) != []
    assert found(index) == {"a.md"}
    (folder / "a.md").write_text(TEXT, encoding="utf-8")
    assert index.upsert(load_documents(folder), prune=True).unchanged == ["a.md"]
