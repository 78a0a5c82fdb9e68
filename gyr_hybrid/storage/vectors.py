"""Vectors as they lie on disk: 16-bit whole numbers and one scale per vector.

Half the size of float32, and at 512 dimensions seven times closer to it than float16: a cosine is off by
1e-6, root mean square, where float16 is off by 1e-5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.errors import EmbeddingError

_LIMIT = np.float32(32767)
_SCALE_BYTES = 4


def unit(vector: NDArray[np.float32], whose: str) -> NDArray[np.float32]:
    """The vector as float32 of length 1.

    Raises:
        EmbeddingError: it is zero, NaN, infinite or no vector at all.
    """
    values = np.asarray(vector, dtype=np.float32)
    if values.ndim != 1:
        raise EmbeddingError(f"the vector of {whose} has the shape {values.shape}; one dimension is needed")
    norm = float(np.linalg.norm(values))
    if not np.isfinite(norm) or norm == 0.0:
        raise EmbeddingError(f"the vector of {whose} is zero, NaN or infinite; check the embedding model")
    return values / np.float32(norm)


def encode(vector: NDArray[np.float32]) -> bytes:
    """Scale, then whole numbers.

    >>> decode([encode(np.array([0.6, -0.8], dtype=np.float32))]).round(4).tolist()
    [[0.6000000238418579, -0.800000011920929]]
    """
    scale = np.abs(vector).max() / _LIMIT
    return bytes(np.array(scale, dtype="<f4").tobytes() + np.rint(vector / scale).astype("<i2").tobytes())


def decode(blobs: Sequence[bytes]) -> NDArray[np.float32]:
    """Vectors of one dimension, shape (blobs, dimension)."""
    data = np.frombuffer(b"".join(blobs), dtype=np.uint8).reshape(len(blobs), -1)
    scales = np.ascontiguousarray(data[:, :_SCALE_BYTES]).view("<f4")
    vectors = np.ascontiguousarray(data[:, _SCALE_BYTES:]).view("<i2").astype(np.float32)
    vectors *= scales
    return vectors


def dimension_of(blob: bytes) -> int:
    """Numbers in an encoded vector; -1 for a blob that is none."""
    return (len(blob) - _SCALE_BYTES) // 2 if len(blob) > _SCALE_BYTES and len(blob) % 2 == 0 else -1
