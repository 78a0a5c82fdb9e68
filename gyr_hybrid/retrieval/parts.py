"""Questions that ask two things: ``开发票要什么材料，多久能收到？``"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gyr_hybrid.analysis import Analyzer

MOST_PARTS = 4
"""A question of more parts is a text; it is searched as a whole."""

_ASKS = re.compile(
    r"什么|啥|怎[么样]|咋|如何|为何|多[久少大长高远快]|哪|谁|[几何]时|几(?!乎|[天日周月年次]+[后前来])|吗|呢|是否|能否|可否|(.)不\1|有没有|会不会|原因|区别"
    r"|\b(?:how|what|when|where|which|who|whose|why|can|could|does?|did|is|are|will|should|may)\b",
    re.IGNORECASE,
)
_BORDER = re.compile(
    r"[。？！?!；;\n]+|[，,、]?\s*(?:以及|另外|还有|还想问|顺便问一?下?|同时|并且)[，,：:]?|[，,]\s*(?:and\b|also\b)?|\s+and\s+(?=(?:how|what|when|where|which|who|why|can|does?|is|are)\b)",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[和与跟、]|或者?")
_EACH = re.compile(r"分别|各自|各(?=[由是有要为需])|区别|差别|不同")


def asks(text: str) -> bool:
    """Whether a text asks something by itself.

    >>> asks("降级何时生效"), asks("升级")
    (True, False)
    """
    return _ASKS.search(text) is not None


def split_question(question: str, analyzer: Analyzer) -> tuple[str, ...]:
    """The parts of a question, when each asks something in words of its own; else nothing.

    Borders are marks, ``以及``, ``另外``, and, where the question asks for each of several things (``分别``, ``区别``),
    also ``和``. A clause that asks nothing stays with the next one that does.

    >>> split_question("开专票要什么条件，多久能收到？", Analyzer())
    ('开专票要什么条件', '多久能收到')
    >>> split_question("买的鞋开胶了，怎么退？", Analyzer())
    ()
    """
    parts = _asking(_BORDER.split(question))
    if len(parts) < 2 and _EACH.search(question):
        parts = _things(question, analyzer)
    if not 2 <= len(parts) <= MOST_PARTS:
        return ()
    words = [set(analyzer.content_words(part)) for part in parts]
    for i, mine in enumerate(words):
        if not mine - set().union(*(words[:i] + words[i + 1 :])):
            return ()
    return tuple(parts)


def _asking(clauses: Sequence[str | None]) -> list[str]:
    """Clauses that ask, each with those before it that do not; a rest that does not ask goes to the last one."""
    parts: list[str] = []
    waiting = ""
    for clause in clauses:
        clause = (clause or "").strip()
        if not clause:
            continue
        waiting = f"{waiting}，{clause}" if waiting else clause
        if _ASKS.search(clause):
            parts.append(waiting)
            waiting = ""
    if parts and waiting:
        parts[-1] = f"{parts[-1]}，{waiting}"
    return parts


def _things(question: str, analyzer: Analyzer) -> list[str]:
    """``升级和降级分别何时生效``: the pieces between the words that join, where these are words there."""
    tokens = analyzer.tokens(question)
    joints = {m.group() for m in _BETWEEN.finditer(question)}
    if any(joint != "、" and tokens.count(joint) != question.count(joint) for joint in joints):
        return []
    return [piece for piece in _BETWEEN.split(question) if piece.strip()]
