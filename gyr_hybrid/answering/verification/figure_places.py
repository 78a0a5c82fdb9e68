"""Figures in each other's places: right numbers said of the wrong thing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import combinations

from gyr_hybrid.answering.verification.aligned import Aligned, places_of
from gyr_hybrid.answering.verification.claims import content_words
from gyr_hybrid.answering.verification.crediting import stands, target_of
from gyr_hybrid.answering.verification.passages import Passage, Section
from gyr_hybrid.answering.verification.roles import light
from gyr_hybrid.figures import Figure, compare, find_figures, standing


def changed_count(one: Aligned) -> Iterator[str]:
    """``一次`` where the source counts two: an article-like 一 that stands in a count's place."""
    theirs = [f for f in (*one.passage.figures, *one.passage.carried_figures) if not f.weak]
    claimed = [f for f in one.claim.figures if not f.weak]
    for figure in one.claim.figures:
        if not figure.weak or figure.kind != "count":
            continue
        if "其中" + figure.text in one.claim.text or "单" + figure.text[1:] in one.source:
            continue
        rivals = [f for f in theirs if f.kind == "count" and f.base == figure.base]
        if (
            rivals
            and not any(f.value == 1 for f in rivals)
            and not all(standing(f, claimed) == "same" for f in rivals)
        ):
            yield f"{figure.text!r} where the source has {rivals[0].text!r}"


def same_clause_figures(one: Aligned) -> Iterator[str]:
    """Figures that the claim takes from a neighbouring clause though its own has another of the kind."""
    mine = [f for f in one.claim.figures if not f.weak]
    own = [f for f in one.passage.figures if not f.weak and f.kind != "code"]
    main = one.claim.clauses[-1][0]
    for figure in mine:
        if standing(figure, one.passage.figures) == "same":
            continue
        rival = next((o for o in own if _rivals(figure, o) and standing(o, mine) != "same"), None)
        condition = figure.start < main and len(one.claim.clauses) > 1
        if condition and not (rival and figure.bound and figure.bound == rival.bound):
            continue  # ``满 12 分，清退`` for ``满 12 分停播，满 24 分清退`` takes the other's condition
        later = [f for p in one.later for f in p.figures]
        if rival and standing(figure, (*one.passage.carried_figures, *later)) == "same":
            yield f"{figure.text!r} belongs to another clause; this one has {rival.text!r}"


def _rivals(figure: Figure, other: Figure) -> bool:
    return figure.kind == other.kind and figure.base == other.base and figure.per == other.per


_SETTING = frozenset("设 设为 设置 设成 设定 达 可达 支持 提供 享受 享有 收取 计算".split())
"""Verbs that say nothing of their own beside a figure."""


def parallel_clauses(one: Aligned, section: Section) -> Iterator[str]:
    """Words taken from a clause that says the same thing of something else: ``免费版 1 名，专业版 3 名``."""
    own = [f for f in one.passage.figures if not f.weak]
    claimed = [f for f in one.claim.figures if not f.weak]
    siblings = [p for p in section.passages if p.segment == one.passage.segment and p is not one.passage]
    spoken = target_of(one.claim.text)
    mine = content_words(one.passage.text)
    if mine and all(stands(w, spoken) for w in mine):
        for sibling in siblings:
            theirs = content_words(sibling.text)
            fuller = len(theirs) > len(mine) and all(stands(w, spoken) for w in theirs)
            if fuller and _parallel(sibling, own, claimed):
                yield f"{one.claim.text!r} speaks of {sibling.text!r}"
        return
    shared = any(stands(w, spoken) for w in mine) or (bool(mine) and all(w.text in _SETTING for w in mine))
    if (
        shared
        and all(stands(w, spoken) or light(w) for w in mine)
        and all(standing(f, claimed) == "same" for f in own)
    ):
        return  # it has no word of its own that the claim leaves out
    for found in one.found:
        if found.place != "following" and (found.place != "carried" or not mine):
            continue  # a bare figure takes its subject from before it
        holders = [p for p in siblings if stands(found.word, target_of(p.text))]
        if holders and all(_parallel(p, own, claimed) for p in holders):
            yield f"{found.word.text!r} belongs to a parallel clause"


