"""Keep the account of one answer: text, citations, trace and warnings, in step with one another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gyr_hybrid.answering.context.packing import Context
from gyr_hybrid.answering.enforcement.citing import cite
from gyr_hybrid.answering.enforcement.composition import Composer
from gyr_hybrid.answering.enforcement.units import Unit
from gyr_hybrid.answering.prompts import Language
from gyr_hybrid.answering.response import Action, Citation, CitationVerdict, Decision
from gyr_hybrid.verification.verdict import JudgedBy, Quote

MARKS: dict[Language, str] = {"zh": "〔未核实〕", "en": " (unverified)"}
_WARNINGS: dict[Language, str] = {"zh": "未核实：{}", "en": "unverified: {}"}
Place = tuple[str, int, int]
"""Section, first and last offset."""
_ACTIONS: dict[CitationVerdict, Action] = {"quoted": "replaced", "uncertain": "flagged"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A sentence to show and what it rests on."""

    text: str
    quotes: tuple[Quote, ...]
    verdict: CitationVerdict
    reason: str
    support: float
    judged_by: JudgedBy = "none"


def squeezed(text: str) -> str:
    """Letters, digits and Han characters only."""
    return re.sub(r"\W+", "", text).casefold()


class Ledger:
    """What has been shown and decided so far."""

    def __init__(self, context: Context, language: Language) -> None:
        self._context = context
        self._language: Language = language
        self.composer = Composer()
        self.citations: list[Citation] = []
        self.trace: list[Decision] = []
        self.warnings: list[str] = []
        self.places: set[Place] = set()
        """Source sentences that stand in for others."""
        self.said: set[str] = set()
        """Letters and digits of every sentence shown."""
        self._under: Counter[tuple[str, str]] = Counter()
        self.before: tuple[str, tuple[str, ...]] = ("", ())
        """The last sentence of the running paragraph, and the sections cited for it."""

    def times_shown(self, text: str) -> int:
        """How often the sentence was shown already under the lead-ins that it hangs on now."""
        return self._under[squeezed(self.composer.lead_text), squeezed(text)]

    def note(self, unit: Unit, action: Action, reason: str) -> list[str]:
        """A unit of which nothing is shown."""
        self.trace.append(Decision(unit.raw, action, reason))
        return []

    def show(self, unit: Unit, shown: Sequence[Shown]) -> list[str]:
        """The pieces of text for one unit; a clause that ends up last ends as a sentence."""
        if shown and shown[-1].text[-1:] in ("；", ";"):
            stop = "。" if shown[-1].text[-1] == "；" else "."
            shown = [*shown[:-1], replace(shown[-1], text=shown[-1].text[:-1] + stop)]
        return [self._show(unit, one, first=i == 0) for i, one in enumerate(shown)]

    def _show(self, unit: Unit, shown: Shown, *, first: bool) -> str:
        quotes = _without_overlap(shown.quotes)
        labels = {q.node_id: self._context.source(q.node_id).label for q in quotes}
        suffix = ""
        if shown.verdict == "uncertain":
            suffix = MARKS[self._language]
            self.warnings.append(_WARNINGS[self._language].format(shown.text))
        if shown.verdict == "quoted":
            self.places.update((q.node_id, q.start, q.end) for q in quotes)
        for quote in quotes:
            node = self._context.node(quote.node_id)
            label = labels[quote.node_id]
            self.citations.append(
                cite(
                    node,
                    quote,
                    label,
                    shown.text,
                    shown.verdict,
                    shown.reason,
                    shown.support,
                    shown.judged_by,
                )
            )
        action = _ACTIONS.get(shown.verdict, "shown")
        self.trace.append(Decision(unit.raw, action, shown.reason, shown.text, tuple(labels)))
        self.before = (shown.text, tuple(labels))
        self.said.add(squeezed(shown.text))
        self._under[squeezed(self.composer.lead_text), squeezed(shown.text)] += 1
        printed = "".join(dict.fromkeys(labels.values()))
        if first:
            return self.composer.show(unit, shown.text, printed, suffix)
        return self.composer.more(shown.text, printed, suffix)


def _without_overlap(quotes: Sequence[Quote]) -> list[Quote]:
    """Sections in order of first appearance, places in order within each."""
    kept: list[Quote] = []
    for quote in quotes:
        if quote.start < quote.end and not any(
            k.node_id == quote.node_id and k.start < quote.end and quote.start < k.end for k in kept
        ):
            kept.append(quote)
    order = {node_id: i for i, node_id in enumerate(dict.fromkeys(q.node_id for q in kept))}
    return sorted(kept, key=lambda q: (order[q.node_id], q.start))
