"""Ids of documents, sections and children: which are allowed, and how a path becomes one."""

from __future__ import annotations

import os
import unicodedata
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from gyr_hybrid.errors import DocumentError

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode

# They separate or enclose ids: kb-002@2#1.3, [kb-002#1], 【kb-002#1】, [a#1, b#2].
_RESERVED = frozenset("#@[]【】,，;%")
_BAD_CATEGORIES = frozenset(("Cc", "Cs", "Zl", "Zp"))  # control, lone surrogate, line and paragraph separator


def check_doc_id(doc_id: str) -> None:
    """Raise `DocumentError` unless ``doc_id`` can stand in front of ``#1`` in a citation.

    Percent signs are allowed only as `encode_path` writes them, so an id taken from a path passes.

    >>> check_doc_id("policies/returns.md")
    >>> check_doc_id("kb#1")
    Traceback (most recent call last):
    ...
    gyr_hybrid.errors.DocumentError: The document id 'kb#1' contains '#'; leave out # @ [ ] 【 】 , ， ; % and control characters.
    """
    if not doc_id.strip():
        raise DocumentError(f"The document id {doc_id!r} is empty; give the document an id.")
    if doc_id != doc_id.strip():
        raise DocumentError(f"The document id {doc_id!r} begins or ends with a blank; remove it.")
    if bad := _first_bad(doc_id if "%" not in doc_id else _without_escapes(doc_id)):
        raise DocumentError(
            f"The document id {doc_id!r} contains {bad!r}; leave out # @ [ ] 【 】 , ， ; % and control characters."
        )


def check_explicit_id(doc_id: object) -> str:
    """Return a front matter id in NFC, or raise `DocumentError`; here a percent sign is never allowed."""
    if not isinstance(doc_id, str):
        raise DocumentError(f"The document id {doc_id!r} is not text; write one id.")
    doc_id = unicodedata.normalize("NFC", doc_id)
    if "%" in doc_id:
        raise DocumentError(
            f"The document id {doc_id!r} contains '%'; leave out # @ [ ] 【 】 , ， ; % and control characters."
        )
    check_doc_id(doc_id)
    return doc_id


def encode_path(path: str) -> str:
    """Make a document id of a POSIX path: NFC, and what an id may not contain percent-encoded.

    >>> encode_path("faq/C#, 常见问题.md")
    'faq/C%23%2C 常见问题.md'
    """
    path = unicodedata.normalize("NFC", path)
    body = path.strip()
    lead = len(path) - len(path.lstrip())
    return "".join(
        char if lead <= at < lead + len(body) and not _is_bad(char) else _escape(char)
        for at, char in enumerate(path)
    )


def document_version(document: BaseNode) -> str | None:
    """The version in a document's metadata as text, or None when it has none.

    Raises `DocumentError` when it contains a character that ids may not contain.
    """
    value = document.metadata.get("version")
    if value is None or value == "":
        return None
    version = str(value)
    if version != version.strip() or (bad := _first_bad(version)):
        raise DocumentError(
            f"The version {version!r} of document {document.id_!r} contains {bad if version.strip() == version else ' '!r}; "
            "leave out # @ [ ] 【 】 , ， ; % and blanks at the ends."
        )
    return version


def document_name(document: BaseNode) -> str:
    """Id of a document, with its version where it has one: ``kb-002``, ``kb-002@2``."""
    version = document_version(document)
    return document.id_ if version is None else f"{document.id_}@{version}"


def _is_bad(char: str) -> bool:
    return char in _RESERVED or unicodedata.category(char) in _BAD_CATEGORIES


def _first_bad(text: str) -> str | None:
    return next((char for char in text if _is_bad(char)), None)


def _escape(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in os.fsencode(char))


def _without_escapes(doc_id: str) -> str:
    """``doc_id`` without its escapes if they are exactly those of `encode_path`, else unchanged."""
    path = os.fsdecode(unquote_to_bytes(doc_id.encode("utf-8", "surrogateescape")))
    return doc_id.replace("%", "") if encode_path(path) == doc_id else doc_id
