"""A section as the checks read it: whole units, their clauses, and what each stands under."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from llama_index.core.schema import BaseNode, MetadataMode

from gyr_hybrid.analysis import split_sentences
from gyr_hybrid.figures import Figure, even_fold, source_figures
from gyr_hybrid.text.blocks import Block, read_blocks, standing_under

_CLAUSE = re.compile(
    r"(?<!\d),|,(?!\d)|[;。!?\n]|\.(?=\s|$)|:(?!\d)|(?<=[\u3400-\u9fff])、(?=[\u3400-\u9fff]{2})"
)
_TOKEN = re.compile(r"[a-z0-9_]+|[\u3400-\u9fff]+")
FUNCTION = frozenset("的了是在和与及也而就把被将为于由其该此这那对从到请您你我们并等以之个有吗呢")
"""Han characters that say nothing by themselves; runs of others between them are what is compared."""
ENGLISH = frozenset(
    "the a an is are was were be been to of in on at for by with and your you it its that this as from will which"
    " has have".split()
)
_FUNCTION = re.compile(f"[{''.join(FUNCTION)}]")
_PLAIN = (".txt", ".text")


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """The smallest place of a section: a figure and what it is said of stand in one."""

    text: str
    """Folded to one form of width, case and script."""
    start: int
    """In the section's source text."""
    end: int
    unit: int
    figures: tuple[Figure, ...]
    words: tuple[str, ...]
    """Content words in order."""
    carried: tuple[str, ...]
    """Words of earlier clauses of the sentence that this one goes on with: those since the last like figure."""
    lent: frozenset[str]
    """Words of what it stands under, the section's heading path among them."""

    @property
    def said(self) -> tuple[str, ...]:
        """What it is about and what it says of it, in order."""
        return self.carried + self.words


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """What is quoted as one: a sentence, a list item, a table row, a block of code."""

    block: int
    start: int
    end: int
    text: str
    """What it means, without markup."""
    first: int
    """Number of its first clause."""
    after: int


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One section, read once."""

    node_id: str
    raw: str
    path: tuple[str, ...]
    """Title and headings, without the section's own heading line where that stands in the text."""
    blocks: tuple[Block, ...]
    units: tuple[Unit, ...]
    clauses: tuple[Clause, ...]
    lent_figures: tuple[Figure, ...]
    """Figures of title, headings and table headers."""

    def under(self, unit: Unit) -> tuple[Block, ...]:
        """The blocks that a unit stands under, outermost first."""
        return tuple(self.blocks[i] for i in standing_under(self.blocks, unit.block))


def content(text: str) -> tuple[str, ...]:
    """Pairs of neighbouring Han characters, and Latin words, of a folded text, in order; no function words, no digits.

    Pairs need no dictionary, so names that none has count like other words. Numerals in Han characters stay: they are
    part of names (``三类区``).
    """
    figures = source_figures(text)
    spans = sorted((f.start, f.end) for f in figures if not f.weak and f.text[:1].isascii())
    found: dict[str, None] = {}
    at = 0
    for start, end in [*spans, (len(text), len(text))]:
        for token in _TOKEN.findall(text[at:start]):
            if token[0] < "\u3400":
                if token not in ENGLISH:
                    found[token[:6] if token.isalpha() else token] = None
                continue
            for run in _FUNCTION.split(token):
                found |= (
                    dict.fromkeys(run[i : i + 2] for i in range(len(run) - 1))
                    if len(run) > 1
                    else {run: None}
                )
        found |= dict.fromkeys(
            str(f.value) for f in figures if f.kind == "code" and f.start == start and start < end
        )
        at = max(at, end)
    found.pop("", None)
    return tuple(found)


