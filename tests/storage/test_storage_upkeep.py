"""Check and repair, back up, compact."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from gyr_hybrid.errors import StorageError
from gyr_hybrid.storage import Batch, DocumentRecord, KnowledgeStore, Scope, embed_hash, open_store, writing
from gyr_hybrid.storage.schema import FILE_NAME

Fill = Callable[..., int]
Record = Callable[..., DocumentRecord]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def damaged(folder: Path, record: Record) -> Iterator[Callable[[str], KnowledgeStore]]:
    """Opens an index of two documents after some SQL was run on it behind its back."""
    opened: list[KnowledgeStore] = []
    store = open_store(folder)
    store.apply(Batch(upserts=(record("a", tenant="t1"), record("b", [["长 一 点。", "别 的。"], ["尾。"]]))))
    store.close()

    def damage(sql: str) -> KnowledgeStore:
        raw = sqlite3.connect(folder / FILE_NAME)
        assert raw.execute(sql).rowcount > 0
        raw.commit()
        raw.close()
        opened.append(open_store(folder))
        return opened[-1]

    yield damage
    for one in opened:
        one.close()


def test_a_sound_store_has_no_problems(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(
        record("a", [["一。"], ["二。", "三。"]]),
        record("b", version="2", acl=["x"], valid_from="2026-01-01"),
    )
    fill(record("a"))
    store.apply(Batch(deletes=(("b", "2"),)))
    report = store.check()
    assert report.ok
    assert report.repaired == ()
    assert report.counts == {"vectors": 5, "documents": 1, "nodes": 3, "children": 2, "postings": 8}
    assert store.check(repair=False).ok
    assert store.view().n_children == 2


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("INSERT INTO pieces VALUES (99, 0, 0, 'x', '[]')", "1 rows of pieces belong to no document"),
        ("UPDATE documents SET tenant = 't2' WHERE doc_id = 'a'", "did not agree with its metadata"),
        ("UPDATE documents SET acl = '[]' WHERE doc_id = 'b'", "did not agree with its metadata"),
        ("UPDATE documents SET valid_to = '2000-01-01'", "did not agree with its metadata"),
    ],
)
def test_what_is_derived_is_mended(damaged: Callable[[str], KnowledgeStore], sql: str, message: str) -> None:
    store = damaged(sql)
    assert message in store.check(repair=False).problems[0]
    report = store.check()
    assert report.ok
    assert message in report.repaired[0]
    assert store.check() == type(report)(counts=report.counts)
    assert store.view().n_visible == 5
    assert store.view(Scope(tenant="t1")).n_visible == 5


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("DELETE FROM pieces WHERE doc_key = 2 AND number = 1", "some of its nodes are missing"),
        ("DELETE FROM pieces WHERE doc_key = 2 AND number = 0", "a piece of its text is missing"),
        ("UPDATE pieces SET text = '短' WHERE doc_key = 2 AND number = 1", "lie outside its text"),
        ("UPDATE postings SET term_keys = zeroblob(8)", "postings do not fit"),
        ("UPDATE postings SET frequencies = zeroblob(length(frequencies))", "do not add up"),
        ("UPDATE contents SET layout = zeroblob(4)", "cannot be read"),
        ("UPDATE contents SET node_ids = '[\"x\"]'", "node ids do not fit"),
        ("UPDATE documents SET n_children = 9", "counted wrongly"),
        ("UPDATE contents SET vector_keys = x''", "vectors do not fit"),
        ("DELETE FROM contents WHERE doc_key = 2", "contents are lost"),
        ("DELETE FROM postings WHERE doc_key = 2", "cannot be read"),
    ],
)
def test_what_is_lost_is_named_and_comes_back_with_an_upsert(
    damaged: Callable[[str], KnowledgeStore], record: Record, sql: str, message: str
) -> None:
    store = damaged(sql)
    report = store.check()
    assert any(message in problem and "upsert it again" in problem for problem in report.problems)
    for key, fingerprint in store.fingerprints([("a", None), ("b", None)]).items():
        if any(repr(key[0]) in problem for problem in report.problems):
            assert fingerprint not in (record(key[0]).fingerprint, "")
    store.apply(Batch(upserts=(record("a", tenant="t1"), record("b"))))
    assert store.check().ok
    assert store.view().n_children == 4


@pytest.mark.parametrize("blob", ["zeroblob(36)", "x'00'", "zeroblob(20)", "x'0000c07f' || zeroblob(32)"])
def test_a_damaged_vector_is_taken_out_and_made_again(
    damaged: Callable[[str], KnowledgeStore], record: Record, vector_of: Callable[..., np.ndarray], blob: str
) -> None:
    store = damaged(f"UPDATE vectors SET vector = CAST({blob} AS BLOB) WHERE vector_key = 1")
    report = store.check()
    assert "1 vectors" in report.repaired[0]
    assert report.problems == (
        "document 'a': 1 of its vectors are lost; upsert it again",
    ) or report.problems[0].startswith("document 'a': 1 of its vectors are lost")
    hits = store.view().dense(vector_of("x"), 10)
    assert len(hits) == 4
    assert all(np.isfinite(hit.score) for hit in hits)
    assert "incomplete" in store.check().problems[0]
    assert store.cached_vectors([embed_hash("红 苹果 很 甜。")]) == {}
    store.apply(Batch(upserts=(record("a", tenant="t1"),)))
    assert store.check().ok
    assert len(store.view().dense(vector_of("x"), 10)) == 5


def test_a_damaged_page_is_reported(folder: Path, record: Record) -> None:
    store = open_store(folder)
    store.apply(Batch(upserts=tuple(record(f"d{i}", [["字" * 3000]]) for i in range(20))))
    store.compact()
    store.close()
    file = folder / FILE_NAME
    data = bytearray(file.read_bytes())
    data[8192 * 12 : 8192 * 13] = b"\xff" * 8192
    file.write_bytes(data)
    store = open_store(folder)
    try:
        messages = list(store.check().problems)
    except StorageError as error:
        messages = [str(error)]
    store.close()
    assert messages
    assert all("restore a backup" in message for message in messages)


def test_a_backup_is_one_file_that_opens(
    store: KnowledgeStore, fill: Fill, record: Record, tmp_path: Path
) -> None:
    fill(record("a"), record("b"))
    store.meta["name"] = "v"
    (tmp_path / "restored").mkdir()
    store.backup(tmp_path / "restored" / FILE_NAME)
    assert [path.name for path in (tmp_path / "restored").iterdir()] == [FILE_NAME]
    fill(record("c"))
    restored = open_store(tmp_path / "restored")
    assert restored.view().n_children == 4
    assert restored.meta["name"] == "v"
    assert restored.check().ok
    assert restored._connections._writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)  # type: ignore[attr-defined]
    restored.apply(Batch(upserts=(record("d"),)))
    restored.close()
    with pytest.raises(StorageError, match="exists already"):
        store.backup(tmp_path / "restored" / FILE_NAME)
    with pytest.raises(StorageError, match="cannot write"):
        store.backup(tmp_path / "nowhere" / "file")


def test_a_backup_can_be_made_while_others_write(folder: Path, record: Record, tmp_path: Path) -> None:
    store = open_store(folder)
    store.apply(Batch(upserts=tuple(record(f"d{i}") for i in range(50))))
    stop = threading.Event()

    def write() -> None:
        n = 0
        while not stop.is_set():
            store.apply(Batch(upserts=(record(f"d{n % 50}", [[f"第 {n} 次。"] * 1]),)))
            n += 1

    writer = threading.Thread(target=write)
    writer.start()
    for n in range(3):
        (tmp_path / str(n)).mkdir()
        store.backup(tmp_path / str(n) / FILE_NAME)
    stop.set()
    writer.join()
    store.close()
    for n in range(3):
        copy = open_store(tmp_path / str(n))
        assert copy.check().ok
        assert len(copy.documents()) == 50
        copy.close()


def test_compacting_gives_space_back_and_changes_no_answer(
    store: KnowledgeStore, fill: Fill, record: Record, vector_of: Callable[..., np.ndarray]
) -> None:
    fill(*(record(f"d{i}", [[f"第 {i} 篇 {'长' * 2000}。", f"共 有 {i}。"]]) for i in range(60)))
    store.apply(Batch(deletes=tuple((f"d{i}", None) for i in range(50))))
    before = store.stats()
    view = store.view()
    answers = view.lexical({"共": 1.0, "7": 1.0}, 20), view.dense(vector_of("x"), 20), view.idf("共")
    store.compact()
    after = store.stats()
    assert after["bytes"] < before["bytes"] / 2
    assert (before["vectors"], after["vectors"]) == (120, 20)
    view = store.view()
    assert (
        view.lexical({"共": 1.0, "7": 1.0}, 20),
        view.dense(vector_of("x"), 20),
        view.idf("共"),
    ) == answers
    assert store.check().ok


def test_unused_vectors_do_not_pile_up(
    store: KnowledgeStore, fill: Fill, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "KEPT_UNUSED", 10)
    monkeypatch.setattr(writing, "RETIRED_FOR", -1.0)
    for n in range(60):
        fill(record("a", [[f"第 {n} 次 改。"]]))
    assert store.stats()["vectors"] <= 12
    assert store.view().n_children == 1
    assert store.check().ok


def test_deleted_rows_leave_the_file_after_a_while(
    folder: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(folder)
    store.apply(Batch(upserts=(record("a"), record("b"))))
    store.apply(Batch(deletes=(("a", None),)))
    monkeypatch.setattr(writing, "RETIRED_FOR", -1.0)
    store.apply(Batch(deletes=(("b", None),)))
    store.close()
    raw = sqlite3.connect(folder / FILE_NAME)
    counts = [
        raw.execute(f"SELECT count(*) FROM {t}").fetchone()[0]
        for t in ("documents", "contents", "postings", "pieces")
    ]
    raw.close()
    assert counts == [0, 0, 0, 0]


def test_much_deletion_makes_the_search_structures_anew(
    store: KnowledgeStore, fill: Fill, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gyr_hybrid.storage import following

    monkeypatch.setattr(following, "_FEW_DEAD", 10)
    fill(*(record(f"d{i}", [[f"第 {i} 篇。", "共 有。"]]) for i in range(30)))
    held = store.view()
    hits = held.lexical({"共": 1.0}, 100)
    for i in range(25):
        store.apply(Batch(deletes=((f"d{i}", None),)))
        assert store.view().n_children == 2 * (29 - i)
        assert len(store.view().lexical({"共": 1.0}, 100)) == 29 - i
    store.close()  # waits for a rebuild under way
    assert len(hits) == 30
    assert store._follower._index is None  # type: ignore[attr-defined]


def test_rebuilding_keeps_slots_few(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    from gyr_hybrid.storage import following

    monkeypatch.setattr(following, "_FEW_DEAD", 10)
    store = open_store(None)
    for n in range(100):
        store.apply(Batch(upserts=(record("a", [[f"第 {n} 次。"]]),)))
        assert store.view()._snapshot.n_slots <= 13  # type: ignore[attr-defined]
    store.close()
