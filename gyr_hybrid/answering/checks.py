"""The checks of a sentence against its aligned passages, in the order in which they speak.

Each takes the evidence and yields findings that name what they saw. Hard ones (a figure, unit, rate, limit, date
or code that the source does not have) contradict; the others make the sentence uncertain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gyr_hybrid.answering import bindings, coherence
from gyr_hybrid.answering.alignment import Aligned
from gyr_hybrid.answering.derivation import derived
from gyr_hybrid.answering.figure_matching import standing
from gyr_hybrid.answering.figures import Figure
from gyr_hybrid.answering.lexicon import Lexicon
from gyr_hybrid.answering.passages import Section
from gyr_hybrid.answering.polarity import disagreement
from gyr_hybrid.answering.strength import dropped_hedge, modality_conflict, overclaims

CLOSE = 0.8


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the checks look at."""

    sentence: str
    aligned: tuple[Aligned, ...]
    sections: tuple[Section, ...]
    lexicon: Lexicon


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


def _quote_figures(one: Aligned, section: Section) -> tuple[Figure, ...]:
    later = tuple(f for p in one.later for f in p.figures)
    return (*one.passage.figures, *one.passage.carried_figures, *later, *section.heading_figures)


def figures_stand(evidence: Evidence) -> Iterator[Finding]:
    """Every figure, date and code of a claim stands in its passage, in what that inherits, or in the heading."""
    open_figures: list[tuple[Figure, Aligned, str]] = []
    quoted: list[Figure] = []
    for one in evidence.aligned:
        section = evidence.sections[one.section]
        near = _quote_figures(one, section)
        quoted.extend(near)
        for figure in one.claim.figures:
            stands = standing(figure, near)
            if stands != "same" and not figure.weak:
                open_figures.append((figure, one, stands))
    if not open_figures:
        return
    explained = derived([f for f, _, _ in open_figures], quoted, evidence.sentence)
    for figure, one, stands in open_figures:
        if figure in explained:
            continue
        name = "code" if figure.kind == "code" else "figure"
        everywhere = [f for s in evidence.sections for f in (*s.figures, *s.heading_figures)]
        elsewhere = standing(figure, everywhere)
        shown = f"{figure.text!r}"
        if elsewhere == "same":
            yield Finding("figure_elsewhere", f"{shown} stands in another sentence of the source")
        elif elsewhere in ("bound", "side"):
            yield Finding(elsewhere, f"{shown} has another limit in the source")
        else:
            yield Finding(name, f"{shown} does not stand in the source", hard=True)


def words_stand(evidence: Evidence) -> Iterator[Finding]:
    """Every content word of a claim stands in its passage or in what that inherits."""
    for one in evidence.aligned:
        if one.missing:
            yield Finding("words", f"{' '.join(w.text for w in one.missing)!r} not in the source sentence")
        elif one.support < CLOSE:
            yield Finding("coverage", f"{one.support:.2f} of {one.claim.text!r}")


def polarity_agrees(evidence: Evidence) -> Iterator[Finding]:
    """A claim denies what its passage denies, and nothing else."""
    for one in evidence.aligned:
        source = "\n".join([one.passage.own, *(p.text for p in one.later), one.passage.carried])
        said = disagreement(one.claim.text, source)
        if said:
            yield Finding("polarity", said)
        elif one.passage.excluded and any(f.place == "carried" for f in one.found):
            from gyr_hybrid.answering.polarity import denials_of

            if not denials_of(one.claim.text) and not denials_of(one.passage.carried):
                yield Finding("polarity", "the source lists this as an exception")


def strength_agrees(evidence: Evidence) -> Iterator[Finding]:
    """A claim is no more general, certain or binding than its passage."""
    for one in evidence.aligned:
        section = evidence.sections[one.section]
        near = "\n".join([one.passage.own, one.passage.carried, *(p.text for p in one.later), section.heading])
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
        for detail in bindings.same_clause_figures(one):
            yield Finding("binding", detail)
        for detail in bindings.parallel_clauses(one, section):
            yield Finding("binding", detail)
        for detail in bindings.contrasting_words(one, evidence.lexicon):
            yield Finding("contrast", detail)
        for detail in bindings.swapped_actors(one, evidence.lexicon):
            yield Finding("order", detail)
        for detail in bindings.swapped_figures(one):
            yield Finding("order", detail)
        if bindings.sides_differ(one):
            yield Finding("side", "before and after are exchanged")
        for detail in bindings.dropped_figure(one):
            yield Finding("dropped", detail)
        for detail in bindings.replaced_words(one, section, evidence.lexicon):
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
