"""A question with what it may see: filters, day and number of results travel with it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from llama_index.core.schema import QueryBundle, QueryType
from llama_index.core.vector_stores import FilterCondition, MetadataFilter, MetadataFilters

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.storage.filters import parse_day


@dataclass
class HybridQuery(QueryBundle):
    """A ``QueryBundle`` with options of its own, for every retriever and engine of this package.

    ``filters`` are ANDed with those of the retriever; ``as_of`` and ``top_k`` take the place of the retriever's,
    None leaves them. LlamaIndex's chat engines and ``QueryFusionRetriever`` build new bundles and drop all three.

    Raises `FilterError` for an ``as_of`` that is no day, `ConfigurationError` for a ``top_k`` below 1.

    >>> query = HybridQuery("退货期限", as_of="2026-10-01", top_k=3)
    >>> query.as_of
    datetime.date(2026, 10, 1)
    >>> HybridQuery.from_dict(query.to_dict()) == query
    True
    """

    filters: MetadataFilters | None = None
    as_of: date | str | None = None
    """Day on which documents must be valid; ISO text and ``datetime`` become a ``date``."""
    top_k: int | None = None

    def __post_init__(self) -> None:
        if self.as_of is not None:
            self.as_of = parse_day(self.as_of)
        if self.top_k is not None and (
            isinstance(self.top_k, bool) or not isinstance(self.top_k, int) or self.top_k < 1
        ):
            raise ConfigurationError(f"top_k={self.top_k!r} must be a whole number of at least 1")
        if isinstance(self.filters, MetadataFilter):
            self.filters = MetadataFilters(filters=[self.filters])

    @classmethod
    def of(
        cls,
        query: QueryType,
        *,
        filters: MetadataFilters | None = None,
        as_of: date | str | None = None,
        top_k: int | None = None,
    ) -> HybridQuery:
        """The question as a `HybridQuery`; what it has already is kept, filters are ANDed, the rest replaced.

        >>> HybridQuery.of("退货期限", top_k=3).top_k
        3
        """
        if isinstance(query, str):
            return cls(query, filters=filters, as_of=as_of, top_k=top_k)
        if not isinstance(query, QueryBundle):
            raise ConfigurationError(
                f"query={query!r} is a {type(query).__name__}; ask with a str or a QueryBundle"
            )
        if not isinstance(query, HybridQuery):
            query = cls(query.query_str, query.image_path, query.custom_embedding_strs, query.embedding)
        return replace(
            query,
            filters=both(query.filters, filters),
            as_of=query.as_of if as_of is None else as_of,
            top_k=query.top_k if top_k is None else top_k,
        )

    def to_dict(self, encode_json: bool = False) -> dict[str, Any]:
        """All fields as JSON values; ``from_dict`` reads them again."""
        return {
            "query_str": self.query_str,
            "image_path": self.image_path,
            "custom_embedding_strs": self.custom_embedding_strs,
            "embedding": self.embedding,
            "filters": self.filters.model_dump(mode="json") if self.filters is not None else None,
            "as_of": self.as_of.isoformat() if isinstance(self.as_of, date) else None,
            "top_k": self.top_k,
        }

    @classmethod
    def from_dict(cls, kvs: Any, *, infer_missing: bool = False) -> HybridQuery:
        """A query saved by ``to_dict``; keys that are left out are None."""
        values: dict[str, Any] = dict(kvs or {})
        filters = values.pop("filters", None)
        return cls(**values, filters=MetadataFilters.model_validate(filters) if filters is not None else None)

    def to_json(self, **options: Any) -> str:
        """``to_dict`` as JSON text; ``options`` go to ``json.dumps``."""
        return json.dumps(self.to_dict(), **{"ensure_ascii": False, **options})

    def __str__(self) -> str:
        return self.query_str


def both(left: MetadataFilters | None, right: MetadataFilters | None) -> MetadataFilters | None:
    """Filters that pass what both pass; None passes everything."""
    if left is None or right is None:
        return right if left is None else left
    return MetadataFilters(filters=[left, right], condition=FilterCondition.AND)
