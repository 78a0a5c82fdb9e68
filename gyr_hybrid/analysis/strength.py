"""How surely a run of letters, digits and separators is a code, judged by its shape alone."""

from __future__ import annotations

import re
from enum import IntEnum

from gyr_hybrid.analysis.vocabulary import COMPOUND_ENDINGS

_RUNS = re.compile(r"[^\W\d_]+|\d+")
_PARTS = re.compile(r"[-_./#]+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAMED_ERROR = re.compile(
    r"(?:Err|ERR)[A-Z]\w{2,}|[A-Z][A-Za-z0-9]*[a-z0-9](?:Error|Exception|Fault|Failure|Warning)|[a-z]+[A-Z][A-Za-z0-9]*(?:Error|Exception)"
)
_TWO_WORDS = re.compile(r"[A-Z][a-z]{3,}[A-Z][a-z]{3,}")
_COUNTED_WORD = re.compile(r"\d+(?:-[a-z]{3,})+")
_FUNCTION_WORDS = frozenset(
    "a an the of to in on at by for and or de la up off out per vs is it as if not no non".split()
)
_VOWEL = re.compile(r"[aeiou]")
_LONGEST_SOLID = 32  # longer runs without a separator are hashes and encoded data


class Strength(IntEnum):
    """How surely a piece is a code when nothing around it says so."""

    VALUE = 0
    """A date, time, amount, quantity, address: never a code."""
    WORD = 1
    """A plain word."""
    EVERYDAY = 2
    """An ordinary word in the shape of a code (``5G``, ``Wi-Fi``): a code only after a class word (``型号：5G``)."""
    NUMBER = 3
    """Digits alone: a code beside a class word or in a defining place."""
    NAME = 4
    """Could be an ordinary word or compound (``file-size``, ``iPhone15``): a code in code marks, defined, or beside a class word."""
    SHORT = 5
    """A letter or two and a digit or two (``E1``): noted, and a code once a document defines it."""
    WEAK = 6
    """A code of the documents; in a question only when the index knows it or its family (``GPT-4``, ``atmega328``)."""
    STRONG = 7
    """A code wherever it stands (``E1042``, ``ER_DUP_ENTRY``)."""


def parts_of(run: str) -> list[str]:
    """What stands between the separators."""
    return [part for part in _PARTS.split(run) if part]


def is_named_error(word: str) -> bool:
    """``ErrWriteConflict``, ``BatchUpdateException``."""
    return _NAMED_ERROR.fullmatch(word) is not None and len(_HUMPS.findall(word)) > 1


def judge_word(run: str) -> tuple[Strength, str]:
    """Strength and kind of letters alone; ``camel`` is two words in one: ``InvalidParameter``, ``JavaScript``."""
    if len(run) > 5 and not run.islower() and not run.isupper():
        if is_named_error(run):
            return Strength.STRONG, "name"
        if run.isascii() and len(_HUMPS.findall(run)) > 2:
            return Strength.NAME, "name"
        if _TWO_WORDS.fullmatch(run):
            return Strength.WORD, "camel"
    return Strength.WORD, "word"


def judge_compound(run: str) -> tuple[Strength, str]:
    """Strength and kind of letters joined by separators, without a digit."""
    parts = parts_of(run)
    if "_" in run:
        named = len(parts) > 1 and any(len(part) > 1 for part in parts)
        return (Strength.STRONG, "name") if named else (Strength.WORD, "word")
    if len(parts) > 2 and run.isupper() and "." not in run and any(len(part) > 1 for part in parts):
        return Strength.STRONG, "code"
    if not run.isascii():
        return Strength.WORD, "word"
    if len(parts) > 2 and not _FUNCTION_WORDS.intersection(map(str.lower, parts)):
        long = sum(len(part) > 1 for part in parts) > 1
        return (Strength.WEAK, "name") if long else (Strength.WORD, "word")
    if "." in run and any(len(part) == 1 for part in parts):
        return Strength.WORD, "word"
    return Strength.NAME, "name"


def judge_mixed(run: str) -> tuple[Strength, str]:
    """Strength and kind of letters and digits, perhaps with separators."""
    parts = parts_of(run)
    if _COUNTED_WORD.fullmatch(run) or (len(parts) > 1 and parts[-1] in COMPOUND_ENDINGS):
        return Strength.EVERYDAY, "word"  # ``30-day``, ``K63-linked``
    if len(parts) == 1:
        strength = _solid(run)
        return strength, "short" if strength is Strength.SHORT else "code"
    if _is_name(run, parts):
        return (Strength.STRONG if "_" in run else Strength.WEAK), "name"
    digits = sum(character.isdigit() for character in run)
    if len(parts) == 2 and parts[0].isalpha() and parts[1].isdigit():
        word = parts[0]
        natural = len(word) > 2 and not word.isupper() and _VOWEL.search(word.lower()) is not None
        return (Strength.STRONG if digits > 2 and not natural else Strength.WEAK), "code"
    mixed = any(len(_RUNS.findall(part)) > 1 for part in parts)
    if len(parts) > 2 and (mixed or digits > 1 or not run.islower()):
        return Strength.STRONG, "code"
    return (Strength.STRONG if digits > 2 else Strength.WEAK), "code"


def _is_name(run: str, parts: list[str]) -> bool:
    """Whether most parts are words: ``enable-32bits-connection-id``, ``utf8mb4_general_ci``."""
    words = sum(part.isalpha() and len(part) > 2 for part in parts)
    written = run.islower() or "_" in run
    return words * 2 > len(parts) and written and not any(part.isdigit() for part in parts)


def _solid(run: str) -> Strength:
    """Letters and digits without a separator."""
    if len(run) > _LONGEST_SOLID:
        return Strength.VALUE
    runs = _RUNS.findall(run)
    digits = sum(character.isdigit() for character in run)
    if len(runs) > 2:
        if digits < 2 or len(run) < 5:
            return Strength.NAME if len(run) > 4 and not run.islower() else Strength.EVERYDAY
        natural = run.islower() and not runs[0].isdigit() and len(runs[0]) > 2 and digits < 3
        return Strength.WEAK if natural else Strength.STRONG
    if runs[0].isdigit():
        return Strength.WEAK if digits > 2 else Strength.EVERYDAY
    if digits > 2:
        return Strength.STRONG if len(runs[0]) < 5 or run.isupper() else Strength.WEAK
    if len(run) < 4:
        return Strength.SHORT if run.isascii() and run.isalnum() else Strength.WORD
    return Strength.WEAK if digits == 2 and run.isupper() else Strength.NAME
