"""A first labelled set out of a user's own index: headings and codes as questions."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.evaluation.datasets import Dataset, Question
from gyr_hybrid.evaluation.judging import section_nodes

if TYPE_CHECKING:
    from llama_index.core.schema import Document

    import gyr_hybrid

MOST_SECTIONS = 5
"""A code that stands in more sections than this is no question: too many answer it."""


def dataset_from_index(index: gyr_hybrid.HybridIndex, *, limit: int = 200, seed: int = 0) -> Dataset:
    """Questions that label themselves, from the documents seen today.

    A heading is a question that its section answers; where several documents have the heading, the
    document's title goes before it. A code is a question that the sections bearing it answer. These are
    easy questions: read them as a floor, then keep them (``write_dataset``) and write your own into the file.

    Args:
        limit: at most so many questions, half of them codes where there are enough.
        seed: the same seed and index give the same questions.

    Raises:
        ConfigurationError: the index has neither headings nor codes.
    """
    documents = documents_of(index)
    headings = _headings(n for d in documents for n in _paths(d))
    codes = [
        Question(f"code-{i}", code.text, sections=code.sections, labels={"kind": "code"})
        for i, code in enumerate(index.codes(), 1)
        if 0 < len(code.sections) <= MOST_SECTIONS
    ]
    asked = [
        Question(f"heading-{i}", text, sections=tuple(sections), labels={"kind": "heading"})
        for i, (text, sections) in enumerate(headings.items(), 1)
        if len(sections) <= MOST_SECTIONS
    ]
    if not asked and not codes:
        raise ConfigurationError("the index has no headings and no codes to ask about; index documents first")
    chosen = _sample(asked, codes, limit, random.Random(seed))
    return Dataset("from-index", documents, tuple(chosen), index.analyzer.fingerprint[:16])


def documents_of(index: gyr_hybrid.HybridIndex) -> list[Document]:
    """The documents of an index as seen today, by id."""
    view = index._store.view()
    names = sorted({info.doc_id for info in index._store.documents()})
    return [document for name in names if (document := view.document(name)) is not None]


def write_dataset(dataset: Dataset, folder: str | Path) -> Path:
    """Write a data set into a folder as ``load_dataset`` reads it: ``corpus.jsonl`` and ``queries.jsonl``.

    Ids of documents and sections are the same when it is read back. Returns the folder.

    Raises:
        ConfigurationError: the folder has documents of its own, which would be read instead.
    """
    target = Path(folder)
    if (target / "docs").exists() or (target / "shipped.txt").exists():
        raise ConfigurationError(
            f"{str(folder)!r} is a data set with documents of its own; name a new folder"
        )
    target.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(_row(document), ensure_ascii=False, default=str) for document in dataset.documents]
    (target / "corpus.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    write_questions(dataset, target)
    return target


def _row(document: Document) -> dict[str, Any]:
    fields = {
        "metadata": document.metadata,
        "mimetype": document.text_resource.mimetype if document.text_resource is not None else None,
        "excluded_embed_metadata_keys": document.excluded_embed_metadata_keys,
        "excluded_llm_metadata_keys": document.excluded_llm_metadata_keys,
    }
    return {
        "_id": unquote(document.id_),
        "title": document.metadata.get("title"),
        "text": document.text,
        "document": {name: value for name, value in fields.items() if value},
    }


def write_questions(dataset: Dataset, folder: str | Path) -> Path:
    """Write ``queries.jsonl`` of a data set into a folder, to be edited and added to; returns the file."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    lines = [
        json.dumps(
            {"_id": q.id, "text": q.text, "sections": list(q.sections), **q.labels}, ensure_ascii=False
        )
        for q in dataset.questions
    ]
    file = target / "queries.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def _paths(document: Document) -> list[tuple[tuple[str, ...], str]]:
    found = []
    for node in section_nodes(document):
        path = node.metadata.get("header_path") or ()
        found.append(((path,) if isinstance(path, str) else tuple(path), node.node_id))
    return found


def _headings(paths: Iterable[tuple[tuple[str, ...], str]]) -> dict[str, list[str]]:
    """Question -> sections, in reading order; pieces of one long section stand together."""
    sections: dict[tuple[str, ...], list[str]] = {}
    for path, node_id in paths:
        if len(path) > 1:
            sections.setdefault(path, []).append(node_id)
    shared: dict[str, int] = {}
    for path in sections:
        shared[path[-1]] = shared.get(path[-1], 0) + 1
    questions: dict[str, list[str]] = {}
    for path, ids in sections.items():
        text = path[-1] if shared[path[-1]] == 1 else f"{path[0]} {path[-1]}"
        questions.setdefault(text, []).extend(ids)
    return questions


def _sample(
    headings: list[Question], codes: list[Question], limit: int, rng: random.Random
) -> list[Question]:
    if limit < 1:
        raise ConfigurationError(f"limit={limit!r} must be at least 1")
    n_codes = min(len(codes), max(limit // 2, limit - len(headings)))
    n_headings = min(len(headings), limit - n_codes)
    picked = {q.id for q in (*rng.sample(headings, n_headings), *rng.sample(codes, n_codes))}
    return [q for q in (*headings, *codes) if q.id in picked]
