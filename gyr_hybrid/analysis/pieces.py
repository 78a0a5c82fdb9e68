"""Pieces of a run of letters, digits and separators: which of them has the shape of a code, seen alone."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from gyr_hybrid.analysis.codes import compact_form, inner_number
from gyr_hybrid.analysis.sentences import HAN_KANA
from gyr_hybrid.analysis.vocabulary import EVERYDAY, UNITS

WORD_CHARACTER = rf"[^\W{HAN_KANA}]"
CHUNK = re.compile(
    rf"{WORD_CHARACTER}+(?:(?:::|[-./:#+&,=@~'’]){WORD_CHARACTER}+)*(?:\+{{1,2}}|%|(?<=[CFcf])#)?"
)


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


class Piece(NamedTuple):
    """Part of a text that is looked at as one; offsets into the run or the folded text it was found in."""

    start: int
    end: int
    text: str
    strength: Strength
    kind: str
    canonical: str
    compact: str
    number: str | None

    def at(self, offset: int) -> Piece:
        """The same piece ``offset`` characters further on."""
        return Piece(self[0] + offset, self[1] + offset, *self[2:])


EVERYDAY_WORD = re.compile(EVERYDAY)
_UNITS = re.compile(rf"\d+(?:\.\d+)?(?:[-~x*/]\d+(?:\.\d+)?)*(?:{UNITS})(?:/(?:{UNITS}))?")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_NUMERIC = re.compile(r"\d[\d.,:/~x*+=-]*%?")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?%?")
_IP = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}(?::\d+|/\d+)?")
_THREE_PARTS = re.compile(
    r"\d{1,5}(?:\.\d{1,5}){2,3}(?:[-.]?(?:alpha|beta|rc|dmr|ga|sp|p|build|snapshot|lts|final|m)[-.]?\d*)*"
)
_VERSION = re.compile(
    r"v\d+(?:\.\d+)+(?:[-.]?(?:alpha|beta|rc|dmr|ga|sp|p|build|snapshot|lts|final|m|x)[-.]?\d*)*"
)
_VERSION_FAMILY = re.compile(r"v?\d+(?:\.\d+)*\.x")
_DATE = re.compile(
    r"(?:19|20)\d\d([-./])\d{1,2}(?:\1\d{1,2})?|\d{1,2}([-/])\d{1,2}\2(?:19|20)\d\d|(?:19|20)\d\d[-_/]?(?:q[1-4]|h[12]|s[1-4]|fy|ss|fw|aw)|(?:19|20)\d\d-\d\d-\d\dt\d.*|\d+(?:\.\d+)?e[+-]?\d*|fy[-_]?\d{2,4}"
)
_DATE_PATTERN = re.compile(r"[ymdhs]{1,4}(?:[-/:._][ymdhs]{1,4})+(?:t[ymdhs:]+z?)?")
_HEX = re.compile(r"0x[0-9a-f]{2,}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}.*|[0-9a-f]{16,}")
_PRODUCT_VERSION = re.compile(r"([^\W\d_]{2,})(\d{1,3}(?:\.\d{1,5}){1,3})")
_NAMED_ERROR = re.compile(
    r"(?:Err|ERR|E)[A-Z]\w{3,}|[A-Z][A-Za-z0-9]*[a-z0-9](?:Error|Exception|Fault|Failure|Warning)|(?:[a-z]+[A-Z][A-Za-z0-9]*)(?:Error|Exception)"
)
_QUALIFIED = re.compile(
    r"[A-Za-z][A-Za-z0-9_]*(?::[A-Za-z][A-Za-z0-9_]*)*:(?:(?:Err|ERR|E)[A-Z]\w{2,}|[A-Za-z0-9]+_\w+)"
)
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FILE = re.compile(
    r"(.+)\.(py|js|ts|go|rs|java|c|cc|cpp|h|hpp|cs|rb|php|sh|bat|ps1|sql|md|txt|csv|tsv|xls|xlsx|doc|docx|ppt|pptx|pdf|html?|xml|"
    r"json|jsonl|ya?ml|toml|ini|conf|cfg|log|zip|gz|tgz|tar|rar|7z|exe|msi|dll|so|jar|war|apk|ipa|iso|img|png|jpe?g|gif|svg|bmp|mp[34]|wav|avi|mov|key|pem|crt|cer|"
    r"properties|lock|bak|tmp|dat|db|sqlite|parquet|proto|inl|info|err|out|pid|sock)",
    re.IGNORECASE,
)
_HOST = re.compile(
    r"(?:www\.)?[\w-]+(?:\.[\w-]+)*\.(?:com|cn|org|net|gov|edu|io|co|ai|dev|app|info|biz|me|top|xyz|cc|tv|us|uk|jp|hk|tw|de|fr|ru)(?:[/:].*)?",
    re.IGNORECASE,
)
_RUNS = re.compile(r"[^\W\d_]+|\d+")
_FUNCTION_WORDS = frozenset(
    "a an the of to in on at by for and or de la up off out per vs is it as if not no non".split()
)
_PARTS = re.compile(r"[-_./#]+")
_LONGEST_RUN = 160  # longer ones are paths and data, not names
_LONGEST_SOLID = 32  # longer runs without a separator are hashes and encoded data
_NUMBERED = re.compile(r"[^\W\d_]+\.\d{1,3}")
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:h|m|s|ms|μs|us|ns|d)){1,5}")
_VOWEL = re.compile(r"[aeiou]")


def _piece(
    start: int, text: str, strength: Strength, kind: str = "word", canonical: str | None = None
) -> Piece:
    key = text.lower() if canonical is None else canonical
    compact = compact_form(key) if strength > Strength.WORD else key
    number = text if kind == "number" else inner_number(key) if strength > Strength.WORD else None
    return Piece(start, start + len(text), text, strength, kind, key, compact, number)


@lru_cache(maxsize=1 << 16)
def split_pieces(run: str) -> tuple[Piece, ...]:
    """Pieces of a run matched by ``CHUNK``, in order; separators between pieces belong to none.

    >>> [(piece.text, piece.strength.name) for piece in split_pieces("E1042/E1043")]
    [('E1042', 'STRONG'), ('E1043', 'STRONG')]
    """
    if len(run) > _LONGEST_RUN:
        words = re.finditer(r"[^\W_]{1,64}", run)
        return tuple(_piece(match.start(), match.group(), Strength.VALUE) for match in words)
    return tuple(_split(run, 0))


@lru_cache(maxsize=1 << 14)
def unqualified(name: str) -> tuple[str, ...]:
    """The parts of a qualified name that are names by themselves.

    >>> unqualified("java.sql.BatchUpdateException"), unqualified("tables.data_length"), unqualified("a.b.c")
    (('BatchUpdateException',), ('data_length',), ())
    """
    parts = re.split("[.:]", name)
    found = [part for part in parts if _NAMED_ERROR.fullmatch(part) and len(_HUMPS.findall(part)) > 1]
    last = parts[-1]
    if last not in found and ("_" in last.strip("_") or last.count("-") > 1):
        found.append(last)
    return tuple(found) if len(parts) > 1 else ()


def _split(run: str, offset: int) -> list[Piece]:
    lowered = run.lower()
    if run.isalpha():
        return [_alphabetic(run, lowered, offset)]
    if run.isdecimal():
        return [_piece(offset, run, Strength.NUMBER if len(run) <= 12 else Strength.VALUE, "number")]
    if EVERYDAY_WORD.fullmatch(lowered):
        return [_piece(offset, run, Strength.EVERYDAY)]
    if (
        _EMAIL.fullmatch(run)
        or _DATE.fullmatch(lowered)
        or _DATE_PATTERN.fullmatch(lowered)
        or _UUID.fullmatch(lowered)
    ):
        return [_piece(offset, run, Strength.VALUE)]
    if _HEX.fullmatch(lowered):
        return [_piece(offset, run, Strength.STRONG, "code")]
    if _UNITS.fullmatch(lowered) or _DURATION.fullmatch(lowered):
        return [_piece(offset, run, Strength.VALUE)]
    if run[0].isdigit() and _NUMERIC.fullmatch(run):
        return _numeric(run, offset)
    for separators in ("@", ",", "~", "&", "="):
        if separators in run:
            return _each(run, offset, separators)
    if "'" in run or "’" in run:
        stem = re.split("['’]", run, maxsplit=1)[0]
        return [*_split(stem, offset)] if stem else []
    if ":" in run:
        if "::" not in run and _QUALIFIED.fullmatch(run):
            return [_piece(offset, run, Strength.STRONG, "name")]
        return _each(run, offset, ":")
    return _joined(run, lowered, offset)


def _each(run: str, offset: int, separator: str) -> list[Piece]:
    pieces: list[Piece] = []
    for part in re.finditer(rf"[^{re.escape(separator)}]+", run):
        pieces += _split(part.group(), offset + part.start())
    return pieces


def _numeric(run: str, offset: int) -> list[Piece]:
    if _IP.fullmatch(run) and all(int(part) < 256 for part in re.split(r"[.:/]", run)[:4]):
        return [_piece(offset, run, Strength.VALUE)]
    if _THREE_PARTS.fullmatch(run):
        return [_piece(offset, run, Strength.STRONG, "version", f"v{run}")]
    if "," in run and not _THOUSANDS.fullmatch(run):
        return _each(run, offset, ",")
    if "=" in run:
        return _each(run, offset, "=")
    return [_piece(offset, run, Strength.VALUE)]


def _alphabetic(run: str, lowered: str, offset: int) -> Piece:
    if len(run) > 5 and not run.islower() and not run.isupper():
        if _NAMED_ERROR.fullmatch(run) and len(_HUMPS.findall(run)) > 1:
            return _piece(offset, run, Strength.STRONG, "name")
        if run.isascii() and len(_HUMPS.findall(run)) > 2:
            return _piece(offset, run, Strength.NAME, "name")
    return _piece(offset, run, Strength.WORD)


def _joined(run: str, lowered: str, offset: int) -> list[Piece]:
    """A run whose separators, if any, are among ``- _ . / # +``."""
    if len(run) > 1 and run[0] == "_" == run[-1]:
        inner = run.strip("_")
        return _split(inner, offset + run.index(inner)) if inner else []
    run = run.rstrip("_")
    lowered = run.lower()
    if not run:
        return []
    if _VERSION.fullmatch(lowered) or (run[0].isdigit() and _THREE_PARTS.fullmatch(lowered)):
        canonical = lowered if lowered[0] == "v" else f"v{lowered}"
        return [_piece(offset, run, Strength.STRONG, "version", canonical)]
    if _VERSION_FAMILY.fullmatch(lowered):
        return [_piece(offset, run, Strength.VALUE)]
    if "/" in run:
        return _slashed(run, offset)
    if "+" in run[:-1].rstrip("+"):
        return _each(run, offset, "+")
    if "." in run:
        if _HOST.fullmatch(run) and not run.rpartition(".")[0].isupper():
            return [_piece(offset, run, Strength.VALUE)]
        if _NUMBERED.fullmatch(run):
            return _each(run, offset, ".")
        if file := _FILE.fullmatch(run):
            stem = _split(file[1], offset)
            if len(stem) == 1 and stem[0].strength is Strength.STRONG and stem[0].kind == "code":
                return [*stem, _piece(offset + file.start(2), file[2], Strength.WORD)]
            return [_piece(offset, run, Strength.NAME, "name")]
    if (product := _PRODUCT_VERSION.fullmatch(run)) and not (product[1].isupper() and len(product[2]) > 5):
        name, version = product[1], product[2]
        return [*_split(name, offset), *_numeric(version, offset + product.start(2))]
    if any(character.isdigit() for character in run):
        return _mixed(run, lowered, offset)
    if any(character in "-_.#" for character in run):
        return [_compound(run, lowered, offset)]
    if run.endswith("+"):
        return [_piece(offset, run, Strength.EVERYDAY)]
    return _split(run, offset) if run.isalpha() else [_piece(offset, run, Strength.WORD)]


