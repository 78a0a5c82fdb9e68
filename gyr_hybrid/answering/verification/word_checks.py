"""The check of words: what a claim says stands in its passage, or adds next to nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gyr_hybrid.answering.verification.aligned import Aligned, Found
from gyr_hybrid.answering.verification.claims import content_words
from gyr_hybrid.answering.verification.crediting import stands, target_of
from gyr_hybrid.answering.verification.findings import Evidence, Finding
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.passages import Section
from gyr_hybrid.answering.verification.roles import is_actor, is_named, light
from gyr_hybrid.answering.verification.strength import is_strong
from gyr_hybrid.answering.verification.word_lists import GENERAL_ROLES
from gyr_hybrid.answering.verification.word_places import SWAP, ordinary
from gyr_hybrid.answering.verification.words import Word
from gyr_hybrid.figures import UNITS

CLOSE = 0.8
"""Support from which a claim without a new word counts as close to its quotes; tuned on the tuning half."""

NEW_WORDS = {True: 2, False: 1}
"""Most words of a Chinese (True) or English claim that may come from elsewhere in the section."""

ADDED = 1
"""Most new words of a claim all of whose rest stands; a second one let two falsehoods in for no true sentence."""

NEARLY = 0.64
"""Support that a claim needs which has a new word."""

_DEGREE = re.compile(
    r"minimum|maximum|min|max|最.|首|末|全.*|半.*|长期|短期|即时|.*[利费]率|first|last|next|own|full|whole|half|best|worst|most|least|new|old|free"
)


def words_stand(evidence: Evidence) -> Iterator[Finding]:
    """Every content word of a claim stands in its passage or in what that inherits.

    A little may be new: light nouns such as ``范围``, words from earlier in the section, and one word more when
    all the rest stands, as long as it names no party, degree or unit.
    """
    for one in evidence.aligned:
        section = evidence.sections[one.section]
        strange = [
            f
            for f in one.found
            if f.place in ("none", "elsewhere") and not light(f.word) and not _refers_back(f.word, one)
        ]
        names = [f for f in strange if is_identifier(f.word, evidence.sentence)]
        for written, other in _respelt(one):
            yield Finding("name", f"{written!r} where the source has {other!r}")
        if names:
            yield Finding("name", f"{names[0].word.text!r} not in the source sentence")
            continue
        support = one.support_with(evidence.explained)
        if strange and len(strange) <= NEW_WORDS[strange[0].word.han]:
            strange = [f for f in strange if not _from_elsewhere(f.word, one, section, evidence.lexicon)]
        if len(strange) <= ADDED and support >= NEARLY:
            strange = [f for f in strange if not _adds_little(f, one, section, evidence.lexicon)]
        if strange:
            yield Finding("words", f"{' '.join(f.word.text for f in strange)!r} not in the source sentence")
        elif support < (NEARLY if one.missing else CLOSE):
            yield Finding("coverage", f"{support:.2f} of {one.claim.text!r}")


_PATTERNED = re.compile(r"[a-z]+(?:[-/._:][a-z]+)+")


def _respelt(one: Aligned) -> Iterator[tuple[str, str]]:
    """Names and patterns with other signs than in the source: ``YYYY/MM/DD`` for ``YYYY-MM-DD``."""
    theirs = {re.sub(r"\W", "", t): t for t in _PATTERNED.findall(one.passage.own)}
    for written in _PATTERNED.findall(one.claim.text):
        other = theirs.get(re.sub(r"\W", "", written), written)
        if other != written and written not in one.passage.own:
            yield written, other


_THIS = re.compile(r"[这该此那][本笔个种份些张次项件台条类]?$")


def _refers_back(word: Word, one: Aligned) -> bool:
    """``这笔钱``, ``这本书``: a word that only takes up what was said before."""
    start = word.start - one.claim.start
    measure = word.text[0] in "本笔种份张项件台条类" and len(word.text) > 1
    return bool(_THIS.search(one.claim.text[max(0, start - 2) : start + measure]))


_IDENTIFIER = re.compile(r".*[a-z][A-Z]|.*\w[._]\w")


def is_identifier(word: Word, sentence: str) -> bool:
    """Whether a word is written as a name of code: ``maxSurge``, ``room.read``, in backticks."""
    written = sentence[word.start : word.end]
    return written.isascii() and (
        bool(_IDENTIFIER.match(written)) or sentence[max(0, word.start - 1) : word.start] == "`"
    )


def _adds_little(found: Found, one: Aligned, section: Section, lexicon: Lexicon) -> bool:
    """Whether a new word is an ordinary one that takes no other's place.

    It names no party, degree or unit and is not what the claim speaks of. Where the claim leaves out a word of its
    passage, it must stand beside no figure and not be what the claim ends in, unless the two are ordinary words for
    one another.
    """
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
    if _is_subject(word, one) and (unsaid or _in_place_of_topic(one, section)):
        return False
    beside = any(
        f.end <= word.start <= f.end + 1 or (unsaid and f.start - 1 <= word.end <= f.start)
        for f in one.claim.figures
    )
    swapped = one.support >= SWAP and len(unsaid) == 1 and ordinary((word, *unsaid), frozenset(), lexicon)
    return not beside and (not unsaid or swapped or word != one.claim.words[-1])


_ARTICLES = re.compile(r"\s*(?:(?:the|an?|each|every|any|all)\s+|[每各该本])?")
_NO_SUBJECT = re.compile(
    r"否则|确实|另外|随后|随即|距离?|针对|自从|违[反背]|单[个条张笔次件台份项]|答案|回答|结论|总结"
    r"|otherwise|then|however|please|also|answer|conclusion|.{3,}ly"
)
"""First words of a claim that join, count, refer back or announce, and name nothing."""
_TIME_AFTER = re.compile(r"的?时|[之以]?[前后]|期间|的?情况")


def _is_subject(word: Word, one: Aligned) -> bool:
    """Whether a word begins its claim as what the rest is said of, which is never a little thing to add."""
    claim = one.claim
    if word != claim.words[0] or _NO_SUBJECT.fullmatch(word.text):
        return False
    start, end = word.start - claim.start, word.end - claim.start
    return bool(_ARTICLES.fullmatch(claim.text[:start])) and not _TIME_AFTER.match(claim.text, end)


def _in_place_of_topic(one: Aligned, section: Section) -> bool:
    """Whether neither the claim nor its passage names what the heading right above does."""
    spoken = target_of(f"{one.claim.text}\n{one.passage.own}\n{one.passage.carried}")
    topic = content_words(section.heading.split("\n")[-1])
    return not topic or not any(stands(w, spoken) for w in topic)


def _unsaid(one: Aligned, lexicon: Lexicon) -> list[Word]:
    """Words of the passage that the claim does not say."""
    spoken = target_of(one.claim.text)
    return [w for w in content_words(one.passage.text) if not light(w) and not stands(w, spoken, lexicon)]


def _from_elsewhere(word: Word, one: Aligned, section: Section, lexicon: Lexicon) -> bool:
    """A word from earlier in running text, where rows do not compete, or from the same line."""
    if is_named(word.key) and word.key not in GENERAL_ROLES:
        return False
    head = one.passage.head
    if head:  # of a line about one thing, not of a row
        line = "\n".join(p.text for p in section.passages if p.head == head)
        return (
            not one.passage.in_table
            and not _DEGREE.fullmatch(word.text)
            and stands(word, target_of(line), lexicon)
        )
    if (
        _DEGREE.fullmatch(word.text)
        or is_strong(word.text)
        or _listed_beside(word, one, section)
        or any(rival in section.folded for rival in lexicon.contrasts.get(word.key, ()))
    ):
        return False
    earlier = "\n".join(p.text for p in section.passages if p.end <= one.passage.start and not p.head)
    return stands(word, target_of(earlier), lexicon)


_LIST = re.compile(
    r"[\u3400-\u9fff]+(?:(?:、|或者?|和|与|及|以及)[\u3400-\u9fff]+)+|[a-z]+(?:(?:, (?:and |or )?| and | or )[a-z]+)+"
)
_LIST_JOINT = re.compile(r"、|或者?|和|与|及|以及|, (?:and |or )?| and | or ")


def _listed_beside(word: Word, one: Aligned, section: Section) -> bool:
    """Whether the source lists the word beside one that the passage has: ``退货、换货或者维修``."""
    for found in _LIST.finditer(section.folded):
        items = [item for item in _LIST_JOINT.split(found.group()) if item]
        if any(word.text in item for item in items) and any(
            item in one.passage.own for item in items if word.text not in item
        ):
            return True
    return False
