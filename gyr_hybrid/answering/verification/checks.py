"""The checks of a sentence against its aligned passages, in the order in which they speak.

Each takes the evidence and yields findings that name what they saw. Hard ones (a figure, unit, rate, limit, date
or code that the source does not have) contradict; the others make the sentence uncertain.
"""

from __future__ import annotations

from collections.abc import Iterator

from gyr_hybrid.answering.verification import (
    coherence,
    exchanges,
    figure_places,
    rivals,
    subjects,
    word_places,
)
from gyr_hybrid.answering.verification.aligned import Aligned
from gyr_hybrid.answering.verification.denials import (
    denials_of,
    in_condition,
    occurrences,
    says_otherwise,
    supposes,
)
from gyr_hybrid.answering.verification.figure_checks import bounds_stand, figures_stand
from gyr_hybrid.answering.verification.findings import Check, Evidence, Finding
from gyr_hybrid.answering.verification.polarity import PAYING, disagreement, is_free
from gyr_hybrid.answering.verification.quotation import edited_negation
from gyr_hybrid.answering.verification.restrictions import dropped_restriction
from gyr_hybrid.answering.verification.strength import (
    dropped_hedge,
    modality_conflict,
    narrowed,
    overclaims,
    sides_differ,
)
from gyr_hybrid.answering.verification.word_checks import words_stand
from gyr_hybrid.figures import even_fold


def findings(evidence: Evidence) -> list[Finding]:
    """All findings, hard ones first."""
    found = [finding for check in CHECKS for finding in check(evidence)]
    return sorted(found, key=lambda f: not f.hard)


def polarity_agrees(evidence: Evidence) -> Iterator[Finding]:
    """A claim denies what its passage denies, and nothing else; an item of an exception list is itself denied."""
    for one in evidence.aligned:
        if one.passage.excluded and any(f.place == "carried" for f in one.found):
            if not denials_of(one.claim.text) and "除外" not in one.claim.text:
                yield Finding("polarity", "the source lists this as an exception")
            continue
        said = disagreement(one.claim.text, one.source, one.figured) or _unfounded_denial(one)
        if said:
            yield Finding("polarity", said)
        beside = (a for a in evidence.aligned if a is not one and a.passage is one.passage)
        if any(denials_of(a.claim.text) for a in beside):
            continue  # ``一周内退还，不计利息`` for ``7 日内无息退还``
        for detail in () if _only_supposed(one) else edited_negation(one):
            yield Finding("polarity", detail)


def _only_supposed(one: Aligned) -> bool:
    """Whether all that a claim denies stands in a condition put otherwise: ``不用时`` for ``停用的``."""
    denials = denials_of(one.claim.text)
    otherwise = says_otherwise("\n".join([one.source, *(p.text for p in one.later)]))
    return bool(denials) and all(
        in_condition(d, one.claim.text)
        and (otherwise or not any(occurrences(t, one.source) for t in d.targets))
        for d in denials
    )


def _unfounded_denial(one: Aligned) -> str:
    """What the claim denies of a source that denies nothing and does not have the word."""
    beside = "\n".join([one.source, one.passage.carried, *(p.text for p in one.later)])
    if denials_of(beside):
        return ""
    near = {f.word.key for f in one.found if f.place in ("own", "carried", "following")}
    for denial in denials_of(one.claim.text):
        if supposes(denial, one.claim.text) or in_condition(denial, one.claim.text):
            continue
        if denial.targets and is_free(beside) and set(denial.targets) & PAYING:
            continue  # ``不用付费`` for ``免费``
        if denial.targets and not near & set(denial.targets):
            return f"{denial.text} ({denial.targets[0]}), which the source does not deny"
    return ""