def _slashed(run: str, offset: int) -> list[Piece]:
    if run.count("/") > 3:
        return _each(run, offset, "/")
    head, _, tail = run.rpartition("/")
    left = _split(head, offset)
    right = _split(tail, offset + len(head) + 1)
    if (
        len(left) == 1
        and left[0].strength is Strength.STRONG
        and left[0].kind == "code"
        and len(tail) <= 5
        and len(right) == 1
        and right[0].strength < Strength.WEAK
        and tail.isalnum()
        and (tail.isupper() or tail.isdigit() or head.islower())
    ):
        return [_piece(offset, run, Strength.STRONG, "code")]
    return [*left, *right]


def _compound(run: str, lowered: str, offset: int) -> Piece:
    """Letters joined by separators, no digit."""
    parts = [part for part in _PARTS.split(run) if part]
    if "_" in run:
        strong = len(parts) > 1 and any(len(part) > 1 for part in parts)
        return _piece(offset, run, Strength.STRONG if strong else Strength.WORD, "name")
    if len(parts) > 2 and run.isupper() and "." not in run and any(len(part) > 1 for part in parts):
        return _piece(offset, run, Strength.STRONG, "code")
    if len(parts) > 2 and not _FUNCTION_WORDS.intersection(lowered.replace(".", "-").split("-")):
        long = sum(len(part) > 1 for part in parts) > 1
        return _piece(offset, run, Strength.WEAK if long and run.isascii() else Strength.WORD, "name")
    if any(len(part) == 1 for part in parts) and "." in run:
        return _piece(offset, run, Strength.WORD)
    return _piece(offset, run, Strength.NAME if run.isascii() else Strength.WORD, "name")


