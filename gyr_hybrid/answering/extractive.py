"""Answer without a model: the sentences of the best section that answer the question, as they stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from llama_index.core.schema import BaseNode

from gyr_hybrid.analysis import count_tokens
from gyr_hybrid.answering.composition import Composer
from gyr_hybrid.answering.context import Context, plain_text
from gyr_hybrid.answering.enforcement import cite
from gyr_hybrid.answering.evidence import covered
from gyr_hybrid.answering.excerpts import Excerpt, excerpts
from gyr_hybrid.answering.response import Citation, Decision
from gyr_hybrid.answering.units import Kind, Unit
from gyr_hybrid.answering.verdict import Quote

SHORT = 240
"""Tokens up to which a section's prose is shown whole: what follows a rule is mostly its condition."""
MOST = 8
"""Excerpts shown of one section."""
GAIN = 0.3
"""Share of the question that a further section must add."""

_HOW = re.compile(r"怎么|怎样|如何|咋|步骤|流程|办法|解决|\bhow\b|\bsteps?\b|\bfix\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """What an extraction knows about the question."""

    text: str
    weights: Mapping[str, float]
    """Content word -> idf."""
    synonyms: Mapping[str, Collection[str]]
    terms: Callable[[str], set[str]]

    @property
    def asks_how(self) -> bool:
        """Whether steps are wanted, so that a list must not be cut."""
        return _HOW.search(self.text) is not None

    def worth(self, text: str) -> float:
        """Weight of the question's words in ``text``."""
        return covered(self.weights, self.terms(text), self.synonyms)


def extract(
    question: Question, sections: Sequence[str], paths: Sequence[Sequence[str]]
) -> Iterator[tuple[int, Excerpt]]:
    """Excerpts to show as (number of the section, excerpt), in order.

    Args:
        sections: texts, best first.
        paths: their heading paths.
    """
    shown: set[str] = set()
    have = 0.0
    total = sum(question.weights.values())
    for i, text in enumerate(sections):
        terms = question.terms("\n".join([*paths[i], text]))
        missing = {w: v for w, v in question.weights.items() if w not in shown}
        gain = covered(missing, terms, question.synonyms)
        if i > 0 and (gain < GAIN * total or have >= 0.99 * total):
            continue
        chosen = _choose(
            question if i == 0 else Question(question.text, missing, question.synonyms, question.terms), text
        )
        if not chosen:
            continue
        for excerpt in chosen:
            yield i, excerpt
        shown |= {w for w in question.weights if covered({w: 1.0}, terms, question.synonyms)}
        have += gain


def _choose(question: Question, text: str) -> list[Excerpt]:
    """The excerpts of one section that answer, lead-ins with what they introduce."""
    whole = [p for p in excerpts(text) if p.kind != "heading"]
    content = [p for p in whole if p.kind != "header" and not p.is_lead_in]
    if not content:
        return []
    worth = {p.start: question.worth(p.text) for p in content}
    best = max(worth.values())
    short = count_tokens(text) <= SHORT
    lists = [p for p in content if p.kind in ("item", "row")]
    best_listed = max((worth[p.start] for p in lists), default=0.0)
    whole_lists = question.asks_how or best_listed <= 0
    kept: list[Excerpt] = []
    for excerpt in content:
        if excerpt.kind in ("item", "row"):
            wanted = (whole_lists and short) or worth[excerpt.start] >= 0.6 * max(best_listed, 1e-9)
        elif short:
            wanted = True
        else:
            wanted = worth[excerpt.start] >= 0.6 * best
        if wanted:
            kept.append(excerpt)
    if len(kept) > MOST:
        kept = sorted(sorted(kept, key=lambda p: (-worth[p.start], p.start))[:MOST], key=lambda p: p.start)
    return _with_lead_ins(whole, kept)


def _with_lead_ins(whole: Sequence[Excerpt], kept: Sequence[Excerpt]) -> list[Excerpt]:
    starts = {p.start for p in kept}
    out: list[Excerpt] = []
    pending: Excerpt | None = None
    for excerpt in whole:
        if excerpt.is_lead_in:
            pending = excerpt
        elif excerpt.start in starts:
            if pending is not None and excerpt.paragraph - pending.paragraph <= 1:
                out.append(pending)
            pending = None
            out.append(excerpt)
        elif excerpt.kind == "sentence":
            pending = None
    return out


def quote_sections(question: Question, context: Context) -> tuple[list[str], list[Citation], list[Decision]]:
    """The answer in pieces, one excerpt each, with its citations and what was decided."""
    nodes = [n.node for n in context.nodes]
    texts = [plain_text(node) for node in nodes]
    parser, composer = context.parser(), Composer()
    pieces: list[str] = []
    citations: list[Citation] = []
    trace: list[Decision] = []
    before: tuple[int, Excerpt] | None = None
    for i, excerpt in extract(question, texts, [header_path(node) for node in nodes]):
        unit = Unit(_kind(excerpt), excerpt.text, _separator(before, (i, excerpt)), *_marker(excerpt))
        if excerpt.header and (before is None or before[1].header != excerpt.header or before[0] != i):
            head = Unit("header", excerpt.header, unit.before)
            composer.enter(head)
            composer.lead(head, excerpt.header)
            unit = Unit("row", excerpt.text, "\n")
        before = (i, excerpt)
        composer.enter(unit)
        text = parser.strip(excerpt.text) if excerpt.kind != "code" else excerpt.text
        if excerpt.is_lead_in:
            composer.lead(unit, text)
            continue
        label = context.sources[i].label
        quote = Quote(nodes[i].node_id, excerpt.start, excerpt.end, excerpt.text, 1.0)
        citations.append(
            cite(nodes[i], quote, label, text, "quoted", "extraction: the source's own words", 1.0)
        )
        trace.append(Decision(excerpt.text, "shown", "extraction", text, (nodes[i].node_id,)))
        pieces.append(composer.show(unit, text, label))
    return pieces, citations, trace


def header_path(node: BaseNode) -> list[str]:
    """Title and headings of a section, [] for foreign nodes without any."""
    path = node.metadata.get("header_path") or []
    return [path] if isinstance(path, str) else list(map(str, path))


def _kind(excerpt: Excerpt) -> Kind:
    return excerpt.kind


def _marker(excerpt: Excerpt) -> tuple[str, int]:
    if excerpt.kind != "item":
        return "", -1
    return excerpt.marker, len(excerpt.marker) - len(excerpt.marker.lstrip())


def _separator(before: tuple[int, Excerpt] | None, now: tuple[int, Excerpt]) -> str:
    if before is None:
        return ""
    if before[0] != now[0] or before[1].kind != now[1].kind:
        return "\n\n"
    if now[1].kind in ("item", "row"):
        return "\n"
    if now[1].kind == "code" or before[1].paragraph != now[1].paragraph:
        return "\n\n"
    return " " if before[1].text[-1:].isascii() and now[1].text[:1].isascii() else ""
