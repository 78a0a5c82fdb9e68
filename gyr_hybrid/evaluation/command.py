"""What ``gyr-hybrid eval`` does, as plain functions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.evaluation.cache import cached_index, cached_whole_texts
from gyr_hybrid.evaluation.datasets import load_dataset
from gyr_hybrid.evaluation.from_index import dataset_from_index, documents_of, write_dataset
from gyr_hybrid.evaluation.report import Report, evaluate
from gyr_hybrid.evaluation.word_lists import write_word_lists


def evaluate_folder(
    path: str | Path,
    *,
    storage: str | Path | None = None,
    words: str | Path | None = None,
    cache: str | Path | None = None,
    where: Sequence[str] = (),
    by: str | None = None,
    limit: int | None = None,
    k: int = 5,
    seed: int = 0,
    offline: bool | None = None,
    timed: bool = True,
    show_progress: bool = False,
) -> Report:
    """Evaluate a data set folder with an index of its own, or with the one in ``storage``.

    Args:
        storage: an existing index; without it one is built from the folder and kept in ``cache``.
        words: a folder with the word lists of that index; the data set's own when None.
        where: ``label=value`` pairs that the questions must have.
    """
    import gyr_hybrid

    wanted = dict(_pair(text) for text in where)
    if storage is not None:
        if words is not None:
            raise ConfigurationError("give `words` or `storage`: an index has its own word lists")
        with gyr_hybrid.HybridIndex.open(storage, offline=offline, read_only=True) as index:
            data = load_dataset(path, documents=documents_of(index)).select(where=wanted, limit=limit)
            return evaluate(data, index, k=k, seed=seed, by=by, timed=timed, show_progress=show_progress)
    data = load_dataset(path, show_progress=show_progress)
    chosen = data.select(where=wanted, limit=limit)
    index, folder = cached_index(
        data,
        words=path if words is None else words,
        cache=cache,
        offline=offline,
        show_progress=show_progress,
    )
    with index:
        whole = cached_whole_texts(data, index, folder)
        return evaluate(
            chosen, index, k=k, seed=seed, by=by, whole=whole, timed=timed, show_progress=show_progress
        )


def evaluate_index(
    storage: str | Path,
    *,
    save: str | Path | None = None,
    limit: int | None = None,
    k: int = 5,
    seed: int = 0,
    offline: bool | None = None,
    timed: bool = True,
    show_progress: bool = False,
) -> Report:
    """Evaluate an index on questions made from its own headings and codes.

    Args:
        save: a folder to write the data set to: documents, questions and the word lists of the index.
        limit: at most so many questions; 200 when None.
    """
    import gyr_hybrid

    with gyr_hybrid.HybridIndex.open(storage, offline=offline, read_only=True) as index:
        data = dataset_from_index(index, limit=limit if limit is not None else 200, seed=seed)
        if save is not None:
            write_dataset(data, save)
            write_word_lists(index.analyzer, storage, Path(save))
        return evaluate(data, index, k=k, seed=seed, by="kind", timed=timed, show_progress=show_progress)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ConfigurationError(f"where {text!r}: write label=value, for instance kind=scene")
    return name, value
