"""What an embedding model gives back, checked before it is stored or searched with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.errors import EmbeddingError


def checked_vectors(
    vectors: Sequence[Sequence[float]],
    *,
    count: int,
    dimension: int | None = None,
    model: str = "the embedding model",
) -> NDArray[np.float32]:
    """The vectors as a float32 array of shape ``(count, d)``, as they are.

    Raises `EmbeddingError` when their number is not ``count``, their length not ``dimension`` (None: the first one's),
    or one is zero, NaN or infinite.

    >>> checked_vectors([[3.0, 4.0]], count=1).tolist()
    [[3.0, 4.0]]
    """
    if len(vectors) != count:
        raise EmbeddingError(
            f"{model} gave {len(vectors)} vectors for {count} texts; set EMBED_BATCH_SIZE=1 or use another model"
        )
    if count == 0:
        return np.zeros((0, dimension or 0), dtype=np.float32)
    wanted = dimension or len(vectors[0])
    lengths = sorted({len(vector) for vector in vectors} - {wanted})
    if lengths:
        raise EmbeddingError(
            f"{model} gave a vector of {lengths[0]} dimensions instead of {wanted}; "
            "set EMBED_DIMENSIONS to a length that the model has, or leave it out"
        )
    try:
        with np.errstate(over="ignore"):
            array = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError):
        raise EmbeddingError(
            f"{model} gave vectors that are not lists of numbers; use another model"
        ) from None
    for name, bad in (
        ("NaN or infinite", ~np.isfinite(array).all(axis=1)),
        ("zero", ~array.any(axis=1)),
    ):
        if bad.any():
            raise EmbeddingError(
                f"{model} gave a {name} vector for text {int(bad.argmax())} of {count}; "
                "look at that text, or use another model"
            )
    return array
