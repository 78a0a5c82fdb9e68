"""The checks of a sentence against its aligned passages, in the order in which they speak.

Each takes the evidence and yields findings that name what they saw. Hard ones (a figure, unit, rate, limit, date
or code that the source does not have) contradict; the others make the sentence uncertain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gyr_hybrid.answering import coherence, figure_places, word_places
from gyr_hybrid.answering.alignment import Aligned, Found
from gyr_hybrid.answering.claims import content_words
from gyr_hybrid.answering.crediting import stands, target_of
from gyr_hybrid.answering.derivation import derived
from gyr_hybrid.answering.figure_matching import standing
from gyr_hybrid.answering.figures import Figure
from gyr_hybrid.answering.lexicon import Lexicon
from gyr_hybrid.answering.measures import UNITS
from gyr_hybrid.answering.numerals import even_fold
from gyr_hybrid.answering.passages import Section
from gyr_hybrid.answering.polarity import denials_of, disagreement
from gyr_hybrid.answering.quotation import edited_negation
from gyr_hybrid.answering.roles import is_actor, light
from gyr_hybrid.answering.strength import (
    dropped_hedge,
    is_strong,
    modality_conflict,
    overclaims,
    sides_differ,
)
from gyr_hybrid.answering.word_places import SWAP, ordinary
from gyr_hybrid.answering.words import Word

CLOSE = 0.8


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the checks look at."""

    sentence: str
    aligned: tuple[Aligned, ...]
    sections: tuple[Section, ...]
    lexicon: Lexicon
    explained: frozenset[Figure]
    """Figures worked out from quoted ones."""


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    detail: str
    hard: bool = False

    @property
    def reason(self) -> str:
        """``check: detail`` as a verdict gives it."""
        return f"{self.check}: {self.detail}"


Check = Callable[[Evidence], Iterator[Finding]]


def findings(evidence: Evidence) -> list[Finding]:
    """All findings, hard ones first."""
    found = [finding for check in CHECKS for finding in check(evidence)]
    return sorted(found, key=lambda f: not f.hard)


def quote_figures(one: Aligned, section: Section) -> tuple[Figure, ...]:
    """The figures that a claim may take: those of its passage, what that inherits, and the heading."""
    later = tuple(f for p in one.later for f in p.figures)
    carried = tuple(f for f in one.passage.carried_figures if not f.weak)
    return (*one.passage.figures, *carried, *later, *section.heading_figures)


def figures_stand(evidence: Evidence) -> Iterator[Finding]:
    """Every figure, date and code of a claim stands in its passage, in what that inherits, or in the heading."""
    open_figures: list[tuple[Figure, Aligned, str]] = []
    for one in evidence.aligned:
        near = quote_figures(one, evidence.sections[one.section])
        for figure in one.claim.figures:
            stands = standing(figure, near)
            if stands != "same" and not figure.weak:
                open_figures.append((figure, one, stands))
    everywhere = [f for s in evidence.sections for f in (*s.figures, *s.heading_figures)]
    unknown = [f for f, _, stands in open_figures if stands in UNKNOWN]
    loose = derived(unknown, everywhere, evidence.sentence) if unknown else set()
    for figure, one, _ in open_figures:
        if figure in evidence.explained or _counts_items(figure, one):
            continue
        shown = f"{figure.text!r}"
        elsewhere = standing(figure, everywhere)
        if elsewhere == "same":
            yield Finding("figure_elsewhere", f"{shown} stands in another sentence of the source")
        elif elsewhere in ("bound", "side"):
            yield Finding(elsewhere, f"{shown} has another limit in the source")
        elif elsewhere == "unit" and _same_count(figure, everywhere):
            yield Finding("unit", f"{shown} is counted in another word in the source")
        elif figure in loose or (_one_period(figure) and (loose or evidence.explained)):
            yield Finding("calculation", f"{shown} is worked out from figures outside the quote")
        else:
            name = "code" if figure.kind == "code" else "figure"
            yield Finding(name, f"{shown} does not stand in the source", hard=True)


UNKNOWN = ("absent", "unit")
"""Standings of a figure that may have been worked out; the others stand with another limit, rate or side."""


def _one_period(figure: Figure) -> bool:
    """``一年``, over which a quoted rate was reckoned."""
    return figure.kind == "duration" and figure.text.startswith(("一", "one "))


def _same_count(figure: Figure, others: list[Figure]) -> bool:
    return figure.kind == "count" and any(o.kind == "count" and o.value == figure.value for o in others)


def _counts_items(figure: Figure, one: Aligned) -> bool:
    """``两种通信接口`` for an enumeration of two."""
    if figure.kind != "count" or figure.bound or not 2 <= figure.value <= 9:  # type: ignore[operator]
        return False
    return any(len(ENUMERATION.split(text)) == figure.value for text in (one.passage.text, one.claim.text))


ENUMERATION = re.compile(r"、|和|与|及|(?<=\s)(?:and|or)(?=\s)|,\s(?!and\b)|;\s")


def words_stand(evidence: Evidence) -> Iterator[Finding]:
    """Every content word of a claim stands in its passage or in what that inherits.

    A little may be new: light nouns such as ``范围``, words from earlier in the section, and one word more when
    all the rest stands, as long as it names no party, degree or unit.
    """
    for one in evidence.aligned:
        section = evidence.sections[one.section]
        strange = [f for f in one.found if f.place in ("none", "elsewhere") and not light(f.word)]
        if strange and len(strange) <= NEW_WORDS[strange[0].word.han]:
            strange = [f for f in strange if not _from_elsewhere(f.word, one, section, evidence.lexicon)]
        support = one.support_with(evidence.explained)
        if len(strange) <= ADDED and support >= NEARLY:
            strange = [f for f in strange if not _adds_little(f, one, evidence.lexicon)]
        if strange:
            yield Finding("words", f"{' '.join(f.word.text for f in strange)!r} not in the source sentence")
        elif support < (NEARLY if one.missing else CLOSE):
            yield Finding("coverage", f"{support:.2f} of {one.claim.text!r}")


