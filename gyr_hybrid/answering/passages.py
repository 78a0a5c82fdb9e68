"""Answer without a model: the passages that answer, as well-formed Markdown, each under its heading path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from llama_index.core.schema import BaseNode

from gyr_hybrid.analysis import count_tokens, fold, split_sentences
from gyr_hybrid.analysis.sentences import token_spans
from gyr_hybrid.answering.asking import asked_figure
from gyr_hybrid.answering.context.packing import Context, plain_text
from gyr_hybrid.answering.enforcement.citing import cite
from gyr_hybrid.answering.evidence import covered
from gyr_hybrid.answering.passage_text import PassageText
from gyr_hybrid.answering.question import Candidate, Question
from gyr_hybrid.answering.response import Citation, Decision
from gyr_hybrid.figures import find_figures
from gyr_hybrid.text.blocks import Block, read_blocks, standing_under
from gyr_hybrid.verification import Quote

MOST = 400
"""Tokens of a passage."""
CLEARLY = 0.5
"""Share of the question's weight by which a later section must have more than the first to be shown instead."""
PART_COVERED = 0.3
"""Share of a further question that a section must cover to be shown for it."""
AHEAD = 1.25
"""How many times the worth of the next one the record that is asked for has."""
_REASON = "extraction: the source's own words"
_TITLED = ("heading", "head", "question", "header")
_PLAIN = (".txt", ".text")


@dataclass(slots=True)
class Passages:
    """An answer of passages."""

    pieces: list[str] = field(default_factory=list)
    """One for each passage; joined they are the answer."""
    citations: list[Citation] = field(default_factory=list)
    trace: list[Decision] = field(default_factory=list)


def passages(context: Context, question: Question, sections: Sequence[Candidate]) -> Passages:
    """The passages that answer the question; ``sections`` are those of the context, best first."""
    found = Passages()
    for number, part in _chosen(question, sections):
        node, source = context.nodes[number].node, context.sources[number]
        raw, fact = plain_text(node), plain_text(context.facts[number])
        blocks = read_blocks(fact, plain=_is_plain(node))
        shown = _shown(part, sections[number], blocks)
        text = PassageText(node, fact, blocks, context.parser())
        body = text.body(shown, source.label)
        if not body:
            continue
        lines = [text.heading, body] if text.heading else [body]
        found.pieces.append(("\n\n" if found.pieces else "") + "\n\n".join(lines))
        for start, end, said in text.runs(shown):
            span = Quote(node.node_id, start, end, raw[start:end], 1.0)
            found.citations.append(cite(node, span, source.label, said, "quoted", _REASON, 1.0, "verbatim"))
            found.trace.append(Decision(span.text, "shown", _REASON, said, (node.node_id,)))
    return found


def _is_plain(node: BaseNode) -> bool:
    return str(node.metadata.get("source") or node.metadata.get("file_name") or "").lower().endswith(_PLAIN)


# which sections


def _chosen(question: Question, sections: Sequence[Candidate]) -> list[tuple[int, Question]]:
    """The sections that answer each part of the question or each of its codes, with what is asked of them."""
    if not sections:
        return []
    parts, chosen = question.parts(), dict[int, Question]()
    in_parts = len(parts) > 1 and len(question.codes) < 2 and not question.asks_family
    if not in_parts and (question.codes or question.members) and (bearing := _bearing(question, sections)):
        return [(number, question) for number in dict.fromkeys(bearing)]
    for part in parts:
        best = _best(part, sections, several=len(parts) > 1)
        if best is not None:
            chosen[best] = chosen[best].joined(part) if best in chosen else part
    return list(chosen.items()) or [(0, question)]


def _best(part: Question, sections: Sequence[Candidate], *, several: bool) -> int | None:
    total = sum(part.weights.values()) or 1.0
    shares = [covered(part.weights, section.terms, part.synonyms) / total for section in sections]
    if order := part.orders.get(part.text):
        return next((i for i in order if shares[i] >= PART_COVERED), None if several else order[0])
    best = max(range(len(sections)), key=lambda i: (shares[i], -i))
    if several:
        return best if shares[best] >= PART_COVERED else None
    if shares[best] >= shares[0] + CLEARLY:
        return best
    figure = asked_figure(fold(part.text))
    kinds = figure.kinds if figure is not None else frozenset[str]()
    if not kinds or not shares[0]:
        return 0
    document = sections[0].place[0]  # whose sections are told apart by what stands in them
    as_good = [i for i, s in enumerate(sections) if s.place[0] == document and shares[i] >= shares[0] - 0.01]
    return next((i for i in as_good if any(f.kind in kinds for f in find_figures(sections[i].text))), 0)


def _bearing(question: Question, sections: Sequence[Candidate]) -> list[int]:
    """Of several codes the first section for each; of one those of its document that define it, or the first."""
    bearing = [i for i, section in enumerate(sections) if section.codes]
    if question.asks_family or len(question.codes) > 1:
        total, seen, chosen = sum(question.weights.values()), set[str](), []
        for i in bearing if question.asks_family else ():
            about = covered(question.weights, sections[i].terms, question.synonyms) >= PART_COVERED * total
            if about and not seen.issuperset(sections[i].codes):
                seen.update(sections[i].codes)
                chosen.append(i)
        if not chosen:
            firsts = (_first(code, bearing, sections) for code in question.codes)
            chosen = [i for i in firsts if i is not None]
        documents = list(dict.fromkeys(sections[i].place[0] for i in chosen))
        return sorted(chosen, key=lambda i: (documents.index(sections[i].place[0]), sections[i].place[1]))
    if question.weights or not bearing:
        return bearing[:1]
    same = [i for i in bearing if sections[i].place[0] == sections[bearing[0]].place[0]][:3]
    return sorted(same, key=lambda i: sections[i].place[1])


