"""What a check of one sentence against its sources says: values shared by every verifier.

No similarity score verifies a sentence. ``supported`` means that no contradiction was found *and* that the
sentence stays close to its quotes; ``uncertain`` that a reader should see the source's own words instead;
``contradicted`` that the sources say otherwise.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn

from llama_index.core.schema import BaseNode, NodeWithScore

Value = Literal["supported", "uncertain", "contradicted"]


@dataclass(frozen=True, slots=True)
class Quote:
    """A contiguous stretch of a source node on which a sentence rests."""

    node_id: str
    start: int
    """Code points into the node's text (add ``node.start_char_idx`` for the document)."""
    end: int
    text: str
    """``node.text[start:end]``, never empty."""
    support: float
    """0..1: how much of the sentence this stretch covers."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of checking one sentence; it has no truth value on purpose."""

    value: Value
    reason: str
    """Name of the check that decided, a colon, and what it saw."""
    quotes: tuple[Quote, ...] = ()
    """The source stretches that the sentence was compared with, best first."""
    support: float = 0.0
    """0..1: closeness of the sentence to its quotes, 1 for a verbatim quotation."""
    hard: bool = False
    """A contradiction of figures, dates or codes, which no verifier may overrule."""

    @property
    def check(self) -> str:
        """Name of the check that decided, without its details."""
        return self.reason.partition(":")[0]

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"a Verdict has no truth value (this one is {self.value!r}); "
            "compare verdict.value with 'supported', 'uncertain' or 'contradicted'"
        )


class Verifier(ABC):
    """Judges sentences that the built-in checks leave uncertain, with a model of any kind.

    The engine never asks it about contradictions of figures or codes. Implement :meth:`verify`;
    :meth:`averify` runs it in a thread unless you override it.
    """

    @abstractmethod
    def verify(self, sentence: str, nodes: Sequence[BaseNode | NodeWithScore]) -> Verdict:
        """Judge one sentence against the nodes that it cites."""

    async def averify(self, sentence: str, nodes: Sequence[BaseNode | NodeWithScore]) -> Verdict:
        """Judge without blocking the event loop."""
        return await asyncio.to_thread(self.verify, sentence, nodes)
