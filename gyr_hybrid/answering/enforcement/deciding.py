"""What becomes of each unit of an answer: shown as written, re-attributed, asked for again, flagged, replaced or dropped.

Figures and codes are compared by rules, which nobody overrules; what other words say is put to a judge, all open units in
one question; what neither settles is shown in the source's own words. A decision never calls a model itself: it yields
what it wants to know (`AskAgain`, `Judge`) and is sent the reply, so that the same decisions are driven synchronously,
asynchronously and while streaming.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from llama_index.core.schema import BaseNode

from gyr_hybrid.answering.context.citations import Parsed
from gyr_hybrid.answering.context.packing import Context, plain_text
from gyr_hybrid.answering.enforcement.ledger import Ledger, Shown, squeezed
from gyr_hybrid.answering.enforcement.triage import (
    is_lead_in,
    plain,
    silent_reason,
    stops_inside,
    without_links,
)
from gyr_hybrid.answering.enforcement.units import Segmenter, Unit
from gyr_hybrid.answering.prompts import Language, is_model_refusal
from gyr_hybrid.answering.response import CitationVerdict
from gyr_hybrid.figures import even_fold, source_figures
from gyr_hybrid.verification import Claim, Quote, Verdict
from gyr_hybrid.verification.quotation import best_unit, find_quote
from gyr_hybrid.verification.sources import Source, content, read_source
from gyr_hybrid.verification.sources import Unit as SourceUnit
from gyr_hybrid.verification.verifier import Checked, check

ABOUT = 0.25
"""Least share of a sentence's words that a source's unit has to stand in for it."""
BORNE = 0.5
"""Least share of a sentence's words that a section which it does not cite has to be judged by it."""
BEFORE = 3
"""Units of the answer before a claim that its judge is shown."""


@dataclass(frozen=True, slots=True)
class AskAgain:
    """Have the model write one sentence again."""

    sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class Judge:
    """Have the judge say which claims their sections bear; the reply is one `Verdict` for each."""

    claims: tuple[Claim, ...]


Request = AskAgain | Judge
Deciding = Generator[Request, Any, list[Shown]]


@dataclass(frozen=True, slots=True)
class Settings:
    """How an answer is checked."""

    policy: Literal["strict", "flag"]
    max_retries: int
    language: Language
    judged: bool
    has_content: Callable[[str], bool]
    question: str = ""


@dataclass(slots=True)
class Standing:
    """One unit with what the rules, and later the judge, say of it."""

    unit: Unit
    parsed: Parsed
    sentence: str
    checked: Checked
    nodes: tuple[BaseNode, ...]
    """The sections that it is judged by: those it cites, or the one that bears it."""
    cites: bool
    """Whether they are those that it cites."""
    judged: Verdict | None = None
    hangs_on: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        return self.checked.verdict(self.judged)

    def claim(self, question: str) -> Claim:
        return Claim(self.sentence, self.nodes, question, self.hangs_on)


