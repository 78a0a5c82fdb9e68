"""A report for people: a table on the terminal, Markdown, a picture."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.evaluation.ablation import FULL, LEGS
from gyr_hybrid.evaluation.report import Comparison, Report, Win, row_label

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

CHART_METRICS = ("hit@1", "MRR@10", "nDCG@10")


def to_json(report: Report, wins: Sequence[Win] | None = None) -> str:
    """The report, and a list of wins where one is given as ``diff``, as JSON text with keys in a fixed order."""
    values = report.to_dict()
    if wins is not None:
        values["diff"] = [asdict(win) for win in wins]
    return json.dumps(values, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def to_markdown(report: Report) -> str:
    """The report as Markdown tables."""
    names = list(next(iter(report.rows.values())))
    lines = [f"### {report.dataset}", "", _headline(report), ""]
    lines += _markdown_table(
        ["", *names],
        [[_name(report, row), *(_marked(report, row, n) for n in names)] for row in report.rows],
    )
    if report.best:
        lines += [
            "",
            "Whole pipeline against the best single leg (paired bootstrap over questions, two-sided):",
            "",
        ]
        lines += _markdown_table(
            ["", "best leg", "difference", "95 %", "p"],
            [[name, *_comparison(found)] for name, found in report.best.items()],
        )
    if report.groups:
        lines += ["", *_markdown_table(["group", "n", *names], _group_rows(report, names))]
    if report.refusals is not None:
        lines += ["", _refusal_line(report)]
    if report.latency_ms:
        lines += ["", _latency_line(report)]
    lines += [*("" for _ in report.warnings[:1]), *(f"Warning: {warning}" for warning in report.warnings)]
    return "\n".join(lines) + "\n"


def to_rich(report: Report) -> Group:
    """The report as tables for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    names = list(next(iter(report.rows.values())))
    parts: list[Any] = [Text(report.dataset, style="bold"), Text(_headline(report), style="dim")]
    table = Table("", *names)
    for row in report.rows:
        style = "bold" if row == FULL else ""
        table.add_row(Text(_name(report, row)), *(_marked(report, row, n) for n in names), style=style)
    parts.append(table)
    if report.best:
        legs = Table("full - best leg", "best leg", "difference", "95 %", "p")
        for name, found in report.best.items():
            legs.add_row(name, *_comparison(found))
        parts.append(legs)
    if report.groups:
        groups = Table("group", "n", *names)
        for cells in _group_rows(report, names):
            groups.add_row(*(Text(cell) for cell in cells))
        parts.append(groups)
    if report.refusals is not None:
        parts.append(Text(_refusal_line(report)))
    if report.latency_ms:
        parts.append(Text(_latency_line(report), style="dim"))
    parts += [Text(f"warning: {warning}", style="yellow") for warning in report.warnings]
    return Group(*parts)


def wins_table(wins: Iterable[Win], a: str, b: str) -> Table:
    """The questions on which two rows differ."""
    from rich.table import Table
    from rich.text import Text

    table = Table("question", "text", f"rank {a}", f"rank {b}")
    for win in wins:
        table.add_row(Text(win.id), Text(win.text), str(win.rank_a or "-"), str(win.rank_b or "-"))
    return table


def save_chart(report: Report, path: str | Path) -> None:
    """Bars of the main figures per row, as a PNG; the same report gives the same picture.

    Raises:
        ConfigurationError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ConfigurationError(
            "the picture needs matplotlib; install the extra with `pip install 'gyr_hybrid[plot]'`"
        ) from error
    rows = list(report.rows)
    names = [name for name in CHART_METRICS if name in report.rows[rows[0]]]
    figure = Figure(figsize=(8, 0.55 * len(rows) + 1.6), dpi=120, layout="constrained")
    axes = figure.subplots()
    height = 0.8 / len(names)
    for i, name in enumerate(names):
        places = [place + (i - (len(names) - 1) / 2) * height for place in range(len(rows))]
        bars = axes.barh(places, [report.rows[row][name] for row in rows], height, label=name)
        axes.bar_label(bars, fmt="%.3f", padding=2, fontsize=7)
    axes.set_yticks(range(len(rows)), [row_label(row) for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.08)
    title = report.dataset if report.dataset.isascii() else "data set"
    axes.set_title(f"{title}: {report.judged} questions", fontsize=10)
    axes.legend(loc="lower right", fontsize=8)
    figure.savefig(path, format="png", metadata={"Software": None})


def _headline(report: Report) -> str:
    about = report.index
    parts = [f"{report.judged} judged of {report.questions} questions"]
    parts += [f"{about[key]} {key}" for key in ("documents", "sections", "children") if key in about]
    parts.append(f"embedding {about.get('embedding') or 'none'}")
    if "analyzer" in about:
        lists = [f"{name} {count}" for name, count in (about.get("word_lists") or {}).items()]
        parts.append(f"analyzer {about['analyzer']} with {' + '.join(lists) or 'no words of its own'}")
    return ", ".join([*parts, f"seed {report.seed}"])


def _name(report: Report, row: str) -> str:
    return f"{row_label(row)} [{row}]"


def _marked(report: Report, row: str, name: str) -> str:
    """A figure; the best single leg carries a star."""
    best = report.best.get(name)
    star = "*" if best is not None and row in LEGS and row == best.leg else ""
    return f"{report.rows[row][name]:.3f}{star}"


def _comparison(found: Comparison) -> list[str]:
    gap = found.difference
    return [
        f"{row_label(found.leg)} {found.value:.3f}",
        f"{gap.mean:+.3f}",
        f"{gap.low:+.3f} … {gap.high:+.3f}",
        f"{gap.p:.4f}",
    ]


def _group_rows(report: Report, names: list[str]) -> list[list[str]]:
    return [
        [group, str(int(values["n"])), *(f"{values[name]:.3f}" for name in names)]
        for group, values in report.groups.items()
    ]


def _refusal_line(report: Report) -> str:
    found = report.refusals
    assert found is not None
    parts = [f"refusals: {found.answerable} answerable, {found.unanswerable} unanswerable questions"]
    if found.auroc is not None:
        parts.append(f"AUROC of evidence {found.auroc:.3f}")
    if found.false_refusals is not None:
        parts.append(f"{found.false_refusals:.1%} of the answerable refused")
    if found.true_refusals is not None:
        parts.append(f"{found.true_refusals:.1%} of the unanswerable refused")
    parts += [f"{reason} {count}" for reason, count in found.reasons.items()]
    return "; ".join(parts)


def _latency_line(report: Report) -> str:
    total = report.latency_ms.get("total", {})
    steps = [
        f"{step} {values['p50']:.1f}"
        for step, values in report.latency_ms.items()
        if step != "total" and values
    ]
    spread = ", ".join(f"{name} {total[name]:.1f} ms" for name in ("p50", "p95", "p99") if name in total)
    return f"time per question: {spread} (p50 of steps: {', '.join(steps)})"


def _markdown_table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    align = ["---", *("---:" for _ in head[1:])]
    return [f"| {' | '.join(cells)} |" for cells in (head, align, *escaped)]
