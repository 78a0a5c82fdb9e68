"""Checks of who and what a clause is about: words and figures in each other's places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from gyr_hybrid.answering.alignment import NOTHING, Aligned, Found, Target, credit_of, target_of
from gyr_hybrid.answering.claims import content_words
from gyr_hybrid.answering.figure_matching import compare, standing
from gyr_hybrid.answering.figures import Figure, find_figures
from gyr_hybrid.answering.lexicon import GENERAL_ROLES, LIGHT_WORDS, ROLES, Lexicon
from gyr_hybrid.answering.numerals import even_fold
from gyr_hybrid.answering.passages import Passage, Section
from gyr_hybrid.answering.words import Word

_ACTOR = re.compile(
    r".*(?:者|人|方|员|单位|公司|企业|机构|部门?|主管|总监|经理|平台|商家|买家|卖家|教练|客户|用户|酒店|医院|银行|政府|机关|法院|学校|物业|老师|医生|护士|校|局|委员会|科室?|所|中心|组|室|助理|专员|版|卡|款|级|套餐|计划|会员|端|司机|乘客|患者|家长|学生|顾客|房东|租客|业主|供应商|经销商|[游住访旅乘顾]客|[楼校部店站家科会院市]长|[教律医技厨讲]师|[学考医师]生|业主|户主|车主)$"
)


def light(word: Word) -> bool:
    """Whether a word adds next to nothing."""
    return word.key in LIGHT_WORDS or word.text in LIGHT_WORDS


def is_actor(key: str, lexicon: Lexicon) -> bool:
    """Whether a word names a role, party, plan or the like, which no other word may stand in for."""
    return key in ROLES or key in lexicon.contrasts or (not key.isascii() and len(key) > 1 and bool(_ACTOR.match(key)))


def is_party(key: str) -> bool:
    """Whether a word names a person or an organisation that acts."""
    return key in ROLES or (not key.isascii() and len(key) > 1 and bool(_ACTOR.match(key)) and key not in GENERAL_ROLES)


def changed_count(one: Aligned) -> Iterator[str]:
    """``一次`` where the source counts two: an article-like 一 that stands in a count's place."""
    theirs = [f for f in (*one.passage.figures, *one.passage.carried_figures) if not f.weak]
    claimed = [f for f in one.claim.figures if not f.weak]
    for figure in one.claim.figures:
        if not figure.weak or figure.kind != "count":
            continue
        rivals = [f for f in theirs if f.kind == "count" and f.base == figure.base]
        if rivals and not any(f.value == 1 for f in rivals) and not all(standing(f, claimed) == "same" for f in rivals):
            yield f"{figure.text!r} where the source has {rivals[0].text!r}"


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
    spoken = target_of(one.claim.text)
    if all(credit_of(w, "", "", spoken, NOTHING) >= 0.6 for w in content_words(one.passage.text)):
        return
    for found in one.found:
        if found.place not in ("carried", "following"):
            continue
        holders = [p for p in siblings if credit_of(found.word, "", "", target_of(p.text), NOTHING) >= 0.6]
        if holders and all(_parallel(p, own, claimed) for p in holders):
            yield f"{found.word.text!r} belongs to a parallel clause"


def _parallel(passage: Passage, own: list[Figure], claimed: list[Figure]) -> bool:
    """The clause has a figure of the same kind as one of ours, another value, and the claim does not give it."""
    for other in find_figures(passage.text):
        if other.weak or other.kind in ("code", "ordinal"):
            continue
        for figure in own:
            same_kind = figure.kind == other.kind and figure.per == other.per
            if same_kind and compare(figure, other) != "same" and standing(other, claimed) != "same":
                return True
    return False


