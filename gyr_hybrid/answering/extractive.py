"""Answer without a model: choose, from the best section, the sentences that answer the question.

Whole short sections are shown: what follows a rule is mostly its condition. Of long ones only what the question is
about; of a list that answers, all of it unless the question names some of its items. Further sections come in only for
further questions or codes.
"""

from __future__ import annotations

from collections.abc import Sequence

from gyr_hybrid.analysis import count_tokens
from gyr_hybrid.answering.enforcement.ledger import squeezed
from gyr_hybrid.answering.evidence import covered
from gyr_hybrid.answering.excerpts import Excerpt, excerpts
from gyr_hybrid.answering.listings import LISTED, Listing, asked_of, listings
from gyr_hybrid.answering.naming import named_in
from gyr_hybrid.answering.question import Candidate, Question

SHORT = 240
"""Tokens up to which a section's prose is shown whole."""
MOST = 8
"""Excerpts shown of one section, those of a list that answers not counted."""
CLOSE = 0.6
"""Share of the best excerpt's worth from which another one is shown too."""
PART_COVERED = 0.3
"""Share of a further question that a section must cover to be shown for it."""


def extract(question: Question, sections: Sequence[Candidate]) -> list[tuple[int, Excerpt]]:
    """What to show, as (number of the section, excerpt).

    Args:
        sections: best first; the first is always shown, in part or whole.
    """
    if not sections:
        return []
    chosen: dict[int, Question] = {}
    for number, part in _sections_for(question, sections):
        before = chosen.get(number)
        chosen[number] = part if before is None or before is part else before.joined(part)
    found = []
    said: dict[frozenset[str], set[str]] = {}
    for i, part in chosen.items():
        codes = frozenset(sections[i].codes)
        heard = (
            said.setdefault(codes, set()) if codes else set()
        )  # other codes and parts say it of something else
        found += [(i, excerpt) for excerpt in choose(part, sections[i], heard)]
    return found


def _sections_for(question: Question, sections: Sequence[Candidate]) -> list[tuple[int, Question]]:
    """The sections that answer each part of the question or each of its codes."""
    if question.asks_family and (family := _sections_of_family(question, sections)):
        return [(i, question) for i in family]
    if question.codes and not question.weights and not question.asks_how:
        bearing = [i for i, section in enumerate(sections) if section.codes]
        document = sections[bearing[0]].place[0] if bearing else ""
        if len(question.codes) == 1 and bearing:
            same = [i for i in bearing if sections[i].place[0] == document][:3]
            return [(i, question) for i in sorted(same, key=lambda i: sections[i].place[1])]
    found: list[tuple[int, Question]] = []
    if len(question.codes) > 1:
        for code in question.codes:
            first = next((i for i, section in enumerate(sections) if code in section.codes), None)
            if first is not None:
                found.append((first, question))
    else:
        parts = question.parts()
        for part in parts if len(parts) > 1 or parts[0].text in question.orders else ():
            total = sum(part.weights.values())
            shares = [covered(part.weights, s.terms, part.synonyms) / total for s in sections]
            order = question.orders.get(part.text) or sorted(
                range(len(sections)), key=lambda i: (-shares[i], i)
            )
            only = order[0] if len(parts) == 1 else None  # the others have no evidence
            best = next((i for i in order if shares[i] >= PART_COVERED), only)
            if best is not None:
                found.append((best, part))
    return found or [(0, question)]


def _sections_of_family(question: Question, sections: Sequence[Candidate]) -> list[int]:
    """The fewest of the best sections that bear every member found, by document, each in reading order."""
    total = sum(question.weights.values())
    seen: set[str] = set()
    chosen = []
    for i, section in enumerate(sections):
        about = (
            total == 0 or covered(question.weights, section.terms, question.synonyms) >= PART_COVERED * total
        )
        if about and not seen.issuperset(section.codes):
            seen.update(section.codes)
            chosen.append(i)
    documents = list(dict.fromkeys(sections[i].place[0] for i in chosen))
    return sorted(chosen, key=lambda i: (documents.index(sections[i].place[0]), sections[i].place[1]))


