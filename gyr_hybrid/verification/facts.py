"""Figures and codes of a sentence against its section: each stands in one place with its subject, or it does not.

A *no* of this check is final, so it is only said where the rules are certain. What they cannot bring to one form is
left to a judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Literal

from gyr_hybrid.figures import Figure, derived, even_fold, reckons, source_figures, standing, written
from gyr_hybrid.verification.rows import false_extreme
from gyr_hybrid.verification.sources import Clause, Source, comparable, content, read_claim

MOST = 24
"""Most different numbers of a section that enter calculations; with more, anything fits something."""
ASKED = 12
"""Most figures of a sentence, or of a clause of it, that are compared pair by pair; a sentence seldom holds more."""
Fact = Literal["agree", "unclear", "contradicted"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What the figures and codes of a sentence say."""

    value: Fact
    reason: str = ""
    """``figure``, ``bound`` or ``place``, and what was seen."""


def check_facts(sentence: str, cited: Sequence[Source], context: Sequence[Source] = ()) -> Facts:
    """Compare the figures and codes of ``sentence`` with the sections it cites.

    Args:
        context: the other sections that the writer had; what they are about tells whose figure was taken.
    """
    folded = even_fold(sentence)
    if (worst := false_extreme(folded, cited)) is not None:
        return Facts("contradicted", f"rows: {worst}")
    if other := _of_another(folded, cited, context):
        return Facts("contradicted", f"subject: the sentence is about {other!r}, the section is not")
    mine = _once(f for f in source_figures(folded) if not f.weak)
    if not mine:
        return Facts("agree")
    theirs = _once(
        f for source in cited for f in (*source.lent_figures, *(g for c in source.clauses for g in c.figures))
    )
    how = {f: standing(f, theirs) for f in mine}
    absent = [f for f in mine if how[f] not in ("same", "unclear")]
    if absent:
        known = [f for f in theirs if not f.weak]
        worked_out = derived([f for f in mine if how[f] != "same"], known, folded)
        if len(worked_out) == 1 and not reckons(folded):
            worked_out = {f for f in worked_out if not _displaces(f, mine, theirs)}
        worked_out |= _reckoned(absent, [f for f in mine if how[f] != "same"], known)
        for figure in absent:
            if figure in worked_out or _loose(figure):
                how[figure] = "unclear"
            elif how[figure] in ("bound", "side"):
                return Facts("contradicted", f"bound: {figure.text!r} has another limit in the section")
            else:
                return Facts(
                    "contradicted", f"figure: {figure.text!r} does not stand in the section ({how[figure]})"
                )
    for clause in (claims := read_claim(folded)):
        if pair := _never_together(clause, cited):
            return Facts(
                "contradicted", f"place: {pair[0].text!r} and {pair[1].text!r} stand in different places"
            )
    for clause in claims:
        for figure in clause.figures:
            if not figure.weak and (other := _misplaced(figure, clause, cited)):
                return Facts(
                    "contradicted", f"place: {figure.text!r} belongs to another place than {other!r}"
                )
    unclear = next((f for f in mine if how[f] == "unclear"), None)
    if unclear is not None:
        return Facts("unclear", f"unclear: {unclear.text!r} cannot be compared")
    return Facts("agree")


def _reckoned(absent: Sequence[Figure], open_: Sequence[Figure], theirs: Sequence[Figure]) -> set[Figure]:
    """Figures of a worked example: one follows from another of the sentence by simple arithmetic with the section's.

    ``停 3 个小时，一共 14 元``: nobody can say that 14 is wrong who has not done the sum.
    """
    numbers = sorted({n for f in theirs if f.kind not in ("code", "ordinal", "date") and (n := written(f))})[
        :MOST
    ]
    said = [(f, n) for f in open_ if f.kind not in ("code", "date") and (n := written(f))]
    found: set[Figure] = set()
    for (one, a), (other, b) in permutations(said[:ASKED], 2):
        if (one in absent or other in absent) and any(_follows(a, b, n, numbers) for n in numbers):
            found |= {one, other}
    return found


def _follows(result: Fraction, premise: Fraction, n: Fraction, numbers: Sequence[Fraction]) -> bool:
    """``n × premise`` and its like, or one step more: ``6 + 2 × 4``, ``(5 - 3) × 50``."""
    if result in (n * premise, n * premise / 100, n * premise / 1000, premise / n):
        return True
    return any(result in (m * (premise - n), m + n * (premise - 1), n * premise + m) for m in numbers)


