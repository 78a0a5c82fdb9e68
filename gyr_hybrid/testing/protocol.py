"""How `FakeEndpoint` reads requests and writes answers, good and bad."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

from gyr_hybrid.testing.embedding import hash_vector
from gyr_hybrid.testing.service import FakeRequest, FakeService, Layer, Order

PATHS: dict[str, Layer] = {
    "/chat/completions": "llm",
    "/embeddings": "embedding",
    "/rerank": "rerank",
    "/reranks": "rerank",
    "/text-rerank": "rerank",
}
REFUSALS = {
    "401": (401, "Incorrect API key provided: {key}", "invalid_api_key"),
    "403": (403, "The account may not use this model", "access_denied"),
    "404": (404, "The model {model} does not exist", "model_not_found"),
    "429": (429, "Requests are limited", "rate_limit_exceeded"),
    "500": (500, "Internal error", "internal_error"),
    "filtered": (400, "Input data may contain inappropriate content", "data_inspection_failed"),
}


class Handler(BaseHTTPRequestHandler):
    """One connection; the server object carries its `FakeService`."""

    protocol_version = "HTTP/1.1"

    @property
    def endpoint(self) -> FakeService:
        endpoint: FakeService = self.server.endpoint  # type: ignore[attr-defined]
        return endpoint

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: tests read ``FakeEndpoint.requests``."""

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.loads(raw or b"{}")
        layer = next((layer for path, layer in PATHS.items() if self.path.endswith(path)), None)
        headers = {name.lower(): value for name, value in self.headers.items()}
        order = self.endpoint.log(FakeRequest(layer, self.path, headers, body, time.monotonic()))
        key = headers.get("authorization", "").removeprefix("Bearer ")
        if layer is None:
            self.refuse(404, f"no such path: {self.path}", "not_found")
        elif self.endpoint.api_key is not None and key != self.endpoint.api_key:
            self.refuse(401, f"Incorrect API key provided: {key}", "invalid_api_key")
        elif order is not None and order.failure in REFUSALS:
            status, message, code = REFUSALS[order.failure]
            self.refuse(status, message.format(key=key, model=body.get("model")), code, order)
        elif order is not None and order.failure == "html":
            self.send(b"<html><body>Welcome</body></html>", content_type="text/html")
        else:
            if order is not None and order.failure == "slow":
                self.endpoint.stopping.wait(order.options.get("seconds", 1.0))
            {"llm": self.chat, "embedding": self.embed, "rerank": self.rerank}[layer](body, order)

    def chat(self, body: dict[str, Any], order: Order | None) -> None:
        failure = order.failure if order is not None else None
        text = self.endpoint.answer(body["messages"][-1]["content"] or "")
        if failure in ("cut", "length"):
            text = text[: (len(text) + 1) // 2]
        if failure == "empty":
            text = ""
        reason = "length" if failure == "length" else "stop"
        if body.get("stream"):
            self.stream(text, None if failure == "cut" else reason, body)
            return
        message = {"role": "assistant", "content": text}
        reply = _completion(body, "chat.completion", {"message": message, "finish_reason": reason})
        self.send(_json(reply), cut=failure == "cut")

    def stream(self, text: str, reason: str | None, body: dict[str, Any]) -> None:
        """Server-sent events, chunked; without ``reason`` the connection breaks after the text."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        size = self.endpoint.chunk
        deltas: list[tuple[dict[str, str], str | None]] = [({"role": "assistant", "content": ""}, None)]
        deltas += [({"content": text[i : i + size]}, None) for i in range(0, len(text), size)]
        if reason is not None:
            deltas.append(({}, reason))
        try:
            for delta, finish in deltas:
                self.endpoint.stopping.wait(self.endpoint.chunk_delay)
                event = _completion(body, "chat.completion.chunk", {"delta": delta, "finish_reason": finish})
                self.chunk(b"data: " + _json(event) + b"\n\n")
            if reason is not None:
                self.chunk(b"data: [DONE]\n\n")
                self.chunk(b"")
        except ConnectionError:
            self.endpoint.aborted += 1
            self.close_connection = True
        if reason is None:
            self.close_connection = True

    def embed(self, body: dict[str, Any], order: Order | None) -> None:
        failure = order.failure if order is not None else None
        options = order.options if order is not None else {}
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        if body.get("encoding_format") == "base64":
            self.refuse(400, "encoding_format base64 is not supported", "InvalidParameter")
            return
        limit = options.get("limit", 10)
        if failure == "batch_limit" and len(texts) > limit:
            said = (
                f"Value error, batch size is invalid, it should not be larger than {limit}.: input.contents"
            )
            self.refuse(400, options.get("said", said), "InvalidParameter")
            return
        length = int(body.get("dimensions") or self.endpoint.dimensions)
        length += failure == "wrong_dimension"
        vectors = [hash_vector(text, length).tolist() for text in texts]
        if failure == "zero":
            vectors[-1] = [0.0] * length
        data = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
        if failure == "wrong_order":
            data.reverse()
        if failure in ("wrong_count", "empty"):
            data = data[1:] if failure == "wrong_count" else []
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        reply = {"object": "list", "model": body.get("model"), "data": data, "usage": usage}
        self.send(_json(reply), cut=failure == "cut")

    def rerank(self, body: dict[str, Any], order: Order | None) -> None:
        failure = order.failure if order is not None else None
        native = "input" in body
        asked = body["input"] if native else body
        query, *documents = (hash_vector(text, 256) for text in (asked["query"], *asked["documents"]))
        results = [
            {"index": i, "relevance_score": max(0.0, float(query @ document))}
            for i, document in enumerate(documents)
        ]
        results.sort(key=lambda result: -result["relevance_score"])
        if failure in ("wrong_count", "empty"):
            results = results[1:] if failure == "wrong_count" else []
        if failure == "wrong_order":
            results = [{"index": len(documents) + 3, "relevance_score": 0.99}, *reversed(results)]
        self.send(
            _json({"output": {"results": results}} if native else {"results": results}), cut=failure == "cut"
        )

    def refuse(self, status: int, message: str, code: str, order: Order | None = None) -> None:
        asked = order.options.get("retry_after") if order is not None else None
        headers = {"Retry-After": str(asked)} if asked is not None else {}
        self.send(_json({"error": {"message": message, "code": code, "type": code}}), status, headers)

    def send(
        self,
        payload: bytes,
        status: int = 200,
        headers: dict[str, str] | None = None,
        content_type: str = "application/json",
        cut: bool = False,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(payload)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload[: len(payload) // 2] if cut else payload)
        if cut:
            self.close_connection = True

    def chunk(self, payload: bytes) -> None:
        self.wfile.write(f"{len(payload):x}\r\n".encode() + payload + b"\r\n")
        self.wfile.flush()


def _completion(body: dict[str, Any], kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "fake",
        "object": kind,
        "created": 0,
        "model": body.get("model"),
        "choices": [{"index": 0, **choice}],
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
