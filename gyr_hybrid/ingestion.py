"""Documents into the store: parse, analyse, embed what is new, commit whole documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import Document
from numpy.typing import NDArray

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.embedding import Embedder
from gyr_hybrid.errors import ConfigurationError, DocumentError
from gyr_hybrid.parsing import LoadedDocuments, check_doc_id, document_version, identical_documents
from gyr_hybrid.parsing.node_parser import collector_paused
from gyr_hybrid.preparation import Prepared, Preparer
from gyr_hybrid.progress import progress
from gyr_hybrid.storage import Batch, DocumentKey, DocumentRecord, KnowledgeStore

COMMIT_CHILDREN = 512
"""Children per transaction, in whole documents: an interrupted run loses at most the one under way."""
RENEWED_DOCUMENTS = 256
"""Documents read back at a time when all are analysed anew."""


@dataclass(slots=True)
class UpsertReport:
    """What one ``upsert`` did. Lists hold doc ids, each once."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """Doc id or path -> why it was not stored."""
    nodes_embedded: int = 0
    """Texts that the embedding model was asked for."""
    identical: list[tuple[str, ...]] = field(default_factory=list)
    """Groups of the given documents with the same text, by name (``kb-002@2`` with a version); all are stored."""
    replaced: dict[str, str] = field(default_factory=dict)
    """Doc id -> the other file that it came from before and that is still there: two files share an id."""

    def extend(self, other: UpsertReport) -> None:
        """Add what a further upsert did."""
        for name in ("added", "updated", "unchanged", "deleted"):
            ids = getattr(self, name)
            ids[:] = dict.fromkeys([*ids, *getattr(other, name)])
        self.failed.update(other.failed)
        self.nodes_embedded += other.nodes_embedded


class _Changed(NamedTuple):
    """A document that is new or not as it was."""

    key: DocumentKey
    fingerprint: str
    prepared: Prepared


class Ingestion:
    """The writing side of an index."""

    def __init__(
        self,
        store: KnowledgeStore,
        analyzer: Analyzer,
        embed_model: BaseEmbedding | None,
        node_parser: NodeParser,
    ) -> None:
        self._store = store
        self._analyzer = analyzer
        self._embedder = Embedder(store, embed_model)
        self._parser = node_parser

    def upsert(self, documents: Iterable[Document], *, prune: bool, show_progress: bool) -> UpsertReport:
        if isinstance(documents, Document | str):
            raise ConfigurationError(
                f"documents is one {type(documents).__name__}; pass a list of LlamaIndex Documents"
            )
        report = UpsertReport()
        loaded = documents if isinstance(documents, LoadedDocuments) else None
        if prune and loaded is None:
            raise ConfigurationError(
                "prune=True needs the result of load_documents, which knows the source folder"
            )
        documents = list(documents)
        if loaded is not None:
            report.failed.update(loaded.failed)
        accepted = self._accept(documents, loaded, report)
        report.identical = identical_documents(accepted.values())
        known = self._store.fingerprints(list(accepted))
        others = self._other_files(accepted, loaded) if loaded is not None and loaded.roots else {}
        preparer = Preparer(self._analyzer, self._parser, self._embedder.model_name)
        waiting = iter(progress(list(accepted.items()), "indexing", show_progress))
        while pending := _next_batch(waiting, preparer, known, report):
            self._commit(pending, known, loaded, report)
        if prune and loaded is not None:
            self._prune(loaded, set(accepted), report)
        for ids in (report.added, report.updated, report.unchanged, report.deleted):
            ids[:] = dict.fromkeys(ids)
        report.replaced = {doc_id: others[doc_id] for doc_id in report.updated if doc_id in others}
        return report

    def renew(self, *, show_progress: bool) -> UpsertReport:
        """Store every document anew from the store's own copy; what was done before is unchanged."""
        report = UpsertReport()
        infos = self._store.documents()
        parts = [
            infos[start : start + RENEWED_DOCUMENTS] for start in range(0, len(infos), RENEWED_DOCUMENTS)
        ]
        for part in progress(parts, "analysing", show_progress):
            loaded = LoadedDocuments()
            for info in part:
                document = self._store.read((info.doc_id, info.version))
                if document is not None and info.root is not None and info.source is not None:
                    loaded.add(document, info.root, info.source)
                elif document is not None:
                    loaded.append(document)
            report.extend(self.upsert(loaded, prune=False, show_progress=False))
        return report

    def delete(self, doc_ids: Iterable[str]) -> int:
        wanted = [doc_id.partition("@") for doc_id in doc_ids]
        keys = [
            (info.doc_id, info.version)
            for info in self._store.documents()
            if any(
                info.doc_id == base and (not at or info.version == version) for base, at, version in wanted
            )
        ]
        if keys:
            self._store.apply(Batch(deletes=tuple(keys)))
        return len(keys)

    # steps

    def _other_files(
        self, accepted: Mapping[DocumentKey, Document], loaded: LoadedDocuments
    ) -> dict[str, str]:
        """Doc id -> the file that it came from before, where that is another one and still there."""
        others = {}
        for info in self._store.documents():
            document = accepted.get((info.doc_id, info.version))
            if document is None or info.root is None:
                continue
            before = Path(info.root, info.source or ".")
            if str(before) != _file_of(document, loaded) and before.is_file():
                others[info.doc_id] = str(before)
        return others

    def _accept(
        self, documents: Sequence[Document], loaded: LoadedDocuments | None, report: UpsertReport
    ) -> dict[DocumentKey, Document]:
        """Documents with a good id, some text and an (id, version) of their own."""
        accepted: dict[DocumentKey, Document] = {}
        twice: dict[DocumentKey, list[Document]] = {}
        for document in documents:
            try:
                if not isinstance(document, Document):
                    raise DocumentError(f"a {type(document).__name__} was given; pass LlamaIndex Documents")
                check_doc_id(document.id_)
                key = (document.id_, document_version(document))
                _check_text(document)
            except DocumentError as error:
                report.failed[str(getattr(document, "id_", document))] = str(error)
                continue
            if key in accepted:
                twice.setdefault(key, [accepted[key]]).append(document)
            accepted[key] = document
        for key, same in twice.items():
            del accepted[key]
            files = [file for file in (_file_of(d, loaded) for d in same) if file is not None]
            where = f": {', '.join(dict.fromkeys(files))}" if files else ""
            version = f" in version {key[1]!r}" if key[1] is not None else ""
            report.failed[key[0]] = str(
                DocumentError(
                    f"the document id {key[0]!r} stands twice{version}{where}; give each its own id or version"
                )
            )
        return accepted

    def _commit(
        self,
        pending: Sequence[_Changed],
        known: dict[DocumentKey, str],
        loaded: LoadedDocuments | None,
        report: UpsertReport,
    ) -> None:
        texts = {h: t for p in pending for h, t in p.prepared.texts.items()}
        vectors, embedded = self._embedder.vectors(texts)
        report.nodes_embedded += embedded
        try:
            self._store.apply(Batch(upserts=tuple(_record(p, vectors, loaded) for p in pending)))
        except DocumentError as error:  # a date or a value that cannot be stored: the others can
            if len(pending) == 1:
                report.failed[pending[0].key[0]] = str(error)
            else:
                for p in pending:
                    self._commit([p], known, loaded, report)
            return
        for p in pending:
            (report.updated if p.key in known else report.added).append(p.key[0])

    def _prune(self, loaded: LoadedDocuments, kept: set[DocumentKey], report: UpsertReport) -> None:
        """Remove what the same folders no longer hold, but never a document whose file failed now."""
        roots = set(loaded.roots)
        failed = {PurePosixPath(Path(os.path.abspath(path)).as_posix()) for path in loaded.failed}
        gone = [
            (info.doc_id, info.version)
            for info in self._store.documents()
            if info.root is not None
            and info.root in roots
            and (info.doc_id, info.version) not in kept
            and info.doc_id not in report.failed
            and PurePosixPath(info.root, info.source or ".") not in failed
        ]
        if gone:
            self._store.apply(Batch(deletes=tuple(gone)))
            report.deleted.extend(doc_id for doc_id, _ in gone)


