"""Codes as a store takes them and as it gives them back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeMention:
    """A code that a child bears, in its text or its heading path."""

    text: str
    """As it stands in the document."""
    canonical: str
    compact: str
    kind: str
    number: str | None = None
    """The digits inside, for look-up beside a class word."""
    defining: bool = False
    """Whether the child is about the code: heading, first cell, ``CODE：``."""


@dataclass(frozen=True, slots=True)
class KnownCode:
    """A code that visible documents bear."""

    text: str
    """Its spelling where it is defined, else the most frequent one."""
    canonical: str
    compact: str
    kind: str
    number: str | None
    """The digits inside, when they are one run."""
    count: int
    """Visible children that bear it."""
