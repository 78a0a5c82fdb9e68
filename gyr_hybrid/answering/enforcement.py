"""Decide, unit by unit, what of a model's answer the reader sees.

The work is a generator that never calls a model itself: it yields what it wants to know (`AskAgain`, `Judge`)
and is sent the reply. So the same decisions are driven synchronously, asynchronously and while streaming. A
decision depends on the unit, the context and earlier units only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from llama_index.core.schema import BaseNode

from gyr_hybrid.analysis import split_sentences
from gyr_hybrid.answering.checking import Checker, is_near, locate, squeezed
from gyr_hybrid.answering.citations import Parsed
from gyr_hybrid.answering.citing import cite
from gyr_hybrid.answering.composition import Composer
from gyr_hybrid.answering.context import Context
from gyr_hybrid.answering.excerpts import cells_of, row_as_text, row_under
from gyr_hybrid.answering.lexicon import Lexicon
from gyr_hybrid.answering.prompts import Language, is_model_refusal, is_pleasantry
from gyr_hybrid.answering.replacing import ALIGNED, Place, nearest, replacements
from gyr_hybrid.answering.response import Action, Citation, CitationVerdict, Decision
from gyr_hybrid.answering.units import Segmenter, Unit
from gyr_hybrid.answering.verdict import Quote, Verdict

Policy = Literal["strict", "flag"]

MARKS: dict[Language, str] = {"zh": "〔未核实〕", "en": " (unverified)"}

_LEAD_IN = re.compile(r"[:：]\s*[*_]*$")
_REFERENCES = re.compile(
    r"^\W*(?:参考|引用|资料|信息|内容)?(?:来源|出处|资料|文献|文档)(?:如下)?\W*$|^\W*(?:sources?|references?|citations?)\W*$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?<=[；;])(?=\s*\S)")
_TERMINAL = re.compile(r"[。！？；…!?;.：:][”’」』》）)\]\"'*_]*$")


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
Steps = Generator[Request, Any, list[str]]


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
class _Shown:
    text: str
    quotes: tuple[Quote, ...]
    verdict: CitationVerdict
    reason: str
    support: float


@dataclass(frozen=True, slots=True)
class _Standing:
    """What a unit stands behind."""

    lead: str = ""
    """Lead-ins of its list."""
    before: str = ""
    """The sentence shown before it in the same paragraph."""
    before_ids: tuple[str, ...] = ()
    clauses: str = ""
    """Earlier clauses of the same sentence."""


class Enforcement:
    """The checks of one answer over one context; lives as long as the answer."""

    def __init__(self, context: Context, settings: Settings) -> None:
        self._context = context
        self._settings = settings
        self.parser = context.parser()
        self._checker = Checker(context, settings.lexicon)
        self._composer = Composer()
        self._places: set[Place] = set()
        self._last: tuple[str, tuple[str, ...]] = ("", ())
        self._header = ""
        self._said: set[str] = set()
        self.citations: list[Citation] = []
        self.trace: list[Decision] = []
        self.warnings: list[str] = []
        self.claims = 0
        """Units that said something about the subject, shown or not."""
        self.dropped: list[tuple[str, str]] = []
        """(sentence, section that it cites) of the claims that were left out."""

    def segmenter(self) -> Segmenter:
        """Cuts the answer; citations stay with their sentence."""
        return Segmenter(self.parser.is_citation)

    def check(self, unit: Unit) -> Steps:
        """Check one unit; the value is the pieces of text to show for it."""
        self._composer.enter(unit)
        if unit.before not in ("", " ") or unit.kind != "sentence":
            self._last = ("", ())
        if unit.kind in ("heading", "rule"):
            return self._silent(unit, unit.kind)
        if unit.kind == "header":
            self._composer.lead(unit, unit.raw)
            self._header = unit.raw
            return []
        if unit.kind == "code":
            return self._check_code(unit)
        parsed = self.parser.parse(unit.raw)
        text = parsed.text
        if not text or is_pleasantry(text) or not self._settings.has_content(_plain(text)):
            return self._silent(unit, "no content")
        if _REFERENCES.match(text) or (parsed.cited and self._names_source(text, parsed.cited)):
            return self._silent(unit, "names its sources only")
        if unit.kind != "row" and _LEAD_IN.search(text):
            return self._lead_in(unit, parsed)
        if is_model_refusal(text) and not is_near(self._checker.verify(_plain(text), self._checker.nodes())):
            return self._note(unit, "refusal", "the model says that the material lacks this")
        self.claims += 1
        lead = self._composer.lead_text
        if unit.kind == "row" and self._header:
            lead += " ".join(cells_of(self._header.split("\n")[0])) + "："
        standing = _Standing(lead, *self._last)
        shown = yield from self._decide(unit, parsed, standing, self._settings.max_retries)
        return [self._show(unit, one, first=i == 0) for i, one in enumerate(shown)]

    # decisions

    def _decide(
        self, unit: Unit, parsed: Parsed, standing: _Standing, retries: int
    ) -> Generator[Request, Any, list[_Shown]]:
        sentence, cited = _plain(parsed.text), parsed.cited
        verdict = self._verdict(sentence, parsed, standing)
        if is_near(verdict):
            return [self._as_written(parsed, verdict)]
        if unit.kind != "row" and len(parts := _parts(parsed.text)) > 1:
            shown: list[_Shown] = []
            for i, part in enumerate(parts):
                place = replace(standing, clauses="".join(parts[:i]))
                shown += yield from self._decide(unit, replace(parsed, text=part), place, retries)
            return shown
        other = self._checker.elsewhere(
            sentence, cited, verdict, lead=_plain(standing.lead), clauses=_plain(standing.clauses)
        )
        if other is not None:
            return [_Shown(parsed.text, other.quotes, "reattributed", other.reason, other.support)]
        if verdict.value != "contradicted" and self._settings.with_verifier:
            judged: Verdict = yield Judge(sentence, tuple(self._checker.nodes(cited)))
            if judged.value == "supported":
                return [self._approved(parsed, verdict, judged)]
            if judged.value == "contradicted":
                verdict = replace(verdict, value="contradicted", reason=f"verifier: {judged.reason}")
        if verdict.value == "contradicted" and retries > 0:
            reply = yield AskAgain(parsed.text, verdict.reason)
            again = yield from self._again(reply, standing, retries - 1)
            if again:
                self._note(unit, "asked_again", verdict.reason)
                return again
        if verdict.value != "contradicted" and self._settings.policy == "flag":
            return [self._flagged(parsed, verdict)]
        replacement = None
        if verdict.check != "lead_in":  # the source's words would say the opposite under the same lead-in
            replacement = self._replacement(unit, sentence, verdict, cited)
        if replacement is not None:
            return [replacement]
        self.dropped.extend((sentence, node_id) for node_id in cited)
        self._note(unit, "dropped", verdict.reason)
        return []

    def _verdict(self, sentence: str, parsed: Parsed, standing: _Standing) -> Verdict:
        return self._checker.check(
            sentence,
            self._checker.nodes(parsed.cited),
            quotes=parsed.quotes,
            lead=_plain(standing.lead),
            clauses=_plain(standing.clauses),
            before=_plain(standing.before),
            before_ids=standing.before_ids,
        )

    def _again(self, reply: str, standing: _Standing, retries: int) -> Generator[Request, Any, list[_Shown]]:
        """The sentences of a second attempt that pass; nothing if none does."""
        segmenter = self.segmenter()
        shown: list[_Shown] = []
        for unit in [*segmenter.feed(reply), *segmenter.finish()]:
            if unit.kind not in ("sentence", "item", "row"):
                continue
            parsed = self.parser.parse(unit.raw)
            sentence = _plain(parsed.text)
            if (
                is_pleasantry(sentence)
                or is_model_refusal(sentence)
                or not self._settings.has_content(sentence)
            ):
                continue
            if squeezed(sentence) in self._said:
                continue
            verdict = self._verdict(sentence, parsed, standing)
            if is_near(verdict):
                shown.append(self._as_written(parsed, verdict))
            elif retries > 0 and verdict.value == "contradicted":
                shown += yield from self._decide(unit, parsed, standing, retries)
        return shown

    def _as_written(self, parsed: Parsed, verdict: Verdict) -> _Shown:
        used = {q.node_id for q in verdict.quotes}
        exact = any(r.exact and r.node_id in used for r in parsed.references)
        name: CitationVerdict = "supported" if exact else "repaired" if parsed.cited else "reattributed"
        return _Shown(parsed.text, verdict.quotes, name, verdict.reason, verdict.support)

    def _approved(self, parsed: Parsed, verdict: Verdict, judged: Verdict) -> _Shown:
        known = {node.node_id for node in self._checker.nodes(parsed.cited)}
        quotes = tuple(q for q in judged.quotes if q.node_id in known) or verdict.quotes
        quotes = quotes or nearest(_plain(parsed.text), self._checker.nodes(parsed.cited))
        shown = self._as_written(parsed, replace(judged, quotes=quotes))
        return replace(shown, reason=f"verifier: {judged.reason}", support=judged.support or verdict.support)

    def _flagged(self, parsed: Parsed, verdict: Verdict) -> _Shown:
        quotes = tuple(q for q in verdict.quotes if q.support >= ALIGNED)[:1]
        if not quotes and parsed.cited:
            quotes = nearest(_plain(parsed.text), self._checker.nodes(parsed.cited))
        support = quotes[0].support if quotes else 0.0
        return _Shown(parsed.text, quotes, "uncertain", verdict.reason, support)

    def _replacement(
        self, unit: Unit, sentence: str, verdict: Verdict, cited: Sequence[str]
    ) -> _Shown | None:
        """The source's own sentence for one that did not pass, from what it cites if it cites anything."""
        nodes = self._checker.nodes(cited)
        for node, excerpt in replacements(sentence, verdict, nodes, self._places, self._settings.lexicon):
            if unit.kind == "row":
                shown = row_under(self._header, excerpt)
            else:
                shown = self.parser.strip(row_as_text(excerpt, self._settings.language))
            if shown:
                quote = Quote(node.node_id, excerpt.start, excerpt.end, excerpt.text, 1.0)
                return _Shown(shown, (quote,), "quoted", verdict.reason, 1.0)
        return None

    # units that are no claims

    def is_unfinished(self, unit: Unit) -> bool:
        """Whether a unit stops in the middle of a sentence."""
        return unit.kind != "sentence" or not _TERMINAL.search(self.parser.parse(unit.raw).text)

    def note_cut(self, unit: Unit) -> None:
        """Leave out a unit that was cut off."""
        self._note(unit, "dropped", "cut off in the middle")

    def _silent(self, unit: Unit, reason: str) -> list[str]:
        return self._note(unit, "silent", reason)

    def _names_source(self, text: str, cited: Sequence[str]) -> bool:
        """Whether a unit is nothing but the title or heading of what it cites, as in a list of sources."""
        words = re.sub(r"\W+", "", text)
        for node_id in cited:
            meta = self._context.node(node_id).metadata
            path = meta.get("header_path") or []
            names = [*([path] if isinstance(path, str) else path), meta.get("title"), meta.get("source")]
            plain = [re.sub(r"\W+", "", str(name)) for name in names if name]
            if words in plain or words in ("".join(plain[: len(plain) - i]) for i in range(len(plain))):
                return True
        return False

    def _note(self, unit: Unit, action: Action, reason: str) -> list[str]:
        self.trace.append(Decision(unit.raw, action, reason))
        return []

    def _lead_in(self, unit: Unit, parsed: Parsed) -> list[str]:
        verdict = self._checker.verify(_plain(parsed.text).rstrip(":： "), self._checker.nodes())
        if verdict.value == "contradicted":
            return self._note(unit, "dropped", verdict.reason)
        self._composer.lead(unit, parsed.text)
        return self._note(unit, "kept_with_list", "shown if something that follows is")

    def _check_code(self, unit: Unit) -> list[str]:
        """Code is shown when it stands in a section, line for line."""
        self.claims += 1
        end = unit.raw.rfind("```") if "```" in unit.raw else unit.raw.rfind("~~~")
        parsed = self.parser.parse(unit.raw[end + 3 :])
        block = unit.raw[: end + 3]
        body = "\n".join(line for line in block.split("\n")[1:-1])
        ids = parsed.cited
        for nodes, name in (
            (self._checker.nodes(ids) if ids else [], "supported"),
            (self._checker.nodes(exclude=ids), "reattributed"),
        ):
            quote = locate(body, nodes)
            if quote is not None:
                shown = _Shown(block, (quote,), name, "code: stands in the section", 1.0)  # type: ignore[arg-type]
                return [self._show(unit, shown, first=True)]
        return self._note(unit, "dropped", "code: not in any section of the context")

    # showing

    def _show(self, unit: Unit, shown: _Shown, *, first: bool) -> str:
        quotes = _merged(shown.quotes)
        labels = {q.node_id: self._context.source(q.node_id).label for q in quotes}
        printed = "".join(dict.fromkeys(labels.values()))
        suffix = ""
        if shown.verdict == "uncertain":
            suffix = MARKS[self._settings.language]
            self.warnings.append(
                f"未核实：{shown.text}" if self._settings.language == "zh" else f"unverified: {shown.text}"
            )
        text = shown.text
        if shown.verdict == "quoted":
            self._places.update((q.node_id, q.start, q.end) for q in quotes)
        for quote in quotes:
            self.citations.append(
                cite(
                    self._context.node(quote.node_id),
                    quote,
                    labels[quote.node_id],
                    text,
                    shown.verdict,
                    shown.reason,
                    shown.support,
                )
            )
        action: Action = {"quoted": "replaced", "uncertain": "flagged"}.get(shown.verdict, "shown")  # type: ignore[assignment]
        self.trace.append(Decision(unit.raw, action, shown.reason, text, tuple(labels)))
        self._last = (text, tuple(labels))
        self._said.add(squeezed(text))
        if first:
            return self._composer.show(unit, text, printed, suffix)
        return self._composer.more(text, printed, suffix)


def _merged(quotes: Sequence[Quote]) -> list[Quote]:
    """Quotes without overlap, sections in order of first appearance, places in order within each."""
    kept: list[Quote] = []
    for quote in quotes:
        if quote.start < quote.end and not any(
            k.node_id == quote.node_id and k.start < quote.end and quote.start < k.end for k in kept
        ):
            kept.append(quote)
    order = {node_id: i for i, node_id in enumerate(dict.fromkeys(q.node_id for q in kept))}
    return sorted(kept, key=lambda q: (order[q.node_id], q.start))


def _parts(text: str) -> list[str]:
    """Sentences and clauses between semicolons of one unit."""
    spans = [text[start:end] for start, end in split_sentences(text)]
    return [part for span in spans for part in _CLAUSE.split(span) if part.strip()]


def _plain(text: str) -> str:
    """Text without Markdown's emphasis."""
    return re.sub(r"\*\*|__|`", "", text).strip()
