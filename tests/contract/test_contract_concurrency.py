"""Threads and processes on one index."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import MockEmbedding

from gyr_hybrid import GyrError, HybridIndex

READER = """
import sys
from pathlib import Path
from llama_index.core import MockEmbedding
from gyr_hybrid import HybridIndex

place, stop = sys.argv[1], Path(sys.argv[2])
index = HybridIndex.open(place, read_only=sys.argv[3] == "ro", embed_model=MockEmbedding(embed_dim=4))
retriever = index.as_retriever(mode="lexical", top_k=50)
print("ready", flush=True)
seen, rounds = set(), 0
while True:
    last = stop.exists()
    rows = retriever.retrieve("共同的词")
    ids = [row.node.node_id for row in rows]
    assert len(ids) == len(set(ids))
    for row in rows:  # whole documents only: title, text and code are of one version
        version = row.node.text.split("第")[1].split("版")[0]
        assert row.node.metadata["title"] == f"标题{version}", row.node
        if row.node.metadata["doc_id"] in ("d2", "d3", "d4"):  # never deleted
            assert index.document(row.node.metadata["doc_id"]).text
        seen.add(int(version))
    rounds += 1
    if last:
        break
print(rounds, max(seen), *ids, flush=True)
"""


def page(doc: Any, name: str, version: int) -> Any:
    return doc(name, f"# 标题{version}\n\n共同的词，第{version}版，代码 E{7000 + version}。")


def in_threads(count: int, work: Callable[[int], None]) -> None:
    """Run ``work(i)`` in that many threads at once; the first failure is raised here."""
    failures: list[BaseException] = []
    start = threading.Barrier(count)

    def one(i: int) -> None:
        start.wait()
        try:
            work(i)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if failures:
        raise failures[0]


@pytest.mark.parametrize("place", ["memory", "folder"])
def test_eight_threads_write_read_and_delete_one_index(
    tmp_path: Path, place: str, embedding: Any, doc: Any
) -> None:
    location = tmp_path / "x" if place == "folder" else None
    with HybridIndex.from_documents([page(doc, "shared", 0)], location, embed_model=embedding) as index:
        retriever, engine = index.as_retriever(top_k=50), index.as_query_engine()

        def work(i: int) -> None:
            mine = f"d{i}"
            for version in range(1, 5):
                index.upsert([page(doc, mine, version)])
                found = {row.node.node_id: row.node.text for row in retriever.retrieve("共同的词")}
                assert f"第{version}版" in found[f"{mine}#1"]
                assert "shared#1" in found
                answer = engine.query(f"E{7000 + version} 是什么")
                assert not answer.refused
            if i % 2:
                assert index.delete(mine) == 1
                assert mine + "#1" not in {row.node.node_id for row in retriever.retrieve("共同的词")}

        in_threads(8, work)
        assert {row.node.node_id for row in retriever.retrieve("共同的词")} == {
            "shared#1",
            "d0#1",
            "d2#1",
            "d4#1",
            "d6#1",
        }
        assert index.stats()["documents"] == 5
        assert index.check().ok


def test_threads_asking_one_retriever_get_their_own_answers(index_of: Any, doc: Any) -> None:
    index = index_of(
        *(
            doc(f"d{i}", f"# 标题{i}\n\n词语{chr(0x4E00 + i)}{chr(0x5E00 + i)}说明，错误码 E{7000 + i}。")
            for i in range(8)
        )
    )
    retriever, engine = index.as_retriever(), index.as_query_engine()

    def work(i: int) -> None:
        for _ in range(5):
            assert retriever.retrieve(f"错误码 E{7000 + i}")[0].node.node_id == f"d{i}#1"
            assert retriever.warnings == []
            answer = engine.query(f"错误码 E{7000 + i} 的说明")
            assert {c.doc_id for c in answer.citations} == {f"d{i}"}

    in_threads(8, work)


def test_warnings_of_one_thread_are_not_those_of_another(index_of: Any, doc: Any, embedding: Any) -> None:
    index = index_of(doc("d", "# 标题\n\n说明。"))
    retriever = index.as_retriever()
    embedding.fail_after(0)
    retriever.retrieve("标题说明")
    assert retriever.warnings

    def work(_: int) -> None:
        assert retriever.warnings == []

    in_threads(2, work)


def test_other_processes_read_while_one_writes(tmp_path: Path, doc: Any) -> None:
    place, stop = tmp_path / "x", tmp_path / "stop"
    with HybridIndex.open(place, embed_model=MockEmbedding(embed_dim=4)) as index:
        index.upsert([page(doc, f"d{i}", 0) for i in range(6)])
        readers = [
            subprocess.Popen(
                [sys.executable, "-c", READER, str(place), str(stop), mode],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for mode in ("ro", "rw")
        ]
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "ready\n"
        for version in range(1, 16):
            index.upsert([page(doc, f"d{i}", version) for i in range(5)])
            index.delete("d5")
            index.upsert([page(doc, "d5", version)])
            time.sleep(0.01)
        index.delete(["d0", "d1"])
        stop.touch()
        for reader in readers:
            out, problems = reader.communicate(timeout=60)
            assert reader.returncode == 0, problems
            rounds, newest, *last = out.split()
            assert int(rounds) > 1
            assert int(newest) == 15
            assert sorted(last) == ["d2#1", "d3#1", "d4#1", "d5#1"]


def test_two_indexes_in_one_process_follow_each_other(
    tmp_path: Path, new_embedding: Any, doc: Any, ids: Any
) -> None:
    with (
        HybridIndex.open(tmp_path, embed_model=new_embedding()) as one,
        HybridIndex.open(tmp_path, embed_model=new_embedding()) as other,
    ):
        retrievers = [one.as_retriever(), other.as_retriever()]
        for round_ in range(6):
            writer = (one, other)[round_ % 2]
            writer.upsert([page(doc, "d", round_)])
            for retriever in retrievers:
                (row,) = retriever.retrieve("共同的词")
                assert f"第{round_}版" in row.node.text
                assert ids(retriever.retrieve(f"E{7000 + round_}")) == ["d#1"]
        assert other.delete("d") == 1
        assert [r.retrieve("共同的词") for r in retrievers] == [[], []]
        with pytest.raises(GyrError):
            one.document("d")
        assert one.upsert([page(doc, "d", 9)]).added == ["d"]
        assert len(retrievers[1].retrieve("共同的词")) == 1