class Decider:
    """Decides about the units of one answer over one context; lives as long as the answer."""

    def __init__(self, context: Context, settings: Settings, ledger: Ledger) -> None:
        self._context = context
        self._settings = settings
        self._ledger = ledger
        self.parser = context.parser()
        self.dropped: list[tuple[str, str]] = []
        """(sentence, section that it cites) of the claims that were left out."""

    def segmenter(self) -> Segmenter:
        """Cuts the answer; citations stay with their sentence."""
        return Segmenter(self.parser.is_citation)

    def parse(self, raw: str) -> Parsed:
        parsed = self.parser.parse(raw)
        return replace(parsed, text=without_links(parsed.text, self._has))

    def nodes(self, ids: Collection[str] = (), without: Collection[str] = ()) -> list[BaseNode]:
        """Sections of the context, without what they address to the model; all when no ids are given."""
        return [n for n in self._context.facts if (not ids or n.node_id in ids) and n.node_id not in without]

    def _has(self, url: str) -> bool:
        return any(url in plain_text(node) for node in self.nodes())

    # what the rules say

    def stand(self, unit: Unit, parsed: Parsed, hangs_on: tuple[str, ...] = ()) -> Standing:
        """Check a unit against the sections it cites, and against the others where those do not bear it."""
        sentence = plain(parsed.text)
        cited = self.nodes(parsed.cited) if parsed.cited else []
        everything = self.nodes()
        checked = self._check(unit, sentence, cited, everything)
        here = Standing(unit, parsed, sentence, checked, tuple(cited), True, None, hangs_on)
        if checked.outcome == "verbatim" or (cited and checked.outcome == "open" and checked.near):
            return here
        others = [
            (self._check(unit, sentence, [n], everything), n)
            for n in everything
            if n.node_id not in parsed.cited
        ]
        for checked_there, node in others:
            if checked_there.outcome == "verbatim":
                return replace(here, checked=checked_there, nodes=(node,), cites=False)
        if cited and checked.outcome == "open":
            return here
        bearing = [o for o in others if o[0].outcome == "open" and (o[0].near or o[0].support >= BORNE)]
        if bearing:
            there, node = max(bearing, key=lambda o: (bool(o[0].near), o[0].support))
            return replace(here, checked=there, nodes=(node,), cites=False)
        if not cited and others:
            there, node = max(others, key=lambda o: (o[0].outcome == "open", o[0].support))
            return replace(here, checked=there, nodes=(node,), cites=False)
        return here

    @staticmethod
    def _check(
        unit: Unit, sentence: str, cited: Sequence[BaseNode], everything: Sequence[BaseNode]
    ) -> Checked:
        checked = check(sentence, cited, everything)
        if checked.near and unit.kind == "sentence" and stops_inside(sentence, checked.near):
            return replace(checked, near=(), reason="half: stops inside the source's sentence")
        return checked

    # what is shown

    def decide(self, standing: Standing, retries: int) -> Deciding:
        """What to show for a unit; nothing when it is dropped."""
        verdict = standing.verdict
        if verdict.value == "supported":
            return [self._as_written(standing, verdict)]
        if verdict.value == "contradicted" and retries > 0:
            reply = yield AskAgain(standing.parsed.text, verdict.reason)
            again = yield from self._again(reply, standing.unit.kind)
            if again:
                self._ledger.note(standing.unit, "asked_again", verdict.reason)
                return again
        if verdict.value != "contradicted" and self._settings.policy == "flag":
            quotes = self._quotes(standing, verdict)
            support = verdict.support
            return [Shown(standing.parsed.text, quotes, "uncertain", verdict.reason, support)]
        replacement = self._replacement(standing, verdict)
        if replacement is not None:
            return [replacement]
        self.dropped.extend((standing.sentence, node_id) for node_id in standing.parsed.cited)
        self._ledger.note(standing.unit, "dropped", verdict.reason)
        return []

    def judge(self, standings: Sequence[Standing]) -> Generator[Request, Any, None]:
        """Put all open units to the judge, in one question."""
        open_ = [s for s in standings if s.checked.outcome == "open" and s.nodes and s.judged is None]
        if self._settings.judged and open_:
            verdicts = yield Judge(tuple(s.claim(self._settings.question) for s in open_))
            for standing, verdict in zip(open_, verdicts, strict=True):
                standing.judged = verdict

    def _as_written(self, standing: Standing, verdict: Verdict) -> Shown:
        used = {n.node_id for n in standing.nodes}
        exact = any(r.exact and r.node_id in used for r in standing.parsed.references)
        name: CitationVerdict = "supported" if exact else "repaired" if standing.cites else "reattributed"
        quotes = self._quotes(standing, verdict)
        return Shown(standing.parsed.text, quotes, name, verdict.reason, verdict.support, verdict.judged_by)

    def _quotes(self, standing: Standing, verdict: Verdict) -> tuple[Quote, ...]:
        known = {n.node_id for n in standing.nodes}
        quotes = tuple(q for q in verdict.quotes if q.node_id in known)
        return quotes or standing.checked.quotes or self._first_unit(standing)

    def _first_unit(self, standing: Standing) -> tuple[Quote, ...]:
        for node in standing.nodes:
            source = read_source(node)
            if source.units:
                unit = source.units[0]
                return (Quote(node.node_id, unit.start, unit.end, source.raw[unit.start : unit.end], 0.0),)
        return ()

    def _again(self, reply: str, kind: str) -> Deciding:
        """The sentences of a second attempt that pass; nothing if none does."""
        segmenter = self.segmenter()
        standings: list[Standing] = []
        for unit in [*segmenter.feed(reply), *segmenter.finish()]:
            if unit.kind != kind and not (unit.kind == "sentence" and kind == "item"):
                continue
            parsed = self.parse(unit.raw)
            sentence = plain(parsed.text)
            silent = silent_reason(parsed, self._context, self._settings.has_content)
            if silent or is_lead_in(parsed.text) or is_model_refusal(sentence):
                continue
            if squeezed(sentence) not in self._ledger.said:
                standings.append(self.stand(unit, parsed))
        yield from self.judge(standings)
        return [self._as_written(s, s.verdict) for s in standings if s.verdict.value == "supported"]

    def _replacement(self, standing: Standing, verdict: Verdict) -> Shown | None:
        """The words that the model quoted, else the best whole unit about the same subject, with what it stands under."""
        about_other = verdict.check == "subject"
        nodes = (
            self.nodes() if about_other or not standing.parsed.cited else self.nodes(standing.parsed.cited)
        )
        sources = [read_source(node) for node in nodes]
        for words in standing.parsed.quotes:
            for source in sources:
                if (quote := find_quote(words, source)) and (unit := _unit_at(source, quote)) is not None:
                    return self._quoted(standing, verdict, source, unit)
        ranked = self._ranked(standing.sentence, sources)
        if standing.parsed.cited and not ranked:
            ranked = self._ranked(self._settings.question, sources)
        for source, unit in ranked:
            if (shown := self._quoted(standing, verdict, source, unit)) is not None:
                return shown
        return None

    def _ranked(self, text: str, sources: Sequence[Source]) -> list[tuple[Source, SourceUnit]]:
        """The unit of each section that has most of a text's words, best first; none about another subject."""
        found = [(best[1], s, best[0]) for s in sources if (best := best_unit(text, s)) and best[1] >= ABOUT]
        kept = [f for f in found if not _of_another(text, f[1], f[2])]
        return [(source, unit) for _, source, unit in sorted(kept, key=lambda f: -f[0])]

    def _quoted(self, standing: Standing, verdict: Verdict, source: Source, unit: SourceUnit) -> Shown | None:
        text = self.parser.strip(in_full(source, unit, standing.unit.kind == "row", self._settings.language))
        if (
            not text
            or squeezed(text) in self._ledger.said
            or (source.node_id, unit.start, unit.end) in self._ledger.places
        ):
            return None
        quote = Quote(source.node_id, unit.start, unit.end, source.raw[unit.start : unit.end], 1.0)
        return Shown(text, (quote,), "quoted", verdict.reason, 1.0, "verbatim")


