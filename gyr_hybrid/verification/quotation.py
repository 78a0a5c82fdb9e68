"""Words that stand in a section as they are: width, case, blanks, markup and final punctuation do not count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from gyr_hybrid.figures import even_fold
from gyr_hybrid.verification.restrictions import restricts
from gyr_hybrid.verification.sources import Source, Unit, content
from gyr_hybrid.verification.verdict import Quote

_MARKUP = frozenset("*`_~\\#>\u200b\ufeff")
_BORDER = frozenset('。!?;:,\n、|()[]「」"“”')
_STOP = re.compile(r"\.(?=\s|$)")
_BEFORE = re.compile(r"[^。!?;\n|]*$")
_AFTER = re.compile(r"[^。!?;\n|]*")
_ENDS = tuple("。.!?！？；;")
_REACH = 400
"""Characters of a sentence that are looked at for what conditions a clause of it."""
_FINAL = re.compile(r"[。.!?;,:、]+$")
LEAST = 4
"""Letters, digits and Han characters that make a quotation; less stands anywhere by chance."""


@lru_cache(maxsize=4096)
def squeeze(text: str) -> tuple[str, tuple[int, ...]]:
    """The text without what does not count, and where each of its characters comes from."""
    folded = _STOP.sub("。", even_fold(text))
    kept = [i for i, c in enumerate(folded) if not c.isspace() and c not in _MARKUP]
    return "".join(folded[i] for i in kept), tuple(kept)


@lru_cache(maxsize=512)
def _squeezed_source(source: Source) -> tuple[str, tuple[int, ...]]:
    """All blocks of a section, squeezed; a line end stands between two."""
    text: list[str] = []
    places: list[int] = []
    for block in source.blocks:
        own, kept = squeeze(block.text)
        text += [own, "\n"]
        places += [block.places[i] for i in kept]
        places.append(block.end)
    return "".join(text), tuple(places)


def find_quote(words: str, source: Source) -> Quote | None:
    """Where the words stand in a section, however they begin and end; None when there are too few, or they do not."""
    wanted = _FINAL.sub("", squeeze(words)[0])
    if sum(c.isalnum() for c in wanted) < LEAST:
        return None
    text, places = _squeezed_source(source)
    at = text.find(wanted)
    return _quote(source, places, at, at + len(wanted)) if at >= 0 else None


def find_verbatim(sentence: str, source: Source) -> Quote | None:
    """The quotation that a sentence is, from one clause border to another; None when it is none.

    A clause alone is none where its sentence limits or conditions it (``满 7 天的，可以退款``).
    """
    wanted = _FINAL.sub("", squeeze(sentence)[0].strip("|"))
    if not wanted:
        return None
    text, places = _squeezed_source(source)
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if (at == 0 or text[at - 1] in _BORDER) and (end == len(text) or text[end] in _BORDER):
            before = _BEFORE.search(text[max(0, at - _REACH) : at])
            after = _AFTER.match(text[end : end + _REACH])
            if not any(restricts(rest.group()) for rest in (before, after) if rest):
                return whole(_quote(source, places, at, end), source)
        at = text.find(wanted, at + 1)
    return None


def whole(quote: Quote, source: Source) -> Quote:
    """The quotation with its final punctuation; a row with its borders."""
    start, end = quote.start, quote.end
    if source.raw[end : end + 1] in _ENDS:
        end += 1
    row = next((b for b in source.blocks if b.kind == "row" and b.start <= start and end <= b.end), None)
    if row is not None and start <= min(row.places) and max(row.places) < end:
        start, end = row.start, row.end
    return Quote(source.node_id, start, end, source.raw[start:end], quote.support)


def _quote(source: Source, places: Sequence[int], at: int, end: int) -> Quote:
    start, stop = places[at], places[end - 1] + 1
    return Quote(source.node_id, start, stop, source.raw[start:stop], 1.0)


def unit_quote(source: Source, unit: Unit, support: float = 1.0) -> Quote:
    """A whole unit as a quotation."""
    return Quote(source.node_id, unit.start, unit.end, source.raw[unit.start : unit.end], support)


def best_unit(text: str, source: Source) -> tuple[Unit, float] | None:
    """The whole unit of a section that has most of a text's words, and what share; None when it has none."""
    wanted = set(content(even_fold(text)))
    best: tuple[float, float, Unit] | None = None
    for unit in source.units:
        clauses = source.clauses[unit.first : unit.after]
        own = {w for c in clauses for w in c.words}
        shared = len(wanted & own)
        lent = len(wanted & {w for c in clauses for w in c.lent} - own)
        rank = (shared + lent / 4, -len(own))
        if shared and (best is None or rank > best[:2]):
            best = (*rank, unit)
    return None if best is None else (best[2], min(1.0, best[0] / max(1, len(wanted))))
