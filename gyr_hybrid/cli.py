"""The command line: the library's calls with a face."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from gyr_hybrid.errors import ConfigurationError, GyrError

if TYPE_CHECKING:
    from gyr_hybrid.answering import CitedResponse
    from gyr_hybrid.index import HybridIndex
    from gyr_hybrid.inspection import Inspection
    from gyr_hybrid.parsing import LoadedDocuments
    from gyr_hybrid.retrieval.explanation import Explanation
    from gyr_hybrid.settings import Settings

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Checked, cited answers from your documents. 从你的文档里给出有出处、经过核对的回答。",
)
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

DEFAULT_STORAGE = "storage"
StorageOption = Annotated[
    str | None,
    typer.Option("--storage", help="Folder of the index 索引所在的文件夹", show_default=DEFAULT_STORAGE),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON 输出 JSON")]
OfflineOption = Annotated[bool, typer.Option("--offline", help="Use no endpoint 不访问任何接口")]


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
        index, name = _open_or_demo(storage, offline=offline)
        with index:
            engine = index.as_query_engine(top_k=top_k, as_of=as_of, tenant=tenant)
            answer = cast("CitedResponse", engine.query(question))
            if as_json:
                _print_json(_answer_dict(answer))
            else:
                _print_answer(answer, index, name)

    _run(work)


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

        documents = load_documents([str(p) for p in paths], show_progress=not as_json)
        with HybridIndex.open(storage or DEFAULT_STORAGE, offline=offline or None) as index:
            report = index.upsert(documents, prune=prune, show_progress=not as_json)
            notices = index.warnings
        fields = ("added", "updated", "unchanged", "deleted")
        if as_json:
            _print_json(
                {
                    **{f: getattr(report, f) for f in fields},
                    "failed": report.failed,
                    "nodes_embedded": report.nodes_embedded,
                    "warnings": notices,
                }
            )
            return
        out.print(
            "  ".join(f"{f} {len(getattr(report, f))}" for f in fields), f" embedded {report.nodes_embedded}"
        )
        for name, reason in report.failed.items():
            err.print(Text(f"failed {_plain(name)}: {_plain(reason)}", style="red"))
        for notice in notices:
            err.print(Text(f"warning: {notice}", style="yellow"))

    _run(work)


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
        index, _ = _open_or_demo(storage, offline=offline)
        with index:
            retriever = index.as_retriever(mode=mode, top_k=top_k, as_of=as_of, tenant=tenant)
            result = retriever.run(question)
        if as_json:
            _print_json(_explained(result.explanation) if explain else [_node_dict(n) for n in result.nodes])
            return
        if explain:
            out.print(result.explanation)
        for hit in result.nodes:
            out.print(
                Text(
                    f"{hit.score or 0.0:.3f}  [{hit.node.node_id}]  {_path(hit.node.metadata)}", style="bold"
                )
            )
            out.print(Text("       " + _shorten(hit.node.get_content())))
        if not result.nodes:
            out.print("nothing found 没有找到")
        for warning in result.warnings:
            err.print(Text(f"warning: {warning}", style="yellow"))

    _run(work)


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
            index, _ = _open_or_demo(storage, offline=True)
            with index:
                found = index.codes()
        if as_json:
            keys = ("text", "canonical", "compact", "kind", "number", "start", "end", "sections")
            _print_json([{k: getattr(code, k) for k in keys} for code in found])
            return
        table = Table("code", "canonical", "kind", "where")
        for code in found:
            where = " ".join(code.sections[:6]) + (" …" if len(code.sections) > 6 else "")
            table.add_row(
                Text(code.text), Text(code.canonical), code.kind, Text(where or f"{code.start}-{code.end}")
            )
        out.print(table)

    _run(work)


@app.command()
def stats(storage: StorageOption = None, as_json: JsonOption = False) -> None:
    """Counts, sizes and models of an index. 索引的数量、大小与模型。"""

    def work() -> None:
        with _open_existing(storage) as index:
            figures = index.stats()
        if as_json:
            _print_json(figures)
            return
        table = Table("figure", "value")
        for name, value in figures.items():
            table.add_row(name, Text(str(value)))
        out.print(table)

    _run(work)


@app.command()
def check(
    storage: StorageOption = None,
    repair: Annotated[bool, typer.Option(help="Rebuild what is derived 重建派生数据")] = True,
    as_json: JsonOption = False,
) -> None:
    """Verify an index against itself. 校验索引。"""

    def work() -> None:
        with _open_existing(storage) as index:
            report = index.check(repair=repair)
        if as_json:
            _print_json({"ok": report.ok, **asdict(report)})
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

    _run(work)


@app.command()
def delete(
    ids: Annotated[list[str], typer.Argument(help="Document ids, kb-002 or kb-002@2 文档编号")],
    storage: StorageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove documents. 删除文档。"""

    def work() -> None:
        with _open_existing(storage) as index:
            count = index.delete(ids)
        if as_json:
            _print_json({"deleted": count})
        else:
            out.print(f"deleted {count}")

    _run(work)