def clauses_of(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the clauses of a folded text."""
    at = 0
    for border in _CLAUSE.finditer(text):
        if text[at : border.start()].strip():
            yield at, border.start()
        at = border.end()
    if text[at:].strip():
        yield at, len(text)


def comparable(one: Figure, other: Figure) -> bool:
    """Whether two figures of a section measure the same kind of thing, in the same unit."""
    return one.kind == other.kind and one.base == other.base and _unit(one) == _unit(other)


def _unit(figure: Figure) -> str:
    return re.sub(r"[\d.,\s]", "", figure.text)[-2:]


def read_source(node: BaseNode) -> Source:
    """The section of a node; what was read is remembered."""
    metadata = node.metadata
    path = metadata.get("header_path") or []
    headings = (path,) if isinstance(path, str) else tuple(map(str, path))
    title = str(metadata.get("title") or "")
    unnamed = {"", metadata.get("doc_id")}  # a title that is only the document's id names no subject
    names = dict.fromkeys(
        name for name in (title, *headings, str(metadata.get("table_header") or "")) if name not in unnamed
    )
    plain = str(metadata.get("source") or metadata.get("file_name") or "").lower().endswith(_PLAIN)
    return _read(node.node_id, node.get_content(MetadataMode.NONE), tuple(names), plain)


@lru_cache(maxsize=256)
def _read(node_id: str, raw: str, path: tuple[str, ...], plain: bool) -> Source:
    blocks = read_blocks(raw, plain=plain)
    units: list[Unit] = []
    clauses: list[Clause] = []
    path_words = frozenset(content(even_fold("\n".join(path))))
    lent_text = [*path, *(b.text for b in blocks if b.kind in ("heading", "header", "head"))]
    for number, block in enumerate(blocks):
        if block.kind in ("heading", "header", "head", "question"):
            continue
        chain = standing_under(blocks, number)
        lent = path_words.union(content(even_fold("\n".join(blocks[i].text for i in chain))))
        for start, end in _whole(block):
            first = len(clauses)
            clauses += _clauses(block, start, end, len(units), lent)
            if len(clauses) > first:
                units.append(
                    Unit(
                        number,
                        block.places[start],
                        block.places[end - 1] + 1,
                        block.text[start:end],
                        first,
                        len(clauses),
                    )
                )
    return Source(
        node_id,
        raw,
        path,
        blocks,
        tuple(units),
        tuple(clauses),
        source_figures(even_fold("\n".join(lent_text))),
    )


def _whole(block: Block) -> Iterator[tuple[int, int]]:
    """Spans of a block's whole units: its sentences, or all of it."""
    if block.kind in ("row", "code", "head", "question"):
        spans = [(0, len(block.text))] if block.kind != "code" else _lines(block.text)
    else:
        spans = split_sentences(block.text)
    for start, end in spans:
        shown = block.text[start:end]
        if shown.strip():
            yield start + len(shown) - len(shown.lstrip()), end - len(shown) + len(shown.rstrip())


def _lines(text: str) -> list[tuple[int, int]]:
    spans, at = [], 0
    for line in text.splitlines(keepends=True):
        spans.append((at, at + len(line)))
        at += len(line)
    return spans


def _clauses(block: Block, start: int, end: int, unit: int, lent: frozenset[str]) -> Iterator[Clause]:
    text = even_fold(block.text[start:end])
    paired = _paired(text)
    spans: Sequence[tuple[int, int]] = (
        [(0, len(text))] if block.kind == "row" or paired else list(clauses_of(text))
    )
    before: list[tuple[tuple[str, ...], tuple[Figure, ...]]] = []
    for first, after in spans:
        own = text[first:after]
        figures = tuple(source_figures(own))
        words = content(own)
        carried: dict[str, None] = {}
        for theirs, others in before:
            like = any(comparable(f, o) for f in figures for o in others if f.per == o.per)
            carried = {} if like else carried | dict.fromkeys(theirs)
        place = block.places[start + first], block.places[start + after - 1] + 1
        if paired:
            for name, figure in paired:
                yield Clause(own, *place, unit, (figure,), (*name, *words[-2:]), (), lent)
        else:
            yield Clause(own, *place, unit, figures, words, tuple(carried), lent)
        before.append((words, figures))


def _paired(text: str) -> list[tuple[tuple[str, ...], Figure]]:
    """Names and figures that 分别 or ``respectively`` pairs, one by one; empty where their numbers differ."""
    if "分别" in text:
        left, _, right = text.partition("分别")
    elif found := re.search(r"\s(?:are|is|cost|costs|have|has|take|takes)\s(.*)respectively", text):
        left, right = text[: found.start()], found[1]
    else:
        return []
    names = [content(name) for name in re.split(r"[、,]|和|与|及|\band\b", left) if name.strip()]
    figures = [f for f in source_figures(right) if not f.weak and f.kind != "code"]
    return list(zip(names, figures, strict=True)) if len(names) == len(figures) > 1 else []


def read_claim(folded: str) -> list[Clause]:
    """The clauses of a sentence that is checked, read as those of a section are."""
    block = Block("prose", 0, len(folded), folded, tuple(range(len(folded))), None)
    return list(_clauses(block, 0, len(folded), 0, frozenset()))
