"""One answer in the making: what was decided before the model was asked, and what has been shown so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from llama_index.core.schema import NodeWithScore

from gyr_hybrid.answering.context.packing import Context
from gyr_hybrid.answering.in_use import InUse
from gyr_hybrid.answering.prompts import Language
from gyr_hybrid.answering.refusal import near_misses, refusal_message
from gyr_hybrid.answering.response import (
    Citation,
    CitedResponse,
    Decision,
    RefusalReason,
    UnknownIdentifier,
)

_CANCELLED: dict[Language, str] = {
    "zh": "回答在结束前被中止，不完整",
    "en": "the answer was stopped before its end and is not complete",
}

NEAREST = 3
"""Most sections that a refusal for want of evidence names."""


@dataclass
class Answer:
    """Fields of the response while they fill; belongs to one question only."""

    question: str
    language: Language
    context: Context
    evidence: float = 0.0
    refusal_reason: RefusalReason | None = None
    refusal_text: str | None = None
    """The owner's own text for refusals."""
    small_talk: str | None = None
    """The application's own text for small talk."""
    weak: bool = False
    """Whether the evidence is only a little above the border."""
    in_use: InUse = field(default_factory=InUse)
    unknown_identifiers: list[UnknownIdentifier] = field(default_factory=list)
    unanswered: tuple[str, ...] = ()
    """Parts of the question without evidence, where others have some."""
    warnings: list[str] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    trace: list[Decision] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    done: bool = False

    @property
    def context_nodes(self) -> list[NodeWithScore]:
        """All sections that the model is shown."""
        return list(self.context.nodes)

    @property
    def nearest(self) -> list[NodeWithScore]:
        """Sections that came closest, on a refusal for want of evidence."""
        return list(self.context.nodes[:NEAREST]) if self.refusal_reason == "no_evidence" else []

    @property
    def source_nodes(self) -> list[NodeWithScore]:
        """Cited sections in order of first citation."""
        by_id = {n.node.node_id: n for n in self.context.nodes}
        return [by_id[i] for i in dict.fromkeys(c.node_id for c in self.citations) if i in by_id]

    @property
    def metadata(self) -> dict[str, Any]:
        """Node id -> metadata of the cited sections, as LlamaIndex's synthesizers give it."""
        return {n.node.node_id: n.node.metadata for n in self.source_nodes}

    @property
    def text(self) -> str:
        """What has been shown so far."""
        return "".join(self.pieces)

    def show(self, piece: str) -> str:
        """Add a piece of text."""
        self.pieces.append(piece)
        return piece

    def refuse(self, reason: RefusalReason) -> str:
        """End as a refusal; the value is its text."""
        self.refusal_reason = reason
        self.citations.clear()
        custom = self.refusal_text
        if reason == "small_talk":
            custom = self.small_talk
        nearest = near_misses(self.nearest, [s.label for s in self.context.sources], self.language)
        return self.show(
            refusal_message(reason, self.language, self.unknown_identifiers, custom, nearest=nearest)
        )

    def cancel(self) -> None:
        """End where it stands."""
        self.done = True
        self.warnings.append(_CANCELLED[self.language])

    def response(self) -> CitedResponse:
        """The answer as a value of its own."""
        return CitedResponse(
            response=self.text,
            source_nodes=self.source_nodes,
            metadata=self.metadata,
            citations=list(self.citations),
            context_nodes=self.context_nodes,
            refused=self.refusal_reason is not None,
            refusal_reason=self.refusal_reason,
            unknown_identifiers=list(self.unknown_identifiers),
            warnings=list(self.warnings),
            evidence=self.evidence,
            trace=list(self.trace),
            nearest=self.nearest,
            mode=self.in_use.mode,
            models=dict(self.in_use.models),
        )
