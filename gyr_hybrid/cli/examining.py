"""The commands that look closer: codes that were recognised, how a file is cut, how well retrieval does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.table import Table
from rich.text import Text

from gyr_hybrid.cli.app import JsonOption, OfflineOption, StorageOption, app
from gyr_hybrid.cli.opening import DEFAULT_STORAGE, open_existing, open_or_demo
from gyr_hybrid.cli.printing import (
    err,
    out,
    print_inspection,
    print_json,
    reported,
)
from gyr_hybrid.errors import ConfigurationError


@app.command()
def codes(
    file: Annotated[
        Path | None, typer.Argument(help="Recognise codes in this file instead 改为识别该文件里的编码")
    ] = None,
    storage: StorageOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the codes that were recognised, and where they stand. 列出识别到的编码及其出处。"""

    def work() -> None:
        if file is not None:
            from gyr_hybrid.analysis import Analyzer
            from gyr_hybrid.parsing import load_documents

            folder = Path(storage or DEFAULT_STORAGE)
            analyzer = Analyzer.from_folder(folder) if folder.is_dir() else Analyzer()
            loaded = load_documents(str(file))
            for name, reason in loaded.failed.items():
                raise ConfigurationError(f"cannot read {name}: {reason}")
            found = [code for document in loaded for code in analyzer.codes(document.text)]
        else:
            index, _ = open_or_demo(storage, offline=True)
            with index:
                found = index.codes()
        if as_json:
            keys = ("text", "canonical", "compact", "kind", "number", "start", "end", "sections")
            print_json([{k: getattr(code, k) for k in keys} for code in found])
            return
        table = Table("code", "canonical", "kind", "where")
        for code in found:
            where = " ".join(code.sections[:6]) + (" …" if len(code.sections) > 6 else "")
            table.add_row(
                Text(code.text), Text(code.canonical), code.kind, Text(where or f"{code.start}-{code.end}")
            )
        out.print(table)

    reported(work)


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="File or folder 文件或文件夹")],
    page: Annotated[
        Path | None,
        typer.Option("--html", help="Write one HTML page with the cuts coloured 输出带切分着色的网页"),
    ] = None,
    storage: StorageOption = None,
    strategy: Annotated[
        str,
        typer.Option(
            help="mixture, fixed, recursive, semantic, structure, parent_child", show_default="mixture"
        ),
    ] = "mixture",
    as_json: JsonOption = False,
) -> None:
    """Show how a file is cut into sections and children; stores nothing. 查看文件如何切分。"""

    def work() -> None:
        from gyr_hybrid.analysis import Analyzer
        from gyr_hybrid.inspection import inspect_file, to_html
        from gyr_hybrid.models.endpoints import embedding_model
        from gyr_hybrid.parsing import SectionNodeParser
        from gyr_hybrid.settings import Settings

        folder = Path(storage or DEFAULT_STORAGE)
        analyzer = Analyzer.from_folder(folder) if folder.is_dir() else Analyzer()
        model = embedding_model(Settings.load()) if strategy == "semantic" else None
        parser = SectionNodeParser(strategy=cast("Any", strategy), analyzer=analyzer, embed_model=model)
        found = inspect_file(file, node_parser=parser)
        if page is not None:
            page.write_text(to_html(found), encoding="utf-8")
            err.print(Text(f"written {page}", style="dim"))
        if as_json:
            print_json([one.to_dict() for one in found])
        elif page is None:
            for one in found:
                print_inspection(one)

    reported(work)


@app.command(name="eval")
def eval_(
    dataset: Annotated[Path | None, typer.Argument(help="Folder of a data set 数据集文件夹")] = None,
    storage: StorageOption = None,
    from_index: Annotated[
        bool,
        typer.Option(
            "--from-index",
            help="Make questions from the index's headings and codes 用索引自身的标题和编码出题",
        ),
    ] = False,
    write: Annotated[
        Path | None, typer.Option(help="Folder for the data set of --from-index 数据集写到哪里")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Most questions 最多多少题")] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="Only questions with label=value 只测带此标签的题")
    ] = None,
    by: Annotated[str | None, typer.Option(help="Figures by this label, e.g. kind 按标签分组")] = None,
    k: Annotated[int, typer.Option("-k", help="Cut-off of hit@k and recall@k")] = 5,
    seed: Annotated[int, typer.Option(help="Of the bootstrap and of --from-index 随机种子")] = 0,
    diff: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="List questions on which two rows differ 逐题比较两行"),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a Markdown report 写 Markdown 报告")
    ] = None,
    png: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture 写图")] = None,
    cache: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where indexes of data sets are kept 缓存目录")
    ] = None,
    words: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder of word lists, else the data set's own 词表目录，默认用数据集自己的"
        ),
    ] = None,
    timed: Annotated[bool, typer.Option("--time/--no-time", help="Report times 报告耗时")] = True,
    offline: OfflineOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure every leg and step on a data set, or on questions made from the index. 评测检索与拒答。"""

    def work() -> None:
        from gyr_hybrid.evaluation import command, rendering

        common: dict[str, Any] = {
            "limit": limit,
            "k": k,
            "seed": seed,
            "offline": offline or None,
            "timed": timed,
        }
        common["show_progress"] = sys.stderr.isatty()
        if from_index == (dataset is not None):
            raise ConfigurationError(
                "give the folder of a data set, or --from-index for questions made from an index"
            )
        if dataset is None:
            if words is not None:
                raise ConfigurationError("--words is for a data set; an index has its own word lists")
            open_existing(storage).close()
            report = command.evaluate_index(storage or DEFAULT_STORAGE, save=write, **common)
        else:
            if storage is not None:
                open_existing(storage).close()
            report = command.evaluate_folder(
                dataset, storage=storage, words=words, cache=cache, where=where or (), by=by, **common
            )
        wins = report.diff(*diff) if diff else []
        if markdown is not None:
            markdown.write_text(rendering.to_markdown(report), encoding="utf-8")
        if png is not None:
            rendering.save_chart(report, png)
        if as_json:
            sys.stdout.write(rendering.to_json(report, wins if diff else None))
            return
        out.print(rendering.to_rich(report))
        if diff:
            out.print(rendering.wins_table(wins, *diff))

    reported(work)
