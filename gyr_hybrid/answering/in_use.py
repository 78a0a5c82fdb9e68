"""Which models an engine works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gyr_hybrid.answering.response import Mode
from gyr_hybrid.models.endpoints import describe_one

_ADDRESSES = ("api_base", "base_url", "api_key", "_llm", "llm")
"""Attributes of a model that is asked elsewhere, or that asks a language model."""


@dataclass(frozen=True, slots=True)
class InUse:
    """Models by role, and whether any is more than arithmetic on this machine."""

    mode: Mode = "offline"
    models: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, *, llm: Any = None, embedding: Any = None, judge: Any = None, reranker: Any = None) -> InUse:
        """Of the models themselves; None is one that is not in use.

        >>> InUse.of()
        InUse(mode='offline', models={})
        """
        given = {"llm": llm, "embedding": embedding, "judge": judge, "reranker": reranker}
        used = {role: model for role, model in given.items() if model is not None}
        online = llm is not None or any(map(_asked_elsewhere, used.values()))
        return cls(
            "online" if online else "offline", {role: describe_one(model) for role, model in used.items()}
        )


def _asked_elsewhere(model: Any) -> bool:
    if getattr(model, "service", None) is not None:
        return True
    return any(getattr(model, name, None) for name in _ADDRESSES)
