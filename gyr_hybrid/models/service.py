"""Where a model is asked: the address, the model, the key and the patience of one service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from gyr_hybrid.errors import ConfigurationError
from gyr_hybrid.settings import Settings, without_userinfo

Layer = Literal["llm", "embedding", "rerank", "judge"]

_PREFIXES: dict[Layer, str] = {"llm": "LLM", "embedding": "EMBED", "rerank": "RERANK", "judge": "JUDGE"}


@dataclass(frozen=True, slots=True, repr=False)
class Service:
    """One service of an OpenAI-compatible kind."""

    layer: Layer
    base_url: str
    model: str | None
    key: SecretStr | None = None
    timeout: float = 60.0
    """Seconds of silence before a call is given up."""
    retries: int = 3
    """Further tries after a failure that may pass."""

    @classmethod
    def of(cls, settings: Settings, layer: Layer) -> Service | None:
        """The service that ``settings`` name for ``layer``, or None when they name none or are offline.

        Raises `ConfigurationError` when they name half of one.
        """
        if settings.offline:
            return None
        prefix = _PREFIXES[layer]
        url, model, key = (
            getattr(settings, f"{prefix.lower()}_{name}") for name in ("base_url", "model", "api_key")
        )
        if url is None:
            given = [
                f"{prefix}_{name}"
                for name, value in (("MODEL", model), ("API_KEY", key))
                if value is not None
            ]
            if given:
                raise ConfigurationError(
                    f"{' and '.join(given)} set without {prefix}_BASE_URL; "
                    f"set {prefix}_BASE_URL to the root of the service, such as https://host/v1"
                )
            return None
        if model is None and layer != "rerank":
            raise ConfigurationError(
                f"{prefix}_BASE_URL={without_userinfo(url)} is set without {prefix}_MODEL; "
                f"set {prefix}_MODEL to the name of a model of that service"
            )
        return cls(layer, url, model, key, settings.timeout, settings.max_retries)

    @property
    def host(self) -> str:
        """Host and port, fit to be shown."""
        return urlsplit(without_userinfo(self.base_url)).netloc

    @property
    def secret(self) -> str:
        """The key in the clear; services without keys are sent a word in its place."""
        return self.key.get_secret_value() if self.key is not None else "no-key"

    def variable(self, name: str) -> str:
        """Name of this service's environment variable: ``variable("API_KEY")`` is ``LLM_API_KEY``."""
        return f"{_PREFIXES[self.layer]}_{name}"

    def __repr__(self) -> str:
        return f"Service({self.layer!r}, {without_userinfo(self.base_url)!r}, model={self.model!r})"

    def __str__(self) -> str:
        model = f" (model {self.model})" if self.model else ""
        return f"the {self.layer} service {without_userinfo(self.base_url)}{model}"
