"""Which passage of the sources a claim rests on, and word by word how closely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from gyr_hybrid.answering.verification.aligned import FIGURE_WEIGHT, Aligned, Found, Place
from gyr_hybrid.answering.verification.claims import Claim
from gyr_hybrid.answering.verification.crediting import STANDS, credit_of, stands, target_of
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.passages import Passage, Section
from gyr_hybrid.answering.verification.roles import light
from gyr_hybrid.answering.verification.words import Word
from gyr_hybrid.figures import Figure, FigureValue, standing

OWN, CARRIED, HEADING = 1.0, 0.85, 0.85
"""Worth of a word by where it was found: in the passage, in what it inherits, in the section's heading."""
SHARE = {"own": 1.0, "carried": 0.5, "heading": 0.5, "following": 0.35, "elsewhere": 0.2, "none": 0.0}
"""Worth of a word or figure for choosing the passage; conditions count alike wherever they stand near it."""
BESIDE = {"own": 0.75, "carried": 0.7, "following": 0.7}
"""The same for words of a condition, which may stand beside the passage."""
NEAR = tuple(BESIDE)
CANDIDATES = 12
"""Most passages of one section that a claim is compared with word by word."""
TOGETHER = 0.3
"""Advantage of the sentence that the claim before rests on."""
STAYING = 0.1
"""Further advantage of the very passage."""
ELSEWHERE = 0.4
"""Credit of a word that stands only in another part of the section."""
FIGURED = 0.5
"""Share of the best score from which a passage with all the claim's figures is taken before one without."""


def align(
    claim: Claim, sections: Iterable[Section], lexicon: Lexicon, previous: Aligned | None = None
) -> Aligned | None:
    """The passage that says most of the claim, its figures above all.

    A passage that lacks a figure of the claim, and has no other in its place, gives way to one with all of them.
    Ties go to the sentence that the ``previous`` claim rests on, then to the earlier passage.
    """
    best: Aligned | None = None
    figured: Aligned | None = None
    for index, section in enumerate(sections):
        for place in _promising(claim, section, lexicon):
            passage = section.passages[place]
            aligned = _compare(claim, index, section, place, passage, lexicon)
            if previous and previous.section == index and previous.passage.sentence == passage.sentence:
                same = passage is previous.passage
                aligned = replace(aligned, score=aligned.score + TOGETHER + (STAYING if same else 0))
            if best is None or aligned.score > best.score + 1e-9:
                best = aligned
            if not aligned.lacking and (figured is None or aligned.score > figured.score + 1e-9):
                figured = aligned
    if best and figured and best.lacking and figured.score >= FIGURED * best.score and not _rivals(best):
        return figured
    return best


def _rivals(one: Aligned) -> bool:
    """Whether the passage has a figure of the kind of one that the claim gives otherwise: it says otherwise."""
    return any(
        f.kind == other.kind and f.base == other.base and standing(f, one.passage.figures) != "same"
        for f in one.claim.figures
        for other in one.passage.figures
        if not (f.weak or other.weak)
    )


def _promising(claim: Claim, section: Section, lexicon: Lexicon) -> list[int]:
    """The passages that share most words and figures with the claim, in reading order."""
    if len(section.passages) <= CANDIDATES:
        return list(range(len(section.passages)))
    forms = [
        (w.text, tuple(o for o in lexicon.equivalents.get(w.key, ()) if not o.isascii())) for w in claim.words
    ]
    values = {f.value for f in claim.figures}

    def shared(place: int) -> float:
        passage = section.passages[place]
        own = passage.own
        words = sum(text in own or any(o in own for o in others) for text, others in forms)
        inherited = sum(text in passage.carried for text, _ in forms)
        return words + 0.3 * inherited + 1.5 * sum(f.value in values for f in passage.figures)

    ranked = sorted(range(len(section.passages)), key=lambda p: (-shared(p), p))
    return sorted(ranked[:CANDIDATES])


