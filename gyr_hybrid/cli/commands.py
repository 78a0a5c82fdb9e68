"""The commands that index, ask and show: the library's calls with a face."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer
from rich.text import Text

from gyr_hybrid.cli.app import JsonOption, OfflineOption, StorageOption, app
from gyr_hybrid.cli.opening import DEFAULT_STORAGE, open_or_demo
from gyr_hybrid.cli.printing import (
    answer_dict,
    err,
    heading_path,
    node_dict,
    out,
    plain,
    print_answer,
    print_json,
    reported,
    shorten,
)

if TYPE_CHECKING:
    from gyr_hybrid.answering import CitedResponse


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question 问题")],
    storage: StorageOption = None,
    top_k: Annotated[int, typer.Option(help="Sections to read 读取的章节数")] = 5,
    as_of: Annotated[str | None, typer.Option(help="Day of validity, YYYY-MM-DD 以哪一天为准")] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose documents 租户")] = None,
    offline: OfflineOption = False,
    as_json: JsonOption = False,
) -> None:
    """Answer a question; every sentence carries a checked citation. 回答问题，每句都有核对过的出处。"""

    def work() -> None:
        index, name = open_or_demo(storage, offline=offline)
        with index:
            engine = index.as_query_engine(top_k=top_k, as_of=as_of, tenant=tenant)
            answer = cast("CitedResponse", engine.query(question))
            if as_json:
                print_json(answer_dict(answer))
            else:
                print_answer(answer, index, name)

    reported(work)


@app.command(name="index")
def index_(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders 文件或文件夹")],
    storage: StorageOption = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents whose files are gone 移除已不存在的文档")
    ] = False,
    offline: OfflineOption = False,
    as_json: JsonOption = False,
) -> None:
    """Read documents into the index; only what changed is embedded. 建立或更新索引，只处理变化的部分。"""

    def work() -> None:
        from gyr_hybrid.index import HybridIndex
        from gyr_hybrid.parsing import load_documents

        bars = not as_json and sys.stderr.isatty()
        documents = load_documents([str(p) for p in paths], show_progress=bars)
        with HybridIndex.open(storage or DEFAULT_STORAGE, offline=offline or None) as index:
            if index.stale_analysis is not None:
                err.print(
                    Text(f"{index.stale_analysis}: analysing them again 重新分析已有文档", style="yellow")
                )
                index.reanalyze(show_progress=bars)
            report = index.upsert(documents, prune=prune, show_progress=bars)
            notices = index.warnings
        fields = ("added", "updated", "unchanged", "deleted")
        nothing_stored = bool(report.failed) and not (report.added or report.updated or report.unchanged)
        if as_json:
            print_json(
                {
                    **{f: getattr(report, f) for f in fields},
                    "failed": report.failed,
                    "nodes_embedded": report.nodes_embedded,
                    "identical": report.identical,
                    "replaced": report.replaced,
                    "warnings": notices,
                }
            )
            if nothing_stored:
                raise typer.Exit(1)
            return
        out.print(
            "  ".join(f"{f} {len(getattr(report, f))}" for f in fields), f" embedded {report.nodes_embedded}"
        )
        for name, reason in report.failed.items():
            err.print(Text(f"failed {plain(name)}: {plain(reason)}", style="red"))
        for names in report.identical:
            err.print(Text(f"identical 内容相同: {plain(' = '.join(names))}", style="yellow"))
        for doc_id, file in report.replaced.items():
            err.print(
                Text(
                    f"warning: {plain(doc_id)} came from {plain(file)} before and was replaced; to keep both, give "
                    "each an id in its front matter 同名文件已替换，要保留两篇请在 front matter 里各写一个 id",
                    style="yellow",
                )
            )
        for notice in notices:
            err.print(Text(f"warning: {notice}", style="yellow"))
        if nothing_stored:
            raise typer.Exit(1)

    reported(work)


@app.command()
def search(
    question: Annotated[str, typer.Argument(help="The question 问题")],
    storage: StorageOption = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show every step 展示每一步")] = False,
    mode: Annotated[str, typer.Option(help="hybrid, lexical or dense")] = "hybrid",
    top_k: Annotated[int, typer.Option(help="Sections to show 显示的章节数")] = 5,
    as_of: Annotated[str | None, typer.Option(help="Day of validity, YYYY-MM-DD 以哪一天为准")] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose documents 租户")] = None,
    offline: OfflineOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show the sections that a question finds. 只检索，不回答。"""

    def work() -> None:
        index, _ = open_or_demo(storage, offline=offline)
        with index:
            retriever = index.as_retriever(mode=mode, top_k=top_k, as_of=as_of, tenant=tenant)
            result = retriever.run(question)
        if as_json:
            print_json(result.explanation.to_dict() if explain else [node_dict(n) for n in result.nodes])
            return
        if explain:
            out.print(result.explanation)
        for hit in result.nodes:
            out.print(
                Text(
                    f"{hit.score or 0.0:.3f}  [{hit.node.node_id}]  {heading_path(hit.node.metadata)}",
                    style="bold",
                )
            )
            out.print(Text("       " + shorten(hit.node.get_content())))
        if not result.nodes:
            out.print("nothing found 没有找到")
        for warning in result.warnings:
            err.print(Text(f"warning: {warning}", style="yellow"))

    reported(work)
