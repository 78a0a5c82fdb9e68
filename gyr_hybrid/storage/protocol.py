"""What a store takes, what it gives back, and what every engine must be able to do.

The words used throughout: a *child* is a node that is searched (it has no children of its own), a *section*
the node above it, a *generation* the number of a commit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from llama_index.core.schema import Document, TextNode
from numpy.typing import NDArray

from gyr_hybrid.storage.codes import CodeMention, KnownCode
from gyr_hybrid.storage.filters import Filter

DocumentKey = tuple[str, str | None]
"""Doc id and version; None for a document without version."""

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A whole document, ready to be stored."""

    document: Document
    """``id_`` is the doc id; ``metadata["version"]``, where there is one, the version."""
    nodes: tuple[TextNode, ...]
    """Sections and children in reading order; relationships tell which is which."""
    tokens: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Child id -> index tokens, repeats kept."""
    codes: Mapping[str, Sequence[CodeMention]] = field(default_factory=dict)
    """Child id -> codes that it bears."""
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    """Child id -> float32 vector of the child's EMBED text; empty without an embedding model."""
    fingerprint: str = ""
    """Hash of everything that decides whether the document is unchanged."""
    root: str | None = None
    """Absolute folder or file that it was loaded from."""
    source: str | None = None
    """POSIX path of its file below ``root``, ``.`` when that is the file; None: ``source`` of the metadata."""
    hashes: Mapping[str, str] = field(default_factory=dict)
    """Child id -> ``embed_hash`` of its EMBED text, where it is known already; the others are worked out."""

    @property
    def key(self) -> DocumentKey:
        return self.document.id_, version_of(self.document.metadata)


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction does: deletes first, then upserts."""

    upserts: tuple[DocumentRecord, ...] = ()
    """Each replaces the document of its own (doc id, version), and nothing else."""
    deletes: tuple[DocumentKey, ...] = ()
    """Unknown keys are ignored."""


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A stored document without its text."""

    doc_id: str
    version: str | None
    root: str | None
    source: str | None
    title: str | None
    fingerprint: str
    n_sections: int
    n_children: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A child that a search found."""

    node_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Scope:
    """What one question may see; hashable, so that its masks are kept between questions."""

    tenant: str | None = None
    """None is not checked."""
    principals: frozenset[str] | None = None
    """None is not checked; the empty set sees only documents without acl."""
    as_of: date | None = None
    """Day of validity; None is today."""
    filters: Filter | None = None


EVERYTHING = Scope()
"""What is valid today, whoever asks."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What ``check`` found."""

    problems: tuple[str, ...] = ()
    """Damage that is still there, with what to do about it."""
    repaired: tuple[str, ...] = ()
    """Damage that was there and is mended."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Rows looked at, by kind."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong now."""
        return not self.problems


class CodeLookup(Protocol):
    """The codes of the visible documents."""

    def exact(self, canonical: str) -> KnownCode | None: ...
    def compact(self, compact: str) -> list[KnownCode]: ...
    def number(self, number: str) -> list[KnownCode]: ...
    def members(self, prefix: str, limit: int = 50, *, anywhere: bool = False) -> list[KnownCode]: ...
    def near(self, canonical: str, *, distance: int = 2, limit: int = 5) -> list[KnownCode]: ...
    def knows_shape(self, canonical: str) -> bool: ...
    def holders(self, canonical: str) -> list[tuple[str, bool]]:
        """(Child id, defining) of the children that bear the code and pass the filters, in reading order."""
        ...

    def all(self) -> Iterator[KnownCode]: ...