def _parallel(passage: Passage, own: list[Figure], claimed: list[Figure]) -> bool:
    """The clause has a figure of the same kind as one of ours, another value, and the claim does not give it."""
    for other in find_figures(passage.text):
        if other.weak or other.kind in ("code", "ordinal"):
            continue
        for figure in own:
            same_kind = figure.kind == other.kind and (
                figure.per == other.per or not (figure.per and other.per)
            )
            if same_kind and compare(figure, other) != "same" and standing(other, claimed) != "same":
                return True
    return False


def swapped_figures(one: Aligned) -> Iterator[str]:
    """Two figures of one kind in the other order than in the source clause."""
    mine = [f for f in one.claim.figures if not f.weak]
    theirs = [f for f in (*one.passage.carried_figures, *one.passage.figures) if not f.weak]
    places = [(f, [i for i, t in enumerate(theirs) if compare(f, t) == "same"]) for f in mine]
    single = [(f, p[0]) for f, p in places if len(p) == 1]
    for (first, i), (second, j) in combinations(single, 2):
        own = min(i, j) >= len(one.passage.carried_figures)
        if own and i > j and first.base == second.base and first.kind == second.kind:
            yield f"{first.text!r} before {second.text!r}"


def repeated_figure(one: Aligned) -> Iterator[str]:
    """A figure given more often than in the source, which has another of the kind in its place."""
    mine = [f for f in one.claim.figures if not f.weak]
    theirs = [f for f in find_figures(one.source) if not f.weak]
    for figure in dict.fromkeys((f.kind, f.base, f.value) for f in mine):
        ours = [f for f in mine if (f.kind, f.base, f.value) == figure and not _in_brackets(f, one)]
        same = [t for t in theirs if ours and compare(ours[0], t) == "same"]
        if not same or len(ours) <= len(same):
            continue
        other = next(
            (
                t
                for t in theirs
                if t.kind == figure[0] and t.base == figure[1] and standing(t, mine) != "same"
            ),
            None,
        )
        if other:
            yield f"{ours[0].text!r} twice, where the source has {other.text!r}"


def _in_brackets(figure: Figure, one: Aligned) -> bool:
    """Whether the claim says it again in brackets: ``半年（180 天）``."""
    return one.claim.text[: figure.start - one.claim.start].rstrip()[-1:] in tuple("(（")


_CONJUNCTION = re.compile(r"并|且|和|与|及|,|，|(?<![a-z])(?:and|but|or)(?![a-z])")


_ASIDE = re.compile(r"[(（][^()（）]*[)）]")


def dropped_figure(one: Aligned, said: Collection[Figure]) -> Iterator[str]:
    """A figure inside the source clause, between words that the claim has, that the sentence leaves out.

    ``said`` are the figures of the whole sentence; what the source says in brackets may be left out.
    """
    text = one.passage.text
    spots = [p for f in one.found if f.place == "own" for p in places_of(f.word, text)]
    for figure in find_figures(text):
        if (
            figure.weak
            or figure.kind in ("code", "ordinal")
            or any(compare(f, figure) == "same" for f in said)
            or any(a.start() < figure.start < a.end() for a in _ASIDE.finditer(text))
        ):
            continue
        before = any(p < figure.start for p in spots)
        after = any(p >= figure.end for p in spots)
        moved = any(
            f.kind == figure.kind and not f.weak and standing(f, one.passage.figures) != "same"
            for f in one.claim.figures
        )
        following, earlier = [p for p in spots if p >= figure.end], [p for p in spots if p < figure.start]
        aside = bool(before and after) and bool(
            _CONJUNCTION.search(text, figure.end, min(following))
            or _CONJUNCTION.search(text, max(earlier), figure.start)
        )
        if before and after and not moved and not aside:
            yield f"{figure.text!r} of the source is left out"