NEW_WORDS = {True: 2, False: 1}
"""Most words of a Chinese (True) or English claim that may come from elsewhere in the section."""
ADDED = 1
NEARLY = 0.64
"""Support that a claim needs which has a new word."""
_DEGREE = re.compile(
    r"最.|首|末|全.*|半.*|长期|短期|即时|.*[利费]率|first|last|next|own|full|whole|half|best|worst|most|least|new|old|free"
)


def _adds_little(found: Found, one: Aligned, lexicon: Lexicon) -> bool:
    """Whether the only new word of a claim is an ordinary one that stands beside no figure."""
    word = found.word
    if (
        found.place == "elsewhere"
        or is_strong(word.text)
        or is_actor(word.key, lexicon)
        or word.text in UNITS
        or _DEGREE.fullmatch(word.text)
    ):
        return False
    if word.text.isascii() and not one.claim.text.isascii():
        return False
    unsaid = _unsaid(one, lexicon)
    swapped = (
        one.support >= SWAP and 1 <= len(unsaid) <= ADDED and ordinary((word, *unsaid), frozenset(), lexicon)
    )
    if unsaid and word == one.claim.words[-1] and not swapped:
        return False
    return not any(
        f.end <= word.start <= f.end + 1 or f.start - 1 <= word.end <= f.start for f in one.claim.figures
    )


def _unsaid(one: Aligned, lexicon: Lexicon) -> list[Word]:
    """Words of the passage that the claim does not say."""
    spoken = target_of(one.claim.text)
    return [w for w in content_words(one.passage.text) if not light(w) and not stands(w, spoken, lexicon)]


def _from_elsewhere(word: Word, one: Aligned, section: Section, lexicon: Lexicon) -> bool:
    """A word from earlier in running text, where rows do not compete."""
    if one.passage.head or is_actor(word.key, lexicon):
        return False
    earlier = "\n".join(p.text for p in section.passages if p.end <= one.passage.start and not p.head)
    return stands(word, target_of(earlier), lexicon)


def polarity_agrees(evidence: Evidence) -> Iterator[Finding]:
    """A claim denies what its passage denies, and nothing else; an item of an exception list is itself denied."""
    for one in evidence.aligned:
        if one.passage.excluded and any(f.place == "carried" for f in one.found):
            if not denials_of(one.claim.text) and "除外" not in one.claim.text:
                yield Finding("polarity", "the source lists this as an exception")
            continue
        said = disagreement(one.claim.text, one.source)
        if said:
            yield Finding("polarity", said)
        for detail in edited_negation(one):
            yield Finding("polarity", detail)


def strength_agrees(evidence: Evidence) -> Iterator[Finding]:
    """A claim is no more general, certain or binding than its passage."""
    for one in evidence.aligned:
        section = evidence.sections[one.section]
        near = "\n".join(
            [one.passage.own, one.passage.carried, *(p.text for p in one.later), section.heading]
        )
        for word in overclaims(one.claim.text, near):
            yield Finding("universal", f"{word!r} claims more than the source")
        for word in dropped_hedge(one.claim.text, one.passage.text):
            yield Finding("hedge", f"the source says {word!r}")
        conflict = modality_conflict(one.claim.text, one.passage.text)
        if conflict:
            yield Finding("modality", conflict)


def bindings_hold(evidence: Evidence) -> Iterator[Finding]:
    """Words and figures stand in the places that the source gives them."""
    for one in evidence.aligned:
        section = evidence.sections[one.section]
        for detail in figure_places.same_clause_figures(one):
            yield Finding("binding", detail)
        for detail in figure_places.repeated_figure(one):
            yield Finding("count", detail)
        for detail in figure_places.changed_count(one):
            yield Finding("count", detail)
        for detail in figure_places.parallel_clauses(one, section):
            yield Finding("binding", detail)
        for detail in word_places.contrasting_words(one, evidence.lexicon):
            yield Finding("contrast", detail)
        worked_out = any(f in evidence.explained for f in one.claim.figures)
        for detail in word_places.other_agent(one, evidence.lexicon):
            yield Finding("agent", detail)
        for detail in word_places.swapped_actors(one, evidence.lexicon):
            yield Finding("order", detail)
        for detail in figure_places.swapped_figures(one):
            yield Finding("order", detail)
        if sides_differ(one.claim.text, one.source):
            yield Finding("side", "before and after are exchanged")
        for detail in figure_places.dropped_figure(one):
            yield Finding("dropped", detail)
        for detail in word_places.foreign_head(one, section, even_fold(evidence.sentence)):
            yield Finding("subject", detail)
        replaced = word_places.replaced_words(one, section, evidence.sentence, evidence.lexicon)
        for detail in () if worked_out else replaced:
            yield Finding("replaced", detail)


def conditions_hold(evidence: Evidence) -> Iterator[Finding]:
    """Conditions stay with what they condition."""
    for detail in coherence.spliced(evidence.aligned, evidence.sections, evidence.lexicon):
        yield Finding("splice", detail)
    for one in evidence.aligned:
        section = evidence.sections[one.section]
        for detail in coherence.rival_condition(one, section):
            yield Finding("condition", detail)
        for detail in coherence.lost_condition(one, section, evidence.sentence, evidence.lexicon):
            yield Finding("condition", detail)


CHECKS: tuple[Check, ...] = (
    figures_stand,
    polarity_agrees,
    strength_agrees,
    bindings_hold,
    conditions_hold,
    words_stand,
)
