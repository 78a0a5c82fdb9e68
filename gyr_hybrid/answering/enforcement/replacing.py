"""The source's own sentence in place of one that could not be verified."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from llama_index.core.schema import BaseNode
from rapidfuzz import fuzz

from gyr_hybrid.answering.context.packing import plain_text
from gyr_hybrid.answering.enforcement.checking import squeezed
from gyr_hybrid.answering.excerpts import Excerpt, excerpt_at, excerpts
from gyr_hybrid.answering.verification.lexicon import Lexicon, key_of
from gyr_hybrid.answering.verification.rivals import of_other_codes
from gyr_hybrid.answering.verification.verdict import Quote, Verdict
from gyr_hybrid.answering.verification.verifier import section_of, with_mined

UNCITED = 0.5
"""The same for a sentence that cites nothing."""
ALIGNED = 0.3
"""Least support at which a source sentence counts as what an unsupported sentence was about."""
SIMILAR = 60.0
"""Likeness (0..100) from which another sentence of the cited section counts too."""

_TOPIC_END = re.compile(r"[，,：:。；;]|的，")

Place = tuple[str, int, int]


def replacements(
    sentence: str,
    verdict: Verdict,
    nodes: Sequence[BaseNode],
    shown: Collection[Place],
    lexicon: Lexicon | None,
    *,
    cited: bool = True,
) -> Iterator[tuple[BaseNode, Excerpt]]:
    """Source sentences that may stand in for ``sentence``, best first.

    Args:
        nodes: sections that may be quoted: those that it cites, all when it cites none.
        shown: places already quoted in this answer.
        cited: whether the sentence cites the nodes.
    """
    by_id = {node.node_id: node for node in nodes}
    for node, excerpt in _candidates(sentence, verdict, by_id, cited=cited):
        if excerpt.is_lead_in or (node.node_id, excerpt.start, excerpt.end) in shown:
            continue
        if of_other_codes(sentence, excerpt.text):
            continue
        if not speaks_of_a_rival(sentence, node, excerpt.text, lexicon):
            yield node, excerpt


def speaks_of_a_rival(sentence: str, node: BaseNode, source: str, lexicon: Lexicon | None) -> bool:
    """Whether a sentence of a section speaks of another plan, party or row than ``sentence`` does."""
    path = node.metadata.get("header_path") or ""
    heading = path if isinstance(path, str) else " ".join(map(str, path))
    known = with_mined(lexicon or Lexicon.builtin(), [section_of(node)])
    return contrasts(sentence, source, heading, known)


def _candidates(
    sentence: str, verdict: Verdict, by_id: dict[str, BaseNode], *, cited: bool
) -> Iterator[tuple[BaseNode, Excerpt]]:
    for quote in sorted(verdict.quotes, key=lambda q: -q.support):
        node = by_id.get(quote.node_id)
        if node is not None and quote.support >= (ALIGNED if cited else UNCITED):
            excerpt = excerpt_at(plain_text(node), quote.start, quote.end)
            if excerpt is not None:
                yield node, excerpt
    wanted = squeezed(sentence)
    ranked = [
        (fuzz.partial_ratio(wanted, squeezed(excerpt.text)), node, excerpt)
        for node in by_id.values()
        for excerpt in excerpts(plain_text(node))
        if excerpt.kind not in ("heading", "header", "code") and len(squeezed(excerpt.text)) > 3
    ]
    for score, node, excerpt in sorted(ranked, key=lambda row: -row[0]):
        if score >= SIMILAR:
            yield node, excerpt


def nearest(sentence: str, nodes: Sequence[BaseNode]) -> tuple[Quote, ...]:
    """The most similar sentence, whatever it is worth; support 0."""
    wanted = squeezed(sentence)
    ranked = [
        (fuzz.ratio(wanted, squeezed(excerpt.text)), node, excerpt)
        for node in nodes
        for excerpt in excerpts(plain_text(node))
        if excerpt.kind not in ("heading", "header")
    ]
    if not ranked:
        return ()
    _, node, excerpt = max(ranked, key=lambda row: row[0])
    return (Quote(node.node_id, excerpt.start, excerpt.end, excerpt.text, 0.0),)


def contrasts(sentence: str, source: str, heading: str, lexicon: Lexicon) -> bool:
    """Whether the topic of ``sentence`` and the source speak of rivals: another plan, party or role.

    >>> contrasts("企业版最多 5 个账本。", "专业版：最多 5 个账本。", "", Lexicon.builtin())
    True
    """
    topic = key_of(_TOPIC_END.split(sentence, maxsplit=1)[0])
    said, stands = key_of(sentence), key_of(f"{heading} {source}")
    for word, rivals in lexicon.contrasts.items():
        if (
            _has(topic, word)
            and not _has(stands, word)
            and any(_has(stands, rival) and not _has(said, rival) for rival in rivals)
        ):
            return True
    return False


def _has(text: str, word: str) -> bool:
    if word.isascii():
        return re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text) is not None
    return word in text
