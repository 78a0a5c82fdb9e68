"""From rankings of nodes to rankings of what was judged: whole documents, or sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gyr_hybrid.errors import ConfigurationError

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode, Document

    from gyr_hybrid.evaluation.datasets import Question


@dataclass(frozen=True, slots=True)
class SectionSpan:
    """A section and where it stands in its document's text."""

    node_id: str
    start: int
    end: int


def section_of(node_id: str) -> str:
    """The section of a child's id; a section's id is its own.

    >>> section_of("error-codes.md#12.3"), section_of("kb-002@1.2#4")
    ('error-codes.md#12', 'kb-002@1.2#4')
    """
    document, mark, number = node_id.rpartition("#")
    return f"{document}{mark}{number.partition('.')[0]}" if mark else node_id


def document_of(node_id: str) -> str:
    """The doc id of a node's id, without version.

    >>> document_of("kb-002@1.2#4.1")
    'kb-002'
    """
    return node_id.rpartition("#")[0].partition("@")[0] if "#" in node_id else node_id


def collapse(node_ids: Iterable[str], unit: str) -> list[str]:
    """The units of a ranking in the order of their first nodes.

    >>> collapse(["a#2.1", "a#1.4", "a#2.3", "b#1.1"], "section")
    ['a#2', 'a#1', 'b#1']
    """
    lift = section_of if unit == "section" else document_of
    return list(dict.fromkeys(lift(node_id) for node_id in node_ids))


def with_repeats(node_ids: Iterable[str], unit: str) -> list[str]:
    """As ``collapse``, but a unit that comes again keeps its place in the ranking, where it is worth nothing.

    >>> with_repeats(["a#2.1", "a#2.3", "b#1.1"], "section")
    ['a#2', 'a#2 (again 1)', 'b#1']
    """
    lift = section_of if unit == "section" else document_of
    seen: dict[str, int] = {}
    ranking = []
    for node_id in node_ids:
        name = lift(node_id)
        ranking.append(f"{name} (again {seen[name]})" if name in seen else name)
        seen[name] = seen.get(name, 0) + 1
    return ranking


def line_span(document: Document, first: int, last: int) -> tuple[int, int]:
    """Start and end in ``document.text`` of lines of its file, counted from 1, without blanks around them.

    ``metadata["body_line"]`` is the line where the text begins; 1 without it.
    """
    offset = int(document.metadata.get("body_line", 1))
    lines = document.text.split("\n")
    first, last = max(first - offset, 0), min(last - offset, len(lines) - 1)
    start = sum(len(line) + 1 for line in lines[:first])
    text = "\n".join(lines[first : last + 1]) if last >= first else ""
    blank = len(text) - len(text.lstrip())
    return start + blank, start + max(len(text.rstrip()), blank)


def touched(sections: Iterable[SectionSpan], start: int, end: int) -> list[str]:
    """Ids of the sections that share a character with the span."""
    return [section.node_id for section in sections if section.start < end and start < section.end]


def judge(questions: Sequence[Question], documents: Sequence[Document]) -> dict[str, dict[str, int]]:
    """Question id -> unit id -> grade, for the questions that are judged.

    Raises:
        ConfigurationError: judged lines are in no document, or in no section of it.
    """
    by_id = {document.id_: document for document in documents}
    sections: dict[str, list[SectionSpan]] = {}
    judged: dict[str, dict[str, int]] = {}
    for question in questions:
        if not question.judged:
            continue
        if question.unit == "document":
            judged[question.id] = dict(question.documents)
            continue
        grades = dict.fromkeys(question.sections, 1)
        for doc_id, first, last in question.lines:
            if doc_id not in by_id:
                raise ConfigurationError(
                    f"question {question.id!r}: document {doc_id!r} is not in the data set"
                )
            document = by_id[doc_id]
            if doc_id not in sections:
                sections[doc_id] = sections_of(document)
            found = touched(sections[doc_id], *line_span(document, first, last))
            if not found:
                raise ConfigurationError(
                    f"question {question.id!r}: lines {first}-{last} of {doc_id!r} are in no section; lines count from 1"
                )
            grades.update(dict.fromkeys(found, 1))
        judged[question.id] = grades
    return judged


def sections_of(document: Document) -> list[SectionSpan]:
    """The sections of a document, in reading order."""
    return [SectionSpan(n.node_id, _at(n)[0], _at(n)[1]) for n in section_nodes(document)]


def section_nodes(document: Document) -> list[BaseNode]:
    """The section nodes of a document, as an index cuts it."""
    from llama_index.core.node_parser import get_root_nodes

    import gyr_hybrid

    return get_root_nodes(gyr_hybrid.SectionNodeParser().get_nodes_from_documents([document]))


def _at(node: BaseNode) -> tuple[int, int]:
    start, end = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)
    return int(start or 0), int(end or 0)


def first_rank(ranking: Sequence[str], grades: Mapping[str, int]) -> int | None:
    """Rank, counted from 1, of the first unit that answers."""
    return next((rank for rank, unit in enumerate(ranking, 1) if unit in grades), None)
