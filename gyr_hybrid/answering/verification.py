"""Check one sentence of an answer against the sections that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from llama_index.core.schema import BaseNode, NodeWithScore
from rapidfuzz import fuzz

from gyr_hybrid.answering.verdict import Quote, Verdict

_SENTENCE = re.compile(r"[^。！？；!?\n]+[。！？；!?]*")


def _plain(node: BaseNode | NodeWithScore) -> BaseNode:
    return node.node if isinstance(node, NodeWithScore) else node


def verify(
    sentence: str, nodes: Sequence[BaseNode | NodeWithScore], *, lexicon: object | None = None
) -> Verdict:
    """Compare ``sentence`` with its best source sentence in ``nodes``."""
    best: Quote | None = None
    for node in map(_plain, nodes):
        text: str = node.get_content()
        for found in _SENTENCE.finditer(text):
            body = found.group().strip()
            if not body:
                continue
            score = fuzz.token_ratio(" ".join(sentence), " ".join(body)) / 100
            if best is None or score > best.support:
                start = found.start() + found.group().index(body)
                best = Quote(node.node_id, start, start + len(body), body, score)
    if best is None:
        return Verdict("uncertain", "no_source: nothing to compare with")
    quotes = (best,)
    if not sentence_figures_in_quotes(sentence, [q.text for q in quotes]):
        return Verdict("contradicted", "figure: not in its quote", quotes, best.support, hard=True)
    if best.support >= 0.8:
        return Verdict("supported", "near_quotation", quotes, best.support)
    return Verdict("uncertain", "coverage: too far from its quote", quotes, best.support)


def sentence_figures_in_quotes(sentence: str, quotes: Iterable[str], *, headings: Iterable[str] = ()) -> bool:
    """Whether every figure, date and code of ``sentence`` stands in a quote or heading."""
    known = set(re.findall(r"[0-9A-Za-z_.-]*\d[0-9A-Za-z_.-]*", " ".join([*quotes, *headings])))
    return all(f in known for f in re.findall(r"[0-9A-Za-z_.-]*\d[0-9A-Za-z_.-]*", sentence))
