"""Whom and what a sentence speaks of: the parties and subjects of its claims beside those of the source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from gyr_hybrid.answering.verification.aligned import Aligned, places_of
from gyr_hybrid.answering.verification.claims import content_words
from gyr_hybrid.answering.verification.crediting import credit_of, stands, target_of
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.roles import is_named, is_party, light
from gyr_hybrid.answering.verification.strength import is_strong
from gyr_hybrid.answering.verification.words import Word
from gyr_hybrid.figures import find_figures, standing


def other_agent(one: Aligned, lexicon: Lexicon) -> Iterator[str]:
    """Someone else after 由 than in the source clause."""
    theirs = _agents(one.source)
    if not theirs:
        return
    for agent in _agents(one.claim.text):
        if not any(stands(agent[0], target_of("".join(w.text for w in other)), lexicon) for other in theirs):
            yield f"由{agent[0].text} where the source has 由{theirs[0][0].text}"


_FIRST_PERSON = re.compile(r"我们|我司|我方|本[公店行平院校]|(?<![a-z])(?:we|us|our)(?![a-z])")


def assumed_agent(one: Aligned) -> Iterator[str]:
    """``we`` or ``用户`` where the source clause names a party, of which the claim has nothing."""
    spoken = target_of(one.claim.text)
    said = [w.text for w in one.missing if is_named(w.key) and light(w)]
    first = _FIRST_PERSON.search(one.claim.text)
    if first and not _FIRST_PERSON.search(one.passage.own + one.passage.carried):
        said.append(first.group())
    for word in content_words(f"{one.passage.carried}\n{one.passage.text}") if said else ():
        if is_party(word.key) and not stands(word, spoken):
            yield f"{said[0]!r} where the source has {word.text!r}"
            return


def _agents(text: str) -> list[list[Word]]:
    """The two content words after each 由, the agent first."""
    found = []
    for marker in re.finditer("由(?![于此])", text):
        words = [w for w in content_words(text) if w.start >= marker.end()][:2]
        if words and words[0].start - marker.end() <= 2:
            found.append(words)
    return found


def swapped_actors(one: Aligned, lexicon: Lexicon) -> Iterator[str]:
    """Two parties in the other order than in the source clause."""
    source = one.passage.text
    main = [f.word for f in one.found if f.word.start >= one.claim.clauses[-1][0]]
    actors = [w for w in main if is_party(w.key) or w.key in lexicon.contrasts]
    places = [(w, places_of(w, source)) for w in actors]
    single = [(w, p[0]) for w, p in places if len(p) == 1]
    for (first, i), (second, j) in combinations(single, 2):
        rivals = second.key in lexicon.contrasts.get(first.key, ())
        if i > j and first.key != second.key and (rivals or (is_party(first.key) and is_party(second.key))):
            yield f"{first.text!r} before {second.text!r}, the source has them the other way round"


_PASSIVE = re.compile(r"[被由向]|(?<![a-z])(?:by|be|been|is|are|was|were)(?![a-z])")


def object_as_subject(one: Aligned, sentence: str, lexicon: Lexicon) -> Iterator[str]:
    """A party that the source clause only mentions, in the place of the one that acts, which is left unsaid.

    ``门店应当报警`` for ``承租人应当报警并通知门店``.
    """
    main = [w for w in one.claim.words if w.start >= one.claim.clauses[-1][0]]
    if not main or _PASSIVE.search(one.claim.text):
        return
    subject = main[0]
    acting = next((w for w in content_words(one.passage.text) if is_party(w.key)), None)
    if acting is None or not is_party(subject.key) or stands(acting, target_of(sentence), lexicon):
        return
    if any(place > acting.start for place in places_of(subject, one.passage.text)):
        yield f"{subject.text!r} where the source has {acting.text!r}"


_NON = re.compile(
    r"非(?P<han>[\u3400-\u9fff]{2,4}?)(?=[可应须需每要不的在享退免收,，。]|$)|(?<![a-z])non-?(?P<latin>[a-z]{4,})"
)


def opposite_party(one: Aligned) -> Iterator[str]:
    """``非会员`` where the source clause speaks of ``会员``, ``members`` where it speaks of ``non-members``."""
    claim, own, carried = one.claim.text, one.passage.own, one.passage.carried
    inherited = f"{carried}\n{own}" if "非" in carried else own
    for text, other in ((claim, own), (inherited, claim)):
        for found in _NON.finditer(text):
            stem = found["han"] or found["latin"][:6]
            bare = stem in other.replace(found[0], "") and not re.search(rf"非{stem}|non-?{stem}", other)
            if bare and not (text is inherited and re.search(rf"(?<!非)(?<!non-)(?<!non){stem}", inherited)):
                yield f"{found[0]!r} on one side only"


def other_subject(one: Aligned, sentence: str, lexicon: Lexicon) -> Iterator[str]:
    """A subject from another clause, where the source clause has one of its own that the sentence leaves out.

    ``重货要贴红色标签`` for ``重货放底层，易碎品贴红色标签``.
    """
    theirs = content_words(one.passage.text)
    main = [f for f in one.found if f.word.start >= one.claim.clauses[-1][0]]
    if not main or not theirs or len(one.claim.clauses) > 1:
        return
    first, own = main[0], theirs[0]
    if first.place not in ("carried", "following", "elsewhere") or one.passage.text[: own.start].strip():
        return
    if (
        light(own)
        or own.key in lexicon.equivalents
        or is_strong(own.text)
        or (own.han and any(c in sentence for c in own.text[:2]))
    ):
        return  # most words of the lists are verbs
    if any(f.start <= own.start < f.end for f in find_figures(one.passage.text)):
        return
    last = [f for f in main if f.place == "own"]
    if last and not stands(own, target_of(sentence), lexicon) and own.start < last[0].word.start:
        yield f"{first.word.text!r} where the source has {own.text!r}"


ITSELF = 0.75
"""Credit of a word that is said, not merely hinted at."""
_ONLY = re.compile(
    r"(?:只|仅)(?:对|限|能|可|在|适用于|用于|支持|接受|有)*|(?<![a-z])(?:only|solely)\s(?:for|to|in|on|by|with)?"
)


def outside_only(one: Aligned, sentence: str, lexicon: Lexicon) -> Iterator[str]:
    """What the source says of one thing alone, said without it: ``对历史版本生效`` for ``只对当前版本生效``."""
    spoken = target_of(sentence)
    claimed = [f for f in one.claim.figures if not f.weak]
    for only in () if _ONLY.search(sentence) else _ONLY.finditer(one.passage.text):
        text = one.passage.text[only.end() :]
        limits = [f for f in find_figures(text) if not f.weak]
        said = any(standing(f, claimed) == "same" for f in limits)
        if (
            not said
            and not any(stands(w, spoken, lexicon) for w in content_words(text))
            and re.search(r"\w", text)
        ):
            yield f"the source adds 'only' {text.strip()!r}"
        elif limits and not said and any(f.kind == limits[0].kind for f in claimed):
            yield f"the source says so of {limits[0].text!r} alone"
    for only in _ONLY.finditer(one.passage.text):
        behind = [w for w in content_words(one.passage.text) if w.start >= only.end()]
        if len(behind) < 2 or behind[0].start > only.end() + 1:
            continue
        if (
            credit_of(behind[0], spoken, lexicon) < ITSELF
            and stands(behind[-1], spoken, lexicon)
            and not _ONLY.search(sentence)
        ):
            yield f"the source says so of {behind[0].text!r} alone"
