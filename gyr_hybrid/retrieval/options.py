"""Options of a retriever, checked where they are given."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.retrieval.fusion import RRF_K

Mode = Literal["hybrid", "lexical", "dense"]
LEGS = ("codes", "lexical", "dense")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieverOptions:
    """How a retriever searches and what it may see."""

    mode: Mode = "hybrid"
    """``lexical``: BM25 and codes; ``dense``: vectors alone; ``hybrid``: all."""
    top_k: int = 5
    """Sections returned (children with ``merge=False``)."""
    filters: Any = None
    """``MetadataFilters`` that every question must meet."""
    as_of: date | str | None = None
    """Day of validity; None is today."""
    tenant: str | None = None
    """Whose documents are seen beside those of nobody; None is not checked."""
    principals: Iterable[str] | str | None = None
    """Who asks; ``[]`` is nobody, None is not checked."""
    candidates: int = 50
    """Children that each leg may bring."""
    rrf_k: float = RRF_K
    weights: Mapping[str, float] | None = None
    """Leg (``codes``, ``lexical``, ``dense``) to its weight in the fusion; 1 where absent."""
    merge: bool = True
    rerank: bool = True
    synonyms: str | Path | Iterable[str] | None = field(default=None, compare=False)
    """A file of synonym groups, or its lines, beside the shipped ones. None: ``synonyms.txt`` in the folder of the
    index, where there is one; ``[]``: the shipped ones alone."""
    rewrites: int = 0
    """Wordings or sub-questions that the chat model makes of a question, each searched and pooled with it by RRF.
    One call of the model a question; 0 asks none."""

    def __post_init__(self) -> None:
        if self.mode not in get_args(Mode):
            raise ConfigurationError(f"mode={self.mode!r} is unknown; use 'hybrid', 'lexical' or 'dense'")
        for name in ("top_k", "candidates"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigurationError(f"{name}={value!r} must be a whole number of at least 1")
        if (
            not isinstance(self.rewrites, int)
            or isinstance(self.rewrites, bool)
            or not 0 <= self.rewrites <= 10
        ):
            raise ConfigurationError(f"rewrites={self.rewrites!r} must be a whole number from 0 to 10")
        # fixed here: what a caller does to its list later changes nothing
        if self.principals is not None:
            given = [self.principals] if isinstance(self.principals, str) else self.principals
            object.__setattr__(self, "principals", frozenset(map(str, given)))
        if self.tenant is not None:
            object.__setattr__(self, "tenant", str(self.tenant))
        if not self.rrf_k > 0:
            raise ConfigurationError(f"rrf_k={self.rrf_k!r} must be above 0")
        if not isinstance(self.weights, Mapping | None):
            raise ConfigurationError(
                f"weights={self.weights!r} is no mapping; give a weight by leg, such as {{'dense': 0.5}}"
            )
        for leg, weight in (self.weights or {}).items():
            if leg not in LEGS or not weight >= 0:
                raise ConfigurationError(
                    f"weights: {leg!r}: {weight!r}; legs are {', '.join(LEGS)}, weights at least 0"
                )

    @property
    def who(self) -> frozenset[str] | None:
        """``principals`` as a set; text is one principal."""
        return None if self.principals is None else frozenset(self.principals)

    @property
    def restricted(self) -> bool:
        """Whether access rules hold, so that explanations show ranks without scores."""
        return self.tenant is not None or self.principals is not None


RETRIEVER_OPTIONS = frozenset(f.name for f in fields(RetrieverOptions))


def check_options(given: Iterable[str], known: Iterable[str]) -> None:
    """Raise ``TypeError`` for the first name that is no option, naming the nearest one that is."""
    known = sorted(known)
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
            raise TypeError(f"unknown option {name!r}; did you mean {near[0]!r}? Options: {', '.join(known)}")
