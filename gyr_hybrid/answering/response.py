"""What an answer is: its text, its citations, and why each sentence is there or is not."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from llama_index.core.base.response.schema import Response
from llama_index.core.schema import MetadataMode, NodeWithScore

CitationVerdict = Literal["supported", "repaired", "reattributed", "quoted", "uncertain"]
RefusalReason = Literal[
    "empty_question", "small_talk", "unknown_identifier", "no_evidence", "model_refused", "not_supported"
]
JudgedBy = Literal["verbatim", "rules", "judge", "none"]
Mode = Literal["offline", "online"]
Action = Literal[
    "shown", "replaced", "flagged", "dropped", "silent", "asked_again", "refusal", "kept_with_list"
]


@dataclass(frozen=True, slots=True)
class Citation:
    """One contiguous quote on which one sentence of the answer rests."""

    label: str
    """As it stands in the response."""
    node_id: str
    doc_id: str
    version: str | None
    title: str | None
    header_path: list[str]
    source: str | None
    url: str | None
    start_char: int
    """Code points into the document's text (into the node's text when ``anchored`` is False)."""
    end_char: int
    quote: str
    """The source's characters, never empty."""
    sentence: str
    """The sentence as shown, without its label."""
    support: float
    """0..1, how much of the sentence the quotes cover."""
    verdict: CitationVerdict
    reason: str
    """Name of the check that decided, and what it saw."""
    anchored: bool = True
    """Whether the offsets count from the beginning of the document."""
    judged_by: JudgedBy = "none"
    """Who found that the sentence says what its source says."""


@dataclass(frozen=True, slots=True)
class UnknownIdentifier:
    """A code of the question that no visible document bears."""

    text: str
    suggestions: tuple[str, ...] = ()
    """Codes that do exist and look like it, at most five."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What was done with one unit of the model's answer, and why."""

    unit: str
    """As the model wrote it."""
    action: Action
    reason: str
    shown: str | None = None
    """What the reader sees of it."""
    cited: tuple[str, ...] = ()
    """Sections cited for it in the response."""


@dataclass
class CitedResponse(Response):
    """A LlamaIndex ``Response`` whose every sentence was checked against what it cites."""

    citations: list[Citation] = field(default_factory=list)
    """In the order of the text."""
    context_nodes: list[NodeWithScore] = field(default_factory=list)
    """All sections that the model was shown, best first; also on refusal."""
    refused: bool = False
    refusal_reason: RefusalReason | None = None
    unknown_identifiers: list[UnknownIdentifier] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    evidence: float = 0.0
    """0..1, the value on which refusal was decided."""
    trace: list[Decision] = field(default_factory=list)
    nearest: list[NodeWithScore] = field(default_factory=list)
    """On a refusal for want of evidence up to three sections that came closest, else empty."""
    mode: Mode = "offline"
    """``online`` when a language model, or a service for embedding, judging or reranking, is in use."""
    models: dict[str, str] = field(default_factory=dict)
    """``llm``, ``embedding``, ``judge``, ``reranker`` -> name; what is not in use is left out."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "response": self.response,
            "citations": [asdict(c) for c in self.citations],
            "source_nodes": [node_summary(n) for n in self.source_nodes],
            "context_nodes": [node_summary(n) for n in self.context_nodes],
            "refused": self.refused,
            "refusal_reason": self.refusal_reason,
            "unknown_identifiers": [asdict(u) for u in self.unknown_identifiers],
            "warnings": list(self.warnings),
            "evidence": self.evidence,
            "trace": [asdict(d) for d in self.trace],
            "nearest": [node_summary(n) for n in self.nearest],
            "mode": self.mode,
            "models": dict(self.models),
        }


def node_summary(found: NodeWithScore) -> dict[str, Any]:
    """A section as JSON."""
    node = found.node
    return {
        "node_id": node.node_id,
        "score": found.score,
        "text": node.get_content(metadata_mode=MetadataMode.NONE),
        "metadata": {
            k: v for k, v in node.metadata.items() if isinstance(v, str | int | float | bool | list)
        },
    }
