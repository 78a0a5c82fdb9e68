"""Models as judges of sentences that are in other words than their sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from html import unescape
from typing import Any

from llama_index.core.llms import LLM, ChatMessage
from llama_index.core.schema import BaseNode

from gyr_hybrid.figures import even_fold
from gyr_hybrid.verification.judge_prompts import Batch, batches, source_text, yes_no_messages
from gyr_hybrid.verification.judging import atogether, together
from gyr_hybrid.verification.quotation import LEAST, find_quote
from gyr_hybrid.verification.replies import Reply, read_replies, yes_or_no
from gyr_hybrid.verification.sources import content, read_source
from gyr_hybrid.verification.verdict import Claim, Nodes, Quote, Verdict, Verifier, plain_nodes

_MARKUP = frozenset("*`_|\\\"'“”‘’\u200b\ufeff")
"""What does not count in a quote; quote marks are among it because JSON makes models write others."""
_FINAL = "。！？；：，、.!?;:,"
_WITHIN = re.compile(r"[a-z0-9]\n[a-z0-9]|[0-9]\n[.,][0-9]|[0-9][.,]\n[0-9]")
_DENIED = re.compile(r"[不未无非没勿莫]\s*$|(?:\b(?:no|not|never|cannot|without)|n[\'’]t)\s+$")
_NO_SOURCE = Verdict("uncertain", "judge: no section is cited")


class _ModelVerifier(Verifier):
    """A judge that asks a chat model."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    @property
    def model_name(self) -> str:
        """Name of the model that judges."""
        metadata = getattr(self._llm, "metadata", None)
        return str(getattr(metadata, "model_name", None) or type(self._llm).__name__)

    @property
    def service(self) -> Any:
        """The service that is asked, None for a model of one's own."""
        return getattr(self._llm, "service", None)

    def verify(self, sentence: str, nodes: Nodes) -> Verdict:
        """Judge one sentence against the nodes that it cites."""
        return self.verify_many([Claim(sentence, tuple(plain_nodes(nodes)))])[0]

    async def averify(self, sentence: str, nodes: Nodes) -> Verdict:
        """The same without blocking the event loop."""
        return (await self.averify_many([Claim(sentence, tuple(plain_nodes(nodes)))]))[0]

    def _say(self, messages: list[ChatMessage]) -> str:
        return str(self._llm.chat(messages).message.content or "")

    async def _asay(self, messages: list[ChatMessage]) -> str:
        return str((await self._llm.achat(messages)).message.content or "")


