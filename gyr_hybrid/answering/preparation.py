"""Everything between retrieval and the model: unknown codes, look-alikes, context, evidence, refusal."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from llama_index.core.schema import BaseNode, NodeWithScore

from gyr_hybrid.analysis import Analyzer, fold
from gyr_hybrid.answering.answer import Answer
from gyr_hybrid.answering.context.packing import Context, build_context, document_id, plain_text
from gyr_hybrid.answering.evidence import (
    EVIDENCE_MIN,
    Signals,
    coverage,
    evidence,
    evidence_of_code,
    names_fault,
    runs,
)
from gyr_hybrid.answering.extractive import Candidate, Question
from gyr_hybrid.answering.prompts import Language
from gyr_hybrid.answering.refusal import unknown_warning
from gyr_hybrid.answering.response import UnknownIdentifier
from gyr_hybrid.retrieval.asked import asked_besides, light
from gyr_hybrid.retrieval.code_lookup import ResolvedCode, hangs_on, look_alike
from gyr_hybrid.retrieval.result import Retrieval
from gyr_hybrid.retrieval.run import Run

UNKNOWN_BESIDE = 0.6
"""Most evidence for a question that names an unknown code, though it does not hang on it."""
HEAD = 80
"""Characters in which a code stands that an excerpt begins with."""
MARKS = ' \t*_`|>「『【[（(“"'
"""What may stand before it."""
LEAST_SPREAD = 1e-4
"""Difference of cosines below which vectors are alike."""
FILTERED_OUT = 0.3
"""Most evidence for a question about a known code when no section found bears it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a retriever brought, ours or anyone's."""

    nodes: Sequence[NodeWithScore]
    retrieval: Retrieval | None = None
    """None for a retriever that is not ours."""
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
) -> Answer:
    """An answer that is either refused already or ready for the model."""
    retrieval = found.retrieval or Retrieval(list(found.nodes))
    codes = retrieval.codes
    known = [c for c in codes if c.status != "unknown"]
    unknown = [c for c in codes if c.status == "unknown"]
    nodes = without_look_alikes(found.nodes, retrieval) if known else list(found.nodes)
    context = build_context(nodes, citation_format, token_budget)
    answer = Answer(question, language, context, refusal_text=refusal_text)
    answer.unknown_identifiers = [UnknownIdentifier(c.text, tuple(c.suggestions)) for c in unknown]
    if unknown:
        answer.warnings.append(unknown_warning(answer.unknown_identifiers, language))
    answer.warnings.extend(w for w in found.warnings if w not in answer.warnings)
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
    if answer.evidence < EVIDENCE_MIN:
        answer.refusal_reason = "no_evidence"
    return answer


def without_look_alikes(nodes: Sequence[NodeWithScore], retrieval: Retrieval) -> list[NodeWithScore]:
    """Leave out sections that bear only codes that look like the question's, none of the question's own."""
    wanted = {match.canonical for code in retrieval.codes for match in code.matches}

    def misleads(node: BaseNode) -> bool:
        if retrieval.bearing.get(node.node_id):
            return False
        borne = retrieval.all_codes.get(node.node_id, frozenset())
        return any(look_alike(other, code) for other in borne - wanted for code in wanted)

    return [n for n in nodes if not misleads(n.node)]


def section_terms(node: BaseNode, analyzer: Analyzer) -> set[str]:
    """Terms of a section's text and heading path."""
    path = node.metadata.get("header_path") or []
    parts = [path] if isinstance(path, str) else list(map(str, path))
    return analyzer.terms("\n".join([*parts, plain_text(node)]))


def word_weights(question: str, retrieval: Retrieval, analyzer: Analyzer) -> dict[str, float]:
    """Content word, codes left out -> idf; what no document has weighs most; all alike without an idf."""
    if retrieval.run is None:
        return dict.fromkeys(analyzer.content_words(question), 1.0)
    children = retrieval.run.view.n_children
    heaviest = math.log(1 + (children + 0.5) / 0.5)
    weights = {word: weight or heaviest for word, weight in retrieval.word_weights.items()}
    return _without_codes(weights, retrieval.codes)


def _without_codes(weights: Mapping[str, float], codes: Sequence[ResolvedCode]) -> dict[str, float]:
    """The words that are neither a code nor the word beside it that says what it is."""
    taken = {form.casefold() for code in codes for form in (code.text, code.canonical)}
    classes = [code.class_word.casefold() for code in codes if code.class_word]
    return {
        word: weight
        for word, weight in weights.items()
        if word.casefold() not in taken and not any(word.casefold() in name for name in classes)
    }