def _mixed(run: str, lowered: str, offset: int) -> list[Piece]:
    """Letters and digits, perhaps with separators."""
    if ranged := _range(run, offset):
        return ranged
    parts = [part for part in _PARTS.split(run) if part]
    kind = _kind(run, parts)
    strength = _strength(run, lowered, parts, kind)
    return [_piece(offset, run, strength, "short" if strength is Strength.SHORT else kind)]


def _range(run: str, offset: int) -> list[Piece] | None:
    """``E1042-E1050`` is two codes."""
    left, dash, right = run.partition("-")
    if not dash or "-" in right or len(left) < 4:
        return None
    if [(len(part), part.isdigit()) for part in _RUNS.findall(left)] == [
        (len(part), part.isdigit()) for part in _RUNS.findall(right)
    ]:
        first, second = _RUNS.findall(left), _RUNS.findall(right)
        if len(first) > 1 and first[0] == second[0] and not first[0].isdigit():
            return [*_split(left, offset), *_split(right, offset + len(left) + 1)]
    return None


def _kind(run: str, parts: list[str]) -> str:
    words = [part for part in parts if part.isalpha() and len(part) > 2]
    if (
        len(parts) > 1
        and len(words) * 2 > len(parts)
        and (run.islower() or "_" in run)
        and not any(part.isdigit() for part in parts)
    ):
        return "name"
    return "code"


def _strength(run: str, lowered: str, parts: list[str], kind: str) -> Strength:
    digits = sum(character.isdigit() for character in run)
    runs = _RUNS.findall(run)
    mixed_parts = [part for part in parts if len(_RUNS.findall(part)) > 1]
    if len(parts) == 1:
        return _solid_strength(run, runs, digits)
    if "_" in run and kind == "name":
        return Strength.STRONG
    if kind == "name":
        return Strength.WEAK
    if all(part.isdigit() for part in parts[1:]) and parts[0].isalpha() and len(parts) == 2:
        word = parts[0]
        natural = len(word) > 2 and not word.isupper() and _VOWEL.search(word.lower()) is not None
        return Strength.STRONG if digits > 2 and not natural else Strength.WEAK
    if len(parts) > 2 and (mixed_parts or digits > 1 or not run.islower()):
        return Strength.STRONG
    return Strength.STRONG if digits > 2 else Strength.WEAK


def _solid_strength(run: str, runs: list[str], digits: int) -> Strength:
    """Letters and digits without a separator."""
    if len(run) > _LONGEST_SOLID:
        return Strength.VALUE
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