class LLMVerifier(_ModelVerifier):
    """Any chat model: one call for all sentences, each section given once.

    More than 16 sentences, or than about 12,000 characters of sections, go in further calls. Its yes counts only with
    a quote that stands verbatim in a section which that sentence cites. Errors of the model are raised as they come.

    >>> from gyr_hybrid.testing import ScriptedLLM
    >>> from llama_index.core.schema import TextNode
    >>> llm = ScriptedLLM('{"verdicts": [{"n": 1, "verdict": "yes", "quotes": ["不支持中途退款"], "reason": "同义"}]}')
    >>> LLMVerifier(llm).verify("月付的钱退不回来。", [TextNode(text="月付套餐不支持中途退款。")]).value
    'supported'
    """

    def verify_many(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Judge several sentences; one call for each batch."""
        calls = list(batches(claims))
        replies = together([partial(self._say, batch.messages()) for batch in calls])
        return _in_order(claims, calls, replies)

    async def averify_many(self, claims: Sequence[Claim]) -> list[Verdict]:
        """The same without blocking the event loop."""
        calls = list(batches(claims))
        replies = await atogether([partial(self._asay, batch.messages()) for batch in calls])
        return _in_order(claims, calls, replies)


class EndpointVerifier(_ModelVerifier):
    """A model that answers yes or no, such as Bespoke-MiniCheck: one call for each sentence, four at a time.

    Its yes stands as it is, without a quote; what cannot be read is uncertain.

    >>> from gyr_hybrid.testing import ScriptedLLM
    >>> from llama_index.core.schema import TextNode
    >>> EndpointVerifier(ScriptedLLM("Yes")).verify("钱退不回来。", [TextNode(text="不支持退款。")]).reason
    'endpoint: yes'
    """

    def verify_many(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Judge several sentences, each in a call of its own."""
        asked = [claim for claim in claims if claim.nodes]
        replies = iter(together([partial(self._say, yes_no_messages(claim)) for claim in asked]))
        return [_yes_no(next(replies)) if claim.nodes else _NO_SOURCE for claim in claims]

    async def averify_many(self, claims: Sequence[Claim]) -> list[Verdict]:
        """The same without blocking the event loop."""
        asked = [claim for claim in claims if claim.nodes]
        replies = iter(await atogether([partial(self._asay, yes_no_messages(claim)) for claim in asked]))
        return [_yes_no(next(replies)) if claim.nodes else _NO_SOURCE for claim in claims]


def _in_order(claims: Sequence[Claim], calls: Sequence[Batch], replies: Sequence[str]) -> list[Verdict]:
    verdicts = [_NO_SOURCE] * len(claims)
    for batch, reply in zip(calls, replies, strict=True):
        for (place, claim), said in zip(batch.claims, read_replies(reply, len(batch.claims)), strict=True):
            verdicts[place] = _verdict(said, claim)
    return verdicts


def _verdict(said: Reply | None, claim: Claim) -> Verdict:
    if said is None:
        return Verdict("uncertain", "llm: its reply could not be read", judged_by="judge")
    quotes = tuple(_quotes(said.quotes, claim))
    reason = f"llm: {said.word}" + (f", {said.reason}" if said.reason else "")
    if said.word != "yes":
        return Verdict("uncertain", reason, quotes, judged_by="judge")
    if not quotes:
        return Verdict("uncertain", "llm: its quote does not stand in the source", judged_by="judge")
    support = _share(claim.sentence, " ".join(quote.text for quote in quotes))
    return Verdict("supported", reason, quotes, support, "judge")


def _yes_no(reply: str) -> Verdict:
    word = yes_or_no(reply)
    reason = f"endpoint: {word}" if word else "endpoint: its reply could not be read"
    return Verdict("supported" if word == "yes" else "uncertain", reason, judged_by="judge")


def _quotes(texts: Sequence[str], claim: Claim) -> Iterator[Quote]:
    """The quotes that stand in a section which the sentence cites; what is left out at ``…`` parts one in two."""
    seen = set()
    for words in (part for text in texts for part in re.split(r"…+|\.{3,}", text)):
        found = (_find(form, n) for n in claim.nodes for form in dict.fromkeys((words, unescape(words))))
        quote = next((q for q in found if q is not None), None)
        if quote is not None and (quote.node_id, quote.start, quote.end) not in seen:
            seen.add((quote.node_id, quote.start, quote.end))
            share = _share(claim.sentence, quote.text)
            yield Quote(quote.node_id, quote.start, quote.end, quote.text, share)


def _share(sentence: str, quote: str) -> float:
    words = set(content(even_fold(sentence)))
    return len(words.intersection(content(even_fold(quote)))) / len(words) if words else 0.0


def _find(words: str, node: BaseNode) -> Quote | None:
    """Where the words stand in a section, in its source or in what its blocks say; never cut out of a denial."""
    raw = source_text(node)
    folded, text, places = _squeezed(raw)
    wanted = _squeezed(words)[1].rstrip(_FINAL)
    if sum(c.isalnum() for c in wanted) < LEAST:
        return None
    at = text.find(wanted)
    while at >= 0:
        start, end = places[at], places[at + len(wanted) - 1] + 1
        if not _cuts(folded, start, end):
            end += (
                bool(raw[end : end + 1].strip())
                and raw[end : end + 1] in _FINAL
                and words.rstrip()[-1] in _FINAL
            )
            return Quote(node.node_id, start, end, raw[start:end])
        at = text.find(wanted, at + 1)
    quote = find_quote(words, read_source(node))
    return quote if quote is not None and not _cuts(folded, quote.start, quote.end) else None


@lru_cache(maxsize=256)
def _squeezed(raw: str) -> tuple[str, str, tuple[int, ...]]:
    """A text folded, without blanks and markup too, and where each character of the latter comes from."""
    folded = even_fold(raw)
    places = tuple(i for i, c in enumerate(folded) if not c.isspace() and c not in _MARKUP)
    return folded, "".join(folded[i] for i in places), places


def _cuts(folded: str, start: int, end: int) -> bool:
    """Whether a stretch begins or ends within a number or a Latin word, or leaves out the denial before it."""
    borders = (folded[max(0, i - 2) : i] + "\n" + folded[i : i + 2] for i in (start, end))
    return any(map(_WITHIN.search, borders)) or _DENIED.search(folded[max(0, start - 12) : start]) is not None
