"""Take a model's answer group by group: what each unit is, and what of it the reader sees.

A group is a paragraph while streaming, else the whole answer; its open units are put to the judge in one question.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from llama_index.core.schema import BaseNode

from gyr_hybrid.answering.context.citations import Parsed
from gyr_hybrid.answering.context.packing import Context, plain_text
from gyr_hybrid.answering.enforcement.deciding import BEFORE, Decider, Request, Settings, Standing, squeezed
from gyr_hybrid.answering.enforcement.ledger import Ledger, Shown
from gyr_hybrid.answering.enforcement.triage import cells_of, is_lead_in, is_unfinished, plain, silent_reason
from gyr_hybrid.answering.enforcement.units import Segmenter, Unit
from gyr_hybrid.answering.prompts import is_model_refusal
from gyr_hybrid.answering.response import CitationVerdict
from gyr_hybrid.figures import even_fold
from gyr_hybrid.verification import Quote
from gyr_hybrid.verification.quotation import find_quote, squeeze
from gyr_hybrid.verification.restrictions import restrictions
from gyr_hybrid.verification.sources import content, read_source

Steps = Generator[Request, Any, list[str]]


class Enforcement:
    """The checks of one answer over one context; lives as long as the answer."""

    def __init__(self, context: Context, settings: Settings) -> None:
        self._context = context
        self._settings = settings
        self._header_stands = True
        self.ledger = Ledger(context, settings.language)
        self._decider = Decider(context, settings, self.ledger)
        self._written: list[str] = []
        self._read: dict[int, tuple[Unit, Standing | None]] = {}
        self.claims = 0
        """Units that said something about the subject, shown or not."""

    @property
    def dropped(self) -> list[tuple[str, str]]:
        """(Sentence, section that it cites) of the claims that were left out."""
        return self._decider.dropped

    def segmenter(self) -> Segmenter:
        """Cuts the answer; citations stay with their sentence."""
        return self._decider.segmenter()

    def check(self, units: Sequence[Unit]) -> Steps:
        """Check the units of one group; the value is the pieces of text to show for them."""
        units = [part for unit in units for part in self._opened(unit)]
        standings = [self._standing(unit) for unit in units]
        yield from self._decider.judge([s for s in standings if s is not None])
        pieces: list[str] = []
        for unit, standing in zip(units, standings, strict=True):
            pieces += yield from self._show(unit, standing)
        return pieces

    def _opened(self, unit: Unit) -> Sequence[Unit]:
        """A fence around what is no code of any section is no fence: the units in it."""
        if unit.kind != "code" or self._stands_as_code(unit):
            return [unit]
        head, _, body = self._block(unit).partition("\n")
        if head.strip("`~ ").lower() not in ("", "text", "txt", "markdown", "md"):
            return [unit]
        inner = self.segmenter()
        found = [*inner.feed(body.rpartition("\n")[0]), *inner.finish()]
        return [u for u in found if u.kind != "code"]

    def is_open(self, unit: Unit) -> bool:
        """Whether a judge has to be asked about a unit; units are given in their order, each before it is checked."""
        standing = self._standing(unit)
        return standing is not None and standing.checked.outcome == "open" and bool(standing.nodes)

    def _standing(self, unit: Unit) -> Standing | None:
        if id(unit) not in self._read:
            self._read[id(unit)] = unit, self._stand(unit)
        return self._read[id(unit)][1]

    def _stand(self, unit: Unit) -> Standing | None:
        """What the rules say of a unit; None when it claims nothing."""
        if unit.kind in ("heading", "rule", "code"):
            return None
        raw = unit.raw.split("\n")[0].strip("| ").replace("|", " ") if unit.kind == "header" else unit.raw
        parsed = self._decider.parse(raw)
        if unit.kind != "header" and silent_reason(parsed, self._context, self._settings.has_content):
            return None
        before = tuple(self._written[-BEFORE:])
        self._written.append(plain(parsed.text))
        if unit.kind == "header" and self._is_header(unit):
            return None
        if unit.kind not in ("header", "row") and is_lead_in(parsed.text) and self._is_bare(parsed):
            return None
        standing = self._decider.stand(unit, parsed, before)
        if is_model_refusal(standing.sentence) and standing.checked.outcome != "verbatim":
            standing.nodes = ()  # that the material lacks something is nothing to judge
        return standing

    def _is_header(self, unit: Unit) -> bool:
        """Whether the names of a table's columns stand in the sections as such names, or as headings."""
        texts = []
        for node in self._decider.nodes():
            source = read_source(node)
            names = [b.text for b in source.blocks if b.kind in ("header", "heading", "head")]
            texts.append(squeeze("\n".join([*source.path, *names]))[0])
        cells = [squeeze(cell)[0] for cell in cells_of(unit.raw.split("\n")[0]) if cell.strip()]
        return all(any(cell in text for text in texts) for cell in cells)

    def _is_bare(self, parsed: Parsed) -> bool:
        """Whether a lead-in says nothing by itself: all its words stand in the question or in headings."""
        known = [
            self._settings.question,
            *(str(p) for n in self._decider.nodes() for p in read_source(n).path),
        ]
        text = even_fold(plain(parsed.text)).rstrip(":： ")
        words = set(content(text)) - {w for k in known for w in content(even_fold(k))} - _LEADING
        return not restrictions(text) and len(words) <= _SAYS_NOTHING

    def _show(self, unit: Unit, standing: Standing | None) -> Steps:
        ledger = self.ledger
        ledger.composer.enter(unit)
        if unit.before not in ("", " ") or unit.kind != "sentence":
            ledger.before = ("", ())
        if unit.kind in ("heading", "rule"):
            return ledger.note(unit, "silent", unit.kind)
        if unit.kind == "code":
            return self._code(unit)
        if unit.kind == "header":
            self._header_stands = standing is None or standing.verdict.value == "supported"
            if self._header_stands:
                ledger.composer.lead(unit, unit.raw)
                return []
            return ledger.note(unit, "dropped", "header: not the source's columns")
        parsed = standing.parsed if standing is not None else self._decider.parse(unit.raw)
        if standing is None:
            if reason := silent_reason(parsed, self._context, self._settings.has_content):
                return ledger.note(unit, "silent", reason)
            ledger.composer.lead(unit, parsed.text)
            return ledger.note(unit, "kept_with_list", "shown if something that follows is")
        if is_model_refusal(standing.sentence) and standing.checked.outcome != "verbatim":
            return ledger.note(unit, "refusal", "the model says that the material lacks this")
        if unit.kind != "row" and is_lead_in(parsed.text):
            return self._lead_in(unit, standing)
        self.claims += 1
        times = ledger.times_shown(standing.sentence)
        if times and not (unit.kind == "item" and self._occurrences(standing) > times):
            return ledger.note(unit, "silent", "said already")
        if unit.kind == "row" and not self._header_stands:
            unit = Unit("sentence", unit.raw, "\n\n")
            standing.unit = unit
            standing.parsed = self._decider.parser.parse(
                "，".join(filter(None, cells_of(parsed.text))) + "。"
            )
        shown = yield from self._decider.decide(standing, self._settings.max_retries)
        return ledger.show(unit, shown)

    # units that are no sentences

    def cut_off(self, unit: Unit) -> bool:
        """Leave out the last unit of an answer that was cut off, if it stops in the middle; whether it does."""
        if unit.kind == "sentence" and not is_unfinished(self._decider.parser.parse(unit.raw).text):
            return False
        self.ledger.note(unit, "dropped", "cut off in the middle")
        return True

    def _lead_in(self, unit: Unit, standing: Standing) -> list[str]:
        """A lead-in with content of its own stays with what follows it iff it is borne."""
        if standing.verdict.value == "supported" or (
            self._settings.policy == "flag" and standing.verdict.value == "uncertain"
        ):
            self.ledger.composer.lead(unit, standing.parsed.text)
            return self.ledger.note(unit, "kept_with_list", "shown if something that follows is")
        return self.ledger.note(unit, "dropped", standing.verdict.reason)

    def _occurrences(self, standing: Standing) -> int:
        wanted = squeezed(standing.sentence)
        return sum(
            squeezed(unit.text) == wanted for node in standing.nodes for unit in read_source(node).units
        )

    @staticmethod
    def _block(unit: Unit) -> str:
        return unit.raw[: max(unit.raw.rfind("```"), unit.raw.rfind("~~~")) + 3]

    def _stands_as_code(self, unit: Unit) -> tuple[BaseNode, Quote] | None:
        """The section in which a block of code stands, character for character but for blanks."""
        block = self._block(unit)
        cited = self._decider.parser.parse(unit.raw[len(block) :]).cited
        words = "\n".join(block.split("\n")[1:-1])
        body = "".join(words.split())
        for node in [*(self._decider.nodes(cited) if cited else []), *self._decider.nodes(without=cited)]:
            if body and body in "".join(plain_text(node).split()):
                quote = find_quote(words, read_source(node))
                if quote is not None:
                    return node, quote
        return None

    def _code(self, unit: Unit) -> list[str]:
        """Code is shown when it stands in a section."""
        self.claims += 1
        found = self._stands_as_code(unit)
        if found is None:
            return self.ledger.note(unit, "dropped", "code: not in any section of the context")
        node, quote = found
        block = self._block(unit)
        cited = self._decider.parser.parse(unit.raw[len(block) :]).cited
        verdict: CitationVerdict = "supported" if node.node_id in cited else "reattributed"
        reason = "code: stands in the section"
        return self.ledger.show(unit, [Shown(block, (quote,), verdict, reason, 1.0, "verbatim")])


_SAYS_NOTHING = 4
"""Most words of its own, in pairs of characters, that a bare lead-in has: what it leads to, in two words."""
_LEADING = frozenset(
    "如下 以下 下列 步骤 方法 具体 内容 说明 情况 办法 流程 操作 答案 follow steps below these here".split()
)
"""What a bare lead-in consists of."""
