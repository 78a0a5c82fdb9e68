"""The source's own sentence in place of one that could not be verified."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from llama_index.core.schema import BaseNode
from rapidfuzz import fuzz

from gyr_hybrid.answering.context.packing import plain_text
from gyr_hybrid.answering.enforcement.checking import squeezed
from gyr_hybrid.answering.enforcement.ledger import Place, Shown
from gyr_hybrid.answering.excerpts import Excerpt, excerpt_at, excerpts
from gyr_hybrid.answering.naming import label_of, named_in
from gyr_hybrid.answering.verification.lexicon import Lexicon, key_of
from gyr_hybrid.answering.verification.rivals import of_other_codes
from gyr_hybrid.answering.verification.verdict import Quote, Verdict
from gyr_hybrid.answering.verification.verifier import section_of, with_mined
from gyr_hybrid.figures import find_figures, source_figures, standing

UNCITED = 0.5
"""The same for a sentence that cites nothing."""
ALIGNED = 0.3
"""Least support at which a source sentence counts as what an unsupported sentence was about."""
SIMILAR = 60.0
"""Likeness (0..100) from which another sentence of the cited section counts too."""

_TOPIC_END = re.compile(r"[，,：:。；;]|的，")

_HAN_WORD = re.compile(r"[\u3400-\u9fff]{2,}")


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
    others = {node.node_id: _of_other_labels(sentence, node) for node in nodes}
    for node, excerpt in _candidates(sentence, verdict, by_id, cited=cited):
        if excerpt.start in others[node.node_id]:
            continue
        if excerpt.is_lead_in or (node.node_id, excerpt.start, excerpt.end) in shown:
            continue
        if of_other_codes(sentence, excerpt.text):
            continue
        if not speaks_of_a_rival(sentence, node, excerpt.text, lexicon):
            yield node, excerpt


def _of_other_labels(sentence: str, node: BaseNode) -> set[int]:
    """Where the rows and items begin that are not those which the sentence names by their label.

    Where it names none, those rows whose label, in Han characters, has nothing in common with it.
    """
    listed = _labelled(node)
    named = {excerpt.start for excerpt in named_in(sentence, listed)}
    if named:
        return {excerpt.start for excerpt in listed} - named
    words = squeezed(sentence)
    return {e.start for e in listed if e.kind == "row" and not _touches(squeezed(label_of(e)), words)}


def _touches(label: str, words: str) -> bool:
    """Whether two neighbouring Han characters of a label stand in the words; true of labels of another script."""
    return not _HAN_WORD.fullmatch(label) or any(label[i : i + 2] in words for i in range(len(label) - 1))


def _labelled(node: BaseNode) -> list[Excerpt]:
    return [excerpt for excerpt in excerpts(plain_text(node)) if label_of(excerpt)]


def speaks_of_a_rival(sentence: str, node: BaseNode, source: str, lexicon: Lexicon | None) -> bool:
    """Whether a sentence of a section speaks of another plan, party or row than ``sentence`` does."""
    known = with_mined(lexicon or Lexicon.builtin(), [section_of(node)])
    return contrasts(sentence, source, _heading(node), known)


def _heading(node: BaseNode) -> str:
    path = node.metadata.get("header_path") or ""
    return path if isinstance(path, str) else " ".join(map(str, path))


def _candidates(
    sentence: str, verdict: Verdict, by_id: dict[str, BaseNode], *, cited: bool
) -> Iterator[tuple[BaseNode, Excerpt]]:
    for quote in sorted(verdict.quotes, key=lambda q: -q.support):
        node = by_id.get(quote.node_id)
        if node is not None and quote.support >= (ALIGNED if cited else UNCITED):
            excerpt = excerpt_at(plain_text(node), quote.start, quote.end)
            if excerpt is not None:
                yield node, excerpt
    if cited:
        for node in by_id.values():
            yield from ((node, excerpt) for excerpt in named_in(sentence, _labelled(node)))
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


def of_another(sentence: str, again: Sequence[Shown], instead: Shown) -> bool:
    """Whether a second attempt at ``sentence`` is about something else than it: than the source's own words for it.

    They are about the same when they rest on the same place, or are as like to the sentence as the source's words.
    """
    (place,) = instead.quotes
    return all(
        _likeness(sentence, one.text) < _likeness(sentence, instead.text)
        and not any(
            q.node_id == place.node_id and q.start < place.end and place.start < q.end for q in one.quotes
        )
        for one in again
    )


def _likeness(sentence: str, other: str) -> float:
    """0..100, figures left out: they are what was wrong."""
    a, b = (re.sub(r"\d", "", squeezed(text)) for text in (sentence, other))
    return fuzz.partial_ratio(a, b)


def with_code_of(sentence: str, node: BaseNode, source: str) -> str:
    """The source's words behind the label of the list item that they stand in for, where it is the section's code.

    >>> from llama_index.core.schema import TextNode
    >>> node = TextNode(text="住宿每晚 400 元。", metadata={"header_path": ["P4 员工"]})
    >>> with_code_of("P4：住宿 500 元。", node, "住宿每晚 400 元。")
    'P4：住宿每晚 400 元。'
    """
    label = label_of(Excerpt("item", 0, len(sentence), sentence))
    codes = [figure for figure in find_figures(label) if figure.kind == "code"]
    heading = [figure for figure in find_figures(_heading(node)) if figure.kind == "code"]
    if not codes or any(standing(f, heading) != "same" for f in codes):
        return source
    if all(standing(f, source_figures(source)) == "same" for f in codes):
        return source
    return sentence[: sentence.index(label) + len(label)] + ("：" if "：" in sentence else ": ") + source


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
