"""A rerank model behind HTTP: the protocol of Jina, Cohere, SiliconFlow, vLLM and DashScope."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from typing import Any

from gyr_hybrid.models.calls import acall, call
from gyr_hybrid.models.failures import malformed
from gyr_hybrid.models.service import Service
from gyr_hybrid.settings import Settings

BATCH_SIZE = 32
"""Documents per request: 32 sections of 800 tokens stay below the 30,000 tokens that DashScope takes at once."""
_PATHS = ("/rerank", "/reranks", "/text-rerank")


class RerankClient:
    """Scores of documents for a question by ``POST …/rerank``.

    Batches are scored one by one (together in `ascores`); cross-encoders judge each document alone, so scores of
    different batches compare. They are the model's own, on its own scale. Raises `EndpointError`.
    """

    def __init__(self, service: Service, *, batch_size: int = BATCH_SIZE) -> None:
        self.service = service
        self.batch_size = batch_size

    @classmethod
    def of(cls, settings: Settings) -> RerankClient | None:
        """The client that ``settings`` name, or None."""
        service = Service.of(settings, "rerank")
        return cls(service) if service is not None else None

    def __repr__(self) -> str:
        return f"RerankClient({self.service!r})"

    @property
    def model_name(self) -> str:
        """Name of the model, or of the host when the service has only one."""
        return self.service.model or self.service.host

    def scores(self, query: str, documents: Sequence[str]) -> list[float | None]:
        """One score per document, in their order; None where the service gave none, and for a blank document."""
        import httpx

        found: dict[int, float] = {}
        with httpx.Client(timeout=self.service.timeout) as client:
            for places in self._batches(query, documents):

                def ask(places: list[int] = places) -> Any:
                    return self._read(client.post(**self._request(query, [documents[i] for i in places])))

                found |= self._placed(call(self.service, ask), places)
        return [found.get(place) for place in range(len(documents))]

    async def ascores(self, query: str, documents: Sequence[str]) -> list[float | None]:
        """`scores` without holding the event loop; all batches at once."""
        import httpx

        async with httpx.AsyncClient(timeout=self.service.timeout) as client:

            async def batch(places: list[int]) -> dict[int, float]:
                async def ask() -> Any:
                    return self._read(
                        await client.post(**self._request(query, [documents[i] for i in places]))
                    )

                return self._placed(await acall(self.service, ask), places)

            parts = await asyncio.gather(*(batch(places) for places in self._batches(query, documents)))
        found = {place: score for part in parts for place, score in part.items()}
        return [found.get(place) for place in range(len(documents))]

    def _batches(self, query: str, documents: Sequence[str]) -> Iterator[list[int]]:
        places = [i for i, document in enumerate(documents) if document.strip()] if query.strip() else []
        for start in range(0, len(places), self.batch_size):
            yield places[start : start + self.batch_size]

    def _request(self, query: str, documents: list[str]) -> dict[str, Any]:
        url = self.service.base_url
        options = {"top_n": len(documents), "return_documents": False}
        body: dict[str, Any] = {"model": self.service.model} if self.service.model else {}
        if url.endswith("/text-rerank"):
            body |= {"input": {"query": query, "documents": documents}, "parameters": options}
        else:
            body |= {"query": query, "documents": documents, **options}
        headers = (
            {"Authorization": f"Bearer {self.service.key.get_secret_value()}"} if self.service.key else {}
        )
        return {"url": url if url.endswith(_PATHS) else f"{url}/rerank", "json": body, "headers": headers}

    def _read(self, response: Any) -> Any:
        response.raise_for_status()
        try:
            return response.json()
        except ValueError:
            raise malformed(self.service, "did not answer with JSON") from None

    def _placed(self, body: Any, places: list[int]) -> dict[int, float]:
        results = body
        for name in ("output", "results", "data"):
            if isinstance(results, dict):
                results = results.get(name, results)
        if not isinstance(results, list):
            raise malformed(self.service, "did not answer with a list of results")
        found: dict[int, float] = {}
        for item in results:
            index, score = _result(item)
            if index is not None and score is not None and 0 <= index < len(places):
                found.setdefault(places[index], score)
        return found


def _result(item: Any) -> tuple[int | None, float | None]:
    if not isinstance(item, dict):
        return None, None
    index, score = item.get("index"), item.get("relevance_score", item.get("score"))
    try:
        number = float(score)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None, None
    whole = isinstance(index, int) and not isinstance(index, bool)
    return (index if whole else None), (number if math.isfinite(number) else None)
