"""Check one sentence: quotation, facts, a judge or near-quotation, in this order.

Figures and codes are compared by rules, which nobody overrules. Whether other words say the same is asked of a judge, if
there is one. What neither settles is uncertain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from llama_index.core.schema import BaseNode

from gyr_hybrid.verification.facts import check_facts
from gyr_hybrid.verification.near_quotation import near_quotation
from gyr_hybrid.verification.quotation import best_unit, find_verbatim, unit_quote
from gyr_hybrid.verification.sources import Source, read_source
from gyr_hybrid.verification.verdict import Claim, Nodes, Quote, Verdict, Verifier, plain_nodes

Outcome = Literal["verbatim", "contradicted", "open"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What the rules say of a sentence before any judge is asked."""

    outcome: Outcome
    reason: str
    quotes: tuple[Quote, ...] = ()
    near: tuple[Quote, ...] = ()
    """Of an open sentence: the places that it nearly quotes, for want of a judge."""
    support: float = 0.0

    def verdict(self, judged: Verdict | None = None) -> Verdict:
        """The verdict of the rules together with a judge's, if one was asked."""
        if self.outcome == "verbatim":
            return Verdict("supported", self.reason, self.quotes, 1.0, "verbatim")
        if self.outcome == "contradicted":
            return Verdict("contradicted", self.reason, self.quotes, self.support, "rules")
        if judged is not None:
            value = "supported" if judged.value == "supported" else "uncertain"
            quotes = judged.quotes or self.near or self.quotes
            return Verdict(value, judged.reason, quotes, judged.support or self.support, "judge")  # type: ignore[arg-type]
        if self.near:
            return Verdict(
                "supported", "near_quotation: its words in their order", self.near, self.support, "rules"
            )
        return Verdict("uncertain", self.reason, self.quotes, self.support)


def check(sentence: str, cited: Sequence[BaseNode], context: Sequence[BaseNode] = ()) -> Checked:
    """What the rules say of a sentence that cites ``cited``, of the sections ``context`` that its writer had."""
    sources = [source for node in cited if (source := read_source(node)).units]
    if not sources:
        return Checked("open", "source: nothing to compare with")
    for source in sources:
        if quote := find_verbatim(sentence, source):
            return Checked("verbatim", "verbatim: stands in the section", (quote,), (), 1.0)
    others = [read_source(n) for n in context if n.node_id not in {node.node_id for node in cited}]
    facts = check_facts(sentence, sources, others)
    quotes, support = _closest(sentence, sources)
    if facts.value == "contradicted":
        return Checked("contradicted", facts.reason, quotes, (), support)
    near: tuple[Quote, ...] = ()
    if facts.value == "agree":
        near = near_quotation(sentence, sources)
    return Checked("open", facts.reason or "words: other words than the section's", quotes, near, support)


def _closest(sentence: str, sources: Sequence[Source]) -> tuple[tuple[Quote, ...], float]:
    found = [(best[1], unit_quote(s, best[0], best[1])) for s in sources if (best := best_unit(sentence, s))]
    if not found:
        return (), 0.0
    support, quote = max(found, key=lambda f: f[0])
    return (quote,), support


def verify(sentence: str, nodes: Nodes, *, judge: Verifier | None = None) -> Verdict:
    """Whether the sections bear a sentence.

    Args:
        sentence: one sentence, list item or table row, without labels.
        nodes: the sections it rests on, ours or anyone's.
        judge: asked when the sentence is neither a quotation nor at odds with the figures and codes of its sections.
            None: only a near-quotation is ``supported`` then.

    Returns:
        ``supported``, ``uncertain`` or ``contradicted``, with the check that decided and the places of the source.

    >>> from llama_index.core.schema import TextNode
    >>> node = TextNode(text="银行卡退款 3-7 个工作日到账，支付宝 1-3 个工作日。")
    >>> [verify(s, [node]).value for s in ("支付宝 1-3 个工作日。", "银行卡退款 1-3 个工作日到账。", "钱很快就到。")]
    ['supported', 'contradicted', 'uncertain']
    """
    cited = plain_nodes(nodes)
    checked = check(sentence, cited)
    if judge is None or checked.outcome != "open" or not cited:
        return checked.verdict()
    many = getattr(judge, "verify_many", None)
    judged = many([Claim(sentence, tuple(cited))])[0] if many else judge.verify(sentence, cited)
    return replace(checked.verdict(judged))
