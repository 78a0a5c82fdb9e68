"""What a reader makes of a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias

from gyr_hybrid.parsing.front_matter import FrontValue

MARKDOWN = "text/markdown"
PLAIN = "text/plain"

Place: TypeAlias = tuple[int, str, str]
"""(offset, key, value): from that offset on nodes have the metadata ``key: value``; an empty value ends it."""

_NOT_TEXT = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u200b\\u2060\\ufeff\\ufffe]")
_SPACES = re.compile("[ \\t\\u00a0\\u2000-\\u200a\\u202f\\u205f]+")


@dataclass(frozen=True, slots=True)
class Reading:
    """One document of a file."""

    text: str
    """The body; offsets of nodes count its code points."""
    mimetype: str = MARKDOWN
    """How the text is structured: ``MARKDOWN`` or ``PLAIN``."""
    metadata: dict[str, FrontValue] = field(default_factory=dict)
    body_line: int = 1
    """1-based line of the file where the text begins; 1 for files without lines."""
    name: str = ""
    """Which record of the file it is, when a file holds several documents."""
    places: tuple[Place, ...] = ()
    """Pages, sheets, rows and anchors, ordered by offset."""


@dataclass(frozen=True, slots=True)
class FileReadings:
    """All documents of a file."""

    readings: tuple[Reading, ...]
    complaint: str | None = None
    """What could not be read while the rest could: bad records, scanned pages."""


def clean(text: str) -> str:
    """``text`` without control characters, soft hyphens and zero-width characters; spaces single.

    >>> clean("soft\\u00adware  v2\\u200b")
    'software v2'
    """
    return _SPACES.sub(" ", _NOT_TEXT.sub("", text))
