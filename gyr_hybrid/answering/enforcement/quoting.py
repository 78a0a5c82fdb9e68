"""Write an answer of excerpts: each as the source has it, with its label and citation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gyr_hybrid.answering.context.packing import Context
from gyr_hybrid.answering.enforcement.citing import cite
from gyr_hybrid.answering.enforcement.composition import Composer
from gyr_hybrid.answering.enforcement.units import Unit
from gyr_hybrid.answering.excerpts import Excerpt
from gyr_hybrid.answering.response import Citation, Decision
from gyr_hybrid.verification import Quote

_REASON = "extraction: the source's own words"


@dataclass(frozen=True, slots=True)
class Quoted:
    """An answer of excerpts."""

    pieces: tuple[str, ...]
    """One for each excerpt; joined they are the answer."""
    citations: tuple[Citation, ...]
    trace: tuple[Decision, ...]


def quote(context: Context, chosen: Sequence[tuple[int, Excerpt]], replacing: str = "") -> Quoted:
    """Write the excerpts, each given with the number of its section in the context.

    Args:
        replacing: why they stand in for a model's answer; empty when there is no model.
    """
    reason = replacing or _REASON
    parser, composer = context.parser(), Composer()
    pieces: list[str] = []
    citations: list[Citation] = []
    trace: list[Decision] = []
    before: tuple[int, Excerpt] | None = None
    for number, excerpt in chosen:
        node, source = context.nodes[number].node, context.sources[number]
        gap = _gap(before, (number, excerpt))
        if excerpt.header and (before is None or (before[0], before[1].header) != (number, excerpt.header)):
            head = Unit("header", excerpt.header, gap)
            composer.enter(head)
            composer.lead(head, excerpt.header)
            gap = "\n"
        before = (number, excerpt)
        unit = Unit(excerpt.kind, excerpt.text, gap, excerpt.marker, _level(excerpt))
        composer.enter(unit)
        text = excerpt.text if excerpt.kind == "code" else parser.strip(excerpt.text)
        if excerpt.is_lead_in:
            composer.lead(unit, text)
            continue
        span = Quote(node.node_id, excerpt.start, excerpt.end, excerpt.text, 1.0)
        citations.append(cite(node, span, source.label, text, "quoted", reason, 1.0))
        trace.append(
            Decision(excerpt.text, "replaced" if replacing else "shown", reason, text, (node.node_id,))
        )
        pieces.append(composer.show(unit, text, source.label))
    return Quoted(tuple(pieces), tuple(citations), tuple(trace))


def _level(excerpt: Excerpt) -> int:
    return excerpt.indent if excerpt.kind == "item" else -1


def _gap(before: tuple[int, Excerpt] | None, now: tuple[int, Excerpt]) -> str:
    if before is None:
        return ""
    last, excerpt = before[1], now[1]
    if before[0] != now[0] or last.kind != excerpt.kind or excerpt.kind == "code":
        return "\n\n"
    if excerpt.kind in ("item", "row"):
        return "\n"
    if last.paragraph != excerpt.paragraph:
        return "\n\n"
    return " " if last.text[-1:].isascii() and excerpt.text[:1].isascii() else ""
