"""Checks of who and what a clause is about: words and figures in each other's places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from gyr_hybrid.answering.alignment import Aligned, Found, credit_of, target_of
from gyr_hybrid.answering.claims import content_words
from gyr_hybrid.answering.figure_matching import compare, standing
from gyr_hybrid.answering.figures import Figure, find_figures
from gyr_hybrid.answering.lexicon import Lexicon
from gyr_hybrid.answering.passages import Passage, Section
from gyr_hybrid.answering.words import Word

_ACTOR = re.compile(
    r".*(?:者|人|方|员|单位|公司|企业|机构|部门?|主管|总监|经理|平台|商家|买家|卖家|教练|客户|用户|酒店|医院|银行|政府|机关|法院|学校|物业|老师|医生|护士|校|局|委员会|科室?|所|中心|组|室|助理|专员|版|卡|款|级|套餐|计划|会员|端|司机|乘客|患者|家长|学生|顾客|房东|租客|业主|供应商|经销商)$"
)


def is_actor(key: str, lexicon: Lexicon) -> bool:
    """Whether a word names a role, party, plan or the like, which no other word may stand in for."""
    return key in lexicon.contrasts or (not key.isascii() and len(key) > 1 and bool(_ACTOR.match(key)))


def same_clause_figures(one: Aligned) -> Iterator[str]:
    """Figures that the claim takes from a neighbouring clause though its own has another of the kind."""
    mine = [f for f in one.claim.figures if not f.weak]
    own = [f for f in one.passage.figures if not f.weak and f.kind != "code"]
    main = one.claim.clauses[-1][0]
    for figure in mine:
        if figure.start < main and len(one.claim.clauses) > 1:
            continue
        if standing(figure, one.passage.figures) == "same":
            continue
        rival = next((o for o in own if _rivals(figure, o) and standing(o, mine) != "same"), None)
        if rival and standing(figure, one.passage.carried_figures) == "same":
            yield f"{figure.text!r} belongs to another clause; this one has {rival.text!r}"


def _rivals(figure: Figure, other: Figure) -> bool:
    return figure.kind == other.kind and figure.base == other.base and figure.per == other.per


def parallel_clauses(one: Aligned, section: Section) -> Iterator[str]:
    """Words taken from a clause that says the same thing of something else: ``免费版 1 名，专业版 3 名``."""
    own = [f for f in one.passage.figures if not f.weak]
    claimed = [f for f in one.claim.figures if not f.weak]
    siblings = [p for p in section.passages if p.segment == one.passage.segment and p is not one.passage]
    for found in one.found:
        if found.place not in ("carried", "following"):
            continue
        holders = [p for p in siblings if credit_of(found.word, "", "", target_of(p.text), EMPTY) >= 0.6]
        if holders and all(_parallel(p, own, claimed) for p in holders):
            yield f"{found.word.text!r} belongs to a parallel clause"


def _parallel(passage: Passage, own: list[Figure], claimed: list[Figure]) -> bool:
    """The clause has a figure of the same kind as one of ours, another value, and the claim does not give it."""
    for other in find_figures(passage.text):
        if other.weak or other.kind in ("code", "ordinal"):
            continue
        for figure in own:
            if _rivals(figure, other) and compare(figure, other) != "same" and standing(other, claimed) != "same":
                return True
    return False


EMPTY = Lexicon({}, {})


def replaced_words(one: Aligned, section: Section, lexicon: Lexicon) -> Iterator[str]:
    """Words of a clause in whose place the source's clause has another."""
    for start, end in one.claim.clauses:
        words = [f for f in one.found if start <= f.word.start < end]
        if not words:
            continue
        source = _nearest(words, one, section, lexicon)
        theirs = content_words(source)
        target = target_of(source)
        ours = [f.word for f in words]
        matcher = SequenceMatcher(None, [w.key for w in ours], [w.key for w in theirs], autojunk=False)
        spoken = {w.key for w in ours}
        claim_target = target_of(one.claim.text[start - one.claim.start : end - one.claim.start])
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag != "replace":
                continue
            new = [w for w in ours[i1:i2] if credit_of(w, "", "", target, lexicon) < 0.6]
            old = [
                w
                for w in theirs[j1:j2]
                if w.key not in spoken and credit_of(w, "", "", claim_target, lexicon) < 0.6
            ]
            if new and old:
                yield f"{' '.join(w.text for w in new)!r} where the source has {' '.join(w.text for w in old)!r}"


