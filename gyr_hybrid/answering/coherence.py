"""Checks across the claims of a sentence: conditions kept with what they condition."""

from __future__ import annotations

from collections.abc import Iterator

from gyr_hybrid.answering.alignment import Aligned, credit_of, target_of
from gyr_hybrid.answering.claims import content_words
from gyr_hybrid.answering.lexicon import Lexicon
from gyr_hybrid.answering.passages import Passage, Section


def spliced(aligned: tuple[Aligned, ...], sections: tuple[Section, ...], lexicon: Lexicon) -> Iterator[str]:
    """A consequence from one place of the source joined to a topic from another."""
    for first, second in zip(aligned, aligned[1:], strict=False):
        if first.section == second.section and first.passage.segment == second.passage.segment:
            continue
        topics = _earlier(second.passage, sections[second.section])
        if not topics:
            continue
        spoken = target_of("\n".join(a.claim.text for a in aligned))
        words = [w for p in topics for w in content_words(p.text)]
        if words and not any(credit_of(w, "", "", spoken, lexicon) >= 0.6 for w in words):
            yield f"{second.claim.text!r} is said of {topics[0].text!r}"


def _earlier(passage: Passage, section: Section) -> list[Passage]:
    return [p for p in section.passages if p.segment == passage.segment and p.start < passage.start]


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
    for passage in _earlier(one.passage, section):
        if not _conditional(passage.text):
            continue
        words = content_words(passage.text)
        if words and not any(credit_of(w, "", "", spoken, lexicon) >= 0.6 for w in words):
            yield f"the source says so for {passage.text!r}"


def _conditional(text: str) -> bool:
    from gyr_hybrid.answering.claims import is_condition

    return is_condition(text)
