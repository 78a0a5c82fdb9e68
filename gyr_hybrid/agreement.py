"""Whether what an index was built with and what it is opened with agree."""

from __future__ import annotations

from pathlib import Path

from llama_index.core.base.embeddings.base import BaseEmbedding

from gyr_hybrid.analysis import LEXICON_FILES, RULES, Analyzer
from gyr_hybrid.errors import IndexMismatchError
from gyr_hybrid.models.identity import embedding_identity
from gyr_hybrid.notices import Notice
from gyr_hybrid.storage import KnowledgeStore

UNFINISHED = Notice("an analysis of the stored documents was interrupted", zh="库中文档的重新分析曾被中断")
NOT_EMBEDDED = Notice(
    "the index holds no vectors: searching by words and codes only; upsert the documents again to embed them",
    zh="索引里没有向量，只按词语和编号检索；重新写入文档即可补上",
)
OTHER_ANALYZER = Notice(
    "another process analysed the documents again with other rules or word lists: this index still reads questions with "
    "those it was opened with; close it and open it again",
    zh="另一进程用别的规则或词表重新分析了文档，本索引仍按打开时的规则和词表理解问题；请关闭后重新打开",
)


def agreed_analyzer(
    store: KnowledgeStore, analyzer: Analyzer | None, location: str | Path | None, read_only: bool
) -> Analyzer:
    """The analyzer given, else the saved one, else one made from the files in the index's folder."""
    saved = store.meta.get("analyzer")
    if saved is not None:
        before = Analyzer.from_dict(saved)
        if analyzer is None:
            return before
        if analyzer.fingerprint != before.fingerprint:
            raise IndexMismatchError(
                f"the index was built with the analyzer {before.fingerprint}, opened with {analyzer.fingerprint}; "
                f"open it without `analyzer`, and call reanalyze(analyzer) to change it"
            )
        return analyzer
    if analyzer is None:
        analyzer = Analyzer() if location is None else Analyzer.from_folder(location)
    if not read_only:
        store.meta["analyzer"] = analyzer.to_dict()
    return analyzer


def stale_analysis(store: KnowledgeStore, location: str | Path | None) -> Notice | None:
    """Why the stored tokens and codes are not what today's rules and word lists make; None when they are."""
    saved = store.meta.get("analyzer")
    if saved is None:
        return None
    if store.meta.get("analysis") == "unfinished":
        return UNFINISHED
    if saved.get("rules") != RULES:
        return Notice(
            f"the documents were analysed by rules {saved.get('rules')}, this version has rules {RULES}",
            zh=f"库中文档按规则 {saved.get('rules')} 分析，本版本是规则 {RULES}",
        )
    if location is None or not any((Path(location) / name).is_file() for name in LEXICON_FILES):
        return None
    if Analyzer.from_folder(location).fingerprint == Analyzer.from_dict(saved).fingerprint:
        return None
    return Notice(
        f"the word lists in {str(location)!r} changed after the documents were analysed",
        zh=f"{str(location)!r} 中的词表在文档分析之后改过",
    )


def check_embedding(store: KnowledgeStore, embed_model: BaseEmbedding | None) -> None:
    """Compare the model's name, and its dimension where it tells one, with those of the index."""
    name = store.meta.get("embedding_name")
    if name is None or embed_model is None:
        return
    given, dimension = embedding_identity(embed_model)
    built = store.meta.get("embedding_dimension")
    if given != name or (dimension is not None and dimension != built):
        raise IndexMismatchError(
            f"the index was built with the embedding model {name!r} ({built} dimensions), "
            f"opened with {given!r} ({dimension or 'unknown'} dimensions); open it with the first, or build a new "
            f"index with the second: `gyr-hybrid index PATH --storage NEW_FOLDER`"
        )
