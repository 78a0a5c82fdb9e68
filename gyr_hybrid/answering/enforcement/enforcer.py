"""Take a model's answer unit by unit: what each is, and what of it the reader sees.

Sentences, items and rows are decided about (`deciding`); headings, lead-ins, table heads and code go their own ways. What
is shown depends on the unit, the context and earlier units only.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from gyr_hybrid.answering.context.citations import Parsed
from gyr_hybrid.answering.context.packing import Context
from gyr_hybrid.answering.enforcement.checking import is_near, locate, occurrences
from gyr_hybrid.answering.enforcement.deciding import Decider, Request, Settings, Standing
from gyr_hybrid.answering.enforcement.ledger import Ledger, Shown
from gyr_hybrid.answering.enforcement.triage import (
    is_lead_in,
    is_unfinished,
    plain,
    silent_reason,
)
from gyr_hybrid.answering.enforcement.units import Segmenter, Unit
from gyr_hybrid.answering.prompts import is_model_refusal
from gyr_hybrid.answering.response import CitationVerdict

Steps = Generator[Request, Any, list[str]]


class Enforcement:
    """The checks of one answer over one context; lives as long as the answer."""

    def __init__(self, context: Context, settings: Settings) -> None:
        self._context = context
        self._settings = settings
        self._header = ""
        self.ledger = Ledger(context, settings.language)
        self._decider = Decider(context, settings, self.ledger)
        self._checker = self._decider.checker
        self.claims = 0
        """Units that said something about the subject, shown or not."""

    @property
    def dropped(self) -> list[tuple[str, str]]:
        """(Sentence, section that it cites) of the claims that were left out."""
        return self._decider.dropped

    def segmenter(self) -> Segmenter:
        """Cuts the answer; citations stay with their sentence."""
        return self._decider.segmenter()

    def check(self, unit: Unit) -> Steps:
        """Check one unit; the value is the pieces of text to show for it."""
        ledger = self.ledger
        ledger.composer.enter(unit)
        if unit.before not in ("", " ") or unit.kind != "sentence":
            ledger.before = ("", ())
        if unit.kind in ("heading", "rule"):
            return ledger.note(unit, "silent", unit.kind)
        if unit.kind == "header":
            ledger.composer.lead(unit, unit.raw)
            self._header = unit.raw
            return []
        if unit.kind == "code":
            return self._code(unit)
        parsed = self._decider.parse(unit.raw)
        text = plain(parsed.text)
        if reason := silent_reason(parsed, self._context, self._settings.has_content):
            return ledger.note(unit, "silent", reason)
        if unit.kind != "row" and is_lead_in(parsed.text):
            return self._lead_in(unit, parsed)
        if is_model_refusal(text) and not is_near(self._checker.verify(text, self._checker.nodes())):
            return ledger.note(unit, "refusal", "the model says that the material lacks this")
        self.claims += 1
        times = ledger.times_shown(text)
        if times and not (unit.kind == "item" and occurrences(text, self._decider.cited(parsed)) > times):
            return ledger.note(unit, "silent", "said already")
        header = self._header if unit.kind == "row" else ""
        standing = Standing(ledger.composer.lead_text, *ledger.before, header=header)
        shown = yield from self._decider.decide(unit, parsed, standing, self._settings.max_retries)
        return ledger.show(unit, shown)

    # units that are no sentences

    def cut_off(self, unit: Unit) -> bool:
        """Leave out the last unit of an answer that was cut off, if it stops in the middle; whether it does."""
        if unit.kind == "sentence" and not is_unfinished(self._decider.parser.parse(unit.raw).text):
            return False
        self.ledger.note(unit, "dropped", "cut off in the middle")
        return True

    def _lead_in(self, unit: Unit, parsed: Parsed) -> list[str]:
        verdict = self._checker.verify(plain(parsed.text).rstrip(":： "), self._checker.nodes())
        if verdict.value == "contradicted":
            return self.ledger.note(unit, "dropped", verdict.reason)
        self.ledger.composer.lead(unit, parsed.text)
        return self.ledger.note(unit, "kept_with_list", "shown if something that follows is")

    def _code(self, unit: Unit) -> list[str]:
        """Code is shown when it stands in a section, character for character but for blanks."""
        self.claims += 1
        end = max(unit.raw.rfind("```"), unit.raw.rfind("~~~")) + 3
        block, cited = unit.raw[:end], self._decider.parser.parse(unit.raw[end:]).cited
        body = "\n".join(block.split("\n")[1:-1])
        verdict: CitationVerdict
        for verdict, nodes in (
            ("supported", self._checker.nodes(cited) if cited else []),
            ("reattributed", self._checker.nodes(exclude=cited)),
        ):
            if (quote := locate(body, nodes)) is not None:
                return self.ledger.show(
                    unit, [Shown(block, (quote,), verdict, "code: stands in the section", 1.0)]
                )
        return self.ledger.note(unit, "dropped", "code: not in any section of the context")
