"""Settings, the command line, errors, and that no key is ever shown."""

from __future__ import annotations

import asyncio
import http.server
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gyr_hybrid import ConfigurationError, EndpointError, HybridIndex, Settings, StorageError
from gyr_hybrid.cli import app

KEY = "sk-verysecret-0123456789"
PAGES = {
    "refund.md": "---\nid: kb-002\nversion: 2\nacl: []\n---\n# 退款\n\n年付套餐购买后 7 天内可以全额退款。\n",
    "fault.md": "---\nid: kb-010\n---\n# 错误码 E1042\n\n## 解决办法\n\n请下载最新模板后再导入。\n",
}


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GYR_OFFLINE")


# the environment


def test_every_variable_is_read_and_the_prefix_wins(monkeypatch: pytest.MonkeyPatch, online: None) -> None:
    values = {
        "LLM_BASE_URL": "http://llm.cn/v1", "LLM_API_KEY": "k1", "LLM_MODEL": "m1", "LLM_EXTRA_BODY": '{"enable_thinking": false}',
        "EMBED_BASE_URL": "http://embed.cn/v1", "EMBED_API_KEY": "k2", "EMBED_MODEL": "m2", "EMBED_DIMENSIONS": "512",
        "EMBED_BATCH_SIZE": "7", "EMBED_QUERY_INSTRUCTION": "查询：", "RERANK_BASE_URL": "http://rerank.cn/v1",
        "RERANK_API_KEY": "k3", "RERANK_MODEL": "m3",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert settings.llm_base_url == "http://llm.cn/v1"
    assert settings.llm_extra_body == {"enable_thinking": False}
    assert (settings.embed_dimensions, settings.embed_batch_size) == (512, 7)
    assert (settings.embed_query_instruction, settings.rerank_model) == ("查询：", "m3")
    assert settings.rerank_api_key is not None
    assert settings.rerank_api_key.get_secret_value() == "k3"
    monkeypatch.setenv("GYR_LLM_MODEL", "prefixed")
    assert Settings().llm_model == "prefixed"
    Path(".env").write_text("LLM_MODEL=file\nGYR_EMBED_MODEL=file-prefixed\n")
    assert Settings().llm_model == "prefixed"
    assert Settings().embed_model == "file-prefixed"
    assert Settings(llm_model="argument").llm_model == "argument"


def test_only_a_dashscope_key_is_the_dashscope_preset(monkeypatch: pytest.MonkeyPatch, online: None) -> None:
    monkeypatch.setenv("DASHSCOPE_API_KEY", KEY)
    settings = Settings()
    assert "dashscope.aliyuncs.com" in str(settings.llm_base_url)
    assert settings.embed_base_url == settings.llm_base_url
    assert settings.llm_api_key is not None
    assert settings.llm_api_key.get_secret_value() == KEY
    assert settings.llm_model
    assert settings.embed_model
    monkeypatch.setenv("DASHSCOPE_COMPATIBLE_BASE_URL", "https://intl.example.com/v1")
    assert Settings().llm_base_url == "https://intl.example.com/v1"


def test_offline_ignores_all_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASHSCOPE_API_KEY", KEY)
    monkeypatch.setenv("RERANK_BASE_URL", "http://127.0.0.1:9")
    with HybridIndex.from_documents([]) as index:
        assert index.llm is None
        assert index.reranker is None
    monkeypatch.delenv("GYR_OFFLINE")
    with HybridIndex.from_documents([], offline=True) as index:
        assert index.llm is None
        assert index.reranker is None


def test_nothing_set_is_extraction(online: None, embedding: Any, doc: Any) -> None:
    with HybridIndex.from_documents([doc("a", "# 退款\n\n退款三天到账。")], embed_model=embedding) as index:
        assert index.llm is None
        assert index.as_query_engine().query("退款几天到账").response == "**退款**\n\n退款三天到账。[a#1]"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EMBED_DIMENSIONS", "many"),
        ("EMBED_BATCH_SIZE", "0"),
        ("LLM_EXTRA_BODY", "{"),
        ("LLM_BASE_URL", "localhost"),
    ],
)
def test_a_senseless_variable_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch, online: None, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=name):
        Settings()
    with pytest.raises(ValueError, match=name):
        HybridIndex.open(None)


# keys


