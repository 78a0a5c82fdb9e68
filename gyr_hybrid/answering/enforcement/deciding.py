"""Decide what becomes of one sentence: shown as written, re-attributed, asked for again, flagged, replaced or dropped.

A decision is a generator that never calls a model itself: it yields what it wants to know (`AskAgain`, `Judge`) and is
sent the reply. So the same decisions are driven synchronously, asynchronously and while streaming.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from llama_index.core.schema import BaseNode

from gyr_hybrid.answering.context.citations import Parsed
from gyr_hybrid.answering.context.packing import Context, plain_text
from gyr_hybrid.answering.enforcement.checking import Checker, is_near, squeezed
from gyr_hybrid.answering.enforcement.ledger import Ledger, Shown
from gyr_hybrid.answering.enforcement.replacing import (
    ALIGNED,
    nearest,
    of_another,
    replacements,
    with_code_of,
)
from gyr_hybrid.answering.enforcement.triage import (
    parts,
    plain,
    silent_reason,
    stops_inside,
    without_links,
)
from gyr_hybrid.answering.enforcement.units import Segmenter, Unit
from gyr_hybrid.answering.excerpts import cells_of, row_as_text, row_under
from gyr_hybrid.answering.prompts import Language, is_model_refusal
from gyr_hybrid.answering.response import CitationVerdict
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.verdict import Quote, Verdict

Policy = Literal["strict", "flag"]


@dataclass(frozen=True, slots=True)
class AskAgain:
    """Ask the model for one sentence again; the reply is its text."""

    sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class Judge:
    """Ask the verifier about an uncertain sentence; the reply is a `Verdict`."""

    sentence: str
    nodes: tuple[BaseNode, ...]


Request = AskAgain | Judge
Deciding = Generator[Request, Any, list[Shown]]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the engine was told, for one answer."""

    policy: Policy = "strict"
    max_retries: int = 1
    language: Language = "zh"
    with_verifier: bool = False
    lexicon: Lexicon | None = None
    has_content: Callable[[str], bool] = field(default=lambda text: bool(re.search(r"\w", text)))


@dataclass(frozen=True, slots=True)
class Standing:
    """What a unit stands behind."""

    lead: str = ""
    """Lead-ins of its list."""
    before: str = ""
    """The sentence shown before it in the same paragraph."""
    before_ids: tuple[str, ...] = ()
    clauses: str = ""
    """Earlier clauses of the same sentence."""
    header: str = ""
    """Head of a row's table."""

    @property
    def columns(self) -> str:
        """Names of a row's columns, as what it hangs on."""
        names = " ".join(cells_of(self.header.split("\n")[0])) if self.header else ""
        return f"{names}：" if names else ""


