"""What the checks look at, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gyr_hybrid.answering.verification.aligned import Aligned
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.passages import Section
from gyr_hybrid.figures import Figure


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the checks look at."""

    sentence: str
    aligned: tuple[Aligned, ...]
    sections: tuple[Section, ...]
    lexicon: Lexicon
    explained: frozenset[Figure]
    """Figures worked out from quoted ones."""


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    detail: str
    hard: bool = False

    @property
    def reason(self) -> str:
        """``check: detail`` as a verdict gives it."""
        return f"{self.check}: {self.detail}"


Check = Callable[[Evidence], Iterator[Finding]]