@app.command()
def inspect(
    file: Annotated[Path, typer.Argument(help="File or folder 文件或文件夹")],
    page: Annotated[
        Path | None,
        typer.Option("--html", help="Write one HTML page with the cuts coloured 输出带切分着色的网页"),
    ] = None,
    storage: StorageOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how a file is cut into sections and children; stores nothing. 查看文件如何切分。"""

    def work() -> None:
        from gyr_hybrid.analysis import Analyzer
        from gyr_hybrid.inspection import inspect_file, to_html
        from gyr_hybrid.parsing import SectionNodeParser

        folder = Path(storage or DEFAULT_STORAGE)
        analyzer = Analyzer.from_folder(folder) if folder.is_dir() else Analyzer()
        found = inspect_file(file, node_parser=SectionNodeParser(analyzer=analyzer))
        if page is not None:
            page.write_text(to_html(found), encoding="utf-8")
            err.print(Text(f"written {page}", style="dim"))
        if as_json:
            _print_json([one.to_dict() for one in found])
        elif page is None:
            for one in found:
                _print_inspection(one)

    _run(work)


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
        Path | None, typer.Option(help="Folder for the questions of --from-index 题目写到哪里")
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
            _open_existing(storage).close()
            report = command.evaluate_index(storage or DEFAULT_STORAGE, save=write, **common)
        else:
            if storage is not None:
                _open_existing(storage).close()
            report = command.evaluate_folder(
                dataset, storage=storage, cache=cache, where=where or (), by=by, **common
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

    _run(work)


# opening


def _open_existing(storage: str | None) -> HybridIndex:
    """The index named by ``--storage`` or the default one; never a new one by mistake."""
    from gyr_hybrid.index import HybridIndex
    from gyr_hybrid.storage import is_index

    folder = storage or DEFAULT_STORAGE
    if not is_index(folder):
        raise ConfigurationError(
            f"there is no index in {folder!r}; build one with `gyr-hybrid index PATH --storage {folder}`"
        )
    return HybridIndex.open(folder)


def _open_or_demo(storage: str | None, *, offline: bool) -> tuple[HybridIndex, str]:
    """The user's index; without one, and with none named, the demo built from the shipped help centre."""
    from gyr_hybrid.index import HybridIndex
    from gyr_hybrid.storage import is_index

    folder = storage or DEFAULT_STORAGE
    if is_index(folder):
        return HybridIndex.open(folder, offline=offline or None), folder
    if storage is not None:
        raise ConfigurationError(
            f"there is no index in {storage!r}; build one with `gyr-hybrid index PATH --storage {storage}`, "
            "or leave --storage out to try the demo"
        )
    return _demo(offline=offline), "demo"


def _demo(*, offline: bool) -> HybridIndex:
    from platformdirs import user_cache_path

    from gyr_hybrid import __version__
    from gyr_hybrid.models.endpoints import embedding_model
    from gyr_hybrid.models.identity import embedding_identity
    from gyr_hybrid.parsing import load_documents
    from gyr_hybrid.settings import Settings
    from gyr_hybrid.shipped import shipped

    source = shipped("helpcenter")
    settings = Settings.load(offline=offline or None)
    model = embedding_model(settings)
    key = hashlib.sha256(f"{__version__} {embedding_identity(model) if model else None}".encode())
    for file in sorted(source.glob("*.md")):
        key.update(file.read_bytes())
    folder = user_cache_path("gyr_hybrid") / f"demo-{key.hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    documents = load_documents(str(source))
    try:
        return _filled(folder, settings, documents)
    except GyrError:  # a cache is made again, whatever is wrong with it
        shutil.rmtree(folder)
        folder.mkdir(parents=True)
        return _filled(folder, settings, documents)


def _filled(folder: Path, settings: Settings, documents: LoadedDocuments) -> HybridIndex:
    from gyr_hybrid.index import HybridIndex

    index = HybridIndex.open(folder, settings=settings)
    try:
        index.upsert(documents, prune=True, show_progress=sys.stderr.isatty())
        index.codes()  # reads what a question will read
    except BaseException:
        index.close()
        raise
    return index


# printing


def _run(work: Callable[[], None]) -> None:
    """Errors of ours become one line and status 2; nothing is swallowed."""
    try:
        work()
    except GyrError as error:
        err.print(Text(f"error: {_plain(str(error))}", style="red"))
        raise typer.Exit(2) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        err.print(Text(f"error: no such file or folder: {_plain(str(error.filename or error))}", style="red"))
        raise typer.Exit(2) from error
    except BrokenPipeError:
        raise typer.Exit(0) from None


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def _print_answer(answer: CitedResponse, index: HybridIndex, name: str) -> None:
    from gyr_hybrid.models.endpoints import describe

    where = "demo: the shipped help centre 演示：自带的帮助中心" if name == "demo" else name
    err.print(
        Text(
            f"{describe(llm=index.llm, embed_model=index.embed_model, reranker=index.reranker)}  index={where}",
            style="dim",
        )
    )
    out.print()
    out.print(Text(_plain(answer.response or "", keep_lines=True)))
    if answer.citations:
        out.print()
        out.print(Text("出处 sources", style="bold"))
    for citation in answer.citations:
        place = f"{citation.doc_id} {citation.start_char}–{citation.end_char}"
        out.print(
            Text(
                f"{citation.label} {_plain(' > '.join(citation.header_path))}  ({_plain(place)})",
                style="cyan",
            )
        )
        out.print(Text(f"    「{_shorten(citation.quote, 200)}」"))
    for warning in answer.warnings:
        err.print(Text(f"warning: {_plain(warning)}", style="yellow"))


def _print_inspection(found: Inspection) -> None:
    tree = Tree(Text(f"{_plain(found.title)}  ({found.doc_id}, {len(found.text)} characters)", style="bold"))
    for section in found.sections:
        branch = tree.add(
            Text(
                f"[{section.node_id}] {_plain(' > '.join(section.header_path))}"
                f"  {section.start}–{section.end}  {section.tokens} tokens",
                style="cyan",
            )
        )
        for child in section.children:
            branch.add(
                Text(
                    f"{child.node_id}  {child.start}–{child.end}  {child.tokens} tokens  {_shorten(child.text, 60)}"
                )
            )
    out.print(tree)
    for warning in found.warnings:
        err.print(Text(f"warning: {_plain(warning)}", style="yellow"))


def _answer_dict(answer: CitedResponse) -> dict[str, Any]:
    return {
        "response": answer.response,
        "refused": answer.refused,
        "refusal_reason": answer.refusal_reason,
        "citations": [asdict(c) for c in answer.citations],
        "unknown_identifiers": [asdict(u) for u in answer.unknown_identifiers],
        "source_nodes": [_node_dict(n) for n in answer.source_nodes],
        "context_nodes": [_node_dict(n) for n in answer.context_nodes],
        "warnings": list(answer.warnings),
        "evidence": answer.evidence,
        "trace": answer.trace,
    }


def _explained(explanation: Explanation) -> dict[str, Any]:
    return {
        **explanation.to_dict(),
        "synonyms": {word: list(others) for word, others in explanation.synonyms},
    }


def _node_dict(hit: Any) -> dict[str, Any]:
    node = hit.node
    return {
        "node_id": node.node_id,
        "score": hit.score,
        "doc_id": node.metadata.get("doc_id", node.ref_doc_id),
        "header_path": node.metadata.get("header_path", []),
        "start_char": node.start_char_idx,
        "end_char": node.end_char_idx,
        "text": node.get_content(),
    }


def _path(metadata: dict[str, Any]) -> str:
    path = metadata.get("header_path") or []
    return _plain(path if isinstance(path, str) else " > ".join(path))


def _plain(text: str, *, keep_lines: bool = False) -> str:
    """Text of documents without control characters, so that it cannot drive the terminal."""
    return "".join(c for c in text if c.isprintable() or (keep_lines and c in "\n\t"))


def _shorten(text: str, limit: int = 100) -> str:
    line = _plain(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def main() -> None:
    """Entry point for ``python -m gyr_hybrid``."""
    app()
