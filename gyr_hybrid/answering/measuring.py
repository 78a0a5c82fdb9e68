"""Measure what a retrieval is worth as evidence: the signals of one question, and the one number they make."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from llama_index.core.schema import BaseNode

from gyr_hybrid.analysis import Analyzer, fold
from gyr_hybrid.answering.asking import AskedFigure, asked_figure, asked_thing, only_does
from gyr_hybrid.answering.context.packing import Context, plain_text
from gyr_hybrid.answering.evidence import (
    Signals,
    chance_cosine,
    coverage,
    evidence,
    evidence_of_code,
    names_fault,
    runs,
)
from gyr_hybrid.retrieval.asked import asked_besides, light
from gyr_hybrid.retrieval.result import Retrieval
from gyr_hybrid.retrieval.run import Run

UNKNOWN_BESIDE = 0.6
"""Most evidence for a question that names an unknown code, though it does not hang on it."""
LEAST_SPREAD = 1e-4
"""Difference of cosines below which vectors are alike."""
NO_SUCH_FIGURE, NO_FIGURE = 0.45, 0.25
"""What it weighs against the sections of a code that no figure of the kind asked for stands there; of durations, which
are also told in words, and of any kind less."""
FILTERED_OUT = 0.3
"""Most evidence for a question about a known code when no section found bears it."""


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
    unseen = _unseen(weights, retrieval)
    known = [code for code in retrieval.codes if code.status != "unknown"]
    bearing = [i for i, node in enumerate(context.facts) if retrieval.bearing.get(node.node_id)]
    if known and bearing:
        return _of_codes(question, context, bearing, sections, weights, retrieval, retrieval.run)
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
            figure=_figure(fold(retrieval.run.plain), context.facts),
            named=_named(fold(question), weights, unseen, synonyms),
        ),
        retrieval.run.view.n_children,
    )
    if known:
        return min(value, FILTERED_OUT)
    return min(value, UNKNOWN_BESIDE) if retrieval.codes else value


def touched(
    context: Context, sections: Sequence[set[str]], weights: Mapping[str, float], retrieval: Retrieval
) -> bool:
    """Whether anything visible has to do with the question: a content word, a code, or a cosine above chance."""
    if not context.nodes:
        return False
    run = retrieval.run
    if run is None or any(retrieval.bearing.get(node.node_id) for node in context.facts):
        return True
    if not weights or coverage(weights, sections, retrieval.synonyms) > 0:
        return True  # of a question without a content word (``多少钱``) only a reader can tell
    best = retrieval.cosine_best
    return best is not None and _vectors_tell(run) and best > chance_cosine(run.view.n_children)


def _of_codes(
    question: str,
    context: Context,
    bearing: Sequence[int],
    sections: Sequence[set[str]],
    weights: Mapping[str, float],
    retrieval: Retrieval,
    run: Run,
) -> float:
    """Evidence of the sections that bear the question's codes, ``bearing`` their places in the context."""
    unseen = _unseen(weights, retrieval)
    known = [code for code in retrieval.codes if code.status != "unknown"]
    texts = [_with_path(context.facts[i]) for i in bearing]
    folded_texts = list(map(fold, texts))
    fault = any(map(names_fault, texts)) or any(names_fault(code.class_word or "") for code in known)
    levels = [run.levels.get(context.facts[i].node_id, (0, 0)) for i in bearing]
    defined = any(defines for _, defines in levels)
    rest = asked_besides(question, weights, analyzer=run.analyzer, codes=retrieval.codes, defined=defined)
    about = [text for text, (_, defines) in zip(texts, levels, strict=True) if defines or not defined]
    asked_of = fold(run.plain)
    asked = asked_figure(asked_of)
    figure = None if asked is None else _absence(asked, about)
    if asked is not None and asked.or_words and figure:
        figure = None
    if asked is not None and figure == 0.0:
        rest = {word: weight for word, weight in rest.items() if not asked.belongs(fold(word), asked_of)}
    if len(rest) > 1:
        rest = {
            word: weight
            for word, weight in rest.items()
            if not (word in unseen and only_does(fold(word), asked_of))
        }
    least = light(run.view.n_children)
    across = _met_across(fold(question), unseen & rest.keys(), run, folded_texts)
    return evidence_of_code(
        rest,
        unseen - across,
        [
            sections[i] | {word for word in rest if len(word) == 1 and word in text}
            for i, text in zip(bearing, folded_texts, strict=True)
        ],
        retrieval.synonyms,
        defined=defined,
        fault=fault,
        least=least,
        figure=figure,
    )


def _unseen(weights: Mapping[str, float], retrieval: Retrieval) -> set[str]:
    """Words that no visible document has."""
    return {word for word in weights if not retrieval.word_weights.get(word)}


def _figure(question: str, facts: Sequence[BaseNode]) -> float | None:
    asked = asked_figure(question)
    if asked is None or not asked.kinds:
        return None
    held = [asked.stands_in(plain_text(node)) for node in facts]
    return 1.0 if held[0] else 0.5 if any(held) else 0.0


def _named(
    question: str,
    weights: Mapping[str, float],
    unseen: Collection[str],
    synonyms: Mapping[str, Collection[str]],
) -> float:
    """Share of the words for the thing whose existence is asked that the documents have; 1 where none is asked."""
    place = asked_thing(question)
    if place is None:
        return 1.0
    thing = question[slice(*place)]
    words = {word: weight for word, weight in weights.items() if fold(word) in thing}
    nowhere = sum(weight for word, weight in words.items() if word in unseen and not synonyms.get(word))
    total = sum(words.values())
    return 1.0 - nowhere / total if total else 1.0


def _absence(asked: AskedFigure, texts: Iterable[str]) -> float:
    """How much it weighs that no text holds the figure asked for; 0 where one does."""
    if any(map(asked.stands_in, texts)):
        return 0.0
    return NO_SUCH_FIGURE if asked.kinds and "duration" not in asked.kinds else NO_FIGURE


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