def in_full(source: Source, unit: SourceUnit, as_row: bool, language: Language) -> str:
    """A unit of the source as one sentence, with what it stands under: heading, record head, lead-in, table header."""
    block = source.blocks[unit.block]
    if block.kind == "row" and as_row:
        return "| " + " | ".join(block.text[s:e] for s, e in block.cells) + " |"
    colon, comma = ("：", "，") if language == "zh" else (": ", ", ")
    above = [b for b in source.under(unit) if b.kind != "header"]
    names = [b.text.rstrip(":： ") for b in above if b.kind != "heading"]
    if not any(b.kind == "heading" for b in above) or not names:
        names = [*source.path[-1:], *names][-2:]
    text = _row(source, unit, colon, comma) if block.kind == "row" else unit.text
    folded = even_fold(text)
    lead = "".join(name + colon for name in names if name and even_fold(name) not in folded)
    end = "" if re.search(r"[。！？!?.；;：:]$", text) else "。" if language == "zh" else "."
    return " ".join((lead + text + end).split()) if block.kind != "code" else lead + text


def _row(source: Source, unit: SourceUnit, colon: str, comma: str) -> str:
    block = source.blocks[unit.block]
    header = next((b for b in reversed(source.under(unit)) if b.kind == "header"), None)
    names = [header.text[s:e] for s, e in header.cells] if header else []
    cells = [block.text[s:e] for s, e in block.cells]
    return comma.join(
        f"{name}{colon}{cell}" if name and i else cell
        for i, (cell, name) in enumerate(zip(cells, [*names, *[""] * len(cells)], strict=False))
        if cell
    )


def _of_another(sentence: str, source: Source, unit: SourceUnit) -> bool:
    """Whether a unit is about another subject: the sentence names that of a sibling, and not the unit's own."""
    words = set(content(even_fold(sentence)))
    mine = _words(source, unit)
    codes, others = _codes(even_fold(sentence)), _codes(even_fold(unit.text))
    if codes and others and not codes & others:
        return True
    for other in source.units:
        theirs = _words(source, other)
        if other is unit or not set(mine) & set(theirs):
            continue
        subject = next((w for w in mine if w not in theirs), None)
        rival = next((w for w in theirs if w not in mine), None)
        if subject and rival and rival in words and subject not in words:
            return True
    return False


def _codes(text: str) -> set[str]:
    return {str(f.value) for f in source_figures(text) if f.kind == "code"}


def _words(source: Source, unit: SourceUnit) -> tuple[str, ...]:
    return tuple(w for clause in source.clauses[unit.first : unit.after] for w in clause.words)


def _unit_at(source: Source, quote: Quote) -> SourceUnit | None:
    return next((u for u in source.units if u.start <= quote.start < u.end), None)


__all__ = ["AskAgain", "Checked", "Decider", "Judge", "Request", "Settings", "Standing", "squeezed"]
