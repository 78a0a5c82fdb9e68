"""Figures in whose place the quote has another: what a heading names is not what its every sentence is about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from gyr_hybrid.answering.verification.aligned import Aligned
from gyr_hybrid.answering.verification.crediting import stands, target_of
from gyr_hybrid.answering.verification.passages import Section
from gyr_hybrid.figures import Figure, find_figures, source_figures, standing


def rival_figures(one: Aligned, section: Section, said: Collection[Figure]) -> Iterator[str]:
    """A figure from the heading, or a code from a clause beside, where the quote has its like.

    ``said`` are the figures of the whole sentence: a rival that it gives too takes no one's place.
    """
    home = _home(one)
    own = [f for f in home if not f.weak]
    earlier = one.passage.carried_figures
    beside = (*earlier, *one.passage.figures, *(f for p in one.later for f in p.figures))
    for figure in one.claim.figures:
        if figure.weak or standing(figure, home) == "same":
            continue
        if standing(figure, beside) == "same":
            near = own if figure.kind == "code" else []
        elif standing(figure, section.heading_figures) == "same":
            near = own + [f for f in earlier if not f.weak]
        else:
            continue
        others = one.claim.figures if figure.kind == "code" else said  # codes of two claims may be exchanged
        rival = next((f for f in near if alike(figure, f) and not _given(f, others)), None)
        if rival:
            yield f"{figure.text!r} where the source has {rival.text!r}"


def _home(one: Aligned) -> tuple[Figure, ...]:
    """Figures of the clause that the claim's words stand in: its passage, or later ones if no word is there."""
    places = {f.place for f in one.found}
    if "following" not in places or "own" in places:
        return one.passage.figures
    words = [f.word for f in one.found if f.place == "following"]
    later = [p for p in one.later if any(stands(w, target_of(p.text)) for w in words)]
    return tuple(f for p in later for f in p.figures)


def _given(rival: Figure, said: Collection[Figure]) -> bool:
    return any(standing(figure, [rival]) == "same" for figure in said)


def alike(figure: Figure, other: Figure) -> bool:
    """Whether two figures fill the same place: codes of one shape, dates of two years, amounts of one unit."""
    if figure.kind != other.kind or figure.base != other.base or figure.per != other.per:
        return False
    if isinstance(figure.value, tuple) and isinstance(other.value, tuple):
        return any(a and b and a != b for a, b in zip(figure.value, other.value, strict=True))
    if isinstance(figure.value, str) and isinstance(other.value, str):
        return similar_codes(figure.value, other.value)
    return figure.kind != "ordinal"


def similar_codes(code: str, other: str) -> bool:
    """Whether two code keys are of one series or shape.

    >>> similar_codes("cnc850", "cnc650"), similar_codes("a100", "b200"), similar_codes("cnc850", "flt20b")
    (True, True, False)
    """
    series = [re.match(r"[^\d]*", key).group() for key in (code, other)]  # type: ignore[union-attr]
    return series[0] == series[1] or _shape(code) == _shape(other)


def _shape(code: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]", "a", code))


def of_other_codes(sentence: str, source: str) -> bool:
    """Whether both name codes and share none.

    >>> of_other_codes("AL-4101 须断电。", "| AL-4110 | 断电 |"), of_other_codes("P6 为 500 元。", "| P5–P7 | 500 |")
    (True, False)
    """
    ours = [f for f in find_figures(sentence) if f.kind == "code"]
    theirs = [f for f in source_figures(source) if f.kind == "code"]
    return bool(ours and theirs) and not any(standing(f, theirs) == "same" for f in ours)
