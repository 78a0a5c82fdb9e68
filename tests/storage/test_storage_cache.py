"""The file of sorted postings: used when it fits, never trusted when it does not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gyr_hybrid.storage import Batch, DocumentRecord, KnowledgeStore, cache, following, open_store
from gyr_hybrid.storage.postings import Segment
from gyr_hybrid.storage.schema import FILE_NAME

Record = Callable[..., DocumentRecord]


@pytest.fixture(autouse=True)
def _keep_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_SORTED_AGAIN", 1)


@pytest.fixture
def sorted_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many postings were sorted, per time."""
    counts: list[int] = []
    build = Segment.build.__func__  # type: ignore[attr-defined]

    def counting(cls: type[Segment], keys: np.ndarray, *rest: np.ndarray) -> Segment:
        counts.append(len(keys))
        return build(cls, keys, *rest)  # type: ignore[no-any-return]

    monkeypatch.setattr(Segment, "build", classmethod(counting))
    return counts


def fill(folder: Path, record: Record, numbers: range, text: str = "篇 第 {}。") -> None:
    store = open_store(folder)
    store.apply(Batch(upserts=tuple(record(f"d{i:02}", [[text.format(i), "共 有。"]]) for i in numbers)))
    store.close()


def answers(store: KnowledgeStore) -> list[tuple[str, float]]:
    hits = store.view().lexical({"篇": 1.0, "7": 1.0, "共": 0.5, "新": 1.0}, 100)
    return [(hit.node_id, round(hit.score, 5)) for hit in hits]


def look(folder: Path) -> list[tuple[str, float]]:
    store = open_store(folder)
    found = answers(store)
    store.close()
    return found


def test_opening_again_sorts_nothing(tmp_path: Path, record: Record, sorted_rows: list[int]) -> None:
    fill(tmp_path, record, range(20))
    first = look(tmp_path)
    assert (tmp_path / cache.FILE_NAME).exists()
    sorted_rows.clear()
    assert look(tmp_path) == first
    assert sum(sorted_rows) == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
        lambda data: data.replace(b"postings 1", b"postings 2"),
        lambda data: b"\x00" * len(data),
        lambda data: data.replace(b'"crc"', b'"xyz"'),
        lambda data: data.replace(b'"slots": ', b'"slots": 9'),
    ],
)
def test_a_damaged_file_is_made_again(
    tmp_path: Path, record: Record, sorted_rows: list[int], damage: Callable[[bytes], bytes]
) -> None:
    fill(tmp_path, record, range(20))
    expected = look(tmp_path)
    file = tmp_path / cache.FILE_NAME
    sound = file.read_bytes()
    file.write_bytes(damage(sound))
    sorted_rows.clear()
    assert look(tmp_path) == expected
    assert sum(sorted_rows) > 0
    assert file.read_bytes() == sound


def test_a_stale_file_serves_for_what_has_not_changed(
    tmp_path: Path, record: Record, sorted_rows: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, record, range(40))
    look(tmp_path)
    stale = (tmp_path / cache.FILE_NAME).read_bytes()
    fill(tmp_path, record, range(38, 44), "新 篇 {}。")
    store = open_store(tmp_path)
    store.apply(Batch(deletes=(("d07", None), ("d20", None))))
    store.close()
    (tmp_path / cache.FILE_NAME).unlink()
    expected = look(tmp_path)
    (tmp_path / cache.FILE_NAME).write_bytes(stale)
    sorted_rows.clear()
    assert look(tmp_path) == expected
    assert sum(sorted_rows[:1]) == 6 * 5


def test_a_file_of_another_index_is_not_believed(tmp_path: Path, record: Record) -> None:
    fill(tmp_path / "a", record, range(10))
    fill(tmp_path / "b", record, range(10), "新 {}。")
    expected = look(tmp_path / "b")
    look(tmp_path / "a")
    shutil.copy(tmp_path / "a" / cache.FILE_NAME, tmp_path / "b" / cache.FILE_NAME)
    assert look(tmp_path / "b") == expected


def test_a_file_from_before_a_backup_was_put_back_is_not_believed(tmp_path: Path, record: Record) -> None:
    folder = tmp_path / "index"
    fill(folder, record, range(5))
    saved = (folder / FILE_NAME).read_bytes()
    fill(folder, record, range(5, 15))
    look(folder)
    (folder / FILE_NAME).write_bytes(saved)
    fill(folder, record, range(5, 15), "新 {}。")
    found = look(folder)
    (folder / cache.FILE_NAME).unlink()
    assert found == look(folder)
    assert any(node_id.startswith("d07") for node_id, _ in found)


def test_a_read_only_store_writes_no_file(tmp_path: Path, record: Record, sorted_rows: list[int]) -> None:
    fill(tmp_path, record, range(20))
    reader = open_store(tmp_path, read_only=True)
    expected = answers(reader)
    reader.close()
    assert not (tmp_path / cache.FILE_NAME).exists()
    look(tmp_path)
    sorted_rows.clear()
    reader = open_store(tmp_path, read_only=True)
    assert answers(reader) == expected
    reader.close()
    assert sum(sorted_rows) == 0


def test_small_indexes_need_no_file(tmp_path: Path, record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    fill(tmp_path, record, range(20))
    look(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
