"""Everything between retrieval and the model: unknown codes, look-alikes, context, evidence, refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from llama_index.core.schema import BaseNode, NodeWithScore

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.answering.answer import Answer
from gyr_hybrid.answering.context.packing import build_context, document_id, plain_text
from gyr_hybrid.answering.evidence import EVIDENCE_MIN, WEAK
from gyr_hybrid.answering.in_use import InUse
from gyr_hybrid.answering.measuring import measure, touched
from gyr_hybrid.answering.prompts import Language
from gyr_hybrid.answering.question import Candidate, Question
from gyr_hybrid.answering.question_parts import evidence_of_parts
from gyr_hybrid.answering.refusal import family_warning, unanswered_warning, unknown_warning
from gyr_hybrid.answering.response import UnknownIdentifier
from gyr_hybrid.answering.small_talk import is_small_talk, meets
from gyr_hybrid.answering.weighing import section_terms, word_weights
from gyr_hybrid.notices import said
from gyr_hybrid.retrieval.asked import asked_besides
from gyr_hybrid.retrieval.code_lookup import hangs_on
from gyr_hybrid.retrieval.parts import split_question
from gyr_hybrid.retrieval.resolved_code import look_alike, relatives
from gyr_hybrid.retrieval.result import Retrieval

HEAD = 80
"""Characters in which a code stands that an excerpt begins with."""
MARKS = ' \t*_`|>「『【[（(“"'
"""What may stand before it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a retriever brought, ours or anyone's."""

    nodes: Sequence[NodeWithScore]
    retrieval: Retrieval = field(default_factory=lambda: Retrieval([]))
    """Without a ``run`` for a retriever that is not ours."""
    warnings: Sequence[str] = field(default_factory=tuple)


def prepare(
    question: str,
    found: Found,
    *,
    analyzer: Analyzer,
    language: Language,
    citation_format: str,
    token_budget: int,
    refusal_text: str | None,
    with_llm: bool = False,
    min_evidence: float | None = None,
    small_talk: Callable[[str], str] | str | None = None,
    in_use: InUse | None = None,
) -> Answer:
    """An answer that is either refused already or ready to be written.

    Args:
        with_llm: a model answers: only what nothing visible touches is refused here.
        min_evidence: the border without a model; None is ``EVIDENCE_MIN``.
        small_talk: the application's answer to small talk.
    """
    border = EVIDENCE_MIN if min_evidence is None else min_evidence
    retrieval = found.retrieval
    codes = retrieval.codes
    known = [c for c in codes if c.status != "unknown"]
    unknown = [c for c in codes if c.status == "unknown"]
    nodes = without_look_alikes(found.nodes, retrieval, analyzer) if codes else list(found.nodes)
    context = build_context(nodes, citation_format, token_budget)
    answer = Answer(question, language, context, refusal_text=refusal_text, in_use=in_use or InUse())
    if is_small_talk(question) and not meets(question, context.facts, analyzer):
        answer.refusal_reason = "small_talk"
        answer.small_talk = small_talk(question) if callable(small_talk) else small_talk
        return answer
    answer.unknown_identifiers = [UnknownIdentifier(c.text, tuple(c.suggestions)) for c in unknown]
    if unknown:
        answer.warnings.append(unknown_warning(answer.unknown_identifiers, language))
    borne = {code for node in context.nodes for code in retrieval.bearing.get(node.node_id, ())}
    for family in (c for c in codes if c.status == "family"):
        members = {match.canonical for match in family.matches}
        if not members <= borne:
            shown = len(members & borne)
            answer.warnings.append(family_warning(family.text, len(members), shown, language))
    warnings = (said(warning, language) for warning in found.warnings)
    answer.warnings.extend(w for w in warnings if w not in answer.warnings)
    sections = [section_terms(node, analyzer) for node in context.facts]
    weights = word_weights(question, retrieval, analyzer)
    if unknown and not known:
        hanging = any(
            hangs_on(
                question,
                code,
                analyzer=analyzer,
                codes=codes,
                section_terms=sections,
                idf=lambda word: weights.get(word, max(weights.values(), default=1.0)),
                synonyms=retrieval.synonyms,
            )
            for code in unknown
        )
        if hanging:
            answer.refusal_reason = "unknown_identifier"
            return answer
    answer.evidence = measure(question, context, sections, weights, retrieval) if context.nodes else 0.0
    parts = evidence_of_parts(context, sections, retrieval, analyzer) if context.nodes else {}
    answer.evidence = max([answer.evidence, *parts.values()])
    if with_llm:
        enough = touched(context, sections, weights, retrieval)
    else:
        enough = bool(context.nodes) and answer.evidence >= border
        answer.weak = retrieval.run is not None and answer.evidence < border + WEAK
    if not enough:
        answer.refusal_reason = "no_evidence"
    elif answer.evidence >= border:
        answer.unanswered = tuple(part for part, value in parts.items() if value < border)
        answer.warnings.extend(unanswered_warning(part, language) for part in answer.unanswered)
    return answer