def _compare(
    claim: Claim, index: int, section: Section, place: int, passage: Passage, lexicon: Lexicon
) -> Aligned:
    own, carried, heading = target_of(passage.own), target_of(passage.carried), target_of(section.heading)
    later = _following(section, place)
    following = target_of("\n".join(p.own if p.in_table else p.text for p in later))
    main = claim.clauses[-1][0]
    found: list[Found] = []
    total = gained = score = 0.0
    lacking = 0
    denied = _denied_words(claim)
    listed = _listed(claim, section, passage)
    for word, before, after in _with_neighbours(claim.words):
        weight = float(min(len(word.text), 4)) if word.han else 2.0
        total += weight
        period = next((f for f in claim.figures if f.weak and f.start <= word.start < f.end), None)
        if period and period.kind == "duration" and _counted_by(period, passage.figures):
            found.append(Found(word, "own", 1.0))
            gained, score = gained + weight, score + weight
            continue
        credit = credit_of(word, own, lexicon, before, after)
        where: Place = "own"
        worth = OWN
        if credit < STANDS and word in denied:  # ``没成功`` for ``失败``
            if stands(denied[word], own, lexicon):
                credit = 0.9
            elif stands(denied[word], carried, lexicon):
                credit, where, worth = 0.9, "carried", CARRIED
        if credit < STANDS:
            for name, target, value in (
                ("carried", carried, CARRIED),
                ("following", following, CARRIED),
                ("heading", heading, HEADING),
            ):
                other = credit_of(word, target, lexicon, before, after)
                if other > credit and other >= STANDS:
                    credit, where, worth = other, name, value  # type: ignore[assignment]
                    break
        if credit < STANDS and word.text in listed:
            credit, where, worth = 1.0, "following", CARRIED
        if credit < STANDS:
            credit = ELSEWHERE * credit_of(word, target_of(section.folded), lexicon, before, after)
            where = "elsewhere" if credit else "none"
        if where in ("none", "elsewhere") and light(word):
            total -= weight / 2
        found.append(Found(word, where, credit))
        gained += weight * credit * worth
        score += (
            weight * credit * (SHARE[where] if word.start >= main or where not in NEAR else BESIDE[where])
        )
    before_it = (
        *(f for f in passage.carried_figures if not f.weak or f.kind == "code"),
        *section.heading_figures,
    )
    after_it = tuple(f for p in later for f in p.figures if not f.weak)
    for figure in claim.figures:
        if figure.weak:
            continue
        total += FIGURE_WEIGHT
        if standing(figure, passage.figures) == "same":
            place_of, worth = "own", OWN
        elif standing(figure, before_it) == "same":
            place_of, worth = "carried", CARRIED
        elif standing(figure, after_it) == "same":
            place_of, worth = "following", CARRIED
        else:
            lacking += 1
            continue
        gained += FIGURE_WEIGHT * worth
        share = SHARE[place_of]
        score += FIGURE_WEIGHT * (share if figure.start >= main else max(share, 0.7))
    return Aligned(
        claim, index, passage, later, tuple(found), score - 0.002 * len(passage.text), gained, total, lacking
    )


_PER: dict[tuple[str, FigureValue | int], str] = {
    ("second", 60): "minute",
    ("second", 3600): "hour",
    ("second", 86400): "day",
    ("second", 604800): "week",
}
_PER |= {("month", 1): "month", ("month", 3): "quarter", ("month", 12): "year"}


def _counted_by(period: Figure, figures: Iterable[Figure]) -> bool:
    """Whether the figures have the period itself or a rate by it: ``每月`` for ``299 元/月``."""
    per = _PER.get((period.base, period.value))
    return standing(period, figures) == "same" or any(per and per == f.per for f in figures)


@lru_cache(maxsize=2048)
def _denied_words(claim: Claim) -> dict[Word, Word]:
    """Words right after a negator, and the two as one word."""
    found: dict[Word, Word] = {}
    for word in claim.words:
        before = claim.text[max(0, word.start - claim.start - 2) : word.start - claim.start]
        negator = "没有" if before == "没有" else before[-1:]
        if negator and negator in "不没未无没有":
            text = negator + word.text
            found[word] = Word(text, text, word.start - len(negator), word.end)
    return found


def _listed(claim: Claim, section: Section, passage: Passage) -> str:
    """Heads of a list after the passage that the claim names in full: ``三种角色：管理员、记账员``; one a line."""
    if passage.head:
        return ""
    for heads in section.enumerations:
        bare = [head.strip("*` ") for head in heads]
        named = len(bare) > 1 and all(b and b in claim.text for b in bare)
        if named and section.folded.find(bare[0], passage.end) >= 0:
            return "\n".join(bare)
    return ""


def _following(section: Section, place: int) -> tuple[Passage, ...]:
    one = section.passages[place]
    if one.in_table:
        return _cells_beside(one, section)
    return tuple(p for p in section.passages[place + 1 : place + 4] if p.segment == one.segment)


def _cells_beside(one: Passage, section: Section) -> tuple[Passage, ...]:
    """Cells of the row that measure something else: ``5 个席位和 10 GB 空间``. Those of one kind must not mix."""
    row = [p for p in section.passages if p.sentence == one.sentence and p is not one]
    kinds = [{(f.kind, f.base) for f in p.figures if not f.weak} for p in row]
    own = {(f.kind, f.base) for f in one.figures if not f.weak}
    taken = Counter(kind for each in kinds for kind in each)
    return tuple(
        p
        for p, each in zip(row, kinds, strict=True)
        if each and not each & own and all(taken[k] == 1 for k in each)
    )


def _with_neighbours(words: tuple[Word, ...]) -> list[tuple[Word, str, str]]:
    """Each word with the single characters right beside it, for words that the dictionary cut apart."""
    rows: list[tuple[Word, str, str]] = []
    for i, word in enumerate(words):
        before = (
            words[i - 1] if i and words[i - 1].end == word.start and len(words[i - 1].text) == 1 else None
        )
        after = words[i + 1] if i + 1 < len(words) and words[i + 1].start == word.end else None
        if after and len(after.text) > 1:
            after = None
        rows.append(
            (word, before.text if before and before.han else "", after.text if after and after.han else "")
        )
    return rows
