"""Cutting source text and answers into lines, cells, sentences, segments and clauses. Texts are folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gyr_hybrid.answering.figures.normaliser import Figure, find_figures
from gyr_hybrid.answering.figures.numerals import even_fold

WRAPPED = 40
"""Shortest line, in characters, that may have been wrapped."""
_BLOCK = re.compile(r"\s*(?:[-*+•·#|>]|\d{1,3}[.)、]|[(（][一二三四五六七八九十\d]{1,3}[)）]|```|~~~|[①-⑳])")
_OWN_LINE = re.compile(r"\s*(?:[|#`]|~~~)")
_SUBJECT_JOINT = re.compile(
    r"\s(?:and|but|while|whereas)\s(?=(?:(?:each|every|all|any|the|it|they|you|we|this|that|a|an)\s(?:[a-z'-]+\s){0,5}?|(?:[a-z'-]+\s){1,2})(?:may|must|can|cannot|could|will|should|is|are|was|were|has|have|needs?|requires?|costs?|does|do)\b)"
)
"""``and`` before a clause with a subject of its own."""
_VERB_JOINT = re.compile(
    r"\s(?:and|but)\s(?:then\s)?(?=(?:may|must|can|cannot|could|will|should|is|are|was|were|do|does|has|have|needs?|requires?)\b)"
)
_JOINT = re.compile(r"而(?!且)|(?<=\s)(?:and|while|whereas|but)(?=\s)|、|和|及|与")


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
    """Cut at a joint when both sides bear figures of one kind: ``5 years and backpacks for 10 years``."""
    verb = _VERB_JOINT.search(folded, start, end) or _SUBJECT_JOINT.search(folded, start, end)
    if verb and verb.start() - start > 12:
        yield from _jointed(folded, start, verb.start())
        yield from _jointed(folded, verb.end(), end)
        return
    for joint in _JOINT.finditer(folded, start, end):
        left, right = find_figures(folded[start : joint.start()]), find_figures(folded[joint.end() : end])
        bare = (  # ``10 秒、30 秒``
            bool(left and right)
            and not folded[start + left[-1].end : joint.start()].strip()
            and not folded[joint.end() : joint.end() + right[0].start].strip()
        )
        if not bare and _kinds(left) & _kinds(right):
            yield from _trimmed(folded, start, joint.start())
            yield from _jointed(folded, joint.end(), end)
            return
    yield from _trimmed(folded, start, end)


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
