"""Settings: who wins, the DashScope preset, offline, and that no key is ever shown."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from gyr_hybrid.errors import ConfigurationError, GyrError
from gyr_hybrid.settings import Settings

KEY = "sk-very-secret-0123456789"


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv("GYR_OFFLINE")
    return monkeypatch


def test_with_nothing_set_no_service_is_used(online: pytest.MonkeyPatch) -> None:
    settings = Settings.load()
    assert (settings.llm_base_url, settings.embed_base_url, settings.rerank_base_url) == (None, None, None)
    assert not settings.offline


def test_every_variable_of_the_environment_is_read(online: pytest.MonkeyPatch) -> None:
    for name, value in {
        "LLM_BASE_URL": "https://llm.example/v1/",
        "LLM_API_KEY": KEY,
        "LLM_MODEL": "chat-1",
        "LLM_EXTRA_BODY": '{"enable_thinking": false}',
        "EMBED_BASE_URL": "https://embed.example/v1/embeddings",
        "EMBED_API_KEY": KEY,
        "EMBED_MODEL": "embed-1",
        "EMBED_DIMENSIONS": "512",
        "EMBED_BATCH_SIZE": "25",
        "EMBED_QUERY_INSTRUCTION": "Query: ",
        "RERANK_BASE_URL": "https://rerank.example/v1",
        "RERANK_API_KEY": KEY,
        "RERANK_MODEL": "rerank-1",
    }.items():
        online.setenv(name, value)
    settings = Settings.load()
    assert settings.llm_base_url == "https://llm.example/v1"
    assert settings.llm_extra_body == {"enable_thinking": False}
    assert settings.embed_base_url == "https://embed.example/v1"
    assert (settings.embed_dimensions, settings.embed_batch_size) == (512, 25)
    assert settings.embed_query_instruction == "Query: "
    assert (settings.llm_model, settings.embed_model, settings.rerank_model) == (
        "chat-1",
        "embed-1",
        "rerank-1",
    )
    assert settings.rerank_base_url == "https://rerank.example/v1"
    for key in (settings.llm_api_key, settings.embed_api_key, settings.rerank_api_key):
        assert key is not None
        assert key.get_secret_value() == KEY


def test_the_prefix_wins_wherever_it_stands(online: pytest.MonkeyPatch) -> None:
    Path(".env").write_text(
        "GYR_LLM_MODEL=from-dotenv-prefixed\nEMBED_MODEL=from-dotenv\nRERANK_MODEL=dotenv\n"
    )
    online.setenv("LLM_MODEL", "from-environment")
    online.setenv("EMBED_MODEL", "bare")
    online.setenv("GYR_EMBED_MODEL", "prefixed")
    online.setenv("RERANK_MODEL", "environment")
    settings = Settings.load()
    assert settings.llm_model == "from-dotenv-prefixed"
    assert settings.embed_model == "prefixed"
    assert settings.rerank_model == "environment"


def test_arguments_win_over_the_environment(online: pytest.MonkeyPatch) -> None:
    online.setenv("GYR_LLM_MODEL", "environment")
    assert Settings(llm_model="argument").llm_model == "argument"


def test_an_empty_variable_counts_as_absent(online: pytest.MonkeyPatch) -> None:
    online.setenv("GYR_LLM_MODEL", "")
    online.setenv("LLM_MODEL", "bare")
    online.setenv("EMBED_BASE_URL", "  ")
    settings = Settings.load()
    assert settings.llm_model == "bare"
    assert settings.embed_base_url is None


def test_dotenv_may_begin_with_a_byte_order_mark_and_hold_other_programs_variables(
    online: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text("\ufeffLLM_MODEL=m\nPOSTGRES_URL=x\nGYR_UNKNOWN=1\n", encoding="utf-8")
    assert Settings.load().llm_model == "m"


def test_a_dotenv_that_is_not_utf8_is_named(online: pytest.MonkeyPatch) -> None:
    Path(".env").write_bytes("LLM_MODEL=通义".encode("gbk"))
    with pytest.raises(ConfigurationError, match="save it as UTF-8"):
        Settings.load()


def test_bare_names_of_other_programs_are_not_read(online: pytest.MonkeyPatch) -> None:
    online.setenv("TIMEOUT", "1")
    online.setenv("OFFLINE", "1")
    settings = Settings.load()
    assert (settings.timeout, settings.offline) == (60.0, False)
    online.setenv("GYR_TIMEOUT", "1.5")
    assert Settings.load().timeout == 1.5


class TestDashScope:
    def test_one_key_sets_both_services(self, online: pytest.MonkeyPatch) -> None:
        online.setenv("DASHSCOPE_API_KEY", KEY)
        settings = Settings.load()
        url = "https://dashscope.aliyuncs.com/compatible-mode/v1"
        assert (settings.llm_base_url, settings.llm_model) == (url, "deepseek-v4-flash-0731")
        assert (settings.embed_base_url, settings.embed_model) == (url, "qwen3.7-text-embedding")
        assert settings.embed_batch_size == 10
        assert settings.llm_api_key is not None
        assert settings.llm_api_key.get_secret_value() == KEY
        assert settings.rerank_base_url is None

    def test_its_region_and_models_may_be_chosen(self, online: pytest.MonkeyPatch) -> None:
        online.setenv("DASHSCOPE_API_KEY", KEY)
        online.setenv(
            "DASHSCOPE_COMPATIBLE_BASE_URL", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"
        )
        online.setenv("LLM_MODEL", "qwen-max")
        settings = Settings.load()
        assert settings.llm_base_url == "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"
        assert (settings.llm_model, settings.embed_model) == ("qwen-max", "qwen3.7-text-embedding")

    def test_its_key_never_goes_to_another_service(self, online: pytest.MonkeyPatch) -> None:
        online.setenv("DASHSCOPE_API_KEY", KEY)
        online.setenv("LLM_BASE_URL", "https://other.example/v1")
        settings = Settings.load()
        assert (settings.llm_api_key, settings.embed_base_url) == (None, None)


class TestOffline:
    @pytest.mark.parametrize("value", ["1", "true", "yes"])
    def test_the_variable_ignores_all_keys(self, online: pytest.MonkeyPatch, value: str) -> None:
        online.setenv("DASHSCOPE_API_KEY", KEY)
        online.setenv("RERANK_BASE_URL", "https://rerank.example")
        online.setenv("LLM_EXTRA_BODY", "not json")
        online.setenv("GYR_OFFLINE", value)
        settings = Settings.load()
        assert settings.offline
        assert (settings.llm_base_url, settings.embed_base_url, settings.rerank_base_url) == (
            None,
            None,
            None,
        )
        assert settings.dashscope_api_key is None

    def test_the_argument_wins_over_the_variable(self, online: pytest.MonkeyPatch) -> None:
        online.setenv("DASHSCOPE_API_KEY", KEY)
        online.setenv("GYR_OFFLINE", "1")
        assert Settings.load(offline=False).llm_model == "deepseek-v4-flash-0731"
        online.setenv("GYR_OFFLINE", "0")
        assert Settings.load(offline=True).llm_base_url is None

    def test_the_argument_ignores_services_given_as_arguments_too(self) -> None:
        assert Settings(offline=True, llm_base_url="http://h/v1").llm_base_url is None

    def test_a_service_given_as_an_argument_wins_over_the_variable(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DASHSCOPE_API_KEY", KEY)
        settings = Settings(llm_base_url="http://localhost:1/v1", llm_model="m")
        assert (settings.llm_base_url, settings.llm_api_key, settings.embed_base_url) == (
            "http://localhost:1/v1",
            None,
            None,
        )
        assert not settings.offline

    def test_settings_can_be_taken_offline(self) -> None:
        settings = Settings(llm_base_url="http://h/v1", llm_model="m", timeout=5).without_services()
        assert (settings.offline, settings.llm_base_url, settings.timeout) == (True, None, 5.0)


class TestSecrets:
    def test_no_key_is_shown(self, online: pytest.MonkeyPatch) -> None:
        online.setenv("DASHSCOPE_API_KEY", KEY)
        online.setenv("LLM_EXTRA_BODY", f'{{"token": "{KEY}"}}')
        online.setenv("RERANK_BASE_URL", f"https://user:{KEY}@rerank.example/v1")
        online.setenv("RERANK_API_KEY", KEY)
        settings = Settings.load()
        for shown in (repr(settings), str(settings), f"{settings}"):
            assert KEY not in shown
        assert "rerank.example" in repr(settings)
        assert KEY not in str(settings.model_dump(exclude={"llm_extra_body", "rerank_base_url"}))

    def test_a_key_in_the_wrong_place_is_not_repeated(self, online: pytest.MonkeyPatch) -> None:
        online.setenv("LLM_BASE_URL", KEY)
        online.setenv("LLM_EXTRA_BODY", KEY)
        with pytest.raises(ConfigurationError) as caught:
            Settings.load()
        assert KEY not in str(caught.value)
        assert caught.value.__suppress_context__

    def test_they_survive_pickling(self) -> None:
        settings = Settings(llm_base_url="http://h/v1", llm_api_key=KEY)
        assert pickle.loads(pickle.dumps(settings)) == settings


class TestErrors:
    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("LLM_BASE_URL", "api.example.com/v1", "LLM_BASE_URL must begin with http:// or https://"),
            ("LLM_EXTRA_BODY", "enable_thinking=false", "LLM_EXTRA_BODY must be a JSON object"),
            ("LLM_EXTRA_BODY", "[1]", "LLM_EXTRA_BODY"),
            ("EMBED_DIMENSIONS", "-3", "EMBED_DIMENSIONS .*greater than 0, not '-3'"),
            ("EMBED_BATCH_SIZE", "many", "EMBED_BATCH_SIZE .*valid integer.*not 'many'"),
            ("GYR_OFFLINE", "maybe", "GYR_OFFLINE .*not 'maybe'"),
            ("GYR_TIMEOUT", "0", "GYR_TIMEOUT .*greater than 0"),
        ],
    )
    def test_a_senseless_value_names_its_variable(
        self, online: pytest.MonkeyPatch, name: str, value: str, message: str
    ) -> None:
        online.setenv(name, value)
        with pytest.raises(ConfigurationError, match=message) as caught:
            Settings.load()
        assert isinstance(caught.value, GyrError)
        assert isinstance(caught.value, ValueError)

    def test_an_unknown_argument_names_the_fields(self) -> None:
        with pytest.raises(ConfigurationError, match="no field 'lm_model'; its fields are llm_base_url"):
            Settings(lm_model="x")