def _next_batch(
    waiting: Iterator[tuple[DocumentKey, Document]],
    preparer: Preparer,
    known: Mapping[DocumentKey, str],
    report: UpsertReport,
) -> list[_Changed]:
    """The next documents that are new or changed, prepared, as many as make a commit; none when all are done."""
    pending: list[_Changed] = []
    size = 0
    with collector_paused():
        for key, document in waiting:
            fingerprint = preparer.fingerprint(document)
            if known.get(key) == fingerprint:
                report.unchanged.append(document.id_)
                continue
            try:
                prepared = preparer.prepare(document)
            except DocumentError as error:
                report.failed[document.id_] = str(error)
                continue
            pending.append(_Changed(key, fingerprint, prepared))
            size += len(prepared.hashes)
            if size >= COMMIT_CHILDREN:
                break
    return pending


def _record(
    changed: _Changed, vectors: Mapping[str, NDArray[np.float32]], loaded: LoadedDocuments | None
) -> DocumentRecord:
    prepared = changed.prepared
    return DocumentRecord(
        document=prepared.document,
        nodes=prepared.nodes,
        tokens=prepared.tokens,
        codes=prepared.codes,
        vectors={child: vectors[h] for child, h in prepared.hashes.items() if h in vectors},
        fingerprint=changed.fingerprint,
        root=loaded.root_of(prepared.document) if loaded is not None else None,
        source=loaded.path_of(prepared.document) if loaded is not None else None,
        hashes=prepared.hashes,
    )


def _file_of(document: Document, loaded: LoadedDocuments | None) -> str | None:
    """Path of the file that a document was read from; None for one that was not read from a file."""
    root = loaded.root_of(document) if loaded is not None else None
    if loaded is None or root is None:
        return None
    return str(Path(root, loaded.path_of(document) or "."))


def _check_text(document: Document) -> None:
    text = document.text
    if not text.strip():
        raise DocumentError(f"document {document.id_!r} has no text; nothing was stored for it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DocumentError(
            f"document {document.id_!r} has a lone surrogate {text[error.start]!r} at {error.start}; "
            "decode the file again, or leave the character out"
        ) from None
