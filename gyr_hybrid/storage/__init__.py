"""The store: documents, nodes, vectors, words and codes that change together.

``protocol`` says what an engine must do; ``sqlite`` is the embedded one, whose only truth is one file.
"""

from __future__ import annotations

from pathlib import Path

from gyr_hybrid.storage.codes import CodeMention
from gyr_hybrid.storage.filters import Filter, all_filters, compile_filters, parse_day
from gyr_hybrid.storage.protocol import (
    Batch,
    CheckReport,
    CodeLookup,
    DocumentInfo,
    DocumentKey,
    DocumentRecord,
    Hit,
    KnowledgeStore,
    Scope,
    View,
    embed_hash,
    version_of,
)
from gyr_hybrid.storage.visibility import check_metadata


def open_store(
    location: str | Path | None, *, read_only: bool = False, write_timeout: float | None = None
) -> KnowledgeStore:
    """Open or create the store at a location: a folder, or None for memory.

    Args:
        write_timeout: seconds to wait while another process writes; None is the engine's choice.
    """
    from gyr_hybrid.storage.sqlite import WRITE_TIMEOUT, SQLiteStore

    timeout = WRITE_TIMEOUT if write_timeout is None else write_timeout
    return SQLiteStore.open(location, read_only=read_only, write_timeout=timeout)


def is_index(location: str | Path) -> bool:
    """Whether a store stands in this folder; creates nothing."""
    from gyr_hybrid.storage.schema import FILE_NAME

    return (Path(location) / FILE_NAME).is_file()


__all__ = [
    "Batch",
    "CheckReport",
    "CodeLookup",
    "CodeMention",
    "DocumentInfo",
    "DocumentKey",
    "DocumentRecord",
    "Filter",
    "Hit",
    "KnowledgeStore",
    "Scope",
    "View",
    "all_filters",
    "check_metadata",
    "compile_filters",
    "embed_hash",
    "is_index",
    "open_store",
    "parse_day",
    "version_of",
]
