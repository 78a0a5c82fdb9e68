"""Check sentences against the sections of a context: what the model quoted first, what stands before it last."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from llama_index.core.schema import BaseNode, TextNode
from rapidfuzz import fuzz

from gyr_hybrid.answering.context.packing import Context, plain_text
from gyr_hybrid.answering.excerpts import excerpts
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.quotation import without_list_mark
from gyr_hybrid.answering.verification.verdict import Quote, Verdict
from gyr_hybrid.answering.verification.verifier import lent_lines, missing_figures, verify

NEAR_QUOTATION = 0.6
"""Least support at which a supported sentence is shown as the model wrote it."""
VERBATIM = 90.0
"""Likeness (0..100) to its quote that a sentence needs which the section it cites contradicts."""
_RECKONED = re.compile(
    r"[÷×*/+−=＝]|折合|折算|平均|相当于|合计|共计|总共|一共|总计|per |equals|total|average|altogether",
    re.IGNORECASE,
)
"""Signs that a sentence says how it comes by a figure."""
_ABSENT = ("words", "coverage", "no_source", "replaced")
"""Checks that say that a section lacks a sentence, not that it says otherwise."""
_CARRIED = ("subject", "contrast")
"""Checks that an earlier sentence can bring up."""
_LED = (*_CARRIED, "polarity")
"""Checks that a lead-in, or an earlier clause of the same sentence, can bring up."""


class Checker:
    """Verifies against one context; remembers nothing."""

    def __init__(self, context: Context, lexicon: Lexicon | None) -> None:
        self._context = context
        self._lexicon = lexicon

    def nodes(self, ids: Sequence[str] = (), exclude: Sequence[str] = ()) -> list[BaseNode]:
        """Sections of the context, without what they address to the model; all when no ids are given."""
        return [
            node
            for node in self._context.facts
            if (not ids or node.node_id in ids) and node.node_id not in exclude
        ]

    def verify(self, sentence: str, nodes: Sequence[BaseNode]) -> Verdict:
        """The plain check."""
        if not nodes:
            return Verdict("uncertain", "no_source: nothing to compare with")
        return verify(sentence, nodes, lexicon=self._lexicon)

    def check(
        self,
        sentence: str,
        nodes: Sequence[BaseNode],
        *,
        quotes: Sequence[str] = (),
        lead: str = "",
        columns: str = "",
        clauses: str = "",
        before: str = "",
        before_ids: Sequence[str] = (),
    ) -> Verdict:
        """Check a sentence where it stands.

        Args:
            quotes: the words that the model says it rests on; tried first where they stand in ``nodes``.
            lead: lead-ins that it hangs on; it must hold with them too (else ``lead_in`` is the check that fired).
            columns: the names of a row's columns; a row may not be under those of something else.
            clauses: earlier clauses of the same sentence; likewise.
            before: the sentence shown before it, whose subject it may take over.
            before_ids: sections cited for ``before``.
        """
        verdict = self._quoted(sentence, nodes, quotes)
        if verdict is None or not is_near(verdict):
            verdict = self.verify(sentence, nodes)
        if is_near(verdict) and (loose := self._unquoted(sentence, verdict, nodes)):
            verdict = replace(verdict, value="uncertain", reason=f"unquoted: {loose!r} stands in no quote")
        for name, text, checks in (
            ("lead_in", lead, _LED),
            ("column", columns, _CARRIED),
            ("clause", clauses, _LED),
            ("before", before, _CARRIED),
        ):
            if not text or not is_near(verdict):
                continue
            beside = nodes
            if name == "before":
                text = text.rstrip("。.；; ") + "；"
                beside = [*nodes, *(n for n in self.nodes(before_ids) if n not in nodes)]
            whole = self.verify(text + without_list_mark(sentence), beside)
            if whole.value == "contradicted" or whole.check in checks:
                reason = f"{name}: {whole.reason}"
                verdict = replace(verdict, value=whole.value, reason=reason, hard=whole.hard)
        return verdict

    def elsewhere(
        self, sentence: str, cited: Sequence[str], verdict: Verdict, *, lead: str = "", clauses: str = ""
    ) -> Verdict | None:
        """Another section that supports a sentence which the sections it cites do not; None if none does.

        What they contradict must stand elsewhere nearly word for word.
        """
        nodes = self.nodes(exclude=cited) if cited else []
        if not nodes:
            return None
        other = self.check(sentence, nodes, lead=lead, clauses=clauses)
        if not is_near(other):
            return None
        if verdict.check not in _ABSENT:
            source = "".join(q.text for q in other.quotes)
            if fuzz.partial_ratio(squeezed(sentence), squeezed(source)) < VERBATIM:
                return None
        return other

    def _unquoted(self, sentence: str, verdict: Verdict, nodes: Sequence[BaseNode]) -> str:
        """The first figure that no quote has, unless the sentence shows how it is reckoned; empty if there is none."""
        if _RECKONED.search(sentence):
            return ""
        by_id = {node.node_id: node for node in nodes}
        headings = [
            line
            for quote in verdict.quotes
            if quote.node_id in by_id
            for line in lent_lines(by_id[quote.node_id], quote)
        ]
        found = missing_figures(sentence, [quote.text for quote in verdict.quotes], headings)
        return found[0].text if found else ""

    def _quoted(self, sentence: str, nodes: Sequence[BaseNode], quotes: Sequence[str]) -> Verdict | None:
        found = [q for quote in quotes if (q := locate(quote, nodes)) is not None]
        if not found:
            return None
        by_id = {node.node_id: node for node in nodes}
        parts = [
            TextNode(id_=str(i), text=q.text, metadata=by_id[q.node_id].metadata) for i, q in enumerate(found)
        ]
        verdict = verify(sentence, parts, lexicon=self._lexicon)

        def moved(quote: Quote) -> Quote:
            home = found[int(quote.node_id)]
            return replace(
                quote, node_id=home.node_id, start=quote.start + home.start, end=quote.end + home.start
            )

        return replace(verdict, quotes=tuple(map(moved, verdict.quotes)))


def is_near(verdict: Verdict) -> bool:
    """Whether a sentence may be shown as the model wrote it."""
    return verdict.value == "supported" and verdict.support >= NEAR_QUOTATION and bool(verdict.quotes)


def squeezed(text: str) -> str:
    """Letters, digits and Han characters only."""
    return re.sub(r"\W+", "", text).casefold()


def occurrences(sentence: str, nodes: Sequence[BaseNode]) -> int:
    """How often a sentence, item or row stands in the sections; blanks and punctuation do not count."""
    wanted = squeezed(sentence)
    return sum(squeezed(excerpt.text) == wanted for node in nodes for excerpt in excerpts(plain_text(node)))


def locate(words: str, nodes: Sequence[BaseNode]) -> Quote | None:
    """Where ``words`` stand in one of the nodes, character for character, blanks not counted."""
    wanted = "".join(words.split())
    if len(wanted) < 2:
        return None
    for node in nodes:
        text = plain_text(node)
        at = [i for i, char in enumerate(text) if not char.isspace()]
        found = "".join(text[i] for i in at).find(wanted)
        if found >= 0:
            start, end = at[found], at[found + len(wanted) - 1] + 1
            return Quote(node.node_id, start, end, text[start:end], 1.0)
    return None