def replaced_words(one: Aligned, section: Section, sentence: str, lexicon: Lexicon) -> Iterator[str]:
    """Words of a clause in whose place the source's clause has another.

    A word that stands nowhere near, or names a party, must not take another's place; one that the passage
    inherits may (``装修押金`` for ``缴纳押金`` after ``装修须…``), unless the two have changed places.
    """
    everything = target_of(even_fold(sentence))
    for start, end in one.claim.clauses:
        words = [f for f in one.found if start <= f.word.start < end]
        main = (start, end) == one.claim.clauses[-1]
        source = one.passage.text if main else _nearest(words, one, section, lexicon)
        theirs, ours = content_words(source), [f.word for f in words]
        target = target_of(source)
        if not any(credit_of(w, "", "", target, lexicon) >= 0.6 for w in ours):
            continue
        places = {f.word: f.place for f in words}
        spoken = target_of(one.claim.text[start - one.claim.start : end - one.claim.start])
        matcher = SequenceMatcher(None, [w.key for w in ours], [w.key for w in theirs], autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag != "replace":
                continue
            new = [w for w in ours[i1:i2] if credit_of(w, "", "", target, lexicon) < 0.6]
            old = [w for w in theirs[j1:j2] if credit_of(w, "", "", spoken, lexicon) < 0.6]
            inherited = [w for w in new if places[w] in ("carried", "following")]
            if all(light(w) and not is_actor(w.key, lexicon) for w in (*new, *old)):
                continue
            swapped = any(credit_of(w, "", "", everything, NOTHING) >= 0.6 for w in old)
            if len(inherited) == len(new) and not swapped and not (
                any(is_actor(w.key, lexicon) for w in new) and any(is_actor(w.key, lexicon) for w in old)
            ):
                continue
            if new and old:
                yield f"{' '.join(w.text for w in new)!r} where the source has {' '.join(w.text for w in old)!r}"


def _nearest(words: list[Found], one: Aligned, section: Section, lexicon: Lexicon) -> str:
    """The clause of the passage's segment that shares most words with a condition of the claim."""
    segment = [p for p in section.passages if p.segment == one.passage.segment] or [one.passage]

    def shared(passage: Passage) -> float:
        target = target_of(passage.text)
        return sum(credit_of(f.word, "", "", target, lexicon) for f in words) + 0.1 * (passage is one.passage)

    return max(segment, key=shared).text


def swapped_actors(one: Aligned, lexicon: Lexicon) -> Iterator[str]:
    """Two parties in the other order than in the source clause."""
    source = one.passage.text
    main = [f.word for f in one.found if f.word.start >= one.claim.clauses[-1][0]]
    actors = [w for w in main if is_party(w.key) or w.key in lexicon.contrasts]
    places = [(w, _places(w, source)) for w in actors]
    single = [(w, p[0]) for w, p in places if len(p) == 1]
    for (first, i), (second, j) in zip(single, single[1:], strict=False):
        rivals = second.key in lexicon.contrasts.get(first.key, ())
        if i > j and first.key != second.key and (rivals or (is_party(first.key) and is_party(second.key))):
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


def repeated_figure(one: Aligned) -> Iterator[str]:
    """A figure given more often than in the source, which has another of the kind in its place."""
    mine = [f for f in one.claim.figures if not f.weak]
    theirs = [f for f in find_figures(one.source) if not f.weak]
    for figure in dict.fromkeys((f.kind, f.base, f.value) for f in mine):
        ours = [f for f in mine if (f.kind, f.base, f.value) == figure]
        same = [t for t in theirs if compare(ours[0], t) == "same"]
        if not same or len(ours) <= len(same):
            continue
        other = next(
            (t for t in theirs if t.kind == figure[0] and t.base == figure[1] and standing(t, mine) != "same"), None
        )
        if other:
            yield f"{ours[0].text!r} twice, where the source has {other.text!r}"


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


def foreign_head(one: Aligned, section: Section, sentence: str) -> Iterator[str]:
    """A line or row about something else than the one that the sentence names: ``只读成员…，也可以修改流水``."""
    label = _label(one.passage)
    spoken = target_of(sentence)
    if not label or _names(label, spoken):
        return
    for other in section.passages:
        theirs = _label(other)
        if theirs and theirs != label and _names(theirs, spoken):
            yield f"{one.passage.text!r} is said of {label!r}, the sentence speaks of {theirs!r}"
            return


def _label(passage: Passage) -> str:
    parts = passage.head.split("\n")
    return parts[-2] if len(parts) > 1 else parts[0]


def _names(label: str, spoken: Target) -> bool:
    words = content_words(label)
    codes = [f for f in find_figures(label) if not f.weak]
    if codes and standing(codes[0], find_figures(spoken.text)) == "same":
        return True
    return bool(words) and all(credit_of(w, "", "", spoken, NOTHING) >= 0.6 for w in words)


def _holds(target: Target, key: str) -> bool:
    return key in target.keys if key.isascii() else key in target.text


_BEFORE = re.compile(r"之前|以前|(?<![提目之以当])前(?![台端往来]|述)|(?<![a-z])before(?![a-z])")
_AFTER = re.compile(r"之后|以后|(?<![之以最然])后(?![台端缀])|(?<![a-z])after(?![a-z])")


def sides_differ(one: Aligned) -> bool:
    """Whether the claim says before where the source clause says after, or the other way round."""
    claim, source = one.claim.text, one.source
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
