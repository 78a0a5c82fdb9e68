"""Postings sorted by term, kept in a file beside the database so that opening need not sort them again.

The file may be missing, damaged, of an older commit or of another database: what it says of a document counts
only if the document has the same key and the same random stamp, and the rest is sorted afresh.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.storage.postings import Segment

FILE_NAME = "postings.cache"
_MAGIC = b"gyr_hybrid postings 1\n"
_DTYPES = {
    "doc_keys": "<i8",
    "stamps": "<i8",
    "children": "<i4",
    "keys": "<u8",
    "starts": "<i8",
    "slots": "<i4",
    "frequencies": "|u1",
}


@dataclass(frozen=True, slots=True)
class CachedPostings:
    """One segment, and which documents its slots belong to."""

    doc_keys: NDArray[np.int64]
    """Ascending; the slots follow each other in this order."""
    stamps: NDArray[np.int64]
    children: NDArray[np.int32]
    """Slots per document."""
    segment: Segment

    def fitted(
        self, doc_keys: NDArray[np.int64], stamps: NDArray[np.int64], children: NDArray[np.int64]
    ) -> tuple[Segment, int] | None:
        """The postings of the first documents of those given, and how many documents that is.

        None when it says nothing of the first one, or of documents further back.
        """
        places = np.searchsorted(self.doc_keys, doc_keys)
        places[places == len(self.doc_keys)] = 0
        known = (self.doc_keys[places] == doc_keys) & (self.stamps[places] == stamps)
        known &= self.children[places] == children
        count = int(np.count_nonzero(known))
        if not count or not known[:count].all():
            return None
        old_starts = np.cumsum(self.children, dtype=np.int64) - self.children
        lengths = children[:count]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        moved = np.full(int(self.children.sum()), -1, dtype=np.int32)
        moved[np.repeat(old_starts[places[:count]], lengths) + within] = np.arange(len(within))
        return self.segment.moved(moved), count


def load(path: Path) -> CachedPostings | None:
    """What the file holds; None when it is missing, damaged or of another kind."""
    try:
        with path.open("rb") as file:
            if file.readline() != _MAGIC:
                return None
            facts: dict[str, int] = json.loads(file.readline())
            arrays = {name: np.fromfile(file, dtype, facts[name]) for name, dtype in _DTYPES.items()}
            if _checksum(list(arrays.values())) != facts["crc"]:
                return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    segment = Segment(*(arrays[name] for name in ("keys", "starts", "slots", "frequencies")))
    return CachedPostings(arrays["doc_keys"], arrays["stamps"], arrays["children"], segment)


def save(path: Path, cached: CachedPostings) -> None:
    """Write the file, whole or not at all; a folder that cannot be written is left alone."""
    segment = cached.segment
    arrays: dict[str, NDArray[Any]] = {
        "doc_keys": cached.doc_keys,
        "stamps": cached.stamps,
        "children": cached.children,
        "keys": segment.keys,
        "starts": segment.starts,
        "slots": segment.slots,
        "frequencies": segment.frequencies,
    }
    parts = [np.ascontiguousarray(arrays[name], dtype=dtype) for name, dtype in _DTYPES.items()]
    facts = {"crc": _checksum(parts)} | {name: len(array) for name, array in arrays.items()}
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        try:
            with temporary.open("wb") as file:
                file.write(_MAGIC + json.dumps(facts).encode() + b"\n")
                for part in parts:
                    file.write(part.data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _checksum(arrays: list[NDArray[Any]]) -> int:
    crc = 0
    for array in arrays:
        crc = zlib.crc32(array.view(np.uint8).data, zlib.crc32(b"%d" % len(array), crc))
    return crc
