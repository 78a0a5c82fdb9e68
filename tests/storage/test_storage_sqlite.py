"""The SQLite file: opening, formats, wrong use, full disks."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gyr_hybrid.errors import StorageError
from gyr_hybrid.storage import Batch, DocumentRecord, embed_hash, open_store, schema
from gyr_hybrid.storage.schema import FILE_NAME, FORMAT
from gyr_hybrid.storage.sqlite import SQLiteStore

Record = Callable[..., DocumentRecord]


@pytest.fixture
def folder(tmp_path: Path, record: Record) -> Path:
    """An index of one document, closed."""
    with_one = open_store(tmp_path / "index")
    with_one.apply(Batch(upserts=(record("a"),)))
    with_one.close()
    return tmp_path / "index"


def test_reopening_shows_the_same(folder: Path, vector_of: Callable[..., np.ndarray], record: Record) -> None:
    store = open_store(folder)
    view = store.view()
    hits = view.lexical({"苹果": 1.0}, 5), view.dense(vector_of("x"), 5)
    assert view.nodes(["a#1.1"])["a#1.1"] == record("a").nodes[1]
    store.close()
    again = open_store(folder)
    assert (again.view().lexical({"苹果": 1.0}, 5), again.view().dense(vector_of("x"), 5)) == hits
    again.close()


def test_one_file_holds_everything_after_closing(folder: Path, tmp_path: Path) -> None:
    assert [path.name for path in folder.iterdir()] == [FILE_NAME]
    (tmp_path / "copy").mkdir()
    shutil.copy(folder / FILE_NAME, tmp_path / "copy")
    copy = open_store(tmp_path / "copy")
    assert copy.view().n_children == 2
    copy.close()


def test_other_files_in_the_folder_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / ".gitkeep").touch()
    (tmp_path / "synonyms.txt").write_text("a b")
    open_store(tmp_path).close()


@pytest.mark.parametrize("location", ["file.txt", "file.txt/inside"])
def test_a_path_that_is_a_file_is_refused(tmp_path: Path, location: str) -> None:
    (tmp_path / "file.txt").write_text("text")
    with pytest.raises(StorageError, match=r"file\.txt"):
        open_store(tmp_path / location)
    assert (tmp_path / "file.txt").read_text() == "text"


@pytest.mark.parametrize("location", ["", " ", "postgresql://127.0.0.1/kb", "file:///tmp/x"])
def test_what_is_no_path_is_refused_and_nothing_is_made(location: str) -> None:
    with pytest.raises(StorageError, match="no folder"):
        open_store(location)
    assert list(Path.cwd().iterdir()) == []


def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("私 this is no database " * 100)
    for read_only in (False, True):
        with pytest.raises(StorageError, match="no SQLite database"):
            open_store(tmp_path, read_only=read_only)
    assert (tmp_path / FILE_NAME).read_text().startswith("私 this")


def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / FILE_NAME)
    other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(StorageError, match="another program"):
        open_store(tmp_path)


def test_a_newer_format_is_refused(folder: Path) -> None:
    raw = sqlite3.connect(folder / FILE_NAME)
    raw.execute(f"PRAGMA user_version = {FORMAT + 1}")
    raw.close()
    for read_only in (False, True):
        with pytest.raises(StorageError, match=rf"format {FORMAT + 1}.*newer.*upgrade"):
            open_store(folder, read_only=read_only)


def test_an_older_format_is_brought_forward_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def add_column(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE documents ADD COLUMN colour TEXT")

    monkeypatch.setattr(schema, "FORMAT", FORMAT + 1)
    monkeypatch.setitem(schema.MIGRATIONS, FORMAT, add_column)
    with pytest.raises(StorageError, match="without read_only=True"):
        open_store(folder, read_only=True)
    for _ in range(2):
        store = open_store(folder)
        assert store.view().n_children == 2
        store.close()
    raw = sqlite3.connect(folder / FILE_NAME)
    assert raw.execute("PRAGMA user_version").fetchone() == (FORMAT + 1,)
    assert raw.execute("SELECT colour FROM documents").fetchall() == [(None,)]
    raw.close()


def test_a_migration_that_fails_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM documents")
        raise sqlite3.OperationalError("broken")

    with monkeypatch.context() as patched:
        patched.setattr(schema, "FORMAT", FORMAT + 1)
        patched.setitem(schema.MIGRATIONS, FORMAT, fail)
        with pytest.raises(StorageError, match="broken"):
            open_store(folder)
    store = open_store(folder)
    assert store.view().n_children == 2
    store.close()


def test_read_only_refuses_to_write_and_to_create(folder: Path, tmp_path: Path, record: Record) -> None:
    with pytest.raises(StorageError, match="holds no index"):
        open_store(tmp_path / "nothing", read_only=True)
    assert not (tmp_path / "nothing").exists()
    store = open_store(folder, read_only=True)
    assert store.view().n_children == 2
    for write in (
        lambda: store.apply(Batch(upserts=(record("b"),))),
        lambda: store.cache_vectors({embed_hash("x"): np.ones(16, dtype=np.float32)}),
        lambda: store.meta.update(a=1),
        store.compact,
    ):
        with pytest.raises(StorageError, match="read_only=True"):
            write()
    assert store.check().ok
    store.close()


def test_a_read_only_store_sees_new_commits(folder: Path, record: Record) -> None:
    reader = open_store(folder, read_only=True)
    assert reader.view().n_children == 2
    writer = open_store(folder)
    writer.apply(Batch(upserts=(record("b"),)))
    assert reader.view().n_children == 4
    writer.close()
    assert reader.view().n_children == 4
    reader.close()


_AS_NOBODY = """
import os, sys
import numpy.ma  # loaded late by numpy.unique, when the environment may not be readable any more
import gyr_hybrid.storage.sqlite, gyr_hybrid.storage.code_map
from gyr_hybrid.errors import StorageError
from gyr_hybrid.storage import Batch, open_store
if os.getuid() == 0:  # whom no permission stops
    os.setgid(65534); os.setuid(65534)
