"""Words in each other's places: the right thing said of the wrong one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from gyr_hybrid.answering.verification.aligned import Aligned, Found
from gyr_hybrid.answering.verification.claims import content_words
from gyr_hybrid.answering.verification.crediting import Target, stands, target_of
from gyr_hybrid.answering.verification.denials import denials_of, denied_at, occurrences
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.passages import Passage, Section
from gyr_hybrid.answering.verification.roles import is_actor, is_named, is_party, light
from gyr_hybrid.answering.verification.strength import is_strong
from gyr_hybrid.answering.verification.word_lists import ADDRESSEES
from gyr_hybrid.answering.verification.words import Word
from gyr_hybrid.figures import UNITS, even_fold, find_figures, standing


def replaced_words(one: Aligned, section: Section, sentence: str, lexicon: Lexicon) -> Iterator[str]:
    """Words of a clause in whose place the source's clause has another.

    Only a topic that the passage inherits may stand before it in the place of another word (``装修押金`` for
    ``缴纳押金`` after ``装修须…``), unless both name parties or the two have changed places.
    """
    everything = target_of(even_fold(sentence))
    for start, end in one.claim.clauses:
        words = [f for f in one.found if start <= f.word.start < end]
        main = (start, end) == one.claim.clauses[-1]
        source = one.passage.text if main else _nearest(words, one, section, lexicon)
        theirs, ours = content_words(source), [f.word for f in words]
        names = _latin_names(theirs, source) | _capitals(ours, sentence)
        target = target_of(source)
        if not any(stands(w, target, lexicon) for w in ours):
            continue
        places = {f.word: f.place for f in words}
        spoken = target_of(one.claim.text[start - one.claim.start : end - one.claim.start])
        matcher = SequenceMatcher(None, [w.key for w in ours], [w.key for w in theirs], autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag != "replace":
                continue
            new = [
                w for w in ours[i1:i2] if not stands(w, target, lexicon) and (not main or places[w] != "own")
            ]
            old = [w for w in theirs[j1:j2] if not stands(w, spoken, lexicon)]
            lending = ("carried", "following") if main else ("carried", "following", "heading")
            inherited = [w for w in new if places[w] in lending]
            if all(light(w) and not is_named(w.key) for w in new) or _denies(new, old, one):
                continue
            named = [_any_named(side, names, lexicon) for side in (ours[i1:i2], theirs[j1:j2])]
            swapped = any(is_party(w.key) for w in inherited) and any(stands(w, everything) for w in old)
            topic = len(inherited) == len(new) and (i1 == 0 or not main)
            rival = main and i1 == 0 and j1 == 0 and _rival_topics(inherited, old, one)
            if topic and not swapped and not all(named) and not rival:
                continue
            unsaid = [
                w
                for w in old
                if not stands(w, everything, lexicon) and not _negated(w, source, spoken, lexicon)
            ]
            spoken_to = all(w.text in ADDRESSEES for w in new)
            if (
                old
                and not unsaid
                and not inherited
                and (spoken_to or (not named[0] and ordinary(new, names, lexicon)))
            ):
                continue  # ``With the priority service, processing takes 5 days``
            if all(light(w) and not is_named(w.key) for w in old) and len(inherited) == len(new):
                continue
            left = old if inherited else unsaid
            few = len(new) <= SWAPPED and len(left) <= SWAPPED
            if one.support >= SWAP and few and ordinary((*new, *left), names, lexicon):
                continue
            if new and old:
                yield f"{' '.join(w.text for w in new)!r} where the source has {' '.join(w.text for w in old)!r}"


def _rival_topics(new: Sequence[Word], old: Sequence[Word], one: Aligned) -> bool:
    """Whether another clause says of ``new`` what the passage says of ``old``: ``A 凭合同办理，B 凭证书办理``."""
    ours = content_words(one.passage.text)
    if not (new and old and ours):
        return False
    for line in one.passage.carried.split("\n"):
        theirs = content_words(line)
        shared = {w.key for w in theirs} & {w.key for w in ours}
        if len(shared) > 1 and theirs[-1].key == ours[-1].key and any(w.key == new[0].key for w in theirs):
            return True
    return False


def _negated(word: Word, source: str, spoken: Target, lexicon: Lexicon) -> bool:
    """Whether the claim says in one word what the source denies with two: ``免费`` for ``不收费``."""
    for negator in ("没有", "不", "没", "未", "无"):
        if source.startswith(negator, max(0, word.start - len(negator))) and word.start >= len(negator):
            text = negator + word.text
            return stands(Word(text, text, word.start, word.end), spoken, lexicon)
    return False


def _denies(new: Sequence[Word], old: Sequence[Word], one: Aligned) -> bool:
    """``not covered`` for ``excluded``: a denied word in the place of one that denies."""
    text = one.claim.text
    return (
        bool(new)
        and any(denials_of(w.text) for w in old)
        and all(denied_at(text, w.start - one.claim.start) for w in new)
    )


SWAPPED = 1
SWAP = 0.65
"""Support from which one ordinary word may stand in another's place, as a synonym that no list has."""
_EXACT = re.compile(
    r"[一二两三四五六七八九十百千万]|最|[全半单双首末前后上下左右内外日周月季年]|率|税|费|价|额"
)


