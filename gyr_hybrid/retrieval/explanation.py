"""What a retrieval did, step by step, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gyr_hybrid.retrieval.synonyms import SYNONYM_WEIGHT


@dataclass(frozen=True, slots=True)
class Step:
    """One row of a leg or of a later step."""

    node_id: str
    rank: int
    score: float | None
    """None where access rules forbid to show scores."""
    details: tuple[tuple[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"node_id": self.node_id, "rank": self.rank, "score": self.score, **dict(self.details)}


@dataclass(frozen=True, slots=True)
class ExplainedCode:
    """A code of the question as it was understood."""

    text: str
    canonical: str
    status: str
    """``known``, ``unknown``, ``family`` or ``ambiguous``."""
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExplainedVariant:
    """A part or a rewriting of the question that was searched beside it."""

    kind: str
    """``part`` or ``rewrite``."""
    text: str
    """As it was searched."""
    found: tuple[str, ...] = ()
    """Its own best sections, at most ``top_k``."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The whole road of one question; ``print`` it for a table, ``to_dict`` it for a program."""

    query: str
    mode: str
    tokens: tuple[str, ...] = ()
    codes: tuple[ExplainedCode, ...] = ()
    synonyms: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(Word of the question, what it was widened to)."""
    legs: dict[str, tuple[Step, ...]] = field(default_factory=dict)
    fused: tuple[Step, ...] = ()
    merged: tuple[Step, ...] = ()
    reranked: tuple[Step, ...] = ()
    variants: tuple[ExplainedVariant, ...] = ()
    cost: dict[str, int] = field(default_factory=dict)
    """``searches`` and ``texts_embedded``, and with rewriting ``llm_calls``, ``prompt_tokens``, ``reply_tokens``."""
    warnings: tuple[str, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and dicts, ready for JSON."""
        return {
            "query": self.query,
            "mode": self.mode,
            "tokens": list(self.tokens),
            "codes": [
                {
                    "text": code.text,
                    "canonical": code.canonical,
                    "status": code.status,
                    "suggestions": list(code.suggestions),
                }
                for code in self.codes
            ],
            "legs": {name: [step.to_dict() for step in steps] for name, steps in self.legs.items()},
            "fused": [step.to_dict() for step in self.fused],
            "merged": [step.to_dict() for step in self.merged],
            "reranked": [step.to_dict() for step in self.reranked],
            "synonyms": {word: list(others) for word, others in self.synonyms},
            "variants": [{"kind": v.kind, "text": v.text, "found": list(v.found)} for v in self.variants],
            "cost": dict(self.cost),
            "warnings": list(self.warnings),
            "timings_ms": dict(self.timings_ms),
        }

    def __str__(self) -> str:
        from io import StringIO

        from rich.console import Console

        out = StringIO()
        Console(file=out, width=110, highlight=False, markup=False).print(self)
        return out.getvalue().rstrip()

    def __rich_console__(self, console: Any, options: Any) -> Any:
        from rich.table import Table
        from rich.text import Text

        yield Text(f"{self.query}   ({self.mode})")
        yield Text("tokens: " + " ".join(self.tokens))
        for code in self.codes:
            near = f"  near: {', '.join(code.suggestions)}" if code.suggestions else ""
            yield Text(f"code: {code.text} = {code.canonical} ({code.status}){near}")
        for word, others in self.synonyms:
            yield Text(f"synonyms: {word} -> {', '.join(others)}  (weight {SYNONYM_WEIGHT})")
        for variant in self.variants:
            yield Text(f"{variant.kind}: {variant.text} -> {', '.join(variant.found)}")
        if self.variants or "llm_calls" in self.cost:
            yield Text("cost: " + "  ".join(f"{name} {count}" for name, count in self.cost.items()))
        table = Table(title=None, expand=False)
        for column in ("#", "section", "score", "codes", "lexical", "dense", "why"):
            table.add_column(column, overflow="fold")
        children = {step.node_id: dict(step.details).get("children", ()) for step in self.merged}
        ranks = {name: {step.node_id: step.rank for step in steps} for name, steps in self.legs.items()}
        for step in self.reranked:
            ids = [child["node_id"] for child in children.get(step.node_id, ())] or [step.node_id]
            best = {
                name: min((found[i] for i in ids if i in found), default=None)
                for name, found in ranks.items()
            }
            details = dict(step.details)
            why = ", ".join(
                f"{k} {v:.2f}" if isinstance(v, float) else f"{k} {v}" for k, v in details.items()
            )
            table.add_row(
                str(step.rank),
                Text(step.node_id),
                "" if step.score is None else f"{step.score:.3f}",
                *("" if best.get(leg) is None else str(best[leg]) for leg in ("codes", "lexical", "dense")),
                Text(why),
            )
        yield table
        for warning in self.warnings:
            yield Text(f"warning: {warning}")
        yield Text("  ".join(f"{name} {ms:.1f} ms" for name, ms in self.timings_ms.items()))