class Decider:
    """Decides about the sentences of one answer over one context; lives as long as the answer."""

    def __init__(self, context: Context, settings: Settings, ledger: Ledger) -> None:
        self._context = context
        self._settings = settings
        self._ledger = ledger
        self.parser = context.parser()
        self.checker = Checker(context, settings.lexicon)
        self.dropped: list[tuple[str, str]] = []
        """(sentence, section that it cites) of the claims that were left out."""

    def segmenter(self) -> Segmenter:
        """Cuts the answer; citations stay with their sentence."""
        return Segmenter(self.parser.is_citation)

    def parse(self, raw: str) -> Parsed:
        parsed = self.parser.parse(raw)
        return replace(parsed, text=without_links(parsed.text, self._has))

    def cited(self, parsed: Parsed) -> list[BaseNode]:
        return self.checker.nodes(parsed.cited) if parsed.cited else []

    def _has(self, url: str) -> bool:
        return any(url in plain_text(node) for node in self.checker.nodes())

    def decide(self, unit: Unit, parsed: Parsed, standing: Standing, retries: int) -> Deciding:
        """What to show for a sentence; nothing when it is dropped."""
        sentence, cited = plain(parsed.text), parsed.cited
        verdict = self._verdict(sentence, parsed, standing)
        if is_near(verdict) and unit.kind == "sentence" and stops_inside(sentence, verdict.quotes):
            verdict = replace(verdict, value="uncertain", reason="half: stops inside the source's sentence")
        if is_near(verdict):
            return [self._as_written(parsed, verdict)]
        if unit.kind != "row" and len(clauses := parts(parsed.text)) > 1:
            shown: list[Shown] = []
            for i, part in enumerate(clauses):
                place = replace(standing, clauses="".join(clauses[:i]))
                shown += yield from self.decide(unit, replace(parsed, text=part), place, retries)
            return shown
        other = self.checker.elsewhere(
            sentence, cited, verdict, lead=plain(standing.lead), clauses=plain(standing.clauses)
        )
        if other is not None:
            return [Shown(parsed.text, other.quotes, "reattributed", other.reason, other.support)]
        if verdict.value != "contradicted" and self._settings.with_verifier:
            judged: Verdict = yield Judge(sentence, tuple(self.checker.nodes(cited)))
            if judged.value == "supported":
                return [self._approved(parsed, verdict, judged)]
            if judged.value == "contradicted":
                verdict = replace(verdict, value="contradicted", reason=f"verifier: {judged.reason}")
        if verdict.value == "contradicted" and retries > 0:
            reply = yield AskAgain(parsed.text, verdict.reason)
            again = yield from self._again(reply, standing, retries - 1)
            instead = self._replacement(unit, sentence, verdict, cited, standing.header)
            if again and not (instead and of_another(sentence, again, instead)):
                self._ledger.note(unit, "asked_again", verdict.reason)
                return again
        if verdict.value != "contradicted" and self._settings.policy == "flag":
            return [self._flagged(parsed, verdict)]
        replacement = None
        if verdict.check != "lead_in":  # the source's words would say the opposite under the same lead-in
            replacement = self._replacement(unit, sentence, verdict, cited, standing.header)
        if replacement is not None:
            return [replacement]
        self.dropped.extend((sentence, node_id) for node_id in cited)
        self._ledger.note(unit, "dropped", verdict.reason)
        return []

    def _verdict(self, sentence: str, parsed: Parsed, standing: Standing) -> Verdict:
        return self.checker.check(
            sentence,
            self.checker.nodes(parsed.cited),
            quotes=parsed.quotes,
            lead=plain(standing.lead),
            columns=plain(standing.columns),
            clauses=plain(standing.clauses),
            before=plain(standing.before),
            before_ids=standing.before_ids,
        )

    def _again(self, reply: str, standing: Standing, retries: int) -> Deciding:
        """The sentences of a second attempt that pass; nothing if none does."""
        segmenter = self.segmenter()
        shown: list[Shown] = []
        for unit in [*segmenter.feed(reply), *segmenter.finish()]:
            if unit.kind not in ("sentence", "item", "row"):
                continue
            parsed = self.parse(unit.raw)
            sentence = plain(parsed.text)
            if silent_reason(parsed, self._context, self._settings.has_content) or is_model_refusal(sentence):
                continue
            if squeezed(sentence) in self._ledger.said:
                continue
            verdict = self._verdict(sentence, parsed, standing)
            if is_near(verdict):
                shown.append(self._as_written(parsed, verdict))
            elif retries > 0 and verdict.value == "contradicted":
                shown += yield from self.decide(unit, parsed, standing, retries)
        return shown

    def _as_written(self, parsed: Parsed, verdict: Verdict) -> Shown:
        used = {q.node_id for q in verdict.quotes}
        exact = any(r.exact and r.node_id in used for r in parsed.references)
        name: CitationVerdict = "supported" if exact else "repaired" if parsed.cited else "reattributed"
        return Shown(parsed.text, verdict.quotes, name, verdict.reason, verdict.support)

    def _approved(self, parsed: Parsed, verdict: Verdict, judged: Verdict) -> Shown:
        known = {node.node_id for node in self.checker.nodes(parsed.cited)}
        quotes = tuple(q for q in judged.quotes if q.node_id in known) or verdict.quotes
        quotes = quotes or nearest(plain(parsed.text), self.checker.nodes(parsed.cited))
        shown = self._as_written(parsed, replace(judged, quotes=quotes))
        return replace(shown, reason=f"verifier: {judged.reason}", support=judged.support or verdict.support)

    def _flagged(self, parsed: Parsed, verdict: Verdict) -> Shown:
        quotes = tuple(q for q in verdict.quotes if q.support >= ALIGNED)[:1]
        if not quotes and parsed.cited:
            quotes = nearest(plain(parsed.text), self.checker.nodes(parsed.cited))
        support = quotes[0].support if quotes else 0.0
        return Shown(parsed.text, quotes, "uncertain", verdict.reason, support)

    def _replacement(
        self, unit: Unit, sentence: str, verdict: Verdict, cited: Sequence[str], header: str
    ) -> Shown | None:
        """The source's own sentence for one that did not pass, from what it cites if it cites anything."""
        nodes = self.checker.nodes(cited)
        for node, excerpt in replacements(
            sentence, verdict, nodes, self._ledger.places, self._settings.lexicon, cited=bool(cited)
        ):
            if unit.kind == "row":
                shown = row_under(header, excerpt)
            else:
                shown = self.parser.strip(row_as_text(excerpt, self._settings.language))
                if excerpt.kind == "row" and unit.kind == "sentence":
                    shown += "。" if self._settings.language == "zh" else "."
            if unit.kind == "item" and shown:
                shown = with_code_of(sentence, node, shown)
            if shown and squeezed(shown) not in self._ledger.said:
                quote = Quote(node.node_id, excerpt.start, excerpt.end, excerpt.text, 1.0)
                return Shown(shown, (quote,), "quoted", verdict.reason, 1.0)
        return None