def ordinary(words: Iterable[Word], names: frozenset[str], lexicon: Lexicon) -> bool:
    """Whether none of the words names, numbers, grades or excludes: words that may have synonyms."""
    return not any(
        is_actor(w.key, lexicon)
        or w.key in names
        or is_strong(w.text)
        or _EXACT.search(w.text)
        or w.text in UNITS
        for w in words
    )


def _any_named(words: Sequence[Word], names: frozenset[str], lexicon: Lexicon) -> bool:
    return any(is_actor(w.key, lexicon) or w.key in names for w in words)


def _latin_names(words: tuple[Word, ...], text: str) -> frozenset[str]:
    """Latin words amid Chinese, which are names."""
    return frozenset() if text.isascii() else frozenset(w.key for w in words if not w.han)


def _nearest(words: list[Found], one: Aligned, section: Section, lexicon: Lexicon) -> str:
    """The clause of the passage's segment that shares most words with a condition of the claim."""
    segment = [p for p in section.passages if p.segment == one.passage.segment] or [one.passage]

    def shared(passage: Passage) -> float:
        target = target_of(passage.text)
        return sum(stands(f.word, target, lexicon) for f in words) + 0.1 * (passage is one.passage)

    return max(segment, key=shared).text


def _capitals(words: Iterable[Word], sentence: str) -> frozenset[str]:
    """Words that the sentence writes in capitals, which are names: ``PDF``, ``PUT``."""
    return frozenset(w.key for w in words if len(w.text) > 1 and sentence[w.start : w.end].isupper())


def contrasting_words(one: Aligned, others: Iterable[Aligned], lexicon: Lexicon) -> Iterator[str]:
    """A word of the claim where the source clause, or one before it for a word of the heading, has one that excludes it.

    A rival that one of the ``others`` says in its right place is not displaced, nor by a word that the claim denies.
    """
    near = target_of(f"{one.passage.carried}\n{one.passage.own}")
    placed = [a.claim.text for a in others if a.passage is one.passage]
    spoken = target_of("\n".join([one.claim.text, *placed]))
    for found in one.found:
        rivals = lexicon.contrasts.get(found.word.key)
        own = near if found.place == "heading" else target_of(one.passage.own)
        if not rivals or _holds(own, found.word.key):
            continue
        if denied_at(one.claim.text, found.word.start - one.claim.start):
            continue  # ``不收费`` for ``免费``
        for rival in sorted(rivals):
            denied = any(denied_at(own.text, place) for place in occurrences(rival, own.text))
            if _holds(own, rival) and not _holds(spoken, rival) and not denied:
                yield f"{found.word.text!r} where the source has {rival!r}"
                break


def _holds(target: Target, key: str) -> bool:
    return key in target.keys if key.isascii() else key in target.text


def foreign_head(one: Aligned, section: Section, sentence: str) -> Iterator[str]:
    """A line or row about something else than the one that the sentence names: ``只读成员…，也可以修改流水``."""
    label = _label(one.passage)
    spoken = target_of(sentence)
    if not label or _names(label, spoken):
        return
    for other in section.passages:
        theirs = _label(other)
        if theirs and theirs != label and _names(theirs, spoken):
            yield f"{one.passage.text!r} is said of {label!r}, the sentence speaks of {theirs!r}"
            return


def _label(passage: Passage) -> str:
    parts = passage.head.split("\n")
    return parts[-2] if len(parts) > 1 else parts[0]


def _names(label: str, spoken: Target) -> bool:
    words = content_words(label)
    codes = [f for f in find_figures(label) if not f.weak]
    if codes and standing(codes[0], find_figures(spoken.text)) == "same":
        return True
    return bool(words) and all(stands(w, spoken) for w in words)


_STEP = re.compile(
    r"([^\s→>,，。；;:：「」“”\"'`|]{1,24})\s*(?:→|->|>)\s*(?=([^\s→>,，。；;:：「」“”\"'`|]{1,24}))"
)


def broken_path(sentence: str, section: Section) -> Iterator[str]:
    """A step of a menu path (``设置 → 团队``) that the source does not have in this order."""
    known = {pair.groups() for pair in _STEP.finditer(section.folded)}
    if not known:
        return
    for pair in _STEP.finditer(even_fold(sentence)):
        if pair.groups() not in known:
            yield f"{pair[1]} → {pair[2]} is no step of the source"
