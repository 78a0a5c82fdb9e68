"""Cutting source text and answers into lines, cells, sentences, segments and clauses. Texts are folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gyr_hybrid.figures import Figure, even_fold, find_figures

WRAPPED = 40
"""Shortest line, in characters, that may have been wrapped."""
_BLOCK = re.compile(r"\s*(?:[-*+•·#|>]|\d{1,3}[.)、]|[(（][一二三四五六七八九十\d]{1,3}[)）]|```|~~~|[①-⑳])")
_OWN_LINE = re.compile(r"\s*(?:[|#`]|~~~)")
SHORT = 12
"""Most characters before an ``and`` that begins no clause of its own."""
_VERBS = (
    r"(?:may|must|can|cannot|could|will|should|is|are|was|were|has|have|needs?|requires?|costs?|does|do)\b"
)
_SUBJECT = r"(?:(?:each|every|all|any|the|it|they|you|we|this|that|a|an)\s(?:[a-z'-]+\s){0,5}?|(?:(?!and\b|but\b|or\b|which\b)[a-z'-]+\s){1,2})"
_JOINTS = re.compile(
    rf"(?P<verb>\s(?:and|but|while|whereas)\s(?:then\s)?(?={_SUBJECT}?{_VERBS}))"
    r"|而(?!且)|(?<=\s)(?:and|while|whereas|but)(?=\s)|、|和|及|与"
)
"""``and`` before a verb, with a subject of its own or without, and the joints of enumerations."""


def lines(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the lines of ``text``, without their ends; a line of prose that merely wraps goes on."""
    held: tuple[int, int] | None = None
    start = 0
    for line in text.split("\n"):
        span = (start, start + len(line))
        start += len(line) + 1
        if held and _wraps(text[slice(*held)], line):
            held = (held[0], span[1])
            continue
        if held:
            yield held
        held = span
    if held:
        yield held


def _wraps(before: str, line: str) -> bool:
    """Whether ``line`` goes on with the paragraph or list item that ``before`` began."""
    last = before.rsplit("\n", 1)[-1].rstrip()
    if len(last) < WRAPPED or not line.strip() or _BLOCK.match(line) or _OWN_LINE.match(last):
        return False
    return last[-1] not in "。！？；.!?;:：|"


def cells_of(row: str, offset: int) -> list[tuple[int, str]]:
    """``(offset, text)`` of the cells of a table row that begins at ``offset``."""
    cells: list[tuple[int, str]] = []
    for found in re.finditer(r"(?<=\|)(?:[^|\\]|\\.)*(?=\|)", row):
        cell = found.group()
        cells.append((offset + found.start() + len(cell) - len(cell.lstrip()), cell.strip()))
    return cells


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of the sentences of ``text[start:end]``."""
    position = start
    for mark in re.compile(r"[。！？]+[”」』）)]*|[!?]+(?=\s|$)|\.(?=\s+[A-Z`\"“(]|\s*$)").finditer(
        text, start, end
    ):
        yield from _trimmed(text, position, mark.end())
        position = mark.end()
    yield from _trimmed(text, position, end)


def segments(folded: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans between semicolons."""
    position = start
    for mark in re.compile(r"[；;](?=\s|[^\x00-\x7f]|$)|(?<=[^\x00-\x7f])[；;]").finditer(folded, start, end):
        yield from _trimmed(folded, position, mark.end())
        position = mark.end()
    yield from _trimmed(folded, position, end)


def clauses(folded: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans between commas and colons, cut further where both sides of an ``and`` make statements."""
    position = start
    for mark in re.compile(r",(?!\d{3}(?!\d))|(?<!\d),|(?<!\d):(?=\s|[^\x00-\x7f])|--").finditer(
        folded, start, end
    ):
        yield from _jointed(folded, position, mark.start())
        position = mark.end()
    yield from _jointed(folded, position, end)


def _jointed(folded: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut at joints when both sides bear figures of one kind, ``5 years and backpacks for 10 years``, or have verbs."""
    text = folded[start:end]
    figures = [f for f in find_figures(text) if not f.weak]
    position = 0
    for joint in _JOINTS.finditer(text):
        left = [f for f in figures if position <= f.start < joint.start()]
        right = [f for f in figures if f.start >= joint.end()]
        if joint["verb"] is not None:
            cut = joint.start() - position > SHORT
        else:
            cut = bool(left and right and _kinds(left) & _kinds(right)) and not _bare(
                text, position, joint, left, right
            )
        if cut:
            yield from _trimmed(folded, start + position, start + joint.start())
            position = joint.end()
    yield from _trimmed(folded, start + position, end)


def _bare(text: str, position: int, joint: re.Match[str], left: list[Figure], right: list[Figure]) -> bool:
    """Whether nothing but figures stands on both sides: ``10 秒、30 秒``."""
    between = text[max(position, left[-1].end) : joint.start()] + text[joint.end() : right[0].start]
    return not between.strip()


def _kinds(figures: Iterable[Figure]) -> set[str]:
    """What figures measure; amounts of two currencies measure the same."""
    return {f.kind if f.kind == "money" else f.base for f in figures if not f.weak}


def _trimmed(text: str, start: int, end: int) -> Iterable[tuple[int, int]]:
    piece = text[start:end]
    if piece.strip():
        yield start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def clause_spans(sentence: str) -> list[tuple[int, int]]:
    """Clauses of one sentence of an answer."""
    folded = even_fold(sentence)
    return [
        span
        for part in segments(folded, 0, len(folded))
        for span in clauses(folded, *part)
        if re.search(r"\w", folded[slice(*span)])
    ]
