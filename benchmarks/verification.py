"""How well `verify` tells true sentences from false ones, offline and without a model.

    python benchmarks/verification.py [PAIRS] [--split tune|unseen|fresh|all] [--judge none|oracle|yes] [--json FILE]

PAIRS is a JSON-lines file of (sentence, section, supported?) pairs, by default ``tests/data/verification_pairs.jsonl``:
``split`` says which part a section belongs to. Rules may be tuned on the part ``tune`` only. ``unseen`` was looked at in
totals while rules changed, never pair by pair; ``fresh`` was written last, in other fields, by someone who had not seen
the rules, and its true sentences are in freer words.
A false sentence counts as caught when it is ``uncertain`` or ``contradicted``; a true one as passed when it is
``supported``. Intervals are Wilson's, 95 %. Times are processor time of one sentence against one section
that is read for the first time, on this machine.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import process_time
from typing import Any

from llama_index.core.schema import TextNode
from rich.console import Console
from rich.table import Table

from gyr_hybrid import Verdict, Verifier, verify

PAIRS = Path(__file__).resolve().parent.parent / "tests" / "data" / "verification_pairs.jsonl"
SPLITS = ("tune", "unseen", "fresh")
Z = 1.959964  # two-sided 95 %


def wilson(hits: int, total: int) -> tuple[float, float]:
    """Wilson's score interval of a share, 0..1."""
    if not total:
        return 0.0, 1.0
    share = hits / total
    centre = share + Z * Z / (2 * total)
    spread = Z * math.sqrt(share * (1 - share) / total + Z * Z / (4 * total * total))
    scale = 1 + Z * Z / total
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


class Known(Verifier):
    """A judge that answers what it is told to: the truth, or always yes."""

    def __init__(self, yes: bool) -> None:
        self._yes = yes

    def verify(self, sentence: str, nodes: Any) -> Verdict:
        return Verdict("supported" if self._yes else "uncertain", "told", judged_by="judge")


JUDGES = ("none", "oracle", "yes")


def judge_for(name: str, row: Mapping[str, Any]) -> Verifier | None:
    return None if name == "none" else Known(name == "yes" or bool(row["supported"]))


Counts = dict[tuple[bool, str, bool], Counter[str]]
"""(supported, kind, near-verbatim) -> verdicts."""


def judge(rows: Iterable[Mapping[str, Any]], judge_name: str = "none") -> tuple[Counts, list[float]]:
    """Verdicts counted by (supported, kind, near), and seconds per sentence in order."""
    counts: Counts = defaultdict(Counter)
    seconds: list[float] = []
    for row in rows:
        path = [row.get("title") or "", row.get("heading") or ""]
        node = TextNode(text=row["text"], metadata={"title": path[0], "header_path": [p for p in path if p]})
        begin = process_time()
        verdict = verify(row["sentence"], [node], judge=judge_for(judge_name, row))
        seconds.append(process_time() - begin)
        kind = str(row["kind"])
        if not row["supported"] and _bare(kind) in FIGURES:
            kind += _where(row, path)
        counts[bool(row["supported"]), kind, bool(row.get("near"))][verdict.value] += 1
    return counts, sorted(seconds)


FIGURES = ("number", "num", "code", "unit")
_WRITTEN = re.compile(r"[A-Za-z]*[-_]?\d[\w.\-]*")


def _where(row: Mapping[str, Any], path: list[str]) -> str:
    """Whether what is written with digits in a false sentence stands somewhere in its section."""
    written = _WRITTEN.findall(row["sentence"])
    if not written:
        return " without digits"
    return " elsewhere" if all(w in "\n".join([*path, row["text"]]) for w in written) else " lacking"


CAUGHT = ("uncertain", "contradicted")


def shares(counts: Counts) -> list[dict[str, Any]]:
    """One row per kind and per summary: what is counted, hits, total, share, interval."""
    rows: list[dict[str, Any]] = []

    def add(
        name: str, what: str, supported: bool, values: tuple[str, ...], *kinds: str, near: bool | None = None
    ) -> None:
        total: Counter[str] = sum(
            (
                c
                for (ok, kind, close), c in counts.items()
                if ok == supported and (not kinds or _bare(kind) in kinds) and near in (None, close)
            ),
            Counter(),
        )
        hits, n = sum(total[v] for v in values), total.total()
        low, high = wilson(hits, n)
        if n:
            row = {
                "kind": name,
                "what": what,
                "hits": hits,
                "n": n,
                "share": hits / n,
                "low": low,
                "high": high,
            }
            rows.append(row)

    for kind in sorted({k for ok, k, _ in counts if not ok}):
        add(kind, "caught", False, CAUGHT, _bare(kind))
        if {near for ok, k, near in counts if not ok and k == kind} == {True, False}:
            add(f"  {kind}, near-verbatim", "caught", False, CAUGHT, _bare(kind), near=True)
            add(f"  {kind}, paraphrased", "caught", False, CAUGHT, _bare(kind), near=False)
    for where in ("lacking", "elsewhere", "without digits"):
        kinds = tuple(f"{kind} {where}" for kind in FIGURES)
        add(f"number, code, unit {where}", "caught", False, CAUGHT, *kinds)
    add("condition, sibling", "caught", False, CAUGHT, "condition", "cond", "sibling", "sib")
    add("all false", "passed as supported", False, ("supported",))
    for kind in sorted({k for ok, k, _ in counts if ok}):
        add(kind, "not passed", True, CAUGHT, _bare(kind))
    add("close, numeral, unit, two", "passed", True, ("supported",), "close", "numeral", "num", "unit", "two")
    add("all true", "passed", True, ("supported",))
    add("all true", "rejected outright", True, ("contradicted",))
    return rows


def _bare(kind: str) -> str:
    return kind.split("_", 1)[-1]


def main() -> None:
    """Print one table per part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", nargs="?", type=Path, default=PAIRS)
    parser.add_argument("--split", choices=[*SPLITS, "all"], default="tune")
    parser.add_argument(
        "--judge", choices=JUDGES, default="none", help="none, one that knows the truth, one that says yes"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    options = parser.parse_args()
    rows = [
        json.loads(line) for line in options.pairs.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    verify("预热。", [TextNode(text="词典在第一次使用时载入。")])
    report: dict[str, Any] = {}
    console = Console()
    for split in SPLITS if options.split == "all" else (options.split,):
        counts, seconds = judge((r for r in rows if r.get("split", split) == split), options.judge)
        if not seconds:
            console.print(f"{options.pairs.name} has no pairs of the part {split!r}")
            continue
        table = Table("kind", "", "of", "share", "95 %", title=f"{split}: {len(seconds)} pairs")
        found = shares(counts)
        for row in found:
            table.add_row(
                row["kind"], f"{row['what']} {row['hits']}", str(row["n"]), f"{row['share']:.1%}",
                f"{row['low']:.1%} – {row['high']:.1%}",
            )  # fmt: skip
        times = {
            f"p{q}": seconds[min(len(seconds) - 1, len(seconds) * q // 100)] * 1000 for q in (50, 95, 99)
        }
        console.print(table)
        console.print("ms per sentence: " + ", ".join(f"{k} {v:.1f}" for k, v in times.items()))
        report[split] = {"pairs": len(seconds), "rows": found, "ms": times}
    if options.json:
        options.json.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
