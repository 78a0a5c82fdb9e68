"""Data sets: documents, questions, and what answers each question."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gyr_hybrid.errors import ConfigurationError

if TYPE_CHECKING:
    from llama_index.core.schema import Document

_BAD_IN_ID = re.compile(r"[#@\[\]【】,，;%\x00-\x1f\x7f-\x9f\u2028\u2029]|^\s+|\s+$")
_KEPT = {"_id", "text", "doc", "line_start", "line_end", "sections", "answerable"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the places that answer it."""

    id: str
    text: str
    documents: Mapping[str, int] = field(default_factory=dict)
    """Doc id -> grade of relevance, 1 or more (``qrels.tsv``)."""
    lines: tuple[tuple[str, int, int], ...] = ()
    """(doc id, first line, last line) of the file, counted from 1; every section that they touch answers."""
    sections: tuple[str, ...] = ()
    """Section ids that answer."""
    answerable: bool = True
    """False: the right answer is a refusal."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Other fields of its row, as text: ``kind``, ``form``, ``split`` …"""

    @property
    def unit(self) -> str:
        """What a ranking of this question is made of: ``"section"`` or ``"document"``."""
        return "section" if self.sections or self.lines else "document"

    @property
    def judged(self) -> bool:
        """Whether anything is known to answer it."""
        return self.answerable and bool(self.sections or self.lines or self.documents)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Documents and questions about them."""

    name: str
    documents: list[Document]
    questions: tuple[Question, ...]
    fingerprint: str
    """Hash of the files that it was read from."""

    def select(self, *, where: Mapping[str, str] | None = None, limit: int | None = None) -> Dataset:
        """The same documents with fewer questions: those with these labels, the first ``limit`` of them.

        Raises:
            ConfigurationError: no question is left.
        """
        wanted = where or {}
        chosen = [q for q in self.questions if all(q.labels.get(k) == v for k, v in wanted.items())]
        if not chosen:
            known = sorted(
                {f"{k}={v}" for q in self.questions for k in wanted if (v := q.labels.get(k)) is not None}
            )
            raise ConfigurationError(
                f"no question of {self.name!r} has {wanted}; there are: {', '.join(known) or 'no such labels'}"
            )
        return Dataset(self.name, self.documents, _spread(chosen, limit), self.fingerprint)


def load_dataset(
    path: str | Path, *, documents: list[Document] | None = None, show_progress: bool = False
) -> Dataset:
    """Read a data set folder.

    It holds ``docs/`` (files, as ``load_documents`` reads them) or ``corpus.jsonl`` (``_id``, ``title``,
    ``text``, and as ``document`` what else a LlamaIndex document has); ``queries.jsonl`` (``_id``, ``text``, and where known ``sections`` (ids), or ``doc`` with
    ``line_start`` and ``line_end``, and ``answerable``); ``qrels.tsv`` (question, document, grade) where
    whole documents answer; ``absent.jsonl`` for more questions without an answer. Instead of documents of
    its own it may name those that come with the package in ``shipped.txt``, one a line.

    Args:
        documents: used instead of those of the folder, which then needs none: those of an index.

    Raises:
        ConfigurationError: the folder is no data set, or a row cannot be read.
    """
    folder = Path(path)
    if not (folder / "queries.jsonl").is_file():
        raise ConfigurationError(
            f"{str(path)!r} is no data set: it has no queries.jsonl; a data set is a folder with docs/ or "
            "corpus.jsonl, queries.jsonl and, where whole documents answer, qrels.tsv"
        )
    if documents is None:
        documents = _documents(folder, show_progress)
    grades = _read_qrels(folder / "qrels.tsv")
    questions = [_question(row, grades) for row in _rows(folder / "queries.jsonl")]
    if (folder / "absent.jsonl").is_file():
        questions += [_question({"answerable": False, **row}, {}) for row in _rows(folder / "absent.jsonl")]
    ids = [question.id for question in questions]
    if len(set(ids)) < len(ids):
        twice = next(i for i in ids if ids.count(i) > 1)
        raise ConfigurationError(f"{folder / 'queries.jsonl'}: the question id {twice!r} stands twice")
    return Dataset(folder.resolve().name, documents, tuple(questions), _fingerprint(folder, documents))


def corpus_id(text: str) -> str:
    """The doc id of a corpus row: characters that a doc id may not hold are percent-encoded.

    >>> corpus_id("MCU:PIC18F442-I/P,A#2")
    'MCU:PIC18F442-I/P%2CA%232'
    """
    return _BAD_IN_ID.sub(lambda found: quote(found.group(), safe=""), text)


def _documents(folder: Path, show_progress: bool) -> list[Document]:
    import gyr_hybrid
    from gyr_hybrid.shipped import shipped

    if (folder / "docs").is_dir():
        return gyr_hybrid.load_documents(str(folder / "docs"), show_progress=show_progress)
    if (folder / "shipped.txt").is_file():
        names = (folder / "shipped.txt").read_text(encoding="utf-8").split()
        return [d for name in names for d in gyr_hybrid.load_documents(str(shipped(name)))]
    if not (folder / "corpus.jsonl").is_file():
        raise ConfigurationError(f"{str(folder)!r} has neither docs/ nor corpus.jsonl")
    return [_document(row) for row in _rows(folder / "corpus.jsonl")]


def _document(row: Mapping[str, Any]) -> Document:
    from llama_index.core.schema import Document, MediaResource

    fields = dict(row.get("document") or {})
    metadata = fields.pop("metadata", {})
    if row.get("title"):
        metadata = {**metadata, "title": row["title"]}
    resource = MediaResource(text=row["text"], mimetype=fields.pop("mimetype", None))
    return Document(id_=corpus_id(str(row["_id"])), text_resource=resource, metadata=metadata, **fields)


def _question(row: Mapping[str, Any], grades: Mapping[str, Mapping[str, int]]) -> Question:
    name = str(row["_id"])
    lines: tuple[tuple[str, int, int], ...] = ()
    if row.get("line_start") is not None and row.get("doc"):
        lines = ((str(row["doc"]), int(row["line_start"]), int(row.get("line_end") or row["line_start"])),)
    labels = {k: str(v) for k, v in row.items() if k not in _KEPT and isinstance(v, str | int | float | bool)}
    return Question(
        id=name,
        text=str(row["text"]),
        documents=grades.get(name, {}),
        lines=lines,
        sections=tuple(row.get("sections") or ()),
        answerable=bool(row.get("answerable", True)),
        labels=labels,
    )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ConfigurationError(f"{path}, line {number}: not JSON: {error.msg}") from error
        if not isinstance(row, dict) or "_id" not in row or not isinstance(row.get("text"), str):
            raise ConfigurationError(f"{path}, line {number}: a row needs `_id` and `text`")
        yield row


def _read_qrels(path: Path) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    if not path.is_file():
        return grades
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1):
        cells = line.rstrip("\r").split("\t")
        if not line.strip() or (number == 1 and not cells[-1].isdecimal()):  # the header
            continue
        if len(cells) != 3 or not cells[2].lstrip("-").isdecimal():
            raise ConfigurationError(
                f"{path}, line {number}: write question, document and grade with tabs between"
            )
        if int(cells[2]) > 0:
            grades.setdefault(cells[0], {})[corpus_id(cells[1])] = int(cells[2])
    return grades


def _spread(questions: list[Question], limit: int | None) -> tuple[Question, ...]:
    """At most ``limit`` questions at even distances, so that every part of the set has its share."""
    if limit is None or limit >= len(questions):
        return tuple(questions)
    if limit < 1:
        raise ConfigurationError(f"limit={limit!r} must be at least 1")
    return tuple(questions[i * len(questions) // limit] for i in range(limit))


def _fingerprint(folder: Path, documents: list[Document]) -> str:
    sha = hashlib.sha256()
    for document in documents:
        sha.update(json.dumps([document.id_, document.metadata, document.text], default=str).encode())
    for name in ("queries.jsonl", "qrels.tsv", "absent.jsonl"):
        if (folder / name).is_file():
            sha.update((folder / name).read_bytes())
    return sha.hexdigest()[:16]