def test_no_key_is_shown_by_settings(monkeypatch: pytest.MonkeyPatch, online: None) -> None:
    monkeypatch.setenv("LLM_API_KEY", KEY)
    monkeypatch.setenv("LLM_BASE_URL", f"https://user:{KEY}@llm.cn/v1?token={KEY}")
    monkeypatch.setenv("LLM_MODEL", "m")
    settings = Settings()
    assert KEY not in f"{settings} {settings!r} {settings.llm_api_key}"
    with HybridIndex.from_documents([], embed_model=None) as index:
        assert KEY not in f"{index.llm!r} {index.llm} {index.stats()}"


@pytest.fixture
def service(online: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """A web server that gives one status and body for everything."""
    servers = []

    def start(status: int, body: str) -> str:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_: Any) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        url = f"http://127.0.0.1:{server.server_port}/v1"
        for name, value in {
            "LLM_BASE_URL": url,
            "LLM_API_KEY": KEY,
            "LLM_MODEL": "m-1",
            "GYR_MAX_RETRIES": "0",
        }.items():
            monkeypatch.setenv(name, value)
        return url

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "word"), [(401, "LLM_API_KEY"), (403, "LLM_API_KEY"), (404, "LLM_MODEL"), (429, ""), (500, "")]
)
def test_a_failing_service_raises_with_layer_status_and_remedy_and_no_key(
    service: Callable[..., str],
    embedding: Any,
    doc: Any,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
    status: int,
    word: str,
) -> None:
    service(status, json.dumps({"error": {"message": f"no good, your key {KEY} is bad", "code": "x"}}))
    caplog.set_level(logging.DEBUG)
    documents = [doc("a", "# 退款\n\n退款三天到账。")]
    with HybridIndex.from_documents(documents, tmp_path / "x", embed_model=embedding) as index:
        for ask in (index.as_query_engine().query, lambda q: asyncio.run(index.as_query_engine().aquery(q))):
            with pytest.raises(EndpointError) as caught:
                ask("退款几天到账")
            error = caught.value
            assert (error.layer, error.status) == ("llm", status)
            assert error.remedy
            assert word in error.remedy
            assert str(status) in str(error)
            assert KEY not in f"{error} {error!r} {error.remedy}"
    assert KEY not in caplog.text
    assert all(
        KEY.encode() not in file.read_bytes() for file in (tmp_path / "x").rglob("*") if file.is_file()
    )


def test_a_service_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, online: None, embedding: Any, doc: Any
) -> None:
    for name, value in {
        "LLM_BASE_URL": "http://127.0.0.1:9/v1",
        "LLM_MODEL": "m",
        "GYR_MAX_RETRIES": "0",
    }.items():
        monkeypatch.setenv(name, value)
    with (
        HybridIndex.from_documents([doc("a", "# 退款\n\n退款三天到账。")], embed_model=embedding) as index,
        pytest.raises(ConnectionError, match=r"127\.0\.0\.1:9"),
    ):
        index.as_query_engine().query("退款几天到账")


# the command line


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Any) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, text in PAGES.items():
        write(f"docs/{name}", text)

    def go(*arguments: str, status: int = 0) -> Any:
        result = CliRunner().invoke(app, list(arguments))
        assert result.exit_code == status, (arguments, result.output)
        return json.loads(result.stdout) if "--json" in arguments and status == 0 else result.output

    return go


def test_every_command_knows_storage_and_json(run: Callable[..., Any]) -> None:
    for command in ("ask", "index", "search", "codes", "stats", "check", "delete", "eval", "inspect"):
        help_ = run(command, "--help")
        assert "--storage" in help_, command
        assert "--json" in help_, command


