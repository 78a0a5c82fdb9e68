"""What a code is, and the two keys under which its spellings meet."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SEPARATORS = re.compile(r"[-_./:#\s]+")
_ONE_NUMBER = re.compile(r"[^\W\d]+[-_./:#\s]*(\d+)")
_DOTTED = re.compile(r"v?\d+(?:\.\d+)+\S*")


@dataclass(frozen=True, slots=True)
class Code:
    """A code of the kind that business documents have: ``E1042``, ``ER_DUP_ENTRY``, ``第33条``, ``v6.5.3``."""

    text: str
    """As it stands in the text; of an index: its defining or most frequent spelling."""
    canonical: str
    """Case, width and dashes folded, separators kept."""
    compact: str
    """Separators dropped, ``+`` kept; equal to ``canonical`` for versions and dotted numbers."""
    kind: str
    """``code``, ``name``, ``standard``, ``ordinal``, ``version``, ``number``, or ``short`` (``E1``: a code of an
    index only if a document defines it)."""
    number: str | None = None
    """The digits inside, when they are one run: ``1042`` of ``E1042``."""
    start: int = -1
    """First code point in the text analysed; -1 when the code comes from an index."""
    end: int = -1
    class_word: str | None = None
    """The word beside it that says what it is: ``错误码``, ``SKU``."""
    sections: tuple[str, ...] = ()
    """Ids of the sections that bear it, reading order; filled by ``HybridIndex.codes()``."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A code at a place of a child."""

    code: Code
    defining: bool
    """Whether the place says what the code is: a heading, a first cell, ``CODE：``, ``**CODE**``."""


def compact_form(canonical: str) -> str:
    """``canonical`` without separators; versions and dotted numbers keep theirs.

    >>> compact_form("ns-x2-blk-m"), compact_form("v6.5.3"), compact_form("max232+")
    ('nsx2blkm', 'v6.5.3', 'max232+')
    """
    return canonical if _DOTTED.fullmatch(canonical) else _SEPARATORS.sub("", canonical)


def inner_number(canonical: str) -> str | None:
    """The one run of digits of a prefix and a number; None for anything else.

    >>> inner_number("e1042"), inner_number("ora-00942"), inner_number("ns-x2-blk-m")
    ('1042', '00942', None)
    """
    if canonical.startswith("0x"):
        return canonical[2:]
    match = _ONE_NUMBER.fullmatch(canonical)
    return match[1] if match else None
