"""Pieces of a run of letters, digits and separators: which of them has the shape of a code, seen alone."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from gyr_hybrid.analysis.codes import compact_form, inner_number
from gyr_hybrid.analysis.sentences import HAN_KANA
from gyr_hybrid.analysis.strength import Strength, is_named_error, judge_compound, judge_mixed, judge_word
from gyr_hybrid.analysis.vocabulary import EVERYDAY, UNITS

WORD_CHARACTER = rf"[^\W{HAN_KANA}]"
CHUNK = re.compile(
    rf"{WORD_CHARACTER}+(?:(?:::|[-./:#+&,=@~'’]){WORD_CHARACTER}+)*(?:\+{{1,2}}|%|(?<=[CFcf])#)?"
)


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
_STAGE = r"(?:[-.]?(?:alpha|beta|rc|dmr|ga|sp|p|build|snapshot|lts|final|m)[-.]?\d*)*"
_THREE_PARTS = re.compile(rf"\d{{1,5}}(?:\.\d{{1,5}}){{2,3}}{_STAGE}")
_VERSION = re.compile(rf"v\d+(?:\.\d+)+(?:\.x)?{_STAGE}")
_VERSION_FAMILY = re.compile(r"v?\d+(?:\.\d+)*\.x")
_DATE = re.compile(
    r"(?:19|20)\d\d([-./])\d{1,2}(?:\1\d{1,2})?|\d{1,2}([-/])\d{1,2}\2(?:19|20)\d\d|(?:19|20)\d\d[-_/]?(?:q[1-4]|h[12]|s[1-4]|fy|ss|fw|aw)|(?:19|20)\d\d-\d\d-\d\dt\d.*|\d+(?:\.\d+)?e[+-]?\d*|fy(?:19|20)\d\d"
)
_DATE_PATTERN = re.compile(r"[ymdhs]{1,4}(?:[-/:._][ymdhs]{1,4})+(?:t[ymdhs:]+z?)?")
_HEX = re.compile(r"0x[0-9a-f]{2,}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}.*|[0-9a-f]{16,}")
_PRODUCT_VERSION = re.compile(r"([^\W\d_]{2,})(\d{1,3}(?:\.\d{1,5}){1,3})")
_QUALIFIED = re.compile(
    r"[A-Za-z][A-Za-z0-9_]*(?::[A-Za-z][A-Za-z0-9_]*)*:(?:(?:Err|ERR|E)[A-Z]\w{2,}|[A-Za-z0-9]+_\w+)"
)
_FILE = re.compile(
    r"(.+)\.(py|js|ts|go|rs|java|c|cc|cpp|h|hpp|cs|rb|php|sh|bat|ps1|sql|md|txt|csv|tsv|xls|xlsx|doc|docx|ppt|pptx|pdf|html?|xml|"
    r"json|jsonl|ya?ml|toml|ini|conf|cfg|log|zip|gz|tgz|tar|rar|exe|msi|dll|so|jar|war|apk|ipa|iso|img|png|jpe?g|gif|svg|bmp|mp[34]|wav|avi|mov|key|pem|crt|cer|"
    r"properties|lock|bak|tmp|dat|db|sqlite|parquet|proto|inl|info|err|out|pid|sock)",
    re.IGNORECASE,
)
_HOST = re.compile(
    r"(?:www\.)?[\w-]+(?:\.[\w-]+)*\.(?:com|cn|org|net|gov|edu|io|co|ai|dev|app|info|biz|me|top|xyz|cc|tv|us|uk|jp|hk|tw|de|fr|ru)(?:[/:].*)?",
    re.IGNORECASE,
)
_LONGEST_RUN = 160  # longer ones are paths and data, not names
_RUNS = re.compile(r"[^\W\d_]+|\d+")
_LAST_DIGITS = re.compile(r"\d+$")
_REPEATED = re.compile(r"([^\W\d_]\w*(?:[-_.]\w+)*[-_.])(\d+)-\1(\d+)", re.IGNORECASE)
_NUMBERED = re.compile(r"[^\W\d_]+\.\d{1,3}")
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:h|m|s|ms|μs|us|ns|d)){1,5}")


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
    found = [part for part in parts if is_named_error(part)]
    last = parts[-1]
    if last not in found and ("_" in last.strip("_") or last.count("-") > 1):
        found.append(last)
    return tuple(found) if len(parts) > 1 else ()


def _split(run: str, offset: int) -> list[Piece]:
    if not run:
        return []
    lowered = run.lower()
    if run.isalpha():
        return [_piece(offset, run, *judge_word(run))]
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
        if (file := _FILE.fullmatch(run)) and (len(file[2]) > 1 or file[2].islower()):
            stem = _split(file[1], offset)
            if len(stem) == 1 and stem[0].strength is Strength.STRONG and stem[0].kind == "code":
                return [*stem, _piece(offset + file.start(2), file[2], Strength.WORD)]
            return [_piece(offset, run, Strength.NAME, "name")]
    if (product := _PRODUCT_VERSION.fullmatch(run)) and not (product[1].isupper() and len(product[2]) > 5):
        name, version = product[1], product[2]
        return [*_split(name, offset), *_numeric(version, offset + product.start(2))]
    if any(character.isdigit() for character in run):
        return _range(run, offset) or [_piece(offset, run, *judge_mixed(run))]
    if any(character in "-_.#" for character in run):
        return [_piece(offset, run, *judge_compound(run))]
    if run.endswith("+"):
        return [_piece(offset, run, Strength.EVERYDAY)]
    return _split(run, offset) if run.isalpha() else [_piece(offset, run, Strength.WORD)]


def _slashed(run: str, offset: int) -> list[Piece]:
    if run.count("/") > 3:
        return _each(run, offset, "/")
    head, _, tail = run.rpartition("/")
    left = _split(head, offset)
    right = _split(tail, offset + len(head) + 1)
    ending = _LAST_DIGITS.search(left[-1].text) if left else None
    listed = tail.isdigit() and ending is not None and len(ending.group()) == len(tail) > 1
    if (
        not listed
        and len(left) == 1
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


def _range(run: str, offset: int) -> list[Piece] | None:
    """``E1042-E1050`` is two codes, and so are ``P5-P7`` and ``ALM-401-ALM-403``."""
    if (span := _REPEATED.fullmatch(run)) and len(span[2]) == len(span[3]) and span[2] < span[3]:
        return [
            *_split(run[: span.end(2)], offset),
            *_split(run[span.end(2) + 1 :], offset + span.end(2) + 1),
        ]
    left, dash, right = run.partition("-")
    if not dash or "-" in right or len(left) < 2:
        return None
    first, second = _RUNS.findall(left), _RUNS.findall(right)
    alike = [(len(part), part.isdigit()) for part in first] == [
        (len(part), part.isdigit()) for part in second
    ]
    if not alike or len(first) < 2 or first[0] != second[0] or first[0].isdigit():
        return None
    if len(left) < 4 and not first[-1] < second[-1]:  # a short one that does not rise is a name: M3-M2
        return None
    return [*_split(left, offset), *_split(right, offset + len(left) + 1)]
