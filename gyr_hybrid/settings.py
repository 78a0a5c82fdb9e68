"""Which models are used, from arguments, the environment and the ``.env`` of the working directory.

Every variable may carry the prefix ``GYR_``, which wins: ``GYR_LLM_MODEL``, wherever it stands, before ``LLM_MODEL``.
An empty variable counts as absent. Keys are `SecretStr`: they appear in no text that this module makes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr, TypeAdapter, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from gyr_hybrid.errors import ConfigurationError

DASHSCOPE_BASE_URL = "https://dashscope.aliyuncs.com/compatible-mode/v1"
DASHSCOPE_LLM = "deepseek-v4-flash-0731"
DASHSCOPE_EMBEDDING = "qwen3.7-text-embedding"
EMBED_BATCH_SIZE = 10
"""Texts per request: what DashScope's embeddings take; others take more, hardly any takes fewer."""

_SERVICES = ("llm_", "embed_", "rerank_", "judge_", "dashscope_")
_OWN = frozenset({"llm_context_window", "timeout", "max_retries", "offline", "reranker", "judge"})
"""Read with the prefix only: the bare names mean other things to other programs."""
_KEYS = {f"{layer}_api_key": f"{layer}_base_url" for layer in ("llm", "embed", "rerank", "judge")}
_KEYS["dashscope_api_key"] = "dashscope_compatible_base_url"
_REQUEST_PATHS = ("/chat/completions", "/embeddings")


def _text(value: Any) -> Any:
    return (value.strip() or None) if isinstance(value, str) else value


def _url(value: Any) -> Any:
    value = _text(value)
    if not isinstance(value, str):
        return value
    if urlsplit(value).scheme not in ("http", "https") or not urlsplit(value).hostname:
        raise ValueError("must begin with http:// or https:// and name a host, such as https://host/v1")
    value = value.rstrip("/")
    for path in _REQUEST_PATHS:
        value = value.removesuffix(path)
    return value


def _json_object(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value or "{}")
    except ValueError as error:
        raise ValueError('must be a JSON object, such as {"enable_thinking": false}') from error


Text = Annotated[str | None, BeforeValidator(_text)]
Url = Annotated[str | None, BeforeValidator(_url)]
Secret = Annotated[SecretStr | None, BeforeValidator(_text)]


class Settings(BaseSettings):
    """The services and models of an index. Arguments win over the environment, and that over the ``.env``.

    With only ``DASHSCOPE_API_KEY`` (and perhaps ``DASHSCOPE_COMPATIBLE_BASE_URL``) DashScope serves both answers and
    embeddings. Without ``llm_base_url`` answers are extracted; without ``embed_base_url`` the embedding model of this
    machine is used. ``offline=True`` ignores every service, ``GYR_OFFLINE=1`` those that are not given as arguments.

    Raises `ConfigurationError`, naming the variable, when a value makes no sense.

    >>> settings = Settings(llm_base_url="http://localhost:8000/v1/", llm_api_key="sk-1", llm_model="qwen3")
    >>> settings.llm_base_url, settings.llm_api_key
    ('http://localhost:8000/v1', SecretStr('**********'))
    """

    model_config = SettingsConfigDict(
        env_file=".env",
        env_file_encoding="utf-8-sig",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    llm_base_url: Url = None
    """Root of an OpenAI-compatible chat service, such as ``https://host/v1``."""
    llm_api_key: Secret = None
    llm_model: Text = None
    llm_extra_body: Annotated[dict[str, Any], NoDecode, BeforeValidator(_json_object)] = Field(
        default_factory=dict
    )
    """Laid over the body of every chat request (a JSON object in the environment)."""
    llm_context_window: int = Field(default=32_768, gt=0)
    """Tokens of prompt and answer that the chat model takes."""

    embed_base_url: Url = None
    """Root of an OpenAI-compatible embedding service."""
    embed_api_key: Secret = None
    embed_model: Text = None
    embed_dimensions: int | None = Field(default=None, gt=0)
    """Length of the vectors to ask for; None leaves it to the model."""
    embed_batch_size: int = Field(default=EMBED_BATCH_SIZE, gt=0, le=2048)
    """Texts per request."""
    embed_query_instruction: str | None = None
    """Set before every question, never before a document; one with ``{query}`` in it takes the question there."""

    rerank_base_url: Url = None
    """Root of a rerank service; ``/rerank`` is added unless it ends in such a path."""
    rerank_api_key: Secret = None
    rerank_model: Text = None
    reranker: Annotated[Literal["features", "endpoint", "llm"] | None, BeforeValidator(_text)] = None
    """What orders the sections found: our own features, the rerank service, or the chat model. None: the rerank
    service when one is named, else the features."""

    judge_base_url: Url = None
    """Root of an OpenAI-compatible chat service with a model that answers yes or no, such as a MiniCheck."""
    judge_api_key: Secret = None
    judge_model: Text = None
    judge: Annotated[Literal["llm", "endpoint", "off"] | None, BeforeValidator(_text)] = None
    """Who judges sentences in other words than their sources: the chat model, the judge service, or nobody. None: the
    judge service when one is named, else the chat model when there is one."""

    dashscope_api_key: Secret = None
    dashscope_compatible_base_url: Url = None

    timeout: float = Field(default=60.0, gt=0)
    """Seconds that a service may stay silent."""
    max_retries: int = Field(default=3, ge=0)
    """Further tries after a failure that may pass: 429, 5xx, no connection, time-out."""
    offline: bool = False
    """No service is used."""

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigurationError(_explained(error)) from None
        except UnicodeDecodeError:
            raise ConfigurationError(
                "the file .env of the working directory is not UTF-8; save it as UTF-8"
            ) from None

    @classmethod
    def load(cls, offline: bool | None = None) -> Self:
        """Read the environment and ``.env``; ``offline=None`` leaves that choice to ``GYR_OFFLINE``."""
        return cls() if offline is None else cls(offline=offline)

    def without_services(self) -> Self:
        """These settings, offline."""
        return type(self)(offline=True, timeout=self.timeout, max_retries=self.max_retries)

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, values: dict[str, Any]) -> dict[str, Any]:
        if "offline" in values and TypeAdapter(bool).validate_python(values["offline"]):
            return {name: value for name, value in values.items() if not name.startswith(_SERVICES)}
        chosen = ("llm_base_url", "llm_api_key", "embed_base_url", "embed_api_key")
        key = _text(values.get("dashscope_api_key"))
        if not key or any(_text(values.get(name)) for name in chosen):
            return values
        url = _text(values.get("dashscope_compatible_base_url")) or DASHSCOPE_BASE_URL
        filled = dict(values)
        for layer, model in (("llm", DASHSCOPE_LLM), ("embed", DASHSCOPE_EMBEDDING)):
            filled |= {f"{layer}_base_url": url, f"{layer}_api_key": key}
            filled[f"{layer}_model"] = _text(values.get(f"{layer}_model")) or model
        return filled

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (_Merged(settings_cls, init_settings()),)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            if name is not None and name.endswith("_url") and value:
                yield name, without_userinfo(value)
            elif name == "llm_extra_body":
                yield name, sorted(value)
            else:
                yield name, value


