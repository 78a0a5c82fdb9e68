"""Do the answers that are given without a model show what was asked for, and how much else? Offline.

    python benchmarks/passages.py FOLDER [--limit N] [--json] [--storage DIR] [--lexical]

FOLDER is ``helpcenter`` or ``novashop``, the shipped knowledge bases, or a data set: a folder with ``docs/``, of
which ``benchmarks/data/passages_<its name>.jsonl`` asks, or one with ``corpus.jsonl`` whose ``queries.jsonl`` has
``answers`` (of questions with a ``split`` those of ``trial``, if there are any).

A question has ``answers``, of which any one will do, ``all``, which must all be shown, and ``foreign``, which answer
another question. Texts are compared without width, case, blanks and Markdown's marks, labels taken out. A refusal
contains nothing. *Characters* are those of the quotes, headings aside; *first section* is the whole of the first
section that was found.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from code_runs import without_vectors
from llama_index.core.schema import TextNode
from rich.console import Console
from rich.table import Table

from gyr_hybrid import CitedResponse, HybridIndex, load_documents
from gyr_hybrid.evaluation.cache import cached_index
from gyr_hybrid.evaluation.datasets import load_dataset
from gyr_hybrid.progress import progress
from gyr_hybrid.shipped import shipped

DATA = Path(__file__).parent / "data"
SHIPPED = ("helpcenter", "novashop")
_LEFT_OUT = re.compile(r"[\s*`\\]")
_HEADING = re.compile(r"#{1,6}\s.*")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what a good answer shows."""

    id: str
    text: str
    answers: tuple[str, ...] = ()
    all: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    def contained(self, text: str) -> bool:
        """Whether a folded text shows one of the answers, and all that must be there."""
        any_of = not self.answers or any(fold(span) in text for span in self.answers)
        return any_of and all(fold(span) in text for span in self.all)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question."""

    id: str
    text: str
    contained: bool
    refused: bool
    shown: int
    """Characters of source."""
    foreign: bool | None
    """Whether an answer to another question was shown; None: the question names none."""
    evidence: float
    first: bool
    """Whether the first section as a whole contains the gold."""
    first_characters: int
    cited: tuple[str, ...]


def fold(text: str) -> str:
    return _LEFT_OUT.sub("", unicodedata.normalize("NFKC", text).casefold())


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--limit", type=int, metavar="N", help="N questions at even distances")
    parser.add_argument("--json", action="store_true", help="figures and a row per question as JSON")
    parser.add_argument("--storage", type=Path, metavar="DIR", help="where indexes of data sets are kept")
    parser.add_argument("--lexical", action="store_true", help="words and codes only, nothing is embedded")
    options = parser.parse_args(given)
    os.environ["GYR_OFFLINE"] = "1"
    asked = _questions(options.folder)
    if options.limit is not None and 0 < options.limit < len(asked):
        asked = [asked[i * len(asked) // options.limit] for i in range(options.limit)]
    with _index(options.folder, options.storage, options.lexical) as index:
        engine = index.as_query_engine(mode="lexical" if options.lexical else "hybrid")
        outcomes = []
        for question in progress(asked, "questions", sys.stderr.isatty()):
            answer = engine.query(question.text)
            assert isinstance(answer, CitedResponse)
            outcomes.append(_outcome(question, answer))
    figures = _figures(outcomes)
    if options.json:
        rows = [asdict(outcome) for outcome in outcomes]
        print(json.dumps({"figures": figures, "questions": rows}, ensure_ascii=False, indent=1))
    else:
        table = Table(Path(options.folder).name, "", show_header=True)
        for name, value in figures.items():
            table.add_row(name, str(value) if value is None or isinstance(value, int) else f"{value:.3f}")
        Console().print(table)
    return 0


@contextmanager
def _index(folder: str, storage: Path | None, lexical: bool) -> Iterator[HybridIndex]:
    with without_vectors() if lexical else nullcontext():
        if folder in SHIPPED:
            index = HybridIndex.from_documents(load_documents(shipped(folder)), None, offline=True)
        else:
            index, _ = cached_index(load_dataset(folder), cache=storage, offline=True, show_progress=True)
        with index:
            yield index


def _questions(folder: str) -> list[Asked]:
    path = Path(folder)
    own = folder in SHIPPED or (path / "docs").is_dir()
    file = DATA / f"passages_{path.resolve().name}.jsonl" if own else path / "queries.jsonl"
    rows: list[dict[str, Any]] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    if any(row.get("split") == "trial" for row in rows):
        rows = [row for row in rows if row["split"] == "trial"]
    return [
        Asked(row["_id"], row["text"], *(tuple(row.get(key) or ()) for key in ("answers", "all", "foreign")))
        for row in rows
        if row.get("answers") or row.get("all")
    ]


def _outcome(question: Asked, answer: CitedResponse) -> Outcome:
    text = answer.response or ""
    for label in {citation.label for citation in answer.citations}:
        text = text.replace(label, "")
    text = fold(text)
    quotes = {(c.doc_id, c.version, c.start_char, c.end_char): c.quote for c in answer.citations}
    shown = sum(len(quote) for quote in quotes.values() if not _HEADING.fullmatch(quote.strip()))
    node = answer.context_nodes[0].node if answer.context_nodes else None
    section = node.text if isinstance(node, TextNode) else ""
    return Outcome(
        question.id,
        question.text,
        not answer.refused and question.contained(text),
        answer.refused,
        shown,
        not answer.refused and any(fold(span) in text for span in question.foreign)
        if question.foreign
        else None,
        round(answer.evidence, 4),
        question.contained(fold(section)),
        len(section),
        tuple(dict.fromkeys(c.node_id for c in answer.citations)),
    )


def _figures(outcomes: Sequence[Outcome]) -> dict[str, float | None]:
    answered = [o for o in outcomes if not o.refused]
    return {
        "questions": len(outcomes),
        "refused": _mean([o.refused for o in outcomes]),
        "gold shown, of the answered": _mean([o.contained for o in answered]),
        "gold shown, of all": _mean([o.contained for o in outcomes]),
        "characters shown": _mean([o.shown for o in answered]),
        "questions with foreign spans": sum(o.foreign is not None for o in outcomes),
        "foreign shown": _mean([o.foreign for o in outcomes if o.foreign is not None]),
        "first section, gold": _mean([o.first for o in outcomes]),
        "first section, characters": _mean([o.first_characters for o in outcomes]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


if __name__ == "__main__":
    sys.exit(main())