def test_a_whole_session(run: Callable[..., Any], tmp_path: Path) -> None:
    here = ("--storage", "kb", "--json")
    report = run("index", "docs", *here)
    assert sorted(report["added"]) == ["kb-002", "kb-010"]
    assert {"added", "updated", "unchanged", "deleted", "failed", "nodes_embedded"} <= set(report)
    answer = run("ask", "E1042 怎么办", *here)
    assert {
        "response", "citations", "source_nodes", "context_nodes", "refused", "refusal_reason", "unknown_identifiers", "warnings",
        "evidence", "trace",
    } <= set(answer)  # fmt: skip
    assert answer["response"] == "**错误码 E1042 > 解决办法**\n\n请下载最新模板后再导入。[kb-010#1]"
    (citation,) = answer["citations"]
    assert {
        "label", "node_id", "doc_id", "version", "title", "header_path", "source", "url", "start_char", "end_char", "quote",
        "sentence", "support", "verdict", "reason", "anchored",
    } <= set(citation)  # fmt: skip
    assert run("ask", "E9999", *here)["refusal_reason"] == "unknown_identifier"
    assert "[kb-010#1]" in run("ask", "E1042 怎么办", "--storage", "kb")
    found = json.dumps(run("search", "E1042", *here))
    assert "kb-010#1" in found
    explained = run("search", "E1042", "--explain", *here)
    assert {
        "query",
        "mode",
        "tokens",
        "codes",
        "legs",
        "fused",
        "merged",
        "reranked",
        "warnings",
        "timings_ms",
    } <= set(explained)
    assert "E1042" in [code["text"] for code in run("codes", *here)]
    assert "E1042" in [code["text"] for code in run("codes", "docs/fault.md", *here)]
    assert "kb-010#1" in json.dumps(run("inspect", "docs/fault.md", *here))
    assert run("stats", *here)["documents"] == 2
    assert run("check", *here)["ok"] is True
    (tmp_path / "docs/fault.md").unlink()
    assert run("index", "docs", *here)["deleted"] == []
    assert run("index", "docs", "--prune", *here)["deleted"] == ["kb-010"]
    assert run("delete", "kb-002@2", "nobody", *here) == {"deleted": 1}
    assert run("stats", *here)["documents"] == 0
    assert not (tmp_path / "storage").exists()


def test_bad_files_are_named_and_the_others_indexed(run: Callable[..., Any], write: Any) -> None:
    write("docs/bad.md", "---\nid: a#b\n---\n文。")
    report = run("index", "docs", "--json")
    assert sorted(report["added"]) == ["kb-002", "kb-010"]
    assert [Path(p).name for p in report["failed"]] == ["bad.md"]
    assert "bad.md" in run("index", "docs")


def test_ask_without_any_index_is_the_demo_and_says_so(run: Callable[..., Any], tmp_path: Path) -> None:
    printed = run("ask", "导入流水提示 E1042 怎么办")
    assert "[kb-010#2]" in printed
    assert "demo" in printed
    assert not (tmp_path / "storage").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "E1042", "--storage", "mistyped"),
        ("search", "E1042", "--storage", "mistyped"),
        ("codes", "--storage", "mistyped"),
        ("stats", "--storage", "mistyped"),
        ("check", "--storage", "mistyped"),
        ("delete", "kb-1", "--storage", "mistyped"),
        ("index", "nowhere", "--storage", "kb"),
        ("search", "E1042", "--mode", "mistyped"),
        ("ask", "E1042", "--as-of", "mistyped"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(
    run: Callable[..., Any], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    if "--storage" not in arguments:
        run("index", "docs", "--storage", "kb")
        arguments = (*arguments, "--storage", "kb")
    printed = run(*arguments, status=2)
    assert "Traceback" not in printed
    assert "mistyped" in printed or "nowhere" in printed
    assert not (tmp_path / "mistyped").exists()


def test_the_command_is_installed(tmp_path: Path) -> None:
    command = str(Path(sys.executable).with_name("gyr-hybrid"))
    result = subprocess.run(
        [command, "stats", "--storage", "nowhere"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert "nowhere" in result.stderr
    assert "Traceback" not in result.stderr


# messages


def test_messages_say_what_which_value_and_what_to_do(tmp_path: Path, embedding: Any) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError) as caught:
        HybridIndex.open(tmp_path / "file", embed_model=embedding)
    assert str(tmp_path / "file") in str(caught.value)
    assert "folder" in str(caught.value)
    with HybridIndex.from_documents([], embed_model=embedding) as index:
        with pytest.raises(ConfigurationError, match=r"citation_format.*\{nope\}|nope"):
            index.as_query_engine(citation_format="[{nope}]")
        with pytest.raises(ConfigurationError, match=r"'loose'.*strict"):
            index.as_query_engine(policy="loose")
        with pytest.raises(ConfigurationError, match="-1"):
            index.as_query_engine(max_retries=-1)
        with pytest.raises(ConfigurationError, match="verify"):
            index.as_query_engine(verifier="me")