class _Merged(PydanticBaseSettingsSource):
    """Arguments, then the prefixed variables of the environment and ``.env``, then the bare ones."""

    def __init__(self, settings_cls: type[BaseSettings], arguments: Mapping[str, Any]) -> None:
        super().__init__(settings_cls)
        self.arguments = dict(arguments)

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        raise NotImplementedError("values are merged as a whole")

    def __call__(self) -> dict[str, Any]:
        known = self.settings_cls.model_fields
        variables: dict[str, Any] = {}
        origins: dict[str, str] = {}
        for prefix in ("", "GYR_"):
            for source in (DotEnvSettingsSource, EnvSettingsSource):
                found = source(self.settings_cls, env_prefix=prefix)()
                names = [name for name in known.keys() & found.keys() if prefix or name not in _OWN]
                variables |= {name: found[name] for name in names}
                where = "in .env" if source is DotEnvSettingsSource else "in the environment"
                origins |= dict.fromkeys(names, where)
        offline = self.arguments.get("offline", variables.get("offline", False))
        if TypeAdapter(bool).validate_python(offline):
            variables = {name: value for name, value in variables.items() if not name.startswith(_SERVICES)}
            if any(name.startswith(_SERVICES) for name in self.arguments):
                variables.pop("offline", None)
        values = variables | self.arguments
        _check_origins(values, origins | dict.fromkeys(self.arguments, "as an argument"))
        return values


def _check_origins(values: Mapping[str, Any], origins: Mapping[str, str]) -> None:
    """A key is sent only to the address that stands where the key stands: nobody else may turn it elsewhere."""
    for key, url in _KEYS.items():
        if _text(values.get(key)) and _text(values.get(url)) and origins[key] != origins[url]:
            raise ConfigurationError(
                f"{key.upper()} is given {origins[key]} and {url.upper()} {origins[url]}; "
                "give both in the same place, so that a key goes nowhere but where its owner says"
            )


def without_userinfo(url: str) -> str:
    """The URL without user, password, query and fragment, fit to be shown."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def _explained(error: ValidationError) -> str:
    lines = []
    for item in error.errors(include_url=False, include_context=False):
        field = str(item["loc"][0]) if item["loc"] else "offline"
        if item["type"] == "extra_forbidden":
            fields = ", ".join(Settings.model_fields)
            lines.append(f"Settings has no field {field!r}; its fields are {fields}")
            continue
        shown = "" if field.endswith(("_key", "_url", "_body")) else f", not {item['input']!r}"
        says = item["msg"].removeprefix("Value error, ")
        bare = field.upper() if field not in _OWN else f"GYR_{field.upper()}"
        lines.append(
            f"{bare} {says}{shown}; correct it in the environment, in .env or in Settings({field}=…)"
        )
    return "\n".join(lines)