class View(Protocol):
    """A picture of one commit as one scope sees it. It never changes, and threads may share it.

    Searches return children that match and may be seen, best first, equal scores in reading order.
    Look-ups leave out ids that are unknown or may not be seen; filters bind searches only.
    """

    @property
    def generation(self) -> int: ...
    @property
    def dimension(self) -> int | None:
        """Of the vectors; None while there are none."""
        ...

    @property
    def n_children(self) -> int:
        """Children in the store."""
        ...

    @property
    def n_visible(self) -> int:
        """Children that this scope sees, filters included."""
        ...

    @property
    def codes(self) -> CodeLookup: ...

    def dense(self, vector: Vector, k: int) -> list[Hit]:
        """Exact cosine of all visible children that have a vector."""
        ...

    def lexical(self, weights: Mapping[str, float], k: int) -> list[Hit]:
        """BM25 of token -> query weight; rows above 0 only."""
        ...

    def bm25(self, weights: Mapping[str, float], node_ids: Sequence[str]) -> dict[str, float]:
        """BM25 of the given children."""
        ...

    def cosine(self, vector: Vector, node_ids: Sequence[str]) -> dict[str, float]:
        """Cosine of the given children that have a vector."""
        ...

    def idf(self, token: str) -> float:
        """``ln(1 + (N - df + 0.5) / (df + 0.5))`` over the children in the store."""
        ...

    def frequencies(self, tokens: Sequence[str], node_ids: Sequence[str]) -> NDArray[np.int32]:
        """Shape (len(node_ids), len(tokens)): how often each child has each token."""
        ...

    def lengths(self, node_ids: Sequence[str]) -> NDArray[np.int32]:
        """Shape (len(node_ids),): tokens per child."""
        ...

    def nodes(self, node_ids: Sequence[str]) -> dict[str, TextNode]:
        """Sections or children, read in one batch; fresh copies every time."""
        ...

    def children(self, section_ids: Sequence[str]) -> dict[str, list[str]]: ...
    def parents(self, child_ids: Sequence[str]) -> dict[str, str]: ...
    def header_paths(self, node_ids: Sequence[str]) -> list[tuple[str, ...]]:
        """Aligned with ``node_ids``; the empty tuple where there is none."""
        ...

    def spans(self, node_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Start and end in the document's text, for nodes that have offsets."""
        ...

    def position(self, node_id: str) -> int:
        """Place in reading order: by doc id, version, then place in the document."""
        ...

    def document(self, doc_id: str, version: str | None = None) -> Document | None:
        """The version that this scope sees, or the named one whether valid or not."""
        ...


class KnowledgeStore(Protocol):
    """Documents, nodes, vectors, tokens and codes that change together.

    An engine may be used from several threads. Every ``view`` shows the newest commit, of other processes too.
    """

    @property
    def meta(self) -> MutableMapping[str, Any]:
        """Facts about the index that go with it, as JSON values; written at once."""
        ...

    def apply(self, batch: Batch) -> int:
        """Carry out a batch in one transaction and return the generation that shows it.

        Raises:
            DocumentError: a record makes no sense (its dates, its ids, the same key twice).
            EmbeddingError: a vector is zero, NaN, infinite or of another dimension.
            StorageError: it cannot be written; nothing was changed.
        """
        ...

    def view(self, scope: Scope = EVERYTHING) -> View: ...
    def fingerprints(self, keys: Sequence[DocumentKey]) -> dict[DocumentKey, str]: ...
    def documents(self) -> list[DocumentInfo]:
        """All versions of all documents, by doc id and version."""
        ...

    def read(self, key: DocumentKey) -> Document | None:
        """One version of one document, whether valid or not; None when there is none."""
        ...

    def cached_vectors(self, hashes: Sequence[str]) -> dict[str, Vector]:
        """Vectors by ``embed_hash`` of their text, of live documents and of earlier runs."""
        ...

    def cache_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors at once, so that an interrupted run pays nothing twice."""
        ...

    def stats(self) -> dict[str, Any]: ...
    def check(self, repair: bool = True) -> CheckReport: ...
    def backup(self, path: str | Path) -> None: ...
    def compact(self) -> None: ...
    def close(self) -> None: ...


def embed_hash(text: str) -> str:
    """Key of the vector of an EMBED text: 32 hexadecimal digits."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def version_of(metadata: Mapping[str, Any]) -> str | None:
    """The version that metadata names, as text; absent, None and empty text are no version."""
    version = metadata.get("version")
    return None if version is None or version == "" else str(version)
