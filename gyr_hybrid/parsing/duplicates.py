"""Documents that say the same, or nearly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from llama_index.core.schema import Document
from numpy.typing import NDArray

from gyr_hybrid.parsing.identity import document_name

RESEMBLANCE = 0.8
SHINGLE = 8  # characters: four Chinese words, so that a common phrase alone is few of them
SAMPLE = 8  # one shingle in eight is looked at first, the same ones in every document
MARGIN = 0.2  # what an estimate may be too low
COMMON = 50  # documents with one shingle past which it tells nothing: a licence, a footer


class Resemblance(NamedTuple):
    """Two documents that are nearly the same."""

    first: str
    second: str
    share: float
    """Shingles in both by shingles in either, 0..1."""


def identical_documents(documents: Iterable[Document]) -> list[tuple[str, ...]]:
    """Names of documents with the same text but for blanks, a group each, in the order given.

    A name is the id, with the version behind ``@`` where there is one. Versions of one document may be the same.
    """
    groups: dict[str, list[Document]] = {}
    for document in documents:
        if text := " ".join(document.text.split()):
            groups.setdefault(text, []).append(document)
    return [
        tuple(map(document_name, group))
        for group in groups.values()
        if len({document.id_ for document in group}) > 1
    ]


def near_identical_documents(
    documents: Sequence[Document], threshold: float = RESEMBLANCE
) -> list[Resemblance]:
    """Pairs of documents that share most of their runs of eight characters, the most alike first.

    The resemblance of Broder 1997, "On the resemblance and containment of documents": estimated from the shingles whose
    hash is divisible by eight, then counted for the pairs that come near. Pairs of versions of one document are left
    out, identical documents are in. A text of a few dozen characters may be missed.
    """
    found = []
    for one, other in _candidates([_shingles(document.text, SAMPLE) for document in documents], threshold):
        if documents[one].id_ == documents[other].id_:
            continue
        first, second = _shingles(documents[one].text), _shingles(documents[other].text)
        shared = np.intersect1d(first, second, assume_unique=True).size
        share = shared / (first.size + second.size - shared)
        if share >= threshold:
            found.append(Resemblance(document_name(documents[one]), document_name(documents[other]), share))
    return sorted(found, key=lambda pair: (-pair.share, pair.first, pair.second))


def _shingles(text: str, sample: int = 1) -> NDArray[np.uint64]:
    """Different hashes of the shingles; with ``sample`` those that it divides."""
    letters = "".join(text.split())
    points = np.frombuffer(letters.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    count = max(points.size - SHINGLE + 1, 0)
    hashes = np.zeros(count, dtype=np.uint64)
    for at in range(SHINGLE):
        hashes = (hashes ^ points[at : at + count]) * np.uint64(0x100000001B3)  # FNV-1a, wrapping
    hashes ^= hashes >> np.uint64(29)
    return np.unique(hashes[hashes % np.uint64(sample) == 0])


def _candidates(samples: Sequence[NDArray[np.uint64]], threshold: float) -> Iterator[tuple[int, int]]:
    """Pairs whose samples are nearly as alike as ``threshold``; common shingles do not count."""
    if not samples:
        return
    hashes = np.concatenate(samples)
    owners = np.repeat(np.arange(len(samples)), [sample.size for sample in samples])
    _, group, holders = np.unique(hashes, return_inverse=True, return_counts=True)
    telling = holders[group] <= COMMON
    sizes = np.bincount(owners[telling], minlength=len(samples))
    order = np.lexsort((owners, group))
    order = order[(telling & (holders[group] > 1))[order]]
    shared: Counter[tuple[int, int]] = Counter()
    for _, together in groupby(
        zip(group[order].tolist(), owners[order].tolist(), strict=True), itemgetter(0)
    ):
        shared.update(combinations([owner for _, owner in together], 2))
    for (one, other), count in shared.items():
        if count >= (threshold - MARGIN) * (sizes[one] + sizes[other] - count):
            yield one, other
