"""What a model service of the tests says and how it fails: the state behind `FakeEndpoint`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any, Literal, get_args

from gyr_hybrid.errors import ConfigurationError

Layer = Literal["llm", "embedding", "rerank"]
Failure = Literal[
    "401",
    "403",
    "404",
    "429",
    "500",
    "slow",
    "cut",
    "length",
    "filtered",
    "html",
    "empty",
    "batch_limit",
    "wrong_order",
    "wrong_count",
    "wrong_dimension",
    "zero",
]
Answers = str | Sequence[str] | Callable[[str], str]


@dataclass(frozen=True, slots=True)
class FakeRequest:
    """One request as it came."""

    layer: Layer | None
    """None for a path that the service does not have."""
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    at: float
    """Monotonic seconds, to measure pauses between requests."""


@dataclass(slots=True)
class Order:
    """A failure to serve, until ``left`` runs out (None: for good)."""

    failure: Failure
    layer: Layer | None
    left: int | None
    options: dict[str, Any] = field(default_factory=dict)


class FakeService:
    """Answers by a script, takes orders to fail, and keeps every request."""

    def __init__(
        self, answers: Answers = "好的。", *, dimensions: int = 64, api_key: str | None = None, chunk: int = 4
    ) -> None:
        self.dimensions = dimensions
        self.api_key = api_key
        self.chunk = chunk
        """Characters per event of a streamed answer."""
        self.requests: list[FakeRequest] = []
        self.aborted = 0
        """Streams that the client left before their end."""
        self.chunk_delay = 0.0
        """Seconds before each event of a streamed answer."""
        self.stopping = Event()
        self._answers = answers if isinstance(answers, str) or callable(answers) else tuple(answers)
        self._asked = 0
        self._orders: list[Order] = []
        self._lock = Lock()

    def fail(
        self, failure: Failure, *, times: int | None = None, layer: Layer | None = None, **options: Any
    ) -> None:
        """Fail so from now on, ``times`` times (None: for good), for one layer or for all. The newest order counts.

        Options: ``retry_after`` (seconds, or a text for the header) with 429 and 500; ``seconds`` with slow;
        ``limit`` with batch_limit, ``said`` to word its message. ``cut`` breaks off an answer half way; ``length``
        stops it half way in good order; ``empty`` is an answer without content.
        """
        if failure not in get_args(Failure):
            raise ConfigurationError(
                f"FakeEndpoint has no failure {failure!r}; it has {', '.join(get_args(Failure))}"
            )
        with self._lock:
            self._orders.append(Order(failure, layer, times, options))

    def recover(self) -> None:
        """Serve well again."""
        with self._lock:
            self._orders.clear()

    @contextmanager
    def failing(self, failure: Failure, **options: Any) -> Iterator[None]:
        """`fail` for the length of a ``with`` block."""
        self.fail(failure, **options)
        try:
            yield
        finally:
            self.recover()

    def sent(self, layer: Layer) -> list[FakeRequest]:
        """The requests that one layer has got, in order."""
        return [request for request in self.requests if request.layer == layer]

    def log(self, request: FakeRequest) -> Order | None:
        """Note a request and take the order that it meets. For the server's own use."""
        with self._lock:
            self.requests.append(request)
            for order in reversed(self._orders):
                if order.layer not in (None, request.layer) or order.left == 0:
                    continue
                if order.left is not None:
                    order.left -= 1
                return order
        return None

    def answer(self, prompt: str) -> str:
        """What the chat model says to ``prompt``. For the server's own use."""
        answers = self._answers
        if isinstance(answers, str):
            return answers
        if callable(answers):
            return answers(prompt)
        with self._lock:
            turn = min(self._asked, len(answers) - 1)
            self._asked += 1
        return answers[turn]