def choose(question: Question, section: Candidate, said: set[str] | None = None) -> list[Excerpt]:
    """The excerpts of one section that answer, lead-ins with what they introduce; none that was shown already.

    Args:
        said: letters and digits of what other sections said of the same; those of this one are added.
    """
    whole = [e for e in excerpts(section.text) if e.kind != "heading"]
    content = [e for e in whole if e.kind != "header" and not e.is_lead_in]
    content = _of_one_code(question, content)
    if not content:
        return []
    scale = sum(question.weights.values()) or 1.0
    worth = {e.start: question.worth(e.text) / scale + _focus(e, section.focus) for e in content}
    short = count_tokens(section.text) <= SHORT
    best = max(worth.values())
    kept = {e.start for e in content if worth[e.start] >= CLOSE * best or (short and e.kind not in LISTED)}
    listed: set[int] = set()
    shown_of = {e.start for e in content}
    for listing in listings(excerpts(section.text)):
        listing.items = [e for e in listing.items if e.start in shown_of]
        if not listing.items:
            continue
        introduced = question.worth(listing.intro) / scale
        answers = max(introduced, *(worth[e.start] for e in listing.items)) >= CLOSE * best
        if not answers and question.weights:
            asked: Sequence[Excerpt] = []
        elif short or introduced >= CLOSE * best:
            asked = _asked(question, listing)
        else:
            asked = () if question.asks_how else named_in(question.text, listing.items)
        if short or asked:
            kept.difference_update(e.start for e in listing.items)
            listed.update(e.start for e in asked)
    bearing = {e.start for e in content if e.kind in LISTED and question.bears(e.text)}
    if bearing:  # of a list of codes, what is about the codes
        kept = {e.start for e in content if e.start in kept and e.kind not in LISTED}
        listed = bearing
    most = sorted(kept, key=lambda start: (-worth[start], start))[:MOST]
    chosen = [e for e in content if e.start in listed or e.start in most]
    return _with_lead_ins(whole, _not_said(chosen, set() if said is None else said))


def _asked(question: Question, listing: Listing) -> Sequence[Excerpt]:
    return asked_of(
        listing,
        question.text,
        question.weights,
        question.worth_of,
        asks_how=question.asks_how,
        share=CLOSE,
    )


def _not_said(kept: Sequence[Excerpt], said: set[str]) -> list[Excerpt]:
    """Leave out what was said; a step of a list may come again in its list."""
    before = frozenset(said)
    fresh = []
    for excerpt in kept:
        words = squeezed(excerpt.text)
        if words not in (before if excerpt.kind == "item" else said):
            fresh.append(excerpt)
        said.add(words)
    return fresh


def _of_one_code(question: Question, content: Sequence[Excerpt]) -> list[Excerpt]:
    """Of excerpts that define several codes one after another, those about the code that is asked for.

    A block is an excerpt that begins with a code and what follows it in its paragraph. Without a code in the
    question the blocks are compared by its words, like the items of a list.
    """
    owner: dict[int, str] = {}
    code, paragraph = None, -1
    for excerpt in content:
        if excerpt.paragraph != paragraph or excerpt.kind in ("item", "row"):
            code = None
        code, paragraph = question.head(excerpt.text) or code, excerpt.paragraph
        if code is not None:
            owner[excerpt.start] = code
    if len(set(owner.values())) < 2:
        return list(content)
    if any(question.bears(e.text) for e in content):
        wanted = {owner[e.start] for e in content if e.start in owner and question.bears(e.text)}
    elif question.codes:
        return list(content)
    else:
        worth: dict[str, float] = {}
        for excerpt in content:
            if excerpt.start in owner:
                name = owner[excerpt.start]
                worth[name] = max(worth.get(name, 0.0), question.worth(excerpt.text))
        best = max(worth.values())
        wanted = {name for name, value in worth.items() if value >= CLOSE * best}
    return [e for e in content if e.start not in owner or owner[e.start] in wanted or question.bears(e.text)]


def _focus(excerpt: Excerpt, focus: Sequence[tuple[int, int]]) -> float:
    """0..0.5 for standing in what retrieval found: half for the best place, less for later ones."""
    for rank, (start, end) in enumerate(focus):
        if min(excerpt.end, end) > max(excerpt.start, start):
            return 0.5 / (1 + rank)
    return 0.0


def _with_lead_ins(whole: Sequence[Excerpt], kept: Sequence[Excerpt]) -> list[Excerpt]:
    """The kept excerpts, each behind the lead-ins that it stands under and that are not out yet."""
    starts = {e.start for e in kept}
    out: list[Excerpt] = []
    pending: list[Excerpt] = []
    began = False  # whether the list under the lead-ins did
    for excerpt in whole:
        listed = excerpt.kind in (*LISTED, "header")
        if excerpt.kind == "item":
            pending = [p for p in pending if p.kind != "item" or p.indent < excerpt.indent]
        elif not listed and (began or not pending or excerpt.paragraph - pending[-1].paragraph > 1):
            pending = []
        if excerpt.is_lead_in:
            pending = [*pending, excerpt] if listed else [excerpt]
            began = listed
            continue
        began = began or listed
        if excerpt.start in starts:
            out += [p for p in pending if p not in out]
            out.append(excerpt)
        elif not listed:
            pending = []
    return out