def _nearest(words: list[Found], one: Aligned, section: Section, lexicon: Lexicon) -> str:
    """The clause of the passage's segment that shares most words with this clause of the claim."""
    segment = [p for p in section.passages if p.segment == one.passage.segment] or [one.passage]

    def shared(passage: Passage) -> float:
        target = target_of(passage.own)
        return sum(credit_of(f.word, "", "", target, lexicon) for f in words) + 0.1 * (passage is one.passage)

    return max(segment, key=shared).own


def swapped_actors(one: Aligned, lexicon: Lexicon) -> Iterator[str]:
    """Two parties in the other order than in the source clause."""
    source = one.passage.text
    main = [f.word for f in one.found if f.word.start >= one.claim.clauses[-1][0]]
    actors = [w for w in main if is_actor(w.key, lexicon)]
    places = [(w, _places(w, source)) for w in actors]
    single = [(w, p[0]) for w, p in places if len(p) == 1]
    for (first, i), (second, j) in zip(single, single[1:], strict=False):
        if i > j and first.key != second.key:
            yield f"{first.text!r} before {second.text!r}, the source has them the other way round"


def _places(word: Word, text: str) -> list[int]:
    if word.han:
        return [m.start() for m in re.finditer(re.escape(word.text), text)]
    return [w.start for w in content_words(text) if w.key == word.key]


def swapped_figures(one: Aligned) -> Iterator[str]:
    """Two figures of one kind in the other order than in the source clause."""
    mine = [f for f in one.claim.figures if not f.weak]
    theirs = [f for f in (*one.passage.carried_figures, *one.passage.figures) if not f.weak]
    places = [(f, [i for i, t in enumerate(theirs) if compare(f, t) == "same"]) for f in mine]
    single = [(f, p[0]) for f, p in places if len(p) == 1]
    for (first, i), (second, j) in zip(single, single[1:], strict=False):
        if i > j and first.base == second.base and first.kind == second.kind and i >= len(one.passage.carried_figures) <= j:
            yield f"{first.text!r} before {second.text!r}"


def contrasting_words(one: Aligned, lexicon: Lexicon) -> Iterator[str]:
    """A word of the claim where the source clause has one that excludes it."""
    own = target_of(one.passage.own)
    spoken = target_of(one.claim.text)
    for found in one.found:
        rivals = lexicon.contrasts.get(found.word.key)
        if not rivals or _holds(own, found.word.key):
            continue
        for rival in sorted(rivals):
            if _holds(own, rival) and not _holds(spoken, rival):
                yield f"{found.word.text!r} where the source has {rival!r}"
                break


def _holds(target: object, key: str) -> bool:
    keys, text = target.keys, target.text  # type: ignore[attr-defined]
    return key in keys if key.isascii() else key in text


_BEFORE = re.compile(r"之前|以前|(?<![提目之以当])前(?![台端往来]|述)|(?<![a-z])before(?![a-z])")
_AFTER = re.compile(r"之后|以后|(?<![之以最然])后(?![台端缀])|(?<![a-z])after(?![a-z])")


def sides_differ(one: Aligned) -> bool:
    """Whether the claim says before where the source clause says after, or the other way round."""
    claim, source = one.claim.text, "\n".join([one.passage.text, *(p.text for p in one.later)])
    ours = bool(_BEFORE.search(claim)), bool(_AFTER.search(claim))
    theirs = bool(_BEFORE.search(source)), bool(_AFTER.search(source))
    return (ours, theirs) in (((True, False), (False, True)), ((False, True), (True, False)))


def dropped_figure(one: Aligned) -> Iterator[str]:
    """A figure inside the source clause, between words that the claim has, that the claim leaves out."""
    text = one.passage.text
    spots = [p for f in one.found if f.place == "own" for p in _places(f.word, text)]
    for figure in find_figures(text):
        if figure.weak or figure.kind in ("code", "ordinal") or standing(figure, one.claim.figures) == "same":
            continue
        before = any(p < figure.start for p in spots)
        after = any(p >= figure.end for p in spots)
        if before and after and not any(f.kind == figure.kind for f in one.claim.figures):
            yield f"{figure.text!r} of the source is left out"
