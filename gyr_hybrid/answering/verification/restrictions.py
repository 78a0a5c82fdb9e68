"""What the source says of some, told of more: ``套餐…`` or ``所有套餐…`` for ``年付套餐…``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gyr_hybrid.answering.verification.aligned import Aligned
from gyr_hybrid.answering.verification.claims import Claim, content_words
from gyr_hybrid.answering.verification.crediting import Target, stands, target_of
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.passages import Section
from gyr_hybrid.answering.verification.roles import light
from gyr_hybrid.answering.verification.strength import is_strong
from gyr_hybrid.answering.verification.words import Word

_JOINT = re.compile(r"[\s的之]*")
"""What stands between a noun and the words that restrict it."""
_COUNTED = re.compile(r"[每单各本该此]\S?")
"""Words that count or point instead of restricting."""
_ALL = re.compile(
    r"(?:所有|任何|全部|一切|各种|各类|每[个种类一]|凡是?|(?<![a-z])(?:all|every|any|each)(?![a-z]))[\s的]*$"
)


def dropped_restriction(one: Aligned, section: Section, sentence: str, lexicon: Lexicon) -> Iterator[str]:
    """Words with which the source clause begins, restricting the first word that the claim has of it.

    They may be left out where nothing competes: the heading says them, or the section speaks of no other such
    thing. ``sentence`` is folded.
    """
    said = target_of(sentence)
    spoken = target_of(f"{sentence}\n{section.heading}")
    for line in one.passage.own.split("\n"):
        restricting, head = _restriction(line, said, lexicon)
        if head is None or not restricting:
            continue
        shown = line[restricting[0].start : head.end]
        if not _bare(head, one.claim) or all(
            light(w) or is_strong(w.text) or _COUNTED.fullmatch(w.text) for w in restricting
        ):
            continue
        if _generalised(head, one.claim.text):
            yield f"all {head.text!r} where the source has {shown!r}"
        elif any(stands(w, spoken, lexicon) for w in restricting):
            continue
        elif any(_said(r, said) for w in restricting for r in lexicon.contrasts.get(w.key, ())):
            continue  # ``拖欠租金的，出租人可以解除合同`` can only speak of the other party
        elif _competes(restricting, head, shown, section, lexicon):
            yield f"{head.text!r} where the source has {shown!r}"


def _restriction(line: str, said: Target, lexicon: Lexicon) -> tuple[Sequence[Word], Word | None]:
    """The words at the beginning of a clause that the sentence leaves out, and the next, which it has."""
    words = _beginning(line)
    for i, word in enumerate(words):
        if stands(word, said, lexicon):
            return words[:i], word
    return (), None


def _said(key: str, said: Target) -> bool:
    return key in said.keys if key.isascii() else key in said.text


def _bare(head: Word, claim: Claim) -> bool:
    """Whether the claim has the word with nothing that restricts it."""
    previous: Word | None = None
    for word in claim.words:
        if word.key == head.key:
            gap = claim.text[previous.end - claim.start : word.start - claim.start] if previous else ","
            return _JOINT.fullmatch(gap) is None or is_strong(previous.text)  # type: ignore[union-attr]
        previous = word
    return False


def _generalised(head: Word, claim: str) -> bool:
    return any(_ALL.search(claim[: found.start()]) for found in re.finditer(re.escape(head.text), claim))


def _competes(
    restricting: Sequence[Word], head: Word, shown: str, section: Section, lexicon: Lexicon
) -> bool:
    """Whether the restricting words have rivals, or the section speaks of the head alone or otherwise restricted.

    The head alone competes only with an attribute that is plainly one (``信用卡支付的退款``), as what stands before
    a noun may also be its verb (``驾驶电动自行车``).
    """
    if any(word.key in lexicon.contrasts for word in restricting):
        return True  # whether or not the section speaks of the rival, there is one
    attribute = head.text.isascii() or "的" in shown
    for passage in section.passages:
        for line in passage.own.split("\n"):
            words = _beginning(line)
            keys = [w.key for w in words]
            if head.key not in keys or any(stands(w, target_of(line), lexicon) for w in restricting):
                continue
            if attribute or keys.index(head.key):
                return True
    return False


def _beginning(line: str) -> list[Word]:
    """The words with which a clause begins, one right after the other."""
    words: list[Word] = []
    for word in content_words(line):
        if words and not _JOINT.fullmatch(line[words[-1].end : word.start]):
            break
        words.append(word)
    return words
