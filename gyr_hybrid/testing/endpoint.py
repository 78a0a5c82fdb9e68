"""A model service on the loopback: OpenAI's chat and embeddings and the usual rerank, with failures to order."""

from __future__ import annotations

from http.server import ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any, Self, get_args

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.testing.protocol import Handler
from gyr_hybrid.testing.service import Answers, FakeService, Layer

if TYPE_CHECKING:
    from gyr_hybrid.settings import Settings


class FakeEndpoint(FakeService):
    """A server thread, started and stopped by ``with``; the real clients talk to it over HTTP.

    ``answers`` is what the chat model says: one text, one text per call (the last one stays), or a function of the
    last message. Embeddings are those of `HashEmbedding` with ``dimensions``; rerank scores are their cosines,
    0 to 1. With ``api_key`` set other keys are answered 401. Like many services it has no ``/completions``
    and knows no base64.

    >>> with FakeEndpoint("保修期为三年。") as endpoint:
    ...     from gyr_hybrid.models.endpoints import chat_model
    ...     llm = chat_model(endpoint.settings())
    ...     str(llm.complete("保修多久")), endpoint.requests[0].path
    ('保修期为三年。', '/v1/chat/completions')
    """

    def __init__(
        self, answers: Answers = "好的。", *, dimensions: int = 64, api_key: str | None = None, chunk: int = 4
    ) -> None:
        super().__init__(answers, dimensions=dimensions, api_key=api_key, chunk=chunk)
        self._server: ThreadingHTTPServer | None = None
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.endpoint = self  # type: ignore[attr-defined]
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stopping.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    @property
    def base_url(self) -> str:
        """Such as ``http://127.0.0.1:43210/v1``."""
        if self._server is None:
            raise ConfigurationError("FakeEndpoint is not running; use it in a with statement")
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def settings(self, *layers: Layer, **changes: Any) -> Settings:
        """Settings that point the given layers (none given: all three) at this server."""
        from gyr_hybrid.settings import Settings

        values: dict[str, Any] = {"timeout": 5.0}
        for layer in layers or get_args(Layer):
            prefix = "embed" if layer == "embedding" else layer
            values |= {
                f"{prefix}_base_url": self.base_url,
                f"{prefix}_api_key": self.api_key or "test-key",
                f"{prefix}_model": f"fake-{layer}",
            }
        return Settings(**(values | changes))
