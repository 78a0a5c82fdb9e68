"""What the benchmarks over folders of real codes share: arguments, the index, timing, the last lines.

A folder is a data set of ``gyr-hybrid eval``: ``docs/`` or ``corpus.jsonl``, ``queries.jsonl``, ``qrels.tsv``,
``absent.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

from llama_index.core.schema import Document

from gyr_hybrid import HybridIndex
from gyr_hybrid.models.local_embedding import LocalEmbedding


def arguments(description: str, given: Sequence[str] | None) -> argparse.Namespace:
    """The arguments that all these runs take."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the data set")
    parser.add_argument(
        "--vectors", action="store_true", help="embed too (offline model); else words and codes only"
    )
    parser.add_argument(
        "--storage", type=Path, metavar="DIR", help="keep the index there; a second run takes seconds"
    )
    parser.add_argument("--misses", type=int, default=0, metavar="N", help="print the first N misses")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures as JSON")
    os.environ["GYR_OFFLINE"] = "1"
    return parser.parse_args(given)


@contextmanager
def without_vectors() -> Iterator[None]:
    """Run as on a machine without the extra ``local``: words and codes only."""
    with patch.object(LocalEmbedding, "available", return_value=False):
        yield


def build(documents: Sequence[Document], options: argparse.Namespace) -> HybridIndex:
    """The index, in memory unless told otherwise; what it took goes to standard error."""
    started = perf_counter()
    with nullcontext() if options.vectors else without_vectors():
        index = HybridIndex.from_documents(documents, options.storage, offline=True, show_progress=True)
    for name, reason in index.report.failed.items() if index.report is not None else ():
        print(f"not stored: {name}: {reason}", file=sys.stderr)
    stats = index.stats()
    print(
        f"built in {perf_counter() - started:.1f} s: {len(documents)} documents, {stats['children']} children, "
        f"{'words, codes and vectors' if options.vectors else 'words and codes'}",
        file=sys.stderr,
    )
    return index


@dataclass(slots=True)
class Figures:
    """Figures in the order in which they are printed, and the misses behind them."""

    values: dict[str, Any] = field(default_factory=dict)
    bars: dict[str, tuple[float, bool]] = field(default_factory=dict)
    """Figure -> (bar, whether more is better)."""
    misses: list[str] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Time one question."""
        started = perf_counter()
        yield
        self.milliseconds.append((perf_counter() - started) * 1000)

    def share(self, name: str, marks: Sequence[bool], *, least: float | None = None) -> None:
        """The share of true marks; at least ``least``."""
        self.values[name] = sum(marks) / len(marks) if marks else 0.0
        self.values[f"{name} (of)"] = len(marks)
        if least is not None:
            self.bars[name] = least, True

    def count(self, name: str, value: int, *, most: int | None = None) -> None:
        """A number of questions; at most ``most``."""
        self.values[name] = value
        if most is not None:
            self.bars[name] = most, False

    def finish(self, options: argparse.Namespace) -> int:
        """Print misses, then the figures; the exit status is 1 when one misses its bar."""
        for miss in self.misses[: options.misses]:
            print(miss)
        if self.milliseconds:
            ordered = sorted(self.milliseconds)
            self.values["ms p50"] = round(ordered[len(ordered) // 2], 2)
            self.values["ms p95"] = round(ordered[int(len(ordered) * 0.95)], 2)
        failed = [name for name, bar in self.bars.items() if not self._meets(name, *bar)]
        for name, value in self.values.items():
            if name.endswith(" (of)"):
                continue
            shown = f"{value:.3f}" if isinstance(value, float) and not name.startswith("ms") else f"{value}"
            of = f" of {self.values[f'{name} (of)']}" if f"{name} (of)" in self.values else ""
            bar = f"  (bar {self.bars[name][0]})" if name in self.bars else ""
            print(f"{name}: {shown}{of}{bar}{'  BELOW' if name in failed else ''}")
        if options.json:
            options.json.write_text(
                json.dumps(self.values, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
            )
        return 1 if failed else 0

    def _meets(self, name: str, bar: float, more: bool) -> bool:
        value = self.values[name]
        return bool(value >= bar - 1e-9 if more else value <= bar)


def refused_as_unknown(answer: Any) -> bool:
    """Whether the engine said that the code is unknown, and nothing else."""
    return bool(answer.refused and answer.refusal_reason == "unknown_identifier" and not answer.citations)
