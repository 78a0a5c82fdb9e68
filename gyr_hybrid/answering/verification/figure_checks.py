"""The check of figures, dates and codes: each stands in its quote, its table header or the heading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from gyr_hybrid.answering.verification.aligned import Aligned
from gyr_hybrid.answering.verification.findings import Evidence, Finding
from gyr_hybrid.answering.verification.passages import Section
from gyr_hybrid.figures import Figure, approximate, derived, opposite, standing

ENUMERATION = re.compile(r"、|和|与|及|(?<=\s)(?:and|or)(?=\s)|,\s(?!and\b)|;\s")

_RECKONS = re.compile(
    r"[÷×=＝]|比(?=[^,，。]{1,12}[多少高低长短贵早晚])|(?<![最至不许太过])多(?![少个次种数项久])|(?<![最至不减多])少(?!于|数)|[差贵省]|便宜|[共即]|合计|总(?=计|额|数|价|费)|等于|平均"
    r"|\b(?:in total|total of|altogether|together|in all|\d+ more|(?:more|less|longer|shorter|cheaper|higher|lower) than|that is|saves?|difference)\b"
)
"""Signs that a sentence works something out: a figure that stands nowhere is then to be checked, not wrong."""
UNKNOWN = ("absent", "unit")
"""Standings of a figure that may have been worked out; the others stand with another limit, rate or side."""


def quote_figures(one: Aligned, section: Section) -> tuple[Figure, ...]:
    """The figures that a claim may take: those of its passage, what that inherits, and the heading."""
    later = tuple(f for p in one.later for f in p.figures)
    carried = tuple(f for f in one.passage.carried_figures if not f.weak or f.kind == "code")
    return (*one.passage.figures, *carried, *later, *section.heading_figures)


def figures_stand(evidence: Evidence) -> Iterator[Finding]:
    """Every figure, date and code of a claim stands in its passage, in what that inherits, or in the heading."""
    open_figures: list[tuple[Figure, Aligned, str]] = []
    for one in evidence.aligned:
        near = quote_figures(one, evidence.sections[one.section])
        for figure in one.claim.figures:
            stands = standing(figure, near)
            if stands != "same" and not figure.weak:
                open_figures.append((figure, one, stands))
    everywhere = [f for s in evidence.sections for f in (*s.figures, *s.heading_figures)]
    unknown = [f for f, _, stands in open_figures if stands in UNKNOWN]
    claimed = [f for one in evidence.aligned for f in one.claim.figures if not f.weak]
    loose = derived(claimed, everywhere, evidence.sentence) if unknown else set()
    supposed = bool(loose & set(unknown))
    for figure, one, _ in open_figures:
        if figure in evidence.explained or _counts_items(figure, one, len(evidence.aligned)):
            continue
        shown = f"{figure.text!r}"
        elsewhere = standing(figure, everywhere)
        if elsewhere == "same":
            yield Finding("figure_elsewhere", f"{shown} stands in another sentence of the source")
        elif elsewhere in ("bound", "side"):
            yield Finding(elsewhere, f"{shown} has another limit in the source")
        elif any(approximate(figure, f) for f in everywhere):
            yield Finding("approximate", f"{shown} is counted in another unit in the source")
        elif elsewhere == "unit" and _same_count(figure, everywhere):
            yield Finding("unit", f"{shown} is counted in another word in the source")
        elif (
            supposed
            or _RECKONS.search(evidence.sentence)
            or figure in loose
            or (_one_period(figure) and (loose or evidence.explained))
        ):
            yield Finding("calculation", f"{shown} is worked out from figures outside the quote")
        else:
            name = "code" if figure.kind == "code" else "figure"
            yield Finding(name, f"{shown} does not stand in the source", hard=True)


_AT_LEAST = re.compile(r"(?:[至最]少|起码|超过|[至最]多)[^\d,，]{1,3}$")
"""Limits that a short verb parts from their figure: ``至少有 10 名``."""
_WITHIN = re.compile(r"\s*(?:以|之)?内")
"""A time within which something is done is told with and without the word."""
_PERMITS = re.compile(r"(?<!不)可以?(?![能靠])|能够?(?!量)|允许|\b(?:may|can)\b")
"""``可以借 10 册`` permits no eleventh."""
_LIMITED = re.compile(
    r"[最至][多少高低长短大小迟早晚]|[上下]限|限[额制于]?|[超不未][过足到满]|[以之]?内|以[上下]|[大小多少高低长短]于|起|满|逾|达"
    r"|limit|max|min|up to|at (?:most|least)|than|within|over|under|above|below|exceed|cap"
)


_FLOOR = re.compile(
    r"(?:不足|不满|低于|少于|未达到?)(?:[^,，。;；]|(?<=\d),(?=\d)){1,14}?的?[,，]?(?:一律|均|也|则)?(?:按|以|为)"
)
"""``不足 1000 元的按 1000 元赔付`` pays no less; it caps nothing."""


_CAPPED = re.compile(r"[最至][高多大长][^\d]{0,4}$|(?:封顶|不超过)$")


def _least_as_most(figure: Figure, one: Aligned) -> bool:
    """``最高赔付 1000 元`` for ``不足 1000 元的按 1000 元赔付``."""
    before = one.claim.text[: figure.start - one.claim.start]
    floor = _FLOOR.search(one.passage.text) and not _FLOOR.search(one.claim.text)
    return bool(floor and _CAPPED.search(before))


def _other_limit(figure: Figure, near: Sequence[Figure]) -> bool:
    """Whether the source limits the figure the other way wherever it limits it: ``满 3 年`` for ``不满 3 年``."""
    key = (figure.kind, figure.base, figure.value)
    limited = [f for f in near if f.bound and (f.kind, f.base, f.value) == key]
    return bool(figure.bound and limited) and all(opposite(figure.bound, f.bound) for f in limited)


def bounds_stand(evidence: Evidence) -> Iterator[Finding]:
    """A claim sets no limit on a figure that stands without one in a source that speaks of no limit."""
    for one in evidence.aligned:
        section = evidence.sections[one.section]
        near = quote_figures(one, section)
        for figure in one.claim.figures:
            if _least_as_most(figure, one) or _other_limit(figure, near):
                yield Finding("bound", f"{figure.text!r} has another limit in the source")
        if _LIMITED.search("\n".join([section.heading, one.figured, one.passage.carried])):
            continue
        for figure in one.claim.figures:
            start, end = figure.start - one.claim.start, figure.end - one.claim.start
            before = one.claim.text[:start]
            limited = figure.bound not in ("", "~") or _AT_LEAST.search(before)
            if not limited or _WITHIN.match(one.claim.text, end) or before.endswith("within "):
                continue
            if "\n" in one.passage.head and figure.bound[:1] == "<":
                continue  # the cell of a table that says how much there is
            same = [f for f in near if standing(figure, [f]) == "same"]
            ends = any(f.low and f.kind == figure.kind for f in near)
            ceiling = figure.bound[:1] == "<" or before.find("多", -6) >= 0
            permitted = ceiling and _PERMITS.search(f"{one.passage.carried}\n{one.source}")
            if same and not ends and not permitted and not any(f.bound for f in same):
                yield Finding("limit", f"{figure.text!r} has no limit in the source")


def explained_figures(
    aligned: Sequence[Aligned], sections: Sequence[Section], sentence: str
) -> frozenset[Figure]:
    """Figures of the claims that arithmetic on their quotes' figures yields, or that only say one again.

    ``半年（180 天）`` says again what the source has as 180 days.
    """
    quoted = [f for a in aligned for f in quote_figures(a, sections[a.section])]
    claimed = [f for a in aligned for f in a.claim.figures]
    unknown = [f for f in claimed if not f.weak and standing(f, quoted) in UNKNOWN]
    if not unknown:
        return frozenset()
    known = [f for f in claimed if f not in unknown]
    restated = {f for f in unknown if any(approximate(f, k) for k in known)}
    once = {f for one in aligned for f in one.claim.figures if f in unknown and _once_a_period(f, one)}
    worked_out = derived(unknown, quoted, sentence)
    if len(worked_out) == 1 and not _RECKONS.search(sentence):  # no premise of its own, no word for a sum
        worked_out = {f for f in worked_out if not _displaces(f, aligned, claimed)}
    return frozenset(worked_out | restated | once)


_PERIODS = {
    "day": "[每按逐][日天]|daily",
    "week": "[每按逐](?:周|星期)|weekly",
    "month": "[每按逐]个?月|monthly",
}
_PERIODS |= {"quarter": "[每按逐]个?季|quarterly", "year": "[每按逐]年|yearly|annually"}


def _once_a_period(figure: Figure, one: Aligned) -> bool:
    """``每月结算一次`` for ``按月结算``, where the source counts no times."""
    period = _PERIODS.get(figure.per, "")
    if figure.kind != "count" or figure.base != "occurrence" or figure.value != 1 or not period:
        return False
    theirs = (*one.passage.figures, *one.passage.carried_figures)
    if not all(f.place == "own" for f in one.found):
        return False
    return not any(f.base == "occurrence" for f in theirs) and bool(re.search(period, one.passage.text))


def _displaces(figure: Figure, aligned: Iterable[Aligned], claimed: Sequence[Figure]) -> bool:
    """Whether a figure that arithmetic happens to yield stands in the place of one of its kind, left unsaid.

    ``请假满 5 个工作日退一半`` for ``满 10 个工作日退一半`` is half of ten, and wrong.
    """
    for one in aligned:
        if figure in one.claim.figures:
            theirs = (*one.passage.figures, *one.passage.carried_figures)
            return any(
                f.kind == figure.kind
                and f.base == figure.base
                and f.bound == figure.bound
                and f.per == figure.per
                and not f.weak
                and standing(f, claimed) != "same"
                for f in theirs
            )
    return False


def _one_period(figure: Figure) -> bool:
    """``一年``, over which a quoted rate was reckoned."""
    return figure.kind == "duration" and figure.text.startswith(("一", "one "))


def _same_count(figure: Figure, others: list[Figure]) -> bool:
    return figure.kind == "count" and any(o.kind == "count" and o.value == figure.value for o in others)


def _counts_items(figure: Figure, one: Aligned, claims: int) -> bool:
    """``两种通信接口`` for an enumeration of two, ``这两种情况`` after two claims."""
    if figure.kind != "count" or figure.bound or not 2 <= figure.value <= 9:  # type: ignore[operator]
        return False
    before = one.claim.text[: figure.start - one.claim.start]
    if before.endswith(("这", "以上", "上述")) and figure.value <= claims:  # type: ignore[operator]
        return True
    return any(len(ENUMERATION.split(text)) == figure.value for text in (one.passage.text, one.claim.text))
