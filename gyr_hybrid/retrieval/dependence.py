"""Whether a question can be answered without the code that the index does not know."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.analysis.vocabulary import ASKING_WORDS, QUESTION_WORDS, STOP_WORDS
from gyr_hybrid.retrieval.phrases import without_phrases
from gyr_hybrid.retrieval.resolved_code import ResolvedCode

_MESSAGE = re.compile(
    r"(?:\s?\([0-9A-Z]{5}\))?(?:[\"'`)\]]*\s*[:：]|[)\]]+)\s*[!-~]+(?:\s+[!-~]+){2,}"
)  # ``1236 (HY000): The slave is connecting``, ``ErrKey]fail to get encryption key``


_MET = re.compile(
    r"(?:提示|显示|返回|弹出|弹|抛出|抛|遇到|碰到|出现|收到|跳出|报|(?<![a-z])(?:shows?|says?|returns?|got|get|gets|getting|throws?))[了出着过:：\s「“\"'（(\[【]*$",
    re.IGNORECASE,
)


def hangs_on(
    question: str,
    code: ResolvedCode,
    *,
    analyzer: Analyzer,
    codes: Sequence[ResolvedCode],
    section_terms: Sequence[set[str]],
    idf: Callable[[str], float],
    synonyms: Mapping[str, frozenset[str]] | None = None,
) -> bool:
    """Whether ``question`` hangs on its unknown ``code``, so that it cannot be answered without it.

    It does when (a) nothing but the code and words that ask is left (what it is for, its default value, where it was
    met), or (b) a class word stands beside it, or
    (c) the index knows codes of its shape and no section holds half of the other words, or (d) it knows such codes,
    and this one was met somewhere and only words that ask follow (``导入时提示 E1044 怎么办``): the question is about
    the code, whatever it says about where. It does not when the text of the error message follows the code: then the
    message can be looked for.

    Args:
        question: as it was asked.
        code: one of ``codes``.
        analyzer: the index's.
        codes: all codes of the question.
        section_terms: per retrieved section the tokens of its text and headings (``Analyzer.terms``).
        idf: weight of a word among the visible documents.
        synonyms: content word to tokens that also count as it.
    """
    if code.status != "unknown":
        return False
    if not other_words(without_phrases(question, codes, aspects=True), analyzer, codes):
        return True
    words = other_words(question, analyzer, codes)
    if _MESSAGE.match(question, code.end):
        return False
    if code.named:
        return True
    if not code.known_shape:
        return False
    return _met(question, code, analyzer, codes) or not _half_held(words, section_terms, idf, synonyms or {})


def _met(question: str, code: ResolvedCode, analyzer: Analyzer, codes: Sequence[ResolvedCode]) -> bool:
    """Whether a code was shown to the asker, and what stands behind it only asks."""
    behind = question[code.end :]
    if _MET.search(question, 0, code.start) is None:
        return False
    return not other_words(" " * code.end + behind, analyzer, codes)


def other_words(question: str, analyzer: Analyzer, codes: Sequence[ResolvedCode]) -> list[str]:
    """Content words of the question besides its codes, their class words and words that only ask."""
    text = list(question)
    for code in codes:
        text[code.start : code.end] = " " * (code.end - code.start)
    labels = {word for code in codes if code.class_word for word in analyzer.tokens(code.class_word)}
    dull = ASKING_WORDS | QUESTION_WORDS | STOP_WORDS | labels
    return [word for word in analyzer.content_words("".join(text)) if word not in dull]


def _half_held(
    words: Sequence[str],
    section_terms: Sequence[set[str]],
    idf: Callable[[str], float],
    synonyms: Mapping[str, frozenset[str]],
) -> bool:
    """Whether one section holds half of the words by weight."""
    weights = {word: max(idf(word), 0.0) for word in words}
    if not any(weights.values()):
        weights = dict.fromkeys(words, 1.0)
    half = sum(weights.values()) / 2
    return any(
        sum(
            weight
            for word, weight in weights.items()
            if word in terms or not terms.isdisjoint(synonyms.get(word, ()))
        )
        >= half
        for terms in section_terms
    )