def without_look_alikes(
    nodes: Sequence[NodeWithScore], retrieval: Retrieval, analyzer: Analyzer
) -> list[NodeWithScore]:
    """Leave out sections that bear only codes that look like the question's, none of the question's own.

    For a code that no document has, sections whose headings are about another code of its family are left out too:
    what they say is said of that one.
    """
    wanted = {match.canonical for code in retrieval.codes for match in code.matches}
    unknown = [code.canonical for code in retrieval.codes if code.status == "unknown" and code.known_shape]

    def misleads(node: BaseNode) -> bool:
        if retrieval.bearing.get(node.node_id):
            return False
        others = retrieval.all_codes.get(node.node_id, frozenset()) - wanted
        if any(look_alike(other, code) for other in others for code in (*wanted, *unknown)):
            return True
        related = {other for other in others for code in unknown if relatives(other, code)}
        return bool(related) and not related.isdisjoint(_codes_above(node, analyzer))

    return [n for n in nodes if not misleads(n.node)]


def _codes_above(node: BaseNode, analyzer: Analyzer) -> set[str]:
    """Codes of the headings above a section."""
    path = node.metadata.get("header_path") or []
    headings = [path] if isinstance(path, str) else list(map(str, path))
    return {mention.code.canonical for mention in analyzer.mentions("", header_path=headings)}


def material(answer: Answer, found: Found, analyzer: Analyzer) -> tuple[Question, list[Candidate]]:
    """Question and sections as an extraction needs them."""
    retrieval = found.retrieval
    known = [c for c in retrieval.codes if c.status != "unknown"]
    weights = word_weights(answer.question, retrieval, analyzer)
    if any(len(code.matches) > 1 for code in known):  # nothing besides the family: ``SV 系列有哪些型号``
        weights = asked_besides(
            answer.question, weights, analyzer=analyzer, codes=retrieval.codes, defined=True
        )
    codes = tuple(dict.fromkeys(c.matches[0].canonical for c in known if c.matches))
    members = frozenset(match.canonical for code in known for match in code.matches)

    def head(text: str) -> str | None:
        """The code that a text begins with, marks of Markdown and brackets left out."""
        first = next(iter(analyzer.codes(text[:HEAD])), None)
        return first.canonical if first is not None and not text[: first.start].strip(MARKS) else None

    def terms(text: str) -> set[str]:
        """Words, and codes that a range names by its ends."""
        named = {mention.code.canonical for mention in analyzer.mentions(text)} if members else set()
        return analyzer.terms(text) | named

    question = Question(
        answer.question,
        weights,
        retrieval.synonyms,
        terms,
        codes,
        members=members,
        head=head,
        split=lambda text: [p for p in split_question(text, analyzer) if p not in answer.unanswered],
        orders=_orders_of_parts(answer, retrieval),
    )
    focus = {
        step.node_id: [(c["start"], c["end"]) for c in dict(step.details).get("children", ())]
        for step in retrieval.explanation.merged
    }
    return question, [
        _candidate(n.node, fact, retrieval, focus, analyzer)
        for n, fact in zip(answer.context.nodes, answer.context.facts, strict=True)
    ]


def _orders_of_parts(answer: Answer, retrieval: Retrieval) -> dict[str, list[int]]:
    """Part of the question -> numbers of the context's sections as the search for that part had them."""
    number = {source.node.node_id: i for i, source in enumerate(answer.context.nodes)}
    variants = retrieval.run.variants if retrieval.run is not None else []
    return {
        variant.query.query_str: [number[unit] for unit, _ in variant.order if unit in number]
        for variant in variants
        if variant.kind == "part"
    }


def _candidate(
    node: BaseNode,
    fact: BaseNode,
    retrieval: Retrieval,
    focus: Mapping[str, list[tuple[int, int]]],
    analyzer: Analyzer,
) -> Candidate:
    text = plain_text(fact)
    offset = getattr(node, "start_char_idx", None) or 0
    return Candidate(
        text,
        section_terms(node, analyzer),
        retrieval.bearing.get(node.node_id, frozenset()),
        [(start - offset, end - offset) for start, end in focus.get(node.node_id, ())],
        (document_id(node), offset),
    )