def measure(
    question: str,
    context: Context,
    sections: Sequence[set[str]],
    weights: Mapping[str, float],
    retrieval: Retrieval,
) -> float:
    """Evidence of a context; anyone's nodes are taken at their retriever's word (0.5 at least)."""
    synonyms = retrieval.synonyms
    covers = coverage(weights, sections, synonyms)
    if retrieval.run is None:
        return 0.5 + 0.5 * covers
    unseen = {word for word in weights if not retrieval.word_weights.get(word)}
    known = [code for code in retrieval.codes if code.status != "unknown"]
    bearing = [i for i, node in enumerate(context.facts) if retrieval.bearing.get(node.node_id)]
    if known and bearing:
        texts = [_with_path(context.facts[i]) for i in bearing]
        fault = any(map(names_fault, texts)) or any(names_fault(code.class_word or "") for code in known)
        levels = [retrieval.run.levels.get(context.facts[i].node_id, (0, 0)) for i in bearing]
        defined = any(defines for _, defines in levels)
        rest = asked_besides(
            question, weights, analyzer=retrieval.run.analyzer, codes=retrieval.codes, defined=defined
        )
        least = light(retrieval.run.view.n_children)
        across = _met_across(fold(question), unseen & rest.keys(), retrieval.run, map(fold, texts))
        return evidence_of_code(
            rest,
            unseen - across,
            [sections[i] for i in bearing],
            synonyms,
            defined=defined,
            fault=fault,
            least=least,
        )
    folded = [fold(_with_path(node)) for node in context.facts]
    met = [
        {word for word in weights if any(o in terms for o in synonyms.get(word, ()))} for terms in sections
    ]
    tells = _vectors_tell(retrieval.run)
    value = evidence(
        Signals(
            coverage=covers,
            runs=runs(fold(question), [fold(word) for word in weights], folded, met),
            bm25=_bm25_share(weights, unseen, retrieval),
            lead=_lead(retrieval.run),
            agreement=_agreement(retrieval.run) if tells else None,
            cosine=retrieval.cosine_best if tells else None,
            heading=coverage(
                weights, [_path_terms(node, retrieval.run.analyzer) for node in context.facts], synonyms
            ),
        ),
        retrieval.run.view.n_children,
    )
    if known:
        return min(value, FILTERED_OUT)
    return min(value, UNKNOWN_BESIDE) if retrieval.codes else value


def _met_across(question: str, words: Collection[str], run: Run, texts: Iterable[str]) -> set[str]:
    """Unseen words that overlap a pair of characters which the documents have as a word, but not ``texts``.

    The segmenter may cut a question otherwise than the documents: ``能开发票吗`` as ``开发 票``.
    """
    bearing = list(texts)
    found: set[str] = set()
    for word in words:
        for place in re.finditer(re.escape(fold(word)), question):
            for start in range(max(0, place.start() - 1), place.end()):
                pair = question[start : start + 2]
                if len(pair) == 2 and run.view.idf(pair) > 0 and not any(pair in text for text in bearing):
                    found.add(word)
    return found


def _path_terms(node: BaseNode, analyzer: Analyzer) -> set[str]:
    path = node.metadata.get("header_path") or []
    return analyzer.terms(path if isinstance(path, str) else "\n".join(map(str, path)))


def _with_path(node: BaseNode) -> str:
    path = node.metadata.get("header_path") or []
    return "\n".join([*([path] if isinstance(path, str) else map(str, path)), plain_text(node)])


def _bm25_share(weights: Mapping[str, float], unseen: Collection[str], retrieval: Retrieval) -> float | None:
    bound = retrieval.bm25_bound + sum(weights[word] for word in unseen)
    return min(1.0, retrieval.bm25_best / bound) if bound > 0 else None


def _sections_of(run: Run, leg: str) -> dict[str, float]:
    """Section -> score of its best child in a leg, best first."""
    home = {child: unit.node_id for unit in run.merged for child in unit.children}
    best: dict[str, float] = {}
    for hit in run.legs.get(leg, ()):
        best.setdefault(home.get(hit.node_id, hit.node_id), hit.score)
    return best


def _vectors_tell(run: Run) -> bool:
    """Whether the vectors tell one child from another; equal cosines, as of a mock model, say nothing."""
    scores = [hit.score for hit in run.legs.get("dense", ())]
    return len(scores) < 2 or max(scores) - min(scores) > LEAST_SPREAD


def _lead(run: Run) -> float | None:
    if run.options.mode == "dense":
        return None
    first, *others = [*_sections_of(run, "lexical").values(), 0.0]
    return (first - others[0]) / first if first > 0 and others else 0.0


def _agreement(run: Run) -> float | None:
    if run.vector is None or run.options.mode != "hybrid":
        return None
    words = {section: rank for rank, section in enumerate(_sections_of(run, "lexical"), 1)}
    vectors = {section: rank for rank, section in enumerate(_sections_of(run, "dense"), 1)}
    return max((1 / (words[s] * vectors[s]) for s in words.keys() & vectors.keys()), default=0.0)


def material(answer: Answer, found: Found, analyzer: Analyzer) -> tuple[Question, list[Candidate]]:
    """Question and sections as an extraction needs them."""
    retrieval = found.retrieval or Retrieval(list(found.nodes))
    known = [c for c in retrieval.codes if c.status != "unknown"]
    weights = word_weights(answer.question, retrieval, analyzer)
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
        answer.question, weights, retrieval.synonyms, terms, codes, members=members, head=head
    )
    focus = {
        step.node_id: [(c["start"], c["end"]) for c in dict(step.details).get("children", ())]
        for step in retrieval.explanation.merged
    }
    return question, [
        _candidate(n.node, fact, retrieval, focus, analyzer)
        for n, fact in zip(answer.context.nodes, answer.context.facts, strict=True)
    ]


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