def strength_agrees(evidence: Evidence) -> Iterator[Finding]:
    """A claim is no more general, certain or binding than its passage."""
    for one in evidence.aligned:
        section = evidence.sections[one.section]
        near = "\n".join(
            [one.passage.own, one.passage.carried, *(p.text for p in one.later), section.heading]
        )
        for word in overclaims(one.claim.text, near):
            yield Finding("universal", f"{word!r} claims more than the source")
        for word in dropped_hedge(even_fold(evidence.sentence), one.passage.text):
            yield Finding("hedge", f"the source says {word!r}")
        left_out = narrowed(one.claim.text, one.passage.text)
        if left_out:
            yield Finding("universal", f"{left_out!r} is left out of what alone is meant")
        conflict = modality_conflict(one.claim.text, one.source)
        if conflict:
            yield Finding("modality", conflict)


def bindings_hold(evidence: Evidence) -> Iterator[Finding]:
    """Words and figures stand in the places that the source gives them."""
    said = [f for one in evidence.aligned for f in one.claim.figures]
    sentence = even_fold(evidence.sentence)
    for one in evidence.aligned:
        section = evidence.sections[one.section]
        for detail in rivals.rival_figures(one, section, said):
            yield Finding("rival", detail)
        for detail in figure_places.same_clause_figures(one):
            yield Finding("binding", detail)
        for detail in figure_places.repeated_figure(one):
            yield Finding("count", detail)
        for detail in figure_places.changed_count(one):
            yield Finding("count", detail)
        for detail in figure_places.parallel_clauses(one, section):
            yield Finding("binding", detail)
        for detail in word_places.contrasting_words(one, evidence.aligned, evidence.lexicon):
            yield Finding("contrast", detail)
        worked_out = any(f in evidence.explained for f in one.claim.figures)
        for detail in subjects.other_agent(one, evidence.lexicon):
            yield Finding("agent", detail)
        for detail in subjects.assumed_agent(one):
            yield Finding("agent", detail)
        for detail in subjects.swapped_actors(one, evidence.lexicon):
            yield Finding("order", detail)
        for detail in figure_places.swapped_figures(one):
            yield Finding("order", detail)
        for detail in exchanges.reversed_order(one, sentence):
            yield Finding("order", detail)
        for detail in exchanges.choice_changed(one, sentence):
            yield Finding("choice", detail)
        for detail in exchanges.other_of_two(one):
            yield Finding("choice", detail)
        for detail in exchanges.by_for_to(one):
            yield Finding("change", detail)
        for detail in subjects.object_as_subject(one, sentence, evidence.lexicon):
            yield Finding("agent", detail)
        for detail in subjects.opposite_party(one):
            yield Finding("agent", detail)
        for detail in subjects.other_subject(one, sentence, evidence.lexicon):
            yield Finding("subject", detail)
        for detail in subjects.outside_only(one, sentence, evidence.lexicon):
            yield Finding("only", detail)
        if sides_differ(one.claim.text, one.source):
            yield Finding("side", "before and after are exchanged")
        for detail in () if worked_out else figure_places.dropped_figure(one, said):
            yield Finding("dropped", detail)
        for detail in word_places.broken_path(evidence.sentence, section):
            yield Finding("path", detail)
        for detail in word_places.foreign_head(one, section, sentence):
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
        for detail in coherence.only_asked(one, section):
            yield Finding("question", detail)
        for detail in coherence.consequence_of_the_opposite(one, even_fold(evidence.sentence)):
            yield Finding("condition", detail)
        for detail in coherence.lost_condition(one, section, evidence.sentence, evidence.lexicon):
            yield Finding("condition", detail)


def restrictions_stand(evidence: Evidence) -> Iterator[Finding]:
    """What the source says of some is not told of more."""
    sentence = even_fold(evidence.sentence)
    for one in evidence.aligned:
        for detail in dropped_restriction(one, evidence.sections[one.section], sentence, evidence.lexicon):
            yield Finding("restriction", detail)


CHECKS: tuple[Check, ...] = (
    figures_stand,
    bounds_stand,
    polarity_agrees,
    strength_agrees,
    bindings_hold,
    conditions_hold,
    words_stand,
    restrictions_stand,
)
