"""Make a citation: from a quote inside a section to its place in the document."""

from __future__ import annotations

from llama_index.core.schema import BaseNode

from gyr_hybrid.answering.context.packing import document_id, plain_text
from gyr_hybrid.answering.response import Citation, CitationVerdict
from gyr_hybrid.verification.verdict import JudgedBy, Quote


def cite(
    node: BaseNode,
    quote: Quote,
    label: str,
    sentence: str,
    verdict: CitationVerdict,
    reason: str,
    support: float,
    judged_by: JudgedBy = "none",
) -> Citation:
    """A citation of ``quote``, which lies in ``node``."""
    start = getattr(node, "start_char_idx", None)
    end = getattr(node, "end_char_idx", None)
    text = plain_text(node)
    anchored = start is not None and end is not None and end - start == len(text)
    offset = start if anchored and start is not None else 0
    meta = node.metadata
    path = meta.get("header_path") or []
    version = meta.get("version")

    def optional(key: str) -> str | None:
        return str(meta[key]) if meta.get(key) is not None else None

    return Citation(
        label=label,
        node_id=node.node_id,
        doc_id=document_id(node),
        version=None if version is None else str(version),
        title=optional("title"),
        header_path=[path] if isinstance(path, str) else list(map(str, path)),
        source=optional("source"),
        url=optional("url"),
        start_char=offset + quote.start,
        end_char=offset + quote.end,
        quote=text[quote.start : quote.end],
        sentence=sentence,
        support=min(1.0, max(0.0, support)),
        verdict=verdict,
        reason=reason,
        anchored=anchored,
        judged_by=judged_by,
    )