store = open_store(sys.argv[1], read_only=True)
print(store.view().n_children, len(store.view().nodes(["a#1.1"])))
try:
    open_store(sys.argv[1])
except StorageError as error:
    print("refused", "read_only=True" in str(error) or "permissions" in str(error))
try:
    open_store(sys.argv[1] + "/new")
except StorageError as error:
    print("refused", "choose another" in str(error))
"""


@pytest.mark.skipif(
    sys.platform == "win32", reason="POSIX permissions: Windows lets the owner write all the same"
)
def test_a_folder_that_cannot_be_written_can_be_read(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as open_to_all:
        Path(open_to_all).chmod(0o755)
        index = Path(open_to_all) / "index"
        shutil.copytree(folder, index)
        for file in index.iterdir():
            file.chmod(0o444)
        index.chmod(0o555)
        command = [sys.executable, "-c", _AS_NOBODY, str(index)]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
        finally:
            index.chmod(0o755)
    assert ran.stdout.split("\n")[:3] == ["2 1", "refused True", "refused True"], ran.stderr


def test_a_full_disk_loses_nothing(tmp_path: Path, record: Record) -> None:
    store = SQLiteStore.open(tmp_path)
    store.apply(Batch(upserts=(record("a"),)))
    (pages,) = store._connections._writer.execute("PRAGMA page_count").fetchone()
    store._connections._writer.execute(f"PRAGMA max_page_count = {pages + 2}")
    big = record("big", [["字" * 9000 + "。" for _ in range(20)]])
    for full in (
        lambda: store.apply(Batch(upserts=(big,), deletes=(("a", None),))),
        lambda: store.cache_vectors({embed_hash(str(i)): np.ones(16, dtype=np.float32) for i in range(3000)}),
    ):
        with pytest.raises(StorageError, match=r"full.*nothing was changed"):
            full()
    assert store.view().n_children == 2
    assert store.check().ok
    store._connections._writer.execute("PRAGMA max_page_count = 1000000")
    store.apply(Batch(upserts=(big,)))
    assert store.view().n_children == 22
    store.close()


def test_a_second_writer_waits_and_then_says_so(folder: Path, record: Record) -> None:
    patient, hasty = open_store(folder, write_timeout=20), open_store(folder, write_timeout=0.05)
    other = sqlite3.connect(folder / FILE_NAME, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="another process is writing"):
        hasty.apply(Batch(upserts=(record("b"),)))
    assert hasty.view().n_children == 2
    release = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    release.start()
    patient.apply(Batch(upserts=(record("b"),)))
    release.join()
    assert hasty.view().n_children == 4
    for opened in (patient, hasty, other):
        opened.close()


def test_two_stores_in_one_process_see_each_other(folder: Path, record: Record) -> None:
    one, two = open_store(folder), open_store(folder)
    for n in range(3):
        one.apply(Batch(upserts=(record(f"x{n}", [[f"词{n} 新 词。"]]),)))
        assert two.view().n_children == 3 + 2 * n
        two.apply(Batch(upserts=(record(f"y{n}", [[f"字{n} 新 词。"]]),)))
        assert one.view().n_children == 4 + 2 * n
    two.apply(Batch(deletes=(("x0", None),)))
    assert one.view().lexical({"词0": 1.0}, 5) == []
    assert [hit.node_id for hit in one.view().lexical({"字2": 1.0}, 5)] == ["y2#1.1"]
    two.compact()
    two.apply(Batch(upserts=(record("z"),)))
    assert one.view().n_children == two.view().n_children == 9
    one.close()
    two.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork, so no store can come by one")
def test_a_store_that_came_by_fork_says_so(folder: Path) -> None:
    code = (
        "import os, sys\n"
        "from gyr_hybrid.storage import open_store\n"
        "store = open_store(sys.argv[1]); store.view()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    try: store.view()\n"
        "    except OSError as error: os._exit(7 if 'after the fork' in str(error) else 1)\n"
        "    os._exit(2)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(folder)], timeout=120).returncode == 7


def test_opening_loads_no_dictionary(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from gyr_hybrid.storage import open_store\n"
        "open_store(sys.argv[1]).view()\n"
        "sys.exit(any(name in sys.modules for name in ('jieba', 'rjieba', 'bm25s', 'openai')))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=120).returncode == 0
