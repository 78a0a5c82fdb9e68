"""Near-quotation: the source's words in the source's order, with nothing lost or new that restricts them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

from gyr_hybrid.figures import Figure, even_fold, source_figures, standing
from gyr_hybrid.verification.quotation import whole
from gyr_hybrid.verification.restrictions import restrictions, restricts
from gyr_hybrid.verification.sources import ENGLISH, FUNCTION, Clause, Source, read_claim
from gyr_hybrid.verification.verdict import Quote

COVERED = 0.4
"""Least share of that place's words that the clause has."""
RUN = 4
"""Most clauses of a source sentence that one clause may take its words from."""
_TOKEN = re.compile(r"[a-z0-9_]+(?:[-/.:][a-z0-9_]+)*|[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring clauses of one unit."""

    text: str
    tokens: tuple[str, ...]
    figures: tuple[Figure, ...]
    first: int
    after: int


def near_quotation(sentence: str, sources: Sequence[Source]) -> tuple[Quote, ...]:
    """The places whose words the sentence repeats, clause by clause and in their order; empty when it is no near-quotation.

    It may join what two sections say, each in its own clause.
    """
    claims = read_claim(even_fold(sentence))
    for source in sources:
        if quotes := _from_one(claims, source):
            return quotes
    if len(claims) < 2 or len(sources) < 2:
        return ()
    parts = [next(filter(None, (_from_one([c], s) for s in sources)), ()) for c in claims]
    return tuple(q for part in parts for q in part) if all(parts) else ()


def _from_one(claims: Sequence[Clause], source: Source) -> tuple[Quote, ...]:
    runs = _runs(source)
    lent = set(_tokens("\n".join(map(even_fold, source.path[-1:]))))
    quotes: list[Quote] = []
    at = 0
    used: set[int] = set()
    for claim in claims:
        run = _best(claim, runs, lent)
        if run is None or run.first < at:
            return ()
        at = run.first
        used.update(range(run.first, run.after))
        start, end = source.clauses[run.first].start, source.clauses[run.after - 1].end
        quotes.append(whole(Quote(source.node_id, start, end, source.raw[start:end]), source))
    units = {source.clauses[i].unit for i in used}
    left_out = [
        c
        for u in units
        for i in range(source.units[u].first, source.units[u].after)
        if i not in used
        for c in (source.clauses[i],)
    ]
    if any(restricts(clause.text + ",") for clause in left_out if _same_sentence(clause, used, source)):
        return ()
    return tuple(quotes)


def _same_sentence(clause: Clause, used: set[int], source: Source) -> bool:
    """Whether nothing but commas stands between the clause and one that is used."""
    return any(
        not re.search(r"[;；。]", source.raw[min(clause.end, c.end) : max(clause.start, c.start)])
        for c in (source.clauses[i] for i in used)
        if c.unit == clause.unit
    )


def _best(claim: Clause, runs: Sequence[_Run], lent: set[str]) -> _Run | None:
    tokens = _tokens(claim.text)
    own = tuple(t for t in tokens if t not in lent) or tokens
    best, most = None, 0.0
    for run in runs:
        if not (_within(tokens, run.tokens) or _within(own, run.tokens)):
            continue
        back = LCSseq.similarity(tokens, run.tokens) / max(1, len(run.tokens))
        if back >= COVERED and back > most and _agree(claim, run):
            best, most = run, back
    return best


def _within(tokens: Sequence[str], others: Sequence[str]) -> bool:
    """Whether all tokens stand among the others, in order."""
    return bool(tokens) and LCSseq.similarity(tokens, others) == len(tokens)


def _agree(claim: Clause, run: _Run) -> bool:
    """The same restrictions and the same figures on both sides."""
    if restrictions(claim.text) != restrictions(run.text):
        return False
    mine, theirs = ([f for f in figures if not f.weak] for figures in (claim.figures, run.figures))
    return all(standing(f, theirs) == "same" for f in mine) and all(
        standing(f, mine) == "same" for f in theirs
    )


def _runs(source: Source) -> list[_Run]:
    runs = []
    for first, clause in enumerate(source.clauses):
        for after in range(first + 1, min(first + RUN, source.units[clause.unit].after) + 1):
            parts = source.clauses[first:after]
            text = ",".join(c.text for c in parts)
            runs.append(_Run(text, _tokens(text), tuple(f for c in parts for f in c.figures), first, after))
    return runs


def _tokens(text: str) -> tuple[str, ...]:
    """Han characters and Latin words in order, each figure as one token by its value."""
    found: list[str] = []
    figures = sorted((f for f in source_figures(text) if not f.weak), key=lambda f: f.start)
    at = 0
    for start, end, key in [
        *((f.start, f.end, f"{f.kind} {f.base} {f.value}") for f in figures),
        (len(text), len(text), ""),
    ]:
        tokens = (t for t in _TOKEN.findall(text[at:start]) if t not in FUNCTION and t not in ENGLISH)
        found.extend(t[:5] if t.isalpha() else t for t in tokens)
        if key:
            found.append(key)
        at = max(at, end)
    return tuple(found)