def _first(code: str, bearing: Sequence[int], sections: Sequence[Candidate]) -> int | None:
    return next((i for i in bearing if code in sections[i].codes), None)


# which blocks


def _shown(question: Question, section: Candidate, blocks: Sequence[Block]) -> dict[int, tuple[int, int]]:
    """Index of a block -> the stretch of its text that is shown."""
    kept = _with_over(blocks, _asked(question, blocks))
    if all(blocks[i].kind == "heading" for i in kept):
        return {}
    if sum(count_tokens(blocks[i].text) for i in kept) > MOST:
        kept, best = _around(question, section, blocks, kept)
        if count_tokens(blocks[best].text) > MOST:
            cut = _cut(question, blocks[best].text)
            return {i: cut if i == best else (0, len(blocks[i].text)) for i in sorted(kept)}
    return {i: (0, len(blocks[i].text)) for i in sorted(kept)}


def _with_over(blocks: Sequence[Block], kept: set[int]) -> set[int]:
    return kept | {over for i in kept for over in standing_under(blocks, i)}


def _asked(question: Question, blocks: Sequence[Block]) -> set[int]:
    """All blocks, less rows and records beside those that are asked for."""
    kept = set(range(len(blocks)))
    families: dict[tuple[str, int | None], list[int]] = {}
    for i, block in enumerate(blocks):
        listed = block.kind == "item" and question.head(block.text) is not None
        if block.kind in ("row", "head", "question") or listed:
            families.setdefault((block.kind, block.under), []).append(i)
    groups = {i: [j for j in kept if i == j or i in standing_under(blocks, j)] for i in kept}
    by_code: set[int] = set()
    for (kind, _), family in families.items():
        if len(family) < 2:
            continue
        texts = {i: "\n".join(blocks[j].text for j in groups[i]) for i in family}
        picked = [i for i in family if question.bears(texts[i])]
        if picked and len(picked) < len(family):
            by_code.update(j for i in picked for j in groups[i])
        elif not picked:
            picked = _rows(question, blocks, family) if kind == "row" else _record(question, blocks, texts)
        if picked:
            kept -= {j for i in family if i not in picked for j in groups[i]}
    if by_code:
        kept = {i for i in kept if i in by_code or question.bears(blocks[i].text)}
    return kept


def _rows(question: Question, blocks: Sequence[Block], family: Sequence[int]) -> list[int]:
    """Rows with words of the question that the other rows and what they stand under lack."""
    over = "\n".join(blocks[i].text for i in standing_under(blocks, family[0]))
    words = [w for w in question.weights if not question.worth_of(over, [w])]
    met = {i: frozenset(w for w in words if question.worth_of(blocks[i].text, [w])) for i in family}
    common = frozenset.intersection(*met.values())
    telling = {i: found - common for i, found in met.items()}
    return [i for i, found in telling.items() if found and not any(found < o for o in telling.values())]


def _record(question: Question, blocks: Sequence[Block], texts: dict[int, str]) -> list[int]:
    """The record that has clearly most of the question; its head counts twice."""
    worth = {i: question.worth(text) + question.worth(blocks[i].text) for i, text in texts.items()}
    best, second = sorted(worth, key=lambda i: -worth[i])[:2]
    return [best] if worth[best] and worth[best] >= AHEAD * worth[second] else []


def _around(
    question: Question, section: Candidate, blocks: Sequence[Block], kept: set[int]
) -> tuple[set[int], int]:
    """The best block with its neighbours, as many as there is room for."""

    def merit(i: int) -> tuple[float, int, int]:
        spans = (min(e, blocks[i].end) - max(s, blocks[i].start) for s, e in section.focus[:1])
        return question.worth(blocks[i].text), max(0, *spans, 0), -i

    best = max((i for i in kept if blocks[i].kind not in ("heading", "header")), key=merit)
    chosen = _with_over(blocks, {best})
    order = sorted(kept)
    down = [i for i in order if i > best]
    up = [i for i in reversed(order) if i < best]
    while down or up:
        for side in (down, up):
            wider = _with_over(blocks, chosen | {side[0]}) if side else chosen
            if side and sum(count_tokens(blocks[i].text) for i in wider) <= MOST:
                chosen = wider
                side.pop(0)
            else:
                side.clear()
    while max(chosen) != best and blocks[max(chosen)].kind in _TITLED:
        chosen.discard(max(chosen))
    return chosen, best


def _cut(question: Question, text: str) -> tuple[int, int]:
    """The sentences around the best one."""
    spans = split_sentences(text)
    first = last = max(range(len(spans)), key=lambda i: (question.worth(text[slice(*spans[i])]), -i))
    grown = True
    while grown:
        grown = False
        for a, b in ((first, last + 1), (first - 1, last)):
            if a >= 0 and b < len(spans) and count_tokens(text[spans[a][0] : spans[b][1]]) <= MOST:
                first, last, grown = min(a, first), max(b, last), True
    start, end = spans[first][0], spans[last][1]
    tokens = token_spans(text[start:end])
    return start, start + tokens[MOST - 1][1] if len(tokens) > MOST else end
