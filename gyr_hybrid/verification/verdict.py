"""What a check of one sentence against its sources says: values shared by every check and judge."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

from llama_index.core.schema import BaseNode, NodeWithScore

Value = Literal["supported", "uncertain", "contradicted"]
JudgedBy = Literal["verbatim", "rules", "judge", "none"]
Nodes = Sequence[BaseNode | NodeWithScore]


@dataclass(frozen=True, slots=True)
class Quote:
    """A contiguous stretch of a source node on which a sentence rests."""

    node_id: str
    start: int
    """Code points into the node's text (add ``node.start_char_idx`` for the document)."""
    end: int
    text: str
    """``node.text[start:end]``, never empty."""
    support: float = 1.0
    """0..1: how much of the sentence this stretch covers."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of checking one sentence; it has no truth value on purpose."""

    value: Value
    """``supported``; ``uncertain``: show the source's own words instead; ``contradicted``: the source says otherwise."""
    reason: str
    """Name of the check that decided, a colon, and what it saw."""
    quotes: tuple[Quote, ...] = ()
    """The source stretches that the sentence was compared with, best first."""
    support: float = 0.0
    """0..1: closeness of the sentence to its quotes, 1 for a verbatim quotation."""
    judged_by: JudgedBy = "none"

    @property
    def check(self) -> str:
        """Name of the check that decided, without its details."""
        return self.reason.partition(":")[0]

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"a Verdict has no truth value (this one is {self.value!r}); "
            "compare verdict.value with 'supported', 'uncertain' or 'contradicted'"
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """One unit of an answer that is put to a judge, with all that it may be judged by."""

    sentence: str
    """Without its labels."""
    nodes: tuple[BaseNode, ...]
    """The sections that it cites."""
    question: str = ""
    before: tuple[str, ...] = ()
    """The units of the answer before it, what it hangs on (a lead-in, a table's header) among them."""


class Verifier(ABC):
    """A judge: says whether sections bear sentences that are in other words than theirs.

    The engine asks about every unit that is neither a quotation nor at odds with the figures and codes of its source; it
    never asks about the latter. Implement :meth:`verify`; a judge that can take many claims in one call implements
    :meth:`verify_many` too. The async twins run in a thread unless they are overridden.
    """

    @abstractmethod
    def verify(self, sentence: str, nodes: Nodes) -> Verdict:
        """Judge one sentence against the nodes that it cites."""

    def verify_many(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Judge several claims; one verdict each, in order."""
        return [self.verify(claim.sentence, claim.nodes) for claim in claims]

    async def averify(self, sentence: str, nodes: Nodes) -> Verdict:
        """Judge without blocking the event loop."""
        return await asyncio.to_thread(self.verify, sentence, nodes)

    async def averify_many(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Judge several claims without blocking the event loop."""
        return await asyncio.to_thread(self.verify_many, claims)


def plain_nodes(nodes: Nodes) -> list[BaseNode]:
    """The nodes without their scores."""
    return [n.node if isinstance(n, NodeWithScore) else n for n in nodes]
