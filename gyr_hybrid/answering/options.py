"""Options of a query engine, checked where they are given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Literal, get_args

from gyr_hybrid.answering.context.labels import DEFAULT_FORMAT, check_format
from gyr_hybrid.answering.context.packing import TOKEN_BUDGET
from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.verification import Verifier

Policy = Literal["strict", "flag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """How an engine answers."""

    policy: Policy = "strict"
    """``strict``: nothing unverified is shown; ``flag``: uncertain sentences stay and are marked."""
    judge: Verifier | Literal["auto"] | None = "auto"
    """Asked whether sections bear what is said in other words; it never overrules figures or codes. ``auto``: the chat
    model that writes, or the index's own; None: rules alone."""
    judge_timeout: float = 15.0
    """Seconds that one question to the judge may take."""
    verifier: Verifier | None = None
    """The older name of ``judge``."""
    streaming: bool = False
    citation_format: str = DEFAULT_FORMAT
    """Template over ``{id}``, ``{doc_id}``, ``{n}``."""
    max_retries: int = 1
    """How often the model is asked again for one contradicted sentence."""
    token_budget: int = TOKEN_BUDGET
    """Tokens of the sections shown to the model."""
    refusal_text: str | None = None
    """Shown on refusal; may hold ``{codes}``, ``{suggestions}`` and ``{nearest}``."""
    min_evidence: float | None = None
    """0..1; less is refused where no model answers. None is the measured border, 0.5. A model is asked regardless."""
    small_talk: Callable[[str], str] | str | None = None
    """What answers a greeting, thanks or the wish for a person: a text, or a function of the question."""
    language: Literal["zh", "en"] | None = None
    """Of prompts and refusals; None is that of the question."""

    def __post_init__(self) -> None:
        if self.policy not in get_args(Policy):
            raise ConfigurationError(f"policy={self.policy!r} is unknown; use 'strict' or 'flag'")
        if self.language not in (None, "zh", "en"):
            raise ConfigurationError(f"language={self.language!r} is unknown; use 'zh', 'en' or None")
        for name, least in (("max_retries", 0), ("token_budget", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ConfigurationError(f"{name}={value!r} must be a whole number of at least {least}")
        for name in ("judge", "verifier"):
            judge = getattr(self, name)
            if judge not in (None, "auto") and not callable(getattr(judge, "verify", None)):
                raise ConfigurationError(
                    f"{name}={judge!r} has no method verify(sentence, nodes); derive it from gyr_hybrid.Verifier"
                )
        border = self.min_evidence
        if border is not None and (
            isinstance(border, bool) or not isinstance(border, int | float) or not 0 <= border <= 1
        ):
            raise ConfigurationError(f"min_evidence={border!r} must be a number from 0 to 1, or None")
        if not (self.small_talk is None or isinstance(self.small_talk, str) or callable(self.small_talk)):
            raise ConfigurationError(
                f"small_talk={self.small_talk!r} must be a text, a function of the question, or None"
            )
        check_format(self.citation_format)


ENGINE_OPTIONS = frozenset(f.name for f in fields(EngineOptions))
