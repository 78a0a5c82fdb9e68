"""Check one sentence of an answer against the sections that it cites.

The sentence is read as claims, each claim is laid beside the passage that says most of it, and small named
checks look for what differs. A figure, date or code that the source does not have contradicts the sentence for
good; every other difference makes it uncertain, and the reader gets the source's own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

from gyr_hybrid.answering.excerpts import excerpt_at
from gyr_hybrid.answering.verification.aligned import Aligned
from gyr_hybrid.answering.verification.alignment import align
from gyr_hybrid.answering.verification.checks import findings
from gyr_hybrid.answering.verification.claims import claims_of
from gyr_hybrid.answering.verification.enumerations import Pair, contrasting_pairs, parallel_pairs
from gyr_hybrid.answering.verification.figure_checks import explained_figures
from gyr_hybrid.answering.verification.findings import Evidence
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.passages import Section
from gyr_hybrid.answering.verification.quotation import verbatim_span, without_list_mark
from gyr_hybrid.answering.verification.section_reader import read_section
from gyr_hybrid.answering.verification.verdict import Quote, Verdict
from gyr_hybrid.figures import Figure, find_figures, source_figures, standing


def verify(
    sentence: str, nodes: Sequence[BaseNode | NodeWithScore], *, lexicon: Lexicon | None = None
) -> Verdict:
    """Judge ``sentence`` by ``nodes``, the sections that it cites.

    ``lexicon`` holds the owner's synonyms and contrast groups; without one the shipped groups are used.
    ``supported`` means that no contradiction was found and that the sentence stays close to its quotes.

    >>> from llama_index.core.schema import TextNode
    >>> source = TextNode(text="套餐到期后有 7 天宽限期，宽限期内功能正常。")
    >>> verify("套餐到期后有七天宽限期。", [source]).value
    'supported'
    >>> verdict = verify("套餐到期后有 9 天宽限期。", [source])
    >>> verdict.value, verdict.hard, verdict.check
    ('contradicted', True, 'figure')
    """
    plain = [n.node if isinstance(n, NodeWithScore) else n for n in nodes]
    sections = [section_of(node) for node in plain]
    known = with_mined(lexicon or Lexicon.builtin(), sections)
    for node, section in zip(plain, sections, strict=True):
        span = verbatim_span(sentence, section)
        if span:
            quote = Quote(node.node_id, *span, section.text[slice(*span)], 1.0)
            return Verdict("supported", "verbatim: the source's own words", (quote,), 1.0)
    sentence = without_list_mark(sentence)
    aligned: list[Aligned] = []
    for claim in claims_of(sentence):
        one = align(claim, sections, known, aligned[-1] if aligned else None)
        if one:
            aligned.append(one)
    if not aligned:
        return Verdict("uncertain", "no_source: the sentence claims nothing that could be compared")
    weights = [max(1, len(a.claim.words) + 2 * len(a.claim.figures)) for a in aligned]
    explained = explained_figures(aligned, sections, sentence)
    support = sum(a.support_with(explained) * w for a, w in zip(aligned, weights, strict=True)) / sum(weights)
    quotes = _quotes(aligned, sections, plain)
    found = findings(Evidence(sentence, tuple(aligned), tuple(sections), known, explained))
    hard = next((f for f in found if f.hard), None)
    if hard:
        return Verdict("contradicted", hard.reason, quotes, support, hard=True)
    if found:
        return Verdict("uncertain", found[0].reason, quotes, support)
    return Verdict("supported", f"near_quotation: {support:.2f}", quotes, support)


def with_mined(lexicon: Lexicon, sections: Iterable[Section]) -> Lexicon:
    """The lexicon with the contrasts that the sections themselves make."""
    return lexicon.with_contrasts(pair for section in sections for pair in _mined(section))


@lru_cache(maxsize=512)
def _mined(section: Section) -> frozenset[Pair]:
    """Words that the section's own enumerations set against one another."""
    pairs = parallel_pairs(section.passages)
    for heads in section.enumerations:
        pairs |= contrasting_pairs(heads)
    return frozenset(pairs)


def section_of(node: BaseNode) -> Section:
    """A node read into passages, with title, heading path and table header from its metadata."""
    path = node.metadata.get("header_path") or ()
    headings = [path] if isinstance(path, str) else [str(h) for h in path]
    title = node.metadata.get("title")
    if title and str(title) not in headings:
        headings.insert(0, str(title))
    return read_section(
        node.get_content(MetadataMode.NONE), tuple(headings), str(node.metadata.get("table_header") or "")
    )


def lent_lines(node: BaseNode, quote: Quote) -> list[str]:
    """Title, heading path and table header that a quote of the node may take figures from."""
    section = section_of(node)
    row = excerpt_at(section.text, quote.start, quote.end)
    return [*section.heading.split("\n"), *(row.header.split("\n")[:1] if row else ())]


def _quotes(
    aligned: Iterable[Aligned], sections: Sequence[Section], nodes: Sequence[BaseNode]
) -> tuple[Quote, ...]:
    spans: dict[tuple[int, int, int], float] = {}
    for one in aligned:
        section = sections[one.section]
        used = [section.sentences[one.passage.sentence]]
        if one.passage.lead and any(f.place == "carried" for f in one.found):
            used.append(one.passage.lead)
        for start, end in used:
            key = (one.section, start, end)
            spans[key] = max(spans.get(key, 0.0), one.support)
    return tuple(
        Quote(nodes[i].node_id, start, end, sections[i].text[start:end], round(support, 4))
        for (i, start, end), support in spans.items()
    )


def missing_figures(sentence: str, quotes: Iterable[str], headings: Iterable[str] = ()) -> tuple[Figure, ...]:
    """Figures, dates and codes of ``sentence`` that stand in no quote, table header or heading."""
    known = [f for text in (*quotes, *headings) for f in source_figures(text)]
    return tuple(f for f in find_figures(sentence) if not f.weak and standing(f, known) != "same")


def sentence_figures_in_quotes(sentence: str, quotes: Iterable[str], *, headings: Iterable[str] = ()) -> bool:
    """Whether every figure, date and code of ``sentence`` stands in a quote, table header or heading.

    >>> sentence_figures_in_quotes("专业版 39 元/月", ["折合每月 39 元"]), sentence_figures_in_quotes("7 天", ["7 个工作日"])
    (True, False)
    """
    return not missing_figures(sentence, quotes, headings)
