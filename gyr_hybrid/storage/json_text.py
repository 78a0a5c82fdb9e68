"""Values as JSON and text as SQLite can hold them."""

from __future__ import annotations

import json
from datetime import date
from enum import Enum
from pathlib import PurePath
from typing import Any

import numpy as np

from gyr_hybrid.errors import DocumentError


def to_json(value: Any, doc_id: str) -> str:
    """JSON that SQLite can hold; ``doc_id`` is for the message.

    Raises:
        DocumentError: a value has no JSON form.
    """
    try:
        written = _ENCODER.encode(value)
    except (TypeError, ValueError) as error:
        raise DocumentError(
            f"document {doc_id!r} cannot be stored: {error}; metadata takes text, numbers, lists and mappings"
        ) from error
    # halves of surrogate pairs have no UTF-8 form, but an escape
    return written if _is_writable(written) else json.dumps(value, separators=(",", ":"), default=_plain)


def pack_text(text: str) -> str | bytes:
    """Text as SQLite takes it: bytes only for what has no UTF-8 form."""
    return text if _is_writable(text) else text.encode("utf-8", "surrogatepass")


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(value: Any) -> Any:
    """What JSON has no form for: dates as ISO text, sets as lists, numpy numbers as numbers."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} is a {type(value).__name__}")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)
