"""Whether a claim and its source deny the same."""

from __future__ import annotations

import re

from gyr_hybrid.answering.verification.claims import content_words
from gyr_hybrid.answering.verification.denials import (
    PLACED,
    Denial,
    denials_of,
    denied_at,
    in_condition,
    occurrences,
    says_otherwise,
    supposes,
)
from gyr_hybrid.answering.verification.word_lists import LIGHT_WORDS

_FREE = re.compile(r"免|不收|不用付|\bfree\b")
_LIMIT = re.compile(
    r"(?P<no>不(?:得|能|可以?|应当?|会|准|许)?再?|没有|未|\bnot (?:be )?)?(?P<verb>超过|少于|低于|高于|多于|大于|小于|晚于|早于|exceed|less than|more than)"
)
_EXCEPTED = re.compile(r"(?:^|[,;，；。\n]|但)((?:(?!下列|以下)[^,;，；。\n]){1,40})除外")


_EXCEPTING = re.compile(r"除外|除[^,;。]{1,20}[以之]?外|除非|例外|(?<![a-z])except(?![a-z])")


def disagreement(claim: str, source: str, limiting: str = "") -> str:
    """What one of two folded texts denies and the other asserts, or an empty string.

    ``limiting`` is a wider source, in which limits and what the claim supposes are looked up.

    >>> disagreement("月付套餐支持中途退款", "月付套餐不支持中途退款")
    '不支持 (中途)'
    """
    for text, other in ((claim, source), (source, claim)):
        for denial in denials_of(text):
            if PLACED.match(text, denial.end) and denials_of(other):
                continue  # ``不得与易燃液体同库`` for ``和易燃液体不能放在一起``
            if _FREE.search(other) and (denial.text.startswith("免") or _FREE.match(text, denial.start)):
                continue
            if text is source and _asserted_elsewhere(denial, source, claim):
                continue
            if text is claim and supposes(denial, claim) and _denied_in(denial, limiting):
                continue
            supposed = text is claim and (in_condition(denial, claim) or supposes(denial, claim))
            if supposed and says_otherwise(limiting or source):
                continue  # ``if it does not connect`` for ``must connect, otherwise …``
            # the object of a verb that the other text lacks says nothing, unless the verb says nothing itself
            wanted = denial.targets[: 2 if set(denial.targets[:1]) & LIGHT_WORDS else 1]
            target = next((t for t in wanted if t.strip() and occurrences(t, other)), None)
            if target and not any(
                denied_at(other, p) for t in denial.targets if t.strip() for p in occurrences(t, other)
            ):
                return f"{denial.text} ({target})"
    return _limit(claim, limiting or source) or _exception(claim, source) or _elliptic(claim, source)


PAYING = frozenset(
    "付费 收费 花钱 交钱 付钱 收钱 要钱 钱 缴费 交费 付款 费用 pay paid charge charg fee".split()
)
"""What is denied when something is free."""


def is_free(text: str) -> bool:
    """Whether a folded text says that something costs nothing."""
    return bool(_FREE.search(text))


def _denied_in(denial: Denial, text: str) -> bool:
    return any(denied_at(text, p) for t in denial.targets[:1] for p in occurrences(t, text))


def _asserted_elsewhere(denial: Denial, text: str, claim: str) -> bool:
    """Whether another line of the text asserts what is denied: ``不得下载`` beside ``确需下载的``.

    Of an object that the claim names too: ``可借图书，不可借期刊`` asserts no lending of ``期刊``.
    """
    if not denial.targets:
        return False
    objects = [t for t in denial.targets[1:] if occurrences(t, claim)]
    line = text.count("\n", 0, denial.start)
    for place in occurrences(denial.targets[0], text):
        number = text.count("\n", 0, place)
        if (
            number != line
            and all(occurrences(t, text.split("\n")[number]) for t in objects)
            and not text.split("\n")[number]
            .rstrip()
            .endswith(("?", "？", "吗"))  # a question asserts nothing
            and not denied_at(text, place)
            and len(content_words(text.split("\n")[number])) > 1  # the name of a column asserts nothing
        ):
            return True
    return False


def _elliptic(claim: str, source: str) -> str:
    """A denial that leaves its verb out: ``dogs over 20 kg are not``, against a claim that denies nothing."""
    if denials_of(claim):
        return ""
    return next(
        (d.text for d in denials_of(source) if not d.targets and d.text in ("not", "不可以", "不能")), ""
    )


_UP = frozenset(["超过", "高于", "多于", "大于", "晚于", "exceed", "more than"])


def _limit(claim: str, source: str) -> str:
    """``可以低于`` or ``不高于`` for ``不得低于``, and the other way round, where no figure tells."""
    ours, theirs = _limits(claim), _limits(source)
    for verb in ours.keys() & theirs.keys():
        if not ours[verb] & theirs[verb]:
            return f"{verb} is denied on one side only"
    if len(ours) == len(theirs) == 1 and not ours.keys() & theirs.keys():
        (verb, denied), (other, refused) = next(iter(ours.items())), next(iter(theirs.items()))
        compared = verb.endswith("于") and other.endswith("于")
        if compared and denied == refused and (verb in _UP) != (other in _UP):
            return f"{verb} where the source has {other}"
    return ""


def _limits(text: str) -> dict[str, set[bool]]:
    found: dict[str, set[bool]] = {}
    for match in _LIMIT.finditer(text):
        found.setdefault(match["verb"], set()).add(bool(match["no"]))
    return found


def _exception(claim: str, source: str) -> str:
    """What the source excepts by name (``节假日除外``) and the claim does not."""
    for found in _EXCEPTED.finditer(source):
        phrase = found[1].strip()
        words = content_words(phrase)
        denied = any(claim[d.start : d.end + 1] not in phrase for d in denials_of(claim))
        if words and not _EXCEPTING.search(claim) and not denied and occurrences(words[-1].key, claim):
            return f"{phrase} 除外"
    return ""
