"""How far the sections found can answer the question: one number on which refusal is decided.

No single score does it: BM25 tells off-topic questions but not near-topic ones, and says nothing about paraphrases,
which only vectors see. So nine signals are added up. Their weights were fitted to encyclopaedic and customers' questions together, each kind
with an intercept of its own, and rounded; `benchmarks/refusal.py` measures them on these and on near-topic questions
whose answer was taken out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

EVIDENCE_MIN = 0.5
"""Below it the engine refuses with ``no_evidence``."""

WEAK = 0.1
"""How far above the border evidence is still weak: the passage is shown as the closest, not as the answer."""

_BORDER = 4.4
"""Sum of the weighted signals at which evidence is 0.5: above questions about payments that no article names, below
customers' paraphrases that share no word with the article."""
_LEAST_DEFINED = 0.1
"""Least evidence of a section that defines the code, when it lacks a single word of the question."""
_DEFINED, _MENTIONED = 0.9, 0.75
"""Evidence of a section that bears the question's code, as its subject or in passing, when nothing else is asked."""
_FAULT = re.compile(
    r"错误|报错|故障|异常|告警|失败|(?<![a-z])(?:errors?|faults?|alarms?|exceptions?|fail\w*)(?![a-z])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known about one retrieval; each 0..1, None where a leg did not run."""

    coverage: float
    """Share, by idf, of the question's content words that the best section contains."""
    runs: float
    """Share of the question's pairs of neighbouring characters, and Latin words, that the best section contains."""
    bm25: float | None = None
    """Best BM25 score over what it could reach."""
    lead: float | None = None
    """How far the best section's BM25 stands above the next one's."""
    agreement: float | None = None
    """1 when words and vectors name the same section first, less the lower it stands in either."""
    cosine: float | None = None
    """Best cosine of a child."""
    heading: float = 0.0
    """Share, by idf, of the question's content words that stand in the heading path of one section."""
    figure: float | None = None
    """1 when the first section holds a figure of the kind asked for, 0.5 when a later one does; None when no kind is."""
    named: float = 1.0
    """Share, by idf, of the words for a thing whose existence is asked that the documents have."""


_COVERAGE, _RUNS, _BM25, _AGREEMENT, _LEAD, _COSINE = 0.6, 2.6, 4.0, 1.5, 3.6, 7.0
_HEADING = 1.5
_FIGURE, _NO_FIGURE, _UNNAMED = 0.6, 4.0, 2.0
_LEAD_ALONE = 0.5
"""Most that a lead counts for where the section covers less: the only section with one word of many leads by all."""
_UNKNOWN_BM25, _UNKNOWN_AGREEMENT, _UNKNOWN_LEAD = 0.3, 0.6, 0.2
"""What stands in for the signals of words when they do not meet the documents at all: vectors decide alone."""


def chance_cosine(children: int) -> float:
    """Best cosine that a question about something else reaches among so many children, with the offline model.

    Other models mostly give higher cosines to texts that have nothing in common; with them it errs towards letting
    a question through.
    """
    return 0.3 + 0.018 * math.log(max(children, 1))


def evidence(signals: Signals, children: int) -> float:
    """Combine the signals into one value, 0..1.

    Args:
        children: size of the index. The best of many cosines is high by chance, about 0.3 + 0.018 ln n with the
            offline model.
    """
    met = signals.coverage > 0 or signals.runs > 0
    bm25 = signals.bm25 if met and signals.bm25 is not None else _UNKNOWN_BM25
    agreement = signals.agreement if met and signals.agreement is not None else _UNKNOWN_AGREEMENT
    lead = signals.lead if met and signals.lead is not None else _UNKNOWN_LEAD
    lead = min(lead, max(_LEAD_ALONE, signals.coverage))
    above_chance = 0.0 if signals.cosine is None else signals.cosine - chance_cosine(children)
    total = (
        _COVERAGE * signals.coverage
        + _RUNS * signals.runs
        + _BM25 * math.sqrt(max(bm25, 0.0))
        + _AGREEMENT * agreement
        + _LEAD * lead
        + _COSINE * above_chance
        + _HEADING * signals.heading
        - _UNNAMED * (1 - signals.named)
    )
    if signals.figure is not None:
        total += _FIGURE * max(0.0, 2 * signals.figure - 1) - _NO_FIGURE * max(0.0, 1 - 2 * signals.figure)
    return 1.0 / (1.0 + math.exp(_BORDER - total))


def evidence_of_code(
    rest: Mapping[str, float],
    unseen: Collection[str],
    sections: Sequence[Collection[str]],
    synonyms: Mapping[str, Collection[str]],
    *,
    defined: bool,
    fault: bool,
    least: float = 0.0,
    figure: float | None = None,
) -> float:
    """Evidence of the sections that bear the question's code.

    A word that the documents have, but not where the code stands, weighs against them: they speak of it elsewhere.
    A word that they have nowhere weighs less, least of all where the code is that of a fault, whose section answers
    whatever is complained of. Where the figure that is asked for stands beside the code, words in between weigh less
    the more of them are met; where it does not, that weighs against the section by itself.

    Args:
        rest: the question's other content words -> idf.
        unseen: those of them that no document has.
        sections: terms of the bearing sections.
        defined: whether one of them is about the code: it stands in a heading, a first cell, before a colon.
        fault: whether the code is an error's.
        least: the weight against which lighter words are measured: a word that most documents have, such as the
            product's name, decides nothing.
        figure: 0 where the sections hold the figure asked for, else how much its absence weighs; None where the
            question asks for none.
    """
    base = (_DEFINED if defined else _MENTIONED) - (figure or 0.0)
    if not any(rest.values()):
        return max(0.0, base)
    total = max(sum(rest.values()), least)
    best = max(sections, key=lambda terms: covered(rest, terms, synonyms))
    missing = {word: weight for word, weight in rest.items() if not covered({word: 1.0}, best, synonyms)}
    nowhere = sum(weight for word, weight in missing.items() if word in unseen) / total
    elsewhere = sum(missing.values()) / total - nowhere
    if fault:
        against = 0.5 * elsewhere + 0.25 * nowhere
    elif figure == 0.0:
        against = 0.7 * (elsewhere + nowhere) ** 2
    else:
        against = elsewhere + 0.7 * nowhere
    lowest = _LEAST_DEFINED if defined and len(missing) == 1 else 0.0
    return min(1.0, max(lowest, base - against))


def names_fault(text: str) -> bool:
    """Whether a text speaks of errors."""
    return _FAULT.search(text) is not None


def coverage(
    weights: Mapping[str, float], sections: Sequence[Collection[str]], synonyms: Mapping[str, Collection[str]]
) -> float:
    """Best share of ``weights`` that one section's terms contain; 0 without words or sections.

    >>> coverage({"微信": 3.0, "支付": 1.0}, [{"支付", "宝"}, {"退款"}], {})
    0.25
    """
    total = sum(weights.values())
    return (
        max((covered(weights, terms, synonyms) for terms in sections), default=0.0) / total
        if total > 0
        else 0.0
    )


def covered(
    weights: Mapping[str, float], terms: Collection[str], synonyms: Mapping[str, Collection[str]]
) -> float:
    """Sum of the weights of the words that the terms contain."""
    return sum(
        weight
        for word, weight in weights.items()
        if word in terms or any(other in terms for other in synonyms.get(word, ()))
    )


def runs(
    question: str, words: Collection[str], texts: Sequence[str], met: Sequence[Collection[str]]
) -> float:
    """Best share of the question's character pairs and Latin words that one text contains.

    Single characters match by chance and words may be cut apart; pairs of neighbours inside content words do neither.

    Args:
        question: folded.
        words: its content words, folded.
        texts: sections with heading paths, folded.
        met: per text, words that a synonym stands for; their pairs count half.

    >>> runs("耶律乞奴被杀", ["耶", "律", "乞", "奴", "杀"], ["耶律乙辛"], [()])
    0.3333333333333333
    """
    pairs: dict[str, str] = {}
    content = bytearray(len(question))
    owner = [""] * len(question)
    for word in words:
        for found in re.finditer(re.escape(word), question):
            content[found.start() : found.end()] = b"\x01" * len(word)
            owner[found.start() : found.end()] = [word] * len(word)
    for i in range(len(question) - 1):
        if content[i] and content[i + 1] and _han(question[i]) and _han(question[i + 1]):
            pairs[question[i : i + 2]] = owner[i]
    for found in re.finditer(r"[a-z0-9]+", question):
        if content[found.start()]:
            pairs[found.group()] = owner[found.start()]
    if not pairs:
        return 0.0

    def share(text: str, also: Collection[str]) -> float:
        return sum(1.0 if pair in text else 0.5 * (word in also) for pair, word in pairs.items()) / len(pairs)

    return max(map(share, texts, met), default=0.0)


def _han(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff"