def _of_another(sentence: str, cited: Sequence[Source], context: Sequence[Source]) -> str:
    """The section that a sentence with figures is about, where it cites one about a like thing; empty if there is none.

    ``上海门店营业时间 10-22 点`` with what the page of 苏州门店 says.
    """
    words = set(content(sentence))
    if not any(not f.weak for f in source_figures(sentence)):
        return ""
    for other in context:
        theirs = content(even_fold("\n".join(other.path)))
        for source in cited:
            mine = content(even_fold("\n".join(source.path)))
            if not set(theirs) & set(mine) or other.node_id == source.node_id:
                continue
            own = {w for c in source.clauses for w in c.words}.union(mine)
            subject = next((w for w in mine if w not in theirs), None)
            rival = next((w for w in theirs if w not in own), None)
            if subject and rival and rival in words and subject not in words:
                return other.path[-1]
    return ""


def _displaces(figure: Figure, mine: Sequence[Figure], theirs: Sequence[Figure]) -> bool:
    """Whether a figure that arithmetic happens to yield stands in the place of one of its kind that is left unsaid.

    ``请假满 5 个工作日`` for ``满 10 个工作日`` is half of ten, and wrong.
    """
    return any(
        f.kind == figure.kind and f.base == figure.base and not f.weak and standing(f, mine) != "same"
        for f in theirs
    )


def _never_together(claim: Clause, cited: Sequence[Source]) -> tuple[Figure, Figure] | None:
    """Two figures of a clause of which the place of one has another figure in the other's stead, and none has both."""
    mine = [f for f in claim.figures if not f.weak and f.kind not in ("code", "ordinal")]
    clauses = [clause for source in cited for clause in source.clauses]
    for one, other in permutations(mine[:ASKED], 2):
        homes = [c for c in clauses if standing(one, c.figures) == "same"]
        if not homes or not any(standing(other, c.figures) == "same" for c in clauses):
            continue
        if any(standing(other, c.figures) in ("same", "unclear") for c in homes):
            continue
        if all(
            any(
                (f.kind, f.base) == (other.kind, other.base) and standing(f, mine) != "same"
                for f in c.figures
            )
            for c in homes
        ):
            return one, other
    return None


def _once(figures: Iterable[Figure]) -> list[Figure]:
    """Each figure once, however often it is said."""
    return list(
        {
            (f.kind, f.base, f.value, f.bound, f.per, f.side, f.low, f.high, f.weak): f for f in figures
        }.values()
    )


def _loose(figure: Figure) -> bool:
    """Whether a figure that stands nowhere may still only say what the section says: ``一年``, ``第二年``."""
    if figure.kind == "ordinal":
        return figure.base not in _NUMBERED
    return figure.text.startswith(("一", "one ", "a ")) and figure.kind in ("duration", "count", "times")


_NUMBERED = frozenset("条 款 项 章 节 编".split())
"""What laws and contracts are cited by."""


def _misplaced(figure: Figure, claim: Clause, cited: Sequence[Source]) -> str:
    """The place that a clause speaks of, where its figure stands at another one only; empty if it is well placed."""
    if figure.kind == "ordinal" or any(standing(figure, source.lent_figures) == "same" for source in cited):
        return ""
    words = set(claim.said).difference(content(figure.text), [str(figure.value)])
    rivals = [
        _rival(figure, holder, words, source)
        for source in cited
        for holder in source.clauses
        if standing(figure, holder.figures) == "same"
    ]
    return rivals[0] if rivals and all(rivals) else ""


def _rival(figure: Figure, holder: Clause, words: Set[str], source: Source) -> str:
    """A clause beside the holder whose subject the words name instead of the holder's.

    The subject of one of two parallel clauses is the first of its words that the other lacks.
    """
    own = _reach(figure, holder, source)
    mine = {w for c in own for w in c.said} | holder.lent
    for clause in source.clauses:
        if (
            clause in own
            or standing(figure, clause.figures) == "same"
            or not _beside(figure, holder, clause, source)
        ):
            continue
        theirs = {*clause.said, *clause.lent}
        if figure.kind == "code":
            if words & theirs - mine and not words & mine - theirs:
                return clause.text
            continue
        subject = next((w for w in holder.said if w not in theirs and w != str(figure.value)), None)
        rival = next((w for w in clause.said if w not in mine), None)
        if subject is not None and rival in words and subject not in words:
            return clause.text
    return ""


def _reach(figure: Figure, holder: Clause, source: Source) -> Sequence[Clause]:
    """A code rules its whole row or item, any other figure its clause."""
    if figure.kind != "code":
        return (holder,)
    unit = source.units[holder.unit]
    return source.clauses[unit.first : unit.after]


def _beside(figure: Figure, one: Clause, other: Clause, source: Source) -> bool:
    """Whether two clauses say the same kind of thing of different subjects: rows, items, clauses with like figures."""
    a, b = (source.blocks[source.units[c.unit].block] for c in (one, other))
    if a is not b and a.kind == b.kind and a.kind in ("row", "item") and a.under == b.under:
        return True
    return figure.kind != "code" and any(
        comparable(f, g) for f in one.figures for g in other.figures if f.kind != "code"
    )
