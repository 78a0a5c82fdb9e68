"""The commands that look after an index."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from gyr_hybrid.cli.app import JsonOption, StorageOption, app
from gyr_hybrid.cli.opening import open_existing
from gyr_hybrid.cli.printing import err, out, plain, print_json, reported


@app.command()
def stats(storage: StorageOption = None, as_json: JsonOption = False) -> None:
    """Counts, sizes and models of an index. 索引的数量、大小与模型。"""

    def work() -> None:
        with open_existing(storage) as index:
            figures = index.stats()
        if as_json:
            print_json(figures)
            return
        table = Table("figure", "value")
        for name, value in figures.items():
            table.add_row(name, Text(str(value)))
        out.print(table)

    reported(work)


@app.command()
def check(
    storage: StorageOption = None,
    repair: Annotated[bool, typer.Option(help="Rebuild what is derived 重建派生数据")] = True,
    as_json: JsonOption = False,
) -> None:
    """Verify an index against itself. 校验索引。"""

    def work() -> None:
        with open_existing(storage) as index:
            report = index.check(repair=repair)
        if as_json:
            print_json({"ok": report.ok, **asdict(report)})
        else:
            for name, count in report.counts.items():
                out.print(f"{name} {count}")
            for line in report.repaired:
                out.print(Text(f"repaired: {line}", style="yellow"))
            for line in report.problems:
                out.print(Text(f"problem: {line}", style="red"))
            out.print("ok" if report.ok else "not ok")
        if not report.ok:
            raise typer.Exit(1)

    reported(work)


@app.command()
def delete(
    ids: Annotated[list[str], typer.Argument(help="Document ids, kb-002 or kb-002@2 文档编号")],
    storage: StorageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove documents. 删除文档。"""

    def work() -> None:
        with open_existing(storage) as index:
            stored = {
                name
                for info in index._store.documents()
                for name in (info.doc_id, f"{info.doc_id}@{info.version}")
            }
            count = index.delete(ids)
        if as_json:
            print_json({"deleted": count})
        else:
            out.print(f"deleted {count}")
        for name in ids:
            if name not in stored:
                err.print(Text(f"not in the index 索引里没有: {plain(name)}", style="yellow"))
        if not count:
            raise typer.Exit(1)

    reported(work)


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The new file 备份写到哪个文件")],
    storage: StorageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy an index to one file, also while it is in use. 把索引备份成一个文件，使用中也可以。

    To put it back, place it in an empty folder as knowledge.sqlite3. 恢复时放进空文件夹并命名为 knowledge.sqlite3。
    """

    def work() -> None:
        with open_existing(storage) as index:
            index.backup(file)
        size = file.stat().st_size
        if as_json:
            print_json({"file": str(file), "bytes": size})
        else:
            out.print(Text(f"written {file}  {size / 1e6:.1f} MB"))

    reported(work)


@app.command()
def compact(storage: StorageOption = None, as_json: JsonOption = False) -> None:
    """Give back the space of deleted documents and unused vectors. 回收已删除文档和无用向量占用的空间。"""

    def work() -> None:
        with open_existing(storage) as index:
            before = index.stats()["bytes"]
            index.compact()
            after = index.stats()["bytes"]
        if as_json:
            print_json({"bytes_before": before, "bytes_after": after})
        else:
            out.print(f"{before / 1e6:.1f} MB, now {after / 1e6:.1f} MB")

    reported(work)
