"""Checks across the claims of a sentence: conditions kept with what they condition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from gyr_hybrid.answering.verification.aligned import Aligned, places_of
from gyr_hybrid.answering.verification.claims import content_words, is_condition
from gyr_hybrid.answering.verification.crediting import stands, target_of
from gyr_hybrid.answering.verification.denials import denials_of
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.passages import Passage, Section
from gyr_hybrid.answering.verification.roles import light
from gyr_hybrid.figures import find_figures, standing


def spliced(aligned: tuple[Aligned, ...], sections: tuple[Section, ...], lexicon: Lexicon) -> Iterator[str]:
    """A consequence from one place of the source joined to a topic from another."""
    for first, second in pairwise(aligned):
        if first.section == second.section and first.passage.segment == second.passage.segment:
            continue
        if second.passage.head and first.passage.head.split("\n")[:2] == second.passage.head.split("\n")[:2]:
            continue
        if not first.claim.words:  # ``根据第 8 条，``
            if _other_item(first, second, sections[second.section]):
                yield f"{second.claim.text!r} does not stand in {first.claim.text!r}"
            continue
        lead = _unsaid_subject(second, aligned, lexicon)
        if lead:
            yield f"{second.claim.text!r} is said of {lead!r}"
            continue
        topics = _earlier(second.passage, sections[second.section])
        if topics and _spoken_share(topics, aligned, lexicon) < 0.5:
            yield f"{second.claim.text!r} is said of {topics[0].text!r}"


def _other_item(first: Aligned, second: Aligned, section: Section) -> bool:
    """Whether a clause or item that is only referred to is another than the one quoted."""
    figures = [f for f in first.claim.figures if not f.weak]
    named = [f for f in section.heading_figures if f.kind == "ordinal"]
    if not figures or (
        len(named) < 2 and any(standing(f, section.heading_figures) == "same" for f in figures)
    ):
        return False
    low, high = sorted((first.passage.start, second.passage.start))
    return "\n" in section.folded[low:high]


def _spoken_share(topics: list[Passage], aligned: tuple[Aligned, ...], lexicon: Lexicon) -> float:
    """Share of the topics' words and figures that the sentence has, figures counting twice."""
    spoken = target_of("\n".join(a.claim.text for a in aligned))
    figures = [f for a in aligned for f in a.claim.figures]
    said = total = 0.0
    for passage in topics:
        for word in content_words(passage.text):
            total += 1
            said += stands(word, spoken, lexicon)
        for figure in find_figures(passage.text):
            if figure.weak:
                continue
            total += 2
            said += 2 * (standing(figure, figures) == "same")
    return said / total if total else 1.0


_AND = re.compile(r"[和与及或、]|(?<![a-z])(?:and|or)(?![a-z])")


def _unsaid_subject(one: Aligned, aligned: tuple[Aligned, ...], lexicon: Lexicon) -> str:
    """The word before what a claim takes of its passage, if no claim says it; empty if there is none."""
    text = one.passage.text
    places = [p for f in one.found if f.place == "own" for p in places_of(f.word, text)[:1]]
    first = min(places, default=0)
    before = [w for w in content_words(text) if w.end <= first]
    spoken = target_of("\n".join(a.claim.text for a in aligned))
    if not before or one.claim.words[:1] != (one.found[0].word,) or one.found[0].place != "own":
        return ""
    last = before[-1]
    if light(last) or stands(last, spoken, lexicon) or _AND.search(text, last.end, first):
        return ""
    if any(f.start <= last.start < f.end for f in find_figures(text)):
        return ""
    return last.text


def _earlier(passage: Passage, section: Section) -> list[Passage]:
    return [p for p in section.passages if p.segment == passage.segment and p.start < passage.start]


_ASKS = re.compile(r"[?？吗]\s*$")


def only_asked(one: Aligned, section: Section) -> Iterator[str]:
    """What a question of the source says and its answer does not: ``可以带宠物`` for ``可以带宠物吗？暂不接待。``"""
    heading = section.heading.split("\n")[-1]
    asked = one.passage.asked or (heading if _ASKS.search(heading) else "")
    if not asked or one.passage.excluded:
        return
    said = [f for f in one.found if not light(f.word)]
    figures = [f for f in one.claim.figures if not f.weak]
    answered = any(f.place in ("own", "following") for f in said) or any(
        standing(f, one.passage.figures) == "same" for f in figures
    )
    if said and not answered:
        yield f"only the question {asked.strip()!r} says so"


_OTHERWISE = re.compile(r"[\s,]*(?:否则|不然|逾期|过期|超时|(?:otherwise|or else)\b)")
_UNLESS_DONE = re.compile(
    r"否则|不然|逾期|过期|超时|超过|之后|超出|晚于|(?<![a-z])(?:otherwise|or else|if not|unless|without|late|later|after|fail\w*)(?![a-z])"
)


def consequence_of_the_opposite(one: Aligned, sentence: str) -> Iterator[str]:
    """What follows when a duty is not met, told of meeting it: ``佩戴安全帽的不得进入`` for ``须佩戴，否则不得进入``.

    ``sentence`` is folded; another denial in it than the consequence's own says that the duty was not met.
    """
    for passage in (one.passage, *one.later):
        if not _OTHERWISE.match(passage.text) or _UNLESS_DONE.search(sentence):
            continue
        if not any(
            stands(f.word, target_of(passage.text)) for f in one.found if f.place in ("own", "following")
        ):
            continue
        if len(denials_of(sentence)) <= len(denials_of(passage.text)):
            yield f"the source says so of the opposite: {passage.text!r}"


def rival_condition(one: Aligned, section: Section) -> Iterator[str]:
    """A condition that stands word for word before another consequence."""
    if len(one.claim.clauses) < 2:
        return
    start, end = one.claim.clauses[0]
    condition = _bare(one.claim.text[start - one.claim.start : end - one.claim.start])
    if len(condition) < 4:
        return
    for passage in section.passages:
        if condition in _bare(passage.text):
            break
    else:
        return
    near = [p for p in section.passages if p.segment == one.passage.segment]
    if any(condition in _bare(p.text) for p in near):
        return
    if condition in _bare(section.heading):
        return
    yield f"{condition!r} stands before something else: {passage.text!r}"


def _bare(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


def lost_condition(one: Aligned, section: Section, sentence_words: str, lexicon: Lexicon) -> Iterator[str]:
    """A condition right before the source clause of which the sentence has nothing."""
    spoken = target_of(sentence_words + "\n" + section.heading)
    for passage in reversed(_earlier(one.passage, section)):
        words = content_words(passage.text)
        if words and any(stands(w, spoken, lexicon) for w in words):
            return
        if words and is_condition(passage.text):
            yield f"the source says so for {passage.text!r}"
            return
