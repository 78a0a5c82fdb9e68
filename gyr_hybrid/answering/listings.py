"""Lists and tables of a section: what introduces each, and which of its items a question asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from gyr_hybrid.answering.excerpts import Excerpt
from gyr_hybrid.answering.naming import named_in

LISTED = ("item", "row")
_ALL = re.compile(
    r"哪些|哪几|有哪|几种|几类|几项|分别|各是|全部|所有|\bwhat are\b|\bwhich\b|\ball\b|\blist\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Listing:
    """Items or rows that stand together."""

    intro: str
    """Lead-in and column names; without them the sentence or heading before."""
    heading: str
    items: list[Excerpt] = field(default_factory=list)


def listings(whole: Sequence[Excerpt]) -> list[Listing]:
    """The lists and tables of a section in reading order, items that only introduce others left out."""
    found: list[Listing] = []
    heading, before, header = "", "", ""
    inside = False
    for excerpt in whole:
        if excerpt.kind in LISTED:
            if not inside:
                found.append(Listing(" ".join(filter(None, (before or heading, header))), heading))
            inside = True
            if not excerpt.is_lead_in:
                found[-1].items.append(excerpt)
            continue
        if excerpt.kind == "heading":
            heading, before = excerpt.text, ""
        elif excerpt.kind == "sentence":
            before = excerpt.text
        header = excerpt.text if excerpt.kind == "header" else ""
        inside = False
    return [listing for listing in found if listing.items]


def asked_of(
    listing: Listing,
    text: str,
    words: Collection[str],
    worth: Callable[[str, Collection[str]], float],
    *,
    asks_how: bool,
    share: float,
) -> Sequence[Excerpt]:
    """The items that a question asks for: those that it names, else those that have what only some of them have.

    All of them when it names none: what the lead-in says is true of each.

    Args:
        text: the question.
        words: its content words.
        worth: weight of some of these words in a text.
        asks_how: steps are never cut; rows may be.
        share: of the best item's worth, from which another one counts too.
    """
    items = listing.items
    steps = asks_how and items[0].kind == "item"
    if not steps and (named := named_in(text, items)):
        return named
    if asks_how:
        return items
    introduced = f"{listing.heading} {listing.intro}"
    telling = [word for word in words if not worth(introduced, [word])]
    telling = [word for word in telling if not all(worth(item.text, [word]) for item in items)]
    told: Mapping[int, float] = {item.start: worth(item.text, telling) for item in items}
    best = max(told.values())
    if best == 0 or (_ALL.search(text) and worth(listing.intro, words) >= best):
        return items
    return [item for item in items if told[item.start] >= share * best]
