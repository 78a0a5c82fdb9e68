"""Everything that gyr_hybrid raises on purpose.

GyrError
├── ConfigurationError   a setting or argument is missing or makes no sense      (also ValueError)
├── EndpointError        an LLM, embedding, rerank or judge service failed       (also ConnectionError)
├── IndexMismatchError   the index was built with another model or analyzer      (also ValueError)
├── DocumentError        a document cannot be read, parsed or given an id        (also ValueError)
├── StorageError         the store cannot be opened, read or written             (also OSError)
├── FilterError          a metadata filter or date cannot be understood          (also ValueError)
└── EmbeddingError       an embedding has a wrong count, dimension or value      (also ValueError)

Every message says what went wrong, with which value, and what to do about it.
"""

from __future__ import annotations


class GyrError(Exception):
    """Base class of all errors of this package."""


class ConfigurationError(GyrError, ValueError):
    """A setting or an argument is missing or makes no sense."""


class EndpointError(GyrError, ConnectionError):
    """A model service failed after its retries."""

    def __init__(self, message: str, *, layer: str = "", status: int | None = None, remedy: str = "") -> None:
        super().__init__(message)
        self.layer = layer
        """Which service: ``"llm"``, ``"embedding"``, ``"rerank"`` or ``"judge"``."""
        self.status = status
        """HTTP status, or None when no answer arrived."""
        self.remedy = remedy
        """What the user can do, one sentence."""


class IndexMismatchError(GyrError, ValueError):
    """The index on disk was built with another embedding model, dimension or analyzer."""


class DocumentError(GyrError, ValueError):
    """A document cannot be read or parsed, or its id is not allowed."""


class StorageError(GyrError, OSError):
    """The store cannot be opened, read or written."""


class FilterError(GyrError, ValueError):
    """A metadata filter or an ``as_of`` date cannot be understood."""


class EmbeddingError(GyrError, ValueError):
    """An embedding has the wrong count or dimension, or is zero, NaN or infinite."""
