"""A sentence of an answer as the claims it makes: clauses with their conditions, words and figures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from gyr_hybrid.answering.verification.clauses import clause_spans
from gyr_hybrid.answering.verification.word_lists import FUNCTION_WORDS
from gyr_hybrid.answering.verification.words import Word, words_of
from gyr_hybrid.figures import UNITS, Figure, even_fold, find_figures

_CONDITION_END = re.compile(
    r"(?:的|(?<![小学课工计定同临及按准实延限历])时|时候|(?<![然最今随售前])后|之后|以后|(?<![之以提目当])前|之前|以前|[日天月年时周钟期]内|期间|之内|[情条前状]\S?下|之日起|的话|而言|来说|来讲)[\s,]*$"
)
_TOPIC_END = re.compile(
    r"^(?!.*(?:是|为|属于|包括|可以|应当|必须|不得)).*的[\u3400-\u9fff]{0,4}(?:者|人|方|员|商|客|户|生|单位|公司|企业|订单|商品|产品|设备|车辆|账号|文件|合同|案件|快件|包裹)[\s,]*$"
)
"""A clause that only names what the next one speaks of: ``被取消资格的供应商``."""
_CONDITION_START = re.compile(
    r"\s*(?:如果|若|如(?![下图表])|当(?![天日月年期事前])|倘若|假如|要是|只要|一旦|除非|无论|不论|不管|即使|哪怕"
    r"|(?:if|when|whenever|unless|once|after|before|during|for|on|in|with|without|under|at|while|although|though|as|because|since|until|by)\b)"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One clause of the sentence, with the conditions and topics before it."""

    text: str
    """Folded."""
    start: int
    end: int
    words: tuple[Word, ...]
    """Content words outside figures; offsets are those of the sentence."""
    figures: tuple[Figure, ...]
    """Offsets are those of the sentence."""
    clauses: tuple[tuple[int, int], ...]
    """Spans of its clauses in the sentence, the one that claims last."""


@lru_cache(maxsize=8192)
def content_words(text: str) -> tuple[Word, ...]:
    """Words of ``text`` that say something: neither grammar nor figures. Latin words in Chinese are names."""
    mixed = not text.isascii() and any("\u3400" <= c <= "\u9fff" for c in text)
    return tuple(
        w
        for w in words_of(text)
        if not grammatical(w.text)
        or (mixed and w.text.isascii())
        or text[w.start : w.end] in _NAMES_LIKE_GRAMMAR
    )


_NAMES_LIKE_GRAMMAR = frozenset({"IT", "US", "WHO"})


def grammatical(word: str) -> bool:
    """Whether a word says nothing by itself; ``一根``, ``这笔`` and the like are articles."""
    counted = len(word) == 2 and word[0] in "一这那该此" and word[1] in UNITS
    return counted or word in FUNCTION_WORDS or word.endswith("n't")


@lru_cache(maxsize=2048)
def claims_of(sentence: str) -> tuple[Claim, ...]:
    """The claims of one sentence; a condition or a bare topic belongs to the clause after it."""
    folded = even_fold(sentence)
    words, figures = content_words(sentence), find_figures(sentence)
    groups: list[list[tuple[int, int]]] = []
    pending: list[tuple[int, int]] = []
    for start, end in clause_spans(sentence):
        pending.append((start, end))
        clause = folded[start:end]
        if _CONDITION_START.match(clause) and len(pending) == 1 and not _whole(clause):
            continue
        if (
            _CONDITION_END.search(clause)
            or _TOPIC_END.match(clause)
            or folded[end : end + 2].lstrip().startswith(":")
        ):
            continue
        held = sum(start <= w.start < end for w in words) + 2 * sum(start <= f.start < end for f in figures)
        if held < 2 and len(pending) == 1:
            continue
        groups.append(pending)
        pending = []
    if pending:
        places = [*(w.start for w in words), *(f.start for f in figures)]
        said = any(pending[0][0] <= place < pending[-1][1] for place in places)
        if groups and not said:
            groups[-1] = groups[-1] + pending
        else:
            groups.append(pending)
    return tuple(
        Claim(
            folded[g[0][0] : g[-1][1]],
            g[0][0],
            g[-1][1],
            tuple(w for w in words if g[0][0] <= w.start < g[-1][1]),
            tuple(f for f in figures if g[0][0] <= f.start < g[-1][1]),
            tuple(g),
        )
        for g in groups
    )


def is_condition(clause: str) -> bool:
    """Whether a folded clause only says when, for whom or on what condition something holds."""
    return bool(_CONDITION_START.match(clause) or _CONDITION_END.search(clause.rstrip(",，。;；")))


def _whole(clause: str) -> bool:
    """An English clause that only begins like a condition: ``For 30 days you can …`` is left to its length."""
    return len(clause.split()) > 9 if clause.isascii() else False
