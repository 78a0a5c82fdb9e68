"""Several processes on one index, and processes that die."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gyr_hybrid.storage import Batch, DocumentRecord, open_store

Record = Callable[..., DocumentRecord]

_OTHER_PROCESS = """
import sys
from llama_index.core.schema import Document, TextNode
from gyr_hybrid.storage import Batch, DocumentRecord, open_store
store = open_store(sys.argv[1])
def put(doc_id, text):
    node = TextNode(id_=doc_id + "#1", text=text)
    store.apply(Batch(upserts=(DocumentRecord(Document(id_=doc_id, text=text), (node,), {node.node_id: text.split()}),)))
for line in sys.stdin:
    command, *rest = line.strip().split("|")
    if command == "put":
        put(rest[0], rest[1].strip())
    elif command == "delete":
        store.apply(Batch(deletes=((rest[0].strip(), None),)))
    elif command == "compact":
        store.compact()
    elif command == "many":
        for i in range(40):
            put(f"other{i % 5}", f"他 写 {i}")
    print(store.view().generation, store.view().n_children, flush=True)
"""


def test_two_processes_read_and_write_one_index(tmp_path: Path, record: Record) -> None:
    mine = open_store(tmp_path)
    mine.apply(Batch(upserts=(record("mine", [["我 的 话。"]]),)))
    other = subprocess.Popen(
        [sys.executable, "-c", _OTHER_PROCESS, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdin is not None
    assert other.stdout is not None

    def tell(command: str) -> list[int]:
        other.stdin.write(command + "\n")
        other.stdin.flush()
        return [int(n) for n in other.stdout.readline().split()]

    def found(word: str) -> list[str]:
        return [hit.node_id for hit in mine.view().lexical({word: 1.0}, 50)]

    try:
        assert tell("put|theirs|他 的 话") == [2, 2]
        assert found("他") == ["theirs#1"]
        assert found("话") == ["mine#1.1", "theirs#1"]
        assert mine.view().nodes(["theirs#1"])["theirs#1"].text == "他 的 话"
        mine.apply(Batch(upserts=(record("mine", [["我 改 的 话。"]]),)))
        held = mine.view()
        assert tell("put|theirs|他 改") == [4, 2]
        assert held.nodes(["theirs#1"])["theirs#1"].text == "他 的 话"
        assert found("话") == ["mine#1.1"]
        assert tell("delete|mine") == [5, 1]
        assert found("我") == []
        assert tell("compact")[1] == 1
        assert found("改") == ["theirs#1"]
        other.stdin.write("many\n")
        other.stdin.flush()
        for i in range(40):
            mine.apply(Batch(upserts=(record(f"mine{i % 5}", [[f"我 写 {i}。"]]),)))
        assert [int(n) for n in other.stdout.readline().split()][1] > 5
        view = mine.view()
        assert view.n_children == 11
        assert len(view.lexical({"写": 1.0}, 50)) == 10
        assert mine.check().ok
    finally:
        other.stdin.close()
        other.wait(timeout=60)
        other.stdout.close()
        mine.close()


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no SIGKILL, the signal that the test is about"
)
def test_a_killed_writer_loses_nothing_and_leaves_nothing_half(request: pytest.FixtureRequest) -> None:
    script = Path(__file__).with_name("crash_rounds.py")
    ran = subprocess.run(
        [sys.executable, str(script), "--rounds", "20"], capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "lost 0, partial 0, problems 0" in ran.stdout
