"""The index of a data set is kept in a folder, so that a second run embeds nothing."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from gyr_hybrid.evaluation.ablation import whole_texts
from gyr_hybrid.evaluation.word_lists import put_word_lists, word_lists_in

if TYPE_CHECKING:
    import gyr_hybrid
    from gyr_hybrid.evaluation.datasets import Dataset


def default_cache() -> Path:
    """Where indexes of data sets are kept: the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("gyr_hybrid") / "evaluation"


def cached_index(
    dataset: Dataset,
    *,
    words: str | Path | None = None,
    cache: str | Path | None = None,
    offline: bool | None = None,
    show_progress: bool = False,
) -> tuple[gyr_hybrid.HybridIndex, Path]:
    """The index of a data set's documents, built on the first run; and the folder that it is in.

    A folder belongs to one set of documents, one embedding model and one choice of word lists. When the rules of analysis
    or the words have changed since, the kept documents are analysed again; what is embedded stays.

    Args:
        words: a folder with word lists, as an index has them.
    """
    import gyr_hybrid

    with gyr_hybrid.HybridIndex.open(None, offline=offline) as probe:
        model = probe.embed_model
        name = getattr(model, "model_name", type(model).__name__) if model is not None else "none"
    lists = word_lists_in(words) if words is not None else []
    key = "\0".join([dataset.fingerprint, name, *(path.name for path in lists)])
    folder = Path(cache) if cache is not None else default_cache()
    folder = folder / f"{dataset.name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
    put_word_lists(lists, folder / "storage")
    index = gyr_hybrid.HybridIndex.open(folder / "storage", offline=offline)
    try:
        if index.stale_analysis is not None:
            index.reanalyze(show_progress=show_progress)
        index.upsert(dataset.documents, show_progress=show_progress)
    except BaseException:
        index.close()
        raise
    return index, folder


def cached_whole_texts(
    dataset: Dataset, index: gyr_hybrid.HybridIndex, folder: Path
) -> gyr_hybrid.JiebaBM25Retriever:
    """The baseline ``whole_texts`` of a data set, kept in the folder of its index."""
    import gyr_hybrid

    place = folder / f"bm25-whole-{index.analyzer.fingerprint}"
    if place.is_dir():
        return gyr_hybrid.JiebaBM25Retriever.from_persist_dir(str(place))
    sections = any(question.unit == "section" for question in dataset.questions)
    retriever = whole_texts(index, dataset.documents, sections=sections)
    retriever.persist(str(place))
    return retriever
